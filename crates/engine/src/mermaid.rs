//! Diagrams: whether they are valid Mermaid, and how they look.
//!
//! The parser is large and another project's, so it is a separate program, `convoke-diagram`,
//! beside Convoke's. Convoke accepts only a complete answer about one diagram; a parser that breaks
//! on a diagram or takes too long leaves that diagram refused, and the others are parsed.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use convoke_domain::design::mermaid::{DiagramText, Fault, Report, check, diagrams};
use serde::{Deserialize, Serialize};

use crate::process::command;
use crate::program::is_program;

/// The parser's program, beside Convoke's own.
pub const DIAGRAM_PROGRAM: &str = "convoke-diagram";

/// The version of the questions and answers; `crates/diagram/src/main.rs` has the same.
const PROTOCOL: u32 = 2;

/// The program itself gives up on a diagram after 10 seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why no diagram could be parsed.
#[derive(Debug, thiserror::Error)]
pub enum DiagramParserError {
    /// There is no such program.
    #[error("cannot parse diagrams: the program `{}` is missing", .0.display())]
    Missing(PathBuf),
    /// It is there and does not run.
    #[error("cannot parse diagrams: the program `{}` does not start", .0.display())]
    NotStarted(PathBuf, #[source] io::Error),
    /// It is of another build of Convoke, or another program.
    #[error("cannot parse diagrams: the program `{}` does not belong to this convoke", .0.display())]
    OtherBuild(PathBuf),
}

#[derive(Serialize)]
struct Question<'a> {
    diagrams: Vec<&'a str>,
    task: Task,
}

/// What the program does with every diagram.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Task {
    Parse,
    Draw,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Greeting {
    protocol: u32,
}

#[derive(Deserialize)]
struct Answer {
    diagram: usize,
    #[serde(flatten)]
    verdict: Verdict,
}

#[derive(Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
enum Verdict {
    Parses,
    Drawn { svg: String },
    Fails { line: Option<usize>, message: String },
    Unknown { message: String },
}

impl Verdict {
    fn unknown(message: &str) -> Self {
        Self::Unknown { message: message.to_owned() }
    }
}

/// Checks a text by the rules, and has the program beside `convoke` parse every diagram that they
/// accept. Without such a diagram, no program is needed.
pub fn check_syntax(
    text: &str,
    form: DiagramText,
    convoke: &Path,
) -> Result<Report, DiagramParserError> {
    let mut report = check(text, form);
    let is_refused = |fence: usize| report.hits.iter().any(|hit| hit.fence == fence);
    let accepted: Vec<_> = diagrams(text, form)
        .iter()
        .enumerate()
        .map(|(index, diagram)| (index + 1, diagram.body.join("\n")))
        .filter(|(fence, _)| !is_refused(*fence))
        .collect();
    let mut verdicts = Vec::new();
    while let Some(rest @ [_, ..]) = accepted.get(verdicts.len()..) {
        verdicts.extend(ask(rest, Task::Parse, &convoke.with_file_name(DIAGRAM_PROGRAM))?);
    }
    for ((fence, _), verdict) in accepted.iter().zip(verdicts) {
        let (line, words) = match verdict {
            Verdict::Parses => continue,
            Verdict::Drawn { .. } => (None, "cannot be parsed: the program drew it".to_owned()),
            Verdict::Fails { line, message } => (line, message),
            Verdict::Unknown { message } => (None, format!("cannot be parsed: {message}")),
        };
        report.faults.push(Fault::new(*fence, line, &words));
    }
    Ok(report)
}

/// Why a diagram has no drawing.
#[derive(Debug, thiserror::Error)]
pub enum DrawingError {
    /// The program that draws cannot be used.
    #[error(transparent)]
    Program(#[from] DiagramParserError),
    /// The program cannot draw this diagram.
    #[error("cannot draw the diagram: {0}")]
    Diagram(String),
}

/// Has the program beside `convoke` draw a diagram as SVG.
pub fn draw(diagram: &str, convoke: &Path) -> Result<String, DrawingError> {
    let program = convoke.with_file_name(DIAGRAM_PROGRAM);
    let verdicts = ask(&[(1, diagram.to_owned())], Task::Draw, &program)?;
    match verdicts.into_iter().next() {
        Some(Verdict::Drawn { svg }) => Ok(svg),
        Some(Verdict::Fails { message, .. } | Verdict::Unknown { message }) => {
            // The words of the program may quote the diagram.
            Err(DrawingError::Diagram(Fault::new(1, None, &message).words))
        }
        Some(Verdict::Parses) | None => Err(DiagramParserError::OtherBuild(program).into()),
    }
}

/// Asks about diagrams, as many as one run of the program completes: at least the first.
fn ask(
    diagrams: &[(usize, String)],
    task: Task,
    program: &Path,
) -> Result<Vec<Verdict>, DiagramParserError> {
    let mut child = started(diagrams, task, program)?;
    let lines = lines_of(&mut child);
    let verdicts = heard(diagrams.len(), &lines);
    // It has ended, or is not worth waiting for.
    child.kill().ok();
    child.wait().ok();
    verdicts.ok_or_else(|| DiagramParserError::OtherBuild(program.to_owned()))
}

fn started(
    diagrams: &[(usize, String)],
    task: Task,
    program: &Path,
) -> Result<Child, DiagramParserError> {
    if !is_program(program) {
        return Err(DiagramParserError::Missing(program.to_owned()));
    }
    let failed = |error| DiagramParserError::NotStarted(program.to_owned(), error);
    let diagrams = diagrams.iter().map(|(_, text)| text.as_str()).collect();
    let question = Question { diagrams, task };
    let question = serde_json::to_vec(&question).map_err(|error| failed(error.into()))?;
    let mut command = command(program, Path::new("/"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    // A signal from a terminal stops Convoke, and must not look like the parser's failure.
    let mut child = command.process_group(0).spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read ends without an answer, which the reader notices.
        thread::spawn(move || stdin.write_all(&question).ok());
    }
    Ok(child)
}

/// Reads what a program prints, line by line, in a thread of its own.
fn lines_of(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = sync_channel(1);
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            lines.map(|line| sender.send(line)).take_while(Result::is_ok).count()
        });
    }
    receiver
}

/// Takes one verdict for each diagram, up to the first that has none; `None` if these lines do not
/// answer the request.
fn heard(count: usize, lines: &Receiver<String>) -> Option<Vec<Verdict>> {
    let greeting = lines.recv_timeout(PATIENCE).ok()?;
    let greeting: Greeting = serde_json::from_str(&greeting).ok()?;
    if greeting.protocol != PROTOCOL {
        return None;
    }
    let mut verdicts = Vec::new();
    for expected in 0..count {
        let line = match lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                verdicts.push(Verdict::unknown("it takes too long"));
                break;
            }
            Err(RecvTimeoutError::Disconnected) => {
                verdicts.push(Verdict::unknown("the parser broke"));
                break;
            }
        };
        let Answer { diagram, verdict } = serde_json::from_str(&line).ok()?;
        if diagram != expected {
            return None;
        }
        let is_last = matches!(verdict, Verdict::Unknown { .. });
        verdicts.push(verdict);
        if is_last {
            break;
        }
    }
    Some(verdicts)
}
