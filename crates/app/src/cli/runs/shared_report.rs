//! `convoke show --html` and `--markdown`: a run for people who do not have it.

use std::path::Path;

use convoke_page::report::{ReportDiagram, html_report, markdown_report};
use convoke_service::diagram::draw_diagram;
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::run::{
    ExistingFile, JournalStateReport, RunShowReport, show_run_at, write_report,
};

use super::ShowArgs;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

#[derive(Debug, thiserror::Error)]
enum SharedReportError {
    #[error("cannot print a page or a comment as JSON")]
    Json,
    #[error("cannot make a report of `{run}`: its journal was {state}")]
    Journal { run: String, state: JournalStateReport },
}

impl ShowArgs {
    /// Makes a report that travels.
    pub(super) fn share(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if app.format == Format::Json {
            let failure = Failure::new(ErrorClass::Usage, SharedReportError::Json);
            return Err(failure.hint("`convoke show --json` prints the same facts"));
        }
        let report = show_run_at(&app.session, self.run.as_ref(), None)?;
        must_be_sound(&report)?;
        if let Some(path) = &self.html {
            let page = html_report(&report, &drawn(app, &report, output));
            return self.write(path, &page, output);
        }
        let comment = markdown_report(&report);
        if let Some(path) = self.markdown.as_deref().filter(|path| *path != Path::new("-")) {
            return self.write(path, &comment, output);
        }
        output.data(&comment)?;
        Ok(Exit::Done)
    }

    fn write(&self, path: &Path, text: &str, output: &Output) -> Result<Exit, Failure> {
        let existing = if self.force { ExistingFile::Replaced } else { ExistingFile::Kept };
        write_report(path, text, existing)?;
        let bytes = text.len();
        output.say(&format!("wrote {} ({bytes} bytes)", path.display()));
        output.say(&format!("hint: check it with `convoke verify {}`", path.display()));
        Ok(Exit::Done)
    }
}

/// A report of a changed journal would pass on what someone made up.
fn must_be_sound(report: &RunShowReport) -> Result<(), Failure> {
    if report.journal.state == JournalStateReport::Sound {
        return Ok(());
    }
    let (run, state) = (report.run.clone(), report.journal.state);
    let failure = Failure::new(ErrorClass::Refused, SharedReportError::Journal { run, state });
    Err(failure.hint(format!("compare the journal: `convoke recount {}`", report.run)))
}

/// Draws the diagram; where that is not possible, the page has its text.
fn drawn(app: &App, report: &RunShowReport, output: &Output) -> ReportDiagram {
    let Some(text) = &report.evidence.diagram_text else { return ReportDiagram::Text };
    match draw_diagram(&app.session, text) {
        Ok(svg) => ReportDiagram::Drawn(svg),
        Err(why) => {
            output.say(&format!("note: the page shows the diagram as text: {why}"));
            ReportDiagram::Text
        }
    }
}
