//! Pinned rules in the prompts of lanes beside those of clients: fans, the Agent Client Protocol, and
//! models' APIs.

use serde_json::Value;

use crate::acp_lane;
use crate::fan;
use crate::fan_server::{FanServer, item_of};
use crate::harness::Project;
use crate::http_lane::{chunk, stop, stream, with_api};
use crate::scripted_server::{Reply, Server};

/// Adds the rule.
fn ruled(project: Project) -> Project {
    project.stdout(&["pin", "add", "Never push to main"]);
    project
}

/// Checks that a prompt begins with the rule, once.
#[track_caller]
fn check(prompt: &str) {
    assert!(prompt.starts_with("=== RULES OF THE USER ===\n"), "{prompt}");
    assert_eq!(prompt.matches("\n- [rule 1] Never push to main\n").count(), 1, "{prompt}");
}

/// Checks that the rule was delivered.
#[track_caller]
fn has_receipt(project: &Project) {
    let list: Value = serde_json::from_str(&project.stdout(&["pin", "list", "--json"])).unwrap();
    assert!(list[0]["last_delivery"].is_object(), "{list}");
}

#[test]
fn rules_begin_every_prompt_of_a_fan() {
    let server = FanServer::start(|prompt| Some(format!("seen {}", item_of(prompt))));
    let project = ruled(fan::project(&server).file("items.txt", "a\nb\nc\n"));
    let done = fan::fan(&project, &["--lines", "items.txt"]);
    assert_eq!(fan::answers(&done), ["seen a", "seen b", "seen c"], "{done}");
    let prompts = server.prompts();
    assert_eq!(prompts.len(), 3);
    for prompt in &prompts {
        check(prompt);
    }
    let project = project.file("more.txt", "d\n");
    fan::fan(&project, &["--lines", "more.txt", "--no-pins"]);
    assert!(server.prompts().iter().all(|prompt| !prompt.contains("Never push")));
}

#[test]
fn rules_begin_the_prompt_of_an_agent_of_the_protocol() {
    let project = ruled(acp_lane::with_agent("codex-acp", ""));
    let done = acp_lane::run(&project, "acp:codex-acp", &[]);
    assert_eq!(done.code, Some(0), "{done}");
    let heard = acp_lane::heard(&project, "codex-acp");
    let lines = heard.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let asked = lines.into_iter().find(|line| line["method"] == "session/prompt").unwrap();
    check(asked["params"]["prompt"][0]["text"].as_str().unwrap());
    has_receipt(&project);
}

#[test]
fn rules_begin_the_prompt_to_an_api() {
    let server = Server::start(vec![Reply::Says(stream(&[chunk("It is 42."), stop()]))]);
    let project = ruled(with_api("chat", &server.url()));
    let asked = ["lane", "run", "--agent", "http:it", "What is it?"];
    assert_eq!(project.stdout(&asked), "It is 42.");
    let asked = server.asked();
    let body: Value = serde_json::from_str(asked.split_once("\r\n\r\n").unwrap().1).unwrap();
    let last = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    check(last.as_str().unwrap());
    has_receipt(&project);
}
