//! The dashboard's server. `convoke serve` becomes it: linked into `convoke`, its tables would cost
//! every start, and every hook is one.

use std::process::ExitCode;

fn main() -> ExitCode {
    convoke::run_dashboard(std::env::args_os())
}
