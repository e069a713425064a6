//! What the phases of a design came to, for programs: facts, as they were before they became files.

use convoke_domain::design::decision::Decision;
use convoke_domain::design::event::Settings;
use convoke_domain::design::finding::{Finding, FocusArea, Scope};
use convoke_domain::design::matter::MatterId;
use convoke_domain::design::outcome::is_held_back;
use convoke_domain::design::outline::{DiagramResult, PhaseResults, Review, Voice};
use convoke_domain::design::resolution::Ending;
use convoke_domain::design::tally::{Counted, Counts, Score};
use serde::Serialize;

/// The typed results of a run. A list is empty where a phase has not got so far.
#[derive(Serialize)]
pub(super) struct ResultsReport<'a> {
    /// What the sketches differ on, with both sides and how each ended.
    decisions: Vec<ContestReport<'a>>,
    /// What reviewers found, in the order of the ballot.
    findings: Vec<FindingReport<'a>>,
    /// How the voters voted; nothing before they did.
    tally: Option<TallyReport<'a>>,
    plan: Option<PlanReport>,
    /// `drawn`, `missing` or `rejected`; nothing before its phase.
    diagram: Option<&'static str>,
    /// Every answer that counts, and who gave it in whose place.
    voices: Vec<VoiceReport<'a>>,
}

#[derive(Serialize)]
struct ContestReport<'a> {
    id: String,
    title: &'a str,
    /// What the synthesis chose.
    chosen: &'a str,
    alternative: &'a str,
    tension: &'a str,
    impact: &'static str,
    affected: &'a str,
    /// What is to be done; nothing before the debates are over.
    resolution: Option<&'a str>,
    /// `voted`, `fallback-to-synthesis`, `bucket-skipped` or `over-cap`.
    disposition: Option<&'static str>,
    /// The case for what was chosen, and the case for the alternative.
    thesis: Option<&'a str>,
    antithesis: Option<&'a str>,
    /// The judges' votes; nothing unless they decided.
    votes: Option<JudgesReport>,
    why: Option<&'a str>,
    /// What a person decided since.
    person: Option<&'a str>,
}

#[derive(Serialize)]
struct JudgesReport {
    winner: &'static str,
    thesis: usize,
    antithesis: usize,
}

#[derive(Serialize)]
struct FindingReport<'a> {
    id: String,
    title: &'a str,
    /// Whether it is about the planned change.
    in_scope: bool,
    focus: Option<&'static str>,
    proposers: &'a [String],
    concern: &'a str,
    revision: Option<&'a str>,
    /// Whether it is kept out of published files.
    withheld: bool,
    /// What each voter said; nothing for an abstention.
    votes: Vec<VoteReport<'a>>,
    counts: Option<CountsReport>,
    /// What it comes to now, also by a person's decision.
    verdict: Option<&'static str>,
    /// What the panel's votes come to.
    panel: Option<&'static str>,
    /// A person's reason, if a person decided.
    person: Option<&'a str>,
    /// How the plan was revised for it.
    note: Option<&'a str>,
}

#[derive(Serialize)]
struct VoteReport<'a> {
    voter: &'a str,
    vote: Option<&'static str>,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct CountsReport {
    yes: usize,
    no: usize,
    exonerate: usize,
}

#[derive(Serialize)]
struct TallyReport<'a> {
    voters: Vec<&'a str>,
    /// How many of them voted on anything.
    eligible: usize,
    accepted: usize,
    scores: Vec<ScoreReport>,
}

#[derive(Serialize)]
struct ScoreReport {
    reviewer: String,
    findings: usize,
    accepted: usize,
    neutral: usize,
    exonerated: usize,
    rejected: usize,
    out_of_scope: usize,
    out_of_scope_accepted: usize,
    points: i64,
}

#[derive(Serialize)]
struct PlanReport {
    words: usize,
    tasks: usize,
}

#[derive(Serialize)]
struct VoiceReport<'a> {
    part: &'static str,
    seat: &'a str,
    owner: &'a str,
    answered_by: &'a str,
    model: Option<&'a str>,
}

impl<'a> ResultsReport<'a> {
    pub(super) fn new(results: &'a PhaseResults, settings: Option<&'a Settings>) -> Self {
        let review = results.voted();
        let found = results.review.as_ref().map_or(&[][..], |review| review.findings());
        let counted = |place: usize| Some((review?, review?.tally.items.get(place)?, place));
        let findings = found.iter().enumerate();
        let voices = settings.into_iter().flat_map(|settings| {
            results.voices.iter().map(move |voice| VoiceReport::new(voice, settings))
        });
        Self {
            decisions: contests(results),
            findings: findings
                .map(|(place, finding)| FindingReport::new(finding, counted(place)))
                .collect(),
            tally: review.map(TallyReport::new),
            plan: results.plan.as_ref().map(|plan| PlanReport {
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

fn contests(results: &PhaseResults) -> Vec<ContestReport<'_>> {
    let decisions = (1..).zip(results.decisions());
    decisions.map(|(number, decision)| contest(number, decision, results)).collect()
}

fn contest<'a>(
    number: usize,
    decision: &'a Decision,
    results: &'a PhaseResults,
) -> ContestReport<'a> {
    let entry = results.resolutions.iter().flatten().find(|entry| entry.number == number);
    ContestReport {
        id: MatterId::Decision(number).to_string(),
        title: &decision.title,
        chosen: &decision.chosen,
        alternative: &decision.alternative,
        tension: &decision.tension,
        impact: decision.impact.word(),
        affected: &decision.affected,
        resolution: entry.map(|entry| entry.resolution.as_str()),
        disposition: entry.map(|entry| entry.disposition().word()),
        thesis: entry.map(|entry| entry.thesis.as_str()),
        antithesis: entry.map(|entry| entry.antithesis.as_str()),
        votes: entry.and_then(|entry| JudgesReport::new(&entry.ending)),
        why: entry.map(|entry| entry.why().as_str()),
        person: entry.and_then(|entry| entry.person.as_deref()),
    }
}

impl JudgesReport {
    const fn new(ending: &Ending) -> Option<Self> {
        let Ending::Voted { winner, thesis, antithesis, .. } = ending else { return None };
        let winner = winner.word();
        Some(Self { winner, thesis: *thesis, antithesis: *antithesis })
    }
}

impl<'a> FindingReport<'a> {
    fn new(finding: &'a Finding, counted: Option<(&'a Review, &'a Counted, usize)>) -> Self {
        let review = counted.map(|(review, ..)| review);
        let votes = review.into_iter().flat_map(|review| &review.voters).map(|voter| {
            let cast = voter.votes.on(finding.id);
            VoteReport {
                voter: &voter.name,
                vote: cast.map(|cast| cast.vote.word()),
                reason: cast.map(|cast| cast.reason.as_str()),
            }
        });
        let panel = counted.and_then(|(review, _, place)| review.voted.items.get(place));
        let counted = counted.map(|(_, counted, _)| counted);
        Self {
            id: finding.id.to_string(),
            title: &finding.remark.title,
            in_scope: finding.id.scope == Scope::In,
            focus: finding.focus.map(FocusArea::word),
            proposers: &finding.proposers,
            concern: &finding.remark.concern,
            revision: finding.remark.revision.as_deref(),
            withheld: is_held_back(finding),
            votes: votes.collect(),
            counts: counted.map(|counted| CountsReport::new(counted.counts)),
            verdict: counted.map(|counted| counted.verdict.word()),
            panel: panel.map(|counted| counted.verdict.word()),
            person: counted.and_then(|counted| counted.person.as_deref()),
            note: review.and_then(|review| review.notes.get(&finding.id)).map(String::as_str),
        }
    }
}

impl CountsReport {
    const fn new(Counts { yes, no, exonerate }: Counts) -> Self {
        Self { yes, no, exonerate }
    }
}

impl<'a> TallyReport<'a> {
    fn new(review: &'a Review) -> Self {
        Self {
            voters: review.tally.columns.iter().map(|column| column.voter.as_str()).collect(),
            eligible: review.tally.eligible,
            accepted: review.accepted().len(),
            scores: review.scores().into_iter().map(ScoreReport::from).collect(),
        }
    }
}

impl From<Score> for ScoreReport {
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

impl<'a> VoiceReport<'a> {
    fn new(voice: &'a Voice, settings: &'a Settings) -> Self {
        Self {
            part: voice.kind.word(),
            seat: &voice.label,
            owner: settings.panel.named(voice.owner).name(),
            answered_by: settings.panel.named(voice.runner).name(),
            model: voice.model.as_deref(),
        }
    }
}
