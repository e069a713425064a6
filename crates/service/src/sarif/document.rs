//! The JSON of a log.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{FilePlace, LoggedFinding, LoggedNotice, ReviewLog};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

impl ReviewLog {
    /// Returns the log as a SARIF 2.1.0 document.
    pub fn document(&self) -> Value {
        let rules: BTreeSet<_> = self.findings.iter().map(|finding| &finding.rule).collect();
        let rules: Vec<_> = rules.into_iter().collect();
        let results = self.findings.iter().map(|finding| {
            let index = rules.iter().position(|rule| **rule == finding.rule);
            result(finding, index.unwrap_or_default())
        });
        let notices: Vec<_> = self.notices.iter().map(notification).collect();
        json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "Convoke",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules.iter().map(|rule| described(rule)).collect::<Vec<_>>(),
                } },
                "automationDetails": { "id": format!("convoke/{}/", self.command) },
                "invocations": [{
                    "executionSuccessful": self.took_place,
                    "toolExecutionNotifications": notices,
                }],
                "columnKind": "unicodeCodePoints",
                "results": results.collect::<Vec<_>>(),
            }],
        })
    }
}

fn described(rule: &str) -> Value {
    json!({ "id": rule, "shortDescription": { "text": format!("A finding of {rule}") } })
}

fn result(finding: &LoggedFinding, index: usize) -> Value {
    let mut result = json!({
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.level.word(),
        "message": { "text": escaped(&finding.text) },
        "locations": [{ "physicalLocation": location(&finding.place) }],
    });
    if let Some(id) = &finding.id {
        result["partialFingerprints"] = json!({ "convokeFinding/v1": id });
    }
    result
}

fn location(place: &FilePlace) -> Value {
    let mut location = json!({ "artifactLocation": {
        "uri": uri(&place.path),
        "uriBaseId": "%SRCROOT%",
    } });
    if let Some(lines) = place.lines {
        location["region"] = json!({ "startLine": lines.first, "endLine": lines.last });
    }
    location
}

fn notification(notice: &LoggedNotice) -> Value {
    json!({ "level": notice.level.word(), "message": { "text": escaped(&notice.text) } })
}

/// Escapes what would become a link: a model's words must not lead a reader anywhere.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

/// Returns a path as a reference of RFC 3986.
fn uri(path: &str) -> String {
    let kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let part = |byte: u8| {
        if kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    path.bytes().map(part).collect()
}

#[cfg(test)]
mod tests {
    use convoke_domain::receipt::Span;

    use super::*;
    use crate::sarif::LogLevel;

    fn finding(text: &str, path: &str, lines: Option<Span>) -> LoggedFinding {
        LoggedFinding {
            rule: "b-reviewer".to_owned(),
            level: LogLevel::Error,
            text: text.to_owned(),
            place: FilePlace { path: path.to_owned(), lines },
            id: Some("12a8c5579daa".to_owned()),
        }
    }

    // The properties that SARIF 2.1.0 requires, and those that code hosts require besides.
    #[test]
    fn a_log_has_what_sarif_requires() {
        let lines = Some(Span { first: 3, last: 4 });
        let log = ReviewLog {
            command: "dispatch loop",
            took_place: true,
            findings: vec![finding("No number.", "docs/a b/größe.md", lines)],
            notices: vec![LoggedNotice { level: LogLevel::Note, text: "2 rounds".to_owned() }],
        };
        let document = log.document();
        assert_eq!(document["version"], "2.1.0");
        let run = &document["runs"][0];
        assert_eq!(run["tool"]["driver"]["name"], "Convoke");
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
        let result = &run["results"][0];
        assert_eq!(result["ruleIndex"], 0);
        assert_eq!(run["tool"]["driver"]["rules"][0]["id"], result["ruleId"]);
        assert_eq!(result["message"]["text"], "No number.");
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "docs/a%20b/gr%C3%B6%C3%9Fe.md");
        assert_eq!(place["region"], json!({ "startLine": 3, "endLine": 4 }));
        let notice = &run["invocations"][0]["toolExecutionNotifications"][0];
        assert_eq!(notice["level"], "note");
    }

    #[test]
    fn a_models_words_are_no_link() {
        let hostile = "see [the fix](https://example.org/run.sh) \\[a]";
        let log = ReviewLog {
            command: "design",
            took_place: false,
            findings: vec![finding(hostile, ".", None)],
            notices: Vec::new(),
        };
        let document = log.document();
        let text = &document["runs"][0]["results"][0]["message"]["text"];
        assert_eq!(text, "see \\[the fix\\](https://example.org/run.sh) \\\\\\[a\\]");
        assert!(
            document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
                .get("region")
                .is_none()
        );
    }
}
