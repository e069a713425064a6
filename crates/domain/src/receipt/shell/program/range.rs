//! Which lines a small script of `sed`, `awk` or `bat` selects.

use super::super::super::Lines;

/// `10:20`, `10:`, `:20` or `10`.
pub(super) fn colon(range: &str) -> Option<Lines> {
    let (first, last) = range.split_once(':').unwrap_or((range, range));
    let first = if first.is_empty() { 1 } else { first.parse().ok()? };
    let last = if last.is_empty() { Lines::END } else { last.parse().ok()? };
    Some(Lines::Range { first, last })
}

/// Reads a script for `sed -n`; `None` if it may do more than select lines.
pub(super) fn sed_printing(script: &str) -> Option<Lines> {
    let parts: Vec<&str> = parts(script).filter(|part| !part.ends_with('q')).collect();
    match parts.as_slice() {
        [] => None,
        [part] => printed(part),
        // Several ranges: the shown lines are known, but are not one range.
        several => several.iter().all(|part| printed(part).is_some()).then_some(Lines::Some),
    }
}

/// Reads a script for `sed` that shows what it does not drop; `None` as above.
pub(super) fn sed_dropping(script: &str) -> Option<Lines> {
    let parts: Vec<&str> = parts(script).collect();
    match parts.as_slice() {
        [] => Some(Lines::Whole),
        [part] => kept(part),
        _ => None,
    }
}

fn parts(script: &str) -> impl Iterator<Item = &str> {
    let parts = script.split([';', '\n']).map(|part| part.trim().trim_end_matches('}').trim());
    parts.filter(|part| !part.is_empty())
}

/// `5p`, `5,10p`, `5,$p`, `/pattern/p`; with `{p;q}` after the last line.
fn printed(part: &str) -> Option<Lines> {
    let address = part.strip_suffix('p').map(|address| address.trim_end_matches([' ', '{']))?;
    if address.is_empty() {
        return Some(Lines::Whole);
    }
    // A pattern may hold anything, but only selects.
    if address.starts_with('/') && address.ends_with('/') {
        return Some(Lines::Some);
    }
    range(address)
}

/// `10q`, `5,10!d`, `5,10d`.
fn kept(part: &str) -> Option<Lines> {
    if let Some(last) = part.strip_suffix('q') {
        return Some(Lines::Range { first: 1, last: last.trim().parse().ok()? });
    }
    let address = part.strip_suffix('d')?;
    match address.trim_end().strip_suffix('!') {
        Some(address) => range(address),
        None => Some(Lines::Some),
    }
}

fn range(address: &str) -> Option<Lines> {
    let (first, last) = address.split_once(',').unwrap_or((address, address));
    let (first, last) = (first.trim(), last.trim());
    if first == "$" {
        return Some(Lines::Last(1));
    }
    let Ok(first) = first.parse::<usize>() else { return selects(first) };
    let last = match (last, last.strip_prefix('+')) {
        ("$", _) => Lines::END,
        (_, Some(more)) => first.saturating_add(more.parse().ok()?),
        (_, None) => match last.parse() {
            Ok(last) => last,
            Err(_) => return selects(last),
        },
    };
    Some(Lines::Range { first: first.max(1), last })
}

/// A pattern as one end of a range.
fn selects(end: &str) -> Option<Lines> {
    (end.len() > 1 && end.starts_with('/')).then_some(Lines::Some)
}

/// Reads a script of `awk` that selects by line numbers, such as `NR>=5 && NR<=9`.
pub(super) fn awk(script: &str) -> Option<Lines> {
    let script: String = script.chars().filter(|c| !c.is_whitespace()).collect();
    let condition = ["{print}", "{print$0}"].iter().find_map(|action| script.strip_suffix(action));
    let condition = condition.unwrap_or(&script);
    if condition.is_empty() || condition == "1" {
        return Some(Lines::Whole);
    }
    let (mut first, mut last) = (1, Lines::END);
    for part in condition.trim_matches(['(', ')']).split("&&") {
        let rest = part.trim_matches(['(', ')']).strip_prefix("NR")?;
        let number = rest.trim_start_matches(['<', '>', '=']).parse::<usize>().ok()?;
        match rest.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "==" => (first, last) = (number, number),
            ">=" => first = number,
            ">" => first = number.saturating_add(1),
            "<=" => last = number,
            "<" => last = number.saturating_sub(1),
            _ => return None,
        }
    }
    Some(Lines::Range { first, last })
}
