//! `convoke plumbing tokens`. A ledger never stops a workflow: everything that is wrong is a warning.

use std::path::Path;

use convoke_domain::ledger::bracket::Bracket;
use convoke_domain::ledger::place;
use convoke_domain::ledger::request::{LedgerRequest, ReportRequest, TokenOrder};
use convoke_domain::ledger::token_report::{HostUse, full, terse};
use convoke_domain::ledger::tokens::{TokenEvent, TokenRow};
use convoke_engine::ledger::token_rows::{line, rows};
use convoke_engine::ledger::{self, real, token_file};
use convoke_engine::transcript::spent::spent;

use crate::app::App;
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

pub(super) fn run(app: &App, words: &[String], output: &mut Output) -> Result<Exit, Failure> {
    let request = match LedgerRequest::<TokenOrder>::parse(words) {
        Ok(request) => request,
        Err(misuse) => {
            warn(&misuse.to_string(), output);
            return Ok(Exit::Done);
        }
    };
    let named = app.environment.ledgers();
    let id = app.environment.token_session();
    let working = app.environment.current_dir().unwrap_or_default();
    let name = token_file(&named, id.as_deref(), &working);
    let given = request.ledger.as_deref().map(Path::new);
    let found = place::tokens(given, &named, &name, &real);
    found.warnings.iter().for_each(|warning| warn(warning, output));
    let Some(path) = found.path else {
        if matches!(request.order, TokenOrder::Report(_)) {
            output.data("Token report unavailable: there is no ledger\n")?;
        }
        return Ok(Exit::Done);
    };
    match request.order {
        TokenOrder::Mark(step) => append(&path, TokenEvent::Mark(step), output),
        TokenOrder::Record(it) => append(&path, TokenEvent::Use(it), output),
        TokenOrder::Dump => {
            let text = ledger::read(&path).unwrap_or_default();
            output.data(&format!("{}\n{text}", path.display()))?;
        }
        TokenOrder::Report(report) => return say(&path, &report, app, output),
    }
    Ok(Exit::Done)
}

fn append(path: &Path, event: TokenEvent, output: &Output) {
    if let Err(error) = ledger::append(path, &line(&TokenRow { at: now(), event })) {
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
        output.data("Token report unavailable: the ledger cannot be read\n")?;
        return Ok(Exit::Done);
    };
    let (rows, wrong) = rows(&text);
    if wrong > 0 {
        warn(&format!("{wrong} lines of the ledger are no rows"), output);
    }
    let host = host(app, output);
    let said = if report.is_full {
        full(&rows, &host)
    } else {
        terse(&rows, &host).map(|line| line + "\n")
    };
    let Some(said) = said else {
        output.data("Token report unavailable: no step was marked\n")?;
        return Ok(Exit::Done);
    };
    match &report.append {
        None => output.data(&said)?,
        Some(document) => {
            if let Err(error) = ledger::place(Path::new(document), Bracket::Tokens, &said) {
                warn(&error.to_string(), output);
            }
        }
    }
    Ok(Exit::Done)
}

/// Returns what the host used itself, as far as its record is there.
fn host(app: &App, output: &Output) -> Vec<HostUse> {
    let Some(source) = app.environment.claude_source() else {
        warn(
            "LARCH_CLAUDE_SOURCE_FILE names no record, so Claude's own tokens are not counted",
            output,
        );
        return Vec::new();
    };
    spent(&source).unwrap_or_else(|| {
        warn(&format!("cannot read `{}`", source.display()), output);
        Vec::new()
    })
}

fn warn(text: &str, output: &Output) {
    output.say(&format!("token-ledger: warning: {text}"));
}
