//! Whether diagrams are safe to publish, and how they look.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use convoke_domain::compat::execution_log::Category;
pub use convoke_domain::design::mermaid::DiagramText;
use convoke_domain::design::mermaid::{Fault, Report, check, unchecked_log_entry};
use convoke_engine::compat::execution_log;
use convoke_engine::file;
use convoke_engine::mermaid::{DIAGRAM_PROGRAM, DiagramParserError, check_syntax, draw};
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
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

/// Diagrams to check.
#[derive(Debug, Clone)]
pub struct DiagramCheckRequest {
    /// The text; none if it could not be read.
    pub text: Option<String>,
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
    /// Whether they can be published.
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
}

/// Something that Mermaid could not draw.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiagramFaultReport {
    /// The diagram's place.
    pub diagram: usize,
    /// The line in it, if that is known.
    pub line: Option<usize>,
    /// The parser's message.
    pub message: String,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read the diagrams")]
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
    let Some(text) = &request.text else {
        log(Some(unchecked_log_entry(&request.step)));
        return Err(Failure::new(ErrorClass::Usage, DiagramsUnreadable)
            .hint("name a text file of at most 16 MB, or give it on standard input"));
    };
    let report = match request.rules {
        DiagramRules::Safety => check(text, request.form),
        DiagramRules::Syntax => {
            let convoke = session.environment.program();
            check_syntax(text, request.form, &convoke).map_err(|error| {
                log(Some(unchecked_log_entry(&request.step)));
                without_parser(error, &convoke)
            })?
        }
    };
    log(report.log_entry(&request.step));
    Ok(DiagramCheckReport::new(&report, request.rules))
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
        let faults = || report.faults.iter().map(DiagramFaultReport::new).collect();
        let hits = report.hits.iter().map(|hit| DiagramHitReport {
            reason: hit.reason.token(),
            diagram: hit.fence,
            line: hit.line,
        });
        Self {
            is_safe: report.is_safe(),
            diagrams: (0..report.fences)
                .map(|index| DiagramReport { heading: heading(index) })
                .collect(),
            hits: hits.collect(),
            syntax: (rules == DiagramRules::Syntax).then(faults),
        }
    }
}

impl DiagramFaultReport {
    fn new(fault: &Fault) -> Self {
        let Fault { fence, line, words } = fault;
        Self { diagram: *fence, line: *line, message: words.clone() }
    }
}
