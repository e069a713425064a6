//! Reports of reviews as logs.

use convoke_domain::design::tally::FindingVerdict;
use convoke_domain::dispatch::review::Severity;
use convoke_domain::dispatch::review_loop::LoopStop;

use super::{FilePlace, FindingPlaces, LogLevel, LoggedFinding, LoggedNotice, ReviewLog};
use crate::design::DesignReport;
use crate::dispatch::{
    DispatchRoundReport, FinishedLoop, FinishedRound, IssueWords, LoopAnswerReport,
    ReviewLoopReport,
};
use crate::failure::{Failure, with_causes};
use crate::run::PanelFindingReport;
use crate::session::Session;

/// The fates of findings that are no longer open.
const OVER: [&str; 2] = ["gone", "dismissed"];

impl ReviewLog {
    /// Logs a loop of reviews, or why there was none.
    pub fn of_loop(session: &Session, ended: &Result<FinishedLoop, Failure>) -> Self {
        match ended {
            Ok(FinishedLoop { report, hint, folder }) => {
                let places = FindingPlaces::new(&session.project, folder);
                Self {
                    command: "dispatch loop",
                    took_place: took_place(report.reason),
                    findings: loop_findings(report, &places),
                    notices: loop_notices(report, hint.as_deref()),
                }
            }
            Err(failure) => Self::of_failure("dispatch loop", failure),
        }
    }

    /// Logs one round of one role, or why there was none.
    pub fn of_round(session: &Session, ended: &Result<FinishedRound, Failure>) -> Self {
        match ended {
            Ok(FinishedRound { report, folder, .. }) => {
                let places = FindingPlaces::new(&session.project, folder);
                round_log(report, &places)
            }
            Err(failure) => Self::of_failure("dispatch run", failure),
        }
    }

    /// Logs a design: what its reviewers found and the panel did not reject.
    pub fn of_design(session: &Session, ended: Result<&DesignReport, &Failure>) -> Self {
        match ended {
            Ok(report) => design_log(report, session),
            Err(failure) => Self::of_failure("design", failure),
        }
    }

    /// Logs that there was no review.
    fn of_failure(command: &'static str, failure: &Failure) -> Self {
        let hints = failure.hints.iter().map(|hint| note(format!("hint: {hint}")));
        let notices = [error(with_causes(&*failure.error))].into_iter().chain(hints).collect();
        Self { command, took_place: false, findings: Vec::new(), notices }
    }
}

/// Tells whether every reviewer of a loop gave an answer that counts.
const fn took_place(stop: LoopStop) -> bool {
    match stop {
        LoopStop::Approved
        | LoopStop::Capped
        | LoopStop::NoProgress
        | LoopStop::Disputed
        | LoopStop::BelowFloor
        | LoopStop::ByHand => true,
        LoopStop::LaneFailed
        | LoopStop::Ambiguous
        | LoopStop::Unproven
        | LoopStop::Outdated
        | LoopStop::OverBudget
        | LoopStop::Cancelled => false,
    }
}

/// Lists what is open: findings that are not gone, and the remarks of each reviewer's last answer.
fn loop_findings(report: &ReviewLoopReport, places: &FindingPlaces) -> Vec<LoggedFinding> {
    let open = report.findings.iter().filter(|finding| !OVER.contains(&finding.fate));
    let open = open.map(|finding| {
        let id = Some(finding.id.clone());
        logged(&finding.role, &finding.issue, places, id)
    });
    let is_last = |at: usize, answer: &LoopAnswerReport| {
        !report.answers[at + 1..].iter().any(|later| later.role == answer.role)
    };
    let last = report.answers.iter().enumerate().filter(|(at, answer)| is_last(*at, answer));
    let remarks = last.flat_map(|(_, answer)| {
        answer.light.iter().map(|issue| logged(&answer.role, issue, places, None))
    });
    open.chain(remarks).collect()
}

fn loop_notices(report: &ReviewLoopReport, hint: Option<&str>) -> Vec<LoggedNotice> {
    let s = if report.rounds == 1 { "" } else { "s" };
    let stop = format!("the reviews ended `{}` after {} round{s}", report.stop, report.rounds);
    let stop = if took_place(report.reason) { note(stop) } else { error(stop) };
    [stop].into_iter().chain(hint.map(|hint| note(format!("hint: {hint}")))).collect()
}

fn round_log(report: &DispatchRoundReport, places: &FindingPlaces) -> ReviewLog {
    let judged = report.judged.as_ref();
    let verdict = judged.and_then(|judged| judged.verdict);
    let counts = verdict.is_some_and(|verdict| matches!(verdict, "PASS" | "FAIL"));
    let issues = judged.into_iter().flat_map(|judged| {
        judged.issues.iter().map(|found| logged(&judged.role, &found.issue, places, None))
    });
    let notice = match verdict {
        Some(verdict) => format!("the verdict is {verdict}"),
        None => format!("there is no verdict; the lane ended `{}`", report.lane.outcome),
    };
    ReviewLog {
        command: "dispatch run",
        took_place: counts,
        findings: if counts { issues.collect() } else { Vec::new() },
        notices: vec![if counts { note(notice) } else { error(notice) }],
    }
}

/// Logs what the panel accepted or left open. A finding that is kept out of published files is
/// counted and not shown: a log is published.
fn design_log(report: &DesignReport, session: &Session) -> ReviewLog {
    let took_place = report.class.is_none();
    let plan = report.overview.plan_file.as_deref();
    let place = FindingPlaces::new(&session.project, &session.project).find(plan);
    let all = &report.overview.results.findings;
    let shown = all.iter().filter(|finding| !finding.withheld);
    let findings = shown.filter_map(|finding| design_finding(finding, &place)).collect();
    let ending = format!("run {}: {}", report.run, report.ending);
    let mut notices = vec![if took_place { note(ending) } else { error(ending) }];
    let warning = |text: &String| LoggedNotice { level: LogLevel::Warning, text: text.clone() };
    notices.extend(report.degraded.iter().map(warning));
    let withheld = all.iter().filter(|finding| finding.withheld).count();
    if withheld > 0 {
        notices.push(note(format!("{withheld} findings are kept out of published files")));
    }
    ReviewLog { command: "design", took_place, findings, notices }
}

fn design_finding(finding: &PanelFindingReport, place: &FilePlace) -> Option<LoggedFinding> {
    let level = match finding.verdict {
        Some(FindingVerdict::Rejected | FindingVerdict::Exonerated) => return None,
        // The plan was revised for it.
        Some(FindingVerdict::Accepted) if finding.in_scope => LogLevel::Note,
        _ => LogLevel::Warning,
    };
    let verdict = finding.verdict.map_or("not voted on", FindingVerdict::word);
    Some(LoggedFinding {
        rule: finding.focus.map_or("design".to_owned(), |focus| format!("design/{focus}")),
        level,
        text: format!("{} ({verdict}): {}", finding.title, finding.concern),
        place: place.clone(),
        id: None,
    })
}

fn logged(
    role: &str,
    issue: &IssueWords,
    places: &FindingPlaces,
    id: Option<String>,
) -> LoggedFinding {
    let level = match Severity::parse(&issue.severity) {
        Severity::Blocker | Severity::Unknown(_) => LogLevel::Error,
        Severity::Warning => LogLevel::Warning,
        Severity::Light(_) => LogLevel::Note,
    };
    let place = places.find(issue.location.as_deref());
    LoggedFinding { rule: role.to_owned(), level, text: issue.text(), place, id }
}

fn note(text: String) -> LoggedNotice {
    LoggedNotice { level: LogLevel::Note, text }
}

fn error(text: String) -> LoggedNotice {
    LoggedNotice { level: LogLevel::Error, text }
}
