//! `convoke plumbing session-setup`: checks, a folder, who answers, and what the caller knew.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client as Agent;
use convoke_domain::design::session_env::{Key, SessionEnv, WriteOrder};
use convoke_domain::design::setup::preflight::Skips;
use convoke_domain::design::setup::session::{
    Reviewer, Reviewers, SessionOrder, SessionOrderError, is_ledger_path, repository_of,
};
use convoke_domain::lane::health::AgentHealth;
use convoke_engine::client::adapter;
use convoke_engine::design::session_folder;
use convoke_engine::design::setup::steps;
use convoke_engine::file;
use convoke_engine::git::branch::remote_url;

use super::session_env::{MAX_BYTES, NO_FILE, written};
use super::{FETCH_LIMIT, preflight, print};
use crate::app::App;
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use convoke_service::agents::{Probing, healths_of};

#[derive(Debug, thiserror::Error)]
#[error("cannot make a folder for the session")]
struct NoFolder(#[source] std::io::Error);

pub(super) fn run(app: &App, words: &[String], output: &mut Output) -> Result<Exit, Failure> {
    let order = match SessionOrder::parse(words) {
        Ok(order) => order,
        Err(error) => return Ok(own_error(&error.to_string(), output)),
    };
    let caller =
        order.caller_env.as_deref().and_then(|it| file::lossy_text(Path::new(it), MAX_BYTES));
    let caller = SessionEnv::parse(&caller.unwrap_or_default());
    if !order.skip_preflight {
        let skips = Skips { branch: order.skip_branch_check, clean: false };
        if let Err(error) = steps::preflight(&app.project, skips, FETCH_LIMIT) {
            let code = error.code();
            print(&preflight::lines(Err(error)), output)?;
            return Ok(Exit::Script(code));
        }
    }
    for key in caller.unusable() {
        output.say(&format!("session-setup: warning: dropping a malformed {}", key.name()));
    }
    let session = Session { app, order: &order, caller: &caller };
    let made = match session.make(output) {
        Ok(made) => made,
        Err(failure) => {
            output.failure(&failure);
            return Ok(Exit::Script(SessionOrderError::CODE));
        }
    };
    print(&made, output)?;
    let repository = session.repository();
    if !order.skip_repo_check {
        let (name, unavailable) = &repository;
        print(&[format!("REPO={name}"), format!("REPO_UNAVAILABLE={unavailable}")], output)?;
    }
    let reviewers = session.reviewers()?;
    if let Some(reviewers) = &reviewers {
        print(&reviewers.lines(), output)?;
    }
    let passed = [Key::TokenSessionId, Key::ClaudeSourceFile]
        .into_iter()
        .filter_map(|key| Some(format!("{}={}", key.name(), caller.usable(key)?)));
    print(&passed.collect::<Vec<_>>(), output)?;
    match session.keep(reviewers.as_ref(), &repository, output) {
        Ok(()) => Ok(Exit::Done),
        Err(error) => Ok(own_error(&error, output)),
    }
}

fn own_error(error: &str, output: &Output) -> Exit {
    output.say(error);
    Exit::Script(SessionOrderError::CODE)
}

/// A session that is being set up.
struct Session<'s> {
    app: &'s App,
    order: &'s SessionOrder,
    caller: &'s SessionEnv,
}

impl Session<'_> {
    fn make(&self, output: &Output) -> Result<Vec<String>, Failure> {
        let (environment, project) = (&self.app.environment, &self.app.project);
        let usual = environment.sessions().into_iter().next();
        let temp = environment.temp();
        let made =
            session_folder::make(usual.as_deref(), &temp, &self.order.prefix, project, now())
                .map_err(|error| Failure::new(ErrorClass::Prerequisite, NoFolder(error)))?;
        if made.is_elsewhere {
            output.say(&format!(
                "session-setup: warning: cache session root unavailable, falling back to {}",
                temp.display()
            ));
        }
        let folder = made.folder.display();
        Ok(vec![
            format!("SESSION_TMPDIR={folder}"),
            format!("SESSION_ID={}", made.id),
            format!("LARCH_RENDER_CACHE_DIR={folder}/render-cache"),
        ])
    }

    /// Returns the repository, and whether nobody can tell which it is.
    fn repository(&self) -> (String, String) {
        let told = (self.caller.usable(Key::Repo), self.caller.usable(Key::RepoUnavailable));
        if let (None, None) = told {
            let found = remote_url(&self.app.project).and_then(|url| repository_of(&url));
            let unavailable = found.is_none().to_string();
            return (found.unwrap_or_default(), unavailable);
        }
        (told.0.unwrap_or_default().to_owned(), told.1.unwrap_or("false").to_owned())
    }

    /// Finds out who answers, if that was asked for or whoever called knows it.
    fn reviewers(&self) -> Result<Option<Reviewers>, Failure> {
        let agents = [Agent::Codex, Agent::Cursor];
        let told = agents.map(|agent| self.caller.health(agent.name()));
        if !self.order.check_reviewers && told == [None, None] {
            return Ok(None);
        }
        let skips = [self.order.skip_codex_probe, self.order.skip_cursor_probe];
        let asked: Vec<_> = (0..2)
            .filter(|at| self.order.check_reviewers && told[*at].is_none() && !skips[*at])
            .map(|at| agents[at].name())
            .collect();
        let (found, trouble) =
            match healths_of(&asked, Probing::Unknown, self.app, &self.app.reporter()) {
                Ok(found) => (found, None),
                Err(failure) if failure.class == ErrorClass::Interrupted => return Err(failure),
                Err(failure) => (Vec::new(), Some(failure.error.to_string())),
            };
        let of = |at: usize| {
            let is_available = self
                .app
                .environment
                .find_program(adapter(agents[at]).programs, &self.app.project)
                .is_some();
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
        output: &Output,
    ) -> Result<(), String> {
        let health = self.order.write_health.as_deref().filter(|path| *path != NO_FILE);
        if let Some(path) = health {
            let text = reviewers
                .map_or_else(|| Reviewers::default().health_file(), Reviewers::health_file);
            file::put(Path::new(path), text.as_bytes())
                .map_err(|error| format!("session-setup: cannot write {path}: {error}"))?;
        }
        let Some(path) = &self.order.write_session_env else { return Ok(()) };
        let ledger = self.ledger(output).unwrap_or_default();
        let healthy = |it: fn(&Reviewers) -> &Reviewer| {
            reviewers.map(|all| it(all).counts().to_string()).unwrap_or_default()
        };
        let value = |key| self.caller.usable(key).unwrap_or_default().to_owned();
        let words = [
            ("--output", path.clone()),
            ("--repo", repo.clone()),
            ("--repo-unavailable", unavailable.clone()),
            ("--codex-healthy", healthy(|it| &it.codex)),
            ("--cursor-healthy", healthy(|it| &it.cursor)),
            ("--timing-ledger", ledger),
            ("--token-session-id", value(Key::TokenSessionId)),
            ("--claude-source-file", value(Key::ClaudeSourceFile)),
        ];
        let words = words.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]);
        let order = WriteOrder::parse(&words.collect::<Vec<_>>());
        order.map_err(|error| error.to_string()).and_then(|order| written(&order))
    }

    /// Returns where the caller keeps times, if that lies where a session may write.
    fn ledger(&self, output: &Output) -> Option<String> {
        let path = self.caller.usable(Key::TimingLedger)?;
        let names = ["IMPLEMENT_TMPDIR", "DESIGN_TMPDIR", "REVIEW_TMPDIR"];
        let folders = self.app.environment.only(names);
        let mut roots: Vec<_> =
            folders.into_iter().map(|(_, value)| PathBuf::from(value)).collect();
        roots.push(self.app.environment.temp());
        let caller = self.order.caller_env.as_deref().map(Path::new).and_then(Path::parent);
        roots.extend(caller.map(Path::to_owned));
        let real = Path::new(path).parent().and_then(|it| it.canonicalize().ok());
        let is_inside = |real: &PathBuf| {
            roots.iter().filter_map(|root| root.canonicalize().ok()).any(|it| real.starts_with(it))
        };
        if is_ledger_path(path) && real.as_ref().is_some_and(is_inside) {
            return Some(path.to_owned());
        }
        output.say("session-setup: warning: dropping a timing ledger outside of the sessions");
        None
    }
}
