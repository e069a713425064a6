//! The last block of an answer, and other places that mention approval.

use convoke_domain::design::aside::without_asides;
use convoke_domain::dispatch::ambiguity::{Ambiguity, Doubt};
use convoke_domain::dispatch::confirmation::is_confirmation;
use convoke_domain::markdown::fence::{self, FenceLine, Fences};
use convoke_domain::markdown::{bare, lines};

use super::tree::Tree;

/// The block that an answer ends with.
#[derive(Debug)]
pub(super) struct Block<'a> {
    /// The answer's text before the block, with the line that opens its fence.
    pub(super) before: &'a str,
    /// The block itself, without its fence.
    pub(super) text: &'a str,
    /// The block's parsed JSON.
    pub(super) value: Tree,
}

/// Finds the JSON that an answer ends with. Only blank space, a rule and the confirmation may follow
/// it.
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

/// Returns why an answer does not end with a readable block.
fn no_block(body: &str) -> Ambiguity {
    let keys = verdict_keys(body);
    let Some(at) = keys.last().filter(|_| body.contains('{')) else {
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

/// Returns why a fenced block that is not JSON has no verdict.
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

/// Cuts blank space, rules and confirmations off the end.
fn without_confirmation(answer: &str) -> &str {
    let mut body = answer.trim_end();
    loop {
        let begin = body.rfind('\n').map_or(0, |at| at + 1);
        let line = &body[begin..];
        if begin == 0 || !(is_confirmation(line) || is_rule(line)) {
            return body;
        }
        body = body[..begin].trim_end();
    }
}

/// Tells whether a line is a rule across the page, which says nothing.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && ["-", "*", "_"].iter().any(|mark| line.replace(mark, "").is_empty())
}

/// Returns the text before and inside the fence that a text ends with. The opening line counts as
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

/// Finds where a text has `approved` as a key in any notation: JSON, YAML, a table, a tag, a line of
/// prose. Quotation marks, emphasis and escapes do not hide it.
pub(super) fn verdict_keys(text: &str) -> Vec<usize> {
    const WORD: &str = "approved";
    const ENTITIES: [&str; 3] = ["&quot;", "&#34;", "&apos;"];
    let lower = unescaped(text).to_ascii_lowercase();
    let marks =
        |c: char| c.is_whitespace() || "\"'`\u{201c}\u{201d}\u{2018}\u{2019}\\*_".contains(c);
    let is_key = |at: &usize| {
        let mut after = lower[at + WORD.len()..].trim_start_matches(marks);
        while let Some(rest) = ENTITIES.iter().find_map(|entity| after.strip_prefix(entity)) {
            after = rest.trim_start_matches(marks);
        }
        after.starts_with([':', '=', '|', '>', '\u{ff1a}'])
    };
    let found = lower.match_indices(WORD).map(|(at, _)| at).filter(is_key);
    // Unescaping moves places only in texts that hide their key; there the exact place is no loss.
    found.map(|at| text.floor_char_boundary(at.min(text.len()))).collect()
}

/// Tells whether a block is set apart from what the agent says: indented as code, or inside thinking
/// or a comment that the agent never ended.
pub(super) fn is_set_apart(block: &Block<'_>) -> bool {
    let indent = indent(block.text);
    let is_fenced = block.before.lines().next_back().is_some_and(fence::opens);
    let (_, asides) = without_asides(block.before);
    let is_open = asides.unended.is_some()
        || block.before.matches("<!--").count() > block.before.matches("-->").count();
    (indent >= 4 && !is_fenced) || is_open
}

/// Returns the columns before a text's first word, as Markdown counts them: a tab goes to the next
/// multiple of four.
fn indent(text: &str) -> usize {
    let blank = text.chars().take_while(|c| matches!(c, ' ' | '\t'));
    blank.fold(0, |columns, c| if c == '\t' { columns / 4 * 4 + 4 } else { columns + 1 })
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
