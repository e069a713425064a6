//! A writer of bundles that is killed before every one of its system calls.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use convoke_engine::manifest::read::read;
use convoke_engine::manifest::write::{self as engine, ArtifactSource, BundleOrder};

use crate::harness::{Project, skipped};

const STRACE: &str = "/usr/bin/strace";

const FILES: [&str; 6] = [
    "plan.txt",
    "voting-tally.md",
    "contested-decisions.md",
    "oos.md",
    "rejected-findings.md",
    "accepted-plan-findings.md",
];

const WRITE: [&str; 4] = ["plumbing", "manifest-write", "--design-tmpdir", "--implement-tmpdir"];

/// A project with two designs, of which the second has a diagram.
fn project() -> Project {
    let project = Project::new().file("p/keep", "").file("two/architecture-diagram.md", "two");
    FILES.iter().fold(project, |project, file| {
        project.file(&format!("one/{file}"), "one").file(&format!("two/{file}"), "two")
    })
}

/// Runs the writer under strace and tells whether it completed.
fn write(project: &Project, design: &str, flags: &[&str]) -> bool {
    let [group, command, from, to] = WRITE;
    let binary = env!("CARGO_BIN_EXE_convoke");
    let words = ["--", binary, group, command, from, design, to, "p"];
    let mut strace = project.command(Path::new(STRACE), flags);
    strace.args(words).output().unwrap().status.success()
}

/// Exports a design, and is not killed.
fn export(project: &Project, design: &str) {
    let order = BundleOrder {
        source: ArtifactSource::Folder(&project.path(design)),
        parent: &project.path("p"),
        session_id: None,
        now: jiff::Timestamp::UNIX_EPOCH,
        record: None,
    };
    engine::write(&order).unwrap();
}

/// Returns which bundle a reader finds, complete, or none.
fn found(project: &Project) -> &'static str {
    let Ok(bundle) = read(&project.path("p"), None) else { return "none" };
    let texts: Vec<_> =
        bundle.manifest.paths.iter().map(|(_, path)| fs::read_to_string(path).unwrap()).collect();
    let known = [("one", 6), ("two", 7)];
    let is_whole = |(word, count): &&(&str, usize)| {
        texts.len() == *count && texts.iter().all(|text| text == word)
    };
    known.iter().find(is_whole).expect("one bundle, not a mix of two").0
}

/// Has a writer replace one bundle by another, killed before a certain system call; returns which
/// bundle is found and whether the writer was killed.
fn killed(project: &Project, [old, new]: [&str; 2], call: &str, at: u32) -> (&'static str, bool) {
    export(project, old);
    let inject = format!("inject={call}:signal=KILL:when={at}");
    let is_killed = !write(project, new, &["-f", "-o", "/dev/null", "-e", &inject]);
    let found = found(project);
    assert!(found == "none" || found == new || is_killed && found == old, "{call} {at}: {found}");
    (found, is_killed)
}

/// Names every kind of system call that the writer makes.
fn calls(project: &Project) -> BTreeSet<String> {
    assert!(write(project, "two", &["-f", "-o", "calls"]));
    let text = fs::read_to_string(project.path("calls")).unwrap();
    let name = |line: &str| {
        line.split_once(' ')?.1.trim_start().split_once('(').map(|call| call.0.to_owned())
    };
    let names: BTreeSet<_> = text.lines().filter_map(name).collect();
    // Before the first call there is no process to kill.
    names.into_iter().filter(|name| name != "execve").collect()
}

fn can_trace(project: &Project) -> bool {
    let traced = Path::new(STRACE).exists()
        && project
            .command(Path::new(STRACE), &["-o", "/dev/null", "/bin/true"])
            .output()
            .is_ok_and(|output| output.status.success());
    if !traced {
        skipped("strace is missing, or may not trace here: no writer of bundles was killed");
    }
    traced
}

// P-333, N-2
#[test]
fn a_writer_that_is_killed_leaves_the_old_bundle_or_none_or_the_new_one() {
    let project = project();
    if !can_trace(&project) {
        return;
    }
    let (mut seen, mut kills) = (BTreeSet::new(), 0);
    for call in calls(&project) {
        for at in 1.. {
            let (found, is_killed) = killed(&project, ["one", "two"], &call, at);
            seen.insert(found);
            if !is_killed {
                break;
            }
            kills += 1;
            // From the first file that moves to the manifest itself there is nothing to read.
            assert!(call != "renameat" || found == "none", "{at}: {found}");
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["none", "one", "two"]);
    assert!(kills > 100, "only {kills}");
    // The next successful export removes all leftovers.
    export(&project, "one");
    let names = |folder: &str| fs::read_dir(project.path(folder)).unwrap().count();
    assert_eq!((names("p"), names("p/design-export")), (2, 7));
}

// P-333, N-2: one that takes a file away as well, and one that finds no bundle.
#[test]
fn a_writer_that_is_killed_while_files_move_leaves_nothing_to_read() {
    let project = project();
    if !can_trace(&project) {
        return;
    }
    for call in ["unlinkat", "renameat", "fsync"] {
        for at in 1.. {
            let (found, is_killed) = killed(&project, ["two", "one"], call, at);
            if !is_killed {
                break;
            }
            assert!(call != "renameat" || found == "none", "{at}: {found}");
        }
    }
    for at in 1..=6 {
        fs::remove_dir_all(project.path("p/design-export")).unwrap();
        let inject = format!("inject=renameat:signal=KILL:when={at}");
        assert!(!write(&project, "one", &["-f", "-o", "/dev/null", "-e", &inject]));
        assert_eq!(found(&project), "none");
    }
}
