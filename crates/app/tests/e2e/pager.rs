//! Long texts at a terminal: in the pager that the user named, and printed where that fails.

use crate::design_terminal::{Terminal, printed};
use crate::harness::Project;

const PLAN: [&str; 3] = ["show", "--artifact", "plan"];

/// A project with a design, and a pager.
fn designed(pager: &str) -> Project {
    let project = Project::new().variable("PATH", "/usr/bin:/bin").variable("PAGER", pager);
    project.stdout(&["design", "--rehearse", "--auto"]);
    project
}

/// What a terminal shows, line by line.
fn shown(project: &Project, words: &[&str]) -> Vec<String> {
    let (code, shown) = Terminal::open(project, 80, words).end();
    assert_eq!(code, Some(0), "{shown}");
    printed(&shown)
}

fn has(lines: &[String], words: &str) -> bool {
    lines.iter().any(|line| line == words)
}

#[test]
fn a_pager_that_cannot_be_started_costs_nothing() {
    for pager in ["no-such-pager", "/dev/null", "no-such-pager --flag 'a b'"] {
        let lines = shown(&designed(pager), &PLAN);
        assert!(has(&lines, "Approach") && lines.len() > 100, "{pager}: {lines:#?}");
    }
}

#[test]
fn without_a_named_pager_a_text_is_printed() {
    let lines = shown(&designed(""), &PLAN);
    assert!(has(&lines, "Approach") && lines.len() > 100, "{lines:#?}");
}

// A person who has read enough ends it; that is no failure, and nothing is printed after it.
#[test]
fn a_pager_may_end_before_it_has_read_all() {
    let lines = shown(&designed("head -n 2; exit 3"), &PLAN);
    assert!(!has(&lines, "Approach"), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("error")), "{lines:#?}");
}

#[test]
fn what_no_person_scrolls_through_is_not_paged() {
    let project = designed("sed 's/^/paged: /'");
    let piped = project.stdout(&PLAN);
    assert!(!piped.contains("paged: "), "not a terminal: {piped}");
    let (_, dumb) = Terminal::open_as("dumb", &project, 80, &PLAN).end();
    assert!(dumb.contains("Approach") && !dumb.contains("paged: "), "{dumb}");
    let json = shown(&project, &["show", "--json"]);
    assert!(!json.iter().any(|line| line.starts_with("paged: ")), "for a program");
}
