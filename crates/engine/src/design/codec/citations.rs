//! Citations that are no evidence, in the journal's form.

use convoke_domain::design::citation::{Citation, Missing};
use convoke_domain::design::event::Event;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(super) struct CitationsBody {
    missing: Vec<MissingBody>,
}

#[derive(Serialize, Deserialize)]
struct MissingBody {
    path: String,
    first: u32,
    last: u32,
    why: WhyBody,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WhyBody {
    NoFile,
    Lines(u32),
    Unchecked,
}

impl CitationsBody {
    pub(super) fn new(missing: &[(Citation, Missing)]) -> Self {
        let body = |(citation, why): &(Citation, Missing)| MissingBody {
            path: citation.path.clone(),
            first: citation.first,
            last: citation.last,
            why: match why {
                Missing::NoFile => WhyBody::NoFile,
                Missing::Lines(lines) => WhyBody::Lines(*lines),
                Missing::Unchecked => WhyBody::Unchecked,
            },
        };
        Self { missing: missing.iter().map(body).collect() }
    }

    pub(super) fn event(self) -> Event {
        let missing = |MissingBody { path, first, last, why }| {
            let why = match why {
                WhyBody::NoFile => Missing::NoFile,
                WhyBody::Lines(lines) => Missing::Lines(lines),
                WhyBody::Unchecked => Missing::Unchecked,
            };
            (Citation { path, first, last }, why)
        };
        Event::CitationsChecked(self.missing.into_iter().map(missing).collect())
    }
}
