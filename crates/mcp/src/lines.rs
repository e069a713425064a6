//! The lines of a client, before the protocol's library reads them.
//!
//! The library passes over a line that it cannot read, and the client then waits for an answer until its
//! own time is up. So texts with broken characters are repaired here, a batch becomes single messages,
//! an id such as `1.0` an integer, and any other request that cannot be read one that the server refuses.

use rmcp::ErrorData;
use rmcp::model::{CustomRequest, ErrorCode};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

/// The longest line that is read, in bytes; the library reads no longer one, either.
const LONGEST: usize = 16 * 1024 * 1024;

/// How many bytes at both ends of a line are searched for the id of a request.
const ENDS: usize = 300;

/// The request in the place of one that cannot be read.
const UNREADABLE: &str = "convoke/unreadable";

/// The request in the place of one that is JSON and nevertheless no request of the protocol.
const INVALID: &str = "convoke/invalid";

/// The methods whose parameters the library refuses as if there were no such method.
const KNOWN: [&str; 5] =
    ["tools/call", "tools/list", "resources/read", "prompts/get", "completion/complete"];

/// A line of a client, without its end.
struct Line {
    /// Its beginning; all of it, unless it is too long.
    head: Vec<u8>,
    /// Its last bytes, if it is too long.
    tail: Option<Vec<u8>>,
}

/// Passes a client's lines on until it closes its stream, or until no more are read.
pub(crate) async fn pass_on(input: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) {
    let mut input = BufReader::new(input);
    while let Some(line) = next(&mut input).await {
        for mut line in usable(line) {
            line.push(b'\n');
            if to.write_all(&line).await.is_err() || to.flush().await.is_err() {
                return;
            }
        }
    }
}

/// Reads a line; a long one without keeping it.
async fn next(input: &mut (impl AsyncBufReadExt + Unpin)) -> Option<Line> {
    let mut line = Line { head: Vec::new(), tail: None };
    loop {
        let chunk = input.fill_buf().await.ok()?;
        if chunk.is_empty() {
            return (!line.head.is_empty()).then_some(line);
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let piece = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
        line.add(piece);
        let used = piece.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Some(line);
        }
    }
}

impl Line {
    fn add(&mut self, piece: &[u8]) {
        if self.tail.is_none() && self.head.len() + piece.len() <= LONGEST {
            self.head.extend_from_slice(piece);
            return;
        }
        self.head.truncate(ENDS);
        let missing = (ENDS - self.head.len()).min(piece.len());
        self.head.extend_from_slice(piece.get(..missing).unwrap_or_default());
        let tail = self.tail.get_or_insert_default();
        tail.extend_from_slice(piece);
        let excess = tail.len().saturating_sub(ENDS);
        tail.drain(..excess);
    }
}

/// Returns what is passed on in the place of a line; nothing for what is no request.
fn usable(Line { head, tail }: Line) -> Vec<Vec<u8>> {
    if let Some(tail) = tail {
        let why = format!("the message has more than {LONGEST} bytes");
        return Vec::from_iter(refusable(&head, &tail, &why));
    }
    let error = match serde_json::from_slice::<Value>(&head) {
        Ok(message) => return single(message).unwrap_or_else(|| vec![head]),
        Err(error) => error,
    };
    let repaired = repair(&String::from_utf8_lossy(&head));
    if repaired.len() <= LONGEST
        && let Ok(message) = serde_json::from_str::<Value>(&repaired)
    {
        return single(message).unwrap_or_else(|| vec![repaired.into_bytes()]);
    }
    let tail = head.get(head.len().saturating_sub(ENDS)..).unwrap_or_default();
    Vec::from_iter(refusable(&head, tail, &format!("the message is not JSON: {error}")))
}

/// Returns the messages of a batch, which the protocol knew once, or a message that the library can
/// read and answer with its id; nothing if the message can be passed on as it is.
fn single(message: Value) -> Option<Vec<Vec<u8>>> {
    let line = |message: Value| {
        let message = whole_id(message);
        valid(&message).err().unwrap_or(message).to_string().into_bytes()
    };
    if let Value::Array(messages) = message {
        return Some(messages.into_iter().filter(Value::is_object).map(line).collect());
    }
    let has_point = message.get("id").is_some_and(Value::is_f64);
    (has_point || valid(&message).is_err()).then(|| vec![line(message)])
}

/// Checks what the library would refuse without the id of the request. The error is a request that the
/// server refuses.
fn valid(message: &Value) -> Result<(), Value> {
    let id = message.get("id").filter(|id| id.is_i64() || id.is_string());
    let is_answer = message.get("result").or(message.get("error")).is_some();
    let Some(id) = id.filter(|_| !is_answer) else { return Ok(()) };
    let why = if message.get("jsonrpc") != Some(&json!("2.0")) {
        "`jsonrpc` must be \"2.0\""
    } else if !message.get("method").is_some_and(Value::is_string) {
        "`method` must be a text"
    } else if !message.get("params").is_none_or(|params| params.is_object() || params.is_null()) {
        "`params` must be an object"
    } else {
        return Ok(());
    };
    Err(refused(id, INVALID, why))
}

/// Returns a request that the server refuses.
fn refused(id: &Value, method: &str, why: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": { "why": why } })
}

/// Writes an id such as `1.0` as an integer, which is the same number to the client.
fn whole_id(mut message: Value) -> Value {
    let id = message.get("id").filter(|id| id.is_f64()).and_then(Value::as_f64);
    if let Some(id) = id.and_then(|id| id.to_string().parse::<i64>().ok()) {
        message["id"] = id.into();
    }
    message
}

/// Writes the half of a pair of surrogates as the replacement character: programs
/// that cut a text in the middle of an emoji send such halves.
fn repair(text: &str) -> String {
    let mut repaired = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        repaired.push_str(before);
        let length = match (surrogate(escape), escape.get(6..).and_then(surrogate)) {
            (Some(Half::High), Some(Half::Low)) => 12,
            (Some(_), _) => {
                repaired.push('\u{fffd}');
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            // Two characters: a backslash behind a backslash begins nothing.
            (None, _) => escape.chars().take(2).map(char::len_utf8).sum(),
        };
        let (kept, behind) = escape.split_at(length);
        repaired.push_str(kept);
        rest = behind;
    }
    repaired + rest
}

/// A half of a pair that means one character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    High,
    Low,
}

fn surrogate(escape: &str) -> Option<Half> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    match u32::from_str_radix(digits, 16).ok()? {
        0xD800..0xDC00 => Some(Half::High),
        0xDC00..0xE000 => Some(Half::Low),
        _ => None,
    }
}

/// Returns a request that the server refuses, with the id of one that cannot be read.
fn refusable(head: &[u8], tail: &[u8], why: &str) -> Option<Vec<u8>> {
    let start = head.get(..ENDS).unwrap_or(head);
    let (start, tail) = (String::from_utf8_lossy(start), String::from_utf8_lossy(tail));
    // An answer of the client's has an id, too, and none of ours.
    let is_request = start.contains("\"method\"") || tail.contains("\"method\"");
    let id = id_in_front(&start).or_else(|| id_at_the_end(&tail)).filter(|_| is_request)?;
    let why: String = why.chars().take(ENDS).collect();
    Some(refused(&id, UNREADABLE, &why).to_string().into_bytes())
}

/// Finds the id of a request that has it before its parameters.
fn id_in_front(start: &str) -> Option<Value> {
    let before = start.split("\"params\"").next()?;
    let (_, rest) = before.split_once("\"id\"")?;
    id(rest.trim_start().strip_prefix(':')?).map(|(id, _)| id)
}

/// Finds the id of a request that has it as its last member.
fn id_at_the_end(tail: &str) -> Option<Value> {
    let (_, rest) = tail.rsplit_once("\"id\"")?;
    let (id, behind) = id(rest.trim_start().strip_prefix(':')?)?;
    (behind.trim() == "}").then_some(id)
}

/// Reads an id, which is a number or a text, and returns what is behind it.
fn id(text: &str) -> Option<(Value, &str)> {
    let text = text.trim_start();
    if text.starts_with('"') {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let value = values.next()?.ok()?;
        return Some((value, text.get(values.byte_offset()..)?));
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: i64 = text.get(..end)?.parse().ok()?;
    Some((number.into(), text.get(end..)?))
}

/// Says what is wrong with a request that the library does not know.
pub(crate) fn refuse(request: &CustomRequest) -> ErrorData {
    let CustomRequest { method, params, .. } = request;
    let why = params.as_ref().and_then(|params| params.get("why")?.as_str());
    match (method.as_str(), why) {
        (UNREADABLE, Some(why)) => return ErrorData::parse_error(why.to_owned(), None),
        (INVALID, Some(why)) => {
            return ErrorData::invalid_request(format!("the message is no request: {why}"), None);
        }
        _ => {}
    }
    let shown: String = method.chars().take(60).collect();
    if KNOWN.contains(&method.as_str()) {
        let words = format!(
            "cannot use the parameters of `{shown}`: a name must be a text, and arguments an object"
        );
        return ErrorData::invalid_params(words, None);
    }
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, shown, None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn passed(line: &[u8]) -> Option<Value> {
        let mut whole = Line { head: Vec::new(), tail: None };
        whole.add(line);
        let lines = usable(whole);
        assert!(lines.len() < 2, "{lines:?}");
        lines.first().map(|line| serde_json::from_slice(line).unwrap())
    }

    #[test]
    fn a_text_with_broken_characters_is_repaired() {
        for (line, text) in [
            (&b"{\"a\":\"x\\ud83dy\"}"[..], "x\u{fffd}y"),
            (b"{\"a\":\"\\udc00\\ud83d\\ude00\"}", "\u{fffd}\u{1f600}"),
            (b"{\"a\":\"\\ud83d\\ud83d\\ude00\"}", "\u{fffd}\u{1f600}"),
            (b"{\"a\":\"\\\\ud83d\\ud83d\"}", "\\ud83d\u{fffd}"),
            (b"{\"a\":\"x\xffy\"}", "x\u{fffd}y"),
        ] {
            assert_eq!(
                passed(line).unwrap()["a"],
                json!(text),
                "{}",
                String::from_utf8_lossy(line)
            );
        }
    }

    #[test]
    fn a_request_that_cannot_be_read_keeps_its_id() {
        let deep = "[".repeat(300) + &"]".repeat(300);
        let long = "x".repeat(LONGEST);
        for (line, id) in [
            (
                format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":{deep}}}"),
                json!(7),
            ),
            (format!("{{\"method\":\"m\",\"params\":{deep},\"id\": \"a\"}} "), json!("a")),
            (format!("{{\"id\":7,\"method\":\"m\",\"params\":\"{long}\"}}"), json!(7)),
            (format!("{{\"method\":\"m\",\"params\":\"{long}\",\"id\":8}}"), json!(8)),
        ] {
            let refused = passed(line.as_bytes()).unwrap();
            assert_eq!((&refused["id"], &refused["method"]), (&id, &json!(UNREADABLE)));
        }
        // What is no request is passed over.
        for line in ["{\"id\":7,\"result\":", "{\"method\":\"m\"", "hello", "\u{0}", ""] {
            assert_eq!(passed(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn a_message_that_is_no_request_is_refused_with_its_id() {
        for (line, why) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"m","params":[1]}"#, "`params` must be an object"),
            (r#"{"jsonrpc":"2.0","id":7,"method":"m","params":"x"}"#, "`params` must be an object"),
            (r#"{"jsonrpc":"2.0","id":7}"#, "`method` must be a text"),
            (r#"{"jsonrpc":"2.0","id":7,"method":{}}"#, "`method` must be a text"),
            (r#"{"id":7,"method":"m"}"#, "`jsonrpc` must be \"2.0\""),
            (r#"[{"id":7,"method":"m"}]"#, "`jsonrpc` must be \"2.0\""),
        ] {
            assert_eq!(passed(line.as_bytes()), Some(refused(&json!(7), INVALID, why)), "{line}");
        }
        // What has no id to answer, and answers of the client's, are passed on.
        for line in [
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            r#"{"jsonrpc":"2.0","method":"m","params":[1]}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#,
        ] {
            assert_eq!(passed(line.as_bytes()).unwrap().to_string().len(), line.len(), "{line}");
        }
    }

    #[test]
    fn a_batch_and_an_id_with_a_point_are_answered() {
        let batch = b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"},7,\
            {\"jsonrpc\":\"2.0\",\"id\":2.0,\"method\":\"b\"},{\"method\":\"c\"}]";
        let lines = usable(Line { head: batch.to_vec(), tail: None });
        let lines: Vec<Value> =
            lines.iter().map(|line| serde_json::from_slice(line).unwrap()).collect();
        let expected = [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "a" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "b" }),
            json!({ "method": "c" }),
        ];
        assert_eq!(lines, expected);
        for (id, whole) in [("1.0", 1), ("-3e0", -3), ("1e3", 1000)] {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\"}}");
            assert_eq!(passed(line.as_bytes()).unwrap()["id"], json!(whole), "{id}");
        }
        assert_eq!(passed(b"[]"), None);
    }

    proptest! {
        // JSON of a client is passed on to the byte, and no bytes break the server.
        #[test]
        fn readable_lines_are_passed_on_as_they_are(text in any::<String>(), bytes in any::<Vec<u8>>()) {
            let line = json!({ "jsonrpc": "2.0", "id": 1, "method": text }).to_string().into_bytes();
            let whole = Line { head: line.clone(), tail: None };
            prop_assert_eq!(usable(whole), vec![line]);
            let line: Vec<u8> = bytes.into_iter().filter(|byte| *byte != b'\n').collect();
            for passed in usable(Line { head: line, tail: None }) {
                prop_assert!(serde_json::from_slice::<Value>(&passed).is_ok());
            }
        }
    }
}
