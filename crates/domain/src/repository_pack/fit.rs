//! What of a repository fits into a budget: the tree, texts of the best files, outlines of the next.

mod texts;

use std::collections::BTreeSet;

pub(super) use self::texts::fence_word;
use self::texts::{SourceText, choose_outline, choose_parts};
use super::definition::LineRange;
use super::query::FeatureQuery;
use super::rank::{InclusionReason, RankedFile};
use super::render::{FilePiece, frame, outline, pieces};
use super::tree;
use crate::text::Text;
use crate::token::{Budget, Tokenizer, Tokens};

/// What an agent gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackLayout {
    /// Tree, texts and outlines: for agents that cannot read files.
    Texts,
    /// Tree and outlines: for agents that can.
    Pointers,
}

impl PackLayout {
    /// Returns the word users read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Texts => "texts",
            Self::Pointers => "pointers",
        }
    }
}

/// A file that may be packed.
#[derive(Debug, Clone, Copy)]
pub struct PackSource<'a> {
    /// Its path below the project.
    pub path: &'a str,
    /// Its text; `None` if it has none to give.
    pub text: Option<&'a str>,
}

/// A file of a pack.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedFile {
    /// Which of the sources it is.
    pub index: usize,
    /// Its place in the ranking, counted from 1.
    pub rank: usize,
    percent: u32,
    /// Why it is in.
    pub reasons: Vec<InclusionReason>,
    /// Lines whose text is in.
    pub ranges: Vec<LineRange>,
    /// Other lines that are in, as an outline.
    pub outline: Vec<usize>,
    /// Lines of the whole file.
    pub lines: usize,
}

impl PackedFile {
    /// Returns how much the file matters, in percent of the best one.
    pub const fn percent(&self) -> u32 {
        self.percent
    }
}

fn percent_of(score: f64, best: f64) -> u32 {
    let percent = |step: &u32| f64::from(*step) * best <= 100.0 * score;
    (1..=100).take_while(percent).last().unwrap_or(0)
}

/// A repository within a budget.
#[derive(Debug, Clone)]
pub struct RepositoryPack {
    /// The text for an agent.
    pub block: String,
    /// What it costs.
    pub used: Tokens,
    /// The files whose lines are in it, the most important first.
    pub files: Vec<PackedFile>,
}

/// The budget is smaller than the shortest pack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot pack a repository within a budget of {budget}: its headings cost {frame} tokens")]
pub struct PackFrameTooLarge {
    /// The requested budget.
    pub budget: u64,
    /// The cost of the shortest pack.
    pub frame: Tokens,
}

/// What is packed, and how.
#[derive(Debug, Clone, Copy)]
pub struct FitRequest<'a> {
    /// The feature.
    pub query: &'a FeatureQuery,
    /// Every file of the repository.
    pub sources: &'a [PackSource<'a>],
    /// Their order, the most important first.
    pub ranked: &'a [RankedFile],
    /// How rare each word of the feature is.
    pub rarity: &'a [f64],
    /// What the agent gets.
    pub layout: PackLayout,
    /// The most tokens that the block may cost.
    pub budget: Budget,
}

/// The tree's part of the room, in percent, and its largest cost.
const TREE_PERCENT: u64 = 12;
const MOST_TREE: u64 = 2_000;

/// The room of outlines: a number of tokens, and a part of the rest in percent. Texts have the rest, and
/// what outlines leave.
const OUTLINE_TOKENS: u64 = 1_200;
const OUTLINE_PERCENT: u64 = 16;

/// A file's text takes at most this part of the rest of the room, in percent.
const FILE_PERCENT: u64 = 20;

/// Less room than this, in tokens, holds no text worth its citation.
const LEAST_TEXT: u64 = 60;

/// Files that matter less than this part of the best one are left out.
const LEAST_SHARE: f64 = 0.02;

/// Packs a repository. The block costs at most the budget.
pub fn fit(
    request: &FitRequest<'_>,
    tokenizer: &dyn Tokenizer,
) -> Result<RepositoryPack, PackFrameTooLarge> {
    const TRIES: usize = 12;
    let limit = request.budget.tokens();
    let mut room = limit;
    for _ in 0..TRIES {
        let pack = assemble(request, room, tokenizer);
        if pack.used <= limit {
            return Ok(pack);
        }
        // Texts cost a little more together than apart.
        let over = pack.used.less(limit).tenths().max(limit.tenths() / 200).max(10);
        room = room.less(Tokens::from_tenths(over));
    }
    let least = assemble(request, Tokens::default(), tokenizer);
    if least.used <= limit {
        return Ok(least);
    }
    Err(PackFrameTooLarge { budget: request.budget.get(), frame: least.used })
}

fn percent(room: Tokens, percent: u64) -> Tokens {
    Tokens::from_tenths(room.tenths().saturating_mul(percent) / 100)
}

fn assemble(request: &FitRequest<'_>, room: Tokens, tokenizer: &dyn Tokenizer) -> RepositoryPack {
    let weights = weights(request);
    let tree_room = percent(room, TREE_PERCENT).min(Tokens::whole(MOST_TREE));
    let listed: Vec<_> = request
        .sources
        .iter()
        .zip(&weights)
        .map(|(source, weight)| (source.path, *weight))
        .collect();
    let tree = tree::draw(&listed, tree_room, tokenizer);
    let headings = frame(request.layout, request.sources.len());
    let fixed = tokenizer.count(Text::new(&headings.join(&tree, "", "")));
    let mut fitting = Fitting {
        request,
        tokenizer,
        left: room.less(fixed),
        files: Vec::new(),
        taken: BTreeSet::new(),
    };
    let relevant = fitting.relevant();
    if request.layout == PackLayout::Texts {
        let outlines = percent(fitting.left, OUTLINE_PERCENT) + Tokens::whole(OUTLINE_TOKENS);
        let kept = outlines.min(percent(fitting.left, 50));
        fitting.left = fitting.left.less(kept);
        fitting.add_texts(&relevant);
        fitting.left += kept;
    }
    fitting.add_outlines(&relevant);
    let mut files = fitting.files;
    files.sort_by_key(|file| file.rank);
    let with_texts = files.iter().filter(|file| !file.ranges.is_empty());
    let texts: String = with_texts.map(|file| pieces(&piece(request, file))).collect();
    let without = files.iter().filter(|file| file.ranges.is_empty());
    let outlines: String = without.map(|file| outline(&piece(request, file))).collect();
    let block = headings.join(&tree, &texts, &outlines);
    let used = tokenizer.count(Text::new(&block));
    RepositoryPack { block, used, files }
}

fn piece<'a>(request: &FitRequest<'a>, file: &'a PackedFile) -> FilePiece<'a> {
    let source = &request.sources[file.index];
    FilePiece { path: source.path, text: source.text.unwrap_or_default(), file }
}

/// Returns each file's weight in the tree: its score.
fn weights(request: &FitRequest<'_>) -> Vec<f64> {
    let mut weights = vec![0.0; request.sources.len()];
    for file in request.ranked {
        weights[file.index] = file.score;
    }
    weights
}

struct Fitting<'r, 'a> {
    request: &'r FitRequest<'a>,
    tokenizer: &'r dyn Tokenizer,
    left: Tokens,
    files: Vec<PackedFile>,
    /// Files whose text is in.
    taken: BTreeSet<usize>,
}

impl<'a> Fitting<'_, 'a> {
    /// Returns the files that matter and have a text, with their places.
    fn relevant(&self) -> Vec<(usize, &'a RankedFile)> {
        let ranked = self.request.ranked;
        let best = ranked.first().map_or(0.0, |file| file.score);
        let matters = |file: &RankedFile| {
            let has_text =
                self.request.sources[file.index].text.is_some_and(|text| !text.is_empty());
            has_text && file.score > best * LEAST_SHARE
        };
        (1..).zip(ranked).filter(|(_, file)| matters(file)).collect()
    }

    fn new_file(&self, rank: usize, ranked: &RankedFile, lines: usize) -> PackedFile {
        let best = self.request.ranked.first().map_or(1.0, |file| file.score);
        PackedFile {
            index: ranked.index,
            rank,
            percent: percent_of(ranked.score, best),
            reasons: ranked.reasons.clone(),
            ranges: Vec::new(),
            outline: Vec::new(),
            lines,
        }
    }

    /// Adds texts of files that have none yet, in their order, while there is room.
    fn add_texts(&mut self, relevant: &[(usize, &'a RankedFile)]) {
        for (rank, ranked) in relevant {
            if self.left < Tokens::whole(LEAST_TEXT) {
                break;
            }
            if self.taken.contains(&ranked.index) {
                continue;
            }
            let source = SourceText::of(self.request, ranked.index);
            let most = percent(self.left, FILE_PERCENT).max(Tokens::whole(4 * LEAST_TEXT));
            let most = most.min(self.left);
            let ranges = choose_parts(&source, most, self.tokenizer);
            if ranges.is_empty() {
                continue;
            }
            let mut file = self.new_file(*rank, ranked, source.lines.len());
            file.ranges = ranges;
            let cost = self.cost(&pieces(&piece(self.request, &file)));
            if cost > self.left {
                continue;
            }
            self.left = self.left.less(cost);
            self.put(file);
        }
    }

    /// Adds outlines of files that are not in yet, in their order, while there is room.
    fn add_outlines(&mut self, relevant: &[(usize, &'a RankedFile)]) {
        const MOST_MISSES: usize = 20;
        let mut misses = 0;
        for (rank, ranked) in relevant {
            if self.taken.contains(&ranked.index) {
                continue;
            }
            let source = SourceText::of(self.request, ranked.index);
            let mut file = self.new_file(*rank, ranked, source.lines.len());
            file.outline = choose_outline(&source, self.request.layout);
            let cost = self.cost(&outline(&piece(self.request, &file)));
            if cost > self.left {
                misses += 1;
                if misses > MOST_MISSES {
                    break;
                }
                continue;
            }
            self.left = self.left.less(cost);
            self.files.push(file);
        }
    }

    fn cost(&self, text: &str) -> Tokens {
        self.tokenizer.count(Text::new(text))
    }

    /// Puts a file in; its text takes the place of its outline.
    fn put(&mut self, file: PackedFile) {
        self.taken.insert(file.index);
        let known = self.files.iter().position(|known| known.index == file.index);
        if let Some(at) = known {
            let before = self.files.swap_remove(at);
            self.left += self.cost(&outline(&piece(self.request, &before)));
        }
        self.files.push(file);
    }
}
