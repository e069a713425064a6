//! Telemetry of designs and dispatches: one trace, no span twice, and nothing from a replay.

use std::collections::BTreeSet;

use insta::assert_snapshot;

use crate::dispatch_loop;
use crate::harness::Project;
use crate::otlp_receiver::{Collector, Received, Span};
use crate::panel::{FEATURE, Panel, answers};

const USER: &str = "../home/.config/convoke/config.toml";

/// Tells whether each span has an id of its own.
fn is_unique(received: &Received) -> bool {
    let ids: BTreeSet<_> = received.spans.iter().map(Span::id).collect();
    ids.len() == received.spans.len()
}

fn traces(received: &Received) -> BTreeSet<String> {
    received.spans.iter().map(|span| span.trace().to_owned()).collect()
}

fn panel(collector: &Collector) -> Panel {
    let endpoint = format!("[telemetry]\nendpoint = '{}'\n", collector.url());
    let project = Project::new().variable("PATH", "/usr/bin:/bin").file(USER, endpoint);
    Panel::in_project(project)
}

#[test]
fn a_rehearsed_design_is_one_trace() {
    let collector = Collector::start();
    let project = Project::new().variable("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    let outcome = project.run(&["design", "--rehearse", "--otel"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let received = collector.received();
    assert_snapshot!(received.tree());
    assert!(is_unique(&received));
    assert_eq!(traces(&received).len(), 1);
    assert!(received.requests.len() > 2, "each phase is sent when it is over");
    let sent = received.requests.concat();
    for words in ["bookshop", "/tmp", "Approach", "FINDING_1"] {
        assert!(!sent.contains(words), "{words}");
    }
}

// No span is sent again with other content, and a replay is no work.
#[test]
fn a_resumed_design_continues_its_trace() {
    let collector = Collector::start();
    let panel = panel(&collector);
    let mut silent = answers();
    silent.retain(|label, _| !label.starts_with("sketch/"));
    for agent in ["cursor", "codex", "claude"] {
        panel.recorded(agent, &silent);
    }
    assert_eq!(panel.design(&[]).code, Some(4));
    let stopped = collector.received();
    for agent in ["cursor", "codex", "claude"] {
        panel.recorded(agent, &answers());
    }
    let (run, _) = panel.run();
    assert_eq!(panel.project.run(&["resume", &run]).code, Some(0));
    let mut both = collector.received();
    assert_eq!(traces(&stopped), traces(&both));
    both.spans.extend(stopped.spans.clone());
    assert!(is_unique(&both));
    let tops: Vec<_> = both.spans.iter().filter(|span| span.parent().is_none()).collect();
    let ends: Vec<_> = tops.iter().map(|span| span.attributes["convoke.outcome"].clone()).collect();
    assert_eq!(ends, ["ok", "no_answer"]);
    assert!(!stopped.requests.concat().contains(FEATURE));
    for words in [["replay", &run], ["recount", &run], ["show", &run]] {
        assert_eq!(panel.project.run(&words).code, Some(0));
    }
    assert_eq!(collector.received().requests.len(), 0);
}

// The process that does the heavy part sends its own spans, below the run's.
#[test]
fn a_worker_of_a_design_sends_to_the_same_trace() {
    let collector = Collector::start();
    let panel = panel(&collector);
    let outcome = panel.design(&["--subagent"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let received = collector.received();
    assert!(is_unique(&received));
    assert_eq!(traces(&received).len(), 1);
    let [top] =
        &received.spans.iter().filter(|span| span.parent().is_none()).collect::<Vec<_>>()[..]
    else {
        panic!("{}", received.tree())
    };
    assert_eq!(top.name(), "invoke_workflow design");
    let inline = Collector::start();
    assert_eq!(self::panel(&inline).design(&[]).code, Some(0));
    assert_eq!(received.tree(), inline.received().tree());
}

// The worker or its parent reports once that the collector is gone.
#[test]
fn a_design_warns_once_of_a_collector_that_is_gone() {
    for flags in [&[][..], &["--subagent"]] {
        let panel = Panel::new();
        let project = panel.project.variable("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1");
        let outcome = Panel { project }.design(&[&["--otel"], flags].concat());
        assert_eq!(outcome.code, Some(0), "{outcome}");
        assert_eq!(outcome.stderr.matches("cannot send all telemetry").count(), 1, "{outcome}");
    }
}

// A review that rejects did its work: that is an outcome, and no error.
#[test]
fn a_loop_of_reviews_groups_its_lanes() {
    let collector = Collector::start();
    let project =
        dispatch_loop::project(&[("a-1", dispatch_loop::PASS), ("b-1", dispatch_loop::FAIL)]);
    let project = project.variable("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    let words = ["dispatch", "loop", "ship", "--feature", "031", "--client", "claude", "--otel"];
    let outcome = project.run(&words);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    let received = collector.received();
    assert_snapshot!(received.tree());
    assert!(!received.requests.concat().contains("ROLE-"));
}
