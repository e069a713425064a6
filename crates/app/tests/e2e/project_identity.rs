//! Which project a folder is: a repository is known by the id in git's folder, wherever that lies.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Outcome, Project};

pub(crate) fn git(project: &Project, words: &[&str]) {
    let who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let done = project.command(Path::new("git"), &[&who[..], words].concat()).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Makes a repository in a folder below the project's, which is not a repository itself.
pub(crate) fn repository(project: &Project, name: &str, remote: Option<&str>) {
    fs::create_dir_all(project.path(name)).unwrap();
    git(project, &["-C", name, "init", "-q", "-b", "main"]);
    git(
        project,
        &["-C", name, "commit", "-q", "--allow-empty", "-m", &format!("{name} {remote:?}")],
    );
    if let Some(remote) = remote {
        git(project, &["-C", name, "remote", "add", "origin", remote]);
    }
}

#[track_caller]
pub(crate) fn done(project: &Project, folder: &str, words: &[&str]) -> Outcome {
    let outcome = project.run(&[&["-C", folder], words].concat());
    assert_eq!(outcome.code, Some(0), "{words:?}: {outcome}");
    outcome
}

/// Runs a command as an agent in a client does.
fn in_client(project: &Project, folder: &str, words: &[&str]) -> Outcome {
    let program = ["CLAUDECODE=1", env!("CARGO_BIN_EXE_convoke"), "-C", folder];
    project.run_program(Path::new("/usr/bin/env"), &[&program, words].concat())
}

/// A repository `app` with a task, a rule and a message.
fn filled(remote: Option<&str>) -> Project {
    let project = Project::new();
    repository(&project, "app", remote);
    fill(&project);
    project
}

fn fill(project: &Project) {
    done(project, "app", &["hooks", "install", "claude", "--user"]);
    done(project, "app", &["task", "add", "Secret plan"]);
    done(project, "app", &["pin", "add", "Never push"]);
    done(project, "app", &["say", "The code is 4711, @me", "--as", "rev"]);
}

/// Begins a session in a folder, and returns the text that the hook delivers.
pub(crate) fn begin(project: &Project, folder: &str, session: &str) -> String {
    let cwd = project.path(folder).display().to_string();
    let input = json!({ "session_id": session, "cwd": cwd, "hook_event_name": "SessionStart",
        "source": "startup" });
    let words = ["hook", "claude", "SessionStart"];
    let heard = project.run_with_input(&words, input.to_string().as_bytes());
    assert_eq!((heard.code, heard.stderr.as_str()), (Some(0), ""), "{heard}");
    let answer: Value = serde_json::from_str(&heard.stdout).unwrap();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

#[track_caller]
fn assert_has_all(text: &str) {
    for words in ["Secret plan", "Never push", "4711"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[track_caller]
fn assert_has_nothing(text: &str) {
    for words in ["Secret plan", "Never push", "4711"] {
        assert!(!text.contains(words), "{words}: {text}");
    }
}

/// Makes the store as an earlier release left it, which put no id into git's folder.
fn forget_ids(project: &Project, folders: &[&str]) {
    let store = project.path("../home/.local/state/convoke/store.db");
    let store = rusqlite::Connection::open(store).unwrap();
    store.execute("UPDATE projects SET folder_id = NULL", []).unwrap();
    for folder in folders {
        fs::remove_file(project.path(folder).join(".git/convoke-id")).unwrap();
    }
}

#[test]
fn a_strangers_repository_at_a_known_path_gets_nothing() {
    for is_early_store in [false, true] {
        let project = filled(Some("https://example.com/me/secret.git"));
        if is_early_store {
            forget_ids(&project, &["app"]);
        }
        fs::rename(project.path("app"), project.path("app-old")).unwrap();
        repository(&project, "app", Some("https://evil.example/x.git"));
        let told = begin(&project, "app", "s");
        assert_has_nothing(&told);
        assert!(told.contains("another repository is in this folder"), "{told}");
        assert!(told.contains("`convoke project attach app --force`"), "{told}");
        for words in [&["task", "list"][..], &["pin", "list"], &["inbox", "me"], &["wake", "me"]] {
            assert_has_nothing(&project.run(&[&["-C", "app"], words].concat()).stdout);
        }
        let list = done(&project, "app", &["project", "list"]).stdout;
        assert!(list.contains("example.com/me/secret"), "the identity stays: {list}");
        if is_early_store {
            let seen = done(&project, "app-old", &["task", "list"]);
            assert!(seen.stderr.contains("`convoke project attach app`"), "{seen}");
            done(&project, "app-old", &["project", "attach", "app"]);
        }
        assert_has_all(&begin(&project, "app-old", "t"));
    }
}

#[test]
fn a_moved_repository_brings_tasks_rules_and_messages_along() {
    let project = filled(None);
    fs::rename(project.path("app"), project.path("moved")).unwrap();
    let told = begin(&project, "moved", "s");
    assert_has_all(&told);
    assert!(told.contains("followed it here"), "{told}");
    fs::rename(project.path("moved"), project.path("again")).unwrap();
    let list = done(&project, "again", &["task", "list"]);
    assert!(list.stdout.contains("Secret plan"), "{list}");
    assert!(list.stderr.contains("moved`; its tasks, rules and messages followed"), "{list}");
    assert_eq!(done(&project, "again", &["task", "list"]).stderr, "");
}

// A store of an earlier release has no ids: then the user decides.
#[test]
fn every_command_names_what_waits_in_a_folder_that_is_gone() {
    for kind in ["task", "pin", "say"] {
        let project = Project::new();
        repository(&project, "app", None);
        done(&project, "app", &["hooks", "install", "claude"]);
        let (words, thing) = match kind {
            "task" => (&["task", "add", "Secret plan"][..], "1 open task"),
            "pin" => (&["pin", "add", "Never push"][..], "1 rule"),
            _ => (&["say", "The code is 4711, @me"][..], "1 unread message"),
        };
        done(&project, "app", words);
        forget_ids(&project, &["app"]);
        fs::rename(project.path("app"), project.path("moved")).unwrap();
        let told = begin(&project, "moved", "s");
        assert!(told.contains(thing) && told.contains("`convoke project attach app`"), "{told}");
        for words in [
            &["task", "list"][..],
            &["pin", "list"],
            &["inbox", "me"],
            &["wake", "me"],
            &["status"],
        ] {
            let seen = done(&project, "moved", words);
            // The page of `status` has it as a row, which is wrapped.
            let told = if words == ["status"] { &seen.stdout } else { &seen.stderr };
            let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains(thing), "{words:?}: {seen}");
            assert!(told.contains("`convoke project attach app`"), "{words:?}: {seen}");
        }
        let status = done(&project, "moved", &["status"]);
        assert!(status.stdout.contains("\n  convoke project attach app\n"), "{status}");
        let hooks = project.run(&["-C", "moved", "hooks", "status", "claude"]);
        assert!(hooks.to_string().contains("`convoke project attach app`"), "{hooks}");
        done(&project, "moved", &["project", "attach", "app"]);
        let told = begin(&project, "moved", "t");
        assert!(["Secret plan", "Never push", "4711"].iter().any(|words| told.contains(words)));
    }
}

#[test]
fn a_folder_emptied_by_a_merge_says_where_everything_is() {
    let project = filled(None);
    git(&project, &["clone", "-q", "app", "clone"]);
    done(&project, "clone", &["project", "merge", "app"]);
    let told = begin(&project, "app", "s");
    assert!(told.contains("`convoke project merge clone`"), "{told}");
    let seen = done(&project, "app", &["pin", "list"]);
    assert!(seen.stderr.contains("`convoke project merge clone`"), "{seen}");
    done(&project, "app", &["project", "merge", "clone"]);
    assert_has_all(&begin(&project, "app", "t"));
}

#[test]
fn a_worktree_has_the_projects_agent() {
    let project = Project::new();
    repository(&project, "app", None);
    done(&project, "app", &["hooks", "install", "claude", "--as", "june"]);
    done(&project, "app", &["pin", "add", "Never push"]);
    git(&project, &["-C", "app", "worktree", "add", "-q", "../tree", "-b", "feature"]);
    let told = begin(&project, "tree", "s");
    assert!(told.contains("Never push"), "{told}");
    let hooks = project.run(&["-C", "tree", "hooks", "status", "claude", "--user"]);
    assert!(hooks.stdout.contains("@june"), "{hooks}");
}

// The main checkout's file binds its worktrees too, so renaming in a worktree changes it.
#[test]
fn an_agent_that_is_renamed_in_a_worktree_keeps_its_sessions() {
    let project = Project::new();
    repository(&project, "app", None);
    done(&project, "app", &["hooks", "install", "claude", "--as", "june"]);
    done(&project, "app", &["pin", "add", "Never push"]);
    git(&project, &["-C", "app", "worktree", "add", "-q", "../tree", "-b", "feature"]);
    let renamed = done(&project, "tree", &["agent", "rename", "june", "july"]);
    assert!(renamed.stderr.contains("app/convoke.local.toml` names @july too"), "{renamed}");
    let local = fs::read_to_string(project.path("app/convoke.local.toml")).unwrap();
    assert_eq!(local, "[wake]\nagent = \"july\"\n");
    for folder in ["tree", "app"] {
        let hooks = project.run(&["-C", folder, "hooks", "status", "claude", "--user"]);
        assert!(hooks.stdout.contains("@july"), "{folder}: {hooks}");
    }
}

#[test]
fn a_committed_file_in_a_subfolder_takes_no_rule_away() {
    for name in ["convoke.toml", ".moai", "convoke.local.toml"] {
        let project = Project::new();
        repository(&project, "app", None);
        done(&project, "app", &["hooks", "install", "claude"]);
        done(&project, "app", &["pin", "add", "Never push"]);
        fs::create_dir(project.path("app/sub")).unwrap();
        fs::write(project.path("app/sub").join("convoke.toml"), "").unwrap();
        let text = if name == ".moai" { "" } else { "[wake]\nagent = 'stranger'\n" };
        fs::write(project.path("app/sub").join(name), text).unwrap();
        git(&project, &["-C", "app", "add", "-f", "sub"]);
        let told = begin(&project, "app/sub", "s");
        assert!(told.contains("Never push") && !told.contains("stranger"), "{name}: {told}");
    }
}

#[test]
fn no_agent_takes_the_users_rules_to_another_place() {
    let project = filled(None);
    repository(&project, "other", None);
    let as_agent = |folder: &str, words: &[&str]| in_client(&project, folder, words);
    let merged = as_agent("other", &["project", "merge", "app", "--force"]);
    assert_eq!(merged.code, Some(1), "{merged}");
    assert!(merged.stderr.contains("cannot change your rules"), "{merged}");
    assert!(done(&project, "app", &["pin", "list"]).stdout.contains("Never push"));
    fs::rename(project.path("app"), project.path("moved")).unwrap();
    let attached = as_agent("other", &["project", "attach", "app", "--force"]);
    assert_eq!(attached.code, Some(1), "{attached}");
    assert_has_all(&begin(&project, "moved", "s"));
    // Without rules, an agent may.
    done(&project, "moved", &["pin", "rm", "1"]);
    assert_eq!(as_agent("other", &["project", "merge", "app", "--force"]).code, Some(0));
}

#[test]
fn an_agent_moves_a_branchs_tasks_and_leaves_its_rules() {
    let project = Project::new();
    repository(&project, "app", None);
    done(&project, "app", &["pin", "add", "Never push", "--scope", "branch"]);
    done(&project, "app", &["task", "add", "Build"]);
    let words = ["task", "move", "--all", "--from-branch", "main", "--branch", "other"];
    let moved = in_client(&project, "app", &words);
    assert_eq!(moved.code, Some(0), "{moved}");
    assert!(moved.stderr.contains("1 rule of the user's stay on branch main"), "{moved}");
    assert!(done(&project, "app", &["pin", "list"]).stdout.contains("Never push"));
    assert!(done(&project, "app", &["task", "list", "--branch", "other"]).stdout.contains("Build"));
}

#[test]
fn a_folder_that_becomes_a_repository_keeps_its_project() {
    let project = Project::new();
    fs::create_dir(project.path("app")).unwrap();
    fill(&project);
    git(&project, &["-C", "app", "init", "-q", "-b", "main"]);
    assert_has_all(&begin(&project, "app", "s"));
    // With commits, it may be another's.
    let project = Project::new();
    fs::create_dir(project.path("app")).unwrap();
    fill(&project);
    repository(&project, "app", None);
    let told = begin(&project, "app", "s");
    assert_has_nothing(&told);
    assert!(told.contains("1 open task, 1 rule and 1 unread message"), "{told}");
    assert!(told.contains("`convoke project merge app`"), "{told}");
    done(&project, "app", &["project", "merge", "app"]);
    assert_has_all(&begin(&project, "app", "t"));
}

#[test]
fn a_rewritten_history_and_another_remote_are_the_same_project() {
    let project = filled(Some("https://example.com/me/app.git"));
    git(&project, &["-C", "app", "commit", "-q", "--amend", "--allow-empty", "-m", "new root"]);
    git(&project, &["-C", "app", "remote", "set-url", "origin", "https://example.com/new.git"]);
    assert!(done(&project, "app", &["task", "list"]).stdout.contains("Secret plan"));
    fs::rename(project.path("app"), project.path("moved")).unwrap();
    assert_has_all(&begin(&project, "moved", "s"));
    let list = done(&project, "moved", &["project", "list"]).stdout;
    assert!(list.contains("example.com/new"), "{list}");
}

#[test]
fn a_deleted_or_changed_id_does_not_take_the_rules_away() {
    let project = filled(None);
    let file = project.path("app/.git/convoke-id");
    let id = fs::read_to_string(&file).unwrap();
    fs::remove_file(&file).unwrap();
    assert_has_all(&begin(&project, "app", "s"));
    assert_eq!(fs::read_to_string(&file).unwrap(), id);
    fs::write(&file, "0".repeat(32)).unwrap();
    assert!(begin(&project, "app", "t").contains("Never push"));
    assert_eq!(fs::read_to_string(&file).unwrap(), id);
}

#[test]
fn a_copied_folder_is_a_project_of_its_own() {
    let project = filled(None);
    let copied = project.command(Path::new("cp"), &["-a", "app", "copy"]).output().unwrap();
    assert!(copied.status.success());
    assert_has_nothing(&begin(&project, "copy", "s"));
    let seen = done(&project, "copy", &["task", "list"]);
    assert!(seen.stderr.contains("`convoke project merge app`"), "{seen}");
    assert_has_all(&begin(&project, "app", "t"));
    // Both follow their own folders from now on.
    done(&project, "copy", &["task", "add", "Of the copy"]);
    fs::rename(project.path("app"), project.path("moved")).unwrap();
    fs::rename(project.path("copy"), project.path("app")).unwrap();
    assert!(done(&project, "moved", &["task", "list"]).stdout.contains("Secret plan"));
    assert!(done(&project, "app", &["task", "list"]).stdout.contains("Of the copy"));
}

#[test]
fn a_git_file_that_names_anothers_repository_gets_nothing_of_it() {
    let project = filled(None);
    let there = project.path("app/.git").canonicalize().unwrap();
    fs::create_dir(project.path("file")).unwrap();
    fs::write(project.path("file/.git"), format!("gitdir: {}\n", there.display())).unwrap();
    fs::create_dir(project.path("link")).unwrap();
    symlink(&there, project.path("link/.git")).unwrap();
    fs::create_dir_all(project.path("common/.git")).unwrap();
    fs::write(project.path("common/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(project.path("common/.git/commondir"), format!("{}\n", there.display())).unwrap();
    for folder in ["file", "link", "common"] {
        assert_has_nothing(&begin(&project, folder, folder));
        let seen = done(&project, folder, &["task", "list"]);
        assert_has_nothing(&seen.to_string());
        assert!(seen.stderr.contains("does not lead back"), "{seen}");
        assert!(!seen.stderr.contains("convoke project"), "{seen}");
    }
    assert_has_all(&begin(&project, "app", "s"));
}

#[test]
fn a_moved_plan_keeps_its_tasks() {
    let project = Project::new();
    repository(&project, "app", None);
    fs::write(project.path("app/plan.md"), "### Task 1: Model\nx\n\n### Task 2: View\ny\n")
        .unwrap();
    done(&project, "app", &["task", "import", "app/plan.md"]);
    done(&project, "app", &["plan", "cancel", "app/plan.md"]);
    fs::create_dir(project.path("app/docs")).unwrap();
    fs::rename(project.path("app/plan.md"), project.path("app/docs/plan.md")).unwrap();
    let imported = done(&project, "app", &["task", "import", "app/docs/plan.md"]);
    assert!(imported.stderr.contains("its tasks belong to `docs/plan.md` now"), "{imported}");
    let list = done(&project, "app", &["task", "list"]).stdout;
    assert_eq!(list.matches("Model").count(), 1, "{list}");
    let listed = done(&project, "app", &["task", "list", "--json"]).stdout;
    assert!(listed.contains("docs/plan.md") && !listed.contains("\"plan.md"), "{listed}");
    assert!(list.contains("cancelled"), "a cancelled plan stays so: {list}");
}
