//! `convoke lane run --record FILE` and `--agent replay:FILE`.

use std::fs;

use serde_json::{Value, json};

use crate::harness::Project;
use crate::scripted_server::{Reply, Server};

/// A project with a cassette on which one lane was recorded, from a server that answers once.
fn recorded(more: &[&str]) -> Project {
    let event = json!({ "model": "m-1", "usage": { "prompt_tokens": 9, "completion_tokens": 4 },
        "choices": [{ "delta": { "content": "It is 42." }, "finish_reason": "stop" }] });
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let server = Server::start(vec![Reply::Says(format!("{head}data: {event}\n\n"))]);
    let config = format!("[lane.http.it]\napi = 'chat'\nurl = '{}'\nmodel = 'm-1'\n", server.url());
    let project = Project::new().file("../home/.config/convoke/config.toml", config);
    let home = project.path("../home").canonicalize().unwrap();
    let project = project.variable("HOME", &home.display().to_string());
    let prompt = format!("Look at {}/x.\nWhat is it?", home.display());
    let arguments = ["lane", "run", "--agent", "http:it", &prompt, "--record", "tape"];
    let outcome = project.run(&[&arguments[..], more].concat());
    assert_eq!(outcome.code, Some(0), "{outcome}");
    project
}

fn play(project: &Project, prompt: &str, more: &[&str]) -> crate::harness::Outcome {
    project.run(&[&["lane", "run", "--agent", "replay:tape", prompt], more].concat())
}

#[test]
fn a_recording_is_played() {
    let project = recorded(&[]);
    let tape = fs::read_to_string(project.path("tape")).unwrap();
    let kinds: Vec<String> = tape
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .flat_map(|line| line.as_object().unwrap().keys().cloned().collect::<Vec<_>>())
        .collect();
    assert_eq!(kinds, ["cassette", "request", "model", "text", "usage", "ended", "end"], "{tape}");
    let home = project.path("../home").canonicalize().unwrap();
    assert!(!tape.contains(&*home.display().to_string()), "{tape}");
    assert!(tape.contains("Look at ~/x."), "{tape}");

    let prompt = format!("Look at {}/x.\nWhat is it?", home.display());
    let played = play(&project, &prompt, &[]);
    assert_eq!((played.code, played.stdout.as_str()), (Some(0), "It is 42.\n"), "{played}");
    assert!(played.stderr.contains(" s (recorded), 9 tokens in, 4 out\n"), "{played}");
    let report: Value = serde_json::from_str(&play(&project, &prompt, &["--json"]).stdout).unwrap();
    assert_eq!((&report["recorded"], &report["model"]), (&json!(true), &json!("m-1")));
    // It is judged like any other lane.
    let edited = tape.replace("It is 42.", " ");
    fs::write(project.path("tape"), &edited).unwrap();
    let report: Value = serde_json::from_str(&play(&project, &prompt, &["--json"]).stdout).unwrap();
    assert_eq!(report["outcome"], "no_output");
}

// An answer to another question does not count.
#[test]
fn a_missing_recording_is_not_made_up() {
    let project = recorded(&[]);
    let other = play(&project, "What else?", &[]);
    assert_eq!((other.code, other.stdout.as_str()), (Some(4), ""), "{other}");
    let expected = "trouble: no recorded answer for this prompt; 1 recorded\n\
        hint: record it with `--record FILE`, or name a recorded lane's `--label`\n\
        not started after 0.0 s (recorded): no recorded answer for this prompt; 1 recorded\n";
    assert_eq!(other.stderr, expected);
}

#[test]
fn a_label_finds_its_recording() {
    let project = recorded(&["--label", "sketch/one"]);
    let found = play(&project, "Another prompt", &["--label", "sketch/one"]);
    assert_eq!((found.code, found.stdout.as_str()), (Some(0), "It is 42.\n"), "{found}");
    assert_eq!(play(&project, "Another prompt", &["--label", "sketch/two"]).code, Some(4));
    // Recording a replay appends, and overwrites nothing.
    let again = ["--label", "sketch/one", "--record", "tape"];
    assert_eq!(play(&project, "Another prompt", &again).code, Some(0));
    let tape = fs::read_to_string(project.path("tape")).unwrap();
    assert_eq!(
        (tape.matches("{\"request\"").count(), tape.matches("{\"cassette\"").count()),
        (2, 1)
    );
}

#[test]
fn a_broken_cassette_is_named_with_its_line() {
    let project = Project::new().file("tape", "{\"cassette\":{\"version\":1}}\n{\"text\":\n");
    let broken = play(&project, "x", &[]);
    assert_eq!(broken.code, Some(3), "{broken}");
    assert!(broken.stderr.starts_with("error: cannot use cassette `tape`\n"), "{broken}");
    assert!(broken.stderr.contains("line 2 is not a known event"), "{broken}");
    // Before any request, which would cost tokens.
    let recording = ["lane", "run", "--agent", "http:none", "x", "--record", "tape"];
    let refused = project.run(&recording);
    assert!(refused.stderr.starts_with("error: cannot use cassette `tape`\n"), "{refused}");
    // A path that is not a file is refused, and not waited for.
    for (words, why) in [
        ("--agent http:none --record /dev/full", "not a regular file"),
        ("--agent http:none --record .", "not a regular file"),
        ("--agent replay:/dev/zero", "not a regular file"),
        ("--agent replay:huge", "a cassette has at most 256 MB"),
    ] {
        let huge = fs::File::create(project.path("huge")).unwrap();
        huge.set_len(3 << 30).unwrap();
        let words: Vec<_> = words.split(' ').collect();
        let refused = project.run(&[&["lane", "run", "x"], &words[..]].concat());
        assert_eq!(refused.code, Some(3), "{refused}");
        assert!(refused.stderr.contains(why), "{refused}");
    }
}

#[test]
fn a_missing_cassette_is_reported_and_makes_no_lane() {
    let project = Project::new();
    let missing = project.run(&["lane", "run", "--agent", "replay:nope.jsonl", "x"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (Some(3), ""), "{missing}");
    let expected = "error: there is no file `nope.jsonl`\n\
        hint: `convoke lane run --record FILE` records a lane, which `replay:FILE` plays\n";
    assert_eq!(missing.stderr, expected);
    assert_eq!(project.run(&["lane", "list"]).stdout, "No lanes yet.\n");
}
