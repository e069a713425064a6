//! The brief: a design folder's documents as one cited block under a token budget.
//!
//! [`settings`] holds the request, [`candidate`] the documents of the folder, [`Brief::assemble`]
//! decides which of them fit, [`block`] renders the result, and [`rest`] continues after a cut. The
//! numbers `B-1` to `B-72` in tests are those of `docs/reference/brief.md`.

pub mod block;
pub mod candidate;
pub mod collection;
pub mod diagnostic;
pub mod log;
pub mod name;
pub mod rest;
pub mod settings;

use crate::cut::{Accept, Cut};
use crate::finding::{FileFinding, Unreadable};
use crate::pack::{DropReason, Importance, PackItem, PackOutcome, pack};
use crate::scaffold::is_scaffold;
use crate::text::Text;
use crate::token::{Tokenizer, Tokens};
use block::BriefBlock;
use candidate::Candidate;
use log::LogLine;
use name::BriefName;
use settings::BriefSettings;

/// The state of the design folder, before any document is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Folder {
    /// A workflow requested the brief, and the project disables automatic loading.
    GateClosed,
    /// There is no design folder.
    Missing,
    /// The folder was searched; one candidate per name, in priority order.
    Searched(Vec<Candidate>),
}

/// Whether and how a candidate is in the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentOutcome<'a> {
    /// There is no such file.
    Absent,
    /// The file is there but could not be read.
    Unreadable(Unreadable),
    /// The file is an unchanged scaffold, without a person's text.
    Scaffold(Text<'a>),
    /// All of it is in the block.
    Whole(Text<'a>),
    /// Everything before the cut is in the block.
    Cut(Text<'a>, Cut),
    /// It was dropped for lack of room.
    Dropped(Text<'a>, DropReason),
}

/// One document, by its name in the priority list or by its path, and the result for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BriefEntry<'a, N = BriefName> {
    /// The document's name.
    pub name: &'a N,
    /// Whether and how the document is in the block.
    pub fate: DocumentOutcome<'a>,
    /// The cost of the part in the block; for a dropped text, the cost of all of it.
    pub cost: Tokens,
}

impl<'a, N> BriefEntry<'a, N> {
    /// Returns the part that is in the block, before its last line endings are trimmed.
    pub fn included(&self) -> Option<Text<'a>> {
        match self.fate {
            DocumentOutcome::Whole(text) => Some(text),
            DocumentOutcome::Cut(text, cut) => Some(text.before(cut.at)),
            DocumentOutcome::Absent
            | DocumentOutcome::Unreadable(_)
            | DocumentOutcome::Scaffold(_)
            | DocumentOutcome::Dropped(..) => None,
        }
    }
}

/// A decided brief. All of its output follows from the entries.
#[derive(Debug, Clone)]
pub struct Brief<'a> {
    settings: &'a BriefSettings,
    folder: &'a Folder,
    entries: Vec<BriefEntry<'a>>,
}

impl<'a> Brief<'a> {
    /// Decides about every document that was found.
    pub fn assemble(
        settings: &'a BriefSettings,
        folder: &'a Folder,
        tokenizer: &dyn Tokenizer,
    ) -> Self {
        let entries = match folder {
            Folder::GateClosed | Folder::Missing => Vec::new(),
            Folder::Searched(candidates) => decide(settings, candidates, tokenizer),
        };
        Self { settings, folder, entries }
    }

    /// Returns every candidate with its outcome, in priority order.
    pub fn entries(&self) -> &[BriefEntry<'a>] {
        &self.entries
    }

    /// Returns what the block's documents cost.
    pub fn used(&self) -> Tokens {
        self.entries.iter().filter(|entry| entry.included().is_some()).map(|entry| entry.cost).sum()
    }

    /// Renders the block. A closed gate gives an empty text; any other empty brief has a header.
    pub fn block(&self) -> BriefBlock<'a> {
        match self.folder {
            Folder::GateClosed => BriefBlock::nothing(),
            Folder::Missing | Folder::Searched(_) => {
                BriefBlock::render(self.settings, &self.entries)
            }
        }
    }

    /// Returns the contract's log lines, in their order. A closed gate says nothing.
    pub fn log(&self) -> Vec<LogLine<'a>> {
        log::lines(self.settings, self.folder, &self.entries)
    }

    /// Returns a line for every dropped document.
    pub fn drops(&self) -> impl Iterator<Item = LogLine<'a>> {
        let dropped = |entry: &&BriefEntry<'a>| matches!(entry.fate, DocumentOutcome::Dropped(..));
        self.entries.iter().filter(dropped).map(|entry| LogLine::Dropped(entry.name))
    }
}

fn decide<'a>(
    settings: &BriefSettings,
    candidates: &'a [Candidate],
    tokenizer: &dyn Tokenizer,
) -> Vec<BriefEntry<'a>> {
    let mut entries: Vec<_> = candidates.iter().map(first_look).collect();
    let spec = entries.iter().position(|entry| entry.is_usable() && entry.name.is_spec());
    let protected = spec.or(entries.iter().position(BriefEntry::is_usable));
    let last = candidates.len().saturating_sub(1);
    let mut usable: Vec<_> =
        entries.iter_mut().enumerate().filter(|(_, entry)| entry.is_usable()).collect();
    let items: Vec<_> = usable
        .iter_mut()
        .filter_map(|(index, entry)| {
            let text = entry.included()?;
            entry.cost = tokenizer.count(text);
            let standing = if Some(*index) == protected {
                Importance::Protected
            } else if *index == last {
                Importance::Expendable
            } else {
                Importance::Ordinary
            };
            let borders = Accept::at_least(standing);
            Some(PackItem { text, cost: entry.cost, standing, borders })
        })
        .collect();
    let verdicts = pack(&items, settings.budget, settings.policy, tokenizer);
    for (((_, entry), item), verdict) in usable.into_iter().zip(&items).zip(verdicts) {
        entry.settle(item.text, verdict, tokenizer);
    }
    entries
}

/// Tells what a candidate would be if the budget were endless.
fn first_look(candidate: &Candidate) -> BriefEntry<'_> {
    let fate = match &candidate.finding {
        FileFinding::Absent => DocumentOutcome::Absent,
        FileFinding::Unreadable(reason) => DocumentOutcome::Unreadable(*reason),
        FileFinding::Text(content) if is_scaffold(content) => {
            DocumentOutcome::Scaffold(Text::new(content))
        }
        FileFinding::Text(content) => DocumentOutcome::Whole(Text::new(content)),
    };
    BriefEntry { name: &candidate.name, fate, cost: Tokens::default() }
}

impl<'a, N> BriefEntry<'a, N> {
    fn is_usable(&self) -> bool {
        matches!(self.fate, DocumentOutcome::Whole(_))
    }

    fn settle(&mut self, text: Text<'a>, verdict: PackOutcome, tokenizer: &dyn Tokenizer) {
        match verdict {
            PackOutcome::Whole => {}
            PackOutcome::Dropped(why) => self.fate = DocumentOutcome::Dropped(text, why),
            PackOutcome::Cut(cut) => {
                self.fate = DocumentOutcome::Cut(text, cut);
                self.cost = tokenizer.count(text.before(cut.at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::settings::{Configured, DesignDir, Layer};
    use super::*;
    use crate::token::{Budget, Estimate};

    const CHECKOUT: &str =
        "# Checkout\n\n## Goal\nOne-page checkout.\n\n## Frames\n- Cart\n- Pay\n";
    const NOTES: &str = "# Notes\n\nUsers leave at step 3.\n";

    fn text(name: &str, content: &str) -> Candidate {
        found(name, FileFinding::Text(content.to_owned()))
    }

    fn found(name: &str, finding: FileFinding) -> Candidate {
        Candidate { name: BriefName::parse(name).unwrap(), finding }
    }

    fn with_budget(tokens: u64) -> BriefSettings {
        Layer { budget: Budget::new(tokens), ..Layer::default() }.settle(Configured::Somewhere)
    }

    /// Assembles and returns the block and the log, one line each.
    fn assembled(settings: &BriefSettings, folder: &Folder) -> (String, String) {
        let brief = Brief::assemble(settings, folder, &Estimate);
        let log = brief.log().iter().map(|line| line.to_string() + "\n").collect();
        (brief.block().to_string(), log)
    }

    #[track_caller]
    fn check(settings: &BriefSettings, candidates: Vec<Candidate>, block: &str, log: &str) {
        let folder = Folder::Searched(candidates);
        assert_eq!(assembled(settings, &folder), (block.to_owned(), log.to_owned()));
    }

    // B-60..B-64, B-18: the byte-exact example A.
    #[test]
    fn a_block_cites_every_document_and_names_the_unreadable_one() {
        let candidates = vec![
            text("spec", CHECKOUT),
            found("system", FileFinding::Unreadable(Unreadable::PermissionDenied)),
            text("research", NOTES),
            found("pencil-plan", FileFinding::Absent),
        ];
        let block = "## Design Context (from .moai/design/)\n\n> source: .moai/design/spec.md\n\
            # Checkout\n\n## Goal\nOne-page checkout.\n\n## Frames\n- Cart\n- Pay\n\n\
            > source: .moai/design/research.md\n# Notes\n\nUsers leave at step 3.\n\n\
            > warnings: [system unreadable: permission denied]\n";
        assert_eq!(block.chars().count(), 254);
        let folder = Folder::Searched(candidates.clone());
        let settings = with_budget(20_000);
        assert_eq!(Brief::assemble(&settings, &folder, &Estimate).used().to_string(), "26.4");
        check(&settings, candidates, block, "");
    }

    // B-54, B-51: the byte-exact example B.
    #[test]
    fn a_cut_document_ends_in_its_marker() {
        let candidates = vec![text("spec", CHECKOUT), text("research", NOTES)];
        let block = "## Design Context (from .moai/design/)\n\n> source: .moai/design/spec.md\n\
            # Checkout\n\n> truncated: spec.md at char_offset=12\n";
        check(&with_budget(10), candidates, block, "");
    }

    // B-55
    #[test]
    fn without_room_the_protected_document_keeps_its_name() {
        let block = "## Design Context (from .moai/design/)\n\n> source: .moai/design/spec.md\n\
            \n\n> truncated: spec.md at char_offset=0\n";
        check(&with_budget(1), vec![text("spec", CHECKOUT)], block, "");
    }

    // B-29, B-70, B-12 and the log table: example C, and its order.
    #[test]
    fn scaffolds_are_logged_and_leave_only_the_header() {
        let settings = Layer::default().settle(Configured::Nowhere);
        let candidates =
            ["spec", "system", "research"].map(|name| text(name, "# A\n\n_TBD_\n")).to_vec();
        let log = "design_docs not configured — using defaults\n\
            skip: spec — _TBD_ only\nskip: system — _TBD_ only\nskip: research — _TBD_ only\n\
            design docs present but all are _TBD_ — no content loaded\n";
        check(&settings, candidates, "## Design Context (from .moai/design/)\n", log);
    }

    // B-72, B-64: unreadable documents do not hide that the readable ones are scaffold.
    #[test]
    fn a_scaffold_beside_an_unreadable_document_is_still_all_there_is() {
        let candidates = vec![
            found("spec", FileFinding::Unreadable(Unreadable::InvalidUtf8)),
            text("system", "_TBD_"),
        ];
        let block = "## Design Context (from .moai/design/)\n\n\
            > warnings: [spec unreadable: invalid utf-8]\n";
        let log = "skip: system — _TBD_ only\n\
            design docs present but all are _TBD_ — no content loaded\n";
        check(&with_budget(9), candidates, block, log);
    }

    // B-71: a folder without candidates, or with unreadable ones only, logs nothing.
    #[test]
    fn an_empty_folder_says_nothing() {
        let header = "## Design Context (from .moai/design/)\n";
        check(&with_budget(9), vec![found("spec", FileFinding::Absent)], header, "");
        let unreadable = vec![found("spec", FileFinding::Unreadable(Unreadable::Io))];
        let block = format!("{header}\n> warnings: [spec unreadable: i/o error]\n");
        check(&with_budget(9), unreadable, &block, "");
    }

    // B-10, B-12, B-13
    #[test]
    fn a_closed_gate_is_silent_and_a_missing_folder_is_not() {
        let settings = Layer::default().settle(Configured::Nowhere);
        assert_eq!(assembled(&settings, &Folder::GateClosed), (String::new(), String::new()));
        let log = "design_docs not configured — using defaults\ndesign docs not initialized — \
            run `convoke brief init` to create a design folder\n";
        let header = "## Design Context (from .moai/design/)\n";
        assert_eq!(assembled(&settings, &Folder::Missing), (header.to_owned(), log.to_owned()));
        let literal = BriefSettings { literal_source: true, ..settings };
        let (_, log) = assembled(&literal, &Folder::Missing);
        let original = "run /moai init or SPEC-DESIGN-DOCS-001 to create\n";
        assert!(log.ends_with(original), "{log}");
    }

    // B-61: only the last line endings go; everything else is the author's.
    #[test]
    fn a_body_keeps_every_byte_but_its_last_line_endings() {
        let candidates = vec![text("spec", "\u{feff}# A\r\n\r\n b \r\n\r\n\n")];
        let block = "## Design Context (from .moai/design/)\n\n> source: .moai/design/spec.md\n\
            \u{feff}# A\r\n\r\n b \n";
        check(&with_budget(9), candidates, block, "");
    }

    // B-62: the order of the list, for documents and for warnings.
    #[test]
    fn documents_and_warnings_come_in_priority_order() {
        let candidates = vec![
            found("zeta", FileFinding::Unreadable(Unreadable::IsADirectory)),
            text("b", "2"),
            text("a", "1"),
            found("eta", FileFinding::Unreadable(Unreadable::OutsideDir)),
        ];
        let block = "## Design Context (from .moai/design/)\n\n> source: .moai/design/b.md\n2\n\n\
            > source: .moai/design/a.md\n1\n\n\
            > warnings: [zeta unreadable: is a directory, eta unreadable: outside dir]\n";
        check(&with_budget(9), candidates, block, "");
    }

    // B-60, B-63: header and citation name the true folder unless the user wants the contract's words.
    #[test]
    fn another_folder_is_named_and_cited() {
        let cite = |dir: &str, literal| {
            let layer = Layer {
                dir: DesignDir::parse(dir),
                literal_source: Some(literal),
                ..Layer::default()
            };
            let folder = Folder::Searched(vec![text("spec", "x")]);
            assembled(&layer.settle(Configured::Somewhere), &folder).0
        };
        let block =
            |dir: &str| format!("## Design Context (from {dir}/)\n\n> source: {dir}/spec.md\nx\n");
        assert_eq!(cite("docs//", false), block("docs"));
        assert_eq!(cite("/", false), block(""));
        assert_eq!(cite("docs", true), block(".moai/design"));
    }

    // B-41: without `spec`, the first usable document is the one that is never dropped.
    #[test]
    fn the_first_usable_document_replaces_spec() {
        let candidates =
            vec![text("spec", "_TBD_"), text("system", CHECKOUT), text("research", NOTES)];
        let folder = Folder::Searched(candidates);
        let settings = with_budget(10);
        let brief = Brief::assemble(&settings, &folder, &Estimate);
        let fates: Vec<_> = brief.entries().iter().map(|entry| entry.fate).collect();
        assert!(matches!(
            fates[..],
            [DocumentOutcome::Scaffold(_), DocumentOutcome::Cut(..), DocumentOutcome::Dropped(..)]
        ));
    }

    // B-41: `spec` is never dropped, at any rank.
    #[test]
    fn spec_is_protected_below_another_document() {
        let folder = Folder::Searched(vec![text("system", CHECKOUT), text("spec", NOTES)]);
        let settings = with_budget(10);
        let brief = Brief::assemble(&settings, &folder, &Estimate);
        let fates: Vec<_> = brief.entries().iter().map(|entry| entry.fate).collect();
        assert!(
            matches!(fates[..], [DocumentOutcome::Dropped(..), DocumentOutcome::Whole(_)]),
            "{fates:?}"
        );
    }

    // B-33: citations, markers and warnings are free.
    #[test]
    fn only_documents_cost_tokens() {
        let folder = Folder::Searched(vec![
            text("spec", "abcd"),
            found("system", FileFinding::Unreadable(Unreadable::TooLarge)),
        ]);
        let settings = with_budget(2);
        let brief = Brief::assemble(&settings, &folder, &Estimate);
        assert_eq!(brief.used().to_string(), "1.1");
    }
}
