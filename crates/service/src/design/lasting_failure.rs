//! Agents that cannot answer until a person does something: a login, another version of the client.

use std::sync::{Mutex, PoisonError};

use convoke_domain::design::event::LaneEnd;
use convoke_domain::design::progress::Step;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_engine::lane::agent_ref::AgentRef;

use crate::lane::remedy;

/// Such agents, by phase: a person may have logged in before the next phase begins.
#[derive(Debug, Default)]
pub(super) struct LastingFailures(Mutex<Vec<LastingFailure>>);

#[derive(Debug)]
struct LastingFailure {
    step: Step,
    agent: String,
    end: LaneEnd,
    remedy: Option<String>,
}

impl LastingFailures {
    /// Returns the failed end of an earlier lane, if another lane of the agent would end like it.
    pub(super) fn end_of(&self, step: Step, agent: &str) -> Option<LaneEnd> {
        let failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = failures.iter().find(|known| known.step == step && known.agent == agent)?;
        // Convoke asks no agent, so that costs neither time nor tokens.
        Some(LaneEnd { usage: None, took: 0, ..known.end.clone() })
    }

    /// Takes in the end of a lane.
    pub(super) fn note(&self, step: Step, agent: &AgentRef, outcome: LaneOutcome, end: &LaneEnd) {
        if !outcome.needs_a_person() {
            return;
        }
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.iter().any(|known| known.step == step && known.agent == end.agent) {
            return;
        }
        // A person reads a remedy once.
        let is_told = failures.iter().any(|known| known.agent == end.agent);
        let remedy = remedy(agent, outcome).filter(|_| !is_told);
        failures.push(LastingFailure { step, agent: end.agent.clone(), end: end.clone(), remedy });
    }

    /// Returns what a person can do about an agent, once.
    pub(super) fn take_remedy(&self, agent: &str) -> Option<String> {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failures.iter_mut().find(|known| known.agent == agent)?.remedy.take()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use convoke_domain::lane::collected::CollectedStatus;
    use convoke_domain::lane::unanswered::Unanswered;

    use super::*;

    fn failed(why: &str) -> LaneEnd {
        LaneEnd {
            status: CollectedStatus::Failed,
            reason: Some(Unanswered::NotRun(why.to_owned())),
            answer: Arc::default(),
            agent: "claude".to_owned(),
            model: None,
            usage: None,
            took: 7000,
        }
    }

    #[test]
    fn a_missing_login_ends_all_further_lanes_of_the_agent_in_the_phase() {
        let (known, claude) = (LastingFailures::default(), AgentRef::parse("claude").unwrap());
        for outcome in [LaneOutcome::Failed, LaneOutcome::RateLimited, LaneOutcome::TimedOut] {
            known.note(Step::Sketches, &claude, outcome, &failed("x"));
            assert!(known.end_of(Step::Sketches, "claude").is_none(), "{outcome:?} may pass");
        }
        known.note(Step::Sketches, &claude, LaneOutcome::Auth, &failed("log in"));
        known.note(Step::Sketches, &claude, LaneOutcome::Auth, &failed("again"));
        let end = known.end_of(Step::Sketches, "claude").unwrap();
        assert_eq!((end.reason_text().as_str(), end.took), (&*failed("log in").reason_text(), 0));
        assert!(known.end_of(Step::Sketches, "codex").is_none());
        assert!(known.end_of(Step::Plan, "claude").is_none(), "the person may have logged in");
        let remedy = known.take_remedy("claude").unwrap();
        assert!(remedy.starts_with("start claude by hand and log in"), "{remedy}");
        assert_eq!(known.take_remedy("claude"), None, "a person reads it once");
    }
}
