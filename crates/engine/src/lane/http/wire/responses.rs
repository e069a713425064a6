//! `OpenAI`'s Responses.

use serde_json::{Map, Value, json};

use super::{Answer, Stop, told, usage};

pub(super) fn request(
    prompt: &str,
    max_tokens: Option<u64>,
    effort: Option<&str>,
) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("input".to_owned(), json!(prompt));
    // Convoke never continues a response, so the server need not store it.
    body.insert("store".to_owned(), json!(false));
    body.extend(max_tokens.map(|most| ("max_output_tokens".to_owned(), json!(most))));
    body.extend(effort.map(|effort| ("reasoning".to_owned(), json!({ "effort": effort }))));
    body
}

pub(super) fn event(value: &Value, answer: &mut Answer) {
    let response = &value["response"];
    match value["type"].as_str().unwrap_or_default() {
        "response.created" | "response.in_progress" => answer.model(&response["model"]),
        "response.output_text.delta" => answer.add(&value["delta"]),
        "response.refusal.delta" => answer.refuse(&value["delta"]),
        "response.completed" | "response.incomplete" | "response.failed" => whole(response, answer),
        "error" => answer.fail(told(value)),
        _ => {}
    }
}

/// Takes in a complete response, which is more reliable than its pieces.
pub(super) fn whole(response: &Value, answer: &mut Answer) {
    answer.model(&response["model"]);
    if response["usage"].is_object() {
        answer.usage = usage(&response["usage"], "input_tokens", "output_tokens");
    }
    let texts = |kind: &str, field: &str| {
        let items = response["output"].as_array().into_iter().flatten();
        let parts = items.filter_map(|item| item["content"].as_array()).flatten();
        let texts =
            parts.filter(|part| part["type"] == kind).filter_map(|part| part[field].as_str());
        texts.collect::<Vec<_>>().concat()
    };
    let text = texts("output_text", "text");
    if !text.is_empty() {
        answer.text.clear();
        answer.add(&Value::String(text));
    }
    if answer.refusal.is_empty() {
        answer.refuse(&Value::String(texts("refusal", "refusal")));
    }
    answer.is_over = true;
    if answer.stop.is_some() {
        return;
    }
    let why = response["incomplete_details"]["reason"].as_str();
    match response["status"].as_str().unwrap_or_default() {
        "completed" => answer.stop = Some(Stop::Said),
        "failed" => answer.fail(told(response)),
        "incomplete" if why == Some("max_output_tokens") => answer.stop = Some(Stop::cut_off()),
        "incomplete" => answer.stop = Some(Stop::refused(why.unwrap_or("it does not say why"))),
        other => answer.stop = Some(Stop::unexpected(other)),
    }
}
