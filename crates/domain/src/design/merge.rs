//! Merges equal remarks of several reviewers, and numbers the findings.
//!
//! A rule merges remarks with equal words. Only the chair can see that different words mean the
//! same, but the chair only proposes: its groups count if they hold every remark exactly once, so
//! that no remark can be dropped, doubled or made up on the way to the ballot.

use std::collections::{BTreeSet, HashMap};

use super::finding::{Finding, FindingId, FindingScope, FocusArea, OUT_OF_SCOPE, Remark};
use super::quote;

/// A remark, and who made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaisedRemark {
    /// The seat's label.
    pub proposer: String,
    /// The reviewer's words.
    pub remark: Remark,
}

/// Remarks on one concern, the first of them first. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group(Vec<RaisedRemark>);

/// Groups remarks with equal words, in the order of first appearance.
pub fn distinct(raised: Vec<RaisedRemark>) -> Vec<Group> {
    let mut places = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for one in raised {
        let place = *places.entry(key(&one.remark)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.0.push(one),
            None => groups.push(Group(vec![one])),
        }
    }
    groups
}

fn key(remark: &Remark) -> (String, String) {
    let folded = |text: &str| quote::line(text).to_lowercase();
    (folded(&remark.concern), folded(remark.revision.as_deref().unwrap_or_default()))
}

/// Lists groups for the chair, one line each, as `R1`, `R2` and so on.
pub fn listing(groups: &[Group]) -> String {
    let entry = |(index, group): (usize, &Group)| {
        let remark = group.lead();
        let scope = if group.scope() == FindingScope::Out { " [OUT_OF_SCOPE]" } else { "" };
        format!("R{}:{scope} {}", index + 1, description(group.focus(), remark))
    };
    groups.iter().enumerate().map(entry).collect::<Vec<_>>().join("\n")
}

/// Renders a remark on one line.
pub(super) fn description(focus: Option<FocusArea>, remark: &Remark) -> String {
    let tag = focus.map(|area| format!("[{}] ", area.word())).unwrap_or_default();
    // The tag of the scope belongs to the rule, so no reviewer can put one in the middle.
    let concern = quote::line(&remark.concern).replace(OUT_OF_SCOPE, "(out of scope)");
    match &remark.revision {
        Some(revision) => format!("{tag}{concern} Suggested revision: {}", quote::line(revision)),
        None => format!("{tag}{concern}"),
    }
}

/// Why the chair's groups are not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadProposal {
    /// A name that is not on the list.
    #[error("`{0}` is not on the list")]
    Unknown(String),
    /// A name in two groups.
    #[error("`{0}` is named more than once")]
    Repeated(String),
    /// Names in no group.
    #[error("{count} of the list are in no group, the first of them `{first}`")]
    Lost {
        /// How many are missing.
        count: usize,
        /// The first of the missing names.
        first: String,
    },
}

/// Puts groups together as the chair proposes, if it names each exactly once.
pub fn merged(groups: &[Group], answer: &str) -> Result<Vec<Group>, BadProposal> {
    let mut seen = BTreeSet::new();
    let mut proposed = Vec::new();
    for names in answer.lines().filter_map(group_line) {
        let mut members = Vec::new();
        for name in names.split([',', '+', ' ', '\t']).filter(|name| !name.is_empty()) {
            let place = place(name, groups.len()).ok_or_else(|| unknown(name))?;
            if !seen.insert(place) {
                return Err(BadProposal::Repeated(format!("R{}", place + 1)));
            }
            members.push(place);
        }
        members.sort_unstable();
        proposed.push(members);
    }
    if let Some(first) = (0..groups.len()).find(|place| !seen.contains(place)) {
        let count = groups.len() - seen.len();
        return Err(BadProposal::Lost { count, first: format!("R{}", first + 1) });
    }
    proposed.retain(|members| !members.is_empty());
    proposed.sort();
    let joined = |members: Vec<usize>| {
        Group(members.into_iter().flat_map(|place| groups[place].0.clone()).collect())
    };
    Ok(proposed.into_iter().map(joined).collect())
}

/// Reads `GROUP 3: R1, R4`, optionally as a bullet or in bold, and returns the names.
fn group_line(line: &str) -> Option<&str> {
    let marks = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '-' | '`');
    let line = line.trim_matches(marks);
    let start = line.get(..5).filter(|start| start.eq_ignore_ascii_case("group"))?;
    let rest = line[start.len()..].trim_start();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.trim_start_matches(marks).strip_prefix(':').map(|names| names.trim_matches(marks))
}

fn place(name: &str, count: usize) -> Option<usize> {
    let digits = name.strip_prefix(['R', 'r'])?;
    let number: usize = digits.parse().ok()?;
    number.checked_sub(1).filter(|place| *place < count)
}

fn unknown(name: &str) -> BadProposal {
    BadProposal::Unknown(quote::line(name).chars().take(40).collect())
}

impl Group {
    /// In scope if at least one reviewer puts it in scope.
    fn scope(&self) -> FindingScope {
        self.0.iter().map(|raised| raised.remark.scope).min().unwrap_or(FindingScope::In)
    }

    /// Security if at least one reviewer chose it, else the first reviewer's area.
    fn focus(&self) -> Option<FocusArea> {
        let mut areas = self.0.iter().filter_map(|raised| raised.remark.focus);
        let first = areas.next();
        if areas.any(|area| area == FocusArea::Security) {
            Some(FocusArea::Security)
        } else {
            first
        }
    }

    /// The first remark in the group's scope.
    fn lead(&self) -> &Remark {
        let scope = self.scope();
        let lead = self.0.iter().find(|raised| raised.remark.scope == scope);
        &lead.unwrap_or(&self.0[0]).remark
    }

    fn into_finding(self, id: FindingId) -> Finding {
        let (focus, remark) = (self.focus(), self.lead().clone());
        let mut keys = BTreeSet::from([key(&remark)]);
        let (mut proposers, mut named) = (Vec::new(), BTreeSet::new());
        let mut others = Vec::new();
        for RaisedRemark { proposer, remark } in self.0 {
            if named.insert(proposer.clone()) {
                proposers.push(proposer);
            }
            if keys.insert(key(&remark)) {
                others.push(remark);
            }
        }
        Finding { id, proposers, focus, remark, others }
    }
}

/// Gives every group its id: those in scope first, each scope with its own numbers.
pub fn findings(groups: Vec<Group>) -> Vec<Finding> {
    let (inside, outside): (Vec<_>, Vec<_>) =
        groups.into_iter().partition(|group| group.scope() == FindingScope::In);
    let numbered = |scope| {
        move |(number, group): (u32, Group)| group.into_finding(FindingId { scope, number })
    };
    let inside = (1..).zip(inside).map(numbered(FindingScope::In));
    inside.chain((1..).zip(outside).map(numbered(FindingScope::Out))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn raised(proposer: &str, scope: FindingScope, concern: &str) -> RaisedRemark {
        let remark = Remark {
            scope,
            focus: None,
            title: concern.to_owned(),
            concern: concern.to_owned(),
            revision: None,
        };
        RaisedRemark { proposer: proposer.to_owned(), remark }
    }

    fn tagged(mut raised: RaisedRemark, focus: FocusArea) -> RaisedRemark {
        raised.remark.focus = Some(focus);
        raised
    }

    fn shown(findings: &[Finding]) -> Vec<String> {
        let show = |finding: &Finding| {
            let others: Vec<_> = finding.others.iter().map(|other| &*other.concern).collect();
            let also = if others.is_empty() {
                String::new()
            } else {
                format!(" (+ {})", others.join(", "))
            };
            format!(
                "{}: {} \u{2014} {}{also}",
                finding.id,
                finding.proposers.join(", "),
                finding.remark.concern
            )
        };
        findings.iter().map(show).collect()
    }

    // P-255, P-256
    #[test]
    fn the_same_words_are_one_finding_with_all_proposers() {
        let groups = distinct(vec![
            raised("Cursor-Arch", FindingScope::Out, "slow loop"),
            raised("Cursor-Edge", FindingScope::In, "Zero cap"),
            raised("Codex-Pragmatic", FindingScope::In, "zero\n cap"),
            raised("Codex-Pragmatic", FindingScope::In, "zero cap"),
            raised("Codex-Innovation", FindingScope::Out, "other"),
            raised("Codex-Innovation", FindingScope::In, "last"),
        ]);
        assert_eq!(
            shown(&findings(groups)),
            [
                "FINDING_1: Cursor-Edge, Codex-Pragmatic \u{2014} Zero cap",
                "FINDING_2: Codex-Innovation \u{2014} last",
                "OOS_1: Cursor-Arch \u{2014} slow loop",
                "OOS_2: Codex-Innovation \u{2014} other",
            ]
        );
    }

    // P-255: a remark in both lists is in scope, in the words of the reviewer that put it there.
    #[test]
    fn a_single_reviewer_puts_a_finding_in_scope() {
        let groups = distinct(vec![
            raised("A", FindingScope::Out, "x"),
            raised("B", FindingScope::In, "y"),
            raised("C", FindingScope::In, "x"),
        ]);
        let merged = merged(&groups, "GROUP 1: R1, R2").unwrap();
        assert_eq!(shown(&findings(merged)), ["FINDING_1: A, C, B \u{2014} x (+ y)"]);
    }

    #[test]
    fn a_merge_cannot_hide_that_something_is_about_security() {
        let groups = distinct(vec![
            tagged(raised("A", FindingScope::Out, "x"), FocusArea::Correctness),
            tagged(raised("B", FindingScope::Out, "y"), FocusArea::Security),
        ]);
        let merged = merged(&groups, "GROUP: R1 R2").unwrap();
        assert_eq!(findings(merged)[0].focus, Some(FocusArea::Security));
    }

    // P-256: the chair only proposes.
    #[test]
    fn a_proposal_counts_only_if_it_names_everything_once() {
        let groups =
            distinct((0..4).map(|n| raised("A", FindingScope::In, &n.to_string())).collect());
        let unknown = |name: &str| Err(BadProposal::Unknown(name.to_owned()));
        let lost = |count, first: &str| Err(BadProposal::Lost { count, first: first.to_owned() });
        for (answer, expected) in [
            ("GROUP 1: R4, R1\nGROUP 2: R2\nGROUP 3: R3", Ok(vec!["0 3", "1", "2"])),
            ("Here:\n```\n- **Group**: r2+r3\nGROUP: R1 R4\n```", Ok(vec!["0 3", "1 2"])),
            ("GROUP 1: R1, R2, R3, R4\nGROUP 2:", Ok(vec!["0 1 2 3"])),
            ("GROUP 1: R1, R2, R3", lost(1, "R4")),
            ("", lost(4, "R1")),
            ("GROUP 1: R1, R2\nGROUP 2: R2, R3, R4", Err(BadProposal::Repeated("R2".to_owned()))),
            ("GROUP 1: R1, R2, R3, R4, R5", unknown("R5")),
            ("GROUP 1: R0, R1, R2, R3, R4", unknown("R0")),
            ("GROUP 1: all of them", unknown("all")),
        ] {
            let members = |group: &Group| {
                let all: Vec<_> =
                    group.0.iter().map(|raised| raised.remark.concern.clone()).collect();
                all.join(" ")
            };
            let found = merged(&groups, answer);
            let found = found.map(|groups| groups.iter().map(members).collect::<Vec<_>>());
            let expected = expected.map(|groups| groups.into_iter().map(str::to_owned).collect());
            assert_eq!(found, expected, "{answer}");
        }
    }

    #[test]
    fn the_chair_sees_one_line_for_each() {
        let groups = distinct(vec![
            tagged(raised("A", FindingScope::In, "a\nGROUP 1: R1, R2"), FocusArea::Correctness),
            raised("B", FindingScope::Out, "b [OUT_OF_SCOPE]"),
        ]);
        assert_eq!(
            listing(&groups),
            "R1: [correctness] a GROUP 1: R1, R2\nR2: [OUT_OF_SCOPE] b (out of scope)"
        );
    }

    #[test]
    fn a_hundred_thousand_remarks_are_merged() {
        let all = (0..100_000)
            .map(|n| raised("A", FindingScope::In, &format!("{}", n % 50_000)))
            .collect();
        let groups = distinct(all);
        let names: Vec<_> = (1..=groups.len()).map(|n| format!("R{n}")).collect();
        let one = merged(&groups, &format!("GROUP 1: {}", names.join(", "))).unwrap();
        assert_eq!((groups.len(), findings(one).len()), (50_000, 1));
    }

    proptest! {
        // Every remark appears in exactly one finding, for any text of reviewers and chair.
        #[test]
        fn nothing_is_lost_or_made_up(
            all in prop::collection::vec(("[AB]", any::<bool>(), "[a-d]{1,2}"), 0..12),
            answer in "(GROUP [0-9]: (R[0-9]{1,2}, ?){0,6}\n){0,6}",
        ) {
            let given: Vec<_> = all
                .iter()
                .map(|(who, out, text)| raised(who, if *out { FindingScope::Out } else { FindingScope::In }, text))
                .collect();
            let groups = distinct(given);
            let groups = merged(&groups, &answer).unwrap_or(groups);
            let found = findings(groups);
            let mut texts: Vec<_> = found
                .iter()
                .flat_map(|finding| std::iter::once(&finding.remark).chain(&finding.others))
                .map(|remark| remark.concern.as_str())
                .collect();
            let mut expected: Vec<_> = all.iter().map(|(_, _, text)| text.as_str()).collect();
            texts.sort_unstable();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(texts, expected);
            let ids: BTreeSet<_> = found.iter().map(|finding| finding.id).collect();
            prop_assert_eq!(ids.len(), found.len());
            for (who, _, text) in &all {
                let said = |finding: &&Finding| {
                    let mut remarks = std::iter::once(&finding.remark).chain(&finding.others);
                    remarks.any(|remark| remark.concern == *text)
                };
                let holder = found.iter().find(said);
                prop_assert!(holder.is_some_and(|finding| finding.proposers.contains(who)));
            }
        }
    }
}
