//! Markdown from agents as HTML that can do nothing but be read.
//!
//! The renderer writes every tag itself, from a short list, and knows four attributes. HTML in the
//! text is shown as text, a link leads to http or https or is text, and an image is its description:
//! a page with such text runs no script and asks no host for anything.

use convoke_domain::design::quote::is_invisible;
use maud::{Markup, PreEscaped};
use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd,
};

/// How deep lists and quotations nest. Deeper ones are shown without their own mark, because a
/// browser's depth is limited, too.
const DEEPEST: usize = 12;

/// The least level of a heading: a page has its own headings above.
const LEAST_HEADING: usize = 3;

/// Renders a text.
pub fn markdown(text: &str) -> Markup {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let text = visible(text);
    let mut page = Renderer::default();
    for event in Parser::new_ext(&text, options) {
        page.take(event);
    }
    page.finish()
}

/// Renders a text as it is, line breaks included.
pub fn plain(text: &str) -> Markup {
    let mut html = String::new();
    escape(&visible(text), &mut html);
    PreEscaped(html)
}

/// Drops what a reader cannot see: control characters, direction marks and other invisible ones.
pub fn visible(text: &str) -> String {
    let unified = text.replace("\r\n", "\n").replace('\r', "\n");
    let is_seen = |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || is_invisible(*c));
    unified.chars().filter(is_seen).collect()
}

/// Writes a text in which nothing is a tag, an entity or the end of an attribute.
pub fn escape(text: &str, html: &mut String) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(c),
        }
    }
}

/// Returns an address that a link may lead to.
pub fn web_address(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    let is_plain = !rest.is_empty()
        && !url.chars().any(|c| c.is_whitespace() || c.is_control() || is_invisible(c))
        && !url.contains(['<', '>', '"', '\'', '`', '\\']);
    (is_web && is_plain).then_some(url)
}

/// Returns the host of an address, so that a reader sees where a link leads.
pub fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    // What is before the last `@` is a user's name, and can look like a host.
    authority.rsplit('@').next().unwrap_or(authority)
}

/// An open tag, and what closes it.
struct Open {
    /// The closing tag; empty for one that was left out.
    close: &'static str,
    /// The rest of an open link: its host.
    host: Option<String>,
    /// Whether it counts towards the depth.
    nests: bool,
}

/// Writes the page, tag by tag.
#[derive(Default)]
struct Renderer {
    html: String,
    open: Vec<Open>,
    depth: usize,
    /// How many images are open. Their description is text.
    images: usize,
    alignments: Vec<Alignment>,
    cell: usize,
    in_head: bool,
}

impl Renderer {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.raw("<code>");
                self.text(&code);
                self.raw("</code>");
            }
            Event::FootnoteReference(name) => self.text(&format!("[^{name}]")),
            Event::SoftBreak => self.raw("\n"),
            Event::HardBreak => self.raw("<br>"),
            Event::Rule => self.raw("<hr>"),
            Event::TaskListMarker(is_done) => self.raw(if is_done { "☑ " } else { "☐ " }),
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                let (open, close) = heading(*level);
                self.open(open, close);
            }
            Tag::BlockQuote(_) => self.nest("<blockquote>", "</blockquote>\n"),
            Tag::CodeBlock(kind) => self.code_block(kind),
            Tag::List(None) => self.nest("<ul>\n", "</ul>\n"),
            Tag::List(Some(first)) => {
                // A number that a browser cannot count with would be shown as another.
                let is_plain = (0..=999_999).contains(first);
                if is_plain && *first != 1 && self.depth < DEEPEST {
                    self.raw(&format!("<ol start=\"{first}\">\n"));
                    self.depth += 1;
                    self.open.push(Open { close: "</ol>\n", host: None, nests: true });
                } else {
                    self.nest("<ol>\n", "</ol>\n");
                }
            }
            // Items outside of a list would not be valid.
            Tag::Item if self.is_flat() => self.open("<div>", "</div>\n"),
            Tag::Item => self.open("<li>", "</li>\n"),
            Tag::Table(alignments) => {
                self.alignments.clone_from(alignments);
                self.open("<div class=\"table\" tabindex=\"0\" role=\"group\" aria-label=\"Table\"><table>\n", "</tbody></table></div>\n");
            }
            Tag::TableHead => {
                (self.cell, self.in_head) = (0, true);
                self.open("<thead><tr>", "</tr></thead>\n<tbody>\n");
            }
            Tag::TableRow => {
                self.cell = 0;
                self.open("<tr>", "</tr>\n");
            }
            Tag::TableCell => self.table_cell(),
            Tag::Emphasis => self.open("<em>", "</em>"),
            Tag::Strong => self.open("<strong>", "</strong>"),
            Tag::Strikethrough => self.open("<del>", "</del>"),
            Tag::Link { dest_url, .. } => self.link(dest_url),
            Tag::Image { dest_url, .. } => self.image(dest_url),
            Tag::Paragraph
            | Tag::HtmlBlock
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => self.open("<p>", "</p>\n"),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        if tag == TagEnd::TableHead {
            self.in_head = false;
        }
        if tag == TagEnd::Image {
            self.images = self.images.saturating_sub(1);
        }
        let Some(open) = self.open.pop() else { return };
        if open.nests {
            self.depth -= 1;
        }
        self.raw(open.close);
        if let Some(host) = open.host {
            self.raw(" <span class=\"host\">(");
            self.text(&host);
            self.raw(")</span>");
        }
    }

    fn code_block(&mut self, kind: &CodeBlockKind<'_>) {
        if let CodeBlockKind::Fenced(language) = kind
            && !language.trim().is_empty()
        {
            self.raw("<p class=\"language\">");
            self.text(language.trim());
            self.raw("</p>");
        }
        self.open("<pre tabindex=\"0\"><code>", "</code></pre>\n");
    }

    fn table_cell(&mut self) {
        let alignment = self.alignments.get(self.cell).copied().unwrap_or(Alignment::None);
        self.cell += 1;
        let (open, close) = match (self.in_head, alignment == Alignment::Right) {
            (true, false) => ("<th scope=\"col\">", "</th>"),
            (true, true) => ("<th scope=\"col\" class=\"number\">", "</th>"),
            (false, false) => ("<td>", "</td>"),
            (false, true) => ("<td class=\"number\">", "</td>"),
        };
        self.open(open, close);
    }

    /// A link says where it leads. Without an address that is safe, its text remains.
    fn link(&mut self, url: &CowStr<'_>) {
        let Some(url) = web_address(url).filter(|_| self.images == 0) else {
            self.open("", "");
            return;
        };
        self.raw("<a href=\"");
        self.text(url);
        self.raw("\" rel=\"noopener noreferrer\">");
        let host = Some(host(url).to_owned());
        self.open.push(Open { close: "</a>", host, nests: false });
    }

    /// An image is its description, and where it would come from.
    fn image(&mut self, url: &CowStr<'_>) {
        self.images += 1;
        self.raw("<span class=\"image\">[image not loaded: ");
        let host = web_address(url).map(|url| host(url).to_owned());
        self.open.push(Open { close: "]</span>", host, nests: false });
    }

    fn is_flat(&self) -> bool {
        self.open.last().is_none_or(|open| open.close.is_empty())
    }

    /// Opens a list or a quotation, unless it is too deep.
    fn nest(&mut self, open: &'static str, close: &'static str) {
        if self.depth == DEEPEST {
            self.open("", "");
            return;
        }
        self.depth += 1;
        self.raw(open);
        self.open.push(Open { close, host: None, nests: true });
    }

    fn open(&mut self, open: &'static str, close: &'static str) {
        self.raw(open);
        self.open.push(Open { close, host: None, nests: false });
    }

    fn raw(&mut self, html: &str) {
        self.html.push_str(html);
    }

    fn text(&mut self, text: &str) {
        escape(text, &mut self.html);
    }

    fn finish(mut self) -> Markup {
        while let Some(open) = self.open.pop() {
            self.raw(open.close);
        }
        PreEscaped(self.html)
    }
}

const fn heading(level: HeadingLevel) -> (&'static str, &'static str) {
    match level as usize + LEAST_HEADING - 1 {
        0..=3 => ("<h3>", "</h3>\n"),
        4 => ("<h4>", "</h4>\n"),
        5 => ("<h5>", "</h5>\n"),
        _ => ("<h6>", "</h6>\n"),
    }
}

#[cfg(test)]
mod tests;
