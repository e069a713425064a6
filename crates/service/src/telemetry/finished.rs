//! A lane's end, in the words of telemetry.

use convoke_domain::client::Client;
use convoke_domain::lane::outcome::{ClientOutput, LaneOutcome};
use convoke_domain::telemetry::lane::{FinishedLane, LaneContent, TelemetryAgent};
use convoke_domain::telemetry::names;
use convoke_engine::client::Rights;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::drive::LaneDoubt;
use convoke_engine::lane::http::endpoint::Api;
use jiff::Timestamp;

use super::recorder::Recorder;
use crate::failure::{ErrorClass, Failure};
use crate::lane::{LaneRequest, LaneRun};
use crate::session::Session;
use crate::settings::endpoint::endpoint;

/// Returns a lane that ended; `None` if the request was wrong, so that there was none.
pub(super) fn finished_lane(
    session: &Session,
    request: &LaneRequest<'_>,
    began: Timestamp,
    result: &Result<LaneRun, Failure>,
    recorder: &Recorder,
) -> Option<FinishedLane> {
    let is_recorded = matches!(request.agent, AgentRef::Replay(_));
    let run = match result {
        Ok(run) => Some(run),
        Err(failure) if failure.class == ErrorClass::Usage || is_recorded => return None,
        Err(_) => None,
    };
    let transcript = run.map(|run| &run.transcript);
    let output = transcript.map(|transcript| &transcript.output);
    let answer = || output.and_then(ClientOutput::answer).map(str::to_owned);
    let content = recorder
        .content
        .then(|| LaneContent { prompt: request.prompt.to_owned(), answer: answer() });
    Some(FinishedLane {
        number: run.and_then(|run| run.lane),
        agent: agent(request.agent, session),
        purpose: request.purpose.clone(),
        seat: request.label.filter(|_| recorder.has_seats()).map(str::to_owned),
        asked_model: request.asked_model(session),
        model: output.and_then(|output| output.model.clone()),
        session: output.and_then(|output| output.session.clone()),
        writes: request.rights == Rights::Write,
        outcome: transcript.map_or(LaneOutcome::NotStarted, |transcript| transcript.outcome),
        tools: output.map(|output| output.tools).unwrap_or_default(),
        is_recorded,
        usage: run.and_then(|run| run.spent).filter(|_| !is_recorded),
        is_partial: transcript
            .is_some_and(|transcript| transcript.doubts.contains(&LaneDoubt::PartialUsage)),
        content,
        began,
        ended: session.now(),
    })
}

/// Returns an agent's name without any path, and its provider as far as that is known.
fn agent(agent: &AgentRef, session: &Session) -> TelemetryAgent {
    let (operation, name, provider) = match agent {
        AgentRef::Client(client) => {
            (names::INVOKE_AGENT, client.name().to_owned(), names::provider(*client).to_owned())
        }
        AgentRef::Acp(name) => {
            let provider = match Client::parse(name) {
                Some(client) => names::provider(client),
                None => name,
            };
            (names::INVOKE_AGENT, agent.to_string(), provider.to_owned())
        }
        AgentRef::Http(name) => {
            let api = endpoint(session, name).ok().map(|configured| configured.endpoint.api);
            let provider = match api {
                Some(Api::Chat | Api::Responses) => names::OPENAI,
                Some(Api::Messages) => names::ANTHROPIC,
                None => name.as_str(),
            };
            (names::CHAT, agent.to_string(), provider.to_owned())
        }
        AgentRef::Fleet(offer) => {
            let provider = offer.agent.client().map_or("fleet", names::provider);
            (names::INVOKE_AGENT, agent.to_string(), provider.to_owned())
        }
        AgentRef::Replay(_) => {
            (names::INVOKE_AGENT, names::REPLAY.to_owned(), names::REPLAY.to_owned())
        }
    };
    TelemetryAgent { operation, name, provider }
}
