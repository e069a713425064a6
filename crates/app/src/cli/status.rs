//! `convoke status`: the project on one screen.

use convoke_domain::design::progress::elapsed;
use convoke_domain::lane::budget::dollars;
use convoke_domain::text::{counted, fitting, one_line, shell_word};
use convoke_service::failure::Failure;
use convoke_service::hooks::WakeArrival;
use convoke_service::lane::shown_reset;
use convoke_service::run::RunStateReport;
use convoke_service::status::{
    ClientHooks, ClientMcp, OpenDesign, OpenFan, RunningLane, SpentToday, StatusReport,
    UnreadMessages, status,
};
use convoke_service::task::TaskProgress;
use jiff::Timestamp;

use super::init::next;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::styled::{Ink, StyledLine};

/// Show this project on one screen
///
/// Shows the current task and progress, unread messages, hooks, running lanes and designs, what was
/// spent today, and what to do next. Starts no agent and costs nothing.
#[derive(Debug, clap::Args)]
pub struct StatusArgs {}

/// How many clients, lanes and designs are shown; the rest are counted.
const MOST: usize = 4;

/// How many columns a row's name takes.
const NAME: usize = 11;

/// How many columns of a title or a feature are shown, so that one screen is enough.
const MOST_TITLE: usize = 90;

impl StatusArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = status(&app.session)?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                let columns = output.page_size().0;
                output.page(&screen(&report, app.session.now(), columns))?;
            }
        }
        Ok(Exit::Done)
    }
}

fn screen(report: &StatusReport, now: Timestamp, columns: usize) -> Vec<StyledLine> {
    let StatusReport { project, branch, folder, .. } = report;
    let place = if report.has_git { format!("on {branch}") } else { "(no git)".to_owned() };
    let agent = match (&report.agent, report.agent_from) {
        (Some(agent), Some(place)) => format!("@{agent} ({place})"),
        (Some(agent), None) => format!("@{agent}"),
        (None, _) if report.hooks.is_empty() => {
            "none yet; `convoke config set wake.agent me` sets one".to_owned()
        }
        (None, _) => "none yet; `convoke init` sets one".to_owned(),
    };
    let mut rows = vec![
        ("project", format!("{project} {place}, in {folder}")),
        ("agent", agent),
        ("task", task(&report.tasks, &report.elsewhere)),
        ("progress", progress(&report.tasks)),
    ];
    rows.extend(named("elsewhere", report.elsewhere.clone()));
    rows.push(("messages", messages(&report.unread)));
    let hooks = some(&hooks_in_groups(&report.hooks, now), Clone::clone);
    rows.extend(named_or("hooks", hooks, "no client on the PATH; see `convoke doctor`"));
    rows.extend(named("mcp", some(&mcp(&report.mcp), Clone::clone)));
    rows.extend(report.copy.iter().map(|copy| ("copy", copy.line(now))));
    let lanes = some(&report.lanes, lane);
    rows.extend(named_or("lanes", lanes, "none are running"));
    let designs = designs(&report.designs);
    rows.extend(named_or("designs", designs, no_designs(report.last_design.as_deref())));
    rows.extend(named("fans", some(&report.fans, fan)));
    rows.push(("today", today(&report.today)));
    let wrapped = |(name, value): (&str, String)| {
        let line = StyledLine::new(Ink::Strong, name).padded(NAME).with(Ink::Plain, &value);
        line.folded(columns, NAME)
    };
    let next = next(&report.next, columns);
    let next = next.lines().map(StyledLine::plain);
    rows.into_iter().flat_map(wrapped).chain(next).collect()
}

/// Says how to see the last design, or how to begin one.
const fn no_designs(last: Option<&str>) -> &'static str {
    match last {
        Some(_) => "none are running; `convoke show` shows the last one",
        None => "none are running; `convoke design` begins one",
    }
}

/// Renders the first few items, and counts the rest.
fn some<T>(things: &[T], render: impl Fn(&T) -> String) -> Vec<String> {
    let mut lines: Vec<_> = things.iter().take(MOST).map(render).collect();
    if things.len() > MOST {
        lines.push(format!("and {} more", things.len() - MOST));
    }
    lines
}

/// Puts a name before the first line alone.
fn named(name: &'static str, lines: Vec<String>) -> Vec<(&'static str, String)> {
    let names = std::iter::once(name).chain(std::iter::repeat(""));
    names.zip(lines).collect()
}

/// Puts a name before the first line alone, or before other words where there are no lines.
fn named_or(name: &'static str, lines: Vec<String>, none: &str) -> Vec<(&'static str, String)> {
    named(name, if lines.is_empty() { vec![none.to_owned()] } else { lines })
}

fn task(tasks: &TaskProgress, elsewhere: &[String]) -> String {
    match &tasks.current {
        Some(task) => {
            let state = if task.is_begun { "in progress" } else { "not started" };
            let agent = task.agent.as_ref().map_or(String::new(), |agent| format!(", @{agent}"));
            let title = fitting(&one_line(&task.title), MOST_TITLE);
            format!("{} {title} ({state}{agent})", task.id)
        }
        None if !tasks.cancelled_plans.is_empty() => cancelled(&tasks.cancelled_plans),
        None if tasks.total > 0 => "all tasks are closed".to_owned(),
        None if !elsewhere.is_empty() => "none on this branch".to_owned(),
        None => "none yet; `convoke task add` or `convoke task import` adds some".to_owned(),
    }
}

/// Names the cancelled plans, and how each comes back.
fn cancelled(plans: &[String]) -> String {
    let words = |plan: &String| {
        let (shown, word) = (one_line(plan), shell_word(plan));
        format!("{shown} is cancelled; `convoke plan reinstate {word}` takes it up again")
    };
    format!("none open: {}", some(plans, words).join(", "))
}

fn progress(tasks: &TaskProgress) -> String {
    match tasks.total {
        0 => "no tasks on this branch".to_owned(),
        total => {
            let cancelled = match tasks.cancelled {
                0 => String::new(),
                count => format!(", {count} cancelled"),
            };
            format!("{} of {} closed{cancelled}", tasks.closed, counted(total, "task"))
        }
    }
}

fn messages(unread: &[UnreadMessages]) -> String {
    let some: Vec<_> = unread.iter().filter(|unread| unread.count > 0).collect();
    if some.is_empty() {
        return "none unread".to_owned();
    }
    let words = |UnreadMessages { reader, count }: &&UnreadMessages| {
        format!("{count} unread for @{reader} (`convoke inbox {reader}`)")
    };
    some.iter().map(words).collect::<Vec<_>>().join(", ")
}

/// Renders the activity of hooks: clients with the same state share a line.
fn hooks_in_groups(hooks: &[ClientHooks], now: Timestamp) -> Vec<String> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for hooks in hooks {
        let state = hooks_state(hooks, now);
        match groups.iter_mut().find(|(known, _)| *known == state) {
            Some((_, clients)) => clients.push(&hooks.client),
            None => groups.push((state, vec![&hooks.client])),
        }
    }
    groups.iter().map(|(state, clients)| format!("{}: {state}", clients.join(", "))).collect()
}

/// Renders which clients have Convoke's MCP server in one line, what keeps others from it, and what
/// the user has to approve first.
fn mcp(entries: &[ClientMcp]) -> Vec<String> {
    let mut clients: Vec<_> = entries.iter().filter(|entry| entry.problem.is_none()).collect();
    // A client may have an entry of the project and one of the user.
    clients.sort_by_key(|entry| entry.client);
    clients.dedup_by_key(|entry| entry.client);
    let names: Vec<_> = clients.iter().map(|entry| entry.client).collect();
    let installed = (!names.is_empty()).then(|| format!("installed for {}", names.join(", ")));
    let problems = entries.iter().filter_map(|entry| entry.problem.clone());
    let waiting = entries.iter().filter_map(|entry| {
        let approval = entry.approval.as_ref()?;
        let is_known = approval.state != "unknown";
        let words = approval.sentence()?;
        // What is to do names the client itself.
        Some(if is_known { words } else { format!("{}: {words}", entry.client) })
    });
    installed.into_iter().chain(problems).chain(waiting).collect()
}

/// Renders the activity of a client's hooks in one line.
pub(super) fn hooks_row(hooks: &ClientHooks, now: Timestamp) -> String {
    format!("{}: {}", hooks.client, hooks_state(hooks, now))
}

fn hooks_state(hooks: &ClientHooks, now: Timestamp) -> String {
    if let Some(problem) = &hooks.problem {
        return problem.clone();
    }
    if !hooks.installed {
        return format!("none; `convoke hooks install {}`", hooks.client);
    }
    let ago = |at: &String| at.parse().map_or(at.clone(), |at| ago(at, now));
    let Some(at) = &hooks.delivered_at else { return "installed; no session began yet".to_owned() };
    match hooks.arrival {
        // A wake-up reaches the agent when the hook answers; Convoke sees that in the record later.
        Some(WakeArrival::Arrived) => format!("wake-up arrived {}", ago(at)),
        Some(WakeArrival::Missing) => {
            format!("wake-up delivered {}, but it is not in the client's record", ago(at))
        }
        Some(WakeArrival::Unknown) | None => {
            format!("wake-up delivered {}, not in the client's record yet", ago(at))
        }
    }
}

fn lane(lane: &RunningLane) -> String {
    let words = [Some(&lane.agent), lane.role.as_ref(), lane.run.as_ref()];
    let words: Vec<_> = words.into_iter().flatten().map(String::as_str).collect();
    let cost = lane.tokens.map(|tokens| format!(", {}", spent(tokens, lane.micro_dollars)));
    let (time, cost) = (elapsed(lane.elapsed_ms / 1000), cost.unwrap_or_default());
    format!("{}: {}, {time}{cost}", lane.id, words.join(", "))
}

/// Renders the designs that run or are worth resuming, and counts those that stopped before an agent
/// answered, or whose branch is gone.
fn designs(all: &[OpenDesign]) -> Vec<String> {
    let is_live = |design: &&OpenDesign| {
        design.state == RunStateReport::Running || design.is_worth_resuming()
    };
    let (live, rest): (Vec<_>, Vec<_>) = all.iter().partition(is_live);
    let mut lines = some(&live, |live| design(live));
    let unanswered = rest.iter().filter(|design| design.answers == 0).count();
    let why = match (unanswered, rest.len()) {
        (_, 0) => return lines,
        (0, _) => "stopped, and its branch is gone",
        (count, all) if count == all => "stopped before an agent answered",
        (_, _) => "stopped without an answer, or without its branch",
    };
    lines.push(format!("{} {why}; see `convoke runs`", counted(rest.len(), "run")));
    lines
}

fn design(design: &OpenDesign) -> String {
    let OpenDesign { run, state, feature, .. } = design;
    let cost = spent(design.tokens, design.micro_dollars);
    let feature = fitting(&one_line(feature), MOST_TITLE);
    let parked = parked(design.parked_until.as_deref());
    format!("{run}: {state}{parked}, {}, {cost}, {feature}", age(*state, design.elapsed_ms))
}

fn fan(fan: &OpenFan) -> String {
    let OpenFan { run, state, template, .. } = fan;
    let cost = spent(fan.tokens, fan.micro_dollars);
    let template = fitting(&one_line(template), MOST_TITLE);
    let parked = parked(fan.parked_until.as_deref());
    let resume = fan.resume.as_ref();
    let resume = resume.map(|command| format!("; `{command}`")).unwrap_or_default();
    format!("{run}: {state}{parked}, {}, {cost}, {template}{resume}", age(*state, fan.elapsed_ms))
}

/// Says until when a run waits, if it waits for the end of a limit.
fn parked(until: Option<&str>) -> String {
    let until = until.and_then(|until| until.parse().ok());
    until.map(|until| format!(", parked until {}", shown_reset(until))).unwrap_or_default()
}

/// Says how long a run has run, or how long ago it began.
fn age(state: RunStateReport, milliseconds: u64) -> String {
    let time = elapsed(milliseconds / 1000);
    if state == RunStateReport::Running { time } else { format!("began {time} ago") }
}

/// Renders tokens and money in a few columns.
pub(super) fn spent(tokens: u64, micro_dollars: Option<u64>) -> String {
    let tokens = match tokens {
        0..1_000 => format!("{tokens} tokens"),
        1_000..1_000_000 => format!("{}k tokens", tokens / 1_000),
        _ => format!("{}.{}M tokens", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    };
    micro_dollars.map_or(tokens.clone(), |amount| format!("{tokens}, {}", dollars(amount)))
}

fn today(today: &SpentToday) -> String {
    let budget = match (today.budgets.as_slice(), today.is_used_up) {
        ([], _) => "no daily budget".to_owned(),
        (budgets, false) => format!("budget {}", budgets.join(" and ")),
        (budgets, true) => format!("budget {} USED UP", budgets.join(" and ")),
    };
    let without_usage = match today.without_usage {
        0 => String::new(),
        1 => " (1 lane reported no usage and is not counted)".to_owned(),
        count => format!(" ({count} lanes reported no usage and are not counted)"),
    };
    let partial_usage = match today.partial_usage {
        0 => String::new(),
        1 => " (1 lane reported a part of its usage)".to_owned(),
        count => format!(" ({count} lanes reported a part of their usage)"),
    };
    let lanes = match today.lanes {
        1 => "1 lane".to_owned(),
        count => format!("{count} lanes"),
    };
    let spent = spent(today.tokens, today.micro_dollars);
    format!("all projects: {spent} in {lanes}{without_usage}{partial_usage}; {budget}")
}

fn ago(at: Timestamp, now: Timestamp) -> String {
    let passed = u64::try_from(now.duration_since(at).as_secs()).unwrap_or_default();
    format!("{} ago", elapsed(passed))
}
