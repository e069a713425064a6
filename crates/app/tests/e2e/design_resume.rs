//! Designs that are stopped on the way, and go on.

use std::fs;
use std::io::Read;
use std::process::{Child, ChildStderr, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::harness::Outcome;
use crate::panel::{FEATURE, Panel, answers};

/// A run that ends because no agent sketches, and the panel that would.
fn stopped(flags: &[&str]) -> (Panel, String, Outcome) {
    let panel = Panel::new();
    let mut silent = answers();
    silent.retain(|label, _| !label.starts_with("sketch/"));
    for agent in ["cursor", "codex", "claude"] {
        panel.recorded(agent, &silent);
    }
    let outcome = panel.design(flags);
    assert_eq!(outcome.code, Some(4), "{outcome}");
    let (run, state) = panel.run();
    assert_eq!(state, "stopped");
    for agent in ["cursor", "codex", "claude"] {
        panel.recorded(agent, &answers());
    }
    (panel, run, outcome)
}

#[test]
fn a_run_without_agents_goes_on_when_they_are_back() {
    let (panel, run, failed) = stopped(&[]);
    assert!(failed.stderr.contains("failed: no agent produced a usable sketch\n"), "{failed}");
    assert!(
        failed.stderr.contains(&format!("hint: convoke resume {run} asks again\n")),
        "{failed}"
    );
    let resumed = panel.project.run(&["resume", &run]);
    assert_eq!(resumed.code, Some(0), "{resumed}");
    let asks = "**ℹ Resumed: no agent produced a usable sketch. Asking again.**\n📊 Sketches (regular): | Cursor-Arch: ⏳ |";
    assert!(resumed.stdout.starts_with(asks), "{resumed}");
    let replayed = panel.project.run(&["replay", &run]);
    assert_eq!(replayed.stdout, failed.stdout + &resumed.stdout);
    let lanes = panel.shown(&run)["lanes"].as_array().unwrap().len();
    assert_eq!((lanes, panel.run().1.as_str()), (23, "ended"));
    assert_eq!(panel.project.run(&["recount", &run]).code, Some(0));
}

// Without an id, the last design that was stopped goes on, and not one that has ended since.
#[test]
fn resume_without_an_id_goes_on_with_the_last_stopped_design() {
    let (panel, run, _) = stopped(&[]);
    let later = panel.design(&[]);
    assert_eq!(later.code, Some(0), "{later}");
    let resumed = panel.project.run(&["resume"]);
    assert_eq!(resumed.code, Some(0), "{resumed}");
    assert!(resumed.stderr.contains(&format!("note: resuming {run}: {FEATURE}\n")), "{resumed}");
    assert!(resumed.stdout.contains("no agent produced a usable sketch. Asking again."));
    assert_eq!(panel.shown(&run)["state"], "ended");
    let none = panel.project.run(&["resume"]);
    assert_eq!(none.code, Some(1), "{none}");
    assert!(none.stderr.contains("no run of this project was stopped"), "{none}");
}

// A changed journal is not resumed.
#[test]
fn a_run_whose_journal_was_changed_does_not_go_on() {
    let (panel, run, _) = stopped(&[]);
    let store = panel.project.path("../home/.local/state/convoke/store.db");
    let store = rusqlite::Connection::open(store).unwrap();
    let before = panel.project.run(&["replay", &run]);
    assert_eq!(before.stderr, "", "a sound one gives no warning");
    for change in [
        "UPDATE journal SET at_ms = at_ms + 1 WHERE seq = 3",
        "UPDATE journal SET body = '{' WHERE seq = 3",
    ] {
        store.execute(change, []).unwrap();
        let refused = panel.project.run(&["resume", &run]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused}");
        let error = format!(
            "error: cannot resume `{run}`: its journal was changed at event 3\n\
             hint: compare the journal: `convoke recount {run}`\n"
        );
        assert!(refused.stderr.starts_with(&error), "{refused}");
        assert_eq!(panel.run().1, "stopped");
    }
    // An unreadable journal leads to a clear error.
    let unreadable = panel.project.run(&["show", &run]);
    assert_eq!(unreadable.code, Some(1), "{unreadable}");
    assert!(
        unreadable.stderr.contains("its journal was changed, first at event 3\n"),
        "{unreadable}"
    );
}

// The options of the beginning hold for a resumed run: the branch and the folder.
#[test]
fn a_resumed_run_keeps_its_branch_and_its_folder() {
    let (panel, run, failed) = stopped(&["--branch"]);
    let branch = panel.git(&["branch", "--show-current"]);
    let said =
        format!("hint: git switch main goes back: you are on {branch}, which this run made\n");
    assert!(failed.stderr.contains(&said), "{failed}");
    assert!(branch.starts_with("june/keep-notes"), "{branch}");
    assert_eq!(panel.project.run(&["resume", &run]).code, Some(0));
    assert_eq!(panel.git(&["branch", "--show-current"]), branch);
    assert_eq!(panel.git(&["branch", "--list"]).lines().count(), 2);

    let feature = tempfile::tempdir().unwrap();
    let folder = feature.path();
    let (panel, run, _) = stopped(&["--no-branch", "--feature", folder.to_str().unwrap()]);
    assert_eq!(panel.project.run(&["resume", &run]).code, Some(0));
    assert_eq!(panel.git(&["branch", "--show-current"]), "main");
    assert!(fs::read_to_string(folder.join("plan.md")).unwrap().contains("### Task 1:"));
    assert!(fs::read_to_string(folder.join("tasks.md")).unwrap().starts_with("## Tasks"));
}

// The budget holds for a resumed run, unless the user gives a new one.
#[test]
fn a_resumed_run_keeps_its_budget() {
    let (panel, seats) = Panel::new().with_spender();
    let flags = ["design", "--auto", "--no-probe", "--budget", "90", "--seats", &seats, FEATURE];
    let poor = panel.project.run(&flags);
    assert_eq!(poor.code, Some(5), "{poor}");
    let (run, state) = panel.run();
    assert_eq!(state, "stopped");
    let again = panel.project.run(&["resume", &run, "--no-probe"]);
    assert_eq!(again.code, Some(5), "{again}");
    assert!(again.stderr.contains("used 100 of 90 tokens"), "{again}");
    let rich = panel.project.run(&["resume", &run, "--no-probe", "--budget", "150"]);
    assert_eq!(rich.code, Some(5), "{rich}");
    assert!(rich.stderr.contains("used 200 of 150 tokens"), "{rich}");
}

// P-347, P-349: nothing is taken for the agents' doing that is not, and nothing is deleted.
#[test]
fn a_run_goes_on_only_where_it_was_stopped() {
    let (panel, run, _) = stopped(&["--branch"]);
    let branch = panel.git(&["branch", "--show-current"]);
    panel.git(&["switch", "--quiet", "main"]);
    let elsewhere = panel.project.run(&["resume", &run]);
    assert_eq!(elsewhere.code, Some(6), "{elsewhere}");
    let found =
        format!("the run belongs to the branch `{branch}`, but the branch `main` is checked out");
    assert!(elsewhere.stderr.contains(&found), "{elsewhere}");
    assert!(elsewhere.stderr.contains(&format!("hint: git switch {branch}\n")), "{elsewhere}");
    panel.git(&["switch", "--quiet", &branch]);
    let mine = panel.project.path("mine.txt");
    fs::write(&mine, "mine").unwrap();
    let changed = panel.project.run(&["resume", &run]);
    assert_eq!(changed.code, Some(6), "{changed}");
    assert!(changed.stderr.contains("the working tree has changes"), "{changed}");
    assert_eq!(
        (fs::read_to_string(&mine).unwrap().as_str(), changed.stdout.as_str()),
        ("mine", "")
    );
    assert_eq!(panel.run().1, "stopped");
    panel.git(&["add", "mine.txt"]);
    panel.git(&["commit", "--quiet", "-m", "mine"]);
    let resumed = panel.project.run(&["resume", &run]);
    assert_eq!(resumed.code, Some(0), "{resumed}");
    assert!(resumed.stderr.contains("note: the branch has other commits"), "{resumed}");
}

/// A process that waits for the test's answer.
struct Asking {
    convoke: Child,
    stderr: ChildStderr,
    said: Vec<u8>,
}

impl Asking {
    fn new(panel: &Panel, arguments: &[&str]) -> Self {
        let mut convoke =
            panel.project.command(std::path::Path::new(env!("CARGO_BIN_EXE_convoke")), arguments);
        let mut convoke = convoke.stdin(Stdio::piped()).spawn().unwrap();
        let stderr = convoke.stderr.take().unwrap();
        let mut asking = Self { convoke, stderr, said: Vec::new() };
        while !String::from_utf8_lossy(&asking.said).contains("Enter accepts the recommendation") {
            let mut more = [0; 256];
            let read = asking.stderr.read(&mut more).unwrap();
            assert!(read > 0, "{}", String::from_utf8_lossy(&asking.said));
            asking.said.extend(&more[..read]);
        }
        asking
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.convoke), signal).unwrap();
    }

    /// Waits for the end; returns the exit code and the whole output.
    fn end(mut self) -> (Option<i32>, String) {
        let input = self.convoke.stdin.take();
        let code = self.convoke.wait().unwrap().code();
        drop(input);
        self.stderr.read_to_end(&mut self.said).unwrap();
        (code, String::from_utf8_lossy(&self.said).into_owned())
    }
}

// Ctrl-C takes effect while a question waits, and twice is not worse than once.
#[test]
fn a_question_can_be_interrupted_and_asked_again() {
    let panel = Panel::new();
    let seats = panel.seats();
    let asking = Asking::new(&panel, &["design", "--seats", &seats, FEATURE]);
    for _ in 0..2 {
        asking.signal(Signal::INT);
    }
    let (code, said) = asking.end();
    assert_eq!(code, Some(130), "{said}");
    let (run, state) = panel.run();
    assert_eq!(state, "stopped", "{said}");
    assert!(
        said.contains(&format!("run {run}: interrupted\nhint: convoke resume {run}\n")),
        "{said}"
    );
    let resumed = panel.project.run_with_input(&["resume", &run], &[b'\n'; 40]);
    assert_eq!(resumed.code, Some(0), "{resumed}");
    assert!(resumed.stderr.contains("Enter accepts the recommendation"), "{resumed}");
}

// A killed run cannot record its end, and a refused run never began.
#[test]
fn the_list_of_runs_shows_running_and_stopped_ones() {
    let panel = Panel::new();
    let seats = panel.seats();
    let first = Asking::new(&panel, &["design", "--seats", &seats, FEATURE]);
    let (run, state) = panel.run();
    assert_eq!((state.as_str(), &panel.shown(&run)["state"]), ("running", &json!("running")));
    let refused = panel.design(&[]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains(&format!("cause: run {run} of process ")), "{refused}");
    assert_eq!(panel.project.stdout(&["runs"]).lines().count(), 2, "a header and the first");
    let refused = panel.project.run(&["resume", &run]);
    assert_eq!((refused.code, panel.run().1.as_str()), (Some(3), "running"), "{refused}");
    first.signal(Signal::KILL);
    first.end();
    let stopped = (run.clone(), "stopped".to_owned());
    assert_eq!(panel.run(), stopped);
    assert_eq!(panel.shown(&run)["state"], "stopped");
    let head = format!("run {run}: stopped, unfinished\n");
    assert!(panel.project.stdout(&["show", &run]).starts_with(&head));
    let again = Asking::new(&panel, &["resume", &run]);
    assert_eq!(panel.run().1, "running");
    again.signal(Signal::INT);
    assert_eq!((again.end().0, panel.run()), (Some(130), stopped));
}
