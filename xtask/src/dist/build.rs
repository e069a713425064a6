//! The programs for one system, built so that they run on older ones, too.

use std::fs;
use std::path::{Path, PathBuf};

use super::project::FEATURES;
use super::target::{Libc, OLDEST_GLIBC, Target};
use crate::process::{command, output};
use crate::tools::{AUDITABLE, add_zig};
use crate::{Error, root, say};

/// Everything that is shipped to be run. The others are looked for beside the first.
pub const PROGRAMS: [&str; 5] =
    ["convoke", "convoke-guard", "convoke-mcp", "convoke-web", "convoke-diagram"];

/// Makes sure that Rust can build for a system; fails with the reason why not.
pub fn prepare(target: Target) -> Result<(), String> {
    if !target.is_built_here() {
        let system = if target.libc == Libc::Apple { "macOS" } else { "Linux" };
        return Err(format!("it is built on {system} only"));
    }
    let sysroot = output("rustc", &["--print", "sysroot"]).map_err(|error| error.to_string())?;
    let library = Path::new(sysroot.trim()).join("lib/rustlib").join(target.triple).join("lib");
    if library.is_dir() {
        return Ok(());
    }
    output("rustup", &["target", "add", target.triple])
        .map(|_| ())
        .map_err(|error| format!("Rust's standard library for it cannot be installed: {error}"))
}

/// Builds the programs and returns where they are.
pub fn build(target: Target) -> Result<Vec<PathBuf>, Error> {
    let triple = target.triple;
    let mut cargo = command(AUDITABLE.path()?);
    cargo.args(arguments(target));
    cargo.env("RUSTFLAGS", remapped_paths()?).env("CARGO_PROFILE_DIST_STRIP", "symbols");
    if target.libc != Libc::Apple {
        add_zig(&mut cargo)?;
    }
    say(&format!("$ {cargo:?}"));
    let status = cargo.status()?;
    if !status.success() {
        return Err(format!("cannot build for {triple}: {status}").into());
    }
    let folder = root().join("target").join(triple).join("dist");
    let programs: Vec<_> = PROGRAMS.iter().map(|program| folder.join(program)).collect();
    programs.iter().try_for_each(|program| check(target, program))?;
    Ok(programs)
}

/// Returns copies of programs that are built already, without what only a debugger reads: it would make
/// packages large. They need what this machine has, so they are good for a check and for no release.
pub fn stripped(target: Target, built: &Path) -> Result<Vec<PathBuf>, Error> {
    let folder = root().join("target").join(target.triple).join("stripped");
    fs::create_dir_all(&folder)?;
    let copy = |name: &str| {
        let program = folder.join(name);
        fs::copy(built.join(name), &program)
            .map_err(|error| format!("cannot copy {}: {error}", built.join(name).display()))?;
        output("strip", &[&program.display().to_string()])?;
        Ok(program)
    };
    PROGRAMS.into_iter().map(copy).collect()
}

/// Returns the arguments with which Cargo builds the programs.
fn arguments(target: Target) -> Vec<String> {
    let triple = target.triple;
    let (builds, system) = match target.libc {
        Libc::Apple => ("build", triple.to_owned()),
        Libc::Musl => ("zigbuild", triple.to_owned()),
        Libc::Glibc => {
            let (major, minor) = OLDEST_GLIBC;
            ("zigbuild", format!("{triple}.{major}.{minor}"))
        }
    };
    let before = ["auditable", builds, "--target", &system, "--profile", "dist", "--locked"];
    let after = ["--package", "convoke", "--package", "convoke-diagram", "--features", FEATURES];
    before.iter().chain(&after).map(|word| (*word).to_owned()).collect()
}

/// Returns compiler flags that keep this machine's folders out of the programs.
fn remapped_paths() -> Result<String, Error> {
    let cargo = output("sh", &["-c", "printf %s \"${CARGO_HOME:-$HOME/.cargo}\""])?;
    let rust = output("rustc", &["--print", "sysroot"])?.trim().to_owned();
    let own = root().display().to_string();
    let pairs = [(own, "/convoke"), (cargo, "/cargo"), (rust, "/rust")];
    let flags = pairs.map(|(from, to)| format!("--remap-path-prefix={from}={to}"));
    Ok(flags.join(" "))
}

/// Fails if a program needs more of its system than its package promises.
fn check(target: Target, program: &Path) -> Result<(), Error> {
    let path = program.display().to_string();
    match target.libc {
        Libc::Apple => Ok(()),
        Libc::Glibc => {
            if !is_position_independent(&output("readelf", &["--wide", "--file-header", &path])?) {
                return Err(format!("{path} runs at a fixed address only").into());
            }
            let needed = newest_glibc(&output("readelf", &["--wide", "--version-info", &path])?);
            let needed = needed.ok_or_else(|| format!("{path} names no version of glibc"))?;
            let (major, minor) = needed;
            say(&format!("{path}: needs glibc {major}.{minor}"));
            if needed > OLDEST_GLIBC {
                let (most, least) = OLDEST_GLIBC;
                return Err(format!(
                    "{path} needs glibc {major}.{minor}, and its packages promise {most}.{least}"
                )
                .into());
            }
            Ok(())
        }
        Libc::Musl => {
            if output("readelf", &["--wide", "--dynamic", &path])?.contains("(NEEDED)") {
                return Err(format!("{path} needs libraries, and is to need none").into());
            }
            say(&format!("{path}: needs no library"));
            Ok(())
        }
    }
}

/// Tells whether the system can load a program at any address, from what `readelf` prints.
fn is_position_independent(header: &str) -> bool {
    header.lines().any(|line| {
        line.trim_start()
            .strip_prefix("Type:")
            .is_some_and(|kind| kind.trim_start().starts_with("DYN"))
    })
}

/// Returns the newest version of glibc that a program asks for, from what `readelf` prints.
fn newest_glibc(versions: &str) -> Option<(u32, u32)> {
    let names = versions.split("Name: GLIBC_").skip(1);
    let numbers = names.filter_map(|rest| {
        let name = rest.split_whitespace().next()?;
        let (major, minor) = name.split_once('.')?;
        let minor = minor.split('.').next()?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    });
    numbers.max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::target::ALL;

    // A user of a package has no compiler to add a backend with.
    #[test]
    fn every_package_can_keep_its_store_on_a_server() {
        for target in ALL {
            let line = arguments(target).join(" ");
            let is_locked = line.contains(" --profile dist --locked ");
            assert!(is_locked && line.contains(&format!("--target {}", target.triple)), "{line}");
            assert!(line.ends_with(" --features convoke/postgres"), "{line}");
        }
    }

    #[test]
    fn a_program_at_a_fixed_address_is_noticed() {
        let of = |kind: &str| format!("ELF Header:\n  Class:   ELF64\n  Type:   {kind}\n");
        assert!(is_position_independent(&of("DYN (Position-Independent Executable file)")));
        for other in ["EXEC (Executable file)", "REL (Relocatable file)", ""] {
            assert!(!is_position_independent(&of(other)), "{other}");
        }
    }

    #[test]
    fn the_newest_version_of_glibc_counts() {
        let printed = "  0x0010:   Name: GLIBC_2.4  Flags: none  Version: 5\n\
             0x0020:   Name: GLIBC_2.34  Flags: none  Version: 4\n\
             0x0030:   Name: GLIBC_2.2.5  Flags: none  Version: 3\n\
             0x0040:   Name: GCC_3.0  Flags: none  Version: 2\n";
        assert_eq!(newest_glibc(printed), Some((2, 34)));
        assert!(newest_glibc(printed) > Some(OLDEST_GLIBC));
        assert_eq!(newest_glibc("No version information found in this file."), None);
        assert_eq!(newest_glibc("Name: GLIBC_PRIVATE  Flags: none"), None);
    }
}
