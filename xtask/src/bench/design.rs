//! Designs: what a run adds to the time of its lanes, what counting costs when there is more to
//! count, and how much memory it takes however long answers are.

pub(super) mod whole_run;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use convoke::rehearsal::answers;
use convoke_domain::design::event::{Event, LaneEnd, LaneId, Stamped};
use convoke_domain::design::facts::Facts;
use convoke_domain::design::finding::{Finding, FindingId, FindingScope, Remark};
use convoke_domain::design::lane_id::LaneKind;
use convoke_domain::design::policy::Policy;
use convoke_domain::design::tally::{Voter, report, scores, tally};
use convoke_domain::design::vote::Votes;
use convoke_domain::design::voting_block::{MarkerWord, Reading};
use convoke_domain::lane::collected::CollectedStatus;
use convoke_engine::lane::cassette::CassetteEntry;
use serde_json::{Value, json};

use self::whole_run::{walked, whole_run};
use super::{MB, Row, convoke, memory, peak_bytes, ratio, stopwatch, take_turns, weighed};
use crate::Error;
use crate::process::command;

/// How long every lane takes.
const LANE: Duration = Duration::from_secs(5);

/// How much longer than its lanes a run may take.
const OVERHEAD: f64 = 1.03;

/// How much more ten times as much may cost.
const TEN_TIMES: f64 = 11.0;

/// How much longer a fold may take than a map of its lanes.
const FOLDED: f64 = 4.0;

/// How long an answer is, nearly the longest that is taken.
const LONG: usize = 520_000;

pub(super) fn measure() -> Result<Vec<Row>, Error> {
    Ok(vec![
        critical_path()?,
        ten_times("10,000 findings counted / ten times 1,000, times ten", 1000, ballots, counted)?,
        ten_times(
            "100,000 findings counted / ten times 10,000, times ten",
            10_000,
            ballots,
            counted,
        )?,
        ten_times("10,000 events folded / ten times 1,000, times ten", 1000, events, Facts::fold)?,
        folded_beside_a_map()?,
        ten_times(
            "a run of 10,000 events walked on each / ten times 1,000, times ten",
            1000,
            whole_run,
            walked,
        )?,
        ten_times(
            "a run of 100,000 events walked on each / ten times 10,000, times ten",
            10_000,
            whole_run,
            walked,
        )?,
        long_answers()?,
    ])
}

/// A project in git, and a user of its own.
struct Ground {
    top: tempfile::TempDir,
}

impl Ground {
    fn new() -> Result<Self, Error> {
        let ground = Self { top: tempfile::tempdir()? };
        fs::create_dir(ground.path("project"))?;
        fs::write(ground.path("project/README.md"), "An example.\n")?;
        for words in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["add", "."],
            &["-c", "user.name=June", "-c", "user.email=june@localhost", "commit", "-qm", "one"],
        ] {
            let mut git = command("git");
            git.current_dir(ground.path("project")).env("HOME", ground.top.path());
            if !git.args(words).status()?.success() {
                return Err("git failed".into());
            }
        }
        Ok(ground)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    fn run(&self, mut convoke: Command, words: &[&str]) -> Command {
        convoke.current_dir(self.path("project")).env("HOME", self.top.path()).args(words);
        convoke.env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        convoke
    }
}

/// A whole run with lanes of five seconds, against the lanes that wait for each other.
fn critical_path() -> Result<Row, Error> {
    let ground = Ground::new()?;
    let tape = ground.path("panel.jsonl");
    fs::write(&tape, recorded())?;
    let seats = ["cursor", "codex", "claude"].map(|name| {
        let path = ground.path(&format!("{name}.jsonl"));
        fs::copy(&tape, &path).map(|_| format!("replay:{}", path.display()))
    });
    let seats = seats.into_iter().collect::<Result<Vec<_>, _>>()?.join(",");
    let words = ["design", "--auto", "--seats", &seats, "Keep notes in a folder"];
    let mut run = ground.run(convoke(), &words);
    let took = stopwatch(|| {
        let ended = run.output()?;
        if ended.status.success() { Ok(()) } else { Err(format!("{ended:?}").into()) }
    })?;
    let runs = ground.run(convoke(), &["runs", "--json"]).output()?;
    let runs: Value = serde_json::from_slice(&runs.stdout)?;
    let run = runs[0]["run"].as_str().unwrap_or_default();
    let shown = ground.run(convoke(), &["show", run, "--json"]).output()?;
    let lanes = slowest(&serde_json::from_slice(&shown.stdout)?);
    Ok(ratio("a run with lanes of 5 s / the lanes that wait for each other", took, lanes, OVERHEAD))
}

/// Adds up the slowest lane of each phase. Everything that the chair writes is a phase of its own.
fn slowest(shown: &Value) -> Duration {
    let mut phases: BTreeMap<&str, u64> = BTreeMap::new();
    for lane in shown["lanes"].as_array().into_iter().flatten() {
        let name = lane["lane"].as_str().unwrap_or_default();
        let phase =
            if name.starts_with("chair/") { name } else { name.split('/').next().unwrap_or(name) };
        let longest = phases.entry(phase).or_default();
        *longest = lane["took_ms"].as_u64().unwrap_or(0).max(*longest);
    }
    Duration::from_millis(phases.values().sum())
}

/// Every answer of the rehearsal as a lane that takes its time.
fn recorded() -> String {
    let lanes =
        answers().map(|(lane, answer)| CassetteEntry::answered(lane, answer, LANE).lines(None));
    format!("{{\"cassette\":{{\"version\":1,\"pace\":1.0}}}}\n{}", lanes.collect::<String>())
}

/// Compares ten times the work with a tenth of it, done ten times on other inputs whose results are
/// kept meanwhile. So both need the same memory; neither freeing nor allocating it is measured.
fn ten_times<T, R>(
    what: &'static str,
    count: usize,
    make: fn(usize) -> T,
    work: fn(T) -> R,
) -> Result<Row, Error> {
    // After a large piece is freed, the allocator serves pieces up to that size from the process's
    // own memory. Otherwise each large piece is mapped anew, and a loop that only copies takes
    // fifteen times as long.
    drop(std::hint::black_box(vec![1_u8; 31 * MB]));
    let (tenths, whole) = take_turns(
        15,
        || {
            let things: Vec<_> = (0..10).map(|_| make(count)).collect();
            let mut kept = Vec::with_capacity(10);
            stopwatch(|| {
                kept.extend(things.into_iter().map(work));
                Ok(())
            })
        },
        || time_without_freeing(make(count * 10), work),
    )?;
    Ok(ratio(what, whole, tenths / 10, TEN_TIMES))
}

fn time_without_freeing<T, R>(input: T, work: fn(T) -> R) -> Result<Duration, Error> {
    let mut kept = None;
    stopwatch(|| {
        kept = Some(work(input));
        Ok(())
    })
}

/// Compares 100,000 folded events with the ends of the same lanes in a plain map. 50,000 lanes leave
/// the processor's cache either way, so ten times as many cost more than ten times the time; a fold
/// that looks at earlier events again would be far slower than the map.
fn folded_beside_a_map() -> Result<Row, Error> {
    let (map, facts) = take_turns(
        15,
        || time_without_freeing(events(100_000), ends),
        || time_without_freeing(events(100_000), Facts::fold),
    )?;
    Ok(ratio("100,000 events folded / their lanes put in a map", facts, map, FOLDED))
}

/// Returns how each lane ended.
fn ends(events: Vec<Stamped>) -> HashMap<LaneId, Option<Box<LaneEnd>>> {
    let mut ends = HashMap::new();
    for stamped in events {
        if let Event::LaneStarted(id) = stamped.event {
            ends.entry(id).or_default();
        } else if let Event::LaneEnded(id, end) = stamped.event {
            ends.insert(id, Some(end));
        }
    }
    ends
}

/// Findings, and what three voters answered about all of them.
type Ballots = (Vec<Finding>, Vec<String>);

fn ballots(count: usize) -> Ballots {
    let answer = |word: &&str| {
        (1..=count)
            .fold(String::new(), |text, number| text + &format!("FINDING_{number}: {word}\n"))
    };
    let answers = ["YES", "NO", "EXONERATE"].iter().map(answer).collect();
    ((1..).take(count).map(finding).collect(), answers)
}

/// Reads votes, counts them and reports.
fn counted((findings, answers): Ballots) -> (String, Vec<Finding>, Vec<Voter>) {
    let reviewers = ["Cursor-Arch", "Codex-Pragmatic"].map(str::to_owned);
    let word = MarkerWord::for_recordings();
    let voter = |answer: &String| {
        let votes = Votes::parse(answer, Reading::Marked(&word));
        Voter { name: "V".to_owned(), votes }
    };
    let voters: Vec<_> = answers.iter().map(voter).collect();
    let tally = tally(&findings, &voters, Policy::Safe);
    let report = report(&tally, &scores(&findings, &tally, &reviewers));
    (report, findings, voters)
}

fn finding(number: u32) -> Finding {
    let remark = Remark {
        scope: FindingScope::In,
        focus: None,
        title: format!("Finding {number}"),
        concern: "It is not synced.".to_owned(),
        revision: None,
    };
    Finding {
        id: FindingId { scope: FindingScope::In, number },
        proposers: vec!["Cursor-Arch".to_owned()],
        focus: None,
        remark,
        others: Vec::new(),
    }
}

fn lane_end(answer: &str) -> LaneEnd {
    LaneEnd {
        status: CollectedStatus::Ok,
        reason: None,
        answer: answer.into(),
        agent: "codex".to_owned(),
        model: None,
        usage: None,
        took: 5000,
    }
}

/// Events of lanes that begin and end.
fn events(count: usize) -> Vec<Stamped> {
    let end = lane_end("It is so.");
    let event = |number: usize| {
        let id = LaneId::new(LaneKind::Review, &(number / 2).to_string());
        if number.is_multiple_of(2) {
            Event::LaneStarted(id)
        } else {
            Event::LaneEnded(id, Box::new(end.clone()))
        }
    };
    (0..count).map(|number| Stamped { at: 0, event: event(number) }).collect()
}

/// A run whose agents say as much as is taken each time.
fn long_answers() -> Result<Row, Error> {
    let ground = Ground::new()?;
    fs::create_dir(ground.path("bin"))?;
    talkative(&ground.path("bin"))?;
    let recording = |name: &str| format!("replay:{}", ground.path(name).display());
    let seats = format!("{},{},claude", recording("cursor.jsonl"), recording("codex.jsonl"));
    let words = ["design", "--auto", "--no-probe", "--seats", &seats, "Keep notes in a folder"];
    let peak = peak_bytes(ground.run(weighed(), &words))?;
    let figures = "every answer has 0.5 MB, the most that is taken".to_owned();
    Ok(memory("a run with long answers: peak memory, in MB", figures, peak, 64 * MB))
}

/// Writes a client that gives long answers.
fn talkative(folder: &Path) -> Result<(), Error> {
    let words = "A sentence that says a little. ".repeat(LONG / 31);
    let plan = format!(
        "## Files to modify/create\n- src/draft.rs: new\n\n## Approach\n{words}\n\n## Edge cases\n\
         None.\n\n## Failure modes\nNone.\n\n## Testing strategy\nTry it.\n\n## Tasks\n\
         ### Task 1: Keep it\n**Files:** src/draft.rs\n**Done when:** it is kept\n**Source:** Approach\n"
    );
    let answers = [
        ("vote", format!("FINDING_1: YES — it is so\n\n{words}")),
        ("revision", format!("=== plan.txt ===\n{plan}\n=== resolutions ===\nFINDING_1: Done.\n")),
        (
            "synthesis",
            format!(
                "=== approach-synthesis.txt ===\n{words}\n=== contested-decisions.md ===\nNO_CONTESTED_DECISIONS\n"
            ),
        ),
        (
            "diagram",
            "## Architecture Diagram\n\n```mermaid\nflowchart TD\n  A[Draft] --> B[Disk]\n```\n"
                .to_owned(),
        ),
        ("review", format!("1. [correctness] The draft in src/draft.rs is lost. {words}\n")),
        ("plan", plan.clone()),
        ("sketch", format!("It goes to src/draft.rs. {words}")),
    ];
    for (name, answer) in &answers {
        let line = json!({ "type": "result", "subtype": "success", "is_error": false,
            "result": answer, "session_id": name, "uuid": name });
        fs::write(folder.join(format!("{name}.json")), format!("{line}\n"))?;
    }
    let here = folder.display();
    let script = format!(
        "#!/bin/sh\nasked=$(mktemp)\ncat > $asked\nsays() {{ grep -q -- \"$1\" $asked; }}\n\
         if says EXONERATE; then kind=vote\n\
         elif says '=== resolutions ==='; then kind=revision\n\
         elif says '=== approach-synthesis.txt ==='; then kind=synthesis\n\
         elif says mermaid; then kind=diagram\n\
         elif says NO_ISSUES_FOUND; then kind=review\n\
         elif says 'Files to modify/create'; then kind=plan\n\
         else kind=sketch; fi\ncat '{here}'/$kind.json\n"
    );
    let program = folder.join("claude");
    fs::write(&program, script)?;
    Ok(fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?)
}
