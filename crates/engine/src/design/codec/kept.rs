//! What a design ended with, as it stands in the journal.

use convoke_domain::design::event::Kept;
use serde::{Deserialize, Serialize};

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
    },
}

impl From<Kept> for KeptBody {
    fn from(Kept { files, warnings, undecided }: Kept) -> Self {
        Self::Counted { files, warnings, undecided }
    }
}

impl From<KeptBody> for Kept {
    fn from(body: KeptBody) -> Self {
        match body {
            KeptBody::Files(files) => Self { files, ..Self::default() },
            KeptBody::Counted { files, warnings, undecided } => Self { files, warnings, undecided },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode, encode};
    use super::*;
    use convoke_domain::design::event::Event;
    use convoke_domain::design::matter::{Choice, MatterId, Ruling};

    // Journals are read by every later version.
    #[test]
    fn an_end_that_an_earlier_version_wrote_is_read() {
        let files = vec![("plan.txt".to_owned(), "abc".to_owned())];
        let earlier = decode("kept", r#"[["plan.txt","abc"]]"#).unwrap();
        assert_eq!(earlier, Event::Kept(Kept { files: files.clone(), ..Kept::default() }));
        let kept = Event::Kept(Kept { files, warnings: Some(2), undecided: Some(0) });
        let (kind, body) = encode(&kept);
        assert_eq!(decode(kind, &body).unwrap(), kept);
    }

    #[test]
    fn a_decision_is_read_as_it_was_written() {
        let matter = MatterId::parse("FINDING_2").unwrap();
        let because = "it \"breaks\"\nthings".to_owned();
        let event = Event::Decided(Ruling { matter, choice: Choice::Reject, because });
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
