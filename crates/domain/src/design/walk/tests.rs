//! The walk, tried from beginning to end.

mod ballots;
mod cut_off;
mod heavy;
mod interview;
mod nested;
mod rulings;
mod run;
mod slips;
mod warnings;
mod whole_runs;
mod world;
