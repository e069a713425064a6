//! `convoke show --html`, `--markdown` and `convoke verify`: reports for people without the run.

use std::fs;

use serde_json::Value;

use crate::harness::{Outcome, Project, build_parser_of_diagrams, set_mode};

/// Makes a project with a rehearsed run, and returns the run's id.
fn with_run() -> (Project, String) {
    let project = Project::new();
    let outcome = project.run(&["design", "--rehearse", "--auto"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let runs: Value = serde_json::from_str(&project.stdout(&["runs", "--json"])).unwrap();
    let run = runs[0]["run"].as_str().unwrap().to_owned();
    (project, run)
}

fn verdict(project: &Project, file: &str) -> (Option<i32>, String) {
    let Outcome { code, stdout, .. } = project.run(&["verify", file]);
    (code, stdout)
}

#[test]
fn a_page_and_a_comment_are_made_and_verified() {
    let (project, run) = with_run();
    let made = project.run(&["show", &run, "--html", "run.html"]);
    assert_eq!((made.code, made.stdout.as_str()), (Some(0), ""), "{made}");
    let page = fs::read_to_string(project.path("run.html")).unwrap();
    assert!(page.len() < 3 * 1024 * 1024);
    for words in [
        "<!DOCTYPE html>\n<!-- convoke-report {",
        "Contested decisions",
        "Defended by",
        "FINDING_1",
        "EXONERATE",
        "Draft against revised plan",
        "flowchart",
        "tokens for each of",
        "Model that answered",
        "Hash",
    ] {
        assert!(page.contains(words), "{words}");
    }
    for never in ["<script", "http-equiv=\"refresh\"", "<link", "<iframe", "<form", " style="] {
        assert!(!page.contains(never), "{never}");
    }
    let made = project.run(&["show", &run, "--markdown=run.md"]);
    assert_eq!(made.code, Some(0), "{made}");
    let printed = project.stdout(&["show", &run, "--markdown"]);
    let written = fs::read_to_string(project.path("run.md")).unwrap();
    assert_eq!(printed, written.trim_end());
    assert_eq!(printed, project.stdout(&["show", "--markdown=-"]));
    assert!(printed.chars().count() <= 65_536, "{}", printed.chars().count());
    for words in
        ["## Design: ", "### Decisions", "### Findings", "<details><summary>The plan", "```mermaid"]
    {
        assert!(printed.contains(words), "{words}\n{printed}");
    }
    for file in ["run.html", "run.md"] {
        let (code, said) = verdict(&project, file);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.starts_with("genuine: Convoke renders the same from event "), "{said}");
    }
    let json = project.stdout(&["verify", "run.html", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["verdict"], &json["run"]), (&"genuine".into(), &run.as_str().into()));
}

// Only with the program that draws is there a picture; without it, a verdict on a page with one is
// not possible, and one on a page without it still is.
#[test]
fn a_page_has_the_diagram_as_a_picture() {
    build_parser_of_diagrams();
    let (project, run) = with_run();
    let made = project.run(&["show", &run, "--html", "drawn.html"]);
    assert_eq!(made.code, Some(0), "{made}");
    assert!(!made.stderr.contains("as text"), "{made}");
    let page = fs::read_to_string(project.path("drawn.html")).unwrap();
    assert!(page.contains("<img class=\"diagram\" src=\"data:image/svg+xml;base64,"), "{page}");
    assert_eq!(verdict(&project, "drawn.html").0, Some(0));
    // A copy of the program has no `convoke-diagram` beside it.
    let lonely = project.path("../lonely");
    fs::copy(env!("CARGO_BIN_EXE_convoke"), &lonely).unwrap();
    let said = project.run_program(&lonely, &["verify", "drawn.html"]);
    assert_eq!(said.code, Some(3), "{said}");
    assert!(said.stdout.starts_with("cannot tell: the report has a drawing"), "{said}");
    let made = project.run_program(&lonely, &["show", &run, "--html", "text.html"]);
    assert!(made.stderr.contains("note: the page shows the diagram as text: "), "{made}");
    let page = fs::read_to_string(project.path("text.html")).unwrap();
    assert!(page.contains("The diagram is shown as text only"), "{page}");
    assert_eq!(verdict(&project, "text.html").0, Some(0));
}

#[test]
fn an_existing_file_stays_without_force() {
    let (project, run) = with_run();
    fs::write(project.path("kept.html"), "mine").unwrap();
    let refused = project.run(&["show", &run, "--html", "kept.html"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("cannot write `kept.html`: the file exists"), "{refused}");
    assert_eq!(fs::read_to_string(project.path("kept.html")).unwrap(), "mine");
    let forced = project.run(&["show", &run, "--html", "kept.html", "--force"]);
    assert_eq!(forced.code, Some(0), "{forced}");
    assert_eq!(verdict(&project, "kept.html").0, Some(0));
}

#[test]
fn a_changed_report_is_altered() {
    let (project, run) = with_run();
    project.run(&["show", &run, "--html", "run.html"]);
    project.run(&["show", &run, "--markdown=run.md"]);
    for file in ["run.html", "run.md"] {
        let text = fs::read_to_string(project.path(file)).unwrap();
        let at = text.find("accepted").unwrap();
        for changed in [
            format!("{}rejected{}", &text[..at], &text[at + 8..]),
            text.replacen("FINDING_1", "FINDING_9", 1),
            format!("{text} "),
            text.replacen("\"event\":", "\"event\":1", 1),
        ] {
            fs::write(project.path("changed"), &changed).unwrap();
            let (code, said) = verdict(&project, "changed");
            assert!(matches!(code, Some(1 | 3)) && !said.starts_with("genuine"), "{file}: {said}");
        }
        let byte = format!("{}{}", &text[..text.len() - 2], "?\n");
        fs::write(project.path("changed"), byte).unwrap();
        let (code, said) = verdict(&project, "changed");
        assert_eq!((code, said.split(':').next()), (Some(1), Some("altered")), "{said}");
    }
}

#[test]
fn a_report_without_its_journal_gets_no_verdict_on_it() {
    let (project, run) = with_run();
    project.run(&["show", &run, "--html", "run.html"]);
    let text = fs::read_to_string(project.path("run.html")).unwrap();
    let elsewhere = Project::new().file("run.html", &text);
    let (code, said) = verdict(&elsewhere, "run.html");
    assert_eq!(code, Some(3), "{said}");
    assert!(
        said.starts_with(&format!("journal not here: this project has no run {run}")),
        "{said}"
    );
    let later = text.replacen("\"version\":\"", "\"version\":\"9.", 1);
    fs::write(project.path("later.html"), later).unwrap();
    let (code, said) = verdict(&project, "later.html");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.starts_with("cannot tell: Convoke 9."), "{said}");
}

#[test]
fn a_changed_journal_proves_nothing() {
    let (project, run) = with_run();
    project.run(&["show", &run, "--html", "run.html"]);
    let store = project.path("../home/.local/state/convoke/store.db");
    let change = "UPDATE journal SET body = replace(body, 'YES', 'NO') WHERE kind = 'lane_ended'";
    let database = rusqlite::Connection::open(store).unwrap();
    assert!(database.execute(change, []).unwrap() > 0);
    drop(database);
    let (code, said) = verdict(&project, "run.html");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.starts_with("cannot tell: the journal of run "), "{said}");
    let refused = project.run(&["show", &run, "--html", "other.html"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("its journal was changed at event"), "{refused}");
    assert!(!project.path("other.html").exists());
}

#[test]
fn bad_input_has_a_reason_and_no_verdict() {
    let project = Project::new()
        .file("bytes", [0xff, 0xfe, 0x00])
        .file("empty", "")
        .file("notes.md", "# Notes\n<!-- convoke-report {} -->\n")
        .file("huge.html", "x".repeat(4 * 1024 * 1024));
    for (file, words) in [
        ("bytes", "cannot tell: the file is not UTF-8 text"),
        ("empty", "cannot tell: the file does not begin with the header of a report"),
        ("notes.md", "cannot tell: the file does not begin with the header of a report"),
        ("huge.html", "cannot tell: the file has more than 3 MB"),
    ] {
        let (code, said) = verdict(&project, file);
        assert_eq!(code, Some(3), "{file}: {said}");
        assert!(said.starts_with(words), "{file}: {said}");
    }
    for file in ["missing.html", "."] {
        let outcome = project.run(&["verify", file]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome}");
        assert!(outcome.stderr.starts_with("error: cannot read `"), "{outcome}");
    }
    let none = project.run(&["show", "20200102-030405-aaaaa", "--html", "x.html"]);
    assert_eq!(none.code, Some(1), "{none}");
    let none = project.run(&["show", "--markdown"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), ""), "{none}");
}

// To replace a link or a device would not write where the user thinks.
#[test]
fn a_report_replaces_only_a_regular_file() {
    let (project, run) = with_run();
    fs::create_dir(project.path("folder")).unwrap();
    std::os::unix::fs::symlink("elsewhere", project.path("link")).unwrap();
    for place in ["folder", "link"] {
        let outcome = project.run(&["show", &run, "--html", place, "--force"]);
        assert_eq!(outcome.code, Some(1), "{outcome}");
        let words = format!("cannot write `{place}`: it is not a regular file");
        assert!(outcome.stderr.contains(&words), "{outcome}");
    }
    assert!(project.path("link").is_symlink() && !project.path("elsewhere").exists());
}

#[test]
fn a_report_that_cannot_be_written_leaves_nothing() {
    let (project, run) = with_run();
    fs::create_dir(project.path("closed")).unwrap();
    set_mode(&project.path("closed"), 0o555);
    let outcome = project.run_without_rights(&["show", &run, "--html", "closed/run.html"]);
    set_mode(&project.path("closed"), 0o755);
    assert_eq!(fs::read_dir(project.path("closed")).unwrap().count(), 0, "{outcome}");
    let json = project.run(&["show", &run, "--html", "x.html", "--json"]);
    assert_eq!(json.code, Some(2), "{json}");
    assert!(!project.path("x.html").exists());
}
