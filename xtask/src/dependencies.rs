//! What `deny.toml` allows, checked without a program of its own: licences and sources of all packages,
//! and dependencies that no code uses. `cargo xtask audit` has the programs that know more, and the known
//! faults; they take minutes to build.

mod licence;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use toml::Table;

use self::licence::is_allowed;
use crate::process::output;
use crate::{Error, root, say};

/// The one place that packages come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// What `deny.toml` allows.
#[derive(Debug, Default)]
pub struct DependencyRules {
    targets: Vec<String>,
    licences: BTreeSet<String>,
    /// Further licences, by package.
    exceptions: BTreeMap<String, BTreeSet<String>>,
}

impl DependencyRules {
    /// Reads the rules. A rule that is missing allows nothing.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let table: Table = text.parse()?;
        let words = |list: Option<&toml::Value>| -> Vec<String> {
            let list = list.and_then(toml::Value::as_array).into_iter().flatten();
            list.filter_map(|word| word.as_str().map(str::to_owned)).collect()
        };
        let licences = table.get("licenses");
        let licences_of = |name| licences.and_then(|licences| licences.get(name));
        let exceptions = licences_of("exceptions").and_then(toml::Value::as_array);
        let exception = |rule: &toml::Value| {
            let name = rule.get("crate")?.as_str()?.to_owned();
            Some((name, words(rule.get("allow")).into_iter().collect()))
        };
        Ok(Self {
            targets: words(table.get("graph").and_then(|graph| graph.get("targets"))),
            licences: words(licences_of("allow")).into_iter().collect(),
            exceptions: exceptions.into_iter().flatten().filter_map(exception).collect(),
        })
    }

    /// Returns what is wrong with the packages of Cargo's metadata, one line each.
    pub fn faults(&self, metadata: &Value) -> Vec<String> {
        let members: Vec<_> = list(&metadata["workspace_members"]).collect();
        let packages = list(&metadata["packages"]);
        packages.filter_map(|package| self.fault(package, &members)).collect()
    }

    fn fault(&self, package: &Value, members: &[&Value]) -> Option<String> {
        let name = package["name"].as_str().unwrap_or_default();
        let shown = format!("{name} {}", package["version"].as_str().unwrap_or_default());
        match package["source"].as_str() {
            Some(REGISTRY) => {}
            Some(other) => return Some(format!("{shown} comes from {other}")),
            None if members.contains(&&package["id"]) => {}
            None => return Some(format!("{shown} is a folder outside of the workspace")),
        }
        let Some(licence) = named_licence(package) else {
            return Some(format!("{shown} names no licence"));
        };
        let further = self.exceptions.get(name);
        let allows = |word: &str| {
            self.licences.contains(word) || further.is_some_and(|further| further.contains(word))
        };
        (!is_allowed(licence, &allows)).then(|| format!("{shown} has the licence {licence}"))
    }
}

/// Returns the licence that a package names, or that its file of the licence is.
fn named_licence(package: &Value) -> Option<&str> {
    package["license"].as_str().or_else(|| {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        let text = fs::read_to_string(manifest.parent()?.join(package["license_file"].as_str()?));
        licence::recognized(&text.ok()?)
    })
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Checks all packages of all systems of a release, and all dependencies of ours.
pub fn check() -> Result<(), Error> {
    let rules = DependencyRules::parse(&fs::read_to_string(root().join("deny.toml"))?)?;
    let mut arguments = vec!["metadata", "--locked", "--all-features", "--format-version", "1"];
    for target in &rules.targets {
        arguments.extend(["--filter-platform", target]);
    }
    let metadata: Value = serde_json::from_str(&output("cargo", &arguments)?)?;
    let mut faults = rules.faults(&metadata);
    let members: Vec<_> = list(&metadata["workspace_members"]).collect();
    let own = list(&metadata["packages"]).filter(|package| members.contains(&&package["id"]));
    for package in own {
        faults.extend(unused(package)?);
    }
    if !faults.is_empty() {
        return Err(faults.join("\n").into());
    }
    let count = list(&metadata["packages"]).count();
    say(&format!(
        "{count} packages come from crates.io or this workspace under licences that deny.toml allows, and no \
         dependency is unused; `cargo xtask audit` also looks known faults up"
    ));
    Ok(())
}

/// Returns the dependencies of a package that none of its files names.
fn unused(package: &Value) -> Result<Vec<String>, Error> {
    let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
    let folder = manifest.parent().ok_or("a package has no folder")?;
    let mut texts = Vec::new();
    read_sources(folder, &mut texts)?;
    let ignored = &package["metadata"]["cargo-machete"]["ignored"];
    let name_of = |dependency: &Value| {
        let name = dependency["rename"].as_str().or_else(|| dependency["name"].as_str());
        name.unwrap_or_default().to_owned()
    };
    let names: BTreeSet<_> = list(&package["dependencies"]).map(name_of).collect();
    let is_unused = |name: &String| {
        !list(ignored).any(|other| other == name.as_str())
            && !texts.iter().any(|text| uses(text, &name.replace('-', "_")))
    };
    let owner = package["name"].as_str().unwrap_or_default();
    Ok(names
        .into_iter()
        .filter(is_unused)
        .map(|name| format!("{owner} does not use {name}"))
        .collect())
}

fn read_sources(folder: &Path, texts: &mut Vec<String>) -> Result<(), Error> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if !path.ends_with("target") {
                read_sources(&path, texts)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            texts.push(fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// Tells whether a source names a crate: in a path, or in a line that brings it in.
pub fn uses(text: &str, name: &str) -> bool {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.any(|line| {
        line.match_indices(name).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + name.len()..]);
            if before.ends_with(is_name) || after.starts_with(is_name) {
                return false;
            }
            let before = before.trim_end();
            let is_path_inside = before.ends_with("::");
            let brings_in = before.ends_with("use") || before.ends_with("extern crate");
            after.starts_with("::") && !is_path_inside || brings_in
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_package_has_an_allowed_licence_and_a_known_source() {
        let rules = DependencyRules::parse(
            "[licenses]\nallow = [\"MIT\"]\nexceptions = [{ crate = \"css\", allow = [\"MPL-2.0\"] }]\n",
        )
        .unwrap();
        let package = |name: &str, source: Option<&str>, licence: Option<&str>| json!({ "id": name, "name": name, "version": "1.0.0", "source": source, "license": licence });
        let metadata = json!({ "workspace_members": ["own"], "packages": [
            package("own", None, Some("MIT")),
            package("good", Some(REGISTRY), Some("MIT OR GPL-3.0-only")),
            package("css", Some(REGISTRY), Some("MPL-2.0")),
            package("mpl", Some(REGISTRY), Some("MPL-2.0")),
            package("none", Some(REGISTRY), None),
            package("git", Some("git+https://example.org/x"), Some("MIT")),
            package("near", None, Some("MIT")),
        ] });
        assert_eq!(
            rules.faults(&metadata),
            [
                "mpl 1.0.0 has the licence MPL-2.0",
                "none 1.0.0 names no licence",
                "git 1.0.0 comes from git+https://example.org/x",
                "near 1.0.0 is a folder outside of the workspace",
            ]
        );
        let empty = DependencyRules::parse("").unwrap();
        assert_eq!(empty.faults(&metadata).len(), 7, "what no rule allows is not allowed");
    }

    #[test]
    fn a_crate_is_used_where_code_names_it() {
        for (text, expected) in [
            ("use toml::Table;", true),
            ("use toml as other;", true),
            ("    let x: toml::Value = y;", true),
            ("extern crate toml;", true),
            ("#[derive(toml::X)]", true),
            ("// toml::Value", false),
            ("let toml = 1;", false),
            ("use my_toml::x;", false),
            ("crate::toml::x()", false),
            ("toml_edit::x()", false),
        ] {
            assert_eq!(uses(text, "toml"), expected, "{text}");
        }
    }
}
