//! What every request of the dashboard shares.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use convoke_page::layout::{Access, PageFrame, Section};
use convoke_page::now::AgentsKnown;
use convoke_service::failure::{Failure, with_causes};
use convoke_service::now::{
    AgentsNowReport, LiveLaneReport, TreeNowReport, agents_now, tree_of, with_trees,
};
use convoke_service::observer::{Observer, Progress};
use convoke_service::session::Session;
use convoke_service::workspace::checked_out;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::answer::{Broken, broken};
use crate::live::Live;
use crate::secret::Secret;

/// How many use cases work in parallel; others wait.
const MOST_CALLS: usize = 8;

/// How long what was found out about agents is shown.
const AGENTS_STAY: SignedDuration = SignedDuration::from_secs(60);

/// How long what git said about the working tree is shown.
const TREE_STAYS: SignedDuration = SignedDuration::from_secs(5);

/// After this time without a page that shows it, a working tree is forgotten.
const TREE_KEPT: SignedDuration = SignedDuration::from_secs(60);

/// How many notices wait for the page that shows them.
const MOST_NOTICES: usize = 64;

/// The longest notice, in characters.
const LONGEST_NOTICE: usize = 2000;

/// The dashboard of one project.
pub(crate) struct Dashboard {
    pub(crate) session: Session,
    pub(crate) access: Access,
    pub(crate) csrf: Secret,
    pub(crate) live: Live,
    project: String,
    calls: Arc<Semaphore>,
    notices: Mutex<VecDeque<(String, String)>>,
    agents: Mutex<KnownAgents>,
    trees: Mutex<BTreeMap<PathBuf, KnownTree>>,
}

/// What git said about the working tree of a folder, which pages do not wait for.
struct KnownTree {
    report: Option<TreeNowReport>,
    looked_at: Timestamp,
}

/// What was found out about agents: that starts their programs, so pages do not wait for it.
#[derive(Default)]
struct KnownAgents {
    report: Option<Arc<FoundAgents>>,
    looked_at: Option<Timestamp>,
}

/// What was found out about agents, or why Convoke cannot find out.
pub(crate) type FoundAgents = Result<AgentsNowReport, String>;

/// Returns what a page says about agents.
pub(crate) fn agents_known(found: Option<&FoundAgents>) -> AgentsKnown<'_> {
    match found {
        None => AgentsKnown::NotYet,
        Some(Ok(report)) => AgentsKnown::Found(report),
        Some(Err(why)) => AgentsKnown::Failed(why),
    }
}

/// Collects what a use case tells its user.
#[derive(Default)]
struct Heard {
    words: Mutex<Vec<String>>,
}

impl Observer for Heard {
    fn observe(&self, _source: Option<&str>, progress: &Progress) {
        let words = match progress {
            Progress::Message(text) | Progress::Warning(text) | Progress::TelemetryLost(text) => {
                text.clone()
            }
            Progress::Remark(text) => format!("note: {text}"),
            Progress::Hint(text) => format!("hint: {text}"),
            Progress::Note(_)
            | Progress::Aside(_)
            | Progress::Lane(_)
            | Progress::LaneOver
            | Progress::Waiting(_) => {
                return;
            }
        };
        if let Ok(mut heard) = self.words.lock() {
            heard.push(words);
        }
    }
}

impl Dashboard {
    pub(crate) fn new(session: Session, project: String, access: Access, csrf: Secret) -> Self {
        Self {
            session,
            access,
            csrf,
            project,
            live: Live::default(),
            calls: Arc::new(Semaphore::new(MOST_CALLS)),
            notices: Mutex::default(),
            agents: Mutex::default(),
            trees: Mutex::default(),
        }
    }

    /// Returns what is known about agents, and has it found out anew if that is long ago.
    pub(crate) fn agents(self: &Arc<Self>) -> Option<Arc<FoundAgents>> {
        let now = self.session.now();
        let mut known = self.agents.lock().ok()?;
        let is_old = known.looked_at.is_none_or(|at| now.duration_since(at) > AGENTS_STAY);
        if is_old {
            known.looked_at = Some(now);
            let dashboard = Arc::clone(self);
            tokio::spawn(async move {
                let found = dashboard.read(agents_now).await;
                let found = found.map_err(|failure| with_causes(failure.error.as_ref()));
                if let Ok(mut known) = dashboard.agents.lock() {
                    known.report = Some(Arc::new(found));
                }
            });
        }
        known.report.clone()
    }

    /// Says of running lanes what the working trees of their folders are like.
    pub(crate) fn add_trees(self: &Arc<Self>, lanes: &mut [LiveLaneReport]) {
        with_trees(lanes, &mut |folder| self.tree(folder));
    }

    /// Returns what is known about a working tree, and has git look anew if that is long ago.
    fn tree(self: &Arc<Self>, folder: &Path) -> Option<TreeNowReport> {
        let now = self.session.now();
        let mut trees = self.trees.lock().ok()?;
        trees.retain(|_, known| now.duration_since(known.looked_at) <= TREE_KEPT);
        let known = trees.get(folder);
        let report = known.and_then(|known| known.report);
        if known.is_none_or(|known| now.duration_since(known.looked_at) > TREE_STAYS) {
            trees.insert(folder.to_owned(), KnownTree { report, looked_at: now });
            let (dashboard, folder) = (Arc::clone(self), folder.to_owned());
            tokio::spawn(async move {
                let place = folder.clone();
                let found = dashboard.read(move |_| Ok(tree_of(&place))).await;
                let (Ok(report), Ok(mut trees)) = (found, dashboard.trees.lock()) else { return };
                if let Some(known) = trees.get_mut(&folder) {
                    known.report = Some(report);
                }
            });
        }
        report
    }

    /// Calls a use case that only reads, on a blocking thread.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Session) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let session = self.session.for_call();
        self.call(move || work(&session)).await
    }

    /// Calls a use case that changes something. Returns what it told its user, too.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Session) -> Result<T, Failure> + Send + 'static,
    ) -> Result<(T, String), Failure> {
        let heard = Arc::new(Heard::default());
        let session = self.session.for_call().observed_by(Arc::clone(&heard) as Arc<dyn Observer>);
        let done = self.call(move || work(&session)).await?;
        let words = heard.words.lock().map(|words| words.join("; ")).unwrap_or_default();
        Ok((done, words))
    }

    async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let Ok(place) = Arc::clone(&self.calls).acquire_owned().await else {
            return Err(broken(Broken::Closed));
        };
        let done = spawn_blocking(move || {
            let done = work();
            drop(place);
            done
        });
        done.await.unwrap_or_else(|_| Err(broken(Broken::Panicked)))
    }

    /// Keeps a sentence for the page that follows a change, and returns the name of it.
    pub(crate) fn keep_notice(&self, words: &str) -> Option<String> {
        if words.is_empty() {
            return None;
        }
        let name = Secret::random().ok()?.text().chars().take(16).collect::<String>();
        let mut notices = self.notices.lock().ok()?;
        if notices.len() >= MOST_NOTICES {
            notices.pop_front();
        }
        notices.push_back((name.clone(), words.chars().take(LONGEST_NOTICE).collect()));
        Some(name)
    }

    fn take_notice(&self, name: &str) -> Option<String> {
        let mut notices = self.notices.lock().ok()?;
        let place = notices.iter().position(|(kept, _)| kept == name)?;
        notices.remove(place).map(|(_, words)| words)
    }

    /// Returns the shell of a page.
    pub(crate) fn frame(&self, section: Section, title: &str, notice: Option<&str>) -> PageFrame {
        PageFrame {
            section,
            title: title.to_owned(),
            project: self.project.clone(),
            branch: checked_out(&self.session),
            access: self.access,
            csrf: self.csrf.text().to_owned(),
            live: None,
            notice: notice.and_then(|name| self.take_notice(name)),
        }
    }
}
