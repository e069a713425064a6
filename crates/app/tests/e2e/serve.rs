//! `convoke serve`: attacks on the dashboard, and what its forms change.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use crate::harness::Project;

/// A dashboard that runs, and what it said at its start.
pub(crate) struct Dashboard {
    process: Child,
    pub(crate) address: String,
    pub(crate) link: String,
    said: String,
}

/// What the dashboard answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A browser that the dashboard let in.
pub(crate) struct Browser<'d> {
    pub(crate) dashboard: &'d Dashboard,
    pub(crate) cookie: String,
}

impl Answer {
    fn read(stream: &mut TcpStream) -> Self {
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let found = self.head.lines().filter_map(|line| line.split_once(": "));
        found.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
    }
}

impl Dashboard {
    pub(crate) fn start(project: &Project, arguments: &[&str]) -> Self {
        let arguments = [&["serve", "--no-open"], arguments].concat();
        let mut command = project.command(Path::new(env!("CARGO_BIN_EXE_convoke")), &arguments);
        let mut process = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("Ctrl-C ends") {
            assert!(stderr.read_line(&mut said).unwrap() > 0, "{said}");
        }
        if arguments.contains(&"0.0.0.0:0") {
            stderr.read_line(&mut said).unwrap();
        }
        // What it says later must not fill the pipe.
        thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let link = said.split("dashboard: http://").nth(1).unwrap().lines().next().unwrap();
        let (address, path) = link.split_once('/').unwrap();
        Self { process, address: address.to_owned(), link: format!("/{path}"), said }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream
    }

    pub(crate) fn send(&self, head: &str, body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let length = body.len();
        let head = format!("{head}content-length: {length}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refuses a long body does not read all of it.
        stream.write_all(body).ok();
        Answer::read(&mut stream)
    }

    pub(crate) fn get(&self, path: &str, more: &str) -> Answer {
        let head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n{more}", self.address);
        self.send(&head, b"")
    }

    pub(crate) fn browser(&self) -> Browser<'_> {
        let answer = self.get(&self.link, "");
        assert_eq!(answer.status, 200, "{answer:?}");
        let cookie = answer.header("set-cookie").unwrap();
        assert!(cookie.contains("; httponly; samesite=strict; path=/"), "{cookie}");
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Browser { dashboard: self, cookie }
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

impl Browser<'_> {
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.dashboard.get(path, &format!("cookie: {}\r\n", self.cookie))
    }

    pub(crate) fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.body
    }

    /// Returns the token that the dashboard's forms carry.
    pub(crate) fn csrf(&self) -> String {
        let page = self.page("/tasks");
        page.split("name=\"csrf\" value=\"").nth(1).unwrap()[..64].to_owned()
    }

    fn head(&self, path: &str, more: &str) -> String {
        let address = &self.dashboard.address;
        format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncookie: {}\r\n\
             content-type: application/x-www-form-urlencoded\r\n{more}",
            self.cookie
        )
    }

    fn own_origin(&self) -> String {
        format!("origin: http://{}\r\n", self.dashboard.address)
    }

    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let csrf = self.csrf();
        let own = [("csrf", csrf.as_str())];
        let fields =
            fields.iter().chain(&own).map(|(name, value)| format!("{name}={}", encoded(value)));
        let body = fields.collect::<Vec<_>>().join("&");
        self.dashboard.send(&self.head(path, &self.own_origin()), body.as_bytes())
    }
}

fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[test]
fn the_link_works_once_and_only_its_browser_is_let_in() {
    let project = Project::new().on_branch("main");
    let dashboard = Dashboard::start(&project, &[]);
    for path in ["/", "/tasks", "/messages", "/assets/script.js", "/live/now", "/nothing"] {
        let answer = dashboard.get(path, "");
        assert_eq!(answer.status, 401, "{path}: {answer:?}");
        assert!(!answer.body.contains("csrf"), "{path}");
    }
    assert_eq!(dashboard.get("/open?token=wrong", "").status, 401);
    let preview = format!("HEAD {} HTTP/1.1\r\nhost: {}\r\n", dashboard.link, dashboard.address);
    assert_eq!(dashboard.send(&preview, b"").status, 200, "a preview does not use the link up");
    let browser = dashboard.browser();
    let answer = browser.get("/");
    assert_eq!(answer.status, 200);
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"));
    assert!(!policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "deny"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(name).as_deref(), Some(value), "{name}");
    }
    assert!(!answer.body.contains("<script>"));
    assert_eq!(dashboard.get(&dashboard.link, "").status, 401, "the link works once");
    for cookie in ["", "x=y", "convoke-1=0", "convoke=0"] {
        assert_eq!(dashboard.get("/", &format!("cookie: {cookie}\r\n")).status, 401, "{cookie}");
    }
}

#[test]
fn another_host_or_page_cannot_ask_for_anything() {
    let project = Project::new().on_branch("main");
    let dashboard = Dashboard::start(&project, &["--host", "dev.local"]);
    let browser = dashboard.browser();
    let port = dashboard.address.rsplit_once(':').unwrap().1;
    let cookie = format!("cookie: {}\r\n", browser.cookie);
    let ask = |host: &str, more: &str| {
        let head = format!("GET / HTTP/1.1\r\nhost: {host}\r\n{cookie}{more}");
        dashboard.send(&head, b"").status
    };
    for (host, status) in [
        (format!("127.0.0.1:{port}"), 200),
        (format!("localhost:{port}"), 200),
        (format!("dev.local:{port}"), 200),
        (format!("evil.example:{port}"), 421),
        ("evil.example".to_owned(), 421),
        ("127.0.0.1".to_owned(), 421),
        (String::new(), 421),
    ] {
        assert_eq!(ask(&host, ""), status, "{host}");
    }
    let here = &dashboard.address;
    assert_eq!(ask(here, "host: evil.example\r\n"), 421, "two hosts");
    for (origin, status) in [
        (format!("http://{here}"), 200),
        ("http://evil.example".to_owned(), 403),
        ("null".to_owned(), 403),
        (format!("http://127.0.0.1:{}", port.parse::<u16>().unwrap() - 1), 403),
    ] {
        assert_eq!(ask(here, &format!("origin: {origin}\r\n")), status, "{origin}");
    }
    for (site, mode, status) in [
        ("none", "navigate", 200),
        ("same-origin", "cors", 200),
        ("cross-site", "navigate", 200),
        ("cross-site", "no-cors", 403),
        ("same-site", "cors", 403),
    ] {
        let more = format!("sec-fetch-site: {site}\r\nsec-fetch-mode: {mode}\r\n");
        assert_eq!(ask(here, &more), status, "{site} {mode}");
    }
}

#[test]
fn only_our_own_forms_change_something() {
    let project = Project::new().on_branch("main");
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let csrf = browser.csrf();
    let own = browser.own_origin();
    let add = format!("csrf={csrf}&title=Hello");
    let post = |more: &str, body: &str| {
        dashboard.send(&browser.head("/tasks/add", more), body.as_bytes()).status
    };
    assert_eq!(post("", &add), 403, "a form without an origin");
    assert_eq!(post("origin: http://evil.example\r\n", &add), 403);
    assert_eq!(post("origin: null\r\n", &add), 403);
    assert_eq!(post(&own, "title=Hello"), 403, "no token");
    assert_eq!(post(&own, &format!("csrf={}&title=Hello", "0".repeat(64))), 403);
    assert_eq!(post(&format!("{own}transfer-encoding: x\r\n"), &add), 400);
    let json = browser.head("/tasks/add", &own).replace("x-www-form-urlencoded", "json");
    assert_eq!(dashboard.send(&json, add.as_bytes()).status, 415);
    let other = browser.head("/tasks/add", &own).replace("POST", "PUT");
    assert_eq!(dashboard.send(&other, add.as_bytes()).status, 405);
    let large = format!("{add}{}", "x".repeat(1024 * 1024));
    assert!(matches!(post(&own, &large), 0 | 413));
    let many = format!("{add}{}", "&a=1".repeat(1000));
    assert_eq!(post(&own, &many), 400);
    let no_cookie = browser.head("/tasks/add", &own).replace(&browser.cookie, "x=y");
    assert_eq!(dashboard.send(&no_cookie, add.as_bytes()).status, 401);
    assert!(!project.stdout(&["task", "list"]).contains("Hello"), "nothing changed");
    assert_eq!(post(&own, &add), 303);
    assert!(project.stdout(&["task", "list"]).contains("Hello"));
}

#[test]
fn paths_lead_nowhere_but_to_pages() {
    let project = Project::new().on_branch("main").file("secret.txt", "very secret");
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    for path in [
        "/assets/../secret.txt",
        "/assets/..%2fsecret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/../../../../etc/passwd",
        "/runs/..%2f..%2fetc%2fpasswd",
        "/runs/..%2f..%2fetc%2fpasswd/stop",
        "/tasks/..%2f..%2fsecret.txt",
        "//etc/passwd",
        "/tasks/t%00",
        "/lanes/99999999999999999999/stop",
        "/lanes/-1/stop",
    ] {
        let answer = browser.get(path);
        let shown = answer.body.contains("very secret") || answer.body.contains("root:");
        assert!(!shown, "{path}: {answer:?}");
        // Asking before a stop promises nothing about the lane.
        let is_question = path == "/lanes/-1/stop";
        assert!(is_question || matches!(answer.status, 400..=499), "{path}: {answer:?}");
    }
}

#[test]
fn a_read_only_dashboard_shows_and_changes_nothing() {
    let project = Project::new().on_branch("main");
    let id = project.stdout(&["task", "add", "Write the model"]).trim().to_owned();
    let dashboard = Dashboard::start(&project, &["--read-only"]);
    let browser = dashboard.browser();
    for path in ["/", "/tasks", &format!("/tasks/{id}"), "/messages"] {
        let page = browser.page(path);
        assert!(page.contains("read-only"), "{path}");
        assert!(!page.contains("method=\"post\""), "{path}");
    }
    for path in ["/lanes/1/stop", "/runs/20200102-030405-aaaaa/stop"] {
        assert_eq!(browser.get(path).status, 403, "{path}");
    }
    let head = browser.head("/tasks/change", &browser.own_origin());
    assert_eq!(dashboard.send(&head, format!("do=done+{id}").as_bytes()).status, 403);
    assert!(project.stdout(&["task", "list"]).contains("Write the model"));
}

#[test]
fn slow_and_many_browsers_keep_no_one_out() {
    let project = Project::new().on_branch("main");
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    // Browsers that begin to speak and never end, and bodies that never come.
    let mut slow: Vec<_> = (0..40).map(|_| dashboard.connect()).collect();
    for (place, stream) in slow.iter_mut().enumerate() {
        let head = browser.head("/tasks/add", &browser.own_origin());
        let said = match place % 3 {
            0 => "G".to_owned(),
            1 => format!("GET / HTTP/1.1\r\nhost: {}\r\nx-", dashboard.address),
            _ => format!("{head}content-length: 1000\r\n\r\ncsrf="),
        };
        stream.write_all(said.as_bytes()).unwrap();
    }
    assert!(browser.page("/").contains("Running lanes"));
    let answers: Vec<u16> = thread::scope(|scope| {
        let ask = |_| scope.spawn(|| browser.get("/tasks").status);
        let asked: Vec<_> = (0..500).map(ask).collect();
        asked.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 500);
    for mut stream in slow {
        // The server ends them: with an answer, or without one.
        let answer = Answer::read(&mut stream);
        assert!(matches!(answer.status, 0 | 400 | 408), "{answer:?}");
    }
    assert_eq!(browser.get("/").status, 200);
}

#[test]
fn other_machines_need_a_password_and_are_named() {
    let project = Project::new().on_branch("main").file("../password", "correct horse battery");
    let refused = project.run(&["serve", "--no-open", "--listen", "0.0.0.0:0"]);
    assert!(refused.stderr.contains("has no password"), "{refused}");
    let file = project.path("../password");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let file = file.display().to_string();
    let options = ["--listen", "0.0.0.0:0", "--token-file", &file];
    let open = project.run(&[&["serve", "--no-open"], &options[..]].concat());
    assert!(open.stderr.contains("other users can read"), "{open}");
    fs::write(&file, "correct-horse-battery").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let dashboard = Dashboard::start(&project, &options);
    let said = &dashboard.said;
    assert!(said.contains("knows the password can read and change this"), "{said}");
    let answer = dashboard.get("/", "");
    assert_eq!((answer.status, answer.header("location").as_deref()), (303, Some("/login")));
    assert!(dashboard.get("/login", "").body.contains("type=\"password\""));
    let log_in = |origin: &str, password: &str| {
        let head = format!(
            "POST /login HTTP/1.1\r\nhost: {}\r\norigin: {origin}\r\n\
             content-type: application/x-www-form-urlencoded\r\n",
            dashboard.address
        );
        dashboard.send(&head, format!("password={password}").as_bytes())
    };
    let own = format!("http://{}", dashboard.address);
    let wrong = log_in(&own, "wrong");
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, None));
    assert_eq!(log_in("http://evil.example", "correct-horse-battery").status, 403);
    let answer = log_in(&own, "correct-horse-battery");
    let cookie = answer.header("set-cookie").unwrap();
    let cookie = format!("cookie: {}\r\n", cookie.split(';').next().unwrap());
    assert_eq!(dashboard.get("/", &cookie).status, 200);
    // Guesses make the next passwords wait, but no browser that is in.
    assert_eq!([(); 5].map(|()| log_in(&own, "wrong").status), [401; 5]);
    assert_eq!(log_in(&own, "correct-horse-battery").status, 429);
    assert_eq!(dashboard.get("/", &cookie).status, 200);
    // A name can be pointed at any machine; an address cannot.
    let port = dashboard.address.rsplit_once(':').unwrap().1;
    let head = format!("GET / HTTP/1.1\r\nhost: evil.example:{port}\r\n{cookie}");
    assert_eq!(dashboard.send(&head, b"").status, 421);
}

#[test]
fn no_agent_opens_the_users_dashboard() {
    for (name, value) in [("CONVOKE_AGENT", "worker"), ("CLAUDECODE", "1")] {
        let project = Project::new().on_branch("main").variable(name, value);
        let refused = project.run(&["serve", "--no-open"]);
        assert!(refused.stderr.contains("cannot serve the user's dashboard"), "{refused}");
        assert_eq!(refused.code, Some(1), "{refused}");
    }
    let web = Path::new(env!("CARGO_BIN_EXE_convoke-web"));
    let direct = Project::new().run_program(web, &[]);
    assert!(direct.stderr.contains("only convoke starts this program"), "{direct}");
}
