//! The ledger of tokens. It never stops a workflow: every error is a warning.

use std::path::Path;

use convoke_domain::compat::ledger::bracket::Bracket;
use convoke_domain::compat::ledger::place;
use convoke_domain::compat::ledger::request::{LedgerRequest, ReportRequest, TokenOrder};
use convoke_domain::compat::ledger::token_report::{HostUse, full, terse};
use convoke_domain::compat::ledger::tokens::{TokenEvent, TokenRow};
use convoke_engine::client::claude::spent::spent;
use convoke_engine::compat::ledger::token_rows::{line, rows};
use convoke_engine::compat::ledger::{real, token_file};

use super::ScriptReply;
use super::ledger::ScriptLedger;
use crate::session::Session;

/// Writes to the ledger of tokens, or reports on it.
pub fn tokens(session: &Session, words: &[String]) -> ScriptReply {
    let (program, title) = ("token-ledger", "Token report");
    let ledger = ScriptLedger { session, program, title, bracket: Bracket::Tokens };
    ScriptReply::text(answer(&ledger, words), 0)
}

/// Returns the output.
fn answer(ledger: &ScriptLedger<'_>, words: &[String]) -> String {
    let request = match LedgerRequest::<TokenOrder>::parse(words) {
        Ok(request) => request,
        Err(misuse) => {
            ledger.warn(&misuse.to_string());
            return String::new();
        }
    };
    let environment = &ledger.session.environment;
    let named = environment.ledgers();
    let working = environment.current_dir().unwrap_or_default();
    let name = token_file(&named, environment.token_session().as_deref(), &working);
    let given = request.ledger.as_deref().map(Path::new);
    let found = place::tokens(given, &named, &name, &real);
    found.warnings.iter().for_each(|warning| ledger.warn(warning));
    let Some(path) = found.path else {
        let is_report = matches!(request.order, TokenOrder::Report(_));
        return if is_report { ledger.unavailable("there is no ledger") } else { String::new() };
    };
    match request.order {
        TokenOrder::Mark(step) => append(ledger, &path, TokenEvent::Mark(step)),
        TokenOrder::Record(used) => append(ledger, &path, TokenEvent::Use(used)),
        TokenOrder::Dump => return ScriptLedger::dump(&path),
        TokenOrder::Report(wanted) => {
            return ledger.report(&path, &wanted, |text| report(ledger, text, &wanted));
        }
    }
    String::new()
}

fn append(ledger: &ScriptLedger<'_>, path: &Path, event: TokenEvent) {
    ledger.append(path, &line(&TokenRow { at: ledger.session.now(), event }));
}

/// Renders the report, if a step was marked.
fn report(ledger: &ScriptLedger<'_>, text: &str, wanted: &ReportRequest) -> Option<String> {
    let (rows, wrong) = rows(text);
    if wrong > 0 {
        ledger.warn(&format!("{wrong} lines of the ledger are not rows"));
    }
    let host = host(ledger);
    if wanted.is_full { full(&rows, &host) } else { terse(&rows, &host).map(|line| line + "\n") }
}

/// Returns what the host used itself, as far as its record is there.
fn host(ledger: &ScriptLedger<'_>) -> Vec<HostUse> {
    let Some(source) = ledger.session.environment.claude_source() else {
        ledger.warn(
            "LARCH_CLAUDE_SOURCE_FILE names no transcript, so Claude's own tokens are not counted",
        );
        return Vec::new();
    };
    spent(&source).unwrap_or_else(|| {
        ledger.warn(&format!("cannot read `{}`", source.display()));
        Vec::new()
    })
}
