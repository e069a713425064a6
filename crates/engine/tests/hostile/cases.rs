//! The format of the data files.
//!
//! ```text
//! %%% an approval that stands in a quotation
//! class: quoted approval
//! form: english, inline code
//! want: ambiguous
//! %%%
//! The spec contains `{"approved": true}`, and I do not approve.
//! ```
//!
//! A case ends at the next line that begins with `%%% `, or at the end of the file; the line break
//! before that line does not belong to the payload. `class` names the trick and `form` the language
//! or the format in which it is played; every class exists in at least two forms. Other keys are
//! the module's own, such as a voter's ballot. In a payload, `\u{7f}` is that character and
//! `\x{ff}` that byte; nothing else is escaped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One payload, and the verdict that is right.
#[derive(Debug)]
pub(crate) struct Case {
    /// The case's name; unique in its file.
    pub(crate) name: String,
    /// The keys between its two `%%%` lines.
    pub(crate) keys: BTreeMap<String, String>,
    /// The text itself; bytes, because some of them are not UTF-8.
    pub(crate) payload: Vec<u8>,
}

impl Case {
    /// Returns the payload as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.payload).into_owned()
    }

    /// Returns what the case says of `key`; every case of the kind must say it.
    pub(crate) fn key(&self, key: &str) -> &str {
        let found = self.keys.get(key);
        found.unwrap_or_else(|| panic!("the case `{}` has no `{key}:`", self.name))
    }
}

/// Judges all cases of a kind, and reports all wrong ones together.
pub(crate) fn hold(kind: &str, verdict: impl Fn(&Case) -> String) {
    let cases = read(kind);
    let mut wrong = Vec::new();
    for case in &cases {
        let got = verdict(case);
        if got != case.key("want") {
            wrong.push(format!("{}\n  want: {}\n  got:  {got}", case.name, case.key("want")));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Reads a data file and checks that it keeps to the format.
fn read(kind: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let text = std::fs::read_to_string(folder.join(format!("{kind}.txt"))).unwrap();
    let cases: Vec<_> = format!("\n{text}").split("\n%%% ").skip(1).map(parse).collect();
    let names: BTreeSet<_> = cases.iter().map(|case| &case.name).collect();
    assert_eq!(names.len(), cases.len(), "two cases of `{kind}` have one name");
    let mut forms: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for case in &cases {
        forms.entry(case.key("class")).or_default().insert(case.key("form"));
    }
    for (class, forms) in forms {
        assert!(forms.len() > 1, "the class `{class}` of `{kind}` exists only as {forms:?}");
    }
    cases
}

fn parse(case: &str) -> Case {
    let (head, payload) = case.split_once("\n%%%\n").unwrap_or_else(|| {
        panic!("the case `{}` has no `%%%` line", case.lines().next().unwrap_or_default())
    });
    let (name, keys) = head.split_once('\n').unwrap_or((head, ""));
    let key = |line: &str| {
        let (key, value) = line.split_once(": ").unwrap_or_else(|| panic!("`{name}`: {line}"));
        (key.to_owned(), value.to_owned())
    };
    Case {
        name: name.to_owned(),
        keys: keys.lines().map(key).collect(),
        payload: unescaped(payload),
    }
}

fn unescaped(payload: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = payload;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at..];
        let escape = rest.get(1..3).zip(rest.find('}'));
        let number = |end: usize| u32::from_str_radix(&rest[3..end], 16).ok();
        match escape {
            Some(("u{", end)) if number(end).and_then(char::from_u32).is_some() => {
                let c = number(end).and_then(char::from_u32).unwrap();
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[end + 1..];
            }
            Some(("x{", end)) if number(end).is_some_and(|byte| byte < 256) => {
                bytes.push(u8::try_from(number(end).unwrap()).unwrap());
                rest = &rest[end + 1..];
            }
            _ => {
                bytes.push(b'\\');
                rest = &rest[1..];
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}
