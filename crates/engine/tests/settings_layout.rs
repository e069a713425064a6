//! Settings files with Convoke's entries: how they look while the hooks are installed, and what a
//! user's own edits keep when they go.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::path::Path;

use convoke_domain::client::Client;
use convoke_domain::scope::AgentName;
use convoke_engine::hooks::binding::bind;
use convoke_engine::hooks::{FormerFile, count, install, original, uninstall};

const OURS: &str =
    r#"{"hooks": [{"type": "command", "command": "convoke hook claude SessionStart"}]}"#;

fn installed(text: &str, client: Client) -> String {
    install(Some(text), Some(text), client, Path::new("convoke"), 1).unwrap()
}

fn taken_out(text: &str, former: FormerFile<'_>, client: Client) -> String {
    uninstall(text, former, client).unwrap().unwrap()
}

#[test]
fn entries_take_the_style_of_their_surroundings() {
    for (before, expected) in [
        ("{\"a\": 1,   \"b\": 2}", "{\"a\": 1,   \"b\": 2,   \"hooks\": {\"SessionStart\": ["),
        ("{\n  \"hooks\": {}\n}", "\n    \"SessionStart\": [\n      {\n"),
        ("\u{feff}  {}", "\u{feff}  {\n    \"hooks\": {\n"),
        ("\u{feff}", "\u{feff}{\n  \"hooks\": {\n"),
    ] {
        let after = installed(before, Client::Claude);
        assert!(after.contains(expected), "{before:?}: {after}");
    }
    assert!(!installed("{\"hooks\": {}}", Client::Claude).contains('\n'));
    let escaped = installed("{\"h\\u006foks\": {\"SessionStart\": []}}", Client::Claude);
    assert!(!escaped.contains("\"hooks\": {"), "{escaped}");
}

// Clients take the last of several members of one key, so Convoke does not tidy up the others.
#[test]
fn a_hidden_member_loses_our_entries_and_nothing_else() {
    for (before, expected) in [
        (
            format!("{{\"hooks\": {{\"SessionStart\": [{OURS}]}}, \"hooks\": {{\"x\": 1}}}}"),
            "{\"hooks\": {\"SessionStart\": []}, \"hooks\": {\"x\": 1}}",
        ),
        (
            format!("{{\"hooks\": {{\"SessionStart\": [{OURS}], \"SessionStart\": [1]}}}}"),
            "{\"hooks\": {\"SessionStart\": [], \"SessionStart\": [1]}}",
        ),
    ] {
        assert_eq!(taken_out(&before, FormerFile::Unknown, Client::Claude), expected);
    }
}

#[test]
fn what_a_user_wrote_beside_our_entries_stays() {
    let before = "{\"a\": 1}";
    let ours = installed(before, Client::Claude);
    let noted = format!("{} /* mine */, \"b\": 2}}", ours.strip_suffix('}').unwrap());
    let left = taken_out(&noted, FormerFile::Text(before), Client::Claude);
    assert!(left.contains("/* mine */") && left.contains("\"b\": 2"), "{left}");
    let group = OURS.replacen('{', "{ /* mine */ ", 1);
    let text = format!("{{\"hooks\": {{\"SessionStart\": [{group}]}}}}");
    let left = taken_out(&text, FormerFile::Unknown, Client::Claude);
    assert!(left.contains("/* mine */") && !left.contains("convoke"), "{left}");
    // Even a change of blanks alone is the user's.
    let spaced = ours.replacen("\"a\": 1", "\"a\":  1", 1);
    let left = original(Some(&spaced), Some((Some(before), &ours)), Client::Claude).unwrap();
    assert_eq!(left.as_deref(), Some("{\"a\":  1}"));
}

// Cursor reads no hook without the version.
#[test]
fn a_version_that_the_user_needs_stays() {
    let ours = installed("{}", Client::Cursor);
    let former = FormerFile::Text("{}");
    let raised = ours.replacen("\"version\": 1", "\"version\": 2", 1);
    assert!(taken_out(&raised, former, Client::Cursor).contains("\"version\": 2"));
    let with_hook = "\"hooks\": {\"stop\": [{\"command\": \"mine\"}],";
    let shared = ours.replacen("\"hooks\": {", with_hook, 1);
    let left = taken_out(&shared, former, Client::Cursor);
    assert!(left.contains("\"version\": 1") && left.contains("mine"), "{left}");
}

#[test]
fn only_our_entries_for_this_client_count() {
    let other = OURS.replace("claude SessionStart", "codex SessionStart --part 1 --of 1");
    let text = format!("{{\"hooks\": {{\"SessionStart\": [{other}]}}}}");
    assert_eq!(count(&text, Client::Claude).unwrap(), 0);
    // An entry for an event that is no longer used makes the file one to write again.
    let old = OURS.replace("SessionStart", "Stop --part 1 --of 1");
    let with_old = installed(&format!("{{\"hooks\": {{\"Stop\": [{old}]}}}}"), Client::Claude);
    let again = install(Some(&with_old), Some("{}"), Client::Claude, Path::new("convoke"), 1);
    assert!(!again.unwrap().contains("claude Stop"), "{with_old}");
}

#[test]
fn a_dotted_key_goes_behind_a_byte_order_mark() {
    let bound = bind("\u{feff}wake.mode = 'v0'\n", &AgentName::parse("me").unwrap()).unwrap();
    assert_eq!(bound, "\u{feff}wake.agent = \"me\"\nwake.mode = 'v0'\n");
}
