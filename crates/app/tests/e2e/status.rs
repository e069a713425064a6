//! A project on one screen, and what a person need not type.

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::deeds::id_of;
use crate::design_terminal::Terminal;
use crate::harness::{Outcome, Project, set_mode};
use crate::lane::{init, result, until, with_claude};
use crate::panel::{FEATURE, Panel};

/// A screen has so many lines and columns.
const LINES: usize = 24;
const COLUMNS: usize = 80;

/// Runs `status` and checks that it fits a screen.
fn screen(project: &Project) -> Outcome {
    let shown = project.run(&["status"]);
    assert!(shown.stdout.lines().count() <= LINES, "{shown}");
    let widest = shown.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(COLUMNS), "{shown}");
    shown
}

/// A project with a folder that is called the same in every run.
fn named(project: &Project, outcome: &Outcome) -> String {
    let stable = outcome.stable(project);
    stable.lines().filter(|line| !line.starts_with("project ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_empty_project_shows_the_first_commands() {
    let project = Project::new().variable("PATH", "/usr/bin:/bin");
    assert_snapshot!(named(&project, &screen(&project)));
    assert!(screen(&project).stdout.starts_with("project    project (no git), in "));
}

#[test]
fn a_project_at_work_fits_one_screen() {
    let plan = "### Task 1: Write the parser\n### Task 2: Write the printer\n### Task 3: Ship\n";
    let project = with_claude(&format!("{}{}", init(), result(|_| {})))
        .in_repository("main")
        .file("plan.md", plan)
        .variable("CONVOKE_LANE_BUDGET_PER_DAY", "200k");
    project.stdout(&["hooks", "install", "claude", "--entries", "1"]);
    project.stdout(&["task", "import", "plan.md"]);
    project.stdout(&["task", "done", &id_of(&project, "Task 1: Write the parser")]);
    project.stdout(&["task", "start"]);
    project.stdout(&["lane", "run", "--agent", "claude", "--no-tree-check", "Say hello"]);
    let cwd = project.root().display().to_string();
    let began = json!({ "session_id": "s-1", "cwd": cwd, "source": "startup" }).to_string();
    project.run_with_input(&["hook", "claude", "SessionStart"], began.as_bytes());
    project.stdout(&["say", "look at the printer", "--to", "me"]);
    let shown = screen(&project);
    let text = named(&project, &shown);
    let (before, after) = text.split_once("wake-up delivered ").unwrap();
    let (_, after) = after.split_once(" ago").unwrap();
    assert_snapshot!(format!("{before}wake-up delivered SOME TIME ago{after}"));
    let json: Value = serde_json::from_str(&project.stdout(&["status", "--json"])).unwrap();
    assert_eq!(json["tasks"]["closed"], 1, "{json}");
    assert_eq!(json["tasks"]["total"], 3, "{json}");
    assert_eq!(json["unread"][1], json!({ "reader": "me", "count": 1 }), "{json}");
    assert_eq!(json["today"]["lanes"], 1, "{json}");
}

// What runs costs money now, and not only at its end.
#[test]
fn a_running_design_and_its_lane_show_time_and_cost() {
    let step = r#"{"type":"step_finish","sessionID":"s","part":{"tokens":{"input":2000,"output":700},"cost":0.02}}"#;
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' '{step}'\nwhile [ ! -e \"$HOME/go\" ]; do sleep 0.05; done\n"
    );
    let project = with_claude("exit 1").file("../home/bin/opencode", script);
    set_mode(&project.path("../home/bin/opencode"), 0o755);
    let panel = Panel::in_project(project);
    let seats = panel.seats().replacen("replay:", "opencode,replay:", 1);
    let seats = seats.rsplit_once(',').unwrap().0;
    let arguments = ["design", "--auto", "--no-probe", "--seats", seats, FEATURE];
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_convoke"));
    let mut design = panel.project.command(program, &arguments).spawn().unwrap();
    let plain = || {
        let shown = screen(&panel.project).stdout;
        shown.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // Both sketches of this seat run.
    until(|| plain().contains("5k tokens, $0.04, Keep notes in a folder"));
    let shown = plain();
    assert!(shown.contains(": running, ") && shown.contains("s, 2k tokens, $0.02 "), "{shown}");
    let json = panel.project.stdout(&["status", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let costs = |list: &str| [&json[list][0]["tokens"], &json[list][0]["micro_dollars"]];
    assert_eq!(costs("lanes"), [&json!(2700), &json!(20_000)], "{json}");
    assert_eq!(costs("designs"), [&json!(5400), &json!(40_000)], "{json}");
    std::fs::write(panel.project.path("../home/go"), "").unwrap();
    kill_process(Pid::from_child(&design), Signal::INT).unwrap();
    design.wait().unwrap();
}

#[test]
fn clients_that_start_the_mcp_server_have_a_line() {
    let project = Project::new().variable("PATH", "/usr/bin:/bin").on_branch("main");
    assert!(!screen(&project).stdout.contains("mcp "), "{}", screen(&project));
    for words in [&["claude"][..], &["codex"], &["claude", "--user"]] {
        project.stdout(&[&["mcp", "install"], words].concat());
    }
    let shown = screen(&project);
    assert!(shown.stdout.contains("\nmcp        installed for claude, codex\n"), "{shown}");
    let json: Value = serde_json::from_str(&project.stdout(&["status", "--json"])).unwrap();
    let entries = json["mcp"].as_array().unwrap().iter();
    let entries = entries.map(|entry| {
        assert_eq!(entry["problem"], Value::Null, "{entry}");
        ["client", "level"].map(|key| entry[key].as_str().unwrap())
    });
    let expected = [["claude", "project"], ["codex", "project"], ["claude", "user"]];
    assert_eq!(entries.collect::<Vec<_>>(), expected);
    // An entry that names a program which was removed starts nothing.
    let settings = std::fs::read_to_string(project.path(".mcp.json")).unwrap();
    let gone = settings.replace(env!("CARGO_BIN_EXE_convoke"), "/no/such/convoke");
    assert_ne!(gone, settings);
    let project = project.file(".mcp.json", gone);
    project.stdout(&["mcp", "uninstall", "claude", "--user"]);
    let words = project.stdout(&["status"]);
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("mcp installed for codex "), "{words}");
    let why = ".mcp.json starts `/no/such/convoke` as MCP server, which does not exist; \
               run `convoke mcp install claude`";
    assert!(words.contains(why), "{words}");
}

#[test]
fn hostile_titles_make_no_lines() {
    let project = Project::new().variable("PATH", "/usr/bin:/bin").on_branch("main");
    project.stdout(&["task", "add", &"wide 漢字 ".repeat(60)]);
    let shown = screen(&project);
    assert!(shown.stdout.contains('…'), "{shown}");
    let (code, _) = Terminal::open(&project, 80, &["status"]).end();
    assert_eq!(code, Some(0));
}

#[test]
fn help_comes_in_groups_and_plumbing_only_if_asked_for() {
    let project = Project::new();
    let usual = project.run(&["help"]);
    assert_snapshot!("help", usual);
    assert_eq!(project.run(&["--help"]), usual);
    let bare = project.run(&[]);
    let short = project.run(&["-h"]);
    assert_eq!((bare.code, bare.stderr), (Some(2), short.stdout));
    let all = project.run(&["help", "--all"]);
    assert_eq!(all.code, Some(0), "{all}");
    let plumbing = all.stdout.split("Plumbing:\n").nth(1).unwrap();
    assert!(plumbing.starts_with("  replay ") && plumbing.contains("\n  hook "), "{all}");
    assert!(!usual.stdout.contains("Plumbing:"), "{usual}");
    assert!(project.stdout(&["help", "task", "add"]).contains("Usage: convoke task add"));
    assert!(project.stdout(&["task", "help", "add"]).contains("Usage: convoke task add"));
}

#[test]
fn an_unknown_command_leads_to_the_list_of_all() {
    let project = Project::new();
    let hint = "hint: `convoke help --all` lists all commands\n";
    for words in [&["help", "nope"][..], &["nope"]] {
        let outcome = project.run(words);
        assert_eq!(outcome.code, Some(2), "{outcome}");
        assert!(outcome.stderr.ends_with(hint), "{outcome}");
    }
    assert!(!project.run(&["task", "nope"]).stderr.contains(hint));
}

#[test]
fn the_task_in_progress_is_done_without_its_id() {
    let project = Project::new().on_branch("main");
    let nothing = project.run(&["task", "done"]);
    assert_eq!(nothing.code, Some(1), "{nothing}");
    assert!(nothing.stderr.contains("no task is in progress"), "{nothing}");
    let one = project.stdout(&["task", "add", "One"]);
    let two = project.stdout(&["task", "add", "Two"]);
    project.stdout(&["task", "start", &one]);
    project.stdout(&["task", "start", &two, "--as", "kim"]);
    let several = project.run(&["task", "done"]);
    assert_eq!(several.code, Some(1), "{several}");
    assert!(several.stderr.contains("2 tasks are in progress"), "{several}");
    assert!(project.stdout(&["task", "done", "--as", "kim"]).contains("Two"));
    assert!(project.stdout(&["task", "done"]).contains("One"));
}

#[test]
fn a_lane_without_an_agent_names_the_chosen_one() {
    let project = with_claude(&format!("{}{}", init(), result(|_| {})));
    let ran = project.run(&["lane", "run", "--no-tree-check", "Say hello"]);
    assert_eq!(ran.code, Some(0), "{ran}");
    let note = "note: claude answers (the first client on the PATH); `--agent` names another";
    assert!(ran.stderr.contains(note), "{ran}");
    let without_clients = Project::new().variable("PATH", "/usr/bin:/bin");
    let refused = without_clients.run(&["lane", "run", "Say hello"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("no client is on the PATH"), "{refused}");
}

#[test]
fn a_lane_without_an_agent_takes_one_that_answered() {
    let says =
        |answer: &str| format!("{}{}", init(), result(|line| line["result"] = json!(answer)));
    let second = |text: String| {
        let project = with_claude("exit 1").file("../home/bin/qwen", format!("#!/bin/sh\n{text}"));
        set_mode(&project.path("../home/bin/qwen"), 0o755);
        project.variable("CONVOKE_HEALTH_PAUSE_SECONDS", "0")
    };
    let lane = ["lane", "run", "--no-tree-check", "Say hello"];
    let project = second(says("OK"));
    project.run(&["agents", "--probe", "claude"]);
    let ran = project.run(&lane);
    let note = "note: qwen answers (the clients before it did not answer lately)";
    assert!(ran.code == Some(0) && ran.stderr.contains(note), "{ran}");
    project.run(&["agents", "--probe"]);
    let ran = project.run(&lane);
    let note = "note: qwen answers (it answered lately); `--agent` names another";
    assert!(ran.code == Some(0) && ran.stderr.contains(note), "{ran}");

    let project = second(says("no"));
    project.run(&["agents", "--probe"]);
    let refused = project.run(&lane);
    let why = "cannot choose an agent: none of the clients on the PATH answered (claude, qwen)";
    assert!(refused.code == Some(3) && refused.stderr.contains(why), "{refused}");
    assert!(refused.stderr.contains("hint: `convoke agents --probe`"), "{refused}");
}

#[test]
fn runs_hooks_and_diagrams_have_defaults() {
    let project = with_claude("exit 0");
    let refused = project.run(&["resume"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("no run of this project was stopped"), "{refused}");
    let none = project.run(&["hooks", "status"]);
    assert_eq!(
        (none.code, none.stdout.as_str()),
        (Some(1), "claude: none; `convoke hooks install claude`\n")
    );
    project.stdout(&["hooks", "install", "claude"]);
    assert_eq!(project.run(&["hooks", "status"]).code, Some(0));
    let project = project.file("d.mmd", "flowchart TD\n  A[\"x|y\"] --> B\n");
    assert_eq!(
        project.run(&["mermaid", "check", "d.mmd"]),
        project.run(&["mermaid", "check", "--input", "d.mmd"])
    );
}

#[test]
fn completions_and_manual_pages_come_from_the_program() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(project.stdout(&["completions", shell]).contains("convoke"), "{shell}");
    }
    assert!(project.stdout(&["man"]).contains(".TH convoke 1"));
    assert!(project.stdout(&["man", "task", "add"]).contains(".TH convoke-task-add 1"));
    assert_eq!(project.run(&["man", "tusk"]).code, Some(2));
    project.stdout(&["man", "--dir", "pages"]);
    assert!(project.path("pages/convoke-task-add.1").exists());
}

#[test]
fn a_cancelled_plan_is_not_taken_for_a_finished_one() {
    let project = Project::new().file("plan.md", "### Task 1: One\n\n### Task 2: Two\n");
    project.stdout(&["task", "import", "plan.md"]);
    project.stdout(&["plan", "cancel", "plan.md"]);
    let shown = project.stdout(&["status"]);
    assert!(shown.contains("plan.md is cancelled; `convoke plan reinstate plan.md`"), "{shown}");
    assert!(shown.contains("0 of 2 tasks closed, 2 cancelled"), "{shown}");
    assert!(shown.contains("(no git)"), "{shown}");
    project.stdout(&["plan", "reinstate", "plan.md"]);
    assert!(project.stdout(&["status"]).contains("Task 1: One (not started)"));
}

#[test]
fn a_message_to_an_agent_without_a_session_says_so() {
    let project = Project::new().in_repository("main");
    for agent in ["me", "june"] {
        project.stdout(&["hooks", "install", "claude", "--as", agent]);
    }
    let said = project.run(&["say", "--to", "me", "hello"]);
    assert!(said.stderr.contains("no session here is @me"), "{said}");
    let said = project.run(&["say", "--to", "june", "hello"]);
    assert!(!said.stderr.contains("no session here"), "{said}");
    assert_eq!(project.stdout(&["inbox", "--as", "june"]).lines().count(), 1);
    assert!(project.stdout(&["wake", "--as", "june"]).contains("@june"));
}

// Only a design that runs or can go on is open.
#[test]
fn a_refused_design_is_not_open() {
    let project = with_claude("exit 1").in_repository("main").file("draft.txt", "x");
    project.run(&["design", "Keep drafts", "--auto"]);
    let runs = project.stdout(&["runs"]);
    assert!(runs.contains("  refused  "), "{runs}");
    let status = project.stdout(&["status"]);
    assert!(status.contains("designs    none are running"), "{status}");
}

// Convoke offers to resume only what can go on, and keeps answers.
#[test]
fn a_run_that_is_not_worth_resuming_is_not_the_next_command() {
    // Without git no run begins, so none stays behind.
    let bare = with_claude("exit 1");
    let outcome = bare.run(&["design", "Keep drafts", "--auto", "--no-probe"]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert!(outcome.stderr.contains("create one with `git init`"), "{outcome}");
    assert!(!outcome.stderr.contains("convoke resume"), "{outcome}");
    assert_eq!(bare.stdout(&["runs", "--json"]).trim(), "[]");
    // No lane of this one answered.
    let panel = Panel::in_project(with_claude("exit 1"));
    let outcome = panel.project.run(&["design", "Keep drafts", "--auto", "--no-probe"]);
    assert_eq!(outcome.code, Some(4), "{outcome}");
    let status = panel.project.stdout(&["status"]);
    assert!(!status.contains("convoke resume"), "{status}");
    let quiet = "designs    1 run stopped before an agent answered; see `convoke runs`\n";
    assert!(status.contains(quiet), "{status}");
    // The sketches of this one are there, and its plan is missing.
    let panel = Panel::new().without("claude");
    panel.git(&["switch", "--quiet", "--create", "feature/x"]);
    panel.design(&[]);
    let (run, state) = panel.run();
    assert_eq!(state, "stopped");
    let resume = format!("convoke resume {run}");
    let status = panel.project.stdout(&["status"]);
    assert!(status.contains(&resume) && status.contains(": stopped, began"), "{status}");
    // Its branch can come back at the commit on which the run began.
    panel.git(&["switch", "--quiet", "main"]);
    panel.git(&["branch", "--delete", "--force", "feature/x"]);
    let status = panel.project.stdout(&["status"]);
    assert!(!status.contains("convoke resume"), "{status}");
    assert!(status.contains("designs    1 run stopped, and its branch is gone"), "{status}");
    let outcome = panel.project.run(&["resume", &run]);
    assert_eq!(outcome.code, Some(6), "{outcome}");
    assert!(outcome.stderr.contains("the repository has no branch `feature/x`"), "{outcome}");
    let head = panel.git(&["rev-parse", "HEAD"]);
    let hint = format!("hint: git switch --create feature/x {head}");
    assert!(outcome.stderr.contains(&hint) && outcome.stderr.contains(&resume), "{outcome}");
}
