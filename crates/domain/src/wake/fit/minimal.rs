//! The smallest wake-up, for a budget that no other shape fits: the task, the message, and the
//! commands that show the rest.

use super::{ShorteningStep, WakeLimits, WakeUp};
use crate::message::quote_lines;
use crate::pin::{self, Pin, left_out_line, short_left_out_line};
use crate::scope::AgentName;
use crate::text::{CharOffset, Text};
use crate::token::Tokenizer;
use crate::wake::NewMessage;
use crate::wake::layout::{cut_message, unread_line};

/// How much is shown of a message that does not fit whole, in characters.
const FEW_CHARACTERS: usize = 200;

/// The facts that even the smallest wake-up holds.
#[derive(Debug, Clone, Copy)]
pub(in crate::wake) struct Minimal<'a> {
    /// The agent that wakes.
    pub(in crate::wake) reader: &'a AgentName,
    /// The title of the agent's current task.
    pub(in crate::wake) task: Option<&'a str>,
    /// The agent's next action, with its commands.
    pub(in crate::wake) next: Option<&'a str>,
    /// The message that woke it.
    pub(in crate::wake) message: Option<&'a NewMessage>,
    /// The stored message that this is.
    pub(in crate::wake) message_id: Option<i64>,
    /// How many stored messages to it are unread.
    pub(in crate::wake) unread: usize,
    /// The user's rules.
    pub(in crate::wake) pins: &'a [Pin],
}

/// How the new message is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// Completely, so that it counts as read.
    Whole,
    /// By its start, with the command that shows the rest.
    Cut,
    /// As one of those that are unread.
    Counted,
}

/// A text that may be delivered.
#[derive(Debug, Clone)]
struct Choice {
    text: String,
    /// The messages that it holds completely.
    read: Vec<i64>,
    message: Shown,
}

impl Choice {
    const fn counted(text: String) -> Self {
        Self { text, read: Vec::new(), message: Shown::Counted }
    }

    fn after(&self, rules: &str) -> Self {
        Self { text: format!("{rules}{}", self.text), ..self.clone() }
    }
}

impl Minimal<'_> {
    /// Renders as much as fits of: the user's rules, that there is no room, the current task, the next
    /// action, the message or its start, how many are unread, and the command that prints everything.
    /// Rules are left out only if the remaining text is only the count of messages, and then they are
    /// counted: rules come before messages. A room too small even for that holds the start of a
    /// command, the one that lists the rules if there are any.
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
            others.map(move |other| (other.after(rules), all))
        });
        let fewer = (1..all).rev().flat_map(|shown| {
            let rules = pin::bare_block(self.pins, shown) + "\n\n";
            let beside = [lines(&[&unread, &short]), lines(&[&unread])];
            beside.map(|text| (Choice::counted(text).after(&rules), shown))
        });
        let count = (all > 0).then(|| left_out_line(all));
        let counts = [[&count, &unread, &short], [&count, &unread, &None], [&count, &None, &None]];
        let hint = (all > 0).then(|| short_left_out_line(all));
        let counts = counts.into_iter().chain([[&hint, &unread, &None], [&hint, &None, &None]]);
        let counts = counts.map(|parts| (Choice::counted(lines(&parts)), 0));
        let counts = counts.filter(|(choice, _)| !choice.text.is_empty());
        let mut choices = whole.chain(fewer).chain(counts);
        let (choice, shown) =
            choices.find(|(choice, _)| room.holds(&choice.text, tokenizer)).unwrap_or_else(|| {
                let command = hint.as_ref().unwrap_or(&everything);
                (Choice::counted(start(command, room, tokenizer)), 0)
            });
        let mut steps = vec![ShorteningStep::Minimal];
        steps.extend((choice.message == Shown::Cut).then_some(ShorteningStep::ShortMessage));
        steps.extend((shown < all).then_some(ShorteningStep::FewerPins));
        WakeUp::new(choice.text, choice.read, steps, room, tokenizer)
    }

    /// Returns candidates for the text beside the rules, the most useful first.
    fn others(&self, room: WakeLimits, everything: &str) -> Vec<Choice> {
        let (reader, tokens) = (self.reader, room.budget.get());
        let short = Some(format!("Left out: {everything}"));
        let head = Some(format!(
            "This wake-up of @{reader} is left out: {tokens} tokens are too few. All: {everything}"
        ));
        let task = self.task.map(|task| format!("Current task: {task}"));
        let next = self.next.map(|next| format!("Next action:\n{}", next.trim_end()));
        let whole = self.message.map(|message| quote_lines(&message.from, &message.content));
        let read: Vec<_> = self.message_id.into_iter().collect();
        let others = self.unread_line(self.unread.saturating_sub(read.len()));
        let all = self.unread_line(self.unread);
        let cut = self.cut_message();
        let with_whole =
            [[&head, &task, &None, &whole, &others], [&short, &None, &None, &whole, &others]];
        let with_next = [&head, &task, &next, &None, &all];
        let with_cut = [[&head, &task, &next, &cut, &others], [&head, &task, &None, &cut, &others]];
        let without = [
            [&head, &task, &None, &None, &all],
            [&head, &None, &None, &None, &all],
            [&short, &None, &None, &None, &all],
            [&None, &None, &None, &None, &all],
        ];
        let choice = |parts: &[&Option<String>; 5], message| Choice {
            text: lines(parts),
            read: if message == Shown::Whole { read.clone() } else { Vec::new() },
            message,
        };
        let mut choices = Vec::new();
        if whole.is_some() {
            choices.push(choice(&[&head, &task, &next, &whole, &others], Shown::Whole));
            let [beside_next, alone] = with_cut.map(|parts| choice(&parts, Shown::Cut));
            choices.extend(cut.is_some().then_some(beside_next));
            // The next action quotes the start of a message that does not decide it.
            choices.extend(next.is_some().then(|| choice(&with_next, Shown::Counted)));
            choices.extend(cut.is_some().then_some(alone));
            choices.extend(with_whole.iter().map(|parts| choice(parts, Shown::Whole)));
        }
        choices.push(choice(&with_next, Shown::Counted));
        choices.extend(without.iter().map(|parts| choice(parts, Shown::Counted)));
        choices.retain(|choice| !choice.text.is_empty());
        choices
    }

    /// Returns the start of a message that is too long, with the command that shows the rest.
    fn cut_message(&self) -> Option<String> {
        let message = self.message?;
        let cut = cut_message(&message.content, FEW_CHARACTERS, self.reader)?;
        Some(quote_lines(&message.from, &cut))
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
