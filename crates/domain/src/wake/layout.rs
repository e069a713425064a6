//! How a wake-up reads, byte for byte.

use super::fit::{PlanForm, Shape};
use super::next_step;
use super::{Facts, Order, PlanText, Profile};
use crate::message::quote;
use crate::pin;
use crate::plan;
use crate::task::outline::Outline;
use crate::text::{CharOffset, Text};

const NONE: &str = "(none)";

/// How many lines are shown on each side of the current task, where all are too many.
const AROUND: usize = 12;

/// Renders the facts in a shape.
pub(super) fn render(facts: &Facts<'_>, shape: &Shape) -> String {
    let text = match facts.profile {
        Profile::Agent => agent(facts, shape),
        Profile::Orchestrator => orchestrator(facts, shape),
    };
    match pin::block(&facts.pins, shape.pins).as_str() {
        "" => text,
        rules => format!("{rules}\n\n{}", text.trim_start_matches('\n')),
    }
}

fn agent(facts: &Facts<'_>, shape: &Shape) -> String {
    let skill = skill(facts, shape);
    let tasks = tasks(facts, shape).unwrap_or_else(|| NONE.to_owned());
    let recent = activity(facts, shape).unwrap_or_else(|| NONE.to_owned());
    let new = message(facts, shape);
    let skill = format!("## Your Current Skill\n{skill}");
    let tasks = format!("## Your Current Task\n{tasks}");
    let recent = format!("## Recent Messages\n{recent}");
    let new = format!("## New Message\n{new}");
    let sections = match facts.order {
        Order::Contract => [skill, tasks, recent, new],
        Order::CriticalFirst => [tasks, new, recent, skill],
    };
    format!("\n{}\n", sections.join("\n\n"))
}

fn orchestrator(facts: &Facts<'_>, shape: &Shape) -> String {
    let head = facts.skill.id.as_ref().map_or(String::new(), |id| {
        format!("You are using `{}` to {}.\n\n", id.bare(), id.purpose())
    });
    let title = Some("# Orchestrator Wake-up Context".to_owned());
    let name = Some(format!("You are @{}, the orchestrator for this project.", facts.reader));
    let skill = Some(format!("## Current Skill\n{head}{}", skill(facts, shape)));
    let plan = plan_section(facts, shape);
    let tasks = tasks(facts, shape).map(|it| format!("## Current Tasks\n{it}{}", place(facts)));
    let activity = activity(facts, shape).map(|lines| format!("## Recent Activity\n{lines}"));
    let new = Some(format!("## New Message\n{}", message(facts, shape)));
    let next = Some(format!("## Your Next Action\n{}", next_step::render(facts)));
    let sections = match facts.order {
        Order::Contract => [title, name, skill, plan, tasks, activity, new, next],
        Order::CriticalFirst => [title, name, tasks, new, next, activity, plan, skill],
    };
    sections.into_iter().flatten().collect::<Vec<_>>().join("\n\n") + "\n"
}

fn skill(facts: &Facts<'_>, shape: &Shape) -> String {
    let others = facts.skill.others.iter().map(|(id, path)| format!("Also follow: {id} ({path})"));
    let others: Vec<_> = others.collect();
    let mut parts = facts.skill.notices.clone();
    parts.push(shape.skill_text(&facts.skill));
    if !others.is_empty() {
        parts.push(format!("\n{}", others.join("\n")));
    }
    parts.join("\n")
}

fn plan_section(facts: &Facts<'_>, shape: &Shape) -> Option<String> {
    let plan = facts.plan.as_ref()?;
    let file = plan.file();
    let excerpt = match plan {
        PlanText::Missing { file } => format!("(plan file not found: {file})"),
        PlanText::Found { plan, .. } => {
            let label = facts.outline.as_ref().and_then(Outline::label).unwrap_or_default();
            excerpt(plan, plan::number(label).unwrap_or_default(), shape.plan)
        }
    };
    let body = if excerpt.is_empty() { String::new() } else { format!("\n\n{excerpt}") };
    Some(format!("## Active Plan\n**File:** {file}{body}"))
}

fn excerpt(plan: &plan::Plan<'_>, number: &str, form: PlanForm) -> String {
    let task = plan.task(number);
    match (form, task) {
        (PlanForm::Full, Some(task)) if plan.opening.is_empty() => task.text.to_owned(),
        (PlanForm::Full, Some(task)) => format!("{}\n\n{}", plan.opening, task.text),
        (PlanForm::Full, None) => plan.opening.to_owned(),
        (PlanForm::Task, Some(task)) => task.text.to_owned(),
        (PlanForm::HeadingAndFiles, Some(task)) => task.heading_and_files(),
        (PlanForm::Task | PlanForm::HeadingAndFiles, None) => String::new(),
    }
}

fn tasks(facts: &Facts<'_>, shape: &Shape) -> Option<String> {
    let outline = facts.outline.as_ref()?;
    let lines = match (shape.near_tasks, shape.short_tasks) {
        (true, _) => outline.near_lines(AROUND),
        (false, true) => outline.short_lines(),
        (false, false) => outline.lines(),
    };
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The two lines under the task list; nothing when everything is done.
fn place(facts: &Facts<'_>) -> String {
    let outline = facts.outline.as_ref();
    match outline.and_then(|outline| outline.position().zip(next_step::line(facts, outline))) {
        Some((position, next)) => {
            format!("\n\n**Current position:** {position}\nNext action: {next}")
        }
        None => String::new(),
    }
}

fn activity(facts: &Facts<'_>, shape: &Shape) -> Option<String> {
    let skipped = facts.activity.len().saturating_sub(shape.activity);
    let lines = &facts.activity[skipped..];
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn message(facts: &Facts<'_>, shape: &Shape) -> String {
    let Some(message) = &facts.message else { return NONE.to_owned() };
    let text = Text::new(&message.content);
    match shape.message {
        Some(most) if text.chars() > most => {
            let kept = text.before(CharOffset::new(most)).as_str();
            let (more, reader) = (text.chars() - most, &facts.reader);
            let cut = format!("{kept}… [{more} characters more: `convoke inbox {reader} --all`]");
            quote(&message.from, &cut)
        }
        Some(_) | None => quote(&message.from, &message.content),
    }
}
