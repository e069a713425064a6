//! The Python wheel, which installs the programs beside each other.

use std::path::{Path, PathBuf};

use super::kit::{Kit, add_text};
use super::project::Project;
use crate::process::command;
use crate::{Error, root};

/// Packs a folder as a wheel.
const PACKER: &str = include_str!("../../packaging/wheel.py");

/// Writes the wheel and returns its path.
pub fn write(kit: &Kit<'_>, packages: &Path) -> Result<PathBuf, Error> {
    let version = version(&kit.project.version)?;
    let folder = kit.scratch.join("wheel");
    let data = folder.join(format!("convoke-{version}.data"));
    kit.add_programs(&data.join("scripts"))?;
    kit.add_share(&data.join("data/share"))?;
    let info = folder.join(format!("convoke-{version}.dist-info"));
    kit.add_documents(&info.join("licenses"))?;
    let readme = std::fs::read_to_string(root().join("README.md"))?;
    let licences = kit.project.licence_files.iter().map(|path| super::kit::file_name(path));
    let licences: Vec<_> = licences.chain(["THIRD-PARTY-LICENSES.txt".to_owned()]).collect();
    add_text(&metadata(kit.project, &version, &licences, &readme), &info.join("METADATA"))?;
    let tag = format!("py3-none-{}", kit.target.wheel);
    let about = format!(
        "Wheel-Version: 1.0\nGenerator: convoke-xtask\nRoot-Is-Purelib: false\nTag: {tag}\n"
    );
    add_text(&about, &info.join("WHEEL"))?;
    let wheel = packages.join(format!("convoke-{version}-{tag}.whl"));
    let mut pack = command("python3");
    pack.args(["-c", PACKER]).arg(&folder).arg(&wheel).arg(&kit.project.seconds);
    let packed = pack.output()?;
    if packed.status.success() {
        Ok(wheel)
    } else {
        Err(format!("cannot pack the wheel: {}", String::from_utf8_lossy(&packed.stderr)).into())
    }
}

/// Returns a version as Python writes it; fails for words that Python's versions do not have.
fn version(version: &str) -> Result<String, Error> {
    let Some((release, stage)) = version.split_once('-') else { return Ok(version.to_owned()) };
    let (word, number) = stage.split_once('.').unwrap_or((stage, "0"));
    let word = match word {
        "alpha" => "a",
        "beta" => "b",
        "rc" => "rc",
        _ => return Err(format!("`{version}` has no form as a version of Python's").into()),
    };
    let number: u32 =
        number.parse().map_err(|_| format!("`{version}` does not end in a number"))?;
    Ok(format!("{release}{word}{number}"))
}

fn metadata(project: &Project, version: &str, licences: &[String], readme: &str) -> String {
    let files: Vec<_> = licences.iter().map(|name| format!("License-File: {name}\n")).collect();
    let files = files.concat();
    let url = project.repository.as_ref();
    let url = url.map_or(String::new(), |url| format!("Project-URL: Source, {url}\n"));
    format!(
        "Metadata-Version: 2.4\n\
         Name: convoke\n\
         Version: {version}\n\
         Summary: {}\n\
         License-Expression: {}\n\
         {files}{url}\
         Requires-Python: >=3.8\n\
         Description-Content-Type: text/markdown\n\n{readme}",
        project.description, project.licence
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_written_as_python_reads_them() {
        for (cargo, python) in
            [("1.2.3", "1.2.3"), ("1.2.3-rc.1", "1.2.3rc1"), ("1.0.0-alpha", "1.0.0a0")]
        {
            assert_eq!(version(cargo).unwrap(), python);
        }
        assert!(version("1.0.0-nightly.3").is_err());
        assert!(version("1.0.0-rc.x").is_err());
    }
}
