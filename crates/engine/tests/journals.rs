//! Journals of an earlier release: they render and count as they did then.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up should stop where it is")]

use std::fs;
use std::path::PathBuf;

use convoke_domain::design::event::{Event, Stamped};
use convoke_domain::design::facts::Facts;
use convoke_domain::design::heavy::WorkerResult;
use convoke_domain::design::render::{self, Line};
use convoke_domain::design::walk::{DesignWalk, walk};
use convoke_engine::design::codec::{decode, encode};
use convoke_engine::design::kept::hashes;
use serde_json::Value;

/// A run with both interviews, one that failed, was resumed and decided three times by a person,
/// and one that another workflow requested, by the original's rules, with a worker of its own.
const JOURNALS: [&str; 3] = ["interview", "decided", "nested"];

fn fixture(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journals");
    fs::read_to_string(folder.join(name)).unwrap()
}

fn events(name: &str) -> Vec<Stamped> {
    let read = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let (kind, body) = (line["kind"].as_str().unwrap(), line["body"].as_str().unwrap());
        let event = decode(kind, body).unwrap();
        let (kind_now, body_now) = encode(&event);
        // How a worker ended was a line of text; now it is facts.
        let is_line = kind == "worked" && body.starts_with("{\"line\":");
        if is_line {
            assert_eq!(decode(kind_now, &body_now).unwrap(), event);
        } else {
            assert_eq!((kind_now, body_now.as_str()), (kind, body), "it is written as it was");
        }
        Stamped { at: line["at_ms"].as_i64().unwrap(), event }
    };
    fixture(&format!("{name}.jsonl")).lines().map(read).collect()
}

#[test]
fn journals_of_an_earlier_release_render_and_count_as_they_did() {
    for name in JOURNALS {
        let facts = Facts::fold(events(name));
        let outline = walk(&facts);
        let lines = render::lines(&outline);
        let told: Vec<_> = lines.iter().map(Line::text).collect();
        let expected = fixture(&format!("{name}.replay.txt"));
        assert_eq!(told.join("\n") + "\n", expected, "{name}");
        assert_eq!(hashes(&outline), facts.kept().unwrap(), "{name}");
    }
}

#[test]
fn a_run_that_looks_after_every_event_comes_to_the_same() {
    for name in JOURNALS {
        let mut design = DesignWalk::default();
        let mut told = Vec::new();
        for event in events(name) {
            design.take(event);
            told.extend(design.notices_after(told.len()));
        }
        let outline = walk(design.facts());
        assert_eq!(told, outline.notices, "{name}");
        assert_eq!(design.outline(), outline, "{name}");
    }
}

// The warnings of a failed worker appear at its beginning, even if it completed later phases.
#[test]
fn a_worker_that_fails_late_renders_as_by_a_walk_from_the_first_event() {
    let mut events = events("nested");
    let at = events[40].at;
    let folder = "/example/run".to_owned();
    let failed = Event::Worked { worked: WorkerResult::gave_up("interrupted"), folder };
    events.splice(40..40, [failed, Event::Resumed].map(|event| Stamped { at, event }));
    let mut design = DesignWalk::default();
    for event in events {
        design.take(event);
        assert_eq!(design.outline(), walk(design.facts()));
    }
    let told = render::lines(&design.outline());
    assert!(told.iter().any(|line| line.text().contains("heavy worker subagent failed")));
}
