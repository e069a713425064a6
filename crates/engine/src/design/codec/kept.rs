//! The results of a design, as the journal holds them.

use convoke_domain::design::event::{Event, Kept, PanelVerdict};
use convoke_domain::design::matter::MatterId;
use convoke_domain::design::panel_verdict::PanelResult;
use serde::{Deserialize, Serialize};

use super::{CodecError, Reader};

/// Earlier versions wrote the files alone.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum KeptBody {
    Files(Vec<(String, String)>),
    Counted {
        files: Vec<(String, String)>,
        #[serde(default)]
        warnings: Option<usize>,
        #[serde(default)]
        undecided: Option<usize>,
        /// Ids and words; an earlier version wrote none, and such a body stays without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdicts: Option<Vec<(String, String)>>,
    },
}

impl From<Kept> for KeptBody {
    fn from(Kept { files, warnings, undecided, verdicts }: Kept) -> Self {
        let word = |verdict: PanelVerdict| (verdict.matter.to_string(), verdict.result.to_string());
        let verdicts = verdicts.map(|verdicts| verdicts.into_iter().map(word).collect());
        Self::Counted { files, warnings, undecided, verdicts }
    }
}

impl KeptBody {
    pub(super) fn event(self, read: &Reader<'_>) -> Result<Event, CodecError> {
        let (files, warnings, undecided, verdicts) = match self {
            Self::Files(files) => return Ok(Event::Kept(Kept { files, ..Kept::default() })),
            Self::Counted { files, warnings, undecided, verdicts } => {
                (files, warnings, undecided, verdicts)
            }
        };
        let verdict = |(id, word): (String, String)| {
            let matter = read.known(&id, MatterId::parse(&id))?;
            Ok(PanelVerdict { matter, result: PanelResult::parse(matter, &word) })
        };
        let verdicts = verdicts.map(|listed| listed.into_iter().map(verdict).collect());
        let verdicts = verdicts.transpose()?;
        Ok(Event::Kept(Kept { files, warnings, undecided, verdicts }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode, encode};
    use super::*;
    use convoke_domain::design::matter::{Ruling, RulingChoice};

    // Journals are read by every later version.
    #[test]
    fn an_end_that_an_earlier_version_wrote_is_read() {
        let files = vec![("plan.txt".to_owned(), "abc".to_owned())];
        let earlier = decode("kept", r#"[["plan.txt","abc"]]"#).unwrap();
        assert_eq!(earlier, Event::Kept(Kept { files: files.clone(), ..Kept::default() }));
        let verdict = |id: &str, word: &str| {
            let matter = MatterId::parse(id).unwrap();
            PanelVerdict { matter, result: PanelResult::parse(matter, word) }
        };
        let verdicts = vec![
            verdict("OOS_1", "tied"),
            verdict("DECISION_1", "thesis"),
            verdict("DECISION_2", "bucket-skipped"),
            verdict("FINDING_1", "a word of another program"),
        ];
        for verdicts in [None, Some(verdicts)] {
            let (warnings, undecided) = (Some(2), Some(0));
            let kept = Kept { files: files.clone(), warnings, undecided, verdicts };
            let kept = Event::Kept(kept);
            let (kind, body) = encode(&kept);
            assert_eq!(decode(kind, &body).unwrap(), kept);
        }
        assert!(decode("kept", r#"{"files":[],"verdicts":[["OOS_x","tied"]]}"#).is_err());
    }

    #[test]
    fn a_decision_is_read_as_it_was_written() {
        let matter = MatterId::parse("FINDING_2").unwrap();
        let because = "it \"breaks\"\nthings".to_owned();
        let event = Event::Decided(Ruling { matter, choice: RulingChoice::Reject, because });
        let (kind, body) = encode(&event);
        assert_eq!(decode(kind, &body).unwrap(), event);
        for wrong in ["FINDING_x", "", "RUN_1"] {
            let body = format!(r#"{{"matter":"{wrong}","choice":"accept","because":"x"}}"#);
            assert!(decode("decided", &body).is_err(), "{wrong}");
        }
        let body = r#"{"matter":"OOS_1","choice":"maybe","because":"x"}"#;
        assert!(decode("decided", body).is_err());
    }
}
