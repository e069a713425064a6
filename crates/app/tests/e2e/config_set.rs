//! `convoke config`: where values come from, and changing one without touching the rest.

use std::fs;
use std::os::unix::fs::symlink;

use insta::assert_snapshot;

use crate::harness::Project;

const LOCAL: &str = "convoke.local.toml";

fn text(project: &Project, name: &str) -> String {
    fs::read_to_string(project.path(name)).unwrap()
}

#[test]
fn a_setting_without_a_value_prints_nothing_on_stdout() {
    let project = Project::new().in_repository("main");
    let unset = project.run(&["config", "get", "wake.agent"]);
    assert_eq!((unset.code, unset.stdout.as_str()), (Some(1), ""), "{unset}");
    assert!(unset.stderr.contains("`wake.agent` is not set"), "{unset}");
}

#[test]
fn every_value_is_listed_with_its_origin() {
    let project = Project::new()
        .in_repository("main")
        .file("convoke.toml", "[brief]\ntoken_budget = 900\n[wake]\nagent = 'mallory'\n")
        .file(LOCAL, "[wake]\nagent = \"june\"\n")
        .file("../home/.config/convoke/config.toml", "[lane]\nbudget_per_day = '$5'\n")
        .variable("CONVOKE_WAKE_MODE", "v0");
    let changed = project.run(&["config", "list", "--changed"]);
    let stdout = changed.stdout.replace(&project.path("..").display().to_string(), "TOP");
    let stdout = stdout.replace(&project.root().parent().unwrap().display().to_string(), "TOP");
    assert_snapshot!(stdout);
    assert_eq!(project.stdout(&["config", "get", "wake.agent"]), "june");
    assert_eq!(project.stdout(&["config", "get", "brief.dir"]), ".moai/design");
    let all = project.stdout(&["config", "list"]);
    assert!(all.contains("health.pause_seconds = 10  (default)"), "{all}");
    assert_eq!(project.stdout(&["config", "path"]).lines().count(), 3);
}

#[test]
fn a_value_is_written_and_all_else_stays() {
    let mine = "# mine\r\n[wake] # about waking\r\nmode = 'v0' # news\r\n";
    let project = Project::new().in_repository("main").file(LOCAL, mine);
    project.stdout(&["config", "set", "wake.wake_budget", "500"]);
    let expected = mine.replace("waking\r\n", "waking\r\nwake_budget = 500\r\n");
    assert_eq!(text(&project, LOCAL), expected);
    project.stdout(&["config", "set", "wake.mode", "seed"]);
    assert_eq!(text(&project, LOCAL), expected.replace("'v0'", "\"seed\""));
    project.stdout(&["config", "set", "brief.priority", "spec,notes", "--shared"]);
    assert_eq!(text(&project, "convoke.toml"), "[brief]\npriority = [\"spec\", \"notes\"]\n");
    project.stdout(&["config", "set", "lane.budget_per_day", "$2.50", "--user"]);
    let user = text(&project, "../home/.config/convoke/config.toml");
    assert_eq!(user, "[lane]\nbudget_per_day = \"$2.50\"\n");
    let again = project.stdout(&["config", "set", "wake.wake_budget", "500"]);
    assert!(again.contains("is so already in"), "{again}");
    let project = project.variable("CONVOKE_WAKE_WAKE_BUDGET", "7");
    let weaker = project.run(&["config", "set", "wake.wake_budget", "600"]);
    assert!(weaker.stderr.contains("CONVOKE_WAKE_WAKE_BUDGET sets another value"), "{weaker}");
}

#[test]
fn values_that_are_set_in_parallel_are_all_written() {
    let project = Project::new().in_repository("main");
    let values = [
        ("wake.clock", "+01:00"),
        ("wake.wake_budget", "500"),
        ("task.close_parent", "true"),
        ("lane.budget_per_day", "5000"),
        ("brief.token_budget", "900"),
    ];
    std::thread::scope(|scope| {
        for (key, value) in values {
            let project = &project;
            scope.spawn(move || project.stdout(&["config", "set", key, value]));
        }
        scope.spawn(|| project.stdout(&["hooks", "install", "claude", "--as", "ann"]));
    });
    let text = text(&project, LOCAL);
    for (key, value) in values {
        assert_eq!(project.stdout(&["config", "get", key]), value, "{text}");
    }
    assert_eq!(project.stdout(&["config", "get", "wake.agent"]), "ann", "{text}");
    let listed = fs::read_dir(project.root()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(listed.into_iter().all(|name| !name.to_string_lossy().contains("lock")));
}

#[test]
fn an_agent_changes_no_setting_of_what_wake_ups_deliver() {
    for mark in [("CLAUDECODE", "1"), ("CONVOKE_AGENT", "june"), ("CONVOKE_LANE", "1")] {
        let project = Project::new().in_repository("main");
        project.stdout(&["hooks", "install", "claude", "--as", "ann"]);
        let before = text(&project, LOCAL);
        let agent = project.variable(mark.0, mark.1);
        for arguments in [
            &["config", "set", "wake.wake_budget", "1"][..],
            &["config", "set", "wake.agent", "mallory", "--user"],
            &["config", "unset", "wake.agent"],
            &["hooks", "uninstall", "claude"],
            &["hooks", "install", "claude", "--as", "mallory"],
        ] {
            let refused = agent.run(arguments);
            assert_eq!(refused.code, Some(1), "{arguments:?} {refused}");
            assert!(refused.stderr.contains(": this process "), "{refused}");
        }
        assert_eq!(text(&agent, LOCAL), before);
        agent.stdout(&["config", "set", "wake.clock", "+01:00"]);
        agent.stdout(&["hooks", "install", "gemini"]);
    }
}

#[test]
fn what_cannot_hold_is_refused_and_nothing_is_written() {
    let project = Project::new().in_repository("main").file("../out.toml", "");
    let run = |words: &[&str]| project.run(&[&["config", "set"], words].concat());
    for (words, code, told) in [
        (&["wake.agnet", "june"][..], 2, "did you mean `wake.agent`?"),
        (&["agent", "june"], 2, "did you mean `wake.agent`?"),
        (&["wake.budgt", "900"], 2, "did you mean `wake.wake_budget`?"),
        (&["wake.wake_budget", "many"], 2, "the value must be a whole number from 1 up"),
        (&["wake.agent", "june", "--shared"], 1, "cannot bind your sessions to an agent"),
        (&["wake.wake_budget", "9000", "--shared"], 1, "can lower this limit, not raise it"),
        (&["brief.dir", "../..", "--shared"], 1, "outside the project"),
        (&["store.path", "/x/store.db"], 1, "cannot choose where your data is kept"),
    ] {
        let refused = run(words);
        assert_eq!(refused.code, Some(code), "{words:?} {refused}");
        assert!(refused.stderr.contains(told), "{words:?} {refused}");
    }
    assert!(!project.path(LOCAL).exists() && !project.path("convoke.toml").exists());
    symlink(project.path("../out.toml"), project.path(LOCAL)).unwrap();
    let outside = run(&["wake.wake_budget", "5"]);
    assert_eq!(outside.code, Some(1), "{outside}");
    assert_eq!(text(&project, "../out.toml"), "");
    let broken = Project::new().file(LOCAL, "[wake\n");
    let refused = broken.run(&["config", "set", "wake.wake_budget", "5"]);
    assert!(refused.stderr.contains("it is not valid TOML: line 1"), "{refused}");
    assert_eq!(text(&broken, LOCAL), "[wake\n");
}

// The file of other tools is weaker than the project's own and stronger than the user's.
#[test]
fn values_of_design_yaml_are_listed_with_their_origin() {
    let project = Project::new()
        .in_repository("main")
        .design_yaml("{dir: docs/specs, token_budget: 700, priority: [a, ../b], policy: fill}")
        .file("convoke.toml", "[brief]\ntoken_budget = 900\n")
        .file("../home/.config/convoke/config.toml", "[brief]\ndir = 'mine'\n");
    let changed = project.run(&["config", "list", "--changed"]);
    assert_eq!(
        changed.stdout,
        "brief.dir = \"docs/specs\"  (project: .moai/config/sections/design.yaml)\n\
         brief.token_budget = 900  (project: convoke.toml)\n\
         brief.priority = [\"a\"]  (project: .moai/config/sections/design.yaml)\n"
    );
    let note = "note: .moai/config/sections/design.yaml: `../b` in `priority` is not a bare name";
    assert!(changed.stderr.contains(note), "{changed}");
    assert_eq!(project.stdout(&["config", "get", "brief.dir"]), "docs/specs");
    let set = project.run(&["config", "set", "brief.dir", "other", "--user"]);
    assert!(set.stderr.contains("design.yaml sets another value"), "{set}");
    let paths = project.stdout(&["config", "path"]);
    let lines: Vec<_> = paths.lines().collect();
    assert!(lines.len() == 4 && lines[2].ends_with("(sets only `[brief]`; other tools own it)"));
    let explained = project.stdout(&["brief", "--explain"]);
    assert!(explained.contains("docs/specs") && explained.contains("budget  900"), "{explained}");
    // What a project's file may not set does not hold here, either.
    let outside = Project::new().design_yaml("{dir: ../out, token_budget: 30000}");
    let outside =
        outside.file("../home/.config/convoke/config.toml", "[brief]\ntoken_budget = 5\n");
    let listed = outside.run(&["config", "list"]);
    assert!(listed.stdout.contains("brief.dir = \".moai/design\"  (default)"), "{listed}");
    assert!(listed.stdout.contains("brief.token_budget = 5  (user: "), "{listed}");
    assert!(listed.stderr.contains("leads out of the project"), "{listed}");
}

#[test]
fn no_secret_is_printed() {
    let secret = "sk-ant-api03-0123456789abcdef";
    let project = Project::new().variable("CONVOKE_BRIEF_DIR", secret);
    for words in
        [&["config", "list"][..], &["config", "get", "brief.dir"], &["config", "list", "--json"]]
    {
        let shown = project.run(words);
        assert!(!shown.to_string().contains(secret), "{shown}");
        assert!(shown.stdout.contains("(hidden)"), "{shown}");
    }
}

#[test]
fn a_value_is_removed_and_the_weaker_place_holds() {
    let mine = "# mine\n[wake] # about waking\nagent = \"june\"\nwake_budget = 500 # small\n";
    let project = Project::new()
        .in_repository("main")
        .file(LOCAL, mine)
        .file("../home/.config/convoke/config.toml", "[wake]\nwake_budget = 700\n");
    let removed = project.stdout(&["config", "unset", "wake.wake_budget"]);
    assert!(removed.starts_with("removed wake.wake_budget from "), "{removed}");
    assert!(removed.contains("\nnow wake.wake_budget = 700  (user: "), "{removed}");
    assert_eq!(text(&project, LOCAL), mine.replace("wake_budget = 500 # small\n", ""));
    let again = project.stdout(&["config", "unset", "wake.wake_budget"]);
    assert!(again.contains("convoke.local.toml does not set wake.wake_budget"), "{again}");
    let user = project.stdout(&["config", "unset", "wake.wake_budget", "--user", "--json"]);
    let user: serde_json::Value = serde_json::from_str(&user).unwrap();
    assert_eq!(user["is_changed"], true, "{user}");
    assert_eq!((&user["now"]["value"], &user["now"]["origin"]), (&8000.into(), &"default".into()));
    let unknown = project.run(&["config", "unset", "wake.agnet"]);
    assert_eq!(unknown.code, Some(2), "{unknown}");
    assert!(unknown.stderr.contains("did you mean `wake.agent`?"), "{unknown}");
}

#[test]
fn values_have_their_types_and_no_quotes() {
    let project = Project::new().file(LOCAL, "[wake]\nagent = \"june\"\nwake_budget = 500\n");
    let get = |key: &str| {
        let json = project.stdout(&["config", "get", key, "--json"]);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        (project.stdout(&["config", "get", key]), json["value"].clone())
    };
    assert_eq!(get("wake.agent"), ("june".to_owned(), "june".into()));
    assert_eq!(get("wake.wake_budget"), ("500".to_owned(), 500.into()));
    assert_eq!(get("brief.policy"), ("contract".to_owned(), "contract".into()));
    assert_eq!(get("brief.auto_load_on_design_command"), ("true".to_owned(), true.into()));
    let priority = serde_json::json!(["spec", "system", "research", "pencil-plan"]);
    assert_eq!(get("brief.priority").1, priority);
    let unset = project.stdout(&["config", "get", "lane.budget_per_day", "--json"]);
    let unset: serde_json::Value = serde_json::from_str(&unset).unwrap();
    assert_eq!(unset["value"], serde_json::Value::Null, "a default that is no value");
}

#[test]
fn a_setting_without_a_default_says_so() {
    let project = Project::new();
    let list = project.stdout(&["config", "list"]);
    assert!(list.contains("\nstore.password_file = (not set)  (default)\n"), "{list}");
}
