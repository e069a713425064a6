//! The example that a design is rehearsed with, as it is shipped: a project, and what agents answer
//! about it.

/// Names a file of the rehearsal and holds its text.
macro_rules! file {
    ($path:literal) => {
        ($path, include_str!(concat!("../../rehearsal/", $path)))
    };
}

mod files;

pub use self::files::FILES;

/// The feature to design.
pub const FEATURE: &str = include_str!("../rehearsal/feature.txt");

/// The author's answers to the design's questions: `1d/2: the answer`, one a line.
pub const REPLIES: &str = include_str!("../rehearsal/replies.txt");

/// Returns the lane whose answer a file holds.
pub fn lane(path: &str) -> Option<&str> {
    path.strip_prefix("answers/")?.strip_suffix(".md")
}

/// Splits an answer's file into its header and the answer.
pub fn parts(text: &str) -> (&str, &str) {
    let parts = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    parts.unwrap_or(("", text))
}

/// Returns every answer, with its lane.
pub fn answers() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.into_iter().filter_map(|(path, text)| Some((lane(path)?, parts(text).1)))
}
