//! Whether a role resumes its session with a delta, or begins afresh.

use super::ambiguity::Ambiguity;

/// What Convoke keeps about a role between its rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeState {
    /// The session to resume; `None` until the client reports its id.
    pub agent_id: Option<String>,
    /// How long the prompt of its first round was, in characters.
    pub iteration1_prompt_length: u64,
    /// The last round it was dispatched in.
    pub last_iteration: u32,
    /// The commit that the role last saw.
    pub last_commit_sha: Option<String>,
}

/// What has changed since the role's last round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delta {
    /// No change.
    NoChanges,
    /// The changes could not be committed.
    CommitFailed,
    /// Unknown: the commit no longer exists, or there is no repository.
    Unavailable,
    /// This many characters of difference.
    Changed(u64),
}

/// The measure for a delta's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GuardBase {
    /// The first prompt and every artifact that it listed or pasted: what a fresh start costs.
    #[default]
    Everything,
    /// The length of the first prompt alone.
    Prompt,
}

impl GuardBase {
    /// Both bases.
    pub const ALL: [Self; 2] = [Self::Everything, Self::Prompt];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::Prompt => "prompt",
        }
    }

    /// Returns the base that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|base| base.name() == name)
    }

    /// Returns how many characters a fresh start is taken to cost.
    pub const fn chars(self, first_prompt: u64, artifacts: u64) -> u64 {
        match self {
            Self::Everything => first_prompt.saturating_add(artifacts),
            Self::Prompt => first_prompt,
        }
    }
}

/// How large a delta may be before a fresh start is better, in percent of that.
pub const GUARD_PERCENT: u64 = 50;

/// Everything the decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The next round's number, from one.
    pub iteration: u32,
    /// Whether it is the final validation of a role that has passed before.
    pub is_final: bool,
    /// Whether the role's sessions may ever be resumed.
    pub resumes: bool,
    /// Why the gate has switched resuming off, if it has.
    pub disabled: Option<&'a str>,
    /// Whether the client's recorded gate result permits resuming.
    pub gate_open: bool,
    /// What Convoke keeps about the role since its last round.
    pub state: Option<&'a ResumeState>,
    /// What has changed since the role's last round.
    pub delta: Delta,
    /// The size of a fresh prompt, in characters.
    pub base: u64,
    /// The error when the session was resumed for this round.
    pub resume_error: Option<&'a str>,
}

/// Why a dispatch begins afresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreshReason {
    /// It is the first round.
    First,
    /// There is no record of earlier rounds.
    NoState,
    /// The role never resumes a session.
    NeverResumed,
    /// Resuming is switched off here.
    Disabled,
    /// The client has not shown that its sessions can be resumed.
    GateNotPassed,
    /// Its session has no name any more.
    AgentLost,
    /// No change.
    NoChanges,
    /// The change could not be committed.
    CommitFailed,
    /// Convoke cannot tell what changed.
    NoDelta,
    /// The change exceeds the guard.
    OverGuard,
    /// Resuming was tried and failed.
    ResumeFailed,
}

impl FreshReason {
    /// Every reason.
    const ALL: [Self; 11] = [
        Self::First,
        Self::NoState,
        Self::NeverResumed,
        Self::Disabled,
        Self::GateNotPassed,
        Self::AgentLost,
        Self::NoChanges,
        Self::CommitFailed,
        Self::NoDelta,
        Self::OverGuard,
        Self::ResumeFailed,
    ];

    /// Returns the reason with this code.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// Returns the reason as a person reads it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::First => "this is the first round",
            Self::NoState => "no earlier round is stored",
            Self::NeverResumed => "this role never resumes a session",
            Self::Disabled => "resuming is switched off",
            Self::GateNotPassed => "this client has not passed the gate for resuming",
            Self::AgentLost => "the earlier session has no id any more",
            Self::NoChanges => "nothing changed since the last round",
            Self::CommitFailed => "the changes could not be committed",
            Self::NoDelta => "Convoke cannot tell what changed",
            Self::OverGuard => "too much changed to resume",
            Self::ResumeFailed => "the session could not be resumed",
        }
    }

    /// Returns the code used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "first_iteration",
            Self::NoState => "no_state",
            Self::NeverResumed => "never_resumed",
            Self::Disabled => "resume_disabled",
            Self::GateNotPassed => "gate_not_passed",
            Self::AgentLost => "agent_id_lost",
            Self::NoChanges => "no_changes",
            Self::CommitFailed => "commit_failed",
            Self::NoDelta => "delta_unavailable",
            Self::OverGuard => "delta_over_guard",
            Self::ResumeFailed => "resume_failed",
        }
    }
}

/// How the next prompt is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumeDecision {
    /// In a new session, with a full prompt.
    Fresh {
        /// Why the session is not resumed.
        reason: FreshReason,
        /// The entry for the review history, behind the role and the round.
        log: Option<String>,
    },
    /// A delta, into this session.
    Resume {
        /// The client's id of the session to resume.
        agent_id: String,
    },
}

impl ResumeDecision {
    /// Tells whether the full prompt notes a lost session, and repeats its issues.
    pub const fn is_noted(&self) -> bool {
        matches!(self, Self::Fresh { reason: FreshReason::ResumeFailed, .. })
    }
}

/// Decides.
pub fn decide(situation: &Situation<'_>) -> ResumeDecision {
    let fresh =
        |reason, log: Option<&str>| ResumeDecision::Fresh { reason, log: log.map(str::to_owned) };
    if situation.iteration <= 1 {
        return fresh(FreshReason::First, None);
    }
    if !situation.resumes {
        return fresh(FreshReason::NeverResumed, None);
    }
    let Some(state) = situation.state else { return fresh(FreshReason::NoState, None) };
    if situation.disabled.is_some() {
        return fresh(FreshReason::Disabled, None);
    }
    if !situation.gate_open {
        return fresh(FreshReason::GateNotPassed, None);
    }
    if let Some(error) = situation.resume_error {
        return fresh(FreshReason::ResumeFailed, Some(error));
    }
    let Some(agent_id) = state.agent_id.clone() else {
        return fresh(FreshReason::AgentLost, Some("agent_id lost (context compaction)"));
    };
    let within =
        |chars: u64| chars.saturating_mul(100) <= situation.base.saturating_mul(GUARD_PERCENT);
    match situation.delta {
        Delta::NoChanges if !situation.is_final => fresh(FreshReason::NoChanges, None),
        Delta::CommitFailed => fresh(FreshReason::CommitFailed, None),
        Delta::Unavailable => fresh(FreshReason::NoDelta, None),
        Delta::Changed(chars) if !situation.is_final && !within(chars) => {
            fresh(FreshReason::OverGuard, None)
        }
        Delta::NoChanges | Delta::Changed(_) => ResumeDecision::Resume { agent_id },
    }
}

/// Returns why a resumed answer cannot be used. `ambiguity` is why no verdict could be read from it.
/// Clients resume into an empty session without reporting an error.
pub fn unusable(
    answer: &str,
    tokens: Option<u64>,
    ambiguity: Option<&Ambiguity>,
) -> Option<&'static str> {
    if answer.trim().is_empty() {
        Some("empty answer")
    } else if tokens == Some(0) {
        Some("answer without tokens")
    } else if ambiguity.is_some() {
        Some("answer could not be parsed")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::ambiguity::Doubt;
    use super::*;

    fn state(agent_id: Option<&str>) -> ResumeState {
        ResumeState {
            agent_id: agent_id.map(str::to_owned),
            iteration1_prompt_length: 12_700,
            last_iteration: 1,
            last_commit_sha: Some("abc".to_owned()),
        }
    }

    fn situation(state: Option<&ResumeState>) -> Situation<'_> {
        Situation {
            iteration: 2,
            is_final: false,
            resumes: true,
            disabled: None,
            gate_open: true,
            state,
            delta: Delta::Changed(100),
            base: 1000,
            resume_error: None,
        }
    }

    fn shown(situation: &Situation<'_>) -> String {
        match decide(situation) {
            ResumeDecision::Resume { agent_id } => format!("resume {agent_id}"),
            ResumeDecision::Fresh { reason, log } => {
                format!("{} {}", reason.name(), log.unwrap_or_default()).trim_end().to_owned()
            }
        }
    }

    // D-60, D-62, D-64, D-66: the decision table.
    #[test]
    fn every_situation_has_its_decision() {
        let (known, lost) = (state(Some("a-1")), state(None));
        let usual = situation(Some(&known));
        for (situation, expected) in [
            (usual, "resume a-1"),
            (Situation { iteration: 1, ..usual }, "first_iteration"),
            (Situation { state: None, ..usual }, "no_state"),
            (
                Situation { state: Some(&lost), ..usual },
                "agent_id_lost agent_id lost (context compaction)",
            ),
            (Situation { delta: Delta::NoChanges, ..usual }, "no_changes"),
            (Situation { delta: Delta::CommitFailed, ..usual }, "commit_failed"),
            (Situation { delta: Delta::Unavailable, ..usual }, "delta_unavailable"),
            (Situation { delta: Delta::Changed(501), ..usual }, "delta_over_guard"),
            (Situation { delta: Delta::Changed(500), ..usual }, "resume a-1"),
            (Situation { resume_error: Some("HTTP 400"), ..usual }, "resume_failed HTTP 400"),
            (Situation { resumes: false, ..usual }, "never_resumed"),
            (Situation { disabled: Some("V3: no"), ..usual }, "resume_disabled"),
            (Situation { gate_open: false, ..usual }, "gate_not_passed"),
            // The final validation has no guard.
            (Situation { is_final: true, delta: Delta::Changed(9999), ..usual }, "resume a-1"),
            (Situation { is_final: true, delta: Delta::NoChanges, ..usual }, "resume a-1"),
            (Situation { is_final: true, delta: Delta::Unavailable, ..usual }, "delta_unavailable"),
        ] {
            assert_eq!(shown(&situation), expected, "{situation:?}");
        }
        let failed = Situation { resume_error: Some("x"), ..usual };
        assert!(decide(&failed).is_noted());
        assert!(!decide(&Situation { state: Some(&lost), ..usual }).is_noted());
    }

    // D-63, section 11 example 5
    #[test]
    fn the_guard_measures_against_a_fresh_start() {
        let known = state(Some("a"));
        let with =
            |base| Situation { delta: Delta::Changed(4500), base, ..situation(Some(&known)) };
        assert_eq!(shown(&with(GuardBase::Prompt.chars(12_700, 12_000))), "resume a");
        assert_eq!(shown(&with(GuardBase::Prompt.chars(700, 12_000))), "delta_over_guard");
        assert_eq!(shown(&with(GuardBase::Everything.chars(700, 12_000))), "resume a");
    }

    // D-83: with deltas of every size, the guard saves most of what resuming everything would save,
    // and no resumed round costs more than half of a fresh one.
    #[test]
    fn the_guard_bounds_what_a_resumed_round_costs() {
        let known = state(Some("a"));
        let base = 1000;
        let cost = |chars: u64| {
            let situation =
                Situation { delta: Delta::Changed(chars), base, ..situation(Some(&known)) };
            match decide(&situation) {
                ResumeDecision::Resume { .. } => chars,
                ResumeDecision::Fresh { .. } => base,
            }
        };
        // Most deltas of real rounds are small.
        let deltas: Vec<u64> = (0..100).map(|at| at * at / 8).collect();
        assert!(deltas.iter().all(|chars| cost(*chars) <= base / 2 || cost(*chars) == base));
        let fresh = base * deltas.len() as u64;
        let guarded: u64 = deltas.iter().map(|chars| cost(*chars)).sum();
        let always: u64 = deltas.iter().sum();
        let saved = |spent: u64| (fresh - spent) * 100 / fresh;
        assert!(saved(guarded) > 50, "{} %", saved(guarded));
        assert!(saved(always) - saved(guarded) < 10, "{} %", saved(always));
    }

    // D-67
    #[test]
    fn a_resumed_answer_may_be_none() {
        let ambiguity = Ambiguity::new(Doubt::NoObject, "hello");
        for (answer, tokens, ambiguity, expected) in [
            ("{}", Some(10), None, None),
            ("{}", None, None, None),
            (" \n", Some(10), None, Some("empty answer")),
            ("{}", Some(0), None, Some("answer without tokens")),
            ("hello", Some(5), Some(&ambiguity), Some("answer could not be parsed")),
        ] {
            assert_eq!(unusable(answer, tokens, ambiguity), expected, "{answer:?}");
        }
    }
}
