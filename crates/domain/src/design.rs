//! Designs: several agents plan one feature, and rules decide between them.
//!
//! Agents write text, and rules in this module read it. No word of an agent can become a vote, an
//! id or a line of another agent ([`quote`]). [`seat`] assigns agents to seats, [`progress`] and
//! [`board`] describe the progress through the steps, and [`prompt`] holds the prompt of every
//! seat.
//!
//! People answer the chair's questions ([`discussion`]). A point on which sketches differ is a
//! [`decision`]: two sides argue it ([`debate`]), judges vote without knowing who argued
//! ([`judge`]), and [`resolution`] records the result. Rules check the chair's [`plan`] and diagram
//! ([`mermaid`]). Reviewers' answers become remarks ([`review`]), equal remarks become one finding
//! ([`merge`]), and voters accept or reject each finding on a [`ballot`] ([`vote`], [`tally`],
//! [`outcome`]). Formats that other programs parse are exact to the byte. [`setup`] decides whether
//! a design may begin, and on which branch.
//!
//! Everything that happens to a design is an [`event`]. [`facts`] sorts the events, and [`walk`]
//! derives an [`outline`] from them, with the result of every phase and [`notice`]s. [`render`]
//! makes lines and files of these; Convoke never reads the rendered text back.

pub mod absence;
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
pub mod estimate;
pub mod event;
pub mod evidence;
pub mod export;
pub mod facts;
pub mod finding;
pub mod forecast;
mod given_material;
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
pub mod panel_verdict;
pub mod parts;
mod personality;
pub mod plan;
pub mod policy;
pub mod progress;
pub mod prompt;
pub mod question_id;
mod quorum;
pub mod quote;
pub mod reading_order;
pub mod recount;
pub mod render;
pub mod resolution;
pub mod review;
pub mod rules;
pub mod seat;
pub mod seat_name;
mod security;
pub mod settled;
pub mod setup;
pub mod sketch;
pub mod spoken;
pub mod tally;
pub mod timeline;
pub mod vote;
pub mod voting_block;
pub mod walk;
pub mod warning;
