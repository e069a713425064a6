//! Records the transcripts of Claude Code and Codex when their agent reads files. The stand-in for
//! their model requests the same reads each time; the kept lines hold no text of the vendors and
//! nothing about the recording user.

mod scrub;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::user::{User, finished};
use super::{CLIENTS, claude, codex};
use crate::model_server::{Answer, ModelServer};
use crate::process::run as run_program;
use crate::{Error, root, say};

/// The folder of the tests' records.
const FIXTURES: &str = "crates/engine/tests/fixtures/transcripts";

/// The first prompt of every session.
const PROMPT: &str = "read what you can";

/// The answer that ends every session.
const ANSWER: &str = "I have read what I could.";

/// A client to record: its package, what its agent is to call, and how a session is run.
struct Recording {
    folder: &'static str,
    package: &'static str,
    tool: fn(&Path) -> Vec<Answer>,
    session: fn(&User, &Path, &ModelServer) -> Result<Recorded, Error>,
}

/// A session's file, and the client's output.
pub(super) struct Recorded {
    pub(super) transcript: PathBuf,
    pub(super) printed: String,
}

const RECORDINGS: [Recording; 2] = [
    Recording {
        folder: "claude",
        package: "@anthropic-ai/claude-code",
        tool: claude_calls,
        session: claude_session,
    },
    Recording {
        folder: "codex",
        package: "@openai/codex",
        tool: codex_calls,
        session: codex_session,
    },
];

/// Records every session that the tests want.
pub fn run() -> Result<(), Error> {
    run_program("cargo", &["build"])?;
    RECORDINGS.iter().try_for_each(Recording::record)
}

impl Recording {
    fn record(&self) -> Result<(), Error> {
        let client =
            CLIENTS.iter().find(|client| client.name == self.package).ok_or("no such client")?;
        let bin = client.install().ok_or_else(|| format!("cannot install {}", self.package))?;
        self.record_session(&bin, "reads", self.tool)?;
        self.record_session(&bin, "no-read", |_| Vec::new())
    }

    fn record_session(
        &self,
        bin: &Path,
        name: &str,
        calls: fn(&Path) -> Vec<Answer>,
    ) -> Result<(), Error> {
        let (user, server) = (User::new()?, ModelServer::start()?);
        write_project(&user)?;
        let answer = Answer::Text(ANSWER.to_owned());
        server.will_answer(calls(&user.project()).into_iter().chain([answer]));
        let recorded = (self.session)(&user, bin, &server)?;
        let transcript = fs::read_to_string(recorded.transcript)?;
        let folder = root().join(FIXTURES).join(self.folder);
        fs::create_dir_all(&folder)?;
        for (kind, lines) in [("transcript", &transcript), ("printed", &recorded.printed)] {
            let path = folder.join(format!("{name}.{kind}.jsonl"));
            fs::write(&path, scrub::scrubbed(lines, &user))?;
            say(&format!("recorded {}", path.display()));
        }
        Ok(())
    }
}

/// Twelve lines, three lines without an end, and a file in a folder.
fn write_project(user: &User) -> Result<(), Error> {
    let lines: Vec<_> = (1..=12).map(|n| format!("line {n} of alpha\n")).collect();
    user.write("project/alpha.md", &lines.concat())?;
    user.write("project/beta.md", "one\ntwo\nthree")?;
    user.write("project/docs/gamma.md", "foo bar\nnothing\nfoo baz\n")
}

fn call(name: &'static str, input: Value) -> Answer {
    Answer::Tool { name, input }
}

fn claude_calls(project: &Path) -> Vec<Answer> {
    let at = |name: &str| project.join(name).display().to_string();
    let bash = |command: &str| call("Bash", json!({ "command": command }));
    vec![
        call("Read", json!({ "file_path": at("alpha.md") })),
        call("Read", json!({ "file_path": at("alpha.md"), "offset": 3, "limit": 4 })),
        call("Read", json!({ "file_path": "docs/gamma.md", "offset": 2 })),
        call("Read", json!({ "file_path": at("missing.md") })),
        call("Read", json!({ "file_path": at("alpha.md"), "offset": 100 })),
        bash("cat beta.md"),
        bash("sed -n 1,5p alpha.md"),
        bash("grep -n foo docs/gamma.md"),
        bash("cat missing.md"),
        bash("cd docs && cat gamma.md"),
    ]
}

fn codex_calls(project: &Path) -> Vec<Answer> {
    let exec = |command: &str| call("exec_command", json!({ "cmd": command }));
    let docs = project.join("docs").display().to_string();
    vec![
        exec("cat alpha.md"),
        exec("sed -n '3,6p' alpha.md"),
        exec("nl -ba alpha.md | sed -n '5,9p'"),
        exec("cat missing.md"),
        exec("grep -n foo docs/gamma.md"),
        exec("cat beta.md && head -n 2 alpha.md"),
        exec("cat alpha.md > /dev/null"),
        call("exec_command", json!({ "cmd": "cat gamma.md", "workdir": docs })),
    ]
}

pub(super) fn claude_session(
    user: &User,
    bin: &Path,
    server: &ModelServer,
) -> Result<Recorded, Error> {
    let mut claude = claude::command(user, bin, server);
    claude.args(["-p", PROMPT, "--session-id", claude::SESSION, "--allowedTools", "Bash"]);
    let printed = finished(claude.args(["--output-format", "stream-json", "--verbose"]))?;
    let projects = user.home().join(".claude/projects");
    let file = format!("{}.jsonl", claude::SESSION);
    let transcript = find(&projects, &|name| name == file).ok_or("no transcript")?;
    Ok(Recorded { transcript, printed })
}

pub(super) fn codex_session(
    user: &User,
    bin: &Path,
    server: &ModelServer,
) -> Result<Recorded, Error> {
    codex::configure(user, server)?;
    let printed = finished(codex::command(user, bin).arg(PROMPT))?;
    let sessions = user.home().join(".codex/sessions");
    let transcript = find(&sessions, &|name| name.starts_with("rollout-")).ok_or("no rollout")?;
    Ok(Recorded { transcript, printed })
}

/// Finds a file below a folder by its name.
fn find(folder: &Path, is_it: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
    let paths = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    paths.into_iter().find_map(|path| {
        if path.is_dir() {
            return find(&path, is_it);
        }
        let is_found = path.file_name().is_some_and(|name| is_it(&name.to_string_lossy()));
        is_found.then_some(path)
    })
}
