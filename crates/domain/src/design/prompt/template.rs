//! Texts with gaps, filled in one pass.

/// Fills every `{NAME}` of a text. Values are not searched for gaps, so no value can open one. A
/// line that is only a gap with an empty value is left out with the blank line after it.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let value =
        |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    let mut lines = template.trim_end().split('\n').peekable();
    let mut filled = String::new();
    while let Some(line) = lines.next() {
        let whole = line.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).and_then(value);
        if whole.is_some_and(str::is_empty) {
            lines.next_if(|next| next.is_empty());
            continue;
        }
        let mut rest = line;
        while let Some((before, name, after)) = gap(rest) {
            filled.push_str(before);
            match value(name) {
                Some(text) => filled.push_str(text.trim_end_matches('\n')),
                None => filled.push_str(&rest[before.len()..rest.len() - after.len()]),
            }
            rest = after;
        }
        filled.push_str(rest);
        filled.push('\n');
    }
    filled.trim_end().to_owned() + "\n"
}

/// Finds the first gap: the text before it, its name, and the text after it.
fn gap(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_filled_once_and_an_empty_line_of_gap_is_left_out() {
        let values = [("A", "x {B}"), ("B", "y"), ("NONE", "")];
        for (template, expected) in [
            ("a {A} b {B}\n", "a x {B} b y\n"),
            ("a\n\n{NONE}\n\nb\n", "a\n\nb\n"),
            ("a\n\n{NONE}\n", "a\n"),
            ("a {NONE}.", "a .\n"),
            ("{A}\n{OTHER}", "x {B}\n{OTHER}\n"),
        ] {
            assert_eq!(fill(template, &values), expected, "{template}");
        }
    }
}
