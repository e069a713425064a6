//! Answers in lines that are too long to be read.

use serde_json::{Value, json};

use crate::harness::Project;
use crate::lane::{init, result, said, with_claude};

const NOT_READ: &str = "the client printed a line of 9.1 MB; Convoke reads lines of at most 8 MB";

/// Prints a line with this in it, nine megabytes long in place of `LONG`.
fn long(value: &Value) -> String {
    let text = value.to_string();
    let (before, after) = text.split_once("LONG").unwrap();
    let zeros = "head -c 9437184 /dev/zero | tr '\\0' x";
    format!("printf '%s' '{before}'; {zeros}; printf '%s\\n' '{after}'\n")
}

fn long_result() -> Value {
    json!({ "type": "result", "subtype": "success", "is_error": false, "result": "LONG",
        "session_id": "s-1", "uuid": "u-2" })
}

// Every output reports the missing answer, and where it can be found.
#[test]
fn an_unread_answer_is_reported() {
    let project = with_claude(&(init() + &long(&long_result()))).on_branch("main");
    let lane = ["lane", "run", "--agent", "claude", "x"];
    let outcome = project.run(&lane);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(4), ""), "{outcome}");
    assert!(outcome.stderr.contains(&format!(" s: {NOT_READ}\n")), "{outcome}");
    assert!(outcome.stderr.contains("failed after"), "{outcome}");
    assert!(outcome.stderr.contains("hint: `--keep DIR` saves the complete output"), "{outcome}");
    let kept = project.path("kept").display().to_string();
    let outcome = project.run(&[&lane[..], &["--json", "--keep", &kept]].concat());
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(
        (&report["trouble_kind"], &report["trouble"]),
        (&json!("long_line"), &json!(NOT_READ))
    );
    assert!(!outcome.stderr.contains("hint:"), "{outcome}");
    assert!(std::fs::metadata(project.path("kept/stdout")).unwrap().len() > 9_000_000);
    let shown = project.stdout(&["lane", "show", "1"]);
    assert!(shown.contains(&format!("why          {NOT_READ}\n")), "{shown}");
    let shown: Value =
        serde_json::from_str(&project.stdout(&["--json", "lane", "show", "2"])).unwrap();
    assert_eq!(
        (&shown["trouble_kind"], &shown["trouble"]),
        (&json!("long_line"), &json!(NOT_READ))
    );
}

// Earlier text is not the answer, and a tool's output may have any length.
#[test]
fn only_the_answer_has_to_be_read() {
    let item = |kind: &str, text: &str| {
        json!({ "type": "item.completed",
            "item": { "id": "i", "type": kind, "text": text, "aggregated_output": text } })
    };
    let (words, answer) = (item("agent_message", "Let me see."), item("agent_message", "42"));
    let end = json!({ "type": "turn.completed", "usage": {} });
    let lost = said(&words) + &long(&item("agent_message", "LONG")) + &said(&end);
    let found = long(&item("command_execution", "LONG")) + &said(&answer) + &said(&end);
    for (script, code, stdout) in [(lost, 4, ""), (found, 0, "42\n")] {
        let project = with_claude("").file("../home/bin/codex", format!("#!/bin/sh\n{script}"));
        crate::harness::set_mode(&project.path("../home/bin/codex"), 0o755);
        let outcome = Project::run(&project, &["lane", "run", "--agent", "codex", "x"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), stdout), "{outcome}");
    }
    let long_tool = long(&json!({ "type": "user", "uuid": "u", "session_id": "s-1", "x": "LONG" }));
    let project = with_claude(&(init() + &long_tool + &result(|_| ())));
    let outcome = project.run(&["lane", "run", "--agent", "claude", "x"]);
    assert_eq!(outcome.stdout, "The answer is 42.\n", "{outcome}");
}
