//! Delivering wake-ups through clients' hooks: when, in how many parts, and never twice.
//!
//! An agent's memory is lost when a session begins, is cleared or is compacted. [`View`] counts
//! losses and deliveries of one session; in any order of a client's events, Convoke answers every
//! loss with exactly one delivery. Where the client keeps a record of the session, that record has
//! the last word ([`Trace`]).

pub mod parts;

use jiff::{SignedDuration, Timestamp};

/// The event by which Convoke's own plugin reports that a text is in the session's history.
pub const SAVED: &str = "convoke.saved";

/// The meaning of an event for an agent's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// It begins with nothing: a new session. A session starts only once.
    Started,
    /// It begins again with nothing: a cleared or forked session.
    Began,
    /// It continues with a summary instead of its memory.
    Compacted,
    /// It is back with what it had.
    Resumed,
    /// It is about to receive a prompt.
    Prompted,
    /// It is about to lose what it has, and nothing will say when it has.
    Compacting,
}

impl Moment {
    /// Returns what the start of a session means. `cause` is the client's word for why it starts.
    pub fn of_start(cause: Option<&str>) -> Self {
        match cause {
            Some("resume") => Self::Resumed,
            Some("compact") => Self::Compacted,
            Some("startup") | None => Self::Started,
            Some(_) => Self::Began,
        }
    }
}

/// What a client's own record of a session shows about the last wake-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trace {
    /// It is there, whole.
    Found,
    /// It is not there, although the agent has answered since.
    Missing,
    /// It was there, and the agent's memory was compacted since, so that the agent has lost it. The
    /// hook of that compaction may have been killed before it said so.
    Forgotten,
    /// Unknown: there is no record yet, or none that Convoke understands.
    Unknown,
}

/// How long after a loss was noticed another hook entry takes the same event for the same loss. All
/// entries of a client receive every event, one soon after the other. A process that answers a loss
/// for longer than this is taken for one that never will.
pub const SAME_EVENT: SignedDuration = SignedDuration::from_secs(20);

/// How long a session may keep messages from others of its agent without a sign that a model has seen
/// them. Its client's process may go on for weeks, or be on another machine.
pub const LONGEST_HELD: SignedDuration = SignedDuration::from_hours(12);

/// How long after an event the same entry takes the same event for another report of it. A client
/// with Convoke's hooks in both its settings and its plugin reports every event twice; no client
/// can lose its memory twice in that time with two equal reports.
pub const SAME_REPORT: SignedDuration = SignedDuration::from_secs(5);

/// An event as a hook entry reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoticedEvent {
    /// The event's meaning.
    pub moment: Moment,
    /// Whether the client's record holds the entry's part of the last text.
    pub trace: Trace,
    /// Tells it from other events: a hash of all that the client says about it.
    pub mark: u64,
    /// How many entries share the answers, as the reporting entry was installed.
    pub entries: u32,
}

/// Whether a process is answering the last loss at an entry while another event comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answering {
    /// None is, as far as can be seen.
    NoProcess,
    /// One has taken the loss, still runs, and has not said that it delivered the answer.
    AnotherProcess,
}

/// The last event that an entry acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastEvent {
    /// Identifies the event.
    pub mark: u64,
    /// When it was reported.
    pub at: Timestamp,
}

/// The losses of memory of a session. All hook entries of a client share this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Losses {
    /// The number of the last loss, from one.
    pub last: u32,
    /// When that was noticed.
    pub at: Option<Timestamp>,
    /// The number of the last loss that is not real: a delivery repeated because the first did not
    /// arrive.
    pub doubted: u32,
    /// The last loss that no event announced: the session was heard of for the first time when it
    /// had begun already, because the hook of its start failed or has not come this far.
    pub assumed: u32,
    /// How many entries share the answer to the last loss: those of the entry that noticed it. Zero
    /// if unknown.
    pub entries: u32,
}

/// The state of one hook entry of a session. Every number is that of a loss; it holds for all
/// earlier losses, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Memory {
    /// The last loss that it received.
    pub heard: u32,
    /// The last loss that it answered.
    pub delivered: u32,
    /// The last loss whose answer was found in the client's record.
    pub arrived: u32,
    /// The last event that the entry acted on.
    pub event: Option<LastEvent>,
}

/// A session as one of its hook entries sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct View {
    /// The state that all entries share.
    pub losses: Losses,
    /// The state of this hook entry alone.
    pub memory: Memory,
}

impl View {
    /// Takes notice of an event, and tells whether the last loss is to be answered now. One that was
    /// reported a moment ago, or that another process is answering, is left to that process.
    #[must_use]
    pub fn hear(self, noticed: NoticedEvent, answering: Answering, now: Timestamp) -> (Self, bool) {
        let NoticedEvent { moment, trace, mark, entries } = noticed;
        let is_same =
            |last: LastEvent| last.mark == mark && now.duration_since(last.at).abs() < SAME_REPORT;
        if self.memory.event.is_some_and(is_same) {
            return (self, false);
        }
        let (mut heard, deliver) = if self.is_split_by(entries) {
            self.at(moment, trace, now)
        } else {
            self.taken_over(moment, now)
        };
        let is_same_loss = heard.losses.last == self.losses.last;
        if deliver && is_same_loss && answering == Answering::AnotherProcess {
            return (self, false);
        }
        if deliver || heard != self {
            heard.memory.event = Some(LastEvent { mark, at: now });
            heard.losses.entries = entries;
        }
        (heard, deliver)
    }

    /// Tells whether the answer to the last loss is spread over so many entries.
    const fn is_split_by(self, entries: u32) -> bool {
        self.losses.entries == 0 || self.losses.entries == entries
    }

    /// Takes notice of an event at an entry that was installed beside others in another number. Parts
    /// of one text must not mix with those of another split, so it answers only what the others leave
    /// unanswered: a loss of its own, well after the last one.
    fn taken_over(mut self, moment: Moment, now: Timestamp) -> (Self, bool) {
        let loses = match moment {
            Moment::Started | Moment::Began | Moment::Compacted | Moment::Compacting => true,
            Moment::Resumed | Moment::Prompted => false,
        };
        if self.is_recent(now) || !(loses || self.is_open()) {
            return (self, false);
        }
        self.memory.heard = self.losses.last;
        (self.lost(now), moment != Moment::Compacting)
    }

    fn is_recent(self, now: Timestamp) -> bool {
        self.losses.at.is_some_and(|at| now.duration_since(at) < SAME_EVENT)
    }

    /// Records a moment, and tells whether the entry must answer the last loss at it.
    #[must_use]
    pub fn at(self, moment: Moment, trace: Trace, now: Timestamp) -> (Self, bool) {
        let known = self.traced(trace);
        let noticed = match moment {
            // The hook of a session's start and that of its first prompt may run side by side.
            Moment::Started if known.is_assumed() && known.is_recent(now) => known.joined(),
            Moment::Started | Moment::Began | Moment::Compacted => known.lost(now),
            // An unknown session never had anything: the hook of its start failed, or there was none.
            Moment::Resumed | Moment::Prompted
                if known.losses.last == 0 && trace != Trace::Found =>
            {
                known.lost(now).assumed()
            }
            Moment::Resumed | Moment::Prompted if trace == Trace::Forgotten && !known.is_open() => {
                known.lost(now)
            }
            // Clients announce a compaction more than once.
            Moment::Compacting if !known.is_open() => known.lost(now),
            Moment::Resumed | Moment::Prompted if trace == Trace::Missing => known.missed(now),
            Moment::Resumed | Moment::Prompted | Moment::Compacting => known,
        };
        (noticed, noticed.is_open() && moment != Moment::Compacting)
    }

    /// Returns the view after the last loss was answered.
    #[must_use]
    pub const fn answered(mut self) -> Self {
        self.memory.heard = self.losses.last;
        self.memory.delivered = self.losses.last;
        self
    }

    /// A text that the record contains has arrived, even if the hook could not confirm it after
    /// printing. It belongs to the last loss that the hook checked.
    const fn traced(self, trace: Trace) -> Self {
        match trace {
            Trace::Found => {
                let mut found = self.answered();
                found.memory.arrived = self.losses.last;
                found
            }
            Trace::Missing | Trace::Forgotten | Trace::Unknown => self,
        }
    }

    /// Joins the loss that another entry has just noticed, or notices one.
    fn lost(mut self, now: Timestamp) -> Self {
        if self.memory.heard >= self.losses.last || !self.is_recent(now) {
            self.losses.last = self.losses.last.saturating_add(1);
            self.losses.at = Some(now);
        }
        self.joined()
    }

    /// Hears of the last loss.
    const fn joined(mut self) -> Self {
        self.memory.heard = self.losses.last;
        self
    }

    const fn assumed(mut self) -> Self {
        self.losses.assumed = self.losses.last;
        self
    }

    const fn is_assumed(self) -> bool {
        self.losses.last > 0 && self.losses.assumed == self.losses.last
    }

    /// A text that the record held and no longer holds was forgotten without an event. A text that
    /// never was in the record is delivered once more and then not again: the client may not record
    /// such texts.
    fn missed(self, now: Timestamp) -> Self {
        let Losses { last, doubted, .. } = self.losses;
        if self.is_open() || last == 0 {
            return self;
        }
        if self.memory.arrived == last {
            return self.lost(now);
        }
        if doubted == last {
            return self;
        }
        let mut again = self.lost(now);
        again.losses.doubted = again.losses.last;
        again
    }

    const fn is_open(self) -> bool {
        self.memory.delivered < self.losses.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENTS: [Moment; 6] = [
        Moment::Started,
        Moment::Began,
        Moment::Compacted,
        Moment::Resumed,
        Moment::Prompted,
        Moment::Compacting,
    ];

    /// Every order of events up to a length.
    fn orders(length: usize) -> Vec<Vec<Moment>> {
        let mut all = vec![Vec::new()];
        let mut last = all.clone();
        for _ in 0..length {
            last = last
                .iter()
                .flat_map(|order| MOMENTS.map(|moment| [order.as_slice(), &[moment]].concat()))
                .collect();
            all.extend(last.clone());
        }
        all
    }

    fn at(second: usize) -> Timestamp {
        Timestamp::from_second(i64::try_from(second).unwrap()).unwrap()
    }

    /// Plays an order, a minute between events, losing the answer at every event in `crashes`, and
    /// returns the losses that were answered.
    fn played(order: &[Moment], crashes: &[usize]) -> (View, Vec<u32>) {
        let mut view = View::default();
        let mut delivered = Vec::new();
        for (index, moment) in order.iter().enumerate() {
            let (noticed, deliver) = view.at(*moment, Trace::Unknown, at(60 * index));
            view = noticed;
            if deliver && !crashes.contains(&index) {
                delivered.push(view.losses.last);
                view = view.answered();
            }
        }
        (view, delivered)
    }

    // W-20e: no loss is answered twice, in any order of up to six events.
    #[test]
    fn no_order_of_events_delivers_twice() {
        for order in orders(5) {
            let (view, delivered) = played(&order, &[]);
            assert!(delivered.is_sorted_by(|one, other| one < other), "{order:?}: {delivered:?}");
            assert!(delivered.len() <= view.losses.last as usize, "{order:?}");
        }
    }

    // Every loss before the last moment that can deliver is answered.
    #[test]
    fn every_loss_is_answered_at_the_next_chance() {
        for order in orders(5) {
            let (view, delivered) = played(&order, &[]);
            let lost = [Moment::Started, Moment::Began, Moment::Compacted];
            let lost = order.iter().filter(|moment| lost.contains(moment)).count();
            assert!(delivered.len() >= lost, "{order:?}: {delivered:?}");
            if order.last() != Some(&Moment::Compacting) {
                assert_eq!(view.memory.delivered, view.losses.last, "{order:?}");
            }
        }
    }

    // A hook that dies before its answer arrives is made up for at the next moment.
    #[test]
    fn a_lost_answer_is_made_up_for_once() {
        use Moment::{Began, Prompted, Resumed};
        for next in [Prompted, Resumed] {
            let (_, delivered) = played(&[Began, next, Prompted], &[0]);
            assert_eq!(delivered, [1], "{next:?}");
        }
    }

    // Prompts and resumes alone deliver once, to a session that Convoke did not know: the hook of its
    // start was killed, found the store locked, or failed.
    #[test]
    fn an_unknown_session_is_answered_once_at_its_first_prompt() {
        use Moment::{Prompted, Resumed};
        assert_eq!(played(&[Prompted, Prompted, Prompted], &[]).1, [1]);
        assert_eq!(played(&[Prompted, Prompted, Prompted], &[0]).1, [1]);
        assert_eq!(played(&[Resumed, Prompted, Resumed, Prompted], &[]).1, [1]);
    }

    // W-21: the hook of a compaction was killed before it recorded anything; the client's record shows
    // the compaction at the next prompt, and all entries answer the one loss.
    #[test]
    fn a_compaction_that_no_hook_reported_is_one_loss() {
        for moment in [Moment::Prompted, Moment::Resumed] {
            let (began, _) = View::default().at(Moment::Began, Trace::Unknown, at(0));
            let had = began.answered();
            let (lost, deliver) = had.at(moment, Trace::Forgotten, at(60));
            assert_eq!((lost.losses.last, deliver), (2, true), "{moment:?}");
            let (other, deliver) =
                View { losses: lost.losses, ..had }.at(moment, Trace::Forgotten, at(60));
            assert_eq!((other.losses.last, deliver), (2, true), "{moment:?}: another entry");
            let (after, deliver) = lost.answered().at(moment, Trace::Unknown, at(61));
            assert_eq!((after.losses.last, deliver), (2, false), "{moment:?}");
        }
        let (compacting, deliver) =
            View::default().answered().at(Moment::Compacting, Trace::Unknown, at(0));
        assert!(!deliver);
        let (prompted, deliver) = compacting.at(Moment::Prompted, Trace::Forgotten, at(1));
        assert_eq!((prompted.losses.last, deliver), (1, true), "its announcement was heard");
    }

    // The prompt's process may come first. The start that it overtook is no second loss; one that is
    // cleared or compacted is, and so is a start much later.
    #[test]
    fn a_start_that_a_prompt_overtook_is_answered_once() {
        let (prompted, deliver) = View::default().at(Moment::Prompted, Trace::Unknown, at(100));
        assert!(deliver);
        for (view, expected) in [(prompted, true), (prompted.answered(), false)] {
            let (started, deliver) = view.at(Moment::Started, Trace::Unknown, at(101));
            assert_eq!((started.losses.last, deliver), (1, expected));
        }
        let answered = prompted.answered();
        for (moment, second) in
            [(Moment::Began, 101), (Moment::Compacted, 101), (Moment::Started, 160)]
        {
            let (lost, deliver) = answered.at(moment, Trace::Unknown, at(second));
            assert_eq!((lost.losses.last, deliver), (2, true), "{moment:?}");
        }
        let saved = View::default().at(Moment::Prompted, Trace::Found, at(1));
        assert!(!saved.1, "what the client's record has is not given again");
    }

    // Two events of a session in flight together: the loss belongs to the process that took it, for as
    // long as that lives. A new loss is answered in any case.
    #[test]
    fn a_loss_that_another_process_answers_is_left_to_it() {
        let event = |moment, mark| NoticedEvent { moment, trace: Trace::Unknown, mark, entries: 4 };
        let (view, first) =
            View::default().hear(event(Moment::Started, 1), Answering::NoProcess, at(0));
        assert!(first);
        let prompted = event(Moment::Prompted, 2);
        assert_eq!(view.hear(prompted, Answering::AnotherProcess, at(1)), (view, false));
        assert!(view.hear(prompted, Answering::NoProcess, at(1)).1, "it died");
        let compacted = event(Moment::Compacted, 3);
        assert!(view.hear(compacted, Answering::AnotherProcess, at(1)).1);
    }

    // Several entries receive every event, in any order, and some may miss one; they always answer
    // the same loss, and an entry that missed one catches up at the next prompt.
    #[test]
    fn entries_never_drift_apart() {
        use Moment::{Began, Compacted, Prompted};
        let hears = |losses: &mut Losses, memory: &mut Memory, moment, second| {
            let view = View { losses: *losses, memory: *memory };
            let (view, deliver) = view.at(moment, Trace::Unknown, at(second));
            let view = if deliver { view.answered() } else { view };
            (*losses, *memory) = (view.losses, view.memory);
            deliver.then_some(losses.last)
        };
        for order in orders(4) {
            for missing in 0..3_usize.pow(4) {
                let (mut losses, mut memories) = (Losses::default(), [Memory::default(); 2]);
                for (index, moment) in order.iter().enumerate() {
                    // Which entry misses the event, if any, and which comes first.
                    let choice = missing / 3_usize.pow(u32::try_from(index).unwrap()) % 3;
                    let mut answered = Vec::new();
                    for place in [index % 2, 1 - index % 2] {
                        if choice != place {
                            let second = 60 * index + place;
                            answered.extend(hears(
                                &mut losses,
                                &mut memories[place],
                                *moment,
                                second,
                            ));
                        }
                    }
                    answered.dedup();
                    assert!(answered.len() <= 1, "{order:?} {missing}: {answered:?}");
                    let forgets = matches!(moment, Moment::Started | Began | Compacted);
                    assert!(!forgets || answered.len() == 1 || choice < 2, "{order:?} {missing}");
                }
                for (place, memory) in memories.iter_mut().enumerate() {
                    hears(&mut losses, memory, Prompted, 999 + place);
                    assert!(
                        memory.delivered == losses.last || losses.last == 0,
                        "{order:?} {missing}"
                    );
                }
            }
        }
    }

    // A printed answer that could not be recorded is found in the client's record, and not repeated.
    #[test]
    fn what_arrived_is_not_delivered_again() {
        for moment in [Moment::Prompted, Moment::Resumed] {
            let (open, deliver) = View::default().at(Moment::Began, Trace::Unknown, at(0));
            assert!(deliver);
            let (found, deliver) = open.at(moment, Trace::Found, at(60));
            assert!(!deliver, "{moment:?}");
            assert_eq!((found.memory.delivered, found.memory.arrived), (1, 1));
        }
    }

    // A text that did not arrive is delivered once more; a text that was forgotten without an
    // event, again each time.
    #[test]
    fn a_missing_text_is_delivered_again_but_not_for_ever() {
        use Trace::{Found, Missing, Unknown};
        let deliveries = |traces: &[Trace]| {
            let (mut view, _) = View::default().at(Moment::Began, Trace::Unknown, at(0));
            view = view.answered();
            let mut delivered = String::new();
            for (index, trace) in traces.iter().enumerate() {
                let (noticed, deliver) = view.at(Moment::Prompted, *trace, at(60 * index + 60));
                view = if deliver { noticed.answered() } else { noticed };
                delivered.push(if deliver { 'x' } else { '-' });
            }
            delivered
        };
        for (traces, expected) in [
            (&[Missing, Missing, Missing][..], "x--"),
            (&[Unknown, Missing, Found, Missing], "-x-x"),
            (&[Found, Missing, Found, Missing], "-x-x"),
            (&[Found, Missing, Missing, Missing], "-xx-"),
            (&[Found, Found, Unknown], "---"),
        ] {
            assert_eq!(deliveries(traces), expected, "{traces:?}");
        }
    }

    // Hooks in the settings and in a plugin report every event twice, in any order of processes and
    // whether or not the first has answered yet; it is answered once.
    #[test]
    fn an_event_that_is_reported_twice_is_answered_once() {
        for moment in MOMENTS {
            for first_has_answered in [false, true] {
                let noticed = NoticedEvent { moment, trace: Trace::Unknown, mark: 7, entries: 4 };
                let (view, first) = View::default().hear(noticed, Answering::NoProcess, at(100));
                let view = if first && first_has_answered { view.answered() } else { view };
                for second in [99, 100, 104] {
                    assert_eq!(
                        view.hear(noticed, Answering::NoProcess, at(second)),
                        (view, false),
                        "{moment:?}"
                    );
                }
            }
        }
    }

    // Another event, or the same much later, is no second report.
    #[test]
    fn another_event_is_answered_however_soon_it_comes() {
        let event = |moment, mark| NoticedEvent { moment, trace: Trace::Unknown, mark, entries: 4 };
        let (view, first) =
            View::default().hear(event(Moment::Began, 1), Answering::NoProcess, at(0));
        assert!(first);
        let answered = view.answered();
        assert!(answered.hear(event(Moment::Compacted, 2), Answering::NoProcess, at(1)).1);
        assert!(answered.hear(event(Moment::Began, 1), Answering::NoProcess, at(6)).1);
        // At the next prompt, an entry delivers what the first process did not.
        assert!(view.hear(event(Moment::Prompted, 3), Answering::NoProcess, at(1)).1);
        assert!(!answered.hear(event(Moment::Prompted, 3), Answering::NoProcess, at(1)).1);
    }

    // Entries that are installed in two numbers: the first that notices a loss decides into how many
    // parts the answer is cut, and the others neither answer nor spoil what it recorded.
    #[test]
    fn one_split_answers_a_loss() {
        let event =
            |moment, mark, entries| NoticedEvent { moment, trace: Trace::Unknown, mark, entries };
        for moment in [Moment::Began, Moment::Compacted, Moment::Resumed] {
            let (view, first) =
                View::default().hear(event(moment, 1, 4), Answering::NoProcess, at(0));
            assert!(first);
            assert_eq!(
                view.hear(event(moment, 1, 2), Answering::NoProcess, at(1)),
                (view, false),
                "{moment:?}"
            );
            // Nor does it at a prompt, which the others make up at.
            assert_eq!(
                view.hear(event(Moment::Prompted, 2, 1), Answering::NoProcess, at(2)),
                (view, false)
            );
            assert!(view.hear(event(Moment::Prompted, 2, 4), Answering::NoProcess, at(2)).1);
            // Much later the entries that noticed the loss are gone.
            let (taken, answers) =
                view.hear(event(Moment::Prompted, 3, 1), Answering::NoProcess, at(60));
            assert!(answers);
            assert_eq!((taken.losses.last, taken.losses.entries), (2, 1), "a text of its own");
            let answered = view.answered();
            assert_eq!(
                answered.hear(event(Moment::Prompted, 3, 1), Answering::NoProcess, at(60)),
                (answered, false)
            );
            assert!(answered.hear(event(Moment::Compacted, 3, 1), Answering::NoProcess, at(60)).1);
        }
    }

    // For any record at any moment: one delivery for each loss and each absence.
    #[test]
    fn no_record_makes_a_session_be_told_without_cause() {
        let traces = [Trace::Found, Trace::Missing, Trace::Unknown];
        for order in orders(4) {
            for choice in 0..3_usize.pow(4) {
                let mut view = View::default();
                for (index, moment) in order.iter().enumerate() {
                    let trace = traces[choice / 3_usize.pow(u32::try_from(index).unwrap()) % 3];
                    let (noticed, deliver) = view.at(*moment, trace, at(60 * index));
                    let loses =
                        matches!(moment, Moment::Started | Moment::Began | Moment::Compacted);
                    let is_unknown = view.losses.last == 0
                        && matches!(moment, Moment::Resumed | Moment::Prompted);
                    let cause = loses
                        || (trace != Trace::Found && view.is_open())
                        || (is_unknown && trace != Trace::Found)
                        || (trace == Trace::Missing && view.losses.last > 0);
                    assert!(!deliver || cause, "{order:?} at {index}: {view:?} {trace:?}");
                    assert!(!loses || deliver, "{order:?} at {index}");
                    view = if deliver { noticed.answered() } else { noticed };
                }
            }
        }
    }
}
