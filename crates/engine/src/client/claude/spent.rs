//! Usage of tokens in Claude Code's record of a session.

use std::collections::HashMap;
use std::path::Path;

use convoke_domain::compat::ledger::token_report::HostUse;
use convoke_domain::compat::ledger::tokens::TokenCounts;
use jiff::Timestamp;
use serde::Deserialize;

use crate::transcript::each_line;

#[derive(Deserialize)]
struct Line {
    timestamp: String,
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    id: Option<String>,
    usage: Usage,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default, rename = "input_tokens")]
    input: u64,
    #[serde(default, rename = "output_tokens")]
    output: u64,
    #[serde(default, rename = "cache_read_input_tokens")]
    cache_read: u64,
    #[serde(default, rename = "cache_creation_input_tokens")]
    cache_create: u64,
}

/// Reads the usage of each answer; `None` without such a record. The record holds a line for each
/// part of an answer; an answer counts once, by its last line.
pub fn spent(path: &Path) -> Option<Vec<HostUse>> {
    let mut found: Vec<HostUse> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    each_line(path, 0, |line| {
        let Ok(Line { timestamp, message }) = serde_json::from_str(line) else { return };
        let Ok(at) = timestamp.parse::<Timestamp>() else { return };
        let Usage { input, output, cache_read, cache_create } = message.usage;
        let mut counts = TokenCounts { input, output, cache_read, cache_create, total: 0 };
        counts.total = counts.parts();
        if let Some(index) = message.id.as_ref().and_then(|id| known.get(id)) {
            found[*index].counts = counts;
        } else {
            known.extend(message.id.map(|id| (id, found.len())));
            found.push(HostUse { at, counts });
        }
    })?;
    Some(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    // P-376
    #[test]
    fn an_answer_is_counted_once() {
        let line = |id: &str, second: u32, output: u32| {
            format!(
                "{{\"type\":\"assistant\",\"timestamp\":\"2026-05-01T09:30:{second:02}.000Z\",\
                 \"message\":{{\"id\":{id},\"usage\":{{\"input_tokens\":3,\"output_tokens\":{output},\
                 \"cache_read_input_tokens\":5}}}}}}\n"
            )
        };
        let text = line("\"m1\"", 1, 1)
            + &line("\"m1\"", 2, 9)
            + "{\"type\":\"user\",\"timestamp\":\"2026-05-01T09:30:03Z\",\"message\":{}}\nnonsense\n"
            + &line("\"m2\"", 4, 2)
            + &line("null", 5, 1)
            + &line("null", 6, 1);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        fs::write(&path, text).unwrap();
        let found = spent(&path).unwrap();
        let totals: Vec<_> = found.iter().map(|used| used.counts.total).collect();
        assert_eq!(totals, [17, 10, 9, 9]);
        assert_eq!(found[0].at.to_string(), "2026-05-01T09:30:01Z", "when it began");
        assert_eq!(spent(&dir.path().join("none")), None);
    }
}
