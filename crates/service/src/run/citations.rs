//! What agents cite in a run, with what Convoke found there.

use convoke_domain::design::citation::{CheckedCitation, CitationRule, text_of};
use convoke_domain::design::debate::Defense;
use convoke_domain::design::finding::Finding;
use convoke_domain::design::judge::Judgement;
use convoke_domain::design::matter::MatterId;
use convoke_domain::design::outline::{DesignOutline, PhaseResults, ReviewResult};
use serde::Serialize;

/// A place that an agent cites, with what Convoke found there.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CitationReport {
    /// The text that cites it: `sketch`, `thesis`, `antithesis`, `judge`, `finding`, `vote` or `plan`.
    pub part: &'static str,
    /// The seat of a sketch, a judge or a voter.
    pub seat: Option<String>,
    /// The finding or decision that the text is about.
    pub matter: Option<String>,
    /// The place, as `path:first-last`.
    pub place: String,
    /// The words that the text says are there.
    pub words: Option<String>,
    /// `holds`, `fails` or `unknown`.
    pub verdict: &'static str,
    /// What Convoke found, in words.
    pub found: String,
}

/// Lists what the texts of a run cite, in the order of its phases; empty for runs in which Convoke
/// looked up nothing but findings. Of plans, the last one counts.
pub(super) fn citations(progress: &DesignOutline) -> Vec<CitationReport> {
    let rule = progress.settings.as_ref().map(|settings| settings.citation_rule);
    if !rule.is_some_and(CitationRule::shows_verdicts) {
        return Vec::new();
    }
    let results = &progress.results;
    let list = CitationList { results };
    let all = [list.sketches(), list.debates(), list.judges(), list.review(), list.plan()];
    all.concat()
}

struct CitationList<'r> {
    results: &'r PhaseResults,
}

impl CitationList<'_> {
    fn of(
        &self,
        text: &str,
        part: &'static str,
        seat: Option<&str>,
        matter: Option<MatterId>,
    ) -> Vec<CitationReport> {
        let checked = self.results.citations.checked(text).into_iter();
        let report = |checked: CheckedCitation| CitationReport {
            part,
            seat: seat.map(str::to_owned),
            matter: matter.map(|id| id.to_string()),
            place: checked.cited.shown(),
            verdict: checked.verdict().word(),
            found: checked.words(),
            words: checked.cited.words,
        };
        checked.map(report).collect()
    }

    fn sketches(&self) -> Vec<CitationReport> {
        let sketches = self.results.evidence.sketches.iter();
        sketches
            .flat_map(|sketch| self.of(&sketch.text, "sketch", Some(&sketch.label), None))
            .collect()
    }

    fn debates(&self) -> Vec<CitationReport> {
        let debates = self.results.evidence.debates.iter();
        let sides = debates.flat_map(|debate| {
            debate.sides.iter().map(move |side| (MatterId::Decision(debate.number), side))
        });
        let cases = sides.filter_map(|(id, side)| {
            let text = side.defense.as_ref().ok().map(Defense::text)?;
            Some(self.of(&text, side.side.word(), None, Some(id)))
        });
        cases.flatten().collect()
    }

    fn judges(&self) -> Vec<CitationReport> {
        let judges = self.results.evidence.judges.iter();
        let reasons = judges.filter_map(|judge| match &judge.judgement {
            Judgement::Votes(votes) => Some(votes.votes.iter().map(move |(number, vote)| {
                let (seat, id) = (judge.label.as_str(), MatterId::Decision(*number));
                self.of(&vote.rationale, "judge", Some(seat), Some(id))
            })),
            Judgement::Ineligible | Judgement::Unparseable | Judgement::Disowned(_) => None,
        });
        reasons.flatten().flatten().collect()
    }

    fn review(&self) -> Vec<CitationReport> {
        let findings: &[Finding] = match &self.results.review {
            Some(ReviewResult::OnBallot(findings)) => findings,
            Some(ReviewResult::Voted(review)) => &review.findings,
            Some(ReviewResult::NotReviewed | ReviewResult::NothingFound) | None => &[],
        };
        let of_finding = |finding: &Finding| {
            let id = MatterId::Finding(finding.id);
            let mut found = self.of(&text_of(finding), "finding", None, Some(id));
            let voters = self.results.voted().into_iter().flat_map(|review| &review.voters);
            for voter in voters {
                let reason = voter.votes.on(finding.id).map(|cast| cast.reason.as_str());
                let reason = reason.unwrap_or_default();
                found.extend(self.of(reason, "vote", Some(&voter.name), Some(id)));
            }
            found
        };
        findings.iter().flat_map(of_finding).collect()
    }

    fn plan(&self) -> Vec<CitationReport> {
        let plan = self.results.plan.as_ref();
        plan.map(|plan| self.of(&plan.text, "plan", None, None)).unwrap_or_default()
    }
}
