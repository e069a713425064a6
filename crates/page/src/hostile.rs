//! Texts of enemies, for tests: what an agent might write to make a page do something.

/// Returns the texts by name.
pub(crate) fn texts() -> Vec<(String, String)> {
    let file = include_str!("../tests/hostile/texts.json");
    let texts: Vec<(String, String)> = serde_json::from_str(file).unwrap();
    assert!(texts.len() >= 45, "{}", texts.len());
    texts
}

/// The tags that text from agents may become.
const TAGS: [&str; 28] = [
    "p",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "pre",
    "code",
    "ul",
    "ol",
    "li",
    "div",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "em",
    "strong",
    "del",
    "a",
    "span",
    "br",
    "hr",
    "details",
    "summary",
    "sub",
];

/// Fails unless a fragment has only known tags with known attributes, each closed where it belongs.
pub(crate) fn assert_harmless(html: &str, name: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>'), "{name}: a bare `>` in {html}");
        let end = rest[at..].find('>').unwrap_or_else(|| panic!("{name}: an open tag in {html}"));
        let tag = &rest[at + 1..at + end];
        rest = &rest[at + end + 1..];
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{name}: {html}");
            continue;
        }
        let (word, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(TAGS.contains(&word), "{name}: <{tag}> in {html}");
        assert_attributes(attributes, name);
        if !["br", "hr"].contains(&word) {
            open.push(word);
        }
    }
    assert!(!rest.contains('>'), "{name}: a bare `>` at the end of {html}");
    assert!(open.is_empty(), "{name}: {open:?} stay open in {html}");
}

fn assert_attributes(attributes: &str, name: &str) {
    let mut rest = attributes;
    while let Some((key, after)) = rest.split_once("=\"") {
        let (value, after) =
            after.split_once('"').unwrap_or_else(|| panic!("{name}: {attributes}"));
        rest = after.trim_start();
        match key {
            "href" => {
                let lower = value.to_ascii_lowercase();
                let is_web = lower.starts_with("http://") || lower.starts_with("https://");
                assert!(is_web, "{name}: {value}");
                assert!(attributes.contains("rel=\"noopener noreferrer\""), "{name}: {attributes}");
            }
            "rel" | "class" | "scope" | "start" | "tabindex" => {
                let is_word = |c: char| c.is_ascii_alphanumeric() || c == ' ' || c == '-';
                assert!(value.chars().all(is_word), "{name}: {value}");
            }
            _ => panic!("{name}: the attribute {key}"),
        }
    }
    assert!(rest.is_empty(), "{name}: {attributes}");
}
