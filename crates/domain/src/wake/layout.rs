//! Renders a wake-up, byte for byte.

use super::fit::{Shape, TaskForm};
use super::next_step;
use super::{SectionOrder, WakeFacts, WakeFit, WakeProfile};
use crate::message::ActivityLine;
use crate::pin;
use crate::scope::AgentName;
use crate::text::{CharOffset, Text};

const NONE: &str = "(none)";

/// Renders the facts in a shape.
pub(super) fn render(facts: &WakeFacts<'_>, shape: &Shape) -> String {
    if shape.short_titles && facts.short_outline.is_some() {
        let outline = facts.short_outline.clone();
        return render(&WakeFacts { outline, short_outline: None, ..facts.clone() }, shape);
    }
    let text = match facts.profile {
        WakeProfile::Agent => agent(facts, shape),
        WakeProfile::Orchestrator => orchestrator(facts, shape),
    };
    match pin::block(&facts.pins).as_str() {
        "" => text,
        rules => format!("{rules}\n\n{}", text.trim_start_matches('\n')),
    }
}

/// Returns the stored unread messages that are shown whole in a shape.
pub(super) fn read(facts: &WakeFacts<'_>, shape: &Shape) -> Vec<i64> {
    let new = facts.message_id.filter(|_| !is_message_cut(facts, shape));
    let recent = kept_activity(facts, shape).into_iter().filter_map(|line| line.message);
    recent.chain(new).collect()
}

/// Renders the number of omitted messages, and how to see them.
pub(super) fn unread_line(count: usize, reader: &AgentName) -> String {
    format!("({count} more unread to you: `convoke inbox {reader} --mark`)")
}

fn agent(facts: &WakeFacts<'_>, shape: &Shape) -> String {
    let skill = skill(facts, shape);
    let tasks = all_tasks(facts, shape).unwrap_or_else(|| NONE.to_owned());
    let recent = activity(facts, shape).unwrap_or_else(|| NONE.to_owned());
    let new = message(facts, shape);
    let skill = format!("## Your Current Skill\n{skill}");
    let tasks = format!("## Your Current Task\n{tasks}");
    let recent = format!("## Recent Messages\n{recent}");
    let new = format!("## New Message\n{new}");
    let sections = match facts.order {
        SectionOrder::Contract => [skill, tasks, recent, new],
        SectionOrder::CriticalFirst => [tasks, new, recent, skill],
    };
    format!("\n{}\n", sections.join("\n\n"))
}

fn orchestrator(facts: &WakeFacts<'_>, shape: &Shape) -> String {
    let head = facts.skill.id.as_ref().map_or(String::new(), |id| {
        format!("You are using `{}` to {}.\n\n", id.bare(), id.purpose())
    });
    let title = Some("# Orchestrator Wake-up Context".to_owned());
    let name = Some(format!("You are @{}, the orchestrator for this project.", facts.reader));
    let skill = Some(format!("## Current Skill\n{head}{}", skill(facts, shape)));
    let plan = shape.plan_section();
    let listed = all_tasks(facts, shape);
    let tasks = listed.map(|lines| format!("## Current Tasks\n{lines}{}", place(facts)));
    let activity = activity(facts, shape).map(|lines| format!("## Recent Activity\n{lines}"));
    let new = Some(format!("## New Message\n{}", message(facts, shape)));
    let next = Some(format!("## Your Next Action\n{}", next_step::render(facts)));
    let sections = match facts.order {
        SectionOrder::Contract => [title, name, skill, plan, tasks, activity, new, next],
        SectionOrder::CriticalFirst => [title, name, tasks, new, next, activity, plan, skill],
    };
    sections.into_iter().flatten().collect::<Vec<_>>().join("\n\n") + "\n"
}

fn skill(facts: &WakeFacts<'_>, shape: &Shape) -> String {
    let others = facts.skill.others.iter().map(|(id, path)| format!("Also follow: {id} ({path})"));
    let others: Vec<_> = others.collect();
    let mut parts = facts.skill.notices.clone();
    parts.push(shape.skill_text(&facts.skill));
    if !others.is_empty() {
        parts.push(format!("\n{}", others.join("\n")));
    }
    parts.join("\n")
}

fn tasks(facts: &WakeFacts<'_>, shape: &Shape) -> Option<String> {
    let outline = facts.outline.as_ref()?;
    let lines = match shape.tasks {
        TaskForm::Near(around) => outline.near_lines(around),
        TaskForm::Short => outline.short_lines(),
        TaskForm::Full => outline.lines(),
    };
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns the list, or the lines that replace it, and urgent lines from outside the list.
fn all_tasks(facts: &WakeFacts<'_>, shape: &Shape) -> Option<String> {
    let listed = tasks(facts, shape).or_else(|| facts.no_task.clone());
    let parts = [listed, facts.elsewhere.urgent.clone()];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// The two lines under the task list; nothing when everything is done.
fn place(facts: &WakeFacts<'_>) -> String {
    let outline = facts.outline.as_ref();
    match outline.and_then(|outline| outline.position().zip(next_step::line(facts, outline))) {
        Some((position, next)) => {
            format!("\n\n**Current position:** {position}\nNext action: {next}")
        }
        None => String::new(),
    }
}

fn activity(facts: &WakeFacts<'_>, shape: &Shape) -> Option<String> {
    let line = |line: &ActivityLine| match shape.line {
        Some(most) if line.message.is_none() => clipped(&line.text, most),
        Some(_) | None => line.text.clone(),
    };
    let lines: Vec<_> = kept_activity(facts, shape).into_iter().map(line).collect();
    let missing = facts.activity.len() - lines.len();
    let mark = match (facts.fit, lines.len()) {
        (WakeFit::Seed, _) => None,
        (WakeFit::Kept, _) if missing == 0 => None,
        (WakeFit::Kept, 0) => Some("(left out)".to_owned()),
        (WakeFit::Kept, _) => Some(format!("- … {missing} left out")),
    };
    let lines: Vec<_> = mark.into_iter().chain(lines).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns the lines that are shown: with [`WakeFit::Kept`], unread messages before all others.
fn kept_activity<'a>(facts: &'a WakeFacts<'_>, shape: &Shape) -> Vec<&'a ActivityLine> {
    let is_unread = |line: &ActivityLine| facts.fit == WakeFit::Kept && line.message.is_some();
    let lines = facts.activity.iter().enumerate();
    let (unread, others): (Vec<_>, Vec<_>) = lines.partition(|(_, line)| is_unread(line));
    let newest_first = unread.into_iter().rev().chain(others.into_iter().rev());
    let mut kept: Vec<_> = newest_first.take(shape.activity).collect();
    kept.sort_by_key(|(place, _)| *place);
    kept.into_iter().map(|(_, line)| line).collect()
}

fn is_message_cut(facts: &WakeFacts<'_>, shape: &Shape) -> bool {
    let content = facts.message.as_ref().map(|message| Text::new(&message.content).chars());
    content.zip(shape.message).is_some_and(|(chars, most)| chars > most)
}

fn message(facts: &WakeFacts<'_>, shape: &Shape) -> String {
    let here = message_here(facts, shape);
    let elsewhere = facts.elsewhere.unread.as_ref();
    elsewhere.map_or(here.clone(), |line| format!("{here}\n{line}"))
}

fn message_here(facts: &WakeFacts<'_>, shape: &Shape) -> String {
    let Some(message) = &facts.message else { return with_count(NONE.to_owned(), 0, facts, shape) };
    let most = shape.message.unwrap_or(usize::MAX);
    match cut_message(&message.content, most, &facts.reader) {
        Some(cut) => {
            let announced = usize::from(facts.message_id.is_some());
            with_count(facts.fit.quote(&message.from, &cut), announced, facts, shape)
        }
        None => with_count(facts.fit.quote(&message.from, &message.content), 0, facts, shape),
    }
}

/// Adds how many unread messages are neither shown nor announced otherwise.
fn with_count(shown: String, announced: usize, facts: &WakeFacts<'_>, shape: &Shape) -> String {
    match facts.unread.saturating_sub(read(facts, shape).len() + announced) {
        0 => shown,
        left => format!("{shown}\n{}", unread_line(left, &facts.reader)),
    }
}

/// Cuts a message that has more than so many characters, and adds how to see the rest.
pub(super) fn cut_message(content: &str, most: usize, reader: &AgentName) -> Option<String> {
    let text = Text::new(content);
    let more = text.chars().checked_sub(most).filter(|more| *more > 0)?;
    let kept = text.before(CharOffset::new(most)).as_str();
    Some(format!("{kept}… [{more} characters more: `convoke inbox {reader} --mark`]"))
}

/// Cuts a line to so many characters, and shows that it did.
fn clipped(line: &str, most: usize) -> String {
    let text = Text::new(line);
    if text.chars() <= most {
        return line.to_owned();
    }
    format!(
        "{}… [{} characters more]",
        text.before(CharOffset::new(most)).as_str(),
        text.chars() - most
    )
}
