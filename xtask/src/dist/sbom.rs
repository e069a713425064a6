//! The list of everything that is linked into the programs, as `CycloneDX`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use toml::Table;

use super::project::{LinkedCrate, Project};
use crate::process::output;
use crate::{Error, root};

/// What the list calls the programs together.
const WHOLE: &str = "convoke";

/// Returns the list as a `CycloneDX` document. It has no serial number, so that the same commit gives
/// the same bytes.
pub fn sbom(project: &Project, linked: &[LinkedCrate]) -> Result<Value, Error> {
    let lock: Table = fs::read_to_string(root().join("Cargo.lock"))?.parse()?;
    Ok(document(project, linked, &checksums(&lock)))
}

/// Checks a list with the schema of its version, by a Python that has [`CYCLONEDX`].
///
/// [`CYCLONEDX`]: crate::tools::CYCLONEDX
pub fn check(python: &Path, list: &Path) -> Result<(), Error> {
    let checker = root().join("xtask/packaging/sbom.py").display().to_string();
    let (python, list) = (python.display().to_string(), list.display().to_string());
    output(&python, &[&checker, &list]).map(|_| ())
}

/// Returns the checksums of a lock file, by name and version.
fn checksums(lock: &Table) -> BTreeMap<(String, String), String> {
    let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let sum = |package: &toml::Value| {
        let text = |key: &str| package.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        Some(((text("name")?, text("version")?), text("checksum")?))
    };
    packages.filter_map(sum).collect()
}

fn document(
    project: &Project,
    linked: &[LinkedCrate],
    checksums: &BTreeMap<(String, String), String>,
) -> Value {
    let names: BTreeMap<&str, String> =
        linked.iter().map(|part| (part.id.as_str(), reference(part))).collect();
    let components: Vec<_> = linked
        .iter()
        .map(|part| {
            let sum = checksums.get(&(part.name.clone(), part.version.clone()));
            component(part, sum.map(String::as_str))
        })
        .collect();
    let uses = |part: &LinkedCrate| -> Vec<String> {
        part.uses.iter().filter_map(|id| names.get(id.as_str()).cloned()).collect()
    };
    let shipped = linked.iter().filter(|part| part.is_shipped()).map(reference);
    let whole = json!({ "ref": WHOLE, "dependsOn": shipped.collect::<Vec<_>>() });
    let parts =
        linked.iter().map(|part| json!({ "ref": reference(part), "dependsOn": uses(part) }));
    let dependencies: Vec<_> = [whole].into_iter().chain(parts).collect();
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": project.timestamp,
            "component": {
                "type": "application",
                "bom-ref": WHOLE,
                "name": "convoke",
                "version": project.version,
                "description": project.description,
                "licenses": [{ "expression": project.licence }],
            },
        },
        "components": components,
        "dependencies": dependencies,
    })
}

/// Names a crate as other programs do.
fn reference(part: &LinkedCrate) -> String {
    format!("pkg:cargo/{}@{}", part.name, part.version)
}

fn component(part: &LinkedCrate, sum: Option<&str>) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(part),
        "name": part.name,
        "version": part.version,
        "purl": reference(part),
    });
    if let Some(licence) = &part.licence {
        // Old crates write a slash where SPDX has a word.
        let expression = licence.replace('/', " OR ");
        component["licenses"] = json!([{ "expression": expression }]);
    }
    if let Some(sum) = sum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::project::SHIPPED;
    use crate::dist::target::ALL;
    use crate::process::is_ci;
    use crate::say;
    use crate::tools::CYCLONEDX;

    // The programs of the repository itself, as Cargo resolves them.
    #[test]
    fn the_list_names_every_crate_with_licence_and_checksum() {
        let project = Project::read().unwrap();
        let linked = LinkedCrate::of(ALL[0]).unwrap();
        let document = sbom(&project, &linked).unwrap();
        let components = document["components"].as_array().unwrap();
        let find = |name: &str| components.iter().find(|part| part["name"] == name);
        let sqlite = find("libsqlite3-sys").unwrap();
        assert_eq!(sqlite["hashes"][0]["content"].as_str().unwrap().len(), 64);
        assert!(find("convoke-guard").is_some() && find("merman-core").is_some());
        assert!(find("tokio-postgres").is_some(), "packages have the backend for servers");
        // Neither what tests use nor what other systems need is linked.
        assert!(find("insta").is_none() && find("windows-sys").is_none());
        for part in components {
            assert!(part["licenses"][0]["expression"].is_string(), "{part}");
        }
        let known = |name: &Value| components.iter().any(|part| part["bom-ref"] == *name);
        let (whole, dependencies) =
            document["dependencies"].as_array().unwrap().split_first().unwrap();
        assert_eq!(whole["ref"], document["metadata"]["component"]["bom-ref"]);
        assert_eq!(whole["dependsOn"].as_array().map(Vec::len), Some(SHIPPED.len()), "{whole}");
        assert!(whole["dependsOn"].as_array().unwrap().iter().all(known), "{whole}");
        for dependency in dependencies {
            assert!(known(&dependency["ref"]), "{dependency}");
            assert!(dependency["dependsOn"].as_array().unwrap().iter().all(known), "{dependency}");
        }
    }

    // The schemas come from a registry, so that a machine without them leaves this out, and says so;
    // `cargo xtask test` installs them first where `CI` is set.
    #[test]
    fn a_list_keeps_to_the_schema() {
        let Some(python) = CYCLONEDX.installed() else {
            let why = "SKIPPED: the schema of CycloneDX, which `cargo xtask dist --check` installs";
            assert!(!is_ci(), "{why}");
            say(why);
            return;
        };
        let project = Project::read().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.json");
        let mut list = sbom(&project, &LinkedCrate::of(ALL[0]).unwrap()).unwrap();
        fs::write(&path, list.to_string()).unwrap();
        check(&python, &path).unwrap();
        list["components"][0]["type"] = "crate".into();
        fs::write(&path, list.to_string()).unwrap();
        check(&python, &path).unwrap_err();
    }
}
