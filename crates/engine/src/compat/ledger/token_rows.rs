//! Rows of the token ledger as JSON, one object on a line. The order of the keys is agreed on.

use convoke_domain::compat::ledger::tokens::{TokenCounts, TokenEvent, TokenRow, TokenUse, stamp};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Object {
    Mark {
        step: String,
        ts: String,
    },
    Vendor {
        vendor: String,
        input: u64,
        output: u64,
        cache_read: u64,
        cache_create: u64,
        total: u64,
        raw: String,
        ts: String,
    },
}

/// Returns a row with its line ending.
pub fn line(row: &TokenRow) -> String {
    let ts = stamp(row.at);
    let object = match &row.event {
        TokenEvent::Mark(step) => Object::Mark { step: step.clone(), ts },
        TokenEvent::Use(TokenUse { vendor, counts, raw }) => Object::Vendor {
            vendor: vendor.clone(),
            input: counts.input,
            output: counts.output,
            cache_read: counts.cache_read,
            cache_create: counts.cache_create,
            total: counts.total,
            raw: raw.clone(),
            ts,
        },
    };
    // Strings and numbers can always be written.
    serde_json::to_string(&object).unwrap_or_default() + "\n"
}

/// Reads all rows of a ledger, and counts the invalid lines.
pub fn rows(text: &str) -> (Vec<TokenRow>, usize) {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let rows: Vec<_> = lines.iter().filter_map(|line| row(line)).collect();
    let wrong = lines.len() - rows.len();
    (rows, wrong)
}

fn row(line: &str) -> Option<TokenRow> {
    let (ts, event) = match serde_json::from_str(line).ok()? {
        Object::Mark { step, ts } => (ts, TokenEvent::Mark(step)),
        Object::Vendor { vendor, input, output, cache_read, cache_create, total, raw, ts } => {
            let counts = TokenCounts { input, output, cache_read, cache_create, total };
            (ts, TokenEvent::Use(TokenUse { vendor, counts, raw }))
        }
    };
    Some(TokenRow { at: ts.parse::<Timestamp>().ok()?, event })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // P-371: byte for byte.
    #[test]
    fn rows_are_compact_and_in_order() {
        let at: Timestamp = "2026-05-01T09:30:00.7Z".parse().unwrap();
        let step = "Step 1 — design Step 3 plan review".to_owned();
        assert_eq!(
            line(&TokenRow { at, event: TokenEvent::Mark(step) }),
            "{\"type\":\"mark\",\"step\":\"Step 1 — design Step 3 plan review\",\
             \"ts\":\"2026-05-01T09:30:00Z\"}\n"
        );
        let counts = TokenCounts { total: 18250, ..TokenCounts::default() };
        let used = TokenUse { vendor: "codex".to_owned(), counts, raw: "codex_review".to_owned() };
        assert_eq!(
            line(&TokenRow { at, event: TokenEvent::Use(used) }),
            "{\"type\":\"vendor\",\"vendor\":\"codex\",\"input\":0,\"output\":0,\"cache_read\":0,\
             \"cache_create\":0,\"total\":18250,\"raw\":\"codex_review\",\
             \"ts\":\"2026-05-01T09:30:00Z\"}\n"
        );
    }

    proptest! {
        #[test]
        fn every_event_is_one_line_and_can_be_read(step in any::<String>(), raw in any::<String>()) {
            let at = Timestamp::from_second(1_777_627_800).unwrap();
            let used = TokenUse { vendor: "codex".to_owned(), counts: TokenCounts::default(), raw };
            let said = [TokenRow { at, event: TokenEvent::Mark(step) }, TokenRow { at, event: TokenEvent::Use(used) }];
            let text: String = said.iter().map(line).collect();
            prop_assert_eq!(text.matches('\n').count(), 2);
            prop_assert_eq!(rows(&text), (said.to_vec(), 0));
        }

        #[test]
        fn any_text_is_read(text in any::<String>()) {
            let (found, wrong) = rows(&text);
            prop_assert!(found.len() + wrong <= text.lines().count());
        }
    }
}
