//! `--log` and `CONVOKE_LOG`: a log for people who look for a fault, off by default.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::design_decide::{divided, with_decisions};
use crate::dispatch::APPROVED;
use crate::dispatch_rounds::repository;
use crate::dispatch_run;
use crate::harness::{Outcome, Project};
use crate::lane::{init, result, with_claude};
use crate::panel::{FEATURE, Panel, answers};
use crate::scripted_server::{Reply, Server};

const PROMPT: &str = "What is the zebra question?";
const KEY: &str = "sk-very-secret-0123456789";

/// A project whose Claude Code answers.
fn project() -> Project {
    with_claude(&format!("cat > asked; {}{}", init(), result(|_| ())))
}

fn ask(project: &Project, more: &[&str]) -> Outcome {
    let words = ["lane", "run", "--agent", "claude", "--label", "seat one", "--run", "r-7", PROMPT];
    project.run(&[&words, more].concat())
}

/// Returns the lines that are of the log: each begins with the time.
fn logged(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("20") && line.contains("Z ")).collect()
}

fn line<'a>(log: &'a [&str], part: &str) -> &'a str {
    let found = log.iter().find(|line| line.contains(part));
    found.ok_or_else(|| format!("no {part}: {log:#?}")).unwrap()
}

#[test]
fn a_log_goes_to_stderr_with_lane_client_and_run_and_leaves_stdout_alone() {
    let silent = ask(&project(), &[]);
    assert!(logged(&silent.stderr).is_empty(), "{silent}");
    let project = project().variable("CONVOKE_LOG", "debug");
    let loud = ask(&project, &[]);
    assert_eq!((loud.code, &loud.stdout), (silent.code, &silent.stdout), "{loud}");
    let log = logged(&loud.stderr);
    let fields = "lane{client=claude run=r-7 seat=\"seat one\" lane=1}";
    for part in
        ["the lane begins", "chose the client's adapter", "started the client", "the lane ended"]
    {
        assert!(line(&log, part).contains(fields), "{log:#?}");
    }
    assert!(line(&log, "the client ended").contains("DEBUG engine::lane::supervisor: "));
    assert!(line(&log, "opened the store").contains(" branch=main"), "{log:#?}");
    assert!(line(&log, " section=lane ").contains("resolved the settings"), "{log:#?}");
    assert!(line(&log, "the lane ended").contains(" outcome=answered "), "{log:#?}");
    // Data for other programs stays the same, byte for byte.
    let list = ["lane", "list", "--json"];
    let quiet = project.run(&[&list[..], &["--log", "off"]].concat());
    let loud = project.run(&[&list[..], &["--log", "trace"]].concat());
    assert_eq!(quiet.stdout, loud.stdout);
    assert!(logged(&quiet.stderr).is_empty() && !logged(&loud.stderr).is_empty(), "{loud}");
}

// Every lane of a design needs the store, and so does every line of `status`.
#[test]
fn a_command_opens_the_store_once() {
    let project = repository();
    for command in [
        &["design", "--rehearse"][..],
        &["status"],
        &["show"],
        &["hooks", "status"],
        &["init", "--yes"],
    ] {
        let outcome = project.run(&[command, &["--log", "service::call_store=debug"]].concat());
        let log = logged(&outcome.stderr);
        let opened = log.iter().filter(|line| line.contains("opened a connection")).count();
        assert_eq!(opened, 1, "{command:?} {outcome}");
    }
    let asked = ask(&self::project(), &["--log", "service::call_store=debug"]);
    assert_eq!(logged(&asked.stderr).len(), 1, "{asked}");
}

/// What a test counts: connections to the store, and journals of designs that were opened.
const OPENINGS: &str = "service::call_store=debug,engine::design::journal=debug";

/// Returns how often a command connected to the store, and opened a run's journal.
fn openings(outcome: &Outcome, run: &str) -> (usize, usize) {
    let log = logged(&outcome.stderr);
    let count = |words: &[&str]| {
        log.iter().filter(|line| words.iter().all(|word| line.contains(word))).count()
    };
    (count(&["opened a connection"]), count(&["opened a journal", run]))
}

// A journal has every answer of its run, and every opening reads and decodes all of it.
#[test]
fn a_design_opens_the_store_and_its_journal_once() {
    let panel = divided();
    let mut without_a_plan = answers();
    without_a_plan.retain(|label, _| !label.starts_with("chair/plan"));
    panel.recorded("claude", &without_a_plan);
    let stopped = panel.design(&["--log", OPENINGS]);
    assert_eq!(stopped.code, Some(4), "{stopped}");
    let (run, _) = panel.run();
    assert_eq!(openings(&stopped, &run), (1, 1), "{stopped}");
    panel.recorded("claude", &with_decisions());
    let resumed = panel.project.run(&["resume", &run, "--log", OPENINGS]);
    assert_eq!(resumed.code, Some(0), "{resumed}");
    assert_eq!(openings(&resumed, &run), (1, 1), "{resumed}");
    let words = ["decide", &run, "FINDING_2", "accept", "--because", "It is cheap."];
    let decided = panel.project.run(&[&words[..], &["--log", OPENINGS]].concat());
    assert_eq!(decided.code, Some(0), "{decided}");
    assert_eq!(openings(&decided, &run), (1, 1), "{decided}");
}

#[test]
fn a_round_of_a_dispatch_opens_the_store_once() {
    let project = dispatch_run::with_claude(repository());
    let answer = dispatch_run::stream(&project, "spec.md", APPROVED);
    let project = project.file("../stream", answer);
    let round = dispatch_run::run(&project, &["--log", OPENINGS]);
    assert_eq!(openings(&round, "").0, 1, "{round}");
}

// Prompts and answers are in no log, and a key least of all.
#[test]
fn a_log_holds_no_prompt_no_answer_and_no_key() {
    for level in ["debug", "trace"] {
        let outcome = ask(&project(), &["--log", level]);
        let log = logged(&outcome.stderr).join("\n");
        assert!(log.contains(" prompt_bytes=27"), "{log}");
        assert!(!log.contains("zebra") && !log.contains("The answer is"), "{log}");
        let event = json!({ "model": "m-1", "choices": [{ "delta": { "content": "It is 42." },
            "finish_reason": "stop" }] });
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
            connection: close\r\n\r\n";
        let server = Server::start(vec![Reply::Says(format!("{head}data: {event}\n\n"))]);
        let config = format!(
            "[lane.http.it]\napi = 'chat'\nurl = '{}'\nmodel = 'm-1'\nkey_env = 'IT_KEY'\n",
            server.url()
        );
        let project = Project::new()
            .file("../home/.config/convoke/config.toml", config)
            .variable("IT_KEY", KEY);
        let words = ["lane", "run", "--agent", "http:it", PROMPT, "--log", level];
        let outcome = project.run(&words);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "It is 42.\n"), "{outcome}");
        assert!(outcome.stderr.contains("the model's API responds status=200"), "{outcome}");
        assert!(line(&logged(&outcome.stderr), "sending").contains("client=http:it"), "{outcome}");
        for secret in ["zebra", "It is 42", KEY] {
            assert!(!outcome.stderr.contains(secret), "{secret}: {outcome}");
        }
    }
}

// What a client prints on stderr may hold a key. The report shows its end; the log, which people pass on,
// shows none of it at any level.
#[test]
fn a_log_holds_nothing_that_a_client_prints_on_stderr() {
    for level in ["warn", "trace"] {
        let project = with_claude(&format!("cat > asked; echo 'bad key {KEY}' >&2; exit 3"))
            .variable("CONVOKE_LOG_FILE", "convoke.log");
        let outcome = ask(&project, &["--log", level, "--json"]);
        assert!(outcome.stdout.contains(KEY), "the report shows it: {outcome}");
        let log = fs::read_to_string(project.path("convoke.log")).unwrap();
        assert!(!log.contains(KEY), "{level}: {log}");
        assert_eq!(log.contains("the client ended"), level == "trace", "{log}");
    }
}

// A lane that cannot begin is an error, and errors are in the log.
#[test]
fn a_log_at_warn_names_a_lane_that_failed_and_no_words_of_its_client() {
    let project = with_claude("true").variable("CONVOKE_LOG_FILE", "convoke.log");
    let words = ["lane", "run", "--agent", "replay:missing.jsonl", "--log", "warn", KEY];
    let outcome = project.run(&words);
    assert_ne!(outcome.code, Some(0), "{outcome}");
    let log = fs::read_to_string(project.path("convoke.log")).unwrap();
    assert!(log.contains("the lane failed class="), "{log}");
    assert!(!log.contains(KEY), "the prompt is not in it: {log}");
}

#[test]
fn a_lane_of_a_fan_out_is_logged_inside_of_its_run() {
    let server = crate::fan_server::FanServer::start(|_| Some("yes".to_owned()));
    let project = crate::fan::project(&server)
        .file("items.txt", "a\n")
        .variable("CONVOKE_LOG_FILE", "convoke.log");
    let outcome = crate::fan::fan(&project, &["--lines", "items.txt"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let log = fs::read_to_string(project.path("convoke.log")).unwrap();
    let run = crate::fan::run_of(&project);
    assert!(log.contains(&format!("fan{{run={run}}}:lane{{client=http:it ")), "{log}");
}

#[test]
fn a_wrong_filter_is_wrong_usage_and_says_what_would_be_right() {
    let outcome = ask(&project(), &["--log", "debgu"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome}");
    let expected = "error: cannot read the log filter `debgu` of --log: `debgu` is not a level\n\
        hint: did you mean `debug`?\n\
        hint: levels are off, error, warn, info, debug, trace; an example: \
        `info,engine::lane=debug`\n";
    assert_eq!(outcome.stderr, expected);
    let project = project().variable("CONVOKE_LOG", "info,motor=debug");
    let outcome = ask(&project, &[]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("of CONVOKE_LOG: `motor` is not an area\n"), "{outcome}");
    assert!(outcome.stderr.contains("hint: areas are engine, service; "), "{outcome}");
    assert!(!project.path("asked").exists(), "no client was started");
    // A flag overrides the variable.
    assert_eq!(ask(&project, &["--log", "off"]).code, Some(0));
}

#[test]
fn a_filter_can_name_areas() {
    let outcome = ask(&project(), &["--log", "engine::lane=debug"]);
    let log = logged(&outcome.stderr);
    assert!(!log.is_empty() && log.iter().all(|line| line.contains(" engine::lane::")), "{log:#?}");
}

#[test]
fn a_log_file_is_added_to_and_is_only_for_its_user() {
    let project = project().variable("CONVOKE_LOG_FILE", "convoke.log");
    for count in 1..=2 {
        let outcome = ask(&project, &["--no-tree-check"]);
        assert_eq!(outcome.code, Some(0), "{outcome}");
        assert!(logged(&outcome.stderr).is_empty(), "{outcome}");
        let text = fs::read_to_string(project.path("convoke.log")).unwrap();
        let begun = text.lines().filter(|line| line.ends_with("prompt_bytes=27")).count();
        assert_eq!(begun, count, "{text}");
        assert!(!text.contains("DEBUG"), "a file alone is at level info: {text}");
    }
    let mode = fs::metadata(project.path("convoke.log")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

// Stdout is data, by every name that it has.
#[test]
fn no_log_goes_to_stdout() {
    let project = project();
    for (file, why) in [("/dev/stdout", "regular file"), (".", "regular file"), ("no/x", "folder")]
    {
        let outcome = ask(&project, &["--log", "debug", "--log-file", file]);
        assert_eq!(outcome.stdout, "", "{outcome}");
        assert!(outcome.stderr.starts_with(&format!("error: cannot log to `{file}`")), "{outcome}");
        assert!(outcome.stderr.contains(why) && outcome.stderr.contains("hint: "), "{outcome}");
    }
    let convoke = env!("CARGO_BIN_EXE_convoke");
    let line = format!("'{convoke}' --log debug --log-file /dev/stdout task list > out");
    let outcome = project.shell(&line, "");
    assert_eq!(outcome.code, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("stdout goes there, and is for data\n"), "{outcome}");
    assert_eq!(fs::read_to_string(project.path("out")).unwrap(), "");
}

// A client can show its agent what a hook prints, and takes an error for a reason to stop.
#[test]
fn a_hook_logs_to_a_file_only_and_a_wrong_filter_does_not_stop_it() {
    let answer = |variables: &[(&str, &str)]| {
        let project = variables
            .iter()
            .fold(crate::hook::project(1), |project, (name, value)| project.variable(name, value));
        let cwd = project.root().display().to_string();
        let input = json!({ "session_id": "s-1", "cwd": cwd, "source": "startup" });
        let words = ["hook", "claude", "SessionStart"];
        let outcome = project.run_with_input(&words, input.to_string().as_bytes());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome}");
        let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert!(document["hookSpecificOutput"]["additionalContext"].is_string(), "{outcome}");
        fs::read_to_string(project.path("../log")).unwrap_or_default()
    };
    let file = ("CONVOKE_LOG_FILE", "../log");
    assert_eq!(answer(&[("CONVOKE_LOG", "trace")]), "");
    assert_eq!(answer(&[("CONVOKE_LOG", "debgu"), file]), "");
    let log = answer(&[("CONVOKE_LOG", "debug"), file]);
    let decided = line(&logged(&log), "decided what the hook answers").to_owned();
    assert!(decided.contains("client=claude session=s-1 agent=june moment=Started"), "{decided}");
    assert!(!log.contains("Build the parser"), "{log}");
    let span = "hook{client=claude event=SessionStart session=s-1 agent=june}";
    let answered = line(&logged(&log), "answered the hook").to_owned();
    assert!(answered.contains(span) && answered.contains("delivery=Delivered"), "{answered}");
    let opened = line(&logged(&log), "opened the store").to_owned();
    assert!(opened.contains("agent=june}") || opened.contains("session=s-1}"), "{opened}");
    assert!(opened.contains(":store{file=") && opened.contains("store.db}"), "{opened}");
}

// Run, phase, seat and client are around each lane, although lanes run in threads of their own; and
// the worker process uses its parent's flags.
#[test]
fn a_design_and_its_worker_log_to_the_same_place() {
    let panel = Panel::new();
    let flags = ["--subagent", "--log", "debug", "--log-file", "../log"];
    let outcome = panel.design(&flags);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert!(logged(&outcome.stderr).is_empty(), "{outcome}");
    let text = fs::read_to_string(panel.project.path("../log")).unwrap();
    let log = logged(&text);
    let run = panel.run().0;
    let ended = line(&log, "the design ended");
    assert!(ended.contains(&format!(" design{{run={run}}}: ")), "{ended}");
    let worker = format!(" design{{run={run} worker=");
    let lane = log.iter().find(|line| line.contains("the lane ended") && line.contains(&worker));
    let lane = lane.unwrap_or_else(|| panic!("no lane of the worker: {log:#?}"));
    let seat = lane.split_once("}:seat{seat=").unwrap_or_else(|| panic!("{lane}"));
    assert!(seat.0.contains("}:phase{phase=") && seat.1.contains(" client=replay:"), "{lane}");
    assert!(!text.contains(FEATURE) && !text.contains("Notes go to"), "no prompt, no answer");
    // Without a file the parent passes on what the worker logs.
    panel.git(&["switch", "--quiet", "main"]);
    let outcome = panel.design(&["--subagent", "--log", "info"]);
    let log = logged(&outcome.stderr);
    assert!(log.iter().any(|line| line.contains(" worker=")), "{outcome}");
}

#[test]
fn a_round_of_a_review_names_its_role_and_client() {
    let project = crate::dispatch_run::with_claude(repository()).variable("CONVOKE_LOG", "info");
    let role = "implement/security-reviewer";
    let outcome = project.run(&["dispatch", "run", role, "--feature", "031", "--client", "claude"]);
    let log = logged(&outcome.stderr);
    let expected = format!(" dispatch{{role={role} client=claude}}:lane{{client=claude ");
    assert!(line(&log, "the lane begins").contains(&expected), "{log:#?}");
}
