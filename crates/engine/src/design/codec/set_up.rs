//! The setup of a run, in the journal's form.

use convoke_domain::design::setup::note::SetUpNote;
use convoke_domain::design::setup::{Begins, Ready, Refusal, SetUp};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum SetUpBody {
    Ready(ReadyBody),
    Undecided { branch: String },
    Refused { lines: Vec<String>, code: u8 },
}

#[derive(Serialize, Deserialize)]
pub(super) struct ReadyBody {
    branch: String,
    is_new: bool,
    base: String,
    setup_lines: Vec<NoteBody>,
    /// The remark of an early journal.
    begins_with: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    begins: Option<BeginsBody>,
    branch_lines: Vec<NoteBody>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tree_before: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BeginsBody {
    Kept,
    Made,
}

/// Something that the setup found. Early journals have a sentence.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum NoteBody {
    Sentence(String),
    Fact(FactBody),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
enum FactBody {
    OwnFiles { paths: Vec<String> },
    UncommittedChanges { count: usize },
    IncompleteBranchInfo,
    NoRemote { remote: String },
    FetchFailed { remote: String, main: String, said: String },
    ForeignBranch { current: String, user_prefix: String, main: String },
    UnrelatedBranch { current: String, main: String },
}

impl From<SetUpNote> for NoteBody {
    fn from(note: SetUpNote) -> Self {
        Self::Fact(match note {
            SetUpNote::OwnFiles(paths) => FactBody::OwnFiles { paths },
            SetUpNote::UncommittedChanges(count) => FactBody::UncommittedChanges { count },
            SetUpNote::IncompleteBranchInfo => FactBody::IncompleteBranchInfo,
            SetUpNote::NoRemote(remote) => FactBody::NoRemote { remote },
            SetUpNote::FetchFailed { remote, main, said } => {
                FactBody::FetchFailed { remote, main, said }
            }
            SetUpNote::ForeignBranch { current, user_prefix, main } => {
                FactBody::ForeignBranch { current, user_prefix, main }
            }
            SetUpNote::UnrelatedBranch { current, main } => {
                FactBody::UnrelatedBranch { current, main }
            }
            SetUpNote::Sentence(line) => return Self::Sentence(line),
        })
    }
}

impl From<NoteBody> for SetUpNote {
    fn from(body: NoteBody) -> Self {
        let fact = match body {
            NoteBody::Sentence(line) => return Self::Sentence(line),
            NoteBody::Fact(fact) => fact,
        };
        match fact {
            FactBody::OwnFiles { paths } => Self::OwnFiles(paths),
            FactBody::UncommittedChanges { count } => Self::UncommittedChanges(count),
            FactBody::IncompleteBranchInfo => Self::IncompleteBranchInfo,
            FactBody::NoRemote { remote } => Self::NoRemote(remote),
            FactBody::FetchFailed { remote, main, said } => {
                Self::FetchFailed { remote, main, said }
            }
            FactBody::ForeignBranch { current, user_prefix, main } => {
                Self::ForeignBranch { current, user_prefix, main }
            }
            FactBody::UnrelatedBranch { current, main } => Self::UnrelatedBranch { current, main },
        }
    }
}

impl From<Ready> for ReadyBody {
    fn from(ready: Ready) -> Self {
        let (begins, begins_with) = match ready.begins {
            Begins::Plain => (None, None),
            Begins::Kept => (Some(BeginsBody::Kept), None),
            Begins::Made => (Some(BeginsBody::Made), None),
            Begins::With(remark) => (None, Some(remark)),
        };
        Self {
            branch: ready.branch,
            is_new: ready.is_new,
            base: ready.base,
            setup_lines: ready.setup_notes.into_iter().map(NoteBody::from).collect(),
            begins_with,
            begins,
            branch_lines: ready.branch_notes.into_iter().map(NoteBody::from).collect(),
            left: ready.left,
            tree_before: ready.tree_before,
        }
    }
}

impl From<ReadyBody> for Ready {
    fn from(body: ReadyBody) -> Self {
        Self {
            branch: body.branch,
            is_new: body.is_new,
            base: body.base,
            setup_notes: body.setup_lines.into_iter().map(SetUpNote::from).collect(),
            begins: match body.begins {
                Some(BeginsBody::Kept) => Begins::Kept,
                Some(BeginsBody::Made) => Begins::Made,
                None => body.begins_with.map_or(Begins::Plain, Begins::With),
            },
            branch_notes: body.branch_lines.into_iter().map(SetUpNote::from).collect(),
            left: body.left,
            tree_before: body.tree_before,
        }
    }
}

impl From<SetUp> for SetUpBody {
    fn from(set_up: SetUp) -> Self {
        match set_up {
            SetUp::Ready(ready) => Self::Ready(ready.into()),
            SetUp::Undecided { branch } => Self::Undecided { branch },
            SetUp::Refused(Refusal { lines, code }) => Self::Refused { lines, code },
        }
    }
}

impl From<SetUpBody> for SetUp {
    fn from(body: SetUpBody) -> Self {
        match body {
            SetUpBody::Ready(ready) => Self::Ready(ready.into()),
            SetUpBody::Undecided { branch } => Self::Undecided { branch },
            SetUpBody::Refused { lines, code } => Self::Refused(Refusal { lines, code }),
        }
    }
}

#[cfg(test)]
mod tests {
    use convoke_domain::design::event::Event;

    use super::super::{decode, encode};
    use super::*;

    fn ready(begins: Begins, notes: Vec<SetUpNote>) -> Event {
        Event::SetUp(Box::new(SetUp::Ready(Ready {
            branch: "ann/search".to_owned(),
            is_new: true,
            base: "abc".to_owned(),
            setup_notes: notes.clone(),
            begins,
            branch_notes: notes,
            left: Some("main".to_owned()),
            tree_before: None,
        })))
    }

    #[test]
    fn a_journal_keeps_what_a_setup_found_as_facts_and_early_sentences_as_they_were() {
        let text = |text: &str| text.to_owned();
        let notes = vec![
            SetUpNote::OwnFiles(vec![text("AGENTS.md")]),
            SetUpNote::UncommittedChanges(2),
            SetUpNote::IncompleteBranchInfo,
            SetUpNote::NoRemote(text("origin")),
            SetUpNote::FetchFailed { remote: text("o"), main: text("main"), said: text("no") },
            SetUpNote::ForeignBranch {
                current: text("bob/x"),
                user_prefix: text("ann"),
                main: text("main"),
            },
            SetUpNote::UnrelatedBranch { current: text("ann/y"), main: text("main") },
            SetUpNote::Sentence(text("**⚠ of an early journal**")),
        ];
        let begins = [Begins::Plain, Begins::Kept, Begins::Made, Begins::With(text("using: x"))];
        for begins in begins {
            let event = ready(begins, notes.clone());
            let (kind, body) = encode(&event);
            assert_eq!(decode(kind, &body).unwrap(), event, "{body}");
            assert!(!body.contains("stays local") && !body.contains("made '"), "{body}");
        }
        let strange = r#"{"state":"ready","branch":"x","is_new":true,"base":"","setup_lines":[{"note":"later"}],"begins_with":null,"branch_lines":[]}"#;
        assert!(decode("set_up", strange).is_err());
    }
}
