//! Speed as ratios, measured side by side in one run.
//!
//! Milliseconds of a noisy machine mean nothing; how often `cat` of the same files fits into one
//! run of ours does. Contenders take turns, so that a disturbance hits both, and the fastest run of
//! each counts: noise only ever adds.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use convoke_domain::text::Text;
use convoke_domain::token::Vocabulary;
use convoke_engine::vocabulary;
use splintr::{PretrainedVocab, SpecialMode, from_vocab};

use crate::packages::{FOR_BENCHES, install};
use crate::process::{command, run as run_program};
use crate::{Error, say};

const NAMES: [&str; 4] = ["spec", "system", "research", "pencil-plan"];
const MB: usize = 1_000_000;

/// One measured line: a figure and what it may be at most.
struct Row {
    what: &'static str,
    figures: String,
    value: f64,
    limit: f64,
}

/// Prints the table, and fails if a limit is exceeded.
pub fn run() -> Result<(), Error> {
    if cfg!(debug_assertions) {
        return run_program(
            "cargo",
            &["run", "--quiet", "--release", "--package", "xtask", "bench"],
        );
    }
    install(&FOR_BENCHES)?;
    run_program("cargo", &["build", "--quiet", "--release"])?;
    let rows = measure()?;
    say("\n| what | figures | value | at most |\n|---|---|---|---|");
    for Row { what, figures, value, limit } in &rows {
        say(&format!("| {what} | {figures} | {value:.2} | {limit:.2} |"));
    }
    match rows.iter().find(|row| row.value > row.limit) {
        Some(row) => Err(format!("too slow or too large: {}", row.what).into()),
        None => Ok(()),
    }
}

fn measure() -> Result<Vec<Row>, Error> {
    let top = tempfile::tempdir()?;
    let small = Corpus::create(&top.path().join("small"), 90_000)?;
    let large = Corpus::create(&top.path().join("large"), 50 * MB)?;
    let double = Corpus::create(&top.path().join("double"), 100 * MB)?;
    let (cat_small, brief_small) = small.race(200, Sink::Pipe)?;
    let (start_cat, start) = small.race_start(200)?;
    let (cat_large, brief_large) = large.race(20, Sink::Pipe)?;
    let (cat_null, brief_null) = large.race(20, Sink::Null)?;
    let (brief_once, brief_twice) = race_two(&large, &double, 20)?;
    let peak = large.peak_bytes()?;
    let (bare, ours) = race_counting(&large)?;
    Ok(vec![
        ratio("process start (--version) / cat of 90 KB", start, start_cat, 3.0),
        ratio("brief of 90 KB / cat, to a pipe", brief_small, cat_small, 3.0),
        ratio("brief of 50 MB / cat, to a pipe", brief_large, cat_large, 8.0),
        ratio("brief of 50 MB / cat, to /dev/null", brief_null, cat_null, 8.0),
        ratio("brief of 100 MB / of 50 MB, to /dev/null", brief_twice, brief_once, 2.2),
        memory(peak, large.bytes),
        ratio("exact count: our trait / bare library", ours, bare, 1.0 / 0.95),
    ])
}

fn ratio(what: &'static str, ours: Duration, theirs: Duration, limit: f64) -> Row {
    let figures = format!("{:.2} ms / {:.2} ms", millis(ours), millis(theirs));
    Row { what, figures, value: ours.as_secs_f64() / theirs.as_secs_f64(), limit }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn memory(peak: usize, input: usize) -> Row {
    let megabytes = |bytes: usize| bytes as f64 / MB as f64;
    let limit = megabytes(input * 2 + 16 * MB);
    let figures = format!("{:.0} MB of input", megabytes(input));
    Row { what: "peak memory on 50 MB, in MB", figures, value: megabytes(peak), limit }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// A project with four documents of the same size.
struct Corpus {
    project: PathBuf,
    bytes: usize,
}

/// Where a contender's output goes.
#[derive(Clone, Copy)]
enum Sink {
    /// To a reader, as a client runs us.
    Pipe,
    /// Nowhere, which costs `cat` almost nothing.
    Null,
}

impl Corpus {
    fn create(project: &Path, bytes: usize) -> Result<Self, Error> {
        let dir = project.join(".moai/design");
        fs::create_dir_all(&dir)?;
        for name in NAMES {
            fs::write(dir.join(format!("{name}.md")), document(bytes / NAMES.len()))?;
        }
        Ok(Self { project: project.to_owned(), bytes })
    }

    fn files(&self) -> Vec<String> {
        let path =
            |name| self.project.join(format!(".moai/design/{name}.md")).display().to_string();
        NAMES.into_iter().map(path).collect()
    }

    fn brief(&self) -> Vec<String> {
        let project = self.project.display().to_string();
        ["brief", "--budget", "1000000000", "--project", &project].map(str::to_owned).to_vec()
    }

    /// Times `cat` of the files and the brief of them.
    fn race(&self, rounds: usize, sink: Sink) -> Result<(Duration, Duration), Error> {
        let (files, brief) = (self.files(), self.brief());
        take_turns(rounds, || time("cat", &files, sink), || time(&convoke(), &brief, sink))
    }

    fn race_start(&self, rounds: usize) -> Result<(Duration, Duration), Error> {
        let (files, version) = (self.files(), ["--version".to_owned()]);
        let ours = || time(&convoke(), &version, Sink::Pipe);
        take_turns(rounds, || time("cat", &files, Sink::Pipe), ours)
    }

    /// Returns the most memory that a brief held, as the system counted it.
    fn peak_bytes(&self) -> Result<usize, Error> {
        let arguments = [&["-f".to_owned(), "%M".to_owned(), convoke()], &*self.brief()].concat();
        let output = command("/usr/bin/time").args(arguments).stdout(Stdio::null()).output()?;
        let said = String::from_utf8(output.stderr)?;
        let kilobytes: usize = said.lines().last().unwrap_or_default().trim().parse()?;
        Ok(kilobytes * 1024)
    }
}

fn race_two(once: &Corpus, twice: &Corpus, rounds: usize) -> Result<(Duration, Duration), Error> {
    let run = |corpus: &Corpus| time(&convoke(), &corpus.brief(), Sink::Null);
    take_turns(rounds, || run(once), || run(twice))
}

fn race_counting(corpus: &Corpus) -> Result<(Duration, Duration), Error> {
    let content: String = fs::read_to_string(&corpus.files()[0])?.chars().take(2 * MB).collect();
    let text = Text::new(&content);
    let bare = from_vocab(PretrainedVocab::O200kBase)?;
    let ours = vocabulary::open(Vocabulary::O200k)?;
    take_turns(
        9,
        || {
            stopwatch(|| {
                Ok(bare.encode_with(&content, &SpecialMode::Ordinary).map(|it| it.len())?)
            })
        },
        || stopwatch(|| Ok(ours.count(text).tenths())),
    )
}

/// Lets two contenders take turns and returns the fastest run of each.
fn take_turns(
    rounds: usize,
    mut one: impl FnMut() -> Result<Duration, Error>,
    mut other: impl FnMut() -> Result<Duration, Error>,
) -> Result<(Duration, Duration), Error> {
    let mut fastest = (Duration::MAX, Duration::MAX);
    for _ in 0..rounds {
        fastest = (fastest.0.min(one()?), fastest.1.min(other()?));
    }
    Ok(fastest)
}

/// Times one process from start to exit.
fn time(program: &str, arguments: &[String], sink: Sink) -> Result<Duration, Error> {
    let mut command = command(program);
    command.args(arguments).stderr(Stdio::null());
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
        if status.success() { Ok(()) } else { Err(format!("`{program}` failed").into()) }
    })
}

#[expect(clippy::disallowed_methods, reason = "the benchmarks' door to the clock")]
fn stopwatch<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<Duration, Error> {
    let start = Instant::now();
    std::hint::black_box(work()?);
    Ok(start.elapsed())
}

/// Returns the binary that was built beside this one.
fn convoke() -> String {
    let here = std::env::current_exe().unwrap_or_default();
    here.with_file_name("convoke").display().to_string()
}

/// Makes Markdown of about `bytes` bytes: sections, prose, a table, a fence, some wide letters.
fn document(bytes: usize) -> String {
    let prose = "The reader pays in under a minute, without an account; naïve or not. ".repeat(6);
    let rest = "| Screen | Purpose |\n|---|---|\n| Cart | check what is bought |\n\n\
                ```\nBookshop\n├── Cart\n└── Receipt\n```\n";
    let part = format!("\n## Part\n\n{prose}\n\n{rest}");
    "# Document\n".to_owned() + &part.repeat(bytes / part.len() + 1)
}
