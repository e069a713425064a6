//! Running agents: one supervised run of one client on one prompt.

pub mod adapter;
