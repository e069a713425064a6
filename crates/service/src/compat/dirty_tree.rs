//! Whether the working tree is still as it was.

use super::ScriptReply;
use crate::session::Session;
use crate::tree::check_tree;

/// Looks at the tree. A check never stops what it watches: what is wrong is the reason in the answer.
pub fn dirty_tree(session: &Session, words: &[String]) -> ScriptReply {
    ScriptReply::text(check_tree(session, words).text(), 0)
}
