//! The npm packages: one with the command, and one for each system with the programs.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::kit::{Kit, Mode, add_file, add_text, set_mode};
use super::project::Project;
use super::target::{ALL, Target};
use crate::process::output;
use crate::{Error, root};

/// Starts the programs of the package for the system.
pub(super) const LAUNCHER: &str = include_str!("../../packaging/launcher.js");

/// Writes the package of a system and the package with the command, and returns their paths.
pub fn write(kit: &Kit<'_>, packages: &Path) -> Result<Vec<PathBuf>, Error> {
    let system = kit.scratch.join("npm/system");
    kit.add_programs(&system.join("bin"))?;
    kit.add_documents(&system)?;
    let name = package_name(kit.target);
    add_text(
        &format!("# {name}\n\nThe programs of Convoke for {}.\n", kit.target.triple),
        &system.join("README.md"),
    )?;
    let own = pack(&system, &system_manifest(kit.project, kit.target), packages)?;

    let command = kit.scratch.join("npm/command");
    add_text(LAUNCHER, &command.join("bin/convoke.js"))?;
    set_mode(&command.join("bin/convoke.js"), Mode::Program)?;
    add_file(&root().join("README.md"), &command.join("README.md"), Mode::Data)?;
    for path in &kit.project.licence_files {
        add_file(path, &command.join(super::kit::file_name(path)), Mode::Data)?;
    }
    kit.add_share(&command.join("share"))?;
    Ok(vec![own, pack(&command, &command_manifest(kit.project), packages)?])
}

fn package_name(target: Target) -> String {
    format!("@convoke/{}", target.npm)
}

fn pack(folder: &Path, manifest: &Value, packages: &Path) -> Result<PathBuf, Error> {
    add_text(&format!("{manifest:#}\n"), &folder.join("package.json"))?;
    let (from, to) = (folder.display().to_string(), packages.display().to_string());
    let options = ["pack", "--silent", "--ignore-scripts", "--pack-destination", &to, &from];
    let printed = output("npm", &options)?;
    let name = printed.lines().last().ok_or("`npm pack` names no file")?;
    Ok(packages.join(name))
}

fn manifest(project: &Project, name: &str) -> Map<String, Value> {
    let mut manifest = Map::new();
    manifest.insert("name".into(), name.into());
    manifest.insert("version".into(), project.version.clone().into());
    manifest.insert("description".into(), project.description.clone().into());
    manifest.insert("license".into(), format!("({})", project.licence).into());
    if let Some(url) = &project.repository {
        manifest.insert("repository".into(), url.clone().into());
    }
    manifest
}

/// Describes the package of a system. npm installs it only there.
fn system_manifest(project: &Project, target: Target) -> Value {
    let mut manifest = manifest(project, &package_name(target));
    let (system, processor) = target.node;
    manifest.insert("os".into(), json!([system]));
    manifest.insert("cpu".into(), json!([processor]));
    if let Some(libc) = target.npm_libc() {
        manifest.insert("libc".into(), json!([libc]));
    }
    manifest.insert("preferUnplugged".into(), true.into());
    manifest.into()
}

/// Describes the package with the command. It needs one of the others, and npm knows which.
fn command_manifest(project: &Project) -> Value {
    let mut manifest = manifest(project, "convoke");
    manifest.insert("bin".into(), json!({ "convoke": "bin/convoke.js" }));
    manifest.insert("engines".into(), json!({ "node": ">=18" }));
    let version = || Value::from(project.version.clone());
    let systems: Map<_, _> =
        ALL.map(|target| (package_name(target), version())).into_iter().collect();
    manifest.insert("optionalDependencies".into(), systems.into());
    manifest.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    // A launcher of one release with programs of another would be a mixture that no test has seen.
    #[test]
    fn the_command_asks_for_programs_of_its_own_release() {
        let project = Project::read().unwrap();
        let manifest = command_manifest(&project);
        let systems = manifest["optionalDependencies"].as_object().unwrap();
        assert_eq!(systems.len(), ALL.len());
        assert!(systems.values().all(|version| *version == project.version));
        assert_eq!(manifest["scripts"], Value::Null, "nothing runs while it is installed");
        for target in ALL {
            let system = system_manifest(&project, target);
            assert!(systems.contains_key(system["name"].as_str().unwrap()));
        }
    }
}
