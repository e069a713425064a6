//! The page of dispatches, with every state of a receipt and with texts of enemies.

use std::collections::BTreeMap;

use convoke_service::dispatch::DispatchRateReport;
use convoke_service::receipt::ReceiptReport;
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::*;
use crate::hostile::texts;
use crate::run::tests_of_pages::assert_inert;

fn receipt(standing: &str, more: Value) -> ReceiptReport {
    let mut receipt = json!({"name": "spec.md", "standing": standing, "proof": "in_doubt",
        "lines": [], "of": null, "namesake": null, "doubt": null, "sha256": null});
    let (known, Value::Object(more)) = (receipt.as_object_mut().unwrap(), more) else { panic!() };
    known.extend(more);
    serde_json::from_value(receipt).unwrap()
}

fn rate(name: &str) -> DispatchRateRow {
    DispatchRateRow {
        name: name.to_owned(),
        dispatches: 2,
        warnings: 1,
        warning_per_mille: Some(500),
        recorded: 2,
        unproven: 1,
        resumed: 1,
        fallbacks: 0,
    }
}

fn round(iteration: u32, cells: Vec<(&str, MatrixReceiptReport)>) -> MatrixRoundReport {
    MatrixRoundReport {
        command: "implement".to_owned(),
        role: "security-reviewer".to_owned(),
        iteration,
        mode: "fresh",
        reason: Some("first_iteration".to_owned()),
        why: Some("this is the first round"),
        verdict: Some("FAIL".to_owned()),
        prompt_chars: Some(5200),
        saved_chars: None,
        saved_tokens: None,
        confirmed: Some(true),
        at: "2026-11-17T10:00:00Z".to_owned(),
        receipts: cells.into_iter().map(|(name, cell)| (name.to_owned(), cell)).collect(),
    }
}

fn page(rounds: Vec<MatrixRoundReport>) -> String {
    let mut documents: Vec<_> =
        rounds.iter().flat_map(|round| round.receipts.keys().cloned()).collect();
    documents.sort();
    documents.dedup();
    let feature =
        FeatureMatrixReport { feature: "001-login".to_owned(), documents, rounds, left_out: 0 };
    let rates = DispatchRateReport {
        roles: vec![rate("security-reviewer")],
        features: Vec::new(),
        first_three_features: rate("first three features"),
        all: rate("all"),
        escalate: false,
        resumes_badly: false,
    };
    let report = DispatchMatrixReport { features: vec![feature], left_out: 0, rates };
    dispatch_page(&report).into_string()
}

fn cell(state: MatrixReceiptState, receipt: Option<ReceiptReport>) -> MatrixReceiptReport {
    MatrixReceiptReport { state, is_named: true, receipt }
}

fn examples() -> Vec<(&'static str, MatrixReceiptReport)> {
    let calls = |calls: Value| json!({"lines": ["1-6"], "of": 9, "shown_by": calls});
    let head = calls(json!([{"call": "head -6 spec.md", "lines": "1-6"}]));
    let whole = json!({"shown_by": [{"call": "read spec.md", "lines": "all"},
        {"call": null, "lines": "7-"}]});
    vec![
        ("a.md", cell(MatrixReceiptState::Whole, Some(receipt("whole", whole)))),
        ("b.md", cell(MatrixReceiptState::Part, Some(receipt("part", head.clone())))),
        ("c.md", cell(MatrixReceiptState::Older, Some(receipt("older", head)))),
        (
            "d.md",
            cell(
                MatrixReceiptState::InDoubt,
                Some(receipt("unsure", json!({"doubt": "make show"}))),
            ),
        ),
        ("e.md", cell(MatrixReceiptState::NotRead, Some(receipt("not_read", json!({}))))),
        ("f.md", cell(MatrixReceiptState::NoRecord, None)),
        (
            "g.md",
            cell(
                MatrixReceiptState::Earlier,
                Some(receipt("earlier", json!({"earlier_round": 1}))),
            ),
        ),
        ("h.md", cell(MatrixReceiptState::Whole, None)),
    ]
}

/// Returns a page's words, one element a line.
fn words(html: &str) -> String {
    let texts =
        html.split('<').filter_map(|part| part.split_once('>').map(|(_, text)| text.trim()));
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_round_shows_every_state_with_its_evidence() {
    let shown = page(vec![round(1, examples())]);
    let table = shown.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap();
    assert_snapshot!(words(table));
    // Without a script, a click opens the evidence.
    assert_eq!(table.matches("<details><summary").count(), examples().len());
}

#[test]
fn a_resumed_round_says_why_and_what_it_saved() {
    let resumed = MatrixRoundReport {
        mode: "resume",
        why: Some("the change is small enough"),
        verdict: Some("PASS".to_owned()),
        prompt_chars: Some(400),
        saved_chars: Some(4800),
        saved_tokens: Some(1320),
        confirmed: None,
        receipts: BTreeMap::new(),
        ..round(2, Vec::new())
    };
    let shown = page(vec![resumed]);
    for expected in [
        "resumed with a delta: the change is small enough",
        "saved about 1,320 tokens (4,800 characters)",
        "✓ PASS",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}

#[test]
fn hostile_texts_do_nothing_on_the_page_of_dispatches() {
    for (name, text) in texts() {
        let more = json!({"namesake": text, "doubt": text, "lines": [text],
            "shown_by": [{"call": text, "lines": "all"}]});
        let cells = ["whole", "part", "older", "only_namesake", "not_read"].map(|standing| {
            (text.as_str(), cell(MatrixReceiptState::Part, Some(receipt(standing, more.clone()))))
        });
        let rounds = cells.into_iter().map(|cell| MatrixRoundReport {
            command: text.clone(),
            role: text.clone(),
            verdict: Some(text.clone()),
            at: text.clone(),
            ..round(1, vec![cell])
        });
        assert_inert(&page(rounds.collect()), &name);
    }
}
