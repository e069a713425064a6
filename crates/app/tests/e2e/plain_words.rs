//! What a newcomer must be told: typos, what a command did, and where everything is.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::deeds::id_of;
use crate::harness::Project;

fn json_of(project: &Project, words: &[&str]) -> Value {
    serde_json::from_str(&project.stdout(&[words, &["--json"]].concat())).unwrap()
}

#[test]
fn an_undo_reports_its_changes_as_undone() {
    let project = Project::new().on_branch("main");
    let id = project.stdout(&["task", "add", "Whole"]);
    project.stdout(&["task", "add", "One", "Two", "--parent", &id]);
    let done = json_of(&project, &["task", "done", &id]);
    let titles: Vec<_> =
        done["children"].as_array().unwrap().iter().map(|part| &part["content"]).collect();
    assert_eq!(titles, ["One", "Two"], "{done}");
    assert_eq!(done["children"][0]["status"], "skipped", "{done}");
    let undone = json_of(&project, &["task", "undo"]);
    let undone = undone.as_array().unwrap();
    assert!(!undone.is_empty());
    for change in undone {
        assert_eq!((&change["undo"], &change["undone"]), (&json!(false), &json!(true)));
    }
}

#[test]
fn a_task_shows_its_agent_its_plan_and_what_the_plan_says() {
    let plan = "# Login\n\n### Task 1: Model\nStore codes.\n\n### Task 2: Form\nOne field.\n";
    let project = Project::new().on_branch("main").file("docs/plan.md", plan);
    project.stdout(&["agent", "add", "kim"]);
    project.stdout(&["task", "import", "docs/plan.md"]);
    let id = id_of(&project, "Task 1: Model");
    project.stdout(&["task", "assign", &id, "kim"]);
    let shown = project.stdout(&["task", "show", &id]);
    assert!(shown.contains("\n  Agent: @kim\n  Plan: docs/plan.md\n"), "{shown}");
    assert!(shown.contains("\n    ### Task 1: Model\n    Store codes.\n"), "{shown}");
    assert!(!shown.contains("One field"), "{shown}");
    let section = &json_of(&project, &["task", "show", &id])["plan_section"];
    assert_eq!(section, "### Task 1: Model\nStore codes.");
    assert!(project.stdout(&["task", "list"]).contains("Task 1: Model  [pending]  @kim"));
    // A description of its own is the task's body.
    project.stdout(&["task", "edit", &id, "--body", "Mine"]);
    let own = project.stdout(&["task", "show", &id]);
    assert!(own.contains("\n    Mine\n") && !own.contains("Store codes"), "{own}");
    fs::remove_file(project.path("docs/plan.md")).unwrap();
    let other = id_of(&project, "Task 2: Form");
    assert_eq!(json_of(&project, &["task", "show", &other])["plan_section"], Value::Null);
}

#[test]
fn a_misspelt_agent_is_noticed() {
    let project = Project::new().on_branch("main");
    project.stdout(&["agent", "add", "backend"]);
    project.stdout(&["task", "add", "One"]);
    let note = "note: there is no agent `bakend` on main in project yet; did you mean `backend`?\n";
    for words in [
        &["inbox", "bakend"][..],
        &["inbox", "bakend", "--all"],
        &["task", "start", "--as", "bakend"],
        &["say", "hello @bakend"],
    ] {
        let told = project.run(words);
        assert_eq!((told.code, told.stderr.as_str()), (Some(0), note), "{words:?}: {told}");
    }
    let known = project.run(&["inbox", "backend"]);
    assert_eq!(known.stderr, "", "{known}");
    let input = json!({ "session_id": "s-1", "cwd": project.root(), "source": "startup" });
    let project = project.variable("CONVOKE_WAKE_AGENT", "backend");
    project.run_with_input(&["hook", "claude", "SessionStart"], input.to_string().as_bytes());
    let used = project.run(&["agent", "use", "backendd"]);
    let added = "note: there was no agent `backendd` on main, so Convoke added it; \
                 did you mean `backend`?\n";
    assert_eq!(used.stderr, added, "{used}");
    assert_eq!(json_of(&project, &["agent", "use", "backend"])["added"], false);
}

#[test]
fn every_message_of_the_branch_is_listed_with_its_number() {
    let project = Project::new().on_branch("main");
    for name in ["june", "max"] {
        project.stdout(&["agent", "add", name]);
    }
    assert_eq!(project.stdout(&["inbox", "--all"]), "No messages on this branch.");
    project.stdout(&["say", "one", "--to", "june", "--as", "max"]);
    project.stdout(&["say", "two @max", "--as", "june"]);
    project.stdout(&["say", "a note", "--as", "june"]);
    project.stdout(&["inbox", "june", "--mark"]);
    let project = project.on_branch("trunk");
    project.stdout(&["say", "three @main:max", "--as", "ana"]);
    project.stdout(&["say", "not there", "--as", "ana"]);
    let project = project.on_branch("main");
    let hint = project.run(&["say", "x", "--re", "99"]).stderr;
    assert!(hint.contains("`convoke inbox --all` lists messages with their numbers"), "{hint}");
    let all = project.stdout(&["inbox", "--all"]);
    let numbers: Vec<_> = all.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(numbers, ["#1", "#2", "#3", "#4"], "{all}");
    assert!(all.contains("@max to @june: \"one\""), "{all}");
    let last = project.run(&["inbox", "--all", "--limit", "1"]);
    assert!(last.stdout.starts_with("#4 "), "{last}");
    let note = "note: listed 1 of 4 messages; the ones before: `convoke inbox --all --before 4`\n";
    assert_eq!(last.stderr, note);
    let json = json_of(&project, &["inbox", "--all"]);
    assert_eq!((&json[0]["to"], &json[1]["to"]), (&json!("june"), &Value::Null));
    // Those to one agent alone are listed by its name.
    assert_eq!(project.stdout(&["inbox", "june", "--all"]).lines().count(), 1);
    let marked = project.run(&["inbox", "--all", "--mark"]);
    assert_eq!(marked.code, Some(2), "{marked}");
    assert!(marked.stderr.contains("`convoke inbox AGENT --all --mark`"), "{marked}");
    // A reader without messages learns who has some.
    let empty = project.run(&["inbox"]);
    assert_eq!(empty.stderr, "note: @max has 2 unread messages; `convoke inbox max` shows them\n");
}

#[test]
fn a_sent_message_says_to_whom_and_when_it_is_read() {
    let project = Project::new().on_branch("main");
    project.stdout(&["agent", "add", "june"]);
    for (words, told) in [
        (
            &["say", "hello @june and @june", "--to", "june"][..],
            "message 1 sent to @june; announced at its next prompt, delivered with its next wake-up",
        ),
        (&["say", "look, @human"], "message 2 sent to @human; `convoke inbox` lists it"),
        (&["say", "just so"], "message 3 stored as a note"),
    ] {
        assert_eq!(project.stdout(words), told);
    }
    let other = project.stdout(&["say", "@trunk:max and @june"]);
    assert!(other.starts_with("message 4 sent to @trunk:max and @june; "), "{other}");
    assert_eq!(json_of(&project, &["say", "x @june"])["mentions"], json!(["project:main:june"]));
}

#[test]
fn removed_hooks_are_named() {
    let project = Project::new().in_repository("main");
    project.stdout(&["hooks", "install", "claude", "--as", "june", "--entries", "1"]);
    let entries = json_of(&project, &["hooks", "status", "claude"])["entries"].clone();
    let removed = project.run(&["hooks", "uninstall", "claude"]);
    assert_eq!(removed.code, Some(0), "{removed}");
    let path = project.path(".claude/settings.json").display().to_string();
    assert!(removed.stdout.starts_with(&format!("removed {path}, which held only")), "{removed}");
    assert!(removed.stdout.contains("\nsessions here no longer belong to @june\n"), "{removed}");
    assert!(!removed.to_string().contains("not delivered"), "{removed}");
    let again = project.stdout(&["hooks", "uninstall", "claude"]);
    assert!(again.contains("has no hooks of Convoke's; nothing was removed"), "{again}");
    let project = project.file(".claude/settings.json", "{\"model\": \"opus\"}\n");
    project.stdout(&["hooks", "install", "claude", "--entries", "1"]);
    let json = json_of(&project, &["hooks", "uninstall", "claude"]);
    assert_eq!(json["removed_entries"], entries, "{json}");
    assert_eq!((&json["removed_file"], &json["installed"]), (&json!(false), &json!(false)));
}

// Git itself says why it refuses a repository of another owner, and what allows it.
#[test]
fn gits_own_words_are_passed_on() {
    let project = Project::new()
        .in_repository("main")
        .variable("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
        .file("convoke.local.toml", "");
    for words in
        [&["hooks", "install", "claude"][..], &["config", "set", "wake.wake_budget", "500"]]
    {
        let refused = project.run(words);
        assert_ne!(refused.code, Some(0), "{refused}");
        assert!(refused.stderr.contains("detected dubious ownership in repository"), "{refused}");
        let command = "run `git config --global --add safe.directory ";
        assert!(refused.stderr.contains(command), "{refused}");
    }
    let doctor = project.run(&["doctor", "--no-probe"]).stdout;
    let doctor = doctor.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(doctor.contains("refuses to work here: detected dubious ownership"), "{doctor}");
}

// Both steps, in order, wherever Codex's trust is missing.
#[test]
fn trust_in_codex_hooks_takes_two_steps_everywhere() {
    let steps =
        "start `codex` here and trust the folder, then run `/hooks` in it and trust the hooks";
    let project = Project::new().in_repository("main").file("../bin/codex", "#!/bin/sh\nexit 1\n");
    let program = project.path("../bin/codex");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", project.path("../bin").display());
    let project = project.variable("PATH", &path);
    let planned = project.run(&["init", "--dry-run"]);
    let installed = project.run(&["hooks", "install", "codex"]);
    for told in [
        planned,
        installed,
        project.run(&["hooks", "status"]),
        project.run(&["status"]),
        project.run(&["doctor", "--no-probe"]),
    ] {
        let words = told.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(steps), "{told}");
    }
}

#[test]
fn small_mistakes_are_explained() {
    let project = Project::new().on_branch("main").file("docs/a.md", "# A\n\nText.\n");
    let packed = project.run(&["brief", "docs/a.md", "--budget", "10k"]);
    assert_eq!(packed.code, Some(0), "{packed}");
    for (words, code, told) in [
        (&["brief", "docs/a.md", "--budget", "$5"][..], 2, "such as 8000 or 10k"),
        (&["brief", "docs/a.md", "--budget", "0"], 2, "it must be at least 1 token"),
        (&["wake"], 1, "name one: `convoke wake me`"),
        (&["agent", "add", "Bad Name"], 2, "a name is ASCII letters, digits,"),
        (&["task", "import"], 2, "<FILE|--run [<RUN>]>"),
    ] {
        let refused = project.run(words);
        assert_eq!(refused.code, Some(code), "{words:?}: {refused}");
        assert!(refused.stderr.contains(told), "{words:?}: {refused}");
    }
    project.stdout(&["agent", "add", "june"]);
    assert!(project.run(&["wake"]).stderr.contains("name one: `convoke wake june`"));
    let blank = project.run(&["lane", "run", ""]);
    assert_eq!(blank.stderr, "error: cannot run the lane: the prompt is empty\n");
    project.stdout(&["pin", "add", "Never push"]);
    let twice = project.run(&["pin", "add", "Never push"]);
    let note = "note: rule 1 says the same and is in force here; `convoke pin rm 1` removes it\n";
    assert_eq!((twice.code, twice.stderr.as_str()), (Some(0), note));
    assert_eq!(project.run(&["pin", "add", "Never force-push"]).stderr, "");
}

#[test]
fn a_folder_is_named_in_full() {
    let project = Project::new().on_branch("main").file("src/convoke.toml", "");
    let folder = project.path("src").display().to_string();
    assert_eq!(json_of(&project, &["-C", "src", "status"])["folder"], folder.as_str());
}
