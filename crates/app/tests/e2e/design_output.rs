//! What a design prints and leaves, for people, programs and folders.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::harness::Project;
use crate::panel::{FEATURE, Panel};

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

// Whoever stops reading does not make a run complete.
#[test]
fn a_run_that_nobody_reads_is_stopped() {
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
    assert!(said.contains("nobody reads any more what it prints\n"), "{said}");
    assert!(said.ends_with(&format!("hint: convoke resume {run}\n")), "{said}");
    assert_eq!(panel.project.run(&["resume", &run]).code, Some(0));
}

// What somebody wrote is not written over, and links are not followed.
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
        let note =
            format!("`{name}.md` was there already and is not touched; the new one is `{beside}`");
        assert!(designed.stderr.contains(&note), "{designed}");
    }
    // The same text again is no difference; and the flag has its old name, too.
    fs::remove_file(folder.join("tasks.md")).unwrap();
    fs::rename(folder.join(format!("plan-{run}.md")), folder.join("plan.md")).unwrap();
    let again = panel.design(&["--no-branch", "--feature-dir", folder.to_str().unwrap()]);
    assert_eq!(again.code, Some(0), "{again}");
    assert!(!again.stderr.contains("`plan.md` was there already"), "{again}");
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

// Whoever writes answers down learns which of them were not understood.
#[test]
fn answers_that_answer_nothing_are_named() {
    let panel = Panel::new();
    let answers = panel.project.path("../answers.txt");
    fs::write(&answers, "# mine\n1c/1: 7\nno answer\n1c1: 2\n").unwrap();
    let (seats, file) = (panel.seats(), answers.display().to_string());
    let arguments = ["design", "--seats", &seats, "--answers", &file, FEATURE];
    let outcome = panel.project.run_with_input(&arguments, &[b'\n'; 40]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let warned: Vec<_> = outcome.stderr.lines().filter(|it| it.starts_with("warning: ")).collect();
    let line = |number| {
        format!(
            "warning: line {number} of {file} answers no question; it would be `1d/2: the answer`"
        )
    };
    let number = "warning: there is no option 7; it is taken as an answer in words".to_owned();
    assert_eq!(warned, [line(3), line(4), number], "{outcome}");
}

// Nobody interrupted anything where nobody was there to answer.
#[test]
fn a_question_that_finds_nobody_is_no_interruption() {
    let panel = Panel::new();
    let seats = panel.seats();
    let outcome = panel.project.run_with_input(&["design", "--seats", &seats, FEATURE], b"\n");
    assert_eq!(outcome.code, Some(2), "{outcome}");
    let (run, state) = panel.run();
    let error = format!(
        "error: cannot ask anybody: nobody is at the keyboard\n\
         hint: answer from a file: `convoke resume {run} --answers FILE`\nhint: or begin another"
    );
    assert!(outcome.stderr.contains(&error), "{outcome}");
    assert_eq!(state, "stopped");
    let resumed = panel.project.run_with_input(&["resume", &run], &[b'\n'; 40]);
    assert_eq!(resumed.code, Some(0), "{resumed}");
    let unknown = panel.project.run(&["show", "nope"]);
    assert_eq!(unknown.stderr, "error: cannot find a run `nope` here\nhint: see `convoke runs`\n");
}
