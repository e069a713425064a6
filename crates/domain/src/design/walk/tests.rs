//! The walk, tried from beginning to end.

mod whole_runs;
mod world;
