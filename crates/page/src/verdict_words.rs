//! Results of votes in words, the same in pages and comments.

use convoke_domain::design::tally::FindingVerdict;
use convoke_service::run::{JudgeVotesReport, PanelFindingReport};

/// The option that the synthesis chose.
pub(crate) const SYNTHESIS: &str = "the synthesis's choice";

/// The option of another sketch.
pub(crate) const ALTERNATIVE: &str = "the alternative";

/// Says how many judges were for each side, the winner first.
pub(crate) fn judges_in_words(votes: &JudgeVotesReport) -> String {
    let mut sides = [(votes.thesis, SYNTHESIS), (votes.antithesis, ALTERNATIVE)];
    if votes.winner == "antithesis" {
        sides.reverse();
    }
    let [winner, other] = sides.map(|(count, side)| format!("{count} for {side}"));
    format!("{winner}, {other}")
}

/// Counts findings: those that change the plan, and accepted ones about something else.
pub(crate) fn findings_in_words(findings: &[PanelFindingReport]) -> String {
    let accepted = |in_scope: bool| {
        let is_accepted = |finding: &&PanelFindingReport| {
            finding.in_scope == in_scope && finding.verdict == Some(FindingVerdict::Accepted)
        };
        findings.iter().filter(is_accepted).count()
    };
    let beside = match accepted(false) {
        0 => String::new(),
        count => format!(", {count} more accepted out of scope"),
    };
    format!("{} raised, {} accepted{beside}", findings.len(), accepted(true))
}
