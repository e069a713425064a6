//! Runs that clients start over MCP: they outlive the server, and a key starts one once.

use std::fs;

use serde_json::{Value, json};

use crate::harness::Project;
use crate::mcp_client::{Lifecycle, McpClient, text_of};
use crate::mcp_hostile::BACKGROUND;
use crate::panel::{FEATURE, Panel};
use crate::scripted_server::{Reply, Server};

/// A project with a model's API that gives these answers.
pub(crate) fn with_api(server: &Server) -> Project {
    let config = format!("[lane.http.it]\napi = 'chat'\nurl = '{}'\nmodel = 'm-1'\n", server.url());
    Project::new().file("../home/.config/convoke/config.toml", config)
}

pub(crate) fn answered() -> Reply {
    let event = json!({ "model": "m-1", "usage": { "prompt_tokens": 9, "completion_tokens": 4 },
        "choices": [{ "delta": { "content": "It is 42." }, "finish_reason": "stop" }] });
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    Reply::Says(format!("{head}data: {event}\n\n"))
}

/// Says a long text piece by piece, as models do.
fn answered_at_length(pieces: &[String]) -> Reply {
    let event = |text: &str, end: Value| {
        let choice = json!([{ "delta": { "content": text }, "finish_reason": end }]);
        format!("data: {}\n\n", json!({ "model": "m-1", "choices": choice }))
    };
    let said = pieces.iter().map(|piece| event(piece, Value::Null));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    Reply::Says(said.fold(head.to_owned(), |all, one| all + &one) + &event("", json!("stop")))
}

pub(crate) fn lane(key: &str) -> Value {
    json!({"kind": "lane", "key": key, "text": "What is it?", "agent": "http:it", "budget": "1k"})
}

#[test]
fn a_rehearsed_design_is_started_watched_and_read() {
    let project = Project::new();
    let mut client = McpClient::start(&project);
    let start = json!({"kind": "design", "key": "first", "rehearse": true});
    let started = client.call("run_start", &start);
    let run = started["run"].as_str().unwrap().to_owned();
    assert_eq!(started["kind"], json!("design"));
    let ended = client.wait_for(&run);
    assert_eq!(ended["state"], json!("ended"), "{ended}");
    assert!(ended["spent"]["lanes"].as_u64().unwrap() > 5, "{ended}");
    let plan = client.call("run_result", &json!({"run": run}));
    assert_eq!(plan["artifact"], json!("plan.txt"));
    let whole = project.stdout(&["show", &run, "--artifact", "plan"]);
    let page = plan["text"].as_str().unwrap();
    assert!(whole.starts_with(page.trim_end()), "{page}");
    // The same by its address.
    let read =
        client.request("resources/read", json!({"uri": format!("convoke://run/{run}/plan")}));
    assert_eq!(read["contents"][0]["text"].as_str().unwrap().trim_end(), whole.trim_end());
    let listed = client.request("resources/list", json!({}));
    assert!(listed["resources"][0]["uri"].as_str().unwrap().contains(&run), "{listed}");
    // A rehearsal leaves nothing to answer, and says so.
    let answer = client.call_any("run_result", &json!({"run": run, "answer": "yes"}));
    assert_eq!(answer["isError"], json!(true));
    assert!(project.stdout(&["runs"]).contains(&run));
}

#[test]
fn a_key_starts_one_run_and_only_for_its_request() {
    let server = Server::start(vec![answered()]);
    let project = with_api(&server);
    let mut client = McpClient::start(&project);
    let run = client.call("run_start", &lane("k"))["run"].clone();
    let again = client.call("run_start", &lane("k"));
    assert_eq!((&again["run"], &again["was_started_before"]), (&run, &json!(true)));
    client.kill();
    let mut client = McpClient::start(&project);
    assert_eq!(client.call("run_start", &lane("k"))["run"], run);
    let mut other = lane("k");
    other["text"] = json!("What else?");
    let refused = client.call_any("run_start", &other);
    assert!(text_of(&refused).contains("which was asked for something else"), "{refused}");
    let ended = client.wait_for(run.as_str().unwrap());
    assert_eq!((&ended["state"], &ended["spent"]["tokens"]), (&json!("ended"), &json!(13)));
    let result = client.call("run_result", &json!({"run": run}));
    assert_eq!((&result["artifact"], &result["text"]), (&json!("answer"), &json!("It is 42.")));
    let report = client.call("run_result", &json!({"run": run, "artifact": "report"}));
    assert!(report["text"].as_str().unwrap().contains("\"outcome\": \"answered\""), "{report}");
    let missing = client.call_any("run_result", &json!({"run": run, "artifact": "plan"}));
    assert!(text_of(&missing).contains("there is: answer, report, messages"), "{missing}");
}

#[test]
fn an_artifact_of_300_kb_is_read_whole() {
    let pieces: Vec<_> =
        (0..12_000).map(|line| format!("line {line} of \"300 KB\" — ä\n")).collect();
    let whole = pieces.concat();
    assert!(whole.len() > 300_000);
    let pieces: Vec<_> = pieces.chunks(400).map(<[String]>::concat).collect();
    let server = Server::start(vec![answered_at_length(&pieces)]);
    let project = with_api(&server);
    let mut client = McpClient::start(&project);
    let run = client.call("run_start", &lane("k"))["run"].clone();
    assert_eq!(client.wait_for(run.as_str().unwrap())["state"], json!("ended"));
    let (mut all, mut from, mut pages) = (String::new(), json!(0), 0);
    loop {
        let page = client.call("run_result", &json!({"run": run, "from": from}));
        assert_eq!(page["total_chars"], json!(whole.chars().count()));
        all += page["text"].as_str().unwrap();
        pages += 1;
        let Some(next) = page.get("next_from") else { break };
        from = next.clone();
    }
    assert!(pages > 36, "{pages}");
    assert_eq!(all, whole);
}

// A rehearsal has a feature of its own; the text of its request counts nevertheless.
#[test]
fn a_run_that_has_only_begun_says_so_and_another_text_is_another_request() {
    let project = Project::new().on_branch("main");
    let mut client = McpClient::start(&project);
    let asked = |text: &str| json!({"kind": "design", "key": "k", "text": text, "rehearse": true});
    let run = client.call("run_start", &asked("One"))["run"].clone();
    // The run may have begun to write before either call; what it has not is no reason to search.
    for arguments in [json!({"run": run, "answer": "1"}), json!({"run": run})] {
        let early = text_of(&client.call_any("run_result", &arguments));
        assert!(!early.contains("cannot find a run"), "{early}");
    }
    let refused = client.call_any("run_start", &asked("Two"));
    assert!(text_of(&refused).contains("which was asked for something else"), "{refused}");
    assert_eq!(client.call("run_start", &asked("One"))["run"], run);
    client.wait_for(run.as_str().unwrap());
}

// What was paid for goes on when the client or the server dies.
#[test]
fn a_run_outlives_the_server_that_started_it() {
    let server = Server::start(vec![Reply::Hangs(String::new())]);
    let project = with_api(&server);
    let mut client = McpClient::start(&project);
    let run = client.call("run_start", &lane("k"))["run"].as_str().unwrap().to_owned();
    assert!(server.asked().contains("What is it?"));
    client.kill();
    let mut client = McpClient::start(&project);
    let status = client.call("run_status", &json!({"run": run}));
    assert_eq!(status["state"], json!("running"), "{status}");
    assert_eq!(status["seats"][0]["agent"], json!("http:it"), "{status}");

    // A call that waits is cancelled, and the run is not.
    let arguments = json!({"name": "run_status", "arguments": {"run": run, "wait_s": 45}});
    let waiting = client.ask("tools/call", arguments);
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": waiting},
    }));
    // A call that waits tells of it twice in the time that this one takes.
    let status = client.call("run_status", &json!({"run": run, "wait_s": 7}));
    assert_eq!(status["state"], json!("running"), "{status}");
    let progress = |token: i64| {
        let is_meant = |notice: &&Value| notice["params"]["progressToken"] == json!(token);
        client.notices.iter().filter(is_meant).count()
    };
    assert!(progress(waiting) < 2 && progress(waiting + 1) >= 2, "{:?}", client.notices);

    project.stdout(&["lane", "stop", "1"]);
    assert_eq!(server.asked(), "gone");
    let ended = client.wait_for(&run);
    assert_eq!(ended["state"], json!("ended"), "{ended}");
    assert!(ended["ending"].as_str().unwrap().contains("130"), "{ended}");
}

#[test]
fn a_budget_is_needed_and_has_a_limit() {
    let server = Server::start(Vec::new());
    let project = with_api(&server).variable("CONVOKE_MCP_BUDGET", "200k");
    let mut client = McpClient::start(&project);
    for (budget, says) in [
        ("201k", "the budget `201k` is more than `mcp.budget` allows: `200k`"),
        ("$1", "cannot be compared with `mcp.budget`: `200k`"),
    ] {
        let mut start = lane("k");
        start["budget"] = json!(budget);
        let refused = client.call_any("run_start", &start);
        assert!(text_of(&refused).contains(says), "{refused}");
        assert_eq!(refused["structuredContent"]["class"], json!("over_budget"));
    }
    assert!(!project.path("../home/.local/state/convoke/background").exists());
}

// Without a limit, an agent may spend what it likes; the person who installs the server learns that.
#[test]
fn the_person_learns_that_spending_has_no_limit() {
    let project = Project::new();
    let note = "note: `mcp.budget` is not set, so an agent may start runs of any budget";
    let set = "convoke config set --user mcp.budget 500k";
    for action in ["install", "status"] {
        let told = project.run(&["mcp", action, "claude"]).stderr;
        assert!(told.contains(note) && told.contains(set), "{action}: {told}");
    }
    project.stdout(&set.split(' ').skip(1).collect::<Vec<_>>());
    let limited = project.run(&["mcp", "status", "claude"]);
    assert!(!limited.stderr.contains("mcp.budget"), "{limited}");
    project.stdout(&["config", "unset", "--user", "mcp.budget"]);
    let off = project.variable("CONVOKE_MCP_ALLOW", "say").run(&["mcp", "status", "claude"]);
    assert!(!off.stderr.contains("mcp.budget"), "{off}");
}

// A design that no person can answer at a terminal waits, and goes on with the user's answers.
#[test]
fn a_question_is_answered_through_the_server() {
    let panel = Panel::new();
    let seats = panel.seats();
    let stopped = panel.project.run(&["design", "--seats", &seats, FEATURE]);
    assert_eq!(stopped.code, Some(2), "{stopped}");
    let (run, _) = panel.run();
    let mut client = McpClient::start(&panel.project);
    let mut answered = 0;
    loop {
        let status = client.wait_for(&run);
        if status["state"] != json!("needs_answer") {
            assert_eq!(status["state"], json!("ended"), "{status}");
            break;
        }
        let question = &status["question"];
        assert!(question["id"].is_string() && question["recommended"].is_string(), "{status}");
        let options = question["options"].as_array().map_or(0, Vec::len);
        if options > 0 {
            let wrong = client.call_any("run_result", &json!({"run": run, "answer": "99"}));
            assert!(text_of(&wrong).contains("option 99 does not exist"), "{wrong}");
        }
        let answer = if options > 0 { "1" } else { "As the panel thinks best" };
        let taken = client.call("run_result", &json!({"run": run, "answer": answer}));
        assert_eq!(taken["answered"], question["id"]);
        answered += 1;
        assert!(answered < 20, "{status}");
    }
    assert!(answered > 0);
    assert_eq!(panel.run().1, "ended");
    let nothing = client.call_any("run_result", &json!({"run": run, "answer": "1"}));
    assert_eq!(nothing["isError"], json!(true), "{nothing}");
}

/// A panel whose design waits for an answer of the person, and the run.
pub(crate) fn with_a_question() -> (Panel, String) {
    let panel = Panel::new();
    let seats = panel.seats();
    let stopped = panel.project.run(&["design", "--seats", &seats, FEATURE]);
    assert_eq!(stopped.code, Some(2), "{stopped}");
    let (run, _) = panel.run();
    (panel, run)
}

// The person answers in the client, where it can show a question; in both forms of the protocol.
#[test]
fn a_client_with_a_person_shows_the_question() {
    let (panel, run) = with_a_question();
    let (project, status) = (&panel.project, json!({"run": run}));

    // A client without a person cancels, and is not asked twice.
    let cancel = json!({"action": "cancel"});
    let mut client = McpClient::with_person(project, Lifecycle::Handshake, cancel);
    for _ in 0..2 {
        let waits = client.call("run_status", &status);
        assert_eq!(waits["state"], json!("needs_answer"), "{waits}");
        assert_eq!(client.forms, 1);
    }
    let accept = json!({"action": "accept", "content": {"answer": "1"}});
    let mut client = McpClient::with_person(project, Lifecycle::Handshake, accept);
    let answered = client.call("run_status", &status);
    assert!(answered["answered"].is_string(), "{answered}");
    assert_eq!(client.forms, 1);
    McpClient::start(project).wait_for(&run);
}

#[test]
fn a_result_asks_the_person_where_the_client_takes_no_requests() {
    let (panel, run) = with_a_question();
    let (project, status) = (&panel.project, json!({"run": run}));
    let waits = McpClient::start(project).wait_for(&run);
    let accept = json!({"action": "accept", "content": {"answer": "1"}});
    let mut client = McpClient::with_person(project, Lifecycle::Stateless, accept.clone());
    let mut call = json!({"name": "run_status", "arguments": status});
    let needed = client.request("tools/call", call.clone());
    assert_eq!(needed["resultType"], json!("input_required"), "{needed}");
    let form = &needed["inputRequests"]["answer"]["params"];
    assert_eq!(form["requestedSchema"]["required"], json!(["answer"]), "{needed}");
    // An answer to another question does not count.
    call["inputResponses"] = json!({"answer": accept});
    call["requestState"] = json!("another question");
    let again = client.request("tools/call", call.clone());
    assert_eq!(again["resultType"], json!("input_required"), "{again}");
    call["requestState"] = needed["requestState"].clone();
    let answered = client.request("tools/call", call);
    let id = &answered["structuredContent"]["answered"];
    assert_eq!(*id, waits["question"]["id"], "{answered}");
    McpClient::start(project).wait_for(&run);
}

// A run must not go on without the budget that it was started with.
#[test]
fn a_run_whose_stored_budget_is_illegible_is_not_started_again() {
    let server = Server::start(vec![answered()]);
    let project = with_api(&server);
    let mut client = McpClient::start(&project);
    let run = client.call("run_start", &lane("k"))["run"].as_str().unwrap().to_owned();
    client.wait_for(&run);
    let request = project.path(BACKGROUND).join(run).join("request.json");
    let text = fs::read_to_string(&request).unwrap();
    fs::write(&request, text.replace("\"1k\"", "\"much\"")).unwrap();
    let refused = client.call_any("run_start", &lane("k"));
    assert_eq!(refused["isError"], json!(true), "{refused}");
    assert!(text_of(&refused).contains("cannot read the budget `much`"), "{refused}");
    assert!(text_of(&refused).contains("correct the budget in that file"), "{refused}");
}
