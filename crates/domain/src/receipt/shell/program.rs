//! How well-known programs show their files.

mod options;
mod range;

use self::options::{Options, options};
use super::super::Lines;
use super::syntax::{Command, Tail, Word};

/// A program's use of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Role {
    /// It shows these lines of its files, or of what it is passed if it has none.
    Shows { files: Vec<Word>, lines: Lines, style: Style },
    /// It shows the lines that match.
    Finds { files: Vec<Word> },
    /// It shows nothing that is in a file.
    Hides,
    /// It changes the folder; without an argument, to the home folder.
    Moves { to: Option<Word> },
    /// Unknown.
    Other,
}

/// How shown lines are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// As they are.
    Plain,
    /// With a number before each.
    Numbered,
    /// In some other way.
    Altered,
}

/// Programs that say nothing when all is well.
const MUTE: [&str; 17] = [
    "cd", "export", "set", "unset", "true", ":", "mkdir", "touch", "test", "[", "[[", "rm", "cp",
    "mv", "chmod", "sleep", "pushd",
];

/// Programs whose output does not come from files.
const TALKING: [&str; 30] = [
    "echo",
    "printf",
    "pwd",
    "ls",
    "stat",
    "wc",
    "file",
    "du",
    "df",
    "which",
    "type",
    "command",
    "whoami",
    "date",
    "uname",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "tree",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "cksum",
    "false",
    "exit",
    "kill",
    "ps",
    "id",
    "env",
];

/// Programs that only run another one.
const RUNNERS: [&str; 9] =
    ["sudo", "command", "nice", "nohup", "time", "exec", "builtin", "stdbuf", "timeout"];

/// Subcommands of git that can show files.
const GIT_SHOWS: [&str; 6] = ["show", "diff", "blame", "grep", "cat-file", "annotate"];

impl Role {
    /// Tells what a command does.
    pub(super) fn of(command: &Command) -> Self {
        let (name, arguments) = program(command);
        let role = match name {
            "" => Self::Hides,
            "cat" | "less" | "more" | "bat" | "batcat" | "nl" => pager(name, arguments),
            "head" => end(arguments, head_lines),
            "tail" => end(arguments, tail_lines),
            "sed" => sed(arguments),
            "awk" | "gawk" | "mawk" => awk(arguments),
            "grep" | "egrep" | "fgrep" | "rg" | "ag" => search(arguments),
            "tee" => Self::Shows { files: Vec::new(), lines: Lines::Whole, style: Style::Plain },
            "cd" | "pushd" => Self::Moves { to: options(arguments, "").files.first().cloned() },
            "git" => git(arguments),
            "find" if !arguments.iter().any(|word| word.text.starts_with("-exec")) => Self::Hides,
            _ if MUTE.contains(&name) || TALKING.contains(&name) => Self::Hides,
            _ => Self::Other,
        };
        // A command within its words may show anything.
        let has_command = arguments.iter().any(|word| word.has_command);
        if has_command && !matches!(role, Self::Moves { .. }) { Self::Other } else { role }
    }
}

/// Tells whether a command says nothing when all is well.
pub(super) fn is_mute(command: &Command) -> bool {
    command.is_output_away || MUTE.contains(&program(command).0)
}

/// Tells whether a command all but always succeeds.
pub(super) fn succeeds(command: &Command) -> bool {
    let name = program(command).0;
    matches!(name, "cd" | "echo" | "printf" | "pwd" | "export" | "set" | "true" | ":" | "date")
}

/// Tells whether a word is the name of a program that shows files.
pub(super) fn is_reader(word: &str) -> bool {
    let readers =
        ["cat", "less", "more", "bat", "nl", "head", "tail", "sed", "awk", "grep", "rg", "xargs"];
    readers.contains(&word)
}

/// Returns a program's name and its arguments, without what only runs or prepares it.
pub(super) fn program(command: &Command) -> (&str, &[Word]) {
    let mut words = command.words.as_slice();
    while let [first, rest @ ..] = words {
        let name = first.text.rsplit('/').next().unwrap_or_default();
        let assigns = first.text.split_once('=').is_some_and(|(name, _)| is_variable(name));
        if assigns || (name == "env" && !rest.is_empty()) {
            words = rest;
        } else if RUNNERS.contains(&name) && !rest.is_empty() {
            words = rest;
            // Its own options, and how long a program may take.
            let is_own = |word: &&Word| {
                word.text.starts_with('-') || word.text.starts_with(|c: char| c.is_ascii_digit())
            };
            let count = words.iter().take_while(is_own).count();
            words = words.get(count..).unwrap_or_default();
        } else {
            let is_known = first.literal().is_some() || name.starts_with('[');
            return (if is_known { name } else { "?" }, rest);
        }
    }
    ("", &[])
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn pager(name: &str, arguments: &[Word]) -> Role {
    let given = options(arguments, if name.starts_with("bat") { "rlH" } else { "" });
    let range = given.value("-r").or_else(|| given.value("--line-range"));
    let lines = range.map_or(Lines::Whole, |range| range::colon(range).unwrap_or(Lines::Some));
    let style = match name {
        "nl" => Style::Numbered,
        "cat" if given.has_any("nb") => Style::Numbered,
        "cat" if given.has_any("AvetTEs") => Style::Altered,
        "bat" | "batcat" if !given.has_any("p") => Style::Altered,
        _ => Style::Plain,
    };
    Role::Shows { files: given.files, lines, style }
}

/// `head` and `tail`.
fn end(arguments: &[Word], lines: fn(&Options) -> Lines) -> Role {
    let given = options(arguments, "nc");
    let lines = lines(&given);
    Role::Shows { files: given.files, lines, style: Style::Plain }
}

fn head_lines(given: &Options) -> Lines {
    if given.has_any("c") {
        return Lines::Some;
    }
    let count = given.value("-n").or_else(|| given.value("--lines")).or(given.number());
    match count.map(str::parse::<usize>) {
        None => Lines::Range { first: 1, last: 10 },
        Some(Ok(last)) => Lines::Range { first: 1, last },
        // All but the last few.
        Some(Err(_)) => Lines::Some,
    }
}

fn tail_lines(given: &Options) -> Lines {
    if given.has_any("c") {
        return Lines::Some;
    }
    let count = given.value("-n").or_else(|| given.value("--lines")).or(given.number());
    let Some(count) = count else { return Lines::Last(10) };
    match (count.strip_prefix('+'), count.trim_start_matches('-').parse()) {
        (Some(first), _) => first.parse().map_or(Lines::Some, |first: usize| Lines::Range {
            first: first.max(1),
            last: Lines::END,
        }),
        (None, Ok(count)) => Lines::Last(count),
        (None, Err(_)) => Lines::Some,
    }
}

fn sed(arguments: &[Word]) -> Role {
    let mut given = options(arguments, "ef");
    if given.has_any("i") || given.has("--in-place") {
        return Role::Hides;
    }
    let script = match given.value("-e") {
        Some(script) => script.to_owned(),
        None if given.files.is_empty() => return Role::Other,
        None => given.files.remove(0).text,
    };
    let is_quiet = given.has_any("n") || given.has("--quiet") || given.has("--silent");
    let lines = if is_quiet { range::sed_printing(&script) } else { range::sed_dropping(&script) };
    match lines {
        Some(lines) => Role::Shows { files: given.files, lines, style: Style::Plain },
        None => Role::Other,
    }
}

fn awk(arguments: &[Word]) -> Role {
    let mut given = options(arguments, "Fv");
    if given.files.is_empty() {
        return Role::Other;
    }
    match range::awk(&given.files.remove(0).text) {
        Some(lines) => Role::Shows { files: given.files, lines, style: Style::Plain },
        None => Role::Other,
    }
}

fn search(arguments: &[Word]) -> Role {
    let mut given = options(arguments, "efABCmgtTj");
    let silent = ["--count", "--quiet", "--files", "--files-with-matches", "--files-without-match"];
    if given.has_any("lLqc") || silent.iter().any(|option| given.has(option)) {
        return Role::Hides;
    }
    let has_pattern = given.value("-e").is_some() || given.value("-f").is_some();
    let shift = usize::from(!has_pattern && !given.files.is_empty());
    let pattern = given.files.drain(..shift).next();
    // A pattern that matches every line shows every line.
    match pattern.as_ref().and_then(Word::literal) {
        Some("" | "^" | "$" | ".*") if !given.has_any("vmo") && given.files.len() == 1 => {
            let style = if given.has_any("n") { Style::Numbered } else { Style::Plain };
            Role::Shows { files: given.files, lines: Lines::Whole, style }
        }
        _ => Role::Finds { files: given.files },
    }
}

fn git(arguments: &[Word]) -> Role {
    let given = options(arguments, "CcL");
    let chore = given.files.first().map_or("", |word| word.text.as_str());
    let has_patch = given.has_any("pL") || given.has("--patch");
    let shows = GIT_SHOWS.contains(&chore) || (chore == "log" && has_patch);
    if shows { Role::Other } else { Role::Hides }
}

/// Tells whether a pattern leaves nothing to go by.
pub(super) fn is_bare(word: &Word) -> bool {
    let name = word.text.rsplit('/').next().unwrap_or_default();
    word.tail == Tail::Unknown
        || (word.tail == Tail::Glob && name.chars().all(|c| "*?".contains(c)))
}
