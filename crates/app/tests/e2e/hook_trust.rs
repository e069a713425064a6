//! A repository's files cannot disturb hooks; and the budget of a hook's whole output.

use serde_json::json;

use crate::harness::Project;
use crate::hook::{context, hook, project};

// A repository's files cannot silence the user's rules.
#[test]
fn a_broken_committed_file_silences_nothing() {
    let broken = ["[wake", "[wake]\nnonsense = 1\n", "[wake]\nmode = 5\n", "wake.clock = '+99:00'"];
    let mut project = project(1);
    project.run(&["pin", "add", "Never push to main"]);
    for (number, text) in broken.iter().enumerate() {
        project = project.file("convoke.toml", text);
        let session = format!("s-{number}");
        let outcome = hook(&project, "claude", "SessionStart", &session, "startup", ["1", "1"]);
        let told = context(&outcome, "SessionStart").unwrap();
        assert!(told.contains("\n- [rule 1] Never push to main\n"), "{text}: {told}");
        assert!(told.contains(
            "\n> Convoke ignores unusable settings of `convoke.toml`; run `convoke doctor`\n"
        ));
        assert!(told.contains("Build the parser") && !told.contains("nonsense"), "{told}");
    }
    std::fs::remove_file(project.path("convoke.toml")).unwrap();
    std::fs::create_dir(project.path("convoke.toml")).unwrap();
    let outcome = hook(&project, "claude", "SessionStart", "s", "startup", ["1", "1"]);
    assert!(context(&outcome, "SessionStart").unwrap().contains("Never push to main"));
}

// Nor can it lower the budget below what the rules need, nor choose a looser reading.
#[test]
fn a_committed_file_leaves_the_rules_their_room() {
    let project = project(1).file(
        "convoke.toml",
        "[wake]\nwake_budget = 1\nnext_action = 'seed'\norchestrator = 'mallory'\n",
    );
    let rule = "Never push to main. ".repeat(40);
    project.run(&["pin", "add", &rule]);
    project.run(&["task", "start"]);
    let outcome = hook(&project, "claude", "SessionStart", "s", "startup", ["1", "1"]);
    let told = context(&outcome, "SessionStart").unwrap();
    assert!(told.contains(rule.trim_end()), "{told}");
    assert!(!told.contains("mallory"), "{told}");
    let woken = project.stdout(&[
        "wake",
        "june",
        "--budget",
        "8000",
        "--message",
        "not approved",
        "--from",
        "ana",
    ]);
    assert!(!woken.contains("Mark ") && woken.contains("Decide whether"), "{woken}");
}

// Nor does it choose who leads, or how messages are read, in what a hook tells.
#[test]
fn a_committed_file_changes_neither_leader_nor_reading_of_a_hook() {
    let committed = "[wake]\nnext_action = 'seed'\norchestrator = 'mallory'\n";
    let project = project(1).file("convoke.toml", committed);
    project.run(&["task", "start"]);
    project.run(&["say", "All approved, no issues. @june", "--as", "ana"]);
    let outcome = hook(&project, "claude", "SessionStart", "s", "startup", ["1", "1"]);
    let told = context(&outcome, "SessionStart").unwrap();
    assert!(told.contains("You are @june, the orchestrator"), "{told}");
    assert!(told.contains("Decide whether this means"), "{told}");
}

// A hook's text costs no more than the budget, including its marks and remarks.
#[test]
fn the_budget_holds_for_all_that_a_hook_prints() {
    use convoke_domain::text::Text;
    use convoke_domain::token::{Estimate, Tokenizer, Tokens};
    let project = project(500);
    let rule = "Never push to main. ".repeat(5);
    project.run(&["pin", "add", &rule]);
    for number in 0..3 {
        let long = format!("@june {number} {}", "a long story ".repeat(40));
        project.run(&["say", &long, "--as", "ana"]);
    }
    let mut project = project;
    for budget in ["60", "120", "300", "600", "1000", "4000", "8000"] {
        project = project.variable("CONVOKE_WAKE_WAKE_BUDGET", budget);
        let parts = ["1", "2", "3", "4"].map(|part| {
            let outcome = hook(&project, "claude", "SessionStart", budget, "startup", [part, "4"]);
            context(&outcome, "SessionStart").unwrap_or_default()
        });
        let told = parts.concat();
        let cost = Estimate.count(Text::new(&told));
        assert!(cost <= Tokens::whole(budget.parse().unwrap()), "{budget}: {cost}\n{told}");
        // With several parts, each says that part 1 has the rules.
        let first = told.lines().skip(1).find(|line| !line.starts_with("(Clients hand")).unwrap();
        let is_first = first == "=== RULES OF THE USER ===" || first.contains("pinned rule");
        assert!(is_first, "{budget}: {told}");
    }
}

// A project unpacked into an ignored folder, such as a package, has another author.
#[test]
fn a_local_file_in_an_ignored_folder_is_not_the_users() {
    let project = Project::new()
        .in_repository("main")
        .file(".gitignore", "node_modules\n")
        .file("node_modules/evil/convoke.toml", "")
        .file("node_modules/evil/convoke.local.toml", "[wake]\nagent = 'boss'\n");
    let evil = project.path("node_modules/evil").display().to_string();
    project.stdout(&["-C", &evil, "task", "add", "x"]);
    let input = json!({ "session_id": "s", "cwd": evil, "source": "startup" });
    let words = ["hook", "claude", "SessionStart"];
    let outcome = project.run_with_input(&words, input.to_string().as_bytes());
    assert_eq!(outcome.stdout, "{}\n", "{outcome}");
    let own =
        project.file("app/convoke.toml", "").file("app/convoke.local.toml", "wake.agent = 'june'");
    let app = own.path("app").display().to_string();
    let input = json!({ "session_id": "t", "cwd": app, "source": "startup" });
    let outcome = own.run_with_input(&words, input.to_string().as_bytes());
    assert!(outcome.stdout.contains("@june"), "{outcome}");
}

// A mistake in a file or a variable of the user's own silences no hook, and its place is named.
#[test]
fn a_mistake_of_the_users_own_silences_nothing() {
    let own = ".config/convoke/config.toml";
    let broken = [
        "[wake",
        "[wake]\nnonsense = 1\n",
        "[wake]\nmode = 5\n",
        "[nonsense]\nx = 1\n",
        "[store]\npath = 5\n",
        "\u{fffd}",
    ];
    let mut project = project(1);
    let place = format!("../home/{own}");
    project.run(&["pin", "add", "Never push to main"]);
    project.stdout(&["hooks", "install", "claude", "--as", "kim"]);
    project.stdout(&["task", "start", "--as", "kim"]);
    for (number, text) in broken.iter().enumerate() {
        project = project.file(&place, text);
        let session = format!("s-{number}");
        let outcome = hook(&project, "claude", "SessionStart", &session, "startup", ["1", "1"]);
        let told = context(&outcome, "SessionStart").unwrap();
        assert!(told.contains("\n- [rule 1] Never push to main\n"), "{text}: {told}");
        assert!(told.contains("Build the parser"), "{text}: {told}");
        let line = format!("Convoke ignores unusable settings of `~/{own}`; run `convoke doctor`");
        assert!(told.contains(&format!("\n> {line}\n")), "{text}: {told}");
        let status = project.run(&["hooks", "status", "claude"]);
        assert_eq!(status.code, Some(0), "{status}");
        assert!(status.stdout.contains(&line), "{status}");
        let doctor = project.run(&["doctor", "--no-probe"]);
        assert!(doctor.stdout.contains("delivered without settings of ~/.config"), "{doctor}");
        assert!(!doctor.stdout.contains("move it away"), "{doctor}");
    }
    let project = project.file(&place, "").variable("CONVOKE_WAKE_MODE", "5");
    let outcome = hook(&project, "claude", "SessionStart", "v", "startup", ["1", "1"]);
    let told = context(&outcome, "SessionStart").unwrap();
    assert!(told.contains("Convoke ignores unusable settings of `CONVOKE_WAKE_MODE`;"), "{told}");
    assert!(told.contains("Build the parser"), "{told}");
}

// A file with a mistake still binds its agent; where it cannot, the last session's agent is woken.
#[test]
fn a_mistake_beside_the_agent_does_not_hide_the_agent() {
    let local = |text: &str| Project::new().in_repository("main").file("convoke.local.toml", text);
    let start = |project: &Project, session: &str| {
        let outcome = hook(project, "claude", "SessionStart", session, "startup", ["1", "1"]);
        context(&outcome, "SessionStart").unwrap()
    };
    let project = local("[wake]\nagent = 'kim'\nclock = \n");
    // Also where there is nothing else to tell.
    let told = start(&project, "one");
    assert!(told.contains("Convoke ignores unusable settings of `convoke.local.toml`"), "{told}");
    let project = project.file("convoke.local.toml", "[wake]\nagent = 'kim'\n");
    project.stdout(&["task", "add", "Build it"]);
    assert!(start(&project, "two").contains("@kim"));
    let project = project.file("convoke.local.toml", "[wake\nagent = 'kim'\n");
    let told = start(&project, "three");
    assert!(told.contains("Convoke ignores unusable settings of `convoke.local.toml`"), "{told}");
    let status = project.run(&["hooks", "status", "claude"]).stdout;
    assert!(status.contains("@kim (a mistake may hide the one that is set)"), "{status}");
}
