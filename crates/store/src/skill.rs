//! Keeping which skills were injected, and which versions are pinned.

use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::skill::SkillId;
use jiff::Timestamp;

use crate::error::StoreError;

/// One injection of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injection {
    /// The agent that received it.
    pub agent: AgentName,
    /// The plan that the agent worked by.
    pub plan_file: Option<String>,
    /// The task that the agent worked on.
    pub task_id: Option<String>,
    /// The skill, if there was one.
    pub skill: Option<SkillId>,
    /// Its version, if it has one.
    pub version: Option<String>,
    /// The hash of its file.
    pub sha256: Option<String>,
    /// `full`, `pruned` or `incremental`.
    pub mode: String,
    /// When.
    pub injected_at: Timestamp,
}

/// Keeps skills' history and pins.
pub trait SkillStore {
    /// Records that an agent was given a skill with a wake-up.
    fn record_injection(&self, scope: &Scope, injection: &Injection) -> Result<(), StoreError>;

    /// Returns the last injection for an agent and a plan.
    fn last_injection(
        &self,
        scope: &Scope,
        agent: &AgentName,
        plan: Option<&str>,
    ) -> Result<Option<Injection>, StoreError>;

    /// Returns the last injection of one skill for an agent, or for any agent, and a plan, unless
    /// all of the plan was closed or another version pinned since.
    fn last_injection_of(
        &self,
        scope: &Scope,
        agent: Option<&AgentName>,
        plan: Option<&str>,
        skill: &SkillId,
    ) -> Result<Option<Injection>, StoreError>;

    /// Keeps which skill the user chose for an agent, or for all of the branch; `None` takes the
    /// choice back.
    fn use_skill(
        &self,
        scope: &Scope,
        agent: Option<&AgentName>,
        skill: Option<&SkillId>,
    ) -> Result<(), StoreError>;

    /// Returns the skill that the user chose for an agent, or for all of the branch.
    fn used_skill(
        &self,
        scope: &Scope,
        agent: Option<&AgentName>,
    ) -> Result<Option<SkillId>, StoreError>;

    /// Pins a skill, by its bare name, to a version, in place of the version that agents received before.
    fn pin(&self, scope: &Scope, skill: &SkillId, version: &str) -> Result<(), StoreError>;

    /// Releases a pin and tells whether there was one.
    fn unpin(&self, scope: &Scope, skill: &SkillId) -> Result<bool, StoreError>;

    /// Returns a skill's pinned version.
    fn pinned(&self, scope: &Scope, skill: &SkillId) -> Result<Option<String>, StoreError>;
}
