//! Renders a report of a token ledger, with the host's own usage.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::tokens::{TokenCounts, TokenEvent, TokenRow};
use super::{VENDORS, cell};

/// The host's usage at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostUse {
    /// When the host reported them; it decides the step they count for.
    pub at: Timestamp,
    /// The counts; the total is ignored.
    pub counts: TokenCounts,
}

/// The tokens used in one step.
struct Span<'r> {
    step: &'r str,
    host: TokenCounts,
    vendors: BTreeMap<&'r str, TokenCounts>,
}

/// Returns the last step in one line; nothing if none was marked.
pub fn terse(rows: &[TokenRow], host: &[HostUse]) -> Option<String> {
    let spans = spans(rows, host);
    let last = spans.last().filter(|span| !span.step.is_empty())?;
    let TokenCounts { input, output, cache_read, cache_create, .. } = last.host;
    let total = |vendor: &str| last.vendors.get(vendor).map_or(0, |counts| counts.total);
    let sum = last.vendors.values().fold(0, |sum: u64, counts| sum.saturating_add(counts.total));
    // Codex and Cursor are always listed, others if they have rows.
    let others = VENDORS[2..].iter().filter(|vendor| last.vendors.contains_key(**vendor));
    let vendors = VENDORS[..2].iter().chain(others);
    let vendors: Vec<_> = vendors.map(|vendor| format!("{vendor}={}", total(vendor))).collect();
    Some(format!(
        "{}: claude={} tokens (input={input} cache_read={cache_read} cache_create={cache_create} \
         output={output}); vendor={sum} ({})",
        last.step,
        last.host.parts(),
        vendors.join(", ")
    ))
}

/// Returns all steps: a table of the host's, and one for each agent; nothing if no step was marked.
pub fn full(rows: &[TokenRow], host: &[HostUse]) -> Option<String> {
    let spans = spans(rows, host);
    let is_marked = spans.iter().any(|span| !span.step.is_empty());
    let shown = |span: &Span<'_>| format!("| {} | {} |", cell(step(span)), skill(span.step));
    let input = |counts: &TokenCounts| counts.parts().saturating_sub(counts.output);
    let mut lines = vec![
        "## Claude Token Usage".to_owned(),
        String::new(),
        "| Step | Skill | Claude Input | Claude Output |".to_owned(),
        "|---|---|---|---|".to_owned(),
    ];
    let of_host =
        |span: &Span<'_>| format!("{} {} | {} |", shown(span), input(&span.host), span.host.output);
    lines.extend(spans.iter().map(of_host));
    for vendor in VENDORS {
        let used = spans.iter().filter_map(|span| Some((span, span.vendors.get(vendor)?)));
        let used: Vec<_> = used
            .map(|(span, counts)| {
                format!(
                    "{} {} | {} | {} |",
                    shown(span),
                    input(counts),
                    counts.output,
                    counts.total
                )
            })
            .collect();
        if used.is_empty() {
            continue;
        }
        lines.extend([
            format!("\n## {} Token Usage\n", capitalized(vendor)),
            "| Step | Skill | Input | Output | Total |".to_owned(),
            "|---|---|---|---|---|".to_owned(),
        ]);
        lines.extend(used);
    }
    is_marked.then(|| lines.join("\n") + "\n")
}

/// Cuts a ledger at its marks. Usage before the first mark is a span without a step, left out if it
/// is zero. An agent's row belongs to the span of its position, the host's to that of its time.
fn spans<'r>(rows: &'r [TokenRow], host: &[HostUse]) -> Vec<Span<'r>> {
    let new = |step| Span { step, host: TokenCounts::default(), vendors: BTreeMap::new() };
    let mut spans = vec![new("")];
    let mut begins = Vec::new();
    for row in rows {
        match &row.event {
            TokenEvent::Mark(step) => {
                spans.push(new(step));
                begins.push(row.at);
            }
            TokenEvent::Use(used) => {
                if let Some(span) = spans.last_mut() {
                    span.vendors.entry(&used.vendor).or_default().add(&used.counts);
                }
            }
        }
    }
    for used in host {
        let at = begins.iter().rposition(|begin| *begin <= used.at).map_or(0, |index| index + 1);
        spans[at].host.add(&used.counts);
    }
    if spans[0].vendors.is_empty() && spans[0].host == TokenCounts::default() {
        spans.remove(0);
    }
    spans
}

fn step<'r>(span: &Span<'r>) -> &'r str {
    if span.step.is_empty() { "(before the first step)" } else { span.step }
}

/// Returns the workflow that a step names itself: `Step 1 — design Step 3 …` is of `design`.
fn skill(step: &str) -> &str {
    let inner = step.split_once('—').map_or(step, |(_, inner)| inner).trim_start();
    let named = inner.split_once(" Step ").map(|(skill, _)| skill);
    let is_word = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    named.filter(is_word).unwrap_or("-")
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |letter| letter.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tokens::TokenUse;
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn mark(second: i64, step: &str) -> TokenRow {
        TokenRow { at: at(second), event: TokenEvent::Mark(step.to_owned()) }
    }

    fn used(second: i64, vendor: &str, words: &[&str]) -> TokenRow {
        TokenRow { at: at(second), event: TokenEvent::Use(TokenUse::parse(vendor, words).unwrap()) }
    }

    fn host(second: i64, input: u64, output: u64) -> HostUse {
        let counts = TokenCounts { input, output, cache_read: 100, cache_create: 10, total: 0 };
        HostUse { at: at(second), counts }
    }

    fn example() -> (Vec<TokenRow>, Vec<HostUse>) {
        let rows = vec![
            mark(100, "Step 1 — design Step 3 plan review"),
            used(150, "codex", &["total=1000", "raw=codex_review"]),
            used(151, "codex", &["total=500"]),
            mark(200, "Step 2 — implementation"),
            used(250, "cursor", &["input=10", "output=20", "cache_read=5"]),
        ];
        (rows, vec![host(50, 1, 1), host(100, 2, 3), host(199, 4, 5), host(300, 6, 7)])
    }

    // P-376
    #[test]
    fn the_last_step_is_one_line() {
        let (rows, host) = example();
        assert_eq!(
            terse(&rows, &host).unwrap(),
            "Step 2 — implementation: claude=123 tokens (input=6 cache_read=100 cache_create=10 \
             output=7); vendor=35 (codex=0, cursor=35)"
        );
        assert_eq!(terse(&rows[1..2], &host), None);
        assert_eq!(terse(&[], &[]), None);
    }

    // P-376
    #[test]
    fn all_steps_are_a_table_for_people() {
        let (rows, host) = example();
        assert_eq!(
            full(&rows, &host).unwrap(),
            "## Claude Token Usage\n\n| Step | Skill | Claude Input | Claude Output |\n|---|---|---|---|\n\
             | (before the first step) | - | 111 | 1 |\n\
             | Step 1 — design Step 3 plan review | design | 226 | 8 |\n\
             | Step 2 — implementation | - | 116 | 7 |\n\n\
             ## Codex Token Usage\n\n| Step | Skill | Input | Output | Total |\n|---|---|---|---|---|\n\
             | Step 1 — design Step 3 plan review | design | 0 | 0 | 1500 |\n\n\
             ## Cursor Token Usage\n\n| Step | Skill | Input | Output | Total |\n|---|---|---|---|---|\n\
             | Step 2 — implementation | - | 15 | 20 | 35 |\n"
        );
        assert_eq!(full(&rows[1..2], &host), None);
        let gemini = [mark(1, "a"), used(2, "gemini", &["total=7"])];
        assert!(terse(&gemini, &[]).unwrap().ends_with("vendor=7 (codex=0, cursor=0, gemini=7)"));
    }

    proptest! {
        #[test]
        fn nothing_is_lost(steps in prop::collection::vec(0_i64..50, 0..5), times in prop::collection::vec(0_i64..50, 0..9)) {
            let mut steps = steps;
            steps.sort_unstable();
            let rows: Vec<_> = steps.iter().map(|second| mark(*second, "s")).collect();
            let uses: Vec<_> = times.iter().map(|second| host(*second, 1, 1)).collect();
            let sum: u64 = spans(&rows, &uses).iter().map(|span| span.host.parts()).sum();
            prop_assert_eq!(sum, 112 * times.len() as u64);
        }
    }
}
