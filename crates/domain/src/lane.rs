//! Lanes: one supervised run of one agent on one prompt.
//!
//! A client's exit code alone does not show whether it succeeded. [`event`] lists a client's
//! messages, [`outcome`] derives the lane's outcome from them, [`collected`] gives the same in the
//! words of scripts that collect many lanes, and [`ledger`] is the stored record; [`queue`] chooses
//! which waiting lane starts next.

pub mod agent_word;
pub mod around;
pub mod budget;
pub mod budget_stop;
pub mod collected;
pub mod counted;
pub mod event;
pub mod forecast;
pub mod groups;
pub mod health;
pub mod ledger;
pub mod outcome;
pub mod outlook;
mod process_end;
pub mod queue;
pub mod reservation;
pub mod reset;
pub mod substance;
pub mod unanswered;
