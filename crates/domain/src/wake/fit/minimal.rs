//! The smallest wake-up, for a budget that no other shape fits: the task, the message, and the
//! commands that show the rest.

use super::{ShorteningStep, WakeLimits, WakeUp};
use crate::message::quote;
use crate::pin::{self, Pin, left_out_line, short_left_out_line};
use crate::scope::AgentName;
use crate::text::{CharOffset, Text};
use crate::token::Tokenizer;
use crate::wake::NewMessage;
use crate::wake::layout::unread_line;

/// The facts that even the smallest wake-up holds.
#[derive(Debug, Clone, Copy)]
pub(in crate::wake) struct Minimal<'a> {
    /// The agent that wakes.
    pub(in crate::wake) reader: &'a AgentName,
    /// The title of the agent's current task.
    pub(in crate::wake) task: Option<&'a str>,
    /// The message that woke it.
    pub(in crate::wake) message: Option<&'a NewMessage>,
    /// The stored message that this is.
    pub(in crate::wake) message_id: Option<i64>,
    /// How many stored messages to it are unread.
    pub(in crate::wake) unread: usize,
    /// The user's rules.
    pub(in crate::wake) pins: &'a [Pin],
}

impl Minimal<'_> {
    /// Renders as much as fits of: the user's rules, that there is no room, the current task, the
    /// message, how many are unread, and the command that prints everything. Rules are left out
    /// only if the remaining text is only the count of messages, and then they are counted: rules come before messages. A room
    /// too small even for that holds the start of a command,
    /// the one that lists the rules if there are any.
    pub(in crate::wake) fn wake_up(&self, room: WakeLimits, tokenizer: &dyn Tokenizer) -> WakeUp {
        let everything = format!("`convoke wake {} --budget 8000`", self.reader);
        let short = Some(format!("Left out: {everything}"));
        let unread = self.unread_line(self.unread);
        let all = self.pins.len();
        let rules = match all {
            0 => vec![String::new()],
            _ => [pin::block(self.pins), pin::bare_block(self.pins, all)]
                .map(|rules| rules + "\n\n")
                .to_vec(),
        };
        let others = self.others(room, &everything);
        let whole = rules.iter().flat_map(|rules| {
            let others = others.iter();
            others.map(move |(text, read)| (format!("{rules}{text}"), read.clone(), all))
        });
        let fewer = (1..all).rev().flat_map(|shown| {
            let rules = pin::bare_block(self.pins, shown) + "\n\n";
            let beside = [lines(&[&unread, &short]), lines(&[&unread])];
            beside.map(|text| (format!("{rules}{text}"), Vec::new(), shown))
        });
        let count = (all > 0).then(|| left_out_line(all));
        let counts = [[&count, &unread, &short], [&count, &unread, &None], [&count, &None, &None]];
        let hint = (all > 0).then(|| short_left_out_line(all));
        let counts = counts.into_iter().chain([[&hint, &unread, &None], [&hint, &None, &None]]);
        let counts = counts.map(|parts| (lines(&parts), Vec::new(), 0));
        let counts = counts.filter(|(text, ..)| !text.is_empty());
        let mut texts = whole.chain(fewer).chain(counts);
        let (text, read, shown) =
            texts.find(|(text, ..)| room.holds(text, tokenizer)).unwrap_or_else(|| {
                let command = hint.as_ref().unwrap_or(&everything);
                (start(command, room, tokenizer), Vec::new(), 0)
            });
        let mut steps = vec![ShorteningStep::Minimal];
        steps.extend((shown < all).then_some(ShorteningStep::FewerPins));
        WakeUp::new(text, read, steps, room, tokenizer)
    }

    /// Returns candidates for the text beside the rules, longest first, each with the ids of the
    /// messages that it holds completely.
    fn others(&self, room: WakeLimits, everything: &str) -> Vec<(String, Vec<i64>)> {
        let (reader, tokens) = (self.reader, room.budget.get());
        let short = Some(format!("Left out: {everything}"));
        let head = Some(format!(
            "This wake-up of @{reader} is left out: {tokens} tokens are too few. All: {everything}"
        ));
        let task = self.task.map(|task| format!("Current task: {task}"));
        let message = self.message.map(|message| quote(&message.from, &message.content));
        let read: Vec<_> = self.message_id.into_iter().collect();
        let others = self.unread_line(self.unread.saturating_sub(read.len()));
        let all = self.unread_line(self.unread);
        let with_message = [[&head, &task, &message, &others], [&short, &message, &others, &None]];
        let without = [
            [&head, &task, &all],
            [&head, &all, &None],
            [&short, &all, &None],
            [&all, &None, &None],
        ];
        let with_message = with_message.map(|parts| (lines(&parts), read.clone()));
        let without = without.map(|parts| (lines(&parts), Vec::new()));
        let choices = with_message.into_iter().filter(|_| message.is_some()).chain(without);
        choices.filter(|(text, _)| !text.is_empty()).collect()
    }

    fn unread_line(&self, count: usize) -> Option<String> {
        (count > 0).then(|| unread_line(count, self.reader))
    }
}

fn lines(parts: &[&Option<String>]) -> String {
    let lines = parts.iter().filter_map(|part| part.as_ref());
    lines.map(|line| format!("{line}\n")).collect::<Vec<_>>().concat()
}

/// Returns as much of a line as fits.
fn start(line: &str, room: WakeLimits, tokenizer: &dyn Tokenizer) -> String {
    let text = Text::new(line);
    let starts = (0..text.chars()).rev().map(|chars| text.before(CharOffset::new(chars)).as_str());
    starts.into_iter().find(|start| room.holds(start, tokenizer)).unwrap_or_default().to_owned()
}
