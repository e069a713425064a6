//! Warnings of a design as sentences.

use crate::design::event::Settings;
use crate::design::policy::Policy;
use crate::design::progress::{Breadcrumbs, Step, unnumbered_warning};
use crate::design::quote;
use crate::design::warning::{
    ChairWarning, DebateWarning, DesignWarning, ReviewWarning, SeatWarning, VoteOddity,
};

/// How many characters of an agent's words a warning shows about a vote.
const EXCERPT: usize = 60;

/// How many characters of an agent's words after its votes a warning shows.
const AFTERTHOUGHT: usize = 160;

/// Renders a warning. Agents' words in it stay on its line.
pub(super) fn warning(warning: &DesignWarning, settings: &Settings) -> String {
    line(warning, &Breadcrumbs { prefix: settings.prefix.clone() })
}

/// Renders all warnings of a run; a run without settings has none.
pub fn warnings(all: &[DesignWarning], settings: Option<&Settings>) -> Vec<String> {
    let Some(settings) = settings else { return Vec::new() };
    all.iter().map(|fact| warning(fact, settings)).collect()
}

fn line(warning: &DesignWarning, crumbs: &Breadcrumbs) -> String {
    let words = match warning {
        DesignWarning::Absent(absence) => return absence.sentence(),
        DesignWarning::Unavailable(line) => return line.clone(),
        DesignWarning::DiagramFailed { seconds } => {
            let text = "generation failed, proceeding without diagram";
            return crumbs.warning(Step::Diagram, text, *seconds);
        }
        DesignWarning::Seat(warning) => of_seat(warning),
        DesignWarning::Debate(warning) => of_debate(warning),
        DesignWarning::Chair(warning) => of_chair(warning),
        DesignWarning::Review(warning) => of_review(warning),
        DesignWarning::Votes { who, oddity } => of_votes(who, oddity),
        DesignWarning::DiagramRejected { token } => {
            let place = crumbs.named_place(Step::Diagram, "architecture diagram");
            format!(
                "{place} — rejected by mermaid sanitizer (REASON_TOKEN={token}); proceeding \
                 without diagram."
            )
        }
        DesignWarning::TreeChanged { status, boundary, evidence } => {
            let (status, boundary) = (status.name(), boundary.name());
            format!("the working tree is {status} after {boundary}: {evidence}")
        }
    };
    unnumbered_warning(&words)
}

fn of_seat(warning: &SeatWarning) -> String {
    match warning {
        SeatWarning::OnlyABeginning { seat, noun, reason } => {
            format!("{seat} {noun} is only a beginning: {reason}.")
        }
        SeatWarning::MissedForm { agent, host, seat, noun, reason } => format!(
            "{agent} gave no usable {noun} in two tries ({seat}): {reason}. {host} answers in its \
             place; {agent} keeps its later seats."
        ),
        SeatWarning::Failed { agent, host, reason } => {
            format!("{agent} failed — {reason}. Using {host} replacement for remainder of session.")
        }
        SeatWarning::Empty { host, seat, noun, reason } => {
            format!("{host} {noun} failed ({seat}): {reason}. Going on without it.")
        }
    }
}

fn of_debate(warning: &DebateWarning) -> String {
    match warning {
        DebateWarning::BucketSkipped(bucket) => format!(
            "{} unavailable — dialectic skipped for bucket {} decisions (indices: {}). \
             Step 2a.4 synthesis decisions stand.",
            bucket.agent,
            bucket.number,
            bucket.indices()
        ),
        DebateWarning::SideFailed { agent, decision, side, reason } => format!(
            "{agent} dialectic debate (decision {decision}, {}) failed: {reason}. \
             Bucket truncated; synthesis decision stands.",
            side.word()
        ),
        DebateWarning::NoQuorum { decision, fault } => format!(
            "Debate for DECISION_{decision} failed quorum (reason: {}). Fallback to synthesis.",
            fault.token()
        ),
        DebateWarning::NoContest { title, chosen } => format!(
            "The decision \"{title}\" is not debated: what was chosen and the alternative are the \
             same ({chosen})."
        ),
        DebateWarning::NameReplaced { decision } => {
            format!("An agent's name was replaced on the ballot of DECISION_{decision}.")
        }
        DebateWarning::NotJudged { decision, leak } => {
            format!("DECISION_{decision} cannot be judged: {leak}. Fallback to synthesis.")
        }
        DebateWarning::JudgeFailed { judge, reason } => {
            let reason = if reason.is_empty() { "it gave no readable answer" } else { reason };
            format!("{judge} judge failed — {reason}. It casts no vote.")
        }
        DebateWarning::JudgeUnreadable { judge } => format!(
            "{judge} judge output unparseable — treated as abstention for all decisions on this \
             ballot."
        ),
    }
}

pub(super) fn of_chair(warning: &ChairWarning) -> String {
    match warning {
        ChairWarning::Failed { agent, reason } => {
            format!("{agent} failed as the chair — {reason}. Asking the next agent.")
        }
        ChairWarning::MissedForm { agent, noun, defects } => format!(
            "{agent} wrote no usable {noun} in two tries ({}). Asking the next agent.",
            in_short(defects)
        ),
        ChairWarning::Incomplete { noun, defects } => {
            format!("The chair's {noun} is incomplete ({}).", in_short(defects))
        }
        ChairWarning::NoSynthesis => "There is no synthesis: no agent answered as the chair. The \
                                      plan builds on the separate sketches."
            .to_owned(),
        ChairWarning::NotRevised => {
            "The plan is not revised: no agent answered as the chair.".to_owned()
        }
        ChairWarning::PlanUnchanged { ids } => {
            format!("The chair left the plan as it was for {ids}.")
        }
    }
}

pub(super) fn of_review(warning: &ReviewWarning) -> String {
    match warning {
        ReviewWarning::NotReviewed => "No agent reviewed the plan.".to_owned(),
        ReviewWarning::SecondThoughts { seat, counted, passed_over } => format!(
            "{seat} said NO_ISSUES_FOUND and went on: {counted} findings are taken, {passed_over} \
             untagged entries are not."
        ),
        ReviewWarning::OneGroup { findings } => format!(
            "The chair put all {findings} findings together: there is one vote on all of them."
        ),
        ReviewWarning::VoterFailed { voter, reason, left } => format!(
            "{voter} voter failed — {reason}. Proceeding with {} voters ({}).",
            left.len(),
            left.join(", ")
        ),
        ReviewWarning::TooFewVoters { eligible, policy } => too_few_voters(*eligible, *policy),
    }
}

pub(super) fn of_votes(who: &str, oddity: &VoteOddity) -> String {
    match oddity {
        VoteOddity::Unmarked => format!(
            "{who} answered without block: no votes between the marker lines. Convoke counted the \
             votes in the rest of the answer."
        ),
        VoteOddity::Repeated { item } => {
            format!("{who} voted on {item} twice; the first vote counts.")
        }
        VoteOddity::Contradicted { item, votes: [first, other] } => format!(
            "{who} voted {first} and {other} on {item}; Convoke counts that as an abstention."
        ),
        VoteOddity::Withdrawn { item } => {
            format!("{who} withdrew its vote on {item}; Convoke counts that as an abstention.")
        }
        VoteOddity::Flipped { item } => format!(
            "{who} changed its vote on {item} with the order of the ballot; Convoke counts that as an \
             abstention."
        ),
        VoteOddity::AfterThem { words } => after_votes(who, words),
        VoteOddity::Disowned { words } => {
            let words = excerpt(words, EXCERPT);
            format!("{who} disowned its block of votes ({words}); Convoke does not count it.")
        }
        VoteOddity::Missing => {
            format!("{who} output holds no vote — treated as abstention on everything.")
        }
        VoteOddity::Near { lines } => near_votes(who, lines),
    }
}

/// Returns what a voter wrote after its votes.
pub(super) fn after_votes(who: &str, words: &str) -> String {
    format!("{who} wrote after its votes: {}", excerpt(words, AFTERTHOUGHT))
}

fn near_votes(who: &str, lines: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<_> = lines.iter().take(SHOWN).map(|line| excerpt(line, EXCERPT)).collect();
    let more = if lines.len() > SHOWN { ", \u{2026}" } else { "" };
    let count = match lines.len() {
        1 => "1 line looks like a vote but does not count".to_owned(),
        count => format!("{count} lines look like votes but do not count"),
    };
    format!("{who}: {count}: {}{more}", shown.join(", "))
}

/// Returns the beginning of an agent's words, in quotation marks.
fn excerpt(words: &str, most: usize) -> String {
    let line = quote::line(words);
    let cut: String = line.chars().take(most).collect();
    let dots = if cut.len() < line.len() { "\u{2026}" } else { "" };
    quote::phrase(&format!("{cut}{dots}"))
}

fn too_few_voters(eligible: usize, policy: Policy) -> String {
    match (policy, eligible) {
        (Policy::Seed, _) => format!(
            "Voting skipped ({eligible} voter(s) available, minimum 2 required). All findings \
             accepted."
        ),
        (Policy::Safe, 0) => {
            "No voter answered. No finding is accepted until a person decides.".to_owned()
        }
        (Policy::Safe, _) => "Only 1 voter available. Its votes decide alone.".to_owned(),
    }
}

/// Names the first defects of a document, and counts the others.
pub(super) fn in_short(defects: &[String]) -> String {
    const NAMED: usize = 3;
    let named: Vec<_> = defects.iter().take(NAMED).map(|defect| quote::line(defect)).collect();
    let more = match defects.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{}{more}", named.join("; "))
}

/// Renders a warning of a design that is not part of another workflow.
#[cfg(test)]
pub(in crate::design) fn sentence(fact: impl Into<DesignWarning>) -> String {
    sentence_in(fact, &Breadcrumbs::default())
}

/// Renders a warning of a design in the place that breadcrumbs name.
#[cfg(test)]
pub(in crate::design) fn sentence_in(
    fact: impl Into<DesignWarning>,
    crumbs: &Breadcrumbs,
) -> String {
    line(&fact.into(), crumbs)
}
