//! `convoke attend`: messages wake agents, with a script as their client.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::harness::{Outcome, Project};
use crate::lane::{until, with_claude};

const CONVOKE: &str = env!("CARGO_BIN_EXE_convoke");

/// Agents `a` and `b`, whose client keeps its prompt, runs `does`, and prints an answer. The
/// session is the last of the client's arguments that begins so.
fn project(does: &str, a: &str, b: &str) -> Project {
    let project = with_claude(&script(does, a, b)).on_branch("main");
    for agent in ["a", "b"] {
        project.run(&["agent", "add", agent, "--session", &format!("s-{agent}")]);
    }
    project
}

fn script(does: &str, a: &str, b: &str) -> String {
    let line = |value: &Value| {
        value.to_string().replace("SESSION", "'$s'").replace("WORDS", "'\"$words\"'")
    };
    let init = json!({ "type": "system", "subtype": "init", "session_id": "SESSION", "uuid": "1",
        "model": "m", "tools": [] });
    let result = json!({ "type": "result", "subtype": "success", "is_error": false, "uuid": "2",
        "result": "WORDS", "session_id": "SESSION" });
    format!(
        "case \"$*\" in *s-a*) s=s-a; me=a; words={a:?};; *) s=s-b; me=b; words={b:?};; esac\n\
         echo \"$me\" >> ../woken; cat >> ../asked\n{does}\necho '{}'\necho '{}'",
        line(&init),
        line(&result)
    )
}

fn attend(project: &Project, more: &[&str]) -> Outcome {
    project.run(&[&["attend", "--once"], more].concat())
}

/// Returns the woken agents, in order.
fn woken(project: &Project) -> String {
    let names = fs::read_to_string(project.path("../woken")).unwrap_or_default();
    names.lines().collect::<Vec<_>>().concat()
}

/// Starts one in the background, and waits until it attends.
fn started(project: &Project) -> Child {
    let mut command = project.command(Path::new(CONVOKE), &["attend"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("attending to "), "{first}");
    child
}

// W-20, W-21: all waiting messages are one wake-up, and none is delivered twice.
#[test]
fn two_messages_are_one_wake_up() {
    let project = project("", "x", "All requirements met.");
    project.run(&["say", "@b first"]);
    project.run(&["say", "second", "--to", "b"]);
    project.run(&["say", "just talking"]);
    let attended = attend(&project, &[]);
    assert_eq!(
        (attended.code, attended.stdout.as_str()),
        (Some(0), "@b: All requirements met.\n"),
        "{attended}"
    );
    assert_eq!(woken(&project), "b");
    let asked = fs::read_to_string(project.path("../asked")).unwrap();
    assert!(asked.contains("@human: \"second\"") && asked.contains("\"@b first\""), "{asked}");
    assert_eq!(project.stdout(&["inbox", "b"]), "No new messages for @b.");
    // W-20: the orchestrator learns that an agent is done.
    assert!(project.stdout(&["inbox", "june"]).ends_with("@b: \"All requirements met.\""));
    attend(&project, &[]);
    assert_eq!(woken(&project), "b", "once");
}

// W-21: what did not fit stays unread, and does not wake the agent again and again.
#[test]
fn announced_messages_do_not_wake_an_agent_again() {
    let project = project("", "x", "Read them.");
    let story = "a long story ".repeat(400);
    for number in 1..=15 {
        project.run(&["say", &format!("{number}: {story}"), "--to", "b"]);
    }
    let attended = attend(&project, &[]);
    assert_eq!((attended.code, woken(&project).as_str()), (Some(0), "b"), "{attended}");
    let asked = fs::read_to_string(project.path("../asked")).unwrap();
    let left = project.stdout(&["inbox", "b"]).lines().count();
    assert!(left > 5 && asked.contains(&format!("({left} more unread to you: ")), "{asked}");
    assert!(asked.contains("15: a long story"), "the newest is what woke it");
    attend(&project, &[]);
    assert_eq!(woken(&project), "b", "it knows of them");
    project.run(&["say", "one more", "--to", "b"]);
    attend(&project, &[]);
    assert_eq!(woken(&project), "bb");
    let less = project.stdout(&["inbox", "b"]).lines().count();
    assert!(less < left, "and is given more of them with the next wake-up");
}

// A receipt says that a rule was handed over whole: one that a small budget left out has none.
#[test]
fn a_rule_that_was_left_out_has_no_receipt() {
    let project = project("", "x", "Read them.")
        .file("../home/.config/convoke/config.toml", "[wake]\nwake_budget = 300\n");
    for number in 0..12 {
        let rule = format!("Rule {number}: {}", "never do this ".repeat(8 + number));
        project.stdout(&["pin", "add", rule.trim()]);
    }
    project.stdout(&["say", "go on", "--to", "b"]);
    let receipts = || {
        let list: Value =
            serde_json::from_str(&project.stdout(&["pin", "list", "--json"])).unwrap();
        let pins = list.as_array().unwrap().iter();
        let with_one = pins.filter(|pin| pin["last_delivery"].is_object());
        with_one.map(|pin| pin["id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(receipts(), Vec::<i64>::new());
    assert_eq!(attend(&project, &[]).code, Some(0));
    let asked = fs::read_to_string(project.path("../asked")).unwrap();
    let is_shown = |number: &i64| asked.contains(&format!("\n- [rule {number}] Rule "));
    let shown: Vec<_> = (1..=12).filter(is_shown).collect();
    assert!((1..12).contains(&shown.len()) && asked.contains("not fit here"), "{asked}");
    assert_eq!(receipts(), shown);
    // A committed file cannot take the rules' room.
    let committed = project.file("convoke.toml", "[wake]\nwake_budget = 60\n");
    committed.stdout(&["say", "and on", "--to", "b"]);
    fs::write(committed.path("../asked"), "").unwrap();
    assert_eq!(attend(&committed, &[]).code, Some(0));
    let again = fs::read_to_string(committed.path("../asked")).unwrap();
    assert!(again.matches("\n- [rule ").count() >= shown.len(), "{again}");
}

// W-22: agents that wake each other stop, whether they answer or send messages.
#[test]
fn a_chain_of_wake_ups_ends() {
    let speaks = format!(
        "other=a; [ $me = a ] && other=b\n{CONVOKE} say --as $me \"@$other go on\" 2>> ../said"
    );
    for (does, a, b, remark) in
        [("", "over to @b", "back to @a", "stderr"), (speaks.as_str(), "done", "done", "said")]
    {
        let project = project(does, a, b);
        project.run(&["say", "@a begin"]);
        let attended = attend(&project, &["--json"]);
        assert_eq!(attended.code, Some(0), "{attended}");
        assert_eq!(woken(&project), "ababababa", "hops 0 to 8");
        let said = match remark {
            "said" => fs::read_to_string(project.path("../said")).unwrap(),
            _ => attended.stderr.clone(),
        };
        assert_eq!(said.matches("wake_loop").count(), 1, "{said}");
        let lines: Vec<Value> =
            attended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let loops: Vec<_> = lines.iter().map(|line| line["wake_loop"] == json!(true)).collect();
        assert_eq!(loops, [vec![false; 8], vec![true]].concat());
        assert_eq!(project.stdout(&["inbox", "b"]).lines().count(), 1, "it is kept");
        attend(&project, &[]);
        assert_eq!(woken(&project).len(), 9, "and wakes no agent later");
        // A person begins a new chain.
        project.run(&["say", "@b once more"]);
        attend(&project, &[]);
        assert_eq!(woken(&project).len(), 18);
    }
}

// W-22
#[test]
fn a_busy_agent_is_not_interrupted() {
    let project = project("", "x", "Done.");
    project.run(&["agent", "status", "b", "busy"]);
    project.run(&["say", "@b hurry"]);
    let attended = attend(&project, &[]);
    assert_eq!((attended.code, attended.stdout.as_str()), (Some(0), ""), "{attended}");
    assert_eq!(woken(&project), "");
    project.run(&["agent", "status", "b", "idle"]);
    assert_eq!(attend(&project, &[]).stdout, "@b: Done.\n");
}

// Only new messages lead to another attempt, so a broken client costs one.
#[test]
fn a_failing_agent_is_not_woken_for_ever() {
    let project = project("exit 1", "x", "y");
    project.run(&["say", "@b hello"]);
    let attended = attend(&project, &[]);
    assert_eq!((attended.code, attended.stdout.as_str()), (Some(4), ""), "{attended}");
    assert_eq!(woken(&project), "b");
    assert!(project.stdout(&["inbox", "b"]).contains("hello"), "it was not taken in");
    let told = project.stdout(&["inbox", "june"]);
    assert!(told.ends_with("@b: \"ended without an answer: ended early\""), "{told}");
    assert_eq!(project.stdout(&["agent", "show", "b"]), "@b  claude  [idle]  session s-b");
}

// One process at a time attends to a branch, and notices messages that arrive meanwhile.
#[test]
fn a_second_process_learns_which_one_attends() {
    let project = project("", "x", "Done.");
    let mut first = started(&project);
    let second = attend(&project, &[]);
    assert_eq!(
        second.stderr,
        format!(
            "error: cannot attend to project:main\ncause: process {} already does this\n\
             hint: stop it first\n",
            first.id()
        )
    );
    project.run(&["say", "@b hello"]);
    until(|| project.stdout(&["inbox", "june"]).contains("Done."));
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(attend(&project, &[]).code, Some(0));
    assert_eq!(woken(&project), "b");
}

// W-20: the orchestrator learns of an agent whose process died, and the next process goes on.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_wake_up_is_repeated() {
    let project = project("echo $$ > ../pid; sleep 300", "x", "y");
    project.run(&["say", "@b hello"]);
    let mut first = started(&project);
    let pid = || fs::read_to_string(project.path("../pid")).unwrap_or_default().trim().to_owned();
    until(|| !pid().is_empty());
    first.kill().unwrap();
    first.wait().unwrap();
    until(|| !Path::new("/proc").join(pid()).exists());
    assert!(project.stdout(&["agent", "show", "b"]).contains("[busy]"));
    let client = format!("#!/bin/sh\n{}\n", script("", "x", "Here I am."));
    fs::write(project.path("../home/bin/claude"), client).unwrap();
    let second = attend(&project, &[]);
    assert_eq!((second.code, second.stdout.as_str()), (Some(0), "@b: Here I am.\n"), "{second}");
    assert!(second.stderr.contains("@b: the process that woke it is gone\n"), "{second}");
    let told = project.stdout(&["inbox", "june"]);
    assert!(told.contains("@b: \"process died unexpectedly\""), "{told}");
    assert!(told.ends_with("@b: \"Here I am.\""), "{told}");
    assert_eq!(woken(&project), "bb");
}

// A stopped process releases its agents, and stores no message about a death.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_it_cleanly() {
    let project = project("echo $$ > ../pid; sleep 300", "x", "y");
    project.run(&["say", "@b hello"]);
    let mut first = started(&project);
    let pid = || fs::read_to_string(project.path("../pid")).unwrap_or_default().trim().to_owned();
    until(|| !pid().is_empty());
    let stop = project.command(Path::new("kill"), &["-INT", &first.id().to_string()]).status();
    assert!(stop.unwrap().success());
    assert_eq!(first.wait().unwrap().code(), Some(130));
    assert!(!Path::new("/proc").join(pid()).exists());
    assert_eq!(project.stdout(&["agent", "show", "b"]), "@b  claude  [idle]  session s-b");
    assert_eq!(project.stdout(&["inbox", "june"]), "No new messages for @june.");
    assert!(project.stdout(&["inbox", "b"]).contains("hello"));
}

/// The clients report their usage, too.
fn spending(project: Project) -> Project {
    let path = project.path("../home/bin/claude");
    let script = fs::read_to_string(&path).unwrap();
    let usage = r#""type":"result","usage":{"input_tokens":90,"output_tokens":10}"#;
    let told = script.replace(r#""type":"result""#, usage);
    assert_ne!(told, script);
    fs::write(path, told).unwrap();
    project
}

// When the budget of a call is spent, it wakes no further agent, and ends.
#[test]
fn attending_ends_when_its_budget_is_used_up() {
    let project = spending(project("", "yes", "yes"));
    project.run(&["say", "@a @b go"]);
    let more = ["--max-parallel", "1", "--budget", "90"];
    let ended = project.run(&[&["attend"], &more[..]].concat());
    assert_eq!(ended.code, Some(5), "{ended}");
    assert_eq!(woken(&project), "a");
    assert!(ended.stderr.contains("over budget after 0.0 s: the budget is spent"), "{ended}");
    assert!(ended.stderr.contains("@a: warning: over its budget: 100 of 90 tokens\n"), "{ended}");
    assert!(project.stdout(&["inbox", "b"]).contains("@a @b go"), "it still waits");
}

#[test]
fn a_prompt_is_under_a_budget_and_a_limit() {
    let project = spending(project("", "yes", "yes"));
    let prompt = |more: &[&str]| project.run(&[&["prompt", "a", "go"], more].concat());
    let named = ["--run", "r", "--budget", "90"];
    let over = prompt(&named);
    assert_eq!(over.code, Some(0));
    assert!(over.stderr.contains("warning: over its budget: 100 of 90 tokens\n"), "{over}");
    assert_eq!(prompt(&named).code, Some(5));
    let over: serde_json::Value =
        serde_json::from_str(&prompt(&["--budget", "90", "--json"]).stdout).unwrap();
    assert_eq!(
        (&over["outcome"], &over["over_budget"]["budget"]),
        (&"answered".into(), &90.into())
    );
    fs::write(project.path("../home/bin/claude"), "#!/bin/sh\nsleep 300\n").unwrap();
    assert_eq!(prompt(&["--limit", "0.5"]).code, Some(4));
}

// The rules that an answered wake-up began with have a receipt, of the agent's own session.
#[test]
fn rules_of_an_answered_wake_up_have_a_receipt() {
    let project = project("", "x", "Done.");
    project.stdout(&["pin", "add", "Never push to main"]);
    project.run(&["say", "@b go"]);
    assert_eq!(attend(&project, &[]).code, Some(0));
    let asked = fs::read_to_string(project.path("../asked")).unwrap();
    assert_eq!(asked.matches("Never push to main").count(), 1, "{asked}");
    let pins: Value = serde_json::from_str(&project.stdout(&["pin", "list", "--json"])).unwrap();
    let receipt = &pins[0]["last_delivery"];
    assert_eq!((&receipt["client"], &receipt["session"]), (&json!("claude"), &json!("s-b")));
}
