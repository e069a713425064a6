//! Warnings of a design for people at a terminal: seats by the agents that sit there, and no words
//! of the contract that only programs need. Files, pipes and `replay` keep the contract's sentences.

use super::warnings::{in_short, of_chair, of_review, of_votes, warning};
use crate::design::debate::DebateFault;
use crate::design::event::Settings;
use crate::design::progress::unnumbered_warning;
use crate::design::quote;
use crate::design::seat::{Panel, Side};
use crate::design::seat_name::{label_angle, label_seat};
use crate::design::warning::{
    ChairWarning, DebateWarning, DesignWarning, ReviewWarning, SeatWarning, VoteOddity,
};
use crate::text::counted;

/// Renders all warnings of a run for people; a run without settings has none. Seats of the host that
/// stayed empty for the same reason share a sentence.
pub fn warnings_for_people(all: &[DesignWarning], settings: Option<&Settings>) -> Vec<String> {
    let Some(settings) = settings else { return Vec::new() };
    let mut sentences = Vec::new();
    for (place, fact) in all.iter().enumerate() {
        let DesignWarning::Seat(SeatWarning::Empty { host, seat, noun, reason }) = fact else {
            sentences.push(quote::visible(&sentence(fact, settings)));
            continue;
        };
        if all[..place].iter().any(|earlier| is_same_failure(fact, earlier)) {
            continue;
        }
        let later = all[place + 1..].iter().filter(|later| is_same_failure(fact, later));
        let others = later.filter_map(|later| {
            let DesignWarning::Seat(SeatWarning::Empty { seat, .. }) = later else { return None };
            Some(seat.as_str())
        });
        let seats: Vec<_> = std::iter::once(seat.as_str()).chain(others).collect();
        let words = unnumbered_warning(&empty(host, &seats, noun, reason));
        sentences.push(quote::visible(&words));
    }
    sentences
}

/// Tells whether two seats stayed empty because the host failed in the same way.
pub fn is_same_failure(one: &DesignWarning, other: &DesignWarning) -> bool {
    let facts = |fact: &DesignWarning| {
        let DesignWarning::Seat(SeatWarning::Empty { host, noun, reason, .. }) = fact else {
            return None;
        };
        Some((host.clone(), *noun, reason.clone()))
    };
    facts(one).is_some_and(|facts_of_one| Some(facts_of_one) == facts(other))
}

fn sentence(fact: &DesignWarning, settings: &Settings) -> String {
    let panel = &settings.panel;
    let words = match fact {
        DesignWarning::Seat(warning) => of_seat(warning, panel),
        DesignWarning::Debate(warning) => of_debate(warning),
        DesignWarning::Chair(ChairWarning::Incomplete { noun, defects }) => {
            format!("The {noun} of the chair is incomplete ({}).", in_short(defects))
        }
        DesignWarning::Chair(warning) => of_chair(warning),
        DesignWarning::Review(warning) => of_reviewers(warning, panel),
        DesignWarning::Votes { who, oddity } => of_votes(who, &for_people(oddity)),
        DesignWarning::DiagramRejected { token } => {
            let why = token.replace('-', " ");
            format!("The diagram has a form that is not allowed ({why}) and is left out.")
        }
        DesignWarning::DiagramFailed { .. } => {
            "No agent drew a diagram; the design goes on without one.".to_owned()
        }
        DesignWarning::Absent(_)
        | DesignWarning::Unavailable(_)
        | DesignWarning::TreeChanged { .. } => return warning(fact, settings),
    };
    unnumbered_warning(&words)
}

fn of_seat(warning: &SeatWarning, panel: &Panel) -> String {
    match warning {
        SeatWarning::OnlyABeginning { seat, noun, reason } => {
            format!("{} gave only the beginning of a {noun}: {reason}.", label_seat(seat, panel))
        }
        SeatWarning::MissedForm { agent, host, seat, noun, reason } => format!(
            "{} gave no usable {noun} in two tries: {reason}. {host} answers in its place; \
             {agent} keeps its later seats.",
            label_seat(seat, panel)
        ),
        SeatWarning::Failed { agent, host, reason } => {
            format!("{agent} failed: {reason}. {host} takes its seats for the rest of the run.")
        }
        SeatWarning::Empty { host, seat, noun, reason } => empty(host, &[seat], noun, reason),
    }
}

fn empty(host: &str, seats: &[&str], noun: &str, reason: &str) -> String {
    let angles: Vec<_> = seats.iter().filter_map(|seat| label_angle(seat)).collect();
    let named = if angles.is_empty() { String::new() } else { format!(" ({})", angles.join(", ")) };
    let reason = reason.trim_end_matches('.');
    match seats.len() {
        0 | 1 => format!("{host} gave no {noun}{named}: {reason}. The design goes on without it."),
        count => format!(
            "{host} gave no {noun} in {}{named}: {reason}. The design goes on without them.",
            counted(count, "seat")
        ),
    }
}

fn of_debate(warning: &DebateWarning) -> String {
    match warning {
        DebateWarning::BucketSkipped(bucket) => {
            let (are, stay) = match bucket.decisions.as_slice() {
                [_] => ("decision", "is not debated; it stays as the synthesis made it"),
                _ => ("decisions", "are not debated; they stay as the synthesis made them"),
            };
            format!("{} is not available, so {are} {} {stay}.", bucket.agent, bucket.indices())
        }
        DebateWarning::SideFailed { agent, decision, side, reason } => {
            let side = match side {
                Side::Thesis => "for",
                Side::Antithesis => "against",
            };
            format!(
                "{agent} gave no case {side} decision {decision}: {reason}. The decision stays as \
                 the synthesis made it."
            )
        }
        DebateWarning::NoQuorum { decision, fault } => format!(
            "Decision {decision} does not reach the judges: {}. It stays as the synthesis made it.",
            why_not(*fault)
        ),
        DebateWarning::NoContest { title, chosen } => format!(
            "The decision \"{title}\" is not debated: what was chosen and the alternative are the \
             same ({chosen})."
        ),
        DebateWarning::NameReplaced { decision } => {
            format!(
                "The judges do not see an agent's name that a side of decision {decision} gives."
            )
        }
        DebateWarning::NotJudged { decision, leak } => format!(
            "Decision {decision} cannot be judged: {leak}. It stays as the synthesis made it."
        ),
        DebateWarning::JudgeFailed { judge, reason } => {
            let reason = if reason.is_empty() { "it gave no readable answer" } else { reason };
            format!("{judge} failed as a judge: {reason}. It casts no vote.")
        }
        DebateWarning::JudgeUnreadable { judge } => {
            format!("{judge} gave no readable vote as a judge; Convoke counts abstentions.")
        }
    }
}

const fn why_not(fault: DebateFault) -> &'static str {
    match fault {
        DebateFault::NoOutput => "a side gave no answer",
        DebateFault::MissingTag => "a side left a part of its case out, or gave it twice",
        DebateFault::BadRecommend => "a side does not recommend exactly one choice",
        DebateFault::MissingCitation => "a side names no place in the code",
        DebateFault::RoleMismatch => "a side recommends what the other defends",
        DebateFault::SubstantiveEmpty => "a part of a side's case is empty",
    }
}

fn of_reviewers(warning: &ReviewWarning, panel: &Panel) -> String {
    match warning {
        ReviewWarning::SecondThoughts { seat, counted: taken, passed_over } => format!(
            "{} found no issues and then named some: Convoke takes {} and leaves out {passed_over} \
             without a tag.",
            label_seat(seat, panel),
            counted(*taken, "finding")
        ),
        ReviewWarning::VoterFailed { voter, reason, left } => {
            format!("{voter} failed as a voter: {reason}. These vote: {}.", left.join(", "))
        }
        ReviewWarning::NotReviewed
        | ReviewWarning::OneGroup { .. }
        | ReviewWarning::TooFewVoters { .. } => of_review(warning),
    }
}

/// Returns what is odd about votes with the item's name for people.
fn for_people(oddity: &VoteOddity) -> VoteOddity {
    let named = |item: &str| match item.strip_prefix("DECISION_") {
        Some(number) => format!("decision {number}"),
        None => item.to_owned(),
    };
    match oddity {
        VoteOddity::Repeated { item } => VoteOddity::Repeated { item: named(item) },
        VoteOddity::Contradicted { item, votes } => {
            VoteOddity::Contradicted { item: named(item), votes: *votes }
        }
        VoteOddity::Withdrawn { item } => VoteOddity::Withdrawn { item: named(item) },
        VoteOddity::Flipped { item } => VoteOddity::Flipped { item: named(item) },
        VoteOddity::Unmarked
        | VoteOddity::AfterThem { .. }
        | VoteOddity::Disowned { .. }
        | VoteOddity::Missing
        | VoteOddity::Near { .. } => oddity.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::bucket::skipped;
    use crate::design::seat::Available;

    fn empty_seat(seat: &str, reason: &str) -> SeatWarning {
        let (host, reason) = ("Claude".to_owned(), reason.to_owned());
        SeatWarning::Empty { host, seat: seat.to_owned(), noun: "sketch", reason }
    }

    // P-91: labels of seats and the contract's codes are for programs.
    #[test]
    fn people_read_who_sits_there_and_no_codes() {
        let panel = Panel::default();
        let text = |text: &str| text.to_owned();
        let seat = of_seat(
            &SeatWarning::MissedForm {
                agent: text("Cursor"),
                host: text("Claude"),
                seat: text("Cursor-Arch"),
                noun: "sketch",
                reason: text("too short"),
            },
            &panel,
        );
        assert!(seat.starts_with("Cursor · Architecture gave no usable sketch"), "{seat}");
        let none = Available { first: false, second: false };
        let bucket = skipped(&panel, 5, none).swap_remove(1);
        assert_eq!(
            of_debate(&DebateWarning::BucketSkipped(bucket)),
            "Codex is not available, so decisions 2, 4 are not debated; they stay as the synthesis \
             made them."
        );
        for fault in [
            DebateFault::NoOutput,
            DebateFault::MissingTag,
            DebateFault::BadRecommend,
            DebateFault::MissingCitation,
            DebateFault::RoleMismatch,
            DebateFault::SubstantiveEmpty,
        ] {
            let words = of_debate(&DebateWarning::NoQuorum { decision: 1, fault });
            let is_code = |code: &&str| words.contains(code);
            let codes = ["quorum", "DECISION_", fault.token()];
            assert!(!codes.iter().any(is_code), "{words}");
        }
        let odd = for_people(&VoteOddity::Withdrawn { item: text("DECISION_2") });
        assert!(of_votes("Codex judge", &odd).contains("its vote on decision 2"));
    }

    #[test]
    fn seats_that_stay_empty_for_one_reason_share_a_sentence() {
        let seats = ["Cursor-Arch", "Cursor-Edge (Claude)", "Codex-Pragmatic"];
        assert_eq!(
            empty("Claude", &seats, "sketch", "Please run /login."),
            "Claude gave no sketch in 3 seats (Architecture, Edge cases, Pragmatism): Please run \
             /login. The design goes on without them."
        );
        let alone = empty("Claude", &["Codex-Generic"], "sketch", "it hung");
        assert_eq!(alone, "Claude gave no sketch: it hung. The design goes on without it.");
        let [one, same] = ["a", "a"].map(|why| DesignWarning::from(empty_seat("Cursor-Arch", why)));
        let other = DesignWarning::from(empty_seat("Cursor-Arch", "b"));
        assert!(is_same_failure(&one, &same) && !is_same_failure(&one, &other));
        assert!(!is_same_failure(&DesignWarning::Unavailable(String::new()), &one));
    }
}
