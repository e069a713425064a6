//! Two hundred parallel lanes of a client that prints a hundred lines a second: the CPU and memory
//! of all of Convoke's processes while they listen.
//!
//! The lanes run as those of a design do, through the engine's `many`, in a process of their own,
//! so that the measuring itself is not included. Each lane has a guardian, which counts too. The
//! clients do not: they are not part of Convoke.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use convoke_domain::lane::event::LaneEvent;
use convoke_domain::lane::queue::LaneLimits;
use convoke_engine::client::{ClientRequest, Rights};
use convoke_engine::lane::cancel::Cancel;
use convoke_engine::lane::drive::{ClientProgram, Runner, drive};
use convoke_engine::lane::many::{self, EnoughAnswers, QueueEvent, QueuedLane};
use convoke_engine::lane::supervisor::{Limits, Supervision};

use super::Client;
use crate::bench::{MB, Row, binary, memory, stopwatch};
use crate::process::command;
use crate::{Error, say};

/// The number of parallel lanes.
const LANES: usize = 200;

/// How many lines each client prints in a second.
const LINES: u32 = 100;

/// The time span of the measurement.
const WINDOW: Duration = Duration::from_secs(10);

/// The limit of every step here; it takes much less.
const LONG: Duration = Duration::from_mins(10);

/// How many lines are read between two notes of their number.
const NOTED: u64 = 500;

const LINE: &str = "{\"type\":\"assistant\",\"uuid\":\"u\",\"session_id\":\"s\",\"message\":\
    {\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"A few words, as an agent \
    says them while it works.\"}]}}\n";

pub(super) fn measure() -> Result<Vec<Row>, Error> {
    let top = tempfile::tempdir()?;
    let ourselves = std::env::current_exe()?;
    let client = Client::create(top.path(), &format!("exec '{}' talk", ourselves.display()))?;
    let mut driver = command(&ourselves);
    driver.arg("lanes-at-once").arg(&client.folder).stdout(Stdio::null());
    let mut driver = driver.spawn()?;
    let taken = watch(driver.id(), &client.folder);
    let guardians = children(driver.id());
    driver.kill()?;
    driver.wait()?;
    // They notice that, and end their clients.
    until("the guardians are gone", || guardians.iter().all(|pid| ticks(*pid).is_none()))?;
    taken.map(|taken| rows(&taken))
}

/// The use of the process that runs the lanes, and of the guardians.
struct Taken {
    /// In hundredths of a core.
    shares: [f64; 2],
    bytes: [usize; 2],
    /// Lines in a second.
    heard: f64,
}

fn rows(taken: &Taken) -> Vec<Row> {
    let Taken { shares: [ours, guards], bytes: [our_bytes, guards_bytes], heard } = taken;
    let parts = format!("{ours:.1} % and {guards:.1} % in {LANES} guardians");
    let cpu = Row {
        what: "200 lanes at 100 lines a second, with guardians: % of a core",
        figures: format!("{heard:.0} lines a second heard: {parts}"),
        value: ours + guards,
        limit: 25.0,
    };
    let figures = format!("{} MB and {} MB in guardians", our_bytes / MB, guards_bytes / MB);
    let what = "the same lanes, with guardians: memory (PSS), in MB";
    let each = format!("{} kB each", guards_bytes / LANES / 1000);
    let guardians = memory("the 200 guardians alone", each, *guards_bytes, 60 * MB);
    vec![cpu, memory(what, figures, our_bytes + guards_bytes, 100 * MB), guardians]
}

/// Waits until all lanes talk, and then watches for a while.
fn watch(driver: u32, folder: &Path) -> Result<Taken, Error> {
    until("all lanes are under way", || {
        children(driver).len() == LANES && (0..LANES).all(|lane| has_spoken(folder, lane))
    })?;
    let guardians = children(driver);
    let guards_ticks = || guardians.iter().filter_map(|pid| ticks(*pid)).sum::<u64>();
    let now = || -> [u64; 3] { [ticks(driver).unwrap_or_default(), guards_ticks(), noted(folder)] };
    let before = now();
    let mut after = before;
    let took = stopwatch(|| {
        thread::sleep(WINDOW);
        after = now();
        Ok(())
    })?;
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let [ours, guards, heard] =
        [0, 1, 2].map(|at| (after[at] - before[at]) as f64 / took.as_secs_f64());
    if heard < 0.95 * f64::from(LINES) * 200.0 {
        return Err(format!("only {heard:.0} lines a second were heard").into());
    }
    let guards_bytes = guardians.iter().filter_map(|pid| pss(*pid)).sum();
    let bytes = [pss(driver).ok_or("the lanes ended")?, guards_bytes];
    // The system counts hundredths of a second.
    Ok(Taken { shares: [ours, guards], bytes, heard })
}

fn has_spoken(folder: &Path, lane: usize) -> bool {
    let kept = folder.join(lane.to_string()).join("stdout");
    fs::metadata(kept).is_ok_and(|kept| kept.len() > 0)
}

fn noted(folder: &Path) -> u64 {
    let text = fs::read_to_string(folder.join("heard")).unwrap_or_default();
    text.parse().unwrap_or_default()
}

fn until(what: &str, holds: impl Fn() -> bool) -> Result<(), Error> {
    let step = Duration::from_millis(100);
    let steps = LONG.as_millis() / step.as_millis();
    for _ in 0..steps {
        if holds() {
            return Ok(());
        }
        thread::sleep(step);
    }
    Err(format!("waited in vain until {what}").into())
}

/// Returns the system's fields about a process, from its state on.
fn fields(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// Returns how long a process has worked, in hundredths of a second.
fn ticks(pid: u32) -> Option<u64> {
    let fields = fields(pid)?;
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

fn children(parent: u32) -> Vec<u32> {
    let parent = parent.to_string();
    let pids = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| fields(*pid).is_some_and(|fields| fields.get(1) == Some(&parent)))
        .collect()
}

/// Returns what a process holds, with its share of what several hold together.
fn pss(pid: u32) -> Option<usize> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<usize>().ok()? * 1024)
}

/// Prints lines forever, at the rate of a client with much output.
pub fn talk() -> Result<(), Error> {
    let mut out = File::options().write(true).open("/dev/stdout")?;
    let pause = Duration::from_secs(1) / LINES;
    let mut owed = pause;
    loop {
        // A client that woke too late catches up.
        while owed >= pause {
            out.write_all(LINE.as_bytes())?;
            owed -= pause;
        }
        owed += stopwatch(|| {
            thread::sleep(pause.saturating_sub(owed));
            Ok(())
        })?;
    }
}

/// Runs the lanes until it is killed.
pub fn run(folder: &Path) -> Result<(), Error> {
    for lane in 0..LANES {
        fs::create_dir(folder.join(lane.to_string()))?;
    }
    let lanes = (0..LANES).map(|number| QueuedLane {
        agent: "claude",
        expected: Duration::ZERO,
        work: Box::new(move |cancel: &Cancel, tell: &mut dyn FnMut(&LaneEvent)| {
            if let Err(error) = lane(folder, &folder.join(number.to_string()), cancel, tell) {
                say(&format!("a lane cannot be run: {error}"));
            }
        }),
    });
    let room = LaneLimits { in_all: LANES, of_agent: LANES };
    let mut heard = 0;
    many::run(lanes.collect(), room, &Cancel::default(), &mut |_, news| {
        heard += u64::from(matches!(news, QueueEvent::Said(LaneEvent::Text(_))));
        if heard % NOTED == 0 {
            fs::write(folder.join("heard"), heard.to_string()).ok();
        }
        EnoughAnswers::No
    });
    Err("the lanes ended by themselves".into())
}

fn lane(
    folder: &Path,
    scratch: &Path,
    cancel: &Cancel,
    tell: &mut dyn FnMut(&LaneEvent),
) -> Result<(), Error> {
    let (convoke, program) = (binary(), folder.join("claude"));
    let path = ("PATH".into(), "/usr/bin:/bin".into());
    let text = |path: &Path| path.display().to_string();
    let runner = Runner::Program(ClientProgram {
        agent: convoke_domain::client::Client::Claude,
        program: &program,
        convoke: &convoke,
        variables: vec![path],
    });
    let request = ClientRequest {
        prompt: "Go on.",
        model: None,
        effort: None,
        resume: None,
        rights: Rights::ReadOnly,
        folder: &text(folder),
        scratch: &text(scratch),
        acp: None,
        fleet: None,
    };
    let limits = Limits { wall: LONG, first_byte: LONG, stall: LONG, grace: Duration::ZERO };
    drive(&runner, &request, Supervision { limits, cancel }, tell)?;
    Ok(())
}
