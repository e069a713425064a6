//! What is said where a wake-up does not fit in any shape: the task, the message, where to look.

use super::{ShorteningStep, WakeLimits, WakeUp};
use crate::message::quote;
use crate::pin::{self, Pin, left_out_line};
use crate::scope::AgentName;
use crate::text::{CharOffset, Text};
use crate::token::Tokenizer;
use crate::wake::NewMessage;
use crate::wake::layout::unread_line;

/// What is not to be missed.
#[derive(Debug, Clone, Copy)]
pub(in crate::wake) struct Minimal<'a> {
    /// Who wakes.
    pub(in crate::wake) reader: &'a AgentName,
    /// Its current task.
    pub(in crate::wake) task: Option<&'a str>,
    /// What woke it.
    pub(in crate::wake) message: Option<&'a NewMessage>,
    /// The stored message that this is.
    pub(in crate::wake) message_id: Option<i64>,
    /// How many stored messages to it are unread.
    pub(in crate::wake) unread: usize,
    /// The user's rules.
    pub(in crate::wake) pins: &'a [Pin],
}

impl Minimal<'_> {
    /// Says as much as fits of: the user's rules or how many there are, that there is no room, the
    /// current task, the message, how many are unread, and the command that prints everything. A room
    /// too small even for the command holds its start.
    pub(in crate::wake) fn wake_up(&self, room: WakeLimits, tokenizer: &dyn Tokenizer) -> WakeUp {
        let reader = self.reader;
        let everything = format!("`convoke wake {reader} --budget 8000`");
        let short = Some(format!("Left out: {everything}"));
        let tokens = room.budget.get();
        let head = Some(format!(
            "This wake-up of @{reader} is left out: {tokens} tokens are too few. All: {everything}"
        ));
        let task = self.task.map(|task| format!("Current task: {task}"));
        let message = self.message.map(|message| quote(&message.from, &message.content));
        let read: Vec<_> = self.message_id.into_iter().collect();
        let unread = |count: usize| (count > 0).then(|| unread_line(count, reader));
        let others = unread(self.unread.saturating_sub(read.len()));
        let all = unread(self.unread);
        let with_message = [[&head, &task, &message, &others], [&short, &message, &others, &None]];
        let without = [
            [&head, &task, &all],
            [&head, &all, &None],
            [&short, &all, &None],
            [&short, &None, &None],
        ];
        let with_message = with_message.map(|parts| (lines(&parts), read.clone()));
        let without = without.map(|parts| (lines(&parts), Vec::new()));
        let choices = with_message.into_iter().filter(|_| message.is_some()).chain(without);
        let choices: Vec<_> = choices.collect();
        let rules = match self.pins.len() {
            0 => vec![String::new()],
            count => vec![pin::block(self.pins, count) + "\n\n", left_out_line(count) + "\n"],
        };
        let texts = rules.iter().flat_map(|rules| {
            choices.iter().map(move |(text, read)| (format!("{rules}{text}"), read.clone()))
        });
        let fitting = texts.into_iter().find(|(text, _)| room.holds(text, tokenizer));
        let (text, read) =
            fitting.unwrap_or_else(|| (start(&everything, room, tokenizer), Vec::new()));
        WakeUp::new(text, read, vec![ShorteningStep::Minimal], room, tokenizer)
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
