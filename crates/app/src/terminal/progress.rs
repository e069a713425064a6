//! A design on its way, as a person watches it: one line for each phase that is over, and for the
//! present one a line that lives, with a row for each agent that works.

use convoke_domain::design::event::{LaneEnd, LaneId};
use convoke_domain::design::progress::{Step, elapsed};
use convoke_domain::lane::collected::CollectedStatus;
use convoke_domain::lane::event::{LaneEvent, Usage};
use convoke_service::design::{WorkerLane, amount, spent_in_words};
use jiff::Timestamp;

use super::activity::LaneActivity;
use super::styled::{Ink, StyledLine};

/// The frames of the animation.
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// How long a frame is shown.
const FRAME_MS: i64 = 125;

/// How wide the names of phases are.
const PHASE_WIDTH: usize = 18;

/// How wide the names of seats get at most.
const SEAT_WIDTH: usize = 32;

/// The present state of a design.
#[derive(Debug, Default)]
pub struct DesignProgress {
    phase: Option<Phase>,
    /// The agents of the last phase, in the order in which they began.
    seats: Vec<SeatRow>,
    /// The agents that a worker process runs now. Their ends are in the journal, not here.
    worker: Vec<SeatRow>,
    /// The phase that the worker process is in.
    worker_step: Option<Step>,
    activity: Option<(String, Timestamp)>,
    /// Whether a question to a person is open: then nothing moves.
    is_asking: bool,
}

#[derive(Debug)]
struct Phase {
    step: Step,
    since: Timestamp,
    /// The usage of the phase's lanes that have ended and are no longer shown.
    spent: Option<Usage>,
    answered: usize,
    failed: usize,
    /// Lanes of a worker process that are over. Their outcomes are in the journal, not here.
    worked: usize,
    /// Its result, in the design's own words.
    words: Option<String>,
    is_skipped: bool,
    /// Whether the design ended in it.
    is_unfinished: bool,
    /// Whether it had any activity.
    is_busy: bool,
}

#[derive(Debug)]
struct SeatRow {
    lane: LaneId,
    name: String,
    since: Timestamp,
    activity: LaneActivity,
    end: Option<SeatEnd>,
}

#[derive(Debug)]
struct SeatEnd {
    seconds: u64,
    /// Why there is no answer.
    trouble: Option<String>,
}

impl Phase {
    const fn new(step: Step, since: Timestamp) -> Self {
        Self {
            step,
            since,
            spent: None,
            answered: 0,
            failed: 0,
            worked: 0,
            words: None,
            is_skipped: false,
            is_unfinished: false,
            is_busy: false,
        }
    }
}

impl DesignProgress {
    /// Begins a phase. Returns the line of the one that is over.
    pub fn begin(&mut self, step: Step, now: Timestamp) -> Option<StyledLine> {
        if self.phase.as_ref().is_some_and(|phase| phase.step == step) {
            return None;
        }
        let over = self.close(now);
        self.phase = Some(Phase::new(step, now));
        over
    }

    /// Takes in the result of the phase.
    pub fn conclude(&mut self, words: &str) {
        if let Some(phase) = &mut self.phase {
            phase.words = Some(words.to_owned());
            phase.is_skipped = false;
        }
    }

    /// Takes in why the phase has nothing to do.
    pub fn skip(&mut self, words: &str) {
        self.conclude(words);
        if let Some(phase) = &mut self.phase {
            phase.is_skipped = true;
        }
    }

    /// Takes in what Convoke itself does now.
    pub fn work(&mut self, activity: Option<&str>, now: Timestamp) {
        self.activity = activity.map(|words| (words.to_owned(), now));
        self.worker_step = None;
        if let Some(phase) = self.phase.as_mut().filter(|_| activity.is_some()) {
            phase.is_busy = true;
        }
    }

    /// Takes in which agents a worker process runs now. Returns the line of a phase that the worker
    /// has left.
    pub fn watch_worker(&mut self, lanes: Vec<WorkerLane>, now: Timestamp) -> Option<StyledLine> {
        let worker = std::mem::take(&mut self.worker);
        let over = worker.iter().filter(|row| lanes.iter().all(|lane| lane.id != row.lane));
        if let Some(phase) = &mut self.phase {
            for row in over {
                phase.worked += 1;
                phase.spent = row.activity.usage.into_iter().chain(phase.spent).reduce(Usage::plus);
            }
        }
        // Between two lanes no agent works, and the worker is still in the same phase.
        let step = lanes.last().map(|lane| lane.id.step());
        self.worker_step = step.or(self.worker_step);
        let left = step.and_then(|step| self.worker_begins(step, &lanes, now));
        let row = |lane: WorkerLane| SeatRow {
            lane: lane.id,
            name: lane.seat,
            since: lane.since,
            activity: LaneActivity { usage: lane.usage, tool: lane.last_tool, tools: lane.tools },
            end: None,
        };
        self.worker = lanes.into_iter().map(row).collect();
        left
    }

    /// Begins a later phase of a worker process with its first lane.
    fn worker_begins(
        &mut self,
        step: Step,
        lanes: &[WorkerLane],
        now: Timestamp,
    ) -> Option<StyledLine> {
        if self.phase.as_ref().is_none_or(|phase| phase.step >= step) {
            return None;
        }
        let since = lanes.iter().filter(|lane| lane.id.step() == step).map(|lane| lane.since);
        let activity = self.activity.take();
        let left = self.begin(step, since.min().unwrap_or(now));
        self.activity = activity;
        if let Some(phase) = &mut self.phase {
            phase.is_busy = true;
        }
        left
    }

    /// Records that a question to a person is open.
    pub const fn ask(&mut self) {
        self.is_asking = true;
    }

    /// Takes in that a person has answered.
    pub const fn go_on(&mut self) {
        self.is_asking = false;
    }

    /// Takes in that an agent begins.
    pub fn start(&mut self, lane: &LaneId, name: String, now: Timestamp) {
        if self.seats.iter().all(|seat| seat.end.is_some()) {
            self.settle();
        }
        if let Some(phase) = &mut self.phase {
            phase.is_busy = true;
        }
        self.seats.push(SeatRow {
            lane: lane.clone(),
            name,
            since: now,
            activity: LaneActivity::default(),
            end: None,
        });
    }

    /// Takes in what an agent says.
    pub fn hear(&mut self, lane: &LaneId, event: &LaneEvent) {
        let Some(seat) = self.seats.iter_mut().find(|seat| seat.lane == *lane) else { return };
        seat.activity.take(event);
    }

    /// Records how an agent's lane ended; `None` if it was stopped or could not start.
    pub fn end(&mut self, lane: &LaneId, end: Option<&LaneEnd>, now: Timestamp) {
        let Some(seat) = self.seats.iter_mut().find(|seat| seat.lane == *lane) else { return };
        let activity = &mut seat.activity;
        activity.usage = end.and_then(|end| end.usage).or(activity.usage);
        let stopped = || {
            let seconds = seconds(seat.since, now);
            SeatEnd { seconds, trouble: Some("stopped".to_owned()) }
        };
        let ended = |end: &LaneEnd| SeatEnd {
            seconds: end.took / 1000,
            trouble: (end.status != CollectedStatus::Ok).then(|| end.reason_text()),
        };
        seat.end = Some(end.map_or_else(stopped, ended));
    }

    /// Ends the design. A phase without a result is not done: the design ended in it.
    pub fn finish(&mut self, now: Timestamp) -> Option<StyledLine> {
        if let Some(phase) = self.phase.as_mut().filter(|phase| phase.words.is_none()) {
            phase.is_unfinished = true;
        }
        self.close(now)
    }

    /// Ends the phase. Returns its line; nothing if there is nothing to say about it.
    pub fn close(&mut self, now: Timestamp) -> Option<StyledLine> {
        self.settle();
        self.activity = None;
        let phase = self.phase.take()?;
        if phase.words.is_none() && !phase.is_busy {
            return None;
        }
        let name = phase_name(phase.step);
        if phase.is_skipped && phase.answered + phase.failed == 0 {
            let words = phase.words.unwrap_or_default();
            return Some(StyledLine::new(Ink::Quiet, &format!("– {name:PHASE_WIDTH$}{words}")));
        }
        let is_doubtful = phase.failed > 0 || phase.is_unfinished;
        let (ink, sign) = if is_doubtful { (Ink::Caution, "!") } else { (Ink::Good, "✓") };
        let mut line = StyledLine::new(ink, sign);
        line.push(Ink::Plain, &format!(" {name:PHASE_WIDTH$}"));
        let facts = [
            phase.words,
            Some(elapsed(seconds(phase.since, now))),
            phase.spent.map(|spent| spent_in_words(&spent)),
            count(phase.worked, "lane"),
            count(phase.answered, "answer"),
            count(phase.failed, "failed lane"),
        ];
        let facts: Vec<_> = facts.into_iter().flatten().collect();
        line.push(Ink::Plain, &facts.join(" · "));
        Some(line)
    }

    /// Returns the lines that live, at most as many as there are rows for.
    pub fn lines(&self, now: Timestamp, columns: usize, rows: usize) -> Vec<StyledLine> {
        let Some(phase) = self.phase.as_ref().filter(|_| !self.is_asking) else {
            return Vec::new();
        };
        let is_waiting =
            self.activity.is_none() && self.seats.iter().all(|seat| seat.end.is_some());
        if is_waiting {
            return Vec::new();
        }
        let mut lines = vec![self.head(phase, now)];
        let mut seats: Vec<_> = self.seats.iter().chain(&self.worker).collect();
        let name = seats.iter().map(|seat| StyledLine::plain(&seat.name).width()).max();
        let name = name.unwrap_or_default().min(SEAT_WIDTH).min(columns / 2);
        // Those that still work matter more than those that are done.
        let room = rows.saturating_sub(lines.len()).max(1);
        if seats.len() > room {
            seats.sort_by_key(|seat| seat.end.is_some());
        }
        let hidden = seats.len().saturating_sub(room);
        let hidden = if hidden > 0 { hidden + 1 } else { 0 };
        lines.extend(seats.iter().take(seats.len() - hidden).map(|seat| seat.line(now, name)));
        if hidden > 0 {
            lines.push(StyledLine::new(Ink::Quiet, &format!("  … and {hidden} more")));
        }
        lines.into_iter().map(|line| line.fitted(columns)).collect()
    }

    fn head(&self, phase: &Phase, now: Timestamp) -> StyledLine {
        let mut line = StyledLine::new(Ink::Heading, &format!("{} ", frame(now)));
        line.push(Ink::Strong, phase_name(self.worker_step.unwrap_or(phase.step)));
        let seats = self.seats.iter().chain(&self.worker);
        let spent = seats.filter_map(|seat| seat.activity.usage).chain(phase.spent);
        let facts = [
            Some(elapsed(seconds(phase.since, now))),
            spent.reduce(Usage::plus).map(|spent| spent_in_words(&spent)),
            self.activity
                .as_ref()
                .map(|(words, since)| format!("{words} ({})", elapsed(seconds(*since, now)))),
        ];
        for fact in facts.into_iter().flatten() {
            line.push(Ink::Plain, &format!(" · {fact}"));
        }
        line
    }

    /// Sums the usage of the shown seats, and removes them.
    fn settle(&mut self) {
        let seats = std::mem::take(&mut self.seats);
        let Some(phase) = &mut self.phase else { return };
        for seat in seats {
            phase.spent = seat.activity.usage.into_iter().chain(phase.spent).reduce(Usage::plus);
            match seat.end {
                Some(SeatEnd { trouble: None, .. }) => phase.answered += 1,
                Some(SeatEnd { trouble: Some(_), .. }) | None => phase.failed += 1,
            }
        }
    }
}

impl SeatRow {
    fn line(&self, now: Timestamp, name: usize) -> StyledLine {
        let mut line = StyledLine::plain("  ");
        match &self.end {
            None => line.push(Ink::Heading, frame(now)),
            Some(SeatEnd { trouble: None, .. }) => line.push(Ink::Good, "✓"),
            Some(SeatEnd { trouble: Some(_), .. }) => line.push(Ink::Bad, "✗"),
        }
        line.push(Ink::Plain, " ");
        line.extend(&StyledLine::plain(&self.name).fitted(name).padded(name));
        let took = self.end.as_ref().map_or_else(|| seconds(self.since, now), |end| end.seconds);
        let spent = self.activity.usage.map_or_else(String::new, |usage| amount(&usage));
        line.push(Ink::Plain, &format!("  {:>6}  {spent:>6}", elapsed(took)));
        match (&self.end, &self.activity.tool) {
            (Some(SeatEnd { trouble: Some(trouble), .. }), _) => {
                line.push(Ink::Bad, &format!("  {trouble}"));
            }
            (None, Some(last)) => {
                line.push(Ink::Quiet, &format!("  {last}"));
                if self.activity.tools > 1 {
                    line.push(Ink::Quiet, &format!(" ({} tools)", self.activity.tools));
                }
            }
            (None, None) | (Some(SeatEnd { trouble: None, .. }), _) => {}
        }
        line
    }
}

/// Names a phase for people.
pub const fn phase_name(step: Step) -> &'static str {
    match step {
        Step::Setup => "Setup",
        Step::Branch => "Branch",
        Step::Questions => "Questions",
        Step::DiscussionOne => "Scope interview",
        Step::Sketches => "Sketches",
        Step::Dialectic => "Debates",
        Step::Plan => "Plan",
        Step::Review => "Review",
        Step::DiscussionTwo => "Plan interview",
        Step::Diagram => "Diagram",
        Step::Rejected => "Rejected findings",
        Step::Cleanup => "Cleanup",
        Step::Decisions => "Your decisions",
    }
}

fn frame(now: Timestamp) -> &'static str {
    let at = now.as_millisecond().div_euclid(FRAME_MS).rem_euclid(10);
    FRAMES[usize::try_from(at).unwrap_or_default()]
}

fn seconds(since: Timestamp, now: Timestamp) -> u64 {
    u64::try_from(now.duration_since(since).as_secs()).unwrap_or_default()
}

fn count(count: usize, word: &str) -> Option<String> {
    let plural = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("{count} {word}{plural}"))
}

#[cfg(test)]
mod tests {
    use convoke_domain::lane::unanswered::Unanswered;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn lane(name: &str) -> LaneId {
        LaneId::parse(name).unwrap()
    }

    fn usage(input: u64) -> LaneEvent {
        LaneEvent::Usage(Usage { input, ..Usage::default() })
    }

    fn ended(status: CollectedStatus, reason: &str) -> LaneEnd {
        LaneEnd {
            status,
            reason: (!reason.is_empty()).then(|| Unanswered::said(reason)),
            answer: "x".into(),
            agent: "codex".to_owned(),
            model: None,
            usage: Some(Usage { input: 13_300, ..Usage::default() }),
            took: 31_000,
        }
    }

    fn text(lines: &[StyledLine]) -> String {
        lines.iter().map(|line| line.text() + "\n").collect()
    }

    /// Four agents sketch: one is done, one failed, two work.
    fn sketching() -> DesignProgress {
        let mut progress = DesignProgress::default();
        progress.begin(Step::Sketches, at(0));
        let seats = ["Cursor-Arch", "Cursor-Edge", "Codex-Innovation", "Codex-Pragmatic"];
        let names = [
            "Cursor · Architecture",
            "Cursor · Edge cases",
            "Codex · Innovation",
            "Codex · Pragmatism",
        ];
        for (seat, name) in seats.iter().zip(names) {
            progress.start(&lane(&format!("sketch/{seat}")), name.to_owned(), at(0));
        }
        progress.hear(&lane("sketch/Cursor-Arch"), &usage(2400));
        for tool in
            ["Grep", "Read\u{1b}[2J\nanswered, with a name that is much longer than any tool's"]
        {
            progress.hear(&lane("sketch/Cursor-Arch"), &LaneEvent::Tool(tool.to_owned()));
        }
        progress.end(
            &lane("sketch/Codex-Pragmatic"),
            Some(&ended(CollectedStatus::Ok, "")),
            at(31),
        );
        let failed = ended(CollectedStatus::Failed, "the client says: not logged in");
        progress.end(&lane("sketch/Codex-Innovation"), Some(&failed), at(35));
        progress
    }

    #[test]
    fn every_agent_that_works_has_a_row() {
        let screens = [60, 80, 140].map(|columns| {
            format!("{columns} columns\n{}", text(&sketching().lines(at(72), columns, 20)))
        });
        insta::assert_snapshot!(screens.join("\n"));
    }

    #[test]
    fn no_row_is_wider_than_the_terminal_and_no_more_rows_are_drawn_than_there_are() {
        for columns in [20, 40, 60, 80, 140] {
            let lines = sketching().lines(at(72), columns, 3);
            assert!(
                lines.len() <= 3 && lines.iter().all(|line| line.width() <= columns),
                "{lines:?}"
            );
        }
        let few = text(&sketching().lines(at(72), 80, 3));
        assert!(few.contains("Cursor · Architecture") && few.ends_with("… and 3 more\n"), "{few}");
    }

    #[test]
    fn what_convoke_does_itself_is_seen_as_well() {
        let mut progress = DesignProgress::default();
        progress.begin(Step::Setup, at(0));
        assert_eq!(progress.lines(at(1), 80, 20), []);
        progress.work(Some("asking Cursor and Codex whether they answer"), at(2));
        let line = "⠋ Setup · 1m2s · asking Cursor and Codex whether they answer (1m)\n";
        assert_eq!(text(&progress.lines(at(62), 80, 20)).replace(frame(at(62)), "⠋"), line);
        progress.ask();
        assert_eq!(progress.lines(at(62), 80, 20), [], "nothing moves while a person is asked");
    }

    #[test]
    fn the_agents_of_a_worker_have_rows_until_it_is_over() {
        let mut progress = DesignProgress::default();
        progress.begin(Step::Sketches, at(0));
        progress.work(Some("another process makes and reviews the plan"), at(1));
        let works = |id: &str, since, input| WorkerLane {
            id: lane(id),
            seat: "Codex · judge".to_owned(),
            since: at(since),
            usage: Some(Usage { input, ..Usage::default() }),
            last_tool: Some("Grep".to_owned()),
            tools: 3,
        };
        let sketches = vec![works("sketch/Codex-Arch", 2, 900), works("sketch/Codex-Edge", 2, 600)];
        assert_eq!(progress.watch_worker(sketches, at(3)), None);
        let sketch = vec![works("sketch/Codex-Edge", 2, 700)];
        assert_eq!(progress.watch_worker(sketch, at(30)), None);
        let left = progress.watch_worker(vec![works("judge/Codex", 50, 2400)], at(51)).unwrap();
        assert_eq!(left.text(), "✓ Sketches          50s · 1.6k tokens · 2 lanes");
        let rows = text(&progress.lines(at(62), 80, 20)).replace(frame(at(62)), "⠋");
        let head =
            "⠋ Debates · 12s · 2.4k tokens · another process makes and reviews the plan (1m1s)";
        let head = StyledLine::plain(head).fitted(80).text();
        assert_eq!(rows, format!("{head}\n  ⠋ Codex · judge     12s    2.4k  Grep (3 tools)\n"));
        assert_eq!(progress.watch_worker(Vec::new(), at(63)), None);
        let between = text(&progress.lines(at(63), 80, 20));
        assert!(between.lines().count() == 1 && between.contains(" Debates "), "{between}");
        // The journal tells of all phases after the worker's end, and no row comes twice.
        progress.work(None, at(64));
        assert_eq!(progress.begin(Step::Dialectic, at(64)), None);
        let over = progress.begin(Step::Plan, at(64)).unwrap().text();
        assert_eq!(over, "✓ Debates           14s · 2.4k tokens · 1 lane");
        assert_eq!(progress.begin(Step::Review, at(64)), None);
    }

    // Votes take minutes; each voter has a row from its beginning to its end.
    #[test]
    fn every_voter_has_a_row() {
        let mut progress = DesignProgress::default();
        progress.begin(Step::Review, at(0));
        for (seat, name) in [("Cursor", "Cursor · vote"), ("Codex", "Codex · vote")] {
            progress.start(&lane(&format!("vote/{seat}")), name.to_owned(), at(5));
        }
        progress.hear(&lane("vote/Cursor"), &usage(800));
        let done = ended(CollectedStatus::Ok, "");
        progress.end(&lane("vote/Codex"), Some(&done), at(36));
        let rows = text(&progress.lines(at(62), 60, 20)).replace(frame(at(62)), "⠋");
        let voters = "  ⠋ Cursor · vote     57s     800\n  ✓ Codex · vote      31s   13.3k\n";
        assert_eq!(rows, format!("⠋ Review · 1m2s · 14.1k tokens\n{voters}"));
        progress.end(&lane("vote/Cursor"), Some(&done), at(64));
        let over = progress.finish(at(65)).unwrap().text();
        assert!(over.ends_with("2 answers"), "{over}");
    }

    #[test]
    fn a_phase_that_is_over_has_one_line() {
        let mut progress = sketching();
        progress.end(&lane("sketch/Cursor-Arch"), Some(&ended(CollectedStatus::Ok, "")), at(57));
        progress.end(&lane("sketch/Cursor-Edge"), None, at(57));
        progress.start(&lane("chair/synthesis/claude"), "Claude · synthesis".to_owned(), at(58));
        let line = text(&progress.lines(at(60), 80, 20)).replace(frame(at(60)), "⠋");
        assert_eq!(
            line,
            "⠋ Sketches · 1m · 39.9k tokens\n  ⠋ Claude · synthesis      2s        \n"
        );
        progress.end(
            &lane("chair/synthesis/claude"),
            Some(&ended(CollectedStatus::Ok, "")),
            at(80),
        );
        let over = progress.begin(Step::Dialectic, at(80)).unwrap().text();
        assert_eq!(over, "! Sketches          1m20s · 53.2k tokens · 3 answers · 2 failed lanes");
        progress.skip("skipped (auto mode)");
        let skipped = progress.begin(Step::Plan, at(81)).unwrap().text();
        assert_eq!(skipped, "– Debates           skipped (auto mode)");
        assert_eq!(progress.close(at(82)), None, "nothing happened");
        progress.begin(Step::Setup, at(90));
        progress.work(Some("preparing the branch"), at(90));
        let over = progress.finish(at(91)).unwrap().text();
        assert_eq!(over, "! Setup             1s", "the design ended in it");
    }
}
