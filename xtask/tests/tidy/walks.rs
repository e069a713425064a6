//! The walks of ARCHITECTURE.md against the code.

use super::*;

/// Crates by their names in the walks.
const CRATES: [&str; 4] = ["domain", "store", "engine", "service"];

/// The walks' part of the document.
fn walks() -> String {
    let text = fs::read_to_string(xtask::root().join("ARCHITECTURE.md")).unwrap();
    let (_, rest) = text.split_once("## Walks through the code").unwrap();
    rest.split("\n## ").next().unwrap().to_owned()
}

/// The paths of symbols, such as `engine::hook::answer`, in order.
fn paths(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
    let words = text.split(|c| !is_part(c)).map(|word| word.trim_matches(':'));
    words.filter(|word| word.contains("::")).map(str::to_owned).collect()
}

/// The types that the walks name alone, such as `LaneReport`.
fn types(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | ':'));
    let is_type = |word: &&str| {
        let capitals = word.chars().filter(char::is_ascii_uppercase).count();
        word.starts_with(|c: char| c.is_ascii_uppercase())
            && capitals > 1
            && word.chars().any(|c| c.is_ascii_lowercase())
            && !word.contains(':')
    };
    words.filter(is_type).map(str::to_owned).collect()
}

fn defines(code: &str, name: &str) -> bool {
    let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let before = ["fn ", "struct ", "enum ", "trait ", "type ", "static ", "pub "];
    before.iter().any(|keyword| {
        code.match_indices(&format!("{keyword}{name}"))
            .any(|(place, found)| is_end(&code[place + found.len()..]))
    })
}

/// Tells whether a file can hold a symbol of these modules and types.
fn is_place(path: &str, code: &str, around: &[&str]) -> bool {
    around.iter().enumerate().all(|(number, part)| {
        let is_type = part.starts_with(|c: char| c.is_ascii_uppercase());
        match *part {
            "convoke" => path == "crates/app/src/lib.rs",
            _ if is_type => {
                defines(code, part)
                    || code.contains(&format!("impl {part} "))
                    || code.contains(&format!("impl {part}<"))
            }
            part if number == 0 && CRATES.contains(&part) => {
                path.starts_with(&format!("crates/{part}/"))
            }
            part => {
                path.split('/').any(|folder| folder == part)
                    || path.ends_with(&format!("/{part}.rs"))
            }
        }
    })
}

// A walk that names what is not there sends its reader astray.
#[test]
fn the_walks_name_what_is_there() {
    let text = walks();
    let crates = files(&xtask::root().join("crates"), ".rs");
    let code: Vec<_> = crates
        .iter()
        .filter(|path| relative(path).contains("/src/"))
        .map(|path| (relative(path), fs::read_to_string(path).unwrap()))
        .collect();
    let (paths, types) = (paths(&text), types(&text));
    assert!(paths.len() > 30 && types.len() > 15, "{paths:?} {types:?}");
    let missing = |name: &&String| {
        let parts: Vec<_> = name.split("::").collect();
        let (last, around) = parts.split_last().unwrap();
        // A step of several functions is named by its module.
        let module = parts
            .split_first()
            .map(|(krate, modules)| format!("crates/{krate}/src/{}.rs", modules.join("/")));
        let is_module = |path: &str| module.as_deref() == Some(path);
        !code.iter().any(|(path, code)| {
            is_module(path) || (defines(code, last) && is_place(path, code, around))
        })
    };
    let missing: Vec<_> = paths.iter().chain(&types).filter(missing).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

// The bars of the walks: a longer one needs a reason, and the number in its heading is its last hop.
#[test]
fn the_walks_are_as_long_as_they_say() {
    let text = walks();
    for (command, most) in [("brief", 12), ("hook", 14), ("lane run", 14), ("dispatch run", 14)] {
        let head = format!("**`convoke {command}`: ");
        let (_, walk) = text.split_once(&head).unwrap();
        let said: usize = walk.split(' ').next().unwrap().parse().unwrap();
        let drawn = walk.split("```").nth(1).unwrap();
        let hops: Vec<usize> = drawn.split('─').filter_map(|word| word.parse().ok()).collect();
        assert_eq!(hops, (1..=said).collect::<Vec<_>>(), "{command}");
        assert!(said <= most, "{command}: {said}");
    }
}
