//! Why a run came to its results, for programs and pages: sketches, debates, judges, plans.

use convoke_domain::design::decision::Decision;
use convoke_domain::design::evidence::{
    DebateEvidence, DefenseEvidence, JudgeEvidence, PlanCause, PlanVersion, SketchEvidence,
};
use convoke_domain::design::judge::Judgement;
use convoke_domain::design::matter::MatterId;
use convoke_domain::design::outline::{DesignOutline, DiagramResult, PhaseResults};
use convoke_domain::design::seat::{Panel, Side};
use convoke_domain::design::settled::NotAsked;
use convoke_domain::design::voting_block::Poll;
use convoke_domain::design::walk::{Need, Next, PersonQuestion};
use serde::Serialize;

use super::citations::{CitationReport, citations};

/// Who wrote what, who voted how, and which text the plan had before.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunEvidenceReport {
    /// The sketches that the synthesis was made of.
    pub sketches: Vec<SketchReport>,
    /// The synthesis of the sketches.
    pub synthesis: Option<String>,
    /// The debates on contested decisions, with the judges' votes.
    pub debates: Vec<DebateReport>,
    /// Judges and voters whom Convoke did not ask, because no vote of theirs could change a result.
    pub not_asked: Vec<NotAskedReport>,
    /// The position of each sketch on a decision, as the chair of an adaptive design names it.
    pub positions: Vec<DecisionPositionsReport>,
    /// Every plan that the run had, the first one first.
    pub plans: Vec<PlanVersionReport>,
    /// What agents cite, with what Convoke found there; empty for runs of earlier programs and under
    /// `--policy seed`.
    pub citations: Vec<CitationReport>,
    /// The diagram, as Mermaid text; nothing unless one was drawn.
    pub diagram_text: Option<String>,
    /// The question that the run waits with.
    pub question: Option<WaitingQuestionReport>,
}

/// The positions of sketches on a decision.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionPositionsReport {
    /// The decision's title.
    pub decision: String,
    /// The option that the synthesis chose.
    pub chosen: String,
    /// The other option.
    pub alternative: String,
    /// Whether all sketches agree, so that no agent debates it.
    pub agreed: bool,
    /// Each sketch that the chair names.
    pub sketches: Vec<SketchPositionReport>,
}

/// The position of a sketch on a decision.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SketchPositionReport {
    /// The sketch's seat.
    pub sketch: String,
    /// `chosen`, `alternative` or `neither`, or other words of the chair's.
    pub position: String,
}

impl DecisionPositionsReport {
    /// Lists agreed decisions first, and then the contested ones with stated positions.
    fn of(results: &PhaseResults) -> Vec<Self> {
        let agreed = results.agreed.iter().map(|decision| (decision, true));
        let contested = results.synthesis.iter().flat_map(|synthesis| &synthesis.decisions);
        let contested = contested.map(|decision| (decision, false));
        let report = |(decision, agreed): (&Decision, bool)| Self {
            decision: decision.title.clone(),
            chosen: decision.chosen.clone(),
            alternative: decision.alternative.clone(),
            agreed,
            sketches: decision
                .stated_positions()
                .into_iter()
                .map(|(sketch, position)| SketchPositionReport {
                    sketch: sketch.to_owned(),
                    position: position.to_owned(),
                })
                .collect(),
        };
        let all = agreed.chain(contested).map(report);
        all.filter(|positions| !positions.sketches.is_empty()).collect()
    }
}

/// Seats of a poll that was settled without them.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotAskedReport {
    /// `judges` or `voters`.
    pub poll: &'static str,
    /// The seats, such as `Cursor`.
    pub seats: Vec<String>,
    /// What they would have used, by the average of the others; `None` if an agent does not report its
    /// usage.
    pub saved_tokens: Option<u64>,
}

/// An agent's own proposal, made before it saw those of others.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SketchReport {
    /// The seat, such as `Codex-Edge`.
    pub seat: String,
    /// The agent whose seat it is.
    pub owner: String,
    /// The agent that wrote it.
    pub written_by: String,
    /// The sketch.
    pub text: String,
}

/// The debate on one decision.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DebateReport {
    /// The decision's id, such as `DECISION_1`.
    pub decision: String,
    /// The case for the chosen option, and that for the alternative.
    pub defenses: Vec<DefenseReport>,
    /// The judges' votes; empty if the debate did not reach them.
    pub judges: Vec<JudgeVoteReport>,
}

/// One side of a debate.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DefenseReport {
    /// `thesis` for the chosen option, `antithesis` for the alternative.
    pub side: &'static str,
    /// The agent that wrote it.
    pub written_by: String,
    /// The parts of the case, in order; empty if it could not be read.
    pub parts: Vec<DefensePartReport>,
    /// Why it is no case, in a word.
    pub fault: Option<&'static str>,
}

/// A part of a defence.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DefensePartReport {
    /// `steelman`, `claim`, `evidence`, `concession`, `counter` or `risk`.
    pub part: &'static str,
    /// The words as the agent wrote them.
    pub text: String,
}

/// A judge's vote on one decision.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgeVoteReport {
    /// The seat that judged, by its role; which agent held it is in `answered_by`.
    pub judge: String,
    /// The agent that answered.
    pub answered_by: String,
    /// `thesis` or `antithesis`; nothing if no vote of this judge counts.
    pub vote: Option<&'static str>,
    /// The judge's reason.
    pub reason: Option<String>,
    /// Why no vote counts.
    pub without_vote: Option<&'static str>,
    /// `thesis` or `antithesis`: the case that this judge read first.
    pub read_first: &'static str,
    /// With `--both-orders`: whether the judge votes the same with the cases in reverse order; nothing if
    /// that is not known.
    pub same_in_both_orders: Option<bool>,
}

/// A plan at one time.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanVersionReport {
    /// `draft`, `accepted` for findings and decisions, or `interview`.
    pub cause: &'static str,
    /// The findings and decisions that it was revised for.
    pub matters: Vec<String>,
    /// The words as the agent wrote them.
    pub text: String,
}

/// A question to a person.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitingQuestionReport {
    /// The question's id, such as `1d/2`.
    pub id: String,
    /// A short title.
    pub title: String,
    /// The question.
    pub text: String,
    /// Answers to choose from; may be empty.
    pub options: Vec<String>,
    /// The answer that counts if the person gives no other.
    pub recommended: String,
    /// Whether free text is an answer, too.
    pub is_open: bool,
}

impl RunEvidenceReport {
    pub(super) fn new(progress: &DesignOutline) -> Self {
        let results = &progress.results;
        let Some(settings) = &progress.settings else { return Self::default() };
        let (panel, evidence) = (&settings.panel, &results.evidence);
        let sketches = evidence.sketches.iter();
        let debates = evidence.debates.iter();
        Self {
            sketches: sketches.map(|sketch| SketchReport::new(sketch, panel)).collect(),
            synthesis: results.synthesis.as_ref().map(|synthesis| synthesis.text.clone()),
            debates: debates.map(|debate| DebateReport::new(debate, results, panel)).collect(),
            not_asked: results.not_asked.iter().map(NotAskedReport::new).collect(),
            positions: DecisionPositionsReport::of(results),
            plans: evidence.plans.iter().map(PlanVersionReport::new).collect(),
            citations: citations(progress),
            diagram_text: results.diagram.as_ref().and_then(diagram_text),
            question: match &progress.next {
                Next::Need(Need::Ask(question)) => Some(WaitingQuestionReport::new(question)),
                Next::Need(_) | Next::End(_) => None,
            },
        }
    }
}

impl NotAskedReport {
    fn new((poll, not_asked): &(Poll, NotAsked)) -> Self {
        let NotAsked { seats, saved_tokens } = not_asked.clone();
        Self { poll: poll.name(), seats, saved_tokens }
    }
}

/// Returns a diagram without its fence.
fn diagram_text(diagram: &DiagramResult) -> Option<String> {
    let DiagramResult::Drawn(fence) = diagram else { return None };
    let lines: Vec<_> = fence.lines().collect();
    let is_mark = |line: &&str| line.trim_start().starts_with("```");
    Some(lines.into_iter().filter(|line| !is_mark(line)).collect::<Vec<_>>().join("\n"))
}

impl SketchReport {
    fn new(sketch: &SketchEvidence, panel: &Panel) -> Self {
        Self {
            seat: sketch.label.clone(),
            owner: panel.named(sketch.owner).name().to_owned(),
            written_by: panel.named(sketch.runner).name().to_owned(),
            text: sketch.text.to_string(),
        }
    }
}

impl DebateReport {
    fn new(debate: &DebateEvidence, results: &PhaseResults, panel: &Panel) -> Self {
        let number = debate.number;
        // A debate that failed is on no ballot, so no judge's silence on it means anything.
        let is_judged = debate.sides.iter().all(|side| side.defense.is_ok());
        let judges = results.evidence.judges.iter().filter(|_| is_judged);
        Self {
            decision: MatterId::Decision(number).to_string(),
            defenses: debate.sides.iter().map(|side| DefenseReport::new(side, panel)).collect(),
            judges: judges.map(|judge| JudgeVoteReport::new(judge, number, panel)).collect(),
        }
    }
}

impl DefenseReport {
    fn new(side: &DefenseEvidence, panel: &Panel) -> Self {
        let parts = side.defense.as_ref().ok().map(|defense| {
            let steelman = defense.steelman.as_ref().map(|text| ("steelman", text));
            let parts = [
                ("claim", &defense.claim),
                ("evidence", &defense.evidence),
                ("concession", &defense.concession),
                ("counter", &defense.counter),
                ("risk", &defense.risk),
            ];
            let part = |(part, text): (_, &String)| DefensePartReport { part, text: text.clone() };
            steelman.into_iter().chain(parts).map(part).collect()
        });
        Self {
            side: side.side.word(),
            written_by: panel.named(side.runner).name().to_owned(),
            parts: parts.unwrap_or_default(),
            fault: side.defense.as_ref().err().map(|fault| fault.token()),
        }
    }
}

impl JudgeVoteReport {
    fn new(judge: &JudgeEvidence, number: usize, panel: &Panel) -> Self {
        let vote = judge.judgement.on(number);
        let without_vote = || match &judge.judgement {
            Judgement::Ineligible => "gave no usable answer",
            Judgement::Unparseable => "cast no vote that could be read",
            Judgement::Disowned(_) => "disowned its votes",
            Judgement::Votes(votes) if votes.contradicted.contains(&number) => {
                "voted for both sides"
            }
            Judgement::Votes(votes) if votes.withdrawn.contains(&number) => "withdrew its vote",
            Judgement::Votes(votes) if votes.flipped.contains(&number) => {
                "changed its vote with the order"
            }
            Judgement::Votes(_) => "abstained",
        };
        Self {
            judge: judge.label.clone(),
            answered_by: panel.named(judge.runner).name().to_owned(),
            vote: vote.map(|vote| Side::word(vote.side)),
            reason: vote.map(|vote| vote.rationale.clone()).filter(|reason| !reason.is_empty()),
            without_vote: vote.is_none().then(without_vote),
            read_first: judge.order.first_side(number).word(),
            same_in_both_orders: judge
                .order_check
                .as_ref()
                .filter(|check| check.compared.contains(&number))
                .map(|check| !check.flipped.contains(&number)),
        }
    }
}

impl PlanVersionReport {
    fn new(plan: &PlanVersion) -> Self {
        let (cause, matters) = match &plan.cause {
            PlanCause::Draft => ("draft", &[][..]),
            PlanCause::Matters(matters) => ("accepted", matters.as_slice()),
            PlanCause::Interview => ("interview", &[][..]),
        };
        let matters = matters.iter().map(ToString::to_string).collect();
        Self { cause, matters, text: plan.text.to_string() }
    }
}

impl WaitingQuestionReport {
    fn new(question: &PersonQuestion) -> Self {
        Self {
            id: question.id.to_string(),
            title: question.title.clone(),
            text: question.text.clone(),
            options: question.options.clone(),
            recommended: question.recommended.clone(),
            is_open: question.is_open,
        }
    }
}
