//! `--park`: what a limit stopped goes on when the limit ends.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::fan::{answers, fan, project, run_of};
use crate::fan_server::{FanReply, FanServer, item_of};
use crate::harness::{Outcome, Project, set_mode};

const CONVOKE: &str = env!("CARGO_BIN_EXE_convoke");

/// A server whose first requests meet a limit, with this `retry-after`.
pub(crate) fn limited(count: usize, later: Option<&str>) -> FanServer {
    let (left, later) = (AtomicUsize::new(count), later.map(str::to_owned));
    FanServer::replying(move |_| {
        let before =
            left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match before {
            Ok(_) => FanReply::Limited(later.clone()),
            Err(_) => FanReply::Answer("It works.".to_owned()),
        }
    })
}

fn lane(project: &Project, more: &[&str]) -> Outcome {
    project.run(&[&["lane", "run", "--agent", "http:it", "Does it work?"], more].concat())
}

// P-402, P-403
#[test]
fn a_lane_waits_for_the_end_of_a_limit_and_asks_once_more() {
    let server = limited(1, Some("1"));
    let project = project(&server);
    let parked = lane(&project, &["--park"]);
    assert_eq!((parked.code, parked.stdout.trim()), (Some(0), "It works."), "{parked}");
    assert!(parked.stderr.contains("parked until 20"), "{parked}");
    assert_eq!(server.prompts().len(), 2);
    let lanes = project.stdout(&["lane", "list"]);
    assert!(lanes.contains("rate limited") && lanes.contains("answered"), "{lanes}");
}

// P-401, P-402
#[test]
fn a_lane_without_a_usable_time_does_not_wait() {
    let later = |later: Option<&str>, flags: &[&str]| {
        let server = limited(5, later);
        let outcome = lane(&project(&server), flags);
        assert_eq!(outcome.code, Some(4), "{outcome}");
        assert_eq!(server.prompts().len(), 1, "{outcome}");
        outcome
    };
    let plain = later(Some("600"), &["--json"]);
    let report: Value = serde_json::from_str(&plain.stdout).unwrap();
    assert!(report["resets_at"].as_str().is_some_and(|at| at.ends_with('Z')), "{report}");
    let plain = later(None, &["--json"]);
    let report: Value = serde_json::from_str(&plain.stdout).unwrap();
    assert!(report["resets_at"].is_null(), "{report}");
    for value in [None, Some("0"), Some("soon"), Some("Thu, 01 Jan 1970 00:00:00 GMT")] {
        let unknown = later(value, &["--park"]);
        let words = "warning: cannot park: the agent does not say when its limit ends";
        assert!(unknown.stderr.contains(words), "{unknown}");
    }
    let late = later(Some("90000"), &["--park"]);
    assert!(late.stderr.contains("warning: cannot park: the limit ends at 20"), "{late}");
    let late = later(Some("600"), &["--park", "--park-limit", "500"]);
    assert!(late.stderr.contains("`--park-limit` is 500 s"), "{late}");
}

// P-403: a limit that is still there is no reason to wait for ever.
#[test]
fn a_lane_asks_no_third_time() {
    let server = limited(5, Some("1"));
    let outcome = lane(&project(&server), &["--park"]);
    assert_eq!((outcome.code, server.prompts().len()), (Some(4), 2), "{outcome}");
}

/// Starts a command, and reads its messages until it waits.
fn parked(project: &Project, words: &[&str]) -> (Child, impl BufRead) {
    let mut command = project.command(CONVOKE.as_ref(), words);
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut messages = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("parked until") {
        line.clear();
        assert!(messages.read_line(&mut line).unwrap() > 0, "it did not park");
    }
    (child, messages)
}

// P-404
#[test]
fn a_person_who_stops_a_wait_learns_how_to_go_on() {
    let server = limited(1, Some("600"));
    let project = project(&server);
    let words = ["lane", "run", "--agent", "http:it", "Does it work?", "--park"];
    let (mut child, messages) = parked(&project, &words);
    project.shell(&format!("kill -INT {}", child.id()), "");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let rest: Vec<_> = messages.lines().map(Result::unwrap).collect();
    assert!(
        rest.iter().any(|line| line.contains("repeat the command; the limit ends")),
        "{rest:?}"
    );
    assert_eq!(server.prompts().len(), 1);
}

/// A client that says so in its own words at its first start, and then answers.
fn client(project: Project, words: &str) -> Project {
    let script = format!(
        "#!/bin/sh\ncat > /dev/null\nif [ -e \"$HOME/asked\" ]; then\n\
         echo '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"Yes.\",\
         \"session_id\":\"s\",\"uuid\":\"u\"}}'\nelse\n: > \"$HOME/asked\"\n\
         at=$(($(date +%s) + 2))\n{words}\nfi\n"
    );
    let project = project.file("../bin/claude", script);
    set_mode(&project.path("../bin/claude"), 0o755);
    let path = format!("{}:/usr/bin:/bin", project.path("../bin").display());
    project.variable("PATH", &path)
}

// P-401: the words and the fields of a client.
#[test]
fn a_client_says_when_its_limit_ends() {
    let result = |words: &str| {
        format!(
            "echo '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\
             \"api_error_status\":429,\"result\":\"'\"{words}\"'\",\"session_id\":\"s\",\"uuid\":\"u\"}}'"
        )
    };
    let event = "echo '{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"rejected\",\
         \"resetsAt\":'$at'},\"uuid\":\"u\",\"session_id\":\"s\"}'\n";
    for words in [
        result("Claude AI usage limit reached|$at"),
        result("Your limit is reached. Try again in 2s."),
        event.to_owned() + &result("You have hit your limit"),
    ] {
        let project = client(Project::new(), &words);
        let asked = ["lane", "run", "--agent", "claude", "Does it work?", "--park"];
        let outcome = project.run(&asked);
        assert_eq!((outcome.code, outcome.stdout.trim()), (Some(0), "Yes."), "{words} {outcome}");
        assert!(outcome.stderr.contains("parked until 20"), "{words} {outcome}");
    }
}

/// A server that meets its limit once, at this item.
pub(crate) fn limited_at(item: &'static str, later: &'static str) -> FanServer {
    let met = Arc::new(AtomicUsize::new(0));
    FanServer::replying(move |prompt| {
        let asked = item_of(prompt);
        if asked == item && met.fetch_add(1, Ordering::SeqCst) == 0 {
            return FanReply::Limited(Some(later.to_owned()));
        }
        FanReply::Answer(format!("seen {asked}"))
    })
}

// F-16
#[test]
fn a_fan_out_goes_on_with_what_is_missing_when_the_limit_ends() {
    let server = limited_at("c", "1");
    let project = project(&server).file("items.txt", "a\nb\nc\nd\ne\n");
    for more in [&[][..], &["--fresh", "--stream"]] {
        let words = ["--lines", "items.txt", "--parallel", "1", "--park"];
        let outcome = fan(&project, &[&words, more].concat());
        assert_eq!(outcome.code, Some(0), "{outcome}");
        let all = ["seen a", "seen b", "seen c", "seen d", "seen e"];
        assert_eq!(answers(&outcome), all, "each result once, in order: {outcome}");
        let is_first = more.is_empty();
        assert_eq!(outcome.stderr.contains("parked until 20"), is_first, "{outcome}");
        let asked = server.items();
        let expected: &[&str] =
            if is_first { &["a", "b", "c", "c", "d", "e"] } else { &["a", "b", "c", "d", "e"] };
        assert_eq!(asked, expected, "nothing finished is asked again");
    }
}

// F-16
#[test]
fn results_that_stream_wait_for_an_item_that_a_limit_stopped() {
    let server = limited_at("b", "1");
    let project = project(&server).file("items.txt", "a\nb\nc\n");
    let words = ["--lines", "items.txt", "--parallel", "1", "--park", "--stream"];
    let outcome = fan(&project, &words);
    assert_eq!(
        (outcome.code, answers(&outcome)),
        (Some(0), ["seen a", "seen b", "seen c"].map(str::to_owned).to_vec()),
        "{outcome}"
    );
}

// F-16: a parked fan-out that is killed or stopped goes on like any other.
#[test]
fn a_parked_fan_out_outlives_its_process() {
    for (signal, code) in [("-KILL", None), ("-INT", Some(130))] {
        let server = limited_at("b", "600");
        let project = project(&server).file("items.txt", "a\nb\nc\n");
        let words = ["fan", "--agent", "http:it", "What is {{item}}?", "--lines", "items.txt"];
        let words = [&words[..], &["--parallel", "1", "--park"]].concat();
        let (mut child, messages) = parked(&project, &words);
        let run = run_of(&project);
        let shown = project.stdout(&["show", &run]);
        assert!(shown.contains("parked until"), "{shown}");
        project.shell(&format!("kill {signal} {}", child.id()), "");
        let mut stdout = child.stdout.take().unwrap();
        assert_eq!(child.wait().unwrap().code(), code);
        let mut results = String::new();
        stdout.read_to_string(&mut results).unwrap();
        assert_eq!(results.contains("seen a"), code.is_some(), "{results}");
        let hint = format!("convoke resume {run} --park; the limit ends at");
        let told = messages.lines().any(|line| line.unwrap().contains(&hint));
        assert_eq!(told, code.is_some());
        let rest = project.run(&["resume", &run, "--park"]);
        assert_eq!(rest.code, Some(0), "{rest}");
        assert_eq!(answers(&rest), ["seen a", "seen b", "seen c"]);
        assert_eq!(server.items(), ["a", "b", "b", "c"], "nothing finished is asked again");
    }
}
