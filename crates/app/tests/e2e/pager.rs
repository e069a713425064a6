//! Long texts at a terminal: in the pager that the user named, and printed where that fails.

use crate::design_terminal::{Terminal, printed};
use crate::harness::{Project, set_mode, skipped};

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

#[test]
fn a_pager_that_only_copies_prints_everything() {
    let lines = shown(&designed("cat"), &PLAN);
    assert!(has(&lines, "Approach") && lines.len() > 100, "{lines:#?}");
}

// The real program, which reads keys from the terminal and not from the text.
#[test]
fn a_person_leaves_less_with_a_key() {
    let project = with_less();
    if project.shell("PATH=/usr/bin:/bin; command -v less && command -v setsid", "").code != Some(0)
    {
        return skipped("less or setsid is not installed");
    }
    // Without a session of its own, `less` would read the keys of the person who runs the tests.
    let script = "#!/bin/sh\nPATH=/usr/bin:/bin\nexec setsid --wait less \"$@\"\n";
    let project = project.file("../home/bin/less", script);
    let mut terminal = Terminal::open(&project, 80, &PLAN);
    // The prompt of `less` below the first screen.
    terminal.until(":");
    terminal.press("q");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.lines().count() < 100, "{shown}");
    assert!(!shown.contains("error:"), "{shown}");
    // Without a locale, `less` would show the bytes of such a character.
    assert!(shown.contains('•'), "{shown}");
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
