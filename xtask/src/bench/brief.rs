//! The brief against `cat` of the same files, and exact counting against the bare library.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use convoke_domain::text::Text;
use convoke_domain::token::Vocabulary;
use convoke_engine::vocabulary;
use splintr::{PretrainedVocab, SpecialMode, from_vocab};

use super::{
    MB, Row, Sink, convoke, memory, peak_bytes, ratio, stopwatch, take_turns, time, weighed,
};
use crate::Error;
use crate::process::command;

const NAMES: [&str; 4] = ["spec", "system", "research", "pencil-plan"];

pub(super) fn measure() -> Result<Vec<Row>, Error> {
    let top = tempfile::tempdir()?;
    let small = Corpus::create(&top.path().join("small"), 90_000)?;
    let large = Corpus::create(&top.path().join("large"), 50 * MB)?;
    let double = Corpus::create(&top.path().join("double"), 100 * MB)?;
    let (start_cat, start) = small.race_start(200)?;
    let (cat_small, brief_small) = small.race(200, Sink::Pipe)?;
    let (cat_large, brief_large) = large.race(20, Sink::Pipe)?;
    let (cat_null, brief_null) = large.race(20, Sink::Null)?;
    let run = |corpus: &Corpus| time(corpus.brief(convoke()), Sink::Null);
    let (brief_once, brief_twice) = take_turns(20, || run(&large), || run(&double))?;
    let peak = peak_bytes(large.brief(weighed()))?;
    let (bare, ours) = race_counting(&large)?;
    Ok(vec![
        ratio("process start (--version) / cat of 90 KB", start, start_cat, 1.6),
        ratio("brief of 90 KB / cat, to a pipe", brief_small, cat_small, 3.0),
        ratio("brief of 50 MB / cat, to a pipe", brief_large, cat_large, 8.0),
        ratio("brief of 50 MB / cat, to /dev/null", brief_null, cat_null, 8.0),
        ratio("brief of 100 MB / of 50 MB, to /dev/null", brief_twice, brief_once, 2.2),
        memory("brief: peak memory, in MB", "50 MB of input".to_owned(), peak, 116 * MB),
        ratio("exact count: our trait / bare library", ours, bare, 1.0 / 0.95),
    ])
}

/// A project with four documents of the same size.
struct Corpus {
    project: PathBuf,
}

impl Corpus {
    fn create(project: &Path, bytes: usize) -> Result<Self, Error> {
        let dir = project.join(".moai/design");
        fs::create_dir_all(&dir)?;
        for name in NAMES {
            fs::write(dir.join(format!("{name}.md")), document(bytes / NAMES.len()))?;
        }
        Ok(Self { project: project.to_owned() })
    }

    fn files(&self) -> [PathBuf; 4] {
        NAMES.map(|name| self.project.join(format!(".moai/design/{name}.md")))
    }

    fn cat(&self) -> Command {
        let mut cat = command("cat");
        cat.args(self.files());
        cat
    }

    fn brief(&self, mut convoke: Command) -> Command {
        convoke.args(["brief", "--budget", "1000000000", "--project"]).arg(&self.project);
        convoke
    }

    /// Times `cat` of the files and the brief of them.
    fn race(&self, rounds: usize, sink: Sink) -> Result<(Duration, Duration), Error> {
        let brief = || time(self.brief(convoke()), sink);
        take_turns(rounds, || time(self.cat(), sink), brief)
    }

    fn race_start(&self, rounds: usize) -> Result<(Duration, Duration), Error> {
        let version = || {
            let mut convoke = convoke();
            convoke.arg("--version");
            time(convoke, Sink::Pipe)
        };
        take_turns(rounds, || time(self.cat(), Sink::Pipe), version)
    }
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
                Ok(bare.encode_with(&content, &SpecialMode::Ordinary).map(|tokens| tokens.len())?)
            })
        },
        || stopwatch(|| Ok(ours.count(text).tenths())),
    )
}

/// Makes Markdown of about `bytes` bytes: sections, prose, a table, a fence, some wide letters.
fn document(bytes: usize) -> String {
    let prose = "The reader pays in under a minute, without an account; naïve or not. ".repeat(6);
    let rest = "| Screen | Purpose |\n|---|---|\n| Cart | check what is bought |\n\n\
                ```\nBookshop\n├── Cart\n└── Receipt\n```\n";
    let part = format!("\n## Part\n\n{prose}\n\n{rest}");
    "# Document\n".to_owned() + &part.repeat(bytes / part.len() + 1)
}
