//! `--otel` and `[telemetry]`: what a collector receives of a lane, and what it never does.

use insta::assert_snapshot;
use serde_json::json;

use crate::fan;
use crate::fan_server::{FanServer, item_of};
use crate::harness::{Outcome, Project};
use crate::lane::{init, result, with_claude};
use crate::otlp_receiver::{Collector, Span, accepted, answer};
use crate::panel::Panel;
use crate::scripted_server::{Reply, Server};

const USER: &str = "../home/.config/convoke/config.toml";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Words that only the prompt and the answer have.
const PROMPT: &str = "How does the zebrafish-7781 swim?";

fn with_agent() -> Project {
    with_claude(&format!("{}{}", init(), result(|_| ())))
}

fn lane(project: &Project, more: &[&str]) -> Outcome {
    let outcome = project.run(&[&["lane", "run", "--agent", "claude", PROMPT], more].concat());
    assert_eq!(outcome.code, Some(0), "{outcome}");
    outcome
}

#[test]
fn nothing_is_sent_unless_the_user_asks() {
    let collector = Collector::start();
    let project = with_agent().variable("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    lane(&project, &[]);
    assert_eq!(collector.received().requests.len(), 0);
    lane(&project, &["--otel"]);
    assert_eq!(collector.received().spans.len(), 1);
    let configured = format!("[telemetry]\nendpoint = '{}'\n", collector.url());
    lane(&with_agent().file(USER, configured), &[]);
    assert_eq!(collector.received().spans.len(), 1, "an address of the user's switches it on");
    let variable = with_agent().variable("CONVOKE_TELEMETRY_ENDPOINT", &collector.url());
    lane(&variable, &[]);
    assert_eq!(collector.received().spans.len(), 1);
    let off = lane(&project.variable("OTEL_SDK_DISABLED", "true"), &["--otel"]);
    assert!(off.stderr.contains("warning: cannot send all telemetry: OTEL_SDK_DISABLED is set\n"));
    assert_eq!(collector.received().requests.len(), 0);
}

#[test]
fn a_lane_is_a_span_with_its_usage() {
    let collector = Collector::start();
    let project = with_agent().variable("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    let plain = lane(&project, &[]);
    let told = lane(&project, &["--otel", "--role", "reader", "--label", "my own words"]);
    assert_eq!(told.stdout, plain.stdout);
    let received = collector.received();
    assert_snapshot!(received.tree());
    assert_eq!(received.spans[0].parent(), None);
    let tokens: Vec<_> = received
        .points("gen_ai.client.token.usage")
        .iter()
        .map(|(about, point)| (about["gen_ai.token.type"].clone(), point["sum"].clone()))
        .collect();
    let span = &received.spans[0].attributes;
    let number = |name: &str| -> f64 { span[name].as_str().unwrap().parse().unwrap() };
    let expected = [
        (json!("input"), json!(number("gen_ai.usage.input_tokens"))),
        (json!("output"), json!(number("gen_ai.usage.output_tokens"))),
    ];
    assert_eq!(tokens, expected);
    let [(about, time)] = &received.points("gen_ai.client.operation.duration")[..] else {
        panic!()
    };
    assert_eq!((&about["gen_ai.provider.name"], &time["count"]), (&json!("anthropic"), &json!(1)));
    let counts = time["bucketCounts"].as_array().unwrap().len();
    assert_eq!(counts, time["explicitBounds"].as_array().unwrap().len() + 1);
    let [(_, cost)] = &received.points("convoke.lane.cost")[..] else { panic!() };
    assert_eq!(cost["asDouble"], span["convoke.usage.cost_usd"]);
    let names: Vec<_> = received.resource.keys().map(String::as_str).collect();
    assert_eq!(names, ["service.name", "service.version", "convoke.project.name"]);
    assert_eq!(received.resource["convoke.project.name"], "project");
}

// The collector may be another company's.
#[test]
fn neither_prompts_nor_answers_nor_paths_are_sent() {
    let collector = Collector::start();
    let project = with_agent().variable("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    let answered = lane(&project, &["--otel", "--label", "capybara-12"]);
    let sent = collector.received().requests.join("\n");
    let top = project.path("..").canonicalize().unwrap().display().to_string();
    assert!(!answered.stdout.trim().is_empty());
    for secret in ["zebrafish", "swim", "capybara", answered.stdout.trim(), &top] {
        assert!(!sent.contains(secret), "{secret}: {sent}");
    }
    let with_content = format!("[telemetry]\nendpoint = '{}'\ncontent = true\n", collector.url());
    lane(&with_agent().file(USER, with_content), &[]);
    let received = collector.received();
    let said = |name: &str| received.spans[0].attributes[name].as_str().unwrap();
    let message = json!([{ "role": "user", "parts": [{ "type": "text", "content": PROMPT }] }]);
    assert_eq!(said("gen_ai.input.messages"), message.to_string());
    assert!(said("gen_ai.output.messages").contains(answered.stdout.trim()));
}

// A recording costs nothing, and its path is the user's own.
#[test]
fn a_replayed_lane_counts_no_tokens() {
    let collector = Collector::start();
    let panel = Panel::new();
    let project = panel.project;
    let seat = format!("replay:{}", project.path("../claude.jsonl").display());
    let project = project.variable("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    let words = ["lane", "run", "--otel", "--agent", &seat, "--label", "chair/plan/claude", "x"];
    let outcome = project.run(&words);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let received = collector.received();
    assert_snapshot!(received.tree());
    assert_eq!(received.metrics.len(), 0);
    let missing = project.run(&["lane", "run", "--otel", "--agent", "replay:none", "x"]);
    assert_eq!((missing.code, collector.received().requests.len()), (Some(3), 0), "{missing}");
}

#[test]
fn a_lane_continues_the_trace_around_it() {
    let collector = Collector::start();
    let traced = |flags: &str| {
        let parent = format!("00-{TRACE}-00f067aa0ba902b7-{flags}");
        let project = with_agent().variable("TRACEPARENT", &parent);
        let project = project.variable("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
        lane(&project, &["--otel"]);
        collector.received()
    };
    let sampled = traced("01");
    assert_eq!(sampled.spans[0].trace(), TRACE);
    assert_eq!(sampled.spans[0].parent(), Some("00f067aa0ba902b7"));
    let dropped = traced("00");
    assert!(dropped.spans.is_empty() && !dropped.metrics.is_empty());
    assert_ne!(traced("x").spans[0].trace(), TRACE, "an invalid parent does not count");
}

#[test]
fn the_environment_names_the_service_and_the_headers() {
    let collector = Collector::start();
    let project = with_agent()
        .variable("OTEL_EXPORTER_OTLP_ENDPOINT", &(collector.url() + "/"))
        .variable("OTEL_EXPORTER_OTLP_HEADERS", "x-key=s3cret-key,x-team=a%20b")
        .variable("OTEL_SERVICE_NAME", "reviews")
        .variable("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment=ci");
    lane(&project, &["--otel"]);
    let received = collector.received();
    assert_eq!(received.resource["service.name"], "reviews");
    assert_eq!(received.resource["deployment.environment"], "ci");
    let request = received.requests[0].to_lowercase();
    assert!(request.contains("\r\nx-key: s3cret-key\r\n"), "{request}");
    assert!(request.contains("\r\nx-team: a b\r\n"), "{request}");
    // A key goes to another machine encrypted, or not at all.
    let open = project.variable("OTEL_EXPORTER_OTLP_ENDPOINT", "http://192.0.2.1:4318");
    let refused = lane(&open, &["--otel"]);
    let why = "OTEL_EXPORTER_OTLP_HEADERS unencrypted to another machine; use `https`";
    assert!(refused.stderr.contains(why), "{refused}");
}

// A stranger's repository must not send data away.
#[test]
fn a_projects_file_cannot_name_a_collector() {
    let (theirs, mine) = (Collector::start(), Collector::start());
    let section = format!("[telemetry]\nendpoint = '{}'\ncontent = true\n", theirs.url());
    for file in ["convoke.toml", "convoke.local.toml"] {
        let project = with_agent().file(file, &section);
        let outcome = lane(&project, &[]);
        let remark = format!("{file}` is ignored: a project cannot choose where your data is sent");
        assert_eq!(outcome.stderr.matches(&remark).count(), 1, "{outcome}");
        let project = project.variable("OTEL_EXPORTER_OTLP_ENDPOINT", &mine.url());
        lane(&project, &["--otel"]);
        let sent = mine.received();
        assert_eq!(sent.spans.len(), 1);
        assert!(!sent.requests.concat().contains("zebrafish"), "content is off");
    }
    assert_eq!(theirs.received().requests.len(), 0);
}

// The answer was paid for; a collector decides nothing about it.
#[test]
fn a_failing_collector_costs_one_warning() {
    let big = "x".repeat(10 << 20);
    let echo = r#"{"code":3,"message":"bad key s3cret-key\u001b[31m\nwarning: forged"}"#;
    let partial = r#"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}"#;
    let moved = "HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    for (reply, why) in [
        (answer("500 Oh", ""), "the collector answers 500"),
        (answer("401 No", echo), "the collector answers 401: bad key *** [31m warning: forged"),
        (answer("500 Oh", &big), "the collector answers 500"),
        (accepted(&big), "the collector's answer has more than 65536 bytes"),
        (accepted(partial), "the collector rejected spans (1): too old"),
        (Reply::Says(moved.to_owned()), "the collector answers 307"),
        (Reply::Hangs(String::new()), "no answer within 5s"),
        (Reply::Hangs("HTTP/1.1 200 OK\r\ncontent-le".to_owned()), "no answer within 5s"),
        (Reply::Resets, ""),
    ] {
        let server = Server::start(vec![reply, accepted("{}")]);
        let project = with_agent()
            .variable("OTEL_EXPORTER_OTLP_HEADERS", "x-key=s3cret-key")
            .variable("OTEL_EXPORTER_OTLP_ENDPOINT", &server.origin());
        let plain = lane(&project, &[]);
        let told = lane(&project, &["--otel"]);
        assert_eq!(told.stdout, plain.stdout);
        let expected = format!("warning: cannot send all telemetry to {}: {why}", server.origin());
        let warnings: Vec<_> =
            told.stderr.lines().filter(|line| line.contains("telemetry")).collect();
        assert!(matches!(warnings[..], [line] if line.starts_with(&expected)), "{why}: {told}");
        assert!(!told.stderr.contains("s3cret-key"), "{told}");
    }
    let nowhere = with_agent().variable("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1");
    let told = lane(&nowhere, &["--otel"]);
    assert!(told.stderr.contains("telemetry to http://127.0.0.1:1: "), "{told}");
    let wrong = with_agent().variable("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317");
    let told = lane(&wrong, &["--otel"]);
    assert!(told.stderr.contains("Convoke cannot use OTEL_EXPORTER_OTLP_ENDPOINT"), "{told}");
}

// Every item is a lane, and the prompts of all of them stay here.
#[test]
fn a_fan_sends_a_span_for_each_item() {
    let server = FanServer::start(|prompt| Some(format!("zebrafish {}", item_of(prompt))));
    let collector = Collector::start();
    let project = fan::project(&server)
        .file("items.txt", "tetra-7781\nguppy-7781\n")
        .file("others.txt", "minnow-7781\n")
        .variable("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    let silent = fan::fan(&project, &["--lines", "others.txt"]);
    assert_eq!(silent.code, Some(0), "{silent}");
    assert_eq!(collector.received().requests.len(), 0);
    let told = fan::fan(&project, &["--lines", "items.txt", "--otel"]);
    assert_eq!(told.code, Some(0), "{told}");
    let received = collector.received();
    let names: Vec<_> = received.spans.iter().map(Span::name).collect();
    let count = |name: &str| names.iter().filter(|other| **other == name).count();
    assert_eq!((count("invoke_workflow fan"), count("chat m-1")), (1, 2), "{}", received.tree());
    for request in &received.requests {
        let text = format!("{request:?}");
        assert!(!text.contains("7781") && !text.contains("zebrafish"), "{text}");
    }
}
