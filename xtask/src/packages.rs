//! Programs that chores need beside Rust, by the name of their Debian package.

use crate::process::{run, succeeds};
use crate::{Error, say};

/// A program and the package that brings it.
pub struct Needed {
    /// The program.
    pub program: &'static str,
    /// Its package.
    pub package: &'static str,
}

/// What the tests run.
pub const FOR_TESTS: [Needed; 3] = [
    Needed { program: "mkfifo", package: "coreutils" },
    Needed { program: "bash", package: "bash" },
    Needed { program: "mandoc", package: "mandoc" },
];

/// What the benchmarks run.
pub const FOR_BENCHES: [Needed; 3] = [
    Needed { program: "sqlite3", package: "sqlite3" },
    Needed { program: "cat", package: "coreutils" },
    Needed { program: "/usr/bin/time", package: "time" },
];

/// Installs whatever is missing.
pub fn install(needed: &[Needed]) -> Result<(), Error> {
    let missing: Vec<_> =
        needed.iter().filter(|it| !is_there(it.program)).map(|it| it.package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    if !is_there("apt-get") {
        return Err(format!("cannot find what these packages bring: {list}; install them").into());
    }
    say(&format!("installing {list}"));
    let (program, prefix): (_, &[&str]) = if succeeds("test", &["-w", "/usr/bin"]) {
        ("apt-get", &[])
    } else {
        ("sudo", &["apt-get"])
    };
    run(program, &[prefix, &["update", "-qq"]].concat())?;
    run(program, &[prefix, &["install", "-y", "-qq", "--no-install-recommends"], &missing].concat())
}

fn is_there(program: &str) -> bool {
    succeeds("sh", &["-c", "command -v \"$0\"", program])
}
