//! Snapshots of the working tree around a lane: when, for how long, and how they end.

use std::cell::RefCell;
use std::fs::{self, File};
use std::path::Path;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{Project, set_mode};
use crate::lane::{init, result, until, with_claude};
use crate::tree::repository;

/// A repository with a git that records its calls, and hangs at the snapshot with this number.
fn with_git(claude: &str, endless: u32) -> Project {
    let script = format!(
        "#!/bin/sh\n\
         case \" $* \" in *' update-index '*)\n\
         echo x >> ../looks\n\
         [ $(wc -l < ../looks) = {endless} ] && {{ echo $$ > ../git; exec sleep 300; }}\n\
         esac\n\
         exec /usr/bin/git \"$@\"\n"
    );
    let project = repository(with_claude(claude)).file("../home/bin/git", script);
    set_mode(&project.path("../home/bin/git"), 0o755);
    fs::create_dir(project.path("../tmp")).unwrap();
    let tmp = project.path("../tmp").display().to_string();
    project.variable("TMPDIR", &tmp)
}

/// Starts a lane whose words on stderr go to a file.
fn started(project: &Project) -> Child {
    let program = Path::new(env!("CARGO_BIN_EXE_convoke"));
    let arguments = ["lane", "run", "--agent", "claude", "x", "--grace", "0.2"];
    let mut convoke = project.command(program, &arguments);
    convoke.stderr(File::create(project.path("../stderr")).unwrap()).spawn().unwrap()
}

fn ask_to_stop(convoke: &Child) {
    kill_process(Pid::from_child(convoke), Signal::INT).unwrap();
}

fn said(project: &Project) -> String {
    fs::read_to_string(project.path("../stderr")).unwrap()
}

/// Waits for the end of a Convoke that was stopped; it leaves no process and no file behind.
#[track_caller]
fn check_end(project: &Project, mut convoke: Child) {
    assert_eq!(convoke.wait().unwrap().code(), Some(130), "{}", said(project));
    let git = fs::read_to_string(project.path("../git")).unwrap();
    until(|| !Path::new("/proc").join(git.trim()).exists());
    until(|| fs::read_dir(project.path("../tmp")).unwrap().count() == 0);
}

// A lane that may not start costs nothing, not even a snapshot.
#[test]
fn a_lane_that_may_not_start_takes_no_snapshot() {
    let project = with_git(&(init() + &result(|_| ())), 0);
    let refused = project.run(&["lane", "run", "--agent", "claude", "x", "--budget", "0"]);
    assert_eq!(refused.code, Some(5), "{refused}");
    assert!(!project.path("../looks").exists());
    let answered = project.run(&["lane", "run", "--agent", "claude", "x"]);
    assert_eq!(answered.code, Some(0), "{answered}");
    assert_eq!(fs::read_to_string(project.path("../looks")).unwrap(), "x\nx\n", "before and after");
}

// A slow snapshot is reported, and stops immediately.
#[test]
fn a_look_before_a_lane_can_be_stopped() {
    let project = with_git("touch ../asked", 1);
    let convoke = started(&project);
    until(|| said(&project).contains("taking a snapshot of the working tree…\n"));
    ask_to_stop(&convoke);
    check_end(&project, convoke);
    assert!(!project.path("../asked").exists(), "no client was started");
    assert!(said(&project).contains("cancelled after 0.0 s"), "{}", said(&project));
    assert!(!said(&project).contains("cannot tell"), "no agent worked: {}", said(&project));
    let usage = project.run(&["usage"]);
    assert!(!usage.stderr.contains("note:"), "nothing was spent: {usage}");
    let list = project.stdout(&["lane", "list"]);
    assert!(list.contains("1  cancelled  claude"), "{list}");
}

// The answer is there, and a user who does not want to wait gets it.
#[test]
fn a_look_after_a_lane_can_be_stopped() {
    let project = with_git(&(init() + &result(|_| ())), 2);
    let mut convoke = started(&project);
    until(|| project.path("../git").exists() && said(&project).contains("taking a snapshot"));
    ask_to_stop(&convoke);
    assert_eq!(convoke.wait().unwrap().code(), Some(0), "{}", said(&project));
    let words =
        "Convoke cannot tell whether the working tree changed: the snapshot was interrupted\n";
    assert!(said(&project).contains(words), "{}", said(&project));
    assert_eq!(fs::read_dir(project.path("../tmp")).unwrap().count(), 0);
}

// After a second signal, Convoke does not wait for the snapshot after a stopped lane.
#[test]
fn a_second_signal_leaves_nothing_behind() {
    let project = with_git("echo $$ > ../client; sleep 300", 2);
    let convoke = started(&project);
    until(|| project.path("../client").exists());
    ask_to_stop(&convoke);
    until(|| fs::read_to_string(project.path("../git")).is_ok_and(|pid| pid.ends_with('\n')));
    // A signal directly after the first counts as the same one.
    let convoke = RefCell::new(convoke);
    until(|| {
        ask_to_stop(&convoke.borrow());
        convoke.borrow_mut().try_wait().unwrap().is_some()
    });
    check_end(&project, convoke.into_inner());
}

// A killed Convoke cannot stop git nor tidy up; its guardian does.
#[test]
fn a_snapshot_does_not_outlive_its_convoke() {
    let project = with_git("touch ../asked", 1);
    let mut convoke = started(&project);
    until(|| fs::read_to_string(project.path("../git")).is_ok_and(|pid| pid.ends_with('\n')));
    convoke.kill().unwrap();
    convoke.wait().unwrap();
    let git = fs::read_to_string(project.path("../git")).unwrap();
    until(|| !Path::new("/proc").join(git.trim()).exists());
    let left = || fs::read_dir(project.path("../tmp")).unwrap().flatten();
    // The lane's own folder had no guardian yet: the next lane removes it.
    until(|| left().all(|entry| !entry.file_name().to_string_lossy().starts_with("convoke-look.")));
    let next = project.run(&["lane", "run", "--agent", "claude", "x"]);
    assert_eq!(left().count(), 0, "{next}");
}

// `timeout` signals the process and its group, which is asking once.
#[test]
fn a_signal_that_comes_twice_is_one() {
    let project = with_git("echo $$ > ../client; sleep 300", 0);
    let mut convoke = started(&project);
    until(|| project.path("../client").exists());
    ask_to_stop(&convoke);
    ask_to_stop(&convoke);
    assert_eq!(convoke.wait().unwrap().code(), Some(130));
    assert!(said(&project).contains("cancelled after"), "{}", said(&project));
    let list = project.stdout(&["lane", "list"]);
    assert!(list.contains("1  cancelled  claude"), "{list}");
}

// An agent that may only read is not watched where git does not run, and its user learns that.
#[test]
fn a_repository_without_git_is_not_taken_for_none() {
    let project = with_claude(&format!("{}{}", init(), result(|_| ())));
    let run = |project: &Project| project.run(&["lane", "run", "--agent", "claude", "x"]);
    let bin = project.path("../home/bin").display().to_string();
    let project = project.variable("PATH", &bin);
    let warning = "warning: Convoke cannot tell whether the working tree changed";
    assert!(!run(&project).stderr.contains(warning), "there is no repository");
    let project = project.on_branch("main");
    let outcome = run(&project);
    assert!(outcome.stderr.contains(warning), "{outcome}");
}
