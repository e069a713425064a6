//! The plugin through which opencode calls Convoke.

use std::path::{Path, PathBuf};

use serde_json::json;

/// The plugin, which calls the first `convoke` on the PATH.
const PLUGIN: &str = include_str!("plugin.js");

/// The line that names the program.
const PROGRAM: &str = "const PROGRAM = \"convoke\";";

/// Returns the plugin that calls a program.
pub(super) fn plugin(program: &Path) -> String {
    let named = format!("const PROGRAM = {};", json!(program.display().to_string()));
    PLUGIN.replacen(PROGRAM, &named, 1)
}

/// Returns the program that Convoke's plugin calls; `None` for another plugin.
pub(super) fn plugin_program(text: &str) -> Option<PathBuf> {
    let mut lines = text.lines().filter(|_| is_our_plugin(text));
    let named = lines.find_map(|line| line.strip_prefix("const PROGRAM = ")?.strip_suffix(';'))?;
    serde_json::from_str::<String>(named).ok().map(PathBuf::from)
}

/// Recognizes Convoke's plugin by its first line, also where a user wrote something above it: opencode loads it
/// from there, too.
pub(super) fn is_our_plugin(text: &str) -> bool {
    PLUGIN.lines().next().is_some_and(|first| text.lines().any(|line| line == first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugin_calls_the_program_it_was_made_for() {
        let odd = plugin(Path::new("/opt/my \"tools\"/convoke"));
        assert!(odd.contains("const PROGRAM = \"/opt/my \\\"tools\\\"/convoke\";\n"), "{odd}");
        let program = plugin_program(&odd).unwrap();
        assert_eq!(program, Path::new("/opt/my \"tools\"/convoke"));
        assert!(is_our_plugin(&odd) && !is_our_plugin("// mine\n") && !is_our_plugin(""));
    }
}
