//! Cases of submitters: machines that are gone for good, and runs that come back with another limit.

use serde_json::Value;

use crate::process::{is_alive, signal, wait_for};
use crate::stage::Stage;

/// The machine of two submitters dies. Nothing will read the lane without a name, and a run may come back
/// for the other one.
pub(crate) fn submitters_are_gone(stage: &Stage) {
    stage.configure("submitter_seconds = 5");
    let _worker = stage.worker("only", 2);
    let named = ["--name", "review of login"];
    let kept = stage.lane("lane-0", &named);
    let lost = stage.lane("lane-1", &[]);
    let kept_client = stage.wait_for_clients("lane-0", 1)[0];
    let lost_client = stage.wait_for_clients("lane-1", 1)[0];
    kept.process.kill();
    lost.process.kill();
    wait_for("the client that works for no reader is stopped", || !is_alive(lost_client));
    let shown = || -> Value {
        let shown = stage.convoke(&["fleet", "status", "--json"]).stdout(Some(0));
        serde_json::from_str(&shown).unwrap()
    };
    let id = lost.of("submitted")[0]["fleet_lane"].clone();
    wait_for("the store has the end of the lane", || {
        let lanes = shown()["lanes"].as_array().unwrap().clone();
        lanes.iter().any(|lane| lane["id"] == id && lane["outcome"] == "cancelled")
    });
    assert_eq!(stage.clients("lane-1").len(), 1, "no other worker begins it again");
    assert!(is_alive(kept_client), "a lane with a name goes on");
    let back = stage.lane("lane-0", &named);
    stage.answer("lane-0");
    back.finish();
    assert_eq!(stage.clients("lane-0").len(), 1, "its agent was asked once");
}

/// A submitter that sleeps is there again within the time, and its lane goes on.
pub(crate) fn submitter_sleeps(stage: &Stage) {
    stage.configure("submitter_seconds = 60");
    let _worker = stage.worker("only", 1);
    let lane = stage.lane("lane-0", &[]);
    stage.wait_for_clients("lane-0", 1);
    signal("-STOP", lane.process.pid());
    // The worker beats several times while it hears nothing of the submitter.
    let beat = || -> String {
        let shown = stage.convoke(&["fleet", "status", "--json"]).stdout(Some(0));
        let shown: Value = serde_json::from_str(&shown).unwrap();
        shown["workers"][0]["beat_at"].as_str().unwrap().to_owned()
    };
    for _ in 0..3 {
        let before = beat();
        wait_for("the worker beats", || beat() != before);
    }
    signal("-CONT", lane.process.pid());
    stage.answer("lane-0");
    lane.finish();
    assert_eq!(stage.clients("lane-0").len(), 1, "its agent was asked once");
}

/// A run that reached its limit is resumed with a longer one.
pub(crate) fn limit_is_changed(stage: &Stage) {
    let _worker = stage.worker("only", 1);
    let limited = |limit| stage.lane("lane-0", &["--name", "review of login", "--limit", limit]);
    let short = limited("5");
    assert_eq!(short.process.end(), Some(4), "the agent does not answer within the limit");
    let asked = stage.clients("lane-0").len();
    let longer = limited("600");
    assert_eq!(longer.of("submitted")[0]["generation"], 2);
    stage.wait_for_clients("lane-0", asked + 1);
    // While it runs, it is found with any limit.
    let other = limited("700");
    assert_eq!(other.of("submitted")[0]["generation"], 2);
    stage.answer("lane-0");
    longer.finish();
    other.finish();
    assert_eq!(stage.clients("lane-0").len(), asked + 1, "its agent was asked once more");
}

/// A review is killed while its agent works, and comes back for the answer by its run, role and round.
pub(crate) fn dispatch_is_killed(stage: &Stage) {
    // The first words of the role's prompt, and of the second question for a verdict, name the lanes.
    const LANES: [&str; 2] = ["Review", "Your"];
    let _worker = stage.worker("only", 1);
    stage.convoke(&["dispatch", "init", "search"]).stdout(Some(0));
    let role = ["dispatch", "run", "specify/spec-reviewer", "--feature", "001-search"];
    let words = [&role[..], &["--client", "fleet:claude@app", "--run", "night"]].concat();
    let first = stage.convoke(&words);
    stage.wait_for_clients(LANES[0], 1);
    first.kill();
    for lane in LANES {
        stage.answer(lane);
    }
    // The answer is no verdict, which is the agent's business.
    stage.convoke(&words).stdout(Some(4));
    for lane in LANES {
        assert_eq!(stage.clients(lane).len(), 1, "its agent was asked once");
    }
    stage.expect_in_ledger(LANES.len());
}
