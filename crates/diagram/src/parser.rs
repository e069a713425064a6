//! The parser within limits: in a thread of its own with much stack and little time, on no more
//! text than Mermaid itself would draw. It is another project's, and its input is untrusted. The
//! drawing has the same limits.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use merman_core::{Error, ParseDiagnosticSpanKind, SemanticParser};
use serde::Serialize;

/// The longest diagram in UTF-16 units: Mermaid's own `maxTextSize`, which no diagram can raise.
const MAX_UNITS: usize = 50_000;

/// No long diagram that was tried, with as much in each other as fits, overflowed it; most need 2 MB.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Diagrams that people write take milliseconds. Some long ones without sense take the parser the
/// square of their length.
const PATIENCE: Duration = Duration::from_secs(10);

/// The parser's verdict on a diagram.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// It is written in Mermaid's language.
    Parses,
    /// It is drawn.
    Drawn {
        /// The drawing.
        svg: String,
    },
    /// It is not.
    Fails {
        /// The line, from 1, if the parser names one.
        line: Option<usize>,
        /// In the parser's words, which can quote the diagram.
        message: String,
    },
    /// The parser did not finish.
    Unknown {
        /// The reason.
        message: String,
    },
}

impl Verdict {
    /// Tells whether the parser may still be at work.
    pub(crate) const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown { .. })
    }
}

/// Parses one diagram.
pub(crate) fn parse(diagram: String) -> Verdict {
    limited(diagram, |diagram| match SemanticParser::new().parse_diagram_sync(diagram) {
        Ok(_) => Verdict::Parses,
        Err(error) => Verdict::Fails { line: line(diagram, &error), message: words(&error) },
    })
}

/// Works on one diagram within the limits.
pub(crate) fn limited(diagram: String, work: fn(&str) -> Verdict) -> Verdict {
    if diagram.encode_utf16().count() > MAX_UNITS {
        let message = format!("longer than the {MAX_UNITS} characters that Mermaid draws");
        return Verdict::Fails { line: None, message };
    }
    let (answer, answered) = sync_channel(1);
    let work = move || {
        // The receiver is gone after its time limit.
        answer.send(work(&diagram)).ok();
    };
    let unknown = |message: &str| Verdict::Unknown { message: message.to_owned() };
    if thread::Builder::new().stack_size(STACK_BYTES).spawn(work).is_err() {
        return unknown("not enough memory");
    }
    match answered.recv_timeout(PATIENCE) {
        Ok(verdict) => verdict,
        Err(RecvTimeoutError::Timeout) => unknown("it takes too long to parse"),
        Err(RecvTimeoutError::Disconnected) => unknown("the parser failed"),
    }
}

fn line(diagram: &str, error: &Error) -> Option<usize> {
    let Error::DiagramParse { diagnostic, .. } = error else { return None };
    // A place that the parser only fell back to is mostly the end.
    let known = diagnostic.span_kind() != ParseDiagnosticSpanKind::Fallback;
    let start = diagnostic.span().filter(|_| known)?.start;
    Some(diagram.get(..start)?.matches('\n').count() + 1)
}

fn words(error: &Error) -> String {
    if let Error::DiagramParse { diagnostic, .. } = error {
        return diagnostic.message().to_owned();
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_those_of_the_diagram_also_after_front_matter() {
        let text = "---\ntitle: x\n---\n%% note\nsequenceDiagram\nA-)B: x\nA-B\n";
        let verdict = parse(text.to_owned());
        assert!(matches!(verdict, Verdict::Fails { line: Some(7), .. }), "{verdict:?}");
    }

    #[test]
    fn what_mermaid_does_not_draw_for_its_length_is_not_parsed() {
        let long = |units: usize| format!("flowchart TD\n%%{}\nA\n", "𝄞".repeat(units / 2 - 9));
        assert_eq!(parse(long(MAX_UNITS)), Verdict::Parses);
        let message = "longer than the 50000 characters that Mermaid draws".to_owned();
        let fails = Verdict::Fails { line: None, message };
        assert_eq!(parse(long(MAX_UNITS + 100)), fails);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_is_parsed_or_not(text in any::<String>(), known in "(flowchart TD|sequenceDiagram|classDiagram|actor A as |---|%%\\{init: |\n|\n|-->|[\\[\\](){}|\"$é:;&@ AB]){0,20}") {
            for text in [text, known] {
                let lines = text.split('\n').count();
                match parse(text) {
                    Verdict::Parses => {}
                    Verdict::Fails { line, .. } => {
                        prop_assert!(line.is_none_or(|line| (1..=lines).contains(&line)));
                    }
                    Verdict::Unknown { message } => prop_assert!(false, "{}", message),
                    Verdict::Drawn { .. } => prop_assert!(false, "drawn"),
                }
            }
        }
    }
}
