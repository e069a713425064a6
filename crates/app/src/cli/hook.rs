//! `convoke hook`: what clients call at the events of a session.
//!
//! A hook must never stand in an agent's way: whatever goes wrong, it answers with silence in the
//! client's own format and exits 0.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::client::Client;
use convoke_domain::hook::Moment;
use convoke_domain::scope::{Address, AgentName};
use convoke_engine::client::{HookWiring, adapter};
use convoke_engine::hook::{Answer, Entry, Heard, Input, answer, record};
use convoke_engine::project::find_above;
use convoke_engine::skill::hash;
use convoke_engine::wake::Sources;
use convoke_store::delivery::Session;

use super::wake::{budget_here, library, profile_of, sources};
use crate::app::{App, Format, Verbosity};
use crate::clock::now;
use crate::config::wake::{Settings, settings_for_hook};
use convoke_service::environment::Environment;

use crate::env;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::output::Output;
use crate::workspace::{Workspace, refused};

/// No client says more about an event.
const MAX_INPUT: u64 = 16 * 1024 * 1024;

/// Longer than this no agent should wait for us.
const PATIENCE: Duration = Duration::from_secs(3);

/// Answer a client's hook (called by clients)
///
/// Reads the client's JSON on stdin and prints its answer: the wake-up of the agent whose session
/// it is, once after each loss of memory, and otherwise nothing. Always exits 0.
///
/// In a client that Convoke started (`CONVOKE_LANE` is set) it delivers and records nothing.
///
/// The agent is the one in `CONVOKE_AGENT`, else the one the session is bound to, else the project's
/// `wake.agent`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The client
    #[arg(value_parser = client())]
    client: Client,

    /// The event, by the client's own name for it
    event: String,

    /// Which of several hook entries this is; long texts are spread over them
    #[arg(long, value_name = "N", default_value = "1")]
    part: NonZeroUsize,

    /// How many hook entries there are
    #[arg(long, value_name = "N", default_value = "1")]
    of: NonZeroUsize,
}

/// The command without any other; a client calls it at every event.
#[derive(Debug, Parser)]
struct Alone {
    #[command(flatten)]
    args: Args,
}

/// Reads a command line that calls `hook` and nothing else; `None` if it is anything else, or wrong.
pub fn parse_alone(arguments: &[OsString]) -> Option<Args> {
    let words =
        arguments.get(1..).filter(|words| words.first().is_some_and(|word| word == "hook"))?;
    Alone::try_parse_from(words).ok().map(|alone| alone.args)
}

impl Args {
    /// Runs the command. What goes wrong is said only with `-v`.
    pub fn run(&self, verbosity: Verbosity, output: &mut Output) -> Result<Exit, Failure> {
        if let Err(failure) = self.try_to_answer(verbosity, output) {
            say_nothing(output)?;
            say_why(verbosity, &failure, output);
        }
        Ok(Exit::Done)
    }

    fn try_to_answer(&self, verbosity: Verbosity, output: &mut Output) -> Result<(), Failure> {
        // A client may fail to write its event into a pipe that nothing reads.
        let event = self.event();
        let environment = env::captured();
        if environment.is_in_lane() {
            return say_nothing(output);
        }
        let Some((input, hooks, moment, mark)) = event else { return say_nothing(output) };
        let place = place(&input, &environment).zip(input.session_id.as_deref());
        let Some((project, session_id)) = place else { return say_nothing(output) };
        let app = App::new(project, environment, Format::Json, verbosity);
        let (settings, unusable) = settings_for_hook(&app)?;
        let remark = unusable_files(&unusable);
        let workspace = Workspace::open_in_a_hurry(&app, None, PATIENCE)?;
        if self.part.get() == 1 {
            let project = &workspace.scope.project;
            workspace.store.fired(self.client, project, now()).map_err(refused)?;
        }
        let session = Session { client: self.client, id: session_id };
        let Some(agent) = who(&app, &workspace, &settings, Some(session))? else {
            return say_nothing(output);
        };
        let library = library(&app, &settings);
        let sources = sources(&app, &workspace, &settings, &library);
        // A session stays with its agent's branch, whatever is checked out.
        let sources = Sources { scope: &agent.scope, ..sources };
        let number = u32::try_from(self.part.get()).unwrap_or(u32::MAX);
        let heard = Heard {
            session,
            hooks,
            event: &self.event,
            moment,
            mark,
            transcript: input.transcript.as_deref(),
            entry: Entry { number, of: self.of.max(self.part) },
            agent: &agent,
            profile: profile_of(&agent.agent, &settings),
            budget: budget_here(&settings, &workspace, &agent.scope)?,
            remark: remark.as_deref(),
            now: now(),
        };
        let answer = answer(&sources, &heard).map_err(refused)?;
        output.data(&format!("{}\n", answer.json))?;
        // Only what has left us has been delivered.
        output.flush()?;
        if output.is_discarded() {
            return Ok(());
        }
        // The client has its answer, so a second one would spoil it; the loss stays open instead.
        if let Err(error) = record(&sources, &heard, &answer) {
            say_why(verbosity, &refused(error), output);
        }
        Ok(())
    }

    /// Reads what the client says; `None` for what is no concern of ours.
    fn event(&self) -> Option<(Input, &'static HookWiring, Moment, u64)> {
        let text = input::read(MAX_INPUT)?;
        let input = Input::parse(&text)?;
        let hooks = adapter(self.client).hooks.as_ref()?;
        let moment = hooks.moment(&self.event, input.cause.as_deref())?;
        Some((input, hooks, moment, mark(&self.event, &text)))
    }
}

/// Returns what tells an event from others: a hash of its name and of all that is said about it.
fn mark(event: &str, input: &str) -> u64 {
    let hash = hash(format!("{event}\n{input}"));
    hash.get(..15).and_then(|start| u64::from_str_radix(start, 16).ok()).unwrap_or_default()
}

/// Names files whose settings are left out. What is wrong in one is not said here: its author could
/// write anything.
fn unusable_files(names: &[&str]) -> Option<String> {
    let files: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let files = files.join(" and ");
    (!names.is_empty()).then(|| format!("settings left out: {files}; run `convoke doctor`"))
}

fn say_why(verbosity: Verbosity, failure: &Failure, output: &Output) {
    if verbosity == Verbosity::Verbose {
        output.failure(failure);
    }
}

/// Answers with silence.
pub(crate) fn say_nothing(output: &mut Output) -> Result<(), Failure> {
    output.data(&format!("{}\n", Answer::nothing().json))
}

/// Returns the project that the client works in; outside of any there is nothing to say.
fn place(input: &Input, environment: &Environment) -> Option<PathBuf> {
    let start = input.cwd.clone().or_else(|| environment.current_dir().ok())?;
    find_above(&start, environment.home().as_deref().map(Path::new))
}

/// Returns whose session it is.
pub(super) fn who(
    app: &App,
    workspace: &Workspace,
    settings: &Settings,
    session: Option<Session<'_>>,
) -> Result<Option<Address>, Failure> {
    let here = |agent: AgentName| Address { scope: workspace.scope.clone(), agent };
    if let Some(name) = app.environment.agent() {
        let name = AgentName::parse(&name.to_string_lossy());
        return Ok(name.ok().map(here));
    }
    let bound = session.map(|session| workspace.store.bound(session)).transpose();
    let bound = bound.map_err(refused)?.flatten();
    let bound = bound.filter(|address| address.scope.project == workspace.scope.project);
    Ok(bound.or_else(|| settings.agent.clone().map(|(agent, _)| here(agent))))
}

/// Reads a client's name from the command line.
pub(super) fn client() -> impl TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::WITH_HOOKS.map(Client::name))
        .try_map(|name| Client::parse(&name).ok_or("no such client"))
}
