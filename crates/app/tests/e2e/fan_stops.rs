//! `convoke fan` that is stopped, killed, or started twice.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use serde_json::Value;

use crate::fan::{ASK, answers, fan, project, results, run_of};
use crate::fan_server::{FanServer, item_of};

const CONVOKE: &str = env!("CARGO_BIN_EXE_convoke");

/// A server that reports each item before it answers, and waits for a word.
fn held() -> (FanServer, Receiver<String>, Sender<()>) {
    let (tell, told) = channel();
    let (go, waits) = channel::<()>();
    let (tell, waits) = (Mutex::new(tell), Mutex::new(waits));
    let server = FanServer::start(move |prompt| {
        let item = item_of(prompt);
        tell.lock().unwrap().send(item.clone()).unwrap_or_default();
        waits.lock().unwrap().recv().ok()?;
        Some(format!("seen {item}"))
    });
    (server, told, go)
}

// F-10
#[test]
fn one_process_works_on_a_run() {
    let (server, told, go) = held();
    let project = project(&server).file("items.txt", "a\n");
    thread::scope(|threads| {
        let first = threads.spawn(|| fan(&project, &["--lines", "items.txt"]));
        told.recv().unwrap();
        let second = fan(&project, &["--lines", "items.txt"]);
        assert_eq!(second.code, Some(3), "{second}");
        assert!(second.stderr.contains("cannot work on run fan-"), "{second}");
        let listed = project.stdout(&["runs"]);
        assert!(listed.contains("running"), "{listed}");
        go.send(()).unwrap();
        assert_eq!(first.join().unwrap().code, Some(0));
    });
    assert_eq!(server.items(), ["a"]);
}

// F-7: what was answered before an interruption or a kill is there, and is not asked for again.
#[test]
fn a_run_that_is_stopped_or_killed_asks_for_what_is_missing() {
    let (server, told, go) = held();
    let project = project(&server).file("items.txt", "a\nb\nc\n");
    let words = [&ASK[..], &["--lines", "items.txt", "--parallel", "1"]].concat();
    for (signal, code, done, next) in
        [("-INT", Some(130), "seen a", "b"), ("-KILL", None, "seen b", "c")]
    {
        let child = project.command(CONVOKE.as_ref(), &words).spawn().unwrap();
        told.recv().unwrap();
        go.send(()).unwrap();
        // The next request comes after the answer was written down.
        assert_eq!(told.recv().unwrap(), next);
        let pid = child.id().to_string();
        project.shell(&format!("kill {signal} {pid}"), "");
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), code, "{ended:?}");
        // The request that hangs ends with the client.
        go.send(()).unwrap();
        let listed = project.stdout(&["runs"]);
        assert!(listed.contains("stopped"), "{listed}");
        let run = run_of(&project);
        let status = project.stdout(&["status"]).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(status.contains(&format!("fans {run}: stopped")), "{status}");
        assert!(status.contains(&format!("`convoke resume {run}`")), "{status}");
        assert!(status.contains("designs none are running"), "{status}");
        let kept = project.run(&["show", &run_of(&project), "--artifact", "results"]);
        assert!(answers(&kept).contains(&done.to_owned()), "{kept}");
    }
    go.send(()).unwrap();
    let rest = project.run(&["resume"]);
    assert_eq!(answers(&rest), ["seen a", "seen b", "seen c"], "{rest}");
    assert_eq!(server.items(), ["a", "b", "b", "c", "c"], "a request on its way is repeated");
}

// F-6, F-7: the tests of kills do this with 1,000 items and 50 kills.
#[test]
fn a_run_that_is_killed_several_times_repeats_no_answer() {
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let server = FanServer::start(move |prompt| {
        tell.lock().unwrap().send(()).unwrap_or_default();
        Some(format!("seen {}", item_of(prompt)))
    });
    let items = (0..60).map(|number| format!("n{number:02}\n")).collect::<Vec<_>>().concat();
    let project = project(&server).file("items.txt", items);
    let words = [&ASK[..], &["--lines", "items.txt", "--parallel", "3"]].concat();
    let mut answered = BTreeSet::new();
    for requests in [1, 8, 3, 5, 2, 7] {
        let mut child = project.command(CONVOKE.as_ref(), &words).spawn().unwrap();
        told.iter().take(requests).for_each(drop);
        child.kill().unwrap();
        child.wait().unwrap();
        told.try_iter().for_each(drop);
        let asked: BTreeSet<_> = server.items().into_iter().collect();
        assert!(asked.is_disjoint(&answered), "{asked:?} {answered:?}");
        let kept = project.run(&["show", &run_of(&project), "--artifact", "results"]);
        let item = |line: &Value| line["item"].as_str().unwrap().to_owned();
        answered = results(&kept).iter().map(item).collect();
    }
    let rest = project.run(&words);
    assert_eq!((rest.code, answers(&rest).len()), (Some(0), 60), "{rest}");
    let asked: BTreeSet<_> = server.items().into_iter().collect();
    assert!(asked.is_disjoint(&answered) && !answered.is_empty());
    assert_eq!(asked.len() + answered.len(), 60);
}
