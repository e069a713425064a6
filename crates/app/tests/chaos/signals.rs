//! Signals to Convoke in the middle of a lane leave no process and no file behind.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::stage::Stage;
use crate::{Trial, Verdict};

/// A client that does not want to go, with a child that is hard to find.
const STUBBORN: &str = "trap '' TERM INT HUP; (setsid sh -c 'touch ready; sleep 300' &); init; \
                        while :; do sleep 300; done";

/// The time that a stubborn client may take, and some room for a slow machine.
const WITHIN: Duration = Duration::from_secs(20);

/// A signal, and whether it goes to the whole group, as a terminal sends it.
const SIGNALS: [(&str, Signal, bool); 5] = [
    ("ours: killed", Signal::KILL, false),
    ("ours: TERM", Signal::TERM, false),
    ("ours: HUP", Signal::HUP, false),
    ("ours: INT from the terminal", Signal::INT, true),
    ("ours: QUIT from the terminal", Signal::QUIT, true),
];

pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    SIGNALS.into_iter().map(|(name, signal, is_for_group)| Trial {
        name,
        run: Box::new(move || struck(signal, is_for_group)),
    })
}

fn struck(signal: Signal, is_for_group: bool) -> Verdict {
    let stage = Stage::new(STUBBORN);
    let mut convoke = stage.start(&["--agent", "claude", "--grace", "0.3"], "What is it?");
    let mut wrong = Vec::new();
    if !stage.until(WITHIN, |stage| stage.path("project/ready").exists()) {
        wrong.push("the client did not start".to_owned());
    }
    let ours = Pid::from_child(&convoke);
    if is_for_group { kill_process_group(ours, signal) } else { kill_process(ours, signal) }
        .unwrap();
    convoke.wait().unwrap();
    if !stage.until(WITHIN, |stage| stage.alive().is_empty()) {
        wrong.push(format!("left alive: {:?}", stage.alive()));
    }
    if !stage.until(WITHIN, |stage| stage.left_files().is_empty()) {
        wrong.push(format!("left behind: {:?}", stage.left_files()));
    }
    Verdict { shown: format!("{:<30}", "no process and no file left"), wrong }
}
