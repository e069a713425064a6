//! `run_start` and `run_result`.

use convoke_domain::dispatch::role::RoleName;
use convoke_domain::lane::budget::WrittenBudget;
use convoke_domain::run::RunId;
use convoke_domain::task::id::TaskId;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_service::background::{
    DesignWork, DispatchWork, LaneWork, RunWork, StartRunRequest, answer_run, run_output, start_run,
};
use convoke_service::failure::{ErrorClass, Failure};
use serde_json::{Map, json};

use super::Desk;
use crate::arguments::Arguments;
use crate::catalog::ToolName;
use crate::reply::Reply;

#[derive(Debug, thiserror::Error)]
#[error("the user has switched off `run_start`, and with it answers that let a run go on")]
struct NoAnswers;

/// Starts a run in the background.
pub(super) fn start(desk: &Desk, arguments: &Arguments) -> Result<Reply, Failure> {
    let request = StartRunRequest {
        key: arguments.text("key")?.to_owned(),
        work: work(desk, arguments)?,
        budget: arguments.parsed("budget", WrittenBudget::parse)?,
    };
    let started = start_run(&desk.session, &request)?;
    let begun = match &started {
        started if started.was_resumed => "was started before, and goes on",
        started if started.was_started_before => "was started before",
        _ => "started",
    };
    let mut lines = vec![format!("{} {}: {begun}", started.kind, started.run)];
    lines.extend(started.budget.as_ref().map(|budget| format!("budget: {budget}")));
    lines.extend(started.forecast.clone());
    lines.push(format!(
        "call run_status with run={} in {} seconds",
        started.run, started.poll_after_s
    ));
    Ok(Reply::new(lines.join("\n") + "\n", &started))
}

fn work(desk: &Desk, arguments: &Arguments) -> Result<RunWork, Failure> {
    let folder = arguments.maybe_text("folder").map(|text| desk.inside(text)).transpose()?;
    let text = arguments.maybe_text("text").unwrap_or_default().to_owned();
    let agent = |text: &str| {
        AgentRef::parse(text)
            .ok_or("it must be a client such as codex, or acp:NAME, http:NAME or replay:FILE")
    };
    Ok(match arguments.text("kind")? {
        "design" => RunWork::Design(DesignWork {
            feature: text,
            folder,
            quick: arguments.is_on("quick"),
            auto: arguments.is_on("auto"),
            rehearse: arguments.is_on("rehearse"),
        }),
        "dispatch" => RunWork::Dispatch(DispatchWork {
            role: arguments.required("role", RoleName::parse)?,
            folder,
            agent: arguments.required("agent", agent)?,
            task: arguments.parsed("task", TaskId::parse)?,
        }),
        _ => RunWork::Lane(LaneWork {
            prompt: text,
            agent: arguments.parsed("agent", agent)?,
            role: arguments.maybe_text("role").map(str::to_owned),
        }),
    })
}

/// Brings the user's answer to a run.
pub(crate) fn answer(desk: &Desk, run: &RunId, answer: &str) -> Result<Reply, Failure> {
    // An answer lets agents work again, which costs money.
    if !desk.tools.contains(&ToolName::RunStart) {
        return Err(Failure::new(ErrorClass::Refused, NoAnswers));
    }
    let answered = answer_run(&desk.session, run, answer)?;
    let text = format!(
        "answered {}: {}\ncall run_status with run={} in {} seconds\n",
        answered.answered, answered.answer, answered.run, answered.poll_after_s
    );
    Ok(Reply::new(text, &answered))
}

/// Shows an artifact of a run in pages, or brings the user's answer to it.
pub(super) fn result(desk: &Desk, arguments: &Arguments) -> Result<Reply, Failure> {
    let run = arguments.required("run", RunId::parse)?;
    if let Some(text) = arguments.maybe_text("answer") {
        return answer(desk, &run, text);
    }
    let found = run_output(&desk.session, &run, arguments.maybe_text("artifact"))?;
    let facts = json!({
        "run": found.run, "artifact": found.artifact, "total_chars": found.text.chars().count(),
    });
    let facts: Map<_, _> = facts.as_object().cloned().unwrap_or_default();
    Ok(Reply::paged(&found.text, arguments.from(), facts))
}
