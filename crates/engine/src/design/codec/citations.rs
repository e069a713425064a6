//! Citations that are no evidence, in the journal's form.

use convoke_domain::design::citation::{Citation, CitedIn, CitedPassage, Missing, PlaceFinding};
use convoke_domain::design::event::Event;
use serde::{Deserialize, Serialize};

use super::{CodecError, Reader};

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

impl From<Missing> for WhyBody {
    fn from(why: Missing) -> Self {
        match why {
            Missing::NoFile => Self::NoFile,
            Missing::Lines(lines) => Self::Lines(lines),
            Missing::Unchecked => Self::Unchecked,
        }
    }
}

impl From<WhyBody> for Missing {
    fn from(why: WhyBody) -> Self {
        match why {
            WhyBody::NoFile => Self::NoFile,
            WhyBody::Lines(lines) => Self::Lines(lines),
            WhyBody::Unchecked => Self::Unchecked,
        }
    }
}

impl CitationsBody {
    pub(super) fn new(missing: &[(Citation, Missing)]) -> Self {
        let body = |(citation, why): &(Citation, Missing)| MissingBody {
            path: citation.path.clone(),
            first: citation.first,
            last: citation.last,
            why: WhyBody::from(*why),
        };
        Self { missing: missing.iter().map(body).collect() }
    }

    pub(super) fn event(self) -> Event {
        let missing =
            |MissingBody { path, first, last, why }| (Citation { path, first, last }, why.into());
        Event::CitationsChecked(self.missing.into_iter().map(missing).collect())
    }
}

/// What is at cited places.
#[derive(Serialize, Deserialize)]
pub(super) struct LookedUpBody {
    moment: String,
    places: Vec<PlaceBody>,
}

#[derive(Serialize, Deserialize)]
struct PlaceBody {
    path: String,
    first: u32,
    last: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    words: Option<String>,
    found: FoundBody,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FoundBody {
    Holds,
    Elsewhere(u32),
    NoWords,
    WordsUnchecked,
    Missing(WhyBody),
}

impl LookedUpBody {
    pub(super) fn new(moment: CitedIn, results: &[(CitedPassage, PlaceFinding)]) -> Self {
        let place = |(cited, found): &(CitedPassage, PlaceFinding)| PlaceBody {
            path: cited.place.path.clone(),
            first: cited.place.first,
            last: cited.place.last,
            words: cited.words.clone(),
            found: match found {
                PlaceFinding::Holds => FoundBody::Holds,
                PlaceFinding::Elsewhere(line) => FoundBody::Elsewhere(*line),
                PlaceFinding::NoWords => FoundBody::NoWords,
                PlaceFinding::WordsUnchecked => FoundBody::WordsUnchecked,
                PlaceFinding::Missing(why) => FoundBody::Missing(WhyBody::from(*why)),
            },
        };
        Self { moment: moment.word(), places: results.iter().map(place).collect() }
    }

    pub(super) fn event(self, read: &Reader<'_>) -> Result<Event, CodecError> {
        let moment = read.known(&self.moment, CitedIn::parse(&self.moment))?;
        let place = |PlaceBody { path, first, last, words, found }| {
            let found = match found {
                FoundBody::Holds => PlaceFinding::Holds,
                FoundBody::Elsewhere(line) => PlaceFinding::Elsewhere(line),
                FoundBody::NoWords => PlaceFinding::NoWords,
                FoundBody::WordsUnchecked => PlaceFinding::WordsUnchecked,
                FoundBody::Missing(why) => PlaceFinding::Missing(why.into()),
            };
            (CitedPassage::new(Citation { path, first, last }, words), found)
        };
        Ok(Event::CitationsLookedUp(moment, self.places.into_iter().map(place).collect()))
    }
}
