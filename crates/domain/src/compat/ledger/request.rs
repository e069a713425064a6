//! Parses the words of a request to a ledger. `--ledger PATH` may be anywhere, and the last one
//! counts.

use super::LedgerMisuse;
use super::timing::{TimedTask, Workflow};
use super::tokens::TokenUse;

/// A request to a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRequest<O> {
    /// The ledger, if it was named.
    pub ledger: Option<String>,
    /// The action.
    pub order: O,
}

/// An action on a timing ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimingOrder {
    /// A step begins.
    Mark(String),
    /// An agent is finished.
    Record(TimedTask),
    /// How thoroughly the workflow works.
    Workflow(Workflow),
    /// Print the file's path and content.
    Dump,
    /// Print a report.
    Report(ReportRequest),
}

/// An action on a token ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenOrder {
    /// A step begins.
    Mark(String),
    /// An agent used tokens.
    Record(TokenUse),
    /// Print the file's path and content.
    Dump,
    /// Print a report.
    Report(ReportRequest),
}

/// How much is reported, and where.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReportRequest {
    /// Whether it is all steps, and not the last one in a line.
    pub is_full: bool,
    /// The document that gets it; nothing if it is printed.
    pub append: Option<String>,
}

impl LedgerRequest<TimingOrder> {
    /// Reads the words of a request.
    pub fn parse(words: &[String]) -> Result<Self, LedgerMisuse> {
        let (ledger, words) = without_ledger(words)?;
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let order = match &words[..] {
            ["mark", step] => TimingOrder::Mark((*step).to_owned()),
            ["record-vendor-task", words @ ..] => TimingOrder::Record(TimedTask::parse(words)?),
            ["workflow-path", path] => {
                TimingOrder::Workflow(Workflow::parse(path).ok_or_else(|| {
                    LedgerMisuse::new(format!("a workflow's path is HARD or SIMPLE, not `{path}`"))
                })?)
            }
            ["dump"] => TimingOrder::Dump,
            ["report", words @ ..] => TimingOrder::Report(ReportRequest::parse(words)?),
            _ => {
                return Err(LedgerMisuse::new(
                    "usage: mark STEP | record-vendor-task FLAG… | workflow-path HARD|SIMPLE | dump | \
                 report [--terse|--full] [--append FILE]",
                ));
            }
        };
        Ok(Self { ledger, order })
    }
}

impl LedgerRequest<TokenOrder> {
    /// Reads the words of a request.
    pub fn parse(words: &[String]) -> Result<Self, LedgerMisuse> {
        let (ledger, words) = without_ledger(words)?;
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let order = match &words[..] {
            ["mark", step] => TokenOrder::Mark((*step).to_owned()),
            ["record-vendor", vendor, words @ ..] => {
                TokenOrder::Record(TokenUse::parse(vendor, words)?)
            }
            ["dump"] => TokenOrder::Dump,
            ["report", words @ ..] => TokenOrder::Report(ReportRequest::parse(words)?),
            _ => {
                return Err(LedgerMisuse::new(
                    "usage: mark STEP | record-vendor VENDOR KEY=VALUE… | dump | \
                 report [--terse|--full] [--append FILE]",
                ));
            }
        };
        Ok(Self { ledger, order })
    }
}

impl ReportRequest {
    fn parse(words: &[&str]) -> Result<Self, LedgerMisuse> {
        let mut report = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--terse" => report.is_full = false,
                "--full" => report.is_full = true,
                "--append" => {
                    let file = words.next().filter(|file| !file.is_empty());
                    let file = file.ok_or_else(|| LedgerMisuse::new("--append needs a file"))?;
                    report.is_full = true;
                    report.append = Some((*file).to_owned());
                }
                other => return Err(LedgerMisuse::new(format!("unknown word: {other}"))),
            }
        }
        Ok(report)
    }
}

fn without_ledger(words: &[String]) -> Result<(Option<String>, Vec<String>), LedgerMisuse> {
    let (mut ledger, mut rest) = (None, Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--ledger" {
            let path = words.next().filter(|path| !path.is_empty());
            ledger = Some(path.ok_or_else(|| LedgerMisuse::new("--ledger needs a path"))?.clone());
        } else {
            rest.push(word.clone());
        }
    }
    Ok((ledger, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    // P-361, P-373
    #[test]
    fn the_ledger_may_stand_anywhere_and_the_last_one_counts() {
        for (given, ledger) in [
            (&["mark", "a"][..], None),
            (&["--ledger", "x", "mark", "a"], Some("x")),
            (&["mark", "--ledger", "x", "a"], Some("x")),
            (&["mark", "a", "--ledger", "x"], Some("x")),
            (&["--ledger", "x", "mark", "a", "--ledger", "y"], Some("y")),
        ] {
            let timing = LedgerRequest::<TimingOrder>::parse(&words(given)).unwrap();
            assert_eq!(timing.ledger.as_deref(), ledger, "{given:?}");
            assert_eq!(timing.order, TimingOrder::Mark("a".to_owned()));
            let tokens = LedgerRequest::<TokenOrder>::parse(&words(given)).unwrap();
            assert_eq!(tokens.ledger.as_deref(), ledger, "{given:?}");
        }
        assert!(LedgerRequest::<TimingOrder>::parse(&words(&["mark", "a", "--ledger"])).is_err());
    }

    // P-361
    #[test]
    fn orders_are_few() {
        let timing = |given: &[&str]| LedgerRequest::<TimingOrder>::parse(&words(given));
        let report = |given: &[&str]| {
            let TimingOrder::Report(report) = timing(given).unwrap().order else {
                panic!("no report: {given:?}")
            };
            report
        };
        assert_eq!(
            timing(&["workflow-path", "HARD"]).unwrap().order,
            TimingOrder::Workflow(Workflow::Hard)
        );
        assert_eq!(timing(&["dump"]).unwrap().order, TimingOrder::Dump);
        assert_eq!(report(&["report"]), ReportRequest::default());
        assert!(report(&["report", "--full"]).is_full);
        assert_eq!(
            report(&["report", "--append", "x"]),
            ReportRequest { is_full: true, append: Some("x".to_owned()) }
        );
        for wrong in [
            &[][..],
            &["mark"],
            &["mark", "a", "b"],
            &["workflow-path", "hard"],
            &["dump", "x"],
            &["report", "--append"],
            &["report", "x"],
            &["bogus\nx"],
        ] {
            let error = timing(wrong).unwrap_err().to_string();
            assert!(!error.contains('\n'), "{wrong:?}");
            assert!(LedgerRequest::<TokenOrder>::parse(&words(wrong)).is_err(), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn any_words_are_read(given in prop::collection::vec("(mark|dump|report|--ledger|record-vendor|record-vendor-task|--vendor|codex|total=5|--start-s|-?[0-9]{1,3}|.{0,4})", 0..10)) {
            LedgerRequest::<TimingOrder>::parse(&given).ok();
            LedgerRequest::<TokenOrder>::parse(&given).ok();
        }
    }
}
