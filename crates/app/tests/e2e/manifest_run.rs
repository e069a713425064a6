//! The files of a run: artifacts with a record, a bundle, and tasks.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Outcome, Project};
use crate::panel::Panel;

/// Rehearses a design, and returns its run.
fn rehearsed(project: &Project, more: &[&str]) -> String {
    let outcome = project.run(&[&["design", "--rehearse"], more].concat());
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let run = outcome.stderr.lines().find_map(|line| line.strip_prefix("run ")?.split(':').next());
    run.unwrap().to_owned()
}

fn sha256(path: &Path, project: &Project) -> String {
    let mut sum = project.command(Path::new("/usr/bin/sha256sum"), &[]);
    let said = sum.arg(path).output().unwrap().stdout;
    String::from_utf8(said).unwrap().split(' ').next().unwrap().to_owned()
}

fn verified(project: &Project, place: &str) -> Outcome {
    project.run(&["manifest", "verify", place])
}

// Every file of a run is vouched for, by a hash that others compute as well.
#[test]
fn a_run_leaves_its_files_with_a_record() {
    let project = Project::new();
    let run = rehearsed(&project, &[]);
    let written = project.stdout(&["manifest", "write", "--run", &run, "--to", "out/here"]);
    assert!(written.ends_with("/out/here/manifest.json"), "{written}");
    let text = fs::read_to_string(project.path("out/here/manifest.json")).unwrap();
    // Every command prints the same record.
    assert_eq!(project.run(&["show", &run, "--artifact", "manifest"]).stdout, text);
    let record: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["run"], run);
    assert_eq!((&record["ending"], &record["rehearsal"]), (&"complete".into(), &true.into()));
    let files = record["files"].as_array().unwrap();
    assert_eq!(files.len(), 36);
    for file in files {
        let path = project.path("out/here").join(file["name"].as_str().unwrap());
        assert_eq!(file["sha256"], sha256(&path, &project));
        assert_eq!(file["bytes"], fs::metadata(&path).unwrap().len());
    }
    let plan = project.run(&["show", &run, "--artifact", "plan"]).stdout;
    assert_eq!(fs::read_to_string(project.path("out/here/plan.txt")).unwrap(), plan);
    let feature = record["feature"]["text"].as_str().unwrap();
    fs::write(project.path("feature"), feature).unwrap();
    assert_eq!(record["feature"]["sha256"], sha256(&project.path("feature"), &project));
    let seats: Vec<_> = record["seats"]
        .as_array()
        .unwrap()
        .iter()
        .map(|seat| seat["name"].as_str().unwrap())
        .collect();
    assert_eq!(seats, ["Cursor", "Codex", "Claude"]);
    assert_ne!(record["seats"][0]["answered"], Value::Array(Vec::new()), "{record:#}");
    assert_eq!(record["lanes"].as_array().unwrap().len(), 27);
    assert_eq!(record["journal"]["chain"].as_str().unwrap().len(), 64);
    let same = verified(&project, "out/here");
    let said = format!("36 files of run {run}: as they were\n");
    assert_eq!((same.code, same.stdout), (Some(0), said));
}

#[test]
fn every_change_of_a_file_is_reported() {
    let project = Project::new();
    let run = rehearsed(&project, &[]);
    project.stdout(&["manifest", "write", "--run", &run, "--to", "out"]);
    let plan = fs::read(project.path("out/plan.txt")).unwrap();
    // As long as it was, and not the same.
    let mut other = plan.clone();
    other[0] ^= 1;
    fs::write(project.path("out/plan.txt"), &other).unwrap();
    fs::remove_file(project.path("out/oos.md")).unwrap();
    fs::write(project.path("out/another\n.md"), "").unwrap();
    fs::rename(project.path("out/ballot.txt"), project.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", project.path("out/ballot.txt")).unwrap();
    for place in ["out", "out/manifest.json"] {
        let said = verified(&project, place);
        assert_eq!(said.code, Some(1), "{said}");
        let expected =
            "changed: ballot.txt\nchanged: plan.txt\nmissing: oos.md\nextra: another\\n.md\n";
        assert_eq!(said.stdout, expected);
    }
    let said = project.run(&["manifest", "verify", "out", "--json"]);
    let said: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(said["ok"], false);
    assert_eq!(said["changed"], Value::from(vec!["ballot.txt", "plan.txt"]));
    assert_eq!(said["missing"], Value::from(vec!["oos.md"]));
    assert_eq!(said["extra"], Value::from(vec!["another\n.md"]));
    // A folder that holds other files is not overwritten.
    let refused = project.run(&["manifest", "write", "--run", &run, "--to", "out"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("it contains other files"), "{refused}");
    fs::remove_file(project.path("out/another\n.md")).unwrap();
    project.stdout(&["manifest", "write", "--run", &run, "--to", "out"]);
    assert_eq!(verified(&project, "out").code, Some(0));
    // The link is gone, and what it led to is not.
    assert!(project.path("elsewhere").exists());
}

#[test]
fn an_invalid_record_is_refused() {
    let project = Project::new().file("a/manifest.json", "{\"name\": \"an app\"}").file("b/x", "");
    for (place, code) in [("a", 3), ("b", 3), ("nowhere", 3)] {
        let refused = verified(&project, place);
        assert_eq!(refused.code, Some(code), "{refused}");
        assert!(refused.stderr.starts_with("error: cannot "), "{refused}");
    }
    let run = rehearsed(&project, &[]);
    let names = ["../b/x", "/etc/passwd", "a\u{0}b", ".."];
    let text = project.run(&["show", &run, "--artifact", "manifest"]).stdout;
    for name in names {
        let mut record: Value = serde_json::from_str(&text).unwrap();
        record["files"][0]["name"] = name.into();
        fs::write(project.path("b/manifest.json"), record.to_string()).unwrap();
        let refused = verified(&project, "b");
        assert_eq!(refused.code, Some(3), "{refused}");
        assert!(refused.stderr.contains("is not a valid file name"), "{refused}");
    }
}

// A bundle of a run has the hashes beside it, and both are checked.
#[test]
fn a_bundle_of_a_run_is_compared_as_well() {
    let project = Project::new().file("p/keep", "");
    let run = rehearsed(&project, &[]);
    project.stdout(&["manifest", "write", "--run", &run, "--bundle", "p"]);
    let read = project.stdout(&["plumbing", "manifest-read", "--implement-tmpdir", "p"]);
    assert!(read.starts_with("MANIFEST_OK=true\n"), "{read}");
    for place in
        ["p", "p/design-export", "p/design-export/manifest.env", "p/design-export/manifest.json"]
    {
        let same = verified(&project, place);
        assert_eq!(same.stdout, format!("7 files of run {run}: as they were\n"), "{place}");
    }
    fs::write(project.path("p/design-export/plan.txt"), "another").unwrap();
    let said = verified(&project, "p");
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), "changed: plan.txt\n"));
    fs::write(project.path("p/design-export/plan.txt"), "").unwrap();
    let said = verified(&project, "p");
    let expected = "refused: required-empty\nchanged: plan.txt\n";
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), expected));
    // Without a run there is nothing to compare with, and no older record is left.
    project.stdout(&["manifest", "write", "--run", &run, "--to", "d"]);
    project.stdout(&["manifest", "write", "--from", "d", "--bundle", "p"]);
    let said = verified(&project, "p");
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "7 files: in order\n"));
    assert!(said.stderr.contains("contents cannot be compared"), "{said}");
}

// A record covers a design's files in a feature's folder, among documents of others.
#[test]
fn a_feature_gets_a_record_too() {
    let project = Project::new().file("feature/spec.md", "spec");
    let run = rehearsed(&project, &["--feature-dir", "feature"]);
    let same = verified(&project, "feature");
    assert_eq!(
        (same.code, same.stdout),
        (Some(0), format!("3 files of run {run}: as they were\n"))
    );
    fs::write(project.path("feature/tasks.md"), "mine").unwrap();
    let said = verified(&project, "feature");
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), "changed: tasks.md\n"));
}

#[test]
fn a_changed_journal_gives_no_record() {
    let project = Project::new();
    let run = rehearsed(&project, &[]);
    let store = project.path("../home/.local/state/convoke/store.db");
    let store = rusqlite::Connection::open(store).unwrap();
    let sql = "UPDATE journal SET body = replace(body, 'FINDING_5: NO', 'FINDING_5: YES')";
    assert!(store.execute(sql, []).unwrap() > 0);
    let refused = project.run(&["manifest", "write", "--run", &run, "--to", "out"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("its journal was changed at event "), "{refused}");
    assert!(!project.path("out").exists());
    // A run that did not complete has no files yet.
    store.execute("DELETE FROM journal WHERE kind = 'kept'", []).unwrap();
    let sql = "UPDATE runs SET state = 'stopped'";
    store.execute(sql, []).unwrap();
    assert_eq!(project.run(&["show", &run, "--artifact", "manifest"]).code, Some(1));
    assert_eq!(project.run(&["manifest", "write", "--run", "nope", "--to", "out"]).code, Some(1));
}

// From a design to work: its tasks are the tree that agents are woken with.
#[test]
fn the_plan_of_a_run_becomes_tasks() {
    let project = Project::new();
    let run = rehearsed(&project, &[]);
    let ids = project.stdout(&["task", "import", "--run", &run]);
    let count = ids.lines().count();
    assert!(count > 1, "{ids}");
    let listed = project.stdout(&["task", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), count);
    assert_eq!(listed[0]["plan_file"], format!(".convoke/plans/{run}.md"));
    let first = listed[0]["content"].as_str().unwrap().to_owned();
    assert!(first.starts_with("Task 1: "), "{first}");
    let plan = project.run(&["show", &run, "--artifact", "plan"]).stdout;
    assert!(plan.contains(&format!("### {first}")), "{plan}");
    let woken = project.stdout(&["wake", "june"]);
    assert!(woken.contains(&first), "{woken}");
    // The section of the plan is there, not only its heading, and what to do next.
    assert!(woken.contains("\n1. Start Task 1: "), "{woken}");
    let section =
        plan.split(&first).nth(1).unwrap().lines().find(|line| line.starts_with("**")).unwrap();
    assert!(woken.contains(section), "{section}\n{woken}");
    // A second import adds nothing, and a plan that a person changed stays unchanged.
    let file = project.path(&format!(".convoke/plans/{run}.md"));
    assert_eq!(fs::read_to_string(&file).unwrap(), plan);
    fs::write(&file, format!("{plan}\nmore\n")).unwrap();
    let again = project.run(&["task", "import", "--run", &run[..run.len() - 1]]);
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), ""), "{again}");
    assert!(
        again.stderr.contains(&format!("{count} tasks of this plan are here already")),
        "{again}"
    );
    assert!(fs::read_to_string(&file).unwrap().ends_with("more\n"));
    assert_eq!(fs::read_to_string(project.path(".convoke/.gitignore")).unwrap(), "*\n");
}

// The tasks of a rehearsal are about a project that does not exist.
#[test]
fn the_tasks_of_a_rehearsal_come_with_a_warning() {
    let warning = "warning: the run is a rehearsal; its tasks are about its example project\n";
    let project = Project::new();
    let run = rehearsed(&project, &[]);
    let imported = project.run(&["task", "import", "--run", &run]);
    assert_eq!(imported.code, Some(0), "{imported}");
    assert_eq!(imported.stderr.matches(warning).count(), 1, "{imported}");
    let panel = Panel::new();
    let designed = panel.design(&[]);
    assert_eq!(designed.code, Some(0), "{designed}");
    let imported = panel.project.run(&["task", "import", "--run", &panel.run().0]);
    assert!(imported.code == Some(0) && !imported.stderr.contains("rehearsal"), "{imported}");
}

// A plan in its feature's folder is not copied.
#[test]
fn the_plan_of_a_feature_is_imported_where_it_lies() {
    let project = Project::new().file("feature/spec.md", "spec");
    let run = rehearsed(&project, &["--feature-dir", "feature"]);
    project.stdout(&["task", "import", "--run", &run]);
    let listed = project.stdout(&["task", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[0]["plan_file"], "feature/plan.md");
    assert!(!project.path(".convoke").exists());
}

#[test]
fn a_run_without_a_plan_gives_no_tasks() {
    let project = Project::new();
    let unknown = project.run(&["task", "import", "--run", "nope"]);
    assert_eq!(unknown.code, Some(1), "{unknown}");
    assert!(unknown.stderr.starts_with("error: cannot find a run `nope` here\n"), "{unknown}");
    for words in [&["task", "import"][..], &["task", "import", "--run", "x", "plan.md"]] {
        assert_eq!(project.run(words).code, Some(2), "{words:?}");
    }
    let run = rehearsed(&project, &[]);
    let store = project.path("../home/.local/state/convoke/store.db");
    let store = rusqlite::Connection::open(store).unwrap();
    let all = "SELECT max(seq) FROM journal";
    let last: i64 = store.query_row(all, [], |row| row.get(0)).unwrap();
    // Before the diagram there is already a plan, and halfway there is not.
    for events in [last - 4, last / 2] {
        store.execute("DELETE FROM journal WHERE seq > ?1", [events]).unwrap();
        let unfinished = project.run(&["task", "import", "--run", &run]);
        assert_eq!(unfinished.code, Some(1), "{unfinished}");
        let said = format!(
            "error: cannot import the plan of `{run}`: the run has not ended\n\
             hint: convoke resume {run}\n"
        );
        assert_eq!(unfinished.stderr, said);
    }
    assert!(!project.path(".convoke").exists());
    let unfinished = project.run(&["manifest", "write", "--run", &run, "--to", "out"]);
    assert_eq!(unfinished.code, Some(1), "{unfinished}");
}
