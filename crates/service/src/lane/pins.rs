//! The user's rules in the prompts of lanes.

use convoke_domain::design::policy::Policy;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::pin::Pin;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::drive::LaneTranscript;

use super::LaneRequest;
use crate::failure::with_causes;
use crate::observer::Reporter;
use crate::session::Session;
use crate::workspace::Workspace;

/// Whether the user's rules go before a lane's prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinnedRules {
    /// They do.
    Before,
    /// They do not: the prompt has them already, or does not work on the project, or must be the
    /// original's.
    LeftOut,
}

impl PinnedRules {
    /// Returns the rules of a design's lanes: the original's prompts have none.
    #[must_use]
    pub const fn under(self, policy: Policy) -> Self {
        match policy {
            Policy::Safe => self,
            Policy::Seed => Self::LeftOut,
        }
    }
}

/// Returns the rules that hold now. Without them, which a prompt must not lack silently, it warns.
pub(crate) fn pins_in_force(
    session: &Session,
    workspace: Option<&Workspace>,
    reporter: &Reporter,
) -> Vec<Pin> {
    let found = match workspace {
        Some(Workspace { store, scope }) => {
            store.pins(scope, session.now()).map_err(|error| with_causes(&error))
        }
        None => Err("Convoke cannot open the store".to_owned()),
    };
    found.unwrap_or_else(|why| {
        reporter.warn(format!("the prompt lacks your pinned rules: {why}"));
        Vec::new()
    })
}

impl LaneRequest<'_> {
    /// Returns the rules that go before the prompt. A replay changes no files, and its prompt
    /// identifies the recording, so it has no rules.
    pub(super) fn pins(
        &self,
        session: &Session,
        workspace: Option<&Workspace>,
        reporter: &Reporter,
    ) -> Vec<Pin> {
        let is_played = matches!(self.agent, AgentRef::Replay(_));
        if self.rules == PinnedRules::LeftOut || is_played {
            return Vec::new();
        }
        pins_in_force(session, workspace, reporter)
    }

    /// Records that an agent answered to a prompt with the rules.
    pub(super) fn record_pins(
        &self,
        session: &Session,
        workspace: &Workspace,
        pins: &[Pin],
        transcript: &LaneTranscript,
        reporter: &Reporter,
    ) {
        if pins.is_empty() || transcript.outcome != LaneOutcome::Answered {
            return;
        }
        let ids: Vec<_> = pins.iter().map(|pin| pin.id).collect();
        let client_session =
            transcript.output.session.as_deref().unwrap_or("a lane without a session");
        let agent = self.agent.to_string();
        // A lane is not worth less because this cannot be written down.
        if let Err(error) =
            workspace.store.pins_delivered(&ids, &agent, client_session, session.now())
        {
            let why = with_causes(&error);
            reporter.warn(format!("Convoke cannot record that your rules arrived: {why}"));
        }
    }
}
