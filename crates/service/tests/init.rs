//! A setup that is stopped or killed half-way leaves nothing half-done.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set itself up stops")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use convoke_engine::lane::cancel::Cancel;
use convoke_service::clock::Clock;
use convoke_service::environment::Environment;
use convoke_service::failure::ErrorClass;
use convoke_service::hooks::DryRun;
use convoke_service::init::{InitPlan, InitRequest, InitState, carry_out, plan_init, undo_init};
use convoke_service::interruption::CallerInterruption;
use convoke_service::session::Session;
use jiff::Timestamp;

/// The interruption at the last use of the clock.
#[derive(Clone)]
enum Blow {
    Signal(Cancel),
    Kill,
}

/// A clock at whose nth reading an interruption happens: a setup reads it before each file changes.
struct Fuse {
    left: AtomicUsize,
    blow: Blow,
}

impl Clock for Fuse {
    fn now(&self) -> Timestamp {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            match &self.blow {
                Blow::Signal(cancel) => cancel.cancel(),
                Blow::Kill => panic!("killed"),
            }
        }
        Timestamp::UNIX_EPOCH
    }
}

/// A project with two clients, a guidance file and documents in an unusual folder.
fn project(top: &Path) -> Session {
    for name in ["claude", "codex"] {
        let path = top.join("bin").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "#!/bin/sh\necho 1.0\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let root = top.join("project");
    for (name, text) in [("AGENTS.md", "# Rules"), ("specs/shop.md", "# Shop\n")] {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), text).unwrap();
    }
    for name in [".git/objects", ".git/refs"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let path = format!("{}:/usr/bin:/bin", top.join("bin").display());
    let variables = [("PATH", path), ("HOME", top.join("home").display().to_string())];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    let environment = Environment::new(variables, Some(root.clone()), top.join("bin/convoke"));
    Session::new(root, environment)
}

fn tree(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path.clone(), fs::read(&path).ok());
        }
    }
    found
}

/// Repeats a setup with a clock that interrupts at its nth reading, and reverts each. Returns how
/// many interruptions happened before the setup completed.
fn blows(blow: impl Fn(&Cancel) -> Blow) -> usize {
    let top = tempfile::tempdir().unwrap();
    let session = project(top.path());
    let plan = plan_init(&session, &InitRequest::default()).unwrap();
    assert_eq!(plan.report.state, InitState::Planned);
    (1..1_000).take_while(|at| !blown(&session, &plan, *at, &blow)).count()
}

/// Tells whether a setup completed before the nth reading of the clock.
fn blown(session: &Session, plan: &InitPlan, at: usize, blow: impl Fn(&Cancel) -> Blow) -> bool {
    let before = tree(&session.project);
    let cancel = Cancel::default();
    let mut fused = session.clone().stopped_by(Arc::new(CallerInterruption::new(cancel.clone())));
    fused.clock = Arc::new(Fuse { left: AtomicUsize::new(at), blow: blow(&cancel) });
    let done = catch_unwind(AssertUnwindSafe(|| carry_out(&fused, plan.clone())));
    match &done {
        Ok(Ok(report)) => {
            assert_eq!(report.state, InitState::Done);
            assert_ne!(tree(&session.project), before);
        }
        Ok(Err(failure)) => {
            assert_eq!(failure.class, ErrorClass::Interrupted, "{:?}", failure.error);
            assert_eq!(tree(&session.project), before, "stopped at {at}");
        }
        Err(_) => {}
    }
    let is_done = matches!(done, Ok(Ok(_)));
    undo_init(session, DryRun::No).unwrap();
    assert_eq!(tree(&session.project), before, "undone after {at}");
    assert_eq!(undo_init(session, DryRun::No).unwrap().state, InitState::Nothing);
    is_done
}

#[test]
fn a_signal_at_any_step_leaves_every_file_as_it_was() {
    assert!(blows(|cancel| Blow::Signal(cancel.clone())) >= 6);
}

#[test]
fn a_setup_that_was_killed_at_any_step_can_be_taken_back() {
    assert!(blows(|_| Blow::Kill) >= 6);
}
