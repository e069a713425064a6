//! The owner of a lane, or of an agent that is woken: a process, distinguished from every other
//! with the same number.
//!
//! On Linux a process is known by the system's start, its namespace of numbers and its own start;
//! elsewhere by its own start alone.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use convoke_domain::owner::Owner;
use convoke_guard::timespec;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal};

/// How often the end is checked if it cannot be watched.
const STEP: Duration = Duration::from_millis(20);

/// The state of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerState {
    /// It runs.
    Here,
    /// It has ended.
    Gone,
    /// In another container, invisible from here.
    Elsewhere,
}

/// Returns what this process is known by.
pub fn myself() -> Owner {
    let pid = std::process::id();
    Owner { pid, mark: mark(pid).unwrap_or_default() }
}

/// Looks for an owner. One without a mark cannot be distinguished from others.
pub fn whereabouts(owner: &Owner) -> OwnerState {
    if owner.mark.is_empty() || is_foreign(&owner.mark) {
        return OwnerState::Elsewhere;
    }
    let is_same = mark(owner.pid).is_some_and(|mark| mark == owner.mark);
    if is_same { OwnerState::Here } else { OwnerState::Gone }
}

/// Tells whether an owner has ended; of one that cannot be seen from here it is not known, and it is
/// waited for.
pub fn is_gone(owner: &Owner) -> bool {
    whereabouts(owner) == OwnerState::Gone
}

/// Asks an owner to stop, and waits a limited time for its end; tells whether it is gone. Another
/// process with its id gets no signal.
pub fn stop(owner: &Owner, patience: Duration) -> io::Result<bool> {
    let number = i32::try_from(owner.pid).ok().and_then(Pid::from_raw);
    let Some(pid) = number else { return Ok(true) };
    // Opened before it is recognized, so that the recognized process is the open one.
    let end = end_of(pid);
    if whereabouts(owner) != OwnerState::Here {
        return Ok(true);
    }
    ask(pid, end.as_ref())?;
    gone_within(owner, end.as_ref(), patience)
}

/// Waits until an owner is gone, but not for ever; tells whether it is.
pub fn wait(owner: &Owner, patience: Duration) -> io::Result<bool> {
    let number = i32::try_from(owner.pid).ok().and_then(Pid::from_raw);
    gone_within(owner, number.and_then(end_of).as_ref(), patience)
}

fn gone_within(owner: &Owner, end: Option<&OwnedFd>, patience: Duration) -> io::Result<bool> {
    let mut left = patience;
    while whereabouts(owner) == OwnerState::Here && !left.is_zero() {
        let step = if end.is_some() { left } else { STEP.min(left) };
        let mut watched: Vec<_> = end.iter().map(|end| PollFd::new(*end, PollFlags::IN)).collect();
        poll(&mut watched, Some(&timespec(step)))?;
        left = left.saturating_sub(step);
    }
    Ok(whereabouts(owner) != OwnerState::Here)
}

#[cfg(target_os = "linux")]
fn end_of(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_of(_pid: Pid) -> Option<OwnedFd> {
    None
}

#[cfg(target_os = "linux")]
fn ask(pid: Pid, end: Option<&OwnedFd>) -> io::Result<()> {
    match end {
        Some(end) => rustix::process::pidfd_send_signal(end, Signal::TERM)?,
        None => rustix::process::kill_process(pid, Signal::TERM)?,
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn ask(pid: Pid, _end: Option<&OwnedFd>) -> io::Result<()> {
    Ok(rustix::process::kill_process(pid, Signal::TERM)?)
}

/// Returns what tells a process that runs from every other: the system's start, the namespace, and
/// its own start.
#[cfg(target_os = "linux")]
fn mark(pid: u32) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold any character; the text behind it does not.
    let (_, rest) = status.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    let since = fields.nth(18)?;
    Some(format!("{} {} {since}", boot()?, namespace()?))
}

#[cfg(target_os = "linux")]
fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

#[cfg(target_os = "linux")]
fn namespace() -> Option<String> {
    let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
    Some(link.display().to_string())
}

/// Tells whether a mark was made since the system started, but among other numbers.
#[cfg(target_os = "linux")]
fn is_foreign(mark: &str) -> bool {
    let mut words = mark.split(' ').map(str::to_owned);
    let (same_boot, other_space) = (words.next() == boot(), words.next() != namespace());
    same_boot && other_space
}

#[cfg(not(target_os = "linux"))]
fn mark(pid: u32) -> Option<String> {
    let folder = std::path::Path::new("/");
    let shown = crate::process::command("ps", folder)
        .args(["-o", "lstart=", "-p", &pid.to_string()])
        .output()
        .ok()?;
    let start = String::from_utf8(shown.stdout).ok()?;
    Some(start.trim().to_owned()).filter(|start| !start.is_empty())
}

#[cfg(not(target_os = "linux"))]
fn is_foreign(_mark: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    // A number that the system gave to another process is not the owner.
    #[test]
    fn an_owner_differs_from_a_later_process_with_its_number() {
        let me = myself();
        assert_eq!(whereabouts(&me), OwnerState::Here);
        let (rest, _) = me.mark.rsplit_once(' ').unwrap();
        let earlier = Owner { mark: format!("{rest} 1"), ..me.clone() };
        assert_eq!(whereabouts(&earlier), OwnerState::Gone);
        assert!(is_gone(&earlier) && !is_gone(&me));
        // Had it been stopped, this test would no longer run.
        assert!(stop(&earlier, Duration::ZERO).unwrap());
        let missing = Owner { pid: u32::MAX, ..me };
        assert_eq!(whereabouts(&missing), OwnerState::Gone);
        assert!(stop(&missing, Duration::ZERO).unwrap());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_happens_in_other_containers_is_not_known() {
        let me = myself();
        let words: Vec<_> = me.mark.split(' ').collect();
        let elsewhere = format!("{} pid:[1] {}", words[0], words[2]);
        let before_the_start = format!("another-boot {} {}", words[1], words[2]);
        for (mark, expected) in [
            (elsewhere, OwnerState::Elsewhere),
            (String::new(), OwnerState::Elsewhere),
            (before_the_start, OwnerState::Gone),
        ] {
            assert_eq!(whereabouts(&Owner { mark, ..me.clone() }), expected);
        }
    }

    #[test]
    fn an_owner_stops_on_request() {
        let folder = std::path::Path::new("/");
        let mut child = crate::process::command("sleep", folder).arg("600").spawn().unwrap();
        let pid = child.id();
        let owner = Owner { pid, mark: mark(pid).unwrap() };
        assert_eq!(whereabouts(&owner), OwnerState::Here);
        assert!(!wait(&owner, Duration::from_millis(1)).unwrap());
        assert!(stop(&owner, Duration::from_mins(1)).unwrap());
        assert!(wait(&owner, Duration::from_mins(1)).unwrap());
        assert!(!child.wait().unwrap().success());
    }
}
