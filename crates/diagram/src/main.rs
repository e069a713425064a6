//! Whether diagrams are written in Mermaid's language, and how they look: a program that `convoke
//! mermaid check --syntax` and `convoke show --html` start.
//!
//! The parser is another project's, and large: in a program of its own it costs no other command
//! time to build, to start or to load, and a diagram that breaks it cannot break Convoke.
//!
//! Convoke writes one question to stdin and closes it. The program first prints which protocol it
//! speaks, then one answer for each diagram, in their order, each as a line of JSON. It ends early
//! after a diagram on which the parser did not finish; Convoke starts it again for the others.

mod drawing;
mod parser;

use std::fmt;
use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use crate::drawing::draw;
use crate::parser::{Verdict, parse};

/// The version of the questions and answers; `crates/engine/src/mermaid.rs` has the same.
const PROTOCOL: u32 = 2;

/// Convoke's request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    diagrams: Vec<String>,
    #[serde(default)]
    task: Task,
}

/// What to do with every diagram.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Task {
    /// To parse it.
    #[default]
    Parse,
    /// To draw it.
    Draw,
}

/// The first line of this program, before it parses anything.
#[derive(Debug, Serialize)]
struct Greeting {
    protocol: u32,
}

/// The parser's result for one diagram, by its place among the given ones.
#[derive(Debug, Serialize)]
struct Answer {
    diagram: usize,
    #[serde(flatten)]
    verdict: Verdict,
}

#[expect(clippy::disallowed_methods, reason = "the program's door to its stdout")]
fn main() -> Result<(), Failure> {
    respond(io::stdin(), io::stdout())
}

/// Answers one question.
fn respond(mut input: impl Read, mut output: impl Write) -> Result<(), Failure> {
    let mut text = String::new();
    input.read_to_string(&mut text).map_err(Failure::Read)?;
    let question: Question = serde_json::from_str(&text).map_err(|_| Failure::Usage)?;
    write_line(&mut output, &Greeting { protocol: PROTOCOL })?;
    for (diagram, text) in question.diagrams.into_iter().enumerate() {
        let verdict = match question.task {
            Task::Parse => parse(text),
            Task::Draw => draw(text),
        };
        let is_last = verdict.is_unknown();
        write_line(&mut output, &Answer { diagram, verdict })?;
        if is_last {
            break;
        }
    }
    Ok(())
}

fn write_line(output: &mut impl Write, line: &impl Serialize) -> Result<(), Failure> {
    let mut bytes = serde_json::to_vec(line).map_err(|error| Failure::Write(error.into()))?;
    bytes.push(b'\n');
    output.write_all(&bytes).and_then(|()| output.flush()).map_err(Failure::Write)
}

enum Failure {
    Usage,
    Read(io::Error),
    Write(io::Error),
}

/// This is how the standard library prints why a program failed.
impl fmt::Debug for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage => formatter
                .write_str("only convoke starts this program; see `convoke mermaid check --help`"),
            Self::Read(error) => write!(formatter, "cannot read the diagrams: {error}"),
            Self::Write(error) => write!(formatter, "cannot write the answers: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(question: &str) -> Result<String, String> {
        let mut output = Vec::new();
        let result = respond(question.as_bytes(), &mut output);
        result.map_err(|failure| format!("{failure:?}"))?;
        Ok(String::from_utf8(output).unwrap())
    }

    #[test]
    fn each_diagram_has_one_answer_in_order() {
        let question = r#"{"diagrams":["flowchart TD\nA","flowchart TD\nA[b","pie"]}"#;
        let lines = "{\"protocol\":2}\n\
                     {\"diagram\":0,\"verdict\":\"parses\"}\n\
                     {\"diagram\":1,\"verdict\":\"fails\",\"line\":2,\
                     \"message\":\"Unterminated node label (missing `]`)\"}\n\
                     {\"diagram\":2,\"verdict\":\"parses\"}\n";
        assert_eq!(said(question), Ok(lines.to_owned()));
        assert_eq!(said(r#"{"diagrams":[]}"#), Ok("{\"protocol\":2}\n".to_owned()));
    }

    #[test]
    fn a_diagram_is_drawn_alike_every_time_and_loads_nothing() {
        let question =
            r#"{"diagrams":["flowchart TD\nA[Start] -->|why| B[\"<b>Done</b>\"]"],"task":"draw"}"#;
        let drawn = said(question).unwrap();
        assert_eq!(drawn, said(question).unwrap());
        for words in ["<svg", "Start", "Done", "why"] {
            assert!(drawn.contains(words), "{words}\n{drawn}");
        }
        for never in ["<script", "foreignObject", "@import", "url(http"] {
            assert!(!drawn.contains(never), "{never}\n{drawn}");
        }
        let broken = said(r#"{"diagrams":["flowchart TD\nA[b"],"task":"draw"}"#).unwrap();
        assert!(broken.contains("\"verdict\":\"fails\""), "{broken}");
    }

    #[test]
    fn an_invalid_request_has_no_answer() {
        for wrong in ["", "flowchart TD", "[]", "{}", r#"{"diagrams":["pie"],"more":1}"#] {
            assert!(said(wrong).unwrap_err().contains("only convoke starts"), "{wrong}");
        }
    }
}
