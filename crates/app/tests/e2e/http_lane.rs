//! `convoke lane run --agent http:NAME`: servers that behave, and servers that do not.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::{Outcome, Project, set_mode};
use crate::scripted_server::{Reply, Server};

const CONFIG: &str = "../home/.config/convoke/config.toml";
const KEY: &str = "sk-very-secret-0123456789";

/// A project whose user has an API called `it` there.
pub(crate) fn with_api(api: &str, url: &str) -> Project {
    let config = format!(
        "[lane.http.it]\napi = '{api}'\nurl = '{url}'\nmodel = 'm-1'\nkey_env = 'IT_KEY'\n"
    );
    Project::new().file(CONFIG, config).variable("IT_KEY", KEY)
}

fn head(status: &str, kind: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n")
}

pub(crate) fn stream(events: &[Value]) -> String {
    let events: Vec<_> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    head("200 OK", "text/event-stream; charset=utf-8") + &events.concat()
}

pub(crate) fn chunk(content: &str) -> Value {
    json!({ "model": "m-1", "choices": [{ "delta": { "content": content } }] })
}

pub(crate) fn stop() -> Value {
    json!({ "model": "m-1", "choices": [{ "delta": {}, "finish_reason": "stop" }] })
}

fn spent() -> Value {
    json!({ "model": "m-1", "choices": [], "usage": { "prompt_tokens": 100,
        "completion_tokens": 20, "prompt_tokens_details": { "cached_tokens": 64 },
        "completion_tokens_details": { "reasoning_tokens": 8 } } })
}

fn run(project: &Project, more: &[&str]) -> Outcome {
    project.run(&[&["lane", "run", "--agent", "http:it", "What is it?"], more].concat())
}

fn report(project: &Project, more: &[&str]) -> (Value, Outcome) {
    let outcome = run(project, &[&["--json"], more].concat());
    (serde_json::from_str(&outcome.stdout).unwrap(), outcome)
}

/// An answer of the Messages API.
fn message() -> Vec<Value> {
    let started = json!({ "model": "m-1",
        "usage": { "input_tokens": 36, "cache_read_input_tokens": 64, "output_tokens": 1 } });
    vec![
        json!({ "type": "message_start", "message": started }),
        json!({ "type": "content_block_delta", "delta": { "text": "It is 42." } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" },
            "usage": { "output_tokens": 20 } }),
        json!({ "type": "message_stop" }),
    ]
}

#[test]
fn every_api_answers() {
    let usage = json!({ "input_tokens": 100, "output_tokens": 20,
        "input_tokens_details": { "cached_tokens": 64 },
        "output_tokens_details": { "reasoning_tokens": 8 } });
    let output = json!([{ "type": "message",
        "content": [{ "type": "output_text", "text": "It is 42." }] }]);
    let response =
        json!({ "status": "completed", "model": "m-1", "output": output, "usage": usage });
    for (api, path, header, reasoning, events) in [
        (
            "chat",
            "/v1/chat/completions",
            "authorization: bearer ",
            8,
            vec![chunk("It is "), chunk("42."), stop(), spent()],
        ),
        (
            "responses",
            "/v1/responses",
            "authorization: bearer ",
            8,
            vec![json!({ "type": "response.completed", "response": response })],
        ),
        ("messages", "/v1/messages", "x-api-key: ", 0, message()),
    ] {
        let server =
            Server::start(vec![Reply::Says(stream(&events)), Reply::Says(stream(&events))]);
        let project = with_api(api, &server.url());
        let plain = run(&project, &[]);
        assert_eq!((plain.code, plain.stdout.as_str()), (Some(0), "It is 42.\n"), "{api} {plain}");
        assert!(plain.stderr.ends_with(", 100 tokens in, 20 out\n"), "{api} {plain}");
        let asked = server.asked();
        assert!(asked.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{asked}");
        assert!(asked.to_lowercase().contains(&format!("{header}{KEY}\r\n")), "{asked}");
        let body: Value = serde_json::from_str(asked.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!((&body["model"], &body["stream"]), (&json!("m-1"), &json!(true)), "{body}");
        assert!(body.to_string().contains("What is it?"), "{body}");
        let (report, _) = report(&project, &[]);
        let spent = json!({ "input_tokens": 100, "cached_tokens": 64, "output_tokens": 20,
            "reasoning_tokens": reasoning, "micro_dollars": null });
        let mut usage = spent.clone();
        usage["tokens_of"] = json!("run");
        usage["money_of"] = json!("run");
        usage["partial"] = json!(false);
        usage["of_run"] = spent;
        assert_eq!(report["usage"], usage, "{api}");
        let found = ["agent", "outcome", "asked_model", "model"].map(|name| report[name].as_str());
        assert_eq!(found, ["http:it", "answered", "m-1", "m-1"].map(Some), "{api}");
        let kept = project.run(&["--json", "lane", "show", "2"]);
        let kept: Value = serde_json::from_str(&kept.stdout).unwrap();
        assert_eq!((&kept["asked_model"], &kept["model"]), (&json!("m-1"), &json!("m-1")));
    }
}

// A server that does not stream is understood too.
#[test]
fn an_answer_may_come_in_one_piece() {
    let body = json!({ "model": "m-1",
        "choices": [{ "message": { "content": "It is 42." }, "finish_reason": "stop" }] });
    let server =
        Server::start(vec![Reply::Says(head("200 OK", "application/json") + &body.to_string())]);
    let outcome = run(&with_api("chat", &server.url()), &[]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "It is 42.\n"), "{outcome}");
}

#[test]
fn every_failure_is_reported_by_its_kind() {
    let refused = |status: &str, more: &str, body: &str| {
        let head = head(status, "application/json").replacen("\r\n", &format!("\r\n{more}"), 1);
        Reply::Says(head + body)
    };
    let error = |words: &str| json!({ "error": { "message": words } }).to_string();
    let other = json!({ "model": "m-2", "choices": [{ "delta": { "content": "x" }, "finish_reason": "stop" }] });
    let cut_short =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n";
    let half = format!("data: {}\n\n", chunk("half an"));
    for (reply, outcome, words) in [
        (refused("401 Unauthorized", "", &error("bad key")), "auth", "answers 401: bad key"),
        (
            refused("429 Too Many Requests", "retry-after: 30\r\n", &error("slow down")),
            "rate_limited",
            "answers 429: slow down (retry after 30 s)",
        ),
        (refused("500 Oops", "", "oops"), "failed", "answers 500: oops"),
        (
            refused("302 Found", "location: http://192.0.2.1/v1\r\n", ""),
            "failed",
            "Convoke does not follow redirects",
        ),
        (
            Reply::Says(stream(&[]) + "data: {\"choices\": [\n\ndata: }{\n\n"),
            "exited_early",
            "closed the stream before the turn ended",
        ),
        (
            Reply::Says(head("200 OK", "text/html") + "<p>Hello!"),
            "exited_early",
            "Convoke cannot read the server's answer",
        ),
        (Reply::Says("nonsense\r\n\r\n".to_owned()), "not_started", "cannot reach http://127."),
        (Reply::Hangs(stream(&[chunk("half an")])), "stalled", ""),
        (Reply::Hangs(String::new()), "no_output", ""),
        (Reply::Says(stream(&[chunk("half an")])), "exited_early", "before the turn ended"),
        (Reply::Says(format!("{cut_short}{half}")), "exited_early", "the connection failed"),
        (Reply::Says(stream(&[chunk(" \n"), stop()])), "no_output", ""),
        (
            Reply::Says(stream(&[other])),
            "model_mismatch",
            "Convoke asked for m-1, but m-2 answered",
        ),
    ] {
        goes_wrong(reply, outcome, words);
    }
}

/// Sends a request to a server that replies so, and returns the report.
#[track_caller]
fn goes_wrong(reply: Reply, outcome: &str, words: &str) -> Value {
    let hangs = matches!(reply, Reply::Hangs(_));
    let server = Server::start(vec![reply]);
    let limits: &[&str] = if hangs { &["--stall", "1.5"] } else { &[] };
    let (report, found) = report(&with_api("chat", &server.url()), limits);
    assert_eq!((report["outcome"].as_str(), found.code), (Some(outcome), Some(4)), "{found}");
    let trouble = report["trouble"].as_str().unwrap_or_default();
    assert!(trouble.contains(words), "{outcome}: {trouble}");
    server.asked();
    // No connection stays open.
    assert!(!hangs || server.asked() == "gone");
    report
}

// In pieces or in one, the result is the same. Convoke reads no endless reply.
#[test]
fn too_long_an_answer_is_reported_in_one_way() {
    let huge = chunk(&"x".repeat(6 * 1024 * 1024));
    let most = "x".repeat(17 * 1024 * 1024);
    let in_one_piece = json!({ "model": "m-1", "choices": [{ "message": { "content": most } }] });
    let in_one_piece = head("200 OK", "application/json") + &in_one_piece.to_string();
    for reply in [
        Reply::Says(stream(&[huge.clone(), huge.clone(), huge])),
        Reply::Says(stream(&[chunk(&most)])),
        Reply::Hangs(in_one_piece),
    ] {
        let report = goes_wrong(reply, "failed", "the answer is longer than 16 MB");
        assert_eq!(report["end"], "exited 0");
    }
    let endless = head("500 Oops", "text/plain") + &"no ".repeat(70_000);
    goes_wrong(Reply::Hangs(endless), "failed", "answers 500: no no no");
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let outcome = run(&with_api("chat", &url), &[]);
    assert_eq!(outcome.code, Some(4), "{outcome}");
    assert!(outcome.stderr.contains("not started after "), "{outcome}");
    assert!(outcome.stderr.contains(&format!("cannot reach {url}: ")), "{outcome}");
}

// Once, and only before the server has sent anything.
#[test]
fn a_connection_that_is_reset_is_tried_again() {
    let answer = || Reply::Says(stream(&[chunk("It is 42."), stop()]));
    let server = Server::start(vec![Reply::Resets, answer()]);
    assert_eq!(run(&with_api("chat", &server.url()), &[]).stdout, "It is 42.\n");
    let server = Server::start(vec![Reply::Resets, Reply::Resets, answer()]);
    let (report, _) = report(&with_api("chat", &server.url()), &[]);
    assert_eq!(report["outcome"], "exited_early", "{report}");
}

#[test]
fn an_old_server_gets_a_smaller_request() {
    let words = json!({ "error": { "message": "unknown field stream_options" } }).to_string();
    let refused = head("400 Bad Request", "application/json") + &words;
    let server = Server::start(vec![
        Reply::Says(refused),
        Reply::Says(stream(&[chunk("It is 42."), stop()])),
    ]);
    assert_eq!(run(&with_api("chat", &server.url()), &[]).stdout, "It is 42.\n");
    assert!(server.asked().contains("stream_options"));
    assert!(!server.asked().contains("stream_options"));
}

// The server sees the closed connection, and the lane reports that it was stopped.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_it() {
    let server = Server::start(vec![Reply::Hangs(stream(&[chunk("half an")]))]);
    let project = with_api("chat", &server.url());
    let program = Path::new(env!("CARGO_BIN_EXE_convoke"));
    let arguments = ["lane", "run", "--agent", "http:it", "x", "--json", "--limit", "50"];
    let convoke = project.command(program, &arguments).spawn().unwrap();
    server.asked();
    let kill = format!("kill -INT {}", convoke.id());
    project.command(Path::new("/bin/sh"), &["-c", &kill]).status().unwrap();
    let found = convoke.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!((report["outcome"].as_str(), found.status.code()), (Some("cancelled"), Some(130)));
    assert_eq!(server.asked(), "gone");
}

/// Returns every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    paths.flat_map(below).collect()
}

// A server repeats the key in an error, and a model says it in two pieces.
#[test]
fn a_key_is_nowhere() {
    let words = json!({ "error": { "message": format!("no such key: {KEY}") } }).to_string();
    let (one, other) = KEY.split_at(9);
    let replies = || {
        vec![
            Reply::Says(head("401 Unauthorized", "application/json") + &words),
            Reply::Says(stream(&[chunk("Your key is "), chunk(one), chunk(other), stop()])),
            Reply::Says(stream(&[chunk(&format!("It is {KEY}.")), stop()])),
        ]
    };
    for more in [&["--json"][..], &[]] {
        let server = Server::start(replies());
        let project = with_api("chat", &server.url());
        for _ in 0..3 {
            let kept = ["--keep", "kept", "--record", "cassette"];
            let found = run(&project, &[more, &kept].concat()).to_string();
            assert!(!found.contains(KEY), "{found}");
            assert!(found.contains("***"), "{found}");
        }
        let files = files(&project.path(".."));
        assert!(files.iter().any(|path| path.ends_with("convoke/store.db")), "{files:?}");
        for path in files {
            let bytes = fs::read(&path).unwrap();
            let is_there = bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes());
            assert!(!is_there, "{}", path.display());
        }
        assert!(project.path("kept/stdout").exists() && project.path("cassette").exists());
    }
    let unset = with_api("chat", "http://127.0.0.1:1/v1").variable("IT_KEY", "two words");
    let refused = run(&unset, &[]);
    assert!(!refused.to_string().contains("two words"), "{refused}");
}

#[test]
fn an_api_is_the_users_own_to_configure() {
    let project = Project::new().file("convoke.toml", "[lane.http.it]\nurl = 'http://192.0.2.1'\n");
    let refused = project.run(&["brief"]);
    assert_eq!(refused.code, Some(0), "{refused}");
    assert!(refused.stderr.contains("`lane.http` in `"), "{refused}");
    assert!(!refused.stderr.contains("192.0.2.1"), "{refused}");
    let unknown = project.run(&["lane", "run", "--agent", "http:it", "x"]);
    assert!(
        unknown.stderr.contains("cannot find `[lane.http.it]` in your configuration"),
        "{unknown}"
    );
    let good = "api = 'chat'\nurl = 'http://127.0.0.1:1/v1'\nmodel = 'm-1'\n";
    for (config, words) in [
        ("api = 'chat'\nmodel = 'm'\n".to_owned(), "url is missing"),
        (good.replace("'chat'", "'soap'"), "it must be `chat`, `responses` or `messages`"),
        (good.replace("http:", "ftp:"), "it must be an `http` or `https` address"),
        (good.replace("127", "me:secret@127"), "it must not carry a name or a password"),
        (format!("{good}max_tokens = 0\n"), "it must be a whole number from 1 up"),
        (format!("{good}key = 'x'\n"), "there is no such key"),
        (format!("{good}key_env = 'NO_SUCH'\n"), "`NO_SUCH` is not set"),
        (format!("{good}key_file = 'key'\n"), "it must be an absolute path"),
        (
            good.replace("127.0.0.1", "192.0.2.1") + "key_env = 'HOME'\n",
            "Convoke would send the key unencrypted to another machine",
        ),
    ] {
        let project = Project::new().file(CONFIG, format!("[lane.http.it]\n{config}"));
        let outcome = project.run(&["lane", "run", "--agent", "http:it", "x"]);
        assert_eq!(outcome.code, Some(2), "{config} {outcome}");
        assert!(outcome.stderr.contains(words), "{config} {outcome}");
    }
}

#[cfg(unix)]
#[test]
fn a_key_in_a_file_is_for_its_owner_alone() {
    let server = Server::start(vec![Reply::Says(stream(&[chunk("It is 42."), stop()]))]);
    let project = with_api("chat", &server.url());
    let path = project.path("../home/key");
    fs::write(&path, format!("{KEY}\n")).unwrap();
    let config = fs::read_to_string(project.path(CONFIG)).unwrap();
    let file = format!("key_file = '{}'", path.display());
    let project = project.file(CONFIG, config.replace("key_env = 'IT_KEY'", &file));
    set_mode(&path, 0o640);
    let refused = run(&project, &[]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains("other users can read `") && !refused.stderr.contains(KEY));
    set_mode(&path, 0o600);
    assert_eq!(run(&project, &[]).stdout, "It is 42.\n");
    assert!(server.asked().contains(KEY));
}

// It keeps no session and has no tools.
#[test]
fn what_an_api_cannot_do_is_refused() {
    let project = with_api("chat", "http://127.0.0.1:1/v1");
    for (more, words) in [
        (&["--resume", "s-1"][..], "cannot give `http:it` a session to resume: it keeps none"),
        (&["--write"], "cannot give `http:it` files to change: it has no tools"),
    ] {
        let outcome = run(&project, more);
        assert_eq!(outcome.code, Some(2), "{outcome}");
        assert!(outcome.stderr.contains(words), "{outcome}");
    }
}

// An API keeps no session, so the second request for a verdict shows the reviewer its answer.
#[test]
fn an_api_is_shown_its_ambiguous_answer() {
    let unclear = "I do not approve.\n{\"approved\": true, \"issues\": []}";
    let clear = "{\"approved\": false, \"issues\": []}";
    let replies = [unclear, clear].map(|text| Reply::Says(stream(&[chunk(text), stop()])));
    let server = Server::start(replies.into());
    let feature = "docs/features/031-login";
    let project = with_api("chat", &server.url())
        .file(&format!("{feature}/spec.md"), "# Spec\n")
        .file(&format!("{feature}/design.md"), "# Design\n");
    let role = "implement/security-reviewer";
    let outcome =
        project.run(&["dispatch", "run", role, "--feature", "031", "--client", "http:it"]);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    let verdict = "\nverdict       FAIL\n              the reviewer also wrote: I do not approve. ";
    assert!(outcome.stdout.contains(verdict), "{outcome}");
    assert!(!server.asked().contains("## Your last answer"));
    let again = server.asked();
    assert!(again.contains("## Your last answer\\n```\\nI do not approve."), "{again}");
}
