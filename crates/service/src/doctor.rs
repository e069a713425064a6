//! Everything that keeps Convoke from working here, each with what mends it.

mod acp;
mod clients;
mod endpoints;
mod git;
mod hooks;
mod mcp;
mod probes;

use std::path::{Path, PathBuf};

use convoke_domain::brief::settings::Layer;
use convoke_domain::client::Client;
use convoke_engine::client::adapter;
use convoke_engine::lane::version::is_supervised;
use convoke_engine::project::find_above;
use convoke_engine::surroundings::{free_bytes, inherits_orphans, try_opening, try_writing};
use serde::Serialize;

use crate::agents::acp_names;
use crate::failure::{ErrorClass, Failure};
use crate::replica::copy_report;
use crate::session::Session;
use crate::settings::remark::refusals;
use crate::settings::{brief, dispatch, health, lane, store, wake};
use crate::workspace::{open_store, refused, store_location};

/// With less room on its disk, a store soon cannot be written.
const LITTLE_ROOM: u64 = 100 * 1024 * 1024;

/// No clock that runs well shows a time before Convoke was first written: the start of 2026.
const EARLIEST: i64 = 1_767_225_600;

/// The extent of the checks.
#[derive(Debug, Clone, Copy)]
pub struct DoctorRequest {
    /// Whether models' APIs are contacted.
    pub apis: ApiCheck,
    /// Whether clients must give an answer.
    pub clients: ClientCheck,
}

/// How installed clients are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientCheck {
    /// By their versions, and by the command that a lane runs, without a prompt: no model answers.
    Command,
    /// By their versions, and by an answer to that command, which costs a few tokens.
    Answer,
}

/// How models' APIs are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiCheck {
    /// By their configuration alone.
    Configured,
    /// Also whether they answer.
    Contacted,
}

/// The severity of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CheckLevel {
    /// It works.
    Ok,
    /// Something works less well than it could.
    Warn,
    /// Something is missing that a job needs.
    Fail,
}

impl CheckLevel {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One result of the doctor.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoctorCheck {
    /// The subject of the check.
    pub name: &'static str,
    /// The severity.
    pub level: CheckLevel,
    /// The result, in one sentence.
    pub found: String,
    /// The remedy.
    pub fix: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot finish the checks: they were interrupted")]
struct ChecksStopped;

impl DoctorCheck {
    /// Returns a check that found nothing wrong.
    pub fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, level: CheckLevel::Ok, found: found.into(), fix: None }
    }

    /// Returns a check with a warning.
    pub fn warn(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, level: CheckLevel::Warn, found: found.into(), fix: Some(fix.into()) }
    }

    /// Returns a check with a failure.
    pub fn fail(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { level: CheckLevel::Fail, ..Self::warn(name, found, fix) }
    }

    /// Returns a failed check with an error's own words and hints.
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

/// The checks, in their order of output.
const CHECKS: [fn(&Session) -> Vec<DoctorCheck>; 14] = [
    project,
    configuration,
    folders,
    room,
    stored,
    copy,
    temporary,
    clock,
    git::git,
    agents,
    keys,
    hooks::hooks,
    mcp::mcp,
    supervision,
];

/// Runs every check. An interrupt is a failure.
pub fn examine(session: &Session, request: &DoctorRequest) -> Result<Vec<DoctorCheck>, Failure> {
    let mut checks: Vec<_> = CHECKS.iter().flat_map(|check| check(session)).collect();
    if request.clients == ClientCheck::Command {
        checks.extend(probes::remembered(session));
    }
    let others = checks.len();
    checks.extend(clients::clients(session, request.clients));
    checks.extend(acp::agents(session, request.clients));
    let apis = endpoints::endpoints(session, request.apis);
    checks.extend(apis.ok_or_else(|| Failure::new(ErrorClass::Interrupted, ChecksStopped))?);
    if request.clients == ClientCheck::Answer {
        checks.extend(no_answer(&checks[others..]));
    }
    Ok(checks)
}

/// Fails if Convoke asked agents and none of them can work. Without an agent, the check of agents fails.
fn no_answer(checks: &[DoctorCheck]) -> Option<DoctorCheck> {
    let asked = [clients::ANSWER, acp::NAME, endpoints::NAME];
    let mut asked = checks.iter().filter(|check| asked.contains(&check.name)).peekable();
    asked.peek()?;
    let works = asked.any(|check| check.level == CheckLevel::Ok);
    (!works).then(|| {
        let fix = "mend one of the agents above, then run `convoke doctor --probe` again";
        DoctorCheck::fail("answers", "no agent answered, so no lane can", fix)
    })
}

fn project(session: &Session) -> Vec<DoctorCheck> {
    let found = session.project.display().to_string();
    let home = session.environment.home();
    let absolute = session.absolute_project();
    vec![if find_above(&absolute, home.as_deref()).is_some() {
        DoctorCheck::ok("project", found)
    } else {
        let fix =
            "begin one with `git init` or an empty convoke.toml, or name one with `--project`";
        DoctorCheck::warn(
            "project",
            format!("no `.git`, `convoke.toml` or `.moai` found in {found} or above"),
            fix,
        )
    }]
}

fn configuration(session: &Session) -> Vec<DoctorCheck> {
    let read = [
        brief::layers(Layer::default(), session).map(drop),
        wake::settings(session).map(drop),
        dispatch::settings(session).map(drop),
        health::settings(session).map(drop),
        lane::settings(session).map(drop),
        store::location(session).map(drop),
    ];
    let mut wrong: Vec<DoctorCheck> = Vec::new();
    for failure in read.into_iter().filter_map(Result::err) {
        let check = DoctorCheck::failure("configuration", &failure, "correct the file");
        // One file that cannot be read fails every section in it.
        if wrong.iter().all(|known| known.found != check.found) {
            wrong.push(check);
        }
    }
    let ignored = |line| DoctorCheck::warn("configuration", line, "remove it from that file");
    wrong.extend(refusals(session).into_iter().map(ignored));
    if wrong.is_empty() {
        vec![DoctorCheck::ok("configuration", "Convoke can read all of it")]
    } else {
        wrong
    }
}

fn folders(session: &Session) -> Vec<DoctorCheck> {
    let mut checks: Vec<_> = session
        .environment
        .relative_folders()
        .into_iter()
        .map(|name| {
            let fix = format!("give {name} an absolute path, or unset it");
            DoctorCheck::warn(
                "folders",
                format!("{name} is a relative path, so Convoke ignores it"),
                fix,
            )
        })
        .collect();
    if session.environment.home().is_none() {
        checks.push(DoctorCheck::fail("folders", "HOME is not set", "set HOME to your own folder"));
    }
    let Some(state) = state(session) else { return checks };
    checks.push(match try_writing(&state) {
        Ok(()) => DoctorCheck::ok("folders", format!("{} is writable", state.display())),
        Err(error) => DoctorCheck::fail(
            "folders",
            format!("{} is not writable: {error}", state.display()),
            "get write permission, or set CONVOKE_STORE to another file",
        ),
    });
    checks
}

/// Returns the folder that the store is in.
fn state(session: &Session) -> Option<PathBuf> {
    let path = std::path::absolute(store_location(session).ok()?.as_file()?).ok()?;
    path.parent().map(Path::to_owned)
}

fn room(session: &Session) -> Vec<DoctorCheck> {
    let Some(state) = state(session) else { return Vec::new() };
    let Some(free) = free_bytes(&state) else { return Vec::new() };
    let found = format!("{} MB free for {}", free / 1024 / 1024, state.display());
    vec![if free < LITTLE_ROOM {
        DoctorCheck::warn("room", found, "free some space on that disk")
    } else {
        DoctorCheck::ok("room", found)
    }]
}

fn stored(session: &Session) -> Vec<DoctorCheck> {
    let location = match store_location(session) {
        Ok(location) => location,
        // The store itself may be sound.
        Err(failure) => return vec![DoctorCheck::failure("store", &failure, "mend the file")],
    };
    let opened = open_store(session).and_then(|store| store.check().map_err(refused));
    let problems = match opened {
        Ok(problems) => problems,
        Err(failure) => {
            // A store that cannot be opened may be intact, so its file must stay where it is.
            let fix = "mend what the message names, then run `convoke store check`";
            return vec![DoctorCheck::failure("store", &failure, fix)];
        }
    };
    let opened = location.as_file().map_or(Ok(()), try_opening);
    vec![match (problems.first(), opened) {
        (Some(problem), _) => DoctorCheck::fail(
            "store",
            format!("{location} is damaged: {problem}"),
            "restore a backup, or move the file away and start with an empty store",
        ),
        (None, Err(error)) => DoctorCheck::fail(
            "store",
            format!("{location} is not writable: {error}"),
            "get write permission, or set CONVOKE_STORE to another file",
        ),
        (None, Ok(())) => {
            DoctorCheck::ok("store", format!("{location} is intact and has the current schema"))
        }
    }]
}

/// Tells whether hooks could answer while the store's server does not.
fn copy(session: &Session) -> Vec<DoctorCheck> {
    let Some(report) = copy_report(session, None) else { return Vec::new() };
    let line = report.line(session.now());
    vec![if report.problem.is_some() {
        DoctorCheck::warn("copy", line, "run `convoke sync`, which makes a damaged copy anew")
    } else if report.waiting > 0 {
        DoctorCheck::warn("copy", line, "run `convoke sync` when the server can be reached")
    } else {
        DoctorCheck::ok("copy", line)
    }]
}

fn temporary(_: &Session) -> Vec<DoctorCheck> {
    vec![match tempfile::tempdir() {
        Ok(_) => DoctorCheck::ok("temporary files", "Convoke can write them"),
        Err(error) => {
            let fix = "set TMPDIR to a folder that you can write in";
            DoctorCheck::fail("temporary files", format!("Convoke cannot write any: {error}"), fix)
        }
    }]
}

fn clock(session: &Session) -> Vec<DoctorCheck> {
    let now = session.now();
    vec![if now.as_second() < EARLIEST {
        DoctorCheck::fail("clock", format!("it says {now}"), "set the clock, for example with NTP")
    } else {
        DoctorCheck::ok("clock", now.to_string())
    }]
}

fn agents(session: &Session) -> Vec<DoctorCheck> {
    let is_there = |agent: &Client| {
        session.environment.find_program(adapter(*agent).programs, &session.project).is_some()
    };
    let there: Vec<_> = Client::ALL.into_iter().filter(is_there).map(Client::name).collect();
    let others = acp_names(session).unwrap_or_default();
    vec![if there.is_empty() && !others.is_empty() {
        let words = others.iter().map(|name| format!("acp:{name}")).collect::<Vec<_>>();
        DoctorCheck::ok("agents", format!("no client is on the PATH, but {}", words.join(", ")))
    } else if there.is_empty() && endpoints::are_there(session) {
        DoctorCheck::ok("agents", "no client is on the PATH, but model APIs are configured")
    } else if there.is_empty() {
        let all = Client::ALL.map(Client::name).join(", ");
        DoctorCheck::fail("agents", "no client is on the PATH", format!("install one of {all}"))
    } else {
        DoctorCheck::ok("agents", there.join(", "))
    }]
}

/// Names the variables that hold keys; their values are never shown.
fn keys(session: &Session) -> Vec<DoctorCheck> {
    let mut names: Vec<_> = Client::ALL
        .into_iter()
        .flat_map(|agent| adapter(agent).variables.iter().copied())
        .filter(|name| name.ends_with("_KEY") || name.ends_with("_TOKEN"))
        .filter(|name| !session.environment.only([*name]).is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    vec![DoctorCheck::ok(
        "keys",
        match names.as_slice() {
            [] => "no API key in the environment; log in to each client".to_owned(),
            names => format!("{} in the environment", names.join(", ")),
        },
    )]
}

fn supervision(session: &Session) -> Vec<DoctorCheck> {
    let Some(program) = session.environment.find_program(&["true"], &session.project) else {
        return vec![DoctorCheck::warn(
            "guardian",
            "cannot test it: `true` is not on the PATH",
            "correct the PATH",
        )];
    };
    let works = is_supervised(&session.environment.program(), &program, &session.cancel());
    let guardian = if works {
        DoctorCheck::ok("guardian", "it supervises a client")
    } else {
        let fix = "allow this user to start `convoke`, and raise the limit on processes";
        DoctorCheck::fail("guardian", "it cannot supervise a client", fix)
    };
    let orphans = if inherits_orphans() {
        DoctorCheck::ok("orphans", "Convoke finds processes that a client leaves behind")
    } else {
        let fix = "run it on Linux if clients leave processes behind";
        DoctorCheck::warn(
            "orphans",
            "Convoke cannot find processes that leave a client's process group",
            fix,
        )
    };
    vec![guardian, orphans]
}
