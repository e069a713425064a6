//! What a user does about each error of a store.

use super::StoreError;

const BY_FORCE: &str = "`--force` removes it: its tasks become unassigned, its messages stay";
const CORRECT_ADDRESS: &str = "correct CONVOKE_STORE, or `store.path` in your configuration";
const TO_A_SERVER: &str = "copy it to one with `convoke store move --to postgres://USER@HOST/DATABASE`, name \
     that with CONVOKE_STORE or `store.path`, and run `convoke team init`";
const WITH_SERVERS: &str = "install a package of Convoke, which has it, or build it with the backend: \
     `cargo install --locked --path crates/app --features postgres`";

impl StoreError {
    /// Returns the user's next step, if Convoke knows one.
    #[expect(clippy::too_many_lines, reason = "one table: each error and its next step")]
    pub fn hint(&self) -> Option<&'static str> {
        let trouble = match self {
            Self::Address { .. } => return Some(CORRECT_ADDRESS),
            Self::NoServers => return Some(WITH_SERVERS),
            Self::Newer { .. } => {
                return Some("update convoke, or name another store with CONVOKE_STORE");
            }
            Self::Older { .. } => return Some("run `convoke status`, which updates the store"),
            Self::NoTask { .. } => return Some("run `convoke task tree` to list the tasks"),
            Self::Taken { .. } => return Some("run the command again"),
            Self::NoAgent { .. } => {
                return Some("run `convoke agent list`, or add it with `convoke agent add`");
            }
            Self::AgentExists { .. } => {
                return Some("choose another name; `convoke agent list` shows those in use here");
            }
            Self::AgentBusy { .. } => return Some(BY_FORCE),
            Self::Folder { .. } => return Some("name another store with CONVOKE_STORE"),
            Self::ManyRuns { .. } => return Some("type more of the id"),
            Self::OutOfTurn { .. } => {
                return Some("another process works on this run; wait until it has finished");
            }
            Self::NoRun { .. } => return Some("see `convoke runs`"),
            Self::NoProject { .. } => {
                return Some("run `convoke project list` to see all projects");
            }
            Self::SameProject { .. } => {
                return Some("run it in the folder of the project that gets the tasks");
            }
            Self::NoMessage { .. } => {
                return Some("`convoke inbox --all` lists messages with their numbers");
            }
            Self::Waits { .. } => {
                return Some("`convoke task show ID` lists what a task comes after");
            }
            Self::NotSiblings { .. } => {
                return Some("move it first with `convoke task move ID --under PARENT`");
            }
            Self::RemovedParent { .. } => return Some("restore that task first"),
            Self::NotRemoved { .. } => {
                return Some("run `convoke task restore` to list what was removed");
            }
            Self::CannotUndo { .. } => {
                return Some(
                    "`convoke task log` lists the changes; `convoke task edit` changes the task",
                );
            }
            Self::OfUser { .. } => return Some("only the user can undo it, in their own terminal"),
            Self::JudgedSince { .. } => {
                return Some(
                    "record another verdict: `convoke task pass ID --by ROLE` or `convoke task fail`",
                );
            }
            Self::Foreign { .. } => return Some("name another file with CONVOKE_STORE"),
            Self::Open { trouble, .. } | Self::Failed { trouble, .. } => *trouble,
            Self::OwnerUpdates { .. } => {
                return Some(
                    "ask the store's owner to run `convoke status` with this version, or use the \
                     version that the team has",
                );
            }
            Self::TeamNeedsServer => return Some(TO_A_SERVER),
            Self::NoTeam => return Some("run `convoke team init` as the store's owner"),
            Self::NotOwner => {
                return Some(
                    "name the store with its owner: CONVOKE_STORE=postgres://OWNER@HOST/…",
                );
            }
            Self::MayNotCreateRoles => {
                return Some(
                    "have an administrator of the server run `ALTER ROLE OWNER CREATEROLE`",
                );
            }
            Self::NoMember { .. } => return Some("run `convoke team members` to list them"),
            Self::RoleExists { .. } => return Some("choose another name"),
            Self::Circle { .. } | Self::TooDeep { .. } | Self::RunExists { .. } => return None,
        };
        trouble.hint()
    }
}
