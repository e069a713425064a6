//! Exact token counts for the vocabularies that are public.
//!
//! Loading one takes longer than everything else a brief does, so it happens only on request.

use splintr::{AnyTokenizer, PretrainedVocab, SpecialMode, from_vocab};

use convoke_domain::text::{CharOffset, Text};
use convoke_domain::token::{Estimate, Tokenizer, Tokens, Vocabulary};

/// A vocabulary could not be loaded.
#[derive(Debug, thiserror::Error)]
#[error("cannot load vocabulary `{}`", vocabulary.name())]
pub struct VocabularyError {
    vocabulary: Vocabulary,
    source: splintr::TokenizerError,
}

/// Returns the tokenizer for a vocabulary. The estimate costs nothing.
pub fn open(vocabulary: Vocabulary) -> Result<Box<dyn Tokenizer>, VocabularyError> {
    let table = match vocabulary {
        Vocabulary::Estimate => return Ok(Box::new(Estimate)),
        Vocabulary::O200k => PretrainedVocab::O200kBase,
        Vocabulary::Cl100k => PretrainedVocab::Cl100kBase,
    };
    let tokenizer = from_vocab(table).map_err(|source| VocabularyError { vocabulary, source })?;
    Ok(Box::new(Exact { vocabulary, tokenizer }))
}

struct Exact {
    vocabulary: Vocabulary,
    tokenizer: AnyTokenizer,
}

impl Exact {
    /// Counts text as a user's words: a spelled-out control token has no power here.
    fn tokens(&self, text: &str) -> u64 {
        let encoded = self.tokenizer.encode_with(text, &SpecialMode::Ordinary);
        // Only a list of allowed control tokens can be violated, and none is given.
        encoded.map_or(u64::MAX, |tokens| tokens.len() as u64)
    }
}

impl Tokenizer for Exact {
    fn vocabulary(&self) -> Vocabulary {
        self.vocabulary
    }

    fn count(&self, text: Text<'_>) -> Tokens {
        Tokens::whole(self.tokens(text.as_str()))
    }

    /// Doubles a guess until it does not fit any more, then halves the gap. Only a small multiple
    /// of the reachable text is ever counted, however long the document is.
    fn reach(&self, text: Text<'_>, room: Tokens) -> CharOffset {
        let fits = |chars: usize| self.count(text.before(CharOffset::new(chars))) <= room;
        let guess = usize::try_from(room.tenths() / 10).unwrap_or(usize::MAX).saturating_mul(4);
        let mut fitting = 0;
        let mut beyond = guess.clamp(1, text.chars().max(1));
        while fits(beyond) {
            fitting = beyond;
            if fitting >= text.chars() {
                return CharOffset::new(text.chars());
            }
            beyond = beyond.saturating_mul(2).min(text.chars());
        }
        while beyond - fitting > 1 {
            let middle = fitting.midpoint(beyond);
            if fits(middle) { fitting = middle } else { beyond = middle }
        }
        CharOffset::new(fitting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(vocabulary: Vocabulary, cases: &[(&str, u64)]) {
        let tokenizer = open(vocabulary).unwrap();
        for (text, tokens) in cases {
            let counted = tokenizer.count(Text::new(text));
            assert_eq!(counted, Tokens::whole(*tokens), "{text:?} in {}", vocabulary.name());
        }
    }

    // The counts were taken with a second, independent implementation of both vocabularies.
    #[test]
    fn public_vocabularies_are_counted_exactly() {
        check(
            Vocabulary::O200k,
            &[
                ("", 0),
                ("hello world", 2),
                ("## Goal\n\nOne page, no account.\n", 9),
                ("\u{feff}# A\r\n\r\n", 3),
                ("한국어 문서를 읽습니다.", 7),
                ("a <|endoftext|> b", 9),
                ("├── _TBD_\n└── _TBD_\n", 13),
                ("     deep    spaces\n\n\n\n", 5),
                ("😀👩\u{200d}👩\u{200d}👧 é e\u{301}", 12),
            ],
        );
        check(
            Vocabulary::Cl100k,
            &[
                ("hello world", 2),
                ("한국어 문서를 읽습니다.", 11),
                ("a <|endoftext|> b", 8),
                ("├── _TBD_\n└── _TBD_\n", 14),
                ("😀👩\u{200d}👩\u{200d}👧 é e\u{301}", 18),
            ],
        );
    }

    // A regular expression with a backtracking limit gives up on a run like this.
    #[test]
    fn a_long_run_of_blanks_is_counted_too() {
        let tokenizer = open(Vocabulary::O200k).unwrap();
        let blanks = " ".repeat(1_000_000) + "x";
        assert_eq!(tokenizer.count(Text::new(&blanks)), Tokens::whole(7_814));
    }

    #[test]
    fn nothing_is_reached_without_room_and_all_with_enough() {
        let tokenizer = open(Vocabulary::O200k).unwrap();
        let text = Text::new("## Goal\n\nOne page, no account, three taps. 한국어 문서.\n");
        assert_eq!(tokenizer.reach(text, Tokens::default()), CharOffset::START);
        assert_eq!(tokenizer.reach(text, Tokens::whole(1000)).get(), text.chars());
        assert_eq!(tokenizer.reach(Text::new(""), Tokens::whole(5)), CharOffset::START);
        let whole = tokenizer.count(text).tenths() / 10;
        for room in (1..whole).map(Tokens::whole) {
            let reach = tokenizer.reach(text, room);
            assert!(tokenizer.count(text.before(reach)) <= room);
            assert!(tokenizer.count(text.before(reach.plus(1))) > room);
        }
    }
}
