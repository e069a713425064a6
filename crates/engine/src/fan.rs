//! Fan-outs: what their items say, the form of their answers, and their journals.

pub mod answer_schema;
pub mod codec;
pub mod fields;
pub mod journal;
