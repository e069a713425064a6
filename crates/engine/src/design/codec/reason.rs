//! Why a lane has no answer, and why an export failed, in the journal's form.

use convoke_domain::design::export::ExportFailure;
use convoke_domain::lane::budget_stop::BudgetStop;
use convoke_domain::lane::substance::Thin;
use convoke_domain::lane::unanswered::Unanswered;
use serde::{Deserialize, Serialize};

use super::stop::{BudgetStopFact, budget_fact};

/// Why a lane has no answer. Early journals have a sentence, and so do those of lanes that answered: an
/// empty one.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum UnansweredBody {
    Sentence(String),
    Fact(UnansweredFact),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub(super) enum UnansweredFact {
    Said {
        words: String,
    },
    ExitCode {
        code: i32,
    },
    TimedOut,
    NoOutput,
    NoOutputAgain {
        words: Option<String>,
    },
    Lost,
    OverBudget {
        words: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<BudgetStopFact>,
    },
    FewWords {
        words: usize,
        fewest: usize,
    },
    NoProvenance,
    TooLong {
        most: usize,
    },
    NotRun {
        error: String,
    },
}

impl From<Option<&Unanswered>> for UnansweredBody {
    fn from(reason: Option<&Unanswered>) -> Self {
        let Some(reason) = reason else { return Self::Sentence(String::new()) };
        Self::Fact(match reason.clone() {
            Unanswered::Said(words) => UnansweredFact::Said { words },
            Unanswered::ExitCode(code) => UnansweredFact::ExitCode { code },
            Unanswered::TimedOut => UnansweredFact::TimedOut,
            Unanswered::NoOutput => UnansweredFact::NoOutput,
            Unanswered::NoOutputAgain { said } => UnansweredFact::NoOutputAgain { words: said },
            Unanswered::Lost => UnansweredFact::Lost,
            Unanswered::OverBudget { stop } => match stop.map(budget_fact) {
                Some(Ok(stop)) => UnansweredFact::OverBudget { words: None, stop: Some(stop) },
                Some(Err(words)) => UnansweredFact::OverBudget { words: Some(words), stop: None },
                None => UnansweredFact::OverBudget { words: None, stop: None },
            },
            Unanswered::Thin(Thin::FewWords { words, fewest }) => {
                UnansweredFact::FewWords { words, fewest }
            }
            Unanswered::Thin(Thin::NoProvenance) => UnansweredFact::NoProvenance,
            Unanswered::TooLong { most } => UnansweredFact::TooLong { most },
            Unanswered::NotRun(error) => UnansweredFact::NotRun { error },
            Unanswered::Sentence(sentence) => return Self::Sentence(sentence),
        })
    }
}

impl From<UnansweredBody> for Option<Unanswered> {
    fn from(body: UnansweredBody) -> Self {
        let fact = match body {
            UnansweredBody::Sentence(sentence) if sentence.is_empty() => return None,
            UnansweredBody::Sentence(sentence) => return Some(Unanswered::Sentence(sentence)),
            UnansweredBody::Fact(fact) => fact,
        };
        Some(match fact {
            UnansweredFact::Said { words } => Unanswered::Said(words),
            UnansweredFact::ExitCode { code } => Unanswered::ExitCode(code),
            UnansweredFact::TimedOut => Unanswered::TimedOut,
            UnansweredFact::NoOutput => Unanswered::NoOutput,
            UnansweredFact::NoOutputAgain { words } => Unanswered::NoOutputAgain { said: words },
            UnansweredFact::Lost => Unanswered::Lost,
            UnansweredFact::OverBudget { words, stop } => {
                let stop = stop.map(BudgetStop::from);
                Unanswered::OverBudget { stop: stop.or_else(|| words.map(BudgetStop::Sentence)) }
            }
            UnansweredFact::FewWords { words, fewest } => {
                Unanswered::Thin(Thin::FewWords { words, fewest })
            }
            UnansweredFact::NoProvenance => Unanswered::Thin(Thin::NoProvenance),
            UnansweredFact::TooLong { most } => Unanswered::TooLong { most },
            UnansweredFact::NotRun { error } => Unanswered::NotRun(error),
        })
    }
}

/// Why an export failed. Early journals have a sentence.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum ExportFailureBody {
    Sentence(String),
    Fact(ExportFailureFact),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub(super) enum ExportFailureFact {
    NoCaller,
    ManifestMissing { path: String },
    Folder { path: String },
    Artifact { file: String, defect: String },
    File { file: String },
    NoSession,
    Path { path: String },
    Occupied { path: String },
    Busy { path: String },
    Publish { path: String },
}

impl From<ExportFailure> for ExportFailureBody {
    fn from(failure: ExportFailure) -> Self {
        Self::Fact(match failure {
            ExportFailure::NoCaller => ExportFailureFact::NoCaller,
            ExportFailure::ManifestMissing(path) => ExportFailureFact::ManifestMissing { path },
            ExportFailure::Folder(path) => ExportFailureFact::Folder { path },
            ExportFailure::Artifact { file, why } => {
                ExportFailureFact::Artifact { file, defect: why }
            }
            ExportFailure::File(file) => ExportFailureFact::File { file },
            ExportFailure::NoSession => ExportFailureFact::NoSession,
            ExportFailure::Path(path) => ExportFailureFact::Path { path },
            ExportFailure::Occupied(path) => ExportFailureFact::Occupied { path },
            ExportFailure::Busy(path) => ExportFailureFact::Busy { path },
            ExportFailure::Publish(path) => ExportFailureFact::Publish { path },
            ExportFailure::Sentence(sentence) => return Self::Sentence(sentence),
        })
    }
}

impl From<ExportFailureBody> for ExportFailure {
    fn from(body: ExportFailureBody) -> Self {
        let fact = match body {
            ExportFailureBody::Sentence(sentence) => return Self::Sentence(sentence),
            ExportFailureBody::Fact(fact) => fact,
        };
        match fact {
            ExportFailureFact::NoCaller => Self::NoCaller,
            ExportFailureFact::ManifestMissing { path } => Self::ManifestMissing(path),
            ExportFailureFact::Folder { path } => Self::Folder(path),
            ExportFailureFact::Artifact { file, defect } => Self::Artifact { file, why: defect },
            ExportFailureFact::File { file } => Self::File(file),
            ExportFailureFact::NoSession => Self::NoSession,
            ExportFailureFact::Path { path } => Self::Path(path),
            ExportFailureFact::Occupied { path } => Self::Occupied(path),
            ExportFailureFact::Busy { path } => Self::Busy(path),
            ExportFailureFact::Publish { path } => Self::Publish(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use convoke_domain::design::event::{Event, Export};

    use super::super::{decode, encode};
    use super::*;

    fn lane(reason: &str) -> String {
        format!(
            r#"{{"name":"sketch/general","status":"FAILED","reason":{reason},"answer":"","agent":"codex","model":null,"usage":null,"took_ms":7}}"#
        )
    }

    fn reason(body: &str) -> Option<Unanswered> {
        let Event::LaneEnded(_, end) = decode("lane_ended", body).unwrap() else {
            panic!("{body}")
        };
        end.reason
    }

    #[test]
    fn a_reason_is_read_as_it_was_written_and_an_early_journal_keeps_its_sentence() {
        for written in [
            r#""""#,
            r#""Process failed with exit code 3""#,
            r#"{"why":"said","words":"rate limit"}"#,
            r#"{"why":"exit_code","code":3}"#,
            r#"{"why":"timed_out"}"#,
            r#"{"why":"no_output"}"#,
            r#"{"why":"no_output_again","words":null}"#,
            r#"{"why":"no_output_again","words":"x"}"#,
            r#"{"why":"lost"}"#,
            r#"{"why":"over_budget","words":null}"#,
            r#"{"why":"over_budget","words":"used 101 of 100 tokens"}"#,
            r#"{"why":"over_budget","words":null,"stop":{"budget":"unknown"}}"#,
            r#"{"why":"over_budget","words":null,"stop":{"budget":"reported","words":"x"}}"#,
            r#"{"why":"few_words","words":3,"fewest":30}"#,
            r#"{"why":"no_provenance"}"#,
            r#"{"why":"too_long","most":524288}"#,
            r#"{"why":"not_run","error":"no such agent"}"#,
        ] {
            let body = lane(written);
            assert_eq!(encode(&decode("lane_ended", &body).unwrap()), ("lane_ended", body));
        }
        assert_eq!(reason(&lane("\"\"")), None);
        let sentence = reason(&lane("\"a|b\\nc\"")).unwrap();
        assert_eq!(sentence.to_string(), "a|b\nc");
        for wrong in [r#"{"why":"bored"}"#, r#"{"why":"exit_code"}"#, "7", "null"] {
            assert!(decode("lane_ended", &lane(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_failed_export_is_read_as_it_was_written_and_an_early_journal_keeps_its_sentence() {
        let path = || "/x".to_owned();
        let failures = [
            ExportFailure::NoCaller,
            ExportFailure::ManifestMissing(path()),
            ExportFailure::Folder(path()),
            ExportFailure::Artifact { file: "plan.txt".to_owned(), why: "it is empty".to_owned() },
            ExportFailure::File("plan.txt".to_owned()),
            ExportFailure::NoSession,
            ExportFailure::Path(path()),
            ExportFailure::Occupied(path()),
            ExportFailure::Busy(path()),
            ExportFailure::Publish(path()),
            ExportFailure::Sentence("disk full".to_owned()),
        ];
        for why in failures {
            let event = Event::Exported(Export::Failed { folder: path(), why });
            let (kind, body) = encode(&event);
            assert_eq!(decode(kind, &body).unwrap(), event, "{body}");
        }
        let early = r#"{"state":"failed","folder":"/x","why":"disk full"}"#;
        assert_eq!(encode(&decode("exported", early).unwrap()), ("exported", early.to_owned()));
        for wrong in [r#"{"why":"bored"}"#, r#"{"why":"busy"}"#, "null"] {
            let body = format!(r#"{{"state":"failed","folder":"/x","why":{wrong}}}"#);
            assert!(decode("exported", &body).is_err(), "{wrong}");
        }
    }
}
