//! Colours where a person wants them and nowhere else, and lines that fit the terminal.

use std::fmt::Write;

use crate::design_terminal::{Terminal, printed};
use crate::dispatch::{FEATURE, check};
use crate::dispatch_loop::{PASS, project as reviewed};
use crate::harness::Project;

/// The beginning of an order to a terminal.
const ESCAPE: char = '\u{1b}';

/// The widths of a narrow, a usual and a wide terminal.
const WIDTHS: [u16; 3] = [60, 80, 140];

/// Commands that colour what they print, in a project that has something to show.
type Coloured = (Project, Vec<&'static [&'static str]>);

fn designed() -> Project {
    let project = Project::new().in_repository("main").variable("PATH", "/usr/bin:/bin");
    project.stdout(&["design", "--rehearse", "--auto"]);
    project
}

fn documented() -> Project {
    let long = "# Research\n\nShort.\n\n## A heading that says much about what follows it\nx\n";
    Project::with_documents(&[("spec", "# Spec\n\nWritten.\n"), ("research", &long.repeat(9))])
        .design_yaml("{token_budget: 60}")
        .file("docs/spec.md", "# Spec\n\nWritten.\n")
        .file("docs/more.md", long.repeat(9))
}

const LOOP: [&str; 7] = ["dispatch", "loop", "ship", "--feature", "031", "--client", "claude"];

/// Returns every command that colours.
fn coloured() -> Vec<Coloured> {
    let approved = [("a-1", PASS), ("b-1", PASS), ("a-2", PASS), ("b-2", PASS)];
    vec![
        (
            designed(),
            vec![
                &["doctor", "--no-probe"],
                &["agents", "--no-probe"],
                &["runs"],
                &["show", "--no-pager"],
                &["status"],
            ],
        ),
        (documented(), vec![&["brief", "--explain"], &["brief", "docs", "--explain"]]),
        (reviewed(&approved), vec![&LOOP]),
    ]
}

/// Tells whether a text has an order that colours.
fn has_colour(text: &str) -> bool {
    let mut orders = text.split("\u{1b}[").skip(1);
    orders.any(|order| order.trim_start_matches(|c: char| !c.is_alphabetic()).starts_with('m'))
}

#[test]
fn a_pipe_is_coloured_only_on_request() {
    for (project, commands) in coloured() {
        for words in &commands {
            let plain = project.run(words);
            assert!(!plain.stdout.contains(ESCAPE), "{words:?}: {plain}");
        }
        let project = project.variable("CLICOLOR_FORCE", "1");
        for words in &commands {
            let forced = project.run(words);
            assert!(has_colour(&forced.stdout), "{words:?}: {forced}");
        }
        let project = project.variable("NO_COLOR", "1");
        for words in &commands {
            let both = project.run(words);
            assert!(!both.stdout.contains(ESCAPE), "NO_COLOR is stronger: {words:?}: {both}");
        }
    }
}

#[test]
fn a_terminal_is_coloured_unless_it_or_its_user_has_no_colours() {
    for (project, commands) in coloured() {
        for words in &commands {
            let (_, shown) = Terminal::open(&project, 80, words).end();
            assert!(has_colour(&shown), "{words:?}: {shown}");
            let (_, dumb) = Terminal::open_as("dumb", &project, 80, words).end();
            assert!(!dumb.contains(ESCAPE), "{words:?}: {dumb}");
        }
        let project = project.variable("NO_COLOR", "1");
        for words in &commands {
            let (_, bare) = Terminal::open(&project, 80, words).end();
            assert!(!has_colour(&bare), "{words:?}: {bare}");
        }
    }
}

/// Holds that a terminal of every width shows the words of a pipe, in lines that fit.
#[track_caller]
fn fits_every_width(project: &Project, words: &[&str], piped: &str) {
    let all: Vec<_> = piped.split_whitespace().collect();
    for columns in WIDTHS {
        let (_, shown) = Terminal::open(project, columns, words).end();
        let lines: Vec<_> = printed(&shown);
        let page = lines.iter().fold(String::new(), |mut page, line| {
            writeln!(page, "{line}").unwrap();
            page
        });
        for line in &lines {
            assert!(line.chars().count() <= usize::from(columns), "{columns}: {line}\n{page}");
        }
        let found: Vec<_> = page.split_whitespace().collect();
        assert_eq!(found, all, "{columns} columns keep every word whole\n{page}");
    }
}

#[test]
fn an_explained_brief_fits_every_width() {
    for words in [&["brief", "--explain", "-C", "."][..], &["brief", "docs", "--explain"]] {
        let project = documented();
        fits_every_width(&project, words, &project.stdout(words));
    }
}

/// A finding that needs more than one line at any width.
const LONG: &str = "The number of attempts is never said, so that no test can tell when it ends. ";

#[test]
fn a_checked_answer_fits_every_width() {
    let answer = format!(
        "Files read: design.md, spec.md\n{{\"approved\": false, \"issues\": [{{\"severity\": \
         \"blocker\", \"description\": \"{}\", \"location\": \"{FEATURE}/spec.md:3\"}}]}}",
        LONG.repeat(4)
    );
    let project = crate::dispatch::project().file("answer.txt", &answer);
    let role = "implement/security-reviewer";
    let words = ["dispatch", "check", role, "--feature", "031", "--dry-run", "--response"];
    let words = [&words[..], &["answer.txt"]].concat();
    let piped = project.run(&words);
    assert_eq!(piped.code, Some(1), "{piped}");
    assert_eq!(piped.stdout, check(&project, role, &["--dry-run"], &answer).stdout);
    fits_every_width(&project, &words, &piped.stdout);
}

#[test]
fn a_loop_fits_every_width() {
    let failed = format!(
        "{{\"approved\": false, \"issues\": [{{\"severity\": \"blocker\", \"description\": \
         \"{}\", \"location\": \"spec.md:3\"}}]}}",
        LONG.repeat(4)
    );
    let project = reviewed(&[("a-1", PASS), ("b-1", &failed)]);
    let words = [&LOOP[..], &["--no-fix"]].concat();
    let first = project.run(&words);
    assert_eq!(first.code, Some(1), "{first}");
    for columns in WIDTHS {
        let project = reviewed(&[("a-1", PASS), ("b-1", &failed)]);
        let (_, shown) = Terminal::open(&project, columns, &words).end();
        let lines = printed(&shown);
        let from = lines.iter().position(|line| line.starts_with("round  role")).unwrap();
        let page: Vec<_> = lines[from..].iter().filter(|line| !line.is_empty()).collect();
        let widest = page.iter().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= usize::from(columns), "{columns}: {page:#?}");
        let words: Vec<_> = page.iter().flat_map(|line| line.split_whitespace()).collect();
        let all: Vec<_> = first.stdout.split_whitespace().collect();
        assert_eq!(words[..all.len()], all, "{columns} columns keep every word whole");
    }
}

#[test]
fn tables_of_dispatches_fit_every_width() {
    let project = crate::dispatch::project();
    check(&project, "implement/security-reviewer", &[], crate::dispatch::APPROVED);
    for words in [&["dispatch", "roles"][..], &["dispatch", "rate"]] {
        fits_every_width(&project, words, &project.stdout(words));
    }
}
