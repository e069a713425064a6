//! Convoke's own voice: the table of all lines that a wake-up holds beside the texts of others.
//!
//! A stranger's line that reads like one of these is marked; see [`super::frame`]. Words that a
//! renderer adds to a wake-up belong here, too: a test renders wake-ups of every kind and fails for a
//! line that is not in the table. Lists of tasks, numbered steps, `**File:**` and `Current task:` are
//! left out of it: skills have such lines of their own, and the headings around Convoke's are in it.

use super::frame::is_hidden;
use crate::text::lookalike::{is_accent, look};

/// The headings of a wake-up, in lower case.
pub(super) const HEADINGS: [&str; 14] = [
    "orchestrator wake-up context",
    "current skill",
    "your current skill",
    "active plan",
    "current task",
    "current tasks",
    "your current task",
    "recent activity",
    "recent messages",
    "new message",
    "your next action",
    "next action",
    "rules of the user",
    "end of the rules of the user",
];

/// How other lines of Convoke begin, in lower case and without marks before them.
const BEGINNINGS: [&str; 32] = [
    // Hooks and rules.
    "[convoke",
    "[end of convoke",
    "[rule ",
    "they hold until the user removes them",
    "clients hand the ",
    "convoke ignores unusable settings",
    "convoke pin list`: ",
    "shortened to fit; the whole text",
    // The orchestrator's name and place.
    "you are @",
    "you are using `",
    "current position:",
    "next action:",
    "high priority outside this plan:",
    "no task is assigned to you",
    "no task is on branch `",
    // The next action.
    "recorded: ",
    "with it was recorded: ",
    "there is no new message.",
    "no task is open.",
    "no verdict is recorded for it",
    // What is missing of a plan or a skill.
    "shortened: without ",
    "only the number of this section is the task's",
    "the plan has no section of task ",
    "plan file not found: ",
    "plan file cannot be read: ",
    "skill not found: ",
    "also follow: ",
    "no skill is chosen",
    "choose one: `convoke skill use",
    // The smallest wake-up.
    "this wake-up of @",
    "left out)",
    "left out: `convoke",
];

/// How lines of Convoke go on behind a number, in lower case.
const COUNTED: [&str; 8] = [
    "more unread to you",
    "unread to you on ",
    "pinned rule",
    "later task",
    "earlier task",
    "more task",
    "more files",
    "left out",
];

/// Words that show Convoke's voice anywhere in a line, in lower case.
const WITHIN: [&str; 6] = [
    ". recorded: ",
    "no verdict is recorded for it",
    "all of its parts are closed (",
    "characters more: `convoke inbox",
    ": `convoke task tree`",
    "<-- current",
];

/// How Convoke's remarks begin, which follow a `>`: about a skill, about settings, and what a hook says
/// about folders and copies.
const REMARKS: [&str; 12] = [
    "convoke ignores unusable settings",
    "truncated: ",
    "omitted sections: ",
    "skill version changed: ",
    "skill not found: ",
    "shortened to fit; ",
    "this project was in ",
    "this repository was in ",
    "this folder was another project",
    "another repository is in this folder",
    "another repository was in this folder",
    "everything of this folder was merged",
];

/// Words of such remarks that begin with a name.
const WITHIN_REMARKS: [&str; 3] = [
    ", which is gone, has ",
    " is a folder of the same repository with ",
    "the store's server does not answer",
];

/// Tells whether a line looks like one of Convoke's to a reader who does not care for case, blanks,
/// hidden characters, accents, another alphabet and how a heading is marked.
pub(super) fn is_imitation(line: &str) -> bool {
    let words = seen_words(line);
    let heading = words.trim_matches(|c: char| !c.is_alphanumeric());
    HEADINGS.contains(&heading)
        || begins(&words, &BEGINNINGS)
        || WITHIN.iter().any(|part| words.contains(part))
        || is_counted(&words)
        || is_said(&words)
        || words.starts_with('>') && (begins(&words, &["convoke "]) || reads_like_remark(&words))
}

/// Tells whether a line would read like a remark of Convoke's behind a `>`.
pub(crate) fn is_remark(line: &str) -> bool {
    reads_like_remark(&seen_words(line))
}

fn reads_like_remark(words: &str) -> bool {
    begins(words, &REMARKS) || WITHIN_REMARKS.iter().any(|part| words.contains(part))
}

/// Returns the start of a line as a reader sees it, in lower case.
fn seen_words(line: &str) -> String {
    // A frame's line is short, and a skill's line may have megabytes.
    let start = &line[..line.floor_char_boundary(400)];
    let is_seen = |c: &char| *c == '\t' || !is_hidden(*c) && !is_accent(*c);
    let seen: String = start.chars().filter(is_seen).map(look).collect();
    let words: Vec<_> = seen.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

fn begins(words: &str, with: &[&str]) -> bool {
    let rest = words.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '[');
    with.iter().any(|start| rest.starts_with(start))
}

/// Tells whether words count what is left out: `(3 more unread to you: …)`.
fn is_counted(words: &str) -> bool {
    let rest = words.trim_start_matches(|c: char| !c.is_alphanumeric());
    let number = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, rest) = rest.split_at(number);
    let rest = rest.strip_prefix(' ').filter(|_| !number.is_empty());
    rest.is_some_and(|rest| COUNTED.iter().any(|start| rest.starts_with(start)))
}

/// Tells whether words are a message or a deed as Convoke shows them: `@ana: "…"`, `@ana wrote: "…"`,
/// `- 10:45 - You …`.
fn is_said(words: &str) -> bool {
    let rest = words.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '@');
    let (time, after) = rest.split_at(rest.floor_char_boundary(5));
    let is_time = time.len() == 5
        && time.bytes().enumerate().all(|(at, byte)| match at {
            2 => byte == b':',
            _ => byte.is_ascii_digit(),
        });
    if let Some(deed) = after.strip_prefix(" - ").filter(|_| is_time) {
        return deed.starts_with('@') || deed.starts_with("you ");
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._/-@".contains(c);
    let Some(name) = rest.strip_prefix('@') else { return false };
    let end = name.trim_start_matches(is_name);
    let end = end.strip_prefix(" to @").map_or(end, |other| other.trim_start_matches(is_name));
    end.len() < name.len()
        && (end == ":" || end.starts_with(": \"") || end.starts_with(" wrote: \""))
}
