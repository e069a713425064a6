//! Parses a script's request for an entry.

use super::Category;

/// An entry that a script wants logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogOrder {
    /// The log's file.
    pub log: String,
    /// The entry's category.
    pub category: Category,
    /// The entry, or the file that holds it.
    pub entry: EntrySource,
}

/// Where an entry's text comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntrySource {
    /// Here.
    Text(String),
    /// In a file.
    File(String),
}

/// Invalid arguments for an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogOrderError {
    /// A flag without a value.
    #[error("{0} requires a value")]
    MissingValue(String),
    /// A flag that the script does not have.
    #[error("unknown flag: {0}")]
    UnknownFlag(String),
    /// A required flag is missing.
    #[error("{0} is required")]
    MissingFlag(&'static str),
    /// A file whose name would be lines of its own.
    #[error("--log must not contain control characters")]
    OddLog,
    /// The entry is given as words and as a file.
    #[error("--entry and --entry-file are mutually exclusive")]
    TwoEntries,
    /// The entry is given in neither way.
    #[error("one of --entry or --entry-file is required")]
    NoEntry,
    /// A category that there is not.
    #[error("unsupported category: {0}")]
    UnknownCategory(String),
    /// The file with the entry cannot be read.
    #[error("--entry-file not readable: {0}")]
    Unreadable(String),
}

impl LogOrder {
    /// Reads a script's words.
    pub fn parse(words: &[String]) -> Result<Self, LogOrderError> {
        let (mut log, mut category, mut text, mut file) = Default::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let place: &mut String = match word.as_str() {
                "--log" => &mut log,
                "--category" => &mut category,
                "--entry" => &mut text,
                "--entry-file" => &mut file,
                _ => return Err(LogOrderError::UnknownFlag(word.clone())),
            };
            let value = words.next().ok_or_else(|| LogOrderError::MissingValue(word.clone()))?;
            place.clone_from(value);
        }
        if log.is_empty() {
            return Err(LogOrderError::MissingFlag("--log"));
        }
        if log.contains(char::is_control) {
            return Err(LogOrderError::OddLog);
        }
        if category.is_empty() {
            return Err(LogOrderError::MissingFlag("--category"));
        }
        let entry = match (text.is_empty(), file.is_empty()) {
            (false, false) => return Err(LogOrderError::TwoEntries),
            (true, true) => return Err(LogOrderError::NoEntry),
            (false, true) => EntrySource::Text(text),
            (true, false) => EntrySource::File(file),
        };
        let category =
            Category::parse(&category).ok_or(LogOrderError::UnknownCategory(category))?;
        Ok(Self { log, category, entry })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split('|').filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    // P-310
    #[test]
    fn an_entry_is_requested_in_one_way() {
        for category in Category::ALL {
            let line = format!("--log|l|--category|{}|--entry|e", category.name());
            let order = LogOrder::parse(&words(&line)).unwrap();
            assert_eq!(order.category, category);
            assert_eq!(order.entry, EntrySource::Text("e".to_owned()));
        }
        for (line, error) in [
            ("--category|Warnings|--entry|e", "--log is required"),
            ("--log|l|--entry|e", "--category is required"),
            ("--log|l|--category|Warnings", "one of --entry or --entry-file is required"),
            (
                "--log|l|--category|Warnings|--entry|e|--entry-file|f",
                "--entry and --entry-file are mutually exclusive",
            ),
            ("--log|l|--category|Other|--entry|e", "unsupported category: Other"),
            ("--log", "--log requires a value"),
            ("--what", "unknown flag: --what"),
        ] {
            assert_eq!(LogOrder::parse(&words(line)).unwrap_err().to_string(), error, "{line}");
        }
    }
}
