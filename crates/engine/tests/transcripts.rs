//! Records of real clients, from their lines to receipts.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its records should stop")]

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::receipt::{Contents, Demanded, Lines, ReadState, Seen, ShownText, receipts};
use convoke_engine::transcript::reads::{RecordEnding, SessionRecord, WantedReads, reads};

const GAMMA: &str = "foo bar\nnothing\nfoo baz\n";

fn alpha() -> String {
    (1..=12).map(|n| format!("line {n} of alpha\n")).collect::<Vec<_>>().concat()
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts")
}

fn session(client: Client, name: &str) -> SessionRecord {
    let path = fixtures().join(client.name()).join(name);
    let file = BufReader::new(File::open(path).unwrap());
    reads(
        client,
        file,
        &WantedReads { folder: Some(Path::new("/project")), names: &[], ..WantedReads::default() },
    )
    .unwrap()
}

/// Renders every read in a few words; `=` if the text is known.
fn looks(session: &SessionRecord) -> Vec<String> {
    let told = |seen: &Seen| match seen {
        Seen::Lines { path, lines, text } => {
            let lines = match lines {
                Lines::Whole => "all".to_owned(),
                Lines::Range { first, last: Lines::END } => format!("{first}-"),
                Lines::Range { first, last } => format!("{first}-{last}"),
                Lines::Last(count) => format!("last {count}"),
                Lines::Some => "some".to_owned(),
            };
            let known = if *text == ShownText::Unknown { "" } else { " =" };
            format!("{lines} {}{known}", path.strip_prefix("/project/").unwrap_or(path))
        }
        Seen::Nothing { path } => format!("nothing {}", path.strip_prefix("/project/").unwrap()),
        Seen::Maybe { command, .. } | Seen::Perhaps { command, .. } => format!("perhaps {command}"),
    };
    session.reads.iter().map(|read| told(&read.seen)).collect()
}

#[test]
fn claude_codes_records_tell_every_read() {
    let expected = [
        "all alpha.md =",
        "3-6 alpha.md =",
        "2- docs/gamma.md =",
        "nothing missing.md",
        "nothing alpha.md",
        "all beta.md =",
        "1-5 alpha.md =",
        "some docs/gamma.md",
        "nothing missing.md",
        "all docs/gamma.md =",
    ];
    for name in ["reads.transcript.jsonl", "reads.printed.jsonl"] {
        assert_eq!(looks(&session(Client::Claude, name)), expected, "{name}");
    }
}

#[test]
fn codexs_records_tell_every_read() {
    let mut expected = vec![
        "all alpha.md =",
        "3-6 alpha.md =",
        "5-9 alpha.md =",
        "nothing missing.md",
        "some docs/gamma.md",
        "all beta.md =",
        "1-2 alpha.md =",
        "all docs/gamma.md =",
    ];
    assert_eq!(looks(&session(Client::Codex, "reads.transcript.jsonl")), expected);
    // Its printed events do not name the folder of a command.
    expected[7] = "all gamma.md =";
    assert_eq!(looks(&session(Client::Codex, "reads.printed.jsonl")), expected);
}

#[test]
fn the_other_clients_records_tell_every_read() {
    for (client, name, expected) in [
        (
            Client::Gemini,
            "reads.printed.jsonl",
            &[
                "all alpha.md",
                "3-6 alpha.md",
                "2- docs/gamma.md",
                "nothing missing.md",
                "all beta.md =",
            ][..],
        ),
        (
            Client::Gemini,
            "reads.transcript.jsonl",
            &[
                "all alpha.md =",
                "3-6 alpha.md =",
                "nothing missing.md",
                "all beta.md =",
                "some docs/gamma.md",
            ],
        ),
        (
            Client::Opencode,
            "reads.printed.jsonl",
            &[
                "all alpha.md =",
                "3-6 alpha.md =",
                "2- docs/gamma.md =",
                "nothing missing.md",
                "all beta.md =",
                "some docs/gamma.md",
            ],
        ),
        (
            Client::Cursor,
            "reads.printed.jsonl",
            &["all alpha.md =", "3-6 alpha.md =", "nothing missing.md", "all beta.md ="],
        ),
    ] {
        assert_eq!(looks(&session(client, name)), expected, "{client:?} {name}");
    }
}

/// Every record with its client.
fn all() -> Vec<(Client, String)> {
    let of_client = |client: Client| {
        let folder = fs::read_dir(fixtures().join(client.name())).unwrap();
        folder.map(move |entry| (client, entry.unwrap().file_name().into_string().unwrap()))
    };
    Client::WITH_HOOKS.into_iter().flat_map(of_client).collect()
}

#[test]
fn every_record_is_understood_to_its_last_line() {
    assert_eq!(all().len(), 12);
    for (client, name) in all() {
        let session = session(client, &name);
        assert_eq!(session.lines.passed_over, 0, "{client:?} {name}");
        assert_eq!(session.ending, RecordEnding::Whole, "{client:?} {name}");
        let answer = session.answer.unwrap();
        assert_eq!(answer.text, "I have read what I could.", "{client:?} {name}");
        let is_last = session.reads.iter().all(|read| read.step < answer.step);
        assert!(is_last, "{client:?} {name}");
        assert_eq!(session.reads.is_empty(), name.starts_with("no-read"), "{client:?} {name}");
    }
}

#[test]
fn a_record_of_another_client_is_recognized() {
    for (client, name) in all() {
        let path = fixtures().join(client.name()).join(&name);
        for other in Client::WITH_HOOKS {
            let file = BufReader::new(File::open(&path).unwrap());
            let session = reads(other, file, &WantedReads::default()).unwrap();
            assert_eq!(session.is_foreign(), other != client, "{name} of {client:?} as {other:?}");
            assert!(other == client || session.reads.is_empty(), "{name} as {other:?}");
        }
    }
}

#[test]
fn a_record_that_is_cut_says_so_and_keeps_what_came_before() {
    for (client, name) in all() {
        let bytes = fs::read(fixtures().join(client.name()).join(&name)).unwrap();
        let whole = session(client, &name);
        for end in (0..bytes.len()).step_by(3) {
            let source = &bytes[..end];
            let session = reads(
                client,
                source,
                &WantedReads {
                    folder: Some(Path::new("/project")),
                    names: &[],
                    ..WantedReads::default()
                },
            )
            .unwrap();
            let is_cut = source.last().is_some_and(|last| *last != b'\n') && bytes[end] != b'\n';
            assert_eq!(session.ending == RecordEnding::Cut, is_cut, "{name} {end}");
            assert!(whole.reads.starts_with(&session.reads), "{name} {end}");
        }
    }
}

#[test]
fn receipts_follow_from_records() {
    let alpha = alpha();
    let changed = alpha.replace("line 4", "line four");
    for (client, name) in all().into_iter().filter(|(_, name)| !name.starts_with("no-read")) {
        let session = session(client, &name);
        let demanded = [
            Demanded { name: "alpha", path: "/project/alpha.md", now: Contents::Text(&alpha) },
            Demanded {
                name: "beta",
                path: "/project/beta.md",
                now: Contents::Text("one\ntwo\nthree\n"),
            },
            Demanded { name: "missing", path: "/project/missing.md", now: Contents::Unknown },
            Demanded { name: "gamma", path: "/project/docs/gamma.md", now: Contents::Text(GAMMA) },
            Demanded { name: "delta", path: "/project/delta.md", now: Contents::Text("x") },
        ];
        let answered = session.answer.map(|answer| answer.step);
        let found = receipts(&demanded, &session.reads, answered);
        assert_eq!(found[0].standing, ReadState::Whole, "{client:?} {name}");
        assert_eq!(found[1].standing, ReadState::Whole, "{client:?} {name}");
        assert!(matches!(found[2].standing, ReadState::NotRead { attempts: 1.. }), "{client:?}");
        assert_eq!(found[4].standing, ReadState::NotRead { attempts: 0 }, "{client:?} {name}");
        // An older version is recognized if the text is known.
        let demanded = [Demanded { now: Contents::Text(&changed), ..demanded[0] }];
        let older = &receipts(&demanded, &session.reads, answered)[0];
        let knows_text = (client, name.as_str()) != (Client::Gemini, "reads.printed.jsonl");
        let is_older = matches!(older.standing, ReadState::Older { .. });
        assert_eq!(is_older, knows_text, "{client:?} {name} {older:?}");
        assert_eq!(older.shown_whole.is_some(), knows_text, "{client:?} {name}");
    }
}
