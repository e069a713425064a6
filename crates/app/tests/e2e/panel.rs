//! A project in git, and three recorded agents who know every answer of the rehearsal.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use convoke_engine::lane::cassette::{Cassette, CassetteEntry};
use serde_json::{Value, json};

use crate::harness::{Outcome, Project, set_mode};

pub(crate) const FEATURE: &str = "Keep notes in a folder";
const AGENTS: [&str; 3] = ["cursor", "codex", "claude"];

/// A host with one answer to everything, and a price.
const SPENDER: &str = "#!/bin/sh\ncat > /dev/null\n\
    echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"## Approach\\u000aAs it is.\",\
    \"session_id\":\"'$$'\",\"uuid\":\"u\",\"total_cost_usd\":0.01,\
    \"usage\":{\"input_tokens\":60,\"output_tokens\":40}}'\n";

/// Answers by the names of lanes.
pub(crate) type Answers = BTreeMap<String, String>;

pub(crate) struct Panel {
    pub(crate) project: Project,
}

impl Panel {
    pub(crate) fn new() -> Self {
        Self::in_project(Project::new().variable("PATH", "/usr/bin:/bin"))
    }

    /// Makes a repository of a project, which may have its own clients.
    pub(crate) fn in_project(project: Project) -> Self {
        let panel = Self { project: project.file("README.md", "An example.\n") };
        panel.git(&["init", "--quiet", "--initial-branch=main"]);
        panel.git(&["config", "user.name", "June"]);
        panel.git(&["config", "user.email", "june@localhost"]);
        panel.git(&["add", "."]);
        panel.git(&["commit", "--quiet", "-m", "one"]);
        for agent in AGENTS {
            panel.recorded(agent, &answers());
        }
        panel
    }

    /// Has an agent know these answers and no others.
    pub(crate) fn recorded(&self, agent: &str, answers: &Answers) {
        let lanes = answers.iter().map(|(label, answer)| lane(label, answer));
        let tape = format!("{}\n{}", Cassette::head(), lanes.collect::<String>());
        fs::write(self.tape(agent), tape).unwrap();
    }

    /// Has a lane of an agent's be cut off after all that it says.
    pub(crate) fn cut_off(&self, agent: &str, label: &str) {
        self.failing(agent, label, "cut_off", "it was cut off");
    }

    /// Has a lane of an agent's fail, in these words.
    pub(crate) fn failing(&self, agent: &str, label: &str, kind: &str, words: &str) {
        let tape = fs::read_to_string(self.tape(agent)).unwrap();
        let mut is_meant = false;
        let lines = tape.lines().map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            if let Some(request) = line.get("request") {
                is_meant = request["label"] == label;
            } else if let Some(ended) = line.get_mut("ended").filter(|_| is_meant) {
                ended["failure"] = json!({ "kind": kind, "message": words });
            }
            format!("{line}\n")
        });
        fs::write(self.tape(agent), lines.collect::<String>()).unwrap();
    }

    /// Takes an agent away.
    pub(crate) fn without(self, agent: &str) -> Self {
        fs::remove_file(self.tape(agent)).unwrap();
        self
    }

    fn tape(&self, agent: &str) -> std::path::PathBuf {
        self.project.path(&format!("../{agent}.jsonl"))
    }

    pub(crate) fn seats(&self) -> String {
        AGENTS.map(|agent| format!("replay:{}", self.tape(agent).display())).join(",")
    }

    /// Designs without questions to a person.
    pub(crate) fn design(&self, flags: &[&str]) -> Outcome {
        let seats = self.seats();
        self.project.run(&[&["design", "--auto", "--seats", &seats], flags, &[FEATURE]].concat())
    }

    /// Makes the host a program that spends a hundred tokens and a cent on every answer, and
    /// returns the seats. The others write what the host cannot.
    pub(crate) fn with_spender(self) -> (Self, String) {
        for agent in ["cursor", "codex"] {
            self.recorded(agent, &answers_of_chair(agent));
        }
        let program = self.project.path("../bin/claude");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, SPENDER).unwrap();
        set_mode(&program, 0o755);
        let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
        let panel = Self { project: self.project.variable("PATH", &path) };
        let seats = panel.seats().rsplit_once(',').unwrap().0.to_owned() + ",claude";
        (panel, seats)
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let git = self.project.command(Path::new("/usr/bin/git"), arguments).output().unwrap();
        assert!(git.status.success(), "{git:?}");
        String::from_utf8(git.stdout).unwrap().trim().to_owned()
    }

    /// Returns the last run and its state.
    pub(crate) fn run(&self) -> (String, String) {
        let runs: Value = serde_json::from_str(&self.project.stdout(&["runs", "--json"])).unwrap();
        let word = |name: &str| runs[0][name].as_str().unwrap().to_owned();
        (word("run"), word("state"))
    }

    /// Returns the report on a run.
    pub(crate) fn shown(&self, run: &str) -> Value {
        serde_json::from_str(&self.project.stdout(&["show", run, "--json"])).unwrap()
    }
}

/// Every answer of the rehearsal.
pub(crate) fn answers() -> Answers {
    convoke::rehearsal::answers().map(|(lane, text)| (lane.to_owned(), text.to_owned())).collect()
}

/// Every answer of the rehearsal, and those of the chair also under another agent's name: lanes are
/// recorded under the name of the agent that holds a seat.
pub(crate) fn answers_of_chair(agent: &str) -> Answers {
    let as_chair = answers().into_iter().filter_map(|(lane, text)| {
        let task = lane.strip_suffix("/claude")?;
        Some((format!("{task}/{agent}"), text))
    });
    answers().into_iter().chain(as_chair).collect()
}

fn lane(label: &str, answer: &str) -> String {
    CassetteEntry::answered(label, answer, Duration::ZERO).lines(None)
}
