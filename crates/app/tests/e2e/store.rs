//! The store, through the commands of a user.

use std::fs;

use insta::assert_snapshot;

use crate::harness::Project;

fn store(project: &Project) -> std::path::PathBuf {
    project.path("../home/.local/state/convoke/store.db")
}

// W-1: one store for all projects of a user, outside the projects.
#[test]
fn the_store_is_the_users_and_no_project_is_touched() {
    let project = Project::new().on_branch("main");
    let before = project.listing();
    project.run(&["task", "add", "x"]);
    assert!(store(&project).exists());
    // Git's folder alone gets the project's id.
    let mut after = project.listing();
    assert!(after.remove(&project.path(".git/convoke-id")).is_some());
    assert_eq!(after, before);
    let elsewhere = project.path("../other.db").display().to_string();
    let project = project.variable("CONVOKE_STORE", &elsewhere);
    assert_eq!(project.stdout(&["task", "list"]), "No tasks.");
    assert!(project.path("../other.db").exists());
}

#[test]
fn a_sound_store_says_so() {
    let project = Project::new();
    assert_snapshot!(project.run(&["store", "check"]).stable(&project), @"
    exit: 0
    --- stdout
    TOP/home/.local/state/convoke/store.db  sound
    --- stderr
    ");
}

#[test]
fn a_damaged_store_is_explained() {
    let project = Project::new();
    project.run(&["task", "add", "x"]);
    fs::write(store(&project), "this is no database, whatever its name says").unwrap();
    let outcome = project.run(&["task", "list"]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert!(outcome.stderr.contains("cause: file is not a database"), "{outcome}");
    assert!(outcome.stderr.contains("hint: run `convoke store check`"), "{outcome}");
    assert_eq!(project.run(&["store", "check"]).code, Some(3));
}

#[cfg(unix)]
#[test]
fn a_read_only_store_is_explained() {
    let project = Project::new();
    project.run(&["task", "add", "x"]);
    crate::harness::set_mode(&project.path("../home"), 0o755);
    let outcome = project.run_without_rights(&["task", "add", "y"]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert!(outcome.stderr.contains("hint: "), "{outcome}");
}

// W-1: the user's own file may name the store; a project's may not.
#[test]
fn only_the_user_says_where_the_store_is() {
    let named = |project: Project, file: &str| {
        let path = project.path("../named.db").display().to_string();
        project.file(file, format!("[store]\npath = '{path}'\n"))
    };
    let project = named(Project::new().on_branch("main"), "../home/.config/convoke/config.toml");
    project.stdout(&["task", "add", "x"]);
    assert!(project.path("../named.db").exists() && !store(&project).exists());
    let project = named(project, "convoke.toml");
    fs::rename(project.path("../home/.config"), project.path("../home/away")).unwrap();
    let outcome = project.run(&["task", "list"]);
    let said = outcome.stderr.replace(&project.root().display().to_string(), "ROOT");
    assert_snapshot!(said, @"warning: `store` in `ROOT/convoke.toml` is ignored: a project cannot choose where your data is kept; set it in your own config.toml");
    assert!(!outcome.stdout.contains('x'), "another store is used: {outcome}");
    let relative =
        Project::new().file("../home/.config/convoke/config.toml", "[store]\npath = 'x'\n");
    let outcome = relative.run(&["task", "list"]);
    assert!(outcome.stderr.contains("`store.path` in"), "{outcome}");
    assert!(outcome.stderr.contains("it must be an absolute path"), "{outcome}");
}

#[test]
fn a_store_is_copied_exported_and_imported() {
    let project = Project::new().on_branch("main");
    project.run(&["task", "add", "Kept"]);
    project.run(&["say", "hello", "--as", "june"]);
    assert_eq!(project.stdout(&["store", "backup", "copy.db"]), "copied the store to copy.db");
    let wrote = project.stdout(&["store", "export", "all.jsonl"]);
    assert!(wrote.starts_with("wrote ") && wrote.ends_with(" rows to all.jsonl"), "{wrote}");
    for name in ["copy.db", "all.jsonl"] {
        let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(project.path(name)).unwrap());
        assert_eq!(mode & 0o777, 0o600, "{name}");
        let command = if name == "copy.db" { "backup" } else { "export" };
        let again = project.run(&["store", command, name]);
        assert_eq!(again.code, Some(1), "{again}");
        assert!(again.stderr.contains("exists already"), "{again}");
    }
    assert_eq!(fs::read_dir(project.root()).unwrap().count(), 3, "nothing else is left there");
    let full = project.run(&["store", "import", "all.jsonl"]);
    assert_eq!(full.code, Some(1));
    assert!(full.stderr.contains("CONVOKE_STORE=NEW.db"), "{full}");
    let text = project.stdout(&["store", "export", "-"]);
    let new = project.path("../new.db").display().to_string();
    let project = project.variable("CONVOKE_STORE", &new);
    let bad = text.replace("Kept", "Kept\\n- forged");
    let refused = project.run_with_input(&["store", "import", "-"], format!("{bad}\n").as_bytes());
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("cannot import line "), "{refused}");
    assert_eq!(project.stdout(&["task", "list"]), "No tasks.");
    assert_eq!(project.run(&["store", "import", "gone.jsonl"]).code, Some(3));
    let imported =
        project.run_with_input(&["store", "import", "-"], format!("{text}\n").as_bytes());
    assert_eq!(imported.code, Some(0), "{imported}");
    assert!(project.stdout(&["task", "list"]).contains("Kept"));
    let copy = project.path("copy.db").display().to_string();
    let project = project.variable("CONVOKE_STORE", &copy);
    assert!(project.stdout(&["task", "list"]).contains("Kept"));
}

// The steps of the page Store and of the guide: what belongs to the store that is replaced must go, and the
// search makes its index anew.
#[test]
fn a_backup_comes_back_in_the_place_of_the_store() {
    let project = Project::new().on_branch("main");
    project.stdout(&["task", "add", "Kept in the backup"]);
    project.stdout(&["say", "hello from the backup"]);
    project.stdout(&["store", "backup", "copy.db"]);
    for number in 0..20 {
        project.stdout(&["say", &format!("late message {number}")]);
    }
    let find = |words: &str| {
        let report = project.stdout(&["serve", "--report", "search", "--words", words]);
        serde_json::from_str::<serde_json::Value>(&report).unwrap()["hits"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((find("late"), find("hello")), (20, 1));
    let store = store(&project);
    for ending in ["-wal", "-shm", "-search"] {
        let mut beside = store.clone().into_os_string();
        beside.push(ending);
        let is_there = fs::remove_file(&beside).is_ok();
        assert!(is_there || ending != "-search", "the search has an index");
    }
    fs::copy(project.path("copy.db"), &store).unwrap();
    assert!(project.stdout(&["store", "check"]).ends_with("  sound"));
    assert!(project.stdout(&["task", "list"]).contains("Kept in the backup"));
    for number in 0..3 {
        project.stdout(&["say", &format!("after it {number}")]);
    }
    assert_eq!((find("late"), find("hello"), find("after")), (0, 1, 3));
}

// What Convoke stores, it can import again: a folder's name may have any character, and merged
// projects more rules than one may add.
#[test]
fn every_store_is_imported_again() {
    let project = Project::new().on_branch("main");
    fs::create_dir_all(project.path("x\ny/.git")).unwrap();
    fs::write(project.path("x\ny/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    project.stdout(&["-C", "x\ny", "task", "add", "Kept"]);
    for number in 0..50 {
        project.stdout(&["pin", "add", &format!("Rule {number}")]);
    }
    let text = project.stdout(&["store", "export", "-"]);
    let lines: Vec<_> = text.lines().collect();
    let (last, rows) = lines.split_last().unwrap();
    let rule = rows.iter().rfind(|row| row.contains("Rule 49")).unwrap();
    let one_more = rule.replacen("\"id\":50", "\"id\":51", 1);
    let counted = |count: usize| format!("\"rows\":{count}");
    let last = last.replace(&counted(rows.len() - 1), &counted(rows.len()));
    let at = rows.iter().position(|row| row == rule).unwrap() + 1;
    let text = [&rows[..at], &[&one_more], &rows[at..], &[&last], &[""]].concat().join("\n");
    let new = project.path("../new.db").display().to_string();
    let project = project.variable("CONVOKE_STORE", &new);
    let imported = project.run_with_input(&["store", "import", "-"], text.as_bytes());
    assert_eq!(imported.code, Some(0), "{imported}");
    assert_eq!(project.stdout(&["pin", "list"]).matches("Rule ").count(), 51);
    assert!(project.stdout(&["-C", "x\ny", "task", "list"]).contains("Kept"));
}

// A program for one machine names what it lacks, and how to get it.
#[cfg(not(feature = "postgres"))]
#[test]
fn a_server_needs_a_program_with_its_backend() {
    let project = Project::new().variable("CONVOKE_STORE", "postgres://ana:hush@db.example/team");
    let outcome = project.run(&["task", "list"]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert!(outcome.stderr.contains("built without the Postgres backend"), "{outcome}");
    assert!(outcome.stderr.contains("hint: ") && !outcome.stderr.contains("hush"), "{outcome}");
}
