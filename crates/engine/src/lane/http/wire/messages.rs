//! Anthropic's Messages.

use convoke_domain::lane::event::Usage;
use serde_json::{Map, Value, json};

use super::{Answer, Counts, Stop, tokens, told};

/// This API requires a limit; every current model supports this one.
const USUAL_MAX_TOKENS: u64 = 8192;

pub(super) fn request(
    prompt: &str,
    max_tokens: Option<u64>,
    effort: Option<&str>,
) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("max_tokens".to_owned(), json!(max_tokens.unwrap_or(USUAL_MAX_TOKENS)));
    body.insert("messages".to_owned(), json!([{ "role": "user", "content": prompt }]));
    body.extend(effort.map(|effort| ("output_config".to_owned(), json!({ "effort": effort }))));
    body
}

pub(super) fn event(value: &Value, answer: &mut Answer) {
    match value["type"].as_str().unwrap_or_default() {
        "message_start" => {
            answer.model(&value["message"]["model"]);
            usage(&value["message"]["usage"], answer);
        }
        "content_block_delta" => answer.add(&value["delta"]["text"]),
        "message_delta" => {
            usage(&value["usage"], answer);
            stop(&value["delta"]["stop_reason"], answer);
        }
        "message_stop" => answer.is_over = true,
        "error" => answer.fail(told(value)),
        _ => {}
    }
}

/// Takes in a message in one piece.
pub(super) fn whole(message: &Value, answer: &mut Answer) {
    answer.model(&message["model"]);
    usage(&message["usage"], answer);
    for block in message["content"].as_array().into_iter().flatten() {
        answer.add(&block["text"]);
    }
    if answer.stop.is_none() {
        stop(&message["stop_reason"], answer);
    }
}

fn stop(reason: &Value, answer: &mut Answer) {
    match reason.as_str() {
        None => {}
        Some("end_turn" | "stop_sequence") => answer.stop = Some(Stop::Said),
        Some("max_tokens" | "model_context_window_exceeded") => {
            answer.stop = Some(Stop::cut_off());
        }
        Some("refusal") => answer.stop = Some(Stop::refused("it does not say why")),
        Some(other) => answer.stop = Some(Stop::unexpected(other)),
    }
}

/// Takes in counts. They grow from event to event, and not every event has all of them; one that no
/// event has is unknown. Unlike other APIs, this one does not include cached tokens in the input.
fn usage(value: &Value, answer: &mut Answer) {
    if !value.is_object() {
        return;
    }
    let names =
        ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];
    let said = names.map(|name| Some(&value[name]).filter(|count| !count.is_null()).map(tokens));
    answer.is_usage_unknown |= said.contains(&Some(None));
    let [fresh, written, cached, output] = said.map(Option::flatten);
    let (written, cached) = (written.unwrap_or_default(), cached.unwrap_or_default());
    let before = answer.counts;
    answer.counts = Counts {
        input: fresh.map(|fresh| fresh + written + cached).max(before.input),
        cached: cached.max(before.cached),
        output: output.max(before.output),
    };
    let Counts { input, cached, output } = answer.counts;
    answer.usage = input.zip(output).map(|(input, output)| Usage {
        input,
        cached,
        output,
        ..Usage::default()
    });
}
