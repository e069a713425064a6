//! Records of Codex and Gemini, line by line.

use super::*;

#[test]
fn codexs_outputs_tell_how_much_was_shown() {
    let rollout = |payload: Value| json!({"type": "response_item", "payload": payload});
    let call = |arguments: Value| {
        rollout(
            json!({"type": "function_call", "name": "shell", "call_id": "1", "arguments": arguments.to_string()}),
        )
    };
    let output = |text: &str| {
        rollout(json!({"type": "function_call_output", "call_id": "1", "output": text}))
    };
    let cat = json!({"cmd": "cat a.md"});
    let head =
        |code: usize, text: &str| format!("Process exited with code {code}\nOutput:\n{text}");
    let part = ReadState::Part { lines: vec![], of: Some(3) };
    for (arguments, printed, expected) in [
        (cat.clone(), head(0, "1\n2\n3\n"), ReadState::Whole),
        (
            cat.clone(),
            head(1, "cat: a.md: No such file or directory"),
            ReadState::NotRead { attempts: 1 },
        ),
        (
            cat.clone(),
            head(0, "Warning: truncated output (original token count: 9)\n1"),
            part.clone(),
        ),
        (
            cat.clone(),
            "Process running with session ID 7\nOutput:\n1\n".to_owned(),
            ReadState::Unsure,
        ),
        (cat.clone(), "1\n2\n3\n".to_owned(), ReadState::Whole),
        (json!({"command": ["bash", "-lc", "cat a.md"]}), head(0, "1\n2\n3\n"), ReadState::Whole),
        (json!({"command": ["cat", "a.md"]}), head(0, "1\n2\n3\n"), ReadState::Whole),
        (
            json!({"cmd": "cat a.md", "workdir": "/q"}),
            head(0, "x"),
            ReadState::OnlyNamesake { path: "/q/a.md".to_owned() },
        ),
    ] {
        let session = session(Client::Codex, &[call(arguments.clone()), output(&printed)]);
        assert_eq!(standing(&session), expected, "{arguments} {printed}");
    }
    let long = "x".repeat(50_000);
    let printed = json!({"type": "item.completed", "item": {"id": "1", "type": "command_execution",
        "command": "/bin/bash -lc 'cat a.md'", "aggregated_output": long, "exit_code": 0}});
    assert_eq!(standing(&session(Client::Codex, &[printed])), part);
}

#[test]
fn what_comes_between_the_answer_and_the_end_of_a_turn_is_late() {
    let said = json!({"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": "done"}});
    let ran = json!({"type": "item.completed", "item": {"id": "2", "type": "command_execution",
        "command": "cat a.md", "aggregated_output": "1\n2\n3\n", "exit_code": 0}});
    let ended = json!({"type": "turn.completed"});
    let lines = [said, ran, ended];
    assert_eq!(standing(&session(Client::Codex, &lines)), ReadState::OnlyAfterAnswer);
    // An agent that is stopped before the end was still at work.
    assert_eq!(standing(&session(Client::Codex, &lines[..2])), ReadState::Whole);
}

#[test]
fn geminis_lines_tell_how_much_was_shown() {
    let used = |given: &Value| json!({"type": "tool_use", "tool_id": "1", "tool_name": "read_file", "parameters": given});
    let result = |status: &str, output: &str| json!({"type": "tool_result", "tool_id": "1", "status": status, "output": output});
    let part = |first, last| ReadState::Part { lines: vec![span(first, last)], of: Some(3) };
    for (given, status, output, expected) in [
        (json!({"file_path": "a.md"}), "success", "", ReadState::Whole),
        (json!({"file_path": "a.md"}), "success", "Read lines 1-2 of 3 from a.md", part(1, 2)),
        (json!({"file_path": "a.md", "offset": 1, "limit": 1}), "success", "", part(2, 2)),
        (json!({"file_path": "a.md", "start_line": 2, "end_line": 2}), "success", "", part(2, 2)),
        (json!({"file_path": "a.md"}), "error", "", ReadState::NotRead { attempts: 1 }),
    ] {
        let session = session(Client::Gemini, &[used(&given), result(status, output)]);
        assert_eq!(standing(&session), expected, "{given} {output}");
    }
}

#[test]
fn geminis_messages_are_not_answered_twice() {
    let call = json!({"id": "1", "name": "read_file", "args": {"file_path": "a.md"}, "status": "success",
        "result": [{"functionResponse": {"response": {"output": "1\n2\n3\n"}}}]});
    let answer = json!({"id": "2", "type": "gemini", "content": "done"});
    let asked = json!({"id": "3", "type": "user", "content": "thanks"});
    let late = json!({"id": "4", "type": "gemini", "content": "", "toolCalls": [call]});
    let all = json!({"$set": {"messages": [answer, asked, late]}});
    let lines = [answer, asked, late, all];
    assert_eq!(standing(&session(Client::Gemini, &lines)), ReadState::OnlyAfterAnswer);
    // A record may begin with all that there was.
    assert_eq!(standing(&session(Client::Gemini, &lines[2..])), ReadState::Whole);
}

#[test]
fn an_aside_is_no_answer() {
    let message = |phase: &str| {
        json!({"type": "response_item", "payload": {"type": "message", "role": "assistant",
            "phase": phase, "content": [{"type": "output_text", "text": phase}]}})
    };
    let session = session(Client::Codex, &[message("final_answer"), message("commentary")]);
    assert_eq!(session.answer.unwrap().text, "final_answer");
}
