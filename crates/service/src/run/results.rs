//! The results of a design's phases, for programs: facts, before they were rendered into files.

use convoke_domain::design::decision::Decision;
use convoke_domain::design::event::Settings;
use convoke_domain::design::finding::{Finding, FindingScope, FocusArea};
use convoke_domain::design::matter::MatterId;
use convoke_domain::design::outcome::is_held_back;
use convoke_domain::design::outline::{DiagramResult, PhaseResults, Voice, VotedReview};
use convoke_domain::design::resolution::DecisionEnding;
use convoke_domain::design::tally::{Counted, Counts, FindingVerdict, Score};
use serde::Serialize;

use super::state::verdict_word;

/// The typed results of a run. A list is empty where a phase has not got so far.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultsReport {
    /// The contested decisions, with both sides and their results.
    pub decisions: Vec<ContestedDecisionReport>,
    /// The findings, in the order of the ballot.
    pub findings: Vec<PanelFindingReport>,
    /// The voters' votes; `None` before they voted.
    pub tally: Option<VoteTallyReport>,
    /// The size of the plan; `None` without one.
    pub plan: Option<PlanSizeReport>,
    /// `drawn`, `missing` or `rejected`; nothing before its phase.
    pub diagram: Option<&'static str>,
    /// Every answer that counts, and who gave it in whose place.
    pub voices: Vec<PanelVoiceReport>,
}

/// A decision on which the sketches differ, for programs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContestedDecisionReport {
    /// Its id, such as `DECISION_1`.
    pub id: String,
    /// A short title.
    pub title: String,
    /// The option that the synthesis chose.
    pub chosen: String,
    /// The option of another sketch.
    pub alternative: String,
    /// Why the sketches differ.
    pub tension: String,
    /// The decision's weight.
    pub impact: &'static str,
    /// The affected files or modules.
    pub affected: String,
    /// The chosen approach; `None` before the debates are over.
    pub resolution: Option<String>,
    /// `voted`, `fallback-to-synthesis`, `bucket-skipped` or `over-cap`.
    pub disposition: Option<&'static str>,
    /// The case for the chosen option.
    pub thesis: Option<String>,
    /// The case for the alternative.
    pub antithesis: Option<String>,
    /// The judges' votes; nothing unless they decided.
    pub votes: Option<JudgeVotesReport>,
    /// Why it ended so.
    pub why: Option<String>,
    /// A person's later decision.
    pub person: Option<String>,
}

/// How the judges of a debate voted.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgeVotesReport {
    /// The side that won.
    pub winner: &'static str,
    /// Votes for what the synthesis chose.
    pub thesis: usize,
    /// Votes for the alternative.
    pub antithesis: usize,
}

/// A finding of reviewers, with the panel's votes.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PanelFindingReport {
    /// Its id, such as `FINDING_2`.
    pub id: String,
    /// The finding's title.
    pub title: String,
    /// Whether it is about the planned change.
    pub in_scope: bool,
    /// The finding's area.
    pub focus: Option<&'static str>,
    /// The reviewers that proposed it.
    pub proposers: Vec<String>,
    /// What is wrong with the plan, in the reviewers' words.
    pub concern: String,
    /// How the plan should change.
    pub revision: Option<String>,
    /// Whether it is kept out of published files.
    pub withheld: bool,
    /// The vote of each voter; `None` for an abstention.
    pub votes: Vec<FindingVoteReport>,
    /// How many votes there were of each kind; nothing before the vote.
    pub counts: Option<VoteCountsReport>,
    /// The present verdict, including a person's decision.
    #[serde(serialize_with = "verdict_word")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub verdict: Option<FindingVerdict>,
    /// The verdict by the panel's votes.
    #[serde(serialize_with = "verdict_word")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub panel: Option<FindingVerdict>,
    /// A person's reason, if a person decided.
    pub person: Option<String>,
    /// What the revision did about it.
    pub note: Option<String>,
}

/// A voter's vote on a finding.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingVoteReport {
    /// The voter's role; votes are counted without the names of models.
    pub voter: String,
    /// The vote; nothing for an abstention.
    pub vote: Option<&'static str>,
    /// The voter's reason.
    pub reason: Option<String>,
}

/// How many votes there were of each kind.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VoteCountsReport {
    /// Votes for it.
    pub yes: usize,
    /// Votes against it.
    pub no: usize,
    /// Votes that excuse its proposer.
    pub exonerate: usize,
}

/// How the voters voted on all findings.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VoteTallyReport {
    /// The voters' roles, in the order of the table.
    pub voters: Vec<String>,
    /// How many of them voted on any item.
    pub eligible: usize,
    /// How many findings the plan was revised for.
    pub accepted: usize,
    /// Each reviewer's score.
    pub scores: Vec<ReviewerScoreReport>,
}

/// What a reviewer's findings earned by the votes.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReviewerScoreReport {
    /// The seat that raised the findings.
    pub reviewer: String,
    /// How many findings about the planned change.
    pub findings: usize,
    /// How many of them were accepted.
    pub accepted: usize,
    /// How many were neither accepted nor rejected.
    pub neutral: usize,
    /// How many were excused.
    pub exonerated: usize,
    /// How many were rejected.
    pub rejected: usize,
    /// How many findings outside of the planned change.
    pub out_of_scope: usize,
    /// How many of those were accepted.
    pub out_of_scope_accepted: usize,
    /// The total of points.
    pub points: i64,
}

/// How large a plan is.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanSizeReport {
    /// How many words it has.
    pub words: usize,
    /// How many tasks it has.
    pub tasks: usize,
}

/// An answer that counts, and who gave it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PanelVoiceReport {
    /// The part of the answer.
    pub part: &'static str,
    /// The seat that it answered for.
    pub seat: String,
    /// The agent whose seat it is.
    pub owner: String,
    /// The agent that answered.
    pub answered_by: String,
    /// The model that the user requested; `None` if it was the client's choice.
    pub requested_model: Option<String>,
    /// The model, as far as the client says.
    pub model: Option<String>,
}

impl ResultsReport {
    pub(crate) fn new(results: &PhaseResults, settings: Option<&Settings>) -> Self {
        let review = results.voted();
        let found = results.review.as_ref().map_or(&[][..], |review| review.findings());
        let counted = |place: usize| Some((review?, review?.tally.items.get(place)?, place));
        let findings = found.iter().enumerate();
        let voices = settings.into_iter().flat_map(|settings| {
            results.voices.iter().map(move |voice| PanelVoiceReport::new(voice, settings))
        });
        Self {
            decisions: contests(results),
            findings: findings
                .map(|(place, finding)| PanelFindingReport::new(finding, counted(place)))
                .collect(),
            tally: review.map(VoteTallyReport::new),
            plan: results.plan.as_ref().map(|plan| PlanSizeReport {
                words: plan.text.split_whitespace().count(),
                tasks: plan.task_count,
            }),
            diagram: results.diagram.as_ref().map(|diagram| match diagram {
                DiagramResult::Drawn(_) => "drawn",
                DiagramResult::Missing => "missing",
                DiagramResult::Rejected => "rejected",
            }),
            voices: voices.collect(),
        }
    }
}

fn contests(results: &PhaseResults) -> Vec<ContestedDecisionReport> {
    let decisions = (1..).zip(results.decisions());
    decisions.map(|(number, decision)| contest(number, decision, results)).collect()
}

fn contest(number: usize, decision: &Decision, results: &PhaseResults) -> ContestedDecisionReport {
    let entry = results.resolutions.iter().flatten().find(|entry| entry.number == number);
    ContestedDecisionReport {
        id: MatterId::Decision(number).to_string(),
        title: decision.title.clone(),
        chosen: decision.chosen.clone(),
        alternative: decision.alternative.clone(),
        tension: decision.tension.clone(),
        impact: decision.impact.word(),
        affected: decision.affected.clone(),
        resolution: entry.map(|entry| entry.resolution.clone()),
        disposition: entry.map(|entry| entry.disposition().word()),
        thesis: entry.map(|entry| entry.thesis.clone()),
        antithesis: entry.map(|entry| entry.antithesis.clone()),
        votes: entry.and_then(|entry| JudgeVotesReport::new(&entry.ending)),
        why: entry.map(|entry| entry.why().clone()),
        person: entry.and_then(|entry| entry.person.clone()),
    }
}

impl JudgeVotesReport {
    const fn new(ending: &DecisionEnding) -> Option<Self> {
        let DecisionEnding::Voted { winner, thesis, antithesis, .. } = ending else { return None };
        let winner = winner.word();
        Some(Self { winner, thesis: *thesis, antithesis: *antithesis })
    }
}

impl PanelFindingReport {
    fn new(finding: &Finding, counted: Option<(&VotedReview, &Counted, usize)>) -> Self {
        let review = counted.map(|(review, ..)| review);
        let votes = review.into_iter().flat_map(|review| &review.voters).map(|voter| {
            let cast = voter.votes.on(finding.id);
            FindingVoteReport {
                voter: voter.name.clone(),
                vote: cast.map(|cast| cast.vote.word()),
                reason: cast.map(|cast| cast.reason.clone()),
            }
        });
        let panel = counted.and_then(|(review, _, place)| review.voted.items.get(place));
        let counted = counted.map(|(_, counted, _)| counted);
        Self {
            id: finding.id.to_string(),
            title: finding.remark.title.clone(),
            in_scope: finding.id.scope == FindingScope::In,
            focus: finding.focus.map(FocusArea::word),
            proposers: finding.proposers.clone(),
            concern: finding.remark.concern.clone(),
            revision: finding.remark.revision.clone(),
            withheld: is_held_back(finding),
            votes: votes.collect(),
            counts: counted.map(|counted| VoteCountsReport::new(counted.counts)),
            verdict: counted.map(|counted| counted.verdict),
            panel: panel.map(|counted| counted.verdict),
            person: counted.and_then(|counted| counted.person.clone()),
            note: review.and_then(|review| review.notes.get(&finding.id)).cloned(),
        }
    }
}

impl VoteCountsReport {
    const fn new(Counts { yes, no, exonerate }: Counts) -> Self {
        Self { yes, no, exonerate }
    }
}

impl VoteTallyReport {
    fn new(review: &VotedReview) -> Self {
        Self {
            voters: review.tally.columns.iter().map(|column| column.voter.clone()).collect(),
            eligible: review.tally.eligible,
            accepted: review.accepted().len(),
            scores: review.scores().into_iter().map(ReviewerScoreReport::from).collect(),
        }
    }
}

impl From<Score> for ReviewerScoreReport {
    fn from(score: Score) -> Self {
        Self {
            reviewer: score.reviewer,
            findings: score.findings,
            accepted: score.accepted,
            neutral: score.neutral,
            exonerated: score.exonerated,
            rejected: score.rejected,
            out_of_scope: score.oos_proposed,
            out_of_scope_accepted: score.oos_accepted,
            points: score.points,
        }
    }
}

impl PanelVoiceReport {
    fn new(voice: &Voice, settings: &Settings) -> Self {
        Self {
            part: voice.kind.word(),
            seat: voice.label.clone(),
            owner: settings.panel.named(voice.owner).name().to_owned(),
            answered_by: settings.panel.named(voice.runner).name().to_owned(),
            requested_model: settings.chosen(voice.runner).model.clone(),
            model: voice.model.clone(),
        }
    }
}
