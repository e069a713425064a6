//! What Cargo and git know about the project: versions, licences, dependencies, times.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::target::Target;
use crate::process::output;
use crate::{Error, root};

/// The packages that are shipped.
pub const SHIPPED: [&str; 2] = ["convoke", "convoke-diagram"];

/// The features that packages have beside the default ones: a store on a server.
pub const FEATURES: &str = "convoke/postgres";

/// The project, as Cargo's metadata and git's history describe it.
pub struct Project {
    /// The version of the program, as Cargo reads it.
    pub version: String,
    /// One sentence on the program.
    pub description: String,
    /// The licences as an SPDX expression.
    pub licence: String,
    /// Where the source is published, once it is.
    pub repository: Option<String>,
    /// The files with the licences' texts.
    pub licence_files: Vec<PathBuf>,
    /// When the packaged commit was made, in seconds: files in packages carry this time.
    pub seconds: String,
    /// The same time as Debian writes it.
    pub date: String,
    /// The same time as RFC 3339 writes it.
    pub timestamp: String,
    /// The person that makes packages, `NAME <ADDRESS>`.
    pub maintainer: String,
}

/// A crate that is linked into the programs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkedCrate {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Cargo's own name for it, which tells two of one name apart.
    pub id: String,
    /// Its licences as an SPDX expression, if it says.
    pub licence: Option<String>,
    /// Where Cargo got it from; nothing for a crate of this repository.
    pub source: Option<String>,
    /// Its folder.
    pub folder: PathBuf,
    /// The ids of the crates that it uses.
    pub uses: BTreeSet<String>,
}

impl Project {
    /// Asks Cargo and git.
    pub fn read() -> Result<Self, Error> {
        let metadata = metadata(&["--no-deps"])?;
        let own = package(&metadata, SHIPPED[0])?;
        let text = |key: &str| own[key].as_str().unwrap_or_default().to_owned();
        let git = |format: &str| output("git", &["log", "-1", &format!("--format={format}")]);
        Ok(Self {
            version: text("version"),
            description: text("description"),
            licence: text("license"),
            repository: own["repository"].as_str().map(str::to_owned),
            licence_files: licence_files(&root())?,
            seconds: git("%ct")?.trim().to_owned(),
            date: git("%cD")?.trim().to_owned(),
            timestamp: git("%cI")?.trim().to_owned(),
            maintainer: maintainer()?,
        })
    }
}

impl LinkedCrate {
    /// Tells whether it is a crate of this repository whose programs are shipped.
    pub fn is_shipped(&self) -> bool {
        self.source.is_none() && SHIPPED.contains(&self.name.as_str())
    }

    /// Lists the crates that are linked into the programs, in order. Crates for other systems,
    /// for tests and for building alone are not among them.
    pub fn of(target: Target) -> Result<Vec<Self>, Error> {
        let more = ["--filter-platform", target.triple, "--features", FEATURES];
        let metadata = metadata(&more)?;
        let nodes = metadata["resolve"]["nodes"].as_array().ok_or("Cargo names no crates")?;
        let uses: BTreeMap<&str, BTreeSet<String>> =
            nodes.iter().filter_map(|node| Some((node["id"].as_str()?, used(node)))).collect();
        let mut found = BTreeSet::new();
        let mut open = Vec::new();
        for name in SHIPPED {
            open.extend(package(&metadata, name)?["id"].as_str().map(str::to_owned));
        }
        while let Some(id) = open.pop() {
            if found.insert(id.clone()) {
                open.extend(uses.get(id.as_str()).into_iter().flatten().cloned());
            }
        }
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let mut linked: Vec<_> = packages
            .filter_map(|package| linked_crate(package, &uses))
            .filter(|linked| found.contains(&linked.id))
            .collect();
        linked.sort();
        Ok(linked)
    }
}

fn metadata(more: &[&str]) -> Result<Value, Error> {
    let arguments = ["metadata", "--format-version", "1", "--locked"];
    Ok(serde_json::from_str(&output("cargo", &[&arguments, more].concat())?)?)
}

/// Returns the person that makes packages: from Debian's own variables, else who made the commit.
fn maintainer() -> Result<String, Error> {
    let said =
        "${DEBFULLNAME:-$(git log -1 --format=%cn)} <${DEBEMAIL:-$(git log -1 --format=%ce)}>";
    output("sh", &["-c", &format!("printf %s \"{said}\"")])
}

fn package<'m>(metadata: &'m Value, name: &str) -> Result<&'m Value, Error> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let own = packages.filter(|package| package["source"].is_null());
    let mut named = own.filter(|package| package["name"] == name);
    Ok(named.next().ok_or_else(|| format!("Cargo knows no package `{name}` here"))?)
}

/// Returns what a crate is linked with.
fn used(node: &Value) -> BTreeSet<String> {
    let is_linked = |dependency: &&Value| {
        let kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
        kinds.into_iter().any(|kind| kind["kind"].is_null())
    };
    let all = node["deps"].as_array().into_iter().flatten().filter(is_linked);
    all.filter_map(|dependency| dependency["pkg"].as_str().map(str::to_owned)).collect()
}

fn linked_crate(package: &Value, uses: &BTreeMap<&str, BTreeSet<String>>) -> Option<LinkedCrate> {
    let text = |key: &str| package[key].as_str().map(str::to_owned);
    let id = text("id")?;
    Some(LinkedCrate {
        name: text("name")?,
        version: text("version")?,
        licence: text("license"),
        source: text("source"),
        folder: PathBuf::from(text("manifest_path")?).parent()?.to_owned(),
        uses: uses.get(id.as_str()).cloned().unwrap_or_default(),
        id,
    })
}

/// Lists the files of a folder that have licences' texts.
pub fn licence_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_uppercase();
        let begins = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT"];
        if path.is_file() && begins.iter().any(|word| name.starts_with(word)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the licences' texts of everything that is linked into the programs, each text once,
/// with the crates that it belongs to.
pub fn third_party_licences(linked: &[LinkedCrate]) -> Result<String, Error> {
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut listed = Vec::new();
    for part in linked.iter().filter(|part| part.source.is_some()) {
        let name = format!("{} {}", part.name, part.version);
        let licence = part.licence.as_deref().unwrap_or("see its files");
        listed.push(format!("{name}: {licence}\n"));
        for file in licence_files(&part.folder)? {
            let text = String::from_utf8_lossy(&fs::read(file)?).replace("\r\n", "\n");
            texts.entry(text.trim().to_owned()).or_default().insert(name.clone());
        }
    }
    let rule = "-".repeat(80);
    let listed = listed.concat();
    let mut all = vec![format!(
        "The programs contain these libraries, under these licences:\n\n{listed}\n\
         They also contain the standard library of Rust (MIT OR Apache-2.0) and SQLite (public\n\
         domain).\n"
    )];
    for (text, names) in texts {
        let names: Vec<_> = names.into_iter().collect();
        all.push(format!("\n{rule}\n{}\n{rule}\n\n{text}\n", names.join(", ")));
    }
    Ok(all.concat())
}
