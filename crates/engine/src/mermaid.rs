//! Diagrams: whether they are written in Mermaid's language at all.
//!
//! The parser is another project's, and what it reads is anybody's. It works in a thread of its
//! own with much stack and little time, on no more text than Mermaid itself would draw.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use convoke_domain::design::mermaid::{Fault, Report, check, diagrams};
use merman_core::{Error, ParseDiagnosticSpanKind, SemanticParser};

/// The longest diagram in UTF-16 units: Mermaid's own `maxTextSize`, which no diagram can raise.
const MAX_UNITS: usize = 50_000;

/// No long diagram that was tried, with as much in each other as fits, overflowed it; most need 2 MB.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Diagrams that people write take milliseconds. Some long ones without sense take the parser the
/// square of their length.
const PATIENCE: Duration = Duration::from_secs(10);

/// Checks a text by the rules, and has every diagram parsed that they accept.
pub fn check_syntax(text: &str, markdown: bool) -> Report {
    let mut report = check(text, markdown);
    for (index, diagram) in diagrams(text, markdown).iter().enumerate() {
        let fence = index + 1;
        if report.hits.iter().any(|hit| hit.fence == fence) {
            continue;
        }
        if let Err((line, words)) = parse(diagram.body.join("\n")) {
            report.faults.push(Fault::new(fence, line, &words));
        }
    }
    report
}

/// What is wrong: on which line, if that is known, and in the parser's words.
type Wrong = (Option<usize>, String);

fn parse(diagram: String) -> Result<(), Wrong> {
    if diagram.encode_utf16().count() > MAX_UNITS {
        return Err((None, format!("longer than the {MAX_UNITS} characters that Mermaid draws")));
    }
    let (answer, answered) = sync_channel(1);
    let work = move || {
        let parsed = SemanticParser::new().parse_diagram_sync(&diagram);
        let wrong = parsed.err().map(|error| (line(&diagram, &error), words(&error)));
        // Whoever asked may have lost patience.
        answer.send(wrong).ok();
    };
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    let unparsed = |why: &str| Err((None, format!("cannot be parsed: {why}")));
    if thread.is_err() {
        return unparsed("not enough memory");
    }
    match answered.recv_timeout(PATIENCE) {
        Ok(None) => Ok(()),
        Ok(Some(wrong)) => Err(wrong),
        Err(RecvTimeoutError::Timeout) => unparsed("it takes too long to parse"),
        Err(RecvTimeoutError::Disconnected) => unparsed("the parser failed"),
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

    fn faults(text: &str, markdown: bool) -> Vec<(usize, Option<usize>, String)> {
        let faults = check_syntax(text, markdown).faults;
        faults.into_iter().map(|it| (it.fence, it.line, it.words)).collect()
    }

    #[test]
    fn only_what_the_rules_accept_is_parsed() {
        let text = "```mermaid\nflowchart TD\nA[a|b\n```\n```mermaid\nflowchart TD\nA[b\n```\n\
                    ```mermaid\nflowchart TD\nA\n```\n";
        let report = check_syntax(text, true);
        assert_eq!((report.hits.len(), report.hits[0].fence), (1, 1));
        let words = "Unterminated node label (missing `]`)".to_owned();
        assert_eq!(faults(text, true), [(2, Some(2), words)]);
        assert!(check(text, true).faults.is_empty(), "the rules alone ask no parser");
    }

    #[test]
    fn lines_are_those_of_the_diagram_also_after_front_matter() {
        let text = "---\ntitle: x\n---\n%% note\nsequenceDiagram\nA-)B: x\nA-B\n";
        assert_eq!(faults(text, false)[0].1, Some(7));
    }

    #[test]
    fn what_mermaid_does_not_draw_for_its_length_is_not_parsed() {
        let long = |units: usize| format!("flowchart TD\n%%{}\nA\n", "𝄞".repeat(units / 2 - 9));
        assert_eq!(faults(&long(MAX_UNITS), false), []);
        let words = "longer than the 50000 characters that Mermaid draws".to_owned();
        assert_eq!(faults(&long(MAX_UNITS + 100), false), [(1, None, words)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_is_parsed_or_not(text in any::<String>(), known in "(flowchart TD|sequenceDiagram|classDiagram|actor A as |---|%%\\{init: |\n|\n|-->|[\\[\\](){}|\"$é:;&@ AB]){0,20}") {
            for text in [text, known] {
                let lines = text.lines().count();
                for (fence, line, words) in faults(&text, false) {
                    prop_assert_eq!(fence, 1);
                    prop_assert!(line.is_none_or(|line| (1..=lines).contains(&line)));
                    prop_assert!(!words.contains(char::is_control));
                }
            }
        }
    }
}
