//! Names of seats for people: by the agent that holds the seat, and its purpose.
//!
//! Files and lines that programs read keep the labels of [`super::seat`].

use super::lane_id::{ChairTask, LaneId, LaneKind};
use super::seat::{Holder, Named, Panel, Personality, bucket};

/// The author of all findings of the host in files, regardless of the seats it took.
pub(super) const HOST_REVIEWER: &str = "Code";

/// Names the seat of a lane by the agent that answers: `Claude · Architecture`.
pub fn lane_seat(id: &LaneId, runner: &Named) -> String {
    let mut words = id.as_str().split('/').skip(1);
    let asked = words.next().unwrap_or_default();
    let part = match id.kind() {
        LaneKind::Sketch => angle_of(asked).map_or("sketch", |(_, angle)| angle).to_owned(),
        LaneKind::Review => angle_of(asked).map_or("review", |(_, angle)| angle).to_owned(),
        LaneKind::Debate => match words.next() {
            Some("thesis") => format!("for decision {asked}"),
            Some("antithesis") => format!("against decision {asked}"),
            _ => format!("decision {asked}"),
        },
        LaneKind::Judge => "judge".to_owned(),
        LaneKind::Vote => "vote".to_owned(),
        LaneKind::Chair(task) => chair_words(task).to_owned(),
    };
    let again = if id.is_second_request() { ", second try" } else { "" };
    let turned = if id.as_str().ends_with("/turned") { ", reverse order" } else { "" };
    format!("{} · {part}{turned}{again}", runner.name())
}

/// Returns the agent that a lane's name refers to. An agent that was missing from the start gave
/// its seat to another without a trace in the name.
pub fn lane_holder(id: &LaneId, panel: &Panel) -> Option<Holder> {
    let mut words = id.as_str().split('/').skip(1);
    let holders = [Holder::First, Holder::Second, Holder::Host];
    match id.kind() {
        LaneKind::Chair(_) => {
            let word = words.nth(1)?;
            holders.into_iter().find(|holder| panel.named(*holder).word() == word)
        }
        LaneKind::Debate => words.next()?.parse().ok().map(bucket),
        LaneKind::Sketch | LaneKind::Review | LaneKind::Judge | LaneKind::Vote => {
            let label = words.next()?;
            if words.next() == Some("host") {
                return Some(Holder::Host);
            }
            let is_owner = |holder: &Holder| {
                let rest = label.strip_prefix(panel.named(*holder).name());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            };
            holders.into_iter().find(is_owner)
        }
    }
}

/// Names a reviewer, judge or voter by its label in files: `Cursor-Arch` is `Cursor · Architecture`,
/// and with Codex in its place `Codex · Architecture`. A label that no seat has stays as it is.
pub fn label_seat(label: &str, panel: &Panel) -> String {
    // All findings of the host have one author, regardless of the seats it took.
    if label == HOST_REVIEWER {
        return panel.named(Holder::Host).name().to_owned();
    }
    let (seat, sits_in) = match label.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        Some((seat, name)) => (seat, Some(name)),
        None => (label, None),
    };
    match angle_of(seat) {
        Some((owner, angle)) => format!("{} · {angle}", sits_in.unwrap_or(owner)),
        None => label.to_owned(),
    }
}

/// Returns the angle of a seat by its label, without the agent; nothing if the seat has none.
pub fn label_angle(label: &str) -> Option<&'static str> {
    let seat = label.split_once(" (").map_or(label, |(seat, _)| seat);
    angle_of(seat).map(|(_, angle)| angle)
}

/// Splits a label into the name of its owner and the angle.
fn angle_of(label: &str) -> Option<(&str, &'static str)> {
    Personality::FOUR.into_iter().find_map(|personality| {
        let owner = label.strip_suffix(personality.label())?.strip_suffix('-')?;
        Some((owner, angle(personality)))
    })
}

/// Returns the angle as people read it.
const fn angle(personality: Personality) -> &'static str {
    match personality {
        Personality::Arch => "Architecture",
        Personality::Edge => "Edge cases",
        Personality::Innovation => "Innovation",
        Personality::Pragmatic => "Pragmatism",
        Personality::Generic => "no angle",
    }
}

const fn chair_words(task: ChairTask) -> &'static str {
    match task {
        ChairTask::Questions => "questions",
        ChairTask::Scope => "questions about the scope",
        ChairTask::Synthesis => "synthesis",
        ChairTask::Plan => "plan",
        ChairTask::Merge => "merging findings",
        ChairTask::Revision | ChairTask::Decided(_) => "revision",
        ChairTask::Interview => "questions about the plan",
        ChairTask::Update => "changes to the plan",
        ChairTask::Diagram => "diagram",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_named_by_its_agent() {
        let panel = Panel::default();
        for (id, runner, name) in [
            ("sketch/Cursor-Arch", Holder::First, "Cursor · Architecture"),
            ("sketch/Cursor-Arch/host/again", Holder::Host, "Claude · Architecture, second try"),
            ("sketch/Codex-Generic", Holder::Second, "Codex · sketch"),
            ("review/Codex-Pragmatic", Holder::Second, "Codex · Pragmatism"),
            ("debate/2/antithesis", Holder::Second, "Codex · against decision 2"),
            ("judge/Claude", Holder::Host, "Claude · judge"),
            ("vote/Cursor", Holder::First, "Cursor · vote"),
            ("chair/plan/claude/again", Holder::Host, "Claude · plan, second try"),
        ] {
            let id = LaneId::parse(id).unwrap();
            assert_eq!(lane_seat(&id, panel.named(runner)), name);
            assert_eq!(lane_holder(&id, &panel), Some(runner), "{id}");
        }
    }

    #[test]
    fn a_label_is_named_by_the_seats_agent() {
        let panel = Panel::default();
        for (label, name) in [
            ("Cursor-Edge", "Cursor · Edge cases"),
            ("Local-1-Arch", "Local-1 · Architecture"),
            ("Cursor-Edge (Codex)", "Codex · Edge cases"),
            ("Code", "Claude"),
            ("Claude", "Claude"),
            ("Arch", "Arch"),
            ("x (y)", "x (y)"),
        ] {
            assert_eq!(label_seat(label, &panel), name);
        }
    }
}
