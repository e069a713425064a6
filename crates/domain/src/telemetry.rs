//! Telemetry: what Convoke tells an OpenTelemetry collector of its work, as values.
//!
//! A value holds numbers, names and codes. Prompts and answers are among them only where the user
//! switched `content` on.

pub mod lane;
pub mod metric;
pub mod names;
pub mod pairs;
pub mod span;
pub mod trace;
