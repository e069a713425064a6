//! Making outputs of different runs the same: folders, ids, times, durations and versions.

use std::path::Path;

/// What was numbered so far, so that one task has one name on all pages.
pub(super) struct Stable {
    /// Folders, and what they are called instead; the deepest first.
    folders: Vec<(String, &'static str)>,
    tasks: Vec<String>,
}

impl Stable {
    /// Knows the newcomer's folder, under each of its names.
    pub(super) fn new(top: &Path) -> Self {
        let real = top.canonicalize().unwrap_or_else(|_| top.to_owned());
        let paths = [real.as_path(), top].map(|path| path.display().to_string());
        // A client makes a name of the folder.
        let names = paths.clone().map(|path| (path.replace(['/', '.'], "-"), "JOINED"));
        let folders = paths.map(|path| (path, "TOP")).into_iter().chain(names).collect();
        Self { folders, tasks: Vec::new() }
    }

    /// Returns a text without what differs from run to run.
    pub(super) fn text(&mut self, text: &str) -> String {
        let text = self
            .folders
            .iter()
            .fold(text.to_owned(), |text, (folder, name)| text.replace(folder, name));
        // Agents that work in parallel are done in any order; the last line has all of them.
        let is_last = |line: &&str| !(line.starts_with('📊') && line.contains('⏳'));
        let text: String = text.split_inclusive('\n').filter(is_last).collect();
        let mut stable = String::new();
        let mut word = String::new();
        for letter in text.chars() {
            if is_of_word(letter) {
                word.push(letter);
            } else {
                stable += &self.word(&std::mem::take(&mut word));
                stable.push(letter);
            }
        }
        stable + &self.word(&word)
    }

    fn word(&mut self, word: &str) -> String {
        // What ends a sentence is not of the word.
        let bare = word.trim_end_matches(['.', ':']);
        let end = &word[bare.len()..];
        let named = match bare {
            _ if is_task(bare) => self.task(bare),
            _ if is_run(bare) => "RUN".to_owned(),
            _ if is_time(bare) => "TIME".to_owned(),
            _ if is_day(bare) => "DAY".to_owned(),
            _ if is_clock(bare) => "HH:MM".to_owned(),
            _ if is_duration(bare) => "1s".to_owned(),
            _ if is_version(bare) => "X.Y.Z".to_owned(),
            _ if is_hash(bare) => "HASH".to_owned(),
            _ => bare.to_owned(),
        };
        named + end
    }

    fn task(&mut self, id: &str) -> String {
        let known = self.tasks.iter().position(|known| known == id);
        let at = known.unwrap_or_else(|| {
            self.tasks.push(id.to_owned());
            self.tasks.len() - 1
        });
        format!("t-{:05}", at + 1)
    }
}

const fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | ':')
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_task(word: &str) -> bool {
    word.strip_prefix("t-").is_some_and(|id| id.len() == 5 && is_hex(id))
}

/// `20261116-161908-1ab2c`
fn is_run(word: &str) -> bool {
    let parts: Vec<_> = word.split('-').collect();
    matches!(parts[..], [day, clock, id] if day.len() == 8 && is_digits(day)
        && clock.len() == 6 && is_digits(clock) && id.len() == 5 && is_hex(id))
}

/// `2026-11-16T16:19:08.25Z`
fn is_time(word: &str) -> bool {
    word.ends_with('Z') && word.contains('T') && word.starts_with("20") && word.contains(':')
}

/// `2026-11-16`
fn is_day(word: &str) -> bool {
    let parts: Vec<_> = word.split('-').collect();
    parts.iter().all(|part| is_digits(part)) && parts.iter().map(|part| part.len()).eq([4, 2, 2])
}

/// `16:19` and `16:19:08`
fn is_clock(word: &str) -> bool {
    let parts: Vec<_> = word.split(':').collect();
    matches!(parts.len(), 2 | 3) && parts.iter().all(|part| part.len() == 2 && is_digits(part))
}

/// `250ms`, `3s`, `0.4s`, `1m` and `1m2s`
fn is_duration(word: &str) -> bool {
    let number = word.strip_suffix("ms").or_else(|| word.strip_suffix(['s', 'm']));
    number.is_some_and(|number| {
        let seconds = number.split_once('m').map_or(number, |(_, seconds)| seconds);
        is_digits(&seconds.replacen('.', "", 1)) && number.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// `2.1.325`
fn is_version(word: &str) -> bool {
    let parts: Vec<_> = word.split('.').collect();
    parts.len() == 3 && parts.iter().all(|part| is_digits(part))
}

/// Eight digits or more of a hash, or a random id with hyphens.
fn is_hash(word: &str) -> bool {
    let digits = word.replace('-', "");
    let is_id = digits.len() == 32 && word.contains('-');
    is_hex(&digits) && (is_id || word.len() >= 8 && digits.len() == word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut stable = Stable::new(Path::new("/tmp/.tmpAbc"));
        assert_eq!(stable.text(text), expected, "{text}");
    }

    #[test]
    fn what_differs_from_run_to_run_is_named() {
        check("see /tmp/.tmpAbc/project/a.md.", "see TOP/project/a.md.");
        check("t-1ab2c, t-99999 and t-1ab2c", "t-00001, t-00002 and t-00001");
        check("run 20261116-161908-1ab2c ended", "run RUN ended");
        check("at 2026-11-16T16:19:08.123Z: done", "at TIME: done");
        check("- 16:19 - @me", "- HH:MM - @me");
        check("at 2026-11-16 16:19, arrived", "at DAY HH:MM, arrived");
        check("arrived 12s ago, in 0.4s", "arrived 1s ago, in 1s");
        check("(250ms) (1m2s) (3m)", "(1s) (1s) (1s)");
        check("projects/-tmp--tmpAbc-project", "projects/JOINED-project");
        check("📊 A: ⏳ | B: ✅ 2s\n📊 A: ✅ 3s | B: ✅ 2s\n", "📊 A: ✅ 1s | B: ✅ 1s\n");
        check("claude 2.1.325 (Claude Code)", "claude X.Y.Z (Claude Code)");
        check("7b0c9b7e-52f1-4d0e-9a55-0f5b1f6d2a11", "HASH");
        check("[convoke wake-up 1/1 0123456789abcdef]", "[convoke wake-up 1/1 HASH]");
    }

    #[test]
    fn words_of_people_stay() {
        for text in ["2 tasks", "docs/plan.md", "9:05", "s", "defaced facade", "1.5", "t-shirt"] {
            check(text, text);
        }
    }
}
