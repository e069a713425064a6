//! Speed as ratios, measured side by side in one run.
//!
//! Milliseconds of a noisy machine mean nothing; the ratio to another program's run does.
//! Contenders take turns, so that a disturbance hits both, and the fastest run of each counts:
//! noise only ever adds.

mod brief;
mod design;
mod dispatch;
pub mod lane;
mod manifest;
mod serve;
mod store;
mod wake;

pub(crate) use self::design::whole_run::whole_run;
pub(crate) use self::serve::add_ended_run;

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::{command, run as run_program};
use crate::{Error, say};

const MB: usize = 1_000_000;

/// One measured line: a figure and what it may be at most.
struct Row {
    what: &'static str,
    figures: String,
    value: f64,
    limit: f64,
}

/// A group of measurements that run together; returns their rows.
type Group = fn() -> Result<Vec<Row>, Error>;

const GROUPS: [(&str, Group); 11] = [
    ("brief", brief::measure),
    ("wake", wake::measure),
    ("dispatch", dispatch::measure),
    ("manifest", manifest::measure),
    ("design", design::measure),
    ("serve", serve::measure),
    ("lane-short", lane::short),
    ("lane-long", lane::long),
    ("lane-fan", lane::fan),
    ("lane-many", lane::many),
    // The last, because it builds the program with another backend.
    ("store", store::measure),
];

/// Measures the groups that are named, all without a name, prints the table, and fails if a limit is
/// exceeded.
pub fn run(names: &[String]) -> Result<(), Error> {
    let chosen = chosen(names)?;
    if cfg!(debug_assertions) {
        let again = ["run", "--profile", "dist", "--package", "xtask", "bench"];
        let names = names.iter().map(String::as_str);
        return run_program("cargo", &again.into_iter().chain(names).collect::<Vec<_>>());
    }
    run_program("cargo", &["build", "--profile", "dist"])?;
    let mut rows = Vec::new();
    for group in chosen {
        rows.extend(group()?);
    }
    say("\n| what | figures | value | at most | holds |\n|---|---|---|---|---|");
    for row in &rows {
        say(&row.line());
    }
    let missed: Vec<_> = rows.iter().filter(|row| !row.holds()).map(|row| row.what).collect();
    if missed.is_empty() {
        return Ok(());
    }
    Err(format!("too slow or too large: {}", missed.join("; ")).into())
}

impl Row {
    /// Tells whether the figure is within its limit; one that could not be computed is not.
    fn holds(&self) -> bool {
        self.value <= self.limit
    }

    fn line(&self) -> String {
        let Self { what, figures, value, limit } = self;
        let holds = if self.holds() { "yes" } else { "NO" };
        format!("| {what} | {figures} | {value:.2} | {limit:.2} | {holds} |")
    }
}

/// Finds the groups that names begin: `lane` is all of lanes.
fn chosen(names: &[String]) -> Result<Vec<Group>, Error> {
    let known = |name: &String| GROUPS.iter().any(|(group, _)| group.starts_with(name.as_str()));
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let all = GROUPS.map(|(group, _)| group).join(", ");
        return Err(format!("nothing is called `{unknown}`; there are {all}").into());
    }
    let is_chosen =
        |group: &str| names.is_empty() || names.iter().any(|name| group.starts_with(name.as_str()));
    Ok(GROUPS.into_iter().filter(|(name, _)| is_chosen(name)).map(|(_, group)| group).collect())
}

fn ratio(what: &'static str, ours: Duration, theirs: Duration, limit: f64) -> Row {
    let figures = format!("{:.2} ms / {:.2} ms", millis(ours), millis(theirs));
    Row { what, figures, value: ours.as_secs_f64() / theirs.as_secs_f64(), limit }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn memory(what: &'static str, figures: String, peak: usize, limit: usize) -> Row {
    let megabytes = |bytes: usize| bytes as f64 / MB as f64;
    Row { what, figures, value: megabytes(peak), limit: megabytes(limit) }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Where a contender's output goes.
#[derive(Clone, Copy)]
enum Sink {
    /// To a reader, as clients run Convoke.
    Pipe,
    /// To the null device, which costs `cat` almost nothing.
    Null,
}

/// Lets two contenders take turns and returns the fastest run of each.
fn take_turns(
    rounds: usize,
    one: impl FnMut() -> Result<Duration, Error>,
    other: impl FnMut() -> Result<Duration, Error>,
) -> Result<(Duration, Duration), Error> {
    let (ones, others) = all_turns(rounds, one, other)?;
    let fastest = |times: Vec<Duration>| times.into_iter().min().unwrap_or_default();
    Ok((fastest(ones), fastest(others)))
}

/// Lets two contenders take turns and returns all their times, fastest first.
fn all_turns(
    rounds: usize,
    mut one: impl FnMut() -> Result<Duration, Error>,
    mut other: impl FnMut() -> Result<Duration, Error>,
) -> Result<(Vec<Duration>, Vec<Duration>), Error> {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ones.push(one()?);
        others.push(other()?);
    }
    ones.sort_unstable();
    others.sort_unstable();
    Ok((ones, others))
}

/// Times one process from start to exit.
fn time(mut command: Command, sink: Sink) -> Result<Duration, Error> {
    command.stderr(Stdio::null());
    let mut buffer = vec![0; 64 * 1024];
    stopwatch(|| {
        let status = match sink {
            Sink::Null => command.stdout(Stdio::null()).status()?,
            Sink::Pipe => {
                let mut child = command.stdout(Stdio::piped()).spawn()?;
                if let Some(mut out) = child.stdout.take() {
                    while out.read(&mut buffer)? > 0 {}
                }
                child.wait()?
            }
        };
        if status.success() { Ok(()) } else { Err(format!("{command:?} failed").into()) }
    })
}

/// Returns the most memory that a process held, as the system counted it.
fn peak_bytes(mut command: Command) -> Result<usize, Error> {
    let output = command.stdout(Stdio::null()).output()?;
    let said = String::from_utf8(output.stderr)?;
    let kilobytes: usize = said.lines().last().unwrap_or_default().trim().parse()?;
    Ok(kilobytes * 1024)
}

/// Prepares Convoke's binary so that the system reports its memory.
fn weighed() -> Command {
    let mut command = command("/usr/bin/time");
    command.args(["-f", "%M"]).arg(binary());
    command
}

/// Returns how long some work took.
#[expect(clippy::disallowed_methods, reason = "the chores' door to the clock")]
pub(crate) fn stopwatch<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<Duration, Error> {
    let start = Instant::now();
    std::hint::black_box(work()?);
    Ok(start.elapsed())
}

fn convoke() -> Command {
    command(binary())
}

/// Returns the binary that was built beside this one.
fn binary() -> std::path::PathBuf {
    std::env::current_exe().unwrap_or_default().with_file_name("convoke")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_whether_its_limit_holds() {
        let line = |value| Row { what: "x", figures: "1 / 2".to_owned(), value, limit: 1.5 }.line();
        assert_eq!(line(1.5), "| x | 1 / 2 | 1.50 | 1.50 | yes |");
        assert_eq!(line(1.51), "| x | 1 / 2 | 1.51 | 1.50 | NO |");
        assert_eq!(line(f64::NAN), "| x | 1 / 2 | NaN | 1.50 | NO |");
    }

    #[test]
    fn groups_are_chosen_by_how_they_begin() {
        let count = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            chosen(&names).map(|groups| groups.len()).map_err(|error| error.to_string())
        };
        assert_eq!(count(&[]), Ok(GROUPS.len()));
        assert_eq!(count(&["lane"]), Ok(4));
        assert_eq!(count(&["wake", "lane-many"]), Ok(2));
        assert!(count(&["wake", "nothing"]).unwrap_err().contains("there are brief, wake"));
    }
}
