//! A design that another workflow requested: that workflow's facts, and the files it receives.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_domain::compat::execution_log::Category;
use convoke_domain::compat::ledger::{of_lanes, place, timing, tokens};
use convoke_domain::compat::session_env::{Key, SessionEnv, last_health};
use convoke_domain::design::design_file::DesignFile;
use convoke_domain::design::event::{Export, LaneEnd, Settings};
use convoke_domain::design::export::ExportFailure;
use convoke_domain::design::mark;
use convoke_domain::design::notice::Notice;
use convoke_domain::design::outline::DesignOutline;
use convoke_domain::design::render;
use convoke_domain::design::seat::{Available, Holder, Panel};
use convoke_domain::design::walk::LaneNeed;
use convoke_domain::lane::health::AgentHealth;
use convoke_domain::manifest::{EXPORT_DIR, MANIFEST_FILE};
use convoke_engine::compat::execution_log;
use convoke_engine::compat::ledger::token_rows::line as token_line;
use convoke_engine::compat::ledger::{self, LedgerError, real, token_file};
use convoke_engine::file;
use convoke_engine::manifest::write::{ArtifactSource, BundleOrder, write};

use super::DesignError;
use crate::failure::{ErrorClass, Failure};
use crate::observer::Reporter;
use crate::session::Session;

/// No session file is larger.
const MAX_BYTES: u64 = 1024 * 1024;

/// Accepted findings out of scope, for the calling workflow to file.
const ACCEPTED: &str = DesignFile::FiledOutOfScope.name();

/// The log of problems in the folder of the calling workflow.
const LOG: &str = "execution-issues.md";

/// The workflow that the rows belong to.
const SKILL: &str = "design";

/// The workflow that requested the design.
pub(super) struct Caller {
    reporter: Reporter,
    env: PathBuf,
    told: SessionEnv,
}

impl Caller {
    /// Reads the session file of the calling workflow. A missing file counts as empty.
    pub(super) fn of(settings: &Settings, reporter: Reporter) -> Option<Self> {
        let env = PathBuf::from(settings.session_env.as_deref()?);
        let text = file::lossy_text(&env, MAX_BYTES);
        let place = env.display();
        if text.is_none() && env.exists() {
            reporter.warn(format!("cannot read {place}; Convoke ignores it"));
        }
        let told = SessionEnv::parse(&text.unwrap_or_default());
        for key in told.repeated() {
            reporter.warn(format!("{key} appears twice in {place}; the last one counts"));
        }
        for key in told.unusable().map(Key::name) {
            reporter.warn(format!("{key} in {place} is malformed; Convoke ignores it"));
        }
        Some(Self { reporter, env, told })
    }

    /// Returns an agent's health, by its word, as the caller knows it: then Convoke need not probe.
    pub(super) fn health(&self, word: &str) -> Option<AgentHealth> {
        self.told.health(word).map(AgentHealth::from_caller)
    }

    /// Writes the available agents beside the session file.
    pub(super) fn begins(&self, settings: &Settings, available: Available) {
        let text = self.told.health_file(&seats(settings, available));
        self.leave_health(&text);
    }

    /// Marks a step that begins in the ledgers of the calling workflow. An error there never stops a run.
    pub(super) fn mark(&self, session: &Session, notice: &Notice) {
        let Notice::StepBegins { step, .. } = notice else { return };
        self.time(session, timing::TimingEvent::Mark(mark::of_time(*step)));
        if let Some(words) = mark::of_tokens(*step) {
            self.count(session, tokens::TokenEvent::Mark(words.to_owned()));
        }
    }

    /// Writes down a lane that ended in the same ledgers.
    pub(super) fn lane(&self, session: &Session, panel: &Panel, request: &LaneNeed, end: &LaneEnd) {
        if let Some(task) = of_lanes::task(panel, request, end, session.now().as_second()) {
            self.time(session, timing::TimingEvent::Task(task));
        }
        if let Some(used) = of_lanes::used(panel, request, end) {
            self.count(session, tokens::TokenEvent::Use(used));
        }
    }

    fn time(&self, session: &Session, event: timing::TimingEvent) {
        if let Some(path) = place::timing(None, &self.ledgers(session), &real).path {
            let row =
                timing::TimingRow { at: session.now().as_second(), skill: SKILL.to_owned(), event };
            complain(ledger::append(&path, &row.line()), &self.reporter);
        }
    }

    fn count(&self, session: &Session, event: tokens::TokenEvent) {
        let named = self.ledgers(session);
        let id = self.told.usable(Key::TokenSessionId).map(str::to_owned);
        let id = id.or_else(|| session.environment.token_session());
        let name = token_file(&named, id.as_deref(), &session.project);
        if let Some(path) = place::tokens(None, &named, &name, &real).path {
            let row = tokens::TokenRow { at: session.now(), event };
            complain(ledger::append(&path, &token_line(&row)), &self.reporter);
        }
    }

    /// Returns where the ledgers may be: what the session file says comes first.
    fn ledgers(&self, session: &Session) -> place::NamedPlaces {
        let mut named = session.environment.ledgers();
        named.session_env = Some(self.env.clone());
        if let Some(path) = self.told.usable(Key::TimingLedger) {
            named.timing = Some(PathBuf::from(path));
        }
        named
    }

    /// Writes accepted observations outside of the feature to the file from which they are filed;
    /// `false` for any other file.
    pub(super) fn keep(&self, name: &str, text: &str) -> Result<bool, Failure> {
        if name != ACCEPTED {
            return Ok(false);
        }
        let path = self.folder().join(name);
        let failed = |source| {
            Failure::new(
                ErrorClass::Prerequisite,
                DesignError::Folder { path: path.clone(), source },
            )
        };
        self.put(&path, text).map(|()| true).map_err(failed)
    }

    /// Writes which agents are still available, after any ending of the run.
    pub(super) fn ends(&self, settings: &Settings, available: Available) {
        let before = file::text(&self.health_file(), MAX_BYTES).unwrap_or_default();
        self.leave_health(&last_health(&before, &seats(settings, available)));
    }

    /// Exports the design: the available agents, the warnings, and the manifest. The files come
    /// from the journal, not from their copies in the run's folder.
    pub(super) fn export(
        &self,
        session: &Session,
        settings: &Settings,
        folder: &Path,
        progress: &DesignOutline,
    ) -> Export {
        self.ends(settings, progress.available);
        let files = render::artifacts(progress);
        self.remove_stale(&files);
        for issue in &progress.results.issues {
            let logged =
                execution_log::append_once(&self.folder().join(LOG), Category::Warnings, issue);
            if let Err(error) = logged {
                self.reporter.warn(error.to_string());
            }
        }
        let id = session.environment.only(["SESSION_ID"]).pop();
        let id = id.and_then(|(_, value)| value.into_string().ok());
        let order = BundleOrder {
            source: ArtifactSource::Texts(&files),
            parent: &self.folder(),
            session_id: id.as_deref(),
            now: session.now(),
            // The record does not exist before the run has ended.
            record: None,
        };
        let failed =
            |why: ExportFailure| Export::Failed { folder: folder.display().to_string(), why };
        match write(&order) {
            // The caller expects a file that is not empty.
            Ok(manifest) if fs::metadata(&manifest).is_ok_and(|found| found.len() > 0) => {
                Export::Written { manifest: manifest.display().to_string() }
            }
            Ok(manifest) => failed(ExportFailure::ManifestMissing(manifest.display().to_string())),
            Err(error) => failed(ExportFailure::from(&error)),
        }
    }

    /// Removes the manifest of an earlier design, and its accepted observations. The caller learns
    /// that there is no manifest, and must not take the old one for this design's.
    pub(super) fn withdraw(&self, progress: &DesignOutline) {
        remove(&self.folder().join(EXPORT_DIR).join(MANIFEST_FILE), &self.reporter);
        self.remove_stale(&render::artifacts(progress));
    }

    /// Removes what an earlier design had accepted, if this one has no such file.
    fn remove_stale(&self, files: &BTreeMap<String, Arc<str>>) {
        if !files.contains_key(ACCEPTED) {
            remove(&self.folder().join(ACCEPTED), &self.reporter);
        }
    }

    /// Returns the folder of the calling workflow.
    fn folder(&self) -> PathBuf {
        self.env.parent().map_or_else(PathBuf::new, Path::to_owned)
    }

    /// Puts a file into that folder. Convoke does not create a missing folder: no program would read it.
    fn put(&self, path: &Path, text: &str) -> io::Result<()> {
        if !self.folder().is_dir() {
            return Err(ErrorKind::NotFound.into());
        }
        file::put(path, text.as_bytes())
    }

    fn health_file(&self) -> PathBuf {
        let mut path = self.env.clone().into_os_string();
        path.push(".health");
        PathBuf::from(path)
    }

    fn leave_health(&self, text: &str) {
        if let Err(error) = self.put(&self.health_file(), text) {
            let place = self.health_file();
            self.reporter.warn(format!("cannot write `{}`: {error}", place.display()));
        }
    }
}

/// Removes a file that an earlier design left under the same name.
fn remove(path: &Path, reporter: &Reporter) {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            reporter.warn(format!("cannot remove `{}`: {error}", path.display()));
        }
        Ok(()) | Err(_) => {}
    }
}

fn complain(written: Result<(), LedgerError>, reporter: &Reporter) {
    if let Err(error) = written {
        reporter.warn(error.to_string());
    }
}

/// Returns for both agents whether they are available.
fn seats(settings: &Settings, available: Available) -> Vec<(&str, bool)> {
    let holders = [Holder::First, Holder::Second];
    holders.map(|holder| (settings.panel.named(holder).word(), available.has(holder))).to_vec()
}
