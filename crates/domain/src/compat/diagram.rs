//! Parses the words of a request to check diagrams.

use crate::design::mermaid::DiagramText;

/// A request to check diagrams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The file to check; standard input if absent.
    pub input: Option<String>,
    /// The part to check.
    pub form: DiagramText,
    /// The log that records a refusal.
    pub log: Option<String>,
    /// The step that the log entry names.
    pub step: String,
}

impl Default for Request {
    fn default() -> Self {
        Self { input: None, form: DiagramText::Guessed, log: None, step: "unknown".to_owned() }
    }
}

/// An invalid request. The log records it, too, if the request named one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("usage: {what}")]
pub struct Misuse {
    /// The error.
    what: String,
    /// The request up to the error.
    pub request: Request,
}

impl Request {
    /// Reads the words of a request.
    pub fn parse(words: &[String]) -> Result<Self, Misuse> {
        let mut request = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--from-md" {
                request.form = DiagramText::Markdown;
                continue;
            }
            if !["--input", "--warnings-log", "--warnings-step"].contains(&word.as_str()) {
                // A word must not begin a line of its own.
                let word = word.replace(char::is_control, " ");
                return Err(Misuse { what: format!("unknown flag: {word}"), request });
            }
            let Some(value) = words.next().filter(|value| !value.is_empty()).cloned() else {
                return Err(Misuse { what: format!("{word} needs a value"), request });
            };
            match word.as_str() {
                "--input" => request.input = Some(value),
                "--warnings-log" => request.log = Some(value),
                _ => request.step = value,
            }
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(words: &[&str]) -> Result<Request, Misuse> {
        Request::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    // P-296
    #[test]
    fn four_flags_are_known() {
        assert_eq!(parse(&[]).unwrap(), Request::default());
        assert_eq!(Request::default().step, "unknown");
        let words = ["--warnings-step", "3b", "--from-md", "--input", "a b", "--warnings-log", "l"];
        let request = Request {
            input: Some("a b".to_owned()),
            form: DiagramText::Markdown,
            log: Some("l".to_owned()),
            step: "3b".to_owned(),
        };
        assert_eq!(parse(&words).unwrap(), request);
        for (words, error) in [
            (&["--input"][..], "usage: --input needs a value"),
            (&["--warnings-step", ""], "usage: --warnings-step needs a value"),
            (&["--from-md", "x"], "usage: unknown flag: x"),
            (&["--input=x"], "usage: unknown flag: --input=x"),
            (&["-x\nSTATUS=ok"], "usage: unknown flag: -x STATUS=ok"),
        ] {
            assert_eq!(parse(words).unwrap_err().to_string(), error);
        }
        let misuse = parse(&["--warnings-log", "l", "-x"]).unwrap_err();
        assert_eq!(misuse.request.log.as_deref(), Some("l"), "so that it can be told");
    }

    proptest! {
        #[test]
        fn any_words_are_read(words in prop::collection::vec("(--input|--from-md|--warnings-log|.{0,3})", 0..6)) {
            Request::parse(&words).ok();
        }
    }
}
