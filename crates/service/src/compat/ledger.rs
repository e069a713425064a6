//! The common part of the ledgers of times and of tokens. A ledger never stops a workflow: every
//! error is a warning.

use std::path::Path;

use convoke_domain::compat::ledger::bracket::Bracket;
use convoke_domain::compat::ledger::request::ReportRequest;
use convoke_engine::compat::ledger;

use crate::session::Session;

/// One of the two ledgers, for scripts.
pub(super) struct ScriptLedger<'s> {
    pub(super) session: &'s Session,
    /// The program of the original workflow whose warnings these are.
    pub(super) program: &'static str,
    /// The title of its report.
    pub(super) title: &'static str,
    /// The place of its report in a document.
    pub(super) bracket: Bracket,
}

impl ScriptLedger<'_> {
    pub(super) fn warn(&self, text: &str) {
        self.session.reporter().say(format!("{}: warning: {text}", self.program));
    }

    /// Returns the text that replaces a report.
    pub(super) fn unavailable(&self, why: &str) -> String {
        format!("{} unavailable: {why}\n", self.title)
    }

    /// Appends a row, which has its line ending.
    pub(super) fn append(&self, path: &Path, row: &str) {
        if let Err(error) = ledger::append(path, row) {
            self.warn(&error.to_string());
        }
    }

    /// Returns the ledger's path and all of its rows.
    pub(super) fn dump(path: &Path) -> String {
        let text = ledger::read(path).unwrap_or_default();
        format!("{}\n{text}", path.display())
    }

    /// Returns the report that `render` makes of the ledger, unless it is written into a document.
    pub(super) fn report(
        &self,
        path: &Path,
        wanted: &ReportRequest,
        render: impl FnOnce(&str) -> Option<String>,
    ) -> String {
        let Some(text) = ledger::read(path) else {
            return self.unavailable("the ledger cannot be read");
        };
        let Some(report) = render(&text) else { return self.unavailable("no step was marked") };
        let Some(document) = &wanted.append else { return report };
        if let Err(error) = ledger::place(Path::new(document), self.bracket, &report) {
            self.warn(&error.to_string());
        }
        String::new()
    }
}
