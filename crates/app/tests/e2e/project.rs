//! `convoke project`: tasks follow the repository, and only on the user's command.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::harness::Project;

fn git(project: &Project, words: &[&str]) {
    let who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let done = project.command(Path::new("git"), &[&who[..], words].concat()).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository in `app`, below the project's folder, which is not a repository itself.
fn repository() -> Project {
    let project = Project::new();
    fs::create_dir(project.path("app")).unwrap();
    git(&project, &["-C", "app", "init", "-q", "-b", "main"]);
    git(&project, &["-C", "app", "commit", "-q", "--allow-empty", "-m", "first"]);
    project
}

fn json(project: &Project, words: &[&str]) -> serde_json::Value {
    serde_json::from_str(&project.stdout(&[words, &["--json"]].concat())).unwrap()
}

// The user decides where nothing proves that a folder is the one that is gone.
#[test]
fn a_clone_of_a_folder_that_is_gone_is_offered_its_tasks() {
    let project = repository();
    project.run(&["-C", "app", "task", "add", "Kept", "--agent", "june"]);
    project.run(&["-C", "app", "say", "@june hello"]);
    git(&project, &["clone", "-q", "app", "moved"]);
    fs::remove_dir_all(project.path("app")).unwrap();
    for words in [&["wake", "june"][..], &["task", "list"], &["task", "tree"]] {
        let seen = project.run(&[&["-C", "moved"], words].concat());
        assert!(!seen.stdout.contains("Kept"), "nothing is taken without being asked for");
        assert!(seen.stderr.contains("`convoke project attach app`"), "{words:?}: {seen}");
        assert!(seen.stderr.contains("which is gone"), "{seen}");
    }
    assert_eq!(
        project.stdout(&["-C", "moved", "project", "attach", "app"]),
        "attached app to this folder"
    );
    let list = project.run(&["-C", "moved", "task", "list"]);
    assert!(list.stdout.contains("Kept") && list.stderr.is_empty(), "{list}");
    assert!(project.stdout(&["-C", "moved", "inbox", "june"]).contains("hello"));
    let projects = json(&project, &["-C", "moved", "project", "list"]);
    assert_eq!(projects.as_array().unwrap().len(), 1);
    assert_eq!((&projects[0]["name"], &projects[0]["here"]), (&"app".into(), &true.into()));
    // It follows its folder from now on.
    fs::rename(project.path("moved"), project.path("again")).unwrap();
    assert!(project.stdout(&["-C", "again", "task", "list"]).contains("Kept"));
}

#[test]
fn two_clones_stay_apart_until_they_are_merged() {
    let project = repository();
    let first = project.stdout(&["-C", "app", "task", "add", "First"]);
    project.stdout(&["-C", "app", "pin", "add", "Never push to main"]);
    project.stdout(&["-C", "app", "agent", "add", "kim"]);
    git(&project, &["clone", "-q", "app", "clone"]);
    project.run(&["-C", "clone", "task", "add", "Second"]);
    let list = project.run(&["-C", "clone", "task", "list"]);
    assert!(!list.stdout.contains("First"), "{list}");
    assert!(list.stderr.contains("`convoke project merge app`"), "{list}");
    let attached = project.run(&["-C", "clone", "project", "attach", "app"]);
    assert_eq!(attached.code, Some(1));
    assert!(attached.stderr.contains("still exists"), "{attached}");
    let merged = project.stdout(&["-C", "clone", "project", "merge", "app"]);
    assert_eq!(merged, "merged app into clone: 1 task, 0 messages, 1 rule, 1 agent");
    assert!(project.stdout(&["-C", "clone", "task", "list"]).contains(&first));
    assert_eq!(project.stdout(&["-C", "app", "task", "list"]), "No tasks.");
    let itself = project.run(&["-C", "clone", "project", "merge", "clone"]);
    assert_eq!(itself.code, Some(1));
    let gone = project.run(&["-C", "clone", "project", "merge", "gone"]);
    assert!(gone.stderr.contains("convoke project list"), "{gone}");
}

// Tasks of another repository move here only if the user insists.
#[test]
fn another_repository_is_not_merged_by_mistake() {
    let project = repository();
    project.run(&["-C", "app", "task", "add", "First"]);
    project.run(&["-C", "app", "task", "list"]);
    fs::create_dir(project.path("other")).unwrap();
    git(&project, &["-C", "other", "init", "-q", "-b", "main"]);
    git(&project, &["-C", "other", "commit", "-q", "--allow-empty", "-m", "another"]);
    let listed = project.run(&["-C", "other", "task", "list"]);
    assert_eq!(listed.stderr, "", "it is not even offered: {listed}");
    let merged = project.run(&["-C", "other", "project", "merge", "app"]);
    assert_eq!(merged.code, Some(1), "{merged}");
    assert!(merged.stderr.contains("it is another repository"), "{merged}");
    assert!(project.stdout(&["-C", "app", "task", "list"]).contains("First"));
    let forced = project.run(&["-C", "other", "project", "merge", "app", "--force"]);
    assert_eq!(forced.code, Some(0), "{forced}");
    assert!(project.stdout(&["-C", "other", "task", "list"]).contains("First"));
}

// Anyone can copy a first commit. It is a reason for a line to the user, and for nothing else.
#[test]
fn a_repository_that_imitates_another_gets_none_of_its_tasks() {
    let project = repository();
    project.run(&["-C", "app", "task", "add", "Secret plan"]);
    git(&project, &["clone", "-q", "app", "hostile"]);
    fs::remove_dir_all(project.path("app")).unwrap();
    fs::write(project.path("hostile/convoke.toml"), "[wake]\nbudget = 500\n").unwrap();
    for words in [
        &["task", "list", "--all-branches"][..],
        &["task", "list"],
        &["task", "tree"],
        &["task", "next"],
        &["task", "search", "secret"],
        &["task", "log"],
        &["task", "restore"],
        &["task", "undo"],
        &["task", "move", "--all", "--from-branch", "main", "--branch", "x"],
        &["wake", "june"],
        &["inbox"],
    ] {
        let seen = project.run(&[&["-C", "hostile"], words].concat());
        assert!(!seen.to_string().contains("Secret plan"), "{words:?}: {seen}");
    }
    // With another remote it is not named.
    git(&project, &["-C", "hostile", "remote", "set-url", "origin", "https://evil.example/app"]);
    git(&project, &["clone", "-q", "hostile", "real"]);
    git(&project, &["-C", "real", "remote", "set-url", "origin", "https://good.example/app"]);
    project.run(&["-C", "real", "task", "add", "Secret plan"]);
    project.run(&["-C", "hostile", "project", "list"]);
    let seen = project.run(&["-C", "hostile", "task", "list"]);
    assert!(!seen.stderr.contains("project merge real"), "{seen}");
}

#[test]
fn another_repository_is_attached_by_force_only() {
    let project = repository();
    project.run(&["-C", "app", "task", "add", "Old"]);
    fs::remove_dir_all(project.path("app")).unwrap();
    fs::create_dir(project.path("other")).unwrap();
    git(&project, &["-C", "other", "init", "-q", "-b", "main"]);
    git(&project, &["-C", "other", "commit", "-q", "--allow-empty", "-m", "something else"]);
    let attach = ["-C", "other", "project", "attach", "app"];
    assert_snapshot!(project.run(&attach).stable(&project), @"
    exit: 1
    --- stdout
    --- stderr
    error: cannot attach `app`: it is another repository
    hint: see `convoke project list`; `--force` attaches it anyway
    ");
    assert_eq!(project.run(&[&attach[..], &["--force"]].concat()).code, Some(0));
    assert!(project.stdout(&["-C", "other", "task", "list"]).contains("Old"));
}

#[test]
fn a_folder_without_git_is_attached_by_its_name() {
    let project = Project::new();
    fs::create_dir(project.path("notes")).unwrap();
    project.run(&["-C", "notes", "task", "add", "Write"]);
    fs::rename(project.path("notes"), project.path("papers")).unwrap();
    let list = project.run(&["-C", "papers", "task", "list"]);
    assert_eq!(list.stdout, "No tasks.\n");
    assert!(list.stderr.contains("see `convoke project list`"), "{list}");
    project.run(&["-C", "papers", "project", "attach", "notes"]);
    assert!(project.stdout(&["-C", "papers", "task", "list"]).contains("Write"));
}

#[test]
fn a_merged_or_renamed_branch_leaves_its_tasks_within_reach() {
    let project = repository();
    git(&project, &["-C", "app", "checkout", "-q", "-b", "feature/x"]);
    project.run(&["-C", "app", "task", "add", "Open", "Other"]);
    git(&project, &["-C", "app", "branch", "-m", "feature/y"]);
    let list = project.run(&["-C", "app", "task", "list"]);
    assert!(list.stderr.contains("branch feature/x has 2 open tasks"), "{list}");
    let command = "task move --all --from-branch feature/x";
    assert!(list.stderr.contains(command), "{list}");
    let words: Vec<_> = ["-C", "app"].into_iter().chain(command.split(' ')).collect();
    assert_eq!(project.stdout(&words), "moved 2 tasks from feature/x to feature/y");
    let list = project.run(&["-C", "app", "task", "list"]);
    assert!(list.stdout.lines().count() == 2 && list.stderr.is_empty(), "{list}");
}

#[test]
fn projects_are_listed() {
    let project = repository();
    project.run(&["-C", "app", "task", "add", "One", "Two"]);
    git(
        &project,
        &["-C", "app", "remote", "add", "origin", "https://ana:pass@example.org/app.git"],
    );
    let listed = project.run(&["-C", "app", "project", "list"]);
    let top = project.root().canonicalize().unwrap();
    let text = listed.stdout.replace(&top.display().to_string(), "TOP");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("app  (here)"));
    assert_eq!(lines.next(), Some("  folder      TOP/app"));
    let repository = lines.next().unwrap();
    assert!(repository.starts_with("  repository  example.org/app, first commit "), "{repository}");
    assert_eq!(lines.next(), Some("  tasks       2 open of 2"));
    assert!(lines.next().unwrap().starts_with("  last used   20"));
    let project_list = json(&project, &["-C", "app", "project", "list"]);
    assert_eq!(project_list[0]["open_tasks"], 2);
    assert!(!project_list.to_string().contains("pass"), "no password is kept");
}
