//! Sets up a design: checks the working tree, and makes its branch.
//!
//! The `domain` crate decides what is allowed; this module calls git. It handles repositories as
//! people have them: the default branch has any name, there may be no remote, and the remote may be
//! unreachable.

pub mod own_files;

use std::path::Path;
use std::time::Duration;

use convoke_domain::design::setup::branch::{
    BranchChoice, BranchFacts, BranchNotCreated, choose, parse_branch_info, user_prefix,
};
use convoke_domain::design::setup::branch_name::branch_name;
use convoke_domain::design::setup::entry_gate::{Gate, GateWords};
use convoke_domain::design::setup::ground::{BranchRule, DirtyTree, named_changes};
use convoke_domain::design::setup::note::SetUpNote;
use convoke_domain::design::setup::preflight::{Cleanliness, PreflightError, check};
use convoke_domain::design::setup::{Begins, Ready, Refusal, SetUp};

use self::own_files::{OwnFile, sort_changes};
use crate::git::branch::{NoWorkTree, REMOTE, WorkTree};
use crate::git::diff;

/// How long git may work in the tree itself.
pub(crate) const TREE_LIMIT: Duration = Duration::from_mins(5);

/// The mark that another program leaves when its run gets stuck; a clean start makes it outdated.
pub(crate) const STALL_MARK: &str = "larch-stalled-run.txt";

/// How often another name is tried when another process took the first.
const ATTEMPTS: usize = 5;

/// How to treat a branch of the user's whose name suggests another feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnrelatedBranch {
    /// Ask a person, and change nothing.
    Ask,
    /// Continue on it.
    Keep,
    /// Make a new branch.
    Create,
}

/// A request to set up a design.
#[derive(Debug, Clone, Copy)]
pub struct SetUpRequest<'a> {
    /// A folder of the project.
    pub folder: &'a Path,
    /// The feature's description.
    pub feature: &'a str,
    /// The value of `--branch-info`.
    pub branch_info: Option<&'a str>,
    /// On which branch the design works.
    pub branch_rule: BranchRule,
    /// How to treat uncommitted changes; the original's gate never allows them.
    pub dirty_tree: DirtyTree,
    /// Files with the text that Convoke's own setup wrote; they do not refuse a design.
    pub own_files: &'a [OwnFile],
    /// Whether the original's gate keeps any checked-out branch.
    pub no_branch: bool,
    /// How to treat a branch whose name suggests another feature.
    pub doubt: UnrelatedBranch,
    /// Whether a remote that cannot be reached ends the design.
    pub strict_fetch: bool,
    /// How long the remote may take.
    pub fetch_limit: Duration,
}

/// The setup could not start.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// There is no working tree.
    #[error("cannot start a design")]
    NoWorkTree(#[from] NoWorkTree),
    /// There is nothing that a branch could begin at.
    #[error("cannot start a design: the repository has no commit yet")]
    NoCommit,
}

impl SetUpError {
    /// Returns what the user can do next.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoWorkTree(NoWorkTree::NoGit(_)) => "install git, or put it on the PATH",
            Self::NoWorkTree(NoWorkTree::Outside { .. }) => {
                "go to a git repository, or create one with `git init`"
            }
            Self::NoCommit => "commit something first, or stay on this branch with `--no-branch`",
        }
    }
}

/// Sets up a design. Nothing is changed before every check has passed.
pub fn set_up(request: &SetUpRequest<'_>) -> Result<SetUp, SetUpError> {
    let keeps_branch = request.branch_rule == BranchRule::Seed && request.no_branch;
    let rule = if keeps_branch { BranchRule::Stay } else { request.branch_rule };
    let tree = find_tree(request.folder, rule)?;
    let start = Start { tree: &tree, request, main: tree.default_branch() };
    let begun = match request.branch_rule {
        BranchRule::Stay | BranchRule::New => start.begin_here(),
        BranchRule::Seed => start.begin(),
    };
    Ok(begun.unwrap_or_else(SetUp::Refused))
}

/// Finds the working tree that a design can begin in; a branch begins at a commit.
pub fn find_tree(folder: &Path, rule: BranchRule) -> Result<WorkTree, SetUpError> {
    let tree = WorkTree::at(folder)?;
    if rule != BranchRule::Stay && diff::head(tree.root()).is_none() {
        return Err(SetUpError::NoCommit);
    }
    Ok(tree)
}

pub(crate) fn cleanliness(tree: &WorkTree) -> Cleanliness {
    match tree.is_clean() {
        Some(true) => Cleanliness::Clean,
        Some(false) => Cleanliness::Dirty,
        None => Cleanliness::Unknown,
    }
}

/// What the steps so far found.
#[derive(Default)]
struct News {
    notes: Vec<SetUpNote>,
    is_fetched: bool,
}

/// The facts known when the setup begins.
struct Start<'a> {
    tree: &'a WorkTree,
    request: &'a SetUpRequest<'a>,
    main: String,
}

impl Start<'_> {
    /// Begins at the commit that is checked out. Nothing is fetched or rebased, and the branch that is
    /// checked out stays as it is.
    fn begin_here(&self) -> Result<SetUp, Refusal> {
        let mut news = News::default();
        let listed = self.tree.changes().ok_or_else(Refusal::by_unknown_tree)?;
        let sorted = sort_changes(self.tree, &listed, self.request.own_files);
        let changes = named_changes(&sorted.others);
        if !sorted.own.is_empty() {
            news.notes.push(SetUpNote::OwnFiles(sorted.own));
        }
        if !changes.is_empty() {
            if self.request.dirty_tree == DirtyTree::Refused {
                return Err(Refusal::by_changes(&changes));
            }
            news.notes.push(SetUpNote::UncommittedChanges(changes.len()));
        }
        self.tree.forget_file(STALL_MARK);
        let current = self.tree.branch().unwrap_or_default();
        if self.request.branch_rule == BranchRule::Stay {
            return Ok(self.keep(current, news));
        }
        let name = self.make_branch(&user_prefix(&self.tree.user_name()), "HEAD")?;
        let mut ready = self.at(name, news.notes, Begins::Made);
        (ready.is_new, ready.left) = (true, Some(current));
        Ok(SetUp::Ready(ready))
    }

    fn begin(&self) -> Result<SetUp, Refusal> {
        let mut news = News::default();
        let words = self.gate_words(&mut news);
        let gate = words.ask().map_err(|error| Refusal::by_gate(&error))?;
        let facts = BranchFacts::given(&words);
        let prefix = facts.user_prefix.clone();
        let refused = |error| Refusal::by_preflight(&error, &self.main, &prefix);
        if self.request.no_branch {
            self.check(Gate::Continue).map_err(refused)?;
            return Ok(self.keep(self.tree.branch().unwrap_or_default(), news));
        }
        self.check(gate).map_err(refused)?;
        // Decided before the fetch, which may take its time.
        let choice = choose(&facts, self.request.feature, &self.main);
        if let (BranchChoice::Doubtful { .. }, UnrelatedBranch::Ask) = (&choice, self.request.doubt)
        {
            return Ok(SetUp::Undecided { branch: facts.current });
        }
        self.update(gate, &mut news).map_err(refused)?;
        self.tree.forget_file(STALL_MARK);
        match (choice, self.request.doubt) {
            (BranchChoice::Keep, _)
            | (BranchChoice::Doubtful { .. }, UnrelatedBranch::Keep | UnrelatedBranch::Ask) => {
                Ok(self.keep(facts.current, news))
            }
            (BranchChoice::Create { warning }, _) => self.create(&facts, warning, news),
            (BranchChoice::Doubtful { warning }, UnrelatedBranch::Create) => {
                self.create(&facts, Some(warning), news)
            }
        }
    }

    /// Returns the gate's input: the given facts, if they are complete, or else git's.
    fn gate_words(&self, news: &mut News) -> GateWords {
        match self.request.branch_info.map(parse_branch_info) {
            Some(Ok(words)) => return words,
            Some(Err(_)) => news.notes.push(SetUpNote::IncompleteBranchInfo),
            None => {}
        }
        let current = self.tree.branch();
        let facts = BranchFacts::new(current.as_deref(), &self.main, &self.tree.user_name());
        GateWords {
            current_branch: facts.current,
            is_main: facts.is_main.to_string(),
            is_user_branch: facts.is_user_branch.to_string(),
            user_prefix: facts.user_prefix,
            branch_info_supplied: false,
        }
    }

    fn check(&self, gate: Gate) -> Result<(), PreflightError> {
        let branch = self.tree.branch();
        check(gate.into(), branch.as_deref(), &self.main, cleanliness(self.tree))
    }

    /// Fetches the default branch, and brings it up to date if it is checked out. Without a remote
    /// that answers, the design stays local.
    fn update(&self, gate: Gate, news: &mut News) -> Result<(), PreflightError> {
        let main = &self.main;
        if !self.tree.has_remote() {
            news.notes.push(SetUpNote::NoRemote(REMOTE.to_owned()));
            return Ok(());
        }
        if let Err(said) = self.tree.fetch(main, self.request.fetch_limit) {
            if self.request.strict_fetch {
                return Err(PreflightError::FetchFailed { main: main.clone() });
            }
            news.notes.push(SetUpNote::FetchFailed {
                remote: REMOTE.to_owned(),
                main: main.clone(),
                said: said.to_string(),
            });
            return Ok(());
        }
        news.is_fetched = true;
        if !gate.skips_branch_check() && self.tree.knows_remote(main) {
            let failed = |_| PreflightError::RebaseFailed { main: main.clone() };
            self.tree.rebase(main, TREE_LIMIT).map_err(failed)?;
        }
        Ok(())
    }

    fn create(
        &self,
        facts: &BranchFacts,
        warning: Option<SetUpNote>,
        news: News,
    ) -> Result<SetUp, Refusal> {
        let left = self.tree.branch().unwrap_or_default();
        let name = self.make_branch(&facts.user_prefix, &self.start(&news))?;
        let mut ready = self.at(name, news.notes, Begins::Plain);
        (ready.is_new, ready.left) = (true, Some(left));
        ready.branch_notes.extend(warning);
        Ok(SetUp::Ready(ready))
    }

    /// Makes a branch that is called after the feature, checks it out, and returns its name.
    fn make_branch(&self, user_prefix: &str, start: &str) -> Result<String, Refusal> {
        let is_taken = |name: &str| self.tree.has_branch(name);
        let mut attempts = ATTEMPTS;
        loop {
            let name = branch_name(user_prefix, self.request.feature, is_taken);
            match self.tree.create_branch(&name, start, TREE_LIMIT) {
                Ok(()) => return Ok(name),
                // Another process has just made it.
                Err(_) if attempts > 1 && is_taken(&name) => attempts -= 1,
                Err(said) => {
                    return Err(Refusal::by_git(&BranchNotCreated { name }, &said.to_string()));
                }
            }
        }
    }

    /// Returns the start of a new branch: the remote's default branch, if it was just fetched, and
    /// else the local one, which may have more commits.
    fn start(&self, news: &News) -> String {
        let here = format!("refs/heads/{}", self.main);
        let there = format!("refs/remotes/{REMOTE}/{}", self.main);
        let mut places = if news.is_fetched { [there, here] } else { [here, there] }.into_iter();
        places.find(|place| self.tree.has(place)).unwrap_or_else(|| "HEAD".to_owned())
    }

    fn keep(&self, branch: String, news: News) -> SetUp {
        SetUp::Ready(self.at(branch, news.notes, Begins::Kept))
    }

    fn at(&self, branch: String, setup_notes: Vec<SetUpNote>, begins: Begins) -> Ready {
        let base = diff::head(self.tree.root()).unwrap_or_default();
        Ready {
            branch,
            is_new: false,
            base,
            setup_notes,
            begins,
            branch_notes: Vec::new(),
            left: None,
            tree_before: None,
        }
    }
}

#[cfg(test)]
mod tests;
