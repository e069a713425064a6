//! The walk, tried from beginning to end.

mod heavy;
mod nested;
mod whole_runs;
mod world;
