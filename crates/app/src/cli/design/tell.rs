//! Prints the report on a design that ended.

use convoke_service::design::{DesignReport, warning_count};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::summary;
use convoke_service::failure::Failure;
use convoke_service::next_command::NextCommand;

/// Prints how it ended, and the next commands: on one screen at a terminal.
pub(in crate::cli) fn tell(
    app: &App,
    report: &DesignReport,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let exit = report.class.map_or(Exit::Done, Exit::from);
    if app.format == Format::Json {
        output.json(report)?;
        return Ok(exit);
    }
    if output.is_terminal() {
        let (columns, rows) = output.page_size();
        output.page(&summary::lines(report, columns, rows))?;
        return Ok(exit);
    }
    let DesignReport { run, ending, degraded, .. } = report;
    if degraded.is_empty() {
        output.say(&format!("run {run}: {ending}"));
    } else {
        let warnings = warning_count(degraded.len());
        output.say(&format!("DEGRADED: {warnings}, repeated in step 5"));
        output.say(&format!("run {run}: {ending}, DEGRADED ({warnings})"));
    }
    if report.is_planned {
        left_to_people(report, output);
    }
    for NextCommand { command, why } in &report.next {
        output.say(&format!("hint: {}", format!("{command} {why}").trim()));
    }
    Ok(exit)
}

/// Prints the matters left to a person: withheld and undecided ones.
fn left_to_people(report: &DesignReport, output: &Output) {
    let held = &report.matters.withheld;
    if !held.is_empty() {
        let accepted = held.iter().filter(|matter| matter.is_accepted).count();
        let place = report.withheld_file.as_ref().map(|path| format!(" They are in {path}."));
        output.say(&format!(
            "withheld from published files: {} out of scope that may concern security ({accepted} accepted).{} `convoke show {}` lists them.",
            findings(held.len()),
            place.unwrap_or_default(),
            report.run
        ));
    }
    let Some(way_out) = &report.way_out else { return };
    let open = &report.matters.undecided;
    let listed: Vec<_> =
        open.iter().map(|matter| format!("{} ({})", matter.id, matter.panel)).collect();
    output.say(&format!("undecided: {}", listed.join(", ")));
    output.say(&format!("hint: {way_out}"));
}

fn findings(count: usize) -> String {
    format!("{count} finding{}", if count == 1 { "" } else { "s" })
}
