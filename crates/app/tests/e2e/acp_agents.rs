//! Agents of the Agent Client Protocol in `agents`, in `doctor` and under budgets.

use serde_json::{Value, json};

use crate::acp_lane::{heard, run, with_agent};
use crate::harness::Project;

/// An agent that answers its prompt with these words.
fn answering(program: &str, words: &str) -> Project {
    let update = json!({ "sessionUpdate": "agent_message_chunk", "messageId": "m-1",
        "content": { "type": "text", "text": words } });
    let params = json!({ "sessionId": "s-1", "update": update });
    let said = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params });
    let end = "{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{\"stopReason\":\"end_turn\"}}";
    with_agent(program, &format!("on session/prompt\n{said}\n{end}\n"))
        .variable("CONVOKE_HEALTH_PAUSE_SECONDS", "0")
}

fn listed(project: &Project, arguments: &[&str], name: &str) -> (Option<i32>, Value) {
    let outcome = project.run(&[&["agents", "--json"], arguments].concat());
    let printed = outcome.to_string();
    let all: Value = serde_json::from_str(&outcome.stdout).expect(&printed);
    let found = all.as_array().unwrap().iter().find(|agent| agent["agent"] == name);
    (outcome.code, found.cloned().unwrap_or_default())
}

fn prompts(project: &Project, program: &str) -> usize {
    heard(project, program).matches("\"session/prompt\"").count()
}

#[test]
fn a_probe_asks_agents_of_the_protocol() {
    let project = answering("codex-acp", "OK");
    let (code, agent) = listed(&project, &[], "acp:codex");
    assert_eq!((code, &agent["health"]), (Some(0), &json!("not asked")), "{agent}");
    assert_eq!(prompts(&project, "codex-acp"), 0);
    // The result is remembered, as that of a client is.
    for arguments in [&["--probe"][..], &["--probe", "acp:codex"], &[]] {
        let (code, agent) = listed(&project, arguments, "acp:codex");
        assert_eq!((code, &agent["health"]), (Some(0), &json!("healthy")), "{agent}");
        assert_eq!(prompts(&project, "codex-acp"), 1, "{arguments:?}");
    }
    let wrong = answering("codex-acp", "no");
    let (code, agent) = listed(&wrong, &["--probe"], "acp:codex");
    assert_eq!(code, Some(1), "{agent}");
    assert!(agent["error"].as_str().unwrap().contains("non-OK response: no"), "{agent}");
    let told = wrong.run(&["agents"]);
    let words = "acp:codex did not pass the probe: it answered `no` instead of `OK`";
    assert!(told.stdout.contains(words), "{told}");
    let (_, missing) = listed(&project, &["--probe", "acp:gemini"], "acp:gemini");
    assert_eq!(missing["health"], "missing", "{missing}");
    let unknown = project.run(&["agents", "acp:nobody"]);
    assert_eq!(unknown.code, Some(2), "{unknown}");
}

fn checked(project: &Project, arguments: &[&str]) -> Vec<(String, String)> {
    let outcome = project.run(&[&["doctor", "--json"], arguments].concat());
    let all: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let found = all.as_array().unwrap().iter().filter(|check| check["name"] == "acp agent");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    found.map(|check| (text(&check["level"]), text(&check["found"]))).collect()
}

// Without `--probe`, an agent begins a session and gets no prompt, which costs nothing.
#[test]
fn the_doctor_has_agents_begin_a_session() {
    let project = answering("codex-acp", "OK");
    let found = checked(&project, &[]);
    let [(level, words)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(level, "ok");
    assert!(words.starts_with("acp:codex begins a session by `"), "{words}");
    assert!(words.contains("/codex-acp`; `--probe`"), "{words}");
    let said = heard(&project, "codex-acp");
    assert!(said.contains("\"read-only\"") && !said.contains("session/prompt"), "{said}");
    assert_eq!(checked(&project, &["--probe"])[0].1, "acp:codex answers");

    let login = "on session/new\n{\"id\":@ID@,\"error\":{\"code\":-32000,\"message\":\"Who?\"}}\n";
    let (level, words) = &checked(&with_agent("codex-acp", login), &[])[0];
    assert!(level == "warn" && words.starts_with("acp:codex wants a login: Who?"), "{words}");
    let unsafe_modes = "on session/new\n{\"id\":@ID@,\"result\":{\"sessionId\":\"s\"}}\n";
    let (level, words) = &checked(&with_agent("codex-acp", unsafe_modes), &[])[0];
    assert!(level == "fail" && words.contains("does not offer the mode `read-only`"), "{words}");
    let dead = "on initialize\ndo echo 'no such flag' >&2; exit 3\n";
    let (level, words) = &checked(&with_agent("codex-acp", dead), &[])[0];
    let said = "it ended before it began a session: no such flag";
    assert!(level == "warn" && words.contains(said), "{words}");
    let forged = "on initialize\n{\"acp\":\"ready\"}\ndo exit 0\n";
    assert_eq!(checked(&with_agent("codex-acp", forged), &[])[0].0, "warn");

    let mine = with_agent("my-agent", "")
        .file("../home/.config/convoke/config.toml", "[acp.mine]\ncommand = ['not-there']\n");
    let (level, words) = &checked(&mine, &[])[0];
    assert!(level == "fail" && words.starts_with("acp:mine: cannot find `not-there`"), "{words}");
}

/// opencode, which reports the tokens of its last step.
fn partial() -> Project {
    let scenario = "on session/new\n{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{\"sessionId\":\"s-1\",\
        \"modes\":{\"availableModes\":[{\"id\":\"convoke-reader\"}]}}}\non session/set_mode\n\
        {\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{}}\n";
    with_agent("opencode", scenario)
}

// A budget that counts a part of what was spent must not look as if it counted all.
#[test]
fn a_budget_says_that_its_figure_is_not_all() {
    let project = partial();
    let budget = ["--run", "r1", "--budget", "3k"];
    let first = run(&project, "acp:opencode", &budget);
    assert_eq!(first.code, Some(0), "{first}");
    assert!(!first.stderr.contains("earlier lane"), "{first}");
    let second = run(&project, "acp:opencode", &budget);
    let words = "warning: 1 earlier lane reported a part of its usage; only that is counted\n";
    assert!(second.stderr.contains(words), "{second}");
    assert!(second.stderr.contains("over its budget: at least "), "{second}");
    let third = run(&project, "acp:opencode", &[&["--json"], &budget[..]].concat());
    assert_eq!(third.code, Some(5), "{third}");
    let report: Value = serde_json::from_str(&third.stdout).unwrap();
    assert_eq!(report["lanes_with_partial_usage"], 2, "{report:#}");
    assert!(report["trouble"].as_str().unwrap().contains("used at least "), "{report:#}");

    let usage = project.run(&["usage"]);
    assert!(usage.to_string().contains("2 lanes reported a part of their usage"), "{usage}");
    let cells = usage.stdout.lines().find(|line| line.contains("total")).unwrap_or_default();
    assert!(cells.contains('+'), "{usage}");
    let status = project.run(&["status"]);
    let words = status.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("(2 lanes reported a part of their usage)"), "{status}");
    let whole = with_agent("codex-acp", "");
    run(&whole, "acp:codex", &budget);
    let again = run(&whole, "acp:codex", &budget);
    assert!(!again.to_string().contains("a part of"), "{again}");
}
