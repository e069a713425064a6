//! Designs: several agents sketch, debate, write and review a plan, and votes decide.
//!
//! These are the rules that a run is made of: what agents' answers mean ([`quote`] keeps them from
//! meaning more), how votes are counted, and which files come out. Formats that other programs
//! parse are exact to the byte.

pub mod quote;
