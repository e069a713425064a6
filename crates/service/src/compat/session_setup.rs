//! Setting up a session: checks, a folder, which agents answer, and what the caller knew.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::compat::session_env::{Key, SessionEnv, WriteOrder};
use convoke_domain::compat::session_setup::{
    Reviewer, Reviewers, SessionOrder, SessionOrderError, is_ledger_path, repository_of,
};
use convoke_domain::design::setup::preflight::Skips;
use convoke_domain::lane::health::AgentHealth;
use convoke_engine::client::adapter;
use convoke_engine::compat::session_folder;
use convoke_engine::compat::setup_steps;
use convoke_engine::file;
use convoke_engine::git::branch::remote_url;

use super::session_env::{MAX_BYTES, NO_FILE, write_file};
use super::{FETCH_LIMIT, ScriptEnd, ScriptReply, joined, preflight};
use crate::agents::{ProbePolicy, healths_of};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;

#[derive(Debug, thiserror::Error)]
#[error("cannot make a folder for the session")]
struct NoSessionFolder(#[source] std::io::Error);

/// Sets up a session.
pub fn session_setup(session: &Session, words: &[String]) -> ScriptReply {
    let order = match SessionOrder::parse(words) {
        Ok(order) => order,
        Err(error) => {
            session.reporter().say(error.to_string());
            return ScriptReply::code(SessionOrderError::CODE);
        }
    };
    let caller = order.caller_env.as_deref();
    let caller = caller.and_then(|path| file::lossy_text(Path::new(path), MAX_BYTES));
    let caller = SessionEnv::parse(&caller.unwrap_or_default());
    if !order.skip_preflight {
        let skips = Skips { branch: order.skip_branch_check, clean: false };
        if let Err(error) = setup_steps::preflight(&session.project, skips, FETCH_LIMIT) {
            let code = error.code();
            return ScriptReply::lines(&preflight::lines(Err(error)), code);
        }
    }
    let mut out = String::new();
    let end = Setup { session, order: &order, caller: &caller }.run(&mut out);
    ScriptReply { out, end }
}

/// A session that is being set up.
struct Setup<'s> {
    session: &'s Session,
    order: &'s SessionOrder,
    caller: &'s SessionEnv,
}

impl Setup<'_> {
    /// Sets up the session. It prints what it created even if a later step fails.
    fn run(&self, out: &mut String) -> ScriptEnd {
        let code = SessionOrderError::CODE;
        for key in self.caller.unusable() {
            self.warn(&format!("dropping a malformed {}", key.name()));
        }
        match self.make() {
            Ok(made) => out.push_str(&joined(&made)),
            Err(failure) => return ScriptEnd::Told(failure, code),
        }
        let repository = self.repository();
        if !self.order.skip_repo_check {
            let (name, unavailable) = &repository;
            out.extend([format!("REPO={name}\n"), format!("REPO_UNAVAILABLE={unavailable}\n")]);
        }
        let reviewers = match self.reviewers() {
            Ok(reviewers) => reviewers,
            Err(failure) => return ScriptEnd::Failed(failure),
        };
        out.extend(reviewers.as_ref().map(|reviewers| joined(&reviewers.lines())));
        out.extend(
            [Key::TokenSessionId, Key::ClaudeSourceFile]
                .into_iter()
                .filter_map(|key| Some(format!("{}={}\n", key.name(), self.caller.usable(key)?))),
        );
        match self.keep(reviewers.as_ref(), &repository) {
            Ok(()) => ScriptEnd::Code(0),
            Err(error) => {
                self.session.reporter().say(error);
                ScriptEnd::Code(code)
            }
        }
    }

    fn make(&self) -> Result<Vec<String>, Failure> {
        let Session { environment, project, .. } = self.session;
        let usual = environment.sessions().into_iter().next();
        let (temp, now) = (environment.temp(), self.session.now());
        let made = session_folder::make(usual.as_deref(), &temp, &self.order.prefix, project, now)
            .map_err(|error| Failure::new(ErrorClass::Prerequisite, NoSessionFolder(error)))?;
        if made.is_elsewhere {
            let temp = temp.display();
            self.warn(&format!("cache session root unavailable, falling back to {temp}"));
        }
        let folder = made.folder.display();
        Ok(vec![
            format!("SESSION_TMPDIR={folder}"),
            format!("SESSION_ID={}", made.id),
            format!("LARCH_RENDER_CACHE_DIR={folder}/render-cache"),
        ])
    }

    /// Returns the repository, and whether it is unknown.
    fn repository(&self) -> (String, String) {
        let told = (self.caller.usable(Key::Repo), self.caller.usable(Key::RepoUnavailable));
        if let (None, None) = told {
            let found = remote_url(&self.session.project).and_then(|url| repository_of(&url));
            let unavailable = found.is_none().to_string();
            return (found.unwrap_or_default(), unavailable);
        }
        (told.0.unwrap_or_default().to_owned(), told.1.unwrap_or("false").to_owned())
    }

    /// Finds out which reviewers answer, if the script requests it or the caller knows it.
    fn reviewers(&self) -> Result<Option<Reviewers>, Failure> {
        let Session { environment, project, .. } = self.session;
        let agents = [Client::Codex, Client::Cursor];
        let told = agents.map(|agent| self.caller.health(agent.name()));
        if !self.order.check_reviewers && told == [None, None] {
            return Ok(None);
        }
        let skips = [self.order.skip_codex_probe, self.order.skip_cursor_probe];
        let asked: Vec<_> = (0..2)
            .filter(|at| self.order.check_reviewers && told[*at].is_none() && !skips[*at])
            .map(|at| agents[at].name())
            .collect();
        let (found, trouble) = match healths_of(&asked, ProbePolicy::Unknown, self.session) {
            Ok(found) => (found, None),
            Err(failure) if failure.class == ErrorClass::Interrupted => return Err(failure),
            Err(failure) => (Vec::new(), Some(failure.error.to_string())),
        };
        for (name, health) in asked.iter().zip(&found) {
            if let Some(banner) = health.as_ref().and_then(|health| health.banner(name)) {
                self.session.reporter().say(banner);
            }
        }
        let of = |at: usize| {
            let program = environment.find_program(adapter(agents[at]).programs, project);
            let is_available = program.is_some();
            let place = asked.iter().position(|name| *name == agents[at].name());
            let health = place.and_then(|place| found.get(place).cloned().flatten());
            match (told[at], health) {
                (Some(is_healthy), _) => {
                    Reviewer { is_available, is_healthy: Some(is_healthy), error: None }
                }
                (None, Some(health)) => Reviewer::asked(&health),
                (None, None) if is_available => Reviewer::asked(&AgentHealth::NotAsked),
                (None, None) => Reviewer::asked(&AgentHealth::Missing),
            }
        };
        Ok(Some(Reviewers { codex: of(0), cursor: of(1), trouble }))
    }

    /// Leaves what others are to know.
    fn keep(
        &self,
        reviewers: Option<&Reviewers>,
        (repo, unavailable): &(String, String),
    ) -> Result<(), String> {
        let health = self.order.write_health.as_deref().filter(|path| *path != NO_FILE);
        if let Some(path) = health {
            let text = reviewers
                .map_or_else(|| Reviewers::default().health_file(), Reviewers::health_file);
            file::put(Path::new(path), text.as_bytes())
                .map_err(|error| format!("session-setup: cannot write {path}: {error}"))?;
        }
        let Some(path) = &self.order.write_session_env else { return Ok(()) };
        let ledger = self.ledger().unwrap_or_default();
        let healthy = |reviewer: fn(&Reviewers) -> &Reviewer| {
            reviewers.map(|all| reviewer(all).counts().to_string()).unwrap_or_default()
        };
        let value = |key| self.caller.usable(key).unwrap_or_default().to_owned();
        let words = [
            ("--output", path.clone()),
            ("--repo", repo.clone()),
            ("--repo-unavailable", unavailable.clone()),
            ("--codex-healthy", healthy(|all| &all.codex)),
            ("--cursor-healthy", healthy(|all| &all.cursor)),
            ("--timing-ledger", ledger),
            ("--token-session-id", value(Key::TokenSessionId)),
            ("--claude-source-file", value(Key::ClaudeSourceFile)),
        ];
        let words = words.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]);
        let order = WriteOrder::parse(&words.collect::<Vec<_>>());
        order.map_err(|error| error.to_string()).and_then(|order| write_file(&order))
    }

    /// Returns the caller's ledger of times, if its path is in a folder that a session may write
    /// to.
    fn ledger(&self) -> Option<String> {
        let path = self.caller.usable(Key::TimingLedger)?;
        let names = ["IMPLEMENT_TMPDIR", "DESIGN_TMPDIR", "REVIEW_TMPDIR"];
        let folders = self.session.environment.only(names);
        let mut roots: Vec<_> =
            folders.into_iter().map(|(_, value)| PathBuf::from(value)).collect();
        roots.push(self.session.environment.temp());
        let caller = self.order.caller_env.as_deref().map(Path::new).and_then(Path::parent);
        roots.extend(caller.map(Path::to_owned));
        let real = Path::new(path).parent().and_then(|folder| folder.canonicalize().ok());
        let is_inside = |real: &PathBuf| {
            roots
                .iter()
                .filter_map(|root| root.canonicalize().ok())
                .any(|root| real.starts_with(root))
        };
        if is_ledger_path(path) && real.as_ref().is_some_and(is_inside) {
            return Some(path.to_owned());
        }
        self.warn("dropping a timing ledger outside of the sessions");
        None
    }

    fn warn(&self, text: &str) {
        self.session.reporter().say(format!("session-setup: warning: {text}"));
    }
}
