//! A long run, walked after every event.

use convoke::rehearsal::answers;
use convoke_domain::design::citation::{CitationRule, PlaceFinding};
use convoke_domain::design::event::{
    Chosen, Event, Health, Kept, Recovery, Reply, Settings, Stamped, Tree,
};
use convoke_domain::design::finding::{FindingId, FindingScope};
use convoke_domain::design::matter::{MatterId, Ruling, RulingChoice};
use convoke_domain::design::policy::Policy;
use convoke_domain::design::progress::Prefix;
use convoke_domain::design::reading_order::JudgeOrders;
use convoke_domain::design::rules::RulesVersion;
use convoke_domain::design::seat::{Available, Panel};
use convoke_domain::design::settled::PollRule;
use convoke_domain::design::setup::ground::{BranchRule, DirtyTree};
use convoke_domain::design::setup::{Begins, Ready, SetUp};
use convoke_domain::design::voting_block::MarkerWord;
use convoke_domain::design::walk::{DesignWalk, LaneNeed, Need, Next};

use super::lane_end;

/// The events of a completed run, and of a person who decides one matter repeatedly after it.
pub(crate) fn whole_run(count: usize) -> Vec<Stamped> {
    let mut design = DesignWalk::default();
    let mut events = Vec::with_capacity(count);
    let mut due = vec![Event::Begun(Box::new(settings()))];
    while !due.is_empty() {
        for event in due.drain(..) {
            let stamped = Stamped { at: 1000, event };
            design.take(stamped.clone());
            events.push(stamped);
        }
        if let Next::Need(need) = design.upcoming() {
            due = found(need);
        }
    }
    let matter = MatterId::Finding(FindingId { scope: FindingScope::Out, number: 1 });
    for number in 0.. {
        let choice = RulingChoice::BOTH[number % 2];
        let ruling = Ruling { matter, choice, because: "It is so.".to_owned() };
        for event in [Event::Decided(ruling), Event::Resumed, Event::Kept(Kept::default())] {
            if events.len() == count {
                return events;
            }
            events.push(Stamped { at: 2000, event });
        }
    }
    events
}

/// Returns the events of a world without failures.
fn found(need: Need) -> Vec<Event> {
    match need {
        Need::SetUp => vec![Event::SetUp(Box::new(SetUp::Ready(Ready {
            branch: "me/notes".to_owned(),
            is_new: true,
            base: "abc".to_owned(),
            setup_notes: Vec::new(),
            begins: Begins::Plain,
            branch_notes: Vec::new(),
            left: None,
            tree_before: None,
        })))],
        Need::Probe(occasion) => {
            let available = Available { first: true, second: true };
            vec![Event::Probed { occasion, health: Health { available, absences: Vec::new() } }]
        }
        Need::Word(poll) => vec![Event::WordDrawn(poll, MarkerWord::for_recordings())],
        Need::Lanes(requests) => {
            let ended = |request: &LaneNeed| {
                let mut known = answers();
                let answer = known.find(|(lane, _)| *lane == request.id.as_str());
                Event::LaneEnded(
                    request.id.clone(),
                    Box::new(lane_end(answer.map_or("", |(_, text)| text))),
                )
            };
            requests.iter().map(ended).collect()
        }
        Need::Ask(question) => vec![Event::Replied(question.id, Reply::Recommended)],
        Need::Tree(boundary) => vec![Event::TreeChecked(boundary, Tree::Clean)],
        Need::Citations(_) => vec![Event::CitationsChecked(Vec::new())],
        Need::CitedPlaces(moment, places) => {
            let results = places.into_iter().map(|cited| (cited, PlaceFinding::Holds));
            vec![Event::CitationsLookedUp(moment, results.collect())]
        }
        Need::Recover(boundary) => vec![Event::TreeDecided(boundary, Recovery::Restored)],
        Need::Export => Vec::new(),
    }
}

fn settings() -> Settings {
    let chosen = |agent: &str| Chosen { agent: agent.to_owned(), model: None };
    Settings {
        feature: "Keep notes in a folder".to_owned(),
        auto: true,
        quick: false,
        subagent: false,
        poll_rule: PollRule::All,
        judge_orders: JudgeOrders::One,
        nested: false,
        session_env: None,
        prefix: Prefix::default(),
        panel: Panel::default(),
        agents: ["cursor", "codex", "claude"].map(chosen),
        policy: Policy::Safe,
        rules: RulesVersion::PRESENT,
        brief: None,
        pack: None,
        pointers: None,
        citation_rule: CitationRule::Everywhere,
        documents: Vec::new(),
        is_rehearsal: true,
        no_branch: false,
        branch_rule: BranchRule::Stay,
        dirty_tree: DirtyTree::Refused,
        branch_info: None,
        feature_dir: None,
        budget: None,
    }
}

/// Does what a run does with every event: it computes the next need, and shows new notices.
pub(super) fn walked(events: Vec<Stamped>) -> DesignWalk {
    let mut design = DesignWalk::default();
    let mut shown = 0;
    for event in events {
        design.take(event);
        std::hint::black_box((design.upcoming(), design.notices_after(shown)));
        shown = design.notice_count();
    }
    design
}
