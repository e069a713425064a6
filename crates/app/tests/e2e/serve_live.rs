//! The dashboard's live pages and the reports behind all pages.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

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
fn a_live_page_without_its_store_says_so_and_goes_on_when_the_store_is_back() {
    let project = Project::new().on_branch("main");
    project.stdout(&["task", "add", "Write the model"]);
    let dashboard = Dashboard::start(&project, &[]);
    let browser = dashboard.browser();
    let (_, mut lines) = listen(&browser);
    let mut heard = String::new();
    let mut wait_for = |event: &str| {
        heard.clear();
        while !heard.contains(event) {
            assert!(lines.read_line(&mut heard).unwrap() > 0, "{heard}");
        }
    };
    wait_for("event: parts");
    let store = project.path("../home/.local/state/convoke/store.db");
    let aside = store.with_extension("aside");
    fs::rename(&store, &aside).unwrap();
    fs::create_dir(&store).unwrap();
    wait_for("event: unreadable");
    fs::remove_dir(&store).unwrap();
    fs::rename(&aside, &store).unwrap();
    wait_for("event: here");
}

// Lanes of every worktree belong to the project.
#[test]
fn a_lane_shows_the_working_tree_of_its_own_folder() {
    let project = Project::new().file("README.md", "# A project\n").in_repository("main");
    let git = |words: &[&str]| {
        let who = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
        let done = project.run_program(Path::new("git"), &[&who[..], words].concat());
        assert_eq!(done.code, Some(0), "{done}");
    };
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "x"]);
    git(&["worktree", "add", "-q", "-b", "other", "../other"]);
    let (other, bin) = (project.path("../other"), project.path("../bin"));
    fs::write(other.join("new.txt"), "new").unwrap();
    fs::create_dir(&bin).unwrap();
    let client = bin.join("claude");
    let begin = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"m\",\
                 \"tools\":[],\"permissionMode\":\"plan\"}";
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *--version*) echo '2.1.0 (Claude Code)'; exit;; esac\n\
         cat > /dev/null\necho '{begin}'\nexec sleep 120\n"
    );
    fs::write(&client, script).unwrap();
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
    let project = project.variable("PATH", &format!("{}:/usr/bin:/bin", bin.display()));
    let words = ["lane", "run", "--agent", "claude", "Think."];
    let mut command = project.command(Path::new(env!("CARGO_BIN_EXE_convoke")), &words);
    let mut lane = command.current_dir(&other).stderr(Stdio::null()).spawn().unwrap();
    let is_known = |now: &Value| now["lanes"][0]["model"] == "m";
    let look = || {
        let report = project.stdout(&["serve", "--report", "now"]);
        serde_json::from_str::<Value>(&report).unwrap()
    };
    let now = (0..500).map(|_| look()).find(is_known);
    lane.kill().unwrap();
    lane.wait().unwrap();
    let now = now.unwrap();
    let shown = &now["lanes"][0];
    let folder = Path::new(shown["folder"].as_str().unwrap());
    assert_eq!(folder.canonicalize().unwrap(), other.canonicalize().unwrap());
    assert_eq!((&shown["tree"]["state"], &shown["tree"]["files"]), (&"changed".into(), &1.into()));
}

// Settings that only agents need can be wrong: the page says so instead of looking forever.
#[test]
fn the_page_says_why_it_does_not_know_the_agents() {
    let project = Project::new().on_branch("main");
    project.stdout(&["task", "add", "Write the model"]);
    let project = project.file("convoke.toml", "[health]\nremember_minutes = 'x'\n");
    let dashboard = Dashboard::start(&project, &[]);
    let (_, mut lines) = listen(&dashboard.browser());
    let mut heard = String::new();
    while !heard.contains("remember_minutes") {
        assert!(lines.read_line(&mut heard).unwrap() > 0, "{heard}");
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
