//! The working trees of the folders in which lanes run.

use std::path::Path;

use convoke_engine::git::branch::WorkTree;
use serde::Serialize;

use super::LiveLaneReport;

/// A working tree at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeNowReport {
    /// Whether it is as it was committed.
    pub state: TreeNowState,
    /// How many files are changed or new; nothing if git cannot tell.
    pub files: Option<usize>,
}

/// Whether a working tree is as it was committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TreeNowState {
    /// No file is changed or new.
    Clean,
    /// Some are.
    Changed,
    /// Git cannot tell, or there is no repository.
    NotWatched,
}

/// Asks git about the working tree of a folder. That takes longer than everything else of
/// [`super::now`], so a dashboard asks less often.
pub fn tree_of(folder: &Path) -> TreeNowReport {
    let changes = WorkTree::at(folder).ok().and_then(|tree| tree.changes());
    let files = changes.map(|lines| lines.lines().count());
    let state = match files {
        Some(0) => TreeNowState::Clean,
        Some(_) => TreeNowState::Changed,
        None => TreeNowState::NotWatched,
    };
    TreeNowReport { state, files }
}

/// Says of every lane what the working tree of its own folder is like: lanes of one project may work in
/// several worktrees.
pub fn with_trees(
    lanes: &mut [LiveLaneReport],
    tree: &mut dyn FnMut(&Path) -> Option<TreeNowReport>,
) {
    for lane in lanes {
        lane.tree = lane.folder.as_deref().and_then(&mut *tree);
    }
}
