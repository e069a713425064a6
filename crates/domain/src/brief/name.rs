//! The bare names of briefs, and the list that ranks them.

use std::fmt;

/// A document's name without `.md`: it is joined to the design folder, so it can never leave it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BriefName(String);

impl BriefName {
    const SUFFIX: &'static str = ".md";

    /// Reads one entry of a priority list: trimmed, and without one trailing `.md`.
    ///
    /// Control characters are refused beside path separators: names are printed on lines of
    /// their own, and a line break in one would forge a citation.
    pub fn parse(entry: &str) -> Option<Self> {
        let entry = entry.trim();
        let name = entry.strip_suffix(Self::SUFFIX).unwrap_or(entry);
        let refused = name.is_empty()
            || matches!(name, "." | "..")
            || name.contains(|c: char| matches!(c, '/' | '\\') || c.is_control());
        (!refused).then(|| Self(name.to_owned()))
    }

    /// Returns the bare name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the file inside the design folder.
    pub fn file_name(&self) -> String {
        format!("{}{}", self.0, Self::SUFFIX)
    }

    /// Tells whether this is the document that is never dropped.
    pub fn is_spec(&self) -> bool {
        self.0 == "spec"
    }
}

impl fmt::Display for BriefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The documents to load, most important first, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPriority(Vec<BriefName>);

impl Default for DocumentPriority {
    fn default() -> Self {
        let names = ["spec", "system", "research", "pencil-plan"];
        Self(names.into_iter().map(|name| BriefName(name.to_owned())).collect())
    }
}

impl DocumentPriority {
    /// More documents than this are a mistake or an attack, and Convoke would read all of them.
    const LONGEST: usize = 64;

    /// Reads a list in order, and returns the entries that are no names beside it, with those past
    /// the 64th. Repeats go silently; a list of which nothing is left is the default list.
    pub fn read<'e>(entries: impl IntoIterator<Item = &'e str>) -> (Self, Vec<&'e str>) {
        let mut names = Vec::new();
        let mut refused = Vec::new();
        for entry in entries {
            match BriefName::parse(entry) {
                Some(name) if names.contains(&name) => {}
                Some(name) if names.len() < Self::LONGEST => names.push(name),
                Some(_) | None => refused.push(entry),
            }
        }
        let list = if names.is_empty() { Self::default() } else { Self(names) };
        (list, refused)
    }

    /// Returns the names, most important first. Never empty.
    pub fn names(&self) -> &[BriefName] {
        &self.0
    }

    /// Finds a name in the list.
    pub fn find(&self, name: &str) -> Option<&BriefName> {
        let name = BriefName::parse(name)?;
        self.0.iter().find(|listed| **listed == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(entries: &[&str], names: &[&str], refused: &[&str]) {
        let (list, rejected) = DocumentPriority::read(entries.iter().copied());
        let found: Vec<_> = list.names().iter().map(BriefName::as_str).collect();
        assert_eq!((found.as_slice(), rejected.as_slice()), (names, refused), "{entries:?}");
    }

    // B-7
    #[test]
    fn a_priority_list_is_tidied_and_kept_in_order() {
        check(&["research", "spec"], &["research", "spec"], &[]);
        check(&[" system.md ", "spec.md.md"], &["system", "spec.md"], &[]);
        check(&["spec", "spec.md", "spec"], &["spec"], &[]);
        check(
            &["../../etc/passwd", "a\\b", "a\0b", ".", "..", "", " ", ".md", "ok", "a\nb"],
            &["ok"],
            &["../../etc/passwd", "a\\b", "a\0b", ".", "..", "", " ", ".md", "a\nb"],
        );
    }

    // B-7
    #[test]
    fn a_list_has_an_end() {
        let entries: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let (list, refused) = DocumentPriority::read(entries.iter().map(String::as_str));
        assert_eq!((list.names().len(), refused.len()), (64, 36));
    }

    // B-7, B-2
    #[test]
    fn an_empty_list_is_the_default_list() {
        let default = ["spec", "system", "research", "pencil-plan"];
        check(&[], &default, &[]);
        check(&["/"], &default, &["/"]);
    }
}
