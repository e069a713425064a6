//! Layered configuration.

use insta::assert_snapshot;

use crate::harness::Project;

fn budget(project: &Project, arguments: &[&str]) -> u64 {
    project.json(arguments)["budget"].as_u64().unwrap()
}

// B-8: flags over environment over local over project over design.yaml over user over default.
#[test]
fn the_nearest_place_wins() {
    let project = Project::new();
    assert_eq!(budget(&project, &[]), 20_000);
    let project =
        project.file("../home/.config/convoke/config.toml", "[brief]\ntoken_budget = 9\n");
    assert_eq!(budget(&project, &[]), 9);
    let project = project.design_yaml("{token_budget: 8}");
    assert_eq!(budget(&project, &[]), 8);
    let project = project.file("convoke.toml", "[brief]\ntoken_budget = 3\n");
    assert_eq!(budget(&project, &[]), 3);
    let project = project.file("convoke.local.toml", "[brief]\ntoken_budget = 14\n");
    assert_eq!(budget(&project, &[]), 14, "this file is the user's own");
    let project = project.variable("CONVOKE_BRIEF_TOKEN_BUDGET", "15");
    assert_eq!(budget(&project, &[]), 15);
    assert_eq!(budget(&project, &["--budget", "16"]), 16);
}

// A project's files lower the user's budget and never raise it.
#[test]
fn a_budget_of_a_project_is_held_to_the_users() {
    let user = "../home/.config/convoke/config.toml";
    let project =
        Project::new().file(user, "brief.token_budget = 9").design_yaml("{token_budget: 10}");
    assert_eq!(budget(&project, &[]), 9);
    let codes = project.json(&[])["diagnostics"].to_string();
    assert!(codes.contains("config_raises:token_budget"), "{codes}");
    let held = |project: &Project| {
        let outcome = project.run(&["brief", "--json"]);
        assert!(outcome.stderr.contains("`brief.token_budget` in `"), "{outcome}");
        let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        document["budget"].as_u64().unwrap()
    };
    assert_eq!(held(&project.file("convoke.toml", "brief.token_budget = 10")), 9);
    let plain = Project::new().file("convoke.toml", "brief.token_budget = 20001");
    assert_eq!(held(&plain), 20_000);
}

#[test]
fn the_xdg_folder_is_the_users() {
    let project = Project::new().file("xdg/convoke/config.toml", "brief.token_budget = 7");
    let folder = project.path("xdg").display().to_string();
    let project = project.variable("XDG_CONFIG_HOME", &folder);
    assert_eq!(budget(&project, &[]), 7);
    let relative = project.variable("XDG_CONFIG_HOME", "xdg");
    assert_eq!(budget(&relative, &[]), 20_000);
}

#[test]
fn an_empty_variable_is_not_set() {
    let project = Project::new().variable("CONVOKE_BRIEF_TOKEN_BUDGET", "");
    assert_eq!(budget(&project, &[]), 20_000);
}

// Agents run in sandboxes where the user's folder is hidden or is no folder.
#[cfg(unix)]
#[test]
fn a_home_out_of_reach_is_no_error() {
    let project = Project::with_documents(&[("spec", "x")]).design_yaml("{}");
    let project = project.file("../home/.config/convoke/config.toml", "brief.token_budget = 1");
    crate::harness::set_mode(&project.path("../home"), 0o700);
    let hidden = project.run_without_rights(&["brief", "-v"]);
    assert_eq!(hidden.code, Some(0), "{hidden}");
    let nowhere = project.variable("HOME", "/dev/null").run(&["brief", "-v"]);
    assert_eq!((nowhere.code, nowhere.stderr.as_str()), (Some(0), ""));
}

#[test]
fn every_setting_can_come_from_a_file_or_a_variable() {
    let file = "[brief]\ndir = 'docs'\nauto_load_on_design_command = true\ntoken_budget = 50\n\
                priority = ['a', 'b.md']\npolicy = 'strict'\ntokenizer = 'cl100k'\n\
                literal_source = true\nmax_file_bytes = 10\n";
    let project = Project::new()
        .file("docs/a.md", "text of a")
        .file("docs/b.md", "longer than it may be")
        .file("convoke.toml", file);
    let from_file = project.json(&[]);
    let block = from_file["block"].as_str().unwrap();
    assert!(block.contains("> source: .moai/design/a.md\ntext of a\n"), "{block}");
    assert!(block.contains("b unreadable: too large"), "{block}");
    assert_eq!(
        (&from_file["policy"], &from_file["tokenizer"]),
        (&"strict".into(), &"cl100k".into())
    );

    let project = project
        .file("convoke.toml", "")
        .variable("CONVOKE_BRIEF_DIR", "docs")
        .variable("CONVOKE_BRIEF_TOKEN_BUDGET", "50")
        .variable("CONVOKE_BRIEF_PRIORITY", "a,b.md")
        .variable("CONVOKE_BRIEF_POLICY", "strict")
        .variable("CONVOKE_BRIEF_TOKENIZER", "cl100k")
        .variable("CONVOKE_BRIEF_LITERAL_SOURCE", "true")
        .variable("CONVOKE_BRIEF_MAX_FILE_BYTES", "10");
    let mut from_variables = project.json(&[]);
    // Variables are for one call, so no file counts as configuration.
    assert_eq!(from_variables["logs"][0], "design_docs not configured — using defaults");
    from_variables["logs"] = from_file["logs"].clone();
    assert_eq!(from_variables, from_file);

    let closed = project.variable("CONVOKE_BRIEF_AUTO_LOAD_ON_DESIGN_COMMAND", "false");
    assert_eq!(closed.run(&["brief", "--auto"]).stdout, "");
}

// B-3, B-4
#[test]
fn a_file_of_ours_counts_as_configured() {
    let log = "design_docs not configured — using defaults\n";
    let project = Project::with_documents(&[("spec", "x")]);
    assert_eq!(project.run(&["brief"]).stderr, log);
    let project = project.file("convoke.toml", "[brief]\npolicy = 'fill'\n");
    assert_eq!(project.run(&["brief"]).stderr, log);
    let project = project.file("convoke.toml", "[brief]\ntoken_budget = 5\n");
    assert_eq!(project.run(&["brief"]).stderr, "");
    let project = project.file("convoke.toml", "").design_yaml("{token_budget: 5}");
    assert_eq!(project.run(&["brief"]).stderr, "");
}

#[test]
fn a_mistake_in_a_file_of_ours_is_an_error_with_its_place() {
    let wrong = |text: &str| Project::new().file("convoke.toml", text).run(&["-C", ".", "brief"]);
    assert_snapshot!(wrong("[brief]\ntoken_bugdet = 5\n"), @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot use `brief.token_bugdet` in `./convoke.toml`: there is no such key
    hint: did you mean `token_budget`?
    hint: known keys: dir, auto_load_on_design_command, token_budget, priority, policy, tokenizer, literal_source, max_file_bytes
    ");
    assert_snapshot!(wrong("[brief]\ntoken_budget = 0\n"), @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot use `brief.token_budget` in `./convoke.toml`: it must be a whole number from 1 up
    ");
    assert_snapshot!(wrong("[brieff]\n"), @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot use `brieff` in `./convoke.toml`: there is no such section
    hint: did you mean `brief`?
    hint: known sections: brief, wake, dispatch, lane, health, store, task, acp, mcp, telemetry, pack, fleet
    ");
    assert_snapshot!(wrong("brief = 5"), @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot use `brief` in `./convoke.toml`: it must be a table
    ");
    assert_snapshot!(wrong("[brief"), @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot read configuration `./convoke.toml`: line 1: unclosed table, expected `]`
    ");
    let variable = Project::new().variable("CONVOKE_BRIEF_POLICY", "lenient").run(&["brief"]);
    assert_snapshot!(variable, @"
    exit: 2
    --- stdout
    --- stderr
    error: cannot use `CONVOKE_BRIEF_POLICY`: it must be contract, strict or fill
    ");
}
