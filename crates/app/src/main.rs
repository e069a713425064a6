//! The `convoke` program. Everything it does is in the library, where it can be tested.

use std::process::ExitCode;

fn main() -> ExitCode {
    convoke::run(std::env::args_os())
}
