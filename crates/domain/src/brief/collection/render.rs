//! Renders packed documents.

use std::fmt::Write;

use super::super::block::truncated_line;
use super::{CollectionEntry, cut_at, omission};
use crate::cut::closing_fence;

/// The form in which the block separates documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BlockForm {
    /// Lines such as `> source: docs/a.md` between the documents.
    #[default]
    Markdown,
    /// One element for each document, well-formed for any text.
    Xml,
}

/// The most omitted documents that the block names; reports name all of them.
const MOST_NAMED: usize = 20;

pub(super) fn render(form: BlockForm, entries: &[CollectionEntry<'_>]) -> String {
    let mut page = String::new();
    page.push_str(match form {
        BlockForm::Markdown => "## Documents\n",
        BlockForm::Xml => "<documents>\n",
    });
    let included = entries.iter().filter(|entry| entry.included().is_some());
    for (index, entry) in included.enumerate() {
        match form {
            BlockForm::Markdown => markdown(&mut page, entry),
            BlockForm::Xml => xml(&mut page, index + 1, entry),
        }
    }
    omitted(&mut page, form, entries);
    if form == BlockForm::Xml {
        page.push_str("</documents>\n");
    }
    page
}

fn markdown(page: &mut String, entry: &CollectionEntry<'_>) {
    let path = entry.name;
    let body = entry.included().map_or("", |text| text.as_str());
    let body = body.trim_end_matches(['\r', '\n']);
    write!(page, "\n> source: {path}\n{body}\n").ok();
    // An open fence would swallow every line that follows.
    if let Some(fence) = closing_fence(body) {
        writeln!(page, "{fence}").ok();
    }
    if let Some(at) = cut_at(entry) {
        write!(page, "\n{}\n", truncated_line(path.as_str(), at)).ok();
    }
}

fn xml(page: &mut String, index: usize, entry: &CollectionEntry<'_>) {
    let path = attribute(entry.name.as_str());
    write!(page, "<document index=\"{index}\" path=\"{path}\"").ok();
    if let Some(at) = cut_at(entry) {
        write!(page, " truncated_at_char_offset=\"{at}\"").ok();
    }
    let body = entry.included().map_or("", |text| text.as_str());
    let body = data(body.trim_end_matches(['\r', '\n']));
    write!(page, "><![CDATA[\n{body}\n]]></document>\n").ok();
}

fn omitted(page: &mut String, form: BlockForm, entries: &[CollectionEntry<'_>]) {
    let omitted: Vec<_> =
        entries.iter().filter_map(|entry| Some((entry.name, omission(entry)?))).collect();
    if !omitted.is_empty() && form == BlockForm::Markdown {
        page.push('\n');
    }
    for (path, why) in omitted.iter().take(MOST_NAMED) {
        match form {
            BlockForm::Markdown => writeln!(page, "> omitted: {path} ({why})").ok(),
            BlockForm::Xml => {
                let (path, why) = (attribute(path.as_str()), attribute(why));
                writeln!(page, "<omitted path=\"{path}\" reason=\"{why}\"/>").ok()
            }
        };
    }
    let more = omitted.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        match form {
            BlockForm::Markdown => writeln!(page, "> omitted: {more} more").ok(),
            BlockForm::Xml => writeln!(page, "<omitted more=\"{more}\"/>").ok(),
        };
    }
}

fn attribute(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    text.replace(is_no_xml, "\u{fffd}")
}

/// Keeps a document from ending its own element, and leaves out what XML cannot hold.
fn data(text: &str) -> String {
    text.replace("]]>", "]]]]><![CDATA[>").replace(is_no_xml, "\u{fffd}")
}

fn is_no_xml(character: char) -> bool {
    matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}
