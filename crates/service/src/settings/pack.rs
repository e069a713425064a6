//! The `[pack]` section.

use convoke_domain::token::Budget;

use super::files::settle_once;
use super::{Key, number, read_layers, whole};
use crate::failure::Failure;
use crate::session::Session;

/// The section's name.
pub const SECTION: &str = "pack";

/// A pack's budget in tokens, unless the user sets another.
const DEFAULT_BUDGET: u64 = 12_000;

/// The budget in tokens of the map for agents that read files, unless the user sets another. Every
/// prompt of a design has it, so it is small.
const DEFAULT_POINTERS: u64 = 2_000;

/// Everything decided about packs of the repository.
#[derive(Debug, Clone, Copy)]
pub struct PackSettings {
    /// The budget of `convoke pack`.
    pub budget: Budget,
    /// The budget of the pack for agents without tools in designs; without one, they get none.
    pub design_budget: Option<Budget>,
    /// The budget of the map for agents with tools in designs; without one, they get none.
    pub pointers_budget: Option<Budget>,
}

/// One place's opinion on these settings.
#[derive(Debug, Clone, Default)]
pub struct PackLayer {
    budget: Option<Budget>,
    design_budget: Option<u64>,
    pointers_budget: Option<u64>,
}

/// Every setting of packs.
pub const KEYS: [Key<PackLayer>; 3] = [
    Key {
        name: "budget",
        expected: "a whole number from 1 up",
        default: "12000",
        meaning: "the most tokens that `convoke pack` prints",
        from_text: number,
        set: |layer, value| {
            layer.budget = Some(Budget::new(whole(value)?)?);
            Some(())
        },
    },
    Key {
        name: "design_budget",
        expected: "a whole number from 0 up",
        default: "12000",
        meaning: "the most tokens of the repository that a design gives to an agent without tools \
                  (`http:NAME`) with each prompt; 0 gives none",
        from_text: number,
        set: |layer, value| {
            layer.design_budget = Some(whole(value)?);
            Some(())
        },
    },
    Key {
        name: "pointers_budget",
        expected: "a whole number from 0 up",
        default: "2000",
        meaning: "the most tokens of the map of the repository (tree and outlines) that a design gives \
                  to an agent with tools with each prompt; 0 gives none",
        from_text: number,
        set: |layer, value| {
            layer.pointers_budget = Some(whole(value)?);
            Some(())
        },
    },
];

/// Collects what environment and files say about packs.
pub fn settings(session: &Session) -> Result<PackSettings, Failure> {
    settle_once(&session.settings.files().pack, || settle(session))
}

fn settle(session: &Session) -> Result<PackSettings, Failure> {
    let layers = read_layers(session, SECTION, &KEYS)?;
    let budget = layers.iter().find_map(|layer| layer.budget);
    let design_budget = layers.iter().find_map(|layer| layer.design_budget);
    let pointers_budget = layers.iter().find_map(|layer| layer.pointers_budget);
    Ok(PackSettings {
        budget: budget.unwrap_or(Budget::at_least_one(DEFAULT_BUDGET)),
        design_budget: Budget::new(design_budget.unwrap_or(DEFAULT_BUDGET)),
        pointers_budget: Budget::new(pointers_budget.unwrap_or(DEFAULT_POINTERS)),
    })
}
