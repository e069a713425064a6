//! Programs that chores install for themselves, once, below `target/tools`.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{command, run, succeeds};
use crate::{Error, root};

/// A program that is built from crates.io.
pub struct Tool {
    /// The crate, and its program.
    pub name: &'static str,
    /// The release.
    pub version: &'static str,
    /// More options for `cargo install`.
    pub options: &'static [&'static str],
}

/// Builds the book. `watch` and `serve` bring a web server along, which building does not need.
pub const MDBOOK: Tool = Tool {
    name: "mdbook",
    version: "0.5.4",
    options: &["--no-default-features", "--features", "search"],
};

/// Quick to build, for programs that run once.
const UNOPTIMIZED: &[&str] = &["--debug"];

/// Writes the list of linked crates into each program.
pub const AUDITABLE: Tool =
    Tool { name: "cargo-auditable", version: "0.7.7", options: UNOPTIMIZED };

/// Checks licences, sources and known faults of dependencies.
pub const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2", options: UNOPTIMIZED };

/// Finds dependencies that no code uses.
pub const MACHETE: Tool = Tool { name: "cargo-machete", version: "0.9.2", options: UNOPTIMIZED };

/// The linker for every Linux, from `PyPI`.
const ZIG: [&str; 2] = ["cargo-zigbuild==0.24.0", "ziglang==0.17.0"];

impl Tool {
    /// Returns the program of the right release, which is built if it is not there.
    pub fn path(&self) -> Result<String, Error> {
        let folder = root().join("target/tools").display().to_string();
        let program = format!("{folder}/bin/{}", self.name);
        if !self.is_installed(&folder) {
            let options = ["install", self.name, "--version", self.version, "--locked"];
            run("cargo", &[&options[..], self.options, &["--root", &folder]].concat())?;
        }
        if self.is_installed(&folder) {
            Ok(program)
        } else {
            Err(format!("`{program}` is not installed although Cargo installed it").into())
        }
    }

    /// Asks Cargo: programs differ in how they tell their release.
    fn is_installed(&self, folder: &str) -> bool {
        let listed = command("cargo").args(["install", "--list", "--root", folder]).output();
        let line = format!("{} v{}:", self.name, self.version);
        listed.is_ok_and(|done| {
            String::from_utf8_lossy(&done.stdout).lines().any(|listed| listed == line)
        })
    }
}

/// Lets a run of Cargo link with zig, which is installed into an environment of Python's.
pub fn add_zig(cargo: &mut Command) -> Result<(), Error> {
    let environment = root().join("target/tools/zig");
    let python = environment.join("bin/python");
    let path = python.display().to_string();
    if !succeeds(&path, &["-m", "ziglang", "version"]) {
        run("python3", &["-m", "venv", &environment.display().to_string()])?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(&path, &[&install[..], &ZIG].concat())?;
    }
    let folders = std::env::split_paths(&search_path()?).collect::<Vec<_>>();
    let folders = [vec![environment.join("bin")], folders].concat();
    cargo.env("PATH", std::env::join_paths(folders)?).env("CARGO_ZIGBUILD_PYTHON_PATH", python);
    Ok(())
}

fn search_path() -> Result<PathBuf, Error> {
    Ok(crate::process::output("sh", &["-c", "printf %s \"$PATH\""])?.into())
}
