//! `convoke dispatch gate`.

use std::fs;
use std::path::{Path, PathBuf};

use convoke_domain::dispatch::gate::{
    SECOND_PROMPT, Trial, TriedClient, failed, first_prompt, is_open,
};
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_engine::lane::adapter::{Agent, Rights};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::drive::Driven;
use convoke_engine::scratch;
use convoke_store::dispatch::DispatchStore;
use convoke_store::sqlite::SqliteStore;

use super::read;
use crate::app::{App, Format};
use crate::cli::lane::{
    Account, AgentWord, LaneOrder, Rules, USUAL_LIMITS, lane_failed, model_name, sentence,
    version_of,
};
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, Voice};
use crate::workspace::{open_store, refused};

/// What a session is given to read when nobody names a file.
const TEXT: &str = "\n\nThe harbour office opens at 8 am and closes at 7 am.\n\
    Boats longer then 12 metres pay twice.\n";

/// With `--client`, tries it: a fresh session reads a file, is resumed, and must still know what it
/// read and said. What came of it is kept, and nothing is resumed with a client whose present
/// version has not passed. Without a client, prints the two prompts to try by hand: the first for a
/// fresh session, the second for the same session resumed; with both answers, judges them.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The client to try
    #[arg(
        long,
        group = "who",
        value_parser = AgentWord,
        conflicts_with_all = ["first", "second", "error"]
    )]
    client: Option<AgentRef>,

    /// The model [default: the client's own choice]
    #[arg(long, requires = "who", conflicts_with = "first", value_parser = model_name)]
    model: Option<String>,

    /// A file for the session to read [default with a client: one that is there only meanwhile]
    #[arg(long, value_name = "FILE", required_unless_present = "who")]
    file: Option<PathBuf>,

    /// With `--first` the fresh session's name, else the same as `--client`
    #[arg(long, value_name = "ID", group = "who")]
    agent: Option<String>,

    /// The fresh session's answer
    #[arg(long, value_name = "FILE", requires = "file")]
    first: Option<PathBuf>,

    /// The resumed session's answer
    #[arg(long, value_name = "FILE", requires = "first")]
    second: Option<PathBuf>,

    /// What went wrong when the session was resumed
    #[arg(long, value_name = "TEXT", requires = "first", conflicts_with = "second")]
    error: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum GateError {
    #[error("cannot try `{name}`: it is no client")]
    NoClient { name: String },
    #[error("cannot try `{name}`: a model's API keeps no sessions to resume")]
    NoSessions { name: String },
}

/// Tells whether a client has passed in the version that is installed.
pub(super) fn is_passed(
    client: &AgentRef,
    app: &App,
    store: &SqliteStore,
) -> Result<bool, Failure> {
    let Some(tried) = store.gate(&client.to_string()).map_err(refused)? else { return Ok(false) };
    Ok(is_open(Some(&tried), version(client, app)?.as_deref()))
}

/// Says how a client passes, or that an agent never does.
pub(super) fn to_pass(client: &AgentRef) -> String {
    match client {
        AgentRef::Client(_) | AgentRef::Replay(_) => format!(
            "hint: nothing is resumed before `convoke dispatch gate --client {client}` has passed"
        ),
        AgentRef::Http(_) => {
            format!("note: `{client}` keeps no sessions, so every round begins afresh")
        }
    }
}

fn version(client: &AgentRef, app: &App) -> Result<Option<String>, Failure> {
    client.client().map_or(Ok(None), |agent| version_of(agent, app))
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match (self.client()?, &self.file, &self.first) {
            (Some(client), ..) => self.try_out(&client, app, output),
            (None, Some(file), Some(first)) => self.by_hand(file, first, app, output),
            (None, Some(file), None) => prompts(file, app, output),
            // The command line has been checked.
            (None, None, _) => Ok(Exit::Usage),
        }
    }

    /// Returns the client to try, by either flag.
    fn client(&self) -> Result<Option<AgentRef>, Failure> {
        let named = self.agent.as_ref().filter(|_| self.first.is_none());
        let Some(name) = named else { return Ok(self.client.clone()) };
        let client = AgentRef::parse(name).ok_or_else(|| {
            let clients = Agent::ALL.map(Agent::name).join(", ");
            Failure::new(Exit::Usage, GateError::NoClient { name: name.clone() })
                .hint(format!("clients are {clients}; a session's name goes with `--first`"))
        })?;
        Ok(Some(client))
    }

    fn by_hand(
        &self,
        file: &Path,
        first: &Path,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let text = read(file)?;
        let first_answer = read(first)?;
        let second = self.second.as_ref().map(|path| read(path)).transpose()?;
        let second_answer = match (&second, &self.error) {
            (Some(answer), _) => Ok(answer.as_str()),
            (None, error) => Err(error.as_deref().unwrap_or("it was not resumed")),
        };
        let reason = failed(&Trial {
            first_line: text.lines().next().unwrap_or_default(),
            agent_id: self.agent.as_deref(),
            first_answer: &first_answer,
            second_answer,
        });
        let hint =
            "hint: `\"r1_deferred_reason\"` in a feature's .meta.json keeps `next` from resuming";
        show(reason.as_deref(), hint, app, output)
    }

    /// Tries a client with two lanes, and keeps what came of it.
    fn try_out(&self, client: &AgentRef, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if let AgentRef::Http(_) = client {
            let error = GateError::NoSessions { name: client.to_string() };
            let hint = "every round of an API begins afresh, so it needs no gate";
            return Err(Failure::new(Exit::Usage, error).hint(hint));
        }
        let version = version(client, app)?;
        // Clients may read only what is in the project. Nobody can guess the file's first line.
        let made = tempfile::Builder::new()
            .prefix("convoke-gate-")
            .suffix(".md")
            .tempfile_in(&app.project)
            .map_err(lane_failed)?;
        let name = made.path().file_stem().unwrap_or_default().display().to_string();
        fs::write(made.path(), format!("# Harbour rules, {name}{TEXT}")).map_err(lane_failed)?;
        let file = self.file.as_deref().unwrap_or(made.path());
        let text = read(file)?;
        let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let first = self.ask(client, &first_prompt(&path.display().to_string()), None, app)?;
        let session = first.heard.session.as_deref();
        let second = match session.filter(|_| first.outcome == LaneOutcome::Answered) {
            Some(session) => Some(self.ask(client, SECOND_PROMPT, Some(session), app)?),
            None => None,
        };
        drop(made);
        let lanes = [Some(&first), second.as_ref()];
        if lanes.iter().flatten().any(|it| it.outcome == LaneOutcome::Cancelled) {
            return Ok(Exit::Interrupted);
        }
        let reason = scored(&first, second.as_ref(), text.lines().next().unwrap_or_default());
        let tried = TriedClient { client: client.to_string(), version, reason, at: now() };
        open_store(app)?.record_gate(&tried).map_err(refused)?;
        show(tried.reason.as_deref(), "hint: every round of this client begins afresh", app, output)
    }

    fn ask(
        &self,
        client: &AgentRef,
        prompt: &str,
        resume: Option<&str>,
        app: &App,
    ) -> Result<Driven, Failure> {
        let order = LaneOrder {
            agent: client,
            prompt,
            label: None,
            record: None,
            model: self.model.as_deref(),
            effort: None,
            resume,
            rights: Rights::ReadOnly,
            rules: Rules::LeftOut,
            limits: USUAL_LIMITS,
            account: Account::of_role("gate"),
        };
        let (scratch, voice) = (scratch::lane().map_err(lane_failed)?, Voice::default());
        let driven = order.run_watched(app, scratch.path(), &voice)?.driven;
        voice.say(&sentence(&driven, None));
        Ok(driven)
    }
}

/// Returns what failed. A lane without an answer says itself why.
fn scored(first: &Driven, second: Option<&Driven>, first_line: &str) -> Option<String> {
    if first.outcome != LaneOutcome::Answered {
        return Some(format!("V1: {}", first.outcome.name()));
    }
    let second_answer = match second {
        Some(it) if it.outcome == LaneOutcome::Answered => {
            Ok(it.heard.answer().unwrap_or_default())
        }
        Some(it) => Err(it.outcome.name()),
        None => Err("it was not resumed"),
    };
    failed(&Trial {
        first_line,
        agent_id: first.heard.session.as_deref(),
        first_answer: first.heard.answer().unwrap_or_default(),
        second_answer,
    })
}

fn show(reason: Option<&str>, hint: &str, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match (app.format, reason) {
        (Format::Json, _) => output.json(
            &serde_json::json!({ "passed": reason.is_none(), "r1_deferred_reason": reason }),
        )?,
        (Format::Text, None) => output.data("passed: sessions can be resumed here\n")?,
        (Format::Text, Some(reason)) => {
            output.data(&format!("{reason}\n"))?;
            output.say(hint);
        }
    }
    Ok(if reason.is_none() { Exit::Done } else { Exit::No })
}

fn prompts(file: &Path, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    read(file)?;
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let first = first_prompt(&path.display().to_string());
    match app.format {
        Format::Json => {
            output.json(&serde_json::json!({ "first": first, "second": SECOND_PROMPT }))?;
        }
        Format::Text => output.data(&format!("{first}\n---\n\n{SECOND_PROMPT}"))?,
    }
    Ok(Exit::Done)
}
