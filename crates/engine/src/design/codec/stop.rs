//! Why a budget or a signal stopped a run, in the journal's form.

use convoke_domain::design::event::StopReason;
use convoke_domain::lane::budget::{LaneBudget, SpentAmount};
use convoke_domain::lane::budget_stop::BudgetStop;
use serde::{Deserialize, Serialize};

/// Why nothing more may be spent. Early journals have a sentence.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum BudgetReachedBody {
    Sentence { name: String },
    Fact(BudgetStopFact),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "budget", rename_all = "snake_case")]
pub(super) enum BudgetStopFact {
    Own(AmountBody),
    Around(AmountBody),
    Day { most: AmountLimit, spent: u64, is_partial: bool, running: usize },
    Unknown,
    Reported { words: String },
    Unstated,
}

#[derive(Serialize, Deserialize)]
pub(super) struct AmountBody {
    most: AmountLimit,
    spent: u64,
    is_partial: bool,
    /// Only where it is not zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    given_away: Option<u64>,
}

/// A budget with its unit.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AmountLimit {
    Tokens(u64),
    MicroDollars(u64),
}

impl From<LaneBudget> for AmountLimit {
    fn from(budget: LaneBudget) -> Self {
        match budget {
            LaneBudget::Tokens(most) => Self::Tokens(most),
            LaneBudget::MicroDollars(most) => Self::MicroDollars(most),
        }
    }
}

impl From<AmountLimit> for LaneBudget {
    fn from(limit: AmountLimit) -> Self {
        match limit {
            AmountLimit::Tokens(most) => Self::Tokens(most),
            AmountLimit::MicroDollars(most) => Self::MicroDollars(most),
        }
    }
}

impl From<SpentAmount> for AmountBody {
    fn from(amount: SpentAmount) -> Self {
        let SpentAmount { budget, spent, is_partial, given_away } = amount;
        let given_away = Some(given_away).filter(|given| *given > 0);
        Self { most: budget.into(), spent, is_partial, given_away }
    }
}

impl From<AmountBody> for SpentAmount {
    fn from(body: AmountBody) -> Self {
        let AmountBody { most, spent, is_partial, given_away } = body;
        let given_away = given_away.unwrap_or_default();
        Self { budget: most.into(), spent, is_partial, given_away }
    }
}

/// A stop as a fact, or the sentence that it is known by.
pub(super) fn budget_fact(stop: BudgetStop) -> Result<BudgetStopFact, String> {
    Ok(match stop {
        BudgetStop::Own(amount) => BudgetStopFact::Own(amount.into()),
        BudgetStop::Around(amount) => BudgetStopFact::Around(amount.into()),
        BudgetStop::Day { spent: SpentAmount { budget, spent, is_partial, .. }, running } => {
            BudgetStopFact::Day { most: budget.into(), spent, is_partial, running }
        }
        BudgetStop::Unknown => BudgetStopFact::Unknown,
        BudgetStop::Reported(words) => BudgetStopFact::Reported { words },
        BudgetStop::Unstated => BudgetStopFact::Unstated,
        BudgetStop::Sentence(sentence) => return Err(sentence),
    })
}

impl From<BudgetStopFact> for BudgetStop {
    fn from(fact: BudgetStopFact) -> Self {
        match fact {
            BudgetStopFact::Own(amount) => Self::Own(amount.into()),
            BudgetStopFact::Around(amount) => Self::Around(amount.into()),
            BudgetStopFact::Day { most, spent, is_partial, running } => {
                let amount = AmountBody { most, spent, is_partial, given_away: None };
                Self::Day { spent: amount.into(), running }
            }
            BudgetStopFact::Unknown => Self::Unknown,
            BudgetStopFact::Reported { words } => Self::Reported(words),
            BudgetStopFact::Unstated => Self::Unstated,
        }
    }
}

impl From<BudgetStop> for BudgetReachedBody {
    fn from(stop: BudgetStop) -> Self {
        budget_fact(stop).map_or_else(|name| Self::Sentence { name }, Self::Fact)
    }
}

impl From<BudgetReachedBody> for BudgetStop {
    fn from(body: BudgetReachedBody) -> Self {
        match body {
            BudgetReachedBody::Sentence { name } => Self::Sentence(name),
            BudgetReachedBody::Fact(fact) => fact.into(),
        }
    }
}

/// Why a run was interrupted. Early journals have a sentence.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum InterruptedBody {
    Sentence { name: String },
    Fact { by: InterruptedBy },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum InterruptedBy {
    Signal,
}

impl From<StopReason> for InterruptedBody {
    fn from(why: StopReason) -> Self {
        match why {
            StopReason::Signal => Self::Fact { by: InterruptedBy::Signal },
            StopReason::Sentence(name) => Self::Sentence { name },
        }
    }
}

impl From<InterruptedBody> for StopReason {
    fn from(body: InterruptedBody) -> Self {
        match body {
            InterruptedBody::Sentence { name } => Self::Sentence(name),
            InterruptedBody::Fact { by: InterruptedBy::Signal } => Self::Signal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode, encode};

    #[test]
    fn a_stop_is_read_as_it_was_written_and_an_early_journal_keeps_its_sentence() {
        for (kind, body) in [
            ("interrupted", r#"{"name":"stopped by a signal"}"#),
            ("interrupted", r#"{"by":"signal"}"#),
            ("budget_reached", r#"{"name":"the budget is spent: used 2 of 1 tokens"}"#),
            (
                "budget_reached",
                r#"{"budget":"own","most":{"tokens":1},"spent":2,"is_partial":false}"#,
            ),
            (
                "budget_reached",
                r#"{"budget":"around","most":{"micro_dollars":1},"spent":2,"is_partial":true}"#,
            ),
            (
                "budget_reached",
                r#"{"budget":"day","most":{"tokens":1},"spent":2,"is_partial":false,"running":3}"#,
            ),
            ("budget_reached", r#"{"budget":"unknown"}"#),
            ("budget_reached", r#"{"budget":"reported","words":"used 2 of 1 tokens"}"#),
            ("budget_reached", r#"{"budget":"unstated"}"#),
        ] {
            let event = decode(kind, body).unwrap();
            assert_eq!(encode(&event), (kind, body.to_owned()));
        }
        for (kind, wrong) in [
            ("interrupted", r#"{"by":"boredom"}"#),
            ("interrupted", "{}"),
            ("budget_reached", r#"{"budget":"own","most":{"tokens":1},"spent":2}"#),
            ("budget_reached", r#"{"budget":"bored"}"#),
        ] {
            assert!(decode(kind, wrong).is_err(), "{kind} {wrong}");
        }
    }
}
