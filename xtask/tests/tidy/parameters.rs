//! Parameters that a reader of a call can understand.

use std::fs;

use super::{files, relative};

/// Functions with a `bool` parameter. Those of Convoke turn a flag into a type, and are called with the
/// flag's name; `visit_bool` is serde's. The list may only shrink.
const EXCEPTIONS: [&str; 6] = [
    "crates/app/src/cli/hooks/install.rs rehearsal",
    "crates/app/src/cli/project.rs takeover",
    "crates/domain/src/dispatch/role.rs of",
    "crates/domain/src/lane/health.rs from_caller",
    "crates/engine/src/dispatch/answer/tree.rs visit_bool",
    "crates/engine/src/json/lenient.rs visit_bool",
];

/// Names the functions of a file, without its tests, that take a `bool`, or one that may be absent.
fn functions_with_bool(text: &str) -> Vec<String> {
    let end = text.find("#[cfg(test)]").unwrap_or(text.len());
    let mut found = Vec::new();
    for (_, rest) in
        text[..end].match_indices("fn ").map(|(at, word)| text.split_at(at + word.len()))
    {
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let parameters = parameters(&rest[name.len()..]).unwrap_or_default();
        let is_bool = |ty: &str| matches!(ty, "bool" | "&bool" | "&mut bool" | "Option<bool>");
        let takes_bool = split(parameters)
            .any(|parameter| parameter.split_once(':').is_some_and(|(_, ty)| is_bool(ty.trim())));
        if takes_bool && !name.is_empty() {
            found.push(name);
        }
    }
    found
}

/// Returns what is between the parentheses of a function whose name ended.
fn parameters(text: &str) -> Option<&str> {
    // Bounds of type parameters may have parentheses of their own.
    let generic = text.starts_with('<').then(|| closing(text, '<', '>')).flatten();
    let start = generic.map_or(0, |end| end + 1);
    let list = text.get(start..).filter(|list| list.starts_with('('))?;
    closing(list, '(', ')').map(|end| &list[1..end])
}

/// Returns where the bracket that a text begins with is closed. An arrow closes nothing.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && before != '-' {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
        before = c;
    }
    None
}

/// Splits a list at the commas that are in no brackets.
fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    list.split(move |c| {
        match c {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth -= 1,
            _ => {}
        }
        c == ',' && depth <= 0
    })
}

// `Mode::Auto` can be read at the call; `true` cannot.
#[test]
fn no_function_takes_a_bool() {
    let mut found = Vec::new();
    let crates = fs::read_dir(xtask::root().join("crates")).unwrap();
    let crates = crates.map(|entry| entry.unwrap().path());
    for folder in crates.chain([xtask::root().join("xtask")]) {
        for path in files(&folder.join("src"), ".rs") {
            let path_text = relative(&path);
            if path_text.contains("/tests/") || path_text.ends_with("/tests.rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            found.extend(
                functions_with_bool(&text).iter().map(|name| format!("{path_text} {name}")),
            );
        }
    }
    found.sort();
    assert_eq!(found, EXCEPTIONS, "make it an enum, or two functions");
}

#[test]
fn a_bool_is_found_among_all_parameters() {
    for (text, expected) in [
        ("fn a(x: bool) {}", vec!["a"]),
        ("fn a<T: Fn(u8) -> u8>(x: &T, is_y: Option<bool>) -> u8 {}", vec!["a"]),
        ("fn a(\n    &mut self,\n    x: &[(u8, bool)],\n    y: bool,\n) {}", vec!["a"]),
        ("fn a(x: (u8, bool)) -> bool {}\nfn b(x: &dyn Fn(bool) -> u8) {}", vec![]),
        ("fn a(x: u8) {}\n#[cfg(test)]\nfn b(x: bool) {}", vec![]),
    ] {
        assert_eq!(functions_with_bool(text), expected, "{text}");
    }
}
