//! Licences as packages name them: words that `AND`, `OR` and parentheses join.

/// Tells whether a licence is allowed. One that cannot be read is not.
pub(super) fn is_allowed(licence: &str, allows: &impl Fn(&str) -> bool) -> bool {
    // Old packages write `MIT/Apache-2.0` for a choice.
    let spaced = licence.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<_> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    any_of(&mut rest, allows) == Some(true) && rest.is_empty()
}

fn any_of(rest: &mut &[&str], allows: &impl Fn(&str) -> bool) -> Option<bool> {
    let mut is_allowed = all_of(rest, allows)?;
    while take(rest, "OR") {
        is_allowed |= all_of(rest, allows)?;
    }
    Some(is_allowed)
}

fn all_of(rest: &mut &[&str], allows: &impl Fn(&str) -> bool) -> Option<bool> {
    let mut is_allowed = one(rest, allows)?;
    while take(rest, "AND") {
        is_allowed &= one(rest, allows)?;
    }
    Some(is_allowed)
}

fn one(rest: &mut &[&str], allows: &impl Fn(&str) -> bool) -> Option<bool> {
    if take(rest, "(") {
        let is_allowed = any_of(rest, allows)?;
        return take(rest, ")").then_some(is_allowed);
    }
    let (name, after) = rest.split_first()?;
    if ["AND", "OR", "WITH", ")"].contains(name) {
        return None;
    }
    *rest = after;
    if !take(rest, "WITH") {
        return Some(allows(name));
    }
    let (exception, after) = rest.split_first()?;
    *rest = after;
    Some(allows(&format!("{name} WITH {exception}")))
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    match rest.split_first() {
        Some((first, after)) if *first == word => {
            *rest = after;
            true
        }
        Some(_) | None => false,
    }
}

/// Returns the licence that a text is, as far as it is one of those that packages bring as a file.
pub(super) fn recognized(text: &str) -> Option<&'static str> {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let grant = "Permission is hereby granted, free of charge, to any person obtaining a copy of this \
                 software and associated documentation files (the \"Software\"), to deal in the \
                 Software without restriction";
    let end = "THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND";
    let starts = ["The MIT License", "MIT License", "Copyright"];
    let is_mit = starts.iter().any(|start| words.starts_with(start))
        && words.contains(grant)
        && words.contains(end);
    is_mit.then_some("MIT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_a_choice_or_all_of_several() {
        let allows = |word: &str| ["MIT", "Apache-2.0", "Zlib"].contains(&word);
        for (licence, expected) in [
            ("MIT", true),
            ("MIT OR Apache-2.0", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0-only OR MIT", true),
            ("GPL-3.0-only", false),
            ("MIT AND GPL-3.0-only", false),
            ("MIT AND (GPL-3.0-only OR Zlib)", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", false),
            ("Apache-2.0 WITH LLVM-exception", false),
            ("Apache-2.0 WITH LLVM-exception OR MIT", true),
            ("MIT OR", false),
            ("(MIT", false),
            ("MIT)", false),
            ("MIT Apache-2.0", false),
            ("", false),
        ] {
            assert_eq!(is_allowed(licence, &allows), expected, "{licence}");
        }
    }
}
