//! A user of a case's own: a home, a project, a folder for temporary files, and a script in place of
//! every client.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How often a process is observed from outside.
const LOOK: Duration = Duration::from_millis(5);

/// Longer than every case; only a hanging one reaches it.
const PATIENCE: Duration = Duration::from_mins(3);

/// The words that scripts are made of: lines as Claude Code says them.
const WORDS: &str = r#"#!/bin/sh
init() { echo '{"type":"system","subtype":"init","session_id":"s-1","uuid":"u","model":"claude-opus-5-5","tools":[]}'; }
words() { echo '{"type":"assistant","uuid":"u","session_id":"s-1","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Let me see'"$(printf "%0${1:-1}d" 0)"'."}]}}'; }
answer() { echo '{"type":"result","subtype":"success","is_error":false,"result":"The answer is 42.","session_id":"s-1","uuid":"u"}'; }
failure() { echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":'$1',"result":"API Error: '$1'","session_id":"s-1","uuid":"u"}'; }
retry() { echo '{"type":"system","subtype":"api_retry","uuid":"u","session_id":"s-1","error_status":'$1',"error":"API Error: '$1'"}'; }
"#;

/// The folder of a case.
pub(crate) struct Stage {
    top: TempDir,
}

/// The result of one run of Convoke.
pub(crate) struct Run {
    /// Its stdout.
    pub(crate) stdout: String,
    /// Its stderr.
    pub(crate) stderr: String,
    /// How long it took.
    pub(crate) took: Duration,
    /// The most memory of its own that it was seen to hold, in megabytes.
    pub(crate) megabytes: u64,
}

impl Stage {
    pub(crate) fn new(script: &str) -> Self {
        let stage = Self { top: tempfile::tempdir().unwrap() };
        for folder in ["home", "project", "tmp", "bin"] {
            fs::create_dir(stage.path(folder)).unwrap();
        }
        for client in ["claude", "codex"] {
            let program = stage.path("bin").join(client);
            fs::write(&program, format!("{WORDS}{script}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    /// Starts Convoke in a process group of its own, with `prompt` on its stdin.
    #[expect(clippy::disallowed_methods, reason = "the door to processes of these tests")]
    pub(crate) fn start(&self, arguments: &[&str], prompt: &str) -> Child {
        fs::write(self.path("prompt"), prompt).unwrap();
        let create = |name| Stdio::from(File::create(self.path(name)).unwrap());
        Command::new(env!("CARGO_BIN_EXE_convoke"))
            .args(["lane", "run", "--json"])
            .args(arguments)
            .arg("-")
            .current_dir(self.path("project"))
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()))
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .stdin(File::open(self.path("prompt")).unwrap())
            .stdout(create("stdout"))
            .stderr(create("stderr"))
            .process_group(0)
            .spawn()
            .unwrap()
    }

    /// Runs Convoke to its end, and observes its memory meanwhile.
    #[expect(clippy::disallowed_methods, reason = "the door to the clock of these tests")]
    pub(crate) fn run(&self, arguments: &[&str], prompt: &str) -> Run {
        let start = Instant::now();
        let mut convoke = self.start(arguments, prompt);
        let mut kilobytes = 0;
        while convoke.try_wait().unwrap().is_none() {
            kilobytes = held(convoke.id()).unwrap_or(0).max(kilobytes);
            if start.elapsed() > PATIENCE {
                convoke.kill().unwrap();
            }
            thread::sleep(LOOK);
        }
        let read = |name| fs::read_to_string(self.path(name)).unwrap();
        Run {
            stdout: read("stdout"),
            stderr: read("stderr"),
            took: start.elapsed(),
            megabytes: kilobytes / 1024,
        }
    }

    /// Waits until a condition holds; tells whether it did.
    #[expect(clippy::disallowed_methods, reason = "the door to the clock of these tests")]
    pub(crate) fn until(&self, within: Duration, holds: impl Fn(&Self) -> bool) -> bool {
        let start = Instant::now();
        while !holds(self) {
            if start.elapsed() > within {
                return false;
            }
            thread::sleep(LOOK);
        }
        true
    }

    /// Finds every living process from here: its environment names the stage's folder, or its
    /// folder is inside.
    pub(crate) fn alive(&self) -> Vec<String> {
        let top = self.top.path().display().to_string();
        let is_ours = |process: &Path| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            let folder = fs::read_link(process.join("cwd")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(&top)
                || folder.starts_with(self.top.path())
        };
        let describe = |process: &Path| {
            let words = fs::read(process.join("cmdline")).unwrap_or_default();
            format!("{} {}", process.display(), String::from_utf8_lossy(&words).replace('\0', " "))
        };
        let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        processes
            .map(|entry| entry.path())
            .filter(|path| is_ours(path))
            .map(|path| describe(&path))
            .collect()
    }

    /// Lists the temporary files.
    pub(crate) fn left_files(&self) -> Vec<PathBuf> {
        fs::read_dir(self.path("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

/// Returns the memory that a process holds for itself. Pages of the program's file do not count: how
/// many there are says how large the program is, not what it keeps.
fn held(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.split_whitespace().next()?.parse().ok()
}
