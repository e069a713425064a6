//! Long texts at a terminal: in the pager that the user named, and printed where that fails.

use crate::design_terminal::{Terminal, printed};
use crate::harness::{Project, set_mode};

const PLAN: [&str; 3] = ["show", "--artifact", "plan"];

/// A project with a design, and a pager.
fn designed(pager: &str) -> Project {
    let project = Project::new().variable("PATH", "/usr/bin:/bin").variable("PAGER", pager);
    project.stdout(&["design", "--rehearse", "--auto"]);
    project
}

/// A `less` that shows which flags it got, and marks what it shows.
const FAKE_LESS: &str = "#!/bin/sh\necho \"flags: $*\"\nsed 's/^/less: /'\n";

/// A project with a design, whose user names no pager.
fn with_less() -> Project {
    let project = Project::new().file("../home/bin/less", FAKE_LESS);
    set_mode(&project.path("../home/bin/less"), 0o755);
    let path = format!("{}:/usr/bin:/bin", project.path("../home/bin").display());
    let project = project.variable("PATH", &path);
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
fn an_empty_pager_prints_a_text() {
    let project = with_less().variable("PAGER", "");
    let lines = shown(&project, &PLAN);
    assert!(has(&lines, "Approach") && lines.len() > 100, "{lines:#?}");
    assert!(!lines.iter().any(|line| line.starts_with("less: ")), "{lines:#?}");
}

// `-R` keeps colours; without it, `less` shows the codes of colours as text.
#[test]
fn without_a_named_pager_less_shows_what_is_longer_than_the_screen() {
    let project = with_less();
    let lines = shown(&project, &PLAN);
    assert!(has(&lines, "flags: -R") && has(&lines, "less: Approach"), "{lines:#?}");
    let printed = shown(&project, &[&PLAN[..], &["--no-pager"]].concat());
    assert!(has(&printed, "Approach") && !has(&printed, "flags: -R"), "{printed:#?}");
    let short = shown(&project, &["show", "--artifact", "diagram"]);
    assert!(!has(&short, "flags: -R"), "a text that fits is printed: {short:#?}");
}

#[test]
fn a_machine_without_less_prints_a_text() {
    let project = with_less();
    let shell = project.path("../shell");
    std::fs::create_dir(&shell).unwrap();
    std::os::unix::fs::symlink("/bin/sh", shell.join("sh")).unwrap();
    let project = project.variable("PATH", &shell.display().to_string());
    let lines = shown(&project, &PLAN);
    assert!(has(&lines, "Approach") && lines.len() > 100, "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("not found")), "{lines:#?}");
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
