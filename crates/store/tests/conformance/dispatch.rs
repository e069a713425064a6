//! Rules about dispatches.

use convoke_domain::dispatch::rate::{DispatchMode, LedgerEntry};
use convoke_domain::dispatch::resume::ResumeState;
use convoke_store::dispatch::{DispatchPost, Round};

use super::*;

fn entry(feature: &str) -> LedgerEntry {
    LedgerEntry {
        feature: feature.to_owned(),
        command: "implement".to_owned(),
        role: "security-reviewer".to_owned(),
        iteration: 2,
        mode: DispatchMode::Fallback,
        prompt_chars: Some(700),
        artifacts: vec!["design.md".to_owned(), "spec.md".to_owned()],
        confirmed: Some(false),
        missing: vec!["spec.md".to_owned()],
        unproven: Some(Vec::new()),
        proven: vec!["design.md".to_owned()],
        receipts: Some("[]".to_owned()),
        verdict: Some("FAIL".to_owned()),
        reason: Some("resume_failed".to_owned()),
        fresh_chars: Some(900),
        at: at(7),
    }
}

// D-52: appended, never changed, over all branches of a project.
pub(super) fn the_ledger_is_kept(store: &dyn Store) {
    let elsewhere = Scope { branch: "other".to_owned(), ..here() };
    let plain = LedgerEntry {
        unproven: None,
        confirmed: None,
        prompt_chars: None,
        receipts: None,
        verdict: None,
        reason: None,
        fresh_chars: None,
        ..entry("a")
    };
    store.record_dispatch(&here(), &entry("b")).unwrap();
    store.record_dispatch(&elsewhere, &plain).unwrap();
    assert_eq!(store.ledger(&here().project).unwrap(), [entry("b"), plain]);
    assert_eq!(store.ledger("another").unwrap(), []);
}

fn round(iteration: u32, agent_id: Option<&str>) -> Round {
    let state = ResumeState {
        agent_id: agent_id.map(str::to_owned),
        iteration1_prompt_length: 1000,
        last_iteration: iteration,
        last_commit_sha: Some(format!("c{iteration}")),
    };
    Round {
        mode: DispatchMode::Fresh,
        prompt_chars: 500,
        state,
        seen: Some("tree".to_owned()),
        reason: Some("first_iteration".to_owned()),
        fresh_chars: Some(500),
    }
}

// D-60: asking for the same round again finds what there was before it.
pub(super) fn rounds_are_kept(store: &dyn Store) {
    let post = DispatchPost { feature: "031", role: "spec-reviewer" };
    let before = |iteration| store.round_before(&here(), post, iteration).unwrap();
    assert_eq!(before(5), None);
    assert!(!store.name_session(&here(), post, 2, "a").unwrap());
    store.keep_round(&here(), post, &round(1, None)).unwrap();
    assert!(store.name_session(&here(), post, 2, "a").unwrap());
    assert_eq!((before(1), before(2)), (None, Some(round(1, Some("a")))));
    store.keep_round(&here(), post, &round(2, Some("a"))).unwrap();
    store.keep_round(&here(), post, &round(3, None)).unwrap();
    assert_eq!((before(3), before(9)), (Some(round(2, Some("a"))), Some(round(3, None))));
    // Beginning again forgets what came later.
    store.keep_round(&here(), post, &round(2, None)).unwrap();
    assert_eq!(before(9), Some(round(2, None)));
    let other = DispatchPost { role: "design-reviewer", ..post };
    store.keep_round(&here(), other, &round(1, Some("b"))).unwrap();
    let names: Vec<_> =
        store.rounds(&here(), "031").unwrap().into_iter().map(|(role, _)| role).collect();
    assert_eq!(names, ["design-reviewer", "spec-reviewer"]);
    let elsewhere = Scope { branch: "other".to_owned(), ..here() };
    store.keep_round(&elsewhere, post, &round(1, None)).unwrap();
    assert_eq!(store.forget_rounds(&here(), "031").unwrap(), 2);
    assert!(
        store.round_before(&elsewhere, post, 9).unwrap().is_some(),
        "another branch keeps its own"
    );
    store.keep_round(&here(), post, &round(1, None)).unwrap();
    assert!(!store.name_session(&here(), post, 1, "a").unwrap(), "there is none before the first");
    store.forget_rounds(&here(), "031").unwrap();
    assert_eq!(before(9), None);
}

// D-61
pub(super) fn the_last_gate_counts(store: &dyn Store) {
    let tried = |client: &str, version: &str, reason: Option<&str>| TriedClient {
        client: client.to_owned(),
        version: Some(version.to_owned()),
        reason: reason.map(str::to_owned),
        at: at(1),
    };
    assert_eq!(store.gate("claude").unwrap(), None);
    store.record_gate(&tried("codex", "1", None)).unwrap();
    store.record_gate(&tried("claude", "1", Some("V2: no"))).unwrap();
    store.record_gate(&tried("claude", "2", None)).unwrap();
    assert_eq!(store.gate("claude").unwrap(), Some(tried("claude", "2", None)));
}

// D-26: a loop of reviews is kept until the feature's rounds are forgotten.
pub(super) fn loops_are_kept(store: &dyn Store) {
    let name = LoopName { feature: "031", command: "implement" };
    let entry = |iteration, role: &str, passed| LoopEntry {
        iteration,
        role: role.to_owned(),
        passed,
        text: "{}".to_owned(),
        spent: AnswerUsage { input: Some(7), output: None, micro_dollars: Some(5) },
        at: at(1),
    };
    assert_eq!(store.last_stop(&here(), name).unwrap(), None);
    for kept in [
        entry(2, "a", Some(true)),
        entry(1, "b", Some(true)),
        entry(1, "a", Some(true)),
        entry(1, "a", Some(false)),
        entry(1, "implementer", None),
    ] {
        store.keep_answer(&here(), name, &kept).unwrap();
    }
    store.keep_stop(&here(), name, LoopStop::ByHand, at(2)).unwrap();
    store.keep_stop(&here(), name, LoopStop::Approved, at(3)).unwrap();
    assert_eq!(store.last_stop(&here(), name).unwrap(), Some(LoopStop::Approved));
    let expected = [
        entry(1, "a", Some(false)),
        entry(1, "b", Some(true)),
        entry(1, "implementer", None),
        entry(2, "a", Some(true)),
    ];
    assert_eq!(store.answers(&here(), name).unwrap(), expected);
    let other = LoopName { command: "specify", ..name };
    assert_eq!(store.answers(&here(), other).unwrap(), []);
    store.forget_rounds(&here(), "031").unwrap();
    assert_eq!(store.answers(&here(), name).unwrap(), []);
    assert_eq!(store.last_stop(&here(), name).unwrap(), None);
}
