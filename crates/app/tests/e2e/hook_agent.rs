//! Whose wake-up a hook delivers where a variable or a file names no usable agent.

use crate::harness::Project;
use crate::hook::{context, hook};

/// A project that is bound to `me`, with a plan and a rule.
fn project() -> Project {
    let plan = "# P\n\n### Task 1: Model\nx\n\n### Task 2: Form\ny\n";
    let project = Project::new().in_repository("main").file("plan.md", plan);
    project.stdout(&["hooks", "install", "claude", "--entries", "1"]);
    project.stdout(&["task", "import", "plan.md"]);
    project.stdout(&["pin", "add", "Never push to main"]);
    project.stdout(&["say", "for you @human", "--as", "bob"]);
    project
}

fn start(project: &Project, session: &str, cause: &str) -> String {
    let outcome = hook(project, "claude", "SessionStart", session, cause, ["1", "1"]);
    context(&outcome, "SessionStart").unwrap_or_default()
}

/// Checks that a text is the whole wake-up of the agent that leads.
#[track_caller]
fn check_leads(told: &str) {
    for part in ["\n- [rule 1] Never push to main\n", "You are @me, the orchestrator", "Task 1"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(told.contains("## New Message\n(none)\n"), "the person's message is not new: {told}");
}

// W-14: a mistake in `CONVOKE_AGENT` takes neither rules nor plan from a session.
#[test]
fn an_unusable_variable_leaves_a_session_its_agent() {
    let mut project = project();
    let line = "> Convoke ignores unusable settings of `CONVOKE_AGENT`; run `convoke doctor`";
    for (value, why) in [
        ("bad name!", "CONVOKE_AGENT holds \"bad name!\", which is no agent's name"),
        ("me;\u{1b}[1m", "CONVOKE_AGENT holds \"me;\\u{1b}[1m\", which is no agent's name"),
        (" ", "CONVOKE_AGENT holds \" \", which is no agent's name"),
        ("human", "CONVOKE_AGENT is `human`, which means you and is no agent"),
        (" @Human\n", "CONVOKE_AGENT is `human`, which means you and is no agent"),
    ] {
        project = project.variable("CONVOKE_AGENT", value);
        for cause in ["startup", "compact"] {
            let told = start(&project, value, cause);
            check_leads(&told);
            assert!(told.contains(line), "{value}: {told}");
        }
        let here = project.run(&["hooks", "status", "claude"]);
        assert!(here.stdout.contains("agent: @me (convoke.local.toml)"), "{here}");
        assert!(here.stdout.contains("unusable settings of `CONVOKE_AGENT`"), "{here}");
        let doctor = project.run(&["doctor", "--no-probe"]).stdout;
        assert!(doctor.contains("delivered without settings of CONVOKE_AGENT"), "{doctor}");
        let woken = project.run(&["wake"]);
        assert!(woken.code == Some(0) && woken.stdout.contains("You are @me"), "{woken}");
        assert!(woken.stderr.contains(&format!("{why}; this is what @me gets")), "{woken}");
        assert_eq!(project.run(&["task", "start"]).code, Some(2), "no deed is guessed");
        // A terminal without the variable tells what the client's hook met.
        project = project.variable("CONVOKE_AGENT", "");
        let status = project.run(&["hooks", "status", "claude"]).stdout;
        let failed = format!("the hook of SessionStart took @me instead: {why}\n");
        assert!(status.contains("failed: at ") && status.contains(&failed), "{status}");
        let doctor = project.run(&["doctor", "--no-probe"]).stdout;
        let warned = doctor.lines().find(|line| line.contains("wake-ups")).unwrap();
        assert!(warned.contains("warn") && doctor.contains(why), "{doctor}");
    }
    start(&project, "well", "startup");
    let doctor = project.run(&["doctor", "--no-probe"]).stdout;
    assert!(doctor.contains("a session that begins now receives one"), "{doctor}");
}

// A hook tells an agent that has nothing else to remember how it gets a task: once after each loss of
// memory.
#[test]
fn a_hook_tells_an_agent_without_a_task_how_to_get_one() {
    let project = Project::new().in_repository("main");
    project.stdout(&["hooks", "install", "claude", "--as", "june", "--entries", "1"]);
    let project = project.variable("CONVOKE_AGENT", "bob");
    assert_eq!(start(&project, "early", "startup"), "", "there is no task");
    let task = project.stdout(&["task", "add", "Write the parser", "--as", "ana"]);
    let line = "[convoke] You are @bob. No task is assigned to you. `convoke task next --as bob` \
                shows the next one that you may start; `convoke task start --as bob` starts it.\n";
    for cause in ["startup", "compact", "clear"] {
        let told = start(&project, "s", cause);
        assert_eq!(told.lines().nth(1).map(|told| format!("{told}\n")).as_deref(), Some(line));
        assert_eq!(told.lines().count(), 3, "beside the marks: {told}");
        let prompt = hook(&project, "claude", "UserPromptSubmit", "s", "", ["1", "1"]);
        assert_eq!(context(&prompt, "UserPromptSubmit"), None, "{cause}: it is not repeated");
    }
    let status = project.run(&["hooks", "status", "claude"]);
    assert!(!status.stdout.contains("not delivered"), "{status}");
    // A remark comes after it.
    let odd = project.file("convoke.local.toml", "[wake]\nagent = 'june'\nclock = 5\n");
    let told = start(&odd, "odd", "startup");
    assert!(told.contains(line) && told.contains("unusable settings"), "{told}");
    // One that has a task gets a wake-up, and a lane nothing.
    odd.stdout(&["task", "start", &task]);
    let told = start(&odd, "held", "startup");
    assert!(told.contains("## Your Current Task\n") && !told.contains("No task is"), "{told}");
    odd.stdout(&["task", "skip", &task]);
    odd.stdout(&["task", "add", "Another one"]);
    assert!(start(&odd, "idle", "startup").contains(line));
    let own_lane = odd.variable("CONVOKE_LANE", "1");
    assert_eq!(start(&own_lane, "own_lane", "startup"), "");
}

#[test]
fn blanks_around_the_variables_name_do_not_count() {
    let mut project = project();
    for (number, value) in ["me ", " me", "\tme\r\n", "@me "].into_iter().enumerate() {
        project = project.variable("CONVOKE_AGENT", value);
        let told = start(&project, &number.to_string(), "startup");
        check_leads(&told);
        assert!(!told.contains("unusable"), "{value:?}: {told}");
        let status = project.run(&["hooks", "status", "claude"]).stdout;
        assert!(status.contains("agent: @me (CONVOKE_AGENT)"), "{value:?}: {status}");
        assert!(!status.contains("failed:"), "{value:?}: {status}");
        assert!(project.stdout(&["wake"]).contains("You are @me"), "{value:?}");
        project.stdout(&["say", "x"]);
    }
}

// A project without an agent: the rules arrive, and `wake` names the variable.
#[test]
fn an_unusable_variable_is_named_where_no_agent_is_set() {
    let project = project().variable("CONVOKE_AGENT", "bad name!");
    std::fs::remove_file(project.path("convoke.local.toml")).unwrap();
    let told = start(&project, "s", "startup");
    assert!(told.contains("Never push to main") && told.contains("`CONVOKE_AGENT`"), "{told}");
    let woken = project.run(&["wake"]);
    assert_eq!(woken.code, Some(1), "{woken}");
    assert!(woken.stderr.contains("CONVOKE_AGENT holds \"bad name!\""), "{woken}");
}

// W-6: a mistake in the line that binds the agent does not take the plan from it.
#[test]
fn the_agent_leads_although_a_mistake_hides_its_name() {
    let project = project();
    start(&project, "before", "startup");
    let carol = ["agent", "use", "carol", "--session", "before"];
    project.stdout(&carol);
    let line = "> Convoke ignores unusable settings of `convoke.local.toml`";
    for (number, text) in ["[wake]\nagent = \"me\n", "[wake\nagent = 'me'\n", "wake.agent = 'a b'"]
        .into_iter()
        .enumerate()
    {
        let project = &project;
        std::fs::write(project.path("convoke.local.toml"), text).unwrap();
        let told = start(project, &number.to_string(), "startup");
        check_leads(&told);
        assert!(told.contains(line), "{text}: {told}");
        // Also at the next loss, when the session is bound.
        check_leads(&start(project, &number.to_string(), "compact"));
    }
    // Another agent's session stays one that works.
    let told = start(&project, "before", "compact");
    assert!(told.contains("--as carol") && !told.contains("the orchestrator"), "{told}");
    let local = "[wake]\norchestrator = 'kim'\nagent = \"me\n";
    let project = project.file("convoke.local.toml", local);
    let told = start(&project, "kim", "startup");
    assert!(!told.contains("the orchestrator for"), "kim leads: {told}");
}
