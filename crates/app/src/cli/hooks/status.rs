//! `convoke hooks status`: the state of a client's hooks, from its settings to the agent, and why
//! they deliver nothing if they do not.

use convoke_domain::message::shown_time;
use convoke_service::failure::Failure;
use convoke_service::hooks::{DeliveryObstacle, HooksReport, WakeArrival};
use convoke_service::settings::wake::settings_for_hook;
use convoke_service::status::ClientHooks;
use jiff::Timestamp;
use jiff::tz::Offset;

use crate::app::{App, Format};
use crate::cli::status::hooks_row;
use crate::exit::Exit;
use crate::output::Output;

/// Prints the state; without installed hooks the check fails.
pub(super) fn print(report: &HooksReport, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let clock = settings_for_hook(&app.session).0.clock;
    match app.format {
        Format::Json => output.json(report)?,
        Format::Text => output.lines(&lines(report, clock, app.session.now()), 2)?,
    }
    Ok(if report.installed { Exit::Done } else { Exit::No })
}

/// Prints a line for each client; the answer is no if none has hooks.
pub(super) fn print_all(
    clients: &[ClientHooks],
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(&clients)?,
        Format::Text if clients.is_empty() => {
            output.data("no client is on the PATH; see `convoke doctor`\n")?;
        }
        Format::Text => {
            for hooks in clients {
                output.lines(&format!("{}\n", hooks_row(hooks, app.session.now())), 2)?;
            }
        }
    }
    let is_installed = clients.iter().any(|hooks| hooks.installed);
    Ok(if is_installed { Exit::Done } else { Exit::No })
}

/// Renders the state, from the settings to the agent.
fn lines(report: &HooksReport, clock: Offset, now: Timestamp) -> String {
    let state = match (report.entries, report.trust) {
        (0, _) if report.plugin.is_some() => "installed".to_owned(),
        (0, _) => "not installed".to_owned(),
        (1, None) => "installed (1 entry)".to_owned(),
        (1, Some(trust)) => format!("installed (1 entry), {trust}"),
        (count, None) => format!("installed ({count} entries)"),
        (count, Some(trust)) => format!("installed ({count} entries), {trust}"),
    };
    let plugin = report.plugin.as_ref();
    let plugin = plugin.map_or_else(String::new, |name| match report.entries {
        0 => format!(" by the plugin {name}"),
        _ => format!(", and by the plugin {name}"),
    });
    let mut lines = vec![format!("{}  {state}{plugin}", report.path)];
    if let (Some(agent), Some(place)) = (&report.agent, report.agent_from) {
        lines.push(format!("agent: @{agent} ({place})"));
    }
    let when = |at: &Option<String>| {
        at.as_ref().map_or("never".to_owned(), |at| format!("at {}", shown_time(at, clock)))
    };
    let arrived = match (&report.delivered_at, &report.arrived_at) {
        (None, _) => String::new(),
        // The time may be that of this look.
        (Some(_), Some(_)) => ", arrived: seen in the client's record".to_owned(),
        (Some(_), None) if report.arrival == Some(WakeArrival::Missing) => {
            ", but it is not in the client's record".to_owned()
        }
        (Some(_), None) => ", not in the client's record yet".to_owned(),
    };
    lines.push(format!("fired: {}", when(&report.fired_at)));
    lines.push(format!("delivered: {}{arrived}", when(&report.delivered_at)));
    lines.extend(report.failed.as_ref().map(|failed| format!("failed: {}", failed.words())));
    lines.extend(report.copy.as_ref().map(|copy| format!("copy: {}", copy.line(now))));
    if !report.left_out.is_empty() {
        let list: Vec<_> = report.left_out.iter().map(|name| format!("`{name}`")).collect();
        let list = list.join(" and ");
        lines.push(format!("Convoke ignores unusable settings of {list}; run `convoke doctor`"));
    }
    if let Some(DeliveryObstacle { why, fix }) = &report.not_delivered {
        lines.push(format!("not delivered: {why}; {fix}"));
    }
    lines.join("\n") + "\n" + &report.pins.iter().map(|pin| pin.status(clock)).collect::<String>()
}
