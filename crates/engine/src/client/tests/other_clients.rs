//! Clients with lines of their own: Codex, Gemini, opencode.

use super::*;

fn run(agent: Client, stdout: &[&str], stderr: &'static str, code: i32) -> Run<'static> {
    Run { agent, stdout: stdout.join("\n").leak(), stderr, code: Some(code) }
}

#[test]
fn codex_answers() {
    run(
        Client::Codex,
        &[
            r#"{"type":"thread.started","thread_id":"t"}"#,
            r#"{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata for `x` not found."}}"#,
            r#"{"type":"turn.started"}"#,
            r#"{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"ls","status":"in_progress"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","exit_code":0}}"#,
            r#"{"type":"item.completed","item":{"id":"item_2","type":"mcp_tool_call","server":"tiny","tool":"ping"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_3","type":"reasoning","text":"hm"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_4","type":"agent_message","text":"Fine."}}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":2400,"cached_input_tokens":2000,"cache_write_input_tokens":0,"output_tokens":84,"reasoning_output_tokens":14}}"#,
        ],
        "",
        0,
    )
    .check(
        &[
            "session t",
            "tool command_execution",
            "tool tiny.ping",
            "text Fine.",
            "usage 2400 (2000) 84 (14)",
            "ended",
        ],
        LaneOutcome::Answered,
    );
}

// An `error` is not the end.
#[test]
fn codex_goes_on_after_an_error() {
    run(
        Client::Codex,
        &[
            r#"{"type":"error","message":"Reconnecting... 1/5"}"#,
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"Fine."}}"#,
            r#"{"type":"turn.completed"}"#,
        ],
        "",
        0,
    )
    .check(&["trouble Other: Reconnecting... 1/5", "text Fine.", "ended"], LaneOutcome::Answered);
}

#[test]
fn codex_fails() {
    for (message, kind, comes_to) in [
        ("unexpected status 401 Unauthorized: no, url: http://h/v1", "Auth", LaneOutcome::Auth),
        ("Missing environment variable: `OPENAI_API_KEY`.", "Auth", LaneOutcome::Auth),
        (
            "exceeded retry limit, last status: 429 Too Many Requests",
            "RateLimited",
            LaneOutcome::RateLimited,
        ),
        ("stream disconnected before completion", "Other", LaneOutcome::Failed),
    ] {
        let line = format!(r#"{{"type":"turn.failed","error":{{"message":"{message}"}}}}"#);
        let failed = format!("failed {kind}: {message}");
        run(Client::Codex, &[&line], "", 1).check(&[&failed], comes_to);
    }
    run(Client::Codex, &[r#"{"type":"turn.failed"}"#], "", 1)
        .check(&["failed Other: the turn failed"], LaneOutcome::Failed);
}

#[test]
fn codex_complains_on_stderr() {
    let unknown = "error: unexpected argument '--nope' found";
    let trouble = format!("trouble RefusedFlags: {unknown}");
    run(Client::Codex, &[], unknown, 2).check(&[&trouble, &trouble], LaneOutcome::RefusedFlags);
    run(Client::Codex, &[], "something else", 2)
        .check(&["trouble RefusedFlags: something else"], LaneOutcome::RefusedFlags);
    let gone = "Error: thread/resume: thread/resume failed: no rollout found for thread id 0";
    let trouble = format!("trouble NoSession: {gone}");
    run(Client::Codex, &[], gone, 1).check(&[&trouble, &trouble], LaneOutcome::ExitedEarly);
}

const GEMINI_INIT: &str = r#"{"type":"init","session_id":"s","model":"gemini-3-flash"}"#;

#[test]
fn gemini_answers() {
    run(
        Client::Gemini,
        &[
            GEMINI_INIT,
            r#"{"type":"message","role":"user","content":"the prompt"}"#,
            r#"{"type":"message","role":"assistant","content":"I ","delta":true}"#,
            r#"{"type":"message","role":"assistant","content":"look.","delta":true}"#,
            r#"{"type":"tool_use","tool_name":"read_file","tool_id":"t","parameters":{}}"#,
            r#"{"type":"tool_result","tool_id":"t","status":"success","output":""}"#,
            r#"{"type":"message","role":"assistant","content":"Fi","delta":true}"#,
            r#"{"type":"message","role":"assistant","content":"ne.","delta":true}"#,
            r#"{"type":"result","status":"success","stats":{"total_tokens":1249,"input_tokens":1200,"output_tokens":42,"cached":1000,"input":200,"tool_calls":1,"models":{"gemini-3.8-flash":{}}}}"#,
        ],
        "Ripgrep is not available. Falling back to GrepTool.",
        0,
    )
    .check(
        &[
            "session s",
            "model gemini-3-flash",
            "text I look.",
            "tool read_file",
            "text Fine.",
            "usage 1200 (1000) 49 (7)",
            "model gemini-3.8-flash",
            "ended",
        ],
        LaneOutcome::Answered,
    );
}

#[test]
fn a_prompt_to_gemini_ends_its_message() {
    let said = r#"{"type":"message","role":"assistant","content":"Yes.","delta":true}"#;
    let heard = r#"{"type":"message","role":"user","content":"go on"}"#;
    run(Client::Gemini, &[said, heard, said], "", 0)
        .check(&["text Yes.", "text Yes."], LaneOutcome::ExitedEarly);
}

#[test]
fn of_several_models_none_is_named() {
    let line = r#"{"type":"result","status":"success","stats":{"models":{"a":{},"b":{}}}}"#;
    run(Client::Gemini, &[line], "", 0).check(&["ended"], LaneOutcome::NoOutput);
}

// Its code is the HTTP status, as far as eight bits hold it.
#[test]
fn gemini_fails_by_words_and_code() {
    for (message, code, expected, comes_to) in [
        (
            r#"[API Error: {\"error\":{\"message\":\"no\",\"code\":401,\"status\":\"UNAUTHENTICATED\"}}]"#,
            145,
            &[
                r#"failed Auth: [API Error: {"error":{"message":"no","code":401,"status":"UNAUTHENTICATED"}}]"#,
            ][..],
            LaneOutcome::Auth,
        ),
        (
            "[API Error: no]",
            173,
            &["failed Other: [API Error: no]", "failed RateLimited: [API Error: no]"],
            LaneOutcome::RateLimited,
        ),
        ("[API Error: no]", 144, &["failed Other: [API Error: no]"], LaneOutcome::Failed),
        ("[API Error: no]", 244, &["failed Other: [API Error: no]"], LaneOutcome::Failed),
    ] {
        let line = format!(
            r#"{{"type":"result","status":"error","error":{{"type":"unknown","message":"{message}"}}}}"#
        );
        run(Client::Gemini, &[&line], "", code).check(expected, comes_to);
    }
}

// A connection broke: the end gives no reason, but the message before it does.
#[test]
fn gemini_says_beforehand_what_it_ended_in() {
    let trouble = r#"{"type":"error","severity":"error","message":"Model stream ended."}"#;
    let result = r#"{"type":"result","status":"error","stats":{}}"#;
    run(Client::Gemini, &[trouble, result], "", 0).check(
        &["trouble Other: Model stream ended.", "failed Other: Model stream ended."],
        LaneOutcome::Failed,
    );
    run(Client::Gemini, &[result], "", 0).check(&["failed Other: error"], LaneOutcome::Failed);
}

#[test]
fn gemini_complains_on_stderr() {
    for (stderr, code, expected, comes_to) in [
        (
            r#"{"session_id":"s","error":{"type":"Error","message":"no","code":429}}"#,
            173,
            &["trouble RateLimited: no", "trouble RateLimited: no"][..],
            LaneOutcome::RateLimited,
        ),
        (
            "Error resuming session: No previous sessions found for this project.",
            42,
            &[
                "trouble NoSession: Error resuming session: No previous sessions found for this project.",
                "trouble NoSession: Error resuming session: No previous sessions found for this project.",
            ],
            LaneOutcome::ExitedEarly,
        ),
        ("no words", 41, &["trouble Auth: no words"], LaneOutcome::Auth),
        ("no words", 53, &["trouble OverBudget: no words"], LaneOutcome::OverBudget),
        ("no words", 145, &["trouble Auth: no words"], LaneOutcome::Auth),
        ("", 1, &["trouble Other: the client exited with code 1"], LaneOutcome::ExitedEarly),
        // Stopped, it exits as if all were well.
        ("", 0, &[], LaneOutcome::NoOutput),
    ] {
        run(Client::Gemini, &[], stderr, code).check(expected, comes_to);
    }
}

#[test]
fn gemini_was_speaking_when_it_ended() {
    let line = r#"{"type":"message","role":"assistant","content":"Half a","delta":true}"#;
    run(Client::Gemini, &[line], "", 0).check(&["text Half a"], LaneOutcome::ExitedEarly);
}

const STEP: &str = r#"{"type":"step_finish","sessionID":"s","part":{"reason":"stop","messageID":"m","tokens":{"total":1242,"input":200,"output":35,"reasoning":7,"cache":{"write":1,"read":1000}},"cost":0.000384}}"#;

// Parallel lanes share one database.
#[test]
fn a_clash_of_opencodes_is_no_failure() {
    for (stderr, expected) in [
        (
            "Error: Unexpected error\n\ndatabase is locked",
            &["trouble Clash: database is locked", "failed Clash: database is locked"][..],
        ),
        (
            "Error: Unexpected error\n\nFailed query: \n  CREATE TABLE `workspace` (",
            &["trouble Clash: Failed query:", "failed Clash: Failed query:"],
        ),
        ("Error: Unexpected error\n\nno", &["failed Other: Error: Unexpected error"]),
    ] {
        run(Client::Opencode, &[], stderr, 1).check(expected, LaneOutcome::Failed);
    }
}

#[test]
fn opencode_answers_with_its_exit() {
    run(
        Client::Opencode,
        &[
            r#"{"type":"step_start","sessionID":"s","part":{"type":"step-start"}}"#,
            r#"{"type":"tool_use","sessionID":"s","part":{"tool":"read","state":{"status":"completed"}}}"#,
            STEP,
            r#"{"type":"text","sessionID":"s","part":{"messageID":"m","text":"Quite"}}"#,
            r#"{"type":"text","sessionID":"s","part":{"messageID":"m","text":"fine."}}"#,
            STEP,
        ],
        "",
        0,
    )
    .check(
        &[
            "session s",
            "tool read",
            "usage 1201 (1000) 42 (7) $384",
            "text Quite",
            "text fine.",
            "usage 2402 (2000) 84 (14) $768",
            "ended Quite\nfine.",
        ],
        LaneOutcome::Answered,
    );
}

#[test]
fn opencode_fails() {
    for (error, expected, comes_to) in [
        (
            r#"{"name":"APIError","data":{"message":"no","statusCode":401,"isRetryable":false}}"#,
            "Auth: no",
            LaneOutcome::Auth,
        ),
        (
            r#"{"name":"ProviderAuthError","data":{"message":"no","providerID":"x"}}"#,
            "Auth: no",
            LaneOutcome::Auth,
        ),
        (
            r#"{"name":"APIError","data":{"message":"no","statusCode":429}}"#,
            "RateLimited: no",
            LaneOutcome::RateLimited,
        ),
        (
            r#"{"name":"UnknownError","data":{"message":"Unexpected server error."}}"#,
            "Other: Unexpected server error.",
            LaneOutcome::Failed,
        ),
        (r#"{"name":"MessageAbortedError"}"#, "Other: MessageAbortedError", LaneOutcome::Failed),
    ] {
        let line = format!(r#"{{"type":"error","sessionID":"s","error":{error}}}"#);
        let (trouble, failed) = (format!("trouble {expected}"), format!("failed {expected}"));
        run(Client::Opencode, &[&line], "", 1).check(&["session s", &trouble, &failed], comes_to);
        let mut stopped = run(Client::Opencode, &[&line], "", 1);
        stopped.code = None;
        assert_eq!(stopped.events().len(), 2, "a signal ends no turn");
    }
}

// Some versions exit as if all were well.
#[test]
fn opencode_knows_no_such_session() {
    for code in [0, 1] {
        run(Client::Opencode, &[], "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession not found", code)
            .check(
                &[
                    "trouble NoSession: Error: Session not found",
                    "failed NoSession: Error: Session not found",
                ],
                LaneOutcome::Failed,
            );
    }
}

#[test]
fn opencode_gets_over_an_error() {
    let text = r#"{"type":"text","sessionID":"s","part":{"messageID":"m","text":"Fine."}}"#;
    let error = r#"{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"no","statusCode":429}}}"#;
    run(Client::Opencode, &[error, text], "", 0).check(
        &["session s", "trouble RateLimited: no", "text Fine.", "ended Fine."],
        LaneOutcome::Answered,
    );
    run(Client::Opencode, &[text], "", 1).check(
        &["session s", "text Fine.", "failed Other: the client exited with code 1"],
        LaneOutcome::Failed,
    );
}
