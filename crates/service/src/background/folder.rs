//! The folders of background runs, and whose key is whose.
//!
//! `RUN/request.json` is the request. `RUN/1`, `RUN/2` and so on are attempts: each has the
//! words of a command, what its process printed and said, who it is, and what it ended with.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_domain::lane::budget::{InvalidBudget, WrittenBudget};
use convoke_domain::run::RunId;
use convoke_engine::chance::random_number;
use convoke_engine::file;
use convoke_engine::lock::{Lock, LockError};
use convoke_engine::skill::hash;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::attempt::{Attempt, ProcessState};
use super::{BackgroundKind, RunWork};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::workspace::project_folder;

/// Whose key is whose. No run can be called so.
pub(super) const KEYS: &str = ".keys";
const REQUEST: &str = "request.json";

/// No file of ours that is read whole is larger.
pub(super) const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// How long a start waits for others: clients expect it to return within a second.
const PATIENCE: Duration = Duration::from_millis(600);

#[derive(Debug, thiserror::Error)]
pub(super) enum FolderError {
    #[error("cannot find a folder for background runs: HOME is not set")]
    NoHome,
    #[error("cannot use `{}`", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("there is no run `{0}` of this project")]
    NoRun(RunId),
    #[error("cannot read `{}`", .0.display())]
    Illegible(PathBuf),
    #[error("cannot read the budget `{text}` in `{}`", path.display())]
    Budget { path: PathBuf, text: String, source: InvalidBudget },
    #[error("other runs are being started, so this one was not; try again")]
    Busy,
}

pub(super) fn unusable(path: &Path) -> impl FnOnce(io::Error) -> Failure {
    let path = path.to_owned();
    |source| Failure::new(ErrorClass::Prerequisite, FolderError::File { path, source })
}

/// The request, as Convoke keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct KeptRequest {
    pub(super) run: String,
    pub(super) kind: BackgroundKind,
    /// The folder that the project is known by.
    project: String,
    /// The hash of the whole request.
    digest: String,
    pub(super) budget: Option<String>,
    /// The run of the lane that asked for it, which pays for it.
    #[serde(default)]
    pub(super) paid_by: Option<String>,
    /// The name of the key's file; none where the run began elsewhere.
    #[serde(default)]
    pub(super) key: Option<String>,
}

/// What a request says of its payment. Requests of later versions say it in the same words.
#[derive(Deserialize)]
struct PaymentBody {
    #[serde(default)]
    budget: Option<String>,
    #[serde(default)]
    paid_by: Option<String>,
}

/// Returns the budget of the run in a folder if that run is paid by this one. Convoke refuses a
/// request that it cannot read: it may have taken any amount.
pub(super) fn budget_paid_by(folder: &Path, run: &str) -> Result<Option<WrittenBudget>, Failure> {
    let path = folder.join(REQUEST);
    // The folder of a request appears before the request.
    if !path.is_file() {
        return Ok(None);
    }
    let text = file::text(&path, MAX_BYTES).unwrap_or_default();
    let unreadable = |_| {
        Failure::new(ErrorClass::Prerequisite, FolderError::Illegible(path.clone()))
            .hint("that run may be paid by this lane; once it has ended, remove its folder")
    };
    let body: PaymentBody = serde_json::from_str(&text).map_err(unreadable)?;
    if body.paid_by.as_deref() == Some(run) {
        return kept_budget(&path, body.budget.as_deref());
    }
    Ok(None)
}

/// Parses a budget that a request keeps. One that cannot be read is never no budget.
fn kept_budget(path: &Path, text: Option<&str>) -> Result<Option<WrittenBudget>, Failure> {
    let parse = |text: &str| {
        WrittenBudget::parse(text).map_err(|source| {
            let (path, text) = (path.to_owned(), text.to_owned());
            Failure::new(ErrorClass::Prerequisite, FolderError::Budget { path, text, source })
                .hint("correct the budget in that file")
        })
    };
    text.map(parse).transpose()
}

/// A run before it has a folder.
pub(super) struct NewRun {
    key_hash: String,
    request: KeptRequest,
    id: RunId,
}

impl NewRun {
    pub(super) fn of(
        session: &Session,
        key: &str,
        work: &RunWork,
        asked: Option<&WrittenBudget>,
    ) -> Self {
        let project = project_folder(session).display().to_string();
        let key_hash = hash(format!("{project}\n{key}"));
        let now = session.now();
        // Two servers that start runs at the same time must not choose the same id.
        let id = RunId::new(now, random_number());
        let digest = hash(work.request_words(&session.project, asked).join("\0"));
        let request = KeptRequest {
            run: id.to_string(),
            kind: work.kind(),
            project,
            digest,
            budget: None,
            paid_by: session.environment.surrounding_lane().and_then(|around| around.run),
            key: Some(key_hash.clone()),
        };
        Self { key_hash, request, id }
    }

    /// Sets what the run may spend. The same request has the same key, with each budget that the
    /// settings leave it.
    pub(super) fn set_budget(&mut self, budget: Option<&WrittenBudget>) {
        self.request.budget = budget.map(|budget| budget.text().to_owned());
    }
}

/// Whose a key is.
pub(super) enum Claim {
    /// It was free, and belongs to this new run now.
    Ours(RunId),
    /// An earlier call had it for the same request.
    Known(RunId),
    /// An earlier call had it for another request.
    Other(RunId),
    /// An earlier call had it, and what it started is not known any more.
    Lost(RunId),
}

/// The folder of all background runs.
pub(super) struct Folders {
    pub(super) root: PathBuf,
    project: String,
}

impl Folders {
    pub(super) fn of(session: &Session) -> Result<Self, Failure> {
        let root = session.environment.background_runs();
        let root =
            root.ok_or_else(|| Failure::new(ErrorClass::Prerequisite, FolderError::NoHome))?;
        Ok(Self::at(root, project_folder(session).display().to_string()))
    }

    pub(super) const fn at(root: PathBuf, project: String) -> Self {
        Self { root, project }
    }

    /// Waits a moment until no other process of the user starts a run.
    pub(super) fn lock_starts(&self) -> Result<Lock, Failure> {
        let path = self.start_lock();
        path.parent().map_or(Ok(()), make_private)?;
        Lock::wait_for(&path, "another start of a run", PATIENCE).map_err(|error| match error {
            LockError::Held { .. } => Failure::new(ErrorClass::Interrupted, FolderError::Busy)
                .hint("call run_start again with the same key: it starts nothing twice"),
            LockError::File { .. } => Failure::new(ErrorClass::Prerequisite, error),
        })
    }

    /// Returns the file of the lock that a start of a run holds.
    pub(super) fn start_lock(&self) -> PathBuf {
        self.root.with_extension("lock")
    }

    /// Takes a key for a run and makes the run's folder; of two callers at the same time one has it.
    pub(super) fn claim(&self, new: &NewRun) -> Result<Claim, Failure> {
        let keys = self.root.join(KEYS);
        make_private(&keys)?;
        let key = keys.join(&new.key_hash);
        let folder = self.root.join(new.id.as_str());
        DirBuilder::new().mode(0o700).create(&folder).map_err(unusable(&folder))?;
        let request = folder.join(REQUEST);
        let text = serde_json::to_string(&new.request).unwrap_or_default();
        file::put_private(&request, text.as_bytes()).map_err(unusable(&request))?;
        // The first link has the key, and the key is never there without its content.
        match fs::hard_link(&request, &key) {
            Ok(()) => Ok(Claim::Ours(new.id.clone())),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_dir_all(&folder).ok();
                self.known(new)?.ok_or_else(|| illegible(&key))
            }
            Err(error) => Err(unusable(&key)(error)),
        }
    }

    /// Tells whose a key is, if it is taken.
    pub(super) fn known(&self, new: &NewRun) -> Result<Option<Claim>, Failure> {
        let key = &self.root.join(KEYS).join(&new.key_hash);
        if !key.exists() {
            return Ok(None);
        }
        let kept = read_request(key).ok_or_else(|| illegible(key))?;
        let run = RunId::parse(&kept.run).map_err(|_| illegible(key))?;
        Ok(Some(if kept.digest != new.request.digest {
            Claim::Other(run)
        } else if self.root.join(&kept.run).join(REQUEST).is_file() {
            Claim::Known(run)
        } else {
            Claim::Lost(run)
        }))
    }

    /// Opens the folder of a run that this project started in the background.
    pub(super) fn find(&self, run: &RunId) -> Option<KeptRun> {
        kept_run(self.root.join(run.as_str())).filter(|kept| kept.request.project == self.project)
    }

    pub(super) fn open(&self, run: &RunId) -> Result<KeptRun, Failure> {
        let missing = || Failure::new(ErrorClass::Refused, FolderError::NoRun(run.clone()));
        self.find(run).ok_or_else(missing)
    }

    /// Makes the folder of a run that began elsewhere, so that it can go on in the background.
    pub(super) fn adopt(&self, run: &RunId, kind: BackgroundKind) -> Result<KeptRun, Failure> {
        if let Some(kept) = self.find(run) {
            return Ok(kept);
        }
        let path = self.root.join(run.as_str());
        make_private(&path)?;
        let request = KeptRequest {
            run: run.to_string(),
            kind,
            project: self.project.clone(),
            digest: String::new(),
            budget: None,
            paid_by: None,
            key: None,
        };
        let file = path.join(REQUEST);
        let text = serde_json::to_string(&request).unwrap_or_default();
        file::put_private(&file, text.as_bytes()).map_err(unusable(&file))?;
        Ok(KeptRun { path, request })
    }
}

/// Opens the folder of a run of any project.
pub(super) fn kept_run(path: PathBuf) -> Option<KeptRun> {
    let request = read_request(&path.join(REQUEST))?;
    Some(KeptRun { path, request })
}

fn read_request(path: &Path) -> Option<KeptRequest> {
    serde_json::from_str(&file::text(path, MAX_BYTES)?).ok()
}

pub(super) fn illegible(path: &Path) -> Failure {
    Failure::new(ErrorClass::Prerequisite, FolderError::Illegible(path.to_owned()))
        .hint("use another key")
}

fn make_private(folder: &Path) -> Result<(), Failure> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unusable(folder))
}

/// The folder of one run.
pub(super) struct KeptRun {
    pub(super) path: PathBuf,
    pub(super) request: KeptRequest,
}

impl KeptRun {
    /// Returns what the run may spend; nothing where its request names no budget.
    pub(super) fn budget(&self) -> Result<Option<WrittenBudget>, Failure> {
        kept_budget(&self.path.join(REQUEST), self.request.budget.as_deref())
    }

    /// Returns the last attempt, if there is one.
    pub(super) fn last_attempt(&self) -> Option<Attempt> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let last = numbers.max()?;
        Some(Attempt { path: self.path.join(last.to_string()) })
    }

    /// Tells whether an attempt has begun or is about to, so that another start could do the work twice.
    pub(super) fn was_ever_started(&self, now: Timestamp) -> bool {
        let is_started =
            |attempt: Attempt| attempt.has_begun() || attempt.state(now) == ProcessState::Starting;
        self.last_attempt().is_some_and(is_started)
    }

    /// Makes the folder of another attempt with a file, whose path is the last word.
    pub(super) fn next_attempt_with(
        &self,
        mut words: Vec<String>,
        name: &str,
        text: &str,
        session: &Session,
    ) -> Result<Attempt, Failure> {
        let attempt = self.make_attempt()?;
        words.push(attempt.put(name, text)?.display().to_string());
        attempt.put_words(words, session.now())?;
        Ok(attempt)
    }

    /// Makes the folder of another attempt; of two callers at the same time one fails.
    pub(super) fn next_attempt(
        &self,
        words: &[String],
        now: Timestamp,
    ) -> Result<Attempt, Failure> {
        let attempt = self.make_attempt()?;
        attempt.put_words(words.to_vec(), now)?;
        Ok(attempt)
    }

    fn make_attempt(&self) -> Result<Attempt, Failure> {
        let last = self.last_attempt();
        let number = |attempt: &Attempt| {
            attempt.path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok())
        };
        let next = last.as_ref().and_then(number).unwrap_or(0) + 1;
        let attempt = Attempt { path: self.path.join(next.to_string()) };
        DirBuilder::new().mode(0o700).create(&attempt.path).map_err(unusable(&attempt.path))?;
        Ok(attempt)
    }
}
