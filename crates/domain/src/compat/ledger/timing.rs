//! Rows of the timing ledger: thirteen cells with tabs between them, and `-` for an empty cell.

use super::{LedgerMisuse, VENDORS};

/// A moment, in seconds since 1970.
pub type Seconds = i64;

/// How thoroughly a workflow works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workflow {
    /// With full effort.
    Hard,
    /// With the least effort.
    Simple,
}

impl Workflow {
    /// Returns the word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Hard => "HARD",
            Self::Simple => "SIMPLE",
        }
    }

    /// Returns the path with this word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Hard, Self::Simple].into_iter().find(|workflow| workflow.word() == word)
    }
}

/// How an agent's work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkEnding {
    /// Successfully.
    Complete,
    /// In any other way.
    Signal,
    /// The column holds another word.
    Unknown,
}

impl WorkEnding {
    const ALL: [Self; 3] = [Self::Complete, Self::Signal, Self::Unknown];

    /// Returns the word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Signal => "signal",
            Self::Unknown => "unknown",
        }
    }

    /// Returns what an exit code means.
    pub const fn of(code: Option<i64>) -> Self {
        match code {
            Some(0) => Self::Complete,
            Some(_) => Self::Signal,
            None => Self::Unknown,
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ending| ending.word() == word)
    }
}

/// An agent's work for a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedTask {
    /// The agent by its short name, such as `codex`.
    pub vendor: String,
    /// The kind of work.
    pub kind: String,
    /// When it began.
    pub start: Seconds,
    /// When it ended.
    pub end: Seconds,
    /// The name of the file that it wrote, without folders.
    pub output: String,
    /// The exit code, if known.
    pub exit_code: Option<i64>,
    /// How it ended.
    pub ending: WorkEnding,
}

impl TimedTask {
    /// Checks a task's values.
    pub fn new(
        vendor: &str,
        kind: &str,
        (start, end): (Seconds, Seconds),
        output: &str,
        exit_code: Option<i64>,
        ending: WorkEnding,
    ) -> Result<Self, LedgerMisuse> {
        if !VENDORS.contains(&vendor) {
            return Err(LedgerMisuse::new(format!("unknown vendor `{vendor}`")));
        }
        if !is_kind(kind) {
            return Err(LedgerMisuse::new(format!("malformed task kind `{kind}`")));
        }
        let ending = if end < start { WorkEnding::Unknown } else { ending };
        let output = output.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let (vendor, kind, output) = (vendor.to_owned(), kind.to_owned(), output.to_owned());
        Ok(Self { vendor, kind, start, end, output, exit_code, ending })
    }

    /// Reads `--vendor V --task-kind K --start-s N --end-s N --output PATH [--exit-code N]
    /// [--status S]`.
    pub(super) fn parse(words: &[&str]) -> Result<Self, LedgerMisuse> {
        const FLAGS: [&str; 7] = [
            "--vendor",
            "--task-kind",
            "--start-s",
            "--end-s",
            "--output",
            "--exit-code",
            "--status",
        ];
        let mut values: [Option<&str>; 7] = [None; 7];
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let unknown = || LedgerMisuse::new(format!("unknown word: {word}"));
            let at = FLAGS.iter().position(|flag| flag == word).ok_or_else(unknown)?;
            let value =
                words.next().ok_or_else(|| LedgerMisuse::new(format!("{word} needs a value")))?;
            values[at] = Some(value);
        }
        let [vendor, kind, start, end, output, code, status] = values;
        let needed = |value: Option<&'_ str>, at: usize| {
            value
                .map(str::to_owned)
                .ok_or_else(|| LedgerMisuse::new(format!("{} is missing", FLAGS[at])))
        };
        let (vendor, kind) = (needed(vendor, 0)?, needed(kind, 1)?);
        let start = moment(&needed(start, 2)?)?;
        let end = moment(&needed(end, 3)?)?;
        let output = needed(output, 4)?;
        let code = code.map(whole).transpose()?;
        let unknown = |word| LedgerMisuse::new(format!("unknown status `{word}`"));
        let ending = status.map(|word| WorkEnding::parse(word).ok_or_else(|| unknown(word)));
        let ending = ending.transpose()?.unwrap_or_else(|| WorkEnding::of(code));
        Self::new(&vendor, &kind, (start, end), &output, code, ending)
    }

    /// Returns how long it took.
    pub fn duration(&self) -> Seconds {
        self.end.saturating_sub(self.start).max(0)
    }

    /// Returns a remark on an unusual but valid value.
    pub fn remark(&self) -> Option<String> {
        (!is_known(&self.kind)).then(|| format!("unknown task kind `{}`", self.kind))
    }
}

/// Tells whether a kind is well-formed: a small letter, then up to 63 more, digits or dashes.
fn is_kind(kind: &str) -> bool {
    let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let begins = kind.starts_with(|c: char| c.is_ascii_lowercase());
    begins && kind.len() <= 64 && kind.chars().all(rest)
}

/// Tells whether the original workflow knows a kind.
fn is_known(kind: &str) -> bool {
    const EITHER: [&str; 9] = [
        "sketch-generic",
        "debate-thesis",
        "debate-antithesis",
        "judge",
        "plan-voter",
        "review",
        "review-generic",
        "implement",
        "review-voter",
    ];
    const ANGLES: [(&str, [&str; 2]); 2] =
        [("cursor", ["arch", "edge"]), ("codex", ["innovation", "pragmatic"])];
    if kind == "vendor-misc" {
        return true;
    }
    ANGLES.iter().any(|(vendor, angles)| {
        let task = kind.strip_prefix(vendor).and_then(|rest| rest.strip_prefix('-'));
        let angle = |task: &str| {
            let angle = task.strip_prefix("sketch-").or_else(|| task.strip_prefix("plan-"));
            angle.is_some_and(|angle| angles.contains(&angle))
        };
        task.is_some_and(|task| EITHER.contains(&task) || angle(task))
    })
}

fn whole(text: &str) -> Result<i64, LedgerMisuse> {
    text.parse().map_err(|_| LedgerMisuse::new(format!("`{text}` is not a whole number")))
}

fn moment(text: &str) -> Result<Seconds, LedgerMisuse> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits {
        whole(text)
    } else {
        Err(LedgerMisuse::new(format!("`{text}` is not a time in seconds")))
    }
}

/// A row of the timing ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimingRow {
    /// When it was written.
    pub at: Seconds,
    /// The workflow that wrote the row.
    pub skill: String,
    /// The row's event.
    pub event: TimingEvent,
}

/// The event of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimingEvent {
    /// A step begins.
    Mark(String),
    /// An agent is finished.
    Task(TimedTask),
    /// How thoroughly the workflow works.
    Workflow(Workflow),
}

/// The text of an empty cell.
const NOTHING: &str = "-";

/// The version that every row begins with.
const VERSION: &str = "v1";

impl TimingRow {
    /// Returns the row with its line ending.
    pub fn line(&self) -> String {
        let mut cells: [String; 13] = std::array::from_fn(|_| NOTHING.to_owned());
        let mut set = |at: usize, text: &str| cells[at] = cell(text);
        set(0, VERSION);
        set(2, &self.at.to_string());
        set(3, &self.skill);
        match &self.event {
            TimingEvent::Mark(step) => {
                set(1, "mark");
                set(4, step);
            }
            TimingEvent::Task(task) => {
                set(1, "vendor");
                set(5, &task.vendor);
                set(6, &task.kind);
                set(7, &task.start.to_string());
                set(8, &task.end.to_string());
                set(9, &task.duration().to_string());
                set(10, &task.output);
                set(11, &task.exit_code.map_or_else(String::new, |code| code.to_string()));
                set(12, task.ending.word());
            }
            TimingEvent::Workflow(path) => {
                set(1, "workflow");
                set(12, path.word());
            }
        }
        cells.join("\t") + "\n"
    }

    /// Reads a row. `Ok(None)` is a row of a kind that came later; an error is no row.
    pub fn parse(line: &str) -> Result<Option<Self>, NoRow> {
        let cells: Vec<_> = line.split('\t').collect();
        let [version, kind, at, skill, step, vendor, task, start, end, _, output, code, extra] =
            cells[..]
        else {
            return Err(NoRow);
        };
        let number = |text: &str| text.parse::<i64>().map_err(|_| NoRow);
        if version != VERSION {
            return Ok(None);
        }
        let event = match kind {
            "mark" => TimingEvent::Mark(step.to_owned()),
            "vendor" => TimingEvent::Task(TimedTask {
                vendor: vendor.to_owned(),
                kind: task.to_owned(),
                start: number(start)?,
                end: number(end)?,
                output: output.to_owned(),
                exit_code: code.parse().ok(),
                ending: WorkEnding::parse(extra).unwrap_or(WorkEnding::Unknown),
            }),
            "workflow" => TimingEvent::Workflow(Workflow::parse(extra).ok_or(NoRow)?),
            _ => return Ok(None),
        };
        Ok(Some(Self { at: number(at)?, skill: skill.to_owned(), event }))
    }
}

/// A line that is not a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRow;

/// Reads all rows of a ledger, and counts the invalid lines.
pub fn rows(text: &str) -> (Vec<TimingRow>, usize) {
    let (mut rows, mut wrong) = (Vec::new(), 0);
    for line in text.lines() {
        match TimingRow::parse(line) {
            Ok(row) => rows.extend(row),
            Err(NoRow) => wrong += 1,
        }
    }
    (rows, wrong)
}

/// Returns a text as one cell.
fn cell(text: &str) -> String {
    if text.is_empty() { NOTHING.to_owned() } else { text.replace(['\t', '\n', '\r'], "<NUL>") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn task(words: &[&str]) -> Result<TimedTask, LedgerMisuse> {
        let right = [
            "--vendor",
            "cursor",
            "--task-kind",
            "cursor-plan-arch",
            "--start-s",
            "1770000010",
            "--end-s",
            "1770000415",
            "--output",
            "/a/b/cursor-plan-arch-output.txt",
        ];
        TimedTask::parse(&[&right, words].concat())
    }

    fn line(event: TimingEvent) -> String {
        TimingRow { at: 1_770_000_420, skill: "design".to_owned(), event }.line()
    }

    // P-359, P-360: byte for byte.
    #[test]
    fn rows_have_thirteen_cells() {
        assert_eq!(
            line(TimingEvent::Mark("design Step 3 — plan review".to_owned())),
            "v1\tmark\t1770000420\tdesign\tdesign Step 3 — plan review\t-\t-\t-\t-\t-\t-\t-\t-\n"
        );
        assert_eq!(
            line(TimingEvent::Task(task(&["--exit-code", "0"]).unwrap())),
            "v1\tvendor\t1770000420\tdesign\t-\tcursor\tcursor-plan-arch\t1770000010\t1770000415\t405\t\
             cursor-plan-arch-output.txt\t0\tcomplete\n"
        );
        assert_eq!(
            line(TimingEvent::Workflow(Workflow::Simple)),
            "v1\tworkflow\t1770000420\tdesign\t-\t-\t-\t-\t-\t-\t-\t-\tSIMPLE\n"
        );
        let nothing = TimingRow {
            at: 1,
            skill: String::new(),
            event: TimingEvent::Mark("a\tb\nc\rd".to_owned()),
        };
        assert_eq!(nothing.line(), "v1\tmark\t1\t-\ta<NUL>b<NUL>c<NUL>d\t-\t-\t-\t-\t-\t-\t-\t-\n");
    }

    // P-364, P-366
    #[test]
    fn how_a_task_ended_follows_from_its_code() {
        for (words, ending) in [
            (&["--exit-code", "0"][..], WorkEnding::Complete),
            (&["--exit-code", "124"], WorkEnding::Signal),
            (&[], WorkEnding::Unknown),
            (&["--exit-code", "0", "--status", "signal"], WorkEnding::Signal),
            (&["--exit-code", "0", "--end-s", "5"], WorkEnding::Unknown),
        ] {
            assert_eq!(task(words).unwrap().ending, ending, "{words:?}");
        }
        assert_eq!(task(&["--end-s", "5"]).unwrap().duration(), 0);
        for wrong in [
            &["--vendor", "claude"][..],
            &["--task-kind", "Cursor"],
            &["--task-kind", "a_b"],
            &["--task-kind", ""],
            &["--start-s", "-1"],
            &["--start-s", "+1"],
            &["--end-s", "1.5"],
            &["--end-s", "99999999999999999999"],
            &["--status", "fine"],
            &["--exit-code", "x"],
            &["--bogus", "x"],
            &["--output"],
        ] {
            assert!(task(wrong).is_err(), "{wrong:?}");
        }
        assert!(
            TimedTask::parse(&["--vendor", "codex"])
                .unwrap_err()
                .to_string()
                .contains("is missing")
        );
    }

    // P-364: 64 letters are enough.
    #[test]
    fn a_kind_is_short() {
        let long = "a".repeat(64);
        assert!(task(&["--task-kind", &long]).is_ok());
        assert!(task(&["--task-kind", &format!("{long}a")]).is_err());
    }

    // P-367
    #[test]
    fn kinds_of_the_workflow_are_known() {
        for kind in [
            "cursor-sketch-arch",
            "cursor-sketch-edge",
            "codex-sketch-innovation",
            "codex-sketch-pragmatic",
            "cursor-sketch-generic",
            "codex-sketch-generic",
            "cursor-debate-thesis",
            "codex-debate-antithesis",
            "cursor-judge",
            "codex-judge",
            "cursor-plan-arch",
            "codex-plan-pragmatic",
            "codex-plan-voter",
            "cursor-plan-voter",
            "codex-review",
            "cursor-review-generic",
            "codex-implement",
            "cursor-review-voter",
            "vendor-misc",
        ] {
            assert!(is_known(kind), "{kind}");
        }
        for kind in ["codex-sketch-arch", "codex", "cursor-", "gemini-judge", "my-own"] {
            assert!(!is_known(kind), "{kind}");
            let remark = task(&["--task-kind", kind]).map(|task| task.remark());
            assert!(remark.is_err() || remark.unwrap().is_some(), "{kind}");
        }
    }

    // P-370
    #[test]
    fn lines_that_are_no_rows_are_counted() {
        let later = "v1\tlater\t1\ta\t-\t-\t-\t-\t-\t-\t-\t-\t-";
        let text = format!(
            "{}\nv1\tmark\tx\n{later}\n\n",
            line(TimingEvent::Mark("a".to_owned())).trim_end()
        );
        let (rows, wrong) = rows(&text);
        assert_eq!((rows.len(), wrong), (1, 2));
    }

    proptest! {
        // P-359
        #[test]
        fn every_event_is_one_row(skill in any::<String>(), step in any::<String>(), at in any::<i64>()) {
            let row = TimingRow { at, skill, event: TimingEvent::Mark(step) };
            let line = row.line();
            prop_assert_eq!(line.matches('\t').count(), 12);
            prop_assert_eq!(line.matches(['\n', '\r']).count(), 1);
            let read = TimingRow::parse(line.trim_end_matches('\n')).unwrap().unwrap();
            prop_assert_eq!(read.line(), line);
        }

        #[test]
        fn any_text_is_read(text in any::<String>(), cells in prop::collection::vec("(v1|mark|vendor|-|[0-9]{1,3}|.{0,2})", 13)) {
            rows(&text);
            rows(&cells.join("\t"));
        }
    }
}
