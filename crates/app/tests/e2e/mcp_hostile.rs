//! What hostile models, sloppy clients and several servers together cannot do over MCP.

use std::fs;
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::harness::Project;
use crate::lane::until;
use crate::mcp_client::{McpClient, text_of};
use crate::mcp_runs::{answered, lane, with_api};
use crate::scripted_server::{Reply, Server};

pub(crate) const BACKGROUND: &str = "../home/.local/state/convoke/background";

pub(crate) fn call(tool: &str, arguments: &Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

// Every call here also checks that neither form of its result is longer than 8 KB.
#[test]
fn what_a_person_or_a_model_wrote_does_not_make_a_result_longer_than_clients_show() {
    let project = Project::new().on_branch("main");
    let id = project.stdout(&["task", "add", "Write the model"]);
    let mut client = McpClient::start(&project);
    for word in ["x", "ä", "\"", "\u{1f600}"] {
        let note = word.repeat(200_000);
        let noted = json!({"id": id, "action": "note", "note": note});
        let changed = client.call_any("task_update", &noted);
        assert!(text_of(&changed).contains("the rest is left out"), "{changed}");
        assert!(text_of(&changed).ends_with("no unread messages for @me"), "{changed}");
        assert_eq!(changed["structuredContent"]["id"], json!(id));
        assert_eq!(client.call("tasks", &json!({}))["tasks"][0]["id"], json!(id));
        client.call("say", &json!({"text": word.repeat(100_000), "to": "kai"}));
        client.call("wake", &json!({}));
    }
}

// A client waits for the answer to every request that it sent.
#[test]
fn a_request_that_cannot_be_read_is_answered() {
    let project = Project::new().on_branch("main");
    let mut client = McpClient::start(&project);
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let long = "x".repeat(17_000_000);
    for (params, code) in [
        (format!("{{\"name\":\"tasks\",\"arguments\":{{\"state\":{deep}}}}}"), -32700),
        (format!("{{\"name\":\"say\",\"arguments\":{{\"text\":\"{long}\"}}}}"), -32700),
        ("{\"name\":\"tasks\",\"arguments\":[1]}".to_owned(), -32602),
        ("{\"name\":7}".to_owned(), -32602),
        ("[1]".to_owned(), -32600),
        ("7".to_owned(), -32600),
    ] {
        for line in [
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"tools/call\",\"params\":{params}}}\n"
            ),
            format!(
                "{{\"method\":\"tools/call\",\"params\":{params},\"jsonrpc\":\"2.0\",\"id\":900}}\n"
            ),
        ] {
            client.send_bytes(line.as_bytes());
            assert_eq!(client.refusal(900)["code"], json!(code), "{line:.200}");
        }
    }
    // A text that was cut in the middle of an emoji, or is no UTF-8, arrives.
    for text in [&b"cut \\ud83d off"[..], b"cut \xf0\x9f off"] {
        let mut line = b"{\"jsonrpc\":\"2.0\",\"id\":901,\"method\":\"tools/call\",".to_vec();
        line.extend_from_slice(
            b"\"params\":{\"name\":\"say\",\"arguments\":{\"to\":\"human\",\"text\":\"",
        );
        line.extend_from_slice(text);
        line.extend_from_slice(b"\"}}}\n");
        client.send_bytes(&line);
        assert_eq!(client.answer(901)["isError"], json!(false));
    }
    let inbox = project.stdout(&["inbox", "human"]);
    assert_eq!(inbox.matches("cut \u{fffd}").count(), 2, "{inbox}");
}

#[test]
fn a_tool_that_is_switched_off_while_the_server_runs_is_off() {
    let config = "../home/.config/convoke/config.toml";
    let project = Project::new().on_branch("main").file(config, "mcp.allow = ['say', 'run_start']");
    let mut client = McpClient::start(&project);
    client.call("say", &json!({"text": "hi"}));
    fs::write(project.path(config), "mcp.allow = ['run_start']").unwrap();
    let off = client.call_any("say", &json!({"text": "hi"}));
    assert!(text_of(&off).contains("the user has switched `say` off"), "{off}");
    fs::write(project.path(config), "mcp.allow = 7").unwrap();
    assert_eq!(client.call_any("say", &json!({"text": "hi"}))["isError"], json!(true));
    fs::write(project.path(config), "mcp.allow = []").unwrap();
    let run = "20200101-000000-00000";
    let answer = client.call_any("run_result", &json!({"run": run, "answer": "1"}));
    assert!(text_of(&answer).contains("switched off `run_start`"), "{answer}");
}

// Two windows of a client, or a client that sends a call again, pay once.
#[test]
fn a_key_starts_one_run_from_several_servers_in_parallel() {
    let server = Server::start((0..20).map(|_| answered()).collect());
    let project = with_api(&server);
    let mut clients: Vec<_> = (0..3).map(|_| McpClient::start(&project)).collect();
    for key in ["one", "two", "three"] {
        let asked: Vec<_> = clients
            .iter_mut()
            .map(|client| [0, 1].map(|_| client.ask("tools/call", call("run_start", &lane(key)))))
            .collect();
        let mut started = Vec::new();
        for (client, ids) in clients.iter_mut().zip(asked) {
            let call = call("run_start", &lane(key));
            let answers = ids.map(|id| client.answer_to_start(id, &call));
            started.extend(answers.map(|answer| answer["structuredContent"].clone()));
        }
        let first = started.iter().filter(|start| start.get("was_started_before").is_none());
        assert_eq!(first.count(), 1, "{key}: {started:?}");
        let run = started[0]["run"].as_str().unwrap();
        assert!(started.iter().all(|start| start["run"] == run), "{key}: {started:?}");
        assert_eq!(clients[0].wait_for(run)["state"], json!("ended"));
        let attempts = fs::read_dir(project.path(BACKGROUND).join(run)).unwrap();
        let attempts = attempts.filter(|entry| entry.as_ref().unwrap().path().is_dir());
        assert_eq!(attempts.count(), 1, "{key}");
    }
    assert_eq!(server.asked_so_far().len(), 3, "the model was asked once for each key");
}

// A model that calls a tool many times in parallel gives its lane's budget away once.
#[test]
fn parallel_calls_do_not_give_a_budget_away_twice() {
    let server = Server::start((0..8).map(|_| answered()).collect());
    let project = with_api(&server)
        .variable("CONVOKE_MCP_IN_LANES", "true")
        .variable("CONVOKE_LANE", "4711 1 tokens=1500 outer run");
    let mut client = McpClient::start(&project);
    let start = |key: usize| {
        call(
            "run_start",
            &json!({"kind": "lane", "key": format!("k{key}"), "text": "x", "agent": "http:it",
                "budget": "1k"}),
        )
    };
    let asked: Vec<_> = (0..8).map(|key| client.ask("tools/call", start(key))).collect();
    let answers = asked.into_iter().enumerate();
    let results: Vec<_> =
        answers.map(|(key, id)| client.answer_to_start(id, &start(key))).collect();
    let budgets = results.iter().filter_map(|result| {
        result["structuredContent"]["budget"].as_str().map(|text| text.replace('k', "000"))
    });
    let given: u64 = budgets.map(|text| text.parse::<u64>().unwrap()).sum();
    assert_eq!(given, 1500, "{results:?}");
}

// A client gives a start of a run a second: it does not wait behind others.
#[test]
fn a_start_says_that_others_are_in_its_way() {
    let server = Server::start(vec![answered()]);
    let project = with_api(&server);
    let path = project.path(BACKGROUND).with_extension("lock");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let lock = fs::File::create(&path).unwrap();
    lock.lock().unwrap();
    let mut client = McpClient::start(&project);
    let busy = client.call_any("run_start", &lane("k"));
    assert_eq!(busy["structuredContent"]["class"], json!("interrupted"), "{busy}");
    assert!(text_of(&busy).contains("call run_start again with the same key"), "{busy}");
    assert!(!project.path(BACKGROUND).exists(), "nothing was started");
    lock.unlock().unwrap();
    let started = client.call("run_start", &lane("k"));
    assert_eq!(started.get("was_started_before"), None, "{started}");
    assert_eq!(client.wait_for(started["run"].as_str().unwrap())["state"], json!("ended"));
}

// No client waits for the removal of old runs: the process of a run does that after its work.
#[test]
fn old_runs_are_removed_when_a_run_ends() {
    let server = Server::start(vec![Reply::Hangs(String::new())]);
    let project = with_api(&server);
    let old = project.path(BACKGROUND).join("20200101-000000-00000");
    fs::create_dir_all(&old).unwrap();
    let request = json!({
        "run": "20200101-000000-00000", "kind": "lane", "project": "gone", "digest": "",
        "budget": null,
    });
    fs::write(old.join("request.json"), request.to_string()).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365);
    fs::File::open(&old).unwrap().set_modified(long_ago).unwrap();
    let mut client = McpClient::start(&project);
    let run = client.call("run_start", &lane("k"))["run"].as_str().unwrap().to_owned();
    assert!(server.asked().contains("What is it?"));
    assert!(old.exists(), "a start removes nothing");
    project.stdout(&["lane", "stop", "1"]);
    client.wait_for(&run);
    until(|| !old.exists());
    assert_eq!(client.call("run_status", &json!({"run": run}))["state"], json!("ended"));
}

/// Returns the process of an attempt at a run, if it works.
pub(crate) fn process_of(project: &Project, run: &str, attempt: u32) -> Option<Pid> {
    let folder = project.path(BACKGROUND).join(run).join(attempt.to_string());
    let holder = fs::read_to_string(folder.join("process")).ok()?;
    let pid = holder.lines().nth(1).and_then(|line| line.split(' ').next()?.parse().ok());
    pid.and_then(Pid::from_raw)
}

#[test]
fn a_run_whose_folder_is_gone_is_not_started_again() {
    let server = Server::start(vec![answered()]);
    let project = with_api(&server);
    let mut client = McpClient::start(&project);
    let run = client.call("run_start", &lane("k"))["run"].as_str().unwrap().to_owned();
    client.wait_for(&run);
    fs::remove_dir_all(project.path(BACKGROUND).join(&run)).unwrap();
    let again = client.call_any("run_start", &lane("k"));
    assert!(text_of(&again).contains("whose folder is gone"), "{again}");
    for tool in ["run_status", "run_result"] {
        let missing = client.call_any(tool, &json!({"run": run, "wait_s": 45}));
        assert_eq!(missing["isError"], json!(true), "{missing}");
    }
    fs::remove_dir_all(project.path(BACKGROUND)).unwrap();
    assert_eq!(client.call_any("run_status", &json!({"run": run}))["isError"], json!(true));
    let anew = client.call("run_start", &lane("k"));
    assert_ne!(anew["run"], json!(run), "no key is left");
}

// Convoke says that a run was killed, and its key starts nothing twice.
#[test]
fn a_killed_run_has_failed() {
    let server = Server::start(vec![Reply::Hangs(String::new())]);
    let project = with_api(&server);
    let mut client = McpClient::start(&project);
    let run = client.call("run_start", &lane("k"))["run"].as_str().unwrap().to_owned();
    assert!(server.asked().contains("What is it?"));
    let pid = process_of(&project, &run, 1).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    until(|| !fs::exists(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap());
    let status = client.wait_for(&run);
    let told = (&status["state"], &status["ending"]);
    assert_eq!(told, (&json!("failed"), &json!("the process was killed")), "{status}");
    let again = client.call("run_start", &lane("k"));
    assert_eq!((&again["run"], &again["was_started_before"]), (&json!(run), &json!(true)));
    let status = client.call("run_status", &json!({"run": run}));
    assert_eq!(status["state"], json!("failed"), "{status}");
}

// Some clients give up on a call that says nothing; a notification keeps them.
#[test]
fn a_call_that_waits_tells_its_progress() {
    let server = Server::start(vec![Reply::Hangs(String::new())]);
    let project = with_api(&server);
    let mut client = McpClient::start(&project);
    let run = client.call("run_start", &lane("k"))["run"].as_str().unwrap().to_owned();
    assert!(server.asked().contains("What is it?"));
    let is_told = |client: &McpClient| {
        client.notices.iter().any(|notice| {
            notice["method"] == json!("notifications/progress")
                && notice["params"]["progressToken"].is_i64()
                && notice["params"]["total"] == json!(1.0)
        })
    };
    // A change ends the wait early.
    for _ in 0..20 {
        let status = client.call("run_status", &json!({"run": run, "wait_s": 1}));
        assert_eq!(status["state"], json!("running"), "{status}");
        if is_told(&client) {
            break;
        }
    }
    assert!(is_told(&client), "{:?}", client.notices);
    project.stdout(&["lane", "stop", "1"]);
    client.wait_for(&run);
}

#[test]
fn the_prompt_of_a_wake_up_has_the_task() {
    let project = Project::new().on_branch("main");
    let id = project.stdout(&["task", "add", "Write the model"]);
    let mut client = McpClient::start(&project);
    client.call("task_update", &json!({"id": id, "action": "start"}));
    let made = client.request("prompts/get", json!({"name": "wake"}));
    let text = made["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("Write the model") && text.contains(&id), "{text}");
}

// Every hook starts `convoke`: the server's runtime must not be linked into it.
#[test]
fn the_servers_runtime_is_in_a_program_of_its_own() {
    // The part of a mangled name that names the crate.
    let has = |program: &str, symbol: &str| {
        let bytes = fs::read(program).unwrap();
        bytes.windows(symbol.len()).any(|part| part == symbol.as_bytes())
    };
    for symbol in ["4rmcp", "5tokio"] {
        assert!(has(env!("CARGO_BIN_EXE_convoke-mcp"), symbol), "{symbol}");
        assert!(!has(env!("CARGO_BIN_EXE_convoke"), symbol), "{symbol}");
    }
}

// What a server hands out may end in a model's context far away.
#[test]
fn a_likely_secret_is_left_out_of_a_brief() {
    let secret = ["AKIA", "Z7JQ4N2XKM5RWT3P"].concat();
    let keys = format!("# Keys\n\nUse {secret} here.\n");
    let project = Project::new().file("keys.md", keys).file("notes.md", "# Notes\n");
    let mut client = McpClient::start(&project);
    let brief = client.call_any("brief", &json!({"documents": ["keys.md", "notes.md"]}));
    assert!(text_of(&brief).contains("> omitted: keys.md (holds a likely secret)"), "{brief}");
    assert!(!brief.to_string().contains(&secret), "{brief}");
}

#[test]
fn a_likely_secret_is_left_out_of_the_design_folder() {
    let secret = ["AKIA", "Z7JQ4N2XKM5RWT3P"].concat();
    let spec = format!("# Spec\n\nUse {secret} here.\n");
    let project = Project::with_documents(&[("spec", &spec), ("system", "# System\nOne store.\n")]);
    let mut client = McpClient::start(&project);
    let brief = client.call_any("brief", &json!({}));
    let text = text_of(&brief);
    assert!(text.contains("One store."), "{brief}");
    assert!(text.contains("spec.md is left out: it holds a likely secret"), "{brief}");
    assert!(!brief.to_string().contains(&secret), "{brief}");
}

#[test]
fn a_used_up_day_starts_nothing() {
    let server = Server::start(vec![answered()]);
    let config = format!(
        "[lane]\nbudget_per_day = '10'\n[lane.http.it]\napi = 'chat'\nurl = '{}'\nmodel = 'm-1'\n",
        server.url()
    );
    let project = Project::new().file("../home/.config/convoke/config.toml", config);
    let mut client = McpClient::start(&project);
    let run = client.call("run_start", &lane("first"))["run"].as_str().unwrap().to_owned();
    client.wait_for(&run);
    let refused = client.call_any("run_start", &lane("second"));
    assert!(text_of(&refused).contains("the budget of today is used up"), "{refused}");
    assert_eq!(refused["structuredContent"]["class"], json!("over_budget"));
    let again = client.call("run_start", &lane("first"));
    assert_eq!(again["run"], json!(run), "what was started before is still found");
}

#[test]
fn a_lane_without_tools_has_no_resources_and_no_prompts() {
    let project = Project::new().variable("CONVOKE_LANE", "1");
    let mut client = McpClient::start(&project);
    for (method, list) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        assert_eq!(client.request(method, json!({}))[list], json!([]), "{method}");
    }
    let uri = json!({"uri": "convoke://run/20200101-000000-00000/plan"});
    let asked = client.ask("resources/read", uri);
    assert!(client.refusal(asked)["message"].as_str().unwrap().contains("addresses have the form"));
}
