//! Processes of a test, whose output is read as it comes.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take.
pub(crate) const DEADLINE: Duration = Duration::from_mins(3);

#[expect(clippy::disallowed_methods, reason = "the test is told what to do by variables")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[expect(clippy::disallowed_methods, reason = "programs of the test")]
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

#[expect(clippy::disallowed_methods, reason = "a test that hangs must end")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Waits until something is so.
pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = now();
    while !is_so() {
        assert!(start.elapsed() < DEADLINE, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn signal(name: &str, pid: u32) {
    command("kill").args([name, &pid.to_string()]).stderr(Stdio::null()).status().unwrap();
}

pub(crate) fn is_alive(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Behind the name in brackets; a zombie is gone.
    status.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

/// A process of ours, whose output is read as it comes.
pub(crate) struct Process {
    child: RefCell<Child>,
    pub(crate) stdout: Receiver<String>,
    pub(crate) stderr: Receiver<String>,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        Self { child: child.into(), stdout: lines(stdout), stderr: lines(stderr) }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.borrow().id()
    }

    pub(crate) fn stderr_until(&self, word: &str) {
        let mut said = String::new();
        loop {
            let line = self.stderr.recv_timeout(DEADLINE);
            let line = line.unwrap_or_else(|_| panic!("no `{word}` on stderr: {said}"));
            said.push_str(&line);
            if line.contains(word) {
                return;
            }
        }
    }

    /// Returns how the process ended, if it has.
    pub(crate) fn try_end(&self) -> Option<std::process::ExitStatus> {
        self.child.borrow_mut().try_wait().unwrap()
    }

    /// Waits for the end, and returns the exit code, or none for a signal.
    pub(crate) fn end(&self) -> Option<i32> {
        let mut code = None;
        wait_for("the process ends", || match self.child.borrow_mut().try_wait().unwrap() {
            Some(status) => {
                code = status.code();
                true
            }
            None => false,
        });
        code
    }

    /// Waits for the end with a code, and returns what it printed.
    pub(crate) fn stdout(&self, code: Option<i32>) -> String {
        let ended = self.end();
        let lines: Vec<_> = self.stdout.iter().collect();
        let said: Vec<_> = self.stderr.iter().collect();
        assert_eq!(ended, code, "{lines:?} {said:?}");
        lines.join("\n")
    }

    pub(crate) fn kill(&self) {
        self.child.borrow_mut().kill().unwrap();
        self.child.borrow_mut().wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        // A frozen process is killed as well.
        child.kill().ok();
        child.wait().ok();
    }
}

fn lines(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    receive
}
