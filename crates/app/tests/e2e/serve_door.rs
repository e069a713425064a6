//! How a browser is opened, and what one learns that the dashboard does not let in.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::harness::Project;
use crate::serve::Dashboard;

#[test]
fn a_browser_that_is_not_let_in_learns_why_and_what_to_do() {
    let project = Project::new().on_branch("main");
    let dashboard = Dashboard::start(&project, &[]);
    let refused = |path: &str, cookie: &str, words: &str| {
        let answer = dashboard.get(path, cookie);
        assert_eq!((answer.status, answer.header("set-cookie")), (401, None), "{path}: {answer:?}");
        for words in [words, "<code>convoke serve</code>", "It prints a new link"] {
            assert!(answer.body.contains(words), "{path}: {answer:?}");
        }
    };
    refused("/", "", "This dashboard does not know your browser");
    refused("/open?token=wrong", "", "This link is not of this dashboard");
    refused("/open", "", "This link is not of this dashboard");
    let browser = dashboard.browser();
    refused(&dashboard.link, "", "This link has been used");
    let again = browser.get(&dashboard.link);
    let leads_to = again.header("refresh");
    assert_eq!((again.status, leads_to.as_deref()), (200, Some("0; url=/")), "to its own browser");
    let port = dashboard.address.rsplit_once(':').unwrap().1;
    let former = format!("cookie: convoke-{port}=of-an-earlier-server\r\n");
    refused("/tasks", &former, "Your session has ended");
}

// Behind a tunnel with another port, the refusal is all that a person sees.
#[test]
fn another_host_learns_what_to_do_and_nothing_of_its_request_comes_back() {
    let project = Project::new().on_branch("main");
    let dashboard = Dashboard::start(&project, &[]);
    let port = dashboard.address.rsplit_once(':').unwrap().1;
    let refused = dashboard.send("GET /%3Cb%3Ex HTTP/1.1\r\nhost: evil.example:1\r\n", b"");
    let kind = refused.header("content-type");
    assert_eq!((refused.status, kind.as_deref()), (421, Some("text/plain; charset=utf-8")));
    for words in [format!("ssh -L {port}:localhost:{port}"), "serve --host NAME".to_owned()] {
        assert!(refused.body.contains(&words), "{refused:?}");
    }
    assert!(!refused.body.contains("evil") && !refused.body.contains("b%3Ex"), "{refused:?}");
}

#[test]
fn the_users_browser_is_opened_with_the_link() {
    let project = Project::new().on_branch("main");
    let bin = project.path("../bin");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let project = project.variable("PATH", &path);
    let pipe = project.path("../opened");
    fs::create_dir(&bin).unwrap();
    let pipe_name = pipe.display().to_string();
    assert_eq!(project.run_program(Path::new("mkfifo"), &[&pipe_name]).code, Some(0));
    let opener = bin.join("xdg-open");
    fs::write(&opener, format!("#!/bin/sh\necho \"$# $1\" > '{pipe_name}'\n")).unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = project.command(Path::new(env!("CARGO_BIN_EXE_convoke")), &["serve"]);
    let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    let mut stderr = BufReader::new(process.stderr.take().unwrap());
    while !said.contains("Ctrl-C ends") {
        assert!(stderr.read_line(&mut said).unwrap() > 0, "{said}");
    }
    let (told, tells) = channel();
    thread::spawn(move || told.send(fs::read_to_string(pipe)));
    let address = tells.recv_timeout(Duration::from_mins(1));
    process.kill().unwrap();
    process.wait().unwrap();
    let link = said.split("dashboard: ").nth(1).unwrap().lines().next().unwrap();
    assert!(link.starts_with("http://127.0.0.1:") && link.contains("/open?token="), "{said}");
    assert_eq!(address.unwrap().unwrap(), format!("1 {link}\n"));
    assert!(said.contains("works once and within a minute"), "{said}");
}
