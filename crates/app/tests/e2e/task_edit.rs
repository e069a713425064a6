//! `convoke task`: editing, ordering, dependencies, the log and undoing.

use insta::assert_snapshot;

use crate::harness::Project;

fn project() -> Project {
    Project::new().on_branch("main")
}

#[test]
fn the_next_task_respects_prerequisites_and_priority() {
    let project = project();
    let model = project.stdout(&["task", "add", "Model"]);
    let login = project.stdout(&["task", "add", "Login", "--after", &model, "--priority", "high"]);
    let docs = project.stdout(&["task", "add", "Docs", "--priority", "low"]);
    assert_snapshot!(project.run(&["task", "list"]).stable(&project), @"
    exit: 0
    --- stdout
    t-1  Model  [pending]
    t-2  Login  [waiting]  after t-1  (high priority)
    t-3  Docs  [pending]  (low priority)
    --- stderr
    ");
    let next = || project.stdout(&["task", "next"]);
    assert!(next().starts_with(&model));
    assert!(project.stdout(&["task", "start"]).starts_with(&model));
    assert!(next().starts_with(&docs), "what is begun is not next, nor what waits");
    let early = project.run(&["task", "start", &login]);
    assert!(early.stderr.contains(&format!("comes after {model}, still open")), "{}", early.stderr);
    project.run(&["task", "undo"]);
    project.run(&["task", "done", &model]);
    assert!(project.stdout(&["task", "start", "--as", "june"]).starts_with(&login));
    project.run(&["task", "start"]);
    let none = project.run(&["task", "next"]);
    assert_snapshot!(none.stable(&project), @"
    exit: 1
    --- stdout
    No task can be started.
    --- stderr
    note: 2 in progress
    ");
    assert_snapshot!(project.run(&["task", "start"]).stable(&project), @"
    exit: 1
    --- stdout
    --- stderr
    error: no task can be started: 2 in progress
    hint: `convoke task tree` shows all tasks; `task start ID` begins one
    ");
}

// An agent reads the wake-up's task, so what waits must not be there.
#[test]
fn a_waiting_task_is_not_the_current_one_of_a_wake_up() {
    let project = project();
    let late = project.stdout(&["task", "add", "Publish"]);
    let early = project.stdout(&["task", "add", "Test"]);
    project.run(&["task", "edit", &late, "--after", &early]);
    project.run(&["task", "edit", &early, "--body", "on three systems"]);
    let text = project.stdout(&["wake", "june", "--profile", "orchestrator"]);
    assert!(text.contains("Publish (waiting)"), "{text}");
    assert!(text.contains(&format!("More about it: `convoke task show {early}`.")), "{text}");
    let current = text.lines().find(|line| line.contains("CURRENT")).unwrap();
    assert!(current.contains("Test"), "{current}");
}

#[test]
fn prerequisites_in_a_circle_are_refused() {
    let project = project();
    let one = project.stdout(&["task", "add", "One"]);
    let two = project.stdout(&["task", "add", "Two", "--after", &one]);
    assert_snapshot!(project.run(&["task", "edit", &one, "--after", &two]).stable(&project), @"
    exit: 1
    --- stdout
    --- stderr
    error: the tasks would wait for each other: `t-1` waits for `t-2` waits for `t-1`
    hint: `convoke task show ID` lists what a task comes after
    ");
    assert_eq!(project.run(&["task", "move", &one, "--under", &two]).code, Some(1));
    assert_eq!(project.run(&["task", "edit", &two, "--no-after"]).code, Some(0));
    assert_eq!(project.run(&["task", "edit", &one, "--after", &two]).code, Some(0));
}

#[test]
fn a_task_is_edited_and_shown_with_its_body() {
    let project = project().file("body.md", "First line\r\n\n  second\n\n");
    let id = project.stdout(&["task", "add", "Old", "--body", "text"]);
    project.run(&["task", "edit", &id, "--title", "New", "--body-file", "body.md"]);
    assert_snapshot!(project.run(&["task", "show", &id]).stable(&project), @r#"
    exit: 0
    --- stdout
    t-1 "New" [pending]

        First line

          second

    No children.
    --- stderr
    "#);
    for bad in [&["--title", " "][..], &["--title", "a\nb"], &["--body", "a\u{1b}[2J"]] {
        let run = project.run(&[&["task", "edit", &id][..], bad].concat());
        assert_eq!(run.code, Some(2), "{bad:?}");
    }
    assert_eq!(project.run(&["task", "edit", &id, "--body-file", "gone.md"]).code, Some(3));
    let nothing = project.run(&["task", "edit", &id]);
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.stderr.contains("--title"), "{}", nothing.stderr);
    project.run(&["task", "edit", &id, "--body", ""]);
    assert!(!project.stdout(&["task", "show", &id]).contains("second"));
}

#[test]
fn siblings_are_reordered() {
    let project = project();
    let ids = project.stdout(&["task", "add", "a", "b", "c"]);
    let ids: Vec<_> = ids.lines().collect();
    let titles = || {
        let list = project.stdout(&["task", "list"]);
        list.lines().map(|line| line.split("  ").nth(1).unwrap().to_owned()).collect::<String>()
    };
    project.run(&["task", "reorder", ids[2], "--first"]);
    assert_eq!(titles(), "cab");
    project.run(&["task", "reorder", ids[2], "--after", ids[0]]);
    assert_eq!(titles(), "acb");
    project.run(&["task", "reorder", ids[0], "--last"]);
    assert_eq!(titles(), "cba");
    let part = project.stdout(&["task", "add", "part", "--parent", ids[0]]);
    let beside = project.run(&["task", "reorder", ids[1], "--before", &part]);
    assert_eq!(beside.code, Some(1));
    assert!(beside.stderr.contains("task move"), "{}", beside.stderr);
    assert_eq!(project.run(&["task", "reorder", ids[0]]).code, Some(2));
}

#[test]
fn changes_are_undone_one_after_the_other_and_logged() {
    let project = project();
    let top = project.stdout(&["task", "add", "Top"]);
    project.run(&["task", "add", "Part", "--parent", &top]);
    project.run(&["task", "done", &top, "--as", "june"]);
    assert!(project.stdout(&["task", "list", "--status", "open"]).contains("No such tasks"));
    let undone = project.stdout(&["task", "undo"]);
    assert!(undone.starts_with("undid what @june did at "), "{undone}");
    assert!(undone.contains("completed  ") && undone.contains("skipped  "), "{undone}");
    assert_eq!(project.stdout(&["task", "list", "--status", "open"]).lines().count(), 2);
    project.run(&["task", "undo"]);
    project.run(&["task", "undo"]);
    assert_eq!(project.stdout(&["task", "list"]), "No tasks.");
    let nothing = project.run(&["task", "undo"]);
    assert_eq!((nothing.code, nothing.stdout.trim()), (Some(1), "Nothing to undo."));
    let log = project.stdout(&["task", "log", &top]);
    let words: Vec<_> = log.lines().map(|line| line.split("  ").nth(2).unwrap()).collect();
    assert_eq!(words, ["added", "completed", "undo: reopened", "undo: removed"]);
    assert!(log.contains("@june  completed") && log.contains("(undone)"), "{log}");
    let json = project.stdout(&["task", "log", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["actor"], "human");
    assert_eq!(json[0]["what"], "added");
}

#[test]
fn a_removed_task_is_listed_and_restored() {
    let project = project();
    let top = project.stdout(&["task", "add", "Top"]);
    let part = project.stdout(&["task", "add", "Part", "--parent", &top]);
    project.run(&["task", "rm", &top]);
    let listed = project.stdout(&["task", "restore"]);
    assert!(listed.starts_with(&format!("{top}  Top  removed ")), "{listed}");
    let below = project.run(&["task", "restore", &part]);
    assert_eq!(below.code, Some(1));
    assert!(below.stderr.contains(&top), "{}", below.stderr);
    assert_eq!(project.stdout(&["task", "restore", &top]), "restored 2");
    assert_eq!(project.stdout(&["task", "restore"]), "No removed tasks.");
    assert_eq!(project.run(&["task", "restore", &top]).code, Some(1));
}

#[test]
fn lists_are_filtered_at_every_depth() {
    let project = project().file("plan.md", "### Task 1: Über login\n");
    let id = project.stdout(&["task", "import", "plan.md"]);
    project.run(&["task", "add", "Check it", "--parent", &id, "--agent", "june"]);
    project.run(&["task", "add", "Other", "--body", "mentions LOGIN"]);
    let list = |words: &[&str]| project.stdout(&[&["task", "list"], words].concat());
    assert_eq!(list(&["--search", "login"]).lines().count(), 2);
    assert_eq!(project.stdout(&["task", "search", "LOGIN", "über"]).lines().count(), 1);
    assert!(list(&["--agent", "june"]).contains("Check it"));
    assert_eq!(list(&["--plan", "./plan.md"]).lines().count(), 2);
    assert_eq!(list(&["--plan", "plan.md", "--agent", "june"]).lines().count(), 1);
    project.run(&["task", "start", &id]);
    assert_eq!(list(&["--status", "in_progress"]).lines().count(), 1);
    assert_eq!(list(&["--status", "in_progress", "--status", "pending"]).lines().count(), 3);
    assert_eq!(list(&["--search", "nowhere"]), "No such tasks.");
}

#[test]
fn tasks_move_between_branches() {
    let project = project();
    let top = project.stdout(&["task", "add", "Top"]);
    project.run(&["task", "add", "Part", "--parent", &top]);
    project.run(&["task", "add", "Stays"]);
    let moved = project.stdout(&["task", "move", &top, "--branch", "feature/x"]);
    assert_eq!(moved, "moved 2 tasks from main to feature/x");
    assert_snapshot!(project.run(&["task", "list", "--all-branches"]).stable(&project), @"
    exit: 0
    --- stdout
    main:
    t-1  Stays  [pending]
    feature/x:
    t-2  Top  [pending]  (1 children)
    --- stderr
    ");
    let back = project.stdout(&["task", "move", "--all", "--from-branch", "feature/x"]);
    assert_eq!(back, "moved 2 tasks from feature/x to main");
    assert_eq!(project.stdout(&["task", "undo"]).lines().count(), 3);
    assert_eq!(project.stdout(&["task", "list", "--branch", "feature/x"]).lines().count(), 1);
}

// W-5: what is part of a closed task is never shown, so begun work opens what it is part of.
#[test]
fn starting_a_part_of_a_closed_task_opens_it_again() {
    let project = project();
    let top = project.stdout(&["task", "add", "Top"]);
    let middle = project.stdout(&["task", "add", "Middle", "--parent", &top]);
    let part = project.stdout(&["task", "add", "Part", "--parent", &middle]);
    project.run(&["task", "add", "Other"]);
    project.run(&["task", "done", &top]);
    let started = project.run(&["task", "start", &part]);
    let note = format!("note: {top} was completed and is in progress again, because {part} is");
    assert!(started.stderr.contains(&note), "{started}");
    assert!(started.stderr.contains(&format!("note: {middle} was skipped")), "{started}");
    let woken = project.stdout(&["wake", "june"]);
    assert!(woken.contains("Part of Top: in progress."), "{woken}");
    let tree = project.stdout(&["task", "tree"]);
    assert_eq!(tree.matches('▶').count(), 3, "{tree}");
    // It is one step.
    project.run(&["task", "undo"]);
    let tree = project.stdout(&["task", "tree"]);
    assert!(!tree.contains('▶'), "{tree}");
    let woken = project.stdout(&["wake", "june"]);
    assert!(woken.contains("Other: not started."), "{woken}");
}

// An agent takes back its own deeds, and never the user's move of a whole branch.
#[test]
fn an_agent_undoes_nothing_that_the_user_did() {
    let project = Project::new().in_repository("main");
    project.stdout(&["task", "add", "One"]);
    project.stdout(&["task", "move", "--all", "--from-branch", "main", "--branch", "other"]);
    let undo = ["task", "undo", "--branch", "other"];
    for mark in ["CONVOKE_AGENT=june", "CLAUDECODE=1", "CONVOKE_LANE=1"] {
        let agent = |words: &[&str]| {
            let words = [&[mark, env!("CARGO_BIN_EXE_convoke")], words].concat();
            let done = project.command(std::path::Path::new("env"), &words).output().unwrap();
            (done.status.code(), String::from_utf8([done.stdout, done.stderr].concat()).unwrap())
        };
        let as_person = [&undo[..], &["--as", "human"]].concat();
        let of_user = "the user did this, and an agent undoes only what agents did";
        for (words, why) in [(&undo[..], of_user), (&as_person, "cannot act as @human")] {
            let (code, refused) = agent(words);
            assert_eq!(code, Some(1), "{mark}: {refused}");
            assert!(refused.contains(why), "{mark}: {refused}");
        }
        agent(&["task", "add", "Its own", "--branch", "other", "--as", "june"]);
        let (code, undone) = agent(&undo);
        assert!(code == Some(0) && undone.contains("Its own"), "{mark}: {undone}");
    }
    assert_eq!(project.stdout(&["task", "list"]), "No tasks.");
    project.stdout(&undo);
    assert!(project.stdout(&["task", "list"]).contains("One"));
}

// Agents that ask for work at the same moment must not do the same work.
#[test]
fn agents_that_start_at_the_same_moment_get_different_tasks() {
    let project = Project::new();
    let agents: Vec<_> = (1..=6).map(|number| format!("agent{number}")).collect();
    for agent in &agents {
        project.run(&["agent", "add", agent]);
        project.run(&["task", "add", &format!("A task beside that of {agent}")]);
    }
    let start = |agent: &String| {
        let program = env!("CARGO_BIN_EXE_convoke").as_ref();
        project.command(program, &["task", "start", "--as", agent]).spawn().unwrap()
    };
    let processes: Vec<_> = agents.iter().map(start).collect();
    let mut started: Vec<_> = processes
        .into_iter()
        .map(|process| String::from_utf8(process.wait_with_output().unwrap().stdout).unwrap())
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect();
    started.sort();
    started.dedup();
    assert_eq!(started.len(), agents.len(), "{started:?}");
}

#[test]
fn a_title_has_words_and_nothing_hidden() {
    let project = project();
    for (title, why) in [
        ("\u{200b}", "it must not be empty"),
        (" \u{200d}\u{ad} ", "it must not be empty"),
        ("a\u{202e}b", "it has a hidden character"),
        ("a\u{1b}[2Jb", "it has a hidden character"),
        ("a\nb", "it must be one line"),
        ("a\u{2028}b", "it must be one line"),
    ] {
        let refused = project.run(&["task", "add", title]);
        assert_eq!(refused.code, Some(2), "{title:?}: {refused}");
        assert!(refused.stderr.contains(why), "{title:?}: {refused}");
    }
}
