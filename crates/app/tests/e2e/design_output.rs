//! The output of a design, for people, programs and folders.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::harness::Project;
use crate::panel::{FEATURE, Panel, answers};

#[test]
fn a_run_can_be_read_by_programs() {
    let panel = Panel::new();
    let designed = panel.design(&[]);
    let (run, _) = panel.run();
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_str(&panel.project.stdout(arguments)).unwrap()
    };
    let replayed = json(&["replay", &run, "--json"]);
    let lines = replayed["lines"].as_array().unwrap();
    let text: String =
        lines.iter().map(|line| line["text"].as_str().unwrap().to_owned() + "\n").collect();
    assert_eq!(text, designed.stdout);
    let tables = lines.iter().filter(|line| line["kind"] == "table");
    assert!(tables.clone().all(|line| line["text"].as_str().unwrap().starts_with("📊 ")));
    assert_eq!(tables.count(), 10);
    let artifact = json(&["show", &run, "--artifact", "plan", "--json"]);
    assert_eq!(
        (&artifact["run"], &artifact["artifact"]),
        (&run.as_str().into(), &"plan.txt".into())
    );
    let plain = panel.project.run(&["show", &run, "--artifact", "plan"]).stdout;
    assert_eq!(artifact["text"], plain.as_str());
}

// A closed output pipe does not make a run complete.
#[test]
fn a_closed_output_pipe_stops_a_run() {
    let panel = Panel::new();
    let seats = panel.seats();
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_convoke"));
    let arguments = ["design", "--auto", "--seats", &seats, FEATURE];
    let ended = panel.project.command(program, &arguments).stdout(writer).output().unwrap();
    let (run, state) = panel.run();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!((ended.status.code(), state.as_str()), (Some(3), "stopped"), "{said}");
    assert!(said.contains("the output pipe was closed\n"), "{said}");
    assert!(said.ends_with(&format!("hint: convoke resume {run}\n")), "{said}");
    assert_eq!(panel.project.run(&["resume", &run]).code, Some(0));
}

// Existing files are not overwritten, and links are not followed.
#[test]
fn a_feature_keeps_the_documents_that_it_has() {
    let panel = Panel::new();
    let folder = panel.project.path("../feature");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("plan.md"), "My own plan.\n").unwrap();
    let elsewhere = panel.project.path("../elsewhere.md");
    symlink(&elsewhere, folder.join("tasks.md")).unwrap();
    let designed = panel.design(&["--feature", folder.to_str().unwrap()]);
    assert_eq!(designed.code, Some(0), "{designed}");
    let (run, _) = panel.run();
    assert_eq!(fs::read_to_string(folder.join("plan.md")).unwrap(), "My own plan.\n");
    assert!(!elsewhere.exists());
    for (name, holds) in [("plan", "## Approach"), ("tasks", "### Task 1:")] {
        let beside = format!("{name}-{run}.md");
        assert!(fs::read_to_string(folder.join(&beside)).unwrap().contains(holds));
        let note = format!("`{name}.md` exists and stays unchanged; the new file is `{beside}`");
        assert!(designed.stderr.contains(&note), "{designed}");
    }
    // The same text again is no difference; and the flag has its old name, too.
    fs::remove_file(folder.join("tasks.md")).unwrap();
    fs::rename(folder.join(format!("plan-{run}.md")), folder.join("plan.md")).unwrap();
    let again = panel.design(&["--no-branch", "--feature-dir", folder.to_str().unwrap()]);
    assert_eq!(again.code, Some(0), "{again}");
    assert!(!again.stderr.contains("`plan.md` exists and stays unchanged"), "{again}");
}

// P-7, P-92, P-102
#[test]
fn a_rehearsal_can_be_quick() {
    let project = Project::new();
    let quick = project.run(&["design", "--rehearse", "--quick"]);
    assert_eq!(quick.code, Some(0), "{quick}");
    let last = "📊 Sketches (quick): | Cursor-Generic: ✅ 44s | Codex-Generic: ✅ 29s |\n";
    assert!(quick.stdout.contains(last), "{quick}");
    assert!(quick.stdout.contains("✅ 5: cleanup — design complete! ("), "{quick}");
    assert!(!quick.stderr.contains("DEGRADED"), "{quick}");
}

// P-386: an adaptive rehearsal decides what the whole panel decides.
#[test]
fn an_adaptive_rehearsal_comes_to_the_same_results() {
    let project = Project::new();
    let shown = |flags: &[&str]| -> serde_json::Value {
        let outcome = project.run(&[&["design", "--rehearse"], flags].concat());
        assert_eq!(outcome.code, Some(0), "{outcome}");
        serde_json::from_str(&project.stdout(&["show", "--json"])).unwrap()
    };
    let (whole, adaptive) = (shown(&[]), shown(&["--adaptive"]));
    let endings = |run: &serde_json::Value| {
        let decisions = run["decisions"].as_array().unwrap().iter();
        decisions.map(|decision| decision["resolution"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(endings(&whole), endings(&adaptive));
    let accepted = |run: &serde_json::Value| {
        let findings = run["findings"].as_array().unwrap().iter();
        let accepted = findings.filter(|finding| finding["verdict"] == "accepted");
        accepted.map(|finding| finding["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(accepted(&whole), accepted(&adaptive));
    assert_eq!(whole["not_asked"].as_array().map(Vec::len), Some(0));
    let spared = adaptive["not_asked"].as_array().unwrap();
    let lanes = |run: &serde_json::Value| run["lanes"].as_array().unwrap().len();
    assert_eq!(lanes(&whole) - lanes(&adaptive), spared.len());
    let seed = project.run(&["design", "--rehearse", "--adaptive", "--policy", "seed"]);
    assert_eq!((seed.code, seed.stdout.as_str()), (Some(2), ""), "{seed}");
}

// P-388: the rehearsal has a judge whose vote changes with the order.
#[test]
fn a_rehearsal_asks_judges_in_both_orders() {
    let project = Project::new();
    let shown = |flags: &[&str]| -> serde_json::Value {
        let outcome = project.run(&[&["design", "--rehearse"], flags].concat());
        assert_eq!(outcome.code, Some(0), "{outcome}");
        serde_json::from_str(&project.stdout(&["show", "--json"])).unwrap()
    };
    let (once, twice) = (shown(&[]), shown(&["--both-orders"]));
    let lanes = |run: &serde_json::Value| run["lanes"].as_array().unwrap().len();
    assert_eq!(lanes(&twice), lanes(&once) + 3);
    let said = twice["independence"].as_str().unwrap();
    assert!(said.contains("1 of 6 judges' votes changed with the order"), "{said}");
    assert!(!once["independence"].as_str().unwrap().contains("order"), "{once}");
    let judges = |run: &serde_json::Value, decision: usize| {
        let judges = run["debates"][decision]["judges"].as_array().unwrap().clone();
        judges.iter().map(|judge| judge["same_in_both_orders"].clone()).collect::<Vec<_>>()
    };
    assert!(judges(&once, 1).iter().all(serde_json::Value::is_null), "{once}");
    assert_eq!(judges(&twice, 0), [true, true, true]);
    let flipped = twice["debates"][1]["judges"].as_array().unwrap();
    let flipped = flipped.iter().find(|judge| judge["same_in_both_orders"] == false).unwrap();
    assert_eq!(flipped["judge"], "Cursor");
    assert_eq!(flipped["without_vote"], "changed its vote with the order");
    assert!(project.stdout(&["recount"]).contains("the same"), "{}", project.stdout(&["recount"]));
    let seed = project.run(&["design", "--rehearse", "--both-orders", "--policy", "seed"]);
    assert_eq!((seed.code, seed.stdout.as_str()), (Some(2), ""), "{seed}");
}

// Convoke reports which prepared answers it did not understand.
#[test]
fn answers_that_answer_nothing_are_named() {
    let panel = Panel::new();
    let answers = panel.project.path("../answers.txt");
    fs::write(&answers, "# mine\n1c/1: 7\nno answer\n1c1: 2\n1d/9: x\n1c/1: 1\n").unwrap();
    let (seats, file) = (panel.seats(), answers.display().to_string());
    let arguments = ["design", "--seats", &seats, "--answers", &file, FEATURE];
    let outcome = panel.project.run_with_input(&arguments, &[b'\n'; 40]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let warned: Vec<_> =
        outcome.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
    let line = |number| {
        format!("warning: line {number} of {file} is not an answer; write it as `1d/2: the answer`")
    };
    let again = format!("warning: line 6 of {file} answers `1c/1` again; line 2 counts");
    let number =
        "warning: option 7 does not exist; Convoke takes it as an answer in words".to_owned();
    let never = format!("warning: line 5 of {file} answers `1d/9`, which was never asked");
    assert_eq!(warned, [line(3), line(4), again, number, never], "{outcome}");
}

// A resumed run takes answers again, and does not miss those it took before.
#[test]
fn a_run_is_resumed_with_answers() {
    let panel = Panel::new();
    let answers = panel.project.path("../answers.txt");
    let (seats, file) = (panel.seats(), answers.display().to_string());
    let first = "1c/1: 1\n1c/2: 1\n1d/1: 1\n1d/2: 1\n1d/3: 1\n";
    fs::write(&answers, first).unwrap();
    let stopped = panel.project.run(&["design", "--seats", &seats, "--answers", &file, FEATURE]);
    assert_eq!(stopped.code, Some(2), "{stopped}");
    let (run, _) = panel.run();
    fs::write(&answers, format!("{first}3.5/1: in silence\n")).unwrap();
    let resumed = panel.project.run(&["resume", &run, "--answers", &file]);
    assert_eq!(resumed.code, Some(0), "{resumed}");
    assert!(resumed.stderr.contains(": in silence\n"), "{resumed}");
    assert!(!resumed.stderr.contains("warning: "), "{resumed}");
}

// With a limit no person has to be there, for example in a scheduled run.
#[test]
fn recommendations_count_without_a_person() {
    let panel = Panel::new();
    let seats = panel.seats();
    let limit = ["design", "--answer-limit", "3600", "--seats", &seats, FEATURE];
    let outcome = panel.project.run(&limit);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let said = "no terminal to ask at; accepting the recommendation\n";
    assert_eq!(outcome.stderr.matches(said).count(), 6, "{outcome}");
}

// A plan that was not reviewed to the end is not held for what the panel made.
#[test]
fn an_unfinished_plan_is_compared_as_one() {
    let panel = Panel::new();
    let mut knows = answers();
    knows.insert("compare".to_owned(), knows["chair/plan/claude"].clone());
    panel.recorded("claude", &knows);
    let file = panel.project.path("../answers.txt");
    fs::write(&file, "1c/1: 1\n1c/2: 1\n1d/1: 1\n1d/2: 1\n1d/3: 1\n").unwrap();
    let (seats, file) = (panel.seats(), file.display().to_string());
    let stopped = panel.project.run(&["design", "--seats", &seats, "--answers", &file, FEATURE]);
    assert_eq!(stopped.code, Some(2), "{stopped}");
    let (run, _) = panel.run();
    let note = "note: the run has not ended, so the panel's plan is unfinished";
    let compared = panel.project.run(&["compare", &run, "--json"]);
    assert!(compared.code == Some(0) && compared.stderr.contains(note), "{compared}");
    let report: Value = serde_json::from_str(&compared.stdout).unwrap();
    assert_eq!(report["is_finished"], false);
    assert_eq!(panel.project.run(&["resume", &run, "--answer-limit", "1"]).code, Some(0));
    let compared = panel.project.run(&["compare", &run, "--json"]);
    assert!(compared.code == Some(0) && !compared.stderr.contains(note), "{compared}");
    let report: Value = serde_json::from_str(&compared.stdout).unwrap();
    assert_eq!(report["is_finished"], true);
}

// After any obstacle, a run says how to resume it.
#[test]
fn a_plan_that_cannot_be_left_is_no_lost_run() {
    let panel = Panel::new();
    // No file can be created there.
    let outcome = panel.design(&["--feature", "/proc"]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    let (run, state) = panel.run();
    assert!(outcome.stderr.contains("error: cannot use `/proc/plan.md`\n"), "{outcome}");
    assert!(outcome.stderr.ends_with(&format!("hint: convoke resume {run}\n")), "{outcome}");
    assert_eq!(state, "stopped");
}

// A question without a person to answer is not an interruption.
#[test]
fn a_question_without_a_person_is_no_interruption() {
    let panel = Panel::new();
    let seats = panel.seats();
    let outcome = panel.project.run_with_input(&["design", "--seats", &seats, FEATURE], b"\n");
    assert_eq!(outcome.code, Some(2), "{outcome}");
    let (run, state) = panel.run();
    let error = format!(
        "error: cannot ask you a question: there is no terminal\n\
         hint: answer from a file: `convoke resume {run} --answers FILE`\n\
         hint: or accept the recommendations: `convoke resume {run} --answer-limit 1`\n\
         hint: or start another run that never prompts: `convoke design --auto`\n"
    );
    assert!(outcome.stderr.contains(&error), "{outcome}");
    assert_eq!(state, "stopped");
    let resumed = panel.project.run_with_input(&["resume", &run], &[b'\n'; 40]);
    assert_eq!(resumed.code, Some(0), "{resumed}");
    let unknown = panel.project.run(&["show", "nope"]);
    assert_eq!(unknown.stderr, "error: cannot find a run `nope` here\nhint: see `convoke runs`\n");
}
