//! The messages of the protocol: those that Convoke sends, and the parts that it reads of others'.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::json::{owned, parse, string};

/// The version of the protocol that Convoke speaks.
pub(super) const PROTOCOL: u64 = 1;

/// The code of an answer that demands a login.
pub(super) const LOGIN_REQUIRED: i64 = -32000;

/// The code that answers an unknown method.
const NO_SUCH_METHOD: i64 = -32601;

/// Any message of an agent: a request, a notification or an answer.
#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// An error as the agent reports it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AgentError {
    pub(super) code: Option<i64>,
    /// In the agent's words.
    pub(super) words: String,
}

#[derive(Deserialize)]
struct RawError<'a> {
    #[serde(borrow)]
    code: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ErrorData<'a> {
    #[serde(borrow)]
    details: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

impl Message<'_> {
    /// Returns the number of the request that it answers.
    pub(super) fn number(&self) -> Option<u64> {
        self.id?.get().parse().ok()
    }

    /// Returns the error of an answer.
    pub(super) fn error(&self) -> Option<AgentError> {
        let error = self.error?;
        let Some(told) = parse::<RawError<'_>>(Some(error)) else {
            return Some(AgentError { code: None, words: error.get().to_owned() });
        };
        let message = string(told.message).unwrap_or(Cow::Borrowed("the agent reports an error"));
        let more = parse::<ErrorData<'_>>(told.data)
            .and_then(|data| owned(data.details).or_else(|| owned(data.message)))
            .or_else(|| owned(told.data))
            .filter(|more| !message.contains(more.as_str()));
        let words = more.map_or_else(|| message.to_string(), |more| format!("{message}: {more}"));
        Some(AgentError { code: told.code.and_then(|code| code.get().parse().ok()), words })
    }
}

/// Returns a request under a number.
pub(super) fn request(number: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params }).to_string()
}

/// Returns a notification, which has no answer.
pub(super) fn notification(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

/// Returns the answer to a request of the agent, under the agent's own id.
pub(super) fn answer(id: &RawValue, result: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.get())
}

/// Returns the refusal of a request of the agent.
pub(super) fn refusal(id: &RawValue, method: &str) -> String {
    let words = format!("Convoke does not offer {method}");
    let error = json!({ "code": NO_SUCH_METHOD, "message": words });
    format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.get())
}

/// Returns what Convoke says first. It offers neither files nor terminals: an agent has tools of its
/// own, and its safe mode limits those.
pub(super) fn greeting() -> Value {
    json!({
        "protocolVersion": PROTOCOL,
        "clientCapabilities": {
            "fs": { "readTextFile": false, "writeTextFile": false },
            "terminal": false,
        },
        "clientInfo": {
            "name": "convoke", "title": "Convoke", "version": env!("CARGO_PKG_VERSION"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(line: &str) -> Option<AgentError> {
        serde_json::from_str::<Message<'_>>(line).unwrap().error()
    }

    #[test]
    fn an_error_keeps_the_agents_words() {
        for (line, code, words) in [
            (
                r#"{"error":{"code":-32000,"message":"Authentication required"}}"#,
                Some(-32000),
                "Authentication required",
            ),
            (
                r#"{"error":{"code":-32603,"message":"Internal error","data":{"details":"429 slow down"}}}"#,
                Some(-32603),
                "Internal error: 429 slow down",
            ),
            (
                r#"{"error":{"code":"x","message":7,"data":"why"}}"#,
                None,
                "the agent reports an error: why",
            ),
            (r#"{"error":"no"}"#, None, "\"no\""),
        ] {
            let told = error(line).unwrap();
            assert_eq!((told.code, told.words.as_str()), (code, words), "{line}");
        }
        assert_eq!(error(r#"{"id":1,"result":null}"#), None);
    }

    #[test]
    fn an_answer_carries_the_agents_own_id() {
        let id: &RawValue = serde_json::from_str(r#""a\"b""#).unwrap();
        assert_eq!(answer(id, &json!({})), r#"{"jsonrpc":"2.0","id":"a\"b","result":{}}"#);
        assert!(refusal(id, "fs/write_text_file").contains("does not offer fs/write_text_file"));
    }
}
