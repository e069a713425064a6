//! Who can be asked: from whoever called, from what is remembered, else by asking.

use convoke_domain::design::event::{Health, Occasion, Settings};
use convoke_domain::design::seat::{Available, Holder};
use convoke_domain::lane;
use convoke_engine::lane::agent_ref::AgentRef;

use super::stage::{Stage, stopped};
use crate::cli::agents::healths_of;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Voice;

/// Finds out which of the two agents can be asked.
pub(super) fn probe(
    stage: &Stage<'_>,
    settings: &Settings,
    occasion: Occasion,
) -> Result<Health, Failure> {
    let holders = [Holder::First, Holder::Second];
    let words = holders.map(|holder| settings.chosen(holder).agent.as_str());
    let ask = !stage.beginning.no_probe && !settings.is_rehearsal;
    let names = holders.map(|holder| settings.panel.named(holder).word());
    let told = names.map(|name| stage.caller.as_ref().and_then(|it| it.health(name)));
    let mut found = Vec::new();
    for (word, told) in words.iter().zip(&told) {
        // Whoever asked knows it already; but also then the program must be there.
        let ask = ask && told.is_none();
        let asked = healths_of(&[word], ask, stage.app, &Voice::default());
        let was_stopped = |it: &Failure| it.exit == Exit::Interrupted;
        let asked = asked.map_err(|it| if was_stopped(&it) { stopped(&stage.run) } else { it });
        let health = asked?.pop().flatten();
        let is_missing = health == Some(lane::health::Health::Missing);
        found.push(if is_missing { health } else { told.clone().or(health) });
    }
    for (health, word) in found.iter_mut().zip(words) {
        // A recording that is not there is nobody, too.
        let is_gone =
            matches!(AgentRef::parse(word), Some(AgentRef::Replay(path)) if !path.exists());
        if is_gone {
            *health = Some(lane::health::Health::Missing);
        }
    }
    let mut warnings = Vec::new();
    let mut can_work = [true, true];
    for (place, health) in found.iter().enumerate() {
        // Nobody was asked: then being there is enough.
        can_work[place] = health
            .as_ref()
            .is_none_or(|it| it.may_work() || !ask && *it == lane::health::Health::NotAsked);
        let name = settings.panel.named(holders[place]).name();
        warnings.extend(health.as_ref().and_then(|it| it.warning(name)));
    }
    let available = Available { first: can_work[0], second: can_work[1] };
    if let (Some(caller), Occasion::SetUp) = (&stage.caller, occasion) {
        caller.begins(settings, available);
    }
    // Judges who are missing are the host's to replace, without another word.
    let warnings = if occasion == Occasion::SetUp { warnings } else { Vec::new() };
    Ok(Health { available, warnings })
}
