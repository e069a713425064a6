//! `convoke lane run --read`: an agent is sent to read, and its client's record tells whether it did.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Outcome, Project};
use crate::lane::{init, result, said, with_claude};

/// The output of a Claude Code whose agent reads a file.
fn reads(id: &str, path: &str, text: &str) -> String {
    let call =
        json!({ "type": "tool_use", "id": id, "name": "Read", "input": { "file_path": path } });
    let message = json!({ "id": format!("m-{id}"), "role": "assistant", "content": [call] });
    let lines: Vec<_> = text.split('\n').collect();
    let numbered: Vec<_> =
        lines.iter().enumerate().map(|(at, line)| format!("{}\t{line}", at + 1)).collect();
    let shown = json!({ "type": "tool_result", "tool_use_id": id, "content": numbered.join("\n") });
    let file = json!({ "filePath": path, "content": text, "numLines": lines.len(),
        "startLine": 1, "totalLines": lines.len() });
    said(&json!({ "type": "assistant", "session_id": "s-1", "uuid": format!("a-{id}"),
        "message": message }))
        + &said(&json!({ "type": "user", "session_id": "s-1", "uuid": format!("b-{id}"),
            "message": { "content": [shown] }, "tool_use_result": { "type": "text", "file": file } }))
}

/// A project whose agent reads `docs/a.md` and nothing else.
fn reading_one() -> Project {
    let project = with_claude("").file("docs/a.md", "Alpha\n").file("docs/b.md", "Beta\n");
    let path = project.path("docs/a.md").display().to_string();
    let script = format!(
        "#!/bin/sh\ncat > asked\n{}{}{}",
        init(),
        reads("1", &path, "Alpha\n"),
        result(|_| ())
    );
    fs::write(project.path("../home/bin/claude"), script).unwrap();
    project
}

fn run(project: &Project, more: &[&str]) -> Outcome {
    project.run(&[&["lane", "run", "--agent", "claude", "What is it?"], more].concat())
}

#[test]
fn required_reading_leads_to_receipts() {
    let project = reading_one();
    // The same file is demanded once, under any path.
    let outcome = run(&project, &["--read", "docs/a.md", "--read", "./docs/../docs/a.md"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "The answer is 42.\n"));
    assert!(outcome.stderr.ends_with("\nread docs/a.md: all of it\n"), "{outcome}");
    let asked = fs::read_to_string(project.path("asked")).unwrap();
    let path = project.path("docs/a.md").display().to_string();
    assert!(asked.starts_with("What is it?\n\n## Required reading\n"), "{asked}");
    assert!(asked.ends_with(&format!(".\n- {path}\n")) && !asked.contains("Alpha"), "{asked}");
    let plain = run(&project, &["--json"]);
    let report: Value = serde_json::from_str(&plain.stdout).unwrap();
    assert_eq!((&report["receipts"], &report["unproven"]), (&Value::Null, &json!([])));
    assert_eq!(fs::read_to_string(project.path("asked")).unwrap(), "What is it?");
}

// A paid answer is shown; a warning and the exit code report the missing reading.
#[test]
fn missing_reading_is_found_out() {
    let project = reading_one();
    let files = ["--read", "docs/a.md", "--read", "docs/b.md"];
    let outcome = run(&project, &files);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), "The answer is 42.\n"));
    let said = "\nread docs/a.md: all of it\nread docs/b.md: not read\n\
                warning: not read before the answer: docs/b.md\n";
    assert!(outcome.stderr.ends_with(said), "{outcome}");
    let outcome = run(&project, &[&files[..], &["--json"]].concat());
    assert_eq!(outcome.code, Some(1), "{outcome}");
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let standings = [0, 1].map(|at| report["receipts"][at]["standing"].as_str().unwrap());
    assert_eq!(standings, ["whole", "not_read"]);
    assert_eq!(
        (&report["unproven"], &report["outcome"]),
        (&json!(["docs/b.md"]), &json!("answered"))
    );
}

// Nothing is paid for when it is known before that it cannot be read.
#[test]
fn an_unreadable_file_is_an_error_before_any_request() {
    let project = reading_one().file("docs/two\nlines.md", "x");
    let refused = |path: &str, why: &str| {
        let outcome = run(&project, &["--read", path]);
        assert_eq!(outcome.code, Some(3), "{outcome}");
        let first = outcome.stderr.lines().next().unwrap_or_default().to_owned();
        assert!(first.starts_with("error: cannot ") && first.ends_with(why), "{outcome}");
    };
    refused("docs/c.md", "cannot require `docs/c.md`: no such file");
    refused("docs", "cannot require `docs`: is a directory");
    refused("/dev/null", "cannot require `/dev/null`: not a regular file");
    refused("docs/two\nlines.md", "in a prompt: it is not one line of text");
    assert!(!project.path("asked").exists());
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_an_error_too() {
    let project = reading_one();
    crate::harness::set_mode(&project.path("docs/b.md"), 0o000);
    let arguments = ["lane", "run", "--agent", "claude", "x", "--read", "docs/b.md"];
    let outcome = project.run_without_rights(&arguments);
    let expected = "error: cannot require `docs/b.md`: permission denied\n";
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(3), expected));
}

#[test]
fn an_agent_without_tools_cannot_be_made_to_read() {
    let outcome =
        reading_one().run(&["lane", "run", "--agent", "http:x", "y", "--read", "docs/a.md"]);
    assert_eq!(
        outcome.to_string(),
        "exit: 2\n--- stdout\n--- stderr\nerror: cannot give `http:x` files to read: it has no tools\n\
         hint: leave out `--read`, and put what matters into the prompt\n"
    );
}

// Unknown reading is no accusation.
#[test]
fn an_unknown_record_is_no_accusation() {
    let project = reading_one();
    let lane = ["lane", "run", "What is it?", "--read", "docs/a.md"];
    let recorded =
        [&lane[..], &["--agent", "claude", "--record", "../tape", "--label", "l"]].concat();
    assert_eq!(project.run(&recorded).code, Some(0));
    let played = [&lane[..], &["--agent", "replay:../tape", "--label", "l"]].concat();
    let outcome = project.run(&played);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "The answer is 42.\n"));
    let note = "note: Convoke cannot tell what replay:../tape read: it leaves no transcript that Convoke can read\n";
    assert!(outcome.stderr.ends_with(note), "{outcome}");
}
