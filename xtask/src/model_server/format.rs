//! Answers as each kind of model API gives them.

use serde_json::{Value, json};

use super::Answer;

/// A kind of API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    Chat,
    /// Gemini, streamed or in one piece.
    Gemini { streaming: bool },
}

/// How a client wants an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// As a stream of events.
    Streamed,
    /// In one piece, as a client does that has seen a stream break.
    Whole,
}

impl Format {
    /// Recognizes the API by the requested path.
    pub(super) fn of(path: &str) -> Option<Self> {
        match path {
            "/v1/messages" => Some(Self::Messages),
            "/v1/responses" => Some(Self::Responses),
            "/v1/chat/completions" => Some(Self::Chat),
            _ if path.ends_with(":streamGenerateContent") => Some(Self::Gemini { streaming: true }),
            _ if path.ends_with(":generateContent") => Some(Self::Gemini { streaming: false }),
            _ => None,
        }
    }

    /// Returns the type and the text of an answer to a prompt of so many tokens.
    pub(super) fn write(
        self,
        answer: &Answer,
        tokens: u64,
        delivery: Delivery,
    ) -> (&'static str, String) {
        let events = match self {
            Self::Messages if delivery == Delivery::Whole => {
                return ("application/json", whole_message(answer, tokens).to_string());
            }
            Self::Messages => messages(answer, tokens),
            Self::Responses => responses(answer, tokens),
            Self::Chat => chat(answer, tokens),
            Self::Gemini { streaming } => {
                let body = gemini(answer, tokens);
                if !streaming {
                    return ("application/json", body.to_string());
                }
                vec![body]
            }
        };
        let mut text: String = events.iter().map(event).collect::<Vec<_>>().concat();
        if self == Self::Chat {
            text.push_str("data: [DONE]\n\n");
        }
        ("text/event-stream", text)
    }

    /// Returns the text of an answer that begins well and ends in an error.
    pub(super) fn write_error(self, tokens: u64) -> String {
        let error = json!({ "type": "overloaded_error", "code": "server_error",
                            "message": "the stand-in fails" });
        let begun = |events: Vec<Value>| events.into_iter().next().unwrap_or_default();
        let nothing = Answer::Text(String::new());
        let events = match self {
            Self::Messages => {
                vec![begun(messages(&nothing, tokens)), json!({ "type": "error", "error": error })]
            }
            Self::Responses => {
                let failed = json!({ "id": "resp_1", "status": "failed", "error": error });
                let failed = json!({ "type": "response.failed", "response": failed });
                vec![begun(responses(&nothing, tokens)), failed]
            }
            Self::Chat | Self::Gemini { .. } => vec![json!({ "error": error })],
        };
        events.iter().map(event).collect::<Vec<_>>().concat()
    }
}

fn event(value: &Value) -> String {
    let name = value["type"].as_str().map_or(String::new(), |name| format!("event: {name}\n"));
    format!("{name}data: {value}\n\n")
}

fn whole_message(answer: &Answer, tokens: u64) -> Value {
    let (block, reason) = match answer {
        Answer::Text(text) => (json!({ "type": "text", "text": text }), "end_turn"),
        Answer::Tool { name, input } => {
            let id = call_id(input);
            (json!({ "type": "tool_use", "id": id, "name": name, "input": input }), "tool_use")
        }
    };
    message(&json!([block]), &json!(reason), tokens)
}

fn message(content: &Value, reason: &Value, tokens: u64) -> Value {
    json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in",
            "content": content, "stop_reason": reason, "stop_sequence": null,
            "usage": { "input_tokens": tokens, "output_tokens": 2 } })
}

fn messages(answer: &Answer, tokens: u64) -> Vec<Value> {
    let message = message(&json!([]), &Value::Null, tokens);
    let usage = &message["usage"];
    let (block, delta, reason) = match answer {
        Answer::Text(text) => (
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": text }),
            "end_turn",
        ),
        Answer::Tool { name, input } => (
            json!({ "type": "tool_use", "id": call_id(input), "name": name, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": input.to_string() }),
            "tool_use",
        ),
    };
    let end = json!({ "stop_reason": reason, "stop_sequence": null });
    vec![
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "usage": usage, "delta": end }),
        json!({ "type": "message_stop" }),
    ]
}

fn responses(answer: &Answer, tokens: u64) -> Vec<Value> {
    let item = match answer {
        Answer::Text(text) => {
            let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
            json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": content })
        }
        Answer::Tool { name, input } => {
            let (space, name) = name.split_once('/').map_or((None, *name), |(s, n)| (Some(s), n));
            let mut call = json!({
                "type": "function_call", "id": "fc_1", "call_id": call_id(input), "name": name,
                "arguments": input.to_string(), "status": "completed"
            });
            if let Some(space) = space {
                call["namespace"] = json!(space);
            }
            call
        }
    };
    let usage = json!({ "input_tokens": tokens, "output_tokens": 2, "total_tokens": tokens + 2,
                        "input_tokens_details": { "cached_tokens": 0 },
                        "output_tokens_details": { "reasoning_tokens": 0 } });
    let response = json!({ "id": "resp_1", "object": "response", "status": "completed",
                           "model": "stand-in", "output": [item], "usage": usage });
    vec![
        json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress" } }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": response }),
    ]
}

fn chat(answer: &Answer, tokens: u64) -> Vec<Value> {
    let (delta, reason) = match answer {
        Answer::Text(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        Answer::Tool { name, input } => {
            let function = json!({ "name": name, "arguments": input.to_string() });
            let call = json!({ "index": 0, "id": call_id(input), "type": "function",
                               "function": function });
            (json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
        }
    };
    let chunk = |choices: Value, usage: Value| {
        json!({ "id": "chatcmpl_1", "object": "chat.completion.chunk", "created": 1,
                "model": "stand-in", "choices": choices, "usage": usage })
    };
    let usage = json!({ "prompt_tokens": tokens, "completion_tokens": 2,
                        "total_tokens": tokens + 2 });
    let end = json!([{ "index": 0, "delta": {}, "finish_reason": reason }]);
    vec![
        chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]), Value::Null),
        chunk(end, Value::Null),
        chunk(json!([]), usage),
    ]
}

fn gemini(answer: &Answer, tokens: u64) -> Value {
    let part = match answer {
        Answer::Text(text) => json!({ "text": text }),
        Answer::Tool { name, input } => {
            json!({ "functionCall": { "id": call_id(input), "name": name, "args": input } })
        }
    };
    json!({
        "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP" }],
        "usageMetadata": { "promptTokenCount": tokens, "candidatesTokenCount": 2,
                           "totalTokenCount": tokens + 2 },
        "modelVersion": "stand-in", "responseId": "resp_1"
    })
}

/// Different calls have different names, the same one in every run.
fn call_id(input: &Value) -> String {
    let sum = input
        .to_string()
        .bytes()
        .fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    format!("call_{sum:016x}")
}
