//! Hooks in settings files of every odd shape: written, removed again, and every other byte stays,
//! even if the user edited the file in between.
//!
//! The files are in `settings/`, one case each.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::fs;
use std::path::Path;

use convoke_domain::client::Client;
use convoke_engine::hooks::{FormerFile, count, install, original, uninstall};
use proptest::prelude::*;

const CLIENTS: [Client; 4] = [Client::Claude, Client::Codex, Client::Gemini, Client::Cursor];

fn files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/settings");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files.map(|path| (named(&path), fs::read_to_string(path).unwrap())).collect()
}

fn installed(text: &str, client: Client) -> String {
    install(Some(text), Some(text), client, Path::new("convoke"), 2).unwrap()
}

/// Takes a client's entries out of a file that changed since `before`.
fn taken_out(text: &str, before: &str, client: Client) -> String {
    uninstall(text, FormerFile::Text(before), client).unwrap().unwrap()
}

/// Edits that a user could make to a file, with or without Convoke's entries.
fn edits(text: &str) -> Vec<(&'static str, Option<String>)> {
    let (mark, rest) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    vec![
        ("nothing", Some(text.to_owned())),
        ("a comment at the end", Some(format!("{text}\n// note\n"))),
        ("a comment at the top", Some(format!("{mark}// mine\n{rest}"))),
        ("a key changed", Some(text.replace("keep", "kept"))),
        ("a value changed", Some(text.replace("\"b\": 2", "\"b\": 2000"))),
        (
            "a member in front",
            text.contains("keep").then(|| text.replacen('{', "{ \"new\": [1], ", 1)),
        ),
        ("another hook in front", with_another_hook(text)),
    ]
}

/// Adds a hook of the user's at the beginning of a list that has one already.
fn with_another_hook(text: &str) -> Option<String> {
    let list = text.rfind("\"SessionStart\"").map(|at| at + text[at..].find('[').unwrap() + 1)?;
    let has_one = text[list..].trim_start().starts_with('{');
    let hook = "{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}, ";
    has_one.then(|| format!("{}{hook}{}", &text[..list], &text[list..]))
}

#[test]
fn there_are_enough_odd_files() {
    assert!(files().len() >= 60, "{}", files().len());
}

#[test]
fn every_byte_that_is_not_ours_stays() {
    for (name, before) in files() {
        for client in CLIENTS {
            let after = installed(&before, client);
            assert!(count(&after, client).unwrap() > 0, "{name}");
            let remembered = Some((Some(before.as_str()), after.as_str()));
            assert_eq!(original(Some(&after), remembered, client).unwrap().unwrap(), before);
            let pairs = edits(&before).into_iter().zip(edits(&after));
            for ((edit, expected), (_, edited)) in pairs {
                let (Some(expected), Some(edited)) = (expected, edited) else { continue };
                // Cursor reads no hook of the user's without the version, so it stays for theirs.
                if client == Client::Cursor && edit == "another hook in front" {
                    continue;
                }
                let left = taken_out(&edited, &before, client);
                // Convoke's entries need an object, and lines of their own, in a file without a value.
                if !before.contains('{') && edit != "nothing" {
                    assert_eq!(count(&left, client).unwrap(), 0, "{name}: {edit}");
                    let is_there = |line: &str| {
                        line.trim().is_empty() || left.lines().any(|other| other == line)
                    };
                    let lost = expected.lines().find(|line| !is_there(line));
                    assert_eq!(lost, None, "{name}, {edit}:\n{edited}\n{left}");
                    continue;
                }
                assert_eq!(left, expected, "{name}, {}, {edit}:\n{edited}", client.name());
            }
        }
    }
}

// Another program's additions behind Convoke's entries outlive them, in either order.
#[test]
fn entries_of_others_behind_ours_stay() {
    let pair = [Client::Claude, Client::Codex];
    for (name, before) in files() {
        for [first, second] in [pair, [pair[1], pair[0]]] {
            let one = installed(&before, first);
            let both = installed(&one, second);
            assert_eq!(taken_out(&both, &one, second), one, "{name}");
            let left = taken_out(&both, &before, first);
            let counts = [first, second].map(|client| count(&left, client).unwrap());
            assert_eq!(counts, [0, 4], "{name}: {left}");
            assert_eq!(taken_out(&left, &before, second), before, "{name}: {both}\n{left}");
        }
    }
}

// The user's text behind Convoke's entry, in its line, must not end up in the comment before it.
#[test]
fn no_comment_swallows_what_follows() {
    for (before, close) in [("{\n  \"keep\": 1 // c\n}", "\n}"), ("{ // c\n}", "\n}")] {
        let after = installed(before, Client::Claude);
        let edited = after.strip_suffix(close).unwrap().to_owned() + ", \"b\": 2 }";
        let left = taken_out(&edited, before, Client::Claude);
        let bare: String = left.lines().map(|line| line.split("//").next().unwrap()).collect();
        let value: serde_json::Value = serde_json::from_str(&bare).unwrap();
        assert_eq!(value["b"], 2, "{left}");
        assert!(left.contains("// c\n") && !left.contains("hooks"), "{left}");
    }
}

#[test]
fn without_a_memory_of_the_file_nothing_but_empty_lists_goes() {
    for (name, before) in files() {
        for client in CLIENTS {
            let left = uninstall(&installed(&before, client), FormerFile::Unknown, client)
                .unwrap()
                .unwrap();
            assert_eq!(count(&left, client).unwrap(), 0, "{name}");
            let words = |text: &str| {
                let has_letters = |word: &&str| word.contains(|c: char| c.is_alphanumeric());
                let is_known = |word: &&str| !word.contains("ook") && !word.contains("ession");
                let all = text.split_whitespace().filter(has_letters).filter(is_known);
                all.map(|word| word.trim_end_matches(',').to_owned()).collect::<Vec<_>>().join(" ")
            };
            if !["BeforeAgent", "SessionStart", "sessionStart"]
                .iter()
                .any(|event| before.contains(event))
                && client != Client::Cursor
            {
                assert_eq!(words(&left), words(&before), "{name}");
            }
        }
    }
}

fn trivia() -> impl Strategy<Value = String> {
    let pieces =
        ["", " ", "  ", "\t", "\n", "\r\n\t", "\n    ", " /* c */ ", " // , } ]\n", "\n// c\r\n"];
    prop::sample::select(pieces.to_vec()).prop_map(str::to_owned)
}

/// Joins values in an untidy layout.
///
/// Boxed, as members are: the types of strategies inside strategies have names of megabytes.
fn list(
    open: char,
    items: impl Strategy<Value = String> + 'static,
    close: char,
) -> BoxedStrategy<String> {
    let item =
        (trivia(), items, trivia()).prop_map(|(before, item, after)| before + &item + &after);
    (prop::collection::vec(item, 0..4), any::<bool>(), trivia())
        .prop_map(move |(items, trailing, inside)| {
            let comma = if trailing && !items.is_empty() { "," } else { "" };
            format!("{open}{}{comma}{inside}{close}", items.join(","))
        })
        .boxed()
}

fn member(
    key: impl Strategy<Value = &'static str> + 'static,
    value: impl Strategy<Value = String> + 'static,
) -> BoxedStrategy<String> {
    (key, trivia(), trivia(), value)
        .prop_map(|(key, before, after, value)| format!("{key:?}{before}:{after}{value}"))
        .boxed()
}

fn value() -> impl Strategy<Value = String> {
    let plain = ["1", "-0.10", "1e999", "true", "null", "\"a\\u00e9 // \\\" {\"", "\"\"", "[]"];
    let leaf = prop::sample::select(plain.to_vec()).prop_map(str::to_owned);
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key = prop::sample::select(vec!["a", "b", "hooks", "command"]);
        prop_oneof![list('[', inner.clone(), ']'), list('{', member(key, inner), '}')]
    })
}

fn settings() -> impl Strategy<Value = String> {
    let command = prop::sample::select(vec!["echo", "convoke say hi", "x || true"]);
    let entry =
        command.prop_map(|command| format!("{{\"type\": \"command\", \"command\": {command:?}}}"));
    let entries = list('[', entry, ']');
    let group = list('{', member(Just("hooks"), entries), '}');
    let events = vec!["SessionStart", "UserPromptSubmit", "Stop", "BeforeAgent"];
    let event = member(prop::sample::select(events), list('[', group, ']'));
    let hooks = member(Just("hooks"), list('{', event, '}'));
    let other = member(prop::sample::select(vec!["a", "b", "version"]), value());
    let root = list('{', prop_oneof![1 => hooks, 2 => other], '}');
    (prop::sample::select(vec!["", "\u{feff}"]), trivia(), root, trivia())
        .prop_map(|(mark, before, root, after)| format!("{mark}{before}{root}{after}"))
}

proptest! {
    #[test]
    fn every_insertion_can_be_removed(before in settings(), index in 0..4_usize) {
        let client = CLIENTS[index];
        let after = installed(&before, client);
        prop_assert_eq!(taken_out(&after, &before, client), before.clone(), "{}", after);
        // Installing again, in another form, leaves no more behind.
        let bare = taken_out(&after, &before, client);
        let again = install(Some(&after), Some(&bare), client, Path::new("/opt/c"), 3).unwrap();
        prop_assert_eq!(taken_out(&again, &before, client), before);
    }

    #[test]
    fn entries_behind_ours_outlive_them(before in settings()) {
        let (first, second) = (Client::Claude, Client::Codex);
        let both = installed(&installed(&before, first), second);
        let left = taken_out(&both, &before, first);
        prop_assert_eq!(count(&left, second).unwrap(), 4);
        prop_assert_eq!(taken_out(&left, &before, second), before, "{}\n{}", both, left);
    }
}
