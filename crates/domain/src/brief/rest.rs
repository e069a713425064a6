//! Reading on after a cut.

use std::fmt;

use crate::cut::{self, Accept};
use crate::text::{CharOffset, Text};
use crate::token::{Budget, Tokenizer};

use super::block::{source_line, truncated_line};
use super::collection::DocumentPath;
use super::name::BriefName;
use super::settings::BriefSettings;

/// The next part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rest<'a> {
    /// Where the part begins.
    pub from: CharOffset,
    /// The part, untouched: joining all parts gives back the document.
    pub text: Text<'a>,
    /// Where the next part begins, or `None` at the end of the document.
    pub next: Option<CharOffset>,
}

/// Why there is no next part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RestError {
    /// The offset is not in the document, which may have changed since the cut.
    #[error("cannot read from character {from}: the document has {chars}")]
    BeyondEnd {
        /// The requested offset.
        from: CharOffset,
        /// The document's length.
        chars: usize,
    },
    /// The budget is too small for a single line, so reading on would never end.
    #[error("cannot read within {} token(s): not one character fits", budget.get())]
    NothingFits {
        /// The requested budget.
        budget: Budget,
    },
}

impl<'a> Rest<'a> {
    /// Takes as much of `document` from `from` on as the budget allows, up to the last border.
    pub fn read(
        document: Text<'a>,
        from: CharOffset,
        budget: Budget,
        tokenizer: &dyn Tokenizer,
    ) -> Result<Self, RestError> {
        if from.get() > document.chars() {
            return Err(RestError::BeyondEnd { from, chars: document.chars() });
        }
        let tail = document.after(from);
        let room = budget.tokens();
        // Computing how far the room reaches reads less text than counting all of it.
        if tokenizer.reach(tail, room).get() >= tail.chars() {
            return Ok(Self { from, text: tail, next: None });
        }
        let cut = cut::find(document, from, room, Accept::Anything, tokenizer)
            .ok_or(RestError::NothingFits { budget })?;
        let text = document.before(cut.at).after(from);
        Ok(Self { from, text, next: Some(cut.at) })
    }

    /// Pairs the part with its citation for printing.
    pub fn cited(&'a self, settings: &BriefSettings, name: &BriefName) -> Cited<'a> {
        Cited { rest: self, source: source_line(settings, name), file: name.file_name() }
    }

    /// Pairs the part with the citation of a document that was named by its path.
    pub fn cited_by_path(&'a self, path: &DocumentPath) -> Cited<'a> {
        Cited { rest: self, source: format!("> source: {path}"), file: path.to_string() }
    }
}

/// Prints as a citation line, the untouched part and, after a cut, a line break and the marker line.
///
/// Taking off the first line, and the marker with the line break before it, leaves the part.
#[derive(Debug, Clone)]
pub struct Cited<'a> {
    rest: &'a Rest<'a>,
    source: String,
    file: String,
}

impl fmt::Display for Cited<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rest { from, text, next } = self.rest;
        writeln!(f, "{} from char_offset={from}", self.source)?;
        f.write_str(text.as_str())?;
        match next {
            Some(at) => write!(f, "\n{}\n", truncated_line(&self.file, *at)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::token::Estimate;

    proptest! {
        #[test]
        fn reading_on_yields_every_character_once(
            document in "([#`]{0,4} ?[a-zé가]{0,9}\r?\n?){0,16}", budget in 2_u64..20,
        ) {
            let budget = Budget::new(budget).unwrap();
            let text = Text::new(&document);
            let mut read = String::new();
            let mut next = Some(CharOffset::START);
            while let Some(from) = next {
                let rest = Rest::read(text, from, budget, &Estimate).unwrap();
                prop_assert!(Estimate.count(rest.text) <= budget.tokens());
                read.push_str(rest.text.as_str());
                next = rest.next;
            }
            prop_assert_eq!(read, document);
        }
    }

    #[test]
    fn an_offset_past_the_end_and_a_budget_without_room_are_refused() {
        let read = |from, budget| {
            let budget = Budget::new(budget).unwrap();
            Rest::read(Text::new("abcde"), CharOffset::new(from), budget, &Estimate)
                .map(|rest| (rest.text.as_str().to_owned(), rest.next.map(CharOffset::get)))
        };
        assert_eq!(read(5, 9), Ok((String::new(), None)));
        assert_eq!(read(6, 9), Err(RestError::BeyondEnd { from: CharOffset::new(6), chars: 5 }));
        assert_eq!(read(0, 1), Err(RestError::NothingFits { budget: Budget::new(1).unwrap() }));
        assert_eq!(read(0, 2), Ok(("abcd".to_owned(), Some(4))));
        assert_eq!(read(4, 2), Ok(("e".to_owned(), None)));
    }
}
