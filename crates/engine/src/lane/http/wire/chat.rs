//! Chat Completions, as `OpenAI` began them and most servers implement them.

use serde_json::{Map, Value, json};

use super::{Answer, Stop, told, usage};

pub(super) fn request(
    prompt: &str,
    max_tokens: Option<u64>,
    effort: Option<&str>,
) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("messages".to_owned(), json!([{ "role": "user", "content": prompt }]));
    // Without it, a stream does not report usage.
    body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    body.extend(max_tokens.map(|most| ("max_tokens".to_owned(), json!(most))));
    body.extend(effort.map(|effort| ("reasoning_effort".to_owned(), json!(effort))));
    body
}

/// Takes in a piece of an answer, or a whole one: they differ in one word.
pub(super) fn event(value: &Value, answer: &mut Answer) {
    if value.get("error").is_some_and(|error| !error.is_null()) {
        return answer.fail(told(value));
    }
    answer.model(&value["model"]);
    if value["usage"].is_object() {
        answer.usage = usage(&value["usage"], "prompt_tokens", "completion_tokens");
    }
    let choice = &value["choices"][0];
    let said = choice.get("delta").unwrap_or(&choice["message"]);
    answer.add(&said["content"]);
    answer.refuse(&said["refusal"]);
    // The usage comes after this, if the server reports it.
    match choice["finish_reason"].as_str() {
        None => {}
        Some("stop") => answer.stop = Some(Stop::Said),
        Some("length") => answer.stop = Some(Stop::cut_off()),
        Some("content_filter") => answer.stop = Some(Stop::refused("a content filter stopped it")),
        Some(other) => answer.stop = Some(Stop::unexpected(other)),
    }
}
