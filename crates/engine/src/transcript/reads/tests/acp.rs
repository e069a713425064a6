//! Updates of agents that speak the Agent Client Protocol: content proves, a path does not.

use super::*;

fn update(mut update: Value, kind: &str) -> Value {
    update["sessionUpdate"] = json!(kind);
    update["toolCallId"] = json!("1");
    let params = json!({ "sessionId": "s", "update": update });
    json!({ "acp": "update", "message": { "method": "session/update", "params": params } })
}

fn call(told: Value) -> Value {
    update(told, "tool_call")
}

fn more(told: Value) -> Value {
    update(told, "tool_call_update")
}

fn end() -> Value {
    json!({ "acp": "end", "stop": "end_turn", "answer": "I read it." })
}

fn read_by(lines: Vec<Value>) -> ReadState {
    standing(&session(Client::Acp, &[lines, vec![end()]].concat()))
}

fn claudes() -> Value {
    json!({ "claudeCode": { "toolName": "Read" } })
}

fn claude_read(shown: &str, input: &Value) -> ReadState {
    read_by(vec![
        call(json!({ "kind": "read", "status": "pending", "rawInput": {}, "_meta": claudes() })),
        more(json!({ "rawInput": input, "_meta": claudes() })),
        more(json!({ "status": "completed", "rawOutput": shown, "_meta": claudes() })),
    ])
}

#[test]
fn shown_lines_prove_what_was_read() {
    let whole = json!({ "file_path": "/p/a.md" });
    assert_eq!(claude_read("1\t1\n2\t2\n3\t3\n4\t", &whole), ReadState::Whole);
    let part = json!({ "file_path": "/p/a.md", "offset": 2, "limit": 1 });
    assert_ne!(claude_read("2\t2", &part), ReadState::Whole);
    assert_ne!(claude_read("1\t1\n2\tx\n3\t3", &whole), ReadState::Whole, "it was another text");
    let output = "<path>/p/a.md</path>\n<type>file</type>\n<content>\n1: 1\n2: 2\n3: 3\n\n(End of file - total 3 lines)\n</content>";
    let opencode = read_by(vec![
        call(json!({ "kind": "read", "status": "pending", "locations": [], "rawInput": {} })),
        more(
            json!({ "status": "in_progress", "kind": "read", "rawInput": { "filePath": "/p/a.md" } }),
        ),
        more(json!({ "status": "completed", "rawOutput": { "output": output } })),
    ]);
    assert_eq!(opencode, ReadState::Whole);
}

#[test]
fn a_path_alone_is_a_doubt() {
    let place = json!([{ "path": "/p/a.md" }]);
    for lines in [
        // Gemini: nothing of the content.
        vec![
            call(
                json!({ "kind": "read", "status": "in_progress", "locations": place, "content": [] }),
            ),
            more(
                json!({ "kind": "read", "status": "completed", "locations": place, "content": [] }),
            ),
        ],
        // Codex: the terminal may show more than the agent was given.
        vec![
            call(json!({ "kind": "read", "status": "in_progress", "locations": place })),
            more(json!({ "_meta": { "terminal_output_delta": { "data": "1\n2\n3\n" } } })),
            more(json!({ "status": "completed", "rawOutput": { "exit_code": 0 } })),
        ],
        // An agent that names the file like Claude Code, and shows nothing.
        vec![
            call(json!({ "rawInput": { "file_path": "/p/a.md" }, "_meta": claudes() })),
            more(json!({ "status": "completed" })),
        ],
    ] {
        let state = read_by(lines);
        assert!(matches!(state, ReadState::Unsure), "{state:?}");
    }
}

#[test]
fn a_failed_a_replayed_and_an_unfinished_call_show_nothing() {
    let place = json!([{ "path": "/p/a.md" }]);
    let input = json!({ "file_path": "/p/a.md" });
    let begun =
        call(json!({ "kind": "read", "rawInput": input, "locations": place, "_meta": claudes() }));
    let failed =
        more(json!({ "status": "failed", "rawOutput": "no such file", "_meta": claudes() }));
    let shown =
        more(json!({ "status": "completed", "rawOutput": "1\t1\n2\t2\n3\t3", "_meta": claudes() }));
    let replayed = |line: &Value| {
        let mut line = line.clone();
        line["acp"] = json!("replay");
        line
    };
    for lines in [
        vec![begun.clone()],
        vec![begun.clone(), failed],
        vec![replayed(&begun), replayed(&shown)],
        vec![shown.clone()],
    ] {
        let state = read_by(lines.clone());
        assert!(matches!(state, ReadState::NotRead { .. }), "{state:?} {lines:?}");
    }
    // After the answer it is too late.
    let late = [end(), begun, shown];
    assert_ne!(standing(&session(Client::Acp, &late)), ReadState::Whole);
}
