//! `--agent acp:NAME`: agents of the Agent Client Protocol that behave, and agents that do not. Each is
//! a script that plays a scenario of `tests/fixtures/acp`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::harness::{Outcome, Project};
use crate::lane::until;

const LIMITS: [&str; 6] = ["--limit", "40", "--stall", "3", "--grace", "2"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/acp").join(name)
}

/// A project with a scripted agent on the PATH, under the name of some program.
pub(crate) fn with_agent(program: &str, scenario: &str) -> Project {
    let place = format!("../home/bin/{program}");
    let script = fs::read(fixture("agent.sh")).unwrap();
    let project = Project::new()
        .in_repository("main")
        .file(&place, script)
        .file(&format!("{place}.usual"), fs::read(fixture("usual.txt")).unwrap())
        .file(&format!("{place}.scenario"), scenario);
    let path = project.path(&place);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let bin = path.parent().unwrap().display().to_string();
    project.variable("PATH", &format!("{bin}:/usr/bin:/bin"))
}

pub(crate) fn heard(project: &Project, program: &str) -> String {
    fs::read_to_string(project.path(&format!("../home/bin/{program}.heard"))).unwrap_or_default()
}

pub(crate) fn run(project: &Project, agent: &str, more: &[&str]) -> Outcome {
    let base = ["lane", "run", "--agent", agent, "What is it?"];
    project.run(&[&base, &LIMITS[..], more].concat())
}

fn report(project: &Project, agent: &str, more: &[&str]) -> Value {
    let outcome = run(project, agent, &[&["--json"], more].concat());
    let printed = outcome.to_string();
    serde_json::from_str(&outcome.stdout).expect(&printed)
}

/// Returns what a scenario says about its end.
fn expected<'a>(scenario: &'a str, key: &str) -> Option<&'a str> {
    scenario.lines().find_map(|line| line.strip_prefix(&format!("# {key}: ")))
}

#[test]
fn every_scenario_ends_as_it_says() {
    let mut scenarios: Vec<_> = fs::read_dir(fixture("scenarios")).unwrap().collect();
    scenarios.sort_by_key(|entry| entry.as_ref().unwrap().path());
    assert!(scenarios.len() >= 31);
    std::thread::scope(|scope| {
        // Most of them wait for a limit.
        for part in scenarios.chunks(scenarios.len().div_ceil(4)) {
            scope
                .spawn(move || part.iter().for_each(|entry| play(&entry.as_ref().unwrap().path())));
        }
    });
}

fn play(path: &Path) {
    let (name, scenario) = (path.display(), fs::read_to_string(path).unwrap());
    let project = with_agent("codex-acp", &scenario);
    let before = project.listing();
    let mut arguments = vec!["--keep", "../kept"];
    arguments.extend(expected(&scenario, "write").map(|_| "--write"));
    let report = report(&project, "acp:codex", &arguments);
    assert_eq!(report["outcome"].as_str(), expected(&scenario, "outcome"), "{name}: {report:#}");
    for (key, field) in [("answer", "answer"), ("end", "end")] {
        if let Some(expected) = expected(&scenario, key) {
            assert_eq!(report[field], expected, "{name}: {report:#}");
        }
    }
    let trouble = report["trouble"].as_str().unwrap_or_default();
    let kept = fs::read_to_string(project.path("../kept/stdout")).unwrap();
    let heard = heard(&project, "codex-acp");
    for (key, text) in [("trouble", trouble), ("kept", &kept), ("heard", &heard)] {
        let expected = expected(&scenario, key).unwrap_or_default();
        assert!(text.contains(expected), "{name}: {key}: {expected}\n{text}");
    }
    // Every line is the bridge's own.
    for line in kept.lines() {
        let line: Value = serde_json::from_str(line).expect(line);
        assert!(line["acp"].is_string(), "{name}: {line}");
    }
    assert_eq!(project.listing(), before, "{name}");
    assert!(!project.path("../outside").exists(), "{name}");
}

#[test]
fn an_answer_is_printed_recorded_and_counted() {
    let project = with_agent("codex-acp", "");
    let outcome = run(&project, "acp:codex-acp", &["--model", "large"]);
    assert_eq!(
        (outcome.code, outcome.stdout.as_str()),
        (Some(0), "The answer is 42.\n"),
        "{outcome}"
    );
    assert!(outcome.stderr.contains("session s-1\n"), "{outcome}");
    let heard = heard(&project, "codex-acp");
    let lines: Vec<Value> = heard.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let methods: Vec<_> = lines.iter().map(|line| line["method"].as_str().unwrap()).collect();
    let set = "session/set_config_option";
    assert_eq!(methods, ["initialize", "session/new", set, set, "session/prompt"]);
    assert_eq!(lines[0]["params"]["protocolVersion"], 1);
    let offered = &lines[0]["params"]["clientCapabilities"];
    let nothing =
        json!({ "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false });
    assert_eq!(*offered, nothing);
    assert_eq!(lines[1]["params"]["cwd"], project.root().display().to_string());
    assert_eq!(lines[2]["params"]["value"], "large");
    assert_eq!(lines[3]["params"]["value"], "read-only");
    assert_eq!(lines[4]["params"]["prompt"][0]["text"], "What is it?");
    let listed = project.stdout(&["lane", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let text = listed.to_string();
    assert!(text.contains("\"acp:codex\"") && text.contains("\"model\":\"large\""), "{text}");
    let spent = project.stdout(&["usage"]);
    assert!(spent.contains("acp:codex") || spent.contains("2400"), "{spent}");
}

#[test]
fn a_session_is_loaded_and_what_it_said_before_is_not_the_answer() {
    let project = with_agent("codex-acp", "");
    let resumed = report(&project, "acp:codex", &["--resume", "s-1"]);
    assert_eq!((&resumed["outcome"], &resumed["session"]), (&json!("answered"), &json!("s-1")));
    assert_eq!(resumed["answer"], "The answer is 42.");
    let heard = heard(&project, "codex-acp");
    assert!(heard.contains("\"session/load\"") && !heard.contains("\"session/new\""), "{heard}");
    assert!(heard.contains("\"value\":\"read-only\""), "its rights are sent again: {heard}");
    let gone = "on session/load\n{\"id\":@ID@,\"error\":{\"code\":-32603,\"message\":\"no\"}}\n";
    let lost = report(&with_agent("codex-acp", gone), "acp:codex", &["--resume", "s-1"]);
    assert_eq!((&lost["outcome"], &lost["trouble_kind"]), (&json!("failed"), &json!("no_session")));
}

#[test]
fn a_model_that_is_not_offered_is_refused() {
    let project = with_agent("codex-acp", "");
    let told = report(&project, "acp:codex", &["--model", "huge"]);
    assert_eq!(told["outcome"], "refused_flags", "{told:#}");
    let words = "the agent does not offer the model `huge`; it offers small, large";
    assert_eq!(told["trouble"], words);
    assert!(!heard(&project, "codex-acp").contains("session/prompt"), "nothing was asked");
}

// The bridge asks the agent to cancel, and no process is left.
#[test]
fn a_stop_cancels_the_turn_and_a_kill_leaves_no_process() {
    for signal in [Signal::TERM, Signal::KILL] {
        let scenario =
            "on session/prompt\n{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\ndo echo $$ > \"$0.pid\"\n";
        let project = with_agent("codex-acp", scenario);
        let arguments = ["lane", "run", "--agent", "acp:codex", "--json", "What is it?"];
        let mut command = project.command(Path::new(env!("CARGO_BIN_EXE_convoke")), &arguments);
        let convoke = command.spawn().unwrap();
        let pid = project.path("../home/bin/codex-acp.pid");
        let number = || fs::read_to_string(&pid).ok()?.trim().parse::<i32>().ok();
        until(|| number().is_some());
        kill_process(Pid::from_child(&convoke), signal).unwrap();
        let output = convoke.wait_with_output().unwrap();
        let is_alive = || Path::new(&format!("/proc/{}/stat", number().unwrap())).exists();
        until(|| !is_alive());
        if signal == Signal::TERM {
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(report["outcome"], "cancelled", "{report:#}");
            assert!(heard(&project, "codex-acp").contains("session/cancel"));
        }
    }
}

fn with_own(command: &str, scenario: &str) -> Project {
    let project = with_agent("my-agent", scenario);
    let text = format!("[acp.mine]\ncommand = {command}\nvariables = ['MY_KEY']\n");
    project.file("../home/.config/convoke/config.toml", text)
}

// What an unknown agent may do is not known: the working tree tells what it did.
#[test]
fn a_configured_agent_is_unproven_and_the_tree_decides() {
    let clean = with_own("['my-agent', '--acp']", "")
        .variable("MY_KEY", "mine")
        .variable("OPENAI_API_KEY", "another's");
    let told = run(&clean, "acp:mine", &[]);
    assert_eq!((told.code, told.stdout.as_str()), (Some(0), "The answer is 42.\n"), "{told}");
    let words = "nothing proves that acp:mine can only read; the working tree did not change";
    assert!(told.stderr.contains(words), "{told}");
    assert_eq!(report(&clean, "acp:mine", &[])["rights"]["unproven"], true);
    let scenario = "on session/prompt\ndo echo x > written; env > ../seen\n\
        {\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{\"stopReason\":\"end_turn\"}}\n";
    let dirty = with_own("['my-agent']", scenario)
        .variable("MY_KEY", "mine")
        .variable("OPENAI_API_KEY", "another's");
    let told = run(&dirty, "acp:mine", &[]);
    assert_eq!(told.code, Some(6), "{told}");
    assert!(told.stderr.contains("can only read; the working tree changed"), "{told}");
    let seen = fs::read_to_string(dirty.path("../seen")).unwrap();
    assert!(seen.contains("MY_KEY=mine") && !seen.contains("OPENAI_API_KEY"), "{seen}");
    let known = with_agent("codex-acp", "");
    assert_eq!(report(&known, "acp:codex", &[])["rights"]["unproven"], false);
}

#[test]
fn a_project_configures_no_agent_and_an_unknown_one_is_named() {
    let project =
        with_agent("my-agent", "").file("convoke.toml", "[acp.mine]\ncommand = ['my-agent']\n");
    let told = run(&project, "acp:mine", &[]);
    assert_eq!(told.code, Some(2), "{told}");
    assert!(told.stderr.contains("cannot find `[acp.mine]` in your configuration"), "{told}");
    assert!(told.stderr.contains("known agents: claude, codex, gemini, opencode, qwen"), "{told}");
    let remark = "`acp` in `";
    let words = "is ignored: a project cannot choose which programs you run";
    assert!(told.stderr.contains(remark) && told.stderr.contains(words), "{told}");
    let missing = run(&project, "acp:gemini", &[]);
    assert_eq!(missing.code, Some(3), "{missing}");
    assert!(missing.stderr.contains("cannot find `gemini` on the PATH"), "{missing}");
    let broken = with_own("'my-agent --acp'", "");
    let told = run(&broken, "acp:mine", &[]);
    assert_eq!(told.code, Some(2), "{told}");
    assert!(told.stderr.contains("`acp.mine.command` in `"), "{told}");
}

// Content proves a read; a path alone leaves a doubt, and no file is proven unread by it.
#[test]
fn a_read_is_proven_by_its_content() {
    let update = |update: Value| {
        let params = json!({ "sessionId": "s-1", "update": update });
        json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }).to_string()
    };
    let end = "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m\",\"content\":{\"text\":\"I read it.\"}}}}\n{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{\"stopReason\":\"end_turn\"}}";
    let path = "@HERE@/docs/a.md";
    for (content, standing) in [(json!("Alpha\nBeta\n"), "whole"), (Value::Null, "unsure")] {
        let call = update(json!({ "sessionUpdate": "tool_call", "toolCallId": "1", "kind": "read",
            "rawInput": { "file_path": path }, "locations": [{ "path": path }] }));
        let done = update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "1",
            "status": "completed", "rawOutput": content }));
        let scenario = format!("on session/prompt\n{call}\n{done}\n{end}\n");
        let project = with_agent("codex-acp", &scenario).file("docs/a.md", "Alpha\nBeta\n");
        let told = report(&project, "acp:codex", &["--read", "docs/a.md"]);
        assert_eq!(told["receipts"][0]["standing"], standing, "{told:#}");
        assert_eq!(told["unproven"], json!([]));
    }
    let project = with_agent("codex-acp", "").file("docs/a.md", "Alpha\nBeta\n");
    let told = report(&project, "acp:codex", &["--read", "docs/a.md"]);
    assert_eq!(told["unproven"], json!(["docs/a.md"]), "{told:#}");
}

// opencode reports the tokens of its last step.
#[test]
fn partial_usage_is_marked() {
    let scenario = "on session/new\n{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{\"sessionId\":\"s-1\",\
        \"modes\":{\"availableModes\":[{\"id\":\"convoke-reader\"}]}}}\non session/set_mode\n\
        {\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{}}\n";
    let project = with_agent("opencode", scenario);
    let told = run(&project, "acp:opencode", &[]);
    assert_eq!(told.code, Some(0), "{told}");
    let words = "acp:opencode reports the usage of its last step only; it used more tokens";
    assert!(told.stderr.contains(words), "{told}");
    assert_eq!(report(&project, "acp:opencode", &[])["usage"]["partial"], true);
    let whole = report(&with_agent("codex-acp", ""), "acp:codex", &[]);
    assert_eq!(whole["usage"]["partial"], false);
}

// A writer may change files and nothing else; its mode is not the reader's.
#[test]
fn a_writer_is_granted_changes_of_files_alone() {
    let asks = |kind: &str| {
        format!(
            "on session/prompt\n{{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"session/request_permission\",\"params\":{{\"sessionId\":\"s-1\",\"toolCall\":{{\"toolCallId\":\"1\",\"title\":\"x\",\"kind\":\"{kind}\",\"locations\":[{{\"path\":\"a.md\"}}]}},\"options\":[{{\"optionId\":\"yes\",\"kind\":\"allow_once\"}},{{\"optionId\":\"no\",\"kind\":\"reject_once\"}}]}}}}\non answer\n{{\"jsonrpc\":\"2.0\",\"id\":@PROMPT@,\"result\":{{\"stopReason\":\"end_turn\"}}}}\n"
        )
    };
    for (kind, answer) in [("edit", "\"optionId\":\"yes\""), ("execute", "\"optionId\":\"no\"")] {
        let project = with_agent("codex-acp", &asks(kind));
        report(&project, "acp:codex", &["--write"]);
        let heard = heard(&project, "codex-acp");
        assert!(heard.contains(answer) && !heard.contains("read-only"), "{kind}: {heard}");
    }
}

// The agent, and what it starts, knows its lane: hooks stay silent, no lane gives away more than its own
// budget, and an agent that starts itself again comes to an end.
#[test]
fn what_an_agent_starts_is_in_its_lane() {
    let convoke = env!("CARGO_BIN_EXE_convoke");
    let event = json!({ "session_id": "s", "source": "startup" });
    let again = "lane run --agent acp:codex --budget 9k again < /dev/null >> ../nested 2>&1";
    let scenario = format!(
        "on session/prompt\ndo env -u A sh -c 'printenv CONVOKE_LANE' >> ../marks\n\
         do echo '{event}' | {convoke} hook claude SessionStart >> ../hooked\n\
         do {convoke} {again}\n\
         {{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{{\"stopReason\":\"end_turn\"}}}}\n"
    );
    let project = with_agent("codex-acp", &scenario)
        .file("../home/.config/convoke/config.toml", "[wake]\nagent = 'june'\n");
    project.stdout(&["agent", "add", "june"]);
    project.stdout(&["say", "please hurry, @june", "--as", "ana"]);
    run(&project, "acp:codex", &["--budget", "5k"]);
    let seen = |name: &str| fs::read_to_string(project.path(name)).unwrap();
    let marks = seen("../marks");
    let about: Vec<_> =
        marks.lines().map(|mark| mark.split(' ').skip(1).take(2).collect::<Vec<_>>()).collect();
    let budget = "tokens=5000";
    assert_eq!(about, [["1", budget], ["2", budget], ["3", budget]], "{marks}");
    assert_eq!(seen("../hooked"), "{}\n{}\n{}\n");
    assert!(project.stdout(&["inbox", "june"]).contains("please hurry"));
    let nested = seen("../nested");
    assert!(nested.contains("a lane inside 3 others may start no further agent"), "{nested}");
}

#[test]
fn the_bridge_alone_says_what_it_is_for() {
    let told = Project::new().run(&["acp-bridge"]);
    assert_eq!(told.code, Some(2), "{told}");
    assert!(told.stderr.contains("convoke lane run --agent acp:NAME"), "{told}");
}
