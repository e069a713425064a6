//! `convoke mcp`: what clients see, and what they cannot do.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::Project;
use crate::mcp_client::{Lifecycle, McpClient, text_of};
use crate::mcp_runs::{answered, with_api};
use crate::scripted_server::Server;

const TOOLS: [&str; 8] =
    ["wake", "brief", "tasks", "task_update", "say", "run_start", "run_status", "run_result"];

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// Returns whether a tool only reads, destroys, can be repeated, and reaches the world outside; with the
/// protocol's defaults.
fn hints(tool: &Value) -> [bool; 4] {
    let hint = |name: &str, default| tool["annotations"][name].as_bool().unwrap_or(default);
    let reads = hint("readOnlyHint", false);
    // The protocol gives the two in the middle no meaning for a tool that only reads.
    [
        reads,
        !reads && hint("destructiveHint", true),
        reads || hint("idempotentHint", false),
        hint("openWorldHint", true),
    ]
}

/// The same as the reference promises it.
fn promised(tool: &str) -> [bool; 4] {
    match tool {
        "wake" | "brief" | "tasks" | "run_status" => [true, false, true, false],
        "task_update" => [false, false, true, false],
        "say" => [false, false, false, false],
        "run_start" => [false, false, true, true],
        _ => [false, false, false, true],
    }
}

#[test]
fn both_lifecycles_are_served() {
    let project = Project::new().on_branch("main");
    let id = project.stdout(&["task", "add", "Write the model"]);
    for lifecycle in [Lifecycle::Handshake, Lifecycle::Stateless] {
        let mut client = McpClient::begin(&project, lifecycle);
        let told = client.greeting["instructions"].as_str().unwrap().to_owned();
        assert!(told.starts_with(&format!("You are @me; next: {id} (Write the model).")), "{told}");
        let list = client.request("tools/list", json!({}));
        assert_eq!(names(&list), TOOLS);
        for tool in list["tools"].as_array().unwrap() {
            assert_eq!(hints(tool), promised(tool["name"].as_str().unwrap()), "{tool}");
        }
        let tasks = client.call("tasks", &json!({}));
        assert_eq!(tasks["tasks"][0]["id"], json!(id));
        // opencode cancels every call that it has its answer to.
        let cancelled = json!({"requestId": 4711, "reason": "done"});
        client.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled,
        }));
        assert_eq!(client.call("tasks", &json!({}))["tasks"][0]["id"], json!(id));
        assert!(client.close());
    }
}

// Programs of Node give the server sockets, not pipes.
#[test]
fn a_client_with_sockets_for_pipes_is_served() {
    let project = Project::new();
    let mut command = project.command(Path::new(env!("CARGO_BIN_EXE_convoke")), &["mcp"]);
    let [(ours_in, input), (ours_out, output)] =
        [UnixStream::pair(), UnixStream::pair()].map(Result::unwrap);
    let streams = [input, output].map(|stream| Stdio::from(OwnedFd::from(stream)));
    let [input, output] = streams;
    let mut server = command.stdin(input).stdout(output).stderr(Stdio::null()).spawn().unwrap();
    drop(command);
    let info = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    (&ours_in).write_all(format!("{hello}\n").as_bytes()).unwrap();
    ours_out.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let mut line = String::new();
    BufReader::new(&ours_out).read_line(&mut line).unwrap();
    assert!(line.contains("\"serverInfo\""), "{line}");
    drop(ours_in);
    assert!(server.wait().unwrap().success());
}

#[test]
fn a_client_that_only_starts_the_server_is_no_failure() {
    let project = Project::new();
    let outcome = project.run_with_input(&["mcp"], b"");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{outcome}");
    let outcome = project.run_with_input(&["mcp"], b"hello\n");
    assert_ne!(outcome.code, Some(70), "{outcome}");
}

#[test]
fn work_goes_on_by_tools_alone() {
    let project = Project::new().on_branch("main").variable("CONVOKE_AGENT", "june");
    let id = project.stdout(&["task", "add", "Write the model"]);
    project.stdout(&["say", "--as", "ana", "--to", "june", "Use two lines,\nplease."]);
    let mut client = McpClient::start(&project);
    let started = client.call_any("task_update", &json!({"id": id, "action": "start"}));
    assert_eq!(started["structuredContent"]["status"], json!("in_progress"));
    assert_eq!(started["structuredContent"]["agent"], json!("june"));
    let last = "1 unread message for @june: call `wake`";
    assert!(text_of(&started).ends_with(last), "{started}");
    assert_eq!(started["structuredContent"]["unread"], json!(last));
    // The same call again changes nothing.
    let again = client.call("task_update", &json!({"id": id, "action": "start"}));
    assert_eq!(again["status"], json!("in_progress"));

    let woken = client.call_any("wake", &json!({}));
    assert!(text_of(&woken).contains("@ana:\n> Use two lines,\n> please."), "{woken}");
    assert!(text_of(&woken).ends_with("no unread messages for @june"), "{woken}");
    assert_eq!(woken["structuredContent"]["task"], json!(id));
    let facts = woken["structuredContent"]["text"].as_str().unwrap();
    assert!(facts.contains("> Use two lines,") && facts.contains("Write the model"));

    let done = json!({"id": id, "action": "done", "note": "with tests"});
    let done = client.call("task_update", &done);
    assert_eq!((&done["status"], &done["notes"]), (&json!("completed"), &json!("with tests")));
    let said = client.call("say", &json!({"text": "@human it is done", "re": "1"}));
    assert_eq!(said["re"], json!(1));
    assert!(project.stdout(&["inbox", "human"]).contains("it is done"));
}

// W-21: a page that was not asked for delivers nothing, and neither does a part of a message.
#[test]
fn a_message_is_read_when_its_last_page_was_delivered() {
    let project = Project::new().on_branch("main").variable("CONVOKE_AGENT", "june");
    let long = (0..900).map(|line| format!("line {line} of a long message\n"));
    let long = long.collect::<String>() + "the end of it";
    for text in ["an early one", &long, "a late one"] {
        project.stdout(&["say", "--as", "ana", "--to", "june", text]);
    }
    let unread = |project: &Project| {
        let inbox = project.stdout(&["inbox", "june"]);
        ["an early one", "the end of it", "a late one"].map(|text| inbox.contains(text))
    };
    let mut client = McpClient::start(&project);
    let first = client.call("wake", &json!({}));
    assert!(first["text"].as_str().unwrap().contains("an early one"), "{first}");
    assert!(unread(&project)[1], "the long message is not delivered yet");
    let from = first["next_from"].as_u64().unwrap();
    // A later page alone does not make up for those before it.
    let skipped = client.call("wake", &json!({"from": from + 15_000}));
    assert!(unread(&project)[1], "{skipped}");

    let first = client.call("wake", &json!({}));
    let mut all = first["text"].as_str().unwrap().to_owned();
    let mut from = first["next_from"].clone();
    while !from.is_null() {
        assert!(unread(&project)[1]);
        let page = client.call("wake", &json!({ "from": from }));
        all += page["text"].as_str().unwrap();
        from = page["next_from"].clone();
    }
    let missing = (0..900).find(|line| !all.contains(&format!("line {line} of a long message")));
    assert_eq!(missing, None, "every page together has the whole message");
    assert_eq!(unread(&project), [false; 3]);
    let again = client.call_any("wake", &json!({}));
    assert!(text_of(&again).ends_with("no unread messages for @june"), "{again}");
}

// A model that looks for another agent's wake-up must not take its messages away.
#[test]
fn only_its_own_messages_are_read() {
    let project = Project::new().on_branch("main").variable("CONVOKE_AGENT", "june");
    project.stdout(&["agent", "add", "kai", "--client", "codex"]);
    project.stdout(&["say", "--as", "ana", "--to", "kai", "for kai alone"]);
    let mut client = McpClient::start(&project);
    let other = client.call_any("wake", &json!({"as": "@kai"}));
    assert!(text_of(&other).contains("for kai alone"), "{other}");
    assert!(project.stdout(&["inbox", "kai"]).contains("for kai alone"));
}

#[test]
fn long_texts_come_in_pages() {
    let lines = (0..6000).map(|line| format!("line {line} of \"150 KB\" — ä\n"));
    let text = lines.collect::<Vec<_>>().concat();
    assert!(text.len() > 150_000);
    let line = "x".repeat(150_000);
    let project = Project::new().file("long.md", &text).file("line.md", &line);
    let mut client = McpClient::start(&project);
    for (name, whole) in [("long.md", &text), ("line.md", &line)] {
        let arguments = json!({"documents": [name], "budget": 1_000_000});
        let (mut all, mut from, mut pages) = (String::new(), json!(0), 0);
        loop {
            let mut arguments = arguments.clone();
            arguments["from"] = from;
            let page = client.call("brief", &arguments);
            all += page["text"].as_str().unwrap();
            pages += 1;
            let Some(next) = page.get("next_from") else { break };
            from = next.clone();
        }
        assert!(pages > 20, "{pages}");
        assert!(all.contains(whole.trim_end()), "{name}");
    }
}

// What a model writes is never trusted, and the server lives on.
#[test]
fn hostile_arguments_are_refused_in_words() {
    let project = Project::new().on_branch("main").file("../outside.md", "secret");
    std::os::unix::fs::symlink("../outside.md", project.path("link-out")).unwrap();
    let before = project.listing();
    let mut client = McpClient::start(&project);
    let rows = fs::read_to_string(format!(
        "{}/tests/fixtures/mcp/hostile.jsonl",
        env!("CARGO_MANIFEST_DIR")
    ));
    for row in rows.unwrap().lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let result = client.call_any(row["tool"].as_str().unwrap(), &row["arguments"]);
        assert_eq!(result["isError"], json!(true), "{row}: {result}");
        let (text, facts) = (text_of(&result), result["structuredContent"].to_string());
        let says = row["says"].as_str().unwrap();
        assert!(text.contains(says), "{row}: {text}");
        assert!(facts.contains(&says.replace('"', "\\\"")), "{row}: {facts}");
    }
    for (tool, name) in [("wake", "as"), ("run_status", "run"), ("run_start", "key"), ("say", "to")]
    {
        for text in ["x".repeat(10_000_000), "a\0b".to_owned(), "../".repeat(2000)] {
            let mut hostile = json!({"kind": "lane", "text": "x", "key": "k", "run": "x"});
            let known = ["wake", "run_status", "say"].contains(&tool);
            hostile = if known { json!({}) } else { hostile };
            if tool == "say" {
                hostile["text"] = json!("x");
            }
            hostile[name] = json!(text);
            assert_eq!(client.call_any(tool, &hostile)["isError"], json!(true), "{tool}");
        }
    }
    assert_eq!(client.call_any("wake", &json!({"y".repeat(300_000): 1}))["isError"], json!(true));
    // What is no message is passed over.
    client.send_bytes(b"\xff\xfe{\"jsonrpc\"\n\0\0\n[]\n{}\n\"x\"\nnull\n");
    for lost in [json!("x"), json!(null), json!(-1), json!({})] {
        let params = json!({"requestId": lost});
        let cancelled = "notifications/cancelled";
        client.send(&json!({"jsonrpc": "2.0", "method": cancelled, "params": params}));
    }
    assert_eq!(client.call("tasks", &json!({}))["tasks"], json!([]));
    assert_eq!(project.listing(), before);
}

#[test]
fn a_user_switches_tools_off_one_by_one() {
    let project = Project::new().file("../home/.config/convoke/config.toml", "mcp.allow = ['say']");
    // A committed file can take away, and not give.
    let project = project.file("convoke.toml", "mcp.allow = ['say', 'run_start']");
    let mut client = McpClient::start(&project);
    let list = client.request("tools/list", json!({}));
    assert_eq!(names(&list), ["wake", "brief", "tasks", "say", "run_status", "run_result"]);
    let off = client.call_any("task_update", &json!({"id": "t-1", "action": "done"}));
    assert!(text_of(&off).contains("the user has switched `task_update` off"), "{off}");
    let off =
        client.call_any("run_result", &json!({"run": "20200101-000000-00000", "answer": "1"}));
    assert!(text_of(&off).contains("switched off `run_start`"), "{off}");
    assert_eq!(client.request("prompts/list", json!({}))["prompts"].as_array().unwrap().len(), 1);

    let project = project.file("convoke.toml", "mcp.allow = []");
    let mut client = McpClient::start(&project);
    let list = client.request("tools/list", json!({}));
    assert_eq!(names(&list), ["wake", "brief", "tasks", "run_status", "run_result"]);
}

// An agent could spend more through Convoke than its own lane may.
#[test]
fn lanes_have_no_tools_unless_their_user_says_so() {
    let project = Project::new().variable("CONVOKE_LANE", "1");
    let mut client = McpClient::start(&project);
    assert_eq!(names(&client.request("tools/list", json!({}))), [""; 0]);
    let told = client.greeting["instructions"].as_str().unwrap();
    assert!(told.contains("lanes, which have no access"), "{told}");
    assert_eq!(client.call_any("wake", &json!({}))["isError"], json!(true));

    let project = project.variable("CONVOKE_MCP_IN_LANES", "true");
    let mut client = McpClient::start(&project);
    assert_eq!(names(&client.request("tools/list", json!({}))), TOOLS);
    let answer = json!({"run": "20200101-000000-00000", "answer": "1"});
    let refused = client.call_any("run_result", &answer);
    assert!(text_of(&refused).contains("cannot answer for the person"), "{refused}");
}

// No agent spends more through another agent, and none starts agents without end.
#[test]
fn a_lane_gives_runs_no_more_than_is_left_of_its_own_budget() {
    let start = |client: &mut McpClient, key: &str, budget: &str| {
        let agent = "http:it";
        client.call_any(
            "run_start",
            &json!({"kind": "lane", "key": key, "text": "x", "agent": agent, "budget": budget}),
        )
    };
    let server = Server::start((0..8).map(|_| answered()).collect());
    let project = with_api(&server)
        .variable("CONVOKE_MCP_IN_LANES", "true")
        .variable("CONVOKE_LANE", "4711 1 tokens=1500 outer run");
    let mut client = McpClient::start(&project);
    let first = start(&mut client, "first", "1k");
    assert_eq!(first["structuredContent"]["budget"], json!("1k"), "{first}");
    let second = start(&mut client, "second", "1k");
    assert_eq!(second["structuredContent"]["budget"], json!("500"), "{second}");
    let third = start(&mut client, "third", "1");
    assert!(text_of(&third).contains("nothing is left of the budget"), "{third}");
    assert_eq!(
        start(&mut client, "first", "1k")["structuredContent"]["was_started_before"],
        json!(true)
    );
    let money = start(&mut client, "money", "$1");
    assert!(text_of(&money).contains("cannot be compared with that of the lane"), "{money}");

    let project = project.variable("CONVOKE_LANE", "4711 3 - ");
    let mut client = McpClient::start(&project);
    let deep = start(&mut client, "deep", "1k");
    assert!(text_of(&deep).contains("may start no further agent"), "{deep}");
}

// Some clients start a server with few variables, so that the mark of the lane is lost.
#[cfg(target_os = "linux")]
#[test]
fn a_server_finds_the_lane_that_its_client_hides() {
    let project = Project::new().variable("CONVOKE_LANE", "1");
    let program = env!("CARGO_BIN_EXE_convoke");
    let mut command = project.command(Path::new("/bin/sh"), &["-c"]);
    // The shell stays as the parent, with the mark.
    command.arg(format!("env -u CONVOKE_LANE '{program}' mcp; true"));
    let mut client = McpClient::begin_with(command, Lifecycle::Handshake);
    assert_eq!(names(&client.request("tools/list", json!({}))), [""; 0]);
}

#[test]
fn prompts_and_resources_are_listed() {
    let project = Project::new().on_branch("main");
    let mut client = McpClient::start(&project);
    let prompts = client.request("prompts/list", json!({}));
    assert_eq!(prompts["prompts"][0]["name"], json!("wake"));
    let design = json!({"name": "design", "arguments": {"feature": "Keep drafts"}});
    let made = client.request("prompts/get", design);
    let text = made["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("Keep drafts") && text.contains("run_start"), "{text}");
    let templates = client.request("resources/templates/list", json!({}));
    let form = &templates["resourceTemplates"][0]["uriTemplate"];
    assert_eq!(*form, json!("convoke://run/{id}/{artifact}"));
}
