//! `convoke design --park`: a run that waits for the end of an agent's limit, with every seat kept.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Stdio};

use serde_json::Value;

use crate::panel::{FEATURE, Panel, answers};

const CONVOKE: &str = env!("CARGO_BIN_EXE_convoke");

/// How many lanes the rehearsal has.
const LANES: usize = 23;

/// A design in a process of its own.
struct Running {
    child: Child,
    messages: BufReader<ChildStderr>,
}

struct Ended {
    code: Option<i32>,
    /// The messages since the test looked last.
    stderr: String,
}

impl Running {
    fn start(panel: &Panel, words: &[&str]) -> Self {
        let mut command = panel.project.command(CONVOKE.as_ref(), words);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let messages = BufReader::new(child.stderr.take().unwrap());
        Self { child, messages }
    }

    fn design(panel: &Panel, flags: &[&str]) -> Self {
        let seats = panel.seats();
        let words = ["design", "--auto", "--no-probe", "--seats", &seats, "--park"];
        Self::start(panel, &[&words, flags, &[FEATURE]].concat())
    }

    /// Waits until it waits.
    fn parks(&mut self) {
        let mut all = String::new();
        while !all.lines().last().is_some_and(|line| line.starts_with("parked until 20")) {
            assert!(self.messages.read_line(&mut all).unwrap() > 0, "it did not park: {all}");
        }
    }

    fn signal(&self, panel: &Panel, signal: &str) {
        panel.project.shell(&format!("kill {signal} {}", self.child.id()), "");
    }

    fn end(mut self) -> Ended {
        let mut stderr = String::new();
        self.messages.read_to_string(&mut stderr).unwrap();
        Ended { code: self.child.wait().unwrap().code(), stderr }
    }
}

/// Has these lanes of an agent meet a limit that ends in so many seconds.
fn limit(panel: &Panel, agent: &str, lane: &str, seconds: u32) {
    let words = format!("You reached your limit. Try again in {seconds}s.");
    panel.failing(agent, lane, "rate_limited", &words);
}

/// Takes all limits of an agent away.
fn restore(panel: &Panel, agent: &str) {
    panel.recorded(agent, &answers());
}

/// Returns what Convoke recorded of all lanes: how many an agent refused, and the rest by prompt.
fn recorded(panel: &Panel) -> (usize, Vec<String>) {
    let store = panel.project.path("../home/.local/state/convoke/store.db");
    let store = rusqlite::Connection::open(store).unwrap();
    let mut lanes = store.prepare("SELECT outcome, agent || prompt_hash FROM lanes").unwrap();
    let lanes = lanes.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let lanes: Vec<(Option<String>, String)> = lanes.map(Result::unwrap).collect();
    let refused = lanes.iter().filter(|(outcome, _)| outcome.as_deref() == Some("rate_limited"));
    let answered = lanes.iter().filter(|(outcome, _)| outcome.as_deref() == Some("answered"));
    (refused.count(), answered.map(|(_, request)| request.clone()).collect())
}

/// Checks that a run ended as one without limits does, and that no agent answered a request twice.
fn must_be_whole(panel: &Panel, refused: usize) {
    let undisturbed = Panel::new();
    assert_eq!(undisturbed.design(&[]).code, Some(0));
    let (run, state) = panel.run();
    assert_eq!(state, "ended");
    let (ours, theirs) = (panel.shown(&run), undisturbed.shown(&undisturbed.run().0));
    assert_eq!(ours["artifacts"]["plan.txt"], theirs["artifacts"]["plan.txt"]);
    assert_eq!(ours["artifacts"]["voting-tally.md"], theirs["artifacts"]["voting-tally.md"]);
    let lanes: BTreeSet<_> = ours["lanes"].as_array().unwrap().iter().map(lane_name).collect();
    assert_eq!((lanes.len(), ours["lanes"].as_array().unwrap().len()), (LANES, LANES));
    let (limited, answered) = recorded(panel);
    let once: BTreeSet<_> = answered.iter().collect();
    assert_eq!((limited, answered.len(), once.len()), (refused, LANES, LANES));
    assert_eq!(panel.project.run(&["recount", &run]).code, Some(0));
}

fn lane_name(lane: &Value) -> String {
    lane["lane"].as_str().unwrap().to_owned()
}

// P-406, P-407: sketches, a judge and the chair, in one process or two.
#[test]
fn a_design_waits_and_asks_only_for_what_is_missing() {
    for (agent, lane, flags) in [
        ("codex", "sketch/Codex-Pragmatic", &[][..]),
        ("cursor", "judge/Cursor", &[]),
        ("claude", "chair/plan/claude", &["--subagent"]),
    ] {
        let panel = Panel::new();
        limit(&panel, agent, lane, 2);
        let mut design = Running::design(&panel, flags);
        design.parks();
        let shown = panel.shown(&panel.run().0);
        assert!(shown["lanes"].as_array().unwrap().iter().all(|other| lane_name(other) != lane));
        let status: Value =
            serde_json::from_str(&panel.project.stdout(&["status", "--json"])).unwrap();
        assert!(status["designs"][0]["parked_until"].is_string(), "{status}");
        let status = panel.project.stdout(&["status"]);
        assert!(status.contains(": running, parked until 20"), "{status}");
        restore(&panel, agent);
        let ended = design.end();
        assert_eq!(ended.code, Some(0), "{lane} {}", ended.stderr);
        assert!(!panel.project.stdout(&["status"]).contains("parked"));
        must_be_whole(&panel, 1);
    }
}

// P-406: Convoke asks each agent when its own limit ends, and not before.
#[test]
fn agents_with_different_limits_go_on_one_after_the_other() {
    let panel = Panel::new();
    limit(&panel, "codex", "sketch/Codex-Pragmatic", 2);
    limit(&panel, "cursor", "sketch/Cursor-Arch", 6);
    let mut design = Running::design(&panel, &[]);
    design.parks();
    restore(&panel, "codex");
    design.parks();
    assert_eq!(recorded(&panel).1.len(), 3, "two others, and one that waited for a shorter time");
    restore(&panel, "cursor");
    let ended = design.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    must_be_whole(&panel, 2);
}

// P-402, P-406: without a time that Convoke can wait for, the agent loses its seat as it does without
// `--park`, and Convoke says why.
#[test]
fn a_design_does_not_wait_without_a_time_or_without_the_flag() {
    for (words, flags, warning) in [
        ("You reached your limit.", &["--park"][..], Some("the agent does not say when its limit")),
        ("Try again in 900s.", &["--park", "--park-limit", "60"], Some("`--park-limit` is 60 s")),
        ("Try again in 1s.", &[], None),
    ] {
        let panel = Panel::new();
        panel.failing("codex", "sketch/Codex-Pragmatic", "rate_limited", words);
        let outcome = panel.design(flags);
        assert_eq!(outcome.code, Some(0), "{outcome}");
        assert!(!outcome.stderr.contains("parked until"), "{outcome}");
        let warned = outcome.stderr.contains("warning: cannot park: ");
        assert_eq!(warned, warning.is_some(), "{outcome}");
        assert!(outcome.stderr.contains(warning.unwrap_or_default()), "{outcome}");
        let shown = panel.shown(&panel.run().0);
        let mut lanes = shown["lanes"].as_array().unwrap().iter();
        assert!(lanes.any(|lane| lane_name(lane) == "sketch/Codex-Pragmatic"), "{shown}");
    }
}

// P-408: a person or the system ends the process; the run goes on with what is missing.
#[test]
fn a_parked_design_outlives_its_process() {
    for (signal, code) in [("-KILL", None), ("-INT", Some(130))] {
        let panel = Panel::new();
        limit(&panel, "codex", "sketch/Codex-Pragmatic", 900);
        let mut design = Running::design(&panel, &[]);
        design.parks();
        design.signal(&panel, signal);
        let ended = design.end();
        assert_eq!(ended.code, code, "{}", ended.stderr);
        let (run, state) = panel.run();
        let hint = format!("hint: convoke resume {run} --park\n");
        assert_eq!(ended.stderr.contains(&hint), code.is_some(), "{}", ended.stderr);
        assert_eq!(state, "stopped");
        let status = panel.project.stdout(&["status"]);
        assert!(status.contains(": stopped, parked until 20"), "{status}");
        restore(&panel, "codex");
        let resumed = panel.project.run(&["resume", &run, "--park", "--no-probe"]);
        assert_eq!(resumed.code, Some(0), "{resumed}");
        must_be_whole(&panel, 1);
    }
}

// P-405: as after `resume`.
#[test]
fn a_parked_design_notices_another_branch_and_another_tree() {
    for (change, found, back) in [
        (
            "git switch --quiet --create else",
            "the run belongs to the branch `main`, but the branch `else` is checked out",
            "git switch --quiet main",
        ),
        (
            "echo more >> README.md",
            "the working tree has changes, yours or a stopped agent's: README.md",
            "git checkout --quiet README.md",
        ),
    ] {
        let panel = Panel::new();
        limit(&panel, "codex", "sketch/Codex-Pragmatic", 2);
        let mut design = Running::design(&panel, &[]);
        design.parks();
        panel.project.shell(change, "");
        let ended = design.end();
        assert_eq!(ended.code, Some(6), "{}", ended.stderr);
        assert!(ended.stderr.contains(found), "{}", ended.stderr);
        restore(&panel, "codex");
        let (run, _) = panel.run();
        let still = panel.project.run(&["resume", &run, "--park", "--no-probe"]);
        assert_eq!(still.code, Some(6), "{still}");
        panel.project.shell(back, "");
        let resumed = panel.project.run(&["resume", &run, "--park", "--no-probe"]);
        assert_eq!(resumed.code, Some(0), "{resumed}");
        must_be_whole(&panel, 1);
    }
}
