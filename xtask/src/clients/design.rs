//! Real clients on the seats of a design: a complete run with Codex, a model's API and Claude Code,
//! all against the stand-in, which recognizes each prompt by its words and gives the rehearsal's
//! answer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::lanes::{Row, timed, until};
use super::user::{User, finished};
use super::{claude, codex, own_lanes};
use crate::model_server::{Answer, ModelServer, Reply};
use crate::packages::folder_of;
use crate::{Error, root};

/// The first, the second and the host.
const SEATS: &str = "codex,http:third,claude";

/// A phrase of each kind of prompt that no other has, and its answer. Of two matches, the first
/// counts.
const KINDS: [(&str, &str); 18] = [
    ("Several engineers sketched the feature below", "chair/synthesis/claude"),
    ("Write the implementation plan for the feature below", "chair/plan/claude"),
    ("Reviewers raised the remarks listed below", "chair/merge/claude"),
    ("Voters accepted the findings below", "chair/revision/claude"),
    ("Draw the architecture that the plan below leads to", "chair/diagram/claude"),
    ("You are a judge of a design debate", "judge/Claude"),
    ("on a voting panel that decides", "vote/Claude"),
    ("You own the delivery of", "debate/1/thesis"),
    ("You audit whether the effort is in proportion", "debate/1/antithesis"),
    ("does the plan keep concerns apart", "review/Cursor-Arch"),
    ("what goes wrong at the boundaries", "review/Cursor-Edge"),
    ("which assumption of the plan is not true", "review/Codex-Innovation"),
    ("what could be left out?", "review/Codex-Pragmatic"),
    ("You are the Architecture/Standards engineer", "sketch/Cursor-Arch"),
    ("You are the Edge-cases/Failure-modes engineer", "sketch/Cursor-Edge"),
    ("You are the Innovation/Exploration engineer", "sketch/Codex-Innovation"),
    ("You are the Pragmatism/Safety engineer", "sketch/Codex-Pragmatic"),
    ("Sketch an approach to the feature below", "sketch/Codex-Generic"),
];

/// The prompt of a health probe.
const PROBE: &str = "Respond with OK";

/// The path of Codex's requests.
pub(super) const CODEX_PATH: &str = "/v1/responses";

/// A user with a project to design for, whose agents talk to the stand-in.
struct Table<'a> {
    user: User,
    server: ModelServer,
    bins: &'a [PathBuf; 2],
    /// The path of a Codex that runs hooks.
    own: PathBuf,
}

/// How Codex behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It answers.
    None,
    /// It answers its probe, and nothing else.
    InLanes,
    /// It never answers.
    ForEver,
}

/// Runs a design with all seats well, and some in which a vendor fails.
pub(super) fn check(bins: &[PathBuf; 2], rows: &mut Vec<Row>) -> Result<(), Error> {
    for (case, fault) in [
        ("a design", Fault::None),
        ("a design, codex fails in lanes", Fault::InLanes),
        ("a design, codex fails for ever", Fault::ForEver),
    ] {
        let (took, outcome) = timed(|| {
            let table = Table::new(bins, fault)?;
            let before = own_lanes::mail(&table.user)?;
            let (ended, shown) = table.design()?;
            own_lanes::is_silent(&table.user, &table.server, &before)?;
            let judged = judged(&ended, &shown, fault).map_err(|wrong| {
                let lanes = &shown["lanes"];
                format!("{case}: {wrong}: {}, {:#}, {lanes:#}", ended["ending"], ended["degraded"])
            })?;
            table.is_left_as_it_was()?;
            Ok(judged)
        })?;
        rows.push(Row { client: SEATS, case, outcome: outcome.to_owned(), took });
    }
    Ok(())
}

/// Judges a run by how it ended and by how it is shown. A vendor that fails costs it its independence
/// and nothing else, and is named.
fn judged(ended: &Value, shown: &Value, fault: Fault) -> Result<&'static str, &'static str> {
    let warnings = ended["degraded"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names_codex = warnings.iter().any(|warning| warning.to_string().contains("Codex"));
    let (is_well, codex) = (fault == Fault::None, lanes_of(shown, "codex"));
    if ended["ending"] != "complete" {
        return Err("it is not complete");
    }
    if warnings.is_empty() != is_well || names_codex == is_well {
        return Err("it does not say who fell back");
    }
    let answered = |lane: &&Value| lane["status"] == "OK";
    let as_expected = match fault {
        Fault::None => !codex.is_empty() && codex.iter().all(answered),
        Fault::InLanes => !codex.is_empty() && !codex.iter().any(answered),
        Fault::ForEver => codex.is_empty(),
    };
    if !as_expected {
        return Err("codex did not do what it could");
    }
    for (agent, model) in [("http:third", Some("stand-in")), ("claude", None)] {
        let lanes = lanes_of(shown, agent);
        let is_named = |lane: &&Value| match model {
            Some(model) => lane["model"] == model,
            None => lane["model"].is_string(),
        };
        if lanes.is_empty() || !lanes.iter().all(|lane| answered(lane) && is_named(lane)) {
            return Err("a seat is not shown as who it was");
        }
    }
    Ok(if is_well { "complete" } else { "complete, DEGRADED" })
}

/// The marker word of the recorded votes.
const RECORDED_WORD: &str = "recorded7q";

/// Puts recorded votes between the marker lines that a prompt requests.
fn in_block(answer: &str, prompt: &str) -> String {
    let begin = "BEGIN VOTES ";
    let word = prompt
        .split(begin)
        .nth(1)
        .and_then(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric()).next());
    word.map_or_else(|| answer.to_owned(), |word| answer.replace(RECORDED_WORD, word))
}

/// Has the stand-in give the rehearsal's answer to each prompt of a design.
pub(super) fn play_rehearsal(server: &ModelServer) -> Result<(), Error> {
    play_rehearsal_with(server, Fault::None)
}

fn play_rehearsal_with(server: &ModelServer, fault: Fault) -> Result<(), Error> {
    let answers: Vec<_> = KINDS
        .iter()
        .map(|(words, lane)| Ok((*words, answer(lane)?)))
        .collect::<Result<_, Error>>()?;
    server.will_know(move |path, prompt| {
        let is_probe = prompt.contains(PROBE);
        let known = || answers.iter().find(|(words, _)| prompt.contains(words));
        let text = if is_probe { "OK".to_owned() } else { in_block(&known()?.1, prompt) };
        let fails = match fault {
            Fault::None => false,
            Fault::InLanes => path == CODEX_PATH && !is_probe,
            Fault::ForEver => path == CODEX_PATH,
        };
        let answer = || Reply::Answer(Answer::Text(text));
        Some(if fails { Reply::Status(500) } else { answer() })
    });
    Ok(())
}

fn lanes_of<'a>(shown: &'a Value, agent: &str) -> Vec<&'a Value> {
    let lanes = shown["lanes"].as_array().map(Vec::as_slice).unwrap_or_default();
    lanes.iter().filter(|lane| lane["agent"] == agent).collect()
}

impl<'a> Table<'a> {
    fn new(bins: &'a [PathBuf; 2], fault: Fault) -> Result<Self, Error> {
        let (user, server) = (User::new()?, ModelServer::start()?);
        codex::configure(&user, &server)?;
        let api = format!(
            "wake.agent = 'june'\n[lane.http.third]\napi = 'chat'\nurl = '{}/v1'\nmodel = 'stand-in'\n",
            server.url()
        );
        user.write("home/.config/convoke/config.toml", &api)?;
        copy(&rehearsal().join("project"), &user.project())?;
        let own = own_lanes::prepare(&user, &bins[1], &["claude", "codex"])?;
        let table = Self { user, server, bins, own };
        for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "begin"]] {
            table.git(words)?;
        }
        play_rehearsal_with(&table.server, fault)?;
        Ok(table)
    }

    /// Runs a design to its end; returns how it ended, and how it is shown afterwards.
    fn design(&self) -> Result<(Value, Value), Error> {
        let feature = fs::read_to_string(rehearsal().join("feature.txt"))?;
        let words = ["--json", "design", "--auto", "--no-branch", "--seats", SEATS];
        let limits = ["--limit", "120"];
        let output = self.convoke(&[&words[..], &limits, &[feature.trim()]].concat())?;
        let ended = document(&output)?;
        let run = ended["run"].as_str().unwrap_or_default().to_owned();
        let shown = document(&self.convoke(&["--json", "show", &run])?)?;
        let recount = self.convoke(&["--json", "recount", &run])?;
        let counted = document(&recount)?;
        if !recount.status.success() || counted["differing"] != serde_json::json!([]) {
            return Err(format!("it cannot be counted again: {counted:#}").into());
        }
        Ok((ended, shown))
    }

    fn convoke(&self, words: &[&str]) -> Result<Output, Error> {
        let program = std::env::current_exe()?.with_file_name("convoke");
        let mut convoke = self.user.plain(&program);
        let [one, other] = self.bins;
        let node = folder_of("node").unwrap_or_default();
        let bins = [&self.own, one, other].map(|bin| bin.display().to_string()).join(":");
        let path = format!("{bins}:/usr/bin:/bin:{node}");
        convoke.env("PATH", path).env("OPENAI_API_KEY", "no-key");
        convoke.envs(claude::variables(&self.server));
        Ok(convoke.args(words).output()?)
    }

    fn git(&self, words: &[&str]) -> Result<String, Error> {
        let mut git: Command = self.user.plain(Path::new("git"));
        let who = ["-c", "user.name=June", "-c", "user.email=june@example.com"];
        finished(git.args(who).args(words))
    }

    /// Checks that no process is left, and that no file changed.
    fn is_left_as_it_was(&self) -> Result<(), Error> {
        if !until(|| self.user.alive().is_empty()) {
            return Err(format!("left alive: {:?}", self.user.alive()).into());
        }
        let changed = self.git(&["status", "--porcelain"])?;
        if changed.is_empty() { Ok(()) } else { Err(format!("it left {changed}").into()) }
    }
}

fn document(output: &Output) -> Result<Value, Error> {
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("{error}: {}{said}", String::from_utf8_lossy(&output.stdout)).into()
    })
}

fn rehearsal() -> PathBuf {
    root().join("crates/service/rehearsal")
}

/// Reads the rehearsal's answer for a lane, without its header.
fn answer(lane: &str) -> Result<String, Error> {
    let text = fs::read_to_string(rehearsal().join(format!("answers/{lane}.md")))?;
    let parts = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    Ok(parts.map_or(text.as_str(), |(_, answer)| answer).trim().to_owned())
}

fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
