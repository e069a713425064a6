//! Which agents are available: by the calling workflow's word, by a cached probe, else by a probe.
//!
//! Before judges are seated only a fresh probe counts: an agent may have failed since.

use convoke_domain::design::absence::Absence;
use convoke_domain::design::event::{Health, Occasion, Settings};
use convoke_domain::design::seat::{Available, Holder};
use convoke_domain::lane::health::AgentHealth as Known;
use convoke_engine::lane::agent_ref::AgentRef;

use super::stage::{Stage, stopped};
use crate::agents::{ProbePolicy, healths_of};
use crate::failure::{ErrorClass, Failure};

/// Finds out which of the two agents are available.
pub(super) fn probe(
    stage: &Stage<'_>,
    settings: &Settings,
    occasion: Occasion,
) -> Result<Health, Failure> {
    let holders = [Holder::First, Holder::Second];
    let words = holders.map(|holder| settings.chosen(holder).agent.as_str());
    let is_silent = stage.beginning.no_probe || settings.is_rehearsal;
    let mut found = Vec::new();
    let mut can_work = [true, true];
    for (place, word) in words.into_iter().enumerate() {
        let named = settings.panel.named(holders[place]);
        // The caller's result counts for the session; judges are probed separately if possible.
        let told = stage.caller.as_ref().and_then(|caller| caller.health(named.word()));
        let is_believed = told.is_some() && occasion == Occasion::SetUp;
        let probing = match occasion {
            _ if is_silent || is_believed => ProbePolicy::Never,
            Occasion::SetUp => ProbePolicy::Unknown,
            Occasion::Judges => ProbePolicy::Afresh,
        };
        let health = match health(stage, word, probing, occasion)? {
            // The caller's word is believed only where the program is there.
            Some(Known::Missing) => Some(Known::Missing),
            health if is_believed || is_silent => told.or(health),
            health => health.or(told),
        };
        // Without a probe being there is enough.
        can_work[place] = health
            .as_ref()
            .is_none_or(|health| health.may_work() || is_silent && *health == Known::NotAsked);
        // Its lanes wait for the end of the limit, so it keeps its seats.
        if stage.park.is_some() && health.as_ref().is_some_and(Known::is_limited) {
            can_work[place] = true;
            let name = named.name();
            stage
                .session
                .reporter()
                .remark(format!("{name} reached its limit and keeps its seats"));
            continue;
        }
        found.extend(health.map(|health| (holders[place], health)));
    }
    let available = Available { first: can_work[0], second: can_work[1] };
    for (holder, health) in found.iter().filter(|_| settings.has_original_lines()) {
        // Other workflows, and the original's rules, have a box of their own.
        if let Some(banner) = health.banner(settings.panel.named(*holder).name()) {
            stage.session.reporter().say(banner);
        }
    }
    let is_absent = |health: &Known| matches!(health, Known::Missing | Known::Sick(_));
    let absent = found.into_iter().filter(|(_, health)| is_absent(health));
    let absences = absent.map(|(holder, health)| Absence::Agent { holder, health }).collect();
    if let (Some(caller), Occasion::SetUp) = (&stage.caller, occasion) {
        caller.begins(settings, available);
    }
    Ok(Health { available, absences })
}

/// Returns the health of one agent; `None` without a program to probe.
fn health(
    stage: &Stage<'_>,
    word: &str,
    probing: ProbePolicy,
    occasion: Occasion,
) -> Result<Option<Known>, Failure> {
    // A recording that is not there is a missing agent, too.
    let is_gone = matches!(AgentRef::parse(word), Some(AgentRef::Replay(path)) if !path.exists());
    if is_gone {
        return Ok(Some(Known::Missing));
    }
    let was_stopped = |failure: &Failure| failure.class == ErrorClass::Interrupted;
    let asked = healths_of(&[word], probing, stage.session);
    let asked =
        asked.map_err(|failure| if was_stopped(&failure) { stopped(&stage.run) } else { failure });
    let health = asked?.pop().flatten();
    // A cached result does not count for judges, even if no probe is allowed.
    let is_remembered = probing == ProbePolicy::Never && occasion == Occasion::Judges;
    let has_answered = |health: &Known| matches!(health, Known::Healthy | Known::Sick(_));
    Ok(match health {
        Some(health) if is_remembered && has_answered(&health) => Some(Known::NotAsked),
        health => health,
    })
}
