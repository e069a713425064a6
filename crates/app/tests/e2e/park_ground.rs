//! `--park` in a project that changes during the wait: Convoke asks nothing about other files.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Stdio};

use serde_json::json;

use crate::dispatch_loop;
use crate::fan::{answers, project, run_of};
use crate::fan_server::FanServer;
use crate::harness::Project;
use crate::park::{limited, limited_at};

const CONVOKE: &str = env!("CARGO_BIN_EXE_convoke");

/// A command that waits for the end of a limit.
struct Parked {
    child: Child,
    messages: BufReader<ChildStderr>,
}

/// How a parked command ended.
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Parked {
    /// Starts a command, and returns when it waits and knows the working tree.
    fn start(project: &Project, words: &[&str]) -> Self {
        Self::start_until(project, words, &["parked until", "took a snapshot of the working tree"])
    }

    fn start_until(project: &Project, words: &[&str], awaited: &[&str]) -> Self {
        let words = [&["--log", "debug"], words].concat();
        let mut command = project.command(CONVOKE.as_ref(), &words);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut messages = BufReader::new(child.stderr.take().unwrap());
        for awaited in awaited {
            let mut line = String::new();
            while !line.contains(awaited) {
                line.clear();
                assert!(messages.read_line(&mut line).unwrap() > 0, "no line says {awaited}");
            }
        }
        Self { child, messages }
    }

    fn end(mut self) -> Ended {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.messages.read_to_string(&mut stderr).unwrap();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        Ended { code: self.child.wait().unwrap().code(), stdout, stderr }
    }
}

/// A repository whose user has the server's API.
fn git_project(server: &FanServer) -> Project {
    let project = project(server).file("README.md", "An example.\n");
    let made = project.shell(
        "git init --quiet --initial-branch=main . && git config user.name June \
         && git config user.email june@localhost && git add . && git commit --quiet -m one \
         && git tag first",
        "",
    );
    assert_eq!(made.code, Some(0), "{made}");
    project
}

/// What a person does to a project meanwhile, and what Convoke then says.
const CHANGES: [(&str, &str, &str); 3] = [
    ("echo more >> README.md", "the working tree changed: README.md", "hint: run `git status`"),
    (
        "git switch --quiet --create else",
        "it began on the branch `main`, but the branch `else` is checked out",
        "hint: git switch main\n",
    ),
    (
        "git commit --quiet --allow-empty -m two",
        "another commit is checked out",
        "hint: git switch --detach ",
    ),
];

// P-405
#[test]
fn a_lane_asks_nothing_about_a_project_that_changed_during_the_wait() {
    let words = ["lane", "run", "--agent", "http:it", "Does it work?", "--park"];
    for (change, found, hint) in CHANGES {
        let server = limited(1, Some("3"));
        let project = git_project(&server);
        let parked = Parked::start(&project, &words);
        project.shell(change, "");
        let ended = parked.end();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(6), ""), "{}", ended.stderr);
        let error = format!("error: cannot go on after the wait: {found}");
        assert!(ended.stderr.contains(&error), "{}", ended.stderr);
        assert!(ended.stderr.contains(hint), "{}", ended.stderr);
        assert_eq!(server.prompts().len(), 1, "{change}");
    }
}

// P-405: a person who wants no snapshots gets none here, either.
#[test]
fn without_snapshots_only_the_commit_and_the_branch_count() {
    let server = limited(1, Some("3"));
    let project = git_project(&server);
    let words = ["lane", "run", "--agent", "http:it", "Works?", "--no-tree-check", "--park"];
    let parked = Parked::start_until(&project, &words, &["parked until"]);
    project.shell(CHANGES[0].0, "");
    let ended = parked.end();
    assert_eq!((ended.code, ended.stdout.trim()), (Some(0), "It works."), "{}", ended.stderr);
}

// P-405
#[test]
fn a_loop_notices_a_change_during_the_wait_and_nothing_of_its_own() {
    let limit = json!({ "type": "result", "subtype": "success", "is_error": true, "uuid": "2",
        "api_error_status": 429, "result": "Your limit is reached. Try again in 3s.",
        "session_id": "a-1" });
    for change in [None, Some("echo more >> a.md"), Some("git switch --quiet --create else")] {
        let project = dispatch_loop::project(&[
            ("a-1", ""),
            ("a-2", dispatch_loop::PASS),
            ("a-3", dispatch_loop::PASS),
            ("b-1", dispatch_loop::PASS),
            ("b-2", dispatch_loop::PASS),
        ]);
        fs::write(project.path("../answers/a-1"), format!("{limit}\n")).unwrap();
        // The second reviewer answers while the first waits, and Convoke records that.
        let answer = project.path("../answers/b-1");
        let text = fs::read_to_string(&answer).unwrap();
        fs::remove_file(&answer).unwrap();
        project.shell(&format!("mkfifo '{}'", answer.display()), "");
        let words = ["dispatch", "loop", "ship", "--feature", "031", "--client", "claude"];
        let parked = Parked::start(&project, &[&words[..], &["--park"]].concat());
        fs::write(&answer, text).unwrap();
        project.shell(change.unwrap_or("true"), "");
        let ended = parked.end();
        // The loop asks both again in its final round.
        let (code, asked) =
            if change.is_some() { (Some(6), [1, 1, 0]) } else { (Some(0), [3, 2, 0]) };
        assert_eq!(ended.code, code, "{change:?} {} {}", ended.stdout, ended.stderr);
        assert_eq!(dispatch_loop::asked(&project), asked, "{change:?} {}", ended.stderr);
    }
}

// F-16: what was answered before the wait is shown, and the run can go on where it was.
#[test]
fn a_fan_out_asks_nothing_about_a_project_that_changed_during_the_wait() {
    for (change, found, _) in CHANGES {
        let server = limited_at("b", "3");
        let project = git_project(&server).file("../items.txt", "a\nb\nc\n");
        let words = ["fan", "--agent", "http:it", "What is {{item}}?", "--lines", "../items.txt"];
        let parked =
            Parked::start(&project, &[&words[..], &["--parallel", "1", "--park"]].concat());
        project.shell(change, "");
        let ended = parked.end();
        assert_eq!(ended.code, Some(6), "{}", ended.stderr);
        assert!(ended.stderr.contains(found), "{}", ended.stderr);
        assert!(ended.stdout.contains("seen a"), "{}", ended.stdout);
        assert_eq!(server.items(), ["a", "b"], "{change}");
        let again = format!("hint: convoke resume {} --park\n", run_of(&project));
        assert!(ended.stderr.contains(&again), "{}", ended.stderr);
        project.shell("git switch --quiet main; git reset --quiet --hard first", "");
        let rest = project.run(&["resume", &run_of(&project), "--park"]);
        assert_eq!(answers(&rest), ["seen a", "seen b", "seen c"], "{rest}");
        assert_eq!(server.items(), ["b", "c"], "nothing finished is asked again");
    }
}
