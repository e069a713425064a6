//! The text that a hook hands over, as far as its client has room for it.

use convoke_domain::hook::parts::{marks_used, room};
use convoke_domain::text::Text;
use convoke_domain::token::{Budget, Estimate, Tokenizer};
use convoke_domain::wake::fit::{ShorteningStep, WakeLimits};
use convoke_domain::wake::{SectionOrder, WakeExtent};
use convoke_store::error::StoreError;
use convoke_store::message::MessageReceipt;

use super::{HookEvent, HookRemark, most_bytes};
use crate::wake::{AssembledWakeUp, WakeCall, WakeSources, assemble};

/// A hook has room for a line that says how many rules there are, even beside the longest marks.
const LEAST_TOKENS: u64 = 15;

/// The text for a session that lost its memory.
pub(super) enum HookText {
    /// Where its agent was.
    WakeUp(Box<AssembledWakeUp>),
    /// How an agent gets a task, as it has nothing to be reminded of.
    Unassigned(String),
    /// Nothing, or a remark.
    Nothing,
}

/// Assembles what fits the client. Messages that another session was given are only counted.
pub(super) fn assembled(
    sources: &WakeSources<'_>,
    heard: &HookEvent<'_>,
    taken: &[i64],
) -> Result<HookText, StoreError> {
    let call = WakeCall {
        agent: heard.agent.agent.clone(),
        profile: heard.profile,
        order: SectionOrder::CriticalFirst,
        // A session that lost its memory needs the complete text, in any mode.
        extent: Some(WakeExtent::Everything),
        message: None,
        taken: taken.to_vec(),
    };
    let fits = |ending: &str| assemble(sources, &call, room_beside(ending, heard), &Estimate);
    let mut assembled = fits(&ending(heard, Shortened::Yes))?;
    if assembled.wake_up.steps.contains(&ShorteningStep::Minimal) {
        // Such a text names the command itself.
        let minimal = fits(&ending(heard, Shortened::No))?;
        if minimal.wake_up.steps.contains(&ShorteningStep::Minimal) {
            assembled = minimal;
        }
    }
    if !assembled.is_empty() {
        return Ok(HookText::WakeUp(Box::new(assembled)));
    }
    let line =
        assembled.unassigned.map(|how| format!("[convoke] You are @{}. {how}\n", call.agent));
    let rest = ending(heard, Shortened::No);
    let line = line.filter(|line| room_beside(&rest, heard).holds(line, &Estimate));
    Ok(line.map_or(HookText::Nothing, |line| HookText::Unassigned(line + &rest)))
}

/// Returns the room for a wake-up beside the marks of all parts and the ending.
fn room_beside(ending: &str, heard: &HookEvent<'_>) -> WakeLimits {
    let count = |text: &str| Estimate.count(Text::new(text)).tenths().div_ceil(10);
    let bytes = room(heard.entry.of, most_bytes(heard));
    let budget = heard.budget.get();
    // No character has more than four bytes, and four characters cost at least a token.
    let most_parts = (budget.saturating_mul(16)).div_ceil(most_bytes(heard) as u64);
    let parts = most_parts.min(heard.entry.of.get() as u64);
    let marks = parts.saturating_mul(count(&" ".repeat(marks_used(parts))));
    let tokens = budget.saturating_sub(marks).saturating_sub(count(ending));
    WakeLimits {
        budget: Budget::at_least_one(tokens.max(LEAST_TOKENS)),
        most_bytes: Some(bytes.saturating_sub(ending.len())),
    }
}

impl HookText {
    /// Returns the text as it is delivered.
    pub(super) fn delivered(&self, heard: &HookEvent<'_>) -> String {
        match self {
            Self::WakeUp(assembled) => text(assembled, heard),
            Self::Unassigned(text) => text.clone(),
            Self::Nothing => alone(heard),
        }
    }

    /// Returns the wake-up, if it is one.
    pub(super) fn wake_up(self) -> Option<AssembledWakeUp> {
        match self {
            Self::WakeUp(assembled) => Some(*assembled),
            Self::Unassigned(_) | Self::Nothing => None,
        }
    }

    /// Returns which messages the agent has of it.
    pub(super) fn receipt(&self) -> MessageReceipt<'_> {
        match self {
            Self::WakeUp(assembled) => assembled.receipt(),
            Self::Unassigned(_) | Self::Nothing => MessageReceipt::default(),
        }
    }
}

/// Adds at the end how to get the whole text when this one was shortened: the user's rules come
/// first.
fn text(assembled: &AssembledWakeUp, heard: &HookEvent<'_>) -> String {
    let text = assembled.wake_up.text.trim_start_matches('\n');
    let steps = &assembled.wake_up.steps;
    let is_named = steps.is_empty() || steps.contains(&ShorteningStep::Minimal);
    let shortened = if is_named { Shortened::No } else { Shortened::Yes };
    format!("{text}{}", ending(heard, shortened))
}

/// Returns the text where there is no wake-up.
fn alone(heard: &HookEvent<'_>) -> String {
    match heard.remark {
        Some(remark @ HookRemark::Alone(_)) => remark.line(),
        Some(HookRemark::Beside(_)) | None => String::new(),
    }
}

/// Whether a text lacks a part without naming the command that shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shortened {
    Yes,
    No,
}

/// Returns the ending of a text.
fn ending(heard: &HookEvent<'_>, shortened: Shortened) -> String {
    let agent = &heard.agent.agent;
    let command =
        format!("\n> shortened to fit; the whole text: `convoke wake {agent} --budget 1000000`\n");
    let command = (shortened == Shortened::Yes).then_some(command);
    let remark = heard.remark.map(HookRemark::line);
    [command, remark].into_iter().flatten().collect::<Vec<_>>().concat()
}
