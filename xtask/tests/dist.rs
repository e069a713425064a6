//! The files for packagers are accepted by the programs that read them.

use std::collections::BTreeSet;
use std::fs;

use xtask::dist::{self, TARGETS};
use xtask::process::command;

#[test]
fn completions_are_shell_scripts() {
    let dir = tempfile::tempdir().unwrap();
    let paths = dist::completions(dir.path()).unwrap();
    assert_eq!(paths.len(), 5);
    let bash =
        paths.iter().find(|path| path.extension().is_some_and(|ending| ending == "bash")).unwrap();
    let checked = command("bash").arg("-n").arg(bash).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let script = "source \"$0\"; COMP_WORDS=(convoke bri); COMP_CWORD=1; \
                     _convoke convoke bri convoke; echo \"${COMPREPLY[*]}\"";
    let completed = command("bash").args(["-c", script]).arg(bash).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&completed.stdout), "brief\n");
}

#[test]
fn man_pages_are_well_formed() {
    let dir = tempfile::tempdir().unwrap();
    let pages = dist::man_pages(dir.path()).unwrap();
    let names: Vec<_> =
        pages.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
    assert!(names.contains(&"convoke-brief-rest.1".to_owned()), "{names:?}");
    let checked =
        command("mandoc").args(["-T", "lint", "-W", "error"]).args(&pages).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

/// Returns the names of systems in a text.
fn triples(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    let is_triple =
        |word: &&str| word.contains("-unknown-linux-") || word.contains("-apple-darwin");
    words.filter(is_triple).map(str::to_owned).collect()
}

// The npm package asks for the programs of every system, so a release must have them.
#[test]
fn a_release_has_packages_for_every_system() {
    let all: BTreeSet<_> = TARGETS.iter().map(|target| target.triple.to_owned()).collect();
    for file in [".github/workflows/release.yml", "deny.toml"] {
        let text = fs::read_to_string(xtask::root().join(file)).unwrap();
        assert_eq!(triples(&text), all, "{file}");
    }
}

// `cargo binstall` looks where the archives are.
#[test]
fn binstall_looks_for_the_archives_that_are_made() {
    let (version, target) = ("1.2.3", "x86_64-unknown-linux-gnu");
    for manifest in ["crates/app/Cargo.toml", "crates/diagram/Cargo.toml"] {
        let text = fs::read_to_string(xtask::root().join(manifest)).unwrap();
        let manifest: toml::Table = text.parse().unwrap();
        let binstall = &manifest["package"]["metadata"]["binstall"];
        let filled = |key: &str| {
            let text = binstall[key].as_str().unwrap();
            text.replace("{ version }", version).replace("{ target }", target)
        };
        let name = dist::archive_name(version, target);
        assert!(filled("pkg-url").ends_with(&format!("/v{version}/{name}.tar.xz")));
        assert!(filled("bin-dir").starts_with(&format!("{name}/")));
    }
}
