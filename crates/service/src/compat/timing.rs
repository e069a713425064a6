//! The ledger of steps and times. It never stops a workflow: every error is a warning.

use std::path::Path;

use convoke_domain::compat::ledger::bracket::Bracket;
use convoke_domain::compat::ledger::place;
use convoke_domain::compat::ledger::request::{LedgerRequest, ReportRequest, TimingOrder};
use convoke_domain::compat::ledger::timing::{TimingEvent, TimingRow, rows};
use convoke_domain::compat::ledger::timing_report::{full, terse};
use convoke_engine::compat::ledger::real;

use super::ScriptReply;
use super::ledger::ScriptLedger;
use crate::session::Session;

/// Writes to the ledger of steps and times, or reports on it.
pub fn timing(session: &Session, words: &[String]) -> ScriptReply {
    let (program, title) = ("timing-ledger", "Timing report");
    let ledger = ScriptLedger { session, program, title, bracket: Bracket::Timing };
    ScriptReply::text(answer(&ledger, words), 0)
}

/// Returns the output.
fn answer(ledger: &ScriptLedger<'_>, words: &[String]) -> String {
    let request = match LedgerRequest::<TimingOrder>::parse(words) {
        Ok(request) => request,
        Err(misuse) => {
            ledger.warn(&misuse.to_string());
            return String::new();
        }
    };
    let given = request.ledger.as_deref().map(Path::new);
    let found = place::timing(given, &ledger.session.environment.ledgers(), &real);
    found.warnings.iter().for_each(|warning| ledger.warn(warning));
    let Some(path) = found.path else {
        let is_report = matches!(request.order, TimingOrder::Report(_));
        return if is_report { ledger.unavailable("there is no ledger") } else { String::new() };
    };
    match request.order {
        TimingOrder::Mark(step) => append(ledger, &path, TimingEvent::Mark(step)),
        TimingOrder::Workflow(kind) => append(ledger, &path, TimingEvent::Workflow(kind)),
        TimingOrder::Record(task) => {
            task.remark().iter().for_each(|remark| ledger.warn(remark));
            append(ledger, &path, TimingEvent::Task(task));
        }
        TimingOrder::Dump => return ScriptLedger::dump(&path),
        TimingOrder::Report(wanted) => {
            return ledger.report(&path, &wanted, |text| report(ledger, text, &wanted));
        }
    }
    String::new()
}

fn append(ledger: &ScriptLedger<'_>, path: &Path, event: TimingEvent) {
    let skill = ledger.session.environment.timing_skill().unwrap_or_default();
    let row = TimingRow { at: ledger.session.now().as_second(), skill, event };
    ledger.append(path, &row.line());
}

/// Renders the report, if a step was marked.
fn report(ledger: &ScriptLedger<'_>, text: &str, wanted: &ReportRequest) -> Option<String> {
    let (rows, wrong) = rows(text);
    if wrong > 0 {
        ledger.warn(&format!("{wrong} lines of the ledger are not rows of 13 columns"));
    }
    let is_mark = |row: &&TimingRow| matches!(row.event, TimingEvent::Mark(_));
    let last = || rows.iter().rev().find(is_mark).map(|row| row.skill.clone());
    let now = ledger.session.now().as_second();
    if wanted.is_full {
        return full(&rows, now);
    }
    let skill = ledger.session.environment.timing_skill().or_else(last).unwrap_or_default();
    terse(&rows, &skill, now).map(|line| line + "\n")
}
