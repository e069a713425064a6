//! Whether diagrams are safe to publish, and how they look.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use convoke_domain::compat::execution_log::Category;
pub use convoke_domain::design::mermaid::DiagramText;
use convoke_domain::design::mermaid::{
    Fault, Report, check, no_diagram_log_entry, unchecked_log_entry,
};
use convoke_engine::compat::execution_log;
use convoke_engine::file;
use convoke_engine::mermaid::{DIAGRAM_PROGRAM, DiagramParserError, check_syntax, draw};
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::given_text::read_text;
use crate::session::Session;

/// The longest text that is checked.
pub const MAX_DIAGRAM_BYTES: u64 = 16 * 1024 * 1024;

/// The depth of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagramRules {
    /// For constructs that are known to break published diagrams.
    Safety,
    /// For that, and whether Mermaid could draw them.
    Syntax,
}

/// Where diagrams to check come from.
#[derive(Debug, Clone)]
pub enum DiagramSource {
    /// A file. Markdown by its name is Markdown in any form of a request.
    File(PathBuf),
    /// A text that the front end read; none if it is too long, or not UTF-8.
    Given(Option<String>),
}

/// Diagrams to check.
#[derive(Debug, Clone)]
pub struct DiagramCheckRequest {
    /// The text's place.
    pub source: DiagramSource,
    /// The part to check.
    pub form: DiagramText,
    /// The depth of the check.
    pub rules: DiagramRules,
    /// The log that a refusal is added to, under its warnings.
    pub log: Option<PathBuf>,
    /// The step that the entry names.
    pub step: String,
}

/// The result of checking diagrams.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiagramCheckReport {
    /// Whether they can be published; false if the text has no diagram.
    pub is_safe: bool,
    /// The diagrams that were found.
    pub diagrams: Vec<DiagramReport>,
    /// Constructs that are known to break published diagrams.
    pub hits: Vec<DiagramHitReport>,
    /// Errors of Mermaid's parser; present only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syntax: Option<Vec<DiagramFaultReport>>,
}

/// One diagram of the checked text.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiagramReport {
    /// The heading that it is published under; none for a bare diagram.
    pub heading: Option<String>,
}

/// Something that is known to break published diagrams.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiagramHitReport {
    /// The kind of defect.
    pub reason: &'static str,
    /// The diagram's place.
    pub diagram: usize,
    /// The line in the diagram.
    pub line: usize,
    /// The line in the checked text.
    pub line_of_text: Option<usize>,
}

/// Something that Mermaid could not draw.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiagramFaultReport {
    /// The diagram's place.
    pub diagram: usize,
    /// The line in it, if that is known.
    pub line: Option<usize>,
    /// The line in the checked text; the diagram's first one if the parser names none.
    pub line_of_text: Option<usize>,
    /// The parser's message.
    pub message: String,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read the diagrams from standard input: it is not UTF-8 text of at most 16 MB")]
struct DiagramsUnreadable;

/// Checks diagrams. A refusal is added to the log, of which a failure is only a warning.
pub fn check_diagrams(
    session: &Session,
    request: &DiagramCheckRequest,
) -> Result<DiagramCheckReport, Failure> {
    let log = |entry: Option<String>| {
        if let (Some(path), Some(entry)) = (&request.log, entry) {
            add_to_log(session, path, &entry);
        }
    };
    let text = request.source.read().inspect_err(|_| {
        log(Some(unchecked_log_entry(&request.step)));
    })?;
    let form = request.source.form(request.form);
    let report = match request.rules {
        DiagramRules::Safety => check(&text, form),
        DiagramRules::Syntax => {
            let convoke = session.environment.program();
            check_syntax(&text, form, &convoke).map_err(|error| {
                log(Some(unchecked_log_entry(&request.step)));
                without_parser(error, &convoke)
            })?
        }
    };
    let is_empty = report.fences == 0;
    log(if is_empty {
        Some(no_diagram_log_entry(&request.step))
    } else {
        report.log_entry(&request.step)
    });
    Ok(DiagramCheckReport::new(&report, request.rules))
}

impl DiagramSource {
    /// Reads the text. An error names the file and the reason.
    fn read(&self) -> Result<Cow<'_, str>, Failure> {
        let read = match self {
            Self::File(path) => read_text(path, MAX_DIAGRAM_BYTES).map(Cow::Owned),
            Self::Given(Some(text)) => Ok(Cow::Borrowed(text.as_str())),
            Self::Given(None) => Err(Failure::new(ErrorClass::Usage, DiagramsUnreadable)),
        };
        // Scripts that publish diagrams take this class of error for a refusal.
        read.map_err(|failure| {
            Failure { class: ErrorClass::Usage, ..failure }
                .hint("name a text file of at most 16 MB, or give it on standard input")
        })
    }

    /// Returns the part of the text to check: a file's name can say that it is Markdown.
    fn form(&self, form: DiagramText) -> DiagramText {
        let is_markdown = |path: &Path| {
            let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
            ["md", "markdown", "mdx"].iter().any(|known| ending.eq_ignore_ascii_case(known))
        };
        match self {
            Self::File(path) if is_markdown(path) => DiagramText::Markdown,
            Self::File(_) | Self::Given(_) => form,
        }
    }
}

/// Adds the hint how to install the parser's program beside this Convoke.
fn without_parser(error: DiagramParserError, convoke: &Path) -> Failure {
    let folder = convoke.parent().unwrap_or(Path::new("."));
    let name = folder.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let build =
        |profile: &str| format!("cargo build --profile {profile} --package {DIAGRAM_PROGRAM}");
    let run = match (name, folder.parent()) {
        // Cargo puts programs of these profiles into folders of these names.
        ("debug", _) => build("dev"),
        ("release" | "dist", _) => build(name),
        ("bin", Some(root)) => {
            format!("cargo install --path crates/diagram --root '{}'", root.display())
        }
        _ => {
            let copy = format!("cp target/release/{DIAGRAM_PROGRAM} '{}'", folder.display());
            format!("{} && {copy}", build("release"))
        }
    };
    Failure::new(ErrorClass::Prerequisite, error)
        .hint(format!("in the folder of Convoke's source, run: {run}"))
        .hint("without `--syntax`, the check needs no parser")
}

/// Draws a diagram as SVG, or says why that is not possible. The program `convoke-diagram` does it.
pub fn draw_diagram(session: &Session, diagram: &str) -> Result<String, String> {
    draw(diagram, &session.environment.program()).map_err(|error| error.to_string())
}

/// Reads a file of diagrams; none if it cannot be read or is too long.
pub fn read_diagrams(path: &Path) -> Option<String> {
    file::text(path, MAX_DIAGRAM_BYTES)
}

/// Adds an entry to a log. A check is no worse for a log that cannot be written.
pub(crate) fn add_to_log(session: &Session, path: &Path, entry: &str) {
    if let Err(error) = execution_log::append(path, Category::Warnings, entry) {
        session.reporter().warn(error.to_string());
    }
}

impl DiagramCheckReport {
    fn new(report: &Report, rules: DiagramRules) -> Self {
        let heading = |index| report.kinds.get(index).map(ToString::to_string);
        let fault = |fault| DiagramFaultReport::new(report, fault);
        let faults = || report.faults.iter().map(fault).collect();
        let hits = report.hits.iter().map(|hit| DiagramHitReport {
            reason: hit.reason.token(),
            diagram: hit.fence,
            line: hit.line,
            line_of_text: report.line_of_text(hit.fence, hit.line),
        });
        Self {
            is_safe: report.is_safe() && report.fences > 0,
            diagrams: (0..report.fences)
                .map(|index| DiagramReport { heading: heading(index) })
                .collect(),
            hits: hits.collect(),
            syntax: (rules == DiagramRules::Syntax).then(faults),
        }
    }
}

impl DiagramFaultReport {
    fn new(report: &Report, fault: &Fault) -> Self {
        let Fault { fence, line, words } = fault;
        let line_of_text = report.line_of_text(*fence, line.unwrap_or(1));
        Self { diagram: *fence, line: *line, line_of_text, message: words.clone() }
    }
}
