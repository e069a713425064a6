//! `convoke hook`: answers to clients, once per loss of memory.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::harness::{Outcome, Project};

/// A project with an open task of june's and a skill of the given length.
pub(crate) fn project(skill_lines: usize) -> Project {
    let skill = "Do this, and then do that, carefully and in order.\n".repeat(skill_lines);
    let project = Project::new()
        .in_repository("main")
        .file(".claude/skills/test-driven-development.md", format!("# TDD\n\n{skill}"))
        .file(
            "../home/.config/convoke/config.toml",
            "[wake]\nagent = 'june'\nwake_budget = 100000\n",
        );
    project.run(&["task", "add", "Build the parser", "--skill", "test-driven-development"]);
    project
}

/// Distinguishes otherwise equal events. All entries receive the same input for one event, and here
/// a session begins no more than once.
pub(crate) fn turn(event: &str) -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    if event == "SessionStart" { 0 } else { NEXT.fetch_add(1, Ordering::Relaxed) }
}

pub(crate) fn hook(
    project: &Project,
    client: &str,
    event: &str,
    session: &str,
    cause: &str,
    part: [&str; 2],
) -> Outcome {
    let cwd = project.root().display().to_string();
    let input = json!({ "session_id": session, "cwd": cwd, "hook_event_name": event,
        "source": cause, "turn": turn(event) });
    let arguments = ["hook", client, event, "--part", part[0], "--of", part[1]];
    project.run_with_input(&arguments, input.to_string().as_bytes())
}

/// Returns the injected text, checking that the answer is what the client expects.
#[track_caller]
pub(crate) fn context(outcome: &Outcome, event: &str) -> Option<String> {
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome}");
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    if answer == json!({}) {
        return None;
    }
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], event);
    Some(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned())
}

// W-20e: start, clear and compact deliver; resume and prompts only what never arrived.
#[test]
fn every_loss_of_memory_is_answered_once() {
    let project = project(3);
    let ask = |event: &str, cause: &str| {
        context(&hook(&project, "claude", event, "s-1", cause, ["1", "1"]), event).is_some()
    };
    let heard = [
        (ask("SessionStart", "startup"), true),
        (ask("UserPromptSubmit", ""), false),
        (ask("SessionStart", "resume"), false),
        (ask("SessionStart", "compact"), true),
        (ask("UserPromptSubmit", ""), false),
        (ask("SessionStart", "clear"), true),
        (ask("PreCompact", "auto"), false),
        (ask("Stop", ""), false),
    ];
    for (index, (delivered, expected)) in heard.iter().enumerate() {
        assert_eq!(delivered, expected, "event {index}");
    }
    let other = hook(&project, "claude", "SessionStart", "s-2", "resume", ["1", "1"]);
    assert!(context(&other, "SessionStart").is_some(), "an unknown session has nothing");
}

// Important text comes first, and the text is marked at both ends.
#[test]
fn the_text_is_marked_and_begins_with_the_task() {
    let project = project(3);
    project.run(&["agent", "add", "june"]);
    project.run(&["say", "please hurry, @june", "--as", "ana"]);
    let text = context(
        &hook(&project, "codex", "SessionStart", "s", "startup", ["1", "1"]),
        "SessionStart",
    );
    let text = text.unwrap();
    assert!(text.starts_with("[convoke wake-up 1/1 "), "{text}");
    assert!(text.trim_end().lines().last().unwrap().starts_with("[end of convoke wake-up 1/1 "));
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} in {text}"));
    assert!(place("Build the parser") < place("please hurry, @june"));
    assert!(place("please hurry, @june") < place("# TDD"));
    assert_eq!(project.stdout(&["inbox", "june"]), "No new messages for @june.");
}

// Clients cut long texts, so they come in parts below the limit, the same text for all entries.
#[test]
fn a_long_wake_up_is_spread_over_entries() {
    let project = project(500);
    let parts: Vec<_> = ["1", "2", "3", "4"]
        .iter()
        .map(|part| {
            let outcome = hook(&project, "claude", "SessionStart", "s", "startup", [part, "4"]);
            context(&outcome, "SessionStart")
        })
        .collect();
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    assert_eq!(parts.len(), 3);
    assert!(parts.iter().all(|part| part.chars().count() <= 10_000));
    let joined = parts.concat();
    assert_eq!(joined.matches("carefully and in order.").count(), 500);
}

// Hooks in the settings and in the plugin, all started at the same moment: every part comes once,
// and so does the message.
#[test]
fn hooks_that_are_installed_twice_deliver_once() {
    let project = project(500);
    project.run(&["say", "please hurry, @june", "--as", "ana"]);
    let cwd = project.root().display().to_string();
    for (event, cause) in [("SessionStart", "startup"), ("SessionStart", "compact")] {
        let input = json!({ "session_id": "s", "cwd": cwd, "source": cause }).to_string();
        let path = project.path("../event");
        std::fs::write(&path, input).unwrap();
        let started = ["1", "2", "3", "4", "1", "2", "3", "4"].map(|part| {
            let words = ["hook", "claude", event, "--part", part, "--of", "4"];
            let program = std::path::Path::new(env!("CARGO_BIN_EXE_convoke"));
            let mut command = project.command(program, &words);
            command.stdin(std::fs::File::open(&path).unwrap()).spawn().unwrap()
        });
        let answers = started.map(|child| {
            let output = child.wait_with_output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        });
        let all = answers.concat();
        for part in ["1/3", "2/3", "3/3"] {
            let mark = format!("[convoke wake-up {part} ");
            assert_eq!(all.matches(&mark).count(), 1, "{part} of {cause}");
        }
        assert_eq!(all.matches("carefully and in order.").count(), 500, "{cause}");
    }
    assert_eq!(project.stdout(&["inbox", "june"]), "No new messages for @june.");
}

// A message is read once every part of the text is out, and a prompt has come: it may be in any of them.
#[test]
fn a_message_is_read_with_the_last_part() {
    let project = project(500);
    project.run(&["say", "please hurry, @june", "--as", "ana"]);
    for part in ["2", "1"] {
        let outcome = hook(&project, "claude", "SessionStart", "s", "startup", [part, "4"]);
        assert!(context(&outcome, "SessionStart").is_some());
        assert!(project.stdout(&["inbox", "june"]).contains("please hurry"), "{part}");
    }
    hook(&project, "claude", "SessionStart", "s", "startup", ["3", "4"]);
    assert!(project.stdout(&["inbox", "june"]).contains("please hurry"), "no prompt came yet");
    hook(&project, "claude", "UserPromptSubmit", "s", "", ["1", "4"]);
    assert_eq!(project.stdout(&["inbox", "june"]), "No new messages for @june.");
}

// Too long for all entries together: shortened, and the text gives the command for the rest.
#[test]
fn a_wake_up_that_is_too_long_says_where_the_rest_is() {
    let project = project(500);
    let outcome = hook(&project, "claude", "SessionStart", "s", "startup", ["1", "1"]);
    let text = context(&outcome, "SessionStart").unwrap();
    assert!(text.chars().count() <= 10_000);
    assert!(text.contains("the whole text: `convoke wake june --budget 1000000`"), "{text}");
    assert!(text.contains("> truncated: test-driven-development at char_offset="), "{text}");
}

// Wide characters take more bytes than the estimate knows; nothing is lost for that.
#[test]
fn wide_text_fits_too() {
    let project = project(1).file(
        ".claude/skills/test-driven-development.md",
        "# TDD\n\n## 하나\n\n".to_owned()
            + &"가나다라마바사아자차카타파하 가나다라마바사.\n".repeat(300),
    );
    let outcome = hook(&project, "claude", "SessionStart", "s", "startup", ["1", "1"]);
    let text = context(&outcome, "SessionStart").unwrap();
    assert!(text.len() <= 10_000);
    assert!(text.contains("> truncated: test-driven-development at char_offset="), "{text}");
}

#[test]
fn each_client_is_answered_in_its_own_format() {
    let project = project(1);
    let answer = |client: &str, event: &str| -> Value {
        let outcome = hook(&project, client, event, client, "startup", ["1", "1"]);
        serde_json::from_str(&outcome.stdout).unwrap()
    };
    let gemini = answer("gemini", "BeforeAgent");
    assert!(gemini["hookSpecificOutput"]["additionalContext"].is_string(), "{gemini}");
    assert_eq!(answer("gemini", "SessionStart"), json!({}), "it would be dropped there");
    assert!(answer("cursor", "sessionStart")["additional_context"].is_string());
    assert!(answer("opencode", "session.created")["context"].is_string());
}

// A hook never blocks its client: silence and success, for any input.
#[test]
fn nonsense_is_answered_with_silence() {
    let project = project(1);
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let inputs: [&[u8]; 7] =
        [b"", b"{", b"[]", b"\xff\xfe", b"{}", b"{\"session_id\":5}", deep.as_bytes()];
    for input in inputs {
        let outcome = project.run_with_input(&["hook", "claude", "SessionStart"], input);
        assert_eq!(outcome.to_string(), "exit: 0\n--- stdout\n{}\n--- stderr\n");
    }
}

// Exit 2 would block the user's prompt, and an entry may be of another version.
#[test]
fn wrong_usage_never_blocks_a_client() {
    let project = project(1);
    for arguments in [
        &["hook"][..],
        &["hook", "other", "X"],
        &["hook", "claude", "X", "--new-flag"],
        &["-C", ".", "--json", "-v", "hook", "claude", "X", "--new-flag"],
        &["--project=.", "-v", "--newer", "hook", "claude", "X"],
    ] {
        let outcome = project.run_with_input(arguments, b"{}");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "{}\n"), "{arguments:?}");
        assert!(outcome.stderr.starts_with("error: "), "{outcome}");
    }
    assert!(project.run(&["hook", "--help"]).stdout.contains("Always exits 0"));
}

// Everywhere else `hook` is an ordinary word.
#[test]
fn the_word_hook_behind_another_command_hides_no_wrong_usage() {
    let project = project(1);
    for arguments in [
        &["say", "hook", "--bogus"][..],
        &["-C", "hook", "say", "--bogus"],
        &["--json", "say", "--as", "hook", "--bogus"],
        &["-C", "hook"],
        &["-vC", "hook", "say", "--bogus"],
        &["--", "hook"],
        &["plumbing", "hook"],
        &["hok", "hook"],
    ] {
        let outcome = project.run_with_input(arguments, b"{}");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(outcome.stderr.starts_with("error: "), "{outcome}");
    }
}

#[test]
fn outside_a_project_or_without_an_agent_there_is_silence() {
    let project = Project::new();
    let input = json!({ "session_id": "s", "cwd": "/", "source": "startup" }).to_string();
    let outcome = project.run_with_input(&["hook", "claude", "SessionStart"], input.as_bytes());
    assert_eq!(outcome.to_string(), "exit: 0\n--- stdout\n{}\n--- stderr\n");
    let project = project.in_repository("main");
    project.run(&["task", "add", "x"]);
    let unbound = hook(&project, "claude", "SessionStart", "s", "startup", ["1", "1"]);
    assert_eq!(context(&unbound, "SessionStart"), None);
    let named = project.variable("CONVOKE_AGENT", "june");
    let june = hook(&named, "claude", "SessionStart", "s", "compact", ["1", "1"]);
    assert!(context(&june, "SessionStart").unwrap().contains("You are @june"));
    // The session is june's from now on, for any caller.
    let bound = named.variable("CONVOKE_AGENT", "");
    let again = hook(&bound, "claude", "SessionStart", "s", "clear", ["1", "1"]);
    assert!(context(&again, "SessionStart").unwrap().contains("You are @june"));
}

/// Does what Cursor's documentation describes for an event: runs every entry of its settings, and
/// passes on their answers.
fn cursor_runs(project: &Project, event: &str) -> Vec<String> {
    let settings = std::fs::read_to_string(project.path(".cursor/hooks.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let input = json!({ "conversation_id": "c-1", "generation_id": "g-1", "hook_event_name": event,
        "workspace_roots": [project.root()], "prompt": "hello", "turn": turn(event) });
    let entries = settings["hooks"][event].as_array().unwrap();
    let answers = entries.iter().map(|entry| {
        let outcome = project.shell(entry["command"].as_str().unwrap(), &input.to_string());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome}");
        serde_json::from_str::<Value>(&outcome.stdout).unwrap()
    });
    answers.filter_map(|answer| Some(answer["additional_context"].as_str()?.to_owned())).collect()
}

// Cursor is not available as a program here, so this follows its documentation.
#[test]
fn cursor_gets_wake_ups_through_its_own_settings() {
    let project = project(500);
    project.run(&["hooks", "install", "cursor"]);
    let whole = |texts: Vec<String>| texts.concat().matches("carefully and in order.").count();
    let first = cursor_runs(&project, "sessionStart");
    assert!(first.iter().all(|text| text.chars().count() <= 10_000));
    assert_eq!(whole(first), 500);
    assert_eq!(cursor_runs(&project, "beforeSubmitPrompt"), Vec::<String>::new());
    assert_eq!(cursor_runs(&project, "preCompact"), Vec::<String>::new());
    assert_eq!(whole(cursor_runs(&project, "beforeSubmitPrompt")), 500);
    assert_eq!(cursor_runs(&project, "beforeSubmitPrompt"), Vec::<String>::new());
}

// A message counts as seen only if the delivered text contains it, whichever command made that
// text.
#[test]
fn a_message_that_was_not_shown_stays_unread() {
    let project = project(3);
    let part = |number: &str| {
        let outcome = hook(&project, "claude", "SessionStart", "s", "startup", [number, "2"]);
        context(&outcome, "SessionStart").unwrap_or_default()
    };
    part("2");
    project.run(&["say", "URGENT @june", "--as", "ana"]);
    assert!(!part("1").contains("URGENT"), "the text was made before");
    assert!(project.stdout(&["inbox", "june"]).contains("URGENT"));
    let again = hook(&project, "claude", "SessionStart", "s", "compact", ["1", "2"]);
    assert!(context(&again, "SessionStart").unwrap().contains("URGENT"));
    assert_eq!(project.stdout(&["inbox", "june"]), "No new messages for @june.");
}

// A title of 30,000 characters is cut with a mark, and displaces no message; a message that is not
// shown stays unread.
#[test]
fn a_long_title_displaces_no_message() {
    let project = project(1);
    let id = project.stdout(&["task", "add", &"A title without an end ".repeat(1300)]);
    project.run(&["task", "start", &id, "--as", "june"]);
    project.run(&["say", "URGENT @june", "--as", "ana"]);
    let mark = format!("… [`convoke task show {id}`]");
    let first = hook(&project, "claude", "SessionStart", "s", "startup", ["1", "1"]);
    let first = context(&first, "SessionStart").unwrap();
    assert!(first.contains("URGENT") && first.contains(&mark) && first.len() <= 10_000, "{first}");
    hook(&project, "claude", "UserPromptSubmit", "s", "", ["1", "1"]);
    assert_eq!(project.stdout(&["inbox", "june"]), "No new messages for @june.");
    let long = format!("@june {}", "A long story. ".repeat(3000));
    project.run(&["say", &long, "--as", "ana"]);
    let second = hook(&project, "claude", "SessionStart", "s", "compact", ["1", "1"]);
    let second = context(&second, "SessionStart").unwrap();
    assert!(second.contains("characters more: `convoke inbox june --mark`]"), "{second}");
    assert!(second.contains(&mark), "{second}");
    assert!(project.stdout(&["inbox", "june"]).contains("A long story."));
}

// Important text is included, however much there is beside it.
#[test]
fn a_long_list_and_a_long_message_leave_room_for_the_rest() {
    let project = project(3);
    let titles: Vec<_> =
        (0..600).map(|n| format!("Another thing to be done, number {n}")).collect();
    let titles: Vec<_> = titles.iter().map(String::as_str).collect();
    project.run(&[&["task", "add"], titles.as_slice()].concat());
    project.run(&["say", "URGENT @june", "--as", "ana"]);
    let first = hook(&project, "claude", "SessionStart", "s", "startup", ["1", "1"]);
    let text = context(&first, "SessionStart").unwrap();
    assert!(text.contains("URGENT") && text.contains("## Your Next Action"), "{text}");
    assert!(text.contains("Build the parser") && text.contains("`convoke task tree`"), "{text}");
    let long = format!("@june {}", "a long story ".repeat(80_000));
    project.run_with_input(&["say", "-", "--as", "ana"], long.as_bytes());
    let second = hook(&project, "claude", "SessionStart", "s", "compact", ["1", "1"]);
    let text = context(&second, "SessionStart").unwrap();
    assert!(text.contains("characters more: `convoke inbox june --mark`]"), "{text}");
    assert!(text.contains("## Your Next Action"), "{text}");
    assert!(project.stdout(&["inbox", "june"]).contains("a long story"), "it was not all shown");
}

// A hook exits 0 even if it cannot print, and with flags at any position.
#[cfg(unix)]
#[test]
fn a_hook_that_cannot_even_print_stops_no_client() {
    let project = project(1);
    let program = env!("CARGO_BIN_EXE_convoke");
    for flags in ["hook claude SessionStart", "-v hook claude X", "--bad hook x"] {
        let script = format!("echo '{{}}' | {program} {flags} > /dev/full");
        let mut shell = project.command(std::path::Path::new("sh"), &["-c", &script]);
        assert_eq!(shell.output().unwrap().status.code(), Some(0), "{flags}");
    }
}
