//! Whether the working tree is still as it was.

use super::ScriptReply;
use crate::session::Session;
use crate::tree::check_tree;

/// Checks the tree. A check never stops the watched program: the reply's reason reports an error.
pub fn dirty_tree(session: &Session, words: &[String]) -> ScriptReply {
    ScriptReply::text(check_tree(session, words).text(), 0)
}
