//! Whether a process runs in a lane, by the processes above it: some clients start programs with few
//! variables, so that the lane's mark is lost on the way.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;

use rustix::process::{Pid, getppid};

use super::supervisor::LANE_MARK;

/// How many processes above this one are looked at.
const MOST: usize = 64;

/// Returns the mark of the lane that a process above this one is in. Where the system does not show
/// processes as files, it finds no mark.
pub fn mark_above() -> Option<OsString> {
    let mut pid = getppid().map(Pid::as_raw_pid);
    for _ in 0..MOST {
        let next = pid.filter(|pid| *pid > 1)?;
        let environment = fs::read(format!("/proc/{next}/environ")).unwrap_or_default();
        if let Some(mark) = mark_in(&environment) {
            return Some(mark.to_owned());
        }
        pid = parent(&fs::read_to_string(format!("/proc/{next}/stat")).ok()?);
    }
    None
}

fn mark_in(environment: &[u8]) -> Option<&OsStr> {
    let mut variables = environment.split(|byte| *byte == 0);
    let mark = variables
        .find_map(|variable| variable.strip_prefix(LANE_MARK.as_bytes())?.strip_prefix(b"="))?;
    (!mark.is_empty()).then(|| OsStr::from_bytes(mark))
}

/// The name of a process is in parentheses and can hold anything.
fn parent(stat: &str) -> Option<i32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_among_variables() {
        let environment = b"A=b\0XCONVOKE_LANE=9\0CONVOKE_LANE=4711 1 - x\0";
        assert_eq!(mark_in(environment), Some(OsStr::new("4711 1 - x")));
        for environment in [&b""[..], b"CONVOKE_LANE=\0", b"CONVOKE_LANES=1\0"] {
            assert_eq!(mark_in(environment), None);
        }
        assert_eq!(parent("12 (a) b) S 7 12 12 0"), Some(7));
        assert_eq!(parent(""), None);
    }
}
