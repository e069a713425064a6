//! The places that a plan cites, as a file of its own beside the plan.

use super::CitationRule;
use super::book::{CheckedCitation, CitationBook, CitationVerdict};
use super::quote_line;

/// Renders every place that a plan cites with its verdict; nothing if it cites nothing, or in runs of
/// earlier versions, which have no such file.
pub fn cited_in_plan(book: &CitationBook, plan: &str) -> Option<String> {
    let checked =
        if book.rule() == CitationRule::EveryForm { book.checked(plan) } else { Vec::new() };
    if checked.is_empty() {
        return None;
    }
    let count = |verdict| checked.iter().filter(|checked| checked.verdict() == verdict).count();
    let failing = count(CitationVerdict::Fails);
    let unknown = count(CitationVerdict::Unknown);
    let holding = checked.len() - failing - unknown;
    let mut text = format!(
        "# Cited places\n\nConvoke looked up what the plan cites, in the project as it was then: \
         {holding} {}, {failing} {}, {unknown} unknown.\n",
        if holding == 1 { "holds" } else { "hold" },
        if failing == 1 { "fails" } else { "fail" },
    );
    for verdict in [CitationVerdict::Fails, CitationVerdict::Unknown, CitationVerdict::Holds] {
        let of_verdict: Vec<_> =
            checked.iter().filter(|checked| checked.verdict() == verdict).map(line).collect();
        if !of_verdict.is_empty() {
            text.push('\n');
            text.extend(of_verdict);
        }
    }
    Some(text)
}

fn line(checked: &CheckedCitation) -> String {
    let verdict = checked.verdict().word();
    let (place, words) = (quote_line(&checked.cited.shown()), checked.words());
    let quoted = checked.cited.words.as_ref();
    let quoted = quoted.map(|words| format!(" (“{}”)", quote_line(words))).unwrap_or_default();
    format!("- {verdict}: `{place}`{quoted}: {words}\n")
}

#[cfg(test)]
mod tests {
    use super::super::{Missing, PlaceFinding, cited_places};
    use super::*;

    #[test]
    fn what_fails_comes_first_and_quoted_words_stay_on_their_line() {
        let plan = "Change a.rs:1, b.rs:2 says \"every token\nis signed\", c.rs:3 and d.rs:4.";
        let found = [
            PlaceFinding::Holds,
            PlaceFinding::Elsewhere(9),
            PlaceFinding::Missing(Missing::Unchecked),
        ];
        let mut book = CitationBook::default();
        let looked_up: Vec<_> = cited_places(plan).into_iter().zip(found).collect();
        book.take(CitationRule::EveryForm, &looked_up);
        assert_eq!(
            cited_in_plan(&book, plan).unwrap(),
            "# Cited places\n\nConvoke looked up what the plan cites, in the project as it was then: \
             1 holds, 1 fails, 2 unknown.\n\n\
             - fails: `b.rs:2` (“every token is signed”): exists, but the quoted words are on line 9\n\n\
             - unknown: `c.rs:3`: could not be checked\n\
             - unknown: `d.rs:4`: was not looked up\n\n\
             - holds: `a.rs:1`: exists\n"
        );
        assert_eq!(cited_in_plan(&book, "It cites nothing."), None);
        let mut earlier = CitationBook::default();
        earlier.take(CitationRule::Everywhere, &looked_up);
        assert_eq!(cited_in_plan(&earlier, plan), None, "its journal keeps no such file");
    }
}
