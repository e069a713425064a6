//! The first use of tasks, messages and wake-ups.

use std::fs;

use serde_json::{Value, json};

use crate::deeds::id_of;
use crate::harness::{Outcome, Project};
use crate::hook;

fn hear(project: &Project, cause: &str) -> Outcome {
    let cwd = project.root().display().to_string();
    let input = json!({ "session_id": "s-1", "cwd": cwd, "source": cause }).to_string();
    project.run_with_input(&["hook", "claude", "SessionStart"], input.as_bytes())
}

fn json_of(project: &Project, words: &[&str]) -> Value {
    serde_json::from_str(&project.stdout(&[words, &["--json"]].concat())).unwrap()
}

// W-9: an agent's commands are its own, and the user's rules are not its to change.
#[test]
fn a_command_in_a_session_acts_for_the_sessions_agent() {
    let project = Project::new().in_repository("main");
    project.stdout(&["pin", "add", "Never push to main"]);
    project.stdout(&["hooks", "install", "claude", "--entries", "1"]);
    let id = project.stdout(&["task", "add", "Build it"]);
    project.stdout(&["say", "for you", "--to", "max"]);
    let project = project.variable("CLAUDE_CODE_SESSION_ID", "s-1");
    project.stdout(&["task", "start", &id]);
    assert!(project.stdout(&["task", "log"]).contains("@me  started"));
    project.stdout(&["agent", "use", "max"]);
    let verdict = json_of(&project, &["say", "fine", "--verdict", "pass", "--task", &id]);
    assert_eq!(verdict["verdict"]["recorded_by"], "max", "{verdict}");
    assert!(project.stdout(&["inbox"]).contains("for you"));
    for words in [&["pin", "rm", "1"][..], &["pin", "add", "Push to main"]] {
        let refused = project.run(words);
        assert_eq!(refused.code, Some(1), "{refused}");
        assert!(refused.stderr.contains("in their own terminal"), "{refused}");
    }
    assert!(project.stdout(&["pin", "list"]).contains("Never push to main"));
}

// W-39
#[test]
fn the_section_of_the_current_task_is_shown_where_numbers_repeat() {
    let plan = "## Phase 1\n### Task 1: Add the table\nmake table\n### Task 2: Write the store\n\
                ## Phase 2\n### Task 1: Add the queue\nmake queue\n";
    let project = Project::new().on_branch("main").file("plan.md", plan);
    project.stdout(&["task", "import", "plan.md"]);
    for title in ["Add the table", "Write the store"] {
        project.stdout(&["task", "done", &id_of(&project, title)]);
    }
    let woken = project.stdout(&["wake", "june"]);
    assert!(woken.contains("make queue") && !woken.contains("make table"), "{woken}");
    let queue = id_of(&project, "Add the queue");
    let prompt = project.stdout(&["subagent", "implementer", "--task", &queue]);
    assert!(prompt.contains("make queue") && !prompt.contains("make table"), "{prompt}");
    let twice = project.file("twice.md", "## Task 1: Same\na\n## Task 1: Same\nb\n");
    let refused = twice.run(&["task", "import", "twice.md"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("two tasks read `Task 1: Same`"), "{refused}");
}

// W-6
#[test]
fn a_started_task_is_the_starters() {
    let project = Project::new().on_branch("main");
    let id = project.stdout(&["task", "add", "Task 2: Build it"]);
    assert!(project.stdout(&["wake", "kim"]).contains("`convoke task start --as kim` starts it."));
    project.stdout(&["task", "start", &id, "--as", "kim"]);
    let woken = project.stdout(&["wake", "kim"]);
    assert!(woken.contains("Task 2: Build it (@kim, in progress)  <-- CURRENT"), "{woken}");
    project.stdout(&["task", "undo"]);
    assert_eq!(json_of(&project, &["task", "show", &id])["agent"], Value::Null);
    project.stdout(&["task", "start", &id]);
    assert_eq!(json_of(&project, &["task", "show", &id])["agent"], Value::Null);
}

// W-5, W-6, W-35: one rule, and the next action names its command.
#[test]
fn wake_next_and_start_choose_the_same_task() {
    let project = Project::new()
        .on_branch("main")
        .file("a.md", "## Task 1: Alpha\n")
        .file("b.md", "## Task 1: Omega\n");
    project.stdout(&["task", "import", "a.md"]);
    let omega = project.stdout(&["task", "import", "b.md"]);
    let woken = project.stdout(&["wake", "june"]);
    assert!(woken.contains(&format!("Start Task 1: Omega: `convoke task start {omega}`")));
    for words in [&["task", "next"][..], &["task", "next", "--as", "june"], &["task", "start"]] {
        assert!(project.stdout(words).contains("Omega"), "{words:?}");
    }
    assert!(project.stdout(&["task", "tree"]).contains("Task 1: Omega  ← current"));
}

#[test]
fn a_raised_priority_does_not_hide_work_in_progress() {
    let project = Project::new().on_branch("main").file("p.md", "## Task 1: A\n## Task 2: B\n");
    project.stdout(&["task", "import", "p.md", "--reviews"]);
    project.stdout(&["task", "start"]);
    project.stdout(&["task", "edit", &id_of(&project, "Task 2: B"), "--priority", "high"]);
    let woken = project.stdout(&["wake", "june"]);
    assert!(woken.contains("Task 1: A (in Implementation)  <-- CURRENT"), "{woken}");
}

// W-37, W-36
#[test]
fn messages_keep_their_lines_and_their_addressee() {
    let project = Project::new().on_branch("main");
    project.run_with_input(&["say", "-", "--to", "june"], b"Two:\n- a\n```\ncode\n```\n");
    let lines = "@human:\n> Two:\n> - a\n> ```\n> code\n> ```";
    assert!(project.stdout(&["inbox", "june"]).contains(lines));
    assert!(project.stdout(&["wake", "june"]).contains(lines));
    let seed = project.variable("CONVOKE_WAKE_FIT", "seed");
    assert!(seed.stdout(&["wake", "june"]).contains("@human: \"Two: - a ``` code ```\""));
    seed.stdout(&["say", "secret", "--to", "bob"]);
    let woken = seed.stdout(&["wake", "alice"]);
    assert!(woken.contains("@human to @bob: \"secret\""), "{woken}");
    let note = seed.run(&["say", "stop, everybody"]);
    assert!(note.stderr.contains("note: no agent is mentioned: stored as a note"), "{note}");
}

#[test]
fn a_change_that_changes_nothing_is_no_step() {
    let project = Project::new().on_branch("main");
    let id = project.stdout(&["task", "add", "One"]);
    project.stdout(&["task", "done", &id]);
    let again = project.run(&["task", "done", &id]);
    assert!(again.stderr.contains("is completed already"), "{again}");
    project.stdout(&["task", "edit", &id, "--title", "One"]);
    project.stdout(&["task", "note", &id, "x"]);
    project.stdout(&["task", "note", &id, "x"]);
    assert!(project.stdout(&["task", "undo"]).contains("noted"));
    assert!(project.stdout(&["task", "undo"]).contains("completed"));
    let woken = project.stdout(&["wake", "june"]);
    assert_eq!(woken.matches("@human completed One").count(), 1, "{woken}");
}

#[test]
fn a_new_branch_shows_where_the_tasks_are() {
    let project = Project::new().in_repository("main").variable("CONVOKE_WAKE_AGENT", "june");
    let id = project.stdout(&["task", "add", "Build it"]);
    let project = project.on_branch("feature/drafts");
    let told = hook::context(&hear(&project, "startup"), "SessionStart").unwrap();
    let how = "`convoke task move --all --from-branch main`";
    // The hook, `wake` and its document say it in the same words.
    let document: Value = serde_json::from_str(&project.stdout(&["wake", "--json"])).unwrap();
    let document = document["text"].as_str().unwrap().to_owned();
    for told in [&told, &project.stdout(&["wake"]), &document] {
        assert!(told.contains("branch `main` has 1 open") && told.contains(how), "{told}");
    }
    let missing = project.run(&["task", "show", &id]);
    assert!(missing.stderr.contains("is on branch main: add `--branch main`"), "{missing}");
    assert!(project.stdout(&["task", "show", &id, "--branch", "main"]).contains("Build it"));
}

#[test]
fn paths_are_read_from_this_folder() {
    let project = Project::new().in_repository("main").file("docs/p.md", "## Task 1: A\n");
    fs::create_dir_all(project.path("s")).unwrap();
    let program = env!("CARGO_BIN_EXE_convoke");
    let docs = project.shell(&format!("cd docs && {program} task import p.md"), "");
    assert_eq!(docs.code, Some(0), "{docs}");
    let again = project.shell(&format!("cd s && {program} task import ../docs/p.md"), "");
    assert!(again.stderr.contains("1 task of this plan is here already"), "{again}");
    let listed = project.shell(&format!("cd docs && {program} task list --plan p.md"), "");
    assert!(listed.stdout.contains("Task 1: A"), "{listed}");
    assert_eq!(project.stdout(&["task", "list", "--plan", "docs/p.md"]).lines().count(), 1);
}

#[test]
fn a_misspelt_name_is_remarked_on() {
    let project = Project::new().on_branch("main");
    let id = project.stdout(&["task", "add", "One"]);
    let note = "there is no agent `nosuch`";
    for words in [&["task", "assign", &id, "nosuch"][..], &["wake", "nosuch"]] {
        let outcome = project.run(words);
        assert_eq!(outcome.code, Some(0), "{outcome}");
        assert!(outcome.stderr.contains(note), "{outcome}");
    }
    let moved = project.run(&["task", "move", "--all", "--from-branch", "typo"]);
    assert!(moved.stderr.contains("branch typo has no tasks"), "{moved}");
}

// W-34
#[test]
fn a_long_title_is_cut_in_recent_activity() {
    let project = Project::new().on_branch("main");
    let id = project.stdout(&["task", "add", &"long ".repeat(600)]);
    project.stdout(&["task", "start", &id]);
    let woken = project.stdout(&["wake", "june"]);
    let deed = woken.lines().find(|line| line.contains("@human started")).unwrap();
    assert!(deed.chars().count() < 450 && deed.ends_with('…'), "{deed}");
}

#[test]
fn small_mistakes_get_the_reason() {
    let project = Project::new().on_branch("main");
    let id = project.stdout(&["task", "add", "One"]);
    let reorder = project.run(&["task", "reorder", &id, "--before", &id]);
    assert!(reorder.stderr.contains("next to itself"), "{reorder}");
    let pin = project.run(&["pin", "rm", "Freeze"]);
    assert!(pin.stderr.contains("it must be a rule's number"), "{pin}");
    project.stdout(&["task", "done", &id]);
    let log = project.run(&["task", "log", "--limit", "1"]);
    assert!(log.stderr.contains("note: listed the last 1 changes"), "{log}");
}

// W-9: a client's action is never attributed to the person, even if no agent is set.
#[test]
fn a_session_without_an_agent_acts_for_itself() {
    for variable in [
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDECODE",
        "CODEX_THREAD_ID",
        "GEMINI_CLI",
        "OPENCODE",
        "CURSOR_AGENT",
        "QWEN_CODE",
    ] {
        let project = Project::new().in_repository("main").variable(variable, "1");
        let id = project.stdout(&["task", "add", "Build it"]);
        project.stdout(&["task", "start", &id]);
        let log = project.stdout(&["task", "log"]);
        assert!(log.contains("@me  started") && !log.contains("@human"), "{variable}: {log}");
        let verdict = json_of(&project, &["say", "fine", "--verdict", "pass", "--task", &id]);
        assert_eq!(verdict["verdict"]["recorded_by"], "me", "{variable}: {verdict}");
        for words in [&["pin", "add", "Push to main"][..], &["plan", "cancel", "a.md"]] {
            let refused = project.run(words);
            assert_eq!(refused.code, Some(1), "{variable}: {refused}");
            assert!(refused.stderr.contains("in their own terminal"), "{refused}");
        }
        // A broken file makes no person of it either.
        let project = project.file("convoke.local.toml", "[wake");
        project.run(&["task", "add", "More"]);
        std::fs::remove_file(project.path("convoke.local.toml")).unwrap();
        assert!(!project.stdout(&["task", "log"]).contains("@human"), "{variable}");
    }
}

// W-6: an urgent task is named while another plan is being worked on.
#[test]
fn a_task_of_high_priority_outside_the_plan_is_named() {
    let project = Project::new().on_branch("main").file("a.md", "## Task 1: Alpha\n");
    let id = project.stdout(&["task", "add", "Fix the leak", "--priority", "high"]);
    project.stdout(&["task", "import", "a.md"]);
    let line = format!("High priority outside this plan: Fix the leak (`convoke task show {id}`)");
    for budget in ["1000", "8000"] {
        let woken = project.stdout(&["wake", "june", "--budget", budget]);
        assert!(woken.contains(&line) && woken.contains("Start Task 1: Alpha"), "{woken}");
    }
    let next = project.run(&["task", "next"]);
    assert!(next.stdout.contains("Alpha"), "{next}");
    assert!(next.stderr.contains(&format!("`{id}` has high priority outside")), "{next}");
    // The branch is not finished with a plan while another has open tasks.
    project.stdout(&["task", "start", &id]);
    project.stdout(&["task", "pass", &id, "--by", "r"]);
    let woken = project.stdout(&["wake", "june"]);
    assert!(woken.contains("Proceed to the task that `convoke task next` names"), "{woken}");
    assert!(!woken.to_lowercase().contains("finish the branch"), "{woken}");
    project.stdout(&["task", "done", &id]);
    project.stdout(&["task", "edit", &id_of(&project, "Alpha"), "--priority", "high"]);
    assert!(!project.stdout(&["wake", "june"]).contains("outside this plan"));
    // An agent sees its own tasks.
    let mine = project.stdout(&["task", "add", "Mine", "--priority", "high"]);
    project.stdout(&["task", "assign", &mine, "kim"]);
    project.stdout(&["task", "start", &id_of(&project, "Alpha"), "--as", "kim"]);
    assert!(project.stdout(&["wake", "kim"]).contains("outside this plan: Mine"));
    assert!(!project.stdout(&["wake", "max"]).contains("outside this plan"));
}

// W-21: messages on another branch are announced and stay unread; they follow all tasks.
#[test]
fn messages_of_another_branch_are_announced_and_follow_its_tasks() {
    let project = Project::new().in_repository("main");
    project.stdout(&["hooks", "install", "claude", "--as", "june", "--entries", "1"]);
    project.stdout(&["task", "add", "Build it"]);
    project.stdout(&["say", "--to", "june", "first"]);
    project.stdout(&["say", "--to", "june", "second"]);
    let project = project.file(".git/HEAD", "ref: refs/heads/it's;here\n");
    project.stdout(&["task", "done", &project.stdout(&["task", "add", "x"])]);
    let told = hook::context(&hear(&project, "startup"), "SessionStart").unwrap();
    let line = "(2 unread to you on branch `main`: `convoke inbox june --branch main --mark`)";
    assert!(told.contains(line) && !told.contains("second"), "{told}");
    assert!(project.stdout(&["inbox", "june", "--branch", "main"]).contains("second"));
    let moved = project.run(&["task", "move", "--all", "--from-branch", "main"]);
    assert!(moved.stderr.contains("note: 2 messages and 0 agents came along"), "{moved}");
    let inbox = project.stdout(&["inbox", "june"]);
    assert!(inbox.contains("first") && inbox.contains("second"), "{inbox}");
    let project = project.file(".git/HEAD", "ref: refs/heads/main\n");
    assert!(!project.stdout(&["inbox", "june"]).contains("second"));
    let woken = project.stdout(&["wake", "june"]);
    let quoted = "'it'\\''s;here'";
    assert!(woken.contains(&format!("--from-branch {quoted}`")), "{woken}");
    assert!(woken.contains(&format!("inbox june --branch {quoted} --mark`")), "{woken}");
    let list = project.run(&["task", "list", "--branch", "it's;here"]).stdout;
    let at = list.find("t-").unwrap();
    for words in [&["task", "list"][..], &["task", "show", &list[at..at + 7]]] {
        let told = project.run(words);
        let command = format!("`convoke task move --all --from-branch {quoted}`");
        assert!(told.stderr.contains(&command), "{told}");
    }
}

// W-21: mail on another branch is reason enough to speak, also where no branch has a task.
#[test]
fn mail_on_another_branch_alone_is_announced() {
    let project = Project::new().in_repository("main").variable("CONVOKE_WAKE_AGENT", "june");
    project.stdout(&["say", "--to", "june", "Look at this"]);
    let project = project.on_branch("trunk");
    let told = hook::context(&hear(&project, "startup"), "SessionStart").unwrap();
    assert!(told.contains("(1 unread to you on branch `main`: `convoke inbox june"), "{told}");
    assert!(project.stdout(&["inbox", "june", "--branch", "main"]).contains("Look at this"));
    // What waits on this branch is not counted with it.
    project.stdout(&["say", "--to", "june", "Here"]);
    let woken = project.stdout(&["wake", "june"]);
    assert!(woken.contains("\n(1 unread to you on branch `main`: "), "{woken}");
    assert!(woken.contains("@human: \"Here\""), "{woken}");
}

// W-3: lists are plans, too, and what the plan says is done is done, with a line that counts it.
#[test]
fn lists_are_imported_and_checked_boxes_are_counted() {
    let project = Project::new()
        .on_branch("main")
        .file("boxes.md", "# Plan\n\n- [x] Write it\n- [ ] Test it\n  - [x] half\n- [x] Ship it\n  - [ ] no\n")
        .file("numbers.md", "Why.\n\n1. First\n2. Second\n")
        .file("tasks.md", "## Task 1: All\n- [x] a\n- [x] b\n## Task 2: Half\n- [x] a\n- [ ] b\n## Task 3: None\n");
    let imported = project.run(&["task", "import", "boxes.md"]);
    assert!(imported.stderr.contains("note: 1 of 3 imported as done"), "{imported}");
    let list = project.stdout(&["task", "list"]);
    for line in ["Write it  [completed]", "Test it  [pending]", "Ship it  [pending]"] {
        assert!(list.contains(line), "{list}");
    }
    let woken = project.stdout(&["wake", "june"]);
    assert!(
        woken.contains("> - [ ] Test it\n>   - [x] half") && !woken.contains("- [x] Write it\n"),
        "{woken}"
    );
    let again = project.run(&["task", "import", "boxes.md"]);
    assert!(!again.stderr.contains("imported as done"), "{again}");
    let imported = project.run(&["task", "import", "numbers.md"]);
    assert!(!imported.stderr.contains("imported as done"), "{imported}");
    assert!(project.stdout(&["task", "list"]).contains("Second  [pending]"));
    let imported = project.run(&["task", "import", "tasks.md"]);
    assert!(imported.stderr.contains("note: 1 of 3 imported as done"), "{imported}");
    let list = project.stdout(&["task", "list"]);
    assert!(list.contains("Task 1: All  [completed]") && list.contains("Task 2: Half  [pending]"));
    project.stdout(&["task", "undo"]);
    assert!(!project.stdout(&["task", "list"]).contains("Task 1: All"));
}

#[test]
fn a_cancelled_plan_is_listed_as_cancelled() {
    let project = Project::new().on_branch("main").file("a.md", "## Task 1: A\n## Task 2: B\n");
    project.stdout(&["task", "import", "a.md"]);
    let first = id_of(&project, "Task 1: A");
    project.stdout(&["task", "done", &first]);
    project.stdout(&["plan", "cancel", "a.md"]);
    let list = project.stdout(&["task", "list"]);
    assert!(list.contains("A  [completed]") && list.contains("B  [cancelled]"), "{list}");
    let all = json_of(&project, &["task", "list"]);
    assert_eq!((&all[0]["cancelled"], &all[1]["cancelled"]), (&json!(false), &json!(true)));
    let second = id_of(&project, "Task 2: B");
    assert!(project.stdout(&["task", "show", &second]).contains("[cancelled]"));
    assert!(project.stdout(&["task", "list", "--search", "B"]).contains("[cancelled]"));
    project.stdout(&["plan", "resume", "a.md"]);
    assert!(project.stdout(&["task", "list"]).contains("B  [pending]"));
}

#[test]
fn wrong_counts_and_names_are_explained() {
    let project = Project::new().on_branch("main");
    for words in [&["inbox", "--limit", "0"][..], &["task", "log", "--limit", "0"]] {
        let refused = project.run(words);
        assert_eq!(refused.code, Some(2), "{refused}");
        assert!(refused.stderr.contains("it must be a whole number from 1 on"), "{refused}");
    }
    let refused = project.run(&["agent", "rename", "human", "x"]);
    assert!(refused.stderr.contains("cannot rename `human`"), "{refused}");
}
