//! The dashboard's first pages on a full store against a bare axum page, a search, a long run, and what 200
//! live lanes cost it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use convoke_domain::design::event::{Event, Kept};
use convoke_domain::run::RunId;
use convoke_engine::design::journal::Journal;
use convoke_engine::owner::myself;
use convoke_store::StoreLocation;
use rusqlite::{Connection, params};
use serde_json::json;

use super::design::whole_run::whole_run;
use super::wake::{FULL, fill};
use super::{MB, Row, convoke, memory, millis, stopwatch};
use crate::Error;

/// How many lanes run while the page lives.
const LIVE: i64 = 200;

/// How long the live page is watched.
const WATCHED: Duration = Duration::from_secs(10);

/// The time between two events of all lanes.
const PAUSE: Duration = Duration::from_millis(10);

/// How many requests each page gets.
const ROUNDS: usize = 30;

/// The run with many events, one of the thousand.
const LONG_RUN: &str = "20250101-000000-00000";

/// How many events it has.
const EVENTS: usize = 10_000;

/// How many runs there are; the others have one event.
const RUNS: u32 = 1000;

/// The documents that every round requires.
const DOCUMENTS: [&str; 5] = ["prd.md", "spec.md", "design.md", "plan.md", "tasks.md"];

/// How often a search is made until its index is complete: each adds 50,000 messages to it.
const SEARCHES: usize = 40;

pub(super) fn measure() -> Result<Vec<Row>, Error> {
    let top = tempfile::tempdir()?;
    let home = Home::create(top.path())?;
    let dashboard = home.dashboard()?;
    let bare = bare_page()?;
    let mut rows = Vec::new();
    for (what, path) in [
        ("Now on a full store / a bare axum page", "/"),
        ("Tasks on a full store / a bare axum page", "/tasks"),
        ("Messages on a full store / a bare axum page", "/messages"),
        ("Usage on a full store / a bare axum page", "/usage"),
        ("1,000 runs with journals / a bare axum page", "/runs"),
        ("2,000 rounds with receipts / a bare axum page", "/dispatch"),
        ("Store on a full store / a bare axum page", "/store"),
        ("Page 150 of 100,000 tasks / a bare axum page", "/tasks?page=150"),
    ] {
        rows.push(beside(what, &dashboard, path, &bare, PAGE)?);
    }
    let what = "Usage of 332,000 lanes in 11,000 runs / a bare axum page";
    rows.push(beside(what, &dashboard, "/usage?days=365", &bare, YEAR)?);
    let words = "/search?q=message+999983";
    for _ in 0..SEARCHES {
        dashboard.get(words)?;
    }
    let what = "Search at 1,000,000 messages / a bare axum page";
    rows.push(beside(what, &dashboard, words, &bare, PAGE)?);
    let what = "A run of 10,000 events / a bare axum page";
    rows.push(beside(what, &dashboard, &format!("/runs/{LONG_RUN}"), &bare, RUN)?);
    rows.extend(live(&home, &dashboard)?);
    Ok(rows)
}

/// The limit of a page: 100 ms where a bare page takes half of one.
const PAGE: f64 = 200.0;

/// The limit of a long run: a second.
const RUN: f64 = 2000.0;

/// The limit of a year's usage, every lane of which is read: two seconds.
const YEAR: f64 = 4000.0;

/// Has a page of the dashboard and a bare one answer in turns.
fn beside(
    what: &'static str,
    dashboard: &Dashboard,
    path: &str,
    bare: &str,
    limit: f64,
) -> Result<Row, Error> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(stopwatch(|| dashboard.get(path))?);
        theirs.push(stopwatch(|| get(bare, "/", ""))?);
    }
    ours.sort_unstable();
    theirs.sort_unstable();
    let (ours, theirs) = (ours[ROUNDS / 2], theirs[ROUNDS / 2]);
    let figures = format!("p50 {:.2} ms / p50 {:.2} ms", millis(ours), millis(theirs));
    Ok(Row { what, figures, value: ours.as_secs_f64() / theirs.as_secs_f64(), limit })
}

/// A user with a full store.
struct Home {
    folder: PathBuf,
    project: String,
}

impl Home {
    fn create(folder: &Path) -> Result<Self, Error> {
        fs::create_dir_all(folder.join("project/.git"))?;
        fs::write(folder.join("project/.git/HEAD"), "ref: refs/heads/main\n")?;
        let git = folder.join("project/.git").canonicalize()?;
        let store = convoke_store::open(&StoreLocation::file(folder.join("store.db")))?;
        let project = store.project_name(&git.display().to_string(), "project")?;
        let connection = Connection::open(folder.join("store.db"))?;
        fill(&connection, &project, FULL)?;
        let home = Self { folder: folder.to_owned(), project };
        home.add_lanes(&connection)?;
        home.add_dispatches(&connection)?;
        Ok(home)
    }

    /// Adds a million lanes of three years, 30 to a run, and a thousand runs with journals.
    fn add_lanes(&self, connection: &Connection) -> Result<(), Error> {
        let insert = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999999) \
             INSERT INTO lanes (project, branch, role, agent, writes, owner_pid, owner_mark, \
             prompt_chars, prompt_hash, started_at, outcome, end, model, took_ms, bytes, input, \
             cached, output, reasoning, micro_dollars, ended_at, run) SELECT ?1, 'main', 'role' || i % 7, \
             'claude', 0, 1, '', 10, '', strftime('%Y-%m-%dT%H:%M:%fZ', 'now', \
             '-' || ((1000000 - i) * 95) || ' seconds'), 'answered', 'exited 0', 'm' || i % 3, 1000, 10, \
             1000, 10, 100, 10, 1000, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), \
             printf('20240101-000000-%05x', i / 30) FROM n";
        connection.execute(insert, params![self.project])?;
        let runs = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) \
             INSERT INTO runs (id, project, branch, feature, state, started_at, ended_at, last_seq, \
             last_chain) SELECT printf('20250101-000000-%05x', i), ?1, 'main', 'Feature ' || i, \
             'ended', '2025-01-01T00:00:00.000Z', '2025-01-01T00:10:00.000Z', 0, '' FROM n";
        connection.execute(runs, params![self.project])?;
        let store = convoke_store::open(&StoreLocation::file(self.folder.join("store.db")))?;
        let journal = |number: u32| -> Result<Journal<'_>, Error> {
            let run = RunId::parse(&format!("20250101-000000-{number:05x}"));
            Ok(Journal::open(&*store, run.map_err(|error| error.to_string())?)?.0)
        };
        let mut long = journal(0)?;
        for stamped in whole_run(EVENTS) {
            long.append(stamped.at, &stamped.event)?;
        }
        // The list of runs reads the last event of each.
        let kept = Kept { warnings: Some(1), undecided: Some(0), ..Kept::default() };
        for number in 1..RUNS {
            journal(number)?.append(1000, &Event::Kept(kept.clone()))?;
        }
        Ok(())
    }

    /// Adds 2,000 rounds of 25 features, each with the receipts of five documents.
    fn add_dispatches(&self, connection: &Connection) -> Result<(), Error> {
        let receipt = |name: &&str| {
            json!({"name": name, "standing": "part", "proof": "in_doubt", "lines": ["1-60", "90-120"],
                "of": 200, "namesake": null, "doubt": null, "sha256": null,
                "shown_by": [{"call": format!("sed -n 1,60p {name}"), "lines": "1-60"},
                             {"call": format!("sed -n 90,120p {name}"), "lines": "90-120"}]})
        };
        let receipts: Vec<_> = DOCUMENTS.iter().map(receipt).collect();
        let insert = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1999) \
             INSERT INTO dispatches (project, branch, feature, command, role, iteration, mode, \
             prompt_chars, artifacts, confirmed, missing, unproven, proven, created_at, receipts, \
             verdict, reason, fresh_chars) SELECT ?1, 'main', printf('%03d-feature', i / 80), \
             'implement', 'role-' || i % 8, i % 80 / 8 + 1, 'fresh', 9000, ?2, 1, '', ?2, '', \
             '2025-01-01T00:00:00.000Z', ?3, 'PASS', 'first_iteration', 9000 FROM n";
        let values = params![self.project, DOCUMENTS.join("\n"), json!(receipts).to_string()];
        connection.execute(insert, values)?;
        Ok(())
    }

    fn dashboard(&self) -> Result<Dashboard, Error> {
        let mut process = convoke()
            .args(["serve", "--no-open"])
            .current_dir(self.folder.join("project"))
            .env_clear()
            .env("HOME", &self.folder)
            .env("PATH", "/usr/bin:/bin")
            .env("CONVOKE_STORE", self.folder.join("store.db"))
            .stderr(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(process.stderr.take().ok_or("no stderr")?);
        let mut said = String::new();
        while !said.contains("Ctrl-C ends") {
            if lines.read_line(&mut said)? == 0 {
                return Err(format!("the dashboard does not start: {said}").into());
            }
        }
        thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let link = said.split("dashboard: http://").nth(1).and_then(|rest| rest.lines().next());
        let (address, path) = link.and_then(|link| link.split_once('/')).ok_or("no link")?;
        let answer = get(address, &format!("/{path}"), "")?;
        let cookie = answer.split("set-cookie: ").nth(1).and_then(|rest| rest.split(';').next());
        let cookie = format!("cookie: {}\r\n", cookie.ok_or("no cookie")?);
        Ok(Dashboard { process, address: address.to_owned(), cookie })
    }
}

/// A dashboard that runs, and the cookie that it knows.
struct Dashboard {
    process: Child,
    address: String,
    cookie: String,
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

impl Dashboard {
    fn get(&self, path: &str) -> Result<String, Error> {
        let answer = get(&self.address, path, &self.cookie)?;
        if answer.starts_with("HTTP/1.1 200") {
            Ok(answer)
        } else {
            Err(format!("{path}: {answer}").into())
        }
    }

    /// Returns the ticks of the processor that it has used, and its most memory in bytes.
    fn costs(&self) -> Result<(u64, usize), Error> {
        let folder = PathBuf::from(format!("/proc/{}", self.process.id()));
        let stat = fs::read_to_string(folder.join("stat"))?;
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest).ok_or("no stat")?;
        let fields: Vec<_> = fields.split_whitespace().collect();
        let ticks = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        let status = fs::read_to_string(folder.join("status"))?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|line| line.trim().strip_suffix(" kB")).ok_or("no memory")?;
        Ok((ticks, peak.trim().parse::<usize>()? * 1024))
    }
}

fn get(address: &str, path: &str, more: &str) -> Result<String, Error> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\n{more}connection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Serves one page of usual size with axum and nothing else, and returns its address.
fn bare_page() -> Result<String, Error> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?.to_string();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::spawn(move || {
        runtime.block_on(async {
            let page = "<!doctype html><p>text</p>".repeat(400);
            let shown = move || async move { page.clone() };
            let router = axum::Router::new().route("/", axum::routing::get(shown));
            if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
                axum::serve(listener, router).await.ok();
            }
        });
    });
    Ok(address)
}

/// Watches a live page while 200 lanes say something a hundred times a second.
fn live(home: &Home, dashboard: &Dashboard) -> Result<Vec<Row>, Error> {
    let connection = Connection::open(home.folder.join("store.db"))?;
    let owner = myself();
    let lanes = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?4 - 1) \
         INSERT INTO lanes (project, branch, role, agent, writes, owner_pid, owner_mark, \
         prompt_chars, prompt_hash, started_at) SELECT ?1, 'main', 'thinker', 'claude', 0, ?2, ?3, 10, \
         '', strftime('%Y-%m-%dT%H:%M:%fZ', 'now') FROM n";
    connection.execute(lanes, params![home.project, owner.pid, owner.mark, LIVE])?;
    let last: i64 = connection.query_row("SELECT max(id) FROM lanes", [], |row| row.get(0))?;
    let folder = home.folder.join(".local/state/convoke/lanes");
    fs::create_dir_all(&folder)?;
    let mut stream = TcpStream::connect(&dashboard.address)?;
    let (address, cookie) = (&dashboard.address, &dashboard.cookie);
    write!(stream, "GET /live/now HTTP/1.1\r\nhost: {address}\r\n{cookie}\r\n")?;
    let listener = thread::spawn(move || {
        let mut received = BufReader::new(stream).lines().map_while(Result::ok);
        let updates = received.by_ref().take_while(|line| !line.contains("the-last-tool"));
        updates.filter(|line| line == "event: parts").count()
    });
    let (before, _) = dashboard.costs()?;
    let took = stopwatch(|| {
        let count = WATCHED.as_millis() / PAUSE.as_millis();
        for event in 0..i64::try_from(count)? {
            say_something(&folder, last - event % LIVE, &format!("tool-{event}"))?;
            thread::sleep(PAUSE);
        }
        Ok(())
    })?;
    let (after, peak) = dashboard.costs()?;
    say_something(&folder, last, "the-last-tool")?;
    let updates = listener.join().map_err(|_| "the listener broke off")?;
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let (share, rate) = (
        // A tick is a hundredth of a second.
        (after - before) as f64 / took.as_secs_f64(),
        updates as f64 / took.as_secs_f64(),
    );
    let figures = |value: f64| format!("{value:.1} over {} s", took.as_secs());
    Ok(vec![
        Row {
            what: "200 live lanes: percent of a core",
            figures: figures(share),
            value: share,
            limit: 30.0,
        },
        Row {
            what: "200 live lanes: updates a second",
            figures: figures(rate),
            value: rate,
            limit: 10.5,
        },
        memory("200 live lanes: peak memory, in MB", "all pages seen".to_owned(), peak, 60 * MB),
    ])
}

fn say_something(folder: &Path, lane: i64, tool: &str) -> Result<(), Error> {
    let pulse = format!(
        "{{\"label\":null,\"model\":\"m\",\"last_tool\":\"{tool}\",\"tools\":1,\"tokens\":100,\
         \"micro_dollars\":1,\"at_ms\":1767225600000}}"
    );
    let path = folder.join(format!("{lane}.json"));
    let draft = folder.join(".draft");
    fs::write(&draft, pulse)?;
    Ok(fs::rename(draft, path)?)
}

/// Adds an empty run of a project that has tasks.
pub(crate) fn add_ended_run(store: &Path, run: &str) -> Result<(), Error> {
    let connection = Connection::open(store)?;
    let insert = "INSERT INTO runs (id, project, branch, feature, state, started_at, ended_at, \
         last_seq, last_chain) SELECT ?1, project, branch, 'A long run', 'ended', \
         '2025-01-01T00:00:00.000Z', '2025-01-01T00:10:00.000Z', 0, '' FROM tasks LIMIT 1";
    connection.execute(insert, [run])?;
    Ok(())
}
