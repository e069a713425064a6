//! Journals of an earlier release: they render and count as they did then.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up should stop where it is")]

use std::fs;
use std::path::PathBuf;

use convoke_domain::design::event::{Event, Stamped};
use convoke_domain::design::facts::Facts;
use convoke_domain::design::heavy::WorkerResult;
use convoke_domain::design::outline::DesignOutline;
use convoke_domain::design::render::{self, Line};
use convoke_domain::design::settled::PollRule;
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

/// What a panel's votes lead to: the plan, the findings that changed it, and the side of each
/// decision. How many voted for it is not part of that.
fn effects(outline: &DesignOutline) -> Vec<String> {
    let files = render::artifacts(outline);
    let text = |name: &str| files.get(name).map(ToString::to_string).unwrap_or_default();
    let resolutions = text("dialectic-resolutions.md");
    let decided = resolutions.lines().filter(|line| {
        ["### ", "**Resolution**", "**Disposition**"].iter().any(|start| line.starts_with(start))
    });
    let plain = ["plan.txt", "accepted-plan-findings.md"].map(text);
    plain.into_iter().chain(decided.map(str::to_owned)).collect()
}

// P-386: the votes of recorded panels, counted until no further one could change a result.
#[test]
fn an_adaptive_panel_comes_to_what_a_recorded_one_came_to() {
    let mut table = Vec::new();
    for name in JOURNALS {
        let events = events(name);
        let is_poll = |id: &str| id.starts_with("judge/") || id.starts_with("vote/");
        let polled = events.iter().filter(
            |stamped| matches!(&stamped.event, Event::LaneEnded(id, _) if is_poll(id.as_str())),
        );
        let polled = polled.count();
        let whole = walk(&Facts::fold(events.clone()));
        let sparing = events.into_iter().map(|mut stamped| {
            if let Event::Begun(settings) = &mut stamped.event {
                settings.poll_rule = PollRule::UntilSettled;
            }
            stamped
        });
        let adaptive = walk(&Facts::fold(sparing));
        assert_eq!(effects(&adaptive), effects(&whole), "{name}");
        let spared = adaptive.results.not_asked.iter().map(|(_, not_asked)| &not_asked.seats);
        let spared: Vec<_> = spared.flatten().map(String::as_str).collect();
        table.push(format!("{name}: {} of {polled}", spared.len()));
    }
    // The recorded panel is divided on an item of each ballot, so that every vote could matter.
    assert_eq!(table, ["interview: 0 of 6", "decided: 0 of 6", "nested: 0 of 6"]);
}
