//! Keeping what projects are called, and which repositories they are.

use convoke_domain::repository::RepositoryId;
use convoke_domain::task::id::TaskId;
use jiff::Timestamp;

use crate::error::StoreError;

/// A project that the store knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownProject {
    /// The name in mentions and all its rows.
    pub name: String,
    /// Its folder, or the folder of git's that all its worktrees share.
    pub path: String,
    /// Its repository; `None` if no command has found it out yet.
    pub repository: Option<RepositoryId>,
    /// When a command last worked there.
    pub last_used: Option<Timestamp>,
}

/// The most open tasks of a branch that are counted.
pub const MOST_COUNTED: u32 = 1000;

/// The records that moved from one project to another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MergedProject {
    /// How many tasks.
    pub tasks: usize,
    /// How many messages.
    pub messages: usize,
    /// How many rules of the user.
    pub pins: usize,
    /// How many agents, without those that the other project has, too.
    pub agents: usize,
    /// Ids that were taken, each with the branch and the id that its task has now.
    pub renamed: Vec<(String, TaskId, TaskId)>,
}

/// Stores a name for every project folder, and facts that identify its repository.
pub trait ProjectStore {
    /// Returns the name of the project in a folder. A folder that is new gets the wanted name, or,
    /// if another has it, that name with the next free number behind it.
    fn project_name(&self, path: &str, wanted: &str) -> Result<String, StoreError>;

    /// Returns every project, the last used first.
    fn projects(&self) -> Result<Vec<KnownProject>, StoreError>;

    /// Returns the repository of a project, if it was kept.
    fn repository_of(&self, project: &str) -> Result<Option<RepositoryId>, StoreError>;

    /// Keeps the repository of a project.
    fn keep_repository(&self, project: &str, id: &RepositoryId) -> Result<(), StoreError>;

    /// Keeps when a command worked in a project, to the hour.
    fn keep_use(&self, project: &str, now: Timestamp) -> Result<(), StoreError>;

    /// Counts the tasks of a project on all branches: all, and those that are open.
    fn count_tasks(&self, project: &str) -> Result<(u32, u32), StoreError>;

    /// Returns the project's branches with open tasks, by name, with how many, at most
    /// [`MOST_COUNTED`]. That takes no longer in a store of many tasks.
    fn open_branches(&self, project: &str) -> Result<Vec<(String, u32)>, StoreError>;

    /// Gives a project another folder. The records of the folder's own project become part of it.
    /// `NoProject` if no project has this name.
    fn attach_project(&self, project: &str, path: &str) -> Result<MergedProject, StoreError>;

    /// Moves all records of one project into another, in one transaction: tasks under new ids where
    /// theirs are taken. Where both have a record that can exist only once, such as an agent of one
    /// name, the other project's stays; messages that either had not seen stay unread. The first
    /// project stays, empty. Steps of its tasks cannot be undone any more.
    fn merge_projects(&self, from: &str, into: &str) -> Result<MergedProject, StoreError>;

    /// Forgets an empty project.
    fn forget_project(&self, project: &str) -> Result<(), StoreError>;
}
