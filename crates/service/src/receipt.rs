//! Reports on receipts and quotations.

use convoke_domain::receipt::quotation::{Quotation, QuotationPlace};
use convoke_domain::receipt::{ReadState, Receipt, Span, Weight};
use serde::Serialize;

/// The evidence for the reading of one file.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReceiptReport {
    /// The file's name in the demand.
    pub name: String,
    /// How much of it was read: `whole`, `part`, `older`, `earlier`, `unsure`, `forgotten`,
    /// `only_subagent`, `only_after_answer`, `only_namesake` or `not_read`.
    standing: &'static str,
    /// Its value as proof: `proven`, `in_doubt` or `refuted`.
    proof: &'static str,
    /// The lines that the standing is about.
    lines: Vec<String>,
    /// How many lines the file has.
    of: Option<usize>,
    /// Another file of the same name that was read instead.
    namesake: Option<String>,
    /// A command that may have shown it, or more of it.
    doubt: Option<String>,
    /// Of the text as it was shown, if all of it was.
    sha256: Option<String>,
    /// The earlier round of the session in which all of it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    earlier_round: Option<u32>,
}

impl ReceiptReport {
    /// Reports a receipt, with the SHA-256 of the text that was shown.
    pub fn new((receipt, sha256): &(Receipt, Option<String>)) -> Self {
        let (standing, spans, of, namesake) = match &receipt.standing {
            ReadState::Whole => ("whole", &[][..], None, None),
            ReadState::Part { lines, of } => ("part", lines.as_slice(), *of, None),
            ReadState::Older { lines } => ("older", lines.as_slice(), None, None),
            ReadState::Unsure => ("unsure", &[][..], None, None),
            ReadState::Forgotten => ("forgotten", &[][..], None, None),
            ReadState::OnlySubagent => ("only_subagent", &[][..], None, None),
            ReadState::OnlyAfterAnswer => ("only_after_answer", &[][..], None, None),
            ReadState::OnlyNamesake { path } => {
                ("only_namesake", &[][..], None, Some(path.clone()))
            }
            ReadState::NotRead { .. } => ("not_read", &[][..], None, None),
        };
        Self {
            name: receipt.name.clone(),
            standing,
            proof: match receipt.standing.weight() {
                Weight::Proven => "proven",
                Weight::InDoubt => "in_doubt",
                Weight::Refuted => "refuted",
            },
            lines: spans.iter().map(span).collect(),
            of,
            namesake,
            doubt: receipt.doubt.clone(),
            sha256: sha256.clone(),
            earlier_round: None,
        }
    }

    /// Marks that the session read the complete file in an earlier round, if it did not read it
    /// again.
    #[must_use]
    pub fn or_earlier(self, round: u32) -> Self {
        match self.standing {
            "not_read" => Self { standing: "earlier", earlier_round: Some(round), ..self },
            _ => self,
        }
    }

    /// Renders it in one line.
    pub fn line(&self) -> String {
        let lines = self.lines.join(", ");
        let words = match (self.standing, self.of) {
            ("whole", _) => "all of it".to_owned(),
            ("part", Some(of)) if !lines.is_empty() => format!("in part: lines {lines} of {of}"),
            ("part", _) if !lines.is_empty() => format!("in part: lines {lines}"),
            ("part", _) => "in part: search results, or truncated output".to_owned(),
            ("older", _) if lines.is_empty() => "an older version".to_owned(),
            ("older", _) => format!("an older version of lines {lines}"),
            ("earlier", _) => {
                format!("all of it, in round {}", self.earlier_round.unwrap_or_default())
            }
            ("unsure", _) => "unknown".to_owned(),
            ("forgotten", _) => {
                "forgotten: the client removed it from the conversation before the answer"
                    .to_owned()
            }
            ("only_subagent", _) => "only by a subagent".to_owned(),
            ("only_after_answer", _) => "only after the answer".to_owned(),
            ("only_namesake", _) => {
                format!("only another file: {}", self.namesake.as_deref().unwrap_or_default())
            }
            _ => "not read".to_owned(),
        };
        let doubt = self
            .doubt
            .as_ref()
            .map_or(String::new(), |command| format!("; `{command}` may have read it"));
        format!("{}: {words}{doubt}", self.name)
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
