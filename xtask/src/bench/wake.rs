//! A hook on a full store against the same hook on a small one, and against `sqlite3`.

use std::cell::Cell;
use std::fs::{self, File};
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use convoke_store::StoreLocation;
use rusqlite::{Connection, params};

use super::{MB, Row, Sink, all_turns, convoke, memory, millis, peak_bytes, time, weighed};
use crate::Error;
use crate::process::command;

/// A moment before any that is measured.
const LONG_AGO: &str = "2026-01-01T00:00:00.000Z";

/// The size of a store.
#[derive(Clone, Copy)]
pub(super) struct Size {
    tasks: u32,
    /// How many of them share a plan.
    per_plan: u32,
    messages: u32,
    /// The number of messages of which one is addressed to june.
    every: u32,
    /// How many of the last messages june has not read.
    unread: u32,
    /// How many wake-ups june has had for the last plan.
    wake_ups: u32,
}

pub(super) const SMALL: Size =
    Size { tasks: 100, per_plan: 100, messages: 1_000, every: 10, unread: 50, wake_ups: 0 };
pub(super) const FULL: Size =
    Size { tasks: 100_000, messages: 1_000_000, wake_ups: 100_000, ..SMALL };
const ONE_PLAN: Size = Size { tasks: 100_000, per_plan: 100_000, ..SMALL };
/// As many unread messages as `inbox` prints, so that both print the same and only finding them differs.
const PAGE: Size = Size { messages: 100, every: 1, unread: 100, ..SMALL };
const UNREAD: Size = Size { messages: 500_000, every: 1, unread: 500_000, ..SMALL };

pub(super) fn measure() -> Result<Vec<Row>, Error> {
    let top = tempfile::tempdir()?;
    let home = |name: &str, size| Home::create(&top.path().join(name), size);
    let small = home("small", SMALL)?;
    let full = home("full", FULL)?;
    let large_plan = home("one-plan", ONE_PLAN)?;
    let unread = home("unread", UNREAD)?;
    let page = home("page", PAGE)?;
    let hook = |home: &Home| time(home.hook(convoke())?, Sink::Pipe);
    let inbox = |home: &Home| time(home.inbox(), Sink::Pipe);
    let (on_small, on_full) = all_turns(200, || hook(&small), || hook(&full))?;
    let (beside_plan, on_plan) = all_turns(200, || hook(&small), || hook(&large_plan))?;
    let (beside_unread, on_unread) = all_turns(200, || hook(&small), || hook(&unread))?;
    let (few, many) = all_turns(50, || inbox(&page), || inbox(&unread))?;
    let (query, again) = all_turns(200, || time(full.query(), Sink::Pipe), || hook(&full))?;
    let peak = peak_bytes(full.hook(weighed())?)?;
    Ok(vec![
        row(
            "hook on 100,000 tasks, 1,000,000 messages, 100,000 wake-ups / on 100, 1,000",
            &on_full,
            &on_small,
            1.3,
        ),
        row("hook on 100,000 tasks in one plan / on 100", &on_plan, &beside_plan, 1.3),
        row("hook on 500,000 unread messages / on 5", &on_unread, &beside_unread, 1.3),
        row("`inbox` of 500,000 unread messages / of 100", &many, &few, 1.3),
        row("hook on the full store / `sqlite3` with one query", &again, &query, 1.5),
        memory("hook: peak memory, in MB", "full store".to_owned(), peak, 32 * MB),
    ])
}

/// Compares medians, and shows the slowest hundredth of Convoke's.
pub(super) fn row(what: &'static str, ours: &[Duration], theirs: &[Duration], limit: f64) -> Row {
    let at = |times: &[Duration], percent: usize| {
        times.get(times.len() * percent / 100).copied().unwrap_or_default()
    };
    let (half, other) = (at(ours, 50), at(theirs, 50));
    let figures = format!(
        "p50 {:.2} ms, p99 {:.2} ms / p50 {:.2} ms",
        millis(half),
        millis(at(ours, 99)),
        millis(other)
    );
    Row { what, figures, value: half.as_secs_f64() / other.as_secs_f64(), limit }
}

/// A user with a project and a store.
pub(super) struct Home {
    pub(super) folder: PathBuf,
    /// How often a hook was called; no two events are the same.
    turns: Cell<u32>,
}

impl Home {
    pub(super) fn create(folder: &Path, size: Size) -> Result<Self, Error> {
        let home = Self { folder: folder.to_owned(), turns: Cell::new(0) };
        fs::create_dir_all(home.project().join(".git"))?;
        fs::write(home.project().join(".git/HEAD"), "ref: refs/heads/main\n")?;
        // Only the user's own file may bind a session to an agent.
        let configuration = home.folder.join(".config/convoke");
        fs::create_dir_all(&configuration)?;
        fs::write(configuration.join("config.toml"), "wake.agent = 'june'\n")?;
        let git = home.project().join(".git").canonicalize()?;
        let store = convoke_store::open(&StoreLocation::file(home.store()))?;
        let project = store.project_name(&git.display().to_string(), "project")?;
        fill(&Connection::open(home.store())?, &project, size)?;
        home.write_plans(size)?;
        Ok(home)
    }

    /// Writes the files of all plans. That of 100,000 tasks is nearly as large as a plan may be.
    fn write_plans(&self, size: Size) -> Result<(), Error> {
        for plan in 0..size.tasks.div_ceil(size.per_plan) {
            let sections =
                (0..size.per_plan).map(|task| format!("### {}\n\nChange `a.rs`.\n\n", title(task)));
            let text: String = iter::once("# Plan\n\n".to_owned()).chain(sections).collect();
            fs::write(self.project().join(plan_file(plan)), text)?;
        }
        Ok(())
    }

    pub(super) fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    fn input(&self) -> PathBuf {
        self.folder.join("input.json")
    }

    pub(super) fn store(&self) -> PathBuf {
        self.folder.join("store.db")
    }

    /// Prepares a hook after a compaction, as a client would call it.
    pub(super) fn hook(&self, mut convoke: Command) -> Result<Command, Error> {
        self.turns.set(self.turns.get() + 1);
        let (cwd, turn) = (self.project().display().to_string(), self.turns.get());
        let input = format!(
            "{{\"session_id\":\"s\",\"cwd\":\"{cwd}\",\"source\":\"compact\",\"turn\":{turn}}}"
        );
        fs::write(self.input(), input)?;
        convoke
            .args(["hook", "claude", "SessionStart"])
            .env("HOME", &self.folder)
            .env("CONVOKE_STORE", self.store())
            .stdin(File::open(self.input())?);
        Ok(convoke)
    }

    /// Prepares a command that lists june's waiting messages.
    fn inbox(&self) -> Command {
        let mut convoke = convoke();
        convoke.args(["inbox", "june"]).current_dir(self.project());
        convoke.env("HOME", &self.folder).env("CONVOKE_STORE", self.store());
        convoke
    }

    fn query(&self) -> Command {
        let mut sqlite = command("sqlite3");
        let sql = "SELECT * FROM messages WHERE project = 'project' AND branch = 'main' \
                   ORDER BY id DESC LIMIT 10";
        sqlite.arg(self.store()).arg(sql);
        sqlite
    }
}

fn plan_file(plan: u32) -> String {
    format!("plan-{plan}.md")
}

fn title(task: u32) -> String {
    format!("Task {task}: do it")
}

/// Fills a store in one transaction: plans of which the last has open tasks, and messages of which
/// some are to june, who has read all but the last.
pub(super) fn fill(store: &Connection, project: &str, size: Size) -> Result<(), Error> {
    let Size { tasks, per_plan, messages, every, unread, wake_ups } = size;
    store.execute_batch("BEGIN; UPDATE task_step_now SET step = 0;")?;
    let mut task = store.prepare(
        "INSERT INTO tasks (project, branch, id, parent_id, plan_file, content, sort_index, status, \
         created_at, updated_at) VALUES (?1, 'main', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)",
    )?;
    for number in 0..tasks {
        let parent = (number % 10 != 0).then(|| format!("x{}", number - number % 10));
        let (plan, content) = (plan_file(number / per_plan), title(number % per_plan));
        // In a plan shared by all, half is done, so that there are many tasks on both sides.
        let is_done = number + if per_plan == tasks { tasks / 2 } else { 20 } < tasks;
        let status = if is_done { "completed" } else { "pending" };
        let id = format!("x{number}");
        task.execute(params![project, id, parent, plan, content, number, status, LONG_AGO])?;
    }
    let mut message = store.prepare(
        "INSERT INTO messages (project, branch, from_agent, kind, content, created_at) \
         VALUES (?1, 'main', 'ana', 'say', ?2, ?3)",
    )?;
    let mut recipient =
        store.prepare("INSERT INTO recipients VALUES (?1, 'main', 'june', ?2, 0, 1)")?;
    for number in 1..=messages {
        message.execute(params![project, format!("message {number}"), LONG_AGO])?;
        if number % every == 0 {
            recipient.execute(params![project, number])?;
        }
    }
    let mut wake_up = store.prepare(
        "INSERT INTO skill_history (project, branch, agent, plan_file, skill, mode, injected_at) \
         VALUES (?1, 'main', 'june', ?2, '', 'full', ?3)",
    )?;
    for _ in 0..wake_ups {
        wake_up.execute(params![project, plan_file((tasks - 1) / per_plan), LONG_AGO])?;
    }
    let seen = messages.saturating_sub(unread);
    store.execute("DELETE FROM unread WHERE message_id <= ?1", [seen])?;
    store.execute(
        "INSERT INTO agents (project, branch, name, client, status, last_seen_message_id) \
         VALUES (?1, 'main', 'june', 'claude', 'idle', ?2)",
        params![project, seen],
    )?;
    store.execute_batch("UPDATE task_step_now SET step = NULL; COMMIT;")?;
    Ok(())
}
