//! Answering a client's hook: the wake-up of the agent whose session it is, and otherwise nothing.
//!
//! A hook must never hold up an agent: it opens one store, waits briefly for it and reads the settings
//! once. While a server does not answer, the hook answers from the copy on this machine.

mod source;

use std::mem::ManuallyDrop;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use convoke_domain::client::Client;
use convoke_domain::hook::Moment;
use convoke_domain::scope::Address;
use convoke_domain::wake::frame::without_tags;
use convoke_engine::client::{HookWiring, adapter};
use convoke_engine::hook::failure::{HookFailure, HookFailureFile};
use convoke_engine::hook::{
    HookAnswer, HookEntry, HookEvent, HookInput, HookRemark, answer, record,
};
use convoke_engine::project::find_above;
use convoke_engine::skill::hash;
use convoke_store::delivery::{Claimant, Session as ClientSession};
use convoke_store::error::StoreError;
use tracing::Span;
use tracing::field::{Empty, display};

use self::source::{HookCopy, HookSource};
use crate::elsewhere::hook_lines;
use crate::environment::Environment;
use crate::failure::{Failure, with_causes};
use crate::session::Session;
use crate::settings::PROJECT_FILE;
use crate::wake::{budget_here, hook_settings, library, profile_of, session_address, sources};
use crate::workspace::{hook_location, project_folder, refused};

/// No agent should wait longer than this.
const PATIENCE: Duration = Duration::from_secs(3);

/// An event of a client's session.
#[derive(Debug, Clone)]
pub struct HookRequest {
    /// The client that calls the hook.
    pub client: Client,
    /// The event, by the client's own name for it.
    pub event: String,
    /// The number of this hook entry; long texts are spread over several.
    pub part: NonZeroUsize,
    /// How many hook entries there are.
    pub of: NonZeroUsize,
    /// The client's input about the event; `None` if it could not be read.
    pub input: Option<String>,
}

/// What happened to an answer after it was passed to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookDelivery {
    /// The client received it.
    Delivered,
    /// No client reads it, so it counts as not delivered.
    Discarded,
}

/// The result of an event.
#[derive(Debug, Default)]
pub enum HookOutcome {
    /// There is nothing to tell; the front end answers with [`silence`].
    #[default]
    Silent,
    /// The client received its answer.
    Answered {
        /// Why the store could not record it. The client has its answer, and a second one would be
        /// invalid; Convoke delivers the text again after the next loss of memory.
        not_recorded: Option<Failure>,
    },
}

/// Returns the answer that tells a client nothing, in its own format.
pub fn silence() -> String {
    HookAnswer::nothing().json
}

/// Answers an event. `deliver` passes the answer to the client, and the function then records the
/// delivery.
pub fn answer_hook(
    environment: &Environment,
    request: &HookRequest,
    deliver: &mut dyn FnMut(&str) -> Result<HookDelivery, Failure>,
) -> Result<HookOutcome, Failure> {
    if environment.is_in_lane() {
        return Ok(HookOutcome::Silent);
    }
    let Some(event) = request.event() else { return Ok(HookOutcome::Silent) };
    let place = place(&event.input, environment).zip(event.input.session_id.as_deref());
    let Some((project, session_id)) = place else { return Ok(HookOutcome::Silent) };
    let span = tracing::info_span!(
        "hook",
        client = request.client.name(),
        event = request.event,
        session = session_id,
        agent = Empty
    );
    let _entered = span.enter();
    let session = Session::new(project, environment.clone());
    let answered = answer_event(&session, request, &event, &span, deliver);
    if let Err(failure) = &answered {
        keep_failure(&session, request, failure);
    }
    answered
}

/// Keeps why a hook delivered nothing, for `hooks status`. A hook must not fail because of this.
fn keep_failure(session: &Session, request: &HookRequest, failure: &Failure) {
    keep_reason(session, request, with_causes(failure.error.as_ref()), None);
}

/// Keeps that a hook took another agent than `CONVOKE_AGENT` names: the user's terminal need not have
/// the client's variable.
fn keep_other_agent(session: &Session, request: &HookRequest, agent: &Address) {
    if let Some(error) = session.environment.unusable_agent() {
        keep_reason(session, request, error.to_string(), Some(agent.agent.to_string()));
    }
}

fn keep_reason(session: &Session, request: &HookRequest, why: String, instead: Option<String>) {
    let Some(file) = failure_file(session, request.client) else { return };
    let kept = HookFailure { at: session.now(), event: request.event.clone(), why, instead };
    if let Err(error) = file.keep(&kept) {
        tracing::debug!(%error, "cannot keep why the hook failed");
    }
}

/// Returns where the failures of a client's hooks in a project are kept.
pub(crate) fn failure_file(session: &Session, client: Client) -> Option<HookFailureFile> {
    let folder = session.environment.hook_failures()?;
    Some(HookFailureFile::new(&folder, client, &project_folder(session)))
}

/// Passes an answer to the client.
type Deliver<'a> = dyn FnMut(&str) -> Result<HookDelivery, Failure> + 'a;

/// Answers from the store; from the copy of its server's while that does not answer in time.
fn answer_event(
    session: &Session,
    request: &HookRequest,
    event: &KnownEvent,
    span: &Span,
    deliver: &mut Deliver<'_>,
) -> Result<HookOutcome, Failure> {
    let from = |source: HookSource<'_>, deliver: &mut Deliver<'_>| {
        answer_from(source, session, request, event, span, deliver)
    };
    let location = hook_location(session)?;
    let Some(copy) = HookCopy::of(session, &location) else {
        return from(HookSource::open(session, &location)?, deliver).map(Option::unwrap_or_default);
    };
    if !copy.is_away(session) {
        let mut is_delivered = false;
        let mut deliver = |answer: &str| {
            is_delivered = true;
            deliver(answer)
        };
        let answered = copy.open_server(session).and_then(|source| from(source, &mut deliver));
        match answered {
            // The client has its answer, and a second one would be invalid.
            Err(failure) if !is_delivered && is_away(&failure) => {
                tracing::info!(error = %failure.error, "answering from the copy of the store");
                copy.keep_away(session);
            }
            answered => return answered.map(Option::unwrap_or_default),
        }
    }
    if let Some(source) = copy.open(session)?
        && let Some(outcome) = from(source, deliver)?
    {
        return Ok(outcome);
    }
    // The copy does not hold the agent's branch, so the server gets more time.
    from(HookSource::open(session, &location)?, deliver).map(Option::unwrap_or_default)
}

/// Tells whether a server did not answer, or not in time.
fn is_away(failure: &Failure) -> bool {
    failure.error.downcast_ref::<StoreError>().is_some_and(StoreError::is_away)
}

/// Answers from one source; `None` if that does not hold what the agent needs.
fn answer_from(
    source: HookSource<'_>,
    session: &Session,
    request: &HookRequest,
    event: &KnownEvent,
    span: &Span,
    deliver: &mut Deliver<'_>,
) -> Result<Option<HookOutcome>, Failure> {
    let session_id = event.input.session_id.as_deref().unwrap_or_default();
    // The process ends with its answer. To close the store first would take a twentieth of its time.
    let source = ManuallyDrop::new(source);
    let workspace = &source.workspace;
    let (settings, left_out) = &hook_settings(session, workspace)?;
    let of = ClientSession { client: request.client, id: session_id };
    let agent = session_address(session, workspace, settings, Some(of))?;
    if let Some(agent) = &agent
        && !source.holds(agent)?
    {
        return Ok(None);
    }
    if request.part.get() == 1 {
        let project = &workspace.scope.project;
        workspace.store.fired(request.client, project, session.now()).map_err(refused)?;
    }
    let Some(agent) = agent else { return Ok(Some(HookOutcome::Silent)) };
    span.record("agent", display(&agent.agent));
    if request.part.get() == 1 {
        keep_other_agent(session, request, &agent);
    }
    let folders: Vec<_> =
        source.note.iter().cloned().chain(hook_lines(session, workspace)?).collect();
    let words = folders.iter().cloned().chain(unusable_settings(left_out));
    let words = words.chain(source.age(session, &agent)).collect::<Vec<_>>().join("\n> ");
    let words = without_tags(&words);
    let library = library(session, settings);
    let sources = sources(session, workspace, settings, &library);
    let number = u32::try_from(request.part.get()).unwrap_or(u32::MAX);
    let homes = session.environment.client_homes();
    let heard = HookEvent {
        session: of,
        hooks: event.hooks,
        event: &request.event,
        moment: event.moment,
        mark: event.mark,
        transcript: event.input.transcript.as_deref(),
        homes: &homes,
        entry: HookEntry { number, of: request.of.max(request.part) },
        agent: &agent,
        profile: profile_of(&agent.agent, settings),
        budget: budget_here(session, settings, workspace, &agent.scope)?,
        remark: remark(&words, &folders, left_out),
        now: session.now(),
    };
    let claim = |messages: &[i64], claimant: Claimant<'_>| {
        source.claim(&agent, of, messages, claimant, session.now())
    };
    let answer = answer(&sources, &heard, &claim).map_err(refused)?;
    source.before_delivery(&agent, &answer);
    // An answer counts as delivered only after it was written.
    let delivery = deliver(&answer.json)?;
    tracing::info!(?delivery, bytes = answer.json.len(), "answered the hook");
    let not_recorded = match delivery {
        HookDelivery::Discarded => None,
        HookDelivery::Delivered => {
            source.keep_claims(of, &answer);
            record(&sources, &heard, &answer).err().map(refused)
        }
    };
    source.after_delivery(session, &agent, of, &answer);
    Ok(Some(HookOutcome::Answered { not_recorded }))
}

/// An event that Convoke handles.
struct KnownEvent {
    input: HookInput,
    hooks: &'static HookWiring,
    moment: Moment,
    /// Identifies the event.
    mark: u64,
}

impl HookRequest {
    /// Parses the client's input; `None` for an event that Convoke does not handle.
    fn event(&self) -> Option<KnownEvent> {
        let text = self.input.as_deref()?;
        let input = HookInput::parse(text)?;
        let hooks = adapter(self.client).hooks.as_ref()?;
        let moment = hooks.moment(&self.event, input.cause.as_deref())?;
        Some(KnownEvent { input, hooks, moment, mark: mark(&self.event, text) })
    }
}

/// Returns a number that identifies an event: a hash of its name and its complete input.
fn mark(event: &str, input: &str) -> u64 {
    let hash = hash(format!("{event}\n{input}"));
    hash.get(..15).and_then(|start| u64::from_str_radix(start, 16).ok()).unwrap_or_default()
}

/// Names files and variables whose settings are left out. It does not quote their errors: an author
/// could write anything there.
pub(crate) fn unusable_settings(names: &[String]) -> Option<String> {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let list = names.join(" and ");
    (!names.is_empty())
        .then(|| format!("Convoke ignores unusable settings of {list}; run `convoke doctor`"))
}

/// A mistake of the user's own, and another folder, may hide the whole text, so the remark about them
/// appears even alone.
fn remark<'a>(words: &'a str, folders: &[String], left_out: &[String]) -> Option<HookRemark<'a>> {
    let is_foreign = folders.is_empty() && left_out.iter().all(|name| name == PROJECT_FILE);
    let remark = if is_foreign { HookRemark::Beside(words) } else { HookRemark::Alone(words) };
    (!words.is_empty()).then_some(remark)
}

/// Returns the project that the client works in; outside of any there is nothing to say.
fn place(input: &HookInput, environment: &Environment) -> Option<PathBuf> {
    let start = input.cwd.clone().or_else(|| environment.current_dir().ok())?;
    find_above(&start, environment.home().as_deref())
}
