//! Whether the process that answers for something is still there.

use convoke_domain::agent::Owner;
use rustix::process::{Pid, test_kill_process};

/// Returns this process.
pub fn ourselves() -> Owner {
    let pid = std::process::id();
    Owner { pid, started: seen(pid).and_then(|it| it.started) }
}

/// Tells whether a process runs, and is the one that was meant and no later one of its number.
pub fn is_alive(owner: Owner) -> bool {
    let Owner { pid, started } = owner;
    match seen(pid) {
        Some(seen) => seen.is_running && (started.is_none() || seen.started == started),
        // Where the system keeps no such list, only the number can be asked for.
        None => seen(std::process::id()).is_none() && exists(pid),
    }
}

/// What the system lists of a process.
struct Seen {
    is_running: bool,
    started: Option<i64>,
}

fn seen(pid: u32) -> Option<Seen> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything; what follows does not.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let is_running = !matches!(fields.next()?, "Z" | "X");
    Some(Seen { is_running, started: fields.nth(18).and_then(|text| text.parse().ok()) })
}

fn exists(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_a_later_one_of_its_number() {
        let ourselves = ourselves();
        assert!(is_alive(ourselves));
        assert!(is_alive(Owner { started: None, ..ourselves }));
        assert!(exists(ourselves.pid));
        let nobody = Owner { pid: u32::MAX, started: None };
        assert!(!is_alive(nobody) && !exists(nobody.pid));
        #[cfg(target_os = "linux")]
        assert!(!is_alive(Owner { started: Some(-1), ..ourselves }));
    }
}
