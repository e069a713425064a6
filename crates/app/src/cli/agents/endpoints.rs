//! Models' APIs among the agents: what is configured, whether its key is there, and whether it
//! answers.

use std::path::PathBuf;

use convoke_domain::lane::health::AgentHealth;
use convoke_engine::lane::health::{Api, Remembered, probe_apis};

use super::{Args, Report};
use crate::app::App;
use crate::clock::now;
use crate::config::endpoint::{Configured, KeyState, Listed, listed};
use crate::config::health::Settings;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::with_causes;

/// What is known of one API.
pub(super) struct Known {
    listed: Listed,
    pub(super) health: AgentHealth,
}

impl Args {
    /// Finds out which APIs there are and which answer: from what is remembered, else by asking.
    pub(super) fn endpoints(&self, app: &App, settings: Settings) -> Result<Vec<Known>, Failure> {
        let cache = app.environment.health_cache();
        let mut remembered = cache.as_deref().map(Remembered::read).unwrap_or_default();
        let known = |listed: Listed| {
            let health = match &listed.configured {
                Err(failure) => AgentHealth::Sick(Some(with_causes(failure.error.as_ref()))),
                Ok(_) if self.no_probe => AgentHealth::NotAsked,
                Ok(it) => remembered
                    .get(&word(&listed.name), &place(it), now(), settings.remember)
                    .unwrap_or(AgentHealth::NotAsked),
            };
            Known { listed, health }
        };
        let mut all: Vec<_> = listed(app)?.into_iter().map(known).collect();
        if !self.probe {
            return Ok(all);
        }
        let (places, asked): (Vec<_>, Vec<_>) = all
            .iter()
            .enumerate()
            .filter(|(_, it)| it.health == AgentHealth::NotAsked)
            .filter_map(|(at, it)| Some((at, it.listed.configured.as_ref().ok()?)))
            .map(|(at, it)| {
                let effort = it.effort.as_deref();
                (at, Api { endpoint: &it.endpoint, model: &it.model, effort })
            })
            .unzip();
        let answers = probe_apis(&asked, settings.pause, &interrupt::cancel());
        for (at, health) in places.into_iter().zip(answers) {
            let Known { listed, health: known } = &mut all[at];
            if let Ok(it) = &listed.configured {
                remembered.note(&word(&listed.name), &place(it), &health, now());
            }
            *known = health;
        }
        // Nobody is hurt if it is asked again next time.
        cache.and_then(|path| remembered.write(&path).ok());
        Ok(all)
    }
}

impl Known {
    pub(super) fn report(&self) -> Report<'_> {
        let Listed { name, url, model, key, configured } = &self.listed;
        Report {
            agent: word(name),
            path: url.clone(),
            version: None,
            health: if configured.is_ok() { self.health.words() } else { "not usable" },
            error: match &self.health {
                AgentHealth::Sick(error) => error.as_deref(),
                AgentHealth::Missing | AgentHealth::NotAsked | AgentHealth::Healthy => None,
            },
            read_only: "no tools",
            resume: "none",
            hooks: "none",
            model: model.as_deref(),
            key: Some(match key {
                Some(KeyState::Present) => "present",
                Some(KeyState::Missing) => "missing",
                Some(KeyState::Unneeded) => "none",
                None => "unknown",
            }),
        }
    }
}

fn word(name: &str) -> String {
    format!("http:{name}")
}

/// What stands where a client has its program: another address or model may answer differently.
fn place(it: &Configured) -> PathBuf {
    format!("{} {}", it.endpoint.url, it.model).into()
}
