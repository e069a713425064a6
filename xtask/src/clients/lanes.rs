//! Real clients in lanes, through `convoke lane run` alone: asked, resumed, refused, left waiting
//! and killed. The checks search for leftover processes from outside.

pub(super) mod acp;
mod rounds;
pub(super) mod setup;

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::user::User;
use crate::model_server::{Answer, ModelServer, Reply};
use crate::packages::folder_of;
use crate::process::run as run_program;
use crate::{Error, say};

/// One row of the table at the end.
pub(super) struct Row {
    pub(super) client: &'static str,
    pub(super) case: &'static str,
    pub(super) outcome: String,
    pub(super) took: Duration,
}

/// The model's behaviour, and the expected report.
struct Case {
    name: &'static str,
    replies: fn() -> Vec<Reply>,
    always: Option<Reply>,
    outcome: &'static str,
    /// Clients that behave differently, and the report expected of them.
    except: &'static [(&'static str, &'static str)],
}

/// Limits for a client whose retries are configured to be quick; without that, one of them retries
/// for minutes. The stall limit bounds a client without such a setting.
const LIMITS: [&str; 6] = ["--limit", "100", "--stall", "10", "--grace", "2"];

/// The same for clients that take longer before their first output.
const LONG_LIMITS: [&str; 6] = ["--limit", "200", "--stall", "40", "--grace", "2"];

/// The same where they are refused: they ask again for more than a minute, and say nothing of it.
const PATIENT_LIMITS: [&str; 6] = ["--limit", "200", "--stall", "150", "--grace", "2"];

const CASES: [Case; 9] = [
    Case { name: "tool", replies: Vec::new, always: None, outcome: "answered", except: &[] },
    case("error 500", Reply::Status(500), "failed", &[]),
    case("overloaded 529", Reply::Status(529), "rate_limited", &[]),
    case("rate limit 429", Reply::Status(429), "rate_limited", &[]),
    case("key refused 401", Reply::Status(401), "auth", &[]),
    // It names its session only when its model has answered.
    case(SILENCE, Reply::Silence, "stalled", &[("opencode", "no_output")]),
    case("silence in an answer", Reply::Half, "stalled", &[]),
    // It retries ten times, with ever longer pauses, and does not report the kind of error.
    case("an error in every answer", Reply::ErrorEvent, "failed", &[("qwen", "timed_out")]),
    Case {
        name: "broken once",
        replies: || vec![Reply::Broken],
        always: None,
        outcome: "answered",
        // Two do not ask again when what they are sent cannot be read, and one does not notice; all
        // three do ask again when a connection is closed or reset.
        except: &[("gemini", "failed"), ("opencode", "stalled"), ("qwen", "failed")],
    },
];

/// How the names of cases begin in which the model sends nothing more.
const SILENCE: &str = "silence";

const fn case(
    name: &'static str,
    always: Reply,
    outcome: &'static str,
    except: &'static [(&'static str, &'static str)],
) -> Case {
    Case { name, replies: Vec::new, always: Some(always), outcome, except }
}

/// A client with its user and model, ready for requests.
pub(super) struct Driver<'a> {
    client: &'static str,
    /// The word behind `--agent`.
    agent: String,
    bin: &'a Path,
    user: User,
    server: ModelServer,
    variables: Vec<(String, String)>,
}

/// Tells whether a client is driven with every full check: the others take minutes.
pub(super) fn is_quick(client: &str) -> bool {
    matches!(client, "claude" | "codex")
}

/// Drives a client through every case, and adds a row for each, also for one that went wrong.
pub(super) fn check(client: &'static str, bin: &Path, rows: &mut Vec<Row>) -> Result<(), Error> {
    let mut wrong = Vec::new();
    for case in &CASES {
        let (took, outcome) = timed(|| Ok(case.run(client, bin)))?;
        let outcome = outcome.unwrap_or_else(|error| {
            wrong.push(format!("{}: {error}", case.name));
            "WRONG".to_owned()
        });
        rows.push(Row { client, case: case.name, outcome, took });
    }
    match rounds::check(client, bin) {
        Ok(more) => rows.extend(more),
        Err(error) => wrong.push(format!("rounds: {error}")),
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Prints what every client did.
pub(super) fn print(rows: &[Row]) {
    say("\n| client | case | outcome | seconds |\n|---|---|---|---|");
    for Row { client, case, outcome, took } in rows {
        say(&format!("| {client} | {case} | {outcome} | {:.1} |", took.as_secs_f64()));
    }
}

#[expect(clippy::disallowed_methods, reason = "the real clients' door to the clock")]
pub(super) fn timed<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<(Duration, T), Error> {
    let start = Instant::now();
    let done = work()?;
    Ok((start.elapsed(), done))
}

/// A client, the attempt, the expected result, and the function that runs it.
pub(super) type TimedCase<'a> =
    (&'static str, &'static str, &'static str, &'a dyn Fn() -> Result<(), Error>);

/// Runs all cases. Adds a row for each, also for one that went wrong.
pub(super) fn check_cases(cases: &[TimedCase<'_>], rows: &mut Vec<Row>) -> Result<(), Error> {
    let mut wrong = Vec::new();
    for (client, case, outcome, run) in cases {
        let (took, ended) = timed(|| Ok(run()))?;
        let outcome = if ended.is_ok() { outcome } else { "WRONG" }.to_owned();
        rows.push(Row { client, case, outcome, took });
        wrong.extend(ended.err().map(|error| format!("{client}, {case}: {error}")));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

impl Case {
    fn run(&self, client: &'static str, bin: &Path) -> Result<String, Error> {
        let driver = Driver::new(client, bin)?;
        if self.name == "tool" {
            driver.server.will_answer([driver.reads()]);
        }
        driver.server.will_reply((self.replies)());
        if let Some(reply) = &self.always {
            driver.server.will_always(reply.clone());
        }
        let report = driver.ask("-v is what this prompt begins with", self.limits(client))?;
        let outcome = self.outcome(client);
        holds(&report, "outcome", &json!(outcome))?;
        if self.name == "tool" && report["tools"] == 0 {
            return Err(format!("it used no tool: {report:#}").into());
        }
        driver.no_process_is_left()?;
        Ok(outcome.to_owned())
    }

    /// Returns the limits, where they are not those of every lane.
    fn limits(&self, client: &str) -> &'static [&'static str] {
        let is_refused = self.always.is_some() && !self.name.starts_with(SILENCE);
        if is_refused && !is_quick(client) { &PATIENT_LIMITS } else { &[] }
    }

    fn outcome(&self, client: &str) -> &'static str {
        let excepted = self.except.iter().find(|(name, _)| *name == client);
        excepted.map_or(self.outcome, |(_, outcome)| outcome)
    }
}

impl<'a> Driver<'a> {
    fn new(client: &'static str, bin: &'a Path) -> Result<Self, Error> {
        Self::of(client, client.to_owned(), bin)
    }

    /// Drives the same client by the Agent Client Protocol.
    fn of_acp(client: &'static str, bin: &'a Path) -> Result<Self, Error> {
        let driver = Self::of(client, format!("acp:{client}"), bin)?;
        // Only git can tell whether the agent wrote.
        let project = driver.user.project().display().to_string();
        let git = ["-C", &project, "-c", "user.name=June", "-c", "user.email=june@localhost"];
        for words in [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "-m", "one"]]
        {
            run_program("git", &[&git, words].concat())?;
        }
        Ok(driver)
    }

    fn of(client: &'static str, agent: String, bin: &'a Path) -> Result<Self, Error> {
        let (user, server) = (User::new()?, ModelServer::start()?);
        user.write("project/notes.md", "# Notes\n")?;
        let variables = setup::configure(client, &user, &server)?;
        Ok(Self { client, agent, bin, user, server, variables })
    }

    /// Returns the model's request to read a file.
    fn reads(&self) -> Answer {
        setup::reads(self.client, &self.user.project().join("notes.md").display().to_string())
    }

    fn command(&self, prompt: &str, more: &[&str]) -> Result<Command, Error> {
        let program = std::env::current_exe()?.with_file_name("convoke");
        let mut convoke = self.user.plain(&program);
        let node = folder_of("node").unwrap_or_default();
        convoke.env("PATH", format!("{}:/usr/bin:/bin:{node}", self.bin.display()));
        convoke.envs(self.variables.iter().cloned());
        convoke.args(["lane", "run", "--agent", &self.agent, "--json"]).args(more);
        if !more.contains(&"--limit") {
            convoke.args(if is_quick(self.client) { LIMITS } else { LONG_LIMITS });
        }
        convoke.args(["--", prompt]);
        Ok(convoke)
    }

    /// Sends a prompt, and returns the report, for any outcome.
    fn ask(&self, prompt: &str, more: &[&str]) -> Result<Value, Error> {
        let output = self.command(prompt, more)?.output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice(&output.stdout).map_err(|error| format!("{error}: {said}").into())
    }

    /// Sends a prompt, and kills Convoke as soon as the request reaches the model.
    fn ask_and_kill(&self, prompt: &str, more: &[&str]) -> Result<(), Error> {
        let before = self.server.prompts().len();
        let mut command = self.command(prompt, more)?;
        let mut convoke = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let asked = until(|| self.server.prompts().len() > before);
        convoke.kill()?;
        convoke.wait()?;
        if asked { Ok(()) } else { Err("the model was not asked".into()) }
    }

    fn no_process_is_left(&self) -> Result<(), Error> {
        if until(|| self.user.alive().is_empty()) {
            return Ok(());
        }
        Err(format!("left alive: {:?}", self.user.alive()).into())
    }
}

/// Waits until a condition holds; tells whether it did within a minute.
pub(super) fn until(holds: impl Fn() -> bool) -> bool {
    for _ in 0..6000 {
        if holds() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

fn holds(report: &Value, name: &str, expected: &Value) -> Result<(), Error> {
    if report[name] == *expected {
        return Ok(());
    }
    Err(format!("`{name}` is not {expected}: {report:#}").into())
}
