//! Documents that a person names, packed under a budget.
//!
//! Every document is whole, cut and marked, or named as omitted with the reason. Unlike the block of
//! a design folder, all that is printed counts: citations and marks, too.

mod render;

use std::fmt;

use self::render::render;
use super::{BriefEntry, DocumentOutcome};
use crate::cut::Accept;
use crate::finding::{FileFinding, Unreadable};
use crate::pack::{Importance, PackItem, PackPolicy, pack};
use crate::text::{CharOffset, Text};
use crate::token::{Budget, Tokenizer, Tokens};

pub use self::render::BlockForm;

/// A document's path as citations show it: on one line, for any characters in the file's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DocumentPath(String);

impl DocumentPath {
    /// Takes any path; control characters, which could forge a line, are shown as escapes.
    pub fn new(path: &str) -> Self {
        let mut shown = String::with_capacity(path.len());
        for character in path.chars() {
            if character.is_control() {
                shown.extend(character.escape_default());
            } else {
                shown.push(character);
            }
        }
        Self(shown)
    }

    /// Returns the path as citations show it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DocumentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A place that looks like a secret. It names the kind and the place, never the secret itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikelySecret {
    /// The line, counted from 1.
    pub line: usize,
    /// Where it begins, in bytes.
    pub at: usize,
    /// The rule that it matches, such as `aws-access-token`.
    pub kind: String,
}

/// A requested document, and the result of reading its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedDocument {
    /// Its path, as citations show it.
    pub path: DocumentPath,
    /// The result of reading the file.
    pub finding: FileFinding,
    /// Likely secrets in it.
    pub secrets: Vec<LikelySecret>,
}

/// How documents are packed and printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionSettings {
    /// The most tokens that the whole block may cost.
    pub budget: Budget,
    /// Which documents are cut or dropped when not all fit.
    pub policy: PackPolicy,
    /// How the block is written.
    pub form: BlockForm,
}

/// The budget is smaller than the citations alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot pack documents within a budget of {budget}: citations and marks cost {frame} tokens"
)]
pub struct FrameTooLarge {
    /// The requested budget.
    pub budget: u64,
    /// The cost of the block without any text.
    pub frame: Tokens,
}

/// The part of the budget, as a divisor, below which another try is not worth it.
const FINENESS: u64 = 500;

/// One document, and whether it is in the block.
pub type CollectionEntry<'a> = BriefEntry<'a, DocumentPath>;

/// Packed documents.
#[derive(Debug, Clone)]
pub struct Collection<'a> {
    documents: &'a [NamedDocument],
    entries: Vec<CollectionEntry<'a>>,
    block: String,
    used: Tokens,
}

impl<'a> Collection<'a> {
    /// Decides about every document, most important first. The block costs at most the budget.
    pub fn pack(
        documents: &'a [NamedDocument],
        settings: CollectionSettings,
        tokenizer: &dyn Tokenizer,
    ) -> Result<Self, FrameTooLarge> {
        let priced: Vec<_> = documents.iter().map(|document| price(document, tokenizer)).collect();
        let pack_within = |room: u64| {
            let room = Budget::at_least_one(room);
            let entries = settle(priced.clone(), room, settings.policy, tokenizer);
            let block = render(settings.form, &entries);
            let used = tokenizer.count(Text::new(&block));
            Self { documents, entries, block, used }
        };
        let limit = settings.budget.tokens();
        let whole = pack_within(settings.budget.get());
        if whole.used <= limit {
            return Ok(whole);
        }
        // Citations and marks depend on the kept texts, so the room for texts is found by trying.
        let mut best = pack_within(1);
        if best.used > limit {
            return Err(FrameTooLarge { budget: settings.budget.get(), frame: best.used });
        }
        let (mut fitting, mut failing) = (1, settings.budget.get());
        while failing - fitting > 1 + settings.budget.get() / FINENESS {
            let room = fitting.midpoint(failing);
            let packed = pack_within(room);
            if packed.used <= limit {
                (fitting, best) = (room, packed);
            } else {
                failing = room;
            }
        }
        Ok(best)
    }

    /// Returns every document with its outcome, in order.
    pub fn entries(&self) -> &[CollectionEntry<'a>] {
        &self.entries
    }

    /// Returns the block.
    pub fn block(&self) -> &str {
        &self.block
    }

    /// Returns what the whole block costs.
    pub fn used(&self) -> Tokens {
        self.used
    }

    /// Returns likely secrets in the part of each document that is in the block.
    pub fn exposed_secrets(&self) -> impl Iterator<Item = (&'a DocumentPath, &'a LikelySecret)> {
        self.entries.iter().zip(self.documents).flat_map(|(entry, document)| {
            let kept = entry.included().map_or(0, |text| text.as_str().len());
            let secrets = document.secrets.iter().filter(move |secret| secret.at < kept);
            secrets.map(|secret| (&document.path, secret))
        })
    }
}

fn price<'a>(document: &'a NamedDocument, tokenizer: &dyn Tokenizer) -> CollectionEntry<'a> {
    let fate = match &document.finding {
        FileFinding::Absent => DocumentOutcome::Absent,
        FileFinding::Unreadable(reason) => DocumentOutcome::Unreadable(*reason),
        FileFinding::Text(content) => DocumentOutcome::Whole(Text::new(content)),
    };
    let mut entry = BriefEntry { name: &document.path, fate, cost: Tokens::default() };
    if let Some(text) = entry.included() {
        entry.cost = tokenizer.count(text);
    }
    entry
}

/// Packs what gave text. The first document is never dropped, and each may be cut before a line:
/// documents of any kind need have no sections.
fn settle<'a>(
    mut entries: Vec<CollectionEntry<'a>>,
    room: Budget,
    policy: PackPolicy,
    tokenizer: &dyn Tokenizer,
) -> Vec<CollectionEntry<'a>> {
    let mut usable: Vec<_> = entries
        .iter_mut()
        .filter(|entry| matches!(entry.fate, DocumentOutcome::Whole(_)))
        .collect();
    let items: Vec<_> = usable
        .iter()
        .enumerate()
        .filter_map(|(rank, entry)| {
            let standing = if rank == 0 { Importance::Protected } else { Importance::Ordinary };
            let (text, cost) = (entry.included()?, entry.cost);
            Some(PackItem { text, cost, standing, borders: Accept::Anything })
        })
        .collect();
    let verdicts = pack(&items, room, policy, tokenizer);
    for ((entry, item), verdict) in usable.iter_mut().zip(&items).zip(verdicts) {
        entry.settle(item.text, verdict, tokenizer);
    }
    entries
}

/// Returns why a document that was named by its path gives no text.
pub fn unreadable_words(reason: Unreadable) -> String {
    if reason == Unreadable::OutsideDir {
        return "a link that leads out of the project".to_owned();
    }
    reason.to_string()
}

/// Returns why a document is not in the block; `None` if at least a part of it is.
pub fn omission(entry: &CollectionEntry<'_>) -> Option<String> {
    match entry.fate {
        DocumentOutcome::Whole(_) | DocumentOutcome::Cut(..) => None,
        DocumentOutcome::Absent => Some("no such file".to_owned()),
        DocumentOutcome::Unreadable(reason) => Some(unreadable_words(reason)),
        DocumentOutcome::Scaffold(_) => Some("_TBD_ only".to_owned()),
        DocumentOutcome::Dropped(_, why) => Some(format!("{} tokens; {why}", entry.cost)),
    }
}

/// Returns the offset at which a document was cut.
pub fn cut_at(entry: &CollectionEntry<'_>) -> Option<CharOffset> {
    match entry.fate {
        DocumentOutcome::Cut(_, cut) => Some(cut.at),
        DocumentOutcome::Absent
        | DocumentOutcome::Unreadable(_)
        | DocumentOutcome::Scaffold(_)
        | DocumentOutcome::Whole(_)
        | DocumentOutcome::Dropped(..) => None,
    }
}

#[cfg(test)]
mod tests;
