//! Lines of the documents that ask agents, run as they are written with Claude Code and Codex. The tests
//! of the documents play everything else; these lines end there because no agent is installed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::lanes::{Row, timed};
use super::user::User;
use super::{claude, codex, design};
use crate::model_server::{Answer, ModelServer, Reply};
use crate::packages::folder_of;
use crate::{Error, root};

const README: &str = "README.md";
const REVIEWERS: &str = "docs/guide/send-reviewers.md";
const SCRIPTS: &str = "docs/guide/supervise-agents.md";

/// The plan that the README has its reader write.
const PLAN: &str = "docs/plans/login.md";

const PASS: &str = "Files read: notes.md (2 lines)\n\n{\"approved\": true, \"issues\": [], \"summary\": \"Fine.\"}";
const FAIL: &str = "Files read: spec.md, design.md\n\n{\"approved\": false, \"issues\": [{\"severity\": \
    \"blocker\", \"description\": \"No limit.\", \"location\": \"spec.md:2\"}]}";

/// The first words of the instructions of one reviewer.
const SECURITY: &str = "Review an implementation as an attacker";

/// A client, the line, and how it is tried.
type Case<'a> = (&'static str, &'static str, &'a dyn Fn() -> Result<String, Error>);

/// Runs each line, and adds a row for it.
pub(super) fn check(bins: &[PathBuf; 2], rows: &mut Vec<Row>) -> Result<(), Error> {
    let cases: [Case<'_>; 7] = [
        ("claude, codex", "README: design", &|| designed(bins)),
        ("claude", "guide: lane run --read", &|| lane(bins, "claude")),
        ("codex", "guide: lane run --read", &|| lane(bins, "codex")),
        ("claude", "guide: dispatch run", &|| reviewed(bins, "claude")),
        ("codex", "guide: dispatch run", &|| reviewed(bins, "codex")),
        ("claude", "guide: dispatch run in CI", &|| reviewed_in_ci(bins)),
        ("claude, codex", "guide: dispatch loop", &|| looped(bins)),
    ];
    let mut wrong = Vec::new();
    for (client, case, run) in cases {
        let (took, ended) = timed(|| Ok(run()))?;
        let outcome = ended.unwrap_or_else(|error| {
            wrong.push(format!("{client}, {case}: {error}"));
            "WRONG".to_owned()
        });
        rows.push(Row { client, case, outcome, took });
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// A reader of the documents, with a repository of two commits and both clients.
struct Reader<'a> {
    user: User,
    server: ModelServer,
    bins: &'a [PathBuf; 2],
}

impl<'a> Reader<'a> {
    fn new(bins: &'a [PathBuf; 2]) -> Result<Self, Error> {
        let reader = Self { user: User::fresh()?, server: ModelServer::start()?, bins };
        codex::configure(&reader.user, &reader.server)?;
        reader.user.write("project/README.md", "# Notes\n\nKeeps notes.\n")?;
        reader.user.write("project/notes.md", "# Notes\n")?;
        reader.commands(
            "git init --quiet --initial-branch=main\n\
             git config user.name June\n\
             git config user.email june@example.com\n\
             git add --all\n\
             git commit --quiet --message begin\n\
             git update-ref refs/remotes/origin/main HEAD",
        )?;
        Ok(reader)
    }

    /// Adds what a guide's `dispatch init` makes, and a commit with one changed file.
    fn with_reviewers(self) -> Result<Self, Error> {
        self.commands("convoke dispatch init\ngit add --all\ngit commit --quiet --message roles")?;
        self.commands("git update-ref refs/remotes/origin/main HEAD")?;
        self.user.write("project/notes.md", "# Notes\nOne folder.\n")?;
        self.commands("git commit --quiet --all --message folder")?;
        Ok(self)
    }

    /// Runs lines of a document in a shell that stops at the first failure, with a person who
    /// takes every recommended answer.
    fn run(&self, lines: &str) -> Result<Output, Error> {
        let mut shell = self.user.plain(Path::new("/bin/sh"));
        let node = folder_of("node").unwrap_or_default();
        let convoke = std::env::current_exe()?;
        let own = convoke.parent().unwrap_or(&convoke).display();
        let [one, other] = self.bins.each_ref().map(|bin| bin.display());
        shell.env("PATH", format!("{one}:{other}:{own}:/usr/bin:/bin:{node}"));
        shell.env("OPENAI_API_KEY", "no-key").envs(claude::variables(&self.server));
        shell.args(["-e", "-c", lines]);
        let piped = || Stdio::piped();
        let mut running = shell.stdin(piped()).stdout(piped()).stderr(piped()).spawn()?;
        if let Some(mut keys) = running.stdin.take() {
            // A command that asks nothing may be gone before it has read them.
            keys.write_all(&[b'\n'; 60]).ok();
        }
        Ok(running.wait_with_output()?)
    }

    /// Runs lines that must succeed, and returns what they print.
    fn commands(&self, lines: &str) -> Result<String, Error> {
        let ended = self.run(lines)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if ended.status.success() {
            return Ok(text(&ended.stdout));
        }
        let (stdout, stderr) = (text(&ended.stdout), text(&ended.stderr));
        Err(format!("`{lines}`: {}\n{stdout}{stderr}", ended.status).into())
    }

    /// Returns the call by which a client's agent reads a file.
    fn reads(&self, client: &str, file: &str) -> Answer {
        let path = self.user.project().join(file).display().to_string();
        match client {
            "claude" => Answer::Tool { name: "Read", input: json!({ "file_path": path }) },
            _ => Answer::Tool {
                name: "exec_command",
                input: json!({ "cmd": format!("cat {path}") }),
            },
        }
    }

    /// Returns a report that a line wrote, by its path from the project.
    fn report(&self, name: &str) -> Result<Value, Error> {
        Ok(serde_json::from_str(&fs::read_to_string(self.user.project().join(name))?)?)
    }
}

/// The README's third part, on the files that its first two have left: without the commit that it
/// names, the design is refused.
fn designed(bins: &[PathBuf; 2]) -> Result<String, Error> {
    let reader = Reader::new(bins)?;
    reader
        .user
        .write(&format!("project/{PLAN}"), "# Login\n\n### Task 1: Model\nStore codes.\n")?;
    reader.commands(&format!("convoke task import {PLAN}\nconvoke hooks install claude"))?;
    design::play_rehearsal(&reader.server)?;
    let part = commands_below(&fs::read_to_string(root().join(README))?, "**A plan by several");
    let (commit, ask) = part.split_once("convoke design ").ok_or("the README has no design")?;
    let ask = format!("convoke design {ask}");
    let line = ask.lines().next().unwrap_or_default();
    let refused = reader.run(line)?;
    let said = String::from_utf8_lossy(&refused.stdout).into_owned();
    if refused.status.code() != Some(3) || !said.contains("uncommitted changes") {
        return Err(format!("the plan is not committed, and the design begins: {said}").into());
    }
    let printed = reader.commands(&format!("{commit}{ask}"))?;
    let shown: Value = serde_json::from_str(&reader.commands("convoke show --json")?)?;
    let agents: Vec<_> = ["codex", "claude"]
        .into_iter()
        .filter(|agent| {
            let mut listed = shown["lanes"].as_array().into_iter().flatten();
            listed.any(|lane| lane["agent"] == *agent && lane["status"] == "OK")
        })
        .collect();
    let tasks = reader.commands("convoke task list")?;
    if shown["state"] == "ended" && agents.len() == 2 && tasks.lines().count() > 2 {
        return Ok("plan and tasks".to_owned());
    }
    Err(format!("{printed}\n{tasks}\n{:#}", shown["lanes"]).into())
}

/// A script's lane, which must read one file.
fn lane(bins: &[PathBuf; 2], client: &'static str) -> Result<String, Error> {
    let reader = Reader::new(bins)?;
    let read = reader.reads(client, README);
    reader.server.will_answer([read, Answer::Text("None.".to_owned())]);
    reader.commands(&line(SCRIPTS, &["convoke lane run", "> report.json"], client)?)?;
    let report = reader.report("report.json")?;
    if report["outcome"] == "answered" && report["receipts"][0]["standing"] == "whole" {
        return Ok("answered, README.md: whole".to_owned());
    }
    Err(format!("{report:#}").into())
}

/// A review that counts only with proof. Without the reading it does not.
fn reviewed(bins: &[PathBuf; 2], client: &'static str) -> Result<String, Error> {
    let reader = Reader::new(bins)?.with_reviewers()?;
    let line = line(REVIEWERS, &["convoke dispatch run", "--require-proof"], client)?;
    let says = || Answer::Text(PASS.to_owned());
    reader.server.will_answer([says()]);
    let unproven = reader.run(&line)?;
    if unproven.status.code() != Some(1) {
        return Err(format!("nothing was read, and it ends with {unproven:?}").into());
    }
    reader.server.will_answer([reader.reads(client, "notes.md"), says()]);
    reader.commands(&line)?;
    Ok("not proven, then PASS".to_owned())
}

/// The same in a job, with its report in a file.
fn reviewed_in_ci(bins: &[PathBuf; 2]) -> Result<String, Error> {
    let reader = Reader::new(bins)?.with_reviewers()?;
    let read = reader.reads("claude", "notes.md");
    reader.server.will_answer([read, Answer::Text(PASS.to_owned())]);
    let line = line(SCRIPTS, &["convoke dispatch run", "> ../review.json"], "claude")?;
    let ended = reader.run(&line)?;
    let report = reader.report("../review.json")?;
    if ended.status.success() && report["verdict"] == "PASS" {
        return Ok("PASS".to_owned());
    }
    Err(format!("{ended:?}: {report:#}").into())
}

/// Reviewers and a fixer until all approve: one of them rejects once.
fn looped(bins: &[PathBuf; 2]) -> Result<String, Error> {
    let reader = Reader::new(bins)?.with_reviewers()?;
    // A fresh session of a reviewer says nothing of what an earlier one found.
    let is_fixed = AtomicBool::new(false);
    reader.server.will_know(move |path, prompt| {
        let text = if path == design::CODEX_PATH {
            is_fixed.store(true, Ordering::SeqCst);
            "Named a limit."
        } else if prompt.contains(SECURITY) && !is_fixed.load(Ordering::SeqCst) {
            FAIL
        } else {
            PASS
        };
        Some(Reply::Answer(Answer::Text(text.to_owned())))
    });
    let printed = reader.commands(&line(REVIEWERS, &["convoke dispatch loop"], "claude")?)?;
    let is_right = printed.contains("[blocker] No limit.")
        && printed.contains("implementer")
        && printed.trim_end().ends_with("approved after 3 rounds");
    if is_right { Ok("approved after 3 rounds".to_owned()) } else { Err(printed.into()) }
}

/// Returns the one command of a document that begins with the first of some words and holds all of
/// them, for a client in the place of Claude Code.
fn line(document: &str, words: &[&str], client: &str) -> Result<String, Error> {
    let text = fs::read_to_string(root().join(document))?.replace("\\\n", "");
    let begins = words.first().copied().unwrap_or_default();
    let is_meant =
        |line: &&str| line.starts_with(begins) && words.iter().all(|word| line.contains(word));
    let found: Vec<_> = text.lines().filter(is_meant).collect();
    match found[..] {
        [line] => Ok(line.replace(" claude ", &format!(" {client} "))),
        _ => Err(format!("{document} has {} lines with {words:?}", found.len()).into()),
    }
}

/// Returns the commands of a document's `sh` blocks between a text and the next heading.
fn commands_below(document: &str, text: &str) -> String {
    let rest = document.split_once(text).map_or("", |(_, rest)| rest);
    let part = rest.split("\n## ").next().unwrap_or_default();
    let blocks = part.split("```sh\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_taken_from_the_part_alone() {
        let document = "## One\n```sh\na\n```\n**Part.** x\n```sh\nb\nc 'd'\n```\n\
                        ```console\n$ e\nshown\n```\n```text\nf\n```\n## Two\n```sh\ng\n```\n";
        assert_eq!(commands_below(document, "**Part.**"), "b\nc 'd'\n");
    }

    #[test]
    fn every_line_is_in_its_document_once() {
        for (document, words) in [
            (SCRIPTS, &["convoke lane run", "> report.json"][..]),
            (SCRIPTS, &["convoke dispatch run", "> ../review.json"]),
            (REVIEWERS, &["convoke dispatch run", "--require-proof"]),
            (REVIEWERS, &["convoke dispatch loop"]),
        ] {
            let found = line(document, words, "codex").unwrap();
            assert!(found.contains(" codex ") && !found.contains(" claude "), "{found}");
        }
        assert!(line(README, &["convoke wibble"], "codex").is_err());
    }
}
