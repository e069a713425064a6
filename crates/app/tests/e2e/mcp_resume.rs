//! Designs that were stopped or killed: a client has them go on, without a shell.

use std::fs;
use std::path::Path;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::harness::{Project, set_mode};
use crate::lane::until;
use crate::mcp_client::{McpClient, text_of};
use crate::mcp_hostile::{BACKGROUND, call, process_of};
use crate::mcp_runs::{answered, lane, with_a_question, with_api};
use crate::panel::Panel;
use crate::scripted_server::Server;

/// A client that keeps a line for each request and never answers.
const MUTE: &str = "#!/bin/sh\necho >> \"$HOME/asked\"\nexec sleep 600\n";

// What a design has paid for is not lost with its process: a client goes on with it, once.
#[test]
fn a_killed_design_is_resumed_and_its_plan_is_read() {
    let (panel, run) = with_a_question();
    let mut client = McpClient::start(&panel.project);
    let status = json!({"run": run, "wait_s": 45});
    let mut killed = 0;
    for attempt in 1..20 {
        let waits = client.wait_for(&run);
        if waits["state"] == json!("ended") {
            break;
        }
        if waits["state"] == json!("stopped") {
            killed += 1;
            let early = client.call_any("run_result", &json!({"run": run}));
            assert_eq!(early["isError"], json!(true), "{early}");
            let said = waits["messages"].to_string();
            assert!(!said.contains("taken: ") && !said.contains("cannot ask"), "{waits}");
            let how = waits["how_to_answer"].as_str().unwrap();
            assert!(
                how.contains(&format!("call run_start with kind=design and key={run}")),
                "{how}"
            );
            resume_twice(&panel.project, &mut client, &run);
            continue;
        }
        let options = waits["question"]["options"].as_array().map_or(0, Vec::len);
        let answer = if options > 0 { "1" } else { "As the panel thinks best" };
        client.call("run_result", &json!({"run": run, "answer": answer}));
        // The first change is the answer in the journal, or a lane that began.
        client.call("run_status", &status);
        if let Some(pid) = process_of(&panel.project, &run, attempt).filter(|_| killed == 0) {
            kill_process(pid, Signal::KILL).ok();
            until(|| !Path::new(&format!("/proc/{}/stat", pid.as_raw_nonzero())).exists());
        }
    }
    assert_eq!(killed, 1, "its process was killed in the middle");
    let ended = client.call("run_status", &json!({"run": run}));
    assert_eq!(ended["state"], json!("ended"), "{ended}");
    let plan = client.call("run_result", &json!({"run": run}));
    let whole = panel.project.stdout(&["show", &run, "--artifact", "plan"]);
    assert!(whole.starts_with(plan["text"].as_str().unwrap().trim_end()), "{plan}");
}

/// Has two clients resume a stopped design in parallel, which starts one process.
fn resume_twice(project: &Project, client: &mut McpClient, run: &str) {
    let attempts = attempts(project, run);
    let again = call("run_start", &json!({"kind": "design", "key": run, "budget": "1M"}));
    let mut other = McpClient::start(project);
    let asked = [client.ask("tools/call", again.clone()), other.ask("tools/call", again.clone())];
    let started =
        [client.answer_to_start(asked[0], &again), other.answer_to_start(asked[1], &again)];
    let facts = started.map(|started| started["structuredContent"].clone());
    assert!(facts.iter().all(|fact| fact["run"] == run && fact["was_started_before"] == true));
    let resumed = facts.iter().filter(|fact| fact["was_resumed"] == json!(true));
    assert_eq!(resumed.count(), 1, "{facts:?}");
    assert_eq!(self::attempts(project, run), attempts + 1);
}

fn attempts(project: &Project, run: &str) -> usize {
    let entries = fs::read_dir(project.path(BACKGROUND).join(run)).unwrap();
    entries.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count()
}

// A process that was killed before it took the person's answer did not lose it.
#[test]
fn an_answer_that_a_process_did_not_take_is_not_asked_for_again() {
    let (panel, run) = with_a_question();
    let mut client = McpClient::start(&panel.project);
    client.call("run_result", &json!({"run": run, "answer": "1"}));
    let waits = client.wait_for(&run);
    assert_eq!(waits.get("messages"), None, "it has the question: {waits}");
    let question = waits["question"]["id"].as_str().unwrap();
    let lost = panel.project.path(BACKGROUND).join(&run).join("2");
    fs::create_dir(&lost).unwrap();
    fs::write(lost.join("answers"), format!("{question}: 1\n")).unwrap();
    fs::write(lost.join("exit"), "137").unwrap();
    let stopped = client.call("run_status", &json!({"run": run}));
    assert_eq!(stopped["state"], json!("stopped"), "{stopped}");
    assert_eq!(stopped.get("question"), None, "{stopped}");
    let how = stopped["how_to_answer"].as_str().unwrap();
    assert!(how.ends_with("with the answer that was given"), "{how}");
    client.call("run_start", &json!({"kind": "design", "key": run, "budget": "1M"}));
    let next = client.wait_for(&run);
    assert_ne!(next["question"]["id"], json!(question), "{next}");
    assert_ne!(next["state"], json!("stopped"), "{next}");
    let shown = panel.project.stdout(&["show", &run, "--json"]);
    assert!(shown.contains(question), "{shown}");
}

fn kill_attempt(project: &Project, run: &str, attempt: u32) {
    let pid = process_of(project, run, attempt).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    until(|| !Path::new(&format!("/proc/{}/stat", pid.as_raw_nonzero())).exists());
}

#[test]
fn the_key_of_a_killed_design_has_it_go_on() {
    // Beside another client, Convoke asks no agent before the run begins.
    let project = Project::new().file("../bin/claude", MUTE).file("../bin/codex", MUTE);
    for client in ["../bin/claude", "../bin/codex"] {
        set_mode(&project.path(client), 0o755);
    }
    let path = format!("{}:/usr/bin:/bin", project.path("../bin").display());
    let panel = Panel::in_project(project.variable("PATH", &path));
    let project = &panel.project;
    let mut client = McpClient::start(project);
    let start = json!({"kind": "design", "key": "k", "text": "Keep notes", "budget": "1M"});
    let run = client.call("run_start", &start)["run"].as_str().unwrap().to_owned();
    let asked = |times: usize| {
        until(|| fs::read(project.path("../home/asked")).is_ok_and(|lines| lines.len() >= times));
    };
    asked(1);
    let works = client.call("run_start", &start);
    assert_eq!(works.get("was_resumed"), None, "{works}");
    kill_attempt(project, &run, 1);
    let stopped = client.wait_for(&run);
    assert_eq!(stopped["state"], json!("stopped"), "{stopped}");
    let how = stopped["how_to_answer"].as_str().unwrap();
    assert!(how.starts_with("call run_start again with the same key"), "{how}");
    let other = json!({"kind": "design", "key": run, "text": "Another feature"});
    let refused = client.call_any("run_start", &other);
    assert!(text_of(&refused).contains("which was asked for something else"), "{refused}");
    let resumed = client.call("run_start", &start);
    let told = (&resumed["run"], &resumed["was_resumed"], &resumed["budget"]);
    assert_eq!(told, (&json!(run), &json!(true), &json!("1M")), "{resumed}");
    asked(2);
    assert_eq!(attempts(project, &run), 2);
    // A lane pays for no run of others.
    kill_attempt(project, &run, 2);
    client.wait_for(&run);
    drop(client);
    let panel = Panel {
        project: panel
            .project
            .variable("CONVOKE_MCP_IN_LANES", "true")
            .variable("CONVOKE_LANE", "4711 1 tokens=1000 outer"),
    };
    let mut lane = McpClient::start(&panel.project);
    let foreign = lane.call_any("run_start", &json!({"kind": "design", "key": run}));
    assert!(text_of(&foreign).contains("was not started by the lane around it"), "{foreign}");
}

// A key that starts nothing is free for the corrected request.
#[test]
fn what_cannot_run_is_refused_and_leaves_its_key_free() {
    let project = Project::new().on_branch("main").variable("PATH", "/usr/bin:/bin");
    let mut client = McpClient::start(&project);
    let lane = |agent: &str| json!({"kind": "lane", "key": "k", "text": "x", "agent": agent, "budget": "1k"});
    let review = |role: &str, folder: &str| {
        json!({"kind": "dispatch", "key": "k", "role": role, "folder": folder, "agent": "replay:a",
            "budget": "1k"})
    };
    for (request, says) in [
        (lane("claude"), "install claude, or put it on the PATH"),
        (lane("http:none"), "none"),
        (lane("replay:none.jsonl"), "none.jsonl"),
        (review("implement/securty-reviewer", "."), "did you mean `security-reviewer`?"),
        (review("implement/security-reviewer", "nowhere"), "cannot find feature `nowhere`"),
    ] {
        let refused = client.call_any("run_start", &request);
        assert_eq!(refused["isError"], json!(true), "{refused}");
        assert!(text_of(&refused).contains(says), "{says}: {refused}");
    }
    assert!(!project.path(BACKGROUND).join(".keys").exists(), "no key is spent");
}

// Its process asked no agent: nothing was paid that a second start could pay again.
#[test]
fn a_run_that_failed_without_a_lane_begins_again_with_its_key() {
    let server = Server::start(vec![answered()]);
    let project = with_api(&server);
    let config = project.path("../home/.config/convoke/config.toml");
    let usable = fs::read_to_string(&config).unwrap();
    let mut client = McpClient::start(&project);
    // A run that failed so needs another program to go between the server's look and its process: here
    // its folder is made by hand, from that of another run.
    let begun = client.call("run_start", &lane("first"))["run"].as_str().unwrap().to_owned();
    client.wait_for(&begun);
    let folder = project.path(BACKGROUND).join(&begun);
    let request = folder.join("request.json");
    let (kept, failed) = (fs::read_to_string(&request).unwrap(), "20200101-000000-00000");
    let other = project.path(BACKGROUND).join(failed);
    fs::create_dir_all(other.join("1")).unwrap();
    fs::write(other.join("request.json"), kept.replace(&begun, failed)).unwrap();
    fs::write(other.join("1/process"), "").unwrap();
    fs::write(other.join("1/exit"), "3").unwrap();
    let key = serde_json::from_str::<Value>(&kept).unwrap()["key"].as_str().unwrap().to_owned();
    fs::write(project.path(BACKGROUND).join(".keys").join(key), kept.replace(&begun, failed))
        .unwrap();
    let status = client.call("run_status", &json!({"run": failed}));
    assert_eq!(status["state"], json!("failed"), "{status}");
    let how = status["how_to_answer"].as_str().unwrap();
    assert!(how.ends_with("call run_start again with the same key"), "{how}");
    fs::write(&config, "").unwrap();
    let refused = client.call_any("run_start", &lane("first"));
    assert_eq!(refused["isError"], json!(true), "{refused}");
    fs::write(&config, usable).unwrap();
    let again = client.call("run_start", &lane("first"));
    assert_eq!((&again["run"], &again["was_resumed"]), (&json!(failed), &json!(true)), "{again}");
    client.wait_for(failed);
    let repeated = client.call("run_start", &lane("first"));
    assert_eq!(repeated.get("was_resumed"), None, "{repeated}");
}
