//! Kinds of files that matter less than others with the same words.

/// Words of a path that tell that its file was made by a program, or is data for a test.
const DATA: &[&str] =
    &["snapshots", "__snapshots__", "fixtures", "testdata", "cassettes", "recordings", "vendor"];

/// Endings of data and pictures as text.
const DATA_ENDINGS: &[&str] = &["snap", "svg", "csv", "tsv", "jsonl", "po", "pot", "map"];

/// Folders in which agents' clients and editors keep a project's settings.
const TOOL_FOLDERS: &[&str] = &[
    ".claude",
    ".claude-plugin",
    ".codex",
    ".cursor",
    ".gemini",
    ".idea",
    ".opencode",
    ".qwen",
    ".vscode",
    ".zed",
];

/// Endings of settings; a text in such a folder, such as a skill, is a document like others.
const SETTINGS_ENDINGS: &[&str] = &["json", "jsonc", "json5", "toml", "xml", "yaml", "yml"];

/// Settings of clients that are not in a folder of their own.
const TOOL_FILES: &[&str] = &[".mcp.json", "opencode.json", "opencode.jsonc", ".cursorrules"];

/// Tells whether a file says how a client or an editor works, and nothing about what the project does.
pub(super) fn is_tool_settings(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_settings =
        name.rsplit_once('.').is_some_and(|(_, ending)| SETTINGS_ENDINGS.contains(&ending));
    let is_in_folder = folder.split('/').any(|part| TOOL_FOLDERS.contains(&part));
    TOOL_FILES.contains(&name) || is_settings && is_in_folder
}

/// Returns what the score of a file is multiplied with.
pub(super) fn kind_weight(path: &str) -> f64 {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if is_tool_settings(path) {
        return 0.1;
    }
    if DATA_ENDINGS.contains(&ending) || path.split('/').any(|part| DATA.contains(&part)) {
        return 0.5;
    }
    1.0
}
