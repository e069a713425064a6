//! A lane's result in the words of scripts that collect many lanes: statuses, codes and reasons.

use std::fmt;

use super::outcome::{LaneOutcome, ProcessEnd};
use super::substance::Thin;
use super::unanswered::{TOO_LONG, Unanswered, short_line};

/// The code of a process that could not be started.
const NOT_STARTED: i32 = 127;

/// The exit code if the real one is unknown.
const UNKNOWN: i32 = 99;

/// A lane's result, as scripts read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectedStatus {
    /// There is an answer.
    Ok,
    /// It took longer than it may, or was silent for too long.
    TimedOut,
    /// The lane failed.
    Failed,
    /// It ended successfully, without output.
    EmptyOutput,
    /// How the lane ended is unknown.
    SentinelTimeout,
    /// It answered, and its answer says nothing.
    NotSubstantive,
    /// The lane was not started: the budget is spent.
    BudgetSpent,
}

impl CollectedStatus {
    /// Every status.
    pub const ALL: [Self; 7] = [
        Self::Ok,
        Self::TimedOut,
        Self::Failed,
        Self::EmptyOutput,
        Self::SentinelTimeout,
        Self::NotSubstantive,
        Self::BudgetSpent,
    ];

    /// Returns the status that is printed as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Returns the word that is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::TimedOut => "TIMED_OUT",
            Self::Failed => "FAILED",
            Self::EmptyOutput => "EMPTY_OUTPUT",
            Self::SentinelTimeout => "SENTINEL_TIMEOUT",
            Self::NotSubstantive => "NOT_SUBSTANTIVE",
            Self::BudgetSpent => "cap_hit",
        }
    }
}

/// The collected result of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    /// The lane's status.
    pub status: CollectedStatus,
    /// The exit code, or the one that represents how the lane ended.
    pub exit_code: i32,
    /// Whether its agent is still available.
    pub is_healthy: bool,
    /// Why there is no answer; `None` if there is one.
    pub reason: Option<Unanswered>,
}

/// The facts about an ended lane.
#[derive(Debug, Clone, Copy)]
pub struct CollectedResult<'a> {
    /// The lane's outcome.
    pub outcome: LaneOutcome,
    /// How its process ended.
    pub end: ProcessEnd,
    /// Why, as far as the client says.
    pub why: Option<&'a str>,
    /// Whether the answer lacks substance, if the request required substance.
    pub thin: Option<Thin>,
    /// Whether another run of the same client was in its way.
    pub is_clash: bool,
    /// Whether this was the second attempt.
    pub is_second: bool,
}

impl<'a> CollectedResult<'a> {
    /// Returns why, if the client says anything.
    fn words(&self) -> Option<&'a str> {
        self.why.filter(|why| !why.trim().is_empty())
    }

    /// Tells whether a second attempt is worthwhile: the lane ended successfully without output, or
    /// another run of the same client interfered.
    pub fn is_worth_another(&self) -> bool {
        let is_failed = || self.is_clash && collected(self).status == CollectedStatus::Failed;
        !self.is_second && (collected(self).status == CollectedStatus::EmptyOutput || is_failed())
    }
}

/// Puts a lane's end in those words.
pub fn collected(result: &CollectedResult<'_>) -> Collected {
    let exit_code = exit_code(result.end);
    let of = |status, exit_code, otherwise| Collected {
        status,
        exit_code,
        is_healthy: false,
        reason: Some(result.words().map_or(otherwise, Unanswered::said)),
    };
    match (result.outcome, result.thin) {
        (LaneOutcome::Answered | LaneOutcome::ModelMismatch, Some(thin)) => Collected {
            status: CollectedStatus::NotSubstantive,
            exit_code: 0,
            is_healthy: false,
            reason: Some(Unanswered::Thin(thin)),
        },
        (LaneOutcome::Answered | LaneOutcome::ModelMismatch, None) => {
            Collected { status: CollectedStatus::Ok, exit_code: 0, is_healthy: true, reason: None }
        }
        // Convoke's own limit, not the client's.
        (LaneOutcome::OverBudget, _) if result.end == ProcessEnd::BudgetLimit => Collected {
            status: CollectedStatus::BudgetSpent,
            exit_code: 0,
            is_healthy: true,
            reason: Some(Unanswered::OverBudget { stop: None }),
        },
        (_, _) if result.end == ProcessEnd::Lost => {
            of(CollectedStatus::SentinelTimeout, TOO_LONG, Unanswered::Lost)
        }
        (LaneOutcome::TimedOut | LaneOutcome::Stalled | LaneOutcome::NoOutput, _)
            if exit_code == TOO_LONG =>
        {
            of(CollectedStatus::TimedOut, TOO_LONG, Unanswered::TimedOut)
        }
        (LaneOutcome::NoOutput, _) => empty(result, exit_code),
        (_, _) => {
            // A client that exits 0 on an error has still failed.
            let code = if exit_code == 0 { 1 } else { exit_code };
            of(CollectedStatus::Failed, code, Unanswered::ExitCode(code))
        }
    }
}

/// A lane that ended successfully without output, on the first or second attempt.
fn empty(result: &CollectedResult<'_>, exit_code: i32) -> Collected {
    let reason = if result.is_second {
        Unanswered::NoOutputAgain { said: result.words().map(short_line) }
    } else {
        result.words().map_or(Unanswered::NoOutput, Unanswered::said)
    };
    let status = CollectedStatus::EmptyOutput;
    Collected { status, exit_code, is_healthy: false, reason: Some(reason) }
}

const fn exit_code(end: ProcessEnd) -> i32 {
    match end {
        ProcessEnd::Exited(code) => code,
        ProcessEnd::Signalled(signal) => 128 + signal,
        ProcessEnd::WallLimit | ProcessEnd::FirstByteLimit | ProcessEnd::StallLimit => TOO_LONG,
        ProcessEnd::NotStarted => NOT_STARTED,
        ProcessEnd::BudgetLimit | ProcessEnd::Cancelled | ProcessEnd::Lost => UNKNOWN,
    }
}

/// A block of lines, as scripts read it.
#[derive(Debug, Clone, Copy)]
pub struct CollectedBlock<'a> {
    /// The path of the answer.
    pub file: &'a str,
    /// The agent's name.
    pub tool: &'a str,
    /// The lane's result.
    pub collected: &'a Collected,
    /// Whether the agent had failed before; then it stays unhealthy after any result.
    pub was_unhealthy: bool,
}

impl fmt::Display for CollectedBlock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Collected { status, exit_code, is_healthy, reason } = self.collected;
        let reason = reason.as_ref().map(ToString::to_string).unwrap_or_default();
        writeln!(f, "REVIEWER_FILE={}", self.file)?;
        writeln!(f, "TOOL={}", self.tool)?;
        writeln!(f, "STATUS={}", status.name())?;
        writeln!(f, "EXIT_CODE={exit_code}")?;
        writeln!(f, "HEALTHY={}", *is_healthy && !self.was_unhealthy)?;
        writeln!(f, "FAILURE_REASON={reason}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(outcome: LaneOutcome, end: ProcessEnd) -> CollectedResult<'static> {
        CollectedResult { outcome, end, why: None, thin: None, is_clash: false, is_second: false }
    }

    fn shown(result: &CollectedResult<'_>) -> (CollectedStatus, i32, bool, String) {
        let Collected { status, exit_code, is_healthy, .. } = collected(result);
        (status, exit_code, is_healthy, reason(result))
    }

    fn reason(result: &CollectedResult<'_>) -> String {
        collected(result).reason.map(|reason| reason.to_string()).unwrap_or_default()
    }

    // P-144, P-145, P-148, P-154
    #[test]
    fn every_end_has_a_status_a_code_and_a_reason() {
        let timed_out =
            (CollectedStatus::TimedOut, 124, false, "Process timed out (exit code 124)");
        let failed = (CollectedStatus::Failed, 1, false, "Process failed with exit code 1");
        let empty = "Process exited successfully but produced no output";
        let lost =
            "Process did not complete (sentinel file missing — possible crash or system kill)";
        let capped =
            (CollectedStatus::BudgetSpent, 0, true, "Token budget cap hit; reviewer skipped");
        for (outcome, end, expected) in [
            (LaneOutcome::Answered, ProcessEnd::Exited(0), (CollectedStatus::Ok, 0, true, "")),
            (LaneOutcome::Answered, ProcessEnd::Exited(1), (CollectedStatus::Ok, 0, true, "")),
            (LaneOutcome::TimedOut, ProcessEnd::WallLimit, timed_out),
            (LaneOutcome::Stalled, ProcessEnd::StallLimit, timed_out),
            (LaneOutcome::NoOutput, ProcessEnd::FirstByteLimit, timed_out),
            (
                LaneOutcome::ExitedEarly,
                ProcessEnd::Exited(3),
                (CollectedStatus::Failed, 3, false, "Process failed with exit code 3"),
            ),
            (LaneOutcome::RateLimited, ProcessEnd::Exited(0), failed),
            (LaneOutcome::OverBudget, ProcessEnd::Exited(1), failed),
            (
                LaneOutcome::NotStarted,
                ProcessEnd::NotStarted,
                (CollectedStatus::Failed, 127, false, "Process failed with exit code 127"),
            ),
            (
                LaneOutcome::NoOutput,
                ProcessEnd::Exited(0),
                (CollectedStatus::EmptyOutput, 0, false, empty),
            ),
            (
                LaneOutcome::ExitedEarly,
                ProcessEnd::Lost,
                (CollectedStatus::SentinelTimeout, 124, false, lost),
            ),
            (LaneOutcome::OverBudget, ProcessEnd::BudgetLimit, capped),
        ] {
            let (status, code, healthy, reason) = expected;
            let expected = (status, code, healthy, reason.to_owned());
            assert_eq!(shown(&of(outcome, end)), expected, "{outcome:?} {end:?}");
        }
    }

    // P-149, P-153
    #[test]
    fn a_silence_is_worth_another_question_and_a_second_one_is_not() {
        let first = of(LaneOutcome::NoOutput, ProcessEnd::Exited(0));
        assert!(first.is_worth_another());
        assert!(!of(LaneOutcome::NoOutput, ProcessEnd::StallLimit).is_worth_another());
        assert!(!of(LaneOutcome::Failed, ProcessEnd::Exited(0)).is_worth_another());
        assert!(!of(LaneOutcome::Answered, ProcessEnd::Exited(0)).is_worth_another());
        let second = CollectedResult { is_second: true, ..first };
        assert!(!second.is_worth_another());
        assert_eq!(
            reason(&second),
            "Retry also failed: Process exited successfully but produced no output"
        );
    }

    #[test]
    fn a_clash_with_another_run_is_retried_once() {
        let clash = |outcome, end| CollectedResult { is_clash: true, ..of(outcome, end) };
        let first = clash(LaneOutcome::Failed, ProcessEnd::Exited(1));
        assert!(first.is_worth_another());
        assert!(!CollectedResult { is_second: true, ..first }.is_worth_another());
        assert!(!clash(LaneOutcome::Answered, ProcessEnd::Exited(0)).is_worth_another());
        assert!(!clash(LaneOutcome::TimedOut, ProcessEnd::WallLimit).is_worth_another());
    }

    // P-160
    #[test]
    fn an_answer_without_substance_does_not_count() {
        let thin = Some(Thin::FewWords { words: 3, fewest: 30 });
        let result = CollectedResult { thin, ..of(LaneOutcome::Answered, ProcessEnd::Exited(0)) };
        let text = "body too thin: 3/30 words after stripping fenced code".to_owned();
        assert_eq!(shown(&result), (CollectedStatus::NotSubstantive, 0, false, text));
    }

    // P-148
    #[test]
    fn a_reason_is_one_short_line() {
        let why = format!(" a|b\r\n\n c\t{}", "x".repeat(600));
        let result =
            CollectedResult { why: Some(&why), ..of(LaneOutcome::Failed, ProcessEnd::Exited(1)) };
        let short = reason(&result);
        assert!(short.starts_with("a b c xxx") && short.ends_with("xxx..."), "{short}");
        assert_eq!(short.chars().count(), 500);
        let blank =
            CollectedResult { why: Some(" \n"), ..of(LaneOutcome::Failed, ProcessEnd::Exited(1)) };
        assert_eq!(reason(&blank), "Process failed with exit code 1");
    }

    // P-143, P-155
    #[test]
    fn a_block_has_its_keys_in_order() {
        let found = collected(&of(LaneOutcome::Answered, ProcessEnd::Exited(0)));
        let block =
            CollectedBlock { file: "a.txt", tool: "codex", collected: &found, was_unhealthy: true };
        let text = "REVIEWER_FILE=a.txt\nTOOL=codex\nSTATUS=OK\nEXIT_CODE=0\nHEALTHY=false\nFAILURE_REASON=\n";
        assert_eq!(block.to_string(), text);
        let healthy = CollectedBlock { was_unhealthy: false, ..block };
        assert!(healthy.to_string().contains("HEALTHY=true\n"));
    }

    proptest! {
        #[test]
        fn no_reason_breaks_a_block(why in any::<String>()) {
            let result = CollectedResult { why: Some(&why), ..of(LaneOutcome::Failed, ProcessEnd::Exited(1)) };
            let found = collected(&result);
            let block = CollectedBlock { file: "a", tool: "b", collected: &found, was_unhealthy: false };
            prop_assert_eq!(block.to_string().lines().count(), 6);
            prop_assert!(reason(&result).chars().count() <= 500);
        }
    }
}
