//! Real clients that call Convoke's tools over MCP: a script chooses what their model calls, and
//! every result must reach it.

mod conversation;
mod expected;
mod relay;
mod result;
pub(super) mod suites;

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use self::conversation::{Conversation, Tool};
use self::result::{Numbers, next_from, run_id};
use super::lanes::{Row, timed, until};
use super::user::{RULES, User};
use crate::Error;
use crate::model_server::{ModelServer, Reply};
use crate::process::succeeds;

/// The lines of a document of 300 KB, which no client shows whole.
const LINES: usize = 12_000;

/// The most calls of `run_status` for one run.
const MOST_LOOKS: usize = 20;

/// Where the last pages of that document begin, in characters.
const NEAR_THE_END: usize = 280_000;

/// How many pages of it are read from its beginning: a client that cuts a page cuts the first ones.
const FIRST_PAGES: usize = 3;

/// How the plan of the rehearsed design begins, and how the last of its tasks is called. They are on
/// different pages.
const PLAN: [&str; 2] = ["## Files to modify/create", "### Task 5: Split a single file"];

/// A client with a short limit gives up after this time.
const SHORTEST_LIMIT: Duration = Duration::from_mins(1);

/// A call that waits for a run takes at least this long, if nothing changes.
const LONG_WAIT: Duration = Duration::from_secs(30);

/// The name of the server's program.
const SERVER: &str = "convoke-mcp";

/// Drives a client through one case, and returns the outcome.
type Case = fn(&Driver<'_>) -> Result<String, Error>;

/// Drives a client, and adds a row for each case, also for one that went wrong.
pub(super) fn check(client: &'static str, bin: &Path, rows: &mut Vec<Row>) -> Result<(), Error> {
    let mut wrong = Vec::new();
    let cases: [(&str, Case); 3] = [
        ("mcp: wake, task, hostile arguments, 300 KB in pages", works),
        ("mcp: a design is started, watched and read", designs),
        ("mcp: the server is killed, and a call ends within 60 s", outlives),
    ];
    for (case, run) in cases {
        let (took, ended) = timed(|| Ok(Driver::new(client, bin).and_then(|driver| run(&driver))))?;
        let outcome = ended.unwrap_or_else(|error| {
            wrong.push(format!("{client}, {case}: {error}"));
            "WRONG".to_owned()
        });
        rows.push(Row { client, case, outcome, took });
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// A client with its user and model.
struct Driver<'a> {
    client: &'static str,
    bin: &'a Path,
    user: User,
    server: ModelServer,
    /// The model of a lane, which never answers.
    silent: ModelServer,
}

impl<'a> Driver<'a> {
    fn new(client: &'static str, bin: &'a Path) -> Result<Self, Error> {
        let (user, server) = (User::new()?, ModelServer::start()?);
        let silent = ModelServer::start()?;
        silent.will_know(|_, _| Some(Reply::Silence));
        let settings = format!(
            "[wake]\nagent = 'june'\nwake_budget = 100000\n[lane.http.slow]\napi = 'chat'\n\
             url = '{}/v1'\nmodel = 'stand-in'\n",
            silent.url()
        );
        user.write("home/.config/convoke/config.toml", &settings)?;
        let driver = Self { client, bin, user, server, silent };
        driver.install()?;
        Ok(driver)
    }
}

/// Goes on with a task by tools alone.
fn works(driver: &Driver<'_>) -> Result<String, Error> {
    let page = (0..LINES).map(|line| format!("line {line} of a long page\n"));
    driver.user.write("project/long.md", &page.collect::<String>())?;
    let tasks = driver.user.convoke(&["task", "list", "--json"])?;
    let tasks: Value = serde_json::from_str(&tasks)?;
    let task = tasks.pointer("/tasks/0/id").or_else(|| tasks.pointer("/0/id"));
    let task = task.and_then(Value::as_str).ok_or("there is no task")?.to_owned();
    driver.converse(|talk| {
        let mut rules = Numbers::between("Rule ", ": this first");
        pages(talk, Tool::Wake, &json!({}), 0, usize::MAX, &mut |page| rules.gather(page))?;
        rules.are_all(RULES)?;
        let started = talk.call(Tool::TaskUpdate, json!({"id": task, "action": "start"}))?;
        started.says("in_progress")?;
        let hostile = talk.call(Tool::RunStatus, json!({"run": "../../etc/passwd"}))?;
        hostile.says("cannot use the argument `run`")?;
        let outside = json!({"documents": ["../../../../etc/passwd"]});
        talk.call(Tool::Brief, outside)?.says("leads out of the project")?;
        let brief = json!({"documents": ["long.md"], "budget": 1_000_000});
        let lines = |from, most| {
            let mut lines = Numbers::between("line ", " of a long page");
            pages(talk, Tool::Brief, &brief, from, most, &mut |page| lines.gather(page))?;
            lines.are_consecutive()
        };
        let ((first, last), (_, end)) = (lines(0, FIRST_PAGES)?, lines(NEAR_THE_END, usize::MAX)?);
        if first != 0 || last < 100 * FIRST_PAGES || end != LINES - 1 {
            return Err(format!("lines {first} to {last} came, and those up to {end}"));
        }
        Ok(())
    })?;
    let listed = driver.user.convoke(&["task", "list"])?;
    if listed.contains("in progress") || listed.contains("in_progress") || listed.contains("[>]") {
        return Ok("all of it arrived".to_owned());
    }
    Err(format!("the store does not know that the task began:\n{listed}").into())
}

/// Reads at most so many pages of a text, each from where the last one says.
fn pages(
    talk: &Conversation,
    tool: Tool,
    arguments: &Value,
    first: usize,
    most: usize,
    gather: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let mut from = Some(first);
    for _ in 0..most {
        let Some(start) = from else { return Ok(()) };
        let mut arguments = arguments.clone();
        arguments["from"] = json!(start);
        let page = talk.call(tool, arguments)?.text;
        gather(&page);
        from = next_from(&page);
        if from.is_some_and(|next| next <= start) {
            return Err(format!("page {start} is followed by {from:?}"));
        }
    }
    Ok(())
}

/// Has a rehearsed design made, and reads its plan.
fn designs(driver: &Driver<'_>) -> Result<String, Error> {
    let run = driver.converse(|talk| {
        let start = json!({"kind": "design", "key": "a", "rehearse": true});
        let started = talk.call(Tool::RunStart, start)?;
        let run = run_id(&started.text).ok_or_else(|| started.lacks("the run's id"))?;
        // Clients tell calls apart by their arguments here.
        for look in 0..MOST_LOOKS {
            let status = json!({"run": run, "wait_s": 45 - look});
            let status = talk.call(Tool::RunStatus, status)?;
            if status.is_state("ended") {
                let mut all = String::new();
                let plan = json!({"run": run});
                pages(talk, Tool::RunResult, &plan, 0, usize::MAX, &mut |page| all += page)?;
                let missing = PLAN.iter().find(|part| !all.contains(**part));
                return missing.map_or(Ok(run), |part| Err(format!("the plan has no `{part}`")));
            }
            if !status.is_state("running") && !status.is_state("starting") {
                return Err(status.lacks("a state that goes on"));
            }
        }
        Err(format!("the design did not end within {MOST_LOOKS} looks"))
    })?;
    let runs = driver.user.convoke(&["runs"])?;
    if runs.contains(&run) {
        return Ok("started, watched, read".to_owned());
    }
    Err(format!("the store does not know {run}:\n{runs}").into())
}

/// Kills the server in the middle of a run, which goes on and is found by the same key. A call that
/// waits for it ends before any client gives up.
fn outlives(driver: &Driver<'_>) -> Result<String, Error> {
    let start = json!({
        "kind": "lane", "key": "slow", "text": "Say nothing", "agent": "http:slow", "budget": "1k",
    });
    let (run, is_restarted) = driver.converse(|talk| {
        let started = talk.call(Tool::RunStart, start.clone())?;
        let run = run_id(&started.text).ok_or_else(|| started.lacks("the run's id"))?;
        if !until(|| !driver.silent.prompts().is_empty()) {
            return Err("the lane did not ask its model".to_owned());
        }
        kill_servers(&driver.user.project())?;
        let status = talk.call(Tool::RunStatus, json!({"run": run}))?;
        Ok((run, status.is_state("running")))
    })?;
    driver.converse(|talk| {
        let again = talk.call(Tool::RunStart, start.clone())?;
        again.says(&run)?;
        let status = talk.call(Tool::RunStatus, json!({"run": run, "wait_s": 600}))?;
        if !status.is_state("running") {
            return Err(status.lacks("the state `running`"));
        }
        if status.took < LONG_WAIT || status.took > SHORTEST_LIMIT {
            return Err(format!("the call took {:?}", status.took));
        }
        Ok(())
    })?;
    driver.user.convoke(&["lane", "stop", "1"])?;
    if !until(|| driver.user.alive().is_empty()) {
        return Err(format!("left alive: {:?}", driver.user.alive()).into());
    }
    let finder = if is_restarted { "a restarted server" } else { "a new session" };
    Ok(format!("the run went on, found by {finder}"))
}

/// Kills every server in a project, as a crash does.
fn kill_servers(project: &Path) -> Result<(), String> {
    let is_server = |process: &Path| {
        let program = fs::read_link(process.join("exe")).unwrap_or_default();
        let folder = fs::read_link(process.join("cwd")).unwrap_or_default();
        program.ends_with(SERVER) && folder == *project
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let servers: Vec<_> =
        processes.map(|entry| entry.path()).filter(|path| is_server(path)).collect();
    let killed = servers.iter().filter_map(|path| path.file_name()?.to_str());
    if killed.map(|pid| succeeds("kill", &["-KILL", pid])).filter(|is_killed| *is_killed).count()
        == 0
    {
        return Err("there is no server to kill".to_owned());
    }
    if until(|| servers.iter().all(|path| !is_server(path))) {
        Ok(())
    } else {
        Err("the server does not end".to_owned())
    }
}
