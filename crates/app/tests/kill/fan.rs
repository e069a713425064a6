//! A fan-out that is killed, and goes on with what is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use serde_json::Value;

use crate::fan_server::{FanServer, item_of};

/// A project, and an API that tells when the wanted request of a round arrives.
struct FanGround {
    top: tempfile::TempDir,
    server: FanServer,
    /// How many requests are left until the server tells.
    left: Arc<AtomicUsize>,
    reached: Receiver<()>,
    gate: Arc<Gate>,
}

/// Holds requests up behind the wanted one, so that a slow machine kills as early as a quick one.
#[derive(Default)]
struct Gate {
    is_closed: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn close(&self) {
        *self.is_closed.lock().unwrap() = true;
    }

    fn open(&self) {
        *self.is_closed.lock().unwrap() = false;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let closed = self.is_closed.lock().unwrap();
        drop(self.opened.wait_while(closed, |is_closed| *is_closed).unwrap());
    }
}

impl FanGround {
    fn new(items: usize) -> Self {
        let top = tempfile::tempdir().unwrap();
        let left = Arc::new(AtomicUsize::new(0));
        let (tell, reached) = channel();
        let (counted, tell) = (Arc::clone(&left), Mutex::new(tell));
        let gate = Arc::<Gate>::default();
        let held = Arc::clone(&gate);
        let server = FanServer::start(move |prompt| {
            let before = counted
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            if before == Ok(1) {
                held.close();
                tell.lock().unwrap().send(()).unwrap_or_default();
            } else {
                held.pass();
            }
            Some(format!("seen {}", item_of(prompt)))
        });
        let config = top.path().join(".config/convoke/config.toml");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::write(config, server.config()).unwrap();
        let project = top.path().join("project");
        fs::create_dir(&project).unwrap();
        let lines = (0..items).map(|number| format!("n{number:04}\n")).collect::<Vec<_>>().concat();
        fs::write(project.join("items.txt"), lines).unwrap();
        Self { top, server, left, reached, gate }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut convoke = Command::new(env!("CARGO_BIN_EXE_convoke"));
        convoke.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.top.path());
        convoke
            .env("IT_KEY", "sk-very-secret-0123456789")
            .current_dir(self.top.path().join("project"));
        convoke.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        convoke
    }

    fn fan(&self, parallel: &str, fault: u64) -> Command {
        let words = ["fan", "--agent", "http:it", "What is {{item}}?", "--lines", "items.txt"];
        let mut command = self.command(&[&words[..], &["--parallel", parallel]].concat());
        command.env("CONVOKE_FAULT_AFTER", fault.to_string());
        command
    }

    /// Returns the items whose answers the journal has.
    fn answered(&self) -> BTreeSet<String> {
        let runs = self.command(&["runs", "--json"]).output().unwrap();
        let runs: Value = serde_json::from_slice(&runs.stdout).unwrap();
        let Some(run) = runs[0]["run"].as_str() else { return BTreeSet::new() };
        let shown = self.command(&["show", run, "--artifact", "results"]).output().unwrap();
        results(&shown).into_keys().collect()
    }

    /// Kills the process when it has made so many requests, and returns the items of the requests.
    fn kill_after(&self, requests: usize, yields: usize) -> Vec<String> {
        self.left.store(requests, Ordering::SeqCst);
        let mut fan = self.fan("4", 0);
        // Nothing reads what it prints, and a full pipe would hold it up.
        let mut child = fan.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let is_there = loop {
            match self.reached.try_recv() {
                Ok(()) => break true,
                Err(_) if child.try_wait().unwrap().is_some() => break false,
                Err(_) => thread::yield_now(),
            }
        };
        if is_there {
            (0..yields).for_each(|_| thread::yield_now());
            child.kill().unwrap();
        }
        child.wait().unwrap();
        self.gate.open();
        self.server.items()
    }
}

fn results(output: &Output) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let pair = |line: Value| {
        let word = |name: &str| line[name].as_str().unwrap().to_owned();
        (word("item"), word("answer"))
    };
    lines.map(pair).collect()
}

/// A plain generator: the moments differ, and a failure can be repeated.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from((self.0 >> 33) % most).unwrap()
    }
}

// F-7: killed right after any event, a run asks for each item exactly once.
#[test]
fn a_fan_out_that_is_killed_after_any_event_asks_for_each_item_once() {
    let mut killed = 0;
    for fault in 1.. {
        let ground = FanGround::new(4);
        let first = ground.fan("1", fault).output().unwrap();
        if first.status.success() {
            break;
        }
        killed += 1;
        let second = ground.fan("1", 0).output().unwrap();
        assert!(second.status.success(), "after {fault} events: {second:?}");
        assert_eq!(results(&second).len(), 4, "after {fault} events");
        assert_eq!(ground.server.items(), ["n0000", "n0001", "n0002", "n0003"], "after {fault}");
    }
    assert!(killed >= 9, "beginning, list, terms and four answers: {killed}");
}

// F-6, F-7: 1,000 items, killed at 50 random moments: Convoke asks for no item with an answer again.
#[test]
fn a_fan_out_that_is_killed_at_random_moments_repeats_no_answer() {
    let ground = FanGround::new(1000);
    let mut chance = Chance(17);
    let mut requests = 0;
    for kill in 0..50 {
        let answered = ground.answered();
        let asked = ground.kill_after(1 + chance.below(30), chance.below(3000));
        requests += asked.len();
        let again: Vec<_> = asked.iter().filter(|item| answered.contains(*item)).collect();
        assert!(again.is_empty(), "kill {kill}: {again:?}");
    }
    let before = ground.answered();
    assert!(before.len() < 1000, "the run was killed before its end");
    let rest = ground.fan("4", 0).output().unwrap();
    assert!(rest.status.success(), "{rest:?}");
    let asked = ground.server.items();
    requests += asked.len();
    assert!(asked.iter().all(|item| !before.contains(item)));
    let results = results(&rest);
    assert_eq!(results.len(), 1000);
    assert!(results.iter().all(|(item, answer)| *answer == format!("seen {item}")));
    // Each kill can cost the four requests that were on their way.
    assert!(requests <= 1000 + 50 * 4, "{requests} requests");
}
