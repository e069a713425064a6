//! The server: it takes requests from a client, has tools do them on blocking threads, and answers.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use convoke_domain::run::RunId;
use convoke_domain::scope::AgentName;
use convoke_service::failure::{ErrorClass, Failure, did_you_mean};
use convoke_service::interruption::CallerInterruption;
use convoke_service::session::Session;
use convoke_service::settings::mcp::settings;
use convoke_service::task::{TaskDesk, TaskPlace, task_progress};
use convoke_service::workspace::acting_agent;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, serve_server};
use tokio::io::duplex;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use crate::arguments::Arguments;
use crate::catalog::ToolName;
use crate::question::{self, Asked, Declined};
use crate::reply::Reply;
use crate::tools::wake::WakeMemory;
use crate::tools::{self, Desk, status};
use crate::{lines, prompts, resources};

/// How many calls are worked on in parallel; others wait.
const MOST_CALLS: usize = 8;

/// How many bytes of a client's lines may wait, in bytes.
const PIPE: usize = 64 * 1024;

/// What the server says to a client that runs in one of Convoke's own lanes.
const IN_LANE: &str =
    "You work in one of Convoke's lanes, which have no access to Convoke's tools.";

#[derive(Debug, thiserror::Error)]
enum ServeError {
    #[error("cannot start the server")]
    Runtime(#[source] std::io::Error),
    #[error("the client did not begin as the Model Context Protocol says: {0}")]
    Handshake(String),
}

#[derive(Debug, thiserror::Error)]
enum CallError {
    #[error("there is no tool `{0}`")]
    Unknown(String),
    #[error("the user has switched `{0}` off")]
    Off(&'static str),
    #[error("the tool broke off; this is a bug in Convoke")]
    Broken,
    #[error("the client cancelled the call")]
    Cancelled,
    #[error("the call took longer than {} seconds; call it again", status::LONGEST.as_secs())]
    Slow,
}

/// The server of one client.
#[derive(Clone)]
pub struct Server {
    session: Session,
    agent: AgentName,
    tools: Arc<[ToolName]>,
    instructions: Arc<str>,
    memory: Arc<WakeMemory>,
    declined: Arc<Declined>,
}

/// The two ends of a client: pipes, or sockets, as some clients use them.
#[derive(Debug)]
pub struct ClientStreams {
    /// What the client sends.
    pub input: File,
    /// What it reads.
    pub output: File,
}

/// Serves a client on its streams until it closes them, or until the session is stopped.
pub fn serve(session: &Session, streams: ClientStreams) -> Result<(), Failure> {
    let server = Server::new(session)?;
    run(async {
        tokio::select! {
            ended = server.serve_streams(streams) => ended,
            () = stopped(session) => Ok(()),
        }
    })
}

/// Runs a server to its end, on this thread.
pub(crate) fn run(server: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MOST_CALLS)
        .build()
        .map_err(|error| Failure::new(ErrorClass::Prerequisite, ServeError::Runtime(error)))?;
    let outcome = runtime.block_on(server);
    // A call that still works on a blocking thread must not keep a client waiting that has gone.
    runtime.shutdown_background();
    outcome
}

/// Waits until the session is stopped.
pub(crate) async fn stopped(session: &Session) {
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let stop = std::sync::Mutex::new(Some(stop));
    let _watch = session.cancel().watch(move || {
        let taken = stop.lock().ok().and_then(|mut stop| stop.take());
        if let Some(stop) = taken {
            stop.send(()).ok();
        }
    });
    stopped.await.ok();
}

impl Server {
    /// Settles once what the server says to clients at the beginning.
    pub fn new(session: &Session) -> Result<Self, Failure> {
        let agent = acting_agent(session)?;
        let project = &session.project;
        let project = std::path::absolute(project).unwrap_or_else(|_| project.clone());
        let environment = session.environment.acting_for(&agent, project.clone());
        let session = Session { environment, project, ..session.clone() };
        let settings = settings(&session)?;
        let is_closed = session.environment.is_in_lane() && !settings.in_lanes;
        let is_offered = |tool: &ToolName| {
            !is_closed && tool.writes().is_none_or(|writing| settings.allows(writing))
        };
        let tools = ToolName::ALL.into_iter().filter(is_offered).collect();
        let instructions = if is_closed { IN_LANE.to_owned() } else { told(&session, &agent) };
        let (instructions, memory, declined) =
            (instructions.into(), Arc::default(), Arc::default());
        Ok(Self { session, agent, tools, instructions, memory, declined })
    }

    async fn serve_streams(self, streams: ClientStreams) -> Result<(), Failure> {
        let ClientStreams { input, output } = streams;
        let (read, written) = duplex(PIPE);
        tokio::spawn(lines::pass_on(tokio::fs::File::from_std(input), written));
        match serve_server(self, (read, tokio::fs::File::from_std(output))).await {
            Ok(running) => {
                running.waiting().await.ok();
                Ok(())
            }
            // A client that only looks whether the program starts is no failure.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(Failure::new(
                ErrorClass::Usage,
                ServeError::Handshake(error.to_string().chars().take(300).collect()),
            )
            .hint("`convoke mcp` is started by a client: `convoke mcp install CLIENT`")),
        }
    }

    /// Returns what a call works with: settings are read anew for each, because a server lives long. A
    /// tool that its user has switched off meanwhile is off; without readable settings, all that write.
    fn desk(&self) -> Desk {
        let stop = CallerInterruption::new(self.session.cancel().child());
        let session = self.session.in_project(self.session.project.clone()).for_call();
        let session = Session { interruption: Arc::new(stop), ..session };
        let now = settings(&session).ok();
        let is_allowed = |tool: &ToolName| {
            let allows = |writing| now.as_ref().is_some_and(|now| now.allows(writing));
            tool.writes().is_none_or(allows)
        };
        let tools = self.tools.iter().copied().filter(is_allowed).collect();
        Desk::new(session, self.agent.clone(), tools, self.memory.clone())
    }

    fn find(tools: &[ToolName], name: &str) -> Result<ToolName, Failure> {
        let offered = tools.iter().map(|tool| tool.name());
        match ToolName::parse(name) {
            Some(tool) if tools.contains(&tool) => Ok(tool),
            Some(tool) => {
                let failure = Failure::new(ErrorClass::Refused, CallError::Off(tool.name()));
                Err(failure.hint("the setting `mcp.allow` lists the tools that change something"))
            }
            None => {
                let shown = name.chars().take(60).collect();
                let failure = Failure::new(ErrorClass::Usage, CallError::Unknown(shown));
                Err(failure.maybe_hint(did_you_mean(name, offered)))
            }
        }
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let end = Instant::now() + status::LONGEST;
        let cancelled = context.ct.clone();
        let desk = self.desk().cancelled_by(Arc::new(move || cancelled.is_cancelled()));
        let given = request.arguments.clone().unwrap_or_default();
        let read = Self::find(&desk.tools, &request.name)
            .and_then(|tool| Arguments::read(tool, given).map(|read| (tool, read)));
        let (tool, arguments) = match read {
            Ok(read) => read,
            Err(failure) => {
                let failed = move |desk: &Desk| desk.finish(Reply::failed(&failure));
                return work(desk, context.ct.cancelled(), end, failed).await.into();
            }
        };
        if tool == ToolName::RunStatus {
            match self.status(&desk, &arguments, &request, context, end - status::RESERVE).await {
                Asked::Nothing => {}
                Asked::Answered(reply) => {
                    let finish = |desk: &Desk| desk.finish(*reply);
                    return work(desk, context.ct.cancelled(), end, finish).await.into();
                }
                Asked::Needed(input) => return (*input).into(),
            }
        }
        let call = move |desk: &Desk| tools::call(desk, tool, &arguments);
        work(desk, context.ct.cancelled(), end, call).await.into()
    }

    /// Waits for a run to change, and asks the person what it waits for, until the latest time.
    async fn status(
        &self,
        desk: &Desk,
        arguments: &Arguments,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        latest: Instant,
    ) -> Asked {
        let Ok(run) = arguments.required("run", RunId::parse) else { return Asked::Nothing };
        // A client that comes back with an answer has waited already.
        if request.input_responses.is_none() {
            status::wait_for_change(desk, arguments, context, latest).await;
        }
        if desk.is_cancelled() {
            return Asked::Nothing;
        }
        let left = latest.saturating_duration_since(Instant::now());
        question::ask(desk, run, &self.declined, request, context, left).await
    }
}

/// Does blocking work where it does not keep the runtime from other requests, and stops it when its
/// client cancels the call or when it takes too long for any client. What it started in the background
/// goes on.
async fn work(
    desk: Desk,
    cancelled: impl Future<Output = ()>,
    end: Instant,
    work: impl FnOnce(&Desk) -> CallToolResult + Send + 'static,
) -> CallToolResult {
    let stop = desk.session.cancel();
    let error = tokio::select! {
        done = spawn_blocking(move || work(&desk)) => match done {
            Ok(result) => return result,
            Err(_broken) => CallError::Broken,
        },
        () = cancelled => CallError::Cancelled,
        () = sleep_until(end) => CallError::Slow,
    };
    stop.cancel();
    let class = match error {
        CallError::Cancelled | CallError::Slow => ErrorClass::Interrupted,
        CallError::Unknown(_) | CallError::Off(_) | CallError::Broken => ErrorClass::Bug,
    };
    Reply::failed(&Failure::new(class, error)).finish(None)
}

/// Returns the one paragraph that every client gives its model.
fn told(session: &Session, agent: &AgentName) -> String {
    let place = TaskPlace { branch: None, actor: Some(agent.clone()) };
    let next = TaskDesk::open(session, &place, task_progress).ok().and_then(|tasks| tasks.current);
    let next = next.map_or_else(String::new, |task| {
        let title: String = task.title.chars().take(80).collect();
        format!("; next: {} ({title})", task.id)
    });
    format!(
        "You are @{agent}{next}. Call `wake` first, and again after you lose context: it returns \
         your skill, plan, tasks, rules and messages. Where a text names a `convoke task` command, \
         call `task_update`. Every result ends with a line about unread messages."
    )
}

/// How long a client may keep a list.
const KEEP_LIST: Duration = Duration::from_mins(5);

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("convoke", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions.to_string())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.iter().map(|tool| tool.tool()).collect();
        let keep = u64::try_from(KEEP_LIST.as_millis()).unwrap_or_default();
        Ok(ListToolsResult::with_all_items(tools).with_ttl_ms(keep))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(self.call(request, &context).await)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let desk = self.desk();
        let listed = spawn_blocking(move || resources::list(&desk)).await.unwrap_or_default();
        Ok(ListResourcesResult::with_all_items(listed))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates(&self.tools)))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let desk = self.desk();
        let read = spawn_blocking(move || resources::read(&desk, &request.uri)).await;
        let broken = |_| ErrorData::internal_error(CallError::Broken.to_string(), None);
        read.map_err(broken)?.map(Into::into)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(lines::refuse(&request))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list(&self.tools)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let desk = self.desk();
        let made = spawn_blocking(move || prompts::get(&desk, &request)).await;
        let broken = |_| ErrorData::internal_error(CallError::Broken.to_string(), None);
        made.map_err(broken)?.map(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::path::PathBuf;
    use std::sync::mpsc::channel;

    use convoke_service::environment::Environment;
    use tempfile::TempDir;

    use super::*;

    /// Only work that is never stopped waits so long.
    const DEADLINE: Duration = Duration::from_mins(1);

    /// Does work that ends when it is stopped, and returns the result and whether it was.
    fn stopped_work(cancelled: impl Future<Output = ()>, end: Duration) -> (String, bool) {
        let folder = TempDir::new().unwrap();
        let variables = [("HOME".into(), folder.path().into())];
        let environment = Environment::new(variables, None, PathBuf::new());
        let session = Session::new(folder.path().to_owned(), environment);
        let stop = CallerInterruption::new(session.cancel().child());
        let session = Session { interruption: Arc::new(stop), ..session };
        let agent = AgentName::parse("june").unwrap();
        let desk = Desk::new(session, agent, Arc::new([]), Arc::default());
        let (ended, was_stopped) = channel();
        let until_stopped = move |desk: &Desk| {
            let (stop, stopped) = channel();
            let _watch = desk.session.cancel().watch(move || {
                stop.send(()).ok();
            });
            ended.send(stopped.recv_timeout(DEADLINE).is_ok()).ok();
            Reply::default().finish(None)
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let end = Instant::now() + end;
        let result = runtime.block_on(work(desk, cancelled, end, until_stopped));
        (format!("{result:?}"), was_stopped.recv_timeout(DEADLINE).unwrap())
    }

    #[test]
    fn work_that_its_client_cancels_is_stopped() {
        let (result, was_stopped) = stopped_work(ready(()), 2 * DEADLINE);
        assert!(result.contains("the client cancelled the call"), "{result}");
        assert!(was_stopped);
    }

    #[test]
    fn work_that_takes_too_long_is_stopped() {
        let (result, was_stopped) = stopped_work(pending(), Duration::ZERO);
        assert!(result.contains("the call took longer than 45 seconds; call it again"), "{result}");
        assert!(was_stopped);
    }
}
