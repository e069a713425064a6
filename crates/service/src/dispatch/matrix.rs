//! The ledger of dispatches as one table for each feature: rounds of roles against the documents that they
//! had to read.

use std::collections::BTreeMap;

use convoke_domain::dispatch::rate::{DispatchMode, LedgerEntry};
use convoke_domain::dispatch::resume::FreshReason;
use convoke_domain::token::Estimate;
use serde::Serialize;

use super::rate::{DispatchRateReport, ledger_rates};
use crate::failure::Failure;
use crate::receipt::{ReceiptReport, ReceiptStanding};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// How many rounds of a feature are listed, the last ones.
const MOST_ROUNDS: usize = 100;

/// How many features are listed, the last ones.
const MOST_FEATURES: usize = 20;

/// The dispatches of a project, by feature.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DispatchMatrixReport {
    /// The features, the one that was dispatched last first.
    pub features: Vec<FeatureMatrixReport>,
    /// How many features are not listed.
    pub left_out: usize,
    /// How often roles did not confirm, or did not prove, that they read.
    pub rates: DispatchRateReport,
}

/// The rounds of a feature.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FeatureMatrixReport {
    /// The feature's folder name.
    pub feature: String,
    /// The documents that some round required.
    pub documents: Vec<String>,
    /// The rounds, oldest first.
    pub rounds: Vec<MatrixRoundReport>,
    /// How many earlier rounds are not listed.
    pub left_out: usize,
}

/// One round of a role.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatrixRoundReport {
    /// The command that dispatched the role.
    pub command: String,
    /// The role's name, without its command.
    pub role: String,
    /// The round, from one.
    pub iteration: u32,
    /// `fresh`, `resume`, or `fallback`: fresh, because the session could not be resumed.
    pub mode: &'static str,
    /// Why, as a word for programs; nothing if the ledger does not know.
    pub reason: Option<String>,
    /// Why, in words.
    pub why: Option<&'static str>,
    /// `PASS`, `FAIL`, `UNPROVEN` or `AMBIGUOUS`; nothing where no review was expected, or the ledger does
    /// not know.
    pub verdict: Option<String>,
    /// How long the prompt was, in characters.
    pub prompt_chars: Option<u64>,
    /// How much shorter a resumed round's prompt was than a whole one, in characters.
    pub saved_chars: Option<u64>,
    /// About how many tokens that are.
    pub saved_tokens: Option<u64>,
    /// Whether the answer confirms reading; nothing where the prompt required none.
    pub confirmed: Option<bool>,
    /// When it was checked.
    pub at: String,
    /// The documents of the round, and what is known of each.
    pub receipts: BTreeMap<String, MatrixReceiptReport>,
}

/// What is known about the reading of a document in a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatrixReceiptReport {
    /// How much of it the agent read.
    pub state: MatrixReceiptState,
    /// Whether the answer names the document as read.
    pub is_named: bool,
    /// The evidence: lines and calls. Nothing without a record, and for rounds of earlier versions.
    pub receipt: Option<ReceiptReport>,
}

/// How much of a document the agent read before its answer, by the client's own record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MatrixReceiptState {
    /// Every line.
    Whole,
    /// Some of its lines.
    Part,
    /// A text that differs from the document at the time of the check.
    Older,
    /// All of it in an earlier round of the session, and not again.
    Earlier,
    /// It may have: the record does not tell.
    InDoubt,
    /// Nothing.
    NotRead,
    /// Unknown: the client left no record.
    NoRecord,
}

/// Returns the dispatches of the project, by feature.
pub fn dispatch_matrix(session: &Session) -> Result<DispatchMatrixReport, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    let ledger = store.ledger(&scope.project).map_err(refused)?;
    let mut features: Vec<(String, Vec<LedgerEntry>)> = Vec::new();
    for entry in ledger {
        let known = features.iter().position(|(feature, _)| *feature == entry.feature);
        let mut group = known
            .map_or_else(|| (entry.feature.clone(), Vec::new()), |place| features.remove(place));
        group.1.push(entry);
        // The feature of the newest entry is the last.
        features.push(group);
    }
    let left_out = features.len().saturating_sub(MOST_FEATURES);
    let shown = features.into_iter().rev().take(MOST_FEATURES);
    Ok(DispatchMatrixReport {
        features: shown.map(|(name, entries)| FeatureMatrixReport::new(name, &entries)).collect(),
        left_out,
        rates: ledger_rates(session, None)?,
    })
}

impl FeatureMatrixReport {
    fn new(feature: String, entries: &[LedgerEntry]) -> Self {
        let mut full: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        let mut rounds = Vec::new();
        for entry in entries {
            let post = (entry.command.as_str(), entry.role.as_str());
            let saved = match (entry.mode, entry.prompt_chars) {
                (DispatchMode::Resume, Some(chars)) => {
                    let whole = entry.fresh_chars.or_else(|| full.get(&post).copied());
                    whole.map(|whole| whole.saturating_sub(chars))
                }
                (DispatchMode::Fresh | DispatchMode::Fallback, Some(chars)) => {
                    full.insert(post, chars);
                    None
                }
                (_, None) => None,
            };
            rounds.push(MatrixRoundReport::new(entry, saved));
        }
        let left_out = rounds.len().saturating_sub(MOST_ROUNDS);
        let rounds = rounds.split_off(left_out);
        let mut documents: Vec<String> = Vec::new();
        for name in rounds.iter().flat_map(|round| round.receipts.keys()) {
            if !documents.contains(name) {
                documents.push(name.clone());
            }
        }
        Self { feature, documents, rounds, left_out }
    }
}

impl MatrixRoundReport {
    fn new(entry: &LedgerEntry, saved_chars: Option<u64>) -> Self {
        // Receipts of a version that wrote them otherwise are as good as none.
        let kept = entry.receipts.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let kept: Vec<ReceiptReport> = kept.unwrap_or_default();
        let receipt = |name: &String| {
            let receipt = kept.iter().find(|receipt| receipt.name == *name);
            let state = MatrixReceiptState::of(entry, name, receipt);
            let is_named = entry.confirmed.is_some() && !entry.missing.contains(name);
            (name.clone(), MatrixReceiptReport { state, is_named, receipt: receipt.cloned() })
        };
        let tokens = |chars: u64| {
            let tenths = Estimate::of_chars(usize::try_from(chars).unwrap_or(usize::MAX)).tenths();
            tenths / 10
        };
        Self {
            command: entry.command.clone(),
            role: entry.role.clone(),
            iteration: entry.iteration,
            mode: entry.mode.name(),
            reason: entry.reason.clone(),
            why: entry.reason.as_deref().and_then(why),
            verdict: entry.verdict.clone(),
            prompt_chars: entry.prompt_chars,
            saved_chars,
            saved_tokens: saved_chars.map(tokens),
            confirmed: entry.confirmed,
            at: entry.at.to_string(),
            receipts: entry.artifacts.iter().map(receipt).collect(),
        }
    }
}

/// Says why a session was resumed or not.
fn why(reason: &str) -> Option<&'static str> {
    match reason {
        "final_round" => Some("this is the final round"),
        "within_guard" => Some("the change is small enough"),
        name => FreshReason::parse(name).map(FreshReason::words),
    }
}

impl MatrixReceiptState {
    /// Returns the state by the receipt; without one, by the lists that every entry has.
    fn of(entry: &LedgerEntry, name: &String, receipt: Option<&ReceiptReport>) -> Self {
        let Some(receipt) = receipt else {
            return match &entry.unproven {
                _ if entry.proven.contains(name) => Self::Whole,
                None => Self::NoRecord,
                Some(refuted) if refuted.contains(name) => Self::NotRead,
                Some(_) => Self::InDoubt,
            };
        };
        match receipt.standing {
            ReceiptStanding::Whole => Self::Whole,
            ReceiptStanding::Part => Self::Part,
            ReceiptStanding::Older => Self::Older,
            ReceiptStanding::Earlier => Self::Earlier,
            ReceiptStanding::Unsure | ReceiptStanding::Forgotten => Self::InDoubt,
            ReceiptStanding::OnlySubagent
            | ReceiptStanding::OnlyAfterAnswer
            | ReceiptStanding::OnlyNamesake
            | ReceiptStanding::NotRead => Self::NotRead,
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;

    fn entry(receipts: Option<String>) -> LedgerEntry {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        LedgerEntry {
            feature: "001-login".to_owned(),
            command: "implement".to_owned(),
            role: "security-reviewer".to_owned(),
            iteration: 1,
            mode: DispatchMode::Fresh,
            prompt_chars: Some(1000),
            artifacts: names(&["prd.md", "spec.md", "design.md"]),
            confirmed: Some(true),
            missing: names(&["design.md"]),
            unproven: Some(names(&["design.md"])),
            proven: names(&["prd.md"]),
            receipts,
            verdict: Some("PASS".to_owned()),
            reason: Some("first_iteration".to_owned()),
            fresh_chars: Some(1000),
            at: Timestamp::UNIX_EPOCH,
        }
    }

    fn states(entry: &LedgerEntry) -> Vec<(String, MatrixReceiptState)> {
        let round = MatrixRoundReport::new(entry, None);
        round.receipts.into_iter().map(|(name, receipt)| (name, receipt.state)).collect()
    }

    // D-52: the ledger of an earlier version has no receipts, and its lists still tell three states.
    #[test]
    fn an_entry_without_receipts_shows_what_its_lists_tell() {
        use MatrixReceiptState::{InDoubt, NoRecord, NotRead, Whole};
        for receipts in [None, Some("not JSON".to_owned()), Some("[{\"name\":7}]".to_owned())] {
            let found = states(&entry(receipts)).into_iter().map(|(_, state)| state);
            assert_eq!(found.collect::<Vec<_>>(), [NotRead, Whole, InDoubt]);
        }
        let plain = LedgerEntry { unproven: None, ..entry(None) };
        let found = states(&plain).into_iter().map(|(_, state)| state);
        assert_eq!(found.collect::<Vec<_>>(), [NoRecord, Whole, NoRecord]);
    }

    // D-52: each state of a receipt is one of the matrix, and only a whole reading is `whole`.
    #[test]
    fn every_receipt_has_its_state_in_the_matrix() {
        for (standing, expected) in [
            ("whole", "whole"),
            ("part", "part"),
            ("older", "older"),
            ("earlier", "earlier"),
            ("unsure", "in_doubt"),
            ("forgotten", "in_doubt"),
            ("only_subagent", "not_read"),
            ("only_after_answer", "not_read"),
            ("only_namesake", "not_read"),
            ("not_read", "not_read"),
        ] {
            let kept = json!([{"name": "prd.md", "standing": standing, "proof": "in_doubt",
                "lines": ["1-6"], "of": 9, "namesake": null, "doubt": null, "sha256": null,
                "shown_by": [{"call": "head -6 prd.md", "lines": "1-6"}]}]);
            let round = MatrixRoundReport::new(&entry(Some(kept.to_string())), None);
            let cell = serde_json::to_value(&round.receipts["prd.md"]).unwrap();
            assert_eq!(cell["state"], expected, "{standing}");
            assert_eq!(cell["receipt"]["shown_by"][0]["call"], "head -6 prd.md");
        }
    }

    // D-52: a resumed prompt is measured against the whole prompt of its own round.
    #[test]
    fn a_resumed_round_says_what_it_saved() {
        let first = entry(None);
        let resumed = LedgerEntry {
            iteration: 2,
            mode: DispatchMode::Resume,
            prompt_chars: Some(200),
            reason: Some("within_guard".to_owned()),
            fresh_chars: Some(1400),
            ..entry(None)
        };
        let earlier = LedgerEntry { fresh_chars: None, reason: None, ..resumed.clone() };
        let feature = FeatureMatrixReport::new("f".to_owned(), &[first, resumed, earlier]);
        let told = |round: &MatrixRoundReport| (round.saved_chars, round.saved_tokens, round.why);
        assert_eq!(told(&feature.rounds[0]), (None, None, Some("this is the first round")));
        let why = Some("the change is small enough");
        assert_eq!(told(&feature.rounds[1]), (Some(1200), Some(330), why));
        assert_eq!(told(&feature.rounds[2]), (Some(800), Some(220), None));
    }
}
