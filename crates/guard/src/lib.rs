//! The guardian: a small process between Convoke and a client.
//!
//! Clients start children that leave their process group, outlive them, or ignore signals. The
//! guardian is the client's parent, leads a session of its own, and inherits every orphan below it;
//! it exits when no process of the client is left. It reads its stdin: when that closes, because
//! Convoke closed it or died, the guardian stops everything. So no end of Convoke leaves a process
//! behind.
//!
//! Orphans are inherited and found on Linux. On other systems the guardian stops the process group,
//! and does not find processes that left it.
//!
//! Every lane has a guardian as long as its client runs, and there may be hundreds. So it is a
//! crate and a program of its own, `convoke-guard`, a fiftieth of Convoke's size. Convoke starts
//! the one beside its own program. Without one, or with one of another build, the guardian is
//! `convoke guard`, which does the same and takes more memory.

mod guard_command;

pub use guard_command::{GuardCommand, SMALL_PROGRAM, guardian, hand_over};

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use convoke_domain::lane::outcome::ProcessEnd;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process};

/// How often the guardian searches for leftover processes while it stops them.
const STEP: Duration = Duration::from_millis(10);

/// How long leftover processes have to end after their client exited.
const LEFTOVER_GRACE: Duration = Duration::from_millis(500);

/// How often the guardian searches for stray processes at most; a later one is new.
const MOST_ROUNDS: usize = 100;

/// Runs a client to its end, and returns when none of its processes is left. Its output goes to the
/// guardian's own stdout and stderr.
pub fn guard(guarded: &GuardCommand) -> io::Result<()> {
    // A session of its own: what the terminal sends does not reach it.
    rustix::process::setsid().ok();
    become_subreaper();
    // Opened before a client runs that could put another file in its place.
    let mut report = File::options().write(true).open(&guarded.report)?;
    let end = match started(guarded) {
        Ok(child) => {
            let was_stopped = wait_for_end(child)?;
            let status = if was_stopped { stop(child, guarded.grace) } else { reaped(child) };
            sweep(LEFTOVER_GRACE);
            status.map_or(ProcessEnd::Lost, described)
        }
        Err(_) => ProcessEnd::NotStarted,
    };
    match guarded.report.parent() {
        // The owner is gone, so it will neither read the report nor remove the folder.
        Some(folder) if is_forsaken(guarded.owner) => std::fs::remove_dir_all(folder),
        _ => report.write_all(format!("{end}\n").as_bytes()),
    }
}

/// Tells whether the parent is gone or about to exit: another process has then adopted this one.
fn is_forsaken(owner: u32) -> bool {
    let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().cast_unsigned());
    parent != Some(owner) || is_ending(owner)
}

/// Tells whether a process is on its way out, as far as the system says. Its pipes are closed a moment
/// before its children belong to another process.
fn is_ending(pid: u32) -> bool {
    /// The system's `PF_EXITING`.
    const EXITING: u32 = 4;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<_> = rest.split_whitespace().collect();
    let flags = fields.get(6).and_then(|flags| flags.parse::<u32>().ok());
    fields.first() == Some(&"Z") || flags.is_some_and(|flags| flags & EXITING != 0)
}

/// Ends every process whose environment names a folder: the leftovers of a client whose guardian
/// was itself killed.
pub fn end_strays(folder: &Path) {
    let mark = folder.as_os_str().as_encoded_bytes();
    for _ in 0..MOST_ROUNDS {
        let strays: Vec<_> = processes()
            .into_iter()
            .map(|(pid, _)| pid)
            .filter(|pid| {
                *pid != getpid() && environment(*pid).windows(mark.len()).any(|part| part == mark)
            })
            .collect();
        if strays.is_empty() {
            return;
        }
        for pid in strays {
            kill_process(pid, Signal::KILL).ok();
        }
        pause();
    }
}

fn environment(pid: Pid) -> Vec<u8> {
    std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()
}

/// Reads how a client ended.
pub fn read_report(report: File) -> Option<ProcessEnd> {
    let mut text = String::new();
    report.take(4096).read_to_string(&mut text).ok()?;
    ProcessEnd::parse(text.trim())
}

fn described(status: WaitStatus) -> ProcessEnd {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ProcessEnd::Exited(code),
        (None, Some(signal)) => ProcessEnd::Signalled(signal),
        (None, None) => ProcessEnd::Lost,
    }
}

/// The guardian's door to other programs: they run where it runs itself.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn command(program: &Path) -> Command {
    Command::new(program)
}

fn started(guarded: &GuardCommand) -> io::Result<Pid> {
    let stdin = match &guarded.stdin {
        Some(path) => Stdio::from(File::open(path)?),
        None => Stdio::null(),
    };
    let mut client = command(&guarded.program);
    let child = client.args(&guarded.arguments).stdin(stdin).process_group(0).spawn()?;
    Ok(Pid::from_child(&child))
}

#[cfg(target_os = "linux")]
fn become_subreaper() {
    rustix::process::set_child_subreaper(Some(getpid())).ok();
}

#[cfg(not(target_os = "linux"))]
fn become_subreaper() {}

/// Waits until the client ends, or until the owner tells the guardian to stop it; tells which.
fn wait_for_end(child: Pid) -> io::Result<bool> {
    let stdin = io::stdin();
    let ended = end_of(child);
    loop {
        let mut watched = vec![PollFd::new(&stdin, PollFlags::IN)];
        watched.extend(ended.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        // Without a descriptor for the client's end, poll at intervals.
        let patience = if ended.is_some() { None } else { Some(timespec(STEP)) };
        match poll(&mut watched, patience.as_ref()) {
            Err(error) if error != rustix::io::Errno::INTR => return Err(error.into()),
            Ok(_) | Err(_) => {}
        }
        // The owner never writes: any event on stdin, including its end, means stop.
        if !watched[0].revents().is_empty() {
            return Ok(true);
        }
        if is_over(child) {
            return Ok(false);
        }
    }
}

/// Returns a descriptor that becomes readable when a child ends, where the system supports it.
#[cfg(target_os = "linux")]
fn end_of(child: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(child, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_of(_child: Pid) -> Option<OwnedFd> {
    None
}

/// Tells whether a child has ended, without taking notice of it.
fn is_over(child: Pid) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(child), options), Ok(None))
}

fn reaped(child: Pid) -> Option<WaitStatus> {
    let found = rustix::process::waitpid(Some(child), WaitOptions::empty());
    found.ok().flatten().map(|(_, status)| status)
}

/// Asks the client to stop, and kills it when it does not.
fn stop(child: Pid, grace: Duration) -> Option<WaitStatus> {
    rustix::process::kill_process_group(child, Signal::TERM).ok();
    let mut left = grace;
    while !is_over(child) && !left.is_zero() {
        pause();
        left = left.saturating_sub(STEP);
    }
    rustix::process::kill_process_group(child, Signal::KILL).ok();
    kill_process(child, Signal::KILL).ok();
    reaped(child)
}

/// Ends all remaining processes below this one: first with a request to stop, then by force.
fn sweep(grace: Duration) {
    let mut left = grace;
    loop {
        // Every orphaned descendant becomes a child of the guardian; without children there is
        // nothing to search for.
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        let remaining = descendants();
        if remaining.is_empty() {
            return;
        }
        let signal = if left.is_zero() { Signal::KILL } else { Signal::TERM };
        for pid in remaining {
            kill_process(pid, signal).ok();
        }
        pause();
        left = left.saturating_sub(STEP);
    }
}

/// Waits a moment; there is nothing else to wait for.
fn pause() {
    poll(&mut [], Some(&timespec(STEP))).ok();
}

/// Writes a time as the system wants it.
pub fn timespec(duration: Duration) -> Timespec {
    let tv_sec = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec, tv_nsec: i64::from(duration.subsec_nanos()) }
}

/// Waits until a child ends, but not for longer than this; the child is still to be reaped.
pub fn wait_for(child: Pid, most: Duration) {
    match end_of(child) {
        Some(end) => poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&timespec(most))).map(drop),
        None => poll(&mut [], Some(&timespec(STEP.min(most)))).map(drop),
    }
    .ok();
}

/// Finds every running descendant of the guardian.
fn descendants() -> Vec<Pid> {
    let all = processes();
    let mut found = vec![getpid()];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(all.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

/// Lists every process with its parent, as far as the system says.
fn processes() -> Vec<(Pid, Pid)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let parse = |text: &str| Pid::from_raw(text.parse().ok()?);
    entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let pid = parse(entry.file_name().to_str()?)?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name in brackets may hold any character; the text behind it does not.
            let (_, rest) = stat.rsplit_once(')')?;
            let mut fields = rest.split_whitespace();
            let is_alive = fields.next()? != "Z";
            let parent = parse(fields.next()?)?;
            is_alive.then_some((pid, parent))
        })
        .collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn an_exiting_process_is_not_taken_for_alive() {
        assert!(!is_ending(std::process::id()));
        let mut child = command(Path::new("true")).spawn().unwrap();
        wait_for(Pid::from_child(&child), Duration::from_mins(1));
        assert!(is_ending(child.id()), "it has ended, and is not reaped yet");
        child.wait().unwrap();
        assert!(!is_ending(child.id()), "there is no such process");
    }
}
