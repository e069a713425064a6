//! The owner of a lane, or of an agent that is woken: a process, distinguished from every other
//! with the same number.
//!
//! On Linux a process is known by the system's start, its namespace of numbers and its own start;
//! elsewhere by its own start alone. The machine comes last, because a team's store holds owners of
//! several. An owner without one is of this machine.

use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use convoke_domain::owner::Owner;
use convoke_guard::timespec;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal};
use sha2::{Digest, Sha256};

use crate::git::folder_id::{add_folder_id, new_folder_id};

/// How often the end is checked if it cannot be watched.
const STEP: Duration = Duration::from_millis(20);

/// Separates the machine from the rest of a mark: words of the process are separated by spaces.
const MACHINE: &str = " on ";

/// The folder that holds the random id of a machine without one of its own, once it is known.
static STATE: OnceLock<PathBuf> = OnceLock::new();

/// Names the folder of the user's that may hold an id of this machine. The machine's own id is used
/// where there is one; containers and macOS have none that is easy to read.
pub fn keep_machine_id_in(folder: PathBuf) {
    STATE.get_or_init(|| folder);
}

/// Whether the process that owns something still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerState {
    /// It runs.
    Here,
    /// It has ended.
    Gone,
    /// In another container or on another machine, invisible from here.
    Elsewhere,
}

/// Returns what this process is known by.
pub fn myself() -> Owner {
    let pid = std::process::id();
    Owner { pid, mark: mark(pid, machine().as_deref()).unwrap_or_default() }
}

/// Returns the process that started this one, such as the client that calls a hook; `None` where it
/// cannot be told from others.
pub fn parent() -> Option<Owner> {
    let pid = u32::try_from(rustix::process::getppid()?.as_raw_nonzero().get()).ok()?;
    Some(Owner { pid, mark: mark(pid, machine().as_deref())? })
}

/// Looks for an owner. One without a mark cannot be distinguished from others.
pub fn whereabouts(owner: &Owner) -> OwnerState {
    let (process, machine) = split(&owner.mark);
    if process.is_empty() || is_elsewhere(machine, self::machine) || is_in_other_container(process)
    {
        return OwnerState::Elsewhere;
    }
    let is_same = process_mark(owner.pid).is_some_and(|found| found == process);
    if is_same { OwnerState::Here } else { OwnerState::Gone }
}

/// Splits a mark into that of the process and that of the machine.
fn split(mark: &str) -> (&str, Option<&str>) {
    mark.split_once(MACHINE).map_or((mark, None), |(process, machine)| (process, Some(machine)))
}

/// Tells whether an owner may be on another machine. Where this one has no id, that cannot be told.
fn is_elsewhere(there: Option<&str>, here: impl FnOnce() -> Option<String>) -> bool {
    there.is_some_and(|there| here().as_deref() != Some(there))
}

fn mark(pid: u32, machine: Option<&str>) -> Option<String> {
    let process = process_mark(pid)?;
    Some(machine.map_or(process.clone(), |machine| format!("{process}{MACHINE}{machine}")))
}

/// Returns a word for this machine. Its id itself is for this machine alone.
fn machine() -> Option<String> {
    let own = || std::fs::read("/etc/machine-id").ok().filter(|id| !id.trim_ascii().is_empty());
    let random = || {
        let folder = STATE.get()?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder).ok()?;
        add_folder_id(folder, &new_folder_id()).map(String::into_bytes)
    };
    let hash = Sha256::digest(own().or_else(random)?.trim_ascii());
    let word: Vec<_> = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    Some(word.concat())
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

/// Returns what tells a process that runs from every other of its machine: the system's start, the
/// namespace, and its own start.
#[cfg(target_os = "linux")]
fn process_mark(pid: u32) -> Option<String> {
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

/// Returns the name of this machine, for people.
#[cfg(target_os = "linux")]
pub fn machine_name() -> String {
    shown_name(std::fs::read("/proc/sys/kernel/hostname").ok())
}

/// Returns the name of this machine, for people.
#[cfg(not(target_os = "linux"))]
pub fn machine_name() -> String {
    let said = crate::process::command("uname", std::path::Path::new("/")).arg("-n").output();
    shown_name(said.ok().map(|said| said.stdout))
}

fn shown_name(said: Option<Vec<u8>>) -> String {
    let name = said.map(|said| String::from_utf8_lossy(said.trim_ascii()).into_owned());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "unknown".to_owned())
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

/// Tells whether a process was marked since the system started, but among other numbers.
#[cfg(target_os = "linux")]
fn is_in_other_container(process: &str) -> bool {
    let mut words = process.split(' ').map(str::to_owned);
    let (same_boot, other_space) = (words.next() == boot(), words.next() != namespace());
    same_boot && other_space
}

#[cfg(not(target_os = "linux"))]
fn process_mark(pid: u32) -> Option<String> {
    let folder = std::path::Path::new("/");
    let shown = crate::process::command("ps", folder)
        .args(["-o", "lstart=", "-p", &pid.to_string()])
        .output()
        .ok()?;
    let start = String::from_utf8(shown.stdout).ok()?;
    Some(start.trim().to_owned()).filter(|start| !start.is_empty())
}

#[cfg(not(target_os = "linux"))]
fn is_in_other_container(_process: &str) -> bool {
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
        let (process, machine) = split(&me.mark);
        let mut words: Vec<_> = process.split(' ').collect();
        *words.last_mut().unwrap() = "1";
        let machine = machine.map(|machine| format!("{MACHINE}{machine}")).unwrap_or_default();
        let earlier = Owner { mark: words.join(" ") + &machine, ..me.clone() };
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
    fn what_happens_in_other_containers_and_machines_is_not_known() {
        let me = myself();
        let (process, _) = split(&me.mark);
        let words: Vec<_> = process.split(' ').collect();
        let elsewhere = format!("{} pid:[1] {}", words[0], words[2]);
        let before_the_start = format!("another-boot {} {}", words[1], words[2]);
        // Whether or not this machine has an id, its own start says nothing about another one's.
        let on_another = format!("{before_the_start}{MACHINE}0123456789ab");
        for (mark, expected) in [
            (process.to_owned(), OwnerState::Here),
            (on_another, OwnerState::Elsewhere),
            (format!("{process}{MACHINE}0123456789ab"), OwnerState::Elsewhere),
            (elsewhere, OwnerState::Elsewhere),
            (String::new(), OwnerState::Elsewhere),
            (before_the_start, OwnerState::Gone),
        ] {
            let owner = Owner { mark, ..me.clone() };
            assert_eq!(whereabouts(&owner), expected, "{}", owner.mark);
            assert_eq!(is_gone(&owner), expected == OwnerState::Gone);
        }
    }

    #[test]
    fn an_owner_on_a_machine_that_cannot_be_compared_is_not_gone() {
        let known = || Some("a".to_owned());
        assert!(is_elsewhere(Some("b"), known) && !is_elsewhere(Some("a"), known));
        assert!(is_elsewhere(Some("a"), || None), "this machine has no id");
        assert!(!is_elsewhere(None, || panic!("an owner without a machine is of this one")));
    }

    #[test]
    fn an_owner_stops_on_request() {
        let folder = std::path::Path::new("/");
        let mut child = crate::process::command("sleep", folder).arg("600").spawn().unwrap();
        let pid = child.id();
        let owner = Owner { pid, mark: mark(pid, None).unwrap() };
        assert_eq!(whereabouts(&owner), OwnerState::Here);
        assert!(!wait(&owner, Duration::from_millis(1)).unwrap());
        assert!(stop(&owner, Duration::from_mins(1)).unwrap());
        assert!(wait(&owner, Duration::from_mins(1)).unwrap());
        assert!(!child.wait().unwrap().success());
    }
}
