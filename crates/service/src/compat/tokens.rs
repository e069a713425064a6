//! The ledger of tokens. It never stops a workflow: everything that is wrong is a warning.

use std::path::Path;

use convoke_domain::ledger::bracket::Bracket;
use convoke_domain::ledger::place;
use convoke_domain::ledger::request::{LedgerRequest, ReportRequest, TokenOrder};
use convoke_domain::ledger::token_report::{HostUse, full, terse};
use convoke_domain::ledger::tokens::{TokenEvent, TokenRow};
use convoke_engine::client::claude::spent::spent;
use convoke_engine::ledger::token_rows::{line, rows};
use convoke_engine::ledger::{self, real, token_file};

use super::ScriptReply;
use crate::session::Session;

/// Writes to the ledger of tokens, or reports on it.
pub fn tokens(session: &Session, words: &[String]) -> ScriptReply {
    ScriptReply::text(answer(session, words), 0)
}

/// Returns what is printed.
fn answer(session: &Session, words: &[String]) -> String {
    let request = match LedgerRequest::<TokenOrder>::parse(words) {
        Ok(request) => request,
        Err(misuse) => {
            warn(session, &misuse.to_string());
            return String::new();
        }
    };
    let named = session.environment.ledgers();
    let id = session.environment.token_session();
    let working = session.environment.current_dir().unwrap_or_default();
    let name = token_file(&named, id.as_deref(), &working);
    let given = request.ledger.as_deref().map(Path::new);
    let found = place::tokens(given, &named, &name, &real);
    found.warnings.iter().for_each(|warning| warn(session, warning));
    let Some(path) = found.path else {
        let is_report = matches!(request.order, TokenOrder::Report(_));
        return if is_report { unavailable("there is no ledger") } else { String::new() };
    };
    match request.order {
        TokenOrder::Mark(step) => append(session, &path, TokenEvent::Mark(step)),
        TokenOrder::Record(used) => append(session, &path, TokenEvent::Use(used)),
        TokenOrder::Dump => {
            let text = ledger::read(&path).unwrap_or_default();
            return format!("{}\n{text}", path.display());
        }
        TokenOrder::Report(wanted) => return report(session, &path, &wanted),
    }
    String::new()
}

fn append(session: &Session, path: &Path, event: TokenEvent) {
    let row = TokenRow { at: session.now(), event };
    if let Err(error) = ledger::append(path, &line(&row)) {
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
        warn(session, &format!("{wrong} lines of the ledger are not rows"));
    }
    let host = host(session);
    let report = if wanted.is_full {
        full(&rows, &host)
    } else {
        terse(&rows, &host).map(|line| line + "\n")
    };
    let Some(report) = report else { return unavailable("no step was marked") };
    let Some(document) = &wanted.append else { return report };
    if let Err(error) = ledger::place(Path::new(document), Bracket::Tokens, &report) {
        warn(session, &error.to_string());
    }
    String::new()
}

/// Returns what the host used itself, as far as its record is there.
fn host(session: &Session) -> Vec<HostUse> {
    let Some(source) = session.environment.claude_source() else {
        warn(
            session,
            "LARCH_CLAUDE_SOURCE_FILE names no transcript, so Claude's own tokens are not counted",
        );
        return Vec::new();
    };
    spent(&source).unwrap_or_else(|| {
        warn(session, &format!("cannot read `{}`", source.display()));
        Vec::new()
    })
}

fn unavailable(why: &str) -> String {
    format!("Token report unavailable: {why}\n")
}

fn warn(session: &Session, text: &str) {
    session.reporter().say(format!("token-ledger: warning: {text}"));
}
