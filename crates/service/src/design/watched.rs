//! The working tree of a design while its agents work, and since another process of it was killed.

use std::fs;

use convoke_domain::design::event::Tree;
use convoke_domain::tree::kept::{KeptTree, KeptTreeChange};
use convoke_domain::tree::{DirtyReason, TreeEvidence, TreeStatus};
use convoke_engine::client::Rights;
use convoke_engine::file;

use super::DesignError;
use super::stage::{Stage, keep_file};
use crate::failure::{ErrorClass, Failure};
use crate::lane::{TreeLook, TreeWatch};
use crate::observer::Reporter;

/// The working tree as it was when agents began to work.
const KEPT_TREE: &str = "tree-before-agents";

/// No tree has so many hooks and settings that more is needed.
const MOST_KEPT_BYTES: u64 = 4 * 1024 * 1024;

impl Stage<'_> {
    /// Returns the settings for snapshots of the working tree, before and after agents work.
    pub(super) fn look<'l>(&'l self, reporter: &'l Reporter) -> TreeLook<'l> {
        TreeLook { session: self.session, reporter, limit: self.limit }
    }

    /// Takes a snapshot of the working tree, unless there is one, and keeps what the next process
    /// needs to know of it if this one is killed.
    pub(super) fn begin_watch(&mut self) -> Result<(), Failure> {
        if self.watch.is_some() {
            return Ok(());
        }
        self.front_end.works(Some("taking a snapshot of the working tree"));
        let watch = TreeWatch::begin(Rights::ReadOnly, &self.look(&self.session.reporter()));
        self.front_end.works(None);
        let kept = watch.kept();
        self.watch = Some(watch);
        match kept.filter(|_| !self.folder.join(KEPT_TREE).exists()) {
            Some(kept) => keep_file(&self.folder, KEPT_TREE, &kept.text()),
            None => Ok(()),
        }
    }

    /// Returns a digest of all that is in the working tree, committed or not.
    pub(super) fn tree_digest(&self) -> Result<String, Failure> {
        self.find_digest().ok_or_else(|| {
            Failure::new(ErrorClass::Prerequisite, DesignError::NoSnapshot)
                .hint("commit or stash your changes, and leave out `--allow-dirty`")
        })
    }

    fn find_digest(&self) -> Option<String> {
        let watch = TreeWatch::begin(Rights::ReadOnly, &self.look(&self.session.reporter()));
        watch.kept().map(|kept| kept.files)
    }

    /// Compares the working tree with the uncommitted state that the run began on.
    pub(super) fn compared_with(&self, before: &str) -> Tree {
        let (status, reason) = match self.find_digest() {
            Some(now) if now == before => return Tree::Clean,
            Some(_) => (TreeStatus::Dirty, DirtyReason::WorkingTreeDirty),
            None => (TreeStatus::Unknown, DirtyReason::LookFailed),
        };
        Tree::Suspect { status, evidence: TreeEvidence::of_reason(Some(reason)) }
    }

    /// Reports changes in the working tree since a process was interrupted while agents worked.
    pub(super) fn tell_changes(&mut self) -> Result<(), Failure> {
        let path = self.folder.join(KEPT_TREE);
        if !path.exists() {
            return Ok(());
        }
        let before =
            file::text(&path, MOST_KEPT_BYTES).and_then(|text: String| KeptTree::parse(&text));
        self.forget_tree();
        self.begin_watch()?;
        let now = self.watch.as_ref().and_then(TreeWatch::kept);
        let Some((before, now)) = before.zip(now) else {
            self.front_end.warn(
                "Convoke cannot tell what changed in the working tree since the run was interrupted",
            );
            return Ok(());
        };
        for change in before.differences(&now) {
            match &change {
                KeptTreeChange::Settings(_) => self.front_end.warn(&change.to_string()),
                KeptTreeChange::Files => self.front_end.remark(&change.to_string()),
            }
        }
        Ok(())
    }

    /// Describes changes by agents that worked after the last boundary.
    pub(super) fn left_behind(&self) -> Option<String> {
        let verdict = self.watch.as_ref()?.end(&self.look(&self.session.reporter()))?;
        verdict.warning("agents").filter(|_| verdict.status == TreeStatus::Dirty)
    }

    /// Forgets a reported change, so that resuming does not report it again.
    pub(super) fn forget_tree(&self) {
        fs::remove_file(self.folder.join(KEPT_TREE)).ok();
    }
}
