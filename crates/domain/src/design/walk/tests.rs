//! The walk, tried from beginning to end.

mod adaptive;
mod ballots;
mod both_orders;
mod citations;
mod cut_off;
mod evidence;
mod heavy;
mod interview;
mod nested;
mod repository;
mod rulings;
mod run;
mod slips;
mod warnings;
mod whole_runs;
mod world;
