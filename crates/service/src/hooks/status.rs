//! The state of a client's hooks, from its settings to the agent, and why they deliver nothing if
//! they do not.

use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_domain::client::Client;
use convoke_domain::wake::SectionOrder;
use convoke_engine::client::codex::trust::HookTrust;
use convoke_engine::hook::failure::HookFailure;
use convoke_engine::hooks::{HooksLevel, count, programs};
use convoke_engine::wake::WakeCall;
use convoke_store::delivery::Activity;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::arrival::{WakeArrival, wake_arrival};
use super::{FolderTrust, HooksTarget, codex_trust_steps, malformed, plugin};
use crate::elsewhere::hook_lines;
use crate::environment::agent_variable::AGENT_VARIABLE;
use crate::failure::Failure;
use crate::hook::failure_file;
use crate::pin::{PinList, PinReport, pin_reports};
use crate::replica::{StoreCopyReport, copy_report};
use crate::session::Session;
use crate::settings::wake::Settings;
use crate::settings_file::read;
use crate::wake::{assemble_wake, hook_settings, profile_of, session_address};
use crate::workspace::{Workspace, refused};

/// A person waits longer than a client.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a failure is shown although hooks were called with success since.
const RECENT: SignedDuration = SignedDuration::from_hours(24);

/// The state of a client's hooks.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HooksReport {
    /// The client's settings.
    pub path: String,
    /// Whether the client has Convoke's hooks.
    pub installed: bool,
    /// How many entries of the settings are Convoke's.
    pub entries: usize,
    /// The plugin that brings them along, by its name in the client's settings.
    pub plugin: Option<String>,
    /// Whether the client runs them; only where that depends on its user.
    pub trust: Option<&'static str>,
    /// The agent of sessions without another binding.
    pub agent: Option<String>,
    /// The source of that agent's name.
    pub agent_from: Option<&'static str>,
    /// When a hook was last called.
    pub fired_at: Option<String>,
    /// When a wake-up was last delivered.
    pub delivered_at: Option<String>,
    /// When one was last seen in the client's own record.
    pub arrived_at: Option<String>,
    /// Whether the last delivered wake-up arrived; `None` if none was delivered.
    pub arrival: Option<WakeArrival>,
    /// The last hook that delivered nothing, or took another agent than `CONVOKE_AGENT` names, because
    /// something failed: within a day, or since a hook was last called with success.
    pub failed: Option<FailedHook>,
    /// The copy of the server's store from which hooks answer while the server does not; `None` without
    /// one.
    pub copy: Option<StoreCopyReport>,
    /// Files and variables whose mistakes hooks leave out.
    pub left_out: Vec<String>,
    /// Why nothing can be delivered at present.
    pub not_delivered: Option<DeliveryObstacle>,
    /// The user's rules that hold here, with where each arrived last.
    pub pins: Vec<PinReport>,
}

/// A hook that delivered nothing, or took another agent than `CONVOKE_AGENT` names, because something
/// failed.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailedHook {
    /// When.
    pub at: String,
    /// The event, by the client's name for it.
    pub event: String,
    /// The error with its causes.
    pub why: String,
    /// The agent that the hook took instead; `None` if it delivered nothing.
    pub instead: Option<String>,
}

impl FailedHook {
    /// Returns what happened, in words that follow "failed:".
    pub fn words(&self) -> String {
        let Self { at, event, why, instead } = self;
        let effect = instead.as_ref().map_or_else(
            || "delivered nothing".to_owned(),
            |agent| format!("took @{agent} instead"),
        );
        format!("at {at}, the hook of {event} {effect}: {why}")
    }
}

/// Returns the state of a client's hooks.
pub fn hooks_status(session: &Session, target: &HooksTarget) -> Result<HooksReport, Failure> {
    target.report(session)
}

/// Why nothing can be delivered at present.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeliveryObstacle {
    /// In words that follow "not delivered:".
    pub why: String,
    /// The remedy, in words that follow a semicolon.
    pub fix: String,
}

impl DeliveryObstacle {
    fn new(why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { why: why.into(), fix: fix.into() }
    }
}

impl HooksTarget {
    fn report(&self, session: &Session) -> Result<HooksReport, Failure> {
        let path = self.path(session)?;
        let settings = read(&path)?;
        let text = settings.as_deref().unwrap_or_default();
        let unreadable = |source| malformed(&path, source);
        let entries = count(text, self.client).map_err(unreadable)?;
        let called = programs(text, self.client).map_err(unreadable)?;
        let (workspace, note) = Workspace::open_for_hook(session, PATIENCE)?;
        if let Some(note) = note {
            session.reporter().remark(note);
        }
        let (settings, left_out) = hook_settings(session, &workspace)?;
        let project = &workspace.scope.project;
        let activity = workspace.store.activity(self.client, project).map_err(refused)?;
        let arrival = wake_arrival(session, &workspace, self.client, &activity)?;
        let Activity { fired_at, delivered_at, arrived_at } = activity;
        let is_seen_now = arrival == Some(WakeArrival::Arrived);
        let arrived_at = arrived_at.or_else(|| is_seen_now.then(|| session.now()));
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let plugin = (self.client == Client::Claude).then(|| plugin(session, self.level)).flatten();
        let trust = self.trust(text, &path, session);
        let installed = entries > 0 || plugin.is_some();
        let gone = called.iter().find(|program| !is_there(program, session));
        let not_delivered = if installed {
            match self.obstacle_to_calling(gone, trust, session) {
                Some(found) => Some(found),
                None => obstacle(self.client, session, &workspace, &settings)?,
            }
        } else {
            Some(DeliveryObstacle::new("no hooks are installed", format!("run `{}`", self.again())))
        };
        let (agent, agent_from) = agent_of_sessions(session, &workspace, &settings)?.unzip();
        Ok(HooksReport {
            installed,
            entries,
            plugin,
            trust: trust.map(HookTrust::words),
            agent,
            agent_from,
            fired_at: time(fired_at),
            delivered_at: time(delivered_at),
            arrived_at: time(arrived_at),
            arrival,
            failed: failed(session, self.client, fired_at),
            copy: copy_report(session, Some(&workspace.scope)),
            left_out,
            not_delivered,
            pins: pin_reports(session, &workspace, PinList::Here)?,
            path: path.display().to_string(),
        })
    }

    /// Returns why the client does not call Convoke's hooks.
    fn obstacle_to_calling(
        &self,
        gone: Option<&PathBuf>,
        trust: Option<HookTrust>,
        session: &Session,
    ) -> Option<DeliveryObstacle> {
        if let Some(program) = gone {
            let why = format!("the hooks call {}, which does not exist", program.display());
            return Some(DeliveryObstacle::new(why, format!("run `{}`", self.again())));
        }
        let folder = self.folder_trust(session);
        if folder == FolderTrust::Missing {
            let why = "Codex reads no settings in a folder that you have not trusted";
            return Some(DeliveryObstacle::new(why, codex_trust_steps(folder)));
        }
        let trust = trust.filter(|trust| *trust != HookTrust::Trusted)?;
        let why = format!("Codex skips the hooks, which are {}", trust.words());
        Some(DeliveryObstacle::new(why, codex_trust_steps(folder)))
    }

    /// Returns the command that installs these hooks.
    fn again(&self) -> String {
        let user = if self.level == HooksLevel::User { " --user" } else { "" };
        format!("convoke hooks install {}{user}", self.client.name())
    }
}

/// Returns the last failure, unless it is older than a day and hooks were called since.
fn failed(session: &Session, client: Client, fired_at: Option<Timestamp>) -> Option<FailedHook> {
    let failure = failure_file(session, client)?.last()?;
    let is_recent = session.now().duration_since(failure.at) < RECENT;
    (is_recent || is_last(&failure, fired_at)).then(|| failure.into())
}

/// Returns the last failure, unless a hook was called with success since.
pub(crate) fn last_failed(
    session: &Session,
    workspace: &Workspace,
    client: Client,
) -> Option<FailedHook> {
    let failure = failure_file(session, client)?.last()?;
    let activity = workspace.store.activity(client, &workspace.scope.project).ok()?;
    is_last(&failure, activity.fired_at).then(|| failure.into())
}

/// A hook that fails may have been called with success: it is recorded before it answers.
fn is_last(failure: &HookFailure, fired_at: Option<Timestamp>) -> bool {
    fired_at.is_none_or(|fired_at| fired_at <= failure.at)
}

impl From<HookFailure> for FailedHook {
    fn from(failure: HookFailure) -> Self {
        let HookFailure { at, event, why, instead } = failure;
        Self { at: at.to_string(), event, why, instead }
    }
}

/// Returns the agent of a session that begins now, and what names it.
pub(crate) fn agent_of_sessions(
    session: &Session,
    workspace: &Workspace,
    settings: &Settings,
) -> Result<Option<(String, &'static str)>, Failure> {
    let Some(address) = session_address(session, workspace, settings, None)? else {
        return Ok(None);
    };
    let place = match (session.environment.named_agent(), &settings.agent) {
        (Some(Ok(_)), _) | (_, None) => AGENT_VARIABLE,
        (_, Some((_, place))) => place.words(),
    };
    Ok(Some((address.agent.to_string(), place)))
}

/// Returns what keeps installed hooks from delivering to a session that begins now.
pub fn obstacle(
    client: Client,
    session: &Session,
    workspace: &Workspace,
    settings: &Settings,
) -> Result<Option<DeliveryObstacle>, Failure> {
    let Some(address) = session_address(session, workspace, settings, None)? else {
        let fix = format!("run `convoke hooks install {} --as NAME`", client.name());
        return Ok(Some(DeliveryObstacle::new("no agent is set for this project", fix)));
    };
    let agent = address.agent;
    let call = WakeCall {
        agent: agent.clone(),
        profile: profile_of(&agent, settings),
        order: SectionOrder::CriticalFirst,
        extent: None,
        message: None,
        taken: Vec::new(),
    };
    let assembled = assemble_wake(session, workspace, settings, &call, settings.budget)?;
    if !assembled.is_empty() || assembled.unassigned.is_some() {
        return Ok(None);
    }
    let branch = &workspace.scope.branch;
    let why = format!("@{agent} has no open task and no unread message on the branch `{branch}`");
    let missed = hook_lines(session, workspace)?.into_iter().next();
    let fix = "run `convoke task import PLAN.md` or `convoke task add TITLE`".to_owned();
    Ok(Some(DeliveryObstacle::new(why, missed.unwrap_or(fix))))
}

/// Tells whether a program can be called.
pub fn is_there(program: &Path, session: &Session) -> bool {
    let name = program.to_string_lossy();
    if name.contains('/') {
        program.is_file()
    } else {
        session.environment.find_program(&[&name], &session.project).is_some()
    }
}
