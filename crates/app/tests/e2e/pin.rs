//! Pinned rules: what Convoke tells every agent first.

use std::fs;

use serde_json::{Value, json};

use crate::deeds::id_of;
use crate::dispatch::FEATURE;
use crate::dispatch_rounds::repository;
use crate::harness::Project;
use crate::hook;
use crate::lane::{init, result, with_claude};
use crate::panel::Panel;
use crate::wake::working_in;

const BEGIN: &str = "=== RULES OF THE USER ===\n";
const NEVER: &str = "\n- [rule 1] Never push to main\n";

fn hear(project: &Project, cause: &str, part: [&str; 2]) -> Option<String> {
    hear_in(project, "s-1", cause, part)
}

fn hear_in(project: &Project, session: &str, cause: &str, part: [&str; 2]) -> Option<String> {
    let cwd = project.root().display().to_string();
    let input = json!({ "session_id": session, "cwd": cwd, "source": cause }).to_string();
    let arguments = ["hook", "claude", "SessionStart", "--part", part[0], "--of", part[1]];
    let outcome = project.run_with_input(&arguments, input.as_bytes());
    hook::context(&outcome, "SessionStart")
}

fn pins(project: &Project, more: &[&str]) -> Value {
    let text = project.stdout(&[&["pin", "list", "--json"], more].concat());
    serde_json::from_str(&text).unwrap()
}

#[test]
fn rules_begin_every_wake_up() {
    let project = working_in(Project::new());
    assert_eq!(project.stdout(&["pin", "add", "Never push to main"]), "1  Never push to main");
    for agent in ["june", "backend", "stranger"] {
        for budget in ["200", "300", "8000"] {
            let woken = project.stdout(&["wake", agent, "--budget", budget]);
            assert!(woken.starts_with(BEGIN) && woken.contains(NEVER), "{woken}");
        }
    }
    let project = project.variable("CONVOKE_WAKE_AGENT", "june");
    let woken = hear(&project, "startup", ["1", "1"]).unwrap();
    assert!(woken.contains(BEGIN) && woken.find(BEGIN) < woken.find("# Orchestrator"), "{woken}");
    let news = project.variable("CONVOKE_WAKE_MODE", "v0");
    let woken = news.stdout(&["wake", "june"]);
    assert!(woken.starts_with(BEGIN) && woken.contains("Phase: Task 2"), "{woken}");
}

// A session that has nothing else to be reminded of is reminded of the rules, with a receipt.
#[test]
fn rules_alone_are_delivered_with_a_receipt() {
    let project = Project::new().on_branch("main").variable("CONVOKE_WAKE_AGENT", "june");
    assert_eq!(hear(&project, "startup", ["1", "1"]), None);
    project.stdout(&["pin", "add", "Never push to main"]);
    assert_eq!(pins(&project, &[])[0]["last_delivery"], Value::Null);
    assert!(project.stdout(&["pin", "list"]).ends_with("\n    not delivered yet"));
    let woken = hear(&project, "compact", ["1", "1"]).unwrap();
    assert!(woken.contains(NEVER), "{woken}");
    let receipt = pins(&project, &[])[0]["last_delivery"].clone();
    assert_eq!((&receipt["client"], &receipt["session"]), (&json!("claude"), &json!("s-1")));
    let status = project.run(&["hooks", "status", "claude"]);
    assert!(status.stdout.contains("\nrule 1: last delivered 20"), "{status}");
    assert!(status.stdout.contains(" to claude, session s-1\n"), "{status}");
}

// In a limited text, rules that do not fit are counted, and only the included ones have a receipt.
#[test]
fn rules_that_do_not_fit_are_counted() {
    let project = Project::new().on_branch("main").variable("CONVOKE_WAKE_AGENT", "june");
    for number in 0..12 {
        let rule = format!("Rule {number}: {}", "never do this ".repeat(130));
        project.stdout(&["pin", "add", rule.trim()]);
    }
    let woken = hear(&project, "startup", ["1", "1"]).unwrap();
    assert!(woken.len() <= 10_000, "{}", woken.len());
    let shown = woken.matches("\n- [rule ").count();
    let left_out =
        format!("\n- {} pinned rules do not fit here; run `convoke pin list`", 12 - shown);
    assert!(shown > 0 && woken.contains(&left_out), "{shown} {woken}");
    let all = pins(&project, &[]);
    let receipts: Vec<_> =
        all.as_array().unwrap().iter().map(|pin| pin["last_delivery"].is_object()).collect();
    assert_eq!(receipts.iter().filter(|has_one| **has_one).count(), shown);
    assert!(receipts[..shown].iter().all(|has_one| *has_one));
    let parts: Vec<_> = ["1", "2", "3", "4"]
        .iter()
        .filter_map(|part| hear_in(&project, "s-2", "startup", [part, "4"]))
        .collect();
    assert_eq!(parts.concat().matches("\n- [rule ").count(), 12, "four parts hold all");
}

#[test]
fn rules_hold_where_and_while_they_should() {
    let project = working_in(Project::new());
    let review = id_of(&project, "Spec review");
    project.stdout(&["pin", "add", "On main", "--scope", "branch"]);
    let line =
        project.stdout(&["pin", "add", "For the review", "--task", &review, "--until", "done"]);
    assert_eq!(line, format!("2  For the review  (on main, while {review} is open)"));
    let line = project.stdout(&["pin", "add", "For years", "--until", "2999-12-31"]);
    assert_eq!(line, "3  For years  (until 2999-12-31)");
    let last = project.stdout(&["pin", "add", "For ever", "--until", "9999-12-31"]);
    assert_eq!(last, "4  For ever  (until 9999-12-31)");
    project.stdout(&["pin", "rm", "4"]);
    let woken = project.stdout(&["wake", "june"]);
    assert!(
        woken.contains(&format!("- [rule 2, while {review} is open] For the review")),
        "{woken}"
    );
    project.stdout(&["task", "done", &review]);
    assert_eq!(pins(&project, &[]).as_array().unwrap().len(), 2);
    assert_eq!(pins(&project, &["--all"])[1]["holds"], false);
    let project = project.on_branch("other");
    let held: Vec<_> = pins(&project, &[]).as_array().unwrap().clone();
    assert_eq!((held.len(), &held[0]["text"]), (1, &json!("For years")));
    assert_eq!(project.stdout(&["pin", "rm", "3"]), "removed rule 3");
    assert_eq!(project.stdout(&["pin", "list"]), "No pinned rules.");
    assert_eq!(project.run(&["pin", "rm", "3"]).code, Some(1));
}

#[test]
fn what_cannot_be_a_rule_is_refused() {
    let project = working_in(Project::new());
    let long = "x".repeat(2001);
    for arguments in [
        &["pin", "add", ""][..],
        &["pin", "add", "a\nb"],
        &["pin", "add", "a\u{202e}b"],
        &["pin", "add", &long],
        &["pin", "add", "x", "--scope", "task"],
        &["pin", "add", "x", "--until", "done"],
        &["pin", "add", "x", "--until", "2001-01-01"],
        &["pin", "add", "x", "--until", "soon"],
    ] {
        let outcome = project.run(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?} {outcome}");
    }
    assert_eq!(project.run(&["pin", "add", "x", "--task", "t-00000"]).code, Some(1));
    // A committed file has no rules to give, and an agent cannot change the user's.
    let project = project.file("convoke.toml", "[pin]\nrules = ['x']\n");
    assert!(project.run(&["wake", "june"]).stderr.contains("no such section"));
    fs::remove_file(project.path("convoke.toml")).unwrap();
    project.stdout(&["pin", "add", "Never push to main"]);
    let agent = project.variable("CONVOKE_AGENT", "june");
    for arguments in [&["pin", "rm", "1"][..], &["pin", "add", "x"], &["plan", "cancel", "plan.md"]]
    {
        let outcome = agent.run(arguments);
        assert!(outcome.stderr.contains("this process works for @june"), "{outcome}");
    }
    assert_eq!(pins(&agent, &[]).as_array().unwrap().len(), 1);
    let lane = agent.variable("CONVOKE_LANE", "1");
    assert!(lane.run(&["pin", "rm", "1"]).stderr.contains("inside a lane"));
}

#[test]
fn a_cancelled_plan_is_a_rule_and_no_next_action() {
    let project = working_in(Project::new());
    let cancelled = project.stdout(&["plan", "cancel", "./plan.md", "--because", "too slow"]);
    let rule = "Plan plan.md is cancelled; do not execute it. Reason: too slow";
    assert_eq!(cancelled, format!("1  {rule}  (on main)"));
    let woken = project.stdout(&["wake", "june"]);
    assert!(woken.contains(&format!("- [rule 1] {rule}\n")), "{woken}");
    assert!(!woken.contains("Task 2") && woken.contains("No task is open."), "{woken}");
    let tree = project.stdout(&["task", "tree"]);
    assert!(tree.contains("⊘") && !tree.contains("current"), "{tree}");
    let next = project.run(&["task", "next"]);
    assert_eq!(next.code, Some(1), "{next}");
    assert!(next.to_string().contains("of a cancelled plan"), "{next}");
    assert_eq!(project.run(&["plan", "cancel", "plan.md"]).code, Some(1));
    assert_eq!(project.run(&["plan", "cancel", "other.md"]).code, Some(1));
    assert_eq!(project.stdout(&["plan", "resume", "plan.md"]), "resumed plan.md");
    assert!(project.stdout(&["wake", "june"]).contains("Spec review of Task 2: in progress"));
    assert_eq!(project.run(&["plan", "resume", "plan.md"]).code, Some(1));
    project.stdout(&["plan", "cancel", "plan.md"]);
    project.stdout(&["pin", "rm", "2"]);
    assert!(project.stdout(&["task", "tree"]).contains("← current"));
}

// A lane's prompt begins with the rules, unless they are left out.
#[test]
fn rules_begin_the_prompt_of_a_lane() {
    let project = with_claude(&format!("cat > ../asked; {}{}", init(), result(|_| ())));
    let asked = |project: &Project, more: &[&str]| {
        let run = ["lane", "run", "--agent", "claude", "What is it?"];
        project.stdout(&[&run[..], more].concat());
        fs::read_to_string(project.path("../asked")).unwrap()
    };
    assert_eq!(asked(&project, &[]).trim(), "What is it?");
    project.stdout(&["pin", "add", "Never push to main"]);
    let prompt = asked(&project, &["--record", "../tape"]);
    assert!(prompt.starts_with(BEGIN) && prompt.contains(NEVER), "{prompt}");
    assert!(prompt.trim_end().ends_with("=== END OF THE RULES OF THE USER ===\n\nWhat is it?"));
    let receipt = pins(&project, &[])[0]["last_delivery"].clone();
    assert_eq!((&receipt["client"], &receipt["session"]), (&json!("claude"), &json!("s-1")));
    assert_eq!(asked(&project, &["--no-pins"]).trim(), "What is it?");
    // Convoke finds a recorded lane by its own prompt, without the rules.
    project.stdout(&["pin", "add", "Another"]);
    let played = project.stdout(&["lane", "run", "--agent", "replay:../tape", "What is it?"]);
    assert_eq!(played, "The answer is 42.");
}

// The seats of a design receive the rules; the original's prompts and recorded answers have none.
#[test]
fn rules_reach_the_seats_of_a_design() {
    let (panel, seats) = Panel::new().with_spender();
    let program = panel.project.path("../bin/claude");
    let script = fs::read_to_string(&program).unwrap();
    let script = script.replacen("#!/bin/sh\n", "#!/bin/sh\ntee -a \"${0%/*}/../asked\" |\n", 1);
    assert!(script.contains("tee"), "{script}");
    fs::write(&program, script).unwrap();
    let asked = |flags: &[&str]| {
        fs::write(panel.project.path("../asked"), "").unwrap();
        let design = ["design", "--auto", "--no-probe", "--seats", &seats];
        panel.project.run(&[&design[..], flags, &["A feature"]].concat());
        let asked = fs::read_to_string(panel.project.path("../asked")).unwrap();
        panel.git(&["checkout", "--quiet", "main"]);
        assert!(asked.contains("A feature"), "{asked}");
        asked.matches(NEVER).count()
    };
    panel.project.stdout(&["pin", "add", "Never push to main"]);
    assert!(asked(&[]) > 0);
    assert_eq!(asked(&["--no-pins"]), 0);
    assert_eq!(asked(&["--policy", "seed"]), 0);
}

// A subagent receives the rules, and no other text of the user's.
#[test]
fn rules_begin_the_prompt_of_a_subagent() {
    let project = working_in(Project::new());
    let review = id_of(&project, "Spec review");
    project.stdout(&["pin", "add", "Never push to main"]);
    let ask = ["subagent", "implementer", "--task", &review];
    let with = project.run(&ask).stdout;
    assert!(with.starts_with(BEGIN) && with.contains(NEVER), "{with}");
    let without = project.run(&[&ask[..], &["--no-pins"]].concat()).stdout;
    assert!(without.starts_with("# Implementer Subagent\n"), "{without}");
}

// A plan can be cancelled however many rules there are.
#[test]
fn fifty_rules_keep_no_plan_alive() {
    let project = Project::new().on_branch("main").file("plan.md", "# P\n\n### Task 1: A\n\nx\n");
    project.stdout(&["task", "import", "plan.md"]);
    for number in 0..50 {
        project.stdout(&["pin", "add", &format!("Rule {number}")]);
    }
    let more = project.run(&["pin", "add", "One more"]);
    assert_eq!(more.code, Some(1), "{more}");
    let cancelled = project.run(&["plan", "cancel", "plan.md"]);
    assert_eq!(cancelled.code, Some(0), "{cancelled}");
    let unseen = project.run(&["pin", "add", "\u{3164}"]);
    assert_eq!(unseen.code, Some(2), "{unseen}");
}

#[test]
fn the_last_day_of_the_calendar_is_not_over() {
    let project = Project::new().in_repository("main");
    for day in ["9999-12-30", "9999-12-31"] {
        let added = project.run(&["pin", "add", "Never push", "--until", day]);
        assert_eq!(added.code, Some(0), "{added}");
    }
    let woken = project.stdout(&["wake", "me"]);
    assert_eq!(woken.matches("Never push").count(), 2, "{woken}");
    let over = project.run(&["pin", "add", "Never push", "--until", "1999-12-31"]);
    assert!(over.stderr.contains("that day is over"), "{over}");
}

// An agent that a person sends by hand gets the rules as one in a lane does.
#[test]
fn rules_begin_every_prompt_of_a_dispatch_that_is_printed() {
    let tasks = "### Task 1: Model\nStore codes.\n";
    let project = repository().file(&format!("{FEATURE}/tasks.md"), tasks);
    let of = |more: &[&str]| project.stdout(&[&["dispatch"][..], more].concat());
    let role = "implement/security-reviewer";
    let prompts: [&[&str]; 3] = [
        &["prompt", role, "--feature", "031"],
        &["next", role, "--feature", "031"],
        &["task", "1", "--feature", "031"],
    ];
    let bare = prompts.map(of);
    project.stdout(&["pin", "add", "Never push to main"]);
    for (prompt, bare) in prompts.into_iter().zip(bare) {
        let with = of(prompt);
        assert!(with.starts_with(BEGIN) && with.contains(NEVER), "{with}");
        let end = "=== END OF THE RULES OF THE USER ===\n\n";
        assert_eq!(with.split_once(end).map(|(_, rest)| rest), Some(bare.as_str()));
        assert_eq!(of(&[prompt, &["--no-pins"]].concat()), bare);
        let report: Value = serde_json::from_str(&of(&[prompt, &["--json"]].concat())).unwrap();
        let words = report["prompt"].as_str().unwrap();
        assert!(words.starts_with(BEGIN), "{words}");
        assert_eq!(report["chars"], words.chars().count());
    }
    let lost = project.variable("CONVOKE_STORE", "/proc/nowhere/store.db");
    let without = lost.run(&["dispatch", "prompt", role, "--feature", "031"]);
    assert!(without.stderr.contains("the prompt lacks your pinned rules: "), "{without}");
}

// The rules are in the store: Convoke announces an agent that works without them.
#[test]
fn a_lane_without_a_store_says_that_its_prompt_lacks_the_rules() {
    let project = with_claude(&format!("{}{}", init(), result(|_| ())))
        .variable("CONVOKE_STORE", "/proc/nowhere/store.db");
    let run = ["lane", "run", "--agent", "claude", "What is it?", "--write"];
    let outcome = project.run(&run);
    let lacking = "warning: the prompt lacks your pinned rules: Convoke cannot open the store\n";
    assert!(outcome.code == Some(0) && outcome.stderr.contains(lacking), "{outcome}");
    let without = project.run(&[&run[..], &["--no-pins"]].concat());
    assert!(!without.stderr.contains(lacking), "{without}");
}
