//! Cassettes as people write them.

use convoke_domain::lane::event::{FailureKind, LaneFailure, TurnEnd, Usage};
use proptest::prelude::*;

use super::*;

fn entry(hash: &str, label: Option<&str>, matching: CassetteMatching) -> CassetteEntry {
    let request = CassetteRequest {
        hash: hash.to_owned(),
        label: label.map(str::to_owned),
        matching,
        agent: "claude".to_owned(),
        model: Some("opus".to_owned()),
        prompt: "What is it?".to_owned(),
        recorded_at: "2026-11-15T12:00:00Z".to_owned(),
    };
    CassetteEntry {
        request,
        events: Vec::new(),
        end: ProcessEnd::Exited(0),
        took: Duration::from_millis(1200),
    }
}

fn everything() -> CassetteEntry {
    let at = Duration::from_millis;
    let failure = LaneFailure {
        kind: FailureKind::RateLimited,
        message: "slow down".to_owned(),
        reset: None,
    };
    let usage = Usage { input: 9, cached: 4, output: 5, reasoning: 1, micro_dollars: Some(7) };
    let ended =
        TurnEnd { answer: Some("It is \"42\".\n".to_owned()), failure: Some(failure.clone()) };
    let events = vec![
        (at(0), LaneEvent::Session("s-1".to_owned())),
        (at(1), LaneEvent::Model("claude-opus".to_owned())),
        (at(1), LaneEvent::Text("Let me see.".to_owned())),
        (at(5), LaneEvent::Tool("Read".to_owned())),
        (at(6), LaneEvent::Usage(usage)),
        (at(7), LaneEvent::Trouble(failure)),
        (at(9), LaneEvent::Ended(ended)),
        (at(10), LaneEvent::Ended(TurnEnd { answer: None, failure: None })),
    ];
    CassetteEntry { events, ..entry("h", Some("sketch/one"), CassetteMatching::Label) }
}

#[test]
fn a_recording_is_read_again() {
    let ends = [
        ProcessEnd::Exited(3),
        ProcessEnd::Signalled(9),
        ProcessEnd::WallLimit,
        ProcessEnd::FirstByteLimit,
        ProcessEnd::StallLimit,
        ProcessEnd::BudgetLimit,
        ProcessEnd::Cancelled,
        ProcessEnd::NotStarted,
        ProcessEnd::Lost,
    ];
    let entries: Vec<_> =
        ends.into_iter().map(|end| CassetteEntry { end, ..everything() }).collect();
    let lines: Vec<_> = entries.iter().map(|entry| entry.lines(None)).collect();
    let text = format!("{}\n{}", Cassette::head(), lines.concat());
    let read = Cassette::parse(&text).unwrap();
    assert_eq!((read.entries, read.pace), (entries, 0.0));
}

#[test]
fn a_person_can_write_one() {
    let text = "{\"cassette\":{\"version\":1,\"pace\":0.5}}\r\n\n\
        {\"request\":{\"label\":\"one\",\"match\":\"label\"}}\n\
        {\"text\":{\"text\":\"Yes.\"}}\n\
        {\"ended\":{}}\n\
        {\"end\":{\"how\":\"exited 0\"}}";
    let cassette = Cassette::parse(text).unwrap();
    let asked = LaneIdentity::new("whatever", None, None, Some("one"), None);
    let found = cassette.find(&asked).unwrap();
    assert_eq!((found.events.len(), found.end), (2, ProcessEnd::Exited(0)));
    assert!((cassette.pace - 0.5).abs() < f64::EPSILON);
}

#[test]
fn a_broken_line_is_named() {
    let head = Cassette::head();
    let request = "{\"request\":{\"hash\":\"h\"}}";
    for (text, expected) in [
        (String::new(), "line 1: it must begin with a line `cassette`"),
        (request.to_owned(), "line 1: it must begin with a line `cassette`"),
        ("{\"cassette\":{\"version\":2}}".to_owned(), "line 1: it has another version"),
        (
            "{\"cassette\":{\"version\":1,\"pace\":-1}}".to_owned(),
            "line 1: `pace` must be from 0 to 100",
        ),
        (format!("{head}\n\n{{\"text\":"), "line 3 is not a known event"),
        (format!("{head}\n{{\"words\":{{}}}}"), "line 2 is not a known event"),
        (format!("{head}\n{{\"request\":{{\"hush\":\"h\"}}}}"), "line 2 is not a known event"),
        (format!("{head}\n{head}"), "line 2: a file has only one line `cassette`"),
        (
            format!("{head}\n{{\"text\":{{\"text\":\"x\"}}}}"),
            "line 2: it belongs to no lane; a line `request` must come first",
        ),
        (format!("{head}\n{request}\n{request}"), "line 3: the lane before has no line `end`"),
        (format!("{head}\n{request}"), "line 2: the last lane has no line `end`"),
        (
            format!("{head}\n{request}\n{{\"end\":{{\"how\":\"well\"}}}}"),
            "line 3: `how` is not a known end of a lane",
        ),
        (
            format!("{head}\n{request}\n{{\"trouble\":{{\"kind\":\"odd\",\"message\":\"\"}}}}"),
            "line 3: its `kind` is not a known failure",
        ),
        (
            format!(
                "{head}\n{request}\n{{\"ended\":{{\"at_ms\":2}}}}\n{{\"ended\":{{\"at_ms\":1}}}}"
            ),
            "line 4: its time is earlier than that of the line above",
        ),
    ] {
        assert_eq!(Cassette::parse(&text).unwrap_err().to_string(), expected, "{text}");
    }
}

// Not the next one in line, and no label unless the entry allows it.
#[test]
fn an_answer_is_found_by_its_request() {
    let asked = |prompt: &str, label| LaneIdentity::new(prompt, Some("opus"), None, label, None);
    let hash = |prompt| asked(prompt, None).hash;
    let entries = vec![
        entry(&hash("a"), Some("one"), CassetteMatching::Exact),
        entry(&hash("b"), Some("two"), CassetteMatching::Label),
        entry(&hash("c"), None, CassetteMatching::Label),
    ];
    let cassette = Cassette { pace: 0.0, entries };
    let found = |asked: &LaneIdentity| {
        let entry = cassette.find(asked)?;
        cassette.entries.iter().position(|other| other == entry)
    };
    assert_eq!(found(&asked("a", None)), Some(0));
    assert_eq!(found(&asked("a", Some("two"))), Some(0), "the same words count more");
    assert_eq!(found(&asked("other", Some("two"))), Some(1));
    assert_eq!(found(&asked("other", Some("one"))), None);
    assert_eq!(found(&asked("other", None)), None);
}

#[test]
fn a_request_is_prompt_model_and_session() {
    let home = Some(Path::new("/home/june/"));
    let asked = |prompt: &str, model, resume| LaneIdentity::new(prompt, model, resume, None, home);
    let one = asked("Look at /home/june/x.\nNow.", None, None);
    for same in ["Look at ~/x.\nNow.", "Look at /home/june/x.\r\nNow.\r\n"] {
        assert_eq!(asked(same, None, None), one, "{same:?}");
    }
    for other in [
        asked("Look at ~/x. Now.", None, None),
        asked("Look at ~/x.\nNow.", Some("opus"), None),
        asked("Look at ~/x.\nNow.", None, Some("opus")),
    ] {
        assert_ne!(other, one);
    }
}

#[test]
fn a_users_home_is_not_recorded() {
    let mut entry = everything();
    entry.request.prompt = shown("\n  Look at /home/june/x \u{7}now\nand more");
    entry.events.insert(0, (Duration::ZERO, LaneEvent::Text("/home/june/y".to_owned())));
    let lines = entry.lines(Some(Path::new("/home/june")));
    assert!(!lines.contains("june"), "{lines}");
    assert!(lines.contains("\"prompt\":\"Look at ~/x now\"") && lines.contains("~/y"), "{lines}");
}

proptest! {
    #[test]
    fn no_text_does_harm(text in "\\PC{0,60}", lines in prop::collection::vec(
        "(\\{\"(request|end|text|ended)\":\\{(\"how\":\"exited [0-9]\"|\"text\":\"x\")?\\}\\}|)", 0..6)
    ) {
        let head = Cassette::head();
        Cassette::parse(&text).ok();
        Cassette::parse(&format!("{head}\n{}\n{text}", lines.join("\n"))).ok();
    }

    #[test]
    fn any_words_survive(words in "(\\PC|\n|\r|\u{2028}|\u{0}){0,40}") {
        let mut entry = everything();
        entry.events.push((Duration::from_secs(1), LaneEvent::Text(words)));
        let text = format!("{}\n{}", Cassette::head(), entry.lines(None));
        prop_assert_eq!(Cassette::parse(&text).unwrap().entries, [entry]);
    }
}
