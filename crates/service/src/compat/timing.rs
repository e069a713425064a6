//! The ledger of steps and times. It never stops a workflow: everything that is wrong is a warning.

use std::path::Path;

use convoke_domain::ledger::bracket::Bracket;
use convoke_domain::ledger::place;
use convoke_domain::ledger::request::{LedgerRequest, ReportRequest, TimingOrder};
use convoke_domain::ledger::timing::{TimingEvent, TimingRow, rows};
use convoke_domain::ledger::timing_report::{full, terse};
use convoke_engine::ledger::{self, real};

use super::ScriptReply;
use crate::session::Session;

/// Writes to the ledger of steps and times, or reports on it.
pub fn timing(session: &Session, words: &[String]) -> ScriptReply {
    ScriptReply::text(answer(session, words), 0)
}

/// Returns what is printed.
fn answer(session: &Session, words: &[String]) -> String {
    let request = match LedgerRequest::<TimingOrder>::parse(words) {
        Ok(request) => request,
        Err(misuse) => {
            warn(session, &misuse.to_string());
            return String::new();
        }
    };
    let given = request.ledger.as_deref().map(Path::new);
    let found = place::timing(given, &session.environment.ledgers(), &real);
    found.warnings.iter().for_each(|warning| warn(session, warning));
    let Some(path) = found.path else {
        let is_report = matches!(request.order, TimingOrder::Report(_));
        return if is_report { unavailable("there is no ledger") } else { String::new() };
    };
    match request.order {
        TimingOrder::Mark(step) => append(session, &path, TimingEvent::Mark(step)),
        TimingOrder::Workflow(kind) => append(session, &path, TimingEvent::Workflow(kind)),
        TimingOrder::Record(task) => {
            task.remark().iter().for_each(|remark| warn(session, remark));
            append(session, &path, TimingEvent::Task(task));
        }
        TimingOrder::Dump => {
            let text = ledger::read(&path).unwrap_or_default();
            return format!("{}\n{text}", path.display());
        }
        TimingOrder::Report(wanted) => return report(session, &path, &wanted),
    }
    String::new()
}

fn append(session: &Session, path: &Path, event: TimingEvent) {
    let skill = session.environment.timing_skill().unwrap_or_default();
    let row = TimingRow { at: session.now().as_second(), skill, event };
    if let Err(error) = ledger::append(path, &row.line()) {
        warn(session, &error.to_string());
    }
}

/// Returns the report, unless it goes into a document.
fn report(session: &Session, path: &Path, wanted: &ReportRequest) -> String {
    let Some(text) = ledger::read(path) else {
        return unavailable("the ledger cannot be read");
    };
    let (rows, wrong) = rows(&text);
    if wrong > 0 {
        warn(session, &format!("{wrong} lines of the ledger are not rows of 13 columns"));
    }
    let is_mark = |row: &&TimingRow| matches!(row.event, TimingEvent::Mark(_));
    let last = || rows.iter().rev().find(is_mark).map(|row| row.skill.clone());
    let now = session.now().as_second();
    let report = if wanted.is_full {
        full(&rows, now)
    } else {
        let skill = session.environment.timing_skill().or_else(last).unwrap_or_default();
        terse(&rows, &skill, now).map(|line| line + "\n")
    };
    let Some(report) = report else { return unavailable("no step was marked") };
    let Some(document) = &wanted.append else { return report };
    if let Err(error) = ledger::place(Path::new(document), Bracket::Timing, &report) {
        warn(session, &error.to_string());
    }
    String::new()
}

fn unavailable(why: &str) -> String {
    format!("Timing report unavailable: {why}\n")
}

fn warn(session: &Session, text: &str) {
    session.reporter().say(format!("timing-ledger: warning: {text}"));
}
