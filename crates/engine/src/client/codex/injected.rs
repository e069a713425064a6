//! Which injected texts an agent of Codex still has, by its rollout file.

use std::path::Path;

use crate::transcript::injected::{InjectedTexts, MARK, answered_at, is, read_lines, texts};

/// Reads which of Convoke's texts the agent still has.
pub(super) fn injected(transcript: &Path, from: u64) -> Option<InjectedTexts> {
    read_lines(transcript, from, line)
}

/// Text from hooks is a developer's message of its own kind; a compaction leaves a record. Codex calls
/// the hook of a compaction together with that of the next prompt, so the record tells a prompt nothing
/// about whether that hook will still answer.
fn line(found: &mut InjectedTexts, line: &str) {
    const KIND: &str = "/payload/internal_chat_message_metadata_passthrough/content_item_kinds/0";
    if line.contains("\"compacted\"") && is(line, "/type", "compacted") {
        *found = InjectedTexts::default();
    } else if line.contains(MARK) && is(line, KIND, "hooks.additional_context") {
        found.gave(texts(line, "/payload/content"));
    } else if line.contains("\"assistant\"") {
        found.answered(answered_at(line, "/payload/role", "assistant"));
    }
}
