//! An agent's answer, which comes in pieces.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::request::BridgeRequest;
use crate::json::{parse, string};

/// The longest answer that is kept, in bytes; with its escapes it must fit into one line.
const LONGEST_ANSWER: usize = 2 * 1024 * 1024;

/// The text since the last use of a tool.
///
/// A missing piece makes the answer unknown. Some agents put notices of their own between the
/// pieces; those have no message's id where the pieces of the answer have one.
#[derive(Debug, Default)]
pub(super) struct AnswerText {
    text: String,
    /// The message that the text belongs to.
    message: Option<String>,
    torn: Option<&'static str>,
    /// Whether text without a message's id is never the answer.
    needs_ids: bool,
}

/// What an update says about the answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// It has no part in it.
    None,
    /// This text is complete, and not the answer.
    Said(String),
}

#[derive(Deserialize)]
struct Update<'a> {
    #[serde(borrow, rename = "sessionUpdate")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow, rename = "messageId")]
    message: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

impl AnswerText {
    /// Reads the answer of an agent, which may be known to give its messages ids.
    pub(super) fn of(request: &BridgeRequest) -> Self {
        Self { needs_ids: request.answers_have_ids, ..Self::default() }
    }

    /// Takes in an update.
    pub(super) fn take(&mut self, update: Option<&RawValue>) -> Piece {
        let Some(update) = parse::<Update<'_>>(update) else { return Piece::None };
        match string(update.kind).unwrap_or_default().as_ref() {
            "agent_message_chunk" => {
                let content = parse::<Content<'_>>(update.content);
                let text = content.and_then(|content| string(content.text)).unwrap_or_default();
                self.add(&text, string(update.message).as_deref())
            }
            "tool_call" => {
                // What was torn was not the answer.
                self.torn = None;
                self.begin_anew(None)
            }
            _ => Piece::None,
        }
    }

    /// Takes in that a piece may be missing.
    pub(super) fn tear(&mut self, why: &'static str) {
        self.torn = Some(why);
    }

    /// Tells whether a part of an answer is there.
    pub(super) fn is_begun(&self) -> bool {
        !self.text.is_empty()
    }

    /// Returns the answer, or why it is not known.
    pub(super) fn finish(&mut self) -> Result<String, &'static str> {
        let text = std::mem::take(&mut self.text);
        self.torn.take().map_or(Ok(text), Err)
    }

    fn add(&mut self, text: &str, message: Option<&str>) -> Piece {
        let said = match (self.message.as_deref(), message) {
            (None, None) if self.needs_ids => return said(text.to_owned()),
            // A notice, behind a piece of the answer.
            (Some(_), None) => return said(text.to_owned()),
            // A notice came first.
            (None, Some(message)) => self.begin_anew(Some(message.to_string())),
            (Some(last), Some(message)) if last != message => {
                if self.is_begun() {
                    self.text.push_str("\n\n");
                }
                self.message = Some(message.to_string());
                Piece::None
            }
            _ => Piece::None,
        };
        if self.text.len() + text.len() > LONGEST_ANSWER {
            self.tear("the answer is longer than Convoke reads");
        } else {
            self.text.push_str(text);
        }
        said
    }

    fn begin_anew(&mut self, message: Option<String>) -> Piece {
        let text = std::mem::take(&mut self.text);
        self.message = message;
        said(text)
    }
}

fn said(text: String) -> Piece {
    if text.trim().is_empty() { Piece::None } else { Piece::Said(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(updates: &[&str]) -> (Vec<String>, Result<String, &'static str>) {
        let mut answer = AnswerText::default();
        let mut said = Vec::new();
        for update in updates {
            match answer.take(Some(serde_json::from_str(update).unwrap())) {
                Piece::Said(text) => said.push(text),
                Piece::None => {}
            }
        }
        (said, answer.finish())
    }

    fn chunk(text: &str, message: Option<&str>) -> String {
        let content = serde_json::json!({ "type": "text", "text": text });
        let mut update =
            serde_json::json!({ "sessionUpdate": "agent_message_chunk", "content": content });
        if let Some(message) = message {
            update["messageId"] = message.into();
        }
        update.to_string()
    }

    const TOOL: &str = r#"{"sessionUpdate":"tool_call","toolCallId":"1"}"#;

    fn check(updates: &[String], said: &[&str], expected: &str) {
        let updates: Vec<_> = updates.iter().map(String::as_str).collect();
        let (found, answer) = answer(&updates);
        assert_eq!(
            (found.iter().map(String::as_str).collect::<Vec<_>>(), answer),
            (said.to_vec(), Ok(expected.to_owned()))
        );
    }

    #[test]
    fn the_answer_is_the_text_since_the_last_tool() {
        let plain = |text| chunk(text, None);
        check(
            &[plain("Let me "), plain("see."), TOOL.to_owned(), plain("It is "), plain("42.")],
            &["Let me see."],
            "It is 42.",
        );
        check(&[plain("Let me see."), TOOL.to_owned()], &["Let me see."], "");
        check(&[], &[], "");
        let one = |text| chunk(text, Some("m1"));
        check(&[one("It "), one("is"), chunk("So.", Some("m2"))], &[], "It is\n\nSo.");
    }

    // Codex puts its warnings among the pieces of an answer.
    #[test]
    fn a_notice_of_the_agents_is_not_part_of_the_answer() {
        let mut strict = AnswerText { needs_ids: true, ..AnswerText::default() };
        let only = strict.take(Some(serde_json::from_str(&chunk("Warning: x", None)).unwrap()));
        assert_eq!(only, Piece::Said("Warning: x".to_owned()));
        assert_eq!(strict.finish(), Ok(String::new()), "a notice alone is no answer");
        let (notice, piece) = (|text| chunk(text, None), |text| chunk(text, Some("m1")));
        check(
            &[notice("Warning: x\n\n"), piece("It is "), notice("Warning: y"), piece("42.")],
            &["Warning: x\n\n", "Warning: y"],
            "It is 42.",
        );
    }

    #[test]
    fn a_missing_piece_makes_the_answer_unknown() {
        let mut answer = AnswerText::default();
        let take = |answer: &mut AnswerText, update: &str| {
            answer.take(Some(serde_json::from_str(update).unwrap()))
        };
        take(&mut answer, &chunk("It is ", None));
        answer.tear("torn");
        take(&mut answer, &chunk("42.", None));
        assert_eq!(answer.finish(), Err("torn"));
        answer.tear("torn");
        take(&mut answer, TOOL);
        take(&mut answer, &chunk("42.", None));
        assert_eq!(answer.finish(), Ok("42.".to_owned()), "a tool followed");
        take(&mut answer, &chunk(&"x".repeat(LONGEST_ANSWER), None));
        take(&mut answer, &chunk("y", None));
        assert!(answer.finish().is_err());
    }
}
