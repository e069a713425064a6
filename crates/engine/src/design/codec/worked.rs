//! How a worker ended.

use convoke_domain::design::event::Event;
use convoke_domain::design::heavy::{GiveUpReason, WorkerResult};
use serde::{Deserialize, Serialize};

use super::{CodecError, Reader};

/// The result of a worker. Early journals have the line that it printed.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum WorkedBody {
    Line { line: String, folder: String },
    Fact(WorkedFact),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub(super) enum WorkedFact {
    Complete { folder: String },
    Failed { reason: String, folder: String },
}

impl WorkedBody {
    pub(super) fn new(worked: &WorkerResult, folder: &str) -> Self {
        let folder = folder.to_owned();
        Self::Fact(match worked {
            WorkerResult::Complete => WorkedFact::Complete { folder },
            WorkerResult::Failed(reason) => {
                WorkedFact::Failed { reason: reason.as_str().to_owned(), folder }
            }
        })
    }

    pub(super) fn event(self, read: &Reader<'_>) -> Result<Event, CodecError> {
        let (worked, folder) = match self {
            Self::Line { line, folder } => (read.known(&line, WorkerResult::parse(&line))?, folder),
            Self::Fact(WorkedFact::Complete { folder }) => (WorkerResult::Complete, folder),
            Self::Fact(WorkedFact::Failed { reason, folder }) => {
                let known = read.known(&reason, GiveUpReason::parse(&reason))?;
                (WorkerResult::Failed(known), folder)
            }
        };
        Ok(Event::Worked { worked, folder })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::codec::{decode, encode};

    #[test]
    fn a_result_is_kept_as_facts_and_early_lines_are_read() {
        let folder = || "/run".to_owned();
        let failed = WorkerResult::gave_up("plan-missing");
        let early = r#"{"line":"DESIGN_HEAVY=failed REASON=plan-missing","folder":"/run"}"#;
        let event = Event::Worked { worked: failed, folder: folder() };
        assert_eq!(decode("worked", early).unwrap(), event);
        let (kind, body) = encode(&event);
        assert_eq!(body, r#"{"result":"failed","reason":"plan-missing","folder":"/run"}"#);
        assert_eq!(decode(kind, &body).unwrap(), event);
        let event = Event::Worked { worked: WorkerResult::Complete, folder: folder() };
        let (kind, body) = encode(&event);
        assert_eq!(body, r#"{"result":"complete","folder":"/run"}"#);
        assert_eq!(decode(kind, &body).unwrap(), event);
        for wrong in [
            r#"{"line":"done","folder":"/run"}"#,
            r#"{"result":"failed","reason":"Two words","folder":"/run"}"#,
            r#"{"result":"failed","folder":"/run"}"#,
            r#"{"result":"complete"}"#,
        ] {
            assert!(decode("worked", wrong).is_err(), "{wrong}");
        }
    }
}
