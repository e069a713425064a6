//! `convoke plumbing timing` and `tokens`: files that programs of the original workflow read, too.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;

use crate::harness::{Outcome, Project};

/// A project whose folder for temporary files is its own root.
fn project() -> Project {
    let project = Project::new();
    let root = project.root().canonicalize().unwrap().display().to_string();
    project.variable("TMPDIR", &root).variable("LARCH_TIMING_SKILL", "design")
}

fn folder(project: &Project, name: &str) -> String {
    let path = project.root().canonicalize().unwrap().join(name);
    fs::create_dir_all(&path).unwrap();
    path.display().to_string()
}

/// A project in which a workflow has its folder.
fn working() -> Project {
    let project = project();
    let folder = folder(&project, "work");
    project.variable("IMPLEMENT_TMPDIR", &folder)
}

fn timing(project: &Project, words: &[&str]) -> Outcome {
    project.run(&[&["plumbing", "timing"], words].concat())
}

fn tokens(project: &Project, words: &[&str]) -> Outcome {
    project.run(&[&["plumbing", "tokens"], words].concat())
}

/// A workflow goes on after any error.
#[track_caller]
fn quiet(outcome: &Outcome) {
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome}");
}

#[track_caller]
fn warned(outcome: &Outcome, about: &str) {
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert!(outcome.stderr.contains("warning") && outcome.stderr.contains(about), "{outcome}");
}

fn ledger(project: &Project) -> PathBuf {
    project.path("work/timing-ledger.tsv")
}

fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

const TASK: [&str; 11] = [
    "record-vendor-task",
    "--vendor",
    "codex",
    "--task-kind",
    "codex-judge",
    "--start-s",
    "100",
    "--end-s",
    "160",
    "--output",
    "/a/deep/folder/codex-judge-output.txt",
];

// T-24, P-359, P-360, P-361, P-363, P-364
#[test]
fn timing_rows_have_thirteen_columns() {
    let project = working();
    quiet(&timing(&project, &["mark", "design Step 2a — sketches"]));
    quiet(&timing(&project, &[&TASK[..], &["--exit-code", "0"]].concat()));
    quiet(&timing(&project, &["workflow-path", "HARD"]));
    quiet(&timing(&project, &["mark", "a\tb\nc"]));
    let rows = rows(&ledger(&project));
    assert!(rows.iter().all(|row| row.len() == 13 && row[0] == "v1" && row[3] == "design"));
    let second = |row: &Vec<String>| row[2].parse::<i64>().unwrap();
    assert!(rows.iter().all(|row| second(row) > 1_700_000_000), "{rows:?}");
    let said: Vec<_> = rows.iter().map(|row| [&row[1..2], &row[4..]].concat().join(" ")).collect();
    assert_eq!(
        said,
        [
            "mark design Step 2a — sketches - - - - - - - -",
            "vendor - codex codex-judge 100 160 60 codex-judge-output.txt 0 complete",
            "workflow - - - - - - - - HARD",
            "mark a<NUL>b<NUL>c - - - - - - - -",
        ]
    );
    #[cfg(unix)]
    assert_eq!(mode(&ledger(&project)), 0o600);
    let dump = timing(&project, &["dump"]);
    quiet(&dump);
    let (first, rest) = dump.stdout.split_once('\n').unwrap();
    assert_eq!(Path::new(first), ledger(&project).canonicalize().unwrap());
    assert_eq!(rest, fs::read_to_string(ledger(&project)).unwrap());
}

// T-24, P-364, P-367
#[test]
fn odd_tasks_are_warned_of_and_wrong_ones_are_not_written() {
    let project = working();
    warned(&timing(&project, &[&TASK[..], &["--task-kind", "my-own"]].concat()), "my-own");
    quiet(&timing(&project, &[&TASK[..], &["--end-s", "90"]].concat()));
    for (flag, value) in [
        ("--task-kind", "Bad_Kind"),
        ("--vendor", "claude"),
        ("--start-s", "x"),
        ("--status", "fine"),
    ] {
        warned(&timing(&project, &[&TASK[..], &[flag, value]].concat()), value);
    }
    warned(&timing(&project, &["bogus"]), "usage");
    warned(&timing(&project, &["workflow-path", "MEDIUM"]), "MEDIUM");
    let rows = rows(&ledger(&project));
    let kinds: Vec<_> = rows.iter().map(|row| [&row[6], &row[9], &row[12]]).collect();
    assert_eq!(kinds, [["my-own", "60", "unknown"], ["codex-judge", "0", "unknown"]]);
}

// T-24, P-362
#[test]
fn a_timing_ledger_is_where_it_may_be() {
    let elsewhere = tempfile::tempdir().unwrap();
    let bad = elsewhere.path().canonicalize().unwrap().join("x.tsv");
    let project = working().variable("LARCH_TIMING_LEDGER", bad.to_str().unwrap());
    warned(&timing(&project, &["mark", "a"]), "x.tsv");
    assert!(!bad.exists());
    assert_eq!(rows(&ledger(&project)).len(), 1, "it falls through");
    let own = project.root().canonicalize().unwrap().join("own.tsv");
    quiet(&timing(&project, &["--ledger", own.to_str().unwrap(), "mark", "a"]));
    assert_eq!(rows(&own).len(), 1);
    warned(&timing(&project, &["mark", "a", "--ledger", bad.to_str().unwrap()]), "x.tsv");
    assert!(!bad.exists());
    assert_eq!(rows(&ledger(&project)).len(), 1, "what was asked for is not replaced");

    let alone = self::project();
    let env = folder(&alone, "parent") + "/session.env";
    let design = folder(&alone, "design");
    let alone = alone.variable("DESIGN_TMPDIR", &design);
    quiet(&timing(&alone, &["mark", "a"]));
    assert_eq!(rows(&alone.path("design/timing-ledger.tsv")).len(), 1);
    let alone = alone.variable("SESSION_ENV_PATH", &env);
    quiet(&timing(&alone, &["mark", "a"]));
    assert_eq!(rows(&alone.path("parent/timing-ledger.tsv")).len(), 1);
    warned(&timing(&self::project(), &["mark", "a"]), "there is no timing ledger");
}

// T-24, P-363
#[test]
fn twenty_parallel_writers_write_twenty_rows() {
    let project = working();
    let program = Path::new(env!("CARGO_BIN_EXE_convoke"));
    let start = |number: u32| {
        let step = format!("step {number}");
        let mut command = project.command(program, &["plumbing", "timing", "mark", &step]);
        command.spawn().unwrap()
    };
    let writers: Vec<Child> = (0..20).map(start).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let rows = rows(&ledger(&project));
    assert!(rows.iter().all(|row| row.len() == 13));
    let mut steps: Vec<_> = rows.iter().map(|row| row[4][5..].parse::<u32>().unwrap()).collect();
    steps.sort_unstable();
    assert_eq!(steps, (0..20).collect::<Vec<_>>());
}

// T-24, P-363
#[cfg(unix)]
#[test]
fn a_link_is_refused_and_a_kept_lock_costs_the_row() {
    let project = working().file("target.txt", "mine");
    std::os::unix::fs::symlink(project.path("target.txt"), ledger(&project)).unwrap();
    warned(&timing(&project, &["mark", "a"]), "not a regular file");
    assert_eq!(fs::read_to_string(project.path("target.txt")).unwrap(), "mine");
    fs::remove_file(ledger(&project)).unwrap();

    let lock = fs::File::create(project.path("work/timing-ledger.tsv.lock")).unwrap();
    lock.lock().unwrap();
    warned(&timing(&project, &["mark", "a"]), "locked");
    assert!(!ledger(&project).exists());
    drop(lock);
    quiet(&timing(&project, &["mark", "a"]));
    assert_eq!(rows(&ledger(&project)).len(), 1);
}

// P-368, P-369, P-370
#[test]
fn times_are_reported() {
    let unavailable = |outcome: &Outcome| {
        assert_eq!(outcome.code, Some(0), "{outcome}");
        assert!(outcome.stdout.starts_with("Timing report unavailable: "), "{outcome}");
    };
    unavailable(&timing(&project(), &["report"]));
    let project = working();
    unavailable(&timing(&project, &["report"]));
    timing(&project, &["workflow-path", "SIMPLE"]);
    unavailable(&timing(&project, &["report", "--full"]));
    let mut text = fs::read_to_string(ledger(&project)).unwrap();
    text +=
        "v1\tmark\t1000\tdesign\tdesign Step 2a — sketches\t-\t-\t-\t-\t-\t-\t-\t-\nbroken\trow\n";
    fs::write(ledger(&project), text).unwrap();
    timing(&project, &[&TASK[..], &["--end-s", "1300", "--exit-code", "0"]].concat());
    let outcome = timing(&project, &["report"]);
    warned(&outcome, "1 lines of the ledger are not rows of 13 columns");
    let begins = "design Step 2a — sketches: elapsed=";
    let ends = " vendor-tasks=1 (codex=1, cursor=0, gemini=0)\n";
    assert!(outcome.stdout.starts_with(begins) && outcome.stdout.ends_with(ends), "{outcome}");
    let full = timing(&project, &["report", "--full"]).stdout;
    assert!(full.starts_with("**Workflow path**: SIMPLE\n\n## Per-Step Durations\n"), "{full}");
    assert!(full.contains("\n| codex | codex-judge | 1 | 20.0 | (1 sample) |\n"), "{full}");

    fs::write(project.path("summary.md"), "# Mine\n").unwrap();
    for _ in 0..2 {
        timing(&project, &["report", "--append", "summary.md"]);
        let text = fs::read_to_string(project.path("summary.md")).unwrap();
        let begin = "# Mine\n\n<!-- timing-report-begin -->\n**Workflow path**: SIMPLE\n";
        assert!(text.starts_with(begin), "{text}");
        assert!(text.ends_with("\n<!-- timing-report-end -->\n"), "{text}");
        assert_eq!(text.matches("timing-report-begin").count(), 1);
    }
}

fn token_files(project: &Project) -> Vec<String> {
    let names = fs::read_dir(project.path("work")).unwrap();
    let mut names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.starts_with("larch-tokens-") && !name.contains(".lock"));
    names.sort();
    names
}

// T-25, P-371, P-373
#[test]
fn token_rows_are_objects() {
    let project = working().variable("LARCH_TOKEN_SESSION_ID", "s-1");
    quiet(&tokens(&project, &["mark", "Step 1 — design Step 3 plan review"]));
    quiet(&tokens(&project, &["record-vendor", "codex", "total=18250", "raw=codex_review"]));
    quiet(&tokens(&project, &["record-vendor", "cursor", "input=1", "raw=a \"b\"\nc"]));
    for wrong in [&["codex", "total=-1"][..], &["codex", "bogus=1"], &["claude", "total=1"]] {
        warned(&tokens(&project, &[&["record-vendor"], wrong].concat()), "warning");
    }
    warned(&tokens(&project, &["bogus"]), "usage");
    let names = token_files(&project);
    let name = "larch-tokens-6a840baf5d8c3ff241688aeb14546e653774cd5387faf1cb982b0fbbf1fbb810";
    assert_eq!(names, [format!("{name}.jsonl")]);
    let path = project.path("work").join(&names[0]);
    #[cfg(unix)]
    assert_eq!(mode(&path), 0o600);
    let dump = tokens(&project, &["dump"]);
    quiet(&dump);
    let lines: Vec<_> = dump.stdout.lines().collect();
    assert_eq!(Path::new(lines[0]), path.canonicalize().unwrap());
    assert_eq!(lines.len(), 4, "{dump}");
    let begins = |line: &str, begin: &str| assert!(line.starts_with(begin), "{line}");
    begins(
        lines[1],
        "{\"type\":\"mark\",\"step\":\"Step 1 — design Step 3 plan review\",\"ts\":\"20",
    );
    begins(
        lines[2],
        "{\"type\":\"vendor\",\"vendor\":\"codex\",\"input\":0,\"output\":0,\"cache_read\":0,\
         \"cache_create\":0,\"total\":18250,\"raw\":\"codex_review\",\"ts\":\"20",
    );
    let raw: serde_json::Value = serde_json::from_str(lines[3]).unwrap();
    assert_eq!((raw["raw"].as_str(), raw["total"].as_u64()), (Some("a \"b\"\nc"), Some(1)));
}

// T-25, P-372
#[test]
fn a_session_has_its_own_token_ledger() {
    let project = working();
    quiet(&tokens(&project, &["mark", "by folder"]));
    let by_folder = token_files(&project);
    fs::write(project.path("work/session-id"), "from-file\n").unwrap();
    quiet(&tokens(&project, &["mark", "by file"]));
    let by_file: Vec<_> =
        token_files(&project).into_iter().filter(|name| !by_folder.contains(name)).collect();
    assert_eq!((by_folder.len(), by_file.len()), (1, 1));
    let project = project.variable("LARCH_TOKEN_SESSION_ID", "../../../hostile\n");
    quiet(&tokens(&project, &["mark", "named"]));
    let all = token_files(&project);
    assert_eq!(all.len(), 3, "what is named comes first");
    let is_hash =
        |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hash = |name: &str| name["larch-tokens-".len()..name.len() - ".jsonl".len()].to_owned();
    assert!(all.iter().all(|name| is_hash(&hash(name))), "{all:?}");
    warned(&tokens(&self::project(), &["mark", "a"]), "there is no token ledger");
}

// T-25, P-372, P-373
#[test]
fn a_token_ledger_that_is_named_lies_below_the_temporary_folder() {
    let project = working();
    let root = project.root().canonicalize().unwrap();
    let (one, two) = (root.join("one.jsonl"), root.join("two.jsonl"));
    let (one_word, two_word) = (one.to_str().unwrap(), two.to_str().unwrap());
    for words in [
        &["--ledger", one_word, "mark", "a"][..],
        &["mark", "--ledger", one_word, "a"],
        &["mark", "a", "--ledger", one_word],
    ] {
        quiet(&tokens(&project, words));
    }
    assert_eq!(fs::read_to_string(&one).unwrap().lines().count(), 3);
    let both = ["--ledger", one_word, "record-vendor", "codex", "total=1", "--ledger", two_word];
    quiet(&tokens(&project, &both));
    assert_eq!(fs::read_to_string(&two).unwrap().lines().count(), 1, "the last one counts");
    let climbs = root.join("work/../three.jsonl");
    warned(&tokens(&project, &["mark", "a", "--ledger", climbs.to_str().unwrap()]), "three");
    let project = project.variable("LARCH_TOKEN_LEDGER", climbs.to_str().unwrap());
    warned(&tokens(&project, &["mark", "a"]), "three");
    assert!(!root.join("three.jsonl").exists());
    let project = project.variable("LARCH_TOKEN_LEDGER", two_word);
    quiet(&tokens(&project, &["mark", "a"]));
    assert_eq!(fs::read_to_string(&two).unwrap().lines().count(), 2);
}

// P-376
#[test]
fn tokens_are_reported() {
    let project = working();
    let outcome = tokens(&project, &["report"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.starts_with("Token report unavailable: "), "{outcome}");
    let record = "{\"type\":\"assistant\",\"timestamp\":\"2126-05-01T09:30:00Z\",\"message\":\
                  {\"id\":\"m\",\"usage\":{\"input_tokens\":3,\"output_tokens\":4,\
                  \"cache_read_input_tokens\":20,\"cache_creation_input_tokens\":1}}}\n";
    let source = project.path("record.jsonl");
    let project = project
        .file("record.jsonl", record)
        .variable("LARCH_CLAUDE_SOURCE_FILE", source.to_str().unwrap());
    quiet(&tokens(&project, &["mark", "Step 1 — design Step 3 plan review"]));
    quiet(&tokens(&project, &["record-vendor", "codex", "total=100"]));
    quiet(&tokens(&project, &["record-vendor", "cursor", "input=5", "output=2"]));
    let outcome = tokens(&project, &["report", "--terse"]);
    quiet(&outcome);
    assert_eq!(
        outcome.stdout,
        "Step 1 — design Step 3 plan review: claude=28 tokens (input=3 cache_read=20 \
         cache_create=1 output=4); vendor=107 (codex=100, cursor=7)\n"
    );
    fs::write(project.path("summary.md"), "<!-- token-report-end -->\n# Mine\n").unwrap();
    quiet(&tokens(&project, &["report", "--append", "summary.md"]));
    let text = fs::read_to_string(project.path("summary.md")).unwrap();
    assert!(text.starts_with("# Mine\n\n<!-- token-report-begin -->\n## Claude"), "{text}");
    assert!(
        text.contains("\n| Step 1 — design Step 3 plan review | design | 24 | 4 |\n"),
        "{text}"
    );
    assert!(text.contains("\n| Step | Skill | Input | Output | Total |\n"), "{text}");
    assert!(
        text.contains("\n| Step 1 — design Step 3 plan review | design | 5 | 2 | 7 |\n"),
        "{text}"
    );
}
