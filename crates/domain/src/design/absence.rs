//! Agents of a panel that do not take part: why, and which agents take their place.

use super::event::{Occasion, Settings};
use super::policy::Policy;
use super::seat::{Available, Holder};
use super::warning::DesignWarning;
use crate::lane::health::{AgentHealth, Replacement};

/// An agent that does not take part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absence {
    /// Its health does not allow it.
    Agent {
        /// The agent's place on the panel.
        holder: Holder,
        /// The health that the probe found.
        health: AgentHealth,
    },
    /// A warning of a journal from before journals held the health.
    Sentence(String),
}

/// The warning about an agent that does not take part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsenceWarning {
    agent: String,
    health: AgentHealth,
    effect: AbsenceEffect,
}

/// What an absence changes in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
enum AbsenceEffect {
    /// The original workflow's, in its words.
    Original,
    /// Others take its seats.
    Seats { other: Option<String>, host: String, host_is_same: bool },
    /// The host judges.
    Judges { host: String },
}

impl Absence {
    /// Returns the agent's place on the panel, if the journal has it.
    pub const fn holder(&self) -> Option<Holder> {
        match self {
            Self::Agent { holder, .. } => Some(*holder),
            Self::Sentence(_) => None,
        }
    }

    /// Returns the warning for a run, on one of the occasions on which agents are probed.
    pub fn warning(
        &self,
        settings: &Settings,
        occasion: Occasion,
        available: Available,
    ) -> DesignWarning {
        let (holder, health) = match self {
            Self::Sentence(line) => return DesignWarning::Unavailable(line.clone()),
            Self::Agent { holder, health } => (*holder, health.clone()),
        };
        let name = |holder| settings.panel.named(holder).name().to_owned();
        let other = if holder == Holder::First { Holder::Second } else { Holder::First };
        let is_same = settings.chosen(holder).agent == settings.chosen(Holder::Host).agent;
        let effect = match occasion {
            Occasion::SetUp if settings.has_original_lines() => AbsenceEffect::Original,
            Occasion::SetUp => AbsenceEffect::Seats {
                other: available.has(other).then(|| name(other)),
                host: name(Holder::Host),
                host_is_same: is_same,
            },
            Occasion::Judges => AbsenceEffect::Judges { host: name(Holder::Host) },
        };
        DesignWarning::Absent(AbsenceWarning { agent: name(holder), health, effect })
    }
}

impl Settings {
    /// Tells whether the run speaks in the original workflow's lines where it has some: under the
    /// original's rules, and for another workflow.
    pub fn has_original_lines(&self) -> bool {
        self.policy == Policy::Seed || self.session_env.is_some()
    }
}

impl AbsenceWarning {
    /// Returns the sentence that a user reads; it is empty for an agent that can take part.
    pub fn sentence(&self) -> String {
        let Self { agent, health, effect } = self;
        let sentence = match effect {
            AbsenceEffect::Original => health.warning(agent),
            AbsenceEffect::Seats { other, host, host_is_same } => {
                let host_is_same = *host_is_same;
                health.plain_warning(
                    agent,
                    Replacement { other: other.as_deref(), host, host_is_same },
                )
            }
            AbsenceEffect::Judges { host } => health.judge_warning(agent, host),
        };
        sentence.unwrap_or_default()
    }
}
