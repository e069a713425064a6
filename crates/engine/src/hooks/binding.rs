//! The agent that a project's sessions belong to, as it is written in a configuration file of ours.
//!
//! Only that one value is put into the text, changed or taken out; comments, line ends and all else
//! stay as they are. Every edit is read back before it counts, so a file that is laid out in a way
//! we do not know is refused rather than spoiled.

use std::ops::Range;

use convoke_domain::scope::AgentName;
use serde::Deserialize;
use toml::{Spanned, Table, Value};

const SECTION: &str = "wake";
const KEY: &str = "agent";
const HEADER: &str = "[wake]";

/// A configuration file that cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// It is not TOML.
    #[error("it is not valid TOML: line {line}: {why}")]
    Malformed {
        /// In which line, from one.
        line: usize,
        /// What is wrong there.
        why: String,
    },
    /// It is laid out in a way that we cannot change without touching the rest.
    #[error("Convoke cannot change `wake.agent` there without changing other text")]
    Layout,
}

#[derive(Deserialize)]
struct File {
    wake: Option<Spanned<Section>>,
}

#[derive(Deserialize)]
struct Section {
    agent: Option<Spanned<Value>>,
}

/// Returns the agent that a file names.
pub fn bound(text: &str) -> Result<Option<AgentName>, BindingError> {
    let table = parse(text)?;
    let name = table.get(SECTION).and_then(|section| section.get(KEY)).and_then(Value::as_str);
    Ok(name.and_then(|name| AgentName::parse(name).ok()))
}

/// Returns a file that names an agent.
pub fn bind(text: &str, agent: &AgentName) -> Result<String, BindingError> {
    let mut expected = parse(text)?;
    let section = expected.entry(SECTION).or_insert_with(|| Value::Table(Table::new()));
    let section = section.as_table_mut().ok_or(BindingError::Layout)?;
    section.insert(KEY.to_owned(), Value::String(agent.to_string()));
    let line = format!("{KEY} = \"{agent}\"");
    let end = line_end(text);
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let file = toml::from_str::<File>(text).ok();
    let section = file.and_then(|file| file.wake);
    let mut candidates = Vec::new();
    let value = section.as_ref().and_then(|section| section.get_ref().agent.as_ref());
    candidates.extend(value.map(|value| replace(text, value.span(), &format!("\"{agent}\""))));
    for header in headers(text) {
        candidates.push(replace(text, header.end..header.end, &format!("{end}{line}")));
    }
    if let Some(section) = &section {
        let inside = section.span().start + 1;
        for new in [format!(" {line} "), format!(" {line},")] {
            candidates.push(replace(text, inside..inside, &new));
        }
        candidates.push(replace(text, start..start, &format!("{SECTION}.{line}{end}")));
    }
    let gap = match text.get(start..).unwrap_or_default() {
        "" => String::new(),
        body if body.ends_with('\n') => end.to_owned(),
        _ => format!("{end}{end}"),
    };
    candidates.push(format!("{text}{gap}{HEADER}{end}{line}{end}"));
    first(candidates, &expected)
}

/// Returns a file that names no agent. With its agent goes its section, if that is empty then and
/// was not there `before`.
pub fn unbind(text: &str, before: Option<&str>) -> Result<String, BindingError> {
    let mut expected = parse(text)?;
    let had_section =
        before.is_some_and(|before| parse(before).is_ok_and(|table| table.contains_key(SECTION)));
    let section = expected.get_mut(SECTION).and_then(Value::as_table_mut);
    let Some(section) = section.filter(|section| section.contains_key(KEY)) else {
        return Ok(text.to_owned());
    };
    section.remove(KEY);
    let is_empty = section.is_empty();
    let value = toml::from_str::<File>(text).ok().and_then(|file| file.wake);
    let value = value.and_then(|wake| wake.into_inner().agent).ok_or(BindingError::Layout)?;
    let without = replace(text, whole_line(text, value.span()), "");
    let mut candidates = vec![];
    if is_empty && !had_section {
        let mut bare = expected.clone();
        bare.remove(SECTION);
        let cut = headers(&without).map(|header| {
            let line = whole_line(&without, header);
            let gap = blank_before(&without, line.start);
            replace(&without, gap..line.end, "")
        });
        if let Ok(done) = first(cut.chain([without.clone()]).collect(), &bare) {
            return Ok(done);
        }
    }
    candidates.push(without);
    first(candidates, &expected)
}

/// Returns the first text that means what it should.
fn first(candidates: Vec<String>, expected: &Table) -> Result<String, BindingError> {
    let is_right = |text: &String| text.parse::<Table>().is_ok_and(|table| table == *expected);
    candidates.into_iter().find(is_right).ok_or(BindingError::Layout)
}

fn parse(text: &str) -> Result<Table, BindingError> {
    text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let why = error.message().lines().next().unwrap_or("it is not TOML").to_owned();
        BindingError::Malformed { line: before.matches('\n').count() + 1, why }
    })
}

fn replace(text: &str, range: Range<usize>, new: &str) -> String {
    let (before, after) = (text.get(..range.start), text.get(range.end..));
    format!("{}{new}{}", before.unwrap_or_default(), after.unwrap_or_default())
}

fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// Returns where lines lie that look like the section's header, each without its line end.
fn headers(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\r', '\n']))
    });
    let is_header = |line: &str| {
        let code = line.trim_start_matches('\u{feff}').split('#').next().unwrap_or_default();
        code.replace([' ', '\t'], "") == HEADER
    };
    lines.filter(move |(_, line)| is_header(line)).map(|(at, line)| at..at + line.len())
}

/// Returns the whole line that something lies in, with its line end.
fn whole_line(text: &str, part: Range<usize>) -> Range<usize> {
    let before = text.get(..part.start).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(part.end..).unwrap_or_default();
    let end = rest.find('\n').map_or(text.len(), |at| part.end + at + 1);
    start..end
}

/// Returns where an empty line begins that ends at a place, else that place.
fn blank_before(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    let cut = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n'));
    match cut {
        Some(cut) if cut.ends_with('\n') => cut.len(),
        Some(_) | None => at,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(name: &str) -> AgentName {
        AgentName::parse(name).unwrap()
    }

    #[test]
    fn one_value_is_written_and_all_else_stays() {
        for (before, after) in [
            ("", "[wake]\nagent = \"me\"\n"),
            ("# mine\n", "# mine\n\n[wake]\nagent = \"me\"\n"),
            ("[lane]\r\nx=1", "[lane]\r\nx=1\r\n\r\n[wake]\r\nagent = \"me\"\r\n"),
            ("[ wake ] # w\nmode='v0'\n", "[ wake ] # w\nagent = \"me\"\nmode='v0'\n"),
            ("[wake]", "[wake]\nagent = \"me\""),
            ("[wake]\nagent = 'june' # her\n", "[wake]\nagent = \"me\" # her\n"),
            ("wake.mode = 'v0'\n", "wake.agent = \"me\"\nwake.mode = 'v0'\n"),
            ("wake = { mode = 'v0' }\n", "wake = { agent = \"me\", mode = 'v0' }\n"),
            ("wake = {}\n", "wake = { agent = \"me\" }\n"),
            ("a = '''\n[wake]\n'''\n", "a = '''\n[wake]\n'''\n\n[wake]\nagent = \"me\"\n"),
            ("\u{feff}[wake]\n", "\u{feff}[wake]\nagent = \"me\"\n"),
        ] {
            assert_eq!(bind(before, &name("me")).unwrap(), after, "{before:?}");
            assert_eq!(bound(after).unwrap(), Some(name("me")), "{after:?}");
        }
    }

    #[test]
    fn what_was_written_is_taken_out_again() {
        for before in [
            "",
            "# mine\n",
            "[lane]\r\nx = 1\r\n",
            "[wake] # w\nmode = 'v0'\n",
            "[wake]\n",
            "wake.mode = 'v0'\n",
        ] {
            let after = bind(before, &name("me")).unwrap();
            assert_eq!(unbind(&after, Some(before)).unwrap(), before, "{after:?}");
            let edited = format!("# top\n{after}");
            let expected = format!("# top\n{before}");
            assert_eq!(unbind(&edited, Some(before)).unwrap(), expected, "{edited:?}");
        }
        assert_eq!(unbind("[wake]\nmode = 'v0'\n", None).unwrap(), "[wake]\nmode = 'v0'\n");
    }

    #[test]
    fn what_cannot_be_changed_is_refused() {
        for text in ["[wake", "wake = 5\n", "wake = []\n"] {
            assert!(bind(text, &name("me")).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_changed_right_or_refused(
            text in "(\\[wake\\]|wake|agent|mode| = |\"a\"|'b'|[#{}.,\\n\\r]|\\[x\\]|\u{feff}){0,14}",
        ) {
            if let Ok(after) = bind(&text, &name("me")) {
                prop_assert_eq!(bound(&after).unwrap(), Some(name("me")));
            }
            if let Ok(without) = unbind(&text, None) {
                prop_assert_eq!(bound(&without).unwrap(), None);
            }
        }
    }
}
