//! The paths that an agent's call names: in the protocol's own fields, and in the agent's raw input, whose
//! form is each agent's own.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::file::stays_inside;
use crate::json::parse;

/// A call that names more paths is not looked through.
const MOST: usize = 1000;

/// No agent's input is nested deeper.
const DEEPEST: usize = 20;

/// How keys end whose text is a path, without underscores and in small letters.
const PATH_KEYS: [&str; 12] = [
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "dir",
    "directory",
    "folder",
    "uri",
    "source",
    "destination",
    "target",
];

/// Keys whose text is the content of a file, or words about one, which may begin like a path.
const CONTENT_KEYS: [&str; 14] = [
    "content",
    "contents",
    "oldstring",
    "newstring",
    "oldtext",
    "newtext",
    "oldstr",
    "newstr",
    "text",
    "description",
    "title",
    "reason",
    "explanation",
    "instruction",
];

/// The beginnings of lines that name a file in a patch of Codex.
const PATCH_LINES: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// What a call names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct NamedPaths {
    /// The paths as the agent writes them.
    pub(super) paths: Vec<String>,
    /// Whether the whole call was looked through.
    pub(super) is_complete: bool,
}

#[derive(Deserialize)]
struct PlacedCall {
    locations: Option<Value>,
    content: Option<Value>,
    #[serde(rename = "rawInput")]
    input: Option<Value>,
}

impl NamedPaths {
    /// Reads a call.
    pub(super) fn of(call: Option<&RawValue>) -> Self {
        let Some(PlacedCall { locations, content, input }) = parse(call) else {
            return Self::default();
        };
        let mut named = Self { paths: Vec::new(), is_complete: true };
        for place in [locations, content].iter().flatten().filter_map(Value::as_array).flatten() {
            match place.get("path") {
                Some(Value::String(path)) => named.add(path),
                // What is no text names a path that Convoke cannot read.
                Some(_) => named.is_complete = false,
                None => {}
            }
        }
        if let Some(input) = &input {
            named.look_through(input, "", 0);
        }
        named
    }

    fn add(&mut self, path: &str) {
        if self.paths.len() < MOST {
            self.paths.push(path.to_owned());
        } else {
            self.is_complete = false;
        }
    }

    fn look_through(&mut self, value: &Value, key: &str, depth: usize) {
        if depth > DEEPEST {
            self.is_complete = false;
            return;
        }
        match value {
            Value::String(text) => self.look_at(text, key),
            Value::Array(items) => {
                for item in items {
                    self.look_through(item, key, depth + 1);
                }
            }
            Value::Object(members) => {
                for (key, value) in members {
                    // Codex lists changes by the paths of the files.
                    if key.contains('/') {
                        self.add(key);
                    }
                    self.look_through(value, key, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn look_at(&mut self, text: &str, key: &str) {
        let in_patch = |line: &str| {
            PATCH_LINES.iter().find_map(|begin| line.strip_prefix(begin)).map(str::to_owned)
        };
        text.lines().filter_map(in_patch).for_each(|path| self.add(path.trim()));
        let key = key.to_lowercase().replace(['_', '-'], "");
        if CONTENT_KEYS.contains(&key.as_str()) {
            return;
        }
        let is_path_by_name = PATH_KEYS.iter().any(|name| key.ends_with(name));
        // An unknown key may name a path, too.
        let begins_like_one = text.starts_with(['/', '~'])
            || text.starts_with("../")
            || text == ".."
            || text.starts_with("file:");
        if is_path_by_name || (begins_like_one && !text.contains('\n')) {
            self.add(text);
        }
    }
}

/// Tells whether a path stays below a folder, also by `..` and links, as far as they exist.
pub(super) fn is_inside(folder: &Path, path: &str) -> bool {
    let path = path.strip_prefix("file://").unwrap_or(path);
    if path.trim().is_empty() || path.starts_with('~') || path.contains(['\0', '\n']) {
        return false;
    }
    let path = Path::new(path);
    let roots = [Some(folder.to_owned()), folder.canonicalize().ok()];
    let below = roots.iter().flatten().find_map(|root| path.strip_prefix(root).ok());
    let below: PathBuf = below.unwrap_or(path).to_owned();
    stays_inside(folder, &below)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(call: &Value) -> NamedPaths {
        let text = call.to_string();
        let raw: &RawValue = serde_json::from_str(&text).unwrap();
        NamedPaths::of(Some(raw))
    }

    #[test]
    fn paths_are_found_where_agents_name_them() {
        let patch = "*** Begin Patch\n*** Update File: ../a\n-x\n+y\n";
        for (call, paths) in [
            (json!({"locations": [{"path": "a"}, {"line": 7}]}), vec!["a"]),
            (json!({"content": [{"type": "diff", "path": "b", "newText": "/x"}]}), vec!["b"]),
            (json!({"rawInput": {"file_path": "a", "content": "/etc/passwd"}}), vec!["a"]),
            (json!({"rawInput": {"filePath": "a", "old_string": "../x"}}), vec!["a"]),
            (json!({"rawInput": {"changes": {"/p/a.md": {"type": "add"}}}}), vec!["/p/a.md"]),
            (json!({"rawInput": {"edits": [{"new_path": "a"}]}}), vec!["a"]),
            (json!({"rawInput": {"where": "/etc/x", "to": "~/x", "n": 7}}), vec!["/etc/x", "~/x"]),
            (json!({"rawInput": {"paths": ["a", "b"]}}), vec!["a", "b"]),
            (json!({"rawInput": {"patch": patch}}), vec!["../a"]),
            (json!({"rawInput": {"pattern": "x"}, "title": "/x"}), vec![]),
            (json!({}), vec![]),
        ] {
            let mut named = read(&call);
            named.paths.sort();
            assert!(named.is_complete, "{call}");
            assert_eq!(named.paths, paths, "{call}");
        }
        assert!(!read(&json!({"locations": [{"path": 7}]})).is_complete);
        assert!(!read(&json!(7)).is_complete);
    }

    #[test]
    fn a_path_leads_out_by_its_parts_and_by_links() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        fs::create_dir_all(project.join("src")).unwrap();
        symlink(folder.path(), project.join("out")).unwrap();
        let absolute = |path: &str| project.join(path).display().to_string();
        let uri = format!("file://{}", absolute("a.rs"));
        for path in ["src/a.rs", "new/b.rs", "./src/../c.rs", &absolute("src/a.rs"), &uri] {
            assert!(is_inside(&project, path), "{path}");
        }
        for path in [
            "",
            " ",
            "..",
            "../a",
            "src/../../a",
            "out/a",
            "out/../a",
            "~/a",
            "/etc/passwd",
            "file:///etc/passwd",
            "a\0b",
            &absolute("../a"),
            &absolute("out/a"),
        ] {
            assert!(!is_inside(&project, path), "{path:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_below_a_key_for_paths_is_named(text in "\\PC*") {
            let named = read(&json!({"rawInput": {"path": text, "x": text}}));
            prop_assert!(named.is_complete && named.paths.contains(&text));
        }
    }
}
