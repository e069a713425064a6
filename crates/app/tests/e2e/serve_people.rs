//! A person at the dashboard's page of a run: answers, decisions and stops, and what the page shows
//! meanwhile without being loaded again.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use crate::design_decide::divided;
use crate::design_terminal::Terminal;
use crate::panel::{FEATURE, Panel};
use crate::serve::{Browser, Dashboard};

/// A live page: every part as the server last sent it.
struct LivePage {
    lines: BufReader<TcpStream>,
    parts: BTreeMap<String, String>,
}

impl LivePage {
    fn open(browser: &Browser<'_>, path: &str) -> Self {
        let mut stream = browser.dashboard.connect();
        let head = format!(
            "GET /live{path} HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\n\r\n",
            browser.dashboard.address, browser.cookie
        );
        stream.write_all(head.as_bytes()).unwrap();
        Self { lines: BufReader::new(stream), parts: BTreeMap::new() }
    }

    fn part(&self, id: &str) -> &str {
        self.parts.get(id).map_or("", String::as_str)
    }

    /// Takes what the server sends until something holds. A server that says nothing fails the test.
    fn until(&mut self, holds: impl Fn(&Self) -> bool) {
        let mut signs = 0;
        while self.parts.is_empty() || !holds(self) {
            let mut line = String::new();
            let read = self.lines.read_line(&mut line);
            signs += u8::from(line.starts_with("event: here"));
            assert!(read.is_ok_and(|count| count > 0) && signs < 8, "{:#?}", self.parts);
            if let Some(json) = line.strip_prefix("data: ") {
                let changed: BTreeMap<String, String> = serde_json::from_str(json).unwrap();
                self.parts.extend(changed);
            }
        }
    }

    fn is_running(&self) -> bool {
        self.part("run-summary").contains("/stop\"")
    }

    fn asks_another(&self, answered: &str) -> bool {
        self.question().is_some_and(|question| question != answered)
    }

    fn has_ended(&self) -> bool {
        self.part("run-summary").contains(">complete")
    }

    /// Returns the id of the question that the run waits with.
    fn question(&self) -> Option<&str> {
        let rest = self.part("run-waiting").split("name=\"question\" value=\"").nth(1)?;
        rest.split('"').next()
    }
}

#[test]
fn a_design_goes_on_with_the_answers_given_on_its_page() {
    let panel = Panel::new();
    let seats = panel.seats();
    let stopped = panel.project.run(&["design", "--seats", &seats, FEATURE]);
    assert_eq!(stopped.code, Some(2), "{stopped}");
    let (run, _) = panel.run();
    let dashboard = Dashboard::start(&panel.project, &[]);
    let browser = dashboard.browser();
    let path = format!("/runs/{run}");
    let mut live = LivePage::open(&browser, &path);
    live.until(|page| page.question().is_some());
    let mut answered = Vec::new();
    while let Some(question) = live.question().map(str::to_owned) {
        let has_options = live.part("run-waiting").contains("type=\"radio\"");
        let answer = if has_options { ("answer", "1") } else { ("words", "As the panel thinks") };
        let form = [("question", question.as_str()), answer];
        let taken = browser.post(&format!("{path}/answer"), &form);
        assert_eq!(taken.status, 303, "{taken:?}");
        live.until(|page| page.asks_another(&question) || page.has_ended());
        assert_eq!(browser.post(&format!("{path}/answer"), &form).status, 409, "{question}");
        answered.push(question);
    }
    assert!(!answered.is_empty());
    assert_eq!(panel.run().1, "ended");
    assert!(live.part("run-plan").contains("aria-label=\"Plan\""), "{}", live.part("run-plan"));
}

#[test]
fn a_design_acts_on_a_decision_made_on_its_page() {
    let panel = divided();
    let outcome = panel.design(&[]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let (run, _) = panel.run();
    let dashboard = Dashboard::start(&panel.project, &[]);
    let browser = dashboard.browser();
    let path = format!("/runs/{run}");
    let mut live = LivePage::open(&browser, &path);
    let because = "The rule must have one owner";
    let form = [("matter", "FINDING_2"), ("choice", "accept"), ("because", because)];
    let taken = browser.post(&format!("{path}/decide"), &form);
    assert_eq!(taken.status, 303, "{taken:?}");
    live.until(|page| !page.is_running() && page.part("run-waiting").contains(because));
    assert!(live.part("run-plan").contains("Task 9: Follow decision 1"));
    let decided = &panel.shown(&run)["decided"][0];
    assert_eq!(
        (&decided["id"], &decided["decision"]["choice"]),
        (&"FINDING_2".into(), &"accept".into())
    );
    assert_eq!(
        browser.post(&format!("{path}/decide"), &form).status,
        409,
        "it is not open any more"
    );
}

// No lane runs while a design waits for its person, and none between two steps.
#[test]
fn a_design_without_a_running_lane_is_stopped_too() {
    let panel = Panel::new();
    let seats = panel.seats();
    let mut terminal = Terminal::open(&panel.project, 80, &["design", "--seats", &seats, FEATURE]);
    terminal.until("Enter accepts the recommendation");
    let (run, state) = panel.run();
    assert_eq!(state, "running");
    let dashboard = Dashboard::start(&panel.project, &[]);
    let browser = dashboard.browser();
    let path = format!("/runs/{run}");
    let mut live = LivePage::open(&browser, &path);
    live.until(LivePage::is_running);
    let stopped = browser.post(&format!("{path}/stop"), &[]);
    assert_eq!(stopped.status, 303, "{stopped:?}");
    terminal.end();
    live.until(|page| !page.is_running());
    assert_eq!(panel.run().1, "stopped");
    let again = browser.post(&format!("{path}/stop"), &[]);
    assert_eq!(again.status, 409, "{again:?}");
    assert!(again.body.contains("no process works on it"), "{again:?}");
}
