//! Which injected texts an agent of Claude Code still has, by its transcript.

use std::path::Path;

use crate::transcript::injected::{
    InjectedTexts, MARK, answered_at, is, is_aside, read_lines, texts,
};

/// Reads which of Convoke's texts the agent still has.
pub(super) fn injected(transcript: &Path, from: u64) -> Option<InjectedTexts> {
    read_lines(transcript, from, line)
}

/// Text from hooks is an attachment; after the boundary of a compaction, the agent has nothing of
/// the text before it.
fn line(found: &mut InjectedTexts, line: &str) {
    if line.contains("\"compact_boundary\"") && is(line, "/subtype", "compact_boundary") {
        if !is_aside(line) {
            found.forget();
        }
    } else if line.contains(MARK) && is(line, "/attachment/type", "hook_additional_context") {
        found.gave(texts(line, "/attachment/content"));
    } else if line.contains("\"assistant\"") {
        found.answered(answered_at(line, "/type", "assistant"));
    }
}
