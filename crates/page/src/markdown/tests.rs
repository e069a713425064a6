//! Markdown of friends and of enemies.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::hostile::{assert_harmless, texts};

fn html(text: &str) -> String {
    markdown(text).into_string()
}

#[test]
fn what_agents_write_is_readable() {
    assert_snapshot!(html(
        "# Plan\n\nA *small* **change** to `a.rs`, see [the docs](https://example.org/x?y=1&z=2).\n\n\
         1. one\n2. two\n   - deeper\n   - [x] done\n\n\
         | file | lines |\n|---|---:|\n| a.rs | 12 |\n\n> quoted\n\n```rust\nif a < b {}\n```\n\n~~gone~~\n"
    ), @r#"
    <h3>Plan</h3>
    <p>A <em>small</em> <strong>change</strong> to <code>a.rs</code>, see <a href="https://example.org/x?y=1&amp;z=2" rel="noopener noreferrer">the docs</a> <span class="host">(example.org)</span>.</p>
    <ol>
    <li>one</li>
    <li>two<ul>
    <li>deeper</li>
    <li>☑ done</li>
    </ul>
    </li>
    </ol>
    <div class="table" tabindex="0" role="group" aria-label="Table"><table>
    <thead><tr><th scope="col">file</th><th scope="col" class="number">lines</th></tr></thead>
    <tbody>
    <tr><td>a.rs</td><td class="number">12</td></tr>
    </tbody></table></div>
    <blockquote><p>quoted</p>
    </blockquote>
    <p class="language">rust</p><pre tabindex="0"><code>if a &lt; b {}
    </code></pre>
    <p><del>gone</del></p>
    "#);
}

#[test]
fn only_web_addresses_are_links() {
    for url in [
        "javascript:alert(1)",
        "JaVaScRiPt://%0aalert(1)",
        "java\nscript:alert(1)",
        " javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example/x",
        "/relative",
        "https://",
        "https://a b",
        "https://a\"onmouseover=alert(1)",
        "ftp://example.org",
    ] {
        assert_eq!(web_address(url), None, "{url}");
    }
    for url in ["https://example.org", "HTTP://example.org/a?b#c", "https://user@example.org"] {
        assert_eq!(web_address(url), Some(url));
    }
    assert_eq!(host("https://github.com@evil.example/x"), "evil.example");
    let shown = html("[safe](https://github.com@evil.example/x)");
    assert!(shown.contains("(evil.example)"), "{shown}");
}

#[test]
fn an_image_is_never_loaded() {
    let shown = html("![a *pixel*](https://evil.example/p.png) ![x](x.png)");
    assert!(!shown.contains("<img") && !shown.contains("src="), "{shown}");
    assert!(shown.contains("image not loaded: a <em>pixel</em>]"), "{shown}");
}

#[test]
fn hostile_texts_are_harmless() {
    for (name, text) in texts() {
        assert_harmless(&html(&text), &name);
        let shown = plain(&text).into_string();
        assert!(!shown.contains(['<', '>', '"']), "{name}");
    }
}

#[test]
fn deep_nesting_stays_within_what_a_browser_shows() {
    for text in [">".repeat(5000), "- ".repeat(5000), "1. ".repeat(5000)] {
        let shown = html(&(text + "x"));
        assert_harmless(&shown, "deep");
        let depth = shown.matches("<blockquote>").count() + shown.matches("<li>").count();
        assert!(depth <= 2 * DEEPEST + 2, "{depth}");
    }
}

proptest! {
    #[test]
    fn any_text_is_harmless(text in any::<String>()) {
        assert_harmless(&html(&text), "any text");
    }

    #[test]
    fn any_mixture_of_marks_is_harmless(pieces in prop::collection::vec(prop::sample::select(vec![
        "[", "]", "(", ")", "<", ">", "!", "`", "```", "\n", "\n\n", "    ", "- ", "> ", "1. ", "# ",
        "|", "|---|", "---", "*", "**", "~~", "\\", "&lt;", "&#106;", "javascript:", "https://e.example",
        "<script>", "</script>", "<img src=x onerror=alert(1)>", "<!--", "-->", "\"", "'", "a", " ",
        "[^1]", "[^1]: ", "[x]: javascript:alert(1)", "\u{202e}", "\u{0}", "<![CDATA[", "]]>", "<?", "@me",
    ]), 0..40)) {
        assert_harmless(&html(&pieces.concat()), "marks");
    }
}
