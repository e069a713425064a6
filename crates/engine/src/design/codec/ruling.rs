//! A person's decision, as the journal holds it.

use convoke_domain::design::event::Event;
use convoke_domain::design::matter::{MatterId, Ruling, RulingChoice};
use serde::{Deserialize, Serialize};

use super::{CodecError, Reader};

#[derive(Serialize, Deserialize)]
pub(super) struct RulingBody {
    matter: String,
    choice: String,
    because: String,
}

impl From<&Ruling> for RulingBody {
    fn from(ruling: &Ruling) -> Self {
        Self {
            matter: ruling.matter.to_string(),
            choice: ruling.choice.word().to_owned(),
            because: ruling.because.clone(),
        }
    }
}

impl RulingBody {
    pub(super) fn event(self, read: &Reader<'_>) -> Result<Event, CodecError> {
        let matter = read.known(&self.matter, MatterId::parse(&self.matter))?;
        let choice = read.known(&self.choice, RulingChoice::parse(&self.choice))?;
        Ok(Event::Decided(Ruling { matter, choice, because: self.because }))
    }
}
