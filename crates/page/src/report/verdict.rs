//! Whether a report is as Convoke made it from a journal.

use convoke_service::run::RunShowReport;

use super::header::{ReportForm, ReportHeader, read_header, sha256};
use super::{REPORT_FORMAT, ReportDiagram, html_report, markdown_report};

/// What the caller finds about the journal that a header names.
#[derive(Debug, Clone)]
pub enum JournalAnswer {
    /// There is no such run.
    Missing(String),
    /// The journal cannot be relied on, for this reason.
    Unreliable(String),
    /// The run as it was after the header's event, and its diagram as the header says.
    Found(Box<RunShowReport>, ReportDiagram),
    /// The diagram cannot be drawn again, for this reason.
    NotDrawn(String),
}

/// The verdict on a report, with its complete reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportCheck {
    /// Convoke made this from the journal, and every byte is as it was.
    Genuine(String),
    /// It is not what Convoke makes from the journal.
    Altered(String),
    /// The journal is not here.
    JournalNotHere(String),
    /// No verdict is possible.
    CannotTell(String),
}

/// Checks a report. `look_up` finds the journal that its header names.
pub fn verify(
    text: &str,
    look_up: impl FnOnce(&ReportHeader) -> JournalAnswer,
) -> (Option<ReportHeader>, ReportCheck) {
    let unified = text.replace("\r\n", "\n");
    // Hosts of comments change line ends; no page should have been changed.
    let (header, body) = match read_header(&unified) {
        Ok(read) => read,
        Err(error) => return (None, ReportCheck::CannotTell(error.to_string())),
    };
    let check = checked(text, &unified, &header, body, look_up);
    (Some(header), check)
}

fn checked(
    text: &str,
    unified: &str,
    header: &ReportHeader,
    body: &str,
    look_up: impl FnOnce(&ReportHeader) -> JournalAnswer,
) -> ReportCheck {
    if header.form == ReportForm::Html && text != unified {
        return ReportCheck::Altered("the page has other line ends than Convoke writes".to_owned());
    }
    let is_intact = is_same(header.form, &sha256(body), header, body);
    if !is_intact {
        let why = "the text does not match the SHA-256 in its own header";
        return ReportCheck::Altered(why.to_owned());
    }
    let (version, format) = (env!("CARGO_PKG_VERSION"), REPORT_FORMAT);
    if header.version != version || header.format != format {
        return ReportCheck::CannotTell(format!(
            "Convoke {} with report format {} made it, and this is Convoke {version} with report \
             format {format}, which may render it in another way",
            header.version, header.format
        ));
    }
    let (report, diagram) = match look_up(header) {
        JournalAnswer::Missing(why) => return ReportCheck::JournalNotHere(why),
        JournalAnswer::Unreliable(why) | JournalAnswer::NotDrawn(why) => {
            return ReportCheck::CannotTell(why);
        }
        JournalAnswer::Found(report, diagram) => (report, diagram),
    };
    if report.rules.rules != header.rules {
        return ReportCheck::CannotTell(format!(
            "it was counted by rules {}, and this Convoke counts by rules {}",
            header.rules, report.rules.rules
        ));
    }
    if report.journal.hash != header.journal {
        return ReportCheck::Altered(format!(
            "it names the hash {} for event {} of run {}, and the journal has {}",
            header.journal, header.event, header.run, report.journal.hash
        ));
    }
    let made = match header.form {
        ReportForm::Html => html_report(&report, &diagram),
        ReportForm::Markdown => markdown_report(&report),
    };
    if is_made(header.form, &made, unified) {
        ReportCheck::Genuine(format!(
            "Convoke renders the same from event {} of the journal of run {}, whose hash is {}",
            header.event, header.run, header.journal
        ))
    } else {
        ReportCheck::Altered(format!(
            "Convoke renders another text from event {} of the journal of run {}",
            header.event, header.run
        ))
    }
}

/// Tells whether the body matches the header. Hosts of comments drop blank lines at the end.
fn is_same(form: ReportForm, hash: &str, header: &ReportHeader, body: &str) -> bool {
    let trimmed = || sha256(&format!("{}\n", body.trim_end_matches('\n')));
    hash == header.sha256 || form == ReportForm::Markdown && trimmed() == header.sha256
}

fn is_made(form: ReportForm, made: &str, text: &str) -> bool {
    match form {
        ReportForm::Html => made == text,
        ReportForm::Markdown => made.trim_end_matches('\n') == text.trim_end_matches('\n'),
    }
}
