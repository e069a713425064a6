//! Probing all agents in parallel, and remembering the results for a while.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use convoke_domain::client::Client;
use convoke_domain::lane::health::{ATTEMPTS, AgentHealth, Attempt, PROMPT, ProbeFailure};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::cancel::Cancel;
use super::drive::{ClientProgram, LaneTranscript, Runner, drive};
use super::http::endpoint::Endpoint;
use super::supervisor::{Limits, Supervision};
use crate::client::acp::AcpCommand;
use crate::client::{ClientRequest, Rights};
use crate::file;

/// How long an agent may take to answer its probe.
const LIMITS: Limits = Limits {
    wall: Duration::from_mins(1),
    first_byte: Duration::from_mins(1),
    stall: Duration::from_mins(1),
    grace: Duration::from_secs(5),
};

/// The largest cache file.
const MAX_BYTES: u64 = 1024 * 1024;

/// Probes programs in parallel. Each has three attempts with a pause between, unless a
/// failure shows that no other would help: a wrong answer, a missing login, an unknown flag. If the user stops
/// Convoke, a program without an answer counts as not probed: an interruption says nothing about
/// it.
pub fn probe(programs: &[ClientProgram<'_>], pause: Duration, cancel: &Cancel) -> Vec<AgentHealth> {
    let asked: Vec<_> =
        programs.iter().map(|program| Asked::of(Runner::Program(program.clone()))).collect();
    in_parallel(&asked, pause, cancel)
}

/// An agent of the Agent Client Protocol to probe.
#[derive(Debug, Clone)]
pub struct ProbedAcp<'a> {
    /// Convoke's own program, which converses with it.
    pub convoke: &'a Path,
    /// The agent's program, and how it is kept from writing.
    pub command: &'a AcpCommand,
    /// The variables of the user's that it may see.
    pub variables: Vec<(OsString, OsString)>,
}

impl<'a> ProbedAcp<'a> {
    /// Returns the program that converses with it, which is what a lane starts.
    pub(super) fn bridge(&self) -> ClientProgram<'a> {
        let (program, variables) = (self.convoke, self.variables.clone());
        ClientProgram { agent: Client::Acp, program, convoke: program, variables }
    }
}

/// Probes agents of the Agent Client Protocol as [`probe`] probes programs.
pub fn probe_acp(agents: &[ProbedAcp<'_>], pause: Duration, cancel: &Cancel) -> Vec<AgentHealth> {
    let asked = agents.iter().map(|agent| Asked {
        acp: Some(agent.command),
        ..Asked::of(Runner::Program(agent.bridge()))
    });
    in_parallel(&asked.collect::<Vec<_>>(), pause, cancel)
}

/// A model's API to probe.
#[derive(Debug, Clone, Copy)]
pub struct ProbedApi<'a> {
    /// The API's address.
    pub endpoint: &'a Endpoint,
    /// For which model.
    pub model: &'a str,
    /// The model's effort.
    pub effort: Option<&'a str>,
}

/// Probes models' APIs as [`probe`] probes programs.
pub fn probe_apis(apis: &[ProbedApi<'_>], pause: Duration, cancel: &Cancel) -> Vec<AgentHealth> {
    let asked = apis.iter().map(|api| Asked {
        model: Some(api.model),
        effort: api.effort,
        ..Asked::of(Runner::Http(api.endpoint))
    });
    in_parallel(&asked.collect::<Vec<_>>(), pause, cancel)
}

/// Who is probed, and for what.
#[derive(Clone)]
struct Asked<'a> {
    runner: Runner<'a>,
    model: Option<&'a str>,
    effort: Option<&'a str>,
    acp: Option<&'a AcpCommand>,
}

impl<'a> Asked<'a> {
    const fn of(runner: Runner<'a>) -> Self {
        Self { runner, model: None, effort: None, acp: None }
    }
}

fn in_parallel(asked: &[Asked<'_>], pause: Duration, cancel: &Cancel) -> Vec<AgentHealth> {
    thread::scope(|scope| {
        let asked: Vec<_> =
            asked.iter().map(|agent| scope.spawn(move || ask(agent, pause, cancel))).collect();
        let lost = || AgentHealth::Sick(Some(ProbeFailure::other("did not finish the probe")));
        asked.into_iter().map(|probe| probe.join().unwrap_or_else(|_| lost())).collect()
    })
}

fn ask(asked: &Asked<'_>, pause: Duration, cancel: &Cancel) -> AgentHealth {
    let mut last = None;
    for number in 1..=ATTEMPTS {
        if number > 1 && !waited(pause, cancel) {
            return AgentHealth::NotAsked;
        }
        match attempt(asked, number, cancel) {
            Ok(()) => return AgentHealth::Healthy,
            Err(_) if cancel.is_cancelled() => return AgentHealth::NotAsked,
            Err(Refusal { failure, is_lasting }) => {
                last = Some(failure);
                // Another attempt would only cost time.
                if is_lasting {
                    break;
                }
            }
        }
    }
    AgentHealth::Sick(Some(last.unwrap_or_else(|| ProbeFailure::other("was not probed"))))
}

/// Waits; `false` if the user stopped Convoke.
fn waited(pause: Duration, cancel: &Cancel) -> bool {
    let (sender, receiver) = sync_channel(1);
    let watch = cancel.watch(move || {
        sender.try_send(()).ok();
    });
    receiver.recv_timeout(pause).ok();
    drop(watch);
    !cancel.is_cancelled()
}

/// Why an agent did not answer as it should.
struct Refusal {
    failure: ProbeFailure,
    /// Whether it would not answer to another attempt either.
    is_lasting: bool,
}

/// Probes once, in an empty temporary folder.
fn attempt(asked: &Asked<'_>, number: u32, cancel: &Cancel) -> Result<(), Refusal> {
    let broken = |error: std::io::Error| {
        let line = format!("Probe attempt {number}: {error}");
        let failure =
            ProbeFailure { line, words: format!("could not be probed: {error}"), outcome: None };
        Refusal { failure, is_lasting: false }
    };
    let scratch = crate::scratch::lane().map_err(broken)?;
    let folder = scratch.path().join("empty");
    fs::create_dir(&folder).map_err(broken)?;
    let (folder, own) = (folder.display().to_string(), scratch.path().display().to_string());
    let Asked { mut runner, model, effort, acp } = asked.clone();
    let request = ClientRequest {
        prompt: PROMPT,
        model,
        effort,
        resume: None,
        rights: Rights::ReadOnly,
        folder: &folder,
        scratch: &own,
        acp,
        fleet: None,
    };
    if let Runner::Program(program) = &mut runner {
        program.variables.push(("TMPDIR".into(), scratch.path().into()));
    }
    let supervision = Supervision { limits: LIMITS, cancel };
    let LaneTranscript { outcome, exit, output, difference, .. } =
        drive(&runner, &request, supervision, &mut |_| ()).map_err(broken)?;
    let failure = output.failure().map(|failure| failure.message.as_str());
    let trouble = failure.or(difference.as_deref());
    let attempt = Attempt { number, outcome, end: exit.end, answer: output.answer(), trouble };
    let is_lasting = attempt.is_lasting();
    attempt.verdict().map_err(|failure| Refusal { failure, is_lasting })
}

/// Recent results of probes, so that not every run pays for them again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HealthCache(BTreeMap<String, Entry>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// The probed program: another one may answer differently.
    program: String,
    changed: Option<i64>,
    /// When it was probed, in milliseconds since 1970.
    at: i64,
    healthy: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The error in plain words; an earlier Convoke wrote none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    words: Option<String>,
}

impl Entry {
    fn failure(&self) -> Option<ProbeFailure> {
        let line = self.error.clone()?;
        let words = self.words.clone().unwrap_or_else(|| line.clone());
        Some(ProbeFailure { line, words, outcome: None })
    }

    fn asked_at(&self) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.at).ok()
    }
}

impl HealthCache {
    /// Reads the cache; an unreadable one counts as empty.
    pub fn read(path: &Path) -> Self {
        let text = file::text(path, MAX_BYTES).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Writes it down.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        file::replace(path, &serde_json::to_string_pretty(self)?)
    }

    /// Returns the cached result for a program, if it is recent and the program unchanged.
    pub fn get(
        &self,
        agent: &str,
        program: &Path,
        now: Timestamp,
        most: Duration,
    ) -> Option<AgentHealth> {
        let entry = self.0.get(agent)?;
        let age = Duration::try_from(now.duration_since(entry.asked_at()?)).ok()?;
        let is_same =
            entry.program == program.display().to_string() && entry.changed == changed(program);
        let health =
            if entry.healthy { AgentHealth::Healthy } else { AgentHealth::Sick(entry.failure()) };
        (is_same && age < most).then_some(health)
    }

    /// Caches a result, if there is one.
    pub fn note(&mut self, agent: &str, program: &Path, health: &AgentHealth, now: Timestamp) {
        let failure = match health {
            AgentHealth::Sick(failure) => failure.clone(),
            AgentHealth::Healthy => None,
            AgentHealth::Missing | AgentHealth::NotAsked => return,
        };
        let entry = Entry {
            program: program.display().to_string(),
            changed: changed(program),
            at: now.as_millisecond(),
            healthy: *health == AgentHealth::Healthy,
            error: failure.as_ref().map(|failure| failure.line.clone()),
            words: failure.map(|failure| failure.words),
        };
        self.0.insert(agent.to_owned(), entry);
    }

    /// Returns the agents that did not answer when they were last probed.
    pub fn sick(&self) -> Vec<&str> {
        let sick = self.0.iter().filter(|(_, entry)| !entry.healthy);
        sick.map(|(agent, _)| agent.as_str()).collect()
    }

    /// Returns when the oldest of it was found out.
    pub fn oldest(&self) -> Option<Timestamp> {
        self.0.values().filter_map(Entry::asked_at).min()
    }
}

/// Returns when a program last changed; a link is followed, because updates put another file there.
fn changed(program: &Path) -> Option<i64> {
    let modified = fs::metadata(program).ok()?.modified().ok()?;
    Timestamp::try_from(modified).ok().map(Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    // A cached result holds for one unchanged program, for a limited time.
    #[test]
    fn cached_results_expire() {
        let top = tempfile::tempdir().unwrap();
        let (program, path) = (top.path().join("codex"), top.path().join("health.json"));
        fs::write(&program, "one").unwrap();
        let at = |second| Timestamp::from_second(second).unwrap();
        let most = Duration::from_mins(10);
        let sick = AgentHealth::Sick(Some(ProbeFailure {
            line: "Probe attempt 3: it hung".to_owned(),
            words: "gave no answer: it hung".to_owned(),
            outcome: None,
        }));
        let mut remembered = HealthCache::read(&path);
        remembered.note("codex", &program, &sick, at(1000));
        remembered.write(&path).unwrap();
        let remembered = HealthCache::read(&path);
        let get = |agent, program: &Path, now| remembered.get(agent, program, at(now), most);
        assert_eq!(get("codex", &program, 1599), Some(sick));
        assert_eq!(get("codex", &program, 1600), None, "too old");
        assert_eq!(get("codex", &program, 999), None, "from the future");
        assert_eq!(get("codex", Path::new("/other"), 1001), None);
        assert_eq!(get("cursor", &program, 1001), None);
        let mut same = remembered.clone();
        same.note("codex", &program, &AgentHealth::NotAsked, at(1002));
        assert_eq!(same, remembered, "nothing was found out");
        let file = fs::File::options().write(true).open(&program).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(get("codex", &program, 1001), None, "another program");
        fs::write(&path, "{ not json").unwrap();
        assert_eq!(HealthCache::read(&path), HealthCache::default());
    }

    // A request to stop ends the waiting immediately.
    #[test]
    fn waiting_can_be_stopped() {
        let cancel = Cancel::default();
        assert!(waited(Duration::from_millis(1), &cancel));
        let asks = cancel.clone();
        let asking = thread::spawn(move || asks.cancel());
        assert!(!waited(Duration::from_hours(1), &cancel));
        asking.join().unwrap();
    }
}
