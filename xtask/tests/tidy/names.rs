//! Names that a reader meets without their surroundings: types of a crate, parameters of closures.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{files, relative};

/// Types that share their name with others of their crate, and how many there are of the name.
/// Rename one, and lower its number here; nothing may be added.
const SHARED: [(&str, &str, usize); 3] =
    [("app", "Args", 28), ("service", "Layer", 5), ("service", "Settings", 5)];

/// Returns the folders of the workspace's Rust sources, by the names of their crates.
fn crates() -> BTreeMap<String, PathBuf> {
    let root = xtask::root();
    let mut folders = vec![root.join("xtask")];
    folders.extend(fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path()));
    let name = |folder: &Path| folder.file_name().unwrap().to_string_lossy().into_owned();
    folders.into_iter().map(|folder| (name(&folder), folder)).collect()
}

/// Returns the name of the public type that a line defines.
fn public_type(line: &str) -> Option<&str> {
    let mut words = line.trim_start().strip_prefix("pub ")?.split(' ');
    let is_type = matches!(words.next()?, "struct" | "enum" | "trait" | "type" | "union");
    let rest = words.next().filter(|_| is_type)?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// Tells whether a closure of a line calls a parameter `it`.
fn has_nameless(line: &str) -> bool {
    let is_comment = line.trim_start().starts_with("//");
    let bars = line.match_indices('|').filter(|_| !is_comment);
    let parameters = bars.filter_map(|(at, bar)| line.get(at + bar.len()..)?.split_once('|'));
    // An `or` has a space behind its bar.
    let mut parameters = parameters.filter(|(inside, _)| !inside.starts_with(' '));
    let is_pattern = |c: char| c.is_alphanumeric() || " _,&():'<>[]".contains(c);
    let is_it = |(inside, _): (&str, &str)| {
        inside.chars().all(is_pattern)
            && inside.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "it")
    };
    parameters.any(is_it)
}

#[test]
fn a_public_type_has_a_name_of_its_own_in_its_crate() {
    let mut shared = Vec::new();
    let mut places = Vec::new();
    for (name, folder) in crates() {
        let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for path in files(&folder.join("src"), ".rs") {
            let text = fs::read_to_string(&path).unwrap();
            for found in text.lines().filter_map(public_type) {
                types.entry(found.to_owned()).or_default().push(relative(&path));
            }
        }
        for (found, paths) in types.into_iter().filter(|(_, paths)| paths.len() > 1) {
            if !SHARED.contains(&(&name, &found, paths.len())) {
                places.push(format!("`{found}` of {name}: {}", paths.join(", ")));
            }
            shared.push((name.clone(), found, paths.len()));
        }
    }
    let shared: Vec<_> =
        shared.iter().map(|(a, b, count)| (a.as_str(), b.as_str(), *count)).collect();
    assert_eq!(
        shared, SHARED,
        "rename the new ones, and strike from SHARED what is not shared any more: {places:#?}"
    );
}

#[test]
fn closures_say_what_their_parameters_hold() {
    let mut places = Vec::new();
    for path in crates().values().flat_map(|folder| files(folder, ".rs")) {
        let text = fs::read_to_string(&path).unwrap();
        let found = text.lines().enumerate().filter(|(_, line)| has_nameless(line));
        places.extend(found.map(|(index, _)| format!("{}:{}", relative(&path), index + 1)));
    }
    assert!(places.is_empty(), "name these parameters after what they hold: {places:#?}");
}

// The counters must see what they are to count, or the lists above hold nothing.
#[test]
fn shared_and_missing_names_are_seen() {
    for (line, expected) in [
        ("pub struct Entry<'a> {", Some("Entry")),
        ("    pub enum Event {", Some("Event")),
        ("pub struct Id(String);", Some("Id")),
        ("pub(crate) struct Inner;", None),
        ("pub fn entry() {}", None),
        ("struct Own;", None),
    ] {
        assert_eq!(public_type(line), expected, "{line}");
    }
    for (line, expected) in [
        ("all.map(¦it¦ it.name)", true),
        ("all.map(¦(_, it)¦ it).filter(¦word: &&str¦ word.len() > 2)", true),
        ("all.fold(0, ¦sum: u64, &it¦ sum + it)", true),
        ("all.map(¦vote¦ it.a ¦¦ it.b)", false),
        ("all.map(¦item¦ item.with_it)", false),
        ("// all.map(¦it¦ it.name)", false),
    ] {
        assert_eq!(has_nameless(&line.replace('¦', "|")), expected, "{line}");
    }
}
