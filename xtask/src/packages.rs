//! Programs that chores need beside Rust, by the name of their Debian package.

use crate::process::{command, run, succeeds};
use crate::{Error, say};

/// A program and the package that brings it.
pub struct Needed {
    /// The command that is looked for in `PATH`.
    pub program: &'static str,
    /// The Debian package that installs it.
    pub package: &'static str,
}

/// What the tests run.
pub const FOR_TESTS: [Needed; 5] = [
    Needed { program: "mkfifo", package: "coreutils" },
    Needed { program: "bash", package: "bash" },
    Needed { program: "mandoc", package: "mandoc" },
    Needed { program: "script", package: "bsdutils" },
    Needed { program: "strace", package: "strace" },
];

/// What real clients are installed and run with.
pub const FOR_CLIENTS: [Needed; 2] = [
    Needed { program: "npm", package: "npm" },
    Needed { program: "timeout", package: "coreutils" },
];

/// What diagrams are drawn with.
pub const FOR_BROWSER: [Needed; 3] = [
    Needed { program: "npm", package: "npm" },
    Needed { program: "chromium", package: "chromium" },
    Needed { program: "timeout", package: "coreutils" },
];

/// What the benchmarks run.
pub const FOR_BENCHES: [Needed; 5] = [
    Needed { program: "jq", package: "jq" },
    Needed { program: "sqlite3", package: "sqlite3" },
    Needed { program: "cat", package: "coreutils" },
    Needed { program: "sha256sum", package: "coreutils" },
    Needed { program: "/usr/bin/time", package: "time" },
];

/// Installs whatever is missing.
pub fn install(needed: &[Needed]) -> Result<(), Error> {
    let missing: Vec<_> = needed
        .iter()
        .filter(|package| !is_there(package.program))
        .map(|package| package.package)
        .collect();
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

/// Returns the folder that a program is found in.
pub fn folder_of(program: &str) -> Option<String> {
    let found = command("sh").args(["-c", "command -v \"$0\"", program]).output().ok()?;
    let path = String::from_utf8(found.stdout).ok()?;
    path.rsplit_once('/').map(|(folder, _)| folder.to_owned())
}

fn is_there(program: &str) -> bool {
    succeeds("sh", &["-c", "command -v \"$0\"", program])
}
