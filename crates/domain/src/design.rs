//! Designs: several agents plan one feature, and rules decide between them.
//!
//! Agents write; nothing that they write is believed before it was read by a rule here, and none of
//! their words can become a vote, an id or a line of another agent ([`quote`]). [`seat`] says who
//! sits where, [`progress`] and [`board`] how the way through the steps is shown, and [`prompt`] what everybody is
//! asked.
//!
//! People settle what only they know ([`discussion`]). What sketches differ on is a [`decision`]; it
//! is argued by both sides ([`debate`]), judged without knowing who argued ([`judge`]) and recorded
//! ([`resolution`]). The chair's [`plan`] and diagram ([`mermaid`]) are checked. What reviewers
//! answer becomes remarks ([`review`]), what means the same becomes one finding ([`merge`]), and
//! voters decide on a [`ballot`] what is accepted ([`vote`], [`tally`], [`outcome`]). Formats that
//! other programs parse are exact to the byte. Whether a design may begin, and on which branch, is
//! decided in [`setup`].
//!
//! What happens to a design is an [`event`]; all events are [`facts`], and [`walk`] says what they come
//! to: an [`outline`] with the result of every phase, and [`notice`]s. [`render`] makes lines and files
//! of them, which nothing reads back.

mod afterthought;
pub mod anonymity;
pub mod aside;
pub mod ballot;
mod block;
pub mod board;
pub mod bucket;
pub mod citation;
mod correction;
pub mod debate;
pub mod decision;
pub mod design_file;
pub mod discussion;
mod disowned;
pub mod event;
pub mod facts;
pub mod finding;
pub mod forecast;
pub mod heavy;
pub mod judge;
pub mod lane_id;
pub mod mark;
pub mod matter;
pub mod merge;
pub mod mermaid;
pub mod notice;
pub mod outcome;
pub mod outline;
pub mod parts;
mod personality;
pub mod plan;
pub mod policy;
pub mod progress;
pub mod prompt;
pub mod question_id;
pub mod quote;
pub mod render;
pub mod resolution;
pub mod review;
pub mod rules;
pub mod seat;
pub mod seat_name;
mod security;
pub mod session_env;
pub mod setup;
pub mod sketch;
pub mod spoken;
pub mod tally;
pub mod vote;
pub mod voting_block;
pub mod walk;
