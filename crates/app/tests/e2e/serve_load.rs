//! The dashboard under load: more browsers than it has places, browsers that do not read, and many who
//! write at the same time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

use crate::harness::Project;
use crate::serve::{Browser, Dashboard};

/// How many connections the dashboard keeps open.
const PLACES: usize = 256;

/// A text as long as a field of the dashboard takes.
fn long_text(number: usize) -> String {
    format!("message number {number:03}; {}", "語".repeat(19_000))
}

/// Asks for a page and reads nothing of the answer.
fn ask(browser: &Browser<'_>, path: &str) -> TcpStream {
    let mut stream = browser.dashboard.connect();
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\nconnection: close\r\n\r\n",
        browser.dashboard.address, browser.cookie
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

#[test]
fn more_slow_browsers_than_places_keep_no_one_out() {
    let project = Project::new().on_branch("main");
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let slow: Vec<_> = (0..PLACES + 44)
        .map(|_| {
            let mut stream = dashboard.connect();
            stream.write_all(b"G").unwrap();
            stream
        })
        .collect();
    // Every place is taken, and others wait before this one: the slow ones have ten seconds each.
    assert_eq!(browser.get("/tasks").status, 200);
    for mut stream in slow {
        let mut answer = Vec::new();
        // The server ended them, with an answer or without one.
        stream.read_to_end(&mut answer).ok();
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{answer:?}");
    }
    assert_eq!(browser.get("/tasks").status, 200);
}

#[test]
fn what_many_write_together_is_kept_and_browsers_that_do_not_read_harm_no_one() {
    let project = Project::new().on_branch("main");
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let sent: Vec<u16> = thread::scope(|scope| {
        let browser = &browser;
        let say = |number| {
            scope.spawn(move || match number % 2 {
                0 => browser.post("/messages/say", &[("text", &long_text(number))]).status,
                _ => browser.post("/tasks/add", &[("title", &format!("task {number:03}"))]).status,
            })
        };
        let sent: Vec<_> = (0..80).map(say).collect();
        sent.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(sent, [303; 80]);
    let (messages, tasks) =
        (project.stdout(&["inbox", "--all", "--json"]), project.stdout(&["task", "list"]));
    for number in 0..80 {
        match number % 2 {
            0 => assert!(messages.contains(&format!("message number {number:03};")), "{number}"),
            _ => assert!(tasks.contains(&format!("task {number:03}")), "{number}"),
        }
    }
    // Each answer is longer than what waits on its way.
    let readers: Vec<_> = (0..32).map(|_| ask(&browser, "/messages")).collect();
    assert_eq!(browser.get("/tasks").status, 200, "others are served meanwhile");
    for mut stream in readers {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let is_whole = answer.starts_with("HTTP/1.1 200") && answer.ends_with("</html>");
        assert!(is_whole && answer.len() > 2_000_000, "{} bytes", answer.len());
    }
}
