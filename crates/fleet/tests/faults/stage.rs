//! A fleet of one test's own: Temporal, a store, workers, submitters, and a client that says who it is.

use std::cell::RefCell;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::audit::{self, Counts, TrialLog};
use crate::process::{DEADLINE, Process, command, now, variable, wait_for};
use crate::server::{TestServer, USER};

/// Where the store of a case is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreKind {
    /// In a file.
    File,
    /// On a Postgres server.
    Server,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// All that one trial needs. Everything ends when it is dropped.
pub(crate) struct Stage {
    top: tempfile::TempDir,
    store: String,
    temporal: RefCell<Option<Child>>,
    pub(crate) port: u16,
    log: Rc<RefCell<TrialLog>>,
}

/// One Postgres server for all cases; each has a database of its own.
pub(crate) fn postgres() -> &'static TestServer {
    static SERVER: OnceLock<TestServer> = OnceLock::new();
    SERVER.get_or_init(TestServer::start)
}

impl Stage {
    pub(crate) fn new(kind: StoreKind) -> Self {
        let top = tempfile::tempdir().unwrap();
        let store = match kind {
            StoreKind::File => top.path().join("store.db").display().to_string(),
            StoreKind::Server => postgres().new_database(),
        };
        let (temporal, port, log) = (None.into(), free_port(), Rc::default());
        let stage = Self { top, store, temporal, port, log };
        for folder in ["home/.config/convoke", "bin", "clients", "asked", "tmp"] {
            fs::create_dir_all(stage.path(folder)).unwrap();
        }
        stage.configure("");
        stage.make_client();
        stage.make_repository();
        stage.start_temporal();
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    /// Writes the user's configuration, with more lines in `[fleet]`.
    pub(crate) fn configure(&self, more: &str) {
        self.write_config(&self.path("home"), self.port, more);
    }

    /// Writes the configuration of a user who reaches Temporal at a port.
    pub(crate) fn write_config(&self, home: &Path, port: u16, more: &str) {
        Self::write_config_with(home, port, &self.path("app"), more);
    }

    /// Writes the configuration of a user whose clone is in a folder.
    pub(crate) fn write_config_with(home: &Path, port: u16, app: &Path, more: &str) {
        let text = format!(
            "[fleet]\ntemporal = \"http://127.0.0.1:{port}\"\nlease_seconds = 5\n\
             repositories = {{ app = \"{}\" }}\n{more}\n",
            app.display()
        );
        fs::write(home.join(".config/convoke/config.toml"), text).unwrap();
    }

    /// Returns the name of the store's database on the server.
    pub(crate) fn database(&self) -> String {
        let (_, rest) = self.store.split_once("@/").unwrap();
        rest.split('?').next().unwrap().to_owned()
    }

    /// Makes a client that notes its process, works until the file of its lane is there, and answers
    /// with its lane and process. A prompt names its lane in its first word, or as the item of a fan-out.
    fn make_client(&self) {
        let place = self.top.path().display();
        let script = format!(
            r#"#!/bin/sh
case "$*" in *--version*) echo "2.1.0 (Claude Code)"; exit 0;; esac
prompt=$(cat)
lane=${{prompt%% *}}
case "$prompt" in *'</item-'*) lane=${{prompt%'</item-'*}}; lane=${{lane##*>}};; esac
printf '%s\n' "$$ $(cat file 2>/dev/null)" >> "{place}/clients/$lane"
say() {{ printf '%s\n' "$1"; }}
say '{{"type":"system","subtype":"init","session_id":"s-'$$'","uuid":"u-1","model":"fake","tools":[]}}'
say '{{"type":"assistant","uuid":"u-2","session_id":"s-'$$'","message":{{"id":"m","role":"assistant","content":[{{"type":"text","text":"working"}}]}}}}'
while ! [ -e "{place}/asked/$lane" ]; do sleep 0.05; done
case "$lane" in *-limited) if [ "$(wc -l < "{place}/clients/$lane")" = 1 ]; then
  say '{{"type":"result","subtype":"success","is_error":true,"result":"Claude AI usage limit reached|'$(($(date +%s) + 6))'","session_id":"s-'$$'","uuid":"u-3","num_turns":1,"usage":{{"input_tokens":10,"output_tokens":2}}}}'
  exit 1
fi;; esac
case "$lane" in *-untidy) echo changed > file;; esac
say '{{"type":"result","subtype":"success","is_error":false,"result":"'$lane' by '$$'","session_id":"s-'$$'","uuid":"u-3","num_turns":1,"usage":{{"input_tokens":10,"output_tokens":2}}}}'
"#
        );
        let path = self.path("bin/claude");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn make_repository(&self) {
        let app = self.path("app");
        fs::create_dir_all(&app).unwrap();
        fs::write(app.join("file"), "committed").unwrap();
        for words in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "first"]] {
            let mut git = command("git");
            git.current_dir(&app).env("GIT_CONFIG_GLOBAL", "/dev/null");
            git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words);
            assert!(git.status().unwrap().success());
        }
        // No worker sees what is not committed.
        fs::write(app.join("file"), "uncommitted").unwrap();
    }

    pub(crate) fn start_temporal(&self) {
        let installed =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/temporal/bin/temporal");
        let program = variable("CONVOKE_TEMPORAL").unwrap_or_else(|| installed.to_owned());
        let (port, file) = (self.port.to_string(), self.path("temporal.db"));
        let prepare = |words: &[&str]| {
            let mut temporal = command(&program);
            temporal.args(words).current_dir(self.top.path()).env("HOME", self.path("home"));
            temporal.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            temporal
        };
        let address = format!("127.0.0.1:{port}");
        let health = ["operator", "cluster", "health", "--address", &address];
        let start = ["server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", &port];
        wait_for("Temporal serves", || {
            let mut running = self.temporal.borrow_mut();
            // On a busy machine it may not be ready within its own limit, and ends.
            if running.as_mut().is_none_or(|temporal| temporal.try_wait().unwrap().is_some()) {
                let mut temporal = prepare(&start);
                temporal.arg("--db-filename").arg(&file).args(["--log-level", "error"]);
                *running = Some(temporal.spawn().unwrap());
            }
            prepare(&health).status().unwrap().success()
        });
    }

    pub(crate) fn kill_temporal(&self) {
        if let Some(mut temporal) = self.temporal.borrow_mut().take() {
            temporal.kill().unwrap();
            temporal.wait().unwrap();
        }
    }

    /// Prepares one of our programs, with nothing of the test's own environment.
    pub(crate) fn program(&self, program: impl AsRef<Path>) -> Command {
        let mut command = command(program.as_ref());
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.path("bin").display());
        command.env_clear().env("HOME", self.path("home")).env("PATH", path);
        command.env("TMPDIR", self.path("tmp"));
        command.env("CONVOKE_STORE", &self.store).current_dir(self.path("app"));
        command
    }

    pub(crate) fn fleet(&self, words: &[&str]) -> Command {
        let mut fleet = self.program(env!("CARGO_BIN_EXE_convoke-fleet"));
        fleet.args(words);
        fleet
    }

    /// Returns the address of the store for a member of its team.
    pub(crate) fn store_of(&self, member: &str) -> String {
        let (_, rest) = self.store.split_once("@/").unwrap();
        format!("postgres://{member}@/{rest}")
    }

    /// Starts `convoke`.
    pub(crate) fn convoke(&self, words: &[&str]) -> Process {
        Process::start(self.convoke_command(words))
    }

    /// Prepares `convoke`, which lies beside the companion.
    pub(crate) fn convoke_command(&self, words: &[&str]) -> Command {
        let beside = Path::new(env!("CARGO_BIN_EXE_convoke-fleet")).with_file_name("convoke");
        assert!(beside.is_file(), "`cargo build --package convoke` makes {}", beside.display());
        let mut convoke = self.program(beside);
        convoke.args(words);
        convoke
    }

    /// Starts a worker, and waits until it works.
    pub(crate) fn worker(&self, name: &str, slots: usize) -> Process {
        self.worker_by(name, slots, |worker| worker)
    }

    /// Starts a worker by a command that is changed before, and waits until it works.
    pub(crate) fn worker_by(
        &self,
        name: &str,
        slots: usize,
        change: impl FnOnce(Command) -> Command,
    ) -> Process {
        let slots = slots.to_string();
        let words = ["worker", "--offers", "claude,claude@app", "--slots", &slots, "--name", name];
        let worker = Process::start(change(self.fleet(&words)));
        worker.stderr_until("offers");
        worker
    }

    /// Submits a lane, and waits until the store has it.
    pub(crate) fn lane(&self, name: &str, more: &[&str]) -> Lane {
        let lane = self.begin_lane(name, more);
        lane.until("submitted");
        lane
    }

    /// Submits a lane, and does not wait.
    pub(crate) fn begin_lane(&self, name: &str, more: &[&str]) -> Lane {
        self.begin_lane_by(name, more, |lane| lane)
    }

    /// Submits a lane by a command that is changed before, and does not wait.
    pub(crate) fn begin_lane_by(
        &self,
        name: &str,
        more: &[&str],
        change: impl FnOnce(Command) -> Command,
    ) -> Lane {
        let prompt = format!("{name} and think");
        // The test itself is the supervisor.
        let owner = std::process::id().to_string();
        let words = ["lane", "--counted-by", &owner, "--agent", "claude@app", &prompt];
        let words = [&words[..], more].concat();
        let start = now();
        let process = Process::start(change(self.fleet(&words)));
        let log = Rc::clone(&self.log);
        Lane { name: name.to_owned(), process, start, lines: Vec::new().into(), log }
    }

    /// Lets the client of a lane answer. The store must have that answer in the end, and once.
    pub(crate) fn answer(&self, name: &str) {
        self.log.borrow_mut().expected.insert(name.to_owned());
        self.go_on(name);
    }

    /// Lets the client of a lane go on to its end, which is no answer.
    pub(crate) fn go_on(&self, name: &str) {
        fs::write(self.path("asked").join(name), "").unwrap();
    }

    /// Notes that the ledger must have so many answers of remote lanes.
    pub(crate) fn expect_in_ledger(&self, lanes: usize) {
        self.log.borrow_mut().in_ledger += lanes;
    }

    /// Counts what came of the trial.
    pub(crate) fn counts(&self) -> Counts {
        audit::count(&self.store, &self.log.borrow())
    }

    /// Returns the processes of a lane's clients, in the order of their starts.
    pub(crate) fn clients(&self, name: &str) -> Vec<u32> {
        let noted = fs::read_to_string(self.path("clients").join(name)).unwrap_or_default();
        let pid = |line: &str| line.split(' ').next()?.parse().ok();
        noted.lines().filter_map(pid).collect()
    }

    /// Tells whether a worker has a working tree of a lane.
    pub(crate) fn has_trees(&self, worker: u32) -> bool {
        let prefix = format!("convoke-lane.{worker}.");
        let names = fs::read_dir(self.path("tmp")).unwrap().flatten();
        names.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
    }

    pub(crate) fn wait_for_clients(&self, name: &str, count: usize) -> Vec<u32> {
        wait_for(&format!("{count} clients of {name}"), || self.clients(name).len() >= count);
        self.clients(name)
    }
}

/// Starts the server for all cases again if a case that failed left it away.
pub(crate) fn revive_postgres() {
    if postgres().sql_as(USER, "postgres", "SELECT 1").is_err() {
        postgres().begin("");
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.kill_temporal();
    }
}

/// A lane that was submitted.
pub(crate) struct Lane {
    pub(crate) name: String,
    pub(crate) process: Process,
    start: Instant,
    lines: RefCell<Vec<Value>>,
    log: Rc<RefCell<TrialLog>>,
}

impl Lane {
    /// Reads lines until an event comes.
    pub(crate) fn until(&self, event: &str) {
        loop {
            let line = self.process.stdout.recv_timeout(DEADLINE);
            let Ok(line) = line else {
                let said: Vec<_> = self.process.stderr.try_iter().collect();
                panic!("no `{event}` of {}: {:?} {said:?}", self.name, self.lines.borrow());
            };
            let line: Value = serde_json::from_str(&line).unwrap();
            let is_it = line["event"] == event;
            self.lines.borrow_mut().push(line);
            if is_it {
                return;
            }
        }
    }

    pub(crate) fn of(&self, event: &str) -> Vec<Value> {
        self.lines.borrow().iter().filter(|line| line["event"] == event).cloned().collect()
    }

    /// Reads all lines, after the end, and returns those of an event.
    pub(crate) fn rest_of(&self, event: &str) -> Vec<Value> {
        while let Ok(line) = self.process.stdout.recv() {
            self.lines.borrow_mut().push(serde_json::from_str(&line).unwrap());
        }
        self.of(event)
    }

    /// Waits for the end, notes what the submitter heard, and returns how long that took.
    pub(crate) fn finish(&self) -> Duration {
        let code = self.process.end();
        let ended = self.rest_of("ended");
        let answer = ended.first().and_then(|line| line["report"]["answer"].as_str());
        let is_mine = |answer: &&str| answer.starts_with(&format!("{} by ", self.name));
        let answer = answer.filter(is_mine).filter(|_| code == Some(0)).map(str::to_owned);
        if answer.is_none() {
            let said: Vec<_> = self.process.stderr.try_iter().collect();
            println!("no answer of {}: {code:?} {:?} {said:?}", self.name, self.lines.borrow());
        }
        let took = self.start.elapsed();
        let mut log = self.log.borrow_mut();
        log.heard.push((self.name.clone(), answer));
        log.slowest = log.slowest.max(took);
        took
    }
}
