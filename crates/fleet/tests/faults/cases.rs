//! The cases: what goes wrong, and what must hold nevertheless.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::process::{is_alive, signal, wait_for};
use crate::sharing;
use crate::stage::{Stage, StoreKind, postgres};
use crate::{guide, machine, submitter};

pub(crate) type Case = (&'static str, StoreKind, fn(&Stage));

pub(crate) const CASES: [Case; 32] = [
    ("nothing goes wrong", StoreKind::File, nothing),
    ("nothing goes wrong, on Postgres", StoreKind::Server, nothing),
    ("a worker is killed", StoreKind::File, worker_is_killed),
    ("a worker is frozen past its lease and thawed", StoreKind::Server, worker_is_frozen),
    ("Temporal is killed and starts again", StoreKind::File, temporal_is_killed),
    ("Postgres is killed and starts again", StoreKind::Server, postgres_is_killed),
    ("a submitter is killed and comes back", StoreKind::File, submitter_is_killed),
    ("submitters are gone for good", StoreKind::Server, submitter::submitters_are_gone),
    ("a submitter sleeps for a while", StoreKind::File, submitter::submitter_sleeps),
    ("a run comes back with another limit", StoreKind::File, submitter::limit_is_changed),
    ("a lane is cancelled while it waits and while it runs", StoreKind::File, lanes_are_cancelled),
    ("a worker is drained while lanes run", StoreKind::File, worker_is_drained),
    ("a worker is drained and waits no longer", StoreKind::File, worker_waits_no_longer),
    ("a worker is evicted", StoreKind::File, worker_is_evicted),
    ("two workers have one name", StoreKind::File, names_are_shared),
    ("a worker is cut off from Temporal", StoreKind::File, machine::temporal_is_cut_off),
    ("a worker is cut off from the store", StoreKind::Server, machine::store_is_cut_off),
    ("a worker is cut off from everything", StoreKind::Server, machine::everything_is_cut_off),
    ("the clock of a worker is an hour off", StoreKind::Server, machine::clock_is_wrong),
    ("the disk of a worker is full", StoreKind::File, machine::disk_is_full),
    (
        "a name is submitted again while a submitter sleeps",
        StoreKind::File,
        sharing::name_is_submitted_again,
    ),
    ("the clone of a worker lacks the commit", StoreKind::File, sharing::clone_lacks_the_commit),
    ("a worker is of an older version", StoreKind::Server, sharing::worker_is_older),
    ("members of a team run lanes and workers", StoreKind::Server, sharing::members_share_a_fleet),
    ("the guide to a team is followed", StoreKind::Server, guide::workers_of_the_guide),
    ("the limit of an agent is reached", StoreKind::File, limits_hold),
    ("convoke runs a lane on a worker, and stops it", StoreKind::File, convoke_runs_lanes),
    ("a run with remote lanes is killed and comes back", StoreKind::File, sharing::run_is_killed),
    (
        "a review with a remote agent is killed and comes back",
        StoreKind::File,
        submitter::dispatch_is_killed,
    ),
    ("an agent reaches its limit", StoreKind::File, agent_reaches_its_limit),
    ("a lane is recorded, over its budget, and untidy", StoreKind::File, what_holds_for_lanes),
    ("a person looks, stops a lane and drains a worker", StoreKind::File, a_person_acts),
];

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("lane-{number}")).collect()
}

fn nothing(stage: &Stage) {
    let _workers = [stage.worker("one", 2), stage.worker("two", 2)];
    let names = names(6);
    let lanes: Vec<_> = names.iter().map(|name| stage.lane(name, &[])).collect();
    for name in &names {
        stage.answer(name);
    }
    for lane in &lanes {
        lane.finish();
        assert_eq!(stage.clients(&lane.name).len(), 1, "each agent was asked once");
        let noted = fs::read_to_string(stage.path("clients").join(&lane.name)).unwrap();
        assert!(noted.contains(" committed"), "it saw the commit and nothing else: {noted}");
        assert_eq!(lane.of("text")[0]["text"], "working", "events came through");
        assert_eq!(lane.of("placed").len(), 1);
    }
}

fn worker_is_killed(stage: &Stage) {
    let first = stage.worker("first", 1);
    let lane = stage.lane("lane-0", &[]);
    let superseded = stage.wait_for_clients("lane-0", 1);
    let _second = stage.worker("second", 1);
    first.kill();
    wait_for("the guardian ends the client", || !is_alive(superseded[0]));
    stage.wait_for_clients("lane-0", 2);
    stage.answer("lane-0");
    lane.finish();
    assert_eq!(lane.of("placed").len(), 2, "the reader hears of the second attempt");
}

fn worker_is_frozen(stage: &Stage) {
    let first = stage.worker("first", 1);
    let lane = stage.lane("lane-0", &[]);
    let superseded = stage.wait_for_clients("lane-0", 1);
    let _second = stage.worker("second", 1);
    signal("-STOP", first.pid());
    let both = stage.wait_for_clients("lane-0", 2);
    // The frozen worker's client has its answer ready before the worker can look.
    signal("-STOP", both[1]);
    stage.answer("lane-0");
    wait_for("the first client has answered", || !is_alive(superseded[0]));
    assert!(stage.has_trees(first.pid()));
    signal("-CONT", first.pid());
    wait_for("the thawed worker gives up", || !stage.has_trees(first.pid()));
    signal("-CONT", both[1]);
    lane.finish();
}

fn temporal_is_killed(stage: &Stage) {
    let _worker = stage.worker("only", 1);
    let running = stage.lane("lane-0", &[]);
    stage.wait_for_clients("lane-0", 1);
    let waiting = stage.lane("lane-1", &[]);
    stage.kill_temporal();
    stage.start_temporal();
    stage.answer("lane-0");
    stage.answer("lane-1");
    running.finish();
    waiting.finish();
}

fn postgres_is_killed(stage: &Stage) {
    let _worker = stage.worker("only", 1);
    let running = stage.lane("lane-0", &[]);
    stage.wait_for_clients("lane-0", 1);
    let waiting = stage.lane("lane-1", &[]);
    postgres().stop("immediate");
    // The agent answers while the store is away.
    stage.answer("lane-0");
    stage.answer("lane-1");
    postgres().begin("");
    running.finish();
    waiting.finish();
    assert_eq!(stage.clients("lane-0").len(), 1, "the agent was asked once");
}

fn submitter_is_killed(stage: &Stage) {
    let _worker = stage.worker("only", 1);
    let named = ["--name", "review of login"];
    let first = stage.lane("lane-0", &named);
    stage.wait_for_clients("lane-0", 1);
    first.process.kill();
    let second = stage.lane("lane-0", &named);
    stage.answer("lane-0");
    second.finish();
    let third = stage.lane("lane-0", &named);
    third.finish();
    assert_eq!(stage.clients("lane-0").len(), 1, "the agent was asked once for all three");
}

fn lanes_are_cancelled(stage: &Stage) {
    let waiting = stage.lane("lane-0", &[]);
    signal("-TERM", waiting.process.pid());
    assert_eq!(waiting.process.end(), Some(130));
    let _worker = stage.worker("only", 1);
    let running = stage.lane("lane-1", &[]);
    let client = stage.wait_for_clients("lane-1", 1)[0];
    signal("-INT", running.process.pid());
    assert_eq!(running.process.end(), Some(130));
    wait_for("the client is stopped", || !is_alive(client));
    // The worker takes the next lane, and never the one that was cancelled while it waited.
    let next = stage.lane("lane-2", &[]);
    stage.answer("lane-2");
    next.finish();
    assert_eq!(stage.clients("lane-0"), Vec::<u32>::new());
    assert_eq!(stage.clients("lane-1").len(), 1);
}

fn worker_is_drained(stage: &Stage) {
    let first = stage.worker("first", 1);
    let running = stage.lane("lane-0", &[]);
    stage.wait_for_clients("lane-0", 1);
    signal("-TERM", first.pid());
    let waiting = stage.lane("lane-1", &[]);
    let _second = stage.worker("second", 1);
    stage.answer("lane-1");
    waiting.finish();
    assert!(is_alive(first.pid()), "it waits for its lane");
    stage.answer("lane-0");
    running.finish();
    assert_eq!(first.end(), Some(0));
    assert_eq!(stage.clients("lane-0").len(), 1, "its lane was not begun again");
}

fn worker_waits_no_longer(stage: &Stage) {
    // The lane has one attempt, and still has it when the worker gave it back.
    stage.configure("attempts = 1");
    let first = stage.worker_by("first", 1, |mut worker| {
        worker.args(["--drain-limit", "1"]);
        worker
    });
    let lane = stage.lane("lane-0", &[]);
    let stopped = stage.wait_for_clients("lane-0", 1)[0];
    signal("-TERM", first.pid());
    assert_eq!(first.end(), Some(0));
    assert!(!is_alive(stopped), "its client ends with it");
    let shown = stage.convoke(&["fleet", "status", "--json"]).stdout(Some(0));
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["lanes"][0]["state"], "waiting", "{shown}");
    let _second = stage.worker("second", 1);
    stage.wait_for_clients("lane-0", 2);
    stage.answer("lane-0");
    lane.finish();
    assert_eq!(lane.of("placed").len(), 2);
}

fn worker_is_evicted(stage: &Stage) {
    let first = stage.worker("first", 1);
    let lane = stage.lane("lane-0", &[]);
    let superseded = stage.wait_for_clients("lane-0", 1);
    let _second = stage.worker("second", 1);
    stage.convoke(&["fleet", "evict", "first"]).stdout(Some(0));
    assert_eq!(first.end(), Some(0), "it waits for no lane");
    wait_for("the guardian ends the client", || !is_alive(superseded[0]));
    stage.wait_for_clients("lane-0", 2);
    stage.answer("lane-0");
    lane.finish();
    stage.convoke(&["fleet", "evict", "first"]).stdout(Some(2));
}

fn names_are_shared(stage: &Stage) {
    let workers = [stage.worker("same", 1), stage.worker("same", 1)];
    let names = names(4);
    let lanes: Vec<_> = names.iter().map(|name| stage.lane(name, &[])).collect();
    // Temporal keeps no order between lanes that wait: any two are first.
    wait_for("both workers run a lane", || {
        names.iter().filter(|name| !stage.clients(name).is_empty()).count() == workers.len()
    });
    for name in &names {
        stage.answer(name);
    }
    for lane in &lanes {
        lane.finish();
    }
    for name in &names {
        assert_eq!(stage.clients(name).len(), 1, "each agent was asked once");
    }
    drop(workers);
}

/// Returns how many lanes hold a permit of the only limit, as a person sees it.
fn permits(stage: &Stage) -> u64 {
    let shown = stage.convoke(&["fleet", "status", "--json"]).stdout(Some(0));
    let shown: Value = serde_json::from_str(&shown).unwrap();
    shown["permits"][0]["open"].as_u64().unwrap()
}

fn limits_hold(stage: &Stage) {
    stage.configure("limits = { claude = 1 }");
    let _worker = stage.worker("only", 4);
    let first = stage.lane("lane-0", &[]);
    stage.wait_for_clients("lane-0", 1);
    let second = stage.begin_lane("lane-1", &[]);
    second.until("waiting");
    assert_eq!(stage.clients("lane-1"), Vec::<u32>::new(), "there is a slot, and no permit");
    assert_eq!(permits(stage), 1, "a submitter that waits holds none");
    stage.answer("lane-0");
    stage.answer("lane-1");
    first.finish();
    assert!(second.finish() < Duration::from_mins(2));
}

fn convoke_runs_lanes(stage: &Stage) {
    let _worker = stage.worker("only", 1);
    let words = ["lane", "run", "--agent", "fleet:claude@app", "--json"];
    let first = stage.convoke(&[&words[..], &["lane-0 and think"]].concat());
    stage.wait_for_clients("lane-0", 1);
    stage.answer("lane-0");
    let report: Value = serde_json::from_str(&first.stdout(Some(0))).unwrap();
    let pid = stage.clients("lane-0")[0];
    assert_eq!(report["answer"], format!("lane-0 by {pid}"));
    assert_eq!((&report["agent"], &report["model"]), (&"fleet:claude@app".into(), &"fake".into()));
    assert_eq!(report["usage"]["of_run"]["input_tokens"], 10, "the submitter's ledger counts it");
    let listed = stage.convoke(&["lane", "list", "--json"]).stdout(Some(0));
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        listed.as_array().unwrap().len(),
        1,
        "once, and not on the worker as well: {listed}"
    );
    let second = stage.convoke(&[&words[..], &["lane-1 and think"]].concat());
    let client = stage.wait_for_clients("lane-1", 1)[0];
    signal("-TERM", second.pid());
    let report: Value = serde_json::from_str(&second.stdout(Some(130))).unwrap();
    assert_eq!(report["outcome"], "cancelled");
    wait_for("the client on the worker is stopped", || !is_alive(client));
    for refused in [&["--write"][..], &["--resume", "s-1"]] {
        stage.convoke(&[&words[..], refused, &["lane-2 and think"]].concat()).stdout(Some(2));
    }
    assert_eq!(stage.clients("lane-2"), Vec::<u32>::new());
    stage.expect_in_ledger(1);
}

fn agent_reaches_its_limit(stage: &Stage) {
    stage.configure("limits = { claude = 1 }");
    let _worker = stage.worker("only", 1);
    let limited = stage.lane("lane-0-limited", &[]);
    stage.wait_for_clients("lane-0-limited", 1);
    stage.answer("lane-0-limited");
    limited.until("waiting");
    // While it waits, slot and permit are free for another lane.
    let next = stage.lane("lane-1", &[]);
    stage.wait_for_clients("lane-1", 1);
    assert_eq!(stage.clients("lane-0-limited").len(), 1, "it waits for its time");
    stage.answer("lane-1");
    next.finish();
    limited.finish();
    assert_eq!(stage.clients("lane-0-limited").len(), 2, "it was asked again");
    assert_eq!(limited.of("placed")[1]["generation"], 2);
    assert_eq!(limited.of("ended").len(), 1, "one report ends it");
}

fn what_holds_for_lanes(stage: &Stage) {
    let _worker = stage.worker("only", 1);
    let run = |more: &[&str], name: &str, code| -> Value {
        let prompt = format!("{name} and think");
        let words = ["lane", "run", "--agent", "fleet:claude@app", "--json", &prompt];
        let lane = stage.convoke(&[&words[..], more].concat());
        stage.wait_for_clients(name, 1);
        if code == 0 {
            stage.answer(name);
        } else {
            stage.go_on(name);
        }
        serde_json::from_str(&lane.stdout(Some(code))).unwrap()
    };
    let tape = stage.path("tape.jsonl").display().to_string();
    let recorded = run(&["--record", &tape], "lane-0", 0);
    let agent = format!("replay:{tape}");
    let words = ["lane", "run", "--agent", &agent, "--json", "lane-0 and think"];
    let replayed: Value = serde_json::from_str(&stage.convoke(&words).stdout(Some(0))).unwrap();
    assert_eq!(recorded["answer"], replayed["answer"], "{replayed}");
    assert_eq!(stage.clients("lane-0").len(), 1, "no agent was asked again");
    // The agent tells what it used with its answer: 12 tokens.
    let spent = run(&["--budget", "5"], "lane-1", 0);
    assert_eq!(spent["over_budget"]["spent"], 12, "{spent}");
    let untidy = run(&[], "lane-2-untidy", 4);
    let trouble = untidy["trouble"].as_str().unwrap();
    assert!(trouble.contains("changed"), "{trouble}");
    assert_ne!(untidy["outcome"], "answered", "an agent that may only read has changed a file");
    stage.expect_in_ledger(2);
}

fn a_person_acts(stage: &Stage) {
    let status = || -> Value {
        serde_json::from_str(&stage.convoke(&["fleet", "status", "--json"]).stdout(Some(0)))
            .unwrap()
    };
    let early = stage.lane("lane-0", &[]);
    let waits = status();
    assert_eq!(waits["lanes"][0]["state"], "waiting");
    assert_eq!(waits["lanes"][0]["waits_for"], "a worker that offers claude@app");
    let worker = stage.worker("only", 1);
    let client = stage.wait_for_clients("lane-0", 1)[0];
    let runs = status();
    assert_eq!(
        (&runs["lanes"][0]["state"], &runs["workers"][0]["name"]),
        (&"running".into(), &"only".into())
    );
    assert_eq!(runs["workers"][0]["running"], 1);
    let id = runs["lanes"][0]["id"].as_str().unwrap().to_owned();
    stage.convoke(&["fleet", "stop", &id]).stdout(Some(0));
    wait_for("the client is stopped", || !is_alive(client));
    assert_eq!(early.process.end(), Some(4), "its submitter hears that there is no answer");
    assert_eq!(status()["lanes"][0]["outcome"], "cancelled");
    let last = stage.lane("lane-1", &[]);
    stage.wait_for_clients("lane-1", 1);
    stage.convoke(&["fleet", "drain", "only"]).stdout(Some(0));
    wait_for("the worker drains", || status()["workers"][0]["state"] == "draining");
    stage.answer("lane-1");
    last.finish();
    assert_eq!(worker.end(), Some(0));
    assert_eq!(status()["workers"], Value::Array(Vec::new()));
    stage.convoke(&["fleet", "drain", "only"]).stdout(Some(2));
}
