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
    /// Encodes text as a user's words: a spelled-out control token has no power here.
    fn encode(&self, text: Text<'_>) -> Vec<u32> {
        let tokens = self.tokenizer.encode_with(text.as_str(), &SpecialMode::Ordinary);
        // Only a list of allowed control tokens can be violated, and none is given.
        tokens.unwrap_or_default()
    }

    /// Returns how many characters of `text` the tokens fill.
    fn filled(&self, text: Text<'_>, tokens: &[u32]) -> usize {
        let length =
            |&token: &u32| self.tokenizer.decode_token_bytes(token).map_or(0, |bytes| bytes.len());
        let end = text.as_str().floor_char_boundary(tokens.iter().map(length).sum());
        text.as_str()[..end].chars().count()
    }
}

impl Tokenizer for Exact {
    fn vocabulary(&self) -> Vocabulary {
        self.vocabulary
    }

    fn count(&self, text: Text<'_>) -> Tokens {
        Tokens::whole(self.encode(text).len() as u64)
    }

    /// Encodes a growing start of the text until it is too much, and measures the tokens that fit.
    /// It encodes only a small multiple of the reachable text, for a document of any length.
    fn reach(&self, text: Text<'_>, room: Tokens) -> CharOffset {
        let most = usize::try_from(room.tenths() / 10).unwrap_or(usize::MAX);
        let mut window = most.saturating_mul(8).max(64);
        let filled = loop {
            let start = text.before(CharOffset::new(window));
            let tokens = self.encode(start);
            if let Some(fitting) = tokens.get(..most).filter(|_| tokens.len() > most) {
                break self.filled(start, fitting);
            }
            if window >= text.chars() {
                return CharOffset::new(text.chars());
            }
            window = window.saturating_mul(2);
        };
        // Cut off there, the last words may be encoded otherwise, so step back until they fit.
        let steps = std::iter::successors(Some(0_usize), |step| Some((step * 2).max(1)));
        let mut offsets = steps.map(|step| CharOffset::new(filled.saturating_sub(step)));
        let fits = |offset: &CharOffset| self.count(text.before(*offset)) <= room;
        offsets.find(fits).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    static O200K: LazyLock<Box<dyn Tokenizer>> = LazyLock::new(|| open(Vocabulary::O200k).unwrap());

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
        let blanks = " ".repeat(1_000_000) + "x";
        assert_eq!(O200K.count(Text::new(&blanks)), Tokens::whole(7_814));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_reached_text_always_fits(text in any::<String>(), room in 0_u64..40) {
            let text = Text::new(&text);
            let room = Tokens::whole(room);
            let reach = O200K.reach(text, room);
            prop_assert!(O200K.count(text.before(reach)) <= room);
            prop_assert!(reach.get() == text.chars() || O200K.count(text) > room);
        }
    }

    #[test]
    fn nothing_is_reached_without_room_and_all_with_enough() {
        let text = Text::new("## Goal\n\nOne page, no account, three taps. 한국어 문서.\n");
        assert_eq!(O200K.reach(text, Tokens::default()), CharOffset::START);
        assert_eq!(O200K.reach(text, Tokens::whole(1000)).get(), text.chars());
        assert_eq!(O200K.reach(Text::new(""), Tokens::whole(5)), CharOffset::START);
        let whole = O200K.count(text).tenths() / 10;
        for room in (1..whole).map(Tokens::whole) {
            let reached = O200K.count(text.before(O200K.reach(text, room)));
            assert!(reached <= room && reached + Tokens::whole(2) >= room, "{reached} of {room}");
        }
    }
}
