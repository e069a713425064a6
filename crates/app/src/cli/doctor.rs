//! `convoke doctor`: everything that keeps Convoke from working here, each with what mends it.

mod endpoints;
mod hooks;

use std::path::Path;

use convoke_domain::brief::settings::Layer;
use convoke_domain::client::Client as Agent;
use convoke_engine::client::adapter;
use convoke_engine::lane::health::Remembered;
use convoke_engine::lane::version::is_supervised;
use convoke_engine::project::find_above;
use convoke_engine::surroundings::{
    free_bytes, git_version, inherits_orphans, skipped_git, try_opening, try_writing,
};
use jiff::Timestamp;
use serde::Serialize;

use crate::app::{App, Format};
use crate::clock::now;
use crate::config::remark::refusals;
use crate::config::{brief, dispatch, health, lane, store, wake};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::Output;
use crate::workspace::{open_store, store_location};

/// With less room on its disk, a store soon cannot be written.
const LITTLE_ROOM: u64 = 100 * 1024 * 1024;

/// The oldest git that says everything it is asked for.
const OLDEST_GIT: (u32, u32) = (2, 31);

/// No clock that runs well shows a time before Convoke was first written: the start of 2026.
const EARLIEST: i64 = 1_767_225_600;

/// Check everything that keeps convoke from working here, and say how to mend it
///
/// Exits 0 if nothing fails, and 3 if something is missing that a job needs. Warnings are no failure.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Do not try whether anybody listens where models' APIs are configured to be
    #[arg(long)]
    no_probe: bool,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Ok,
    Warn,
    Fail,
}

impl Level {
    const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// What was found out about one thing.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    level: Level,
    found: String,
    fix: Option<String>,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, level: Level::Ok, found: found.into(), fix: None }
    }

    fn warn(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, level: Level::Warn, found: found.into(), fix: Some(fix.into()) }
    }

    fn fail(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { level: Level::Fail, ..Self::warn(name, found, fix) }
    }

    /// An error has its own words and hints.
    fn failure(name: &'static str, failure: &Failure, fix: &str) -> Self {
        let mut found = failure.error.to_string();
        let mut cause = failure.error.source();
        while let Some(error) = cause {
            let line = error.to_string();
            found = format!("{found}: {}", line.lines().next().unwrap_or_default());
            cause = error.source();
        }
        let fix = if failure.hints.is_empty() { fix.to_owned() } else { failure.hints.join("; ") };
        Self::fail(name, found, fix)
    }
}

/// Everything that is looked at, in the order in which it is told.
const CHECKS: [fn(&App) -> Vec<Check>; 13] = [
    project,
    configuration,
    folders,
    room,
    stored,
    temporary,
    clock,
    git,
    agents,
    keys,
    hooks::hooks,
    supervision,
    remembered,
];

impl Args {
    /// Runs every check.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let mut checks: Vec<_> = CHECKS.iter().flat_map(|check| check(app)).collect();
        let Some(apis) = endpoints::endpoints(app, self.no_probe, &interrupt::cancel()) else {
            return Ok(Exit::Interrupted);
        };
        checks.extend(apis);
        match app.format {
            Format::Json => output.json(&checks)?,
            Format::Text => {
                for Check { name, level, found, fix } in &checks {
                    output.data(&format!("{:<4}  {name}: {found}\n", level.name()))?;
                    if let Some(fix) = fix {
                        output.data(&format!("      fix: {fix}\n"))?;
                    }
                }
            }
        }
        let has_failed = checks.iter().any(|check| check.level == Level::Fail);
        Ok(if has_failed { Exit::Surroundings } else { Exit::Done })
    }
}

fn project(app: &App) -> Vec<Check> {
    let found = app.project.display().to_string();
    let home = app.environment.home();
    let absolute = std::path::absolute(&app.project).unwrap_or_else(|_| app.project.clone());
    vec![if find_above(&absolute, home.as_deref()).is_some() {
        Check::ok("project", found)
    } else {
        let fix =
            "begin one with `git init` or an empty convoke.toml, or name one with `--project`";
        Check::warn("project", format!("{found} looks like no project"), fix)
    }]
}

fn configuration(app: &App) -> Vec<Check> {
    let read = [
        brief::layers(Layer::default(), app).map(drop),
        wake::settings(app).map(drop),
        dispatch::settings(app).map(drop),
        health::settings(app).map(drop),
        lane::settings(app).map(drop),
        store::location(app).map(drop),
    ];
    let mut wrong: Vec<Check> = Vec::new();
    for failure in read.into_iter().filter_map(Result::err) {
        let check = Check::failure("configuration", &failure, "mend the file");
        // One file that cannot be read fails every section in it.
        if wrong.iter().all(|known| known.found != check.found) {
            wrong.push(check);
        }
    }
    let ignored = |line| Check::warn("configuration", line, "take it out of that file");
    wrong.extend(refusals(app).into_iter().map(ignored));
    if wrong.is_empty() {
        vec![Check::ok("configuration", "everything can be read")]
    } else {
        wrong
    }
}

fn folders(app: &App) -> Vec<Check> {
    let mut checks: Vec<_> = app
        .environment
        .relative_folders()
        .into_iter()
        .map(|name| {
            let fix = format!("give {name} an absolute path, or unset it");
            Check::warn("folders", format!("{name} is relative, and so it is ignored"), fix)
        })
        .collect();
    if app.environment.home().is_none() {
        checks.push(Check::fail("folders", "HOME is not set", "set HOME to your own folder"));
    }
    let Some(state) = state(app) else { return checks };
    checks.push(match try_writing(&state) {
        Ok(()) => Check::ok("folders", format!("{} can be written", state.display())),
        Err(error) => Check::fail(
            "folders",
            format!("{} cannot be written: {error}", state.display()),
            "let yourself write there, or name a store elsewhere with CONVOKE_STORE",
        ),
    });
    checks
}

/// Returns the folder that the store is in.
fn state(app: &App) -> Option<std::path::PathBuf> {
    let path = std::path::absolute(store_location(app).ok()?.as_file()?).ok()?;
    path.parent().map(Path::to_owned)
}

fn room(app: &App) -> Vec<Check> {
    let Some(state) = state(app) else { return Vec::new() };
    let Some(free) = free_bytes(&state) else { return Vec::new() };
    let found = format!("{} MB free for {}", free / 1024 / 1024, state.display());
    vec![if free < LITTLE_ROOM {
        Check::warn("room", found, "make room on that disk")
    } else {
        Check::ok("room", found)
    }]
}

fn stored(app: &App) -> Vec<Check> {
    let opened = open_store(app).and_then(|store| store.check().map_err(crate::workspace::refused));
    let (location, problems) = match (store_location(app), opened) {
        (Ok(location), Ok(problems)) => (location, problems),
        (Err(failure), _) | (_, Err(failure)) => {
            return vec![Check::failure("store", &failure, "restore a copy, or move it away")];
        }
    };
    let opened = location.as_file().map_or(Ok(()), try_opening);
    vec![match (problems.first(), opened) {
        (Some(problem), _) => Check::fail(
            "store",
            format!("{location} is damaged: {problem}"),
            "restore a copy, or move the file away and begin anew",
        ),
        (None, Err(error)) => Check::fail(
            "store",
            format!("{location} cannot be written: {error}"),
            "let yourself write to it, or name another with CONVOKE_STORE",
        ),
        (None, Ok(())) => {
            Check::ok("store", format!("{location} is sound, with the present schema"))
        }
    }]
}

fn temporary(_: &App) -> Vec<Check> {
    vec![match tempfile::tempdir() {
        Ok(_) => Check::ok("temporary files", "they can be written"),
        Err(error) => {
            let fix = "set TMPDIR to a folder that you can write in";
            Check::fail("temporary files", format!("none can be written: {error}"), fix)
        }
    }]
}

fn clock(_: &App) -> Vec<Check> {
    let now = now();
    vec![if now.as_second() < EARLIEST {
        Check::fail("clock", format!("it says {now}"), "set the clock, or let it be set")
    } else {
        Check::ok("clock", now.to_string())
    }]
}

fn git(app: &App) -> Vec<Check> {
    vec![match git_version(&app.project) {
        None => {
            let skipped = skipped_git(&app.project).map(|why| format!(" ({why})"));
            let skipped = skipped.unwrap_or_default();
            let why = format!("it is not there, so changes of a tree are not noticed{skipped}");
            Check::warn("git", why, "install git")
        }
        Some((said, Some(numbers))) if numbers < OLDEST_GIT => {
            let (major, minor) = OLDEST_GIT;
            Check::warn("git", format!("{said} is old"), format!("update to {major}.{minor}"))
        }
        Some((said, _)) => Check::ok("git", said),
    }]
}

fn agents(app: &App) -> Vec<Check> {
    let is_there = |agent: &Agent| {
        app.environment.find_program(adapter(*agent).programs, &app.project).is_some()
    };
    let there: Vec<_> = Agent::ALL.into_iter().filter(is_there).map(Agent::name).collect();
    vec![if there.is_empty() && endpoints::are_there(app) {
        Check::ok("agents", "no client is on the PATH, but models' APIs are configured")
    } else if there.is_empty() {
        let all = Agent::ALL.map(Agent::name).join(", ");
        Check::fail("agents", "no client is on the PATH", format!("install one of {all}"))
    } else {
        Check::ok("agents", there.join(", "))
    }]
}

/// Keys are known by the names of their variables; what is in them is nobody's business.
fn keys(app: &App) -> Vec<Check> {
    let mut names: Vec<_> = Agent::ALL
        .into_iter()
        .flat_map(|agent| adapter(agent).variables.iter().copied())
        .filter(|name| name.ends_with("_KEY") || name.ends_with("_TOKEN"))
        .filter(|name| !app.environment.only([*name]).is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    vec![Check::ok(
        "keys",
        match names.as_slice() {
            [] => {
                "none is in the environment; clients have to be logged in by themselves".to_owned()
            }
            names => format!("{} in the environment", names.join(", ")),
        },
    )]
}

fn supervision(app: &App) -> Vec<Check> {
    let Some(program) = app.environment.find_program(&["true"], &app.project) else {
        return vec![Check::warn("guardian", "there is no `true` to try it with", "mend the PATH")];
    };
    let works = is_supervised(&app.environment.program(), &program, &interrupt::cancel());
    let guardian = if works {
        Check::ok("guardian", "it looks after a client")
    } else {
        let fix = "see that convoke itself may be started, and that processes are not limited";
        Check::fail("guardian", "it cannot look after a client", fix)
    };
    let orphans = if inherits_orphans() {
        Check::ok("orphans", "what a client leaves behind is found")
    } else {
        let fix = "run it on Linux if clients leave processes behind";
        Check::warn("orphans", "what leaves a client's process group is not found here", fix)
    };
    vec![guardian, orphans]
}

fn remembered(app: &App) -> Vec<Check> {
    let path = app.environment.health_cache();
    let oldest = path.and_then(|path| Remembered::read(&path).oldest());
    let minutes = |at: Timestamp| now().duration_since(at).as_mins();
    vec![Check::ok(
        "health",
        match oldest {
            None => "nobody was asked yet; `convoke agents --probe` asks".to_owned(),
            Some(at) => format!("the oldest answer is {} minutes old", minutes(at)),
        },
    )]
}
