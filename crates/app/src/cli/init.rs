//! `convoke init`: setting a project up in one step, and taking that back.

use convoke_domain::scope::AgentName;
use convoke_domain::text::{one_line, width};
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::hooks::DryRun;
use convoke_service::init::{
    FoundClient, FoundPlan, InitFindings, InitReport, InitRequest, InitState, InitStep, StepState,
    carry_out, plan_init, undo_init,
};
use convoke_service::next_command::NextCommand;

use super::sheet::{hung, row};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::input::{self, Typed};
use crate::output::Output;

const UNCHANGED: &str = "nothing was changed";

/// Set up this project: hooks, agent, a line in AGENTS.md
///
/// Shows every file that will change, asks once, and changes all of them or none. Without a terminal
/// and without `--yes` it only shows. `--undo` takes everything back, and keeps what you wrote since.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct InitArgs {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    /// Only show what will change
    #[arg(long)]
    dry_run: bool,

    /// Take back what `init` did in this project
    #[arg(long, conflicts_with_all = ["agent", "no_guidance"])]
    undo: bool,

    /// Give this project's sessions to this agent [default: the one that is set, else me]
    #[arg(long = "as", value_name = "NAME", value_parser = AgentName::parse)]
    agent: Option<AgentName>,

    /// Leave AGENTS.md and CLAUDE.md alone
    #[arg(long)]
    no_guidance: bool,
}

impl InitArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if self.undo {
            let rehearsal = if self.dry_run { DryRun::DryRun } else { DryRun::No };
            return print_undone(&undo_init(&app.session, rehearsal)?, app, output);
        }
        let request =
            InitRequest { agent: self.agent.clone(), leaves_out_guidance: self.no_guidance };
        let plan = match plan_init(&app.session, &request) {
            Err(failure) if failure.class == ErrorClass::Interrupted => {
                output.say(UNCHANGED);
                return Ok(Exit::Interrupted);
            }
            planned => planned?,
        };
        if self.dry_run || plan.report.state == InitState::Nothing {
            return print(&plan.report, app, output);
        }
        if self.yes {
            return print(&carry_out(&app.session, plan)?, app, output);
        }
        print(&plan.report, app, output)?;
        if app.format == Format::Json || !input::has_person() || !output.is_terminal() {
            output.say("hint: nothing was changed; `convoke init --yes` makes these changes");
            return Ok(Exit::No);
        }
        output.flush()?;
        match agreed(app, output) {
            Answer::Yes => {
                let report = carry_out(&app.session, plan)?;
                output.data(&format!("\n{}", outcome(&report, output.page_size().0)))?;
                Ok(exit(&report))
            }
            Answer::No => {
                output.say(UNCHANGED);
                Ok(Exit::No)
            }
            Answer::Stopped => {
                output.say(UNCHANGED);
                Ok(Exit::Interrupted)
            }
        }
    }
}

/// A person's answer.
enum Answer {
    Yes,
    No,
    Stopped,
}

/// Asks once. Only a clear yes counts.
fn agreed(app: &App, output: &Output) -> Answer {
    let ask = || output.say("\nMake these changes? [y/N]");
    match input::line(ask, None, &app.session.cancel()) {
        Typed::Line(line) if ["y", "yes"].contains(&line.trim().to_lowercase().as_str()) => {
            Answer::Yes
        }
        Typed::Line(_) | Typed::TooLate | Typed::End => Answer::No,
        Typed::Stopped => Answer::Stopped,
    }
}

fn exit(report: &InitReport) -> Exit {
    if report.is_blocked() { Exit::No } else { Exit::Done }
}

fn print(report: &InitReport, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(report)?,
        Format::Text => {
            let columns = output.page_size().0;
            output.data(&findings(&report.found, columns))?;
            output.data(&format!("\n{}", outcome(report, columns)))?;
        }
    }
    Ok(exit(report))
}

fn print_undone(report: &InitReport, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(report)?,
        Format::Text if report.state == InitState::Nothing => {
            let next = next(&report.next, output.page_size().0);
            let nothing = "nothing to take back: `convoke init` has changed nothing here\n";
            output.lines(nothing, 2)?;
            output.data(&next)?;
        }
        Format::Text => output.data(&outcome(report, output.page_size().0))?,
    }
    Ok(exit(report))
}

fn findings(found: &InitFindings, columns: usize) -> String {
    let row = |name: &str, value: &str| row(name, value, columns);
    let branch = found.branch.as_ref().map_or("no git".to_owned(), |name| format!("on {name}"));
    let client = |found: &FoundClient| {
        let version = found.version.as_deref().map(release);
        let version = version.map_or(String::new(), |number| format!(" {number}"));
        match found.hooks.as_str() {
            "none" | "not installed" => format!("{}{version}", found.client),
            place => format!("{}{version} (hooks: {place})", found.client),
        }
    };
    let plan = |plan: &FoundPlan| format!("{} ({})", plan.path, tasks(plan.tasks));
    let list = |words: Vec<String>, none: &str| {
        if words.is_empty() { none.to_owned() } else { one_line(&words.join(", ")) }
    };
    let plans: Vec<_> = found.plans.iter().take(3).map(plan).collect();
    let skills = match found.superpowers_skills {
        0 => "superpowers: not installed".to_owned(),
        1 => "superpowers: 1 skill".to_owned(),
        count => format!("superpowers: {count} skills"),
    };
    [
        row("project", &format!("{} ({branch})", found.folder)),
        row("clients", &list(found.clients.iter().map(client).collect(), "none on the PATH")),
        row("guidance", &list(found.guidance.clone(), "no AGENTS.md or CLAUDE.md")),
        row("plans", &list(plans, "none found")),
        row("skills", &skills),
    ]
    .concat()
}

/// Returns the number in what a client says about its version, else all of it: the client's name is
/// shown beside it.
pub(super) fn release(said: &str) -> &str {
    let mut words = said.split_whitespace();
    words.find(|word| word.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(said)
}

fn tasks(count: usize) -> String {
    if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") }
}

/// Renders the planned, completed or reverted steps, and the next commands.
fn outcome(report: &InitReport, columns: usize) -> String {
    let heading = match report.state {
        InitState::Planned => "Convoke will\n",
        InitState::Done if report.is_blocked() => "Convoke set up part of this project\n",
        InitState::Done => "Convoke set up this project\n",
        InitState::Undone => "Convoke took back its changes\n",
        InitState::Nothing if report.steps.is_empty() => "Nothing to set up here\n",
        InitState::Nothing => "Nothing to change\n",
    };
    let steps: String = report.steps.iter().map(|planned| step(planned, columns)).collect();
    let next = match report.state {
        InitState::Planned => String::new(),
        InitState::Done | InitState::Undone | InitState::Nothing => next(&report.next, columns),
    };
    format!("{heading}{steps}{next}")
}

fn step(step: &InitStep, columns: usize) -> String {
    let hung = |prefix: &str, text: &str| hung(prefix, text, columns);
    let mark = match step.state {
        StepState::Planned => "-",
        StepState::Done | StepState::Undone => "✓",
        StepState::Unchanged => "=",
        StepState::Skipped | StepState::Kept => "~",
        StepState::Blocked => "✗",
    };
    let tracked = if step.is_tracked { " (git tracks this file)" } else { "" };
    let why = match (step.state, &step.why) {
        (StepState::Unchanged, Some(why)) => format!(": nothing to do, {why}"),
        (StepState::Skipped, Some(why)) => format!(": left out, {why}"),
        (StepState::Kept, Some(why)) => format!(": left as it is, {why}"),
        (StepState::Blocked, Some(why)) => format!(": not possible, {why}"),
        (_, Some(why)) => format!(": {why}"),
        (_, None) => String::new(),
    };
    let mut text = hung(&format!("  {mark} "), &format!("{}{tracked}{why}", step.what));
    if let Some(note) = step.note.as_ref().filter(|_| step.state != StepState::Undone) {
        text += &hung("      note: ", note);
    }
    if let Some(line) = step.adds.filter(|_| step.state == StepState::Planned) {
        text += &hung("      > ", line);
    }
    text
}

/// Lists the next commands, each with what it does: beside it, or below where that is too wide.
pub(super) fn next(commands: &[NextCommand], columns: usize) -> String {
    if commands.is_empty() {
        return String::new();
    }
    let widest = commands.iter().map(|next| width(&next.command)).max().unwrap_or(0);
    let beside = |next: &NextCommand| {
        let gap = " ".repeat(widest.saturating_sub(width(&next.command)));
        format!("  {}{gap}  {}\n", next.command, next.why)
    };
    let lines: Vec<_> = commands.iter().map(beside).collect();
    let lines = if lines.iter().all(|line| width(line.trim_end()) <= columns) {
        lines.concat()
    } else {
        let below = |next: &NextCommand| format!("  {}\n      {}\n", next.command, next.why);
        commands.iter().map(below).collect()
    };
    format!("\nNext\n{lines}")
}
