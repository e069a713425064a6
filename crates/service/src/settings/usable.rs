//! Settings as far as they can be used. A hook delivers the user's rules even if a file or a
//! variable holds a mistake, and names the place of the mistake instead of failing.

use std::path::Path;

use convoke_domain::finding::FileFinding;
use convoke_engine::file;
use toml::{Table, Value};

use super::trust::{Author, Origin, local_author, sift};
use super::{Key, LOCAL_FILE, MAX_BYTES, PROJECT_FILE, SECTIONS, store};
use crate::session::Session;

/// After so many lines that cannot be read, the rest of a file is not read either.
const MOST_MISTAKES: usize = 16;

/// One section from everywhere, strongest first, without what cannot be used.
pub(super) struct UsableLayers<L> {
    /// Environment, local file, project's file, user's file.
    pub(super) layers: [L; 4],
    /// The author of the local file.
    pub(super) author: Author,
    /// Files and variables with a mistake, as the user knows them.
    pub(super) left_out: Vec<String>,
}

/// Reads one section like [`super::read_layers`], but leaves out each line, key and value that cannot
/// be used.
pub(super) fn read_usable_layers<L: Default>(
    session: &Session,
    section: &str,
    keys: &[Key<L>],
) -> UsableLayers<L> {
    let (user_name, mut user) = user_file(session);
    let mut local = UsableFile::read(&session.project.join(LOCAL_FILE));
    let mut project = UsableFile::read(&session.project.join(PROJECT_FILE));
    let author = local_author(&session.project, &local.table);
    let origin = |author| Origin { author, project: &session.project, user: &user.table };
    sift(&mut local.table, origin(author));
    sift(&mut project.table, origin(Author::Committer));
    let (variables, mut left_out) = variables(session, section, keys);
    let layers = [
        variables,
        local.take(section, keys),
        project.take(section, keys),
        user.take(section, keys),
    ];
    let files = [(LOCAL_FILE, &local), (PROJECT_FILE, &project), (user_name.as_str(), &user)];
    let wrong = files.iter().filter(|(_, file)| file.has_mistake);
    left_out.extend(wrong.map(|(name, _)| (*name).to_owned()));
    UsableLayers { layers, author, left_out }
}

/// Reads one section of the local file in another folder of the project, without what cannot be used.
pub(super) fn read_usable_local<L: Default>(
    session: &Session,
    folder: &Path,
    section: &str,
    keys: &[Key<L>],
) -> L {
    let mut local = UsableFile::read(&folder.join(LOCAL_FILE));
    if local.table.is_empty() {
        return L::default();
    }
    let author = local_author(folder, &local.table);
    let user = user_table(session);
    sift(&mut local.table, Origin { author, project: folder, user: &user });
    local.take(section, keys)
}

/// Returns what the user's own file says, as far as it can be read.
pub(super) fn user_table(session: &Session) -> Table {
    user_file(session).1.table
}

/// Returns the user's own file with its name as a person writes it.
fn user_file(session: &Session) -> (String, UsableFile) {
    let files = session.settings.files();
    let Some(path) = files.user(session).map(|file| &file.path) else {
        return (String::new(), UsableFile::default());
    };
    let home = session.environment.home();
    let below = home.and_then(|home| Some(path.strip_prefix(home).ok()?.display().to_string()));
    let name = below.map_or_else(|| path.display().to_string(), |below| format!("~/{below}"));
    let mut file = UsableFile::read(path);
    file.has_mistake |= store::in_table(&file.table).is_err();
    (name, file)
}

/// A file, and whether a part of it is unusable.
#[derive(Default)]
struct UsableFile {
    table: Table,
    has_mistake: bool,
}

impl UsableFile {
    fn read(path: &Path) -> Self {
        let text = match file::read(path, MAX_BYTES) {
            FileFinding::Absent => return Self::default(),
            FileFinding::Text(text) => text,
            FileFinding::Unreadable(_) => return Self { has_mistake: true, ..Self::default() },
        };
        let mut read = Self::parse(text);
        let before = read.table.len();
        read.table.retain(|name, _| SECTIONS.contains(&name));
        read.has_mistake |= read.table.len() < before;
        read
    }

    /// Parses a text without the lines that are no TOML. A value on such a line is not guessed.
    fn parse(mut text: String) -> Self {
        for mistakes in 0..MOST_MISTAKES {
            match text.parse() {
                Ok(table) => return Self { table, has_mistake: mistakes > 0 },
                Err(error) => {
                    let error: toml::de::Error = error;
                    let at = error.span().map_or(0, |span| span.start);
                    text = without_line(&text, at);
                }
            }
        }
        Self { table: Table::new(), has_mistake: true }
    }

    /// Reads a section, and takes note of what in it cannot be used.
    fn take<L: Default>(&mut self, section: &str, keys: &[Key<L>]) -> L {
        let mut layer = L::default();
        match self.table.get(section) {
            None => {}
            Some(Value::Table(values)) => {
                for (name, value) in values {
                    let key = keys.iter().find(|key| key.name == name);
                    let is_set = key.and_then(|key| (key.set)(&mut layer, value)).is_some();
                    self.has_mistake |= !is_set;
                }
            }
            Some(_) => self.has_mistake = true,
        }
        layer
    }
}

/// Returns a text without the line at a byte, and without the lines below it if it is the heading
/// of a section: those keys would otherwise count for the section before.
fn without_line(text: &str, at: usize) -> String {
    let (mut kept, mut seen, mut is_below) = (String::new(), 0, false);
    let at = at.min(text.len().saturating_sub(1));
    for line in text.split_inclusive('\n') {
        let is_heading = line.trim_start().starts_with('[');
        let is_wrong = (seen..seen + line.len()).contains(&at);
        seen += line.len();
        is_below = if is_wrong { is_heading } else { is_below && !is_heading };
        if !is_wrong && !is_below {
            kept.push_str(line);
        }
    }
    kept
}

/// Reads a section's variables, and names those that cannot be used.
fn variables<L: Default>(session: &Session, section: &str, keys: &[Key<L>]) -> (L, Vec<String>) {
    let (mut layer, mut left_out) = (L::default(), Vec::new());
    for key in keys {
        let Some((name, text)) = session.environment.setting(section, key.name) else { continue };
        let value = text.to_str().and_then(key.from_text);
        if value.and_then(|value| (key.set)(&mut layer, &value)).is_none() {
            left_out.push(name);
        }
    }
    (layer, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_toml_hides_no_other_line() {
        for (text, expected) in [
            ("[wake]\nagent = 'june'\nclock = \n", "wake.agent = 'june'"),
            ("[wake]\nmode = x\nagent = 'june'\n", "wake.agent = 'june'"),
            ("[wake]\nagent = 'june'\nagent = 'max'\n", "wake.agent = 'june'"),
            // Lines below a broken heading do not count for the section before.
            ("[wake]\nagent = 'june'\n[lane\nclock = 'UTC'\n", "wake.agent = 'june'"),
            ("[lane\nx = 1\n[wake]\nagent = 'june'\n", "wake.agent = 'june'"),
            // No value is made of half a line.
            ("[wake]\nwake_budget = 80 00\n", "[wake]"),
            ("[wake]\nagent = 'june", "[wake]"),
            ("=\n=\n=\n", ""),
        ] {
            let read = UsableFile::parse(text.to_owned());
            assert_eq!(read.table, expected.parse().unwrap(), "{text}");
            assert!(read.has_mistake, "{text}");
        }
        assert!(!UsableFile::parse("[wake]\n".to_owned()).has_mistake);
        assert!(UsableFile::parse("=\n".repeat(100)).has_mistake);
    }
}
