//! Lanes: one supervised run of one agent on one prompt.
//!
//! A client says many things while it runs and while it fails, and its exit code is not to be
//! believed. [`event`] is what it can say, [`outcome`] what came of it all, [`collected`] the same in
//! the words of whoever asked many, and [`ledger`] what is kept of it; [`queue`] says who of many is
//! started next.

pub mod budget;
pub mod collected;
pub mod counted;
pub mod event;
pub mod forecast;
pub mod health;
pub mod ledger;
pub mod outcome;
pub mod outlook;
pub mod queue;
pub mod substance;
