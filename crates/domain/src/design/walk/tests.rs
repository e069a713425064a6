//! The walk, tried from beginning to end.

mod cut_off;
mod heavy;
mod interview;
mod nested;
mod slips;
mod warnings;
mod whole_runs;
mod world;
