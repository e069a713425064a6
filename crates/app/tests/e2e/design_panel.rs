//! The seats when agents are missing: complete runs, with the agent that really answered every
//! lane.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::Project;
use crate::lane::{init, result, with_claude};
use crate::panel::{Panel, answers};

/// A finished run: the agent of each lane, and the artifacts.
struct Finished {
    lanes: BTreeMap<String, String>,
    artifacts: Value,
    stdout: String,
}

impl Finished {
    fn of(panel: &Panel, flags: &[&str]) -> Self {
        let outcome = panel.design(flags);
        assert_eq!(outcome.code, Some(0), "{outcome}");
        let shown = panel.shown(&panel.run().0);
        let lanes = shown["lanes"].as_array().unwrap().iter().map(|lane| {
            let agent = lane["agent"].as_str().unwrap().trim_end_matches(".jsonl");
            let agent = agent.rsplit('/').next().unwrap().to_owned();
            assert_eq!(lane["status"], "OK", "{lane}");
            (lane["lane"].as_str().unwrap().to_owned(), agent)
        });
        let lanes = lanes.collect();
        Self { lanes, artifacts: shown["artifacts"].clone(), stdout: outcome.stdout }
    }

    /// Returns who answered the lanes that begin so, in the order of the seats.
    fn who(&self, start: &str) -> Vec<&str> {
        let lanes = self.lanes.iter().filter(|(lane, _)| lane.starts_with(start));
        lanes.map(|(_, agent)| agent.as_str()).collect()
    }

    fn files(&self, part: &str) -> Vec<&str> {
        let names = self.artifacts.as_object().unwrap().keys().map(String::as_str);
        names.filter(|name| name.contains(part) && name.ends_with("-output.txt")).collect()
    }
}

fn panel(missing: &[&str]) -> Panel {
    missing.iter().fold(Panel::new(), |panel, agent| panel.without(agent))
}

// P-162, P-193, P-210, P-252, P-264: the row in which all agents are available.
#[test]
fn every_agent_has_a_seat_of_its_own() {
    let run = Finished::of(&panel(&[]), &[]);
    // By label: Codex-Innovation, Codex-Pragmatic, Cursor-Arch, Cursor-Edge.
    assert_eq!(run.who("sketch/"), ["codex", "codex", "cursor", "cursor"]);
    assert_eq!(run.who("debate/1"), ["cursor", "cursor"]);
    assert_eq!(run.who("debate/2"), ["codex", "codex"]);
    // Claude, Codex, Cursor.
    assert_eq!(run.who("judge/"), ["claude", "codex", "cursor"]);
    assert_eq!(run.who("review/"), ["codex", "codex", "cursor", "cursor"]);
    assert_eq!(run.who("vote/"), ["claude", "codex", "cursor"]);
    assert_eq!(
        run.files("-plan-"),
        [
            "codex-primary-plan-innovation-output.txt",
            "codex-primary-plan-pragmatic-output.txt",
            "cursor-plan-arch-output.txt",
            "cursor-plan-edge-output.txt",
        ]
    );
}

// P-162, N-5: Cursor is not there.
#[test]
fn codex_reviews_for_cursor() {
    let run = Finished::of(&panel(&["cursor"]), &[]);
    assert!(
        run.stdout.contains("**⚠ Cursor is not installed. Codex and Claude take its seats.**"),
        "{}",
        run.stdout
    );
    assert_eq!(run.who("sketch/"), ["codex", "codex", "claude", "claude"]);
    // The first decision was Cursor's to debate; no other agent replaces it.
    assert_eq!((run.who("debate/1"), run.who("debate/2")), (vec![], vec!["codex", "codex"]));
    assert!(
        run.stdout.contains("✅ 2a.5: dialectic — 1 voted, 1 bucket-skipped ("),
        "{}",
        run.stdout
    );
    assert_eq!(run.who("judge/"), ["claude", "codex", "claude"]);
    assert_eq!(run.who("review/"), ["codex"; 4]);
    assert_eq!(run.who("vote/"), ["claude", "codex", "claude"]);
    assert_eq!(
        run.files("-plan-"),
        [
            "codex-fallback-cursor-plan-arch-output.txt",
            "codex-fallback-cursor-plan-edge-output.txt",
            "codex-primary-plan-innovation-output.txt",
            "codex-primary-plan-pragmatic-output.txt",
        ]
    );
    // Codex's findings on Cursor's seat are not Cursor's.
    let proposers = run.artifacts["proposer-map.tsv"].as_str().unwrap();
    assert!(proposers.contains("Cursor-Arch (Codex)"), "{proposers}");
}

// P-162, N-5: Codex is not there.
#[test]
fn cursor_reviews_for_codex() {
    let run = Finished::of(&panel(&["codex"]), &[]);
    assert_eq!(run.who("sketch/"), ["claude", "claude", "cursor", "cursor"]);
    assert_eq!((run.who("debate/1"), run.who("debate/2")), (vec!["cursor", "cursor"], vec![]));
    assert_eq!(run.who("judge/"), ["claude", "claude", "cursor"]);
    assert_eq!(run.who("review/"), ["cursor"; 4]);
    assert_eq!(run.who("vote/"), ["claude", "claude", "cursor"]);
    assert_eq!(
        run.files("-plan-"),
        [
            "cursor-fallback-codex-plan-innovation-output.txt",
            "cursor-fallback-codex-plan-pragmatic-output.txt",
            "cursor-plan-arch-output.txt",
            "cursor-plan-edge-output.txt",
        ]
    );
}

// P-162, N-4: only the host is available.
#[test]
fn the_host_is_enough() {
    let run = Finished::of(&panel(&["cursor", "codex"]), &[]);
    assert_eq!(run.who("sketch/"), ["claude"; 4]);
    assert_eq!((run.who("debate/"), run.who("judge/")), (vec![], vec![]));
    assert!(run.stdout.contains("✅ 2a.5: dialectic — 2 bucket-skipped ("), "{}", run.stdout);
    assert_eq!(run.who("review/"), ["claude"; 4]);
    assert_eq!(run.who("vote/"), ["claude"; 3]);
    assert!(run.stdout.contains("✅ 5: cleanup — design complete! ("), "{}", run.stdout);
}

// P-7, P-162: two sketches in every row, and no other difference.
#[test]
fn a_quick_run_differs_in_its_sketches_alone() {
    for (missing, sketches, reviews) in [
        (&[][..], ["codex", "cursor"], ["codex", "codex", "cursor", "cursor"]),
        (&["cursor"], ["codex", "claude"], ["codex"; 4]),
        (&["codex"], ["claude", "cursor"], ["cursor"; 4]),
        (&["cursor", "codex"], ["claude", "claude"], ["claude"; 4]),
    ] {
        let run = Finished::of(&panel(missing), &["--quick"]);
        assert_eq!(run.who("sketch/"), sketches, "{missing:?}");
        assert_eq!(run.who("review/"), reviews, "{missing:?}");
        assert_eq!(run.who("vote/").len(), 3, "{missing:?}");
    }
}

// P-78, P-202, N-3: an agent that fails in a debate still gets a review.
#[test]
fn a_failed_debate_costs_no_agent_its_seat() {
    let panel = Panel::new();
    let mut silent = answers();
    silent.retain(|label, _| !label.starts_with("debate/"));
    panel.recorded("cursor", &silent);
    let outcome = panel.design(&[]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert!(outcome.stdout.contains("Fallback to synthesis.**"), "{outcome}");
    let shown = panel.shown(&panel.run().0);
    let lanes = shown["lanes"].as_array().unwrap();
    let of_cursor = |start: &str| {
        let seated = lanes.iter().filter(|lane| lane["lane"].as_str().unwrap().starts_with(start));
        seated.filter(|lane| lane["agent"].as_str().unwrap().ends_with("cursor.jsonl")).count()
    };
    assert_eq!((of_cursor("review/"), of_cursor("vote/")), (2, 1));
}

// P-11, P-35: a person may pass a session file; only facts about the branch waive its check.
#[test]
fn a_session_file_alone_says_nothing_about_the_branch() {
    let panel = Panel::new();
    panel.git(&["switch", "--quiet", "--create", "other/topic"]);
    let session = panel.project.path("../caller/session.env");
    std::fs::create_dir(session.parent().unwrap()).unwrap();
    std::fs::write(&session, "").unwrap();
    let session = session.to_str().unwrap();
    let refused = panel.design(&["--session-env", session]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stdout.contains("PREFLIGHT_ERROR="), "{refused}");
    let facts = "IS_MAIN=false IS_USER_BRANCH=true USER_PREFIX=june CURRENT_BRANCH=other/topic";
    let waived = panel.design(&["--session-env", session, "--branch-info", facts]);
    assert_eq!(waived.code, Some(0), "{waived}");
    let alone = panel.design(&["--branch-info", facts]);
    assert_eq!(alone.code, Some(0), "{alone}");
}

// P-280: a host that gave no vote is still the one that can write the plan anew.
#[test]
fn a_host_that_failed_as_a_voter_is_the_last_chair() {
    let panel = Panel::new();
    let without = |unknown: &str| {
        let mut known = answers();
        known.retain(|label, _| !label.starts_with(unknown));
        known
    };
    panel.recorded("claude", &without("vote/Claude"));
    for agent in ["cursor", "codex"] {
        panel.recorded(agent, &without("chair/"));
    }
    let outcome = panel.design(&[]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert!(outcome.stdout.contains("## Revised Implementation Plan"), "{outcome}");
    assert!(outcome.stdout.contains("3b: arch diagram — generated"), "{outcome}");
    // The last run is the one that is shown if none is named.
    let plan = panel.project.stdout(&["show", "--artifact", "plan"]);
    assert!(plan.contains("### Task 1:"), "{plan}");
}

// P-165
#[test]
fn a_sketch_that_was_cut_off_is_kept_and_warned_of() {
    let panel = panel(&[]);
    panel.cut_off("cursor", "sketch/Cursor-Edge");
    let outcome = panel.design(&[]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let warning = "**⚠ Cursor-Edge sketch is only a beginning: it was cut off.**";
    assert!(outcome.stdout.contains(warning), "{outcome}");
    assert!(outcome.stderr.contains("DEGRADED: 1 warning, repeated in step 5"), "{outcome}");
    let run = panel.run().0;
    let sketch = &answers()["sketch/Cursor-Edge"];
    let kept = panel.shown(&run)["artifacts"]["cursor-sketch-edge-output.txt"].clone();
    assert_eq!(kept.as_str().unwrap().trim(), sketch.trim());
    panel.project.stdout(&["recount", &run]);
}

#[test]
fn a_name_that_is_seated_twice_leads_to_a_hint() {
    let panel = panel(&[]);
    let seats = "http:small,http:small,claude";
    let outcome = panel.project.run(&["design", "--seats", seats, "Keep notes"]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    assert!(
        outcome
            .stderr
            .contains("cannot seat `small` twice\nhint: to seat one API several times, give it"),
        "{outcome}"
    );
}

// Runs of one client may share files. A client that found them in use has not failed as an agent.
#[test]
fn a_clash_with_another_run_of_a_client_is_retried() {
    let answer =
        result(|line| line["result"] = json!(format!("It is simple. {}", "word ".repeat(60))));
    let script = format!(
        "mkdir \"$HOME/once\" && {{ echo 'database is locked' >&2; exit 1; }}\n{}{answer}",
        init()
    );
    let panel = Panel::in_project(with_claude(&script));
    let tape = |name: &str| panel.project.path(&format!("../{name}.jsonl")).display().to_string();
    let seats = format!("claude,replay:{},replay:{}", tape("codex"), tape("cursor"));
    let flags = ["design", "--auto", "--quick", "--no-probe", "--seats", &seats, "Keep notes"];
    let outcome = panel.project.run(&flags);
    assert!(panel.project.path("../home/once").exists(), "{outcome}");
    assert!(!outcome.stdout.contains("database is locked"), "{outcome}");
    assert!(outcome.stdout.contains("| Claude-Generic: ✅"), "{outcome}");
}

// A slip of form costs a second question, and at most the seat of this phase.
#[test]
fn a_review_in_another_form_is_requested_once_more() {
    let panel = Panel::new();
    let mut known = answers();
    let review = known["review/Cursor-Arch"].clone();
    known.insert("review/Cursor-Arch".to_owned(), "It is fine.".to_owned());
    known.insert("review/Cursor-Arch/again".to_owned(), review.clone());
    panel.recorded("cursor", &known);
    let asked = Finished::of(&panel, &[]);
    assert_eq!(asked.who("review/Cursor-Arch"), ["cursor", "cursor"]);
    assert!(!asked.stdout.contains("⚠ Cursor"), "{}", asked.stdout);
    known.insert("review/Cursor-Arch/again".to_owned(), "Still fine.".to_owned());
    panel.recorded("cursor", &known);
    let mut host = answers();
    host.insert("review/Cursor-Arch/host".to_owned(), review);
    panel.recorded("claude", &host);
    let replaced = Finished::of(&panel, &[]);
    assert_eq!(replaced.who("review/Cursor-Arch"), ["cursor", "cursor", "claude"]);
    assert_eq!(replaced.who("vote/Cursor"), ["cursor"], "it keeps its later seats");
    assert!(
        replaced.stdout.contains("**⚠ Cursor gave no usable review in two tries (Cursor-Arch)")
    );
}

#[test]
fn a_plan_in_ordinary_markdown_is_a_plan() {
    let panel = Panel::new();
    let mut known = answers();
    let plan =
        known["chair/plan/claude"].replace("\n## ", "\n### ").replace("\n### Task", "\n#### Task");
    let plan = format!("<think>\n## Approach\nDraft.\n</think>\nHere is the plan:\n\n#{plan}");
    known.insert("chair/plan/claude".to_owned(), plan);
    panel.recorded("claude", &known);
    let read = Finished::of(&panel, &[]);
    assert_eq!(read.who("chair/plan"), ["claude"], "once");
    for note in [
        "**ℹ The chair's plan: left out 1 block of thinking.**\n",
        "**ℹ The chair's plan: left out \"Here is the plan:\"; rewrote ",
    ] {
        assert!(read.stdout.contains(note), "{note}\n{}", read.stdout);
    }
}

// P-389: a citation has its verdict for voters, judges and people, and a replay shows the same.
#[test]
fn a_citation_is_shown_with_what_is_there() {
    // The example of the rehearsal cites files of its own project; this one has a single such file.
    let project = Project::new().variable("PATH", "/usr/bin:/bin");
    let panel = Panel::in_project(project.file("jot/export.py", "import csv\n"));
    let outcome = panel.design(&["--no-probe"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let (run, _) = panel.run();
    let ballot = panel.project.stdout(&["show", &run, "--artifact", "ballot.txt"]);
    let line = "`jot/export.py:15` does not exist: the file has 1 line";
    let has_line = |text: &str| {
        let mut keys = text.lines().filter(|line| line.starts_with("- **Citations, looked up"));
        keys.any(|key| key.contains(line))
    };
    assert!(has_line(&ballot), "{ballot}");
    let judges = panel.project.stdout(&["show", &run, "--artifact", "dialectic-ballot.txt"]);
    assert!(judges.contains("\nCitations of Defense A, looked up by Convoke: "), "{judges}");
    let shown = panel.shown(&run);
    let citations = shown["citations"].as_array().unwrap();
    let of_part = |part: &str| citations.iter().filter(|cited| cited["part"] == part).count();
    for part in ["sketch", "thesis", "antithesis", "finding"] {
        assert!(of_part(part) > 0, "{part}: {citations:?}");
    }
    let cited = citations.iter().find(|cited| cited["place"] == "jot/export.py:15").unwrap();
    assert_eq!(cited["verdict"], "fails", "{cited}");
    let page = panel.project.stdout(&["show", &run]);
    assert!(page.contains("Citations: "), "{page}");
    assert!(page.contains("does not exist: the file has 1 line"), "{page}");
    let comment = panel.project.stdout(&["show", &run, "--markdown"]);
    assert!(comment.contains("does not exist: the file has 1 line"), "{comment}");
    let written = panel.project.run(&["show", &run, "--html", "../run.html"]);
    assert_eq!(written.code, Some(0), "{written}");
    let html = std::fs::read_to_string(panel.project.path("../run.html")).unwrap();
    assert!(html.contains("does not exist: the file has 1 line"));
    // The file changes, and what the run saw does not.
    std::fs::write(panel.project.path("jot/export.py"), "x\n".repeat(40)).unwrap();
    let again = panel.project.stdout(&["show", &run, "--artifact", "ballot.txt"]);
    assert_eq!(again, ballot);
    assert_eq!(panel.project.run(&["recount", &run]).code, Some(0));
}

// P-389: the original looks up findings alone, and marks what is missing behind them.
#[test]
fn the_original_marks_missing_citations_of_findings() {
    let panel = Panel::new();
    let outcome = panel.design(&["--no-probe", "--no-branch", "--policy", "seed"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let mark =
        "[`jot/export.py:15`: this citation does not exist: no such file; it is no evidence]";
    let (run, _) = panel.run();
    let ballot = panel.project.stdout(&["show", &run, "--artifact", "ballot.txt"]);
    assert!(ballot.contains(mark), "{ballot}");
    assert_eq!(panel.shown(&run)["citations"], json!([]));
    assert!(panel.project.stdout(&["replay", &run]).contains("this citation does not exist"));
}
