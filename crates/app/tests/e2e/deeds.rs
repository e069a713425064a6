//! Records instead of guesses: verdicts, dispatches and skills in wake-ups.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::dispatch::{self, APPROVED, FEATURE};
use crate::dispatch_rounds::repository;
use crate::dispatch_run::{UNCLEAR, run, say_in_turn, stream, with_claude};
use crate::harness::Project;
use crate::wake::{collection, working_in};

/// A project in the middle of its second task.
fn working() -> Project {
    working_in(Project::new())
}

/// Returns the id of the task with this title.
pub(crate) fn id_of(project: &Project, title: &str) -> String {
    let tree = project.stdout(&["task", "tree"]);
    let line = tree.lines().find(|line| line.contains(title)).unwrap();
    let at = line.find("t-").unwrap();
    line[at..at + 7].to_owned()
}

fn next_action(project: &Project) -> String {
    let text = project.run(&["wake", "june"]).stable(project);
    let at = text.find("## Your Next Action\n").unwrap();
    text[at..].split("\n--- stderr").next().unwrap().to_owned()
}

// W-35, W-38, W-40: a message decides nothing, and no skill is guessed.
#[test]
fn a_message_without_a_verdict_decides_nothing() {
    let project = working();
    assert_snapshot!("a_message_decides_nothing", project.run(&["wake", "june"]).stable(&project));
    for message in ["not approved", "No issues found.", "PASS ✅"] {
        project.run(&["say", &format!("{message} @june"), "--as", "spec-reviewer"]);
        let next = next_action(&project);
        assert!(next.contains(&format!("wrote: \"{message} @june\"")), "{next}");
        assert!(next.contains("Spec review of Task 2: in progress. No verdict"), "{next}");
        assert!(!next.contains("complete"), "{next}");
    }
}

// W-38: a recorded verdict decides for its own task, and ends when the task is begun anew.
#[test]
fn a_recorded_verdict_decides_for_its_own_task() {
    let project = working();
    let (review, one) = (id_of(&project, "Spec review"), id_of(&project, "Task 1"));
    let passed = project.run(&["task", "pass", &one, "--by", "spec-reviewer"]);
    assert!(
        passed.stderr.contains("; Convoke stores the verdict, and the task stays completed"),
        "{passed}"
    );
    assert!(!next_action(&project).contains("complete:"), "{}", next_action(&project));
    let because = ["--because", "a limit is missing", "--as", "ana"];
    let fail = [&["task", "fail", &review, "--by", "spec-reviewer"], &because[..]].concat();
    assert_snapshot!(
        "a_failed_task",
        format!("{}\n{}", project.run(&fail).stable(&project), next_action(&project))
    );
    let pass =
        ["say", "Good now. @june", "--as", "spec-reviewer", "--verdict", "pass", "--task", &review];
    project.stdout(&pass);
    assert_snapshot!("a_passed_task", next_action(&project));
    let shown = project.stdout(&["task", "show", &review]);
    assert!(
        shown.contains("  Recorded: pass by spec-reviewer, recorded by @spec-reviewer"),
        "{shown}"
    );
    let json = project.stdout(&["task", "show", &review, "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["deeds"][1]["verdict"], &json["content"]),
        (&"pass".into(), &"Spec review".into())
    );
    project.stdout(&["task", "done", &review]);
    project.stdout(&["task", "start", &review]);
    assert!(next_action(&project).contains("No verdict is recorded"), "{}", next_action(&project));
}

#[test]
fn a_verdict_needs_a_task_and_a_role() {
    let project = working();
    let review = id_of(&project, "Spec review");
    let count = project.stdout(&["inbox", "june", "--all"]).lines().count();
    let unknown = project.run(&["say", "x @june", "--verdict", "pass", "--task", "t-00000"]);
    assert_eq!(unknown.code, Some(1), "{unknown}");
    let title = project.run(&["task", "pass", &review, "--by", "Task 2: Add login"]);
    assert_eq!(title.code, Some(2), "{title}");
    assert_eq!(project.run(&["say", "x", "--verdict", "maybe", "--task", &review]).code, Some(2));
    assert_eq!(project.run(&["say", "x", "--verdict", "pass"]).code, Some(2));
    let lines = project.run(&["task", "pass", &review, "--by", "a", "--because", "a\nb"]);
    assert_eq!(lines.code, Some(2), "{lines}");
    let after = project.stdout(&["inbox", "june", "--all"]).lines().count();
    assert_eq!(after, count, "a verdict that is refused leaves no message");
}

// W-9: the seed's line comes out of the store as it is.
#[test]
fn a_dispatched_subagent_is_a_deed() {
    let project = working();
    let review = id_of(&project, "Spec review");
    project.run(&["subagent", "spec-reviewer", "--task", &review, "--as", "june"]);
    let woken = project.stdout(&["wake", "june"]);
    assert!(woken.contains(" - You dispatched spec-reviewer subagent\n"), "{woken}");
    let next = next_action(&project);
    assert!(next.contains("Recorded: spec-reviewer was sent to it."), "{next}");
    assert!(next.contains("Check whether spec-reviewer has answered about Spec review"), "{next}");
}

// Only a verdict is by a role: who is sent records nothing.
#[test]
fn a_task_shows_who_sent_a_role_and_who_judged() {
    let project = working();
    let review = id_of(&project, "Spec review");
    project.run(&["subagent", "spec-reviewer", "--task", &review, "--as", "june"]);
    project.stdout(&["task", "fail", &review, "--by", "code-reviewer", "--as", "ana"]);
    let shown = project.stdout(&["task", "show", &review]);
    let recorded: Vec<_> = shown.lines().filter(|line| line.contains("Recorded: ")).collect();
    let wanted = [
        "  Recorded: spec-reviewer was sent to judge it, recorded by @june",
        "  Recorded: fail by code-reviewer, recorded by @ana",
    ];
    assert_eq!(recorded, wanted, "{shown}");
}

// W-40: who names a skill, and what a wake-up says without one.
#[test]
fn a_skill_is_chosen_by_name_only() {
    let project = working().file(
        ".claude/skills/reviewing.md",
        "---\ndescription: Use for a spec review\n---\nMine.\n",
    );
    let skill = |project: &Project| {
        let report = project.stdout(&["wake", "june", "--json"]);
        let report: Value = serde_json::from_str(&report).unwrap();
        let text = report["text"].as_str().unwrap();
        let section = text.split("## Current Skill\n").nth(1).unwrap();
        let section = section.split("\n\n## Active").next().unwrap().to_owned();
        (report["skill_reason"].clone(), section)
    };
    let (reason, section) = skill(&project);
    assert_eq!(reason, Value::Null);
    assert!(section.starts_with("No skill is chosen. Installed skills that share words with the task: `reviewing`.\nChoose one: `convoke skill use NAME --task t-"), "{section}");
    assert_eq!(project.stdout(&["skill", "use", "reviewing"]), "branch main: reviewing");
    assert_eq!(
        skill(&project),
        (
            "user".into(),
            "You are using `reviewing` to work on the current task.\n\nMine.".to_owned()
        )
    );
    let plan =
        "> Use superpowers:subagent-driven-development here.\n\n### Task 2: Add login endpoint\n";
    let project = project.file("plan.md", plan);
    project.stdout(&["skill", "use", "--none"]);
    assert_eq!(skill(&project).0, "plan");
    project.stdout(&["skill", "use", "reviewing", "--agent", "june"]);
    assert_eq!(skill(&project).0, "agent");
    let two = id_of(&project, "Task 2");
    project.stdout(&["skill", "use", "subagent-driven-development", "--task", &two]);
    assert_eq!(skill(&project).0, "ancestor_explicit");
    std::fs::remove_file(project.path(&collection("4.0.0", "SKILL.md"))).unwrap();
    let (reason, section) = skill(&project);
    assert_eq!(reason, "agent");
    let notice =
        "> skill not found: subagent-driven-development, which the task above names\nMine.";
    assert!(section.ends_with(notice), "{section}");
    assert_eq!(project.run(&["skill", "use", "missing"]).code, Some(3));
}

// W-3, W-35: reviews as parts, and a task that closes with its last part.
#[test]
fn a_reviewed_task_is_closed_with_its_last_part_if_wanted() {
    let plan = "### Task 1: A\n\n### Task 2: B\n";
    let project = Project::new().on_branch("main").file("plan.md", plan);
    project.stdout(&["task", "import", "plan.md"]);
    let again = project.run(&["task", "import", "plan.md", "--reviews"]);
    assert!(again.stderr.contains("added to 2 tasks each: Implementation, Spec review"), "{again}");
    let third = project.run(&["task", "import", "plan.md", "--reviews"]);
    assert!(third.stderr.contains("added to 0 tasks"), "{third}");
    let tree = project.stdout(&["task", "tree"]);
    assert_eq!(tree.matches("Code quality review").count(), 2, "{tree}");
    let parts = |project: &Project, title: &str| {
        let task = project.stdout(&["task", "show", &id_of(project, title), "--json"]);
        let task: Value = serde_json::from_str(&task).unwrap();
        let parts = task["children"].as_array().unwrap().clone();
        parts.iter().map(|part| part["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for part in parts(&project, "Task 1") {
        project.stdout(&["task", "done", &part]);
    }
    let woken = project.stdout(&["wake", "june"]);
    let one = id_of(&project, "Task 1");
    let close = format!(
        "Next action: Close Task 1: A with `convoke task done {one}`, or have it reviewed first."
    );
    assert!(woken.contains(&close), "{woken}");
    let project = project.variable("CONVOKE_TASK_CLOSE_PARENT", "true");
    let two = parts(&project, "Task 2");
    project.stdout(&["task", "done", &two[0]]);
    project.stdout(&["task", "fail", &id_of(&project, "Task 2"), "--by", "ana"]);
    project.stdout(&["task", "skip", &two[1]]);
    project.stdout(&["task", "done", &two[2]]);
    let show = |project: &Project| project.stdout(&["task", "show", &id_of(project, "Task 2")]);
    assert!(show(&project).contains("[pending]"), "a verdict is against it: {}", show(&project));
    project.stdout(&["task", "pass", &id_of(&project, "Task 2"), "--by", "ana"]);
    let last = project.run(&["task", "done", &two[2]]);
    assert!(last.stderr.contains("with its last subtask"), "{last}");
    assert!(show(&project).contains("[completed]"), "{}", show(&project));
}

// W-3, W-35: work that has begun gets no reviews, and a task is not done by leaving all of it out.
#[test]
fn begun_tasks_get_no_reviews_and_skipped_parts_complete_nothing() {
    let plan = "### Task 1: A\n\n### Task 2: B\n";
    let project = Project::new()
        .on_branch("main")
        .file("plan.md", plan)
        .variable("CONVOKE_TASK_CLOSE_PARENT", "true");
    project.stdout(&["task", "import", "plan.md"]);
    project.stdout(&["task", "start", &id_of(&project, "Task 1")]);
    let added = project.run(&["task", "import", "plan.md", "--reviews"]);
    assert!(added.stderr.contains("added to 1 task each: Implementation"), "{added}");
    let tree = project.stdout(&["task", "tree"]);
    assert_eq!(tree.matches("Spec review").count(), 1, "{tree}");
    for part in ["Implementation", "Spec review", "Code quality review"] {
        project.stdout(&["task", "skip", &id_of(&project, part)]);
    }
    let shown = project.stdout(&["task", "show", &id_of(&project, "Task 2")]);
    assert!(shown.contains("[pending]"), "{shown}");
}

// A wrong verdict can be taken back, and a task is never unbegun under its verdict.
#[test]
fn undo_takes_back_the_verdict_that_came_last() {
    let project = Project::new().in_repository("main");
    let id = project.stdout(&["task", "add", "Model"]);
    project.run(&["task", "start", &id]);
    project.run(&["task", "fail", &id, "--by", "spec"]);
    project.run(&["task", "pass", &id, "--by", "rev"]);
    let undone = project.run(&["task", "undo"]);
    assert!(undone.stdout.contains("pass by rev"), "{undone}");
    let woken = project.stdout(&["wake", "june"]);
    assert!(woken.contains("Model: in progress. Recorded: spec failed it."), "{woken}");
    assert!(!woken.contains("rev passed it"), "{woken}");
    let undone = project.stdout(&["task", "undo", "--json"]);
    let undone: Value = serde_json::from_str(&undone).unwrap();
    assert_eq!((&undone[0]["what"], &undone[0]["step"]), (&"fail by spec".into(), &Value::Null));
    let undone = project.stdout(&["task", "undo"]);
    assert!(undone.contains("started") && undone.contains("Model"), "{undone}");
    assert!(project.stdout(&["task", "list"]).contains("[pending]"));
    assert!(!project.stdout(&["wake", "june"]).contains("Recorded"));
    // What came after a verdict goes first.
    project.run(&["task", "pass", &id, "--by", "rev"]);
    project.run(&["task", "note", &id, "x"]);
    assert!(!project.stdout(&["task", "undo"]).contains("verdict"));
    assert!(project.stdout(&["task", "undo"]).contains("pass by rev"));
}

// What a message says about a task stays, and so does the step before it.
#[test]
fn undo_refuses_to_unbegin_a_task_under_a_verdict_of_a_message() {
    let project = Project::new().in_repository("main");
    let id = project.stdout(&["task", "add", "Model"]);
    project.run(&["task", "start", &id]);
    let said = project.run(&["say", "fine @me", "--as", "rev", "--verdict", "pass", "--task", &id]);
    assert_eq!(said.code, Some(0), "{said}");
    let refused = project.run(&["task", "undo"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("rev judged the task"), "{refused}");
    assert!(project.stdout(&["task", "list"]).contains("[in_progress]"));
}

// Wake-ups go by recorded verdicts: one that no task has is announced, with what records it.
#[test]
fn a_verdict_that_no_task_has_is_announced() {
    let project = with_claude(repository());
    let command = |word: &str| format!("`convoke task {word} ID --by implement/security-reviewer`");
    let note = "note: no task records this verdict; ";
    fs::write(project.path("../stream"), stream(&project, "design.md", APPROVED)).unwrap();
    let alone = run(&project, &[]);
    assert!(!alone.stderr.contains(note), "without a task there is nothing to do: {alone}");
    let task = project.stdout(&["task", "add", "Task 1: Build it"]);
    let passed = run(&project, &[]);
    assert!(passed.stderr.contains(&format!("{note}{}", command("pass"))), "{passed}");
    project.stdout(&["task", "start", &task]);
    let issues = "false, \"issues\": [{\"severity\": \"error\", \"description\": \"No limit\"}]";
    let failed = APPROVED.replace("true, \"issues\": []", issues);
    fs::write(project.path("../stream"), stream(&project, "design.md", &failed)).unwrap();
    let failed = run(&project, &[]);
    assert!(failed.stderr.contains(&format!("{note}{}", command("fail"))), "{failed}");
    // The task in progress is not taken for the one that was reviewed.
    assert!(failed.stderr.contains("and `--task ID` records the next one"), "{failed}");
    assert!(!project.stdout(&["task", "show", &task]).contains("Recorded"), "{failed}");
    project.stdout(&["task", "pass", &task, "--by", "implement/security-reviewer"]);
    say_in_turn(&project, UNCLEAR, UNCLEAR);
    let unclear = run(&project, &[]);
    assert!(!unclear.stderr.contains(note), "{unclear}");
    fs::write(project.path("../stream"), stream(&project, "design.md", APPROVED)).unwrap();
    let recorded = run(&project, &["--task", &task]);
    assert!(!recorded.stderr.contains(note), "{recorded}");
}

// A prompt that is given to an agent by hand belongs to a stored task if the caller names it.
#[test]
fn a_printed_prompt_is_recorded_with_the_task_that_it_names() {
    let project = dispatch::project();
    let task = project.stdout(&["task", "add", "Build it"]);
    project.stdout(&["task", "start", &task]);
    let reviewer = ["implement/security-reviewer", "--feature", FEATURE];
    let prompt = [&["dispatch", "prompt"][..], &reviewer].concat();
    let next = [&["dispatch", "next"][..], &reviewer].concat();
    let work = ["dispatch", "task", "1", "--feature", FEATURE];
    let recorded = || {
        let shown = project.stdout(&["task", "show", &task]);
        shown.lines().filter(|line| line.contains("Recorded: ")).map(str::to_owned).collect()
    };
    project.stdout(&prompt);
    project.stdout(&next);
    assert_eq!(recorded(), [""; 0], "no task is guessed");
    let sent = |kind: &str| format!("was sent to {kind} it, recorded by @");
    for (words, kind) in [(&prompt[..], "judge"), (&next[..], "judge"), (&work[..], "work on")] {
        let before: Vec<String> = recorded();
        let unknown = project.run(&[words, &["--stored-task", "t-00000"]].concat());
        assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(1), ""), "{unknown}");
        assert_eq!(recorded(), before, "{words:?}");
        project.stdout(&[words, &["--stored-task", &task]].concat());
        let after = recorded();
        assert_eq!(after.len(), before.len() + 1, "{words:?}: {after:?}");
        assert!(after.last().unwrap().contains(&sent(kind)), "{words:?}: {after:?}");
    }
}
