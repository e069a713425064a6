//! `convoke wake`: the text that puts an agent back where it was.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::scope::AgentName;
use convoke_domain::token::Budget;
use convoke_domain::wake::{NewMessage, WakeProfile};
use convoke_service::failure::Failure;
use convoke_service::wake::{WakeReport, WakeRequest, wake};

use crate::app::{App, Format, Verbosity};
use crate::cli::brief::budget;
use crate::exit::Exit;
use crate::output::Output;

/// Print an agent's wake-up: skill, plan, messages, next action
///
/// Builds the text from the store, the plan and the skill files, and changes nothing: the same
/// state gives the same text. To fit the budget, Convoke leaves out history first, then
/// explanations, and the skill last. The text says what is missing and how to see it; messages that
/// it leaves out stay unread.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent [default: the agent of this session, else of this project]
    #[arg(value_parser = AgentName::parse)]
    agent: Option<AgentName>,

    /// The agent, as in other commands
    #[arg(long = "as", value_name = "AGENT", conflicts_with = "agent", value_parser = AgentName::parse)]
    acting: Option<AgentName>,

    /// The kind of wake-up [default: orchestrator for the configured orchestrator, else agent]
    #[arg(long, value_parser = profile())]
    profile: Option<WakeProfile>,

    /// Show this text as the new message, without storing it [default: the newest unread message]
    #[arg(long, value_name = "TEXT", requires = "from")]
    message: Option<String>,

    /// The sender of that message
    #[arg(long, value_name = "AGENT", requires = "message", value_parser = AgentName::parse)]
    from: Option<AgentName>,

    /// Fit the wake-up into this many tokens [default: 8000]
    #[arg(long, value_name = "N", value_parser = budget())]
    budget: Option<Budget>,

    /// Show how Convoke chose the text instead of the text
    #[arg(long)]
    explain: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let message = self.message.clone().zip(self.from.clone());
        let report = wake(
            &app.session,
            WakeRequest {
                agent: self.agent.clone().or_else(|| self.acting.clone()),
                profile: self.profile,
                message: message.map(|(content, from)| NewMessage { from, content }),
                budget: self.budget,
            },
        )?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text if self.explain => output.data(&explain(&report))?,
            Format::Text => {
                if app.verbosity == Verbosity::Verbose {
                    let notes = report.diagnostics.iter();
                    notes.for_each(|code| output.say(&format!("note: {code}")));
                }
                output.data(&report.text)?;
            }
        }
        Ok(Exit::Done)
    }
}

fn profile() -> impl TypedValueParser<Value = WakeProfile> {
    PossibleValuesParser::new(WakeProfile::ALL.map(WakeProfile::name))
        .try_map(|name| WakeProfile::parse(&name).ok_or("no such profile"))
}

fn explain(report: &WakeReport) -> String {
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let skill = report.skill.as_ref().zip(report.skill_reason);
    let no_file = if report.skill.is_some() { "not found" } else { "none" };
    let steps = &report.steps;
    let rows = [
        ("cost", format!("{} of {} tokens, an estimate", report.cost, report.budget)),
        ("extent", report.extent.to_owned()),
        ("shortened", if steps.is_empty() { "no".to_owned() } else { steps.join(", ") }),
        ("skill", skill.map_or("none".to_owned(), |(skill, why)| format!("{skill} ({why})"))),
        ("file", report.skill_path.clone().unwrap_or_else(|| no_file.to_owned())),
        ("plan", or_none(&report.plan_file)),
        ("task", or_none(&report.task)),
        ("message", or_none(&report.message_id.map(|id| id.to_string()))),
    ];
    let notes = report.diagnostics.iter().map(|code| format!("note: {code}\n"));
    rows.iter()
        .map(|(name, value)| format!("{name:<10} {value}\n"))
        .chain(notes)
        .collect::<Vec<_>>()
        .concat()
}
