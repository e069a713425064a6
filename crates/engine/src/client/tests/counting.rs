//! Counts that cannot be believed.

use super::*;

/// The last line of each client, with a count in place of `N`.
const LAST: [(Client, &str); 6] = [
    (
        Client::Claude,
        r#"{"type":"result","result":"x","session_id":"s","uuid":"1","usage":{"input_tokens":N,"output_tokens":7}}"#,
    ),
    (Client::Codex, r#"{"type":"turn.completed","usage":{"input_tokens":7,"output_tokens":N}}"#),
    (
        Client::Cursor,
        r#"{"type":"result","result":"x","session_id":"s","usage":{"inputTokens":N,"outputTokens":7}}"#,
    ),
    (
        Client::Gemini,
        r#"{"type":"result","status":"success","stats":{"input_tokens":N,"output_tokens":7}}"#,
    ),
    (
        Client::Opencode,
        r#"{"type":"step_finish","sessionID":"s","part":{"tokens":{"input":N,"output":7}}}"#,
    ),
    (
        Client::Qwen,
        r#"{"type":"result","result":"x","session_id":"s","uuid":"1","usage":{"input_tokens":N,"output_tokens":7}}"#,
    ),
];

fn counted(agent: Client, counts: &[&str]) -> Vec<u64> {
    let (_, line) = LAST.into_iter().find(|(client, _)| *client == agent).unwrap();
    let mut listener = listen(agent);
    let events = counts.iter().flat_map(|count| listener.stdout_line(&line.replace('N', count)));
    let tokens =
        |event| if let LaneEvent::Usage(usage) = event { Some(usage.tokens()) } else { None };
    events.collect::<Vec<_>>().into_iter().filter_map(tokens).collect()
}

// An impossible count is unknown; as zero it would be free.
#[test]
fn what_cannot_be_is_not_counted() {
    for agent in Client::ALL {
        assert_eq!(counted(agent, &["3"]), [10], "{agent}");
        for count in
            ["null", "-1", "1e300", "18446744073709551616", "1000000000001", "{}", "\"many\""]
        {
            assert_eq!(counted(agent, &[count]), [0; 0], "{agent} {count}");
        }
    }
}

// A missing count is unknown, like an impossible one.
#[test]
fn missing_counts_are_unknown() {
    for (agent, line) in LAST {
        let (before, object) = line.rsplit_once('{').unwrap();
        let empty = format!("{before}{{{}", object.trim_start_matches(|c| c != '}'));
        let events = listen(agent).stdout_line(&empty);
        let is_usage = |event: &LaneEvent| matches!(event, LaneEvent::Usage(_));
        assert!(!events.is_empty(), "{agent} {empty}");
        assert!(!events.iter().any(is_usage), "{agent} {empty}");
    }
}

// A sum of which a part is not known is not known.
#[test]
fn a_step_that_cannot_be_counted_leaves_no_sum() {
    assert_eq!(counted(Client::Opencode, &["3", "3"]), [10, 20]);
    assert_eq!(counted(Client::Opencode, &["-3", "3"]), [0; 0]);
}
