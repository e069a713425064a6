//! `convoke hooks status`: what is known about a client's hooks, from its settings to the agent, and
//! why nothing is delivered if nothing is.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::wake::SectionOrder;
use convoke_engine::client::codex::trust::Trust;
use convoke_engine::hooks::{count, programs};
use convoke_engine::wake::Call;
use convoke_store::delivery::Activity;
use jiff::Timestamp;
use serde::Serialize;

use convoke_service::wake::{assemble_wake as wake, profile_of, session_address as who};

use super::{Target, malformed, plugin, read};
use crate::app::{App, Format};
use crate::config::wake::settings;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused};
use convoke_service::pin::{PinList, PinReport, pin_reports};

#[derive(Serialize)]
struct Report {
    path: String,
    installed: bool,
    entries: usize,
    /// The plugin that brings them along, by its name in the client's settings.
    plugin: Option<String>,
    /// Whether the client runs them; only where that depends on its user.
    trust: Option<&'static str>,
    /// Whose the sessions are that no other agent is bound to.
    agent: Option<String>,
    /// What names that agent.
    agent_from: Option<&'static str>,
    fired_at: Option<String>,
    delivered_at: Option<String>,
    arrived_at: Option<String>,
    not_delivered: Option<Obstacle>,
    /// The user's rules that hold here, with where each arrived last.
    pins: Vec<PinReport>,
}

/// Why nothing can be delivered at present.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct Obstacle {
    /// In words that follow "not delivered:".
    pub(in crate::cli) why: String,
    /// What to do about it, in words that follow a semicolon.
    pub(in crate::cli) fix: String,
}

impl Obstacle {
    fn new(why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { why: why.into(), fix: fix.into() }
    }
}

impl Target {
    pub(super) fn status(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = self.report(app)?;
        let installed = report.installed;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => output.data(&lines(&report))?,
        }
        Ok(if installed { Exit::Done } else { Exit::No })
    }

    fn report(&self, app: &App) -> Result<Report, Failure> {
        let path = self.path(app)?;
        let settings = read(&path)?;
        let text = settings.as_deref().unwrap_or_default();
        let unreadable = |source| malformed(&path, source);
        let entries = count(text, self.client).map_err(unreadable)?;
        let called = programs(text, self.client).map_err(unreadable)?;
        let workspace = Workspace::open(app, None)?;
        let Activity { fired_at, delivered_at, arrived_at } =
            workspace.store.activity(self.client, &workspace.scope.project).map_err(refused)?;
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let plugin = (self.client == Client::Claude).then(|| plugin(app, self.level())).flatten();
        let trust = self.trust(text, &path, app);
        let installed = entries > 0 || plugin.is_some();
        let gone = called.iter().find(|program| !is_there(program, app));
        let not_delivered = if installed {
            match self.obstacle_to_calling(gone, trust, app) {
                Some(found) => Some(found),
                None => obstacle(self.client, app, &workspace)?,
            }
        } else {
            Some(Obstacle::new("no hooks are installed", format!("run `{}`", self.again())))
        };
        let (agent, agent_from) = agent(app, &workspace)?.unzip();
        Ok(Report {
            installed,
            entries,
            plugin,
            trust: trust.map(Trust::words),
            agent,
            agent_from,
            fired_at: time(fired_at),
            delivered_at: time(delivered_at),
            arrived_at: time(arrived_at),
            not_delivered,
            pins: pin_reports(app, &workspace, PinList::Here)?,
            path: path.display().to_string(),
        })
    }

    /// Returns what keeps the client from calling our hooks.
    fn obstacle_to_calling(
        &self,
        gone: Option<&PathBuf>,
        trust: Option<Trust>,
        app: &App,
    ) -> Option<Obstacle> {
        if let Some(program) = gone {
            let why = format!("the hooks call {}, which is not there", program.display());
            return Some(Obstacle::new(why, format!("run `{}`", self.again())));
        }
        if !self.is_folder_trusted(app) {
            let why = "Codex reads no settings in a folder that you have not trusted";
            return Some(Obstacle::new(why, "start `codex` here once and trust the folder"));
        }
        let trust = trust.filter(|trust| *trust != Trust::Trusted)?;
        let why = format!("Codex skips the hooks, which are {}", trust.words());
        Some(Obstacle::new(why, "run `/hooks` in Codex"))
    }

    /// Returns the command that installs these hooks.
    fn again(&self) -> String {
        let user = if self.user { " --user" } else { "" };
        format!("convoke hooks install {}{user}", self.client.name())
    }
}

/// Returns the agent of a session that begins now, and what names it.
fn agent(app: &App, workspace: &Workspace) -> Result<Option<(String, &'static str)>, Failure> {
    let settings = settings(app)?;
    let Some(address) = who(app, workspace, &settings, None)? else { return Ok(None) };
    let place = match (app.environment.agent(), &settings.agent) {
        (None, Some((_, place))) => place.words(),
        (Some(_), _) | (None, None) => "CONVOKE_AGENT",
    };
    Ok(Some((address.agent.to_string(), place)))
}

/// Returns what keeps installed hooks from delivering to a session that begins now.
pub(in crate::cli) fn obstacle(
    client: Client,
    app: &App,
    workspace: &Workspace,
) -> Result<Option<Obstacle>, Failure> {
    let settings = settings(app)?;
    let Some(address) = who(app, workspace, &settings, None)? else {
        let fix = format!("run `convoke hooks install {} --as NAME`", client.name());
        return Ok(Some(Obstacle::new("no agent is set for this project", fix)));
    };
    let agent = address.agent;
    let call = Call {
        agent: agent.clone(),
        profile: profile_of(&agent, &settings),
        order: SectionOrder::CriticalFirst,
        extent: None,
        message: None,
    };
    let assembled = wake(app, workspace, &settings, &call, settings.budget)?;
    if !assembled.is_empty() {
        return Ok(None);
    }
    let branch = &workspace.scope.branch;
    let why = format!("@{agent} has no open task and no unread message on the branch `{branch}`");
    let fix = "run `convoke task import PLAN.md` or `convoke task add TITLE`";
    Ok(Some(Obstacle::new(why, fix)))
}

/// Tells whether a program can be called.
pub(in crate::cli) fn is_there(program: &Path, app: &App) -> bool {
    let name = program.to_string_lossy();
    if name.contains('/') {
        program.is_file()
    } else {
        app.environment.find_program(&[&name], &app.project).is_some()
    }
}

/// Says what is known, from the settings to the agent.
fn lines(report: &Report) -> String {
    let state = match (report.entries, report.trust) {
        (0, _) if report.plugin.is_some() => "installed".to_owned(),
        (0, _) => "not installed".to_owned(),
        (count, None) => format!("installed ({count} entries)"),
        (count, Some(trust)) => format!("installed ({count} entries), {trust}"),
    };
    let plugin = report.plugin.as_ref();
    let plugin = plugin.map_or_else(String::new, |name| match report.entries {
        0 => format!(" by the plugin {name}"),
        _ => format!(", and by the plugin {name}"),
    });
    let mut lines = vec![format!("{}  {state}{plugin}", report.path)];
    if let (Some(agent), Some(place)) = (&report.agent, report.agent_from) {
        lines.push(format!("agent: @{agent} ({place})"));
    }
    let when =
        |at: &Option<String>| at.as_ref().map_or("never".to_owned(), |at| format!("at {at}"));
    let arrived = match (&report.delivered_at, &report.arrived_at) {
        (None, _) => String::new(),
        (Some(_), Some(at)) => format!(", arrived: seen in the client's record at {at}"),
        (Some(_), None) => ", not seen in the client's record yet".to_owned(),
    };
    lines.push(format!("fired: {}", when(&report.fired_at)));
    lines.push(format!("delivered: {}{arrived}", when(&report.delivered_at)));
    if let Some(Obstacle { why, fix }) = &report.not_delivered {
        lines.push(format!("not delivered: {why}; {fix}"));
    }
    lines.join("\n") + "\n" + &report.pins.iter().map(PinReport::status).collect::<String>()
}
