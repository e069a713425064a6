//! Many parallel lanes of a model's API, stopped together: no connection and no thread is left.
//!
//! The test is alone in its process, because it counts the process's threads.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use convoke_domain::lane::outcome::{LaneOutcome, ProcessEnd};
use convoke_domain::lane::queue::LaneLimits;
use convoke_engine::client::{ClientRequest, Rights};
use convoke_engine::lane::cancel::Cancel;
use convoke_engine::lane::drive::{LaneTranscript, Runner, drive};
use convoke_engine::lane::http::endpoint::{Api, BaseUrl, Endpoint};
use convoke_engine::lane::many::{self, EnoughAnswers, QueuedLane};
use convoke_engine::lane::supervisor::{Limits, Supervision};

const LANES: usize = 40;

/// Nothing here takes as long.
const LONG: Duration = Duration::from_hours(1);

fn lane(endpoint: &Endpoint, cancel: &Cancel) -> LaneTranscript {
    let scratch = tempfile::tempdir().unwrap();
    let scratch = scratch.path().display().to_string();
    let request = ClientRequest {
        prompt: "x",
        model: Some("m"),
        effort: None,
        resume: None,
        rights: Rights::ReadOnly,
        folder: &scratch,
        scratch: &scratch,
        acp: None,
        fleet: None,
    };
    let limits = Limits { wall: LONG, first_byte: LONG, stall: LONG, grace: LONG };
    let supervision = Supervision { limits, cancel };
    drive(&Runner::Http(endpoint), &request, supervision, &mut |_| ()).unwrap()
}

#[test]
fn lanes_that_are_stopped_leave_no_connection_and_no_thread() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let url = BaseUrl::parse(&url).unwrap();
    let endpoint = Endpoint { api: Api::Chat, url, key: None, max_tokens: None };
    let cancel = Cancel::default();
    let (all_are_here, stop) = channel();
    let server = thread::spawn(move || {
        // The server never answers.
        let mut streams: Vec<_> = (0..LANES).map(|_| listener.accept().unwrap().0).collect();
        for stream in &mut streams {
            stream.read_exact(&mut [0; 16]).unwrap();
        }
        all_are_here.send(()).unwrap();
        // Every connection ends, or this would wait forever.
        for mut stream in streams {
            stream.read_to_end(&mut Vec::new()).ok();
        }
    });
    let stopper = {
        let cancel = cancel.clone();
        thread::spawn(move || {
            stop.recv().unwrap();
            cancel.cancel();
        })
    };
    let lanes = (0..LANES).map(|_| QueuedLane {
        agent: "http:it",
        expected: Duration::ZERO,
        work: Box::new(|cancel: &Cancel, _: &mut dyn FnMut(&_)| lane(&endpoint, cancel)),
    });
    let room = LaneLimits { in_all: LANES, of_agent: LANES };
    let ended = many::run(lanes.collect(), room, &cancel, &mut |_, _| EnoughAnswers::No);
    for transcript in ended.into_iter().map(Option::unwrap) {
        assert_eq!(
            (transcript.outcome, transcript.exit.end),
            (LaneOutcome::Cancelled, ProcessEnd::Cancelled)
        );
    }
    stopper.join().unwrap();
    server.join().unwrap();
    no_thread_is_left();
}

/// Only the test's own thread and the one that waits for it remain. A stopped thread takes a moment
/// to end.
#[cfg(target_os = "linux")]
fn no_thread_is_left() {
    let count = || fs::read_dir("/proc/self/task").unwrap().count();
    let is_quiet = (0..10_000_000_u64).any(|_| {
        thread::yield_now();
        count() <= 2
    });
    assert!(is_quiet, "{} threads are left", count());
}

#[cfg(not(target_os = "linux"))]
fn no_thread_is_left() {}
