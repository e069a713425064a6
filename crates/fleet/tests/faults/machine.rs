//! Cases of a worker's machine: its network, its clock and its disk.

use std::fs;
use std::io::Write;
use std::process::Command;

use serde_json::Value;

use crate::process::{Process, command, is_alive, signal, wait_for};
use crate::relay::Relay;
use crate::server::{PASSWORD, USER};
use crate::stage::{Stage, postgres};

/// Where Debian's `faketime` has its library.
const CLOCK_LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

pub(crate) fn temporal_is_cut_off(stage: &Stage) {
    let relay = Relay::to(stage.port);
    let first = stage.worker_by("first", 1, |worker| behind(stage, worker, &relay));
    let lane = stage.lane("lane-0", &[]);
    let superseded = stage.wait_for_clients("lane-0", 1);
    let second = stage.worker("second", 1);
    relay.cut();
    stage.wait_for_clients("lane-0", 2);
    wait_for("the worker that was cut off stops its client", || !is_alive(superseded[0]));
    stage.answer("lane-0");
    lane.finish();
    relay.mend();
    second.kill();
    // The worker that was cut off is back.
    let next = stage.lane("lane-1", &[]);
    stage.answer("lane-1");
    next.finish();
    assert!(is_alive(first.pid()));
}

pub(crate) fn store_is_cut_off(stage: &Stage) {
    let relay = Relay::to(postgres().port);
    let _worker = stage.worker_by("only", 1, |worker| store_behind(stage, worker, &relay));
    let lane = stage.lane("lane-0", &[]);
    let client = stage.wait_for_clients("lane-0", 1)[0];
    relay.cut();
    stage.answer("lane-0");
    wait_for("the client has answered", || !is_alive(client));
    relay.mend();
    lane.finish();
    assert_eq!(stage.clients("lane-0").len(), 1, "the agent was asked once");
}

pub(crate) fn everything_is_cut_off(stage: &Stage) {
    let (temporal, store) = (Relay::to(stage.port), Relay::to(postgres().port));
    let first = stage.worker_by("first", 1, |worker| {
        store_behind(stage, behind(stage, worker, &temporal), &store)
    });
    let lane = stage.lane("lane-0", &[]);
    let superseded = stage.wait_for_clients("lane-0", 1);
    let _second = stage.worker("second", 1);
    temporal.cut();
    store.cut();
    let both = stage.wait_for_clients("lane-0", 2);
    // The client of the worker that is cut off answers first, and nothing can come of it.
    signal("-STOP", both[1]);
    stage.answer("lane-0");
    wait_for("the first client has answered", || !is_alive(superseded[0]));
    temporal.mend();
    store.mend();
    wait_for("the first worker gives up", || !stage.has_trees(first.pid()));
    signal("-CONT", both[1]);
    lane.finish();
}

pub(crate) fn clock_is_wrong(stage: &Stage) {
    for (number, shift) in ["+1h", "-1h"].into_iter().enumerate() {
        let worker = stage.worker_by("only", 1, |mut worker| {
            worker.env("LD_PRELOAD", CLOCK_LIBRARY).env("FAKETIME", shift);
            // The machine's clock is wrong, and time passes as it should.
            worker.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
            worker
        });
        let name = format!("lane-{number}");
        let lane = stage.lane(&name, &[]);
        stage.wait_for_clients(&name, 1);
        let shown = stage.convoke(&["fleet", "status", "--json"]).stdout(Some(0));
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["workers"][0]["state"], "working", "{shift}: {shown}");
        // Nor does the clock of the machine count that looks.
        let mut look = stage.convoke_command(&["fleet", "status", "--json"]);
        look.env("LD_PRELOAD", CLOCK_LIBRARY).env("FAKETIME", shift);
        look.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        let shown: Value = serde_json::from_str(&Process::start(look).stdout(Some(0))).unwrap();
        assert_eq!(shown["workers"][0]["state"], "working", "{shift}, seen there: {shown}");
        stage.answer(&name);
        lane.finish();
        assert_eq!(stage.clients(&name).len(), 1, "the agent was asked once");
        signal("-TERM", worker.pid());
        assert_eq!(worker.end(), Some(0));
    }
}

pub(crate) fn disk_is_full(stage: &Stage) {
    let first = stage.worker_by("first", 1, |worker| with_small_disk(stage, &worker));
    fill_disk(stage, &first);
    let lane = stage.lane("lane-0", &[]);
    first.stderr_until("no room");
    assert_eq!(first.end(), Some(0), "a worker without room takes no more lanes");
    let _second = stage.worker("second", 1);
    stage.answer("lane-0");
    lane.finish();
    assert_eq!(stage.clients("lane-0").len(), 1, "the agent was asked where there is room");
}

/// Lets a worker reach Temporal by a relay.
fn behind(stage: &Stage, mut worker: Command, relay: &Relay) -> Command {
    let home = stage.path("other-home");
    fs::create_dir_all(home.join(".config/convoke")).unwrap();
    stage.write_config(&home, relay.port, "");
    worker.env("HOME", home);
    worker
}

/// Lets a worker reach the store by a relay.
fn store_behind(stage: &Stage, mut worker: Command, relay: &Relay) -> Command {
    let address = format!("postgres://{USER}@127.0.0.1:{}/{}", relay.port, stage.database());
    worker.env("CONVOKE_STORE", address);
    worker.env("CONVOKE_STORE_PASSWORD", PASSWORD);
    worker
}

/// Gives a worker a disk of its own for temporary files, of a few megabytes.
fn with_small_disk(stage: &Stage, worker: &Command) -> Command {
    let mount = "mount -t tmpfs -o size=4m tmpfs \"$TMPDIR\" && exec \"$@\"";
    let mut small = command("unshare");
    small.args(["--map-root-user", "--mount", "sh", "-c", mount, "sh"]);
    small.arg(worker.get_program()).args(worker.get_args()).env_clear();
    small.envs(worker.get_envs().filter_map(|(name, value)| Some((name, value?))));
    small.current_dir(stage.path("app"));
    small
}

fn fill_disk(stage: &Stage, worker: &Process) {
    let seen = format!("/proc/{}/root{}", worker.pid(), stage.path("tmp/fill").display());
    let mut fill = fs::File::create(seen).unwrap();
    let block = [1; 4096];
    while fill.write_all(&block).is_ok() {}
}
