//! Finds what is older than this version of Convoke, from this machine alone and never the network.

use convoke_domain::client::Client;
use convoke_engine::client::{ClientRelease, adapter};
use convoke_engine::file;
use convoke_engine::hooks::{HooksLevel, install, programs};
use convoke_store::{SchemaVersions, schema_versions};
use serde::Serialize;

use crate::agents::{AgentsRequest, agents};
use crate::call_store::with_accepted_password;
use crate::failure::Failure;
use crate::hooks::{HooksTarget, is_same, is_there};
use crate::mcp_entry::mcp_entries;
use crate::session::Session;
use crate::workspace::store_location;

/// No settings file a person writes is larger.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The most entries that `hooks install` writes for an event.
const MOST_ENTRIES: usize = 16;

/// Versions of this machine's programs and files.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UpgradeReport {
    /// The version of this program.
    pub version: String,
    /// The path of this program.
    pub program: String,
    /// The version of the store's schema; none without a store.
    pub store_schema: Option<usize>,
    /// The version of the schema that this program writes.
    pub known_schema: Option<usize>,
    /// Hook entries in clients' settings.
    pub hooks: Vec<HooksVersion>,
    /// Clients on the PATH, with their versions in their own words.
    pub clients: Vec<ClientVersion>,
    /// Outdated parts, each with its remedy.
    pub behind: Vec<String>,
}

/// Hook entries in a client's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HooksVersion {
    /// The client's word, such as `claude` or `codex`.
    pub client: String,
    /// The settings.
    pub path: String,
    /// Whether the entries are as this version writes them, and call this program.
    pub is_current: bool,
}

/// A client on the PATH.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientVersion {
    /// The client's word, such as `claude` or `codex`.
    pub client: String,
    /// Its version, in its own words.
    pub version: Option<String>,
}

/// Checks the program, the store, hooks and clients of this machine, and reports outdated ones.
pub fn check_upgrade(session: &Session) -> Result<UpgradeReport, Failure> {
    let mut behind = Vec::new();
    let location = store_location(session)?;
    let schema = with_accepted_password(session, &location, &schema_versions)?;
    behind.extend(schema.and_then(store_words));
    let mut hooks = Vec::new();
    for level in [HooksLevel::Project, HooksLevel::User] {
        for client in Client::WITH_HOOKS {
            let Ok(path) = (HooksTarget { client, level }).path(session) else { continue };
            let Some(text) = file::text(&path, MAX_BYTES) else { continue };
            let fit = hooks_fit(session, client, &text);
            if fit == HooksFit::NoEntries {
                continue;
            }
            let again = match level {
                HooksLevel::Project => format!("convoke hooks install {}", client.name()),
                HooksLevel::User => format!("convoke hooks install {} --user", client.name()),
            };
            let shown = path.display().to_string();
            if let HooksFit::Behind(why) = fit {
                behind.push(format!("{shown} {why}; run `{again}`"));
            }
            hooks.push(HooksVersion {
                client: client.name().to_owned(),
                path: shown,
                is_current: fit == HooksFit::Current,
            });
        }
    }
    let servers = [HooksLevel::Project, HooksLevel::User].into_iter();
    behind.extend(servers.flat_map(|level| mcp_entries(session, level)).filter_map(|entry| {
        let (fault, again) = (entry.fault(session)?, entry.target.command("install"));
        Some(format!("{} {fault}; run `{again}`", entry.path.display()))
    }));
    let known = agents(session, &AgentsRequest::presence())?.agents.into_iter();
    let clients = known.filter(|agent| agent.path.is_some() && agent.model.is_none());
    let clients: Vec<_> = clients
        .map(|agent| ClientVersion { client: agent.agent, version: agent.version })
        .collect();
    behind.extend(clients.iter().filter_map(client_words));
    Ok(UpgradeReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        program: session.environment.program().display().to_string(),
        store_schema: schema.map(|schema| schema.found),
        known_schema: schema.map(|schema| schema.known),
        hooks,
        clients,
        behind,
    })
}

/// Says that a client is of an earlier series than the one that Convoke is tested with.
fn client_words(found: &ClientVersion) -> Option<String> {
    let name = &found.client;
    let tested = adapter(Client::parse(name)?).tested?;
    let version = ClientRelease::find(found.version.as_deref()?)?;
    version.is_of_earlier_series(tested).then(|| {
        format!("{name} is older than tested: {version} < {tested}; it may not work; update {name}")
    })
}

fn store_words(schema: SchemaVersions) -> Option<String> {
    let SchemaVersions { found, known } = schema;
    if found > known {
        return Some(format!(
            "this program writes schema {known}, and the store has {found}; update this program"
        ));
    }
    (found < known).then(|| {
        format!("the store has schema {found} of {known}; the next command brings it up to date")
    })
}

/// How a client's settings fit this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HooksFit {
    NoEntries,
    Current,
    Behind(&'static str),
}

fn hooks_fit(session: &Session, client: Client, text: &str) -> HooksFit {
    let called = match programs(text, client) {
        Ok(called) if called.is_empty() => return HooksFit::NoEntries,
        Ok(called) => called,
        Err(_) => return HooksFit::Behind("cannot be read"),
    };
    if called.iter().any(|program| !is_there(program, session)) {
        return HooksFit::Behind("calls a program that is not there");
    }
    let own = session.environment.program();
    if called.iter().any(|program| program.is_absolute() && !is_same(program, &own)) {
        return HooksFit::Behind("calls another convoke");
    }
    let is_as_written = |entries: usize| {
        let mut written = called
            .iter()
            .filter_map(|program| install(Some(text), None, client, program, entries).ok());
        written.any(|written| written == text)
    };
    if (1..=MOST_ENTRIES).any(is_as_written) {
        HooksFit::Current
    } else {
        HooksFit::Behind("has entries of another version")
    }
}
