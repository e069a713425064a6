//! `convoke wake`, `prompt` and `subagent`.

use insta::assert_snapshot;

use crate::harness::Project;

const PLAN: &str = "# Auth\n\n**Goal:** log in\n\n---\n\n### Task 1: Add user model\n\nbody 1\n\n\
    ### Task 2: Add login endpoint\n\n**Files:**\n- Create: `login.go`\n\n**Step 1:** test\n";

pub(crate) const COLLECTION: &str =
    "../home/.claude/plugins/cache/superpowers-marketplace/superpowers";

pub(crate) fn collection(version: &str, file: &str) -> String {
    format!("{COLLECTION}/{version}/skills/subagent-driven-development/{file}")
}

/// A project in the middle of its second task, with the original's guesses.
pub(crate) fn working() -> Project {
    working_in(
        Project::new()
            .variable("CONVOKE_WAKE_NEXT_ACTION", "seed")
            .variable("CONVOKE_WAKE_SKILL_CHOICE", "seed"),
    )
}

/// A project in the middle of its second task.
pub(crate) fn working_in(project: Project) -> Project {
    let project = project
        .on_branch("main")
        .file("plan.md", PLAN)
        .file(&collection("4.0.0", "SKILL.md"), "---\nname: sdd\n---\n# SDD\n\nReview twice.\n");
    let ids = project.stdout(&["task", "import", "plan.md"]);
    let (one, two) = ids.split_once('\n').unwrap();
    project.run(&["task", "done", one, "--as", "backend"]);
    project.run(&["task", "assign", two, "backend"]);
    let parts = project.stdout(&["task", "add", "Implementation", "Spec review", "--parent", two]);
    let (implementation, review) = parts.split_once('\n').unwrap();
    project.run(&["task", "done", implementation, "--as", "backend"]);
    project.run(&["task", "start", review, "--as", "june"]);
    project.run(&["agent", "add", "june", "--session", "s-1"]);
    project.run(&["say", "Approved. @june", "--as", "spec-reviewer"]);
    project
}

// W-20, W-21, W-31..W-41: everything comes from the store, the plan and the skill file.
#[test]
fn an_orchestrator_wakes_where_it_was() {
    let project = working();
    let before = project.run(&["inbox", "june"]);
    assert_snapshot!(project.run(&["wake", "june"]).stable(&project), @r#"
    exit: 0
    --- stdout
    # Orchestrator Wake-up Context

    You are @june, the orchestrator for this project.

    ## Current Skill
    You are using `subagent-driven-development` to execute the implementation plan.

    # SDD

    Review twice.

    ## Active Plan
    **File:** plan.md

    > # Auth
    >
    > **Goal:** log in
    >
    > ### Task 2: Add login endpoint
    >
    > **Files:**
    > - Create: `login.go`
    >
    > **Step 1:** test

    ## Current Tasks
    - [x] Task 1: Add user model (completed)
    - [ ] Task 2: Add login endpoint (@backend, in spec review)  <-- CURRENT
        - [x] Implementation (completed)
        - [ ] Spec review (in progress)

    **Current position:** Task 2 implementation is complete. Spec review is in progress.
    Next action: Check if spec reviewer has completed, then finish the branch.

    ## Recent Activity
    - HH:MM - @backend completed Task 1: Add user model
    - HH:MM - @backend completed Implementation
    - HH:MM - You started Spec review

    ## New Message
    @spec-reviewer: "Approved. @june"

    ## Your Next Action
    The spec review passed. You should:
    1. Mark spec review subtask complete
    2. Use finishing-a-development-branch
    3. Continue with the subagent-driven-development workflow
    --- stderr
    "#);
    // Looking changes nothing.
    assert_eq!(project.run(&["inbox", "june"]), before);
    assert_eq!(project.run(&["wake", "june"]), project.run(&["wake", "june"]));
}

// W-6, W-30, W-40
#[test]
fn an_agent_wakes_with_its_own_task() {
    let project = working();
    let outcome = project.run(&["wake", "backend", "--message", "Go on", "--from", "june"]);
    assert!(outcome.stdout.starts_with("\n## Your Current Skill\n# SDD\n"), "{outcome}");
    assert!(outcome.stdout.ends_with("\n\n## New Message\n@june: \"Go on\"\n"), "{outcome}");
    let idle = project.run(&["wake", "stranger"]);
    assert!(idle.stdout.contains("## Your Current Task\nNo task is assigned to you. "), "{idle}");
    assert!(idle.stdout.contains("(skill not found: superpowers:test-driven-development)"));
    assert_snapshot!(project.run(&["wake", "stranger", "--explain"]), @"
    exit: 0
    --- stdout
    cost       128.7 of 8000 tokens, an estimate
    extent     everything
    shortened  no
    skill      superpowers:test-driven-development (default)
    file       not found
    plan       none
    task       none
    message    none
    note: skill_not_found: superpowers:test-driven-development
    --- stderr
    note: there is no agent `stranger` on main in project yet
    ");
}

// W-82: the order of shortening, and the parts that are never shortened.
#[test]
fn a_small_budget_keeps_the_task_and_the_message() {
    let project = working();
    let woken = |project: &Project, budget: &str| {
        let text = project.stdout(&["wake", "june", "--budget", budget, "--json"]);
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    let report = woken(&project, "300");
    assert_eq!(
        (&report["steps"][0], &report["over_budget"]),
        (&"no_activity".into(), &false.into())
    );
    assert!(report["text"].as_str().unwrap().contains("@spec-reviewer: \"Approved. @june\""));
    assert!(report["text"].as_str().unwrap().contains("<-- CURRENT"));
    for budget in ["1", "30", "60", "120"] {
        assert_eq!(woken(&project, budget)["over_budget"], false, "{budget}");
    }
    let bare = woken(&project, "60")["text"].to_string();
    assert!(bare.contains("Approved. @june") && bare.contains("`convoke wake june"), "{bare}");
    // By the contract, the list and the message stay at any cost.
    let project = project.file("../home/.config/convoke/config.toml", "wake.fit = 'seed'");
    assert!(woken(&project, "1")["text"].as_str().unwrap().contains("<-- CURRENT"));
    let verbose = project.run(&["wake", "june", "--budget", "1", "-v"]);
    assert!(verbose.stderr.contains("note: over_budget"), "{verbose}");
}

// W-6: finishing a task is work on its plan, so the plan stays active.
#[test]
fn the_plan_that_is_worked_on_stays_active() {
    let project = working().file("later.md", "## Task 1: Something else\n");
    project.stdout(&["task", "import", "later.md"]);
    assert!(!project.stdout(&["wake", "june"]).contains("**File:** later.md"));
    let list = project.stdout(&["task", "list"]);
    let two =
        list.lines().find(|line| line.contains("Task 2")).unwrap().split("  ").next().unwrap();
    project.stdout(&["task", "start", two]);
    assert!(project.stdout(&["wake", "june"]).contains("**File:** plan.md"));
}

// W-21: messages that are too old to show are counted, and can still be read afterwards.
#[test]
fn unread_messages_that_do_not_fit_are_counted() {
    let project = working().file("../home/.config/convoke/config.toml", "wake.agent = 'june'");
    for number in 1..=15 {
        project.stdout(&["say", &format!("number {number} @june"), "--as", "ana"]);
    }
    let cwd = project.root().display().to_string();
    let input =
        serde_json::json!({ "session_id": "s", "cwd": cwd, "source": "startup" }).to_string();
    let woken =
        project.run_with_input(&["hook", "claude", "SessionStart"], input.as_bytes()).stdout;
    assert!(woken.contains("number 15 @june") && woken.contains("number 5 @june"), "{woken}");
    assert!(!woken.contains("number 4 @june"), "{woken}");
    // One is older than these: the reviewer's.
    assert!(woken.contains("(5 more unread to you: `convoke inbox june --mark`)"), "{woken}");
    project.run_with_input(&["hook", "claude", "UserPromptSubmit"], input.as_bytes());
    let left = project.stdout(&["inbox", "june"]);
    assert!(left.contains("Approved.") && left.contains("number 4 @june"), "{left}");
    assert_eq!(left.lines().count(), 5, "what was not shown stays unread: {left}");
    assert_eq!(project.stdout(&["inbox", "june", "--mark"]), left);
    assert_eq!(project.stdout(&["inbox", "june"]), "No new messages for @june.");
    assert_eq!(project.stdout(&["inbox", "june", "--all"]).lines().count(), 16);
}

// W-21: long messages are delivered completely or stay unread, and the count says how many.
#[test]
fn long_messages_that_do_not_fit_stay_unread() {
    let project = working().file("../home/.config/convoke/config.toml", "wake.agent = 'june'");
    project.stdout(&["inbox", "june", "--mark"]);
    let story = "a long story ".repeat(192);
    for number in 1..=15 {
        project.stdout(&["say", &format!("{number}: {story} @june"), "--as", "ana"]);
    }
    for wakes in 1.. {
        let before = project.stdout(&["inbox", "june"]);
        if before.starts_with("No new messages for ") {
            assert!(wakes > 2, "they do not fit at once");
            break;
        }
        let cwd = project.root().display().to_string();
        let input = serde_json::json!({ "session_id": format!("s-{wakes}"), "cwd": cwd });
        let input = input.to_string();
        let hook = ["hook", "claude", "SessionStart"];
        let woken = project.run_with_input(&hook, input.as_bytes()).stdout;
        project.run_with_input(&["hook", "claude", "UserPromptSubmit"], input.as_bytes());
        let shown = woken.matches("a long story a long story").count() / (192 / 2);
        let after = project.run(&["inbox", "june"]).stdout;
        let after = after.lines().filter(|line| line.contains("a long story")).count();
        assert_eq!(shown + after, before.lines().count(), "{woken}");
        let counted = woken.contains(&format!("({after} more unread to you: "));
        assert_eq!(counted, after > 0, "{woken}");
        assert!(wakes < 16 && shown > 0, "every wake-up gives some");
    }
}

// An inbox of any size is listed from its end.
#[test]
fn an_inbox_is_listed_in_pages() {
    let project = Project::new().on_branch("main");
    for number in 1..=7 {
        project.stdout(&["say", &format!("number {number} @june"), "--as", "ana"]);
    }
    let page = project.run(&["inbox", "june", "--limit", "3"]);
    assert!(page.stdout.contains("number 5") && page.stdout.contains("number 7"), "{page}");
    assert_eq!(page.stdout.lines().count(), 3);
    let note =
        "note: listed 3 of 7 unread messages; the ones before: `convoke inbox june --before 5`\n";
    assert_eq!(page.stderr, note);
    let before = project.run(&["inbox", "june", "--limit", "9", "--before", "5"]);
    assert!(before.stdout.contains("number 1") && before.stderr.is_empty(), "{before}");
    let marked = project.run(&["inbox", "june", "--limit", "3", "--mark"]);
    assert!(marked.stderr.ends_with("the ones before: `convoke inbox june --mark`\n"), "{marked}");
    let rest = project.run(&["inbox", "june", "--limit", "4"]);
    assert!(rest.stdout.contains("number 4") && !rest.stdout.contains("number 5"), "{rest}");
    assert_eq!(rest.stderr, "");
}

// W-70..W-73
#[test]
fn a_subagent_gets_its_task_and_nothing_else() {
    let template = "# How\n\n```\nTask:\n  prompt: |\n    You implement.\n```\n";
    let project = working().file(&collection("4.0.0", "implementer-prompt.md"), template);
    let list = project.stdout(&["task", "list"]);
    let two = list.lines().nth(1).unwrap().split("  ").next().unwrap();
    assert_snapshot!(project.run(&["subagent", "implementer", "--task", two]).stable(&project), @"
    exit: 0
    --- stdout
    # Implementer Subagent

    You are implementing Task 2: Add login endpoint.

    ## Your Instructions
    You implement.

    ## The Task
    **From plan:** plan.md

    ### Task 2: Add login endpoint

    **Files:**
    - Create: `login.go`

    **Step 1:** test

    ## Context from Orchestrator
    (none)

    ## Guidelines
    - Follow TDD strictly (superpowers:test-driven-development)
    - Self-review before completing
    - Commit after each step
    --- stderr
    ");
    // A part of a task is described where its task is.
    let shown = project.stdout(&["task", "show", two]);
    let part = shown.lines().last().unwrap().trim_start().split("  ").next().unwrap();
    let of_task = project.stdout(&["subagent", "implementer", "--task", two]);
    assert_eq!(project.stdout(&["subagent", "implementer", "--task", part]), of_task);
    let missing = project.run(&["subagent", "spec-reviewer", "--task", two]);
    assert!(missing.stderr.contains("template_not_found: spec-reviewer-prompt.md"), "{missing}");
}

// W-23: `--print` shows the text without sending it.
#[test]
fn a_prompt_can_be_shown_instead_of_sent() {
    let project = working();
    let outcome = project.run(&["prompt", "june", "go on", "--print"]);
    assert!(outcome.stdout.starts_with("claude --resume s-1 -p\n\n# Orchestrator"), "{outcome}");
    assert!(outcome.stdout.contains("## New Message\n@human: \"go on\"\n"), "{outcome}");
    assert!(project.stdout(&["inbox", "june"]).ends_with("@human: \"go on\""));
    // Each client has its own words.
    for (client, session, command) in [
        ("opencode", "ses_1", "opencode run --session=ses_1"),
        ("gemini", "s-2", "gemini --resume=s-2"),
    ] {
        project.stdout(&["agent", "add", client, "--client", client, "--session", session]);
        let shown = project.run(&["prompt", client, "go on", "--print"]);
        assert!(shown.stdout.starts_with(&format!("{command}\n\n")), "{shown}");
    }
    project.run(&["agent", "add", "backend"]);
    assert_snapshot!(project.run(&["prompt", "backend", "x"]), @r#"
    exit: 1
    --- stdout
    --- stderr
    error: agent "backend" has no session ID
    hint: bind one with `convoke agent add NAME --session ID`
    "#);
    assert!(project.run(&["prompt", "ghost", "x"]).stderr.contains("agent \"ghost\" not found"));
}

// W-4: what an agent says of itself shows on its open tasks.
#[test]
fn a_blocked_agent_blocks_its_task() {
    let project = working();
    project.run(&["agent", "add", "backend"]);
    assert_eq!(
        project.stdout(&["agent", "status", "backend", "blocked"]),
        "@backend  claude  [blocked]"
    );
    let woken = project.stdout(&["wake", "backend"]);
    assert!(woken.contains("Task 2: Add login endpoint (@backend, in spec review)"), "{woken}");
    let tree = project.stdout(&["task", "tree"]);
    let line = tree.lines().find(|line| line.contains("Task 2:")).unwrap();
    assert!(line.starts_with("└─ ✖ "), "{tree}");
    let unknown = project.run(&["agent", "status", "backend", "tired"]);
    assert_eq!(unknown.code, Some(2), "{unknown}");
}

// W-24: with `v0` an agent that remembers receives only the news; a compaction changes that.
#[test]
fn an_agent_that_remembers_gets_the_news() {
    let project = working()
        .file("../home/.config/convoke/config.toml", "[wake]\nmode = 'v0'\nagent = 'june'\n");
    let first = project.stdout(&["wake", "june"]);
    assert!(first.starts_with("# Orchestrator Wake-up Context"), "{first}");
    hear(&project, "sessionStart", "startup");
    hear(&project, "beforeSubmitPrompt", "the first");
    project.run(&["say", "And the docs? @june", "--as", "ana"]);
    assert_snapshot!(project.stdout(&["wake", "june"]), @r#"
    Phase: Task 2: Add login endpoint | Task 2/2: Spec review

    @ana: "And the docs? @june"
    "#);
    // A compaction that nothing has answered yet.
    hear(&project, "preCompact", "manual");
    assert!(compacted_at(&project).is_string());
    let again = project.stdout(&["wake", "june"]);
    assert!(again.starts_with("# Orchestrator Wake-up Context"), "{again}");
    let answer = hear(&project, "beforeSubmitPrompt", "");
    assert!(answer.contains("# Orchestrator Wake-up Context"), "{answer}");
    assert!(compacted_at(&project).is_null());
    assert_snapshot!(project.stdout(&["wake", "june"]), @"
    Phase: Task 2: Add login endpoint | Task 2/2: Spec review

    (none)
    ");
}

fn compacted_at(project: &Project) -> serde_json::Value {
    let june = project.stdout(&["agent", "show", "june", "--json"]);
    serde_json::from_str::<serde_json::Value>(&june).unwrap()["compacted_at"].clone()
}

/// Reports an event of june's session as Cursor does.
pub(crate) fn hear(project: &Project, event: &str, cause: &str) -> String {
    let input = serde_json::json!({
        "conversation_id": "c", "cwd": project.root().display().to_string(), "source": cause
    });
    project.run_with_input(&["hook", "cursor", event], input.to_string().as_bytes()).stdout
}
