//! Git on a repository, without the programs that the repository's configuration and attributes
//! name.
//!
//! Git reads configuration, hooks and attributes from the folder that all worktrees share. Convoke
//! gives git a stand-in for that folder: objects and references are links to the real ones, but the
//! configuration holds only settings that name no program, there are no hooks, and no file has a
//! filter, a diff driver or a merge driver. So the check that should find a program planted by an
//! agent does not execute it, nor one that a cloned repository brings along.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::process::{command, search_path};
use crate::program::{self, ProgramSearch};
use crate::scratch;

/// The parts of the real folder that a stand-in shares. None of them names a program.
const SHARED: [&str; 7] =
    ["objects", "refs", "logs", "packed-refs", "reftable", "shallow", "worktrees"];

/// Variables that would lead git to another repository or to other settings.
const STRAY: [&str; 18] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_ATTR_SOURCE",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];

/// Settings of `core` that a stand-in copies: how to interpret files and the index.
const CORE: [&str; 15] = [
    "repositoryformatversion",
    "filemode",
    "symlinks",
    "ignorecase",
    "precomposeunicode",
    "trustctime",
    "checkstat",
    "autocrlf",
    "eol",
    "sparsecheckout",
    "sparsecheckoutcone",
    "excludesfile",
    "attributesfile",
    "logallrefupdates",
    "sharedrepository",
];

/// Other settings that a stand-in copies, by their full names.
const OTHERS: [&str; 12] = [
    "user.name",
    "user.email",
    "user.useconfigonly",
    "author.name",
    "author.email",
    "committer.name",
    "committer.email",
    "init.defaultbranch",
    "index.sparse",
    "remote.origin.url",
    "remote.origin.fetch",
    "remote.origin.promisor",
];

/// How a file's content is interpreted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// As git understands it, with line ends and encodings converted, but without filters.
    Converted,
    /// Byte for byte.
    Raw,
}

impl View {
    const fn name(self) -> &'static str {
        match self {
            Self::Converted => "converted",
            Self::Raw => "raw",
        }
    }

    /// Returns the attributes that win over all others.
    const fn attributes(self) -> &'static str {
        match self {
            Self::Converted => "* -filter !diff !merge\n",
            Self::Raw => "* -filter !diff !merge -text -eol -crlf -ident -working-tree-encoding\n",
        }
    }
}

/// One setting; one without a value is switched on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    /// Its name, with the first and the last part in lower case.
    pub(super) name: String,
    pub(super) value: Option<String>,
    /// The file with the setting, as git names it.
    pub(super) file: Option<PathBuf>,
}

/// A repository with a working tree.
#[derive(Debug)]
pub(super) struct Repository {
    pub(super) top: PathBuf,
    /// The working tree's own folder of git's, and the one that all worktrees share.
    pub(super) git_dirs: [PathBuf; 2],
    settings: Vec<Setting>,
    stand_in: TempDir,
}

/// Why git cannot be used.
#[derive(Debug)]
pub(super) enum NoRepository {
    /// Git does not start.
    NoGit(io::Error),
    /// Git refuses, with these words.
    Refused(Vec<u8>),
    /// No stand-in can be made.
    NoStandIn,
}

impl Repository {
    /// Finds the repository of a folder.
    pub(super) fn at(folder: &Path) -> Result<Self, NoRepository> {
        let words = ["--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"];
        let found = answer(question(folder).arg("rev-parse").args(words))?;
        let paths: Vec<_> = found.split(|byte| *byte == b'\n').map(path).collect();
        // A name with a line break would look like two names.
        let [top, git_dir, common_dir, _] = &paths[..] else {
            return Err(NoRepository::Refused(b"the folder's name has a line break".to_vec()));
        };
        let list = ["config", "--list", "--includes", "--show-origin", "-z"];
        let listed = answer(question(folder).args(list))?;
        let repository = Self {
            top: top.clone(),
            git_dirs: [git_dir.clone(), common_dir.clone()],
            settings: settings(&listed),
            stand_in: scratch::look().map_err(|_| NoRepository::NoStandIn)?,
        };
        for view in [View::Converted, View::Raw] {
            repository.make_stand_in(view).map_err(|_| NoRepository::NoStandIn)?;
        }
        Ok(repository)
    }

    /// Returns the settings as they were when the repository was found.
    pub(super) fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Returns a folder for files of the moment.
    pub(super) fn scratch(&self) -> &Path {
        self.stand_in.path()
    }

    /// Prepares git in the uppermost folder of the working tree.
    pub(super) fn git(&self, view: View) -> Command {
        self.git_in(&self.top, view)
    }

    /// Prepares git in a folder of the working tree.
    pub(super) fn git_in(&self, folder: &Path, view: View) -> Command {
        let mut git = self.stood_in(folder, view);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        git.env("GIT_CONFIG_NOSYSTEM", "1");
        git
    }

    /// Prepares git to ask a remote: with its user's own settings, so that the user's credentials and
    /// ssh are used, and without the repository's.
    pub(super) fn network(&self) -> Command {
        let mut git = self.stood_in(&self.top, View::Converted);
        git.env("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh");
        git
    }

    fn stood_in(&self, folder: &Path, view: View) -> Command {
        let mut git = question(folder);
        for name in ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CONFIG"] {
            git.env_remove(name);
        }
        git.env("GIT_DIR", &self.git_dirs[0]).env("GIT_WORK_TREE", &self.top);
        git.env("GIT_COMMON_DIR", self.stand_in.path().join(view.name()));
        git.args(["-c", "submodule.recurse=false", "-c", "fetch.recurseSubmodules=false"]);
        git.args(["-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "commit.gpgSign=false"]);
        git
    }

    fn make_stand_in(&self, view: View) -> io::Result<()> {
        let (folder, real) = (self.stand_in.path().join(view.name()), &self.git_dirs[1]);
        fs::create_dir_all(folder.join("info"))?;
        for name in SHARED {
            symlink(real.join(name), folder.join(name))?;
        }
        let excludes = real.join("info/exclude");
        fs::write(folder.join("info/exclude"), fs::read(excludes).unwrap_or_default())?;
        fs::write(folder.join("info/attributes"), view.attributes())?;
        fs::write(folder.join("config"), configuration(&self.settings))
    }
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

fn answer(git: &mut Command) -> Result<Vec<u8>, NoRepository> {
    let output = git.output();
    let folder = git.get_current_dir();
    let output = output.map_err(|error| NoRepository::NoGit(not_started(error, folder)))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(NoRepository::Refused(output.stderr))
    }
}

/// Reads what `git config --list --show-origin -z` prints.
fn settings(listed: &[u8]) -> Vec<Setting> {
    let mut parts = listed.split(|byte| *byte == 0);
    let mut settings = Vec::new();
    while let (Some(origin), Some(entry)) = (parts.next(), parts.next()) {
        let entry = String::from_utf8_lossy(entry);
        let (name, value) = match entry.split_once('\n') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (&*entry, None),
        };
        let file = origin.strip_prefix(b"file:").map(path);
        settings.push(Setting { name: name.to_owned(), value, file });
    }
    settings
}

/// Tells whether a stand-in copies a setting: only those known to name no program.
fn is_harmless(name: &str) -> bool {
    if let Some(name) = name.strip_prefix("core.") {
        return CORE.contains(&name);
    }
    if let Some(name) = name.strip_prefix("extensions.") {
        // It would have git read another file of settings.
        return name != "worktreeconfig";
    }
    let is_of_http = name.starts_with("http.")
        && [".extraheader", ".proxy", ".sslcainfo"].iter().any(|key| name.ends_with(key));
    is_of_http || OTHERS.contains(&name)
}

/// Writes settings as git reads them.
fn configuration(settings: &[Setting]) -> String {
    let mut text = String::from("[core]\n\tbare = false\n");
    for Setting { name, value, .. } in settings.iter().filter(|setting| is_harmless(&setting.name))
    {
        let (Some((section, _)), Some((rest, key))) = (name.split_once('.'), name.rsplit_once('.'))
        else {
            continue;
        };
        let between = rest.strip_prefix(section).and_then(|rest| rest.strip_prefix('.'));
        match between {
            Some(between) => {
                text.push_str(&["[", section, " \"", &quoted(between), "\"]\n"].concat());
            }
            None => text.push_str(&["[", section, "]\n"].concat()),
        }
        match value {
            Some(value) => text.push_str(&["\t", key, " = \"", &quoted(value), "\"\n"].concat()),
            None => text.push_str(&["\t", key, "\n"].concat()),
        }
    }
    text
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A path at which there can be no program.
const NO_GIT: &str = "/dev/null/git";

/// Searches for git, except in the working tree of a folder.
pub(super) fn search_for_git(folder: &Path) -> ProgramSearch {
    without_projects(folder, |folders| program::search(&search_path(), &["git"], folders))
}

/// Git also works in folders of the moment, far from the project that Convoke was started in.
fn without_projects<T>(folder: &Path, search: impl FnOnce(&[&Path]) -> T) -> T {
    match program::starting_folder() {
        Some(start) => search(&[folder, &start]),
        None => search(&[folder]),
    }
}

/// Returns why git did not start: it was not found, or the system's reason.
pub(super) fn not_started(error: io::Error, folder: Option<&Path>) -> io::Error {
    let Some(search) = folder.map(search_for_git).filter(|search| search.found.is_none()) else {
        return error;
    };
    let why = search.remark().unwrap_or_else(|| "it is not on the PATH".to_owned());
    io::Error::new(io::ErrorKind::NotFound, why)
}

/// Prepares git for a question that no program of the repository's can have a part in: about its own
/// version, settings, attributes, references and folders. Everything else is a [`Repository`]'s.
pub(super) fn question(folder: &Path) -> Command {
    let git = search_for_git(folder).found.unwrap_or_else(|| PathBuf::from(NO_GIT));
    let mut git = command(git, folder);
    // Git itself starts others, such as ssh.
    git.env("PATH", without_projects(folder, |folders| program::outside(&search_path(), folders)));
    for name in STRAY {
        git.env_remove(name);
    }
    git.env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
    git.env("GIT_EDITOR", ":").env("GIT_SEQUENCE_EDITOR", ":").env("GIT_PAGER", "cat");
    // A partial clone would otherwise fetch missing objects, from the address in its settings.
    git.env("GIT_ALLOW_PROTOCOL", "none").env("GIT_NO_LAZY_FETCH", "1");
    git.env("GIT_TERMINAL_PROMPT", "0").env("SSH_ASKPASS_REQUIRE", "never");
    git.arg("--no-pager").args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"]);
    git.args(["-c", "core.quotePath=false"]);
    git
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_settings_are_taken_over_and_they_keep_their_values() {
        let entries = [
            "core.filemode\ntrue",
            "core.fsmonitor\ntouch x",
            "core.symlinks",
            "filter.x.clean\ncat",
            "extensions.worktreeconfig\ntrue",
            "extensions.objectformat\nsha256",
            "http.https://a.example/\"x\\.extraheader\none\ntwo \"q\" \\",
            "include.path\nx",
            "remote.origin.uploadpack\ntouch",
            "alias.status\n!touch x",
            "user.name\nA",
        ];
        let listed = entries.map(|entry| format!("file:.git/config\0{entry}\0")).concat();
        assert_eq!(
            configuration(&settings(listed.as_bytes())),
            "[core]\n\tbare = false\n[core]\n\tfilemode = \"true\"\n[core]\n\tsymlinks\n\
             [extensions]\n\tobjectformat = \"sha256\"\n\
             [http \"https://a.example/\\\"x\\\\\"]\n\textraheader = \"one\\ntwo \\\"q\\\" \\\\\"\n\
             [user]\n\tname = \"A\"\n"
        );
    }
}
