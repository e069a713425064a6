//! The `[fleet]` section: where lanes on other machines are handed out. Only a user's own file may have
//! it: a foreign project must not choose which machines run its user's agents.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_engine::lane::agent_ref::{AgentRef, is_name};
use convoke_engine::lane::http::endpoint::BaseUrl;
use toml::Value;

use super::files::settle_once;
use super::{Key, number, read_layers, table, text, whole};
use crate::failure::Failure;
use crate::session::Session;

/// The section's name.
pub const SECTION: &str = "fleet";

/// The settings of lanes on other machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetSettings {
    /// The address of Temporal's server.
    pub temporal: Option<BaseUrl>,
    /// The namespace of Temporal in which lanes are handed out.
    pub namespace: String,
    /// How long a worker may be silent before another one takes over its lane.
    pub lease: Duration,
    /// How many workers may try a lane, one after the other.
    pub attempts: u32,
    /// The folders of the repositories that this machine's worker offers.
    pub repositories: BTreeMap<String, PathBuf>,
    /// How many lanes of an agent may be open together.
    pub limits: BTreeMap<String, u32>,
    /// How long a lane without a name goes on at this machine's worker while its submitter is silent.
    pub submitter_patience: Duration,
}

/// One place's opinion on these settings.
#[derive(Debug, Clone, Default)]
pub struct FleetLayer {
    temporal: Option<BaseUrl>,
    namespace: Option<String>,
    lease: Option<Duration>,
    attempts: Option<u32>,
    repositories: Option<BTreeMap<String, PathBuf>>,
    limits: Option<BTreeMap<String, u32>>,
    submitter_patience: Option<Duration>,
}

/// Every setting of the section.
pub const KEYS: [Key<FleetLayer>; 7] = [
    Key {
        name: "temporal",
        expected: "an `https` address, or an `http` one of this machine, such as \"http://127.0.0.1:7233\"",
        default: "none: there is no fleet",
        meaning: "the address of the Temporal server that hands lanes out",
        from_text: text,
        set: |layer, value| {
            let url = BaseUrl::parse(value.as_str()?).ok()?;
            layer.temporal = Some(url).filter(|url| !url.is_open());
            layer.temporal.is_some().then_some(())
        },
    },
    Key {
        name: "namespace",
        expected: "a name of letters, digits, `-` and `_`",
        default: "default",
        meaning: "the namespace of Temporal in which lanes are handed out",
        from_text: text,
        set: |layer, value| {
            layer.namespace = Some(value.as_str().filter(|name| is_name(name))?.to_owned());
            Some(())
        },
    },
    Key {
        name: "lease_seconds",
        expected: "a whole number from 5 to 30",
        default: "10",
        meaning: "how long a worker may be silent before another one takes over its lane",
        from_text: number,
        set: |layer, value| {
            let seconds = whole(value).filter(|seconds| (5..=30).contains(seconds))?;
            layer.lease = Some(Duration::from_secs(seconds));
            Some(())
        },
    },
    Key {
        name: "attempts",
        expected: "a whole number from 1 to 10",
        default: "3",
        meaning: "how many times a lane is begun if its workers end or fall silent",
        from_text: number,
        set: |layer, value| {
            let attempts = whole(value).filter(|attempts| (1..=10).contains(attempts))?;
            layer.attempts = Some(u32::try_from(attempts).ok()?);
            Some(())
        },
    },
    Key {
        name: "repositories",
        expected: "a table of names and absolute folders such as { app = \"/srv/app\" }",
        default: "none",
        meaning: "the clones that this machine's worker offers as `AGENT@NAME`",
        from_text: table,
        set: |layer, value| {
            layer.repositories = Some(entries(value, folder)?);
            Some(())
        },
    },
    Key {
        name: "limits",
        expected: "a table of agents and numbers such as { claude = 4 }",
        default: "none",
        meaning: "how many lanes of an agent may be open together; the next one waits",
        from_text: table,
        set: |layer, value| {
            let all = entries(value, |value| u32::try_from(whole(value)?).ok().filter(|n| *n > 0))?;
            let is_known = |agent: &String| AgentRef::parse(agent).is_some();
            layer.limits = Some(all.keys().all(is_known).then_some(all)?);
            Some(())
        },
    },
    Key {
        name: "submitter_seconds",
        expected: "a whole number from 5 to 3600",
        default: "120",
        meaning: "how long this machine's worker goes on with a lane without a name while its submitter is \
                  silent",
        from_text: number,
        set: |layer, value| {
            let seconds = whole(value).filter(|seconds| (5..=3600).contains(seconds))?;
            layer.submitter_patience = Some(Duration::from_secs(seconds));
            Some(())
        },
    },
];

fn entries<T>(value: &Value, read: fn(&Value) -> Option<T>) -> Option<BTreeMap<String, T>> {
    value.as_table()?.iter().map(|(name, value)| Some((name.clone(), read(value)?))).collect()
}

fn folder(value: &Value) -> Option<PathBuf> {
    value.as_str().map(PathBuf::from).filter(|path| Path::is_absolute(path))
}

/// Collects what the environment and the user's file say about the fleet.
pub fn settings(session: &Session) -> Result<FleetSettings, Failure> {
    settle_once(&session.settings.files().fleet, || settle(session))
}

fn settle(session: &Session) -> Result<FleetSettings, Failure> {
    let layers = read_layers(session, SECTION, &KEYS)?;
    let repositories = layers.iter().find_map(|layer| layer.repositories.clone());
    Ok(FleetSettings {
        temporal: layers.iter().find_map(|layer| layer.temporal.clone()),
        namespace: layers
            .iter()
            .find_map(|layer| layer.namespace.clone())
            .unwrap_or_else(|| "default".to_owned()),
        lease: layers.iter().find_map(|layer| layer.lease).unwrap_or(Duration::from_secs(10)),
        attempts: layers.iter().find_map(|layer| layer.attempts).unwrap_or(3),
        repositories: repositories.unwrap_or_default(),
        limits: layers.iter().find_map(|layer| layer.limits.clone()).unwrap_or_default(),
        submitter_patience: layers
            .iter()
            .find_map(|layer| layer.submitter_patience)
            .unwrap_or(Duration::from_mins(2)),
    })
}
