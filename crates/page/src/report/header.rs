//! The header of a report: what it claims to be.

use convoke_service::run::RunShowReport;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::REPORT_FORMAT;

/// The first line of a page, before the header.
const DOCTYPE: &str = "<!DOCTYPE html>\n";

const OPENING: &str = "<!-- convoke-report ";
const CLOSING: &str = " -->\n";

/// The longest header, in bytes.
const LONGEST: usize = 2048;

/// The two forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportForm {
    /// A page.
    Html,
    /// A comment.
    Markdown,
}

/// What a report claims to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportHeader {
    /// A page in HTML, or a comment in Markdown.
    pub form: ReportForm,
    /// The version of Convoke that made it.
    pub version: String,
    /// The version of its form.
    pub format: u32,
    /// The version of the rules that it was counted by.
    pub rules: u32,
    /// The id of the reported run.
    pub run: String,
    /// The last event of the journal that it follows from.
    pub event: u64,
    /// The chain's hash at that event.
    pub journal: String,
    /// `svg` or `text`.
    pub diagram: String,
    /// The SHA-256 of all that follows the header.
    pub sha256: String,
}

/// Why a text is not a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// It does not begin as a report does.
    #[error("the file does not begin with the header of a report of Convoke")]
    Missing,
    /// The header is damaged, or of a later version.
    #[error("the header of the report cannot be read")]
    Unreadable,
}

impl ReportHeader {
    pub(super) fn new(form: ReportForm, report: &RunShowReport, diagram: &str) -> Self {
        let diagram = if report.evidence.diagram_text.is_some() { diagram } else { "text" };
        Self {
            form,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            format: REPORT_FORMAT,
            rules: report.rules.rules,
            run: report.run.clone(),
            event: report.journal.at,
            journal: report.journal.hash.clone(),
            diagram: diagram.to_owned(),
            sha256: String::new(),
        }
    }

    /// Returns a report: the header before its body.
    pub(super) fn before(&self, body: &str) -> String {
        let header = Self { sha256: sha256(body), ..self.clone() };
        let json = serde_json::to_string(&header).unwrap_or_default();
        // Two dashes could end a comment.
        let json = json.replace("--", "-\\u002d");
        let first = if self.form == ReportForm::Html { DOCTYPE } else { "" };
        format!("{first}{OPENING}{json}{CLOSING}{body}")
    }

    /// Tells whether its words have the form that Convoke gives them: a message quotes them.
    fn is_plain(&self) -> bool {
        let is_digest =
            |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_word = |text: &str| {
            (1..=40).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte))
        };
        is_word(&self.version) && is_word(&self.run) && is_digest(&self.journal)
    }
}

/// Reads a report's header, and returns the body after it.
pub fn read_header(text: &str) -> Result<(ReportHeader, &str), HeaderError> {
    let is_page = text.starts_with(DOCTYPE);
    let rest = text.strip_prefix(DOCTYPE).unwrap_or(text);
    let rest = rest.strip_prefix(OPENING).ok_or(HeaderError::Missing)?;
    let end = rest.find(CLOSING).filter(|end| *end <= LONGEST).ok_or(HeaderError::Unreadable)?;
    let header: ReportHeader =
        serde_json::from_str(&rest[..end]).map_err(|_| HeaderError::Unreadable)?;
    if is_page != (header.form == ReportForm::Html) || !header.is_plain() {
        return Err(HeaderError::Unreadable);
    }
    Ok((header, &rest[end + CLOSING.len()..]))
}

/// Returns a text's SHA-256 in hexadecimal digits.
pub(super) fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}
