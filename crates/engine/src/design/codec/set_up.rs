//! The setup of a run, in the journal's form.

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
    setup_lines: Vec<String>,
    begins_with: Option<String>,
    branch_lines: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tree_before: Option<String>,
}

impl From<SetUp> for SetUpBody {
    fn from(set_up: SetUp) -> Self {
        match set_up {
            SetUp::Ready(ready) => Self::Ready(ReadyBody {
                branch: ready.branch,
                is_new: ready.is_new,
                base: ready.base,
                setup_lines: ready.setup_lines,
                begins_with: match ready.begins {
                    Begins::Plain => None,
                    Begins::With(payload) => Some(payload),
                },
                branch_lines: ready.branch_lines,
                left: ready.left,
                tree_before: ready.tree_before,
            }),
            SetUp::Undecided { branch } => Self::Undecided { branch },
            SetUp::Refused(Refusal { lines, code }) => Self::Refused { lines, code },
        }
    }
}

impl From<SetUpBody> for SetUp {
    fn from(body: SetUpBody) -> Self {
        match body {
            SetUpBody::Ready(ready) => Self::Ready(Ready {
                branch: ready.branch,
                is_new: ready.is_new,
                base: ready.base,
                setup_lines: ready.setup_lines,
                begins: ready.begins_with.map_or(Begins::Plain, Begins::With),
                branch_lines: ready.branch_lines,
                left: ready.left,
                tree_before: ready.tree_before,
            }),
            SetUpBody::Undecided { branch } => Self::Undecided { branch },
            SetUpBody::Refused { lines, code } => Self::Refused(Refusal { lines, code }),
        }
    }
}
