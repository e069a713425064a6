//! `convoke mermaid check --syntax` without its parser, and with programs that are not its parser.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::harness::{Outcome, Project, set_mode};

const TWO: &str = "```mermaid\nflowchart TD\n```\n\n```mermaid\npie\n```\n";

/// A folder with a Convoke of its own, beside which a test puts what it likes.
struct Place {
    project: Project,
}

impl Place {
    fn new(folder: &str) -> Self {
        let project = Project::new();
        let place = Self { project };
        fs::create_dir_all(place.folder().join(folder)).unwrap();
        place
    }

    fn folder(&self) -> PathBuf {
        self.project.root().canonicalize().unwrap()
    }

    fn check(&self, folder: &str, words: &[&str]) -> Outcome {
        let convoke = self.folder().join(folder).join("convoke");
        let built = env!("CARGO_BIN_EXE_convoke");
        if !convoke.exists() {
            fs::hard_link(built, &convoke)
                .or_else(|_| fs::copy(built, &convoke).map(drop))
                .unwrap();
        }
        let words = [&["mermaid", "check", "--from-md", "--input", "two.md"], words].concat();
        fs::write(self.project.path("two.md"), TWO).unwrap();
        self.project.run_program(&convoke, &words)
    }

    fn parser(&self, folder: &str) -> PathBuf {
        self.folder().join(folder).join("convoke-diagram")
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/diagram").join(name)
}

#[test]
fn without_the_parser_no_diagram_passes_and_a_hint_says_how_to_get_it() {
    let in_source = "hint: in the folder of Convoke's source, run: ";
    let place = Place::new("bin");
    for (folder, run) in [
        ("debug", "cargo build --profile dev --package convoke-diagram".to_owned()),
        ("release", "cargo build --profile release --package convoke-diagram".to_owned()),
        ("dist", "cargo build --profile dist --package convoke-diagram".to_owned()),
        (
            "bin",
            format!("cargo install --path crates/diagram --root '{}'", place.folder().display()),
        ),
        (
            "elsewhere",
            format!(
                "cargo build --profile release --package convoke-diagram && \
                 cp target/release/convoke-diagram '{}'",
                place.folder().join("elsewhere").display()
            ),
        ),
    ] {
        fs::create_dir_all(place.folder().join(folder)).unwrap();
        let outcome = place.check(folder, &["--syntax", "--warnings-log", "log.md"]);
        let parser = place.parser(folder);
        let words = format!(
            "error: cannot parse diagrams: the program `{}` is missing\n{in_source}{run}\n",
            parser.display()
        );
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), ""), "{outcome}");
        assert!(outcome.stderr.starts_with(&words), "{outcome}");
        let log = fs::read_to_string(place.project.path("log.md")).unwrap();
        assert!(log.ends_with("mermaid sanitizer rejected:** internal-error\n"), "{log}");
    }
    assert_eq!(place.check("bin", &[]).code, Some(0), "the rules alone need no parser");
}

#[test]
fn a_program_that_is_not_the_parser_gives_no_verdict() {
    let place = Place::new("bin");
    let parser = place.parser("bin");
    for name in [
        "silent.sh",
        "deaf.sh",
        "prose.sh",
        "other-protocol.sh",
        "no-greeting.sh",
        "other-diagram.sh",
        "other-verdict.sh",
        "half-answer.sh",
    ] {
        symlink(fixture(name), &parser).unwrap();
        let outcome = place.check("bin", &["--syntax", "--json"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), ""), "{name}: {outcome}");
        assert!(
            outcome.stderr.contains("does not belong to this convoke\nhint: "),
            "{name}: {outcome}"
        );
        fs::remove_file(&parser).unwrap();
    }
    fs::write(&parser, "neither a script nor a program").unwrap();
    let outcome = place.check("bin", &["--syntax"]);
    assert!(outcome.stderr.contains("is missing\n"), "it may not be run: {outcome}");
    set_mode(&parser, 0o755);
    let outcome = place.check("bin", &["--syntax"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), ""), "{outcome}");
    assert!(outcome.stderr.contains("does not start"), "{outcome}");
}

#[test]
fn a_diagram_that_the_parser_does_not_finish_is_refused_and_the_others_are_parsed() {
    let place = Place::new("bin");
    for (name, lines) in [
        ("breaks.sh", "two.md:6: diagram 2: does not parse: cannot be parsed: the parser broke\n"),
        (
            "gives-up.sh",
            "two.md:2: diagram 1: does not parse: cannot be parsed: it takes too long\n\
             two.md:6: diagram 2: does not parse: cannot be parsed: it takes too long\n",
        ),
    ] {
        symlink(fixture(name), place.parser("bin")).unwrap();
        let outcome = place.check("bin", &["--syntax"]);
        let lines = format!("{lines}2 diagrams: not safe to publish\n");
        assert_eq!((outcome.code, outcome.stdout), (Some(1), lines), "{name}");
        assert_eq!(outcome.stderr, "", "{name}");
        fs::remove_file(place.parser("bin")).unwrap();
    }
}
