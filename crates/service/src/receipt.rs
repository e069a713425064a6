//! Reports on receipts and quotations.

use convoke_domain::receipt::quotation::{Quotation, QuotationPlace};
use convoke_domain::receipt::{Lines, ReadState, Receipt, ShowingCall, Span, Weight};
use serde::{Deserialize, Serialize};

/// The evidence for the reading of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReceiptReport {
    /// The file's name in the demand.
    pub name: String,
    /// How much of it was read.
    pub standing: ReceiptStanding,
    /// Its value as proof.
    pub proof: ReceiptProof,
    /// The lines that the standing is about.
    pub lines: Vec<String>,
    /// How many lines the file has.
    pub of: Option<usize>,
    /// Another file of the same name that was read instead.
    pub namesake: Option<String>,
    /// A command that may have shown it, or more of it.
    pub doubt: Option<String>,
    /// Of the text as it was shown, if all of it was.
    sha256: Option<String>,
    /// The earlier round of the session in which all of it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_round: Option<u32>,
    /// The calls that showed it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown_by: Vec<ShowingCallReport>,
}

/// How much of a file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReceiptStanding {
    /// Every line.
    Whole,
    /// Some lines.
    Part,
    /// A text that differs from the present one.
    Older,
    /// All of it in an earlier round of the session, and not again.
    Earlier,
    /// Unknown: a command may have shown it.
    Unsure,
    /// It was read, and the client then removed that from the conversation.
    Forgotten,
    /// Only a subagent read it.
    OnlySubagent,
    /// The agent read it, but only after it had answered.
    OnlyAfterAnswer,
    /// Only another file of the same name.
    OnlyNamesake,
    /// Nothing of it.
    NotRead,
}

/// The value of a receipt as proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReceiptProof {
    /// The agent had every line before it when it answered.
    Proven,
    /// It may have, or it had some of it.
    InDoubt,
    /// It is known not to have had any of it.
    Refuted,
}

/// One call that showed lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShowingCallReport {
    /// The command, or the tool with its file; nothing if the client showed the file without a call.
    pub call: Option<String>,
    /// The lines that it showed: `all`, `3-6`, `7-` (to the end), `last 5` or `some`.
    pub lines: ShownLines,
}

impl ShowingCallReport {
    fn new(showing: &ShowingCall) -> Self {
        let call = showing.call.as_deref().map(str::to_owned);
        Self { call, lines: ShownLines(showing.lines) }
    }
}

/// The lines that a call showed. In JSON and in the ledger they are a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct ShownLines(pub Lines);

impl ShownLines {
    /// Reads the word.
    fn parse(word: &str) -> Option<Self> {
        let number = |digits: &str| digits.parse::<usize>().ok();
        Some(Self(match word {
            "all" => Lines::Whole,
            "some" => Lines::Some,
            _ => match (word.strip_prefix("last "), word.split_once('-')) {
                (Some(count), _) => Lines::Last(number(count)?),
                (None, Some((first, ""))) => {
                    Lines::Range { first: number(first)?, last: Lines::END }
                }
                (None, Some((first, last))) => {
                    Lines::Range { first: number(first)?, last: number(last)? }
                }
                (None, None) => return None,
            },
        }))
    }

    /// Says which lines those are.
    pub fn words(self) -> String {
        match self.0 {
            Lines::Whole => "all of it".to_owned(),
            Lines::Range { first, last: Lines::END } => format!("lines {first} to the end"),
            Lines::Range { first, last } => format!("lines {first}-{last}"),
            Lines::Last(count) => format!("the last {count} lines"),
            Lines::Some => "some lines".to_owned(),
        }
    }
}

impl From<ShownLines> for String {
    fn from(ShownLines(lines): ShownLines) -> Self {
        match lines {
            Lines::Whole => "all".to_owned(),
            Lines::Range { first, last: Lines::END } => format!("{first}-"),
            Lines::Range { first, last } => format!("{first}-{last}"),
            Lines::Last(count) => format!("last {count}"),
            Lines::Some => "some".to_owned(),
        }
    }
}

impl TryFrom<String> for ShownLines {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        Self::parse(&word).ok_or_else(|| format!("`{word}` names no lines"))
    }
}

impl ReceiptReport {
    /// Reports a receipt, with the SHA-256 of the text that was shown.
    pub fn new((receipt, sha256): &(Receipt, Option<String>)) -> Self {
        let (standing, spans, of, namesake) = match &receipt.standing {
            ReadState::Whole => (ReceiptStanding::Whole, &[][..], None, None),
            ReadState::Part { lines, of } => (ReceiptStanding::Part, lines.as_slice(), *of, None),
            ReadState::Older { lines } => (ReceiptStanding::Older, lines.as_slice(), None, None),
            ReadState::Unsure => (ReceiptStanding::Unsure, &[][..], None, None),
            ReadState::Forgotten => (ReceiptStanding::Forgotten, &[][..], None, None),
            ReadState::OnlySubagent => (ReceiptStanding::OnlySubagent, &[][..], None, None),
            ReadState::OnlyAfterAnswer => (ReceiptStanding::OnlyAfterAnswer, &[][..], None, None),
            ReadState::OnlyNamesake { path } => {
                (ReceiptStanding::OnlyNamesake, &[][..], None, Some(path.clone()))
            }
            ReadState::NotRead { .. } => (ReceiptStanding::NotRead, &[][..], None, None),
        };
        Self {
            name: receipt.name.clone(),
            standing,
            proof: match receipt.standing.weight() {
                Weight::Proven => ReceiptProof::Proven,
                Weight::InDoubt => ReceiptProof::InDoubt,
                Weight::Refuted => ReceiptProof::Refuted,
            },
            lines: spans.iter().map(span).collect(),
            of,
            namesake,
            doubt: receipt.doubt.clone(),
            sha256: sha256.clone(),
            earlier_round: None,
            shown_by: receipt.shown_by.iter().map(ShowingCallReport::new).collect(),
        }
    }

    /// Marks that the session read the complete file in an earlier round, if it did not read it
    /// again.
    #[must_use]
    pub fn or_earlier(self, round: u32) -> Self {
        if self.standing != ReceiptStanding::NotRead {
            return self;
        }
        Self { standing: ReceiptStanding::Earlier, earlier_round: Some(round), ..self }
    }

    /// Renders it in one line.
    pub fn line(&self) -> String {
        let doubt = self
            .doubt
            .as_ref()
            .map_or(String::new(), |command| format!("; `{command}` may have read it"));
        format!("{}: {}{doubt}", self.name, self.words())
    }

    /// Says how much of the file was read.
    pub fn words(&self) -> String {
        let lines = self.lines.join(", ");
        match (self.standing, self.of) {
            (ReceiptStanding::Whole, _) => "all of it".to_owned(),
            (ReceiptStanding::Part, Some(of)) if !lines.is_empty() => {
                format!("in part: lines {lines} of {of}")
            }
            (ReceiptStanding::Part, _) if !lines.is_empty() => format!("in part: lines {lines}"),
            (ReceiptStanding::Part, _) => "in part: search results, or truncated output".to_owned(),
            (ReceiptStanding::Older, _) if lines.is_empty() => "an older version".to_owned(),
            (ReceiptStanding::Older, _) => format!("an older version of lines {lines}"),
            (ReceiptStanding::Earlier, _) => {
                format!("all of it, in round {}", self.earlier_round.unwrap_or_default())
            }
            (ReceiptStanding::Unsure, _) => "unknown".to_owned(),
            (ReceiptStanding::Forgotten, _) => {
                "forgotten: the client removed it from the conversation before the answer"
                    .to_owned()
            }
            (ReceiptStanding::OnlySubagent, _) => "only by a subagent".to_owned(),
            (ReceiptStanding::OnlyAfterAnswer, _) => "only after the answer".to_owned(),
            (ReceiptStanding::OnlyNamesake, _) => {
                format!("only another file: {}", self.namesake.as_deref().unwrap_or_default())
            }
            (ReceiptStanding::NotRead, _) => "not read".to_owned(),
        }
    }
}

fn span(span: &Span) -> String {
    if span.first == span.last {
        return span.first.to_string();
    }
    format!("{}-{}", span.first, span.last)
}

/// The place of a quotation.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuotationReport {
    /// The quoted words.
    text: String,
    /// The cited file.
    source: String,
    /// `found`, `moved` or `not_there`.
    found: &'static str,
    /// The line of the file that they are in.
    line: Option<usize>,
}

impl QuotationReport {
    /// Reports a quotation.
    pub fn new(quotation: Quotation) -> Self {
        let (found, line) = match quotation.found {
            QuotationPlace::There { line } => ("found", Some(line)),
            QuotationPlace::Moved { line } => ("moved", Some(line)),
            QuotationPlace::NotThere => ("not_there", None),
        };
        Self { text: quotation.text, source: quotation.source, found, line }
    }

    /// Renders it in one line.
    pub fn line(&self) -> String {
        let place = match (self.found, self.line) {
            ("found", Some(line)) => format!("found in {} at line {line}", self.source),
            ("moved", Some(line)) => format!("moved: in {} at line {line}", self.source),
            _ => format!("not found in {}", self.source),
        };
        format!("`{}` {place}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_lines_are_one_word_and_are_read_as_they_were_written() {
        for (word, words) in [
            ("\"all\"", "all of it"),
            ("\"some\"", "some lines"),
            ("\"3-6\"", "lines 3-6"),
            ("\"7-\"", "lines 7 to the end"),
            ("\"last 5\"", "the last 5 lines"),
        ] {
            let lines: ShownLines = serde_json::from_str(word).unwrap();
            assert_eq!(serde_json::to_string(&lines).unwrap(), word);
            assert_eq!(lines.words(), words);
        }
        for wrong in ["\"\"", "\"-\"", "\"-6\"", "\"3\"", "\"x-6\"", "\"last\"", "\"last x\"", "3"]
        {
            assert!(serde_json::from_str::<ShownLines>(wrong).is_err(), "{wrong}");
        }
    }
}
