//! The last block of an answer, and other places that speak of approval.

use convoke_domain::dispatch::ambiguity::{Ambiguity, Doubt};
use convoke_domain::dispatch::confirmation::is_confirmation;
use convoke_domain::markdown::fence::{FenceLine, Fences};
use convoke_domain::markdown::{bare, lines};

use super::tree::Tree;

/// The block that an answer ends with.
#[derive(Debug)]
pub(super) struct Block<'a> {
    /// What the answer says before it, with the line that opens its fence.
    pub(super) before: &'a str,
    /// The block itself, without its fence.
    pub(super) text: &'a str,
    /// What it says as JSON.
    pub(super) value: Tree,
}

/// Finds the JSON that an answer ends with. Only blank space and the confirmation may follow it.
pub(super) fn last_block(answer: &str) -> Result<Block<'_>, Ambiguity> {
    let body = without_confirmation(answer);
    if let Some((before, text)) = last_fence(body) {
        let value = serde_json::from_str(text.trim());
        let value = value.map_err(|_| Ambiguity::new(unread(text, before), text))?;
        return Ok(Block { before, text, value });
    }
    if let Some((at, value)) = suffix(body) {
        return Ok(Block { before: &body[..at], text: &body[at..], value });
    }
    Err(no_block(body))
}

/// Says why an answer ends with no block that can be read.
fn no_block(body: &str) -> Ambiguity {
    let keys = verdict_keys(body);
    let Some(at) = keys.last() else {
        return Ambiguity::new(Doubt::NoObject, last_line(body));
    };
    let line = &body[body[..*at].rfind('\n').map_or(0, |line| line + 1)..];
    let after = body.rfind('}').map_or("", |end| &body[end + 1..]);
    let inline = line.find('{').filter(|brace| !line[..*brace].trim().is_empty());
    let is_object = |brace: &usize| serde_json::from_str::<Tree>(&line[*brace..]).is_ok();
    if keys.len() > 1 {
        Ambiguity::new(Doubt::Several, line)
    } else if !after.trim().is_empty() {
        Ambiguity::new(Doubt::NotLast, after)
    } else if inline.is_some_and(|brace| is_object(&brace)) {
        Ambiguity::new(Doubt::Inline, line)
    } else {
        Ambiguity::new(Doubt::Invalid, line)
    }
}

/// Says why a fenced block that is not JSON has no verdict.
fn unread(text: &str, before: &str) -> Doubt {
    match verdict_keys(text).len() + verdict_keys(before).len() {
        0 => Doubt::NoObject,
        1 => Doubt::Invalid,
        _ => Doubt::Several,
    }
}

fn last_line(text: &str) -> &str {
    text.trim_end().lines().next_back().unwrap_or_default()
}

/// Cuts blank space and confirmations off the end.
fn without_confirmation(answer: &str) -> &str {
    let mut body = answer.trim_end();
    loop {
        let begin = body.rfind('\n').map_or(0, |at| at + 1);
        if begin == 0 || !is_confirmation(&body[begin..]) {
            return body;
        }
        body = body[..begin].trim_end();
    }
}

/// Returns what is before and inside the fence that a text ends with. The opening line counts as
/// before: a verdict can hide behind the name of the language.
fn last_fence(body: &str) -> Option<(&str, &str)> {
    let mut fences = Fences::default();
    let (mut offset, mut opened, mut last) = (0, 0, None);
    for line in lines(body) {
        let end = offset + line.len();
        last = match fences.feed(bare(line)) {
            FenceLine::Opens => {
                opened = end;
                None
            }
            FenceLine::Closes => Some(offset),
            FenceLine::Outside | FenceLine::Body => None,
        };
        offset = end;
    }
    last.map(|close| body[..close].split_at(opened))
}

/// Finds where a JSON value begins that runs to the end, on a line of its own.
fn suffix(body: &str) -> Option<(usize, Tree)> {
    if !body.ends_with(['}', ']']) {
        return None;
    }
    let mut end = body.len();
    while end > 0 {
        let begin = body[..end].rfind('\n').map_or(0, |at| at + 1);
        if body[begin..].trim_start().starts_with(['{', '['])
            && let Ok(value) = serde_json::from_str(&body[begin..])
        {
            return Some((begin, value));
        }
        end = begin.saturating_sub(1);
    }
    None
}

/// Finds where a text has `approved` as a key: in quotation marks, in back-ticks, or behind a brace
/// or a comma, and with a colon after it. Escapes do not hide it.
pub(super) fn verdict_keys(text: &str) -> Vec<usize> {
    const WORD: &str = "approved";
    let lower = unescaped(text).to_ascii_lowercase();
    let quotes = |c: char| "\"'`\u{201c}\u{201d}\u{2018}\u{2019}\\*".contains(c);
    let is_key = |at: &usize| {
        let before = lower[..*at].trim_end_matches(|c: char| quotes(c) || c.is_whitespace());
        let is_quoted = lower[..*at].ends_with(quotes);
        let after = lower[at + WORD.len()..].trim_start_matches(quotes).trim_start();
        after.starts_with([':', '=']) && (is_quoted || before.ends_with(['{', ',']))
    };
    let found = lower.match_indices(WORD).map(|(at, _)| at).filter(is_key);
    // Unescaping moves places only in texts that hide their key; there the exact place is no loss.
    found.map(|at| text.floor_char_boundary(at.min(text.len()))).collect()
}

/// Writes out `\u0061`, so that no key is hidden by its spelling.
fn unescaped(text: &str) -> String {
    let mut parts = text.split("\\u");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let letter = part.get(..4).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(letter) = letter.filter(u8::is_ascii) {
            plain.push(char::from(letter));
            plain.push_str(&part[4..]);
        } else {
            plain.push_str("\\u");
            plain.push_str(part);
        }
    }
    plain
}
