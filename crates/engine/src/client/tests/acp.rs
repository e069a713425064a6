//! The bridge's lines, and what may be made of them.

use super::*;

const BEGUN: &str = r#"{"acp":"session","id":"s-1","mode":"read-only","model":"m-1"}"#;

fn update(text: &str) -> String {
    format!(
        r#"{{"acp":"update","message":{{"method":"session/update","params":{{"sessionId":"s-1","update":{text}}}}}}}"#
    )
}

#[track_caller]
fn check(lines: &[String], code: Option<i32>, expected: &[&str], comes_to: LaneOutcome) {
    let stdout = lines.join("\n");
    Run { agent: Client::Acp, stdout: &stdout, stderr: "", code }.check(expected, comes_to);
}

#[test]
fn an_answer_is_the_text_of_a_turn_that_the_agent_ended() {
    let lines = [
        BEGUN.to_owned(),
        r#"{"acp":"text","text":"Let me see."}"#.to_owned(),
        update(r#"{"sessionUpdate":"tool_call","toolCallId":"1","kind":"read","title":"Read x"}"#),
        update(r#"{"sessionUpdate":"usage_update","used":1,"cost":{"amount":0.5,"currency":"USD"},"_meta":{"_claude/model":"m-1-2"}}"#),
        r#"{"acp":"answer","to":"session/prompt","message":{"id":4,"result":{"stopReason":"end_turn","usage":{"inputTokens":400,"outputTokens":84,"cachedReadTokens":2000,"cachedWriteTokens":0,"totalTokens":2484}}}}"#.to_owned(),
        r#"{"acp":"end","stop":"end_turn","answer":"It is 42."}"#.to_owned(),
    ];
    let expected = [
        "session s-1",
        "model m-1",
        "rights read-only ",
        "text Let me see.",
        "tool read",
        "model m-1-2",
        "usage 2400 (2000) 84 (0) $500000",
        "ended It is 42.",
    ];
    check(&lines, Some(0), &expected, LaneOutcome::Answered);
}

// The total tells whether cached tokens and thoughts are among the others.
#[test]
fn counters_are_read_by_their_total() {
    for (usage, expected) in [
        (
            r#""usage":{"inputTokens":200,"outputTokens":35,"totalTokens":1242,"thoughtTokens":7,"cachedReadTokens":1000}"#,
            "usage 1200 (1000) 42 (7)",
        ),
        (
            r#""usage":{"inputTokens":2400,"outputTokens":84,"totalTokens":2484,"cachedReadTokens":2000,"thoughtTokens":14}"#,
            "usage 2400 (2000) 84 (14)",
        ),
        (r#""usage":{"inputTokens":24,"outputTokens":8}"#, "usage 24 (0) 8 (0)"),
        (
            r#""_meta":{"quota":{"token_count":{"input_tokens":2400,"output_tokens":84}}}"#,
            "usage 2400 (0) 84 (0)",
        ),
    ] {
        let line = format!(
            r#"{{"acp":"answer","to":"session/prompt","message":{{"result":{{{usage}}}}}}}"#
        );
        let events = Run { agent: Client::Acp, stdout: &line, stderr: "", code: None }.events();
        assert_eq!(events.iter().map(shown).collect::<Vec<_>>(), [expected], "{usage}");
    }
    for bad in [r#"{"inputTokens":-1,"outputTokens":8}"#, r#"{"outputTokens":8}"#, "7", "{}"] {
        let line = format!(
            r#"{{"acp":"answer","to":"session/prompt","message":{{"result":{{"usage":{bad}}}}}}}"#
        );
        let events = Run { agent: Client::Acp, stdout: &line, stderr: "", code: None }.events();
        assert_eq!(events, [], "{bad}");
    }
}

#[test]
fn a_turn_that_ended_otherwise_is_no_answer() {
    for (end, comes_to) in [
        (r#""stop":"end_turn","answer":"""#, LaneOutcome::NoOutput),
        (r#""stop":"end_turn","answer":null,"torn":"a piece is missing""#, LaneOutcome::Failed),
        (r#""stop":"max_tokens","answer":"It is""#, LaneOutcome::OverBudget),
        (r#""stop":"max_turn_requests","answer":"x""#, LaneOutcome::OverBudget),
        (r#""stop":"refusal","answer":"No.""#, LaneOutcome::Failed),
        (r#""stop":"cancelled","answer":"It is""#, LaneOutcome::Failed),
        (r#""stop":"done","answer":"It is 42.""#, LaneOutcome::Failed),
        (r#""answer":"It is 42.""#, LaneOutcome::Failed),
    ] {
        let stdout = format!("{BEGUN}\n{{\"acp\":\"end\",{end}}}");
        let run = Run { agent: Client::Acp, stdout: &stdout, stderr: "", code: Some(0) };
        assert_eq!(run.outcome(), comes_to, "{end}");
    }
}

#[test]
fn a_failure_keeps_its_kind_and_a_denied_request_is_trouble() {
    for (kind, comes_to) in [
        ("auth", LaneOutcome::Auth),
        ("refused_flags", LaneOutcome::RefusedFlags),
        ("rate_limited", LaneOutcome::RateLimited),
        ("odd", LaneOutcome::Failed),
    ] {
        let line = format!(r#"{{"acp":"failed","kind":"{kind}","words":"no"}}"#);
        let run = Run { agent: Client::Acp, stdout: &line, stderr: "", code: Some(0) };
        assert_eq!(run.outcome(), comes_to, "{kind}");
    }
    let asked = r#"{"acp":"request","method":"session/request_permission","answer":"denied","title":"Write x","message":{}}"#;
    let other = r#"{"acp":"request","method":"fs/write_text_file","answer":"unsupported","title":"","message":{}}"#;
    let lines = [asked.to_owned(), other.to_owned()];
    let expected = [
        "trouble Other: Convoke denied the agent: Write x",
        "trouble Other: Convoke refused the agent's request fs/write_text_file, which it does not offer",
        "trouble Other: the client exited with code 1",
    ];
    check(&lines, Some(1), &expected, LaneOutcome::ExitedEarly);
}
