//! What the phases of a design leave beside their results: who wrote what, who voted how, and which
//! text a plan had before.
//!
//! Results say what holds; these facts say why. A report shows them to people, and no rule reads
//! them.

use std::sync::Arc;

use super::debate::{DebateFault, Defense};
use super::judge::{Judgement, OrderCheck};
use super::matter::MatterId;
use super::reading_order::ReadingOrder;
use super::seat::{Holder, Side};

/// A usable sketch, and who wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SketchEvidence {
    /// The seat's label.
    pub label: String,
    /// The agent whose seat it is.
    pub owner: Holder,
    /// The agent that wrote the sketch.
    pub runner: Holder,
    /// The sketch.
    pub text: Arc<str>,
}

/// One side of a debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefenseEvidence {
    /// Which option the debater defends.
    pub side: Side,
    /// The agent that wrote it.
    pub runner: Holder,
    /// The case, or its fault. A debater without an answer has no output.
    pub defense: Result<Defense, DebateFault>,
}

/// The debate on one decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebateEvidence {
    /// The decision's number.
    pub number: usize,
    /// The cases for the chosen option and for the alternative.
    pub sides: [DefenseEvidence; 2],
}

/// A judge's answer as Convoke read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeEvidence {
    /// The judge's label.
    pub label: String,
    /// The agent whose seat it is.
    pub owner: Holder,
    /// The agent that answered.
    pub runner: Holder,
    /// The order in which it read the ballot.
    pub order: ReadingOrder,
    /// The votes, or why none counts.
    pub judgement: Judgement,
    /// How far they hold in the reverse order; nothing if the judge read one order.
    pub order_check: Option<OrderCheck>,
}

/// Why the chair wrote a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanCause {
    /// It is the first one.
    Draft,
    /// The panel or a person accepted these.
    Matters(Vec<MatterId>),
    /// A person answered questions about the plan.
    Interview,
}

/// The text of a plan at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanVersion {
    /// Why the chair wrote it.
    pub cause: PlanCause,
    /// All of the plan, as the chair wrote it.
    pub text: Arc<str>,
}

/// All of it, in the order in which it came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DesignEvidence {
    /// The sketches that the synthesis was made of.
    pub sketches: Arc<[SketchEvidence]>,
    /// Both sides of each debated decision, in the order of decisions.
    pub debates: Arc<[DebateEvidence]>,
    /// The judges' answers.
    pub judges: Arc<[JudgeEvidence]>,
    /// Every plan that the run had, the first one first.
    pub plans: Vec<PlanVersion>,
}
