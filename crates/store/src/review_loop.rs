//! Stores loops of reviews, so that an interrupted one can continue.

use convoke_domain::dispatch::review_loop::LoopStop;
use convoke_domain::scope::Scope;
use jiff::Timestamp;

use crate::error::StoreError;

/// The reviews of one command on one feature.
#[derive(Debug, Clone, Copy)]
pub struct LoopName<'a> {
    /// The feature's folder name.
    pub feature: &'a str,
    /// The command whose reviewers answer.
    pub command: &'a str,
}

/// The usage of an answer, as far as the client reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnswerUsage {
    /// Tokens read.
    pub input: Option<u64>,
    /// Tokens written.
    pub output: Option<u64>,
    /// Money, in millionths of a dollar.
    pub micro_dollars: Option<u64>,
}

/// One answer in a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopEntry {
    /// The round; of a fix, the one that it comes after.
    pub iteration: u32,
    /// The role that answered.
    pub role: String,
    /// Whether a reviewer passed; `None` of a fix.
    pub passed: Option<bool>,
    /// The review as JSON, or what a fix says of itself.
    pub text: String,
    /// The answer's cost.
    pub spent: AnswerUsage,
    /// When.
    pub at: Timestamp,
}

/// Keeps loops of reviews. Forgetting a feature's rounds forgets these, too.
pub trait LoopStore {
    /// Keeps an answer, instead of one of the same role in the same round.
    fn keep_answer(
        &self,
        scope: &Scope,
        name: LoopName<'_>,
        entry: &LoopEntry,
    ) -> Result<(), StoreError>;

    /// Returns every answer, round by round: reviewers by name, then the fix.
    fn answers(&self, scope: &Scope, name: LoopName<'_>) -> Result<Vec<LoopEntry>, StoreError>;

    /// Keeps why a loop ended last.
    fn keep_stop(
        &self,
        scope: &Scope,
        name: LoopName<'_>,
        stop: LoopStop,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Returns why a loop ended last, if it has.
    fn last_stop(&self, scope: &Scope, name: LoopName<'_>) -> Result<Option<LoopStop>, StoreError>;
}
