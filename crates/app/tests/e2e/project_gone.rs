//! What a gone branch or folder leaves behind is missed aloud.

use std::fs;

use crate::harness::Project;
use crate::project_identity::{begin, done, git, repository};

#[test]
fn a_renamed_branchs_own_rule_is_missed_aloud() {
    let project = Project::new();
    repository(&project, "app", None);
    done(&project, "app", &["hooks", "install", "claude"]);
    done(&project, "app", &["pin", "add", "Never push", "--scope", "branch"]);
    git(&project, &["-C", "app", "branch", "-m", "trunk"]);
    let command = "convoke task move --all --from-branch main";
    let told = begin(&project, "app", "s");
    assert!(told.contains(command) && told.contains("1 rule"), "{told}");
    let seen = done(&project, "app", &["pin", "list"]);
    assert!(seen.stderr.contains(command), "{seen}");
    done(&project, "app", &["task", "move", "--all", "--from-branch", "main"]);
    assert!(done(&project, "app", &["pin", "list"]).stdout.contains("Never push"));
    assert!(begin(&project, "app", "t").contains("Never push"));
}

// The branch that is checked out has open tasks of its own, so its wake-up names no other branch.
#[test]
fn open_tasks_of_a_renamed_branch_are_missed_aloud() {
    let project = Project::new();
    repository(&project, "app", None);
    done(&project, "app", &["hooks", "install", "claude"]);
    done(&project, "app", &["task", "add", "Old work", "More of it"]);
    git(&project, &["-C", "app", "branch", "-m", "trunk"]);
    let command = "`convoke task move --all --from-branch main`";
    let told = begin(&project, "app", "alone");
    assert_eq!(told.matches(command).count(), 1, "the wake-up names it: {told}");
    done(&project, "app", &["task", "add", "New work"]);
    let told = begin(&project, "app", "s");
    let line = format!(
        "\n> branch main, which is gone, has 2 open tasks; if they are work of this branch, ask the \
         user, then run {command}\n"
    );
    assert!(told.contains("New work") && told.contains(&line), "{told}");
    // Branches that are there are not gone: with a file of their own, or packed.
    git(&project, &["-C", "app", "branch", "main"]);
    assert!(!begin(&project, "app", "t").contains("gone"));
    git(&project, &["-C", "app", "pack-refs", "--all"]);
    assert!(!begin(&project, "app", "u").contains("gone"));
    git(&project, &["-C", "app", "branch", "-D", "main"]);
    assert!(begin(&project, "app", "v").contains(&line));
    done(&project, "app", &["task", "move", "--all", "--from-branch", "main"]);
    let told = begin(&project, "app", "w");
    assert!(told.contains("Old work") && !told.contains("gone"), "{told}");
    git(&project, &["-C", "app", "switch", "-q", "--detach"]);
    done(&project, "app", &["task", "add", "On no branch"]);
    git(&project, &["-C", "app", "switch", "-q", "trunk"]);
    assert!(!begin(&project, "app", "x").contains("gone"));
}

// Without git, nothing proves that a folder is the one that is gone.
#[test]
fn a_folder_without_git_names_the_list_where_one_is_gone() {
    let project = Project::new().file("app/convoke.toml", "").file("new/convoke.toml", "");
    done(&project, "app", &["task", "add", "Old work"]);
    let here = |folder: &str| done(&project, folder, &["task", "list"]).stderr;
    assert_eq!(here("new"), "", "no folder is gone");
    fs::rename(project.path("app"), project.path("moved")).unwrap();
    let old = project.path("app").display().to_string();
    let note = format!(
        "note: no task is in this folder, and `{old}`, a folder without git that is gone, has 1 open \
         task; if it was moved here, see `convoke project list`\n"
    );
    assert_eq!(here("moved"), note);
    let listed = done(&project, "moved", &["project", "list"]).stdout;
    assert!(listed.contains(&old) && listed.contains("gone"), "{listed}");
    done(&project, "new", &["task", "add", "Other work"]);
    assert_eq!(here("new"), "", "it has a task of its own");
    repository(&project, "other", None);
    assert_eq!(here("other"), "", "a repository is known by its id");
    done(&project, "moved", &["project", "attach", "app"]);
    assert_eq!(here("moved"), "");
    assert!(done(&project, "moved", &["task", "list"]).stdout.contains("Old work"));
}
