//! The agent of a project's sessions: `hooks install --as`, `wake` without a name, and the message
//! when nothing can be delivered.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Outcome, Project};

const LOCAL: &str = "convoke.local.toml";

fn text(project: &Project, name: &str) -> String {
    fs::read_to_string(project.path(name)).unwrap()
}

/// Tells the hook of Claude Code that a session was compacted, as the client does.
fn compacted(project: &Project, session: &str) -> Outcome {
    let settings: Value = serde_json::from_str(&text(project, ".claude/settings.json")).unwrap();
    let input = json!({ "session_id": session, "cwd": project.root(), "source": "compact" });
    let line = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"].as_str().unwrap();
    project.shell(line, &input.to_string())
}

#[test]
fn two_commands_are_enough_for_a_wake_up() {
    let plan = "# Plan\n\n### Task 1: Write the parser\n\nDo it.\n";
    let project = Project::new().in_repository("main").file("plan.md", plan);
    project.stdout(&["task", "import", "plan.md"]);
    let installed = project.run(&["hooks", "install", "claude", "--entries", "1"]);
    assert_snapshot!(installed.stable(&project), @"
    exit: 0
    --- stdout
    TOP/project/.claude/settings.json  installed (2 entries)
    agent: @me (convoke.local.toml)
    fired: never
    delivered: never
    --- stderr
    note: `convoke` is not on the PATH, so the settings hold an absolute path, which works on this machine only
    note: added convoke.local.toml to TOP/project/.git/info/exclude, so that git ignores it
    note: sessions in this project belong to @me (convoke.local.toml)
    ");
    assert_eq!(text(&project, LOCAL), "[wake]\nagent = \"me\"\n");
    assert_eq!(text(&project, ".git/info/exclude"), "convoke.local.toml\n");
    let woken = compacted(&project, "s-1");
    assert!(woken.stdout.contains("You are @me") && woken.stdout.contains("parser"), "{woken}");
    assert!(project.stdout(&["wake"]).contains("You are @me"));
    project.stdout(&["hooks", "uninstall", "claude"]);
    for name in [LOCAL, ".claude/settings.json", ".git/info/exclude"] {
        assert!(!project.path(name).exists(), "{name}");
    }
}

#[test]
fn an_agent_that_is_bound_is_changed_only_by_name() {
    let mine = "# mine\n[wake]\nagent = 'june' # her\n";
    let project = Project::new().in_repository("main").file(LOCAL, mine);
    let kept = project.run(&["hooks", "install", "claude"]);
    let note = "belong to @june (convoke.local.toml); `--as NAME` changes that";
    assert!(kept.stderr.contains(note), "{kept}");
    assert_eq!(text(&project, LOCAL), mine);
    let changed = project.run(&["hooks", "install", "claude", "--as", "max"]);
    assert!(
        changed.stderr.contains("belong to @max instead of @june (convoke.local.toml)"),
        "{changed}"
    );
    assert_eq!(text(&project, LOCAL), "# mine\n[wake]\nagent = \"max\" # her\n");
    // The user's later edits stay.
    let edited = text(&project, LOCAL).replace("# mine", "# still mine");
    fs::write(project.path(LOCAL), edited).unwrap();
    project.stdout(&["hooks", "uninstall", "claude"]);
    assert_eq!(text(&project, LOCAL), "# still mine\n[wake]\n");
}

#[test]
fn a_binding_that_the_user_changed_or_another_client_needs_stays() {
    let project = Project::new().in_repository("main");
    project.stdout(&["hooks", "install", "claude"]);
    project.run(&["hooks", "install", "codex"]);
    project.stdout(&["hooks", "uninstall", "claude"]);
    assert_eq!(text(&project, LOCAL), "[wake]\nagent = \"me\"\n", "Codex has it");
    let theirs = "[wake]\nagent = \"you\"\n";
    fs::write(project.path(LOCAL), theirs).unwrap();
    project.stdout(&["hooks", "uninstall", "codex"]);
    assert_eq!(text(&project, LOCAL), theirs);
}

#[test]
fn a_committed_file_is_never_written() {
    let project = Project::new().file(LOCAL, "# shared\n");
    for words in [&["init", "--quiet"][..], &["add", LOCAL]] {
        let done = project.command(std::path::Path::new("git"), words).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    }
    let refused = project.run(&["hooks", "install", "claude"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("git tracks `convoke.local.toml`"), "{refused}");
    assert_eq!(text(&project, LOCAL), "# shared\n");
    assert!(!project.path(".claude").exists(), "nothing is half done");
}

#[test]
fn a_users_agent_is_for_all_projects() {
    let project = Project::new().in_repository("main");
    let installed = project.run(&["hooks", "install", "claude", "--user", "--as", "june"]);
    assert!(installed.stdout.contains("agent: @june (your config.toml)\n"), "{installed}");
    let config = text(&project, "../home/.config/convoke/config.toml");
    assert_eq!(config, "[wake]\nagent = \"june\"\n");
    assert!(!project.path(LOCAL).exists());
    let kept = project.run(&["hooks", "install", "claude"]);
    assert!(kept.stderr.contains("belong to @june (your config.toml)"), "{kept}");
    assert!(!project.path(LOCAL).exists());
    project.run(&["hooks", "install", "claude", "--as", "max"]);
    assert!(project.stdout(&["hooks", "status", "claude"]).contains("agent: @max (convoke"));
    project.stdout(&["hooks", "uninstall", "claude", "--user"]);
    assert!(!project.path("../home/.config/convoke/config.toml").exists());
}

#[test]
fn an_undelivered_wake_up_is_explained_with_a_remedy() {
    let project = Project::new().in_repository("main");
    let status = |project: &Project| {
        let status = project.run(&["hooks", "status", "claude"]).stdout;
        status.lines().last().unwrap_or_default().to_owned()
    };
    let bare = "not delivered: no hooks are installed; run `convoke hooks install claude`";
    assert_eq!(status(&project), bare);
    project.stdout(&["hooks", "install", "claude"]);
    let idle = "not delivered: @me has no open task and no unread message on the branch `main`; \
                run `convoke task import PLAN.md` or `convoke task add TITLE`";
    assert_eq!(status(&project), idle);
    fs::remove_file(project.path(LOCAL)).unwrap();
    let unbound = "not delivered: no agent is set for this project; \
                   run `convoke hooks install claude --as NAME`";
    assert_eq!(status(&project), unbound);
    let report: Value =
        serde_json::from_str(&project.stdout(&["hooks", "status", "claude", "--json"])).unwrap();
    assert_eq!(report["not_delivered"]["why"], "no agent is set for this project");
    let checked = project.run(&["doctor", "--no-probe"]).stdout;
    let line = "warn  wake-ups: not delivered: no agent is set for this project\n      \
                fix: run `convoke hooks install claude --as NAME`\n";
    assert!(checked.contains(line), "{checked}");
    let unknown = project.run(&["wake"]);
    assert_eq!(unknown.code, Some(1), "{unknown}");
    assert!(unknown.stderr.contains("hint: `convoke hooks install CLIENT --as NAME`"), "{unknown}");
    project.stdout(&["task", "add", "x"]);
    project.stdout(&["hooks", "install", "claude", "--as", "june"]);
    assert_eq!(status(&project), "delivered: never");
}

#[test]
fn a_program_on_the_path_is_called_by_its_name() {
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_convoke")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let project = Project::new().in_repository("main").variable("PATH", &path);
    let installed = project.run(&["hooks", "install", "claude"]);
    assert!(!installed.stderr.contains("PATH"), "{installed}");
    let command = "command -v convoke >/dev/null && exec convoke hook claude SessionStart";
    assert!(text(&project, ".claude/settings.json").contains(command));
    project.stdout(&["hooks", "install", "claude", "--absolute"]);
    assert!(text(&project, ".claude/settings.json").contains(env!("CARGO_BIN_EXE_convoke")));
    let project = Project::new().in_repository("main");
    let installed = project.run(&["hooks", "install", "claude"]);
    assert!(installed.stderr.contains("`convoke` is not on the PATH"), "{installed}");
}

// A hook of a program that is gone must not trouble every prompt.
#[test]
fn a_missing_program_is_silence() {
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_convoke")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    for words in
        [&["hooks", "install", "claude"][..], &["hooks", "install", "claude", "--absolute"]]
    {
        let project = Project::new().in_repository("main").variable("PATH", &path);
        project.stdout(words);
        let settings = text(&project, ".claude/settings.json");
        let gone = settings.replace(env!("CARGO_BIN_EXE_convoke"), "/gone/convoke");
        let project = project.file(".claude/settings.json", gone).variable("PATH", "/usr/bin:/bin");
        let silent = compacted(&project, "s-1");
        assert_eq!((silent.code, silent.stdout + &silent.stderr), (Some(0), String::new()));
    }
}
