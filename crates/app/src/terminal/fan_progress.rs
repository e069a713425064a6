//! A fan-out on its way, as a person watches it: one line for all of it, and a row for each agent that
//! works.

use std::collections::BTreeMap;

use convoke_domain::design::progress::elapsed;
use convoke_domain::lane::budget::dollars;
use convoke_domain::text::one_line;
use convoke_service::fan::{FanCounts, FanNews};
use jiff::Timestamp;

use super::activity::LaneActivity;
use super::styled::{Ink, StyledLine};

/// The present state of a fan-out.
#[derive(Debug)]
pub struct FanProgress {
    since: Timestamp,
    counts: FanCounts,
    kept: usize,
    /// The agents that work, by worker.
    rows: BTreeMap<usize, Row>,
}

#[derive(Debug)]
struct Row {
    index: usize,
    item: String,
    since: Timestamp,
    activity: LaneActivity,
}

impl FanProgress {
    /// Returns the state before the work begins.
    pub fn new(now: Timestamp) -> Self {
        Self { since: now, counts: FanCounts::default(), kept: 0, rows: BTreeMap::new() }
    }

    /// Takes in what happens.
    pub fn take(&mut self, news: &FanNews<'_>, now: Timestamp) {
        match news {
            FanNews::Opened { kept, counts, .. } => {
                (self.since, self.kept, self.counts) = (now, *kept, *counts);
            }
            FanNews::Started { worker, index, item } => {
                let activity = LaneActivity::default();
                let row = Row { index: *index, item: one_line(item), since: now, activity };
                self.rows.insert(*worker, row);
            }
            FanNews::Said { worker, event } => {
                if let Some(row) = self.rows.get_mut(worker) {
                    row.activity.take(event);
                }
            }
            FanNews::Ended { worker, counts, .. } => {
                self.rows.remove(worker);
                self.counts = *counts;
            }
        }
    }

    /// Returns the lines: the sum, and as many agents as fit.
    pub fn lines(&self, now: Timestamp, columns: usize, most: usize) -> Vec<StyledLine> {
        let mut lines = vec![self.sum(now).fitted(columns)];
        let room = most.saturating_sub(1);
        let hidden = self.rows.len().saturating_sub(room);
        let shown = if hidden > 0 { room.saturating_sub(1) } else { room };
        lines.extend(self.rows.values().take(shown).map(|row| row.line(now).fitted(columns)));
        if hidden > 0 && room > 0 {
            let words = format!("  … {} more", self.rows.len() - shown);
            lines.push(StyledLine::new(Ink::Quiet, &words));
        }
        lines
    }

    fn sum(&self, now: Timestamp) -> StyledLine {
        let FanCounts { to_ask, answered, unfit, failed, tokens, micro_dollars } = self.counts;
        let seconds = seconds_between(self.since, now);
        let mut line = StyledLine::new(Ink::Strong, &format!("{answered} of {to_ask} answered"));
        for (count, words) in [(unfit, "not fitting"), (failed, "without an answer")] {
            if count > 0 {
                line.push(Ink::Bad, &format!(", {count} {words}"));
            }
        }
        let money = micro_dollars.map(|money| format!(", {}", dollars(money)));
        let kept = if self.kept > 0 { format!(", {} before", self.kept) } else { String::new() };
        let left = self.left(seconds).map(|left| format!(", about {} left", elapsed(left)));
        let rest = format!(
            "{kept} · {tokens} tokens{} · {}{}",
            money.unwrap_or_default(),
            elapsed(seconds),
            left.unwrap_or_default()
        );
        line.with(Ink::Quiet, &rest)
    }

    /// Returns how many seconds the rest will take at the present rate.
    fn left(&self, seconds: u64) -> Option<u64> {
        let (done, to_ask) = (self.counts.done() as u64, self.counts.to_ask as u64);
        let rest = to_ask.saturating_sub(done);
        (rest > 0).then(|| seconds.saturating_mul(rest).checked_div(done))?
    }
}

impl Row {
    fn line(&self, now: Timestamp) -> StyledLine {
        let LaneActivity { usage, tool, .. } = &self.activity;
        let tokens = usage.map(|usage| format!(", {} tokens", usage.tokens()));
        let tool = tool.as_ref().map(|tool| format!(", {}", one_line(tool)));
        let time = elapsed(seconds_between(self.since, now));
        let rest = format!("  {time}{}{}", tokens.unwrap_or_default(), tool.unwrap_or_default());
        StyledLine::new(Ink::Quiet, &format!("  {:>6}  ", self.index))
            .with(Ink::Plain, &self.item.chars().take(60).collect::<String>())
            .with(Ink::Quiet, &rest)
    }
}

fn seconds_between(since: Timestamp, now: Timestamp) -> u64 {
    u64::try_from(now.duration_since(since).as_secs()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use convoke_domain::lane::event::{LaneEvent, Usage};
    use convoke_domain::run::RunId;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn texts(progress: &FanProgress, second: i64, most: usize) -> Vec<String> {
        progress.lines(at(second), 79, most).iter().map(StyledLine::text).collect()
    }

    #[test]
    fn a_table_says_how_far_how_much_and_who_works() {
        let run = RunId::parse("fan-0").unwrap();
        let counts = FanCounts { to_ask: 10, ..FanCounts::default() };
        let mut progress = FanProgress::new(at(0));
        let opened = FanNews::Opened { run: &run, agent: "codex", items: 12, kept: 2, counts };
        progress.take(&opened, at(100));
        assert_eq!(texts(&progress, 100, 5), ["0 of 10 answered, 2 before · 0 tokens · 0s"]);
        for (worker, item) in ["a\nb", "two", "three"].into_iter().enumerate() {
            progress.take(&FanNews::Started { worker, index: worker + 1, item }, at(101));
        }
        let usage = Usage { input: 90, output: 10, ..Usage::default() };
        progress.take(&FanNews::Said { worker: 0, event: &LaneEvent::Usage(usage) }, at(102));
        let counts = FanCounts {
            answered: 4,
            failed: 1,
            tokens: 700,
            micro_dollars: Some(20_000),
            ..counts
        };
        let ended = FanNews::Ended { worker: 2, index: 3, trouble: Some("late"), counts };
        progress.take(&ended, at(110));
        let sum = "4 of 10 answered, 1 without an answer, 2 before · 700 tokens, $0.02 · 10s, \
                   about 10s left";
        let shown = texts(&progress, 110, 5);
        assert_eq!(shown[0], sum.chars().take(78).collect::<String>() + "…");
        assert_eq!(shown[1..], ["       1  a b  9s, 100 tokens", "       2  two  9s"]);
        assert_eq!(texts(&progress, 110, 2)[1], "  … 2 more");
        assert_eq!(texts(&progress, 90, 1).len(), 1, "a clock that was set");
    }
}
