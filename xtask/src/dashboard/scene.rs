//! A project of its own for each trial, with clients that a script plays.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use convoke::rehearsal::answers;
use convoke_engine::lane::cassette::{Cassette, CassetteEntry};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{command, run as run_program};
use crate::{Error, root};

/// A project, its user's home and its clients.
pub(super) struct Scene {
    top: TempDir,
}

/// A dashboard that runs.
pub(super) struct Dashboard {
    process: Child,
    /// The link that lets one browser in.
    pub(super) link: String,
    /// The beginning of every address.
    pub(super) origin: String,
}

/// The names of a lane that talks.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaneWords<'a> {
    /// The tool that its agent uses.
    pub(super) tool: &'a str,
    /// The model that answers.
    pub(super) model: &'a str,
    /// The role of its agent.
    pub(super) role: &'a str,
    /// What the lane is called.
    pub(super) label: &'a str,
}

/// A process that ends with its trial.
pub(super) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Running {
    /// Waits for its end.
    pub(super) fn wait(&mut self) -> Result<(), Error> {
        self.0.wait().map(drop).map_err(Error::from)
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn convoke() -> PathBuf {
    root().join("target/debug/convoke")
}

impl Scene {
    /// Builds the programs, together with this one, so that both share what is compiled.
    pub(super) fn build() -> Result<(), Error> {
        let words = ["build", "--package", "convoke", "--package", "xtask", "--bins", "--locked"];
        run_program("cargo", &words)
    }

    /// Makes a project with a first commit.
    pub(super) fn new() -> Result<Self, Error> {
        let scene = Self { top: tempfile::tempdir()? };
        for folder in ["project", "home", "bin"] {
            fs::create_dir_all(scene.top.path().join(folder))?;
        }
        fs::write(scene.project().join("README.md"), "# A project\n")?;
        scene.git(&["init", "--quiet", "--initial-branch=main"])?;
        scene.commit()?;
        Ok(scene)
    }

    fn git(&self, words: &[&str]) -> Result<(), Error> {
        let done = command("git").args(words).current_dir(self.project()).status()?;
        if done.success() { Ok(()) } else { Err(format!("git {words:?} failed").into()) }
    }

    /// Commits everything.
    pub(super) fn commit(&self) -> Result<(), Error> {
        self.git(&["add", "."])?;
        let who = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
        self.git(&[&who[..], &["commit", "--quiet", "-m", "x"]].concat())
    }

    pub(super) fn project(&self) -> PathBuf {
        self.top.path().join("project")
    }

    /// Returns the path of the store.
    pub(super) fn store(&self) -> PathBuf {
        self.top.path().join("home/.local/state/convoke/store.db")
    }

    fn command(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = command(program);
        let bin = self.top.path().join("bin");
        command
            .args(words)
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.top.path().join("home"))
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
        command
    }

    /// Runs a command of Convoke, and returns what it prints.
    pub(super) fn convoke(&self, words: &[&str]) -> Result<String, Error> {
        let done = self.command(&convoke(), words).output()?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(format!("convoke {words:?}: {}: {said}", done.status).into());
        }
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }

    /// Runs a command of Convoke that ends with one of these codes.
    pub(super) fn convoke_ends(&self, words: &[&str], codes: &[i32]) -> Result<(), Error> {
        let done = self.command(&convoke(), words).output()?;
        if done.status.code().is_some_and(|code| codes.contains(&code)) {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        Err(format!("convoke {words:?}: {}: {said}", done.status).into())
    }

    /// Starts the dashboard.
    pub(super) fn dashboard(&self, words: &[&str]) -> Result<Dashboard, Error> {
        let words = [&["serve", "--no-open"], words].concat();
        let mut process = self
            .command(&convoke(), &words)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = process.stderr.take().ok_or("no stderr")?;
        let mut lines = BufReader::new(stderr);
        let mut said = String::new();
        while !said.contains("Ctrl-C ends") {
            if lines.read_line(&mut said)? == 0 {
                return Err(format!("the dashboard does not start: {said}").into());
            }
        }
        thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let link = said.split("dashboard: ").nth(1).and_then(|rest| rest.lines().next());
        let link = link.ok_or("the dashboard prints no link")?.to_owned();
        let origin = link.split("/open").next().unwrap_or_default().to_owned();
        Ok(Dashboard { process, link, origin })
    }

    /// Fills every page.
    pub(super) fn fill(&self) -> Result<(), Error> {
        let plan = "# Plan\n\n## Task 1: Write the model\n\nIn `src/model.rs`.\n\n\
                    ## Task 2: Write the view\n\n## Task 3: Test both\n";
        fs::write(self.project().join("plan.md"), plan)?;
        self.convoke(&["task", "import", "plan.md"])?;
        let parent = self.convoke(&["task", "add", "Release the model"])?;
        self.convoke(&["task", "add", "Tag it", "--parent", &parent, "--priority", "high"])?;
        self.convoke(&["task", "start", &parent])?;
        self.convoke(&["task", "note", &parent, "waits for the tests"])?;
        self.convoke(&["agent", "add", "worker", "--client", "claude"])?;
        self.convoke(&["say", "@worker please look at the model"])?;
        self.convoke(&["say", "@worker and at the view", "--re", "1"])?;
        self.convoke(&["pin", "add", "Never push to main"])?;
        self.convoke(&["design", "--rehearse"])?;
        self.convoke(&["design", "--rehearse"])?;
        self.client(&answer_lines("a-model-of-the-test", "The answer is four."))?;
        self.convoke(&[
            "lane",
            "run",
            "--agent",
            "claude",
            "--role",
            "reviewer",
            "What is two and two?",
        ])?;
        self.reviews()
    }

    /// Returns the paths of the navigation, and those of single things.
    pub(super) fn paths(&self, pages: &[&str]) -> Vec<String> {
        let mut paths: Vec<_> = pages.iter().map(|path| (*path).to_owned()).collect();
        let first = self.convoke(&["task", "list"]).unwrap_or_default();
        let id = first.split_whitespace().find(|word| word.starts_with("t-"));
        paths.extend(id.map(|id| format!("/tasks/{id}")));
        paths.extend(["/messages/1".to_owned(), "/messages/wake?agent=worker".to_owned()]);
        paths.push("/search?q=model".to_owned());
        if let [last, first, ..] = self.runs().unwrap_or_default().as_slice() {
            paths.extend([
                format!("/runs/{last}"),
                format!("/runs/{last}?at=20"),
                format!("/runs/{last}/diagram"),
                format!("/compare?first={first}&second={last}"),
            ]);
        }
        paths
    }

    /// Returns the ids of the project's runs, the last one first.
    pub(super) fn runs(&self) -> Result<Vec<String>, Error> {
        let runs: Value = serde_json::from_str(&self.convoke(&["runs", "--json"])?)?;
        let ids = runs.as_array().into_iter().flatten().filter_map(|run| run["run"].as_str());
        Ok(ids.map(str::to_owned).collect())
    }

    /// Returns the path of a file outside of the project.
    pub(super) fn file(&self, name: &str) -> String {
        self.top.path().join(name).display().to_string()
    }

    /// Records three agents who know every answer of the rehearsal, but for one vote, so that the other
    /// voters are divided. Returns the seats.
    pub(super) fn divided_panel(&self) -> Result<String, Error> {
        let mut seats = Vec::new();
        for agent in ["cursor", "codex", "claude"] {
            let known = answers().filter(|(lane, _)| agent != "codex" || *lane != "vote/Codex");
            let lanes = known.map(|(lane, text)| {
                CassetteEntry::answered(lane, text, Duration::ZERO).lines(None)
            });
            let tape = self.file(&format!("{agent}.jsonl"));
            fs::write(&tape, format!("{}\n{}", Cassette::head(), lanes.collect::<String>()))?;
            seats.push(format!("replay:{tape}"));
        }
        Ok(seats.join(","))
    }

    /// Runs a design until it waits for its person: no terminal is there to ask at.
    pub(super) fn design_that_waits(&self, seats: &str) -> Result<(), Error> {
        let words = ["design", "--seats", seats, "Keep notes in a folder"];
        let done = self.command(&convoke(), &words).output()?;
        if done.status.code() == Some(2) {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        Err(format!("the design does not wait: {}: {said}", done.status).into())
    }

    /// Puts texts into every field that takes them, and returns the ids of the tasks.
    pub(super) fn fill_with(&self, texts: &[&str]) -> Result<Vec<String>, Error> {
        let mut ids = Vec::new();
        for (place, text) in texts.iter().enumerate() {
            let id = self.convoke(&["task", "add", &format!("--body={text}"), "--", text])?;
            self.convoke(&["task", "note", "--", &id, text])?;
            self.convoke(&["say", "--", text])?;
            if place < 8 {
                self.convoke(&["pin", "add", "--", text])?;
            }
            ids.push(id);
        }
        self.convoke(&["design", "--rehearse"])?;
        Ok(ids)
    }

    /// Puts a client onto the PATH that runs this script.
    pub(super) fn client(&self, script: &str) -> Result<(), Error> {
        let path = self.top.path().join("bin/claude");
        let version = "case \"$*\" in *--version*) echo '2.1.0 (Claude Code)'; exit;; esac\n";
        fs::write(&path, format!("#!/bin/sh\n{version}{script}"))?;
        Ok(fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?)
    }

    /// Starts a lane whose client uses a tool and then says nothing more.
    pub(super) fn lane_that_talks(&self, tool: &str) -> Result<Running, Error> {
        let (model, role) = ("a-model-of-the-test", "thinker");
        self.lane_that_talks_as(LaneWords { tool, model, role, label: role })
    }

    /// Starts a lane with these names whose client uses a tool and then says nothing more.
    pub(super) fn lane_that_talks_as(&self, named: LaneWords<'_>) -> Result<Running, Error> {
        let LaneWords { tool, model, role, label } = named;
        let begin = json!({"type": "system", "subtype": "init", "session_id": "s-1", "model": model,
            "tools": ["Read"], "permissionMode": "plan"});
        let usage = json!({"input_tokens": 1200, "output_tokens": 34});
        let content = json!([{"type": "tool_use", "id": "1", "name": tool, "input": {}}]);
        let used = json!({"type": "assistant", "session_id": "s-1",
            "message": {"id": "m", "model": model, "role": "assistant", "content": content, "usage": usage}});
        let script = format!(
            "cat <<'END'\n{begin}\n{used}\nEND\nsleep 1\ncat <<'END'\n{used}\nEND\nexec sleep 120\n"
        );
        self.client(&script)?;
        let (role, label) = (format!("--role={role}"), format!("--label={label}"));
        let words = ["lane", "run", "--agent", "claude", &role, &label, "Think."];
        let mut lane = self.command(&convoke(), &words);
        Ok(Running(lane.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?))
    }

    /// Runs a lane whose model, role and run have a text as their name.
    pub(super) fn lane_named(&self, name: &str) -> Result<(), Error> {
        self.client(&answer_lines(name, name))?;
        let (role, run) = (format!("--role={name}"), format!("--run={name}"));
        self.convoke(&["lane", "run", "--agent", "claude", &role, &run, "Think."]).map(drop)
    }

    /// Makes another project in a folder of this name.
    pub(super) fn other_project(&self, name: &str) -> Result<(), Error> {
        let folder = self.top.path().join("others").join(name);
        fs::create_dir_all(folder.join(".git"))?;
        fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        let mut command = self.command(&convoke(), &["task", "add", "Elsewhere"]);
        let done = command.current_dir(&folder).output()?;
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        Err(format!("convoke in {}: {said}", folder.display()).into())
    }

    /// Starts a design whose seats all use a tool and then think for two minutes. The longer a prompt
    /// is, the more tokens its client counts.
    pub(super) fn design_that_sketches(&self) -> Result<Running, Error> {
        let begin = json!({"type": "system", "subtype": "init", "session_id": "s-1",
            "model": "example-model-1", "tools": ["Read", "Grep"], "permissionMode": "plan"});
        let used = json!({"type": "assistant", "session_id": "s-1", "message": {
            "id": "m", "model": "example-model-1", "role": "assistant",
            "content": [{"type": "tool_use", "id": "1", "name": "TOOL", "input": {}}],
            "usage": {"input_tokens": "TOKENS", "output_tokens": 34}}});
        let used = used.to_string().replace("\"TOOL\"", "\"'$tool'\"");
        let used = used.replace("\"TOKENS\"", "'$tokens'");
        let script = format!(
            "prompt=$(cat); tokens=$((${{#prompt}} / 4))\n\
             case $prompt in *'You are the Innovation'*) tool=Grep;; *) tool=Read;; esac\n\
             echo '{begin}'\necho '{used}'\nsleep 1\necho '{used}'\nexec sleep 120\n"
        );
        self.client(&script)?;
        let words = ["design", "--auto", "--no-probe"];
        let feature = "Keep drafts when the connection is lost";
        let mut design = self.command(&convoke(), &[&words[..], &[feature]].concat());
        Ok(Running(design.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?))
    }

    /// Starts a rehearsed design that is held up whenever it goes on, so that a page can follow it.
    pub(super) fn slow_design(&self) -> Result<Running, Error> {
        let convoke = convoke().display().to_string();
        // Stopped and continued many times a second, it takes as long as one with real agents.
        let script = format!(
            "'{convoke}' design --rehearse & p=$!; n=0; \
             while kill -0 $p 2>/dev/null && [ $n -lt 60 ]; do \
             sleep 0.05; kill -STOP $p 2>/dev/null; sleep 0.15; kill -CONT $p 2>/dev/null; n=$((n+1)); \
             done; wait $p"
        );
        let mut design = self.command(Path::new("/bin/sh"), &["-c", &script]);
        Ok(Running(design.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?))
    }
}

fn answer_lines(model: &str, answer: &str) -> String {
    let begin = json!({"type": "system", "subtype": "init", "session_id": "s-0",
        "model": model, "tools": ["Read"], "permissionMode": "plan"});
    let usage = json!({"input_tokens": 1200, "output_tokens": 34});
    let end = json!({"type": "result", "subtype": "success", "is_error": false, "result": answer,
        "session_id": "s-0", "usage": usage, "total_cost_usd": 0.0123});
    format!("cat >/dev/null\ncat <<'END'\n{begin}\n{end}\nEND\n")
}
