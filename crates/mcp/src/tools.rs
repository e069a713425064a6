//! What each tool does: it reads arguments, calls one use case and shows its report.

mod brief;
mod messages;
pub(crate) mod run;
pub(crate) mod status;
mod tasks;
pub(crate) mod wake;

use std::path::PathBuf;
use std::sync::Arc;

use convoke_domain::scope::AgentName;
use convoke_engine::file::stays_inside;
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::message::unread_count;
use convoke_service::replica::refresh_after;
use convoke_service::session::Session;
use rmcp::model::CallToolResult;

use self::wake::WakeMemory;
use crate::arguments::{ArgumentError, Arguments};
use crate::calls::{CallError, CallLimits};
use crate::catalog::ToolName;
use crate::observer::Notes;
use crate::reply::Reply;

/// What one call works with.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) session: Session,
    /// The agent that the server's client works for.
    pub(crate) agent: AgentName,
    /// The tools that its user allows.
    pub(crate) tools: Arc<[ToolName]>,
    /// The wake-ups whose pages are being read.
    pub(crate) memory: Arc<WakeMemory>,
    /// What bounds the call's work.
    pub(crate) limits: CallLimits,
    /// Tells whether the client has cancelled the call.
    cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    notes: Arc<Notes>,
}

#[derive(Debug, thiserror::Error)]
#[error("the path `{0}` leads out of the project")]
struct Outside(String);

/// Does a call, and shows what came of it.
pub(crate) fn call(desk: &Desk, tool: ToolName, arguments: &Arguments) -> CallToolResult {
    let reply = match tool {
        ToolName::Wake => wake::wake(desk, arguments),
        ToolName::Brief => brief::brief(desk, arguments),
        ToolName::Tasks => tasks::list(desk, arguments),
        ToolName::TaskUpdate => tasks::update(desk, arguments),
        ToolName::Say => messages::say(desk, arguments),
        ToolName::RunStart => run::start(desk, arguments),
        ToolName::RunStatus => status::status(desk, arguments),
        ToolName::RunResult => run::result(desk, arguments),
    };
    let result = desk.finish(reply.unwrap_or_else(|failure| Reply::failed(&failure)));
    refresh_after(&desk.session);
    result
}

impl Desk {
    pub(crate) fn new(
        session: Session,
        agent: AgentName,
        tools: Arc<[ToolName]>,
        memory: Arc<WakeMemory>,
        limits: CallLimits,
    ) -> Self {
        let notes = Arc::new(Notes::default());
        let session = session.observed_by(notes.clone());
        Self { session, agent, tools, memory, limits, cancelled: Arc::new(|| false), notes }
    }

    /// Returns the desk of a call that its client can cancel.
    #[must_use]
    pub(crate) fn cancelled_by(self, cancelled: Arc<dyn Fn() -> bool + Send + Sync>) -> Self {
        Self { cancelled, ..self }
    }

    /// Tells whether the client takes no answer any more.
    pub(crate) fn is_cancelled(&self) -> bool {
        (self.cancelled)()
    }

    /// Does blocking work of the call where it does not keep the server from other requests.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, CallError> {
        self.limits.work(self, work).await
    }

    /// Adds notes and the line about unread messages.
    pub(crate) fn finish(&self, mut reply: Reply) -> CallToolResult {
        reply.add_notes(self.notes.lines());
        reply.finish(self.unread())
    }

    fn unread(&self) -> Option<String> {
        let agent = &self.agent;
        Some(match unread_count(&self.session, agent).ok()? {
            0 => format!("no unread messages for @{agent}"),
            1 => format!("1 unread message for @{agent}: call `wake`"),
            count => format!("{count} unread messages for @{agent}: call `wake`"),
        })
    }

    /// Returns the agent of the argument `as`, or else the client's own. A client's model never
    /// speaks for the person.
    pub(crate) fn actor(&self, arguments: &Arguments) -> Result<AgentName, Failure> {
        let named = agent(arguments, "as")?.unwrap_or_else(|| self.agent.clone());
        if named.is_human() {
            let expected = "an agent's name: only the person speaks as `human`".to_owned();
            let error = ArgumentError::Value { name: "as".to_owned(), expected };
            return Err(Failure::new(ErrorClass::Refused, error));
        }
        Ok(named)
    }

    /// Returns a path of the project, relative to it. Models often write absolute ones.
    pub(crate) fn inside(&self, text: &str) -> Result<PathBuf, Failure> {
        let path = PathBuf::from(text.trim());
        let project = &self.session.project;
        let path = path.strip_prefix(project).map_or_else(|_| path.clone(), PathBuf::from);
        if stays_inside(project, &path) {
            return Ok(path);
        }
        let shown = text.chars().take(200).collect();
        let failure = Failure::new(ErrorClass::Refused, Outside(shown));
        Err(failure.hint("name a path below the project, relative to it"))
    }
}

/// Reads the name of an agent, also as it is mentioned.
pub(crate) fn agent(
    arguments: &Arguments,
    name: &'static str,
) -> Result<Option<AgentName>, Failure> {
    arguments.parsed(name, |text| AgentName::parse(text.trim_start_matches('@')))
}
