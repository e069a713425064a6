//! The guardian of one client. Convoke starts it; see the crate `convoke-guard`.

use std::ffi::OsString;
use std::fmt;

fn main() -> Result<(), Failure> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let guarded = convoke_guard::hand_over(&arguments).map_err(Failure::Guard)?;
    convoke_guard::guard(&guarded.ok_or(Failure::Usage)?).map_err(Failure::Guard)
}

enum Failure {
    Usage,
    Guard(std::io::Error),
}

/// This is how the standard library prints why a program failed.
impl fmt::Debug for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage => formatter
                .write_str("only convoke starts this program; see `convoke lane run --help`"),
            Self::Guard(error) => write!(formatter, "cannot supervise the client: {error}"),
        }
    }
}
