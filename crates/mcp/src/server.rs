//! The server: it takes requests from a client, has tools do them on blocking threads, and answers.

use std::fs::File;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use convoke_domain::run::RunId;
use convoke_domain::scope::AgentName;
use convoke_service::failure::{ErrorClass, Failure, did_you_mean};
use convoke_service::interruption::CallerInterruption;
use convoke_service::session::Session;
use convoke_service::settings::mcp::settings;
use convoke_service::workspace::acting_agent;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, DiscoverResult,
    GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, serve_server};
use tokio::io::duplex;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use crate::arguments::Arguments;
use crate::calls::{BLOCKING_THREADS, CallError, CallLimits, bounded};
use crate::catalog::ToolName;
use crate::greeting::{IN_LANE, instructions, next_task};
use crate::question::{self, Asked, Declined};
use crate::reply::Reply;
use crate::tools::wake::WakeMemory;
use crate::tools::{self, Desk, status};
use crate::{lines, prompts, resources};

/// How many bytes of a client's lines may wait, in bytes.
const PIPE: usize = 64 * 1024;

/// How long a client that begins waits for the name of the next task.
const GREETING: Duration = Duration::from_secs(2);

#[derive(Debug, thiserror::Error)]
enum ServeError {
    #[error("cannot start the server")]
    Runtime(#[source] std::io::Error),
    #[error("the client did not begin as the Model Context Protocol says: {0}")]
    Handshake(String),
}

/// The server of one client, or over HTTP of many: each connection has a clone.
#[derive(Clone)]
pub struct Server {
    session: Session,
    agent: AgentName,
    tools: Arc<[ToolName]>,
    /// Whether the client runs in a lane that has no access.
    is_closed: bool,
    /// What belongs to a connection that began with `initialize`.
    connection: OnceLock<Connection>,
    /// What belongs to clients whose requests stand alone, without a connection.
    shared: Connection,
    limits: CallLimits,
}

/// What the server remembers of one client: others neither read on in its wake-ups nor answer for its
/// person.
#[derive(Clone, Default)]
struct Connection {
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
        .max_blocking_threads(BLOCKING_THREADS)
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
    /// Settles once who the client's agent is, and which tools it gets.
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
        let (connection, shared) = (OnceLock::new(), Connection::default());
        let limits = CallLimits::default();
        Ok(Self { session, agent, tools, is_closed, connection, shared, limits })
    }

    fn connection(&self) -> &Connection {
        self.connection.get().unwrap_or(&self.shared)
    }

    /// Adds what the client tells its model at the beginning. It names the next task, which changes while a
    /// server lives.
    async fn greeted(&self, info: ServerConfig) -> ServerConfig {
        if self.is_closed {
            return info;
        }
        let (session, agent) = (self.session.for_call(), self.agent.clone());
        let next = spawn_blocking(move || next_task(&session, &agent));
        // A client that begins does not wait for a store that is far away.
        let next = timeout(GREETING, next).await.ok().and_then(Result::ok).flatten();
        info.with_instructions(instructions(&self.agent, next))
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
        let (agent, memory) = (self.agent.clone(), self.connection().memory.clone());
        Desk::new(session, agent, tools, memory, self.limits.clone())
    }

    fn find(tools: &[ToolName], name: &str) -> Result<ToolName, Failure> {
        let offered = tools.iter().map(|tool| tool.name());
        match ToolName::parse(name) {
            Some(tool) if tools.contains(&tool) => Ok(tool),
            Some(tool) => {
                let failure = CallError::Off(tool.name()).into_failure();
                Err(failure.hint("the setting `mcp.allow` lists the tools that change something"))
            }
            None => {
                let shown = name.chars().take(60).collect();
                let failure = CallError::Unknown(shown).into_failure();
                Err(failure.maybe_hint(did_you_mean(name, offered)))
            }
        }
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let end = self.limits.end();
        let cancelled = context.ct.clone();
        let desk = self.desk().cancelled_by(Arc::new(move || cancelled.is_cancelled()));
        // Every request of the library's is as large as its largest kind.
        let answer = Box::pin(self.answer(&desk, request, context, end));
        let answered = bounded(&desk.session.cancel(), context.ct.cancelled(), end, answer).await;
        let failed = |error: CallError| Reply::failed(&error.into_failure()).finish(None).into();
        answered.unwrap_or_else(failed)
    }

    async fn answer(
        &self,
        desk: &Desk,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        end: Instant,
    ) -> Result<CallToolResponse, CallError> {
        let given = request.arguments.clone().unwrap_or_default();
        let read = Self::find(&desk.tools, &request.name)
            .and_then(|tool| Arguments::read(tool, given).map(|read| (tool, read)));
        let (tool, arguments) = match read {
            Ok(read) => read,
            Err(failure) => {
                let failed = move |desk: &Desk| desk.finish(Reply::failed(&failure));
                return desk.work(failed).await.map(Into::into);
            }
        };
        if tool == ToolName::RunStatus {
            match self.status(desk, &arguments, &request, context, end - status::RESERVE).await {
                Asked::Nothing => {}
                Asked::Answered(reply) => {
                    return desk.work(|desk| desk.finish(*reply)).await.map(Into::into);
                }
                Asked::Needed(input) => return Ok((*input).into()),
            }
        }
        desk.work(move |desk| tools::call(desk, tool, &arguments)).await.map(Into::into)
    }

    /// Answers a request that is no call of a tool, within the same bounds.
    async fn look_up<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        look_up: impl FnOnce(&Desk) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let desk = self.desk();
        let (stop, end) = (desk.session.cancel(), self.limits.end());
        let found = bounded(&stop, context.ct.cancelled(), end, desk.work(look_up)).await;
        found.map_err(|error| ErrorData::internal_error(error.to_string(), None))
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
        question::ask(desk, run, &self.connection().declined, request, context, left).await
    }
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
            .with_instructions(if self.is_closed {
                IN_LANE.to_owned()
            } else {
                instructions(&self.agent, None)
            })
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.connection.get_or_init(Connection::default);
        context.peer.set_peer_info(request.clone());
        Ok(self.greeted(self.negotiate_initialize(&request)?).await)
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.greeted(self.get_info()).await))
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
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = self.look_up(&context, resources::list).await?;
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
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = move |desk: &Desk| resources::read(desk, &request.uri);
        self.look_up(&context, read).await?.map(Into::into)
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
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let make = move |desk: &Desk| prompts::get(desk, &request);
        self.look_up(&context, make).await?.map(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::thread;

    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::*;
    use crate::calls::tests::{DEADLINE, test_desk, test_session};

    /// Starts a server whose places are all taken, sends it requests, and returns the answers by id.
    fn ask_busy_server(longest: Duration, requests: &[Value]) -> Vec<Value> {
        let folder = TempDir::new().unwrap();
        let limits = CallLimits::of(longest);
        let server =
            Server { limits: limits.clone(), ..Server::new(&test_session(&folder)).unwrap() };
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let input = File::from(OwnedFd::from(theirs.try_clone().unwrap()));
        let streams = ClientStreams { input, output: File::from(OwnedFd::from(theirs)) };
        let desk = test_desk(&folder);
        let serving = thread::spawn(move || {
            run(async {
                let held = limits.fill(&desk).await;
                let ended = server.serve_streams(streams).await;
                drop(held);
                ended
            })
        });
        ours.set_read_timeout(Some(DEADLINE)).unwrap();
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello});
        let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        for message in [&hello, &begun].into_iter().chain(requests) {
            writeln!(ours, "{message}").unwrap();
        }
        let mut lines = BufReader::new(ours.try_clone().unwrap()).lines();
        let mut answers: Vec<Value> = (0..=requests.len())
            .map(|_| serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap())
            .collect();
        answers.sort_by_key(|answer| answer["id"].as_i64());
        ours.shutdown(std::net::Shutdown::Both).unwrap();
        serving.join().unwrap().unwrap();
        answers.split_off(1)
    }

    fn request(id: i64, method: &str, params: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    #[test]
    fn a_server_whose_places_are_all_taken_still_hears_its_client() {
        let answers = ask_busy_server(DEADLINE, &[request(1, "tools/list", &json!({}))]);
        assert_eq!(answers[0]["result"]["tools"].as_array().unwrap().len(), 8);
    }

    #[test]
    fn every_request_ends_in_time() {
        let run = "20200101-000000-00000";
        let wait = json!({"name": "run_status", "arguments": {"run": run, "wait_s": 45}});
        let unknown = json!({"name": "run_statu", "arguments": {}});
        let tasks = json!({"name": "tasks", "arguments": {}});
        let plan = json!({"uri": format!("convoke://run/{run}/plan")});
        let answers = ask_busy_server(
            Duration::from_millis(20),
            &[
                request(1, "tools/call", &wait),
                request(2, "tools/call", &unknown),
                request(3, "tools/call", &tasks),
                request(4, "resources/read", &plan),
                request(5, "resources/list", &json!({})),
                request(6, "prompts/get", &json!({"name": "wake"})),
            ],
        );
        for answer in answers {
            assert!(answer.to_string().contains("the call took longer than"), "{answer}");
        }
    }
}
