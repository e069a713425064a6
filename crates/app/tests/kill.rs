//! A design that is killed after every single event, resumed, and compared; a fan-out, too.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot set itself up should stop where it stands"
)]

#[path = "kill/fan.rs"]
mod fan;
#[path = "e2e/fan_server.rs"]
mod fan_server;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use convoke_engine::lane::cassette::{Cassette, CassetteEntry};
use serde_json::Value;

/// A project with a repository, and recordings of three agents beside it.
struct Ground {
    top: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let ground = Self { top: tempfile::tempdir().unwrap() };
        fs::create_dir_all(ground.path("project")).unwrap();
        fs::write(ground.path("project/README.md"), "An example.\n").unwrap();
        for arguments in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["add", "."],
            &["commit", "--quiet", "-m", "one"],
        ] {
            let mut git = Command::new("git");
            git.current_dir(ground.path("project")).env("GIT_CONFIG_GLOBAL", "/dev/null");
            git.args(["-c", "user.name=June", "-c", "user.email=june@localhost"]);
            assert!(git.args(arguments).status().unwrap().success());
        }
        let tape = tape();
        for name in ["cursor", "codex", "claude"] {
            fs::write(ground.path(&format!("{name}.jsonl")), &tape).unwrap();
        }
        ground
    }

    fn path(&self, path: &str) -> PathBuf {
        self.top.path().join(path)
    }

    fn convoke(&self, arguments: &[&str], fault: u64) -> Output {
        let mut convoke = Command::new(env!("CARGO_BIN_EXE_convoke"));
        convoke.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.top.path());
        convoke.env("CONVOKE_FAULT_AFTER", fault.to_string()).current_dir(self.path("project"));
        convoke.args(arguments).output().unwrap()
    }

    fn design(&self, fault: u64) -> Output {
        self.design_with(&[], fault)
    }

    fn design_with(&self, flags: &[&str], fault: u64) -> Output {
        let seat = |name: &str| format!("replay:{}", self.path(&format!("{name}.jsonl")).display());
        let seats = ["cursor", "codex", "claude"].map(seat).join(",");
        let feature = "Keep notes in a folder";
        let words = ["design", "--auto", "--no-probe", "--seats", &seats];
        self.convoke(&[&words, flags, &[feature]].concat(), fault)
    }

    /// Returns what a finished run left: its artifacts, and how often each lane ended.
    fn left(&self) -> (Value, Vec<String>) {
        let runs = self.convoke(&["runs", "--json"], 0);
        let runs: Value = serde_json::from_slice(&runs.stdout).unwrap();
        let run = runs[0]["run"].as_str().unwrap();
        let recount = self.convoke(&["recount", run], 0);
        assert!(recount.status.success(), "{recount:?}");
        let shown = self.convoke(&["show", run, "--json"], 0);
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
        let lanes = shown["lanes"].as_array().unwrap().iter();
        let lanes = lanes.map(|lane| lane["lane"].as_str().unwrap().to_owned()).collect();
        (shown["artifacts"].clone(), lanes)
    }
}

/// How many lanes such a run has: those of the rehearsal, and three more for slips of form.
const LANES: usize = 26;

/// Every answer of the rehearsal as a recorded lane; a plan also for a single pass. A reviewer and
/// the chair miss the form at first: the reviewer gets a second request; the chair gets two, and
/// then the next agent takes over.
fn tape() -> String {
    let recorded = |label: &str, answer: &str| {
        CassetteEntry::answered(label, answer, Duration::ZERO).lines(None)
    };
    let lanes = convoke::rehearsal::answers().map(|(lane, answer)| match lane {
        "chair/plan/claude" => {
            let poor = |lane| recorded(lane, "## Approach\nAs it is.");
            let poor = [poor("chair/plan/claude"), poor("chair/plan/claude/again")].concat();
            poor + &recorded("chair/plan/cursor", answer) + &recorded("compare", answer)
        }
        "review/Cursor-Arch" => {
            recorded(lane, "It is fine.") + &recorded("review/Cursor-Arch/again", answer)
        }
        lane => recorded(lane, answer),
    });
    format!("{}\n{}", Cassette::head(), lanes.collect::<String>())
}

/// Kills a run after every `step`th event, from one on, until it is too late to kill it. The run has
/// `count` lanes.
fn killed_from(
    (first, step): (u64, usize),
    flags: &[&str],
    count: usize,
    prepare: impl Fn() -> Ground,
) {
    let whole = prepare();
    let ended = whole.design_with(flags, 0);
    assert!(ended.status.success(), "{ended:?}");
    let (artifacts, lanes) = whole.left();
    assert_eq!(lanes.len(), count, "{lanes:?}");
    let mut killed = 0;
    for fault in (first..).step_by(step) {
        let ground = prepare();
        if ground.design_with(flags, fault).status.success() {
            break;
        }
        killed += 1;
        let runs = ground.convoke(&["runs", "--json"], 0);
        let runs: Value = serde_json::from_slice(&runs.stdout).unwrap();
        let run = runs[0]["run"].as_str().unwrap().to_owned();
        let resumed = ground.convoke(&["resume", &run, "--no-probe"], 0);
        assert!(resumed.status.success(), "after {fault} events: {resumed:?}");
        let (again, asked) = ground.left();
        assert_eq!(again, artifacts, "after {fault} events");
        let once: BTreeSet<_> = asked.iter().collect();
        assert_eq!((asked.len(), once.len()), (count, count), "after {fault} events");
    }
    assert!(killed * step > 50, "{killed} events");
}

// P-99: killed at any event, the run goes on, gives the same result, and repeats no answered
// request.
#[test]
fn a_run_that_is_killed_after_an_odd_event_comes_to_the_same() {
    killed_from((1, 2), &[], LANES, Ground::new);
}

#[test]
fn a_run_that_is_killed_after_an_even_event_comes_to_the_same() {
    killed_from((2, 2), &[], LANES, Ground::new);
}

// P-386: the same, where Convoke spares votes.
#[test]
fn an_adaptive_run_that_is_killed_comes_to_the_same() {
    // Of three judges and three voters, two each are enough.
    killed_from((3, 3), &["--adaptive"], LANES - 2, unanimous);
}

// P-388: the same, where each judge answers twice.
#[test]
fn a_run_with_both_orders_that_is_killed_comes_to_the_same() {
    killed_from((2, 3), &["--both-orders"], LANES + 3, Ground::new);
}

/// Returns a ground on which all judges, and all voters, answer alike.
fn unanimous() -> Ground {
    let ground = Ground::new();
    let answer = |label: &str| {
        let mut answers = convoke::rehearsal::answers();
        answers.find(|(lane, _)| *lane == label).map(|(_, answer)| answer).unwrap()
    };
    let alike = |tape: String, poll: &str| {
        let shared = answer(&format!("{poll}/Claude"));
        ["Codex", "Cursor"].iter().fold(tape, |tape, seat| {
            let lane = format!("{poll}/{seat}");
            let of = |answer| CassetteEntry::answered(&lane, answer, Duration::ZERO).lines(None);
            tape.replace(&of(answer(&lane)), &of(shared))
        })
    };
    let tape = ["vote", "judge"].into_iter().fold(tape(), alike);
    for name in ["cursor", "codex", "claude"] {
        fs::write(ground.path(&format!("{name}.jsonl")), &tape).unwrap();
    }
    ground
}

#[test]
fn a_finished_run_is_compared_with_a_single_pass() {
    let ground = Ground::new();
    assert!(ground.design(0).status.success());
    let runs = ground.convoke(&["runs", "--json"], 0);
    let runs: Value = serde_json::from_slice(&runs.stdout).unwrap();
    let compared = ground.convoke(&["compare", runs[0]["run"].as_str().unwrap(), "--json"], 0);
    assert!(compared.status.success(), "{compared:?}");
    let compared: Value = serde_json::from_slice(&compared.stdout).unwrap();
    let (panel, single) = (&compared["panel"], &compared["single"]);
    assert_eq!((panel["lanes"].as_u64(), single["lanes"].as_u64()), (Some(LANES as u64), Some(1)));
    assert_eq!((panel["missing"].as_u64(), single["missing"].as_u64()), (Some(0), Some(0)));
    assert!(panel["words"].as_u64() > single["words"].as_u64(), "the panel's plan was revised");
}

/// Answers with which two voters are divided, and a chair that revises the plan for what a person
/// decides then.
fn divided(ground: &Ground) {
    let recorded = |label: &str, answer: &str| {
        CassetteEntry::answered(label, answer, Duration::ZERO).lines(None)
    };
    let answers = || convoke::rehearsal::answers().filter(|(lane, _)| *lane != "vote/Codex");
    let revision = answers().find(|(lane, _)| *lane == "chair/revision/claude").unwrap().1;
    let plan = revision.split("=== resolutions ===").next().unwrap();
    let task = "### Task 9: Give it one owner\n\n**Files:**\n- jot/store.py\n\n\
                **Done when:** it has one\n\n**Source:** FINDING_2\n";
    let decided = format!("{plan}\n{task}\n=== resolutions ===\nFINDING_2: It has one owner.\n");
    let lanes: String = answers().map(|(lane, answer)| recorded(lane, answer)).collect();
    let decided = recorded("chair/decided-1/claude", &decided);
    let tape = format!("{}\n{lanes}{decided}", Cassette::head());
    for name in ["cursor", "codex", "claude"] {
        fs::write(ground.path(&format!("{name}.jsonl")), &tape).unwrap();
    }
}

// A decision is written down before anything else, and acted on once, whenever Convoke is killed.
#[test]
fn a_decision_survives_every_kill_and_is_acted_on_once() {
    let mut killed = 0;
    let mut whole = None;
    for fault in 0.. {
        let ground = Ground::new();
        divided(&ground);
        assert!(ground.design(0).status.success());
        let runs = ground.convoke(&["runs", "--json"], 0);
        let runs: Value = serde_json::from_slice(&runs.stdout).unwrap();
        let run = runs[0]["run"].as_str().unwrap();
        let words = ["decide", run, "FINDING_2", "accept", "--because", "it matters"];
        let is_ended = ground.convoke(&words, fault).status.success();
        if !is_ended {
            killed += 1;
            let again = ground.convoke(&words, 0);
            assert_eq!(again.status.code(), Some(1), "it was written down: {again:?}");
            let resumed = ground.convoke(&["resume", run], 0);
            assert!(resumed.status.success(), "after {fault} events: {resumed:?}");
        }
        let (artifacts, lanes) = ground.left();
        let asked = lanes.iter().filter(|lane| lane.starts_with("chair/decided-")).count();
        assert_eq!(asked, 1, "after {fault} events");
        let whole = whole.get_or_insert_with(|| artifacts.clone());
        assert_eq!(*whole, artifacts, "after {fault} events");
        if is_ended && fault > 0 {
            break;
        }
    }
    assert!(killed >= 4, "{killed} events");
}

/// Returns a run that was killed when all voters had ended and the plan was not revised yet.
fn stopped_after_the_votes() -> (Ground, String) {
    // The sketches and debates before take more events than that.
    for fault in 40.. {
        let ground = Ground::new();
        divided(&ground);
        assert!(!ground.design(fault).status.success(), "the votes were in no journal");
        let runs = ground.convoke(&["runs", "--json"], 0);
        let runs: Value = serde_json::from_slice(&runs.stdout).unwrap();
        let run = runs[0]["run"].as_str().unwrap().to_owned();
        let shown = ground.convoke(&["show", &run, "--json"], 0);
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
        let is_vote = |lane: &&Value| lane["lane"].as_str().unwrap().starts_with("vote/");
        // The third voter has no recording, and ends as well.
        if shown["lanes"].as_array().unwrap().iter().filter(is_vote).count() == 3 {
            return (ground, run);
        }
    }
    unreachable!("a run has an end")
}

// A decision on a run that was killed before its end waits for that end.
#[test]
fn a_decision_on_a_stopped_run_is_acted_on_at_its_end() {
    let (ground, run) = stopped_after_the_votes();
    let decided =
        ground.convoke(&["decide", "FINDING_2", "accept", "--because", "it matters", "--json"], 0);
    let said = String::from_utf8_lossy(&decided.stderr);
    assert!(decided.status.success() && said.contains("the run has not ended"), "{said}");
    let listed: Value = serde_json::from_slice(&decided.stdout).unwrap();
    assert_eq!(listed["decided"][0]["decision"]["pending"], true);
    let resumed = ground.convoke(&["resume", &run], 0);
    assert!(resumed.status.success(), "{resumed:?}");
    let (artifacts, _) = ground.left();
    let accepted = artifacts["accepted-plan-findings.md"].as_str().unwrap();
    assert!(accepted.contains("It has one owner.") && accepted.contains("### FINDING_1"));
}
