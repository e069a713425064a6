//! `convoke plumbing timing`. A ledger never stops a workflow: everything that is wrong is a warning.

use std::path::Path;

use convoke_domain::ledger::bracket::Bracket;
use convoke_domain::ledger::place;
use convoke_domain::ledger::request::{LedgerRequest, ReportRequest, TimingOrder};
use convoke_domain::ledger::timing::{TimingEvent, TimingRow, rows};
use convoke_domain::ledger::timing_report::{full, terse};
use convoke_engine::ledger::{self, real};

use crate::app::App;
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

pub(super) fn run(app: &App, words: &[String], output: &mut Output) -> Result<Exit, Failure> {
    let request = match LedgerRequest::<TimingOrder>::parse(words) {
        Ok(request) => request,
        Err(misuse) => {
            warn(&misuse.to_string(), output);
            return Ok(Exit::Done);
        }
    };
    let given = request.ledger.as_deref().map(Path::new);
    let found = place::timing(given, &app.environment.ledgers(), &real);
    found.warnings.iter().for_each(|warning| warn(warning, output));
    let Some(path) = found.path else {
        if matches!(request.order, TimingOrder::Report(_)) {
            output.data("Timing report unavailable: there is no ledger\n")?;
        }
        return Ok(Exit::Done);
    };
    match request.order {
        TimingOrder::Mark(step) => append(&path, TimingEvent::Mark(step), app, output),
        TimingOrder::Workflow(it) => append(&path, TimingEvent::Workflow(it), app, output),
        TimingOrder::Record(task) => {
            task.remark().iter().for_each(|remark| warn(remark, output));
            append(&path, TimingEvent::Task(task), app, output);
        }
        TimingOrder::Dump => {
            let text = ledger::read(&path).unwrap_or_default();
            output.data(&format!("{}\n{text}", path.display()))?;
        }
        TimingOrder::Report(report) => return say(&path, &report, app, output),
    }
    Ok(Exit::Done)
}

fn append(path: &Path, event: TimingEvent, app: &App, output: &Output) {
    let skill = app.environment.timing_skill().unwrap_or_default();
    let row = TimingRow { at: now().as_second(), skill, event };
    if let Err(error) = ledger::append(path, &row.line()) {
        warn(&error.to_string(), output);
    }
}

fn say(
    path: &Path,
    report: &ReportRequest,
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Some(text) = ledger::read(path) else {
        output.data("Timing report unavailable: the ledger cannot be read\n")?;
        return Ok(Exit::Done);
    };
    let (rows, wrong) = rows(&text);
    if wrong > 0 {
        warn(&format!("{wrong} lines of the ledger are no rows of 13 columns"), output);
    }
    let is_mark = |row: &&TimingRow| matches!(row.event, TimingEvent::Mark(_));
    let last = || rows.iter().rev().find(is_mark).map(|row| row.skill.clone());
    let now = now().as_second();
    let said = if report.is_full {
        full(&rows, now)
    } else {
        let skill = app.environment.timing_skill().or_else(last).unwrap_or_default();
        terse(&rows, &skill, now).map(|line| line + "\n")
    };
    let Some(said) = said else {
        output.data("Timing report unavailable: no step was marked\n")?;
        return Ok(Exit::Done);
    };
    match &report.append {
        None => output.data(&said)?,
        Some(document) => {
            if let Err(error) = ledger::place(Path::new(document), Bracket::Timing, &said) {
                warn(&error.to_string(), output);
            }
        }
    }
    Ok(Exit::Done)
}

fn warn(text: &str, output: &Output) {
    output.say(&format!("timing-ledger: warning: {text}"));
}
