//! The Debian package.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use convoke_domain::text::wrapped;

use super::kit::{Kit, Mode, add_file, add_text, file_name, set_mode};
use super::project::Project;
use super::target::OLDEST_GLIBC;
use crate::process::{command, output, run};
use crate::{Error, root, say};

/// Why the package may have what Debian's checker warns of. SQLite is of one release with the
/// tables that the store migrates, so the system's own may be too old.
const OVERRIDES: &str = "convoke: embedded-library *sqlite*\n";

/// The columns of a long description.
const COLUMNS: usize = 76;

/// What the package is for.
const MORE: &str = "Convoke plans features with several agents whose votes can be counted again, \
    proves which files a reviewer read, and puts an agent back where it was after its client \
    compacted the conversation.";

/// Writes the package and returns its path; nothing for a system without Debian packages.
pub fn write(kit: &Kit<'_>, packages: &Path) -> Result<Option<PathBuf>, Error> {
    let Some(architecture) = kit.target.debian else { return Ok(None) };
    let version = version(&kit.project.version);
    let tree = kit.scratch.join("debian");
    fill(kit, &tree)?;
    let size = size_in_kib(&tree)?;
    let control = control(kit.project, &version, architecture, size);
    add_text(&control, &tree.join("DEBIAN/control"))?;
    add_text(&checksums(&tree)?, &tree.join("DEBIAN/md5sums"))?;
    let folders = format!("find '{}' -type d -exec chmod 755 {{}} +", tree.display());
    run("sh", &["-c", &folders])?;
    let package = packages.join(format!("convoke_{version}_{architecture}.deb"));
    let mut pack = command("dpkg-deb");
    pack.args(["--root-owner-group", "-Zxz", "--build"]).arg(&tree).arg(&package);
    let packed = pack.env("SOURCE_DATE_EPOCH", &kit.project.seconds).output()?;
    if !packed.status.success() {
        let said = String::from_utf8_lossy(&packed.stderr);
        return Err(format!("`dpkg-deb` failed: {}", said.trim_end()).into());
    }
    say(&format!("wrote {}", package.display()));
    Ok(Some(package))
}

/// Returns a version as Debian sorts it: what comes before a release is less than the release.
fn version(version: &str) -> String {
    version.replacen('-', "~", 1)
}

/// Puts every file where the system expects it. The programs lie together in a folder of their
/// own, because the main one looks for the others beside itself; a link makes it a command.
fn fill(kit: &Kit<'_>, tree: &Path) -> Result<(), Error> {
    kit.add_programs(&tree.join("usr/lib/convoke"))?;
    fs::create_dir_all(tree.join("usr/bin"))?;
    symlink("../lib/convoke/convoke", tree.join("usr/bin/convoke"))?;
    let share = tree.join("usr/share");
    kit.add_share(&share)?;
    for path in &kit.man_pages {
        compress(&share.join("man/man1").join(file_name(path)))?;
    }
    let documents = share.join("doc/convoke");
    add_text(&copyright(kit.project)?, &documents.join("copyright"))?;
    add_text(&kit.third_party, &documents.join("THIRD-PARTY-LICENSES.txt"))?;
    compress(&documents.join("THIRD-PARTY-LICENSES.txt"))?;
    add_text(&changelog(kit.project), &documents.join("changelog"))?;
    compress(&documents.join("changelog"))?;
    add_file(&root().join("CHANGELOG.md"), &documents.join("NEWS.md"), Mode::Data)?;
    compress(&documents.join("NEWS.md"))?;
    add_text(OVERRIDES, &share.join("lintian/overrides/convoke"))
}

/// Compresses a file in its place, without its name and time.
fn compress(path: &Path) -> Result<(), Error> {
    output("gzip", &["-9", "--no-name", "--force", &path.display().to_string()])?;
    set_mode(&path.with_file_name(format!("{}.gz", file_name(path))), Mode::Data)
}

fn size_in_kib(tree: &Path) -> Result<u64, Error> {
    let printed = output("du", &["-k", "-s", &tree.join("usr").display().to_string()])?;
    let size = printed.split_whitespace().next().unwrap_or_default();
    Ok(size.parse()?)
}

fn checksums(tree: &Path) -> Result<String, Error> {
    let line = "cd \"$0\" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum";
    output("sh", &["-c", line, &tree.display().to_string()])
}

fn control(project: &Project, version: &str, architecture: &str, size: u64) -> String {
    let (major, minor) = OLDEST_GLIBC;
    let homepage =
        project.repository.as_ref().map_or(String::new(), |url| format!("Homepage: {url}\n"));
    format!(
        "Package: convoke\n\
         Version: {version}\n\
         Architecture: {architecture}\n\
         Maintainer: {}\n\
         Installed-Size: {size}\n\
         Depends: libc6 (>= {major}.{minor})\n\
         Recommends: git\n\
         Section: devel\n\
         Priority: optional\n\
         {homepage}\
         Description: supervisor and memory for coding agents\n{}",
        project.maintainer,
        described(&[&format!("{}.", project.description), MORE]),
    )
}

/// Returns paragraphs as Debian writes a long description.
fn described(paragraphs: &[&str]) -> String {
    let folded = |text: &&str| -> String {
        let lines: Vec<_> =
            wrapped(text, COLUMNS).iter().map(|line| format!(" {line}\n")).collect();
        lines.concat()
    };
    paragraphs.iter().map(folded).collect::<Vec<_>>().join(" .\n")
}

/// Returns the changes as Debian writes them: one entry for the release, which points to the rest.
fn changelog(project: &Project) -> String {
    format!(
        "convoke ({}) unstable; urgency=medium\n\n  * Release {}; NEWS.md.gz lists the changes.\n\n \
         -- {}  {}\n",
        version(&project.version),
        project.version,
        project.maintainer,
        project.date
    )
}

fn copyright(project: &Project) -> Result<String, Error> {
    let mit = fs::read_to_string(root().join("LICENSE-MIT"))?;
    let holder = mit.lines().find_map(|line| line.strip_prefix("Copyright (c) "));
    let holder = holder.ok_or("LICENSE-MIT names no copyright holder")?;
    let terms = mit.split_once("\n\n").and_then(|(_, rest)| rest.split_once("\n\n"));
    let (_, terms) = terms.ok_or("LICENSE-MIT has no terms")?;
    let terms = terms.trim_end().lines().map(|line| match line {
        "" => " .\n".to_owned(),
        line => format!(" {line}\n"),
    });
    let terms: Vec<_> = terms.collect();
    let licence = project.licence.replace(" OR ", " or ").replace("MIT", "Expat");
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: convoke\n\
         Comment: THIRD-PARTY-LICENSES.txt.gz has the licences of the libraries in the programs.\n\n\
         Files: *\n\
         Copyright: {holder}\n\
         License: {licence}\n\n\
         License: Expat\n{}\n\
         License: Apache-2.0\n \
         On Debian systems, /usr/share/common-licenses/Apache-2.0 has the text of the Apache\n \
         License, version 2.0.\n",
        terms.concat()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_newer_than_its_candidates() {
        assert_eq!(version("0.2.0-rc.1"), "0.2.0~rc.1");
        assert_eq!(version("0.2.0"), "0.2.0");
    }

    #[test]
    fn a_description_has_short_lines_and_dots_between_paragraphs() {
        let text = described(&[&"a word ".repeat(20), MORE]);
        assert!(text.lines().all(|line| line.starts_with(' ') && line.len() <= 80), "{text}");
        assert_eq!(text.lines().filter(|line| *line == " .").count(), 1, "{text}");
    }

    #[test]
    fn the_copyright_has_the_terms_of_the_licence_files() {
        let project = Project::read().unwrap();
        let text = copyright(&project).unwrap();
        assert!(text.contains("\nLicense: Expat or Apache-2.0\n"), "{text}");
        assert!(text.contains("\nLicense: Expat\n Permission is hereby granted"), "{text}");
        assert!(text.contains("The Convoke authors"), "{text}");
    }
}
