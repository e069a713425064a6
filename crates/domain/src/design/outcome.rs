//! The files of a review: findings that were accepted, rejected or filed.
//!
//! Other programs read these files and people publish them. So every text from outside is one line
//! behind its key, and an observation that may be about security is kept out of them.

use std::collections::BTreeMap;

use super::finding::{Finding, FindingId, FindingScope, FocusArea, Remark};
use super::merge::description;
use super::quote;
use super::security::may_be_about_security;
use super::tally::{Counted, FindingVerdict, Tally, Voter};

/// The line if the panel accepted no finding in scope.
pub const ALL_REJECTED: &str =
    "**\u{2139} Voting panel rejected all in-scope findings. Plan unchanged.**";

/// A finding, with its votes and its verdict.
type Decided<'a> = (&'a Finding, &'a Counted);

fn decided<'a>(findings: &'a [Finding], tally: &'a Tally) -> impl Iterator<Item = Decided<'a>> {
    findings.iter().zip(&tally.items)
}

/// Returns the findings for which the plan must be revised.
pub fn to_revise<'a>(findings: &'a [Finding], tally: &'a Tally) -> Vec<&'a Finding> {
    let accepted = |(finding, counted): &Decided<'_>| {
        finding.id.scope == FindingScope::In && counted.verdict == FindingVerdict::Accepted
    };
    decided(findings, tally).filter(accepted).map(|(finding, _)| finding).collect()
}

/// Tells whether there were findings in scope, and none was accepted.
pub fn all_rejected(findings: &[Finding], tally: &Tally) -> bool {
    findings.iter().any(|finding| finding.id.scope == FindingScope::In)
        && to_revise(findings, tally).is_empty()
}

/// Lists findings for the agent that revises the plan, one line each.
pub fn listing(findings: &[&Finding]) -> String {
    let entry = |finding: &&Finding| {
        let tag = finding.focus.map(|area| format!("[{}] ", area.word())).unwrap_or_default();
        format!("{}: {tag}{}", finding.id, concern(finding))
    };
    findings.iter().map(entry).collect::<Vec<_>>().join("\n")
}

/// Reads how the plan was revised: `FINDING_1: …`, one line each. The first line on a finding
/// counts.
pub fn resolutions(text: &str) -> BTreeMap<FindingId, String> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let marks = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '-' | '#');
        let Some((id, rest)) = FindingId::split(line.trim_start_matches(marks)) else { continue };
        let Some(said) = rest.trim_start_matches(marks).strip_prefix(':') else { continue };
        let said = quote::line(said.trim_start_matches("**"));
        if !said.is_empty() {
            found.entry(id).or_insert(said);
        }
    }
    found
}

/// Renders `accepted-plan-findings.md`. An entry states if the revision did not mention its
/// finding.
pub fn accepted(
    findings: &[Finding],
    tally: &Tally,
    resolutions: &BTreeMap<FindingId, String>,
) -> String {
    let block = |finding: &&Finding| {
        let resolution = resolutions.get(&finding.id).map(|text| quote::line(text));
        let resolution = resolution.filter(|text| !text.is_empty());
        let resolution =
            resolution.unwrap_or_else(|| "Nobody said how the plan was revised for it.".to_owned());
        let counted = tally.items.iter().find(|counted| counted.id == finding.id);
        let because = counted.and_then(|counted| counted.person.as_ref());
        let because =
            because.map(|text| format!("- **Accepted by a person**: {}\n", quote::line(text)));
        format!(
            "### {}: {}\n- **Concern**: {}\n- **Resolution**: {resolution}\n{}",
            finding.id,
            quote::line(&finding.remark.title),
            concern(finding),
            because.unwrap_or_default()
        )
    };
    blocks(to_revise(findings, tally).iter().map(block))
}

/// Returns all remarks on a finding, on one line.
pub fn concern(finding: &Finding) -> String {
    let also = |other: &Remark| format!(" Also raised as: {}", description(other.focus, other));
    let others: String = finding.others.iter().map(also).collect();
    format!("{}{others}", description(None, &finding.remark))
}

fn blocks(all: impl Iterator<Item = String>) -> String {
    all.collect::<Vec<_>>().join("\n")
}

/// Renders `rejected-findings.md`: every finding in scope that was not accepted, with every voter's
/// reason, so that a reader who never saw the review can follow.
pub fn rejected(findings: &[Finding], tally: &Tally, voters: &[Voter]) -> String {
    let left = decided(findings, tally).filter(|(finding, counted)| {
        finding.id.scope == FindingScope::In && counted.verdict != FindingVerdict::Accepted
    });
    let block = |(finding, counted): Decided<'_>| {
        format!(
            "### [Plan Review] {}\n**Finding**: {}{}\n**Reason not implemented**: {}\n",
            quote::line(&finding.proposers.join(", ")),
            finding.focus.map(|area| format!("[{}] ", area.word())).unwrap_or_default(),
            concern(finding),
            why_not(counted, voters)
        )
    };
    blocks(left.map(block))
}

fn why_not(counted: &Counted, voters: &[Voter]) -> String {
    if let Some(because) = &counted.person {
        let (id, counts, verdict) = (counted.id, counted.counts, counted.verdict.word());
        return format!("{id} ({counts}). A person {verdict} it: {}", quote::line(because));
    }
    let meaning = match counted.verdict {
        FindingVerdict::Accepted => "accepted it",
        FindingVerdict::Neutral => "did not reach a majority for it",
        FindingVerdict::Exonerated => "found it legitimate, but not worth acting on now",
        FindingVerdict::Rejected => "rejected it",
        FindingVerdict::Undecided => "did not vote on it",
        FindingVerdict::Tied => "is divided on it, and no person has decided",
    };
    let said = |voter: &Voter| {
        let cast = voter.votes.on(counted.id)?;
        let reason = if cast.reason.is_empty() { "no reason given" } else { &cast.reason };
        Some(format!(" {} voted {}: {reason}", quote::line(&voter.name), cast.vote.word()))
    };
    let reasons: Vec<_> = voters.iter().filter_map(said).collect();
    let ending = if reasons.is_empty() { "" } else { "." };
    format!(
        "{} ({}). The panel {meaning}.{}{ending}",
        counted.id,
        counted.counts,
        reasons.join(";")
    )
}

/// Renders `oos.md`: every observation out of scope, accepted or not, that may be shown.
pub fn out_of_scope(findings: &[Finding], tally: &Tally) -> String {
    observations(findings, tally, |(finding, _)| !is_held_back(finding))
}

/// Renders the observations that were not accepted, for the terminal.
pub fn out_of_scope_declined(findings: &[Finding], tally: &Tally) -> String {
    observations(findings, tally, |(finding, counted)| {
        !is_held_back(finding) && counted.verdict != FindingVerdict::Accepted
    })
}

/// Renders `oos-accepted-design.md`: observations to file as issues.
pub fn out_of_scope_accepted(findings: &[Finding], tally: &Tally) -> String {
    observations(findings, tally, |(finding, counted)| {
        !is_held_back(finding) && counted.verdict == FindingVerdict::Accepted
    })
}

/// Renders the withheld findings, for the user who ran the review. No other file holds them.
pub fn held_back(findings: &[Finding], tally: &Tally) -> String {
    observations(findings, tally, |(finding, _)| is_held_back(finding))
}

fn observations(
    findings: &[Finding],
    tally: &Tally,
    wanted: impl Fn(&Decided<'_>) -> bool,
) -> String {
    let outside =
        decided(findings, tally).filter(|(finding, _)| finding.id.scope == FindingScope::Out);
    blocks(outside.filter(wanted).map(observation))
}

fn observation((finding, counted): Decided<'_>) -> String {
    // A published file names the area, so that its publisher can withhold further entries.
    let area = finding.focus.map(|area| format!("focus-area={}. ", area.word()));
    let by = counted.person.as_ref();
    let by = by.map(|because| format!(" ({}: {})", counted.result(), quote::line(because)));
    format!(
        "### {}: {}\n- **Description**: {}{}\n- **Reviewer**: {}\n- **Vote tally**: {}{}\n\
         - **Phase**: design\n",
        finding.id,
        quote::line(&finding.remark.title),
        area.unwrap_or_default(),
        concern(finding),
        quote::line(&finding.proposers.join(", ")),
        counted.counts,
        by.unwrap_or_default()
    )
}

/// Tells whether an observation may be about security: by its focus area, or by what it talks of.
pub fn is_held_back(finding: &Finding) -> bool {
    let suspect = |remark: &Remark| {
        let texts = [Some(&remark.title), Some(&remark.concern), remark.revision.as_ref()];
        let texts: Vec<_> = texts.into_iter().flatten().map(String::as_str).collect();
        may_be_about_security(&texts.join("\n\n"))
    };
    finding.id.scope == FindingScope::Out
        && (finding.focus == Some(FocusArea::Security)
            || suspect(&finding.remark)
            || finding.others.iter().any(suspect))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::policy::Policy;
    use super::super::tally::tally;
    use super::super::vote::Votes;
    use super::super::voting_block::Reading;
    use super::*;

    fn finding(scope: FindingScope, number: u32, who: &str, title: &str, concern: &str) -> Finding {
        let remark = Remark {
            scope,
            focus: None,
            title: title.to_owned(),
            concern: concern.to_owned(),
            revision: None,
        };
        let id = FindingId { scope, number };
        Finding { id, proposers: vec![who.to_owned()], focus: None, remark, others: Vec::new() }
    }

    fn sample() -> Vec<Finding> {
        let mut zero =
            finding(FindingScope::In, 1, "Cursor-Edge", "Zero cap", "A cap of zero\nis open");
        zero.remark.revision = Some("Add a rule".to_owned());
        let mut shared =
            finding(FindingScope::In, 2, "Codex-Innovation", "Shared", "Share the counter");
        shared.focus = Some(FocusArea::Architecture);
        let slow = "Retries in a tight loop, src/d.rs:40-61";
        vec![
            zero,
            shared,
            finding(FindingScope::Out, 1, "Cursor-Arch", "No back-off", slow),
            finding(FindingScope::Out, 2, "Cursor-Arch", "Old name", "Rename it"),
        ]
    }

    fn voters() -> Vec<Voter> {
        let voter = |name: &str, answer: &str| Voter {
            name: name.to_owned(),
            votes: Votes::parse(answer, Reading::Plain),
        };
        vec![
            voter(
                "Claude",
                "FINDING_1: YES\nFINDING_2: EXONERATE \u{2014} fair\nOOS_1: YES\nOOS_2: NO",
            ),
            voter(
                "Codex",
                "FINDING_1: YES\nFINDING_2: NO \u{2014} too wide\nOOS_1: YES\nOOS_2: NO",
            ),
            voter("Cursor", "FINDING_1: NO\nFINDING_2: EXONERATE\nOOS_1: YES"),
        ]
    }

    fn counted(findings: &[Finding]) -> Tally {
        tally(findings, &voters(), Policy::Safe)
    }

    // P-280, P-281
    #[test]
    fn accepted_findings_say_how_the_plan_was_revised() {
        let (findings, tally) = (sample(), counted(&sample()));
        let ids: Vec<_> =
            to_revise(&findings, &tally).iter().map(|finding| finding.id.to_string()).collect();
        assert_eq!(ids, ["FINDING_1"]);
        let resolution = "Added an edge case\n### and a test".to_owned();
        let resolutions = BTreeMap::from([(findings[0].id, resolution)]);
        assert_eq!(
            accepted(&findings, &tally, &resolutions),
            "### FINDING_1: Zero cap\n\
             - **Concern**: A cap of zero is open Suggested revision: Add a rule\n\
             - **Resolution**: Added an edge case ### and a test\n"
        );
        let none = accepted(&findings[1..], &counted(&findings[1..]), &BTreeMap::new());
        assert_eq!(none, "");
    }

    // P-280
    #[test]
    fn a_revision_answers_each_finding() {
        let (findings, tally) = (sample(), counted(&sample()));
        let wanted = to_revise(&findings, &tally);
        assert_eq!(
            listing(&wanted),
            "FINDING_1: A cap of zero is open Suggested revision: Add a rule"
        );
        let said = |text: &str| resolutions(text).remove(&findings[0].id);
        let first = said("- **FINDING_1**: `A` rule.\nFINDING_1: again\nOOS_1: x");
        assert_eq!(first.as_deref(), Some("`A` rule."));
        assert_eq!(said("FINDING_1:\nFINDING_2: x\nFINDING_1 is done"), None);
    }

    // P-282
    #[test]
    fn rejected_findings_list_the_votes_against_them() {
        let (findings, tally) = (sample(), counted(&sample()));
        assert_eq!(
            rejected(&findings, &tally, &voters()),
            "### [Plan Review] Codex-Innovation\n\
             **Finding**: [architecture] Share the counter\n\
             **Reason not implemented**: FINDING_2 (YES=0, NO=1, EXONERATE=2). The panel found it \
             legitimate, but not worth acting on now. Claude voted EXONERATE: fair; Codex voted \
             NO: too wide; Cursor voted EXONERATE: no reason given.\n"
        );
        assert_eq!(rejected(&findings[..1], &counted(&findings[..1]), &voters()), "");
    }

    // P-283
    #[test]
    fn a_plan_is_unchanged_if_everything_in_scope_was_rejected() {
        let findings = sample();
        assert!(!all_rejected(&findings, &counted(&findings)));
        assert!(all_rejected(&findings[1..], &counted(&findings[1..])));
        assert!(!all_rejected(&findings[2..], &counted(&findings[2..])));
        assert_eq!(
            ALL_REJECTED,
            "**\u{2139} Voting panel rejected all in-scope findings. Plan unchanged.**"
        );
    }

    // P-257
    #[test]
    fn without_findings_every_file_is_empty() {
        let tally = counted(&[]);
        assert_eq!(accepted(&[], &tally, &BTreeMap::new()), "");
        assert_eq!(rejected(&[], &tally, &voters()), "");
        assert_eq!(out_of_scope(&[], &tally), "");
        assert!(!all_rejected(&[], &tally));
    }

    // P-284, P-285, P-287
    #[test]
    fn observations_out_of_scope_are_listed_and_the_accepted_ones_filed() {
        let (findings, tally) = (sample(), counted(&sample()));
        let filed = "### OOS_1: No back-off\n\
                     - **Description**: Retries in a tight loop, src/d.rs:40-61\n\
                     - **Reviewer**: Cursor-Arch\n\
                     - **Vote tally**: YES=3, NO=0, EXONERATE=0\n\
                     - **Phase**: design\n";
        let declined = "### OOS_2: Old name\n\
                        - **Description**: Rename it\n\
                        - **Reviewer**: Cursor-Arch\n\
                        - **Vote tally**: YES=0, NO=2, EXONERATE=0\n\
                        - **Phase**: design\n";
        assert_eq!(out_of_scope_accepted(&findings, &tally), filed);
        assert_eq!(out_of_scope_declined(&findings, &tally), declined);
        assert_eq!(out_of_scope(&findings, &tally), format!("{filed}\n{declined}"));
        assert_eq!(held_back(&findings, &tally), "");
    }

    // P-286
    #[test]
    fn what_may_be_about_security_is_not_published() {
        for (concern, held) in [
            ("focus-area=security. Logs hold too much.", true),
            ("Focus-Area  =\tSECURITY and more", true),
            ("Tokens end up in the log, a vulnerability", true),
            ("an ` unpaired tick, focus-area=security", true),
            ("a `span\nfocus-area=security\nspan` over lines", true),
            ("```\nfocus-area=security", true),
            ("Document the `focus-area=security` mark", false),
            ("Document it:\n```\nfocus-area = security\n```\nplease", false),
            ("``a ` focus-area=security``", false),
            ("The loop is slow", false),
        ] {
            let mut one = finding(FindingScope::Out, 1, "A", "A title", concern);
            assert_eq!(is_held_back(&one), held, "{concern}");
            let all = [one.clone()];
            let tally = counted(&all);
            assert_eq!(out_of_scope(&all, &tally).is_empty(), held, "{concern}");
            assert_eq!(out_of_scope_accepted(&all, &tally).is_empty(), held, "{concern}");
            assert_eq!(held_back(&all, &tally).is_empty(), !held, "{concern}");
            one.focus = Some(FocusArea::Security);
            assert!(is_held_back(&one), "tagged: {concern}");
            let seen = one.remark.clone();
            one = finding(FindingScope::Out, 1, "A", "A title", "words");
            one.others = vec![seen];
            assert_eq!(is_held_back(&one), held, "merged: {concern}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_read_for_resolutions(text in "((FINDING|OOS)_[0-9]: |[a-z*]{0,4}|\n){0,9}|\\PC*") {
            prop_assert!(resolutions(&text).values().all(|said| !said.contains('\n')));
        }

        // No text can forge a block, and none gets lost between the files.
        #[test]
        fn every_finding_is_in_exactly_one_place(
            texts in prop::collection::vec("(### OOS_9: x|\n|- \\*\\*Phase\\*\\*: |security|`|```|[a-z]{1,4}| ){1,6}", 1..6),
            outside in prop::collection::vec(any::<bool>(), 6),
            answer in "((FINDING|OOS)_[1-6]: (YES|NO)\n){0,9}",
        ) {
            let findings: Vec<_> = (1..).zip(&texts).zip(&outside).map(|((n, text), out)| {
                finding(if *out { FindingScope::Out } else { FindingScope::In }, n, "A", text, text)
            }).collect();
            let voters = [Voter { name: "V".to_owned(), votes: Votes::parse(&answer, Reading::Plain) }];
            let tally = tally(&findings, &voters, Policy::Safe);
            let headings = |file: &str| file.lines().filter(|line| line.starts_with("### ")).count();
            let files = [
                accepted(&findings, &tally, &BTreeMap::new()),
                rejected(&findings, &tally, &voters),
                out_of_scope(&findings, &tally),
                held_back(&findings, &tally),
            ];
            prop_assert_eq!(files.iter().map(|file| headings(file)).sum::<usize>(), findings.len());
        }
    }
}
