//! Lanes against the same programs started bare: what looking after them costs.

pub mod at_once;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{MB, Row, convoke, memory, millis, peak_bytes, ratio, stopwatch, take_turns, weighed};
use crate::Error;
use crate::process::command;

/// How many short lanes follow each other.
const LANES: u32 = 200;

/// How much a talkative client prints.
const MUCH: usize = 1000 * MB;

/// A client that takes as long as an interpreter takes to start; real ones take ten times as long.
const SHORT: &str = "cat > /dev/null; sleep 0.05; echo '{\"type\":\"result\",\"subtype\":\"success\",\
    \"is_error\":false,\"result\":\"Yes.\",\"session_id\":\"s\",\"uuid\":\"u\"}'";

/// Many lanes one after the other.
pub(super) fn short() -> Result<Vec<Row>, Error> {
    let top = tempfile::tempdir()?;
    let short = Client::create(&top.path().join("short"), SHORT)?;
    let all =
        |start: &dyn Fn() -> Result<(), Error>| stopwatch(|| (0..LANES).try_for_each(|_| start()));
    let (lanes, bare) = take_turns(
        2,
        || all(&|| succeed(&mut short.lane(convoke()))),
        || all(&|| succeed(&mut short.bare()?)),
    )?;
    let mut sequence = ratio("200 short lanes / the same programs bare", lanes, bare, 1.5);
    let each = millis(lanes.saturating_sub(bare) / LANES);
    sequence.figures = format!("{}, {each:.1} ms for each lane", sequence.figures);
    Ok(vec![sequence])
}

/// Measures the items of a fan-out against as many lanes, one after the other.
pub(super) fn fan() -> Result<Vec<Row>, Error> {
    let top = tempfile::tempdir()?;
    let short = Client::create(&top.path().join("fan"), SHORT)?;
    let items = (0..LANES).map(|number| format!("item {number}\n")).collect::<Vec<_>>().concat();
    fs::write(short.folder.join("items.txt"), items)?;
    let all =
        |start: &dyn Fn() -> Result<(), Error>| stopwatch(|| (0..LANES).try_for_each(|_| start()));
    let (fan, lanes) = take_turns(
        2,
        || time(&mut short.fan(convoke())),
        || all(&|| succeed(&mut short.lane(convoke()))),
    )?;
    Ok(vec![ratio("a fan-out of 200 items, one at a time / 200 lanes", fan, lanes, 1.0)])
}

/// Measures a lane with much output.
pub(super) fn long() -> Result<Vec<Row>, Error> {
    let top = tempfile::tempdir()?;
    let said = top.path().join("said");
    write_much(&said)?;
    let talk = format!("cat > /dev/null; cat '{}'", said.display());
    let talkative = Client::create(&top.path().join("talkative"), &talk)?;
    let (heard, copied) = take_turns(
        3,
        || time(&mut talkative.lane(convoke())),
        || time(&mut copy(&said, &top.path().join("copy"))?),
    )?;
    let peak = peak_bytes(talkative.lane(weighed()))?;
    Ok(vec![
        ratio("a lane with 1 GB of output / `cat` into a file", heard, copied, 3.0),
        memory("the same lane: peak memory, in MB", "1 GB of output".to_owned(), peak, 32 * MB),
    ])
}

/// Measures many parallel lanes.
pub(super) fn many() -> Result<Vec<Row>, Error> {
    at_once::measure()
}

/// A user whose Claude Code is a script.
struct Client {
    folder: PathBuf,
}

impl Client {
    fn create(folder: &Path, script: &str) -> Result<Self, Error> {
        fs::create_dir_all(folder)?;
        let program = folder.join("claude");
        fs::write(&program, format!("#!/bin/sh\n{script}\n"))?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        Ok(Self { folder: folder.to_owned() })
    }

    fn lane(&self, mut convoke: Command) -> Command {
        convoke.args(["lane", "run", "--agent", "claude", "--json", "Is it?"]);
        convoke.current_dir(&self.folder).env("HOME", &self.folder);
        convoke.env("PATH", format!("{}:/usr/bin:/bin", self.folder.display()));
        convoke.stdout(Stdio::null());
        convoke
    }

    fn fan(&self, mut convoke: Command) -> Command {
        convoke.args(["fan", "Is it {{item}}?", "--lines", "items.txt", "--agent", "claude"]);
        // Without earlier answers, which would cost nothing.
        convoke.args(["--parallel", "1", "--fresh"]);
        convoke.current_dir(&self.folder).env("HOME", &self.folder);
        convoke.env("PATH", format!("{}:/usr/bin:/bin", self.folder.display()));
        convoke.stdout(Stdio::null());
        convoke
    }

    fn bare(&self) -> Result<Command, Error> {
        let mut bare = command(self.folder.join("claude"));
        bare.stdin(File::open(self.folder.join("claude"))?).current_dir(&self.folder);
        bare.stdout(Stdio::null());
        Ok(bare)
    }
}

/// Writes what a client says in a long session: lines of a few thousand characters, and an answer.
fn write_much(path: &Path) -> Result<(), Error> {
    let line = format!(
        "{{\"type\":\"assistant\",\"uuid\":\"u\",\"session_id\":\"s\",\"message\":{{\"id\":\"m\",\
         \"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}]}}}}\n",
        "A few words. ".repeat(300)
    );
    let mut file = File::create(path)?;
    for _ in 0..MUCH / line.len() {
        file.write_all(line.as_bytes())?;
    }
    let answer = "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"Yes.\",\
                  \"session_id\":\"s\",\"uuid\":\"u\"}\n";
    Ok(file.write_all(answer.as_bytes())?)
}

fn copy(from: &Path, to: &Path) -> Result<Command, Error> {
    let mut cat = command("cat");
    cat.arg(from).stdout(File::create(to)?);
    Ok(cat)
}

fn time(command: &mut Command) -> Result<Duration, Error> {
    stopwatch(|| succeed(command))
}

/// Runs a program to its end, and ignores its output.
fn succeed(command: &mut Command) -> Result<(), Error> {
    let status = command.stderr(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed").into()) }
}
