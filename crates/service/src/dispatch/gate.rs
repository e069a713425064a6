//! The gate: whether a client's sessions can be resumed here.

use std::fs;
use std::path::{Path, PathBuf};

use convoke_domain::dispatch::gate::{
    SECOND_PROMPT, Trial, TriedClient, failed, first_prompt, is_open,
};
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::drive::LaneTranscript;
use convoke_engine::scratch;
use convoke_store::Store;
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::lane::{LaneRequest, PinnedRules, lane_failed, purpose_of_role, sentence, version_of};
use crate::observer::Progress;
use crate::session::Session;
use crate::workspace::{open_store, refused};

/// The text that a session reads when the caller names no file.
const TEXT: &str = "\n\nThe harbour office opens at 8 am and closes at 7 am.\n\
    Boats longer then 12 metres pay twice.\n";

/// The result of a test.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateReport {
    /// Whether sessions can be resumed.
    pub passed: bool,
    /// The check that failed, with the code of its lane's outcome.
    pub r1_deferred_reason: Option<String>,
    /// The same for a person.
    #[serde(skip)]
    pub words: Option<String>,
}

/// The two prompts of a try by hand.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GatePromptsReport {
    /// For a fresh session.
    pub first: String,
    /// For the same session, resumed.
    pub second: String,
}

/// A client to test.
#[derive(Debug, Clone)]
pub struct GateTrial {
    /// The client's name.
    pub client: AgentRef,
    /// The model, instead of the client's own choice.
    pub model: Option<String>,
    /// A file for the session to read, with its text; without one, Convoke makes one for the try.
    pub file: Option<(PathBuf, String)>,
}

/// The answers of a manual test.
#[derive(Debug, Clone)]
pub struct GateAnswers {
    /// The text of the file that the session read.
    pub text: String,
    /// The fresh session's name.
    pub agent: Option<String>,
    /// The fresh session's answer.
    pub first: String,
    /// The resumed session's answer, or what went wrong.
    pub second: Result<String, String>,
}

#[derive(Debug, thiserror::Error)]
enum GateError {
    #[error("cannot test `{name}`: a model API keeps no sessions to resume")]
    NoSessions { name: String },
}

/// Tells whether a client has passed in the version that is installed.
pub(super) fn is_passed(
    client: &AgentRef,
    session: &Session,
    store: &dyn Store,
) -> Result<bool, Failure> {
    let Some(tried) = store.gate(&client.to_string()).map_err(refused)? else { return Ok(false) };
    Ok(is_open(Some(&tried), version(client, session)?.as_deref()))
}

/// Describes how a client passes, or that an agent never does.
pub(super) fn to_pass(client: &AgentRef) -> Progress {
    match client {
        AgentRef::Client(_) | AgentRef::Acp(_) | AgentRef::Replay(_) => Progress::Hint(format!(
            "Convoke resumes sessions of {client} only after `convoke dispatch gate --client {client}` has passed"
        )),
        AgentRef::Http(_) | AgentRef::Fleet(_) => {
            Progress::Remark(format!("`{client}` keeps no sessions, so every round starts fresh"))
        }
    }
}

fn version(client: &AgentRef, session: &Session) -> Result<Option<String>, Failure> {
    client.client().map_or(Ok(None), |agent| version_of(agent, session))
}

impl GateReport {
    const fn new(reason: Option<String>, words: Option<String>) -> Self {
        Self { passed: reason.is_none(), r1_deferred_reason: reason, words }
    }
}

/// Returns the prompts to try by hand with a file.
pub fn gate_prompts(file: &Path) -> GatePromptsReport {
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let first = first_prompt(&path.display().to_string());
    GatePromptsReport { first, second: SECOND_PROMPT.to_owned() }
}

/// Judges the answers of a try by hand.
pub fn judge_gate(answers: &GateAnswers) -> GateReport {
    let reason = failed(&Trial {
        first_line: answers.text.lines().next().unwrap_or_default(),
        agent_id: answers.agent.as_deref(),
        first_answer: &answers.first,
        second_answer: answers.second.as_deref().map_err(String::as_str),
    });
    GateReport::new(reason.clone(), reason)
}

/// Tests a client with two lanes, and stores the result; `None` if the user stopped it.
pub fn try_gate(session: &Session, trial: &GateTrial) -> Result<Option<GateReport>, Failure> {
    let client = &trial.client;
    if let AgentRef::Http(_) | AgentRef::Fleet(_) = client {
        let error = GateError::NoSessions { name: client.to_string() };
        let hint = "every round of a model API starts fresh, so it needs no gate";
        return Err(Failure::new(ErrorClass::Usage, error).hint(hint));
    }
    let version = version(client, session)?;
    // Clients may read only files of the project. No agent can guess the file's first line.
    let made = tempfile::Builder::new()
        .prefix("convoke-gate-")
        .suffix(".md")
        .tempfile_in(&session.project)
        .map_err(lane_failed)?;
    let name = made.path().file_stem().unwrap_or_default().display().to_string();
    let own = format!("# Harbour rules, {name}{TEXT}");
    fs::write(made.path(), &own).map_err(lane_failed)?;
    let (file, text) = match &trial.file {
        Some((file, text)) => (file.as_path(), text),
        None => (made.path(), &own),
    };
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let first = trial.ask(&first_prompt(&path.display().to_string()), None, session)?;
    let resumed = first.output.session.as_deref();
    let second = match resumed.filter(|_| first.outcome == LaneOutcome::Answered) {
        Some(resumed) => Some(trial.ask(SECOND_PROMPT, Some(resumed), session)?),
        None => None,
    };
    drop(made);
    let lanes = [Some(&first), second.as_ref()];
    if lanes.iter().flatten().any(|lane| lane.outcome == LaneOutcome::Cancelled) {
        return Ok(None);
    }
    let first_line = text.lines().next().unwrap_or_default();
    let fault = |outcome| scored(&first, second.as_ref(), first_line, outcome);
    let (reason, words) = (fault(LaneOutcome::name), fault(LaneOutcome::state));
    let tried = TriedClient { client: client.to_string(), version, reason, at: session.now() };
    open_store(session)?.record_gate(&tried).map_err(refused)?;
    Ok(Some(GateReport::new(tried.reason, words)))
}

impl GateTrial {
    fn ask(
        &self,
        prompt: &str,
        resume: Option<&str>,
        session: &Session,
    ) -> Result<LaneTranscript, Failure> {
        let order = LaneRequest {
            model: self.model.as_deref(),
            resume,
            rules: PinnedRules::LeftOut,
            purpose: purpose_of_role("gate"),
            ..LaneRequest::new(&self.client, prompt)
        };
        let (scratch, reporter) = (scratch::lane().map_err(lane_failed)?, session.reporter());
        let transcript = order.run_and_warn(session, scratch.path(), &reporter)?.transcript;
        reporter.say(sentence(&transcript, None));
        Ok(transcript)
    }
}

/// Returns what failed. A lane without an answer says itself why, in the words for its outcome.
fn scored(
    first: &LaneTranscript,
    second: Option<&LaneTranscript>,
    first_line: &str,
    words: fn(LaneOutcome) -> &'static str,
) -> Option<String> {
    if first.outcome != LaneOutcome::Answered {
        return Some(format!("V1: {}", words(first.outcome)));
    }
    let second_answer = match second {
        Some(lane) if lane.outcome == LaneOutcome::Answered => {
            Ok(lane.output.answer().unwrap_or_default())
        }
        Some(lane) => Err(words(lane.outcome)),
        None => Err("it was not resumed"),
    };
    failed(&Trial {
        first_line,
        agent_id: first.output.session.as_deref(),
        first_answer: first.output.answer().unwrap_or_default(),
        second_answer,
    })
}
