//! The walk, tried from beginning to end.

mod nested;
mod whole_runs;
mod world;
