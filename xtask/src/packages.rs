//! Programs that chores need beside Rust, by the name of their Debian package.

use std::io::{self, IsTerminal};
use std::path::Path;

use crate::process::{command, run, succeeds};
use crate::{Error, say};

/// A program and the package that brings it.
pub struct Needed {
    /// The command to search for in `PATH`, or the full path of a file.
    pub program: &'static str,
    /// The Debian package that installs it.
    pub package: &'static str,
}

/// The programs that the tests run.
pub const FOR_TESTS: [Needed; 7] = [
    Needed { program: "mkfifo", package: "coreutils" },
    Needed { program: "bash", package: "bash" },
    Needed { program: "less", package: "less" },
    Needed { program: "setsid", package: "util-linux" },
    Needed { program: "mandoc", package: "mandoc" },
    Needed { program: "script", package: "bsdutils" },
    Needed { program: "strace", package: "strace" },
];

/// The programs that install and run real clients.
pub const FOR_CLIENTS: [Needed; 2] = [
    Needed { program: "npm", package: "npm" },
    Needed { program: "timeout", package: "coreutils" },
];

/// The programs that draw diagrams and open the dashboard.
pub const FOR_BROWSER: [Needed; 4] = [
    Needed { program: "npm", package: "npm" },
    Needed { program: "chromium", package: "chromium" },
    Needed { program: "chromedriver", package: "chromium-driver" },
    Needed { program: "timeout", package: "coreutils" },
];

/// The programs that take the documents' pictures of the dashboard and make them small.
pub const FOR_PICTURES: [Needed; 3] = [
    Needed { program: "chromium", package: "chromium" },
    Needed { program: "chromedriver", package: "chromium-driver" },
    Needed { program: "pngquant", package: "pngquant" },
];

/// The servers that stores of a team are on, the program that makes their certificates, and what the
/// companion for other machines is compiled and tested with.
pub const FOR_FLEET: [Needed; 8] = [
    Needed { program: "pg_ctlcluster", package: "postgresql" },
    Needed { program: "pgbouncer", package: "pgbouncer" },
    Needed { program: "openssl", package: "openssl" },
    Needed { program: "setpriv", package: "util-linux" },
    Needed { program: "faketime", package: "faketime" },
    Needed { program: "protoc", package: "protobuf-compiler" },
    // Messages of Temporal's interface include it.
    Needed { program: "/usr/include/google/protobuf/field_mask.proto", package: "libprotobuf-dev" },
    Needed { program: "python3", package: "python3-venv" },
];

/// The programs that record the README's picture.
pub const FOR_DEMO: [Needed; 1] = [Needed { program: "script", package: "bsdutils" }];

/// The programs that the benchmarks run.
pub const FOR_BENCHES: [Needed; 5] = [
    Needed { program: "jq", package: "jq" },
    Needed { program: "sqlite3", package: "sqlite3" },
    Needed { program: "cat", package: "coreutils" },
    Needed { program: "sha256sum", package: "coreutils" },
    Needed { program: "/usr/bin/time", package: "time" },
];

/// What packages are made with.
pub const FOR_PACKAGES: [Needed; 3] = [
    Needed { program: "python3", package: "python3-venv" },
    Needed { program: "npm", package: "npm" },
    Needed { program: "xz", package: "xz-utils" },
];

/// What packages for Linux are made with besides.
pub const FOR_LINUX_PACKAGES: [Needed; 2] = [
    Needed { program: "readelf", package: "binutils" },
    Needed { program: "dpkg-deb", package: "dpkg" },
];

/// What packages for Linux are checked with.
pub const FOR_PACKAGE_CHECKS: [Needed; 1] = [Needed { program: "lintian", package: "lintian" }];

/// Whether Convoke's chores may install packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// The user agreed on the command line.
    Given,
    /// Ask the user, if there is a terminal.
    Asked,
}

/// What Convoke's chores can do here to get a package.
#[derive(Debug, Clone, Copy)]
struct Means {
    /// Whether the system has `apt-get`.
    has_apt: bool,
    /// Whether a user can answer.
    has_terminal: bool,
}

/// What to do about missing packages.
#[derive(Debug, PartialEq, Eq)]
enum Remedy {
    Install,
    Ask,
    /// Nothing can be installed; this is why, and what the user can do.
    Refuse(String),
}

/// Makes sure that programs are there: installs missing packages if the user agrees, and otherwise
/// fails with the command that installs them.
pub fn provide(needed: &[&[Needed]], consent: Consent) -> Result<(), Error> {
    let missing = missing(needed, is_there);
    if missing.is_empty() {
        return Ok(());
    }
    let means = Means { has_apt: is_there("apt-get"), has_terminal: io::stdin().is_terminal() };
    match remedy(&missing, means, consent) {
        Remedy::Refuse(why) => return Err(why.into()),
        Remedy::Ask if !agrees(&missing)? => return Err(how_to_install(&missing).into()),
        Remedy::Ask | Remedy::Install => {}
    }
    let (program, prefix): (_, &[&str]) = if succeeds("test", &["-w", "/usr/bin"]) {
        ("apt-get", &[])
    } else {
        ("sudo", &["apt-get"])
    };
    run(program, &[prefix, &["update", "-qq"]].concat())?;
    run(program, &[prefix, &["install", "-y", "-qq", "--no-install-recommends"], &missing].concat())
}

/// Returns the packages of the programs that are missing, each once.
fn missing(needed: &[&[Needed]], is_there: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let mut packages: Vec<_> = needed
        .iter()
        .flat_map(|group| group.iter())
        .filter(|needed| !is_there(needed.program))
        .map(|needed| needed.package)
        .collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

fn remedy(missing: &[&str], means: Means, consent: Consent) -> Remedy {
    match consent {
        _ if !means.has_apt => Remedy::Refuse(format!(
            "cannot find the programs of these Debian packages: {}\n\
             hint: install them with your system's package manager",
            missing.join(" ")
        )),
        Consent::Given => Remedy::Install,
        Consent::Asked if means.has_terminal => Remedy::Ask,
        Consent::Asked => Remedy::Refuse(how_to_install(missing)),
    }
}

fn how_to_install(missing: &[&str]) -> String {
    let list = missing.join(" ");
    format!(
        "these packages are missing: {list}\n\
         hint: run `sudo apt-get install {list}`, or add `--install` to this command"
    )
}

/// Asks the user on the terminal.
fn agrees(missing: &[&str]) -> Result<bool, Error> {
    say(&format!("these packages are missing: {}", missing.join(" ")));
    say("install them now with apt-get? [y/N]");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Returns the folder that a program is found in.
pub fn folder_of(program: &str) -> Option<String> {
    let found = command("sh").args(["-c", "command -v \"$0\"", program]).output().ok()?;
    let path = String::from_utf8(found.stdout).ok()?;
    path.rsplit_once('/').map(|(folder, _)| folder.to_owned())
}

fn is_there(program: &str) -> bool {
    if Path::new(program).is_absolute() {
        return Path::new(program).is_file();
    }
    succeeds("sh", &["-c", "command -v \"$0\"", program])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_installed_without_consent() {
        let remedy = |has_apt, consent, has_terminal| {
            super::remedy(&["mandoc", "strace"], Means { has_apt, has_terminal }, consent)
        };
        assert_eq!(remedy(true, Consent::Given, false), Remedy::Install);
        assert_eq!(remedy(true, Consent::Asked, true), Remedy::Ask);
        let Remedy::Refuse(why) = remedy(true, Consent::Asked, false) else { panic!("installs") };
        assert!(
            why.contains("`sudo apt-get install mandoc strace`") && why.contains("`--install`")
        );
        let Remedy::Refuse(why) = remedy(false, Consent::Given, true) else { panic!("installs") };
        assert!(why.contains("mandoc strace") && !why.contains("apt-get"), "{why}");
    }

    #[test]
    fn every_missing_package_is_named_once() {
        let found = missing(&[&FOR_CLIENTS, &FOR_BROWSER, &FOR_TESTS], |program| program == "bash");
        assert_eq!(
            found,
            [
                "bsdutils",
                "chromium",
                "chromium-driver",
                "coreutils",
                "less",
                "mandoc",
                "npm",
                "strace",
                "util-linux"
            ]
        );
        assert!(missing(&[&FOR_TESTS], |_| true).is_empty());
    }

    // A test that looks for a program leaves itself out without it, and a run looks green.
    #[test]
    fn programs_that_tests_look_for_are_installed_first() {
        let folder = crate::root().join("crates/app/tests/e2e");
        let mut found = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            for rest in text.split("command -v ").skip(1) {
                let name = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap();
                if name == "convoke" {
                    continue;
                }
                let is_needed = FOR_TESTS.iter().any(|needed| needed.program == name);
                assert!(is_needed, "{}: {name}", path.display());
                found += 1;
            }
        }
        assert!(found >= 2, "{found}");
    }
}
