//! `convoke verify`: whether a report that travelled is as Convoke made it.

use std::path::PathBuf;

use convoke_domain::run::RunId;
use convoke_page::report::{JournalAnswer, ReportCheck, ReportDiagram, ReportHeader, verify};
use convoke_service::diagram::draw_diagram;
use convoke_service::failure::Failure;
use convoke_service::run::{
    JournalAtHand, ReportText, ReportVerdict, RunShowReport, journal_at_hand, read_report,
};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::styled::StyledLine;

/// Check a shared report against the journal of its run
///
/// Takes a file that `convoke show --html` or `--markdown` wrote. Convoke renders the report again
/// from the run's journal in this project and compares every byte. Exits 0 if the report is genuine,
/// 1 if it was altered, and 3 if the journal is not here or no verdict is possible, for example
/// because another version of Convoke made the report.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// The page or the comment
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl VerifyArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let (header, check) = match read_report(&self.file)? {
            ReportText::NotAReport(why) => (None, ReportCheck::CannotTell(why)),
            ReportText::Read(text) => {
                let mut failure = None;
                let checked = verify(&text, |header| match look_up(app, header) {
                    Ok(answer) => answer,
                    Err(why) => {
                        failure = Some(why);
                        JournalAnswer::Unreliable(String::new())
                    }
                });
                match failure {
                    Some(failure) => return Err(failure),
                    None => checked,
                }
            }
        };
        let (verdict, reason, exit) = match check {
            ReportCheck::Genuine(why) => ("genuine", why, Exit::Done),
            ReportCheck::Altered(why) => ("altered", why, Exit::No),
            ReportCheck::JournalNotHere(why) => ("journal-not-here", why, Exit::Surroundings),
            ReportCheck::CannotTell(why) => ("cannot-tell", why, Exit::Surroundings),
        };
        let report = ReportVerdict {
            file: self.file.display().to_string(),
            verdict,
            reason,
            run: header.as_ref().map(|header| header.run.clone()),
            event: header.as_ref().map(|header| header.event),
            made_by: header.map(|header| header.version),
        };
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                let words = verdict.replace('-', " ");
                let line = StyledLine::plain(&format!("{words}: {}", report.reason));
                output.page(&line.folded(output.room(), 0))?;
            }
        }
        Ok(exit)
    }
}

fn look_up(app: &App, header: &ReportHeader) -> Result<JournalAnswer, Failure> {
    let run = &header.run;
    let Ok(id) = RunId::parse(run) else {
        return Ok(JournalAnswer::Unreliable("the header names no run".to_owned()));
    };
    let found = journal_at_hand(&app.session, &id, header.event)?;
    Ok(match found {
        JournalAtHand::Missing => JournalAnswer::Missing(format!(
            "this project has no run {run}. Only a store with the run's journal can tell: \
             `convoke -C DIR verify FILE` looks in another project of this machine, and its author can \
             verify it on theirs"
        )),
        JournalAtHand::Changed(event) => JournalAnswer::Unreliable(format!(
            "the journal of run {run} in this store was changed at event {event}"
        )),
        JournalAtHand::Shorter(events) => JournalAnswer::Missing(format!(
            "the report follows from event {} of run {run}, and the journal here has {events}",
            header.event
        )),
        JournalAtHand::Found(report) => with_diagram(app, header, report),
    })
}

/// Draws the diagram again, if the report has a drawing.
fn with_diagram(app: &App, header: &ReportHeader, report: Box<RunShowReport>) -> JournalAnswer {
    match (header.diagram.as_str(), &report.evidence.diagram_text) {
        ("svg", Some(text)) => match draw_diagram(&app.session, text) {
            Ok(svg) => JournalAnswer::Found(report, ReportDiagram::Drawn(svg)),
            Err(why) => JournalAnswer::NotDrawn(format!(
                "the report has a drawing of the diagram, and Convoke cannot draw it here: {why}"
            )),
        },
        _ => JournalAnswer::Found(report, ReportDiagram::Text),
    }
}
