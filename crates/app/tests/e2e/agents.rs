//! `convoke agents`: which agents are installed, and which answer.

use std::fs;
use std::process;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::harness::{Outcome, Project, set_mode};
use crate::lane::{init, result, until, with_claude};
use crate::scripted_server::{Reply, Server};

/// A Claude Code that prints its version, counts its calls, and then answers.
fn answering(answer: &str) -> Project {
    let answer = result(|line| line["result"] = json!(answer));
    let script = format!(
        "[ \"$1\" = --version ] && echo '2.1 (Claude Code)' && exit 0\n\
         echo x >> \"$HOME/asked\"\n{}{answer}",
        init()
    );
    with_claude(&script).variable("CONVOKE_HEALTH_PAUSE_SECONDS", "0")
}

fn asked(project: &Project) -> usize {
    fs::read_to_string(project.path("../home/asked")).unwrap_or_default().lines().count()
}

fn agent(outcome: &Outcome, name: &str) -> Value {
    let all: Value = serde_json::from_str(&outcome.stdout).unwrap();
    all.as_array().unwrap().iter().find(|entry| entry["agent"] == name).unwrap().clone()
}

// P-68: being installed and answering are two results, and a probe costs tokens.
#[test]
fn agents_are_not_probed_without_need() {
    let project = answering("OK");
    let outcome = project.run(&["agents", "--json"]);
    let claude = agent(&outcome, "claude");
    assert_eq!(
        (outcome.code, &claude["health"], &claude["version"], &claude["read_only"]),
        (Some(0), &json!("not asked"), &json!("2.1 (Claude Code)"), &json!("no tools"))
    );
    assert_eq!(claude["path"], project.path("../home/bin/claude").display().to_string());
    assert_eq!(agent(&outcome, "codex")["health"], "missing");
    assert_eq!(asked(&project), 0);
    let without_clients = Project::new().variable("PATH", "/usr/bin:/bin").run(&["agents"]);
    assert_eq!(without_clients.code, Some(1), "{without_clients}");
    assert!(without_clients.stdout.starts_with("agent"), "{without_clients}");
}

// P-70: a positive result is cached, and not probed again soon.
#[test]
fn an_answer_is_remembered_for_a_while() {
    let project = answering(" oK ");
    for _ in 0..2 {
        let outcome = project.run(&["agents", "--probe", "--json"]);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome}");
        assert_eq!(agent(&outcome, "claude")["health"], "healthy");
        assert_eq!(asked(&project), 1);
    }
    assert_eq!(agent(&project.run(&["agents", "--json"]), "claude")["health"], "healthy");
    let only = project.run(&["agents", "--json", "--no-probe"]);
    assert_eq!(agent(&only, "claude")["health"], "not asked");
    let project = project.variable("CONVOKE_HEALTH_REMEMBER_MINUTES", "0");
    project.run(&["agents", "--probe"]);
    assert_eq!(asked(&project), 2);
}

// P-69: all probes are the same and run in parallel: each of these two waits for the other before
// it answers.
#[test]
fn all_agents_are_probed_in_parallel() {
    let answer = format!("{}{}", init(), result(|line| line["result"] = json!("OK")));
    let script = |meet: &str| {
        format!(
            "[ \"$1\" = --version ] && echo 1.0 && exit 0\n\
             {{ echo \"$@\"; cat; }} > \"$HOME/prompt\"\n{meet}\n{answer}"
        )
    };
    let project = with_claude(&script("echo here > \"$HOME/meeting\""))
        .file("../home/bin/qwen", format!("#!/bin/sh\n{}", script("read x < \"$HOME/meeting\"")));
    set_mode(&project.path("../home/bin/qwen"), 0o755);
    let meeting = project.path("../home/meeting").display().to_string();
    assert!(project.command("mkfifo".as_ref(), &[&meeting]).status().unwrap().success());
    let outcome = project.run(&["agents", "--probe", "--json"]);
    let healths = ["claude", "qwen"].map(|name| agent(&outcome, name)["health"].clone());
    assert_eq!(healths, ["healthy", "healthy"], "{outcome}");
    let prompt = fs::read_to_string(project.path("../home/prompt")).unwrap();
    assert!(prompt.contains("Respond with OK"), "{prompt}");
}

/// A Claude Code that counts its calls, and ends without a word.
fn broken(end: &str) -> Project {
    let script = format!(
        "[ \"$1\" = --version ] && echo '2.1 (Claude Code)' && exit 0\n\
         echo x >> \"$HOME/asked\"\n{end}"
    );
    with_claude(&script).variable("CONVOKE_HEALTH_PAUSE_SECONDS", "0")
}

// P-71, P-73: three attempts where the next one may help.
#[test]
fn an_agent_without_an_answer_is_probed_three_times() {
    let project = broken("exit 7");
    let outcome = project.run(&["agents", "--probe", "--json"]);
    let claude = agent(&outcome, "claude");
    let cause = "Probe attempt 3: the client exited with code 7";
    assert_eq!(
        (outcome.code, &claude["health"], &claude["error"], asked(&project)),
        (Some(1), &json!("not responding"), &json!(cause), 3)
    );
    // Its user may have mended it meanwhile.
    project.run(&["agents", "--probe"]);
    assert_eq!(asked(&project), 6);
}

// P-71, P-76: a wrong answer is an answer. A person reads what the agent said, and no box that
// promises a replacement.
#[test]
fn a_wrong_answer_is_probed_once_and_shown() {
    let project = answering("FAKE-ANSWER-OK");
    let outcome = project.run(&["agents", "--probe"]);
    assert_eq!((outcome.code, asked(&project)), (Some(1), 1), "{outcome}");
    let said = "claude did not pass the probe: it answered `FAKE-ANSWER-OK` instead of `OK`\n";
    assert!(outcome.stdout.contains(said), "{outcome}");
    assert!(outcome.stdout.contains("probe failed"), "{outcome}");
    for wrong in ["HEALTH CHECK", "not responding", "replacement"] {
        assert!(!outcome.to_string().contains(wrong), "{wrong}: {outcome}");
    }
    // The sentence comes from the cache, too.
    assert!(project.run(&["agents"]).stdout.contains(said));
}

#[test]
fn a_probe_can_be_limited_to_named_agents() {
    let project = answering("OK").file("../home/bin/qwen", "#!/bin/sh\necho x >> \"$HOME/qwen\"\n");
    set_mode(&project.path("../home/bin/qwen"), 0o755);
    let outcome = project.run(&["agents", "--probe", "claude", "--json"]);
    let all: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((outcome.code, all.as_array().unwrap().len()), (Some(0), 1), "{outcome}");
    assert_eq!(
        (agent(&outcome, "claude")["health"].clone(), asked(&project)),
        (json!("healthy"), 1)
    );
    assert!(!project.path("../home/qwen").exists(), "it was not started");
    for (named, words) in [
        (
            "http:nope",
            "cannot list `http:nope`: it is neither a client nor a configured agent or API",
        ),
        ("nope", "'nope'"),
    ] {
        let refused = project.run(&["agents", "--probe", named]);
        assert_eq!(refused.code, Some(2), "{refused}");
        assert!(refused.stderr.contains(words), "{refused}");
    }
}

// P-71: a failure that only a person can repair is not retried.
#[test]
fn a_client_that_is_not_logged_in_is_probed_once() {
    let refused = result(|answer| {
        answer["is_error"] = json!(true);
        answer["result"] = json!("Not logged in · Please run /login");
    });
    let script = format!(
        "[ \"$1\" = --version ] && echo '2.1 (Claude Code)' && exit 0\n\
         echo x >> \"$HOME/asked\"\n{}{refused}exit 1",
        init()
    );
    let project = with_claude(&script).variable("CONVOKE_HEALTH_PAUSE_SECONDS", "0");
    let outcome = project.run(&["agents", "--probe", "--json"]);
    let claude = agent(&outcome, "claude");
    let cause = "Probe attempt 1: Not logged in · Please run /login";
    assert_eq!((&claude["error"], asked(&project)), (&json!(cause), 1), "{outcome}");
    let doctor = project.run(&["doctor", "--probe"]);
    let said = "warn  answer: claude did not pass the probe: it is not logged in, or its key is \
                refused: Not logged in · Please run /login\n      fix: start claude by hand";
    // The doctor also tries the command without a prompt.
    assert!(doctor.stdout.contains(said) && asked(&project) == 3, "{doctor}");
    assert!(doctor.stdout.contains("fail  answers: no agent answered"), "{doctor}");
    assert_eq!(doctor.code, Some(3), "{doctor}");
}

/// Runs Convoke, and stops it at a given moment.
pub(crate) fn stopped(
    project: &Project,
    arguments: &[&str],
    is_time: impl Fn() -> bool,
) -> process::Output {
    let program = env!("CARGO_BIN_EXE_convoke").as_ref();
    let convoke = project.command(program, arguments).spawn().unwrap();
    until(is_time);
    kill_process(Pid::from_child(&convoke), Signal::INT).unwrap();
    convoke.wait_with_output().unwrap()
}

/// An interrupted probe does not make an agent unhealthy: not now, not to other programs, and not
/// later.
#[track_caller]
fn check_stopped(project: &Project, outcome: &process::Output) {
    let said = String::from_utf8_lossy(&outcome.stderr);
    assert_eq!(outcome.status.code(), Some(130), "{said}");
    assert!(!said.contains("HEALTH CHECK") && !said.contains("not responding"), "{said}");
    let kept = fs::read_to_string(project.path("../home/.cache/convoke/health.json"));
    assert!(!kept.unwrap_or_default().contains("healthy"));
    assert!(!project.path("health").exists());
}

#[test]
fn an_interrupted_probe_is_no_failure() {
    let script = |name: &str| {
        let version = "[ \"$1\" = --version ] && echo 1 && exit 0";
        format!("{version}\ntouch \"$HOME/{name}\"; sleep 300")
    };
    let claude = with_claude(&script("claude"));
    let arguments = ["agents", "--probe", "--write-health", "health"];
    let outcome = stopped(&claude, &arguments, || claude.path("../home/claude").exists());
    check_stopped(&claude, &outcome);
    assert!(outcome.stdout.is_empty() && outcome.stderr.is_empty());

    let text = format!("#!/bin/sh\n{}\n", script("codex"));
    let codex = Project::new().file("../home/bin/codex", text);
    set_mode(&codex.path("../home/bin/codex"), 0o755);
    let bin = codex.path("../home/bin").display().to_string();
    let codex = codex.variable("PATH", &format!("{bin}:/usr/bin:/bin"));
    let line = "plumbing session-setup --prefix x --skip-preflight --skip-repo-check \
                --check-reviewers --write-health health";
    let words: Vec<_> = line.split_whitespace().collect();
    let outcome = stopped(&codex, &words, || codex.path("../home/codex").exists());
    check_stopped(&codex, &outcome);
    assert!(!String::from_utf8_lossy(&outcome.stdout).contains("CODEX"));

    let server = Server::start(vec![Reply::Hangs(String::new())]);
    let api = with_apis(&server.url());
    let outcome = stopped(&api, &["agents", "--probe"], || !server.asked().is_empty());
    check_stopped(&api, &outcome);
    assert!(outcome.stdout.is_empty() && outcome.stderr.is_empty());
}

// P-75, P-77, P-79, P-80, P-81: the file of a run; an unhealthy agent in it stays so.
#[test]
fn a_health_file_is_kept() {
    let project = answering("OK").file("caller", "CLAUDE_HEALTHY=false\nCODEX_HEALTHY=true\n");
    let run = |more: &[&str]| {
        let outcome =
            project.run(&[&["agents", "--probe", "--write-health", "health"], more].concat());
        (outcome.stderr, fs::read_to_string(project.path("health")).unwrap())
    };
    let (said, file) = run(&["--caller-env", "caller"]);
    assert!(said.contains(
        "**⚠ Claude installed but not responding (health check failed). Using Claude replacement.**"
    ));
    assert!(said.contains(
        "**⚠ Codex not available (binary not found). Proceeding without Codex reviewer.**"
    ));
    assert!(file.starts_with("CLAUDE_HEALTHY=false\nCODEX_HEALTHY=false\n"), "{file}");
    assert_eq!(asked(&project), 0, "the caller knew");
    assert_eq!(run(&[]).1, file, "it answers again, but was given up");
    assert_eq!(asked(&project), 1);
    fs::remove_file(project.path("health")).unwrap();
    assert!(run(&[]).1.starts_with("CLAUDE_HEALTHY=true\n"));
    // P-82
    let none = project.run(&["agents", "--probe", "--write-health", "/dev/null"]);
    assert_eq!(none.code, Some(0), "{none}");
    assert!(fs::metadata("/dev/null").unwrap().len() == 0);
}

const KEY: &str = "sk-very-secret-0123456789";

/// A user with three APIs: one that works, one whose key is not there, and one that is wrong.
fn with_apis(url: &str) -> Project {
    let config = format!(
        "[lane.http.good]\napi = 'chat'\nurl = '{url}'\nmodel = 'm-1'\nkey_env = 'GOOD_KEY'\n\
         [lane.http.keyless]\napi = 'chat'\nurl = '{url}'\nmodel = 'm-2'\nkey_env = 'NO_KEY'\n\
         [lane.http.wrong]\napi = 'chat'\nurl = 'https://me:{KEY}@example.com'\nmodel = 'm-3'\n"
    );
    Project::new()
        .file("../home/.config/convoke/config.toml", config)
        .variable("PATH", "/usr/bin:/bin")
        .variable("GOOD_KEY", KEY)
        .variable("CONVOKE_HEALTH_PAUSE_SECONDS", "0")
}

fn says(words: &str) -> Reply {
    says_as(words, "m-1")
}

fn says_as(words: &str, model: &str) -> Reply {
    let events = [
        json!({ "model": model, "choices": [{ "delta": { "content": words } }] }),
        json!({ "model": model, "choices": [{ "delta": {}, "finish_reason": "stop" }] }),
    ];
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let events = events.map(|event| format!("data: {event}\n\n")).concat();
    Reply::Says(format!("{head}{events}data: [DONE]\n\n"))
}

// A model's API is an agent, too; the list shows whether its key is set, and never the key.
#[test]
fn apis_are_listed_with_model_and_key_state() {
    let server = Server::start(vec![says("OK")]);
    let project = with_apis(&server.url());
    let listed = project.run(&["agents", "--json", "--no-probe"]);
    assert_eq!(listed.code, Some(0), "an agent can work: {listed}");
    let known = |name: &str, key: &str| agent(&listed, name)[key].clone();
    assert_eq!(known("http:good", "path"), json!(server.url()));
    let keys =
        ["good", "keyless", "wrong"].map(|endpoint| known(&format!("http:{endpoint}"), "key"));
    assert_eq!(keys, ["present", "missing", "none"]);
    let healths =
        ["good", "keyless", "wrong"].map(|endpoint| known(&format!("http:{endpoint}"), "health"));
    assert_eq!(healths, ["not asked", "not usable", "not usable"]);
    assert_eq!((known("http:good", "model"), known("claude", "key")), (json!("m-1"), Value::Null));
    let why = known("http:keyless", "error");
    assert!(why.as_str().unwrap().ends_with("`NO_KEY` is not set"), "{why}");
    // Probed once, and cached; the server has one answer only.
    for _ in 0..2 {
        let probed = project.run(&["agents", "--json", "--probe"]);
        assert_eq!(agent(&probed, "http:good")["health"], "healthy", "{probed}");
    }
    let table = project.run(&["agents"]);
    let line = format!("{} (key: present)", server.url());
    assert!(table.stdout.contains(&line), "{table}");
    for outcome in [&listed, &table] {
        assert!(!outcome.to_string().contains("very-secret"), "{outcome}");
    }
}

#[test]
fn an_api_without_an_answer_is_reported() {
    let server = Server::start(vec![says("No")]);
    let project = with_apis(&server.url());
    let probed = project.run(&["agents", "--json", "--probe"]);
    let good = agent(&probed, "http:good");
    assert_eq!((probed.code, &good["health"]), (Some(1), &json!("not responding")), "{probed}");
    assert_eq!(good["error"], "Probe attempt 1 returned non-OK response: No");
    // One that answers for another model has answered.
    let server = Server::start(vec![says_as("OK", "m-9")]);
    let probed = with_apis(&server.url()).run(&["agents", "--json", "--probe"]);
    let words = "Probe attempt 1: Convoke asked for m-1, but m-9 answered";
    assert_eq!(agent(&probed, "http:good")["error"], words, "{probed}");
}
