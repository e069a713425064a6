//! The line that a client's shell runs at an event, and telling such lines from others.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;

/// The end of a line that prevents a failure if the program is missing.
const ELSE_SILENT: &str = " || true";

/// Returns the line for one entry. Where the program is missing it does nothing, and exits 0.
///
/// `exec` replaces the shell's own process, so the check costs almost nothing.
pub(crate) fn line(program: &Path, client: Client, event: &str, part: usize, of: usize) -> String {
    let is_named = program.components().count() == 1;
    let program = shell_word(program);
    let test = if is_named {
        format!("command -v {program} >/dev/null")
    } else {
        format!("[ -x {program} ]")
    };
    let client = client.name();
    format!("{test} && exec {program} hook {client} {event} --part {part} --of {of}{ELSE_SILENT}")
}

/// Returns a program as a shell would call it.
fn shell_word(program: &Path) -> String {
    let path = program.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// Recognizes Convoke's lines: those that end in its own words, with any path and name of the
/// program, and those that begin with `convoke hook`.
pub(crate) fn is_ours(command: &str, client: Client) -> bool {
    let words: Vec<_> = core(command).split_whitespace().collect();
    let written = match words.as_slice() {
        [_, .., "hook", name, _, "--part", _, "--of", _] => *name == client.name(),
        _ => false,
    };
    let program = words.first().map(|word| word.trim_matches(['\'', '"']));
    let is_convoke = program.and_then(|word| word.rsplit('/').next()) == Some("convoke");
    written || is_convoke && words.get(1..3) == Some(&["hook", client.name()])
}

/// Returns the program that one of Convoke's lines calls; a bare name is searched on the PATH.
pub(crate) fn program(command: &str) -> Option<PathBuf> {
    let (before, _) = core(command).rsplit_once(" hook ")?;
    let word = before.rsplit_once("&& exec ").map_or(before, |(_, word)| word);
    let quoted = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\''));
    let plain = quoted.map_or_else(|| word.to_owned(), |word| word.replace("'\\''", "'"));
    Some(PathBuf::from(plain))
}

/// Returns a line without what makes it silent.
fn core(command: &str) -> &str {
    let command = command.trim();
    command.strip_suffix(ELSE_SILENT).unwrap_or(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_commands_are_ours() {
        for (command, expected) in [
            ("convoke hook claude SessionStart", true),
            ("'/opt/my tools/convoke' hook claude X --part 1 --of 4", true),
            ("env A=1 /x/convoke hook claude X --part 1 --of 4", true),
            ("./renamed hook claude SessionStart --part 2 --of 4", true),
            (&line(Path::new("convoke"), Client::Claude, "X", 1, 4), true),
            (&line(Path::new("/opt/my tools/c"), Client::Claude, "X", 1, 4), true),
            ("logger convoke hook claude done", false),
            ("convoke hook codex X", false),
            ("other-convoke hook claude X", false),
            ("echo convoke || true", false),
        ] {
            assert_eq!(is_ours(command, Client::Claude), expected, "{command}");
        }
    }

    #[test]
    fn the_program_of_a_line_is_found() {
        for path in ["convoke", "/usr/bin/convoke", "/opt/my 'own' hook tools/convoke"] {
            let made = line(Path::new(path), Client::Codex, "SessionStart", 1, 4);
            assert_eq!(program(&made).unwrap(), Path::new(path), "{made}");
        }
        let bare = "'/opt/my tools/convoke' hook claude X --part 1 --of 4";
        assert_eq!(program(bare).unwrap(), Path::new("/opt/my tools/convoke"));
    }
}
