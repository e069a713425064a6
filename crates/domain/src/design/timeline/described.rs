//! An event in one line, for people who watch a run or play it again.

use std::fmt::Write;

use crate::design::citation::{CitedPassage, PlaceFinding};
use crate::design::event::{
    Boundary, Event, Export, Health, LaneEnd, LaneId, Occasion, ParkedHolder, Recovery, Reply,
    Settings, Tree,
};
use crate::design::heavy::WorkerResult;
use crate::design::progress::elapsed;
use crate::design::quote;
use crate::design::seat_name::{lane_holder, lane_seat};
use crate::design::setup::SetUp;
use crate::design::voting_block::Poll;
use crate::lane::collected::CollectedStatus;

/// The longest text of an agent, a person or a program in such a line, in characters.
const LONGEST: usize = 200;

/// Describes an event.
pub fn described(event: &Event, settings: Option<&Settings>) -> String {
    match event {
        Event::Begun(_) => "the design was requested".to_owned(),
        Event::SetUp(set_up) => match set_up.as_ref() {
            SetUp::Refused(refusal) => {
                format!("setting up was refused: {}", said(&refusal.in_short()))
            }
            SetUp::Ready(_) => "branch and folder are ready".to_owned(),
            SetUp::Undecided { branch } => {
                format!("a person must decide about the branch {}", said(branch))
            }
        },
        Event::Probed { occasion, health } => probed(*occasion, health),
        Event::WordDrawn(poll, _) => {
            let who = match poll {
                Poll::Judges => "judges",
                Poll::Voters => "voters",
            };
            format!("a marker word was drawn for the {who}' ballot")
        }
        Event::LaneStarted(id) => format!("{} started", seat(id, settings)),
        Event::LaneEnded(id, end) => ended(&seat(id, settings), end),
        Event::Replied(id, Reply::Recommended) => {
            format!("question {id}: the recommended answer was taken")
        }
        Event::Replied(id, Reply::Words(words)) => format!("question {id}: {}", said(words)),
        Event::TreeChecked(boundary, tree) => checked(*boundary, tree),
        Event::TreeDecided(_, Recovery::Restored) => {
            "a person restored the working tree".to_owned()
        }
        Event::TreeDecided(_, Recovery::Cancelled) => {
            "a person ended the run because of the changed working tree".to_owned()
        }
        Event::CitationsChecked(missing) => match missing.len() {
            0 => "every cited place exists".to_owned(),
            1 => "1 cited place is no evidence".to_owned(),
            many => format!("{many} cited places are no evidence"),
        },
        Event::CitationsLookedUp(_, results) => looked_up(results),
        Event::BudgetReached(why) => format!("the budget is spent: {}", said(&why.to_string())),
        Event::Interrupted(why) => {
            format!("the run was stopped: {}", said(&why.to_string()))
        }
        Event::Resumed => "the run was resumed".to_owned(),
        Event::Parked(parked) => waits(parked, settings),
        Event::Worked { worked: WorkerResult::Complete, .. } => {
            "the worker process completed the heavy part".to_owned()
        }
        Event::Worked { worked: WorkerResult::Failed(reason), .. } => {
            format!("the worker process failed: {}", said(reason.as_str()))
        }
        Event::Decided(ruling) => {
            format!("a person decided: {} {}", ruling.matter, ruling.choice.past())
        }
        Event::Exported(Export::Written { .. }) => "the design was exported".to_owned(),
        Event::Exported(Export::Failed { why, .. }) => {
            format!("the export failed: {}", said(&why.to_string()))
        }
        Event::Kept(kept) => format!("the run completed with {} artifacts", kept.files.len()),
    }
}

fn waits(parked: &ParkedHolder, settings: Option<&Settings>) -> String {
    let name = settings.map(|settings| said(settings.panel.named(parked.holder).name()));
    let whose = name.map_or("a limit".to_owned(), |name| format!("the limit of {name}"));
    format!("{whose} is reached, and the run waits for its end")
}

fn looked_up(results: &[(CitedPassage, PlaceFinding)]) -> String {
    let count = results.len();
    let is_there = |found: &PlaceFinding| *found == PlaceFinding::Holds;
    let holding = results.iter().filter(|(_, found)| is_there(found)).count();
    match (count, count - holding) {
        (0, _) => "no cited place was looked up".to_owned(),
        (1, 0) => "the cited place is as cited".to_owned(),
        (_, 0) => format!("{count} cited places are as cited"),
        _ => format!("{holding} of {count} cited places are as cited"),
    }
}

/// Puts a text on one line of bounded length.
fn said(text: &str) -> String {
    let line = quote::line(text);
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn seat(id: &LaneId, settings: Option<&Settings>) -> String {
    let named = settings.and_then(|settings| {
        let holder = lane_holder(id, &settings.panel)?;
        Some(lane_seat(id, settings.panel.named(holder)))
    });
    named.unwrap_or_else(|| quote::line(id.as_str()))
}

fn ended(seat: &str, end: &LaneEnd) -> String {
    let took = elapsed(end.took / 1000);
    if end.status == CollectedStatus::Ok {
        return format!("{seat} answered after {took}");
    }
    let mut line = format!("{seat} ended after {took}: {}", end.status.name());
    let reason = end.reason_text();
    if !reason.is_empty() {
        write!(line, " ({})", said(&reason)).ok();
    }
    line
}

fn probed(occasion: Occasion, health: &Health) -> String {
    let when = match occasion {
        Occasion::SetUp => "at the beginning",
        Occasion::Judges => "before the judges vote",
    };
    let there = usize::from(health.available.first) + usize::from(health.available.second);
    format!("Convoke probed the agents {when}: {there} of 2 answered")
}

fn checked(boundary: Boundary, tree: &Tree) -> String {
    let place = boundary.name();
    match tree {
        Tree::Clean => format!("the working tree is unchanged ({place})"),
        Tree::Suspect { status, .. } => format!("the working tree is {} ({place})", status.name()),
    }
}
