//! Servers' responses, as strings.

use proptest::prelude::*;

use super::*;
use crate::client::Rights;
use crate::lane::http::endpoint::BaseUrl;

const REQUEST: ClientRequest<'static> = ClientRequest {
    prompt: "What is it?",
    model: Some("m-1"),
    effort: Some("high"),
    resume: None,
    rights: Rights::ReadOnly,
    folder: "",
    scratch: "",
    acp: None,
    fleet: None,
};

fn asked(api: Api, max_tokens: Option<u64>) -> Value {
    let url = BaseUrl::parse("http://127.0.0.1:1/v1").unwrap();
    Value::Object(request(&Endpoint { api, url, key: None, max_tokens }, &REQUEST))
}

fn heard(api: Api, events: &[Value]) -> Vec<LaneEvent> {
    let mut listener = Listener::new(api);
    let mut heard: Vec<_> =
        events.iter().flat_map(|event| listener.event(&event.to_string())).collect();
    heard.extend(listener.closed());
    heard
}

fn text(text: &str) -> LaneEvent {
    LaneEvent::Text(text.to_owned())
}

fn model(name: &str) -> LaneEvent {
    LaneEvent::Model(name.to_owned())
}

fn ended(answer: &str) -> LaneEvent {
    LaneEvent::Ended(TurnEnd { answer: Some(answer.to_owned()), failure: None })
}

fn usage(input: u64, cached: u64, output: u64, reasoning: u64) -> LaneEvent {
    LaneEvent::Usage(Usage { input, cached, output, reasoning, micro_dollars: None })
}

/// Returns the kind and the words of the failure that a turn ended in.
fn failed(events: &[LaneEvent]) -> Option<(FailureKind, &str)> {
    events.iter().find_map(|event| {
        let LaneEvent::Ended(TurnEnd { failure: Some(failure), .. }) = event else { return None };
        Some((failure.kind, failure.message.as_str()))
    })
}

#[test]
fn each_api_has_its_own_request() {
    assert_eq!(
        asked(Api::Chat, Some(9)),
        json!({ "model": "m-1", "stream": true,
            "messages": [{ "role": "user", "content": "What is it?" }],
            "stream_options": { "include_usage": true }, "max_tokens": 9,
            "reasoning_effort": "high" })
    );
    assert_eq!(
        asked(Api::Responses, Some(9)),
        json!({ "model": "m-1", "stream": true, "input": "What is it?", "store": false,
            "max_output_tokens": 9, "reasoning": { "effort": "high" } })
    );
    assert_eq!(
        asked(Api::Messages, None),
        json!({ "model": "m-1", "stream": true, "max_tokens": 8192,
            "messages": [{ "role": "user", "content": "What is it?" }],
            "output_config": { "effort": "high" } })
    );
}

// An impossible count is unknown; as zero it would be free.
#[test]
fn what_cannot_be_is_not_counted() {
    let has_usage =
        |events: Vec<LaneEvent>| events.iter().any(|event| matches!(event, LaneEvent::Usage(_)));
    for (count, expected) in [
        (json!(3), true),
        (json!(-3), false),
        (json!(1e300), false),
        (json!("3"), false),
        (json!(null), false),
    ] {
        let chat = json!({ "usage": { "prompt_tokens": count, "completion_tokens": 7 } });
        assert_eq!(has_usage(heard(Api::Chat, &[chat])), expected, "{count}");
        let usage = json!({ "input_tokens": count, "output_tokens": 7 });
        let response = json!({ "status": "completed", "usage": usage, "output": [] });
        let response = json!({ "type": "response.completed", "response": response });
        assert_eq!(has_usage(heard(Api::Responses, &[response])), expected, "{count}");
        let start = json!({ "type": "message_start", "message": { "usage": usage } });
        let delta = json!({ "type": "message_delta", "usage": { "output_tokens": 20 } });
        assert_eq!(has_usage(heard(Api::Messages, &[start, delta])), expected, "{count}");
    }
}

#[test]
fn a_server_that_refuses_a_field_gets_a_smaller_request() {
    let Value::Object(body) = asked(Api::Chat, Some(9)) else { panic!() };
    let less = lesser(&body, "Unrecognized request argument supplied: stream_options").unwrap();
    assert!(!less.contains_key("stream_options") && less.contains_key("max_tokens"));
    assert_eq!(lesser(&less, "unknown field stream_options"), None, "it is not there any more");
    let words = "'max_tokens' is not supported with this model. Use 'max_completion_tokens'.";
    assert_eq!(lesser(&less, words).unwrap()["max_completion_tokens"], 9);
    assert_eq!(lesser(&body, "no such model"), None);
}

#[test]
fn chat_is_understood() {
    let chunk = |choice: Value| json!({ "model": "m-1", "choices": [choice], "usage": null });
    let spent = json!({ "prompt_tokens": 100, "completion_tokens": 20,
        "prompt_tokens_details": { "cached_tokens": 64 },
        "completion_tokens_details": { "reasoning_tokens": 8 } });
    let events = [
        chunk(json!({ "delta": { "role": "assistant", "content": "" } })),
        chunk(json!({ "delta": { "reasoning_content": "hm" } })),
        chunk(json!({ "delta": { "content": "It is " } })),
        chunk(json!({ "delta": { "content": "42." } })),
        chunk(json!({ "delta": {}, "finish_reason": "stop" })),
        json!({ "model": "m-1", "choices": [], "usage": spent }),
    ];
    let expected = [model("m-1"), text("It is 42."), usage(100, 64, 20, 8), ended("It is 42.")];
    assert_eq!(heard(Api::Chat, &events), expected);
    // The same in one piece.
    let message = json!({ "role": "assistant", "content": "It is 42." });
    let whole = json!({ "model": "m-1", "usage": spent,
        "choices": [{ "message": message, "finish_reason": "stop" }] });
    assert_eq!(Listener::new(Api::Chat).whole(&whole.to_string()), expected);
    // A stream that breaks off has a text, and no end.
    assert_eq!(heard(Api::Chat, &events[..4]), [model("m-1"), text("It is 42.")]);
}

#[test]
fn responses_are_understood() {
    let content = json!([{ "type": "output_text", "text": "It is 42." }]);
    let response = json!({ "status": "completed", "model": "m-1",
        "output": [{ "type": "reasoning", "summary": [] }, { "type": "message", "content": content }],
        "usage": { "input_tokens": 100, "output_tokens": 20,
            "input_tokens_details": { "cached_tokens": 64 },
            "output_tokens_details": { "reasoning_tokens": 8 } } });
    let events = [
        json!({ "type": "response.created", "response": { "model": "m-1" } }),
        json!({ "type": "response.output_text.delta", "delta": "It is " }),
        json!({ "type": "response.output_text.delta", "delta": "42." }),
        json!({ "type": "response.completed", "response": response }),
    ];
    let expected = [model("m-1"), text("It is 42."), usage(100, 64, 20, 8), ended("It is 42.")];
    assert_eq!(heard(Api::Responses, &events), expected);
    assert_eq!(Listener::new(Api::Responses).whole(&response.to_string()), expected);
    assert_eq!(heard(Api::Responses, &events[..3]), [model("m-1"), text("It is 42.")]);
}

#[test]
fn messages_are_understood() {
    let before = json!({ "input_tokens": 30, "cache_read_input_tokens": 64,
        "cache_creation_input_tokens": 6, "output_tokens": 1 });
    let events = [
        json!({ "type": "message_start", "message": { "model": "m-1", "usage": before } }),
        json!({ "type": "ping" }),
        json!({ "type": "content_block_delta", "delta": { "type": "thinking_delta", "thinking": "hm" } }),
        json!({ "type": "content_block_delta", "delta": { "type": "text_delta", "text": "It is " } }),
        json!({ "type": "content_block_delta", "delta": { "type": "text_delta", "text": "42." } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" },
            "usage": { "output_tokens": 20 } }),
        json!({ "type": "message_stop" }),
    ];
    let expected = [model("m-1"), text("It is 42."), usage(100, 64, 20, 0), ended("It is 42.")];
    assert_eq!(heard(Api::Messages, &events), expected);
    let mut spent = before;
    spent["output_tokens"] = json!(20);
    let whole = json!({ "model": "m-1", "stop_reason": "end_turn", "usage": spent,
        "content": [{ "type": "text", "text": "It is 42." }] });
    assert_eq!(Listener::new(Api::Messages).whole(&whole.to_string()), expected);
}

#[test]
fn an_end_that_is_no_answer_says_so() {
    use FailureKind::{Auth, CutOff, Other, RateLimited};
    let finish = |why: &str| json!({ "choices": [{ "delta": {}, "finish_reason": why }] });
    let stop = |why: &str| json!({ "type": "message_delta", "delta": { "stop_reason": why } });
    let response = |name: &str, response: Value| json!({ "type": name, "response": response });
    let incomplete =
        |why: &str| json!({ "status": "incomplete", "incomplete_details": { "reason": why } });
    let error = |kind: &str| json!({ "type": "error", "error": { "type": kind, "message": "no" } });
    for (api, event, kind, words) in [
        (Api::Chat, finish("length"), CutOff, "raise `max_tokens`"),
        (Api::Chat, finish("content_filter"), Other, "the model refuses"),
        (Api::Chat, finish("tool_calls"), Other, "`tool_calls`"),
        (Api::Chat, json!({ "error": { "message": "no", "code": 429 } }), RateLimited, "no"),
        (Api::Chat, json!({ "error": "out of memory" }), Other, "out of memory"),
        (Api::Messages, stop("max_tokens"), CutOff, "raise `max_tokens`"),
        (Api::Messages, stop("refusal"), Other, "the model refuses"),
        (Api::Messages, error("overloaded_error"), RateLimited, "no [overloaded_error]"),
        (Api::Messages, error("authentication_error"), Auth, "no [authentication_error]"),
        (Api::Messages, error("api_error"), Other, "no [api_error]"),
        (
            Api::Responses,
            response("response.incomplete", incomplete("max_output_tokens")),
            CutOff,
            "raise `max_tokens`",
        ),
        (
            Api::Responses,
            response("response.incomplete", incomplete("content_filter")),
            Other,
            "the model refuses: content_filter",
        ),
        (
            Api::Responses,
            response(
                "response.failed",
                json!({ "status": "failed",
                    "error": { "code": "rate_limit_exceeded", "message": "slow down" } }),
            ),
            RateLimited,
            "slow down [rate_limit_exceeded]",
        ),
        (Api::Responses, json!({ "type": "error", "message": "no" }), Other, "no"),
    ] {
        let events = heard(api, std::slice::from_ref(&event));
        let (found, message) = failed(&events).unwrap_or_else(|| panic!("{event}"));
        assert_eq!(found, kind, "{event}");
        assert!(message.contains(words), "{event}: {message}");
    }
    let refusing =
        json!({ "choices": [{ "delta": { "refusal": "I will not." }, "finish_reason": "stop" }] });
    let events = heard(Api::Chat, &[refusing]);
    assert_eq!(failed(&events), Some((Other, "the model refuses: I will not.")));
}

#[test]
fn a_refusals_kind_follows_from_its_status_and_words() {
    use FailureKind::{Auth, Other, RateLimited};
    for (status, body, later, kind, words) in [
        (401, "{\"error\":{\"message\":\"bad key\"}}", None, Auth, "answers 401: bad key"),
        (403, "", None, Auth, "answers 403: no reason given"),
        (
            429,
            "{\"error\":{\"message\":\"quota\",\"code\":\"insufficient_quota\"}}",
            Some("30"),
            RateLimited,
            "answers 429: quota [insufficient_quota] (retry after 30 s)",
        ),
        (402, "{\"error\":\"pay\"}", None, RateLimited, "answers 402: pay"),
        (
            400,
            "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Your credit balance is too low\"}}",
            None,
            RateLimited,
            "credit balance is too low [invalid_request_error]",
        ),
        (500, "<h1>Oops</h1>", None, Other, "answers 500: <h1>Oops</h1>"),
        (503, "{\"message\":\"loading\"}", Some("soon"), Other, "loading (retry after soon)"),
        (529, "{}", None, RateLimited, "answers 529"),
    ] {
        let failure = refusal(status, body, later);
        assert_eq!(failure.kind, kind, "{failure:?}");
        assert!(failure.message.contains(words), "{failure:?}");
    }
}

#[test]
fn an_answer_has_a_longest() {
    let piece = "x".repeat(LONGEST_ANSWER / 2);
    let mut listener = Listener::new(Api::Chat);
    let chunk = json!({ "choices": [{ "delta": { "content": piece } }] }).to_string();
    assert!(listener.event(&chunk).is_empty());
    assert!(listener.event(&chunk).is_empty() && !listener.is_over());
    let events = listener.event(&chunk);
    assert!(listener.is_over());
    assert_eq!(failed(&events), Some((FailureKind::Other, "the answer is longer than 16 MB")));
}

proptest! {
    #[test]
    fn no_event_does_harm(data in "\\PC{0,60}", kind in "[a-z_.]{0,20}") {
        let typed = json!({ "type": kind, "error": data, "choices": [{ "delta": data }] });
        for api in Api::ALL {
            let mut listener = Listener::new(api);
            listener.event(&data);
            listener.event(&typed.to_string());
            listener.whole(&data);
            listener.closed();
            refusal(400, &data, Some(&data));
        }
    }
}
