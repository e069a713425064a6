//! Setting a project up in one command, and taking that back to the byte.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::design_terminal::Terminal;
use crate::harness::{Project, set_mode};
use crate::wake::{COLLECTION, collection};

const LINE: &str = "This project uses Convoke: run `convoke wake` when you begin or lose your context, \
                    `convoke task start` and `convoke task done` around each task. \
                    <!-- convoke:init -->";

/// Puts a program on the PATH that only tells its version.
fn client(project: Project, name: &str, version: &str) -> Project {
    let script = format!("#!/bin/sh\necho '{version}'\n");
    let project = project.file(&format!("../home/bin/{name}"), script);
    set_mode(&project.path(&format!("../home/bin/{name}")), 0o755);
    project
}

fn on_path(project: Project) -> Project {
    let bin = project.path("../home/bin").display().to_string();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_convoke"));
    let own = program.parent().unwrap().display().to_string();
    project.variable("PATH", &format!("{bin}:{own}:/usr/bin:/bin"))
}

fn with_claude(project: Project) -> Project {
    on_path(client(project, "claude", "2.1.0 (Claude Code)"))
}

/// Returns every file and folder of the project, with the bytes of files, but what git itself keeps.
fn tree(project: &Project) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let paths = project.listing().into_keys();
    paths.map(|path| (path.clone(), fs::read(&path).ok())).collect()
}

fn text(project: &Project, name: &str) -> String {
    fs::read_to_string(project.path(name)).unwrap()
}

#[test]
fn init_shows_asks_nothing_with_yes_and_undo_gives_every_byte_back() {
    let plan = "# Plan\n\n### Task 1: Write the parser\n\n### Task 2: Write the printer\n";
    let project = with_claude(client(Project::new(), "codex", "codex-cli 0.50.0"))
        .in_repository("main")
        .file("AGENTS.md", "# Rules\n\nUse tabs.\n")
        .file("docs/plan.md", plan)
        .file("docs/design/overview.md", "# Overview\n\nA shop for books.\n");
    let before = tree(&project);
    assert_snapshot!("shown", project.run(&["init"]).stable(&project));
    assert_eq!(tree(&project), before, "without a terminal it only shows");
    let rehearsed = project.run(&["init", "--dry-run"]);
    assert_eq!(rehearsed.code, Some(0), "{rehearsed}");
    assert_eq!(tree(&project), before);
    assert_snapshot!("done", project.run(&["init", "--yes"]).stable(&project));
    assert_eq!(text(&project, "AGENTS.md"), format!("# Rules\n\nUse tabs.\n\n{LINE}\n"));
    assert_eq!(text(&project, "convoke.local.toml"), "[wake]\nagent = \"me\"\n");
    assert_snapshot!("configuration", text(&project, "convoke.toml"));
    assert!(project.stdout(&["hooks", "status", "claude"]).contains("installed (8 entries)"));
    assert!(project.stdout(&["brief"]).contains("A shop for books."));
    let after = tree(&project);
    assert_snapshot!("again", project.run(&["init", "--yes"]).stable(&project));
    assert_eq!(tree(&project), after, "twice is harmless");
    assert_snapshot!("undone", project.run(&["init", "--undo"]).stable(&project));
    assert_eq!(tree(&project), before);
    let nothing = project.run(&["init", "--undo"]);
    assert_eq!(nothing.code, Some(0), "{nothing}");
    assert!(nothing.stdout.contains("nothing to take back"), "{nothing}");
}

// The home folder has two versions of a skill and another one; each skill counts once.
#[test]
fn init_counts_the_skills_of_superpowers() {
    let other = format!("{COLLECTION}/4.0.0/skills/brainstorming/SKILL.md");
    let project = with_claude(Project::new())
        .in_repository("main")
        .file(&collection("4.0.0", "SKILL.md"), "# Review twice\n")
        .file(&collection("3.6.2", "SKILL.md"), "# Review once\n")
        .file(&other, "# Ask first\n");
    let shown = project.stdout(&["init", "--dry-run"]);
    assert!(shown.contains("skills     superpowers: 2 skills\n"), "{shown}");
    let json = project.stdout(&["init", "--dry-run", "--json"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["found"]["superpowers_skills"], 2, "{report}");
}

#[test]
fn what_the_user_wrote_since_stays() {
    let settings = "{\n  \"model\": \"opus\"\n}";
    let project = with_claude(Project::new())
        .in_repository("main")
        .file("AGENTS.md", "# Rules\r\nUse tabs.")
        .file(".claude/settings.json", settings);
    project.stdout(&["init", "--yes"]);
    let guided = format!("# Rules\r\nUse tabs.\r\n\r\n{LINE}\r\n");
    assert_eq!(text(&project, "AGENTS.md"), guided);
    let project = project
        .file("AGENTS.md", guided.replace("tabs", "spaces") + "More.\r\n")
        .file("convoke.local.toml", "# mine\n[wake]\nagent = \"me\"\nmode = \"v0\"\n");
    let hooked = text(&project, ".claude/settings.json").replace("opus", "sonnet");
    let project = project.file(".claude/settings.json", hooked);
    project.stdout(&["init", "--undo"]);
    assert_eq!(text(&project, "AGENTS.md"), "# Rules\r\nUse spaces.\r\nMore.\r\n");
    assert_eq!(text(&project, ".claude/settings.json"), settings.replace("opus", "sonnet"));
    assert_eq!(text(&project, "convoke.local.toml"), "# mine\n[wake]\nmode = \"v0\"\n");
    let reworded = with_claude(Project::new()).file("AGENTS.md", "# Rules\n");
    reworded.stdout(&["init", "--yes"]);
    let mine = text(&reworded, "AGENTS.md").replace("This project uses", "We use");
    let reworded = reworded.file("AGENTS.md", &mine);
    let undone = reworded.stdout(&["init", "--undo", "--yes"]);
    assert!(undone.contains("left as it is, Convoke's line"), "{undone}");
    assert_eq!(text(&reworded, "AGENTS.md"), mine);
}

// Without the line, `git add .` would commit the user's own settings.
#[test]
fn git_ignores_the_users_own_file_as_long_as_it_is_there() {
    let project = with_claude(Project::new()).in_repository("main");
    project.stdout(&["config", "set", "lane.budget_per_day", "5"]);
    let mine = text(&project, "convoke.local.toml");
    project.stdout(&["init", "--yes"]);
    project.stdout(&["init", "--undo"]);
    assert_eq!(text(&project, "convoke.local.toml"), mine);
    assert_eq!(text(&project, ".git/info/exclude"), "convoke.local.toml\n");
}

#[test]
fn undo_says_which_files_were_gone_already() {
    let project = with_claude(Project::new()).in_repository("main");
    project.stdout(&["init", "--yes"]);
    fs::remove_file(project.path("AGENTS.md")).unwrap();
    fs::remove_file(project.path(".claude/settings.json")).unwrap();
    let undone = project.stdout(&["init", "--undo"]);
    let undone = undone.split_whitespace().collect::<Vec<_>>().join(" ");
    let gone = "nothing to do, the file is already gone";
    assert_eq!(undone.matches(gone).count(), 2, "{undone}");
    assert!(undone.contains("✓ take the agent out of convoke.local.toml"), "{undone}");
}

#[test]
fn hooks_and_agents_from_before_are_not_taken_back() {
    let project = on_path(client(Project::new(), "codex", "0.50.0")).in_repository("main");
    let project = client(project, "claude", "2.1.0");
    project.stdout(&["hooks", "install", "codex", "--as", "june", "--entries", "1"]);
    let before = tree(&project);
    let done = project.stdout(&["init", "--yes", "--no-guidance"]);
    assert!(done.contains("codex to .codex/hooks.json: nothing to do"), "{done}");
    assert!(done.contains("sessions with @june"), "{done}");
    project.stdout(&["init", "--undo"]);
    assert_eq!(tree(&project), before);
}

#[test]
fn a_file_that_leads_out_of_the_project_is_left_alone() {
    let project = with_claude(Project::new()).file("../outside.md", "# Not yours\n");
    symlink(project.path("../outside.md"), project.path("AGENTS.md")).unwrap();
    fs::create_dir(project.path("../elsewhere")).unwrap();
    symlink(project.path("../elsewhere"), project.path(".claude")).unwrap();
    let done = project.run(&["init", "--yes"]);
    assert_eq!(done.code, Some(0), "{done}");
    assert!(done.stdout.contains("AGENTS.md leads out of the project"), "{done}");
    assert!(done.stdout.contains("settings.json leads out of the project"), "{done}");
    assert_eq!(fs::read_to_string(project.path("../outside.md")).unwrap(), "# Not yours\n");
    assert_eq!(fs::read_dir(project.path("../elsewhere")).unwrap().count(), 0);
}

#[test]
fn a_broken_settings_file_blocks_its_client_alone() {
    let project = with_claude(client(Project::new(), "gemini", "0.30.0"))
        .in_repository("main")
        .file(".claude/settings.json", "{ \"hooks\": ");
    let before = tree(&project);
    let done = project.run(&["init", "--yes", "--no-guidance"]);
    assert_eq!(done.code, Some(1), "{done}");
    assert!(done.stdout.contains("claude to .claude/settings.json: not possible"), "{done}");
    assert!(done.stdout.contains("✓ add hooks for gemini"), "{done}");
    assert_eq!(text(&project, ".claude/settings.json"), "{ \"hooks\": ");
    project.stdout(&["init", "--undo"]);
    assert_eq!(tree(&project), before);
}

#[test]
fn without_a_client_and_without_git_it_says_so() {
    let project = Project::new().variable("PATH", "/usr/bin:/bin");
    assert_snapshot!(project.run(&["init", "--yes"]).stable(&project));
    assert_eq!(project.listing().len(), 0);
    let json = project.run(&["init", "--json"]);
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (report["state"].as_str(), report["next"].as_array().unwrap().len()),
        (Some("nothing"), 3)
    );
}

#[test]
fn a_folder_that_cannot_be_written_stays_as_it_was() {
    let project = with_claude(Project::new()).file("AGENTS.md", "# Rules\n");
    let project = project.file("../state/x", "");
    let state = project.path("../state");
    set_mode(&state, 0o777);
    let project = project.variable("XDG_STATE_HOME", &state.display().to_string());
    set_mode(&project.root(), 0o555);
    let before = tree(&project);
    let refused = project.run_without_rights(&["init", "--yes"]);
    set_mode(&project.root(), 0o755);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("cannot write"), "{refused}");
    assert!(refused.stderr.contains("no file of the project was changed"), "{refused}");
    assert_eq!(tree(&project), before);
}

#[test]
fn a_home_folder_is_no_project() {
    let project = Project::new();
    let home = project.root().display().to_string();
    let refused = project.variable("HOME", &home).run(&["init", "--yes"]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains("it is your home folder, not a project"), "{refused}");
}

#[test]
fn at_a_terminal_it_asks_once_and_only_yes_is_yes() {
    let project = with_claude(Project::new()).in_repository("main").file("AGENTS.md", "# Rules\n");
    let before = tree(&project);
    let mut terminal = Terminal::open(&project, 80, &["init"]);
    terminal.until("Make these changes? [y/N]");
    terminal.press("\n");
    assert_eq!(terminal.end().0, Some(1));
    assert_eq!(tree(&project), before);
    let mut terminal = Terminal::open(&project, 80, &["init"]);
    terminal.until("Make these changes? [y/N]");
    kill_process(Pid::from_child(&terminal.convoke), Signal::INT).unwrap();
    assert_eq!(terminal.end().0, Some(130));
    assert_eq!(tree(&project), before);
    let mut terminal = Terminal::open(&project, 80, &["init"]);
    terminal.until("Make these changes? [y/N]");
    terminal.press("y\n");
    terminal.until("Convoke set up this project");
    assert_eq!(terminal.end().0, Some(0));
    assert!(text(&project, "AGENTS.md").ends_with(&format!("{LINE}\n")));
}
