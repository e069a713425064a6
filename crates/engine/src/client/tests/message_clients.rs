//! Clients whose lines are `system`, `assistant`, `user`, `result`.

use super::*;

fn claude(stdout: &[&str], code: i32) -> Run<'static> {
    run(Client::Claude, stdout, "", code)
}

fn run(agent: Client, stdout: &[&str], stderr: &'static str, code: i32) -> Run<'static> {
    Run { agent, stdout: stdout.join("\n").leak(), stderr, code: Some(code) }
}

const CLAUDE_INIT: &str = r#"{"type":"system","subtype":"init","cwd":"/p","session_id":"s","tools":["Read"],"model":"claude-opus-5-5","permissionMode":"dontAsk","uuid":"1"}"#;
const CLAUDE_USAGE: &str = r#""total_cost_usd":0.00368,"usage":{"input_tokens":400,"cache_creation_input_tokens":10,"cache_read_input_tokens":2000,"output_tokens":84,"output_tokens_details":{"thinking_tokens":7}}"#;

#[test]
fn claude_answers() {
    let result = format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"api_error_status":null,"result":"Fine.","session_id":"s",{CLAUDE_USAGE},"uuid":"4"}}"#
    );
    let lines = [
        CLAUDE_INIT,
        r#"{"type":"assistant","message":{"model":"claude-opus-5-5","content":[{"type":"tool_use","id":"t","name":"Read","input":{}}]},"parent_tool_use_id":null,"session_id":"s","uuid":"2"}"#,
        r#"{"type":"assistant","message":{"model":"claude-haiku-5","content":[{"type":"tool_use","name":"Grep"},{"type":"text","text":"aside"}]},"parent_tool_use_id":"t","session_id":"s","uuid":"3"}"#,
        r#"{"type":"assistant","message":{"model":"claude-opus-5-5","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"Fine."}]},"session_id":"s","uuid":"3"}"#,
        &result,
    ];
    let expected = [
        "session s",
        "model claude-opus-5-5",
        "rights dontAsk Read",
        "tool Read",
        "tool Grep",
        "text Fine.",
        "usage 2410 (2000) 84 (7) $3680",
        "ended Fine.",
    ];
    claude(&lines, 0).check(&expected, LaneOutcome::Answered);
    // The code is not to be believed.
    claude(&lines, 1).check(&expected, LaneOutcome::Answered);
}

#[test]
fn claude_says_when_another_model_takes_over() {
    let line = r#"{"type":"assistant","message":{"model":"claude-haiku-5","content":[{"type":"text","text":"x"}]},"session_id":"s","uuid":"3"}"#;
    // The client's own words are no model's.
    let own = r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"y"}]},"session_id":"s","uuid":"4"}"#;
    let mut run = claude(&[CLAUDE_INIT, line, own], 0);
    run.code = None;
    run.check(
        &[
            "session s",
            "model claude-opus-5-5",
            "rights dontAsk Read",
            "model claude-haiku-5",
            "text x",
            "text y",
        ],
        LaneOutcome::ExitedEarly,
    );
}

// Its success may be a failure.
#[test]
fn claude_fails_in_many_ways() {
    for (fields, code, failed, comes_to) in [
        (
            r#""subtype":"success","is_error":true,"api_error_status":401,"result":"Failed to authenticate.""#,
            1,
            "failed Auth: Failed to authenticate.",
            LaneOutcome::Auth,
        ),
        (
            r#""subtype":"success","is_error":true,"api_error_status":null,"result":"Not logged in · Please run /login""#,
            1,
            "failed Auth: Not logged in · Please run /login",
            LaneOutcome::Auth,
        ),
        (
            r#""subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: no""#,
            1,
            "failed RateLimited: API Error: no",
            LaneOutcome::RateLimited,
        ),
        (
            r#""subtype":"success","is_error":true,"api_error_status":400,"result":"API Error: 400 bad""#,
            1,
            "failed Other: API Error: 400 bad",
            LaneOutcome::Failed,
        ),
        (
            r#""subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (2)"]"#,
            1,
            "failed OverBudget: Reached maximum number of turns (2)",
            LaneOutcome::OverBudget,
        ),
        (
            r#""subtype":"error_max_budget_usd","is_error":true,"errors":[]"#,
            1,
            "failed OverBudget: error_max_budget_usd",
            LaneOutcome::OverBudget,
        ),
        (
            r#""subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: 4"]"#,
            1,
            "failed NoSession: No conversation found with session ID: 4",
            LaneOutcome::Failed,
        ),
        (
            r#""subtype":"error_of_another_kind","result":"no""#,
            1,
            "failed Other: no",
            LaneOutcome::Failed,
        ),
        // Interrupted, it exits as if all were well.
        (
            r#""subtype":"error_during_execution","is_error":true"#,
            0,
            "failed Other: error_during_execution",
            LaneOutcome::Failed,
        ),
    ] {
        let line = format!(r#"{{"type":"result",{fields},"session_id":"s","uuid":"1"}}"#);
        claude(&[&line], code).check(&["session s", failed], comes_to);
    }
}

#[test]
fn claude_tells_its_troubles_before_it_ends() {
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":1,"error_status":429,"error":"rate_limit","session_id":"s","uuid":"1"}"#;
    let said = r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"Not logged in · Please run /login"}]},"session_id":"s","error":"authentication_failed","is_api_error_message":true,"uuid":"2"}"#;
    let mut run = claude(&[retry, said], 0);
    run.code = None;
    let expected = [
        "session s",
        "trouble RateLimited: rate_limit",
        "trouble Auth: Not logged in · Please run /login",
    ];
    run.check(&expected, LaneOutcome::Auth);
}

#[test]
fn complaints_of_message_clients_on_stderr() {
    for (agent, stderr, code, expected, comes_to) in [
        (
            Client::Claude,
            "error: unknown option '--nope'\n(Did you mean --name?)",
            1,
            "RefusedFlags: error: unknown option '--nope'",
            LaneOutcome::RefusedFlags,
        ),
        (
            Client::Qwen,
            "No saved session found with ID 0. Run `qwen --resume` without an ID",
            1,
            "NoSession: No saved session found with ID 0. Run `qwen --resume` without an ID",
            LaneOutcome::ExitedEarly,
        ),
        (
            Client::Qwen,
            "Unknown argument: nope\nUsage: qwen [options] [command]",
            1,
            "RefusedFlags: Unknown argument: nope",
            LaneOutcome::RefusedFlags,
        ),
        (
            Client::Qwen,
            "Reached max session turns for this session.",
            53,
            "OverBudget: Reached max session turns for this session.",
            LaneOutcome::OverBudget,
        ),
    ] {
        let trouble = format!("trouble {expected}");
        run(agent, &[], stderr, code).check(&[&trouble, &trouble], comes_to);
    }
    run(Client::Qwen, &[], "", 55)
        .check(&["trouble OverBudget: the client exited with code 55"], LaneOutcome::OverBudget);
}

#[test]
fn qwen_answers() {
    run(
        Client::Qwen,
        &[
            r#"{"type":"system","subtype":"init","uuid":"1","session_id":"s","model":"qwen3","permission_mode":"plan"}"#,
            r#"{"type":"stream_event","uuid":"2","session_id":"s","parent_tool_use_id":null,"event":{"type":"goal_state"}}"#,
            r#"{"type":"assistant","uuid":"3","session_id":"s","parent_tool_use_id":null,"message":{"model":"qwen3","content":[{"type":"tool_use","name":"read_file"}]}}"#,
            r#"{"type":"assistant","uuid":"4","session_id":"s","message":{"model":"qwen3","content":[{"type":"text","text":"Fine."}]}}"#,
            r#"{"type":"result","subtype":"success","uuid":"5","session_id":"s","is_error":false,"result":"Fine.","usage":{"input_tokens":2400,"output_tokens":84,"cache_read_input_tokens":2000,"total_tokens":2484}}"#,
        ],
        "Ripgrep not available. Falling back to built-in grep.",
        0,
    )
    .check(
        &[
            "session s",
            "model qwen3",
            "tool read_file",
            "text Fine.",
            "usage 2400 (2000) 84 (0)",
            "ended Fine.",
        ],
        LaneOutcome::Answered,
    );
}

// A connection broke in the middle of an answer, and the client sent the request again.
#[test]
fn what_qwen_said_before_it_asked_again_is_no_part_of_the_answer() {
    let piece = |text: &str| {
        format!(
            r#"{{"type":"stream_event","uuid":"2","session_id":"s","event":{{"type":"content_block_delta","delta":{{"type":"text_delta","text":"{text}"}}}}}}"#
        )
    };
    let retry = |keeps: bool| {
        format!(
            r#"{{"type":"system","subtype":"retry","uuid":"3","session_id":"s","data":{{"preserveText":{keeps}}}}}"#
        )
    };
    let starts =
        r#"{"type":"stream_event","uuid":"1","session_id":"s","event":{"type":"message_start"}}"#;
    let result = |text: &str| {
        format!(
            r#"{{"type":"result","subtype":"success","uuid":"4","session_id":"s","result":"{text}"}}"#
        )
    };
    let start = starts.to_owned();
    for (lines, answer) in [
        (
            vec![start.clone(), piece("1. A"), retry(true), piece("1. All"), result("1. A1. All")],
            "1. All",
        ),
        (
            vec![start.clone(), piece("1. A"), retry(false), piece("1. All"), result("1. All")],
            "1. All",
        ),
        (vec![start.clone(), piece("Yes"), result("Yes")], "Yes"),
        // Broken twice.
        (vec![start.clone(), piece("A"), retry(true), piece("B"), retry(true), result("ABC")], "C"),
        // Nothing came after it: then that is the answer.
        (vec![start.clone(), piece("Yes"), retry(true), result("Yes")], "Yes"),
        // An earlier message was cut off.
        (
            vec![
                start.clone(),
                piece("Y"),
                retry(true),
                start.clone(),
                piece("Yes"),
                result("Yes"),
            ],
            "Yes",
        ),
    ] {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let ended = format!("ended {answer}");
        run(Client::Qwen, &lines, "", 0).check(&["session s", &ended], LaneOutcome::Answered);
    }
}

#[test]
fn qwen_fails() {
    for (message, failed, comes_to) in [
        ("[API Error: 401 no]", "failed Auth: [API Error: 401 no]", LaneOutcome::Auth),
        (
            "Missing API key for OpenAI-compatible auth.",
            "failed Auth: Missing API key for OpenAI-compatible auth.",
            LaneOutcome::Auth,
        ),
        ("[API Error: 500 no]", "failed Other: [API Error: 500 no]", LaneOutcome::Failed),
    ] {
        let line = format!(
            r#"{{"type":"result","subtype":"error_during_execution","uuid":"1","session_id":"s","is_error":true,"error":{{"message":"{message}"}}}}"#
        );
        run(Client::Qwen, &[&line], "", 1).check(&["session s", failed], comes_to);
    }
    let said = r#"{"type":"assistant","uuid":"1","session_id":"s","message":{"content":[{"type":"text","text":"[API Error: 401 no]"}]}}"#;
    run(Client::Qwen, &[said], "", 0)
        .check(&["session s", "trouble Auth: [API Error: 401 no]"], LaneOutcome::Auth);
}

#[test]
fn cursor_answers() {
    run(
        Client::Cursor,
        &[
            r#"{"type":"system","subtype":"init","session_id":"s","model":"Claude 4.5 Sonnet","cwd":"/p","apiKeySource":"env"}"#,
            r#"{"type":"user","message":{"content":[{"type":"text","text":"the prompt"}]},"session_id":"s"}"#,
            r#"{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":{"args":{}}},"session_id":"s"}"#,
            r#"{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"readToolCall":{"result":{}}},"session_id":"s"}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Fine."}]},"session_id":"s"}"#,
            r#"{"type":"result","subtype":"success","is_error":false,"result":"Fine.","session_id":"s","usage":{"inputTokens":4,"outputTokens":36,"cacheReadTokens":100,"cacheWriteTokens":20}}"#,
        ],
        "",
        0,
    )
    .check(
        &["session s", "tool read", "text Fine.", "usage 124 (100) 36 (0)", "ended Fine."],
        LaneOutcome::Answered,
    );
}

// It prints no event when it fails.
#[test]
fn cursor_fails_in_words() {
    let invalid = "⚠ Warning: The provided API key is invalid.";
    let trouble = format!("trouble Auth: {invalid}");
    let failed = format!("failed Auth: {invalid}");
    run(Client::Cursor, &[], invalid, 1).check(&[&trouble, &failed], LaneOutcome::Auth);
    run(Client::Cursor, &[invalid], "", 1)
        .check(&[&trouble, "failed Other: the client exited with code 1"], LaneOutcome::Failed);
    run(Client::Cursor, &[], "Something broke", 1)
        .check(&["failed Other: Something broke"], LaneOutcome::Failed);
}

// A resumed session may keep more rights than it was started with now.
#[test]
fn rights_beyond_those_asked_for_are_named() {
    let granted = |mode: &str, tools: &[&str]| GrantedRights {
        mode: Some(mode.to_owned()),
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
    };
    let none: [&str; 0] = [];
    let reader = granted("plan", &["read_file", "glob", "web_fetch"]);
    assert_eq!(excess(Client::Qwen, Rights::ReadOnly, &reader), none);
    let writer = granted("auto-edit", &["read_file", "write_file"]);
    let more = ["write_file", "mode auto-edit"];
    assert_eq!(excess(Client::Qwen, Rights::ReadOnly, &writer), more);
    assert_eq!(excess(Client::Qwen, Rights::Write, &writer), none);
    let claude = granted("acceptEdits", &["Read", "Edit"]);
    assert_eq!(excess(Client::Claude, Rights::ReadOnly, &claude), ["Edit", "mode acceptEdits"]);
}
