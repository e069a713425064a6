//! The dashboard's live pages and the reports behind all pages.

use std::io::{BufRead, BufReader, Write};

use serde_json::Value;

use crate::harness::Project;
use crate::json_checker::{faults, schema};
use crate::serve::{Browser, Dashboard};

/// Begins to listen to a live page, and returns the connection behind the answer's head.
fn listen(browser: &Browser<'_>) -> (String, BufReader<std::net::TcpStream>) {
    let mut stream = browser.dashboard.connect();
    let head = format!(
        "GET /live/now HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\n\r\n",
        browser.dashboard.address, browser.cookie
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream);
    let mut answer = String::new();
    while !answer.ends_with("\r\n\r\n") {
        assert!(lines.read_line(&mut answer).unwrap() > 0, "{answer}");
    }
    (answer, lines)
}

#[test]
fn the_65th_live_page_is_refused_and_the_others_go_on() {
    let project = Project::new().on_branch("main");
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let mut listeners: Vec<_> = (0..64).map(|_| listen(&browser)).collect();
    for (head, _) in &listeners {
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    }
    let refused = browser.get("/live/now");
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.body.contains("64 pages of this dashboard are live already"), "{refused:?}");
    assert_eq!(browser.get("/").status, 200, "the page itself is shown");
    for (_, lines) in &mut listeners {
        let mut event = String::new();
        while !event.contains("event: parts") {
            assert!(lines.read_line(&mut event).unwrap() > 0, "{event}");
        }
    }
}

#[test]
fn every_page_has_its_report_as_json() {
    let project = Project::new().in_repository("main");
    project.stdout(&["task", "add", "Write the model"]);
    project.stdout(&["say", "@june please look at the model"]);
    let print = |words: &[&str]| {
        let outcome = project.run(&[&["serve", "--report"], words].concat());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome}");
        serde_json::from_str::<Value>(&outcome.stdout).unwrap()
    };
    for page in ["now", "agents", "tasks", "messages", "usage", "dispatch", "store"] {
        let report = print(&[page]);
        assert_eq!(faults(&report, &schema(&format!("serve-{page}"))), [""; 0], "{page}");
    }
    let found = print(&["search", "--words", "model"]);
    assert_eq!(faults(&found, &schema("serve-search")), [""; 0], "{found}");
    assert!(found.to_string().contains("Write the model"), "{found}");
    let unknown = project.run(&["serve", "--report", "secrets"]);
    assert_eq!(unknown.code, Some(2), "{unknown}");
    let both = project.run(&["serve", "--report", "now", "--read-only"]);
    assert_eq!(both.code, Some(2), "{both}");
}
