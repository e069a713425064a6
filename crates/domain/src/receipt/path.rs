//! Paths as text: this module does not access files, so links count as their names.

/// Returns a path without `.`, `..`, doubled slashes and a slash at its end.
pub fn normal(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            // There is nothing above the root.
            ".." if is_absolute => {}
            _ => parts.push(part),
        }
    }
    format!("{}{}", if is_absolute { "/" } else { "" }, parts.join("/"))
}

/// Returns what a path means in a folder; a relative path stays relative in an unknown one.
pub fn within(folder: Option<&str>, path: &str) -> String {
    match folder {
        Some(folder) if !path.starts_with('/') => normal(&format!("{folder}/{path}")),
        Some(_) | None => normal(path),
    }
}

/// Returns a path's last part.
pub fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Tells whether a relative path of an unknown folder could be this file.
pub(super) fn could_be(relative: &str, path: &str) -> bool {
    let relative = relative.trim_start_matches("../");
    !relative.is_empty()
        && !relative.starts_with('/')
        && path.strip_suffix(relative).is_some_and(|folder| folder.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_are_compared_without_detours() {
        for (path, expected) in [
            ("/a/./b//c/", "/a/b/c"),
            ("/a/../b", "/b"),
            ("/../b", "/b"),
            ("a/../../b", "../b"),
            ("./a", "a"),
            ("/", "/"),
            ("", ""),
        ] {
            assert_eq!(normal(path), expected, "{path}");
        }
        assert_eq!(within(Some("/p/docs"), "../a.md"), "/p/a.md");
        assert_eq!(within(Some("/p"), "/q/a.md"), "/q/a.md");
        assert_eq!(within(None, "./a.md"), "a.md");
    }

    #[test]
    fn a_relative_path_could_be_any_file_that_ends_so() {
        for (relative, path, expected) in [
            ("a.md", "/p/a.md", true),
            ("docs/a.md", "/p/docs/a.md", true),
            ("../a.md", "/p/a.md", true),
            ("a.md", "/p/aa.md", false),
            ("/p/a.md", "/p/a.md", false),
            ("", "/p/a.md", false),
        ] {
            assert_eq!(could_be(relative, path), expected, "{relative} {path}");
        }
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(path in "[a./]{0,12}") {
            let once = normal(&path);
            prop_assert_eq!(normal(&once), once);
        }
    }
}
