//! Hooks while their server is away, slow, or back.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;

use crate::server::{PASSWORD, TestServer, USER};
use crate::{Ground, said};

impl Ground {
    /// Reports an event of a session.
    fn hook(&self, store: &[(&str, &str)], session: &str, event: &str, cause: &str) -> Output {
        let input = format!(
            "{{\"hook_event_name\":\"{event}\",\"source\":\"{cause}\",\"session_id\":\"{session}\",\
             \"cwd\":\"{}\",\"salt\":{}}}",
            self.path("project").display(),
            fs::read_dir(self.top.path()).unwrap().count(),
        );
        // Two equal events within a moment would count as one.
        let file = tempfile::Builder::new().tempfile_in(self.top.path()).unwrap();
        fs::write(file.path(), input).unwrap();
        let (_, path) = file.keep().unwrap();
        let file = fs::File::open(path).unwrap();
        let mut command = self.with(store);
        command.env("CONVOKE_AGENT", "june").args(["hook", "claude", event]);
        let output = command.stdin(file).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert!(output.stderr.is_empty(), "{}", said(&output));
        output
    }

    fn compacted(&self, store: &[(&str, &str)], session: &str) -> String {
        said(&self.hook(store, session, "SessionStart", "compact"))
    }

    pub(crate) fn unread(&self, store: &[(&str, &str)]) -> usize {
        let inbox = self.stdout(store, &["inbox", "june", "--json"]);
        let inbox: Value = serde_json::from_str(&inbox).unwrap();
        let messages = inbox.as_array().or_else(|| inbox["messages"].as_array());
        messages.unwrap().len()
    }

    fn copy(&self) -> std::path::PathBuf {
        let state = self.path("home/.local/state/convoke");
        let mut entries = fs::read_dir(state).unwrap().map(|entry| entry.unwrap().path());
        entries.find(|path| path.to_string_lossy().ends_with("-copy.db")).unwrap()
    }
}

/// Names a server, and the time that hooks give it.
pub(crate) fn variables<'a>(address: &'a str, limit: &'a str) -> [(&'static str, &'a str); 3] {
    [
        ("CONVOKE_STORE", address),
        ("CONVOKE_STORE_PASSWORD", PASSWORD),
        ("CONVOKE_STORE_HOOK_MILLISECONDS", limit),
    ]
}

pub(crate) const COPY: &str = "ago; the store's server does not answer";

/// W-85, W-86, W-87, W-88
pub(crate) fn hooks_answer_from_the_copy(server: &TestServer) {
    a_slow_server_is_not_waited_for(server);
    server.sql("postgres", "CREATE DATABASE away");
    let address = server.tcp_address(USER, "away");
    let store = variables(&address, "60000");
    let ground = Ground::new();
    ground.stdout(&store, &["pin", "add", "Never push to main."]);
    ground.stdout(&store, &["task", "add", "Write the parser", "--agent", "june"]);
    ground.stdout(&store, &["say", "first for @june"]);
    let direct = ground.compacted(&store, "s1");
    assert!(direct.contains("first for @june") && !direct.contains(COPY), "{direct}");
    ground.stdout(&store, &["say", "second for @june"]);

    server.stop("immediate");
    let copied = ground.compacted(&store, "s1");
    for words in ["Never push to main.", "Write the parser", "second for @june", COPY] {
        assert!(copied.contains(words), "{words}: {copied}");
    }
    let again = ground.compacted(&store, "s2");
    assert!(again.contains(COPY), "{again}");
    let doctor = said(&ground.run(&store, &["doctor"]));
    assert!(doctor.contains("of hooks wait for the server"), "{doctor}");

    server.begin("");
    // The first command that reaches the server hands over what hooks recorded.
    assert_eq!(ground.unread(&store), 0);
    let status = ground.stdout(&store, &["status", "--json"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["copy"]["waiting"], 0, "{status}");
    let back = ground.compacted(&store, "s1");
    assert!(!back.contains(COPY) && back.contains("Write the parser"), "{back}");
    assert_eq!(ground.stdout(&store, &["store", "check"]).matches("sound").count(), 1);

    a_copy_that_cannot_be_used_is_as_none(&ground, &store);
}

/// W-88
fn a_copy_that_cannot_be_used_is_as_none(ground: &Ground, store: &[(&str, &str)]) {
    let copy = ground.copy();
    for end in ["-wal", "-shm"] {
        fs::remove_file(format!("{}{end}", copy.display())).ok();
    }
    fs::write(&copy, "not a database, but long enough to look like something").unwrap();
    let woken = ground.compacted(store, "s1");
    assert!(woken.contains("Write the parser") && !woken.contains(COPY), "{woken}");
    let doctor = said(&ground.run(store, &["doctor"]));
    assert!(doctor.contains("hooks cannot use it"), "{doctor}");
    let synced = ground.stdout(store, &["sync"]);
    assert!(synced.contains("it was damaged") && synced.contains("1 task"), "{synced}");
    let newer = rusqlite::Connection::open(&copy).unwrap();
    newer.pragma_update(None, "user_version", "999").unwrap();
    drop(newer);
    let woken = ground.compacted(store, "s1");
    assert!(woken.contains("Write the parser") && !woken.contains(COPY), "{woken}");
    let refused = ground.run(store, &["sync"]);
    assert_eq!(refused.status.code(), Some(3), "{}", said(&refused));
}

/// W-85
fn a_slow_server_is_not_waited_for(server: &TestServer) {
    server.sql("postgres", "CREATE DATABASE slow");
    let proxy = Proxy::start(server.port);
    let address = format!("postgres://{USER}@127.0.0.1:{}/slow", proxy.port);
    let store = variables(&address, "60000");
    let ground = Ground::new();
    ground.stdout(&store, &["task", "add", "Write the parser"]);
    proxy.is_stuck.store(true, Ordering::SeqCst);
    // Without the limit, the hook would wait for 3 s, and deliver nothing.
    let woken = ground.compacted(&variables(&address, "100"), "s1");
    assert!(woken.contains("Write the parser") && woken.contains(COPY), "{woken}");
    proxy.is_stuck.store(false, Ordering::SeqCst);
    let synced = ground.stdout(&store, &["sync", "--json"]);
    let synced: Value = serde_json::from_str(&synced).unwrap();
    assert_eq!((&synced["copy"]["waiting"], &synced["tasks"]), (&0.into(), &1.into()), "{synced}");
    let woken = ground.compacted(&store, "s1");
    assert!(!woken.contains(COPY), "{woken}");
}

/// A way to a server that passes nothing on while it is stuck.
struct Proxy {
    port: u16,
    is_stuck: Arc<AtomicBool>,
}

impl Proxy {
    fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, is_stuck) = (listener.local_addr().unwrap().port(), Arc::default());
        let flag: Arc<AtomicBool> = Arc::clone(&is_stuck);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let there = TcpStream::connect(("127.0.0.1", server)).unwrap();
                let both = [(client.try_clone(), there.try_clone()), (Ok(there), Ok(client))];
                for (from, to) in both {
                    let (from, to, flag) = (from.unwrap(), to.unwrap(), Arc::clone(&flag));
                    thread::spawn(move || pass_on(from, to, &flag));
                }
            }
        });
        Self { port, is_stuck }
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, is_stuck: &AtomicBool) {
    let mut bytes = [0; 4096];
    while let Ok(count) = from.read(&mut bytes) {
        // A stuck way stays open and silent.
        let is_passed = !is_stuck.load(Ordering::SeqCst);
        if count == 0 || (is_passed && to.write_all(&bytes[..count]).is_err()) {
            break;
        }
    }
    to.shutdown(std::net::Shutdown::Both).ok();
}
