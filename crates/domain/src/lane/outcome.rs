//! A lane's outcome. It follows from evidence, not from an exit code.

use super::event::{FailureKind, GrantedRights, LaneEvent, LaneFailure, TurnEnd, Usage};
pub use super::process_end::ProcessEnd;

/// How a lane ended, judged by its evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneOutcome {
    /// A turn ended without an error, and there is an answer.
    Answered,
    /// It took longer than it may.
    TimedOut,
    /// It printed output, and then nothing for too long.
    Stalled,
    /// It ended without an answer.
    NoOutput,
    /// It ended before its turn did.
    ExitedEarly,
    /// The client is not logged in, or the service refuses the key.
    Auth,
    /// Too many requests, or no quota left.
    RateLimited,
    /// It does not know one of its flags.
    RefusedFlags,
    /// Another model answered than the requested one.
    ModelMismatch,
    /// Another session answered than the resumed one.
    SessionLost,
    /// It cost more than it may.
    OverBudget,
    /// A person or a program stopped it.
    Cancelled,
    /// The client could not be started.
    NotStarted,
    /// It ended in an error of another kind.
    Failed,
}

impl LaneOutcome {
    /// Every outcome.
    pub const ALL: [Self; 14] = [
        Self::Answered,
        Self::TimedOut,
        Self::Stalled,
        Self::NoOutput,
        Self::ExitedEarly,
        Self::Auth,
        Self::RateLimited,
        Self::RefusedFlags,
        Self::ModelMismatch,
        Self::SessionLost,
        Self::OverBudget,
        Self::Cancelled,
        Self::NotStarted,
        Self::Failed,
    ];

    /// Returns the code that is stored, and that programs read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::TimedOut => "timed_out",
            Self::Stalled => "stalled",
            Self::NoOutput => "no_output",
            Self::ExitedEarly => "exited_early",
            Self::Auth => "auth",
            Self::RateLimited => "rate_limited",
            Self::RefusedFlags => "refused_flags",
            Self::ModelMismatch => "model_mismatch",
            Self::SessionLost => "session_lost",
            Self::OverBudget => "over_budget",
            Self::Cancelled => "cancelled",
            Self::NotStarted => "not_started",
            Self::Failed => "failed",
        }
    }

    /// Returns the state of a lane as a person reads it, in a table or before "after 3 s".
    pub const fn state(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::TimedOut => "timed out",
            Self::Stalled => "stalled",
            Self::NoOutput => "no answer",
            Self::ExitedEarly => "ended early",
            Self::Auth => "not logged in",
            Self::RateLimited => "rate limited",
            Self::RefusedFlags => "flag refused",
            Self::ModelMismatch => "other model",
            Self::SessionLost => "other session",
            Self::OverBudget => "over budget",
            Self::Cancelled => "cancelled",
            Self::NotStarted => "not started",
            Self::Failed => "failed",
        }
    }

    /// Returns what happened, to follow the agent's name in a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::TimedOut => "reached its time limit",
            Self::Stalled => "stopped sending output",
            Self::NoOutput => "gave no answer",
            Self::ExitedEarly => "ended before it answered",
            Self::Auth => "is not logged in, or its key is refused",
            Self::RateLimited => "reached a rate limit or its quota",
            Self::RefusedFlags => "does not know one of its flags",
            Self::ModelMismatch => "answered with another model",
            Self::SessionLost => "answered in another session",
            Self::OverBudget => "reached the budget",
            Self::Cancelled => "was stopped",
            Self::NotStarted => "did not start",
            Self::Failed => "failed",
        }
    }

    /// Tells whether the agent cannot answer any request until a person logs in, or installs another
    /// version of its client.
    pub const fn needs_a_person(self) -> bool {
        matches!(self, Self::Auth | Self::RefusedFlags)
    }

    /// Returns the outcome stored as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

/// Everything that is known of a lane when it is over.
#[derive(Debug, Clone, Copy)]
pub struct LaneCourse<'a> {
    /// The client's messages.
    pub output: &'a ClientOutput,
    /// How the process ended.
    pub end: ProcessEnd,
    /// The requested model.
    pub model: Option<&'a str>,
    /// The session to resume.
    pub resume: Option<&'a str>,
}

impl LaneCourse<'_> {
    /// Describes which other session or model answered; a session first, because a new session has
    /// no memory with any model.
    pub fn difference(&self) -> Option<String> {
        if let Some((asked, found)) = self.other_session() {
            return Some(format!("Convoke resumed session {asked}, but session {found} answered"));
        }
        let (asked, found) = self.other_model()?;
        Some(format!("Convoke asked for {asked}, but {found} answered"))
    }

    /// Returns the two sessions if another one answered: a client that does not find a session may
    /// silently begin a new one.
    fn other_session(&self) -> Option<(&str, &str)> {
        let sessions = self.resume.zip(self.output.session.as_deref());
        sessions.filter(|(asked, found)| asked != found)
    }

    fn other_model(&self) -> Option<(&str, &str)> {
        let models = self.model.zip(self.output.model.as_deref());
        models.filter(|(asked, found)| !is_same_model(asked, found))
    }
}

/// A client's collected messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientOutput {
    /// The session's name.
    pub session: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The agent's rights, as last reported.
    pub granted: Option<GrantedRights>,
    /// The usage, as last reported.
    pub usage: Option<Usage>,
    /// The agent's last text.
    pub last_text: Option<String>,
    /// How the turn ended, if it did.
    pub ended: Option<TurnEnd>,
    /// The last error that the client did not recover from: a text or tool use after it shows a
    /// recovery.
    pub trouble: Option<LaneFailure>,
    /// How many tools were used.
    pub tools: u64,
}

impl ClientOutput {
    /// Takes in a message of the client.
    pub fn take(&mut self, event: LaneEvent) {
        match event {
            LaneEvent::Session(id) => self.session = Some(id),
            LaneEvent::Model(name) => self.model = Some(name),
            LaneEvent::Rights(granted) => self.granted = Some(granted),
            LaneEvent::Text(text) => {
                self.last_text = Some(text);
                self.trouble = None;
            }
            LaneEvent::Tool(_) => {
                self.tools += 1;
                self.trouble = None;
            }
            LaneEvent::Usage(usage) => self.usage = Some(usage),
            LaneEvent::Ended(ended) => self.ended = Some(ended),
            LaneEvent::Trouble(failure) => {
                // The text before the long line is no longer the agent's last text, and the long
                // line is unknown.
                if failure.kind == FailureKind::LongLine {
                    self.last_text = None;
                }
                self.trouble = Some(failure);
            }
        }
    }

    /// Returns what went wrong: what the turn ended in, else the last trouble if no turn ended. Some
    /// kinds ask for a next step that no outcome names: a session that is not there is begun anew.
    pub fn failure(&self) -> Option<&LaneFailure> {
        match &self.ended {
            Some(ended) => ended.failure.as_ref().or_else(|| self.unread()),
            None => self.trouble.as_ref(),
        }
    }

    /// Returns why there is no answer although there was one: it was not read.
    fn unread(&self) -> Option<&LaneFailure> {
        let is_unread = |trouble: &&LaneFailure| trouble.kind == FailureKind::LongLine;
        self.trouble.as_ref().filter(is_unread).filter(|_| self.answer().is_none())
    }

    /// Tells whether the answer is only the beginning of one.
    pub fn is_cut_off(&self) -> bool {
        self.failure().is_some_and(|failure| failure.kind == FailureKind::CutOff)
    }

    /// Tells whether it ended because another run of the same client was at its files.
    pub fn is_clash(&self) -> bool {
        self.failure().is_some_and(|failure| failure.kind == FailureKind::Clash)
    }

    /// Returns the answer: what the end of the turn carries, else the last words before it.
    pub fn answer(&self) -> Option<&str> {
        let ended = self.ended.as_ref()?;
        let answer = ended.answer.as_deref().or(self.last_text.as_deref());
        answer.filter(|answer| !answer.trim().is_empty())
    }
}

/// Judges a lane.
pub fn outcome(course: &LaneCourse<'_>) -> LaneOutcome {
    match course.end {
        // A turn that ended well before it was stopped has ended well.
        ProcessEnd::WallLimit | ProcessEnd::FirstByteLimit | ProcessEnd::StallLimit
            if is_answered(course.output) =>
        {
            judged_by_words(course)
        }
        // A client that was refused the whole time was not slow.
        ProcessEnd::WallLimit => by_trouble(course.output).unwrap_or(LaneOutcome::TimedOut),
        ProcessEnd::FirstByteLimit => by_trouble(course.output).unwrap_or(LaneOutcome::NoOutput),
        ProcessEnd::StallLimit => by_trouble(course.output).unwrap_or(LaneOutcome::Stalled),
        ProcessEnd::BudgetLimit => LaneOutcome::OverBudget,
        ProcessEnd::Cancelled => LaneOutcome::Cancelled,
        ProcessEnd::NotStarted => LaneOutcome::NotStarted,
        ProcessEnd::Exited(_) | ProcessEnd::Signalled(_) | ProcessEnd::Lost => {
            judged_by_words(course)
        }
    }
}

fn is_answered(output: &ClientOutput) -> bool {
    let without_failure = output.ended.as_ref().is_some_and(|ended| ended.failure.is_none());
    without_failure && output.answer().is_some()
}

/// Judges by the client's messages, and by its exit code only without any.
fn judged_by_words(course: &LaneCourse<'_>) -> LaneOutcome {
    let Some(ended) = &course.output.ended else {
        let is_silent = course.end == ProcessEnd::Exited(0) && course.output.last_text.is_none();
        let early = if is_silent { LaneOutcome::NoOutput } else { LaneOutcome::ExitedEarly };
        let unread = course.output.unread().map(|_| LaneOutcome::Failed);
        return by_trouble(course.output).or(unread).unwrap_or(early);
    };
    if let Some(failure) = &ended.failure {
        return of_kind(failure.kind).unwrap_or(LaneOutcome::Failed);
    }
    if course.output.answer().is_none() {
        return course.output.unread().map_or(LaneOutcome::NoOutput, |_| LaneOutcome::Failed);
    }
    if course.other_session().is_some() {
        LaneOutcome::SessionLost
    } else if course.other_model().is_some() {
        LaneOutcome::ModelMismatch
    } else {
        LaneOutcome::Answered
    }
}

fn by_trouble(output: &ClientOutput) -> Option<LaneOutcome> {
    of_kind(output.trouble.as_ref()?.kind)
}

const fn of_kind(kind: FailureKind) -> Option<LaneOutcome> {
    match kind {
        FailureKind::Auth => Some(LaneOutcome::Auth),
        FailureKind::RateLimited => Some(LaneOutcome::RateLimited),
        FailureKind::RefusedFlags => Some(LaneOutcome::RefusedFlags),
        FailureKind::OverBudget | FailureKind::CutOff => Some(LaneOutcome::OverBudget),
        FailureKind::NoSession
        | FailureKind::LongLine
        | FailureKind::Clash
        | FailureKind::Other => None,
    }
}

/// A name may be short for the one that answers: `opus` for `claude-opus-5-5`, or carry the provider
/// in front.
fn is_same_model(asked: &str, effective: &str) -> bool {
    let plain = |name: &str| {
        let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
        name.replace(['.', '_', ' '], "-")
    };
    let (asked, effective) = (plain(asked), plain(effective));
    let mut parts = effective.split('-');
    asked.split('-').all(|part| parts.any(|other| other == part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: FailureKind) -> LaneFailure {
        LaneFailure { kind, message: "no".to_owned(), reset: None }
    }

    fn ended(answer: &str) -> ClientOutput {
        let ended = Some(TurnEnd { answer: Some(answer.to_owned()), failure: None });
        ClientOutput { ended, ..ClientOutput::default() }
    }

    fn judged(output: &ClientOutput, end: ProcessEnd) -> LaneOutcome {
        outcome(&LaneCourse { output, end, model: Some("opus"), resume: Some("s-1") })
    }

    #[test]
    fn only_what_can_be_shown_is_a_success() {
        let silent = ClientOutput::default();
        let mut spoke = ClientOutput::default();
        spoke.take(LaneEvent::Text("half an".to_owned()));
        let mut refused = ClientOutput::default();
        refused.take(LaneEvent::Trouble(failure(FailureKind::Auth)));
        let mut failed = ClientOutput::default();
        failed.take(LaneEvent::Ended(TurnEnd {
            answer: Some("an error text".to_owned()),
            failure: Some(failure(FailureKind::Other)),
        }));
        for (output, end, expected) in [
            (&ended("yes"), ProcessEnd::Exited(0), LaneOutcome::Answered),
            (&ended("yes"), ProcessEnd::Exited(1), LaneOutcome::Answered),
            (&ended("yes"), ProcessEnd::WallLimit, LaneOutcome::Answered),
            (&ended(" \n"), ProcessEnd::Exited(0), LaneOutcome::NoOutput),
            (&silent, ProcessEnd::Exited(0), LaneOutcome::NoOutput),
            (&silent, ProcessEnd::Exited(2), LaneOutcome::ExitedEarly),
            (&spoke, ProcessEnd::Exited(0), LaneOutcome::ExitedEarly),
            (&spoke, ProcessEnd::Signalled(9), LaneOutcome::ExitedEarly),
            (&silent, ProcessEnd::Lost, LaneOutcome::ExitedEarly),
            (&spoke, ProcessEnd::StallLimit, LaneOutcome::Stalled),
            (&spoke, ProcessEnd::WallLimit, LaneOutcome::TimedOut),
            (&silent, ProcessEnd::FirstByteLimit, LaneOutcome::NoOutput),
            (&refused, ProcessEnd::Exited(0), LaneOutcome::Auth),
            (&refused, ProcessEnd::StallLimit, LaneOutcome::Auth),
            (&refused, ProcessEnd::WallLimit, LaneOutcome::Auth),
            (&failed, ProcessEnd::Exited(0), LaneOutcome::Failed),
            (&ended("yes"), ProcessEnd::Cancelled, LaneOutcome::Cancelled),
            (&ended("yes"), ProcessEnd::BudgetLimit, LaneOutcome::OverBudget),
            (&silent, ProcessEnd::NotStarted, LaneOutcome::NotStarted),
        ] {
            assert_eq!(judged(output, end), expected, "{output:?} {end:?}");
        }
    }

    #[test]
    fn a_turn_that_ended_knows_best_what_went_wrong() {
        let mut output = ClientOutput::default();
        assert_eq!(output.failure(), None);
        output.take(LaneEvent::Trouble(failure(FailureKind::NoSession)));
        assert_eq!(output.failure(), Some(&failure(FailureKind::NoSession)));
        let failed = TurnEnd { answer: None, failure: Some(failure(FailureKind::Auth)) };
        output.take(LaneEvent::Ended(failed));
        assert_eq!(output.failure(), Some(&failure(FailureKind::Auth)));
        output.take(LaneEvent::Ended(TurnEnd { answer: None, failure: None }));
        assert_eq!(output.failure(), None);
    }

    // An answer that Convoke could not read does not count, and the text before it is not the
    // answer.
    #[test]
    fn an_answer_in_an_unread_line_is_reported() {
        let long = || LaneEvent::Trouble(failure(FailureKind::LongLine));
        let end = || LaneEvent::Ended(TurnEnd { answer: None, failure: None });
        let text = |text: &str| LaneEvent::Text(text.to_owned());
        let output = |events: Vec<LaneEvent>| {
            let mut output = ClientOutput::default();
            for event in events {
                output.take(event);
            }
            output
        };
        for events in
            [vec![long()], vec![text("First"), long()], vec![text("First"), long(), end()]]
        {
            let output = output(events);
            assert_eq!(judged(&output, ProcessEnd::Exited(0)), LaneOutcome::Failed, "{output:?}");
            assert_eq!(output.answer(), None);
            assert_eq!(output.failure(), Some(&failure(FailureKind::LongLine)));
        }
        // A tool's output may have any length.
        let found = output(vec![long(), text("It is 42."), end()]);
        assert_eq!((found.answer(), found.failure()), (Some("It is 42."), None));
        assert_eq!(judged(&found, ProcessEnd::Exited(0)), LaneOutcome::Answered);
        let carried = TurnEnd { answer: Some("42".to_owned()), failure: None };
        let carried = output(vec![long(), LaneEvent::Ended(carried)]);
        assert_eq!(
            (judged(&carried, ProcessEnd::Exited(0)), carried.failure()),
            (LaneOutcome::Answered, None)
        );
        assert_eq!(judged(&output(vec![long()]), ProcessEnd::StallLimit), LaneOutcome::Stalled);
    }

    // Clients retry and report it; a stall long after has another cause.
    #[test]
    fn trouble_that_was_got_over_is_forgotten() {
        for event in [LaneEvent::Text("on".to_owned()), LaneEvent::Tool("Read".to_owned())] {
            let mut output = ClientOutput::default();
            output.take(LaneEvent::Trouble(failure(FailureKind::RateLimited)));
            assert_eq!(judged(&output, ProcessEnd::StallLimit), LaneOutcome::RateLimited);
            output.take(event);
            assert_eq!(judged(&output, ProcessEnd::StallLimit), LaneOutcome::Stalled);
        }
    }

    #[test]
    fn another_model_is_not_hidden() {
        let mut output = ended("yes");
        for (effective, expected) in [
            ("claude-opus-5-5", LaneOutcome::Answered),
            ("opus", LaneOutcome::Answered),
            ("claude-haiku-5", LaneOutcome::ModelMismatch),
        ] {
            output.model = Some(effective.to_owned());
            assert_eq!(judged(&output, ProcessEnd::Exited(0)), expected, "{effective}");
        }
        assert!(is_same_model("gpt-5.5", "openai/gpt-5-5"));
        assert!(is_same_model("gemini-3-flash", "gemini-3-flash-preview"));
        assert!(!is_same_model("gpt-5.5", "gpt-5.4"));
    }

    // Codex begins a new thread when it does not know the one it is to resume.
    #[test]
    fn another_session_is_not_hidden() {
        let mut output = ended("yes");
        output.session = Some("s-1".to_owned());
        assert_eq!(judged(&output, ProcessEnd::Exited(0)), LaneOutcome::Answered);
        output.session = Some("s-2".to_owned());
        assert_eq!(judged(&output, ProcessEnd::Exited(0)), LaneOutcome::SessionLost);
    }

    #[test]
    fn what_differs_is_named() {
        let mut output = ended("yes");
        let said = |output: &ClientOutput| {
            let (model, resume) = (Some("opus"), Some("s-1"));
            LaneCourse { output, end: ProcessEnd::Exited(0), model, resume }.difference()
        };
        (output.session, output.model) = (Some("s-1".to_owned()), Some("claude-opus-5".to_owned()));
        assert_eq!(said(&output), None);
        output.model = Some("haiku".to_owned());
        assert_eq!(said(&output).unwrap(), "Convoke asked for opus, but haiku answered");
        output.session = Some("s-2".to_owned());
        assert_eq!(said(&output).unwrap(), "Convoke resumed session s-1, but session s-2 answered");
    }

    #[test]
    fn outcomes_have_names() {
        for outcome in LaneOutcome::ALL {
            assert_eq!(LaneOutcome::parse(outcome.name()), Some(outcome));
        }
        assert_eq!(LaneOutcome::parse("ok"), None);
    }
}
