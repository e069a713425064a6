//! Setting up in real repositories.

mod changes;

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::process::command;

/// A project with one commit, and optionally a remote that it was cloned from.
struct Stage {
    folder: tempfile::TempDir,
    main: &'static str,
}

fn git(folder: &Path, words: &[&str]) -> String {
    let identity = ["user.name=Ann Lee", "user.email=ann@example.org", "commit.gpgsign=false"];
    let mut git = command("git", folder);
    for setting in identity {
        git.args(["-c", setting]);
    }
    let done = git.args(words).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

fn commit(folder: &Path, name: &str, text: &str) -> String {
    fs::write(folder.join(name), text).unwrap();
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "-m", text]);
    git(folder, &["rev-parse", "HEAD"])
}

impl Stage {
    /// A project without a remote.
    fn alone() -> Self {
        let stage = Self { folder: tempfile::tempdir().unwrap(), main: "main" };
        fs::create_dir(stage.project()).unwrap();
        git(&stage.project(), &["init", "--quiet", "-b", "main"]);
        stage.introduce();
        commit(&stage.project(), "a.txt", "first");
        stage
    }

    /// A project with a remote, whose default branch is called so.
    fn shared(main: &'static str) -> Self {
        let stage = Self { folder: tempfile::tempdir().unwrap(), main };
        fs::create_dir(stage.remote()).unwrap();
        git(&stage.remote(), &["init", "--quiet", "-b", main]);
        commit(&stage.remote(), "a.txt", "first");
        git(stage.folder.path(), &["clone", "--quiet", "remote", "project"]);
        stage.introduce();
        stage
    }

    /// Sets the project's author, and disables the user's own settings.
    fn introduce(&self) {
        let settings =
            [("user.name", "Ann Lee"), ("user.email", "a@b.c"), ("commit.gpgsign", "false")];
        for (key, value) in settings {
            self.git(&["config", key, value]);
        }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn remote(&self) -> PathBuf {
        self.folder.path().join("remote")
    }

    fn git(&self, words: &[&str]) -> String {
        git(&self.project(), words)
    }

    fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    fn try_with(&self, change: impl FnOnce(&mut SetUpRequest<'_>)) -> Result<SetUp, SetUpError> {
        self.try_beside(&[], change)
    }

    fn try_beside(
        &self,
        own_files: &[OwnFile],
        change: impl FnOnce(&mut SetUpRequest<'_>),
    ) -> Result<SetUp, SetUpError> {
        let folder = self.project();
        let mut request = SetUpRequest {
            folder: &folder,
            feature: "Add a search field",
            branch_info: None,
            branch_rule: BranchRule::Seed,
            dirty_tree: DirtyTree::Refused,
            own_files,
            no_branch: false,
            doubt: UnrelatedBranch::Ask,
            strict_fetch: false,
            fetch_limit: Duration::from_mins(2),
        };
        change(&mut request);
        set_up(&request)
    }

    fn ready(&self, change: impl FnOnce(&mut SetUpRequest<'_>)) -> Ready {
        match self.try_with(change).unwrap() {
            SetUp::Ready(ready) => {
                assert_eq!(ready.base, self.head());
                ready
            }
            other @ (SetUp::Undecided { .. } | SetUp::Refused(_)) => panic!("{other:?}"),
        }
    }

    /// Runs a setup that must fail, and returns the first line and the code.
    fn refused(&self, change: impl FnOnce(&mut SetUpRequest<'_>)) -> (String, u8) {
        let before = (self.head(), self.git(&["branch", "--list"]));
        let outcome = self.try_with(change).unwrap();
        let SetUp::Refused(mut refusal) = outcome else { panic!("{outcome:?}") };
        let after = (self.head(), self.git(&["branch", "--list"]));
        assert_eq!(before, after, "nothing was changed");
        assert_eq!(refusal.lines.len(), 2);
        (refusal.lines.remove(0), refusal.code)
    }
}

fn lines(notes: &[SetUpNote]) -> Vec<String> {
    notes.iter().map(SetUpNote::line).collect()
}

// P-40, P-42, P-55: the branch begins where the remote is now, and the default branch is there too.
#[test]
fn a_design_begins_on_a_new_branch_from_what_the_remote_has() {
    for main in ["main", "trunk"] {
        let stage = Stage::shared(main);
        let newest = commit(&stage.remote(), "b.txt", "second");
        let ready = stage.ready(|_| {});
        assert_eq!(ready.branch, "ann-lee/add-a-search-field");
        assert_eq!(stage.git(&["branch", "--show-current"]), ready.branch);
        assert_eq!((ready.base, ready.is_new), (newest.clone(), true));
        assert_eq!((ready.setup_notes, ready.branch_notes), (vec![], vec![]));
        assert_eq!(ready.begins, Begins::Plain);
        assert_eq!(stage.git(&["rev-parse", stage.main]), newest);
    }
}

#[test]
fn without_a_remote_a_design_stays_local() {
    let stage = Stage::alone();
    let ready = stage.ready(|_| {});
    assert_eq!(ready.branch, "ann-lee/add-a-search-field");
    assert_eq!(
        lines(&ready.setup_notes),
        ["**⚠ No remote 'origin'. Nothing is fetched; the design stays local.**"]
    );
}

#[test]
fn the_default_branch_is_found_out() {
    let stage = Stage::alone();
    let found = || WorkTree::at(&stage.project()).unwrap().default_branch();
    assert_eq!(found(), "main");
    stage.git(&["branch", "-m", "master"]);
    stage.git(&["config", "init.defaultBranch", "nowhere"]);
    assert_eq!(found(), "master");
    stage.git(&["branch", "develop"]);
    stage.git(&["config", "init.defaultBranch", "develop"]);
    assert_eq!(found(), "develop");
    let shared = Stage::shared("trunk");
    shared.git(&["config", "init.defaultBranch", "main"]);
    shared.git(&["branch", "main"]);
    assert_eq!(WorkTree::at(&shared.project()).unwrap().default_branch(), "trunk");
}

// P-56: unless the user wants it strict, a remote that is away does not end a design.
#[test]
fn a_remote_that_is_away_is_a_warning_or_a_refusal() {
    let stage = Stage::shared("main");
    fs::rename(stage.remote(), stage.folder.path().join("away")).unwrap();
    let (line, code) = stage.refused(|request| request.strict_fetch = true);
    assert_eq!((line.as_str(), code), ("PREFLIGHT_ERROR=git fetch origin main failed.", 3));
    let local = commit(&stage.project(), "c.txt", "not pushed yet");
    let ready = stage.ready(|_| {});
    assert_eq!(ready.base, local, "what is here counts, not what the remote had last");
    let told = lines(&ready.setup_notes);
    let [line] = told.as_slice() else { panic!("{told:?}") };
    assert!(line.starts_with("**⚠ git fetch origin main failed (fatal: "), "{line}");
    assert!(line.ends_with("). The design stays local.**"), "{line}");
}

#[test]
fn a_remote_that_never_answers_is_not_waited_for() {
    let stage = Stage::shared("main");
    // It takes the connection and says nothing.
    let remote = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("git://{}/x", remote.local_addr().unwrap());
    stage.git(&["remote", "set-url", "origin", &url]);
    let ready = stage.ready(|request| request.fetch_limit = Duration::from_millis(200));
    let told = lines(&ready.setup_notes);
    assert!(told[0].contains("failed (did not end within 0 s)"), "{told:?}");
}

// P-55, P-56
#[test]
fn a_default_branch_that_cannot_be_rebased_is_left_as_it_was() {
    let stage = Stage::shared("main");
    commit(&stage.remote(), "a.txt", "theirs");
    commit(&stage.project(), "a.txt", "ours");
    let (line, code) = stage.refused(|_| {});
    assert_eq!((line.as_str(), code), ("PREFLIGHT_ERROR=git rebase origin/main failed.", 3));
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
    assert_eq!(stage.git(&["branch", "--show-current"]), "main");
}

// P-51, P-56, P-57, P-60
#[test]
fn a_design_begins_on_a_clean_default_branch_or_on_ones_own() {
    let stage = Stage::alone();
    fs::write(stage.project().join("new.txt"), "x").unwrap();
    let dirty = "PREFLIGHT_ERROR=Working tree is not clean. Commit or stash changes first.";
    assert_eq!(stage.refused(|_| {}), (dirty.to_owned(), 2));
    assert_eq!(stage.refused(|request| request.no_branch = true), (dirty.to_owned(), 2));
    stage.git(&["checkout", "--quiet", "-b", "ann-lee/search"]);
    assert_eq!(stage.refused(|_| {}), (dirty.to_owned(), 2));
    fs::remove_file(stage.project().join("new.txt")).unwrap();
    stage.git(&["checkout", "--quiet", "-b", "elsewhere"]);
    let elsewhere = "PREFLIGHT_ERROR=Not on main branch (on 'elsewhere'). Switch to main first, or \
                     pass --skip-branch-check.";
    assert_eq!(stage.refused(|_| {}), (elsewhere.to_owned(), 1));
    stage.git(&["checkout", "--quiet", "--detach"]);
    let (line, code) = stage.refused(|_| {});
    assert!(code == 1 && line.contains("(on 'HEAD')"), "{line}");
}

// P-42, P-43
#[test]
fn a_branch_of_ones_own_is_kept_if_it_is_meant() {
    let stage = Stage::alone();
    stage.git(&["checkout", "--quiet", "-b", "ann-lee/search"]);
    let ready = stage.ready(|_| {});
    assert_eq!((ready.branch.as_str(), ready.is_new), ("ann-lee/search", false));
    assert_eq!(ready.remark().unwrap(), "using existing: ann-lee/search");

    stage.git(&["branch", "-m", "ann-lee/dark-mode"]);
    let branch = "ann-lee/dark-mode".to_owned();
    assert_eq!(stage.try_with(|_| {}).unwrap(), SetUp::Undecided { branch });
    assert_eq!(
        stage.ready(|request| request.doubt = UnrelatedBranch::Keep).branch,
        "ann-lee/dark-mode"
    );
    let ready = stage.ready(|request| request.doubt = UnrelatedBranch::Create);
    assert_eq!(ready.branch, "ann-lee/add-a-search-field");
    assert_eq!(
        lines(&ready.branch_notes),
        [
            "**⚠ Current branch 'ann-lee/dark-mode' may not match the requested feature. Creating a new branch from main.**"
        ]
    );
}

// P-43
#[test]
fn a_name_that_is_taken_here_or_there_gets_a_number() {
    let stage = Stage::shared("main");
    git(&stage.remote(), &["branch", "ann-lee/add-a-search-field"]);
    stage.git(&["fetch", "--quiet"]);
    stage.git(&["branch", "ann-lee/add-a-search-field-2"]);
    assert_eq!(stage.ready(|_| {}).branch, "ann-lee/add-a-search-field-3");
}

// P-40
#[test]
fn a_branch_that_git_does_not_make_is_named() {
    let stage = Stage::alone();
    stage.git(&["branch", "ann-lee"]);
    let (line, code) = stage.refused(|_| {});
    assert_eq!(line, "ERROR: Failed to create branch: ann-lee/add-a-search-field");
    assert_eq!(code, 2);
}

// P-11, P-20, P-21, P-35, P-42, P-53
#[test]
fn a_caller_that_vouches_for_a_branch_may_begin_on_it() {
    let stage = Stage::alone();
    stage.git(&["checkout", "--quiet", "-b", "elsewhere"]);
    let info = "IS_MAIN=false IS_USER_BRANCH=false USER_PREFIX=bob CURRENT_BRANCH=elsewhere";
    let ready = stage.ready(|request| request.branch_info = Some(info));
    assert_eq!(ready.branch, "bob/add-a-search-field");
    assert_eq!(
        lines(&ready.branch_notes),
        [
            "**⚠ Currently on branch 'elsewhere' which doesn't match the expected 'bob/*' pattern. Creating a new branch from main.**"
        ]
    );
    let wrong = "IS_MAIN=no IS_USER_BRANCH=false USER_PREFIX=bob CURRENT_BRANCH=elsewhere";
    let (line, code) = stage.refused(|request| request.branch_info = Some(wrong));
    assert_eq!((line.as_str(), code), ("GATE_ERROR=invalid value for --is-main: no", 4));
    stage.git(&["checkout", "--quiet", "main"]);
    let ready = stage.ready(|request| request.branch_info = Some("IS_MAIN=true"));
    assert_eq!(
        lines(&ready.setup_notes)[0],
        "**⚠ --branch-info is incomplete. Falling back to create-branch.sh --check.**"
    );
}

#[test]
fn without_a_branch_a_design_stays_where_it_is() {
    let stage = Stage::shared("main");
    stage.git(&["remote", "set-url", "origin", "/nowhere"]);
    stage.git(&["checkout", "--quiet", "-b", "elsewhere"]);
    let ready = stage.ready(|request| request.no_branch = true);
    assert_eq!((ready.branch.as_str(), ready.is_new), ("elsewhere", false));
    assert_eq!(ready.setup_notes, [], "nothing is fetched");
    stage.git(&["checkout", "--quiet", "--detach"]);
    let ready = stage.ready(|request| request.no_branch = true);
    assert_eq!(ready.remark().unwrap(), "using existing: (detached)");
}

// P-59
#[test]
fn what_a_stuck_run_left_in_gits_folder_is_outdated() {
    let stage = Stage::alone();
    let mark = stage.project().join(".git/larch-stalled-run.txt");
    fs::write(&mark, "x").unwrap();
    stage.ready(|_| {});
    assert!(!mark.exists());
}

#[test]
fn a_folder_without_git_or_without_a_commit_is_no_place_to_begin() {
    let nowhere = Stage { folder: tempfile::tempdir().unwrap(), main: "main" };
    fs::create_dir(nowhere.project()).unwrap();
    // Folders above the temporary folder do not count.
    fs::write(nowhere.project().join(".git"), "gitdir: /nowhere").unwrap();
    let error = nowhere.try_with(|_| {}).unwrap_err();
    assert!(matches!(error, SetUpError::NoWorkTree(NoWorkTree::Outside { .. })), "{error:?}");

    fs::remove_file(nowhere.project().join(".git")).unwrap();
    git(&nowhere.project(), &["init", "--quiet", "-b", "trunk"]);
    let error = nowhere.try_with(|_| {}).unwrap_err();
    assert!(matches!(error, SetUpError::NoCommit), "{error:?}");
    let outcome = nowhere.try_with(|request| request.no_branch = true).unwrap();
    let SetUp::Ready(ready) = outcome else { panic!("{outcome:?}") };
    assert_eq!((ready.branch.as_str(), ready.base.as_str()), ("trunk", ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_may_be_called_anything() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let stage = Stage::alone();
    let strange = stage.folder.path().join(OsStr::from_bytes(b"a \xff\n"));
    fs::rename(stage.project(), &strange).unwrap();
    let tree = WorkTree::at(&strange).unwrap();
    assert_eq!(tree.root(), strange.canonicalize().unwrap());
    assert_eq!(tree.branch().as_deref(), Some("main"));
}

// P-42: without the original's gate a design works on any branch, and does not change it.
#[test]
fn a_design_stays_on_any_branch_and_changes_none() {
    let stage = Stage::shared("main");
    stage.git(&["switch", "--quiet", "-c", "feature/x"]);
    commit(&stage.remote(), "b.txt", "second");
    let before = (stage.head(), stage.git(&["branch", "--all", "--verbose"]));
    let ready = stage.ready(|request| request.branch_rule = BranchRule::Stay);
    assert_eq!((ready.branch.as_str(), ready.is_new, ready.left), ("feature/x", false, None));
    assert_eq!((stage.head(), stage.git(&["branch", "--all", "--verbose"])), before);
}

// P-42: `--branch` makes a branch at the checked-out commit, and reports it.
#[test]
fn a_new_branch_begins_where_the_user_is() {
    let stage = Stage::shared("main");
    stage.git(&["switch", "--quiet", "-c", "feature/x"]);
    let here = commit(&stage.project(), "own.txt", "mine");
    let ready = stage.ready(|request| request.branch_rule = BranchRule::New);
    let said = "made 'ann-lee/add-a-search-field' from 'feature/x' and checked it out";
    assert_eq!((ready.remark().as_deref(), ready.base), (Some(said), here.clone()));
    assert_eq!(ready.left.as_deref(), Some("feature/x"));
    assert_eq!(stage.git(&["rev-parse", "feature/x"]), here);
}
