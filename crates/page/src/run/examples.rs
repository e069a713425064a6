//! A run with one of everything, for tests of pages and reports.

use std::collections::BTreeMap;

use convoke_domain::design::seat::Panel;
use convoke_domain::design::tally::FindingVerdict;
use convoke_domain::lane::ledger::Sum;
use convoke_service::run::{
    CitationReport, CompareReport, CompareSideReport, ComparedFindingReport,
    ContestedDecisionReport, DebateReport, DecisionPositionsReport, DefensePartReport,
    DefenseReport, FindingVoteReport, JournalStateReport, JudgeVoteReport, JudgeVotesReport,
    LaneBarReport, MatterReport, MattersReport, PanelFindingReport, PanelVoiceReport,
    PlanSizeReport, PlanVersionReport, ResultsReport, ReviewerScoreReport, RulesReport,
    RunEventReport, RunEvidenceReport, RunJournalReport, RunShowReport, RunStateReport,
    RunTimelineReport, RunWaitReport, SketchPositionReport, SketchReport, SpendingReport,
    SpendingRow, StepSpanReport, VoteTallyReport, WaitingQuestionReport,
};

/// When the example began, in milliseconds since 1970.
const BEGUN: i64 = 1_780_000_000_000;

/// Returns a run in which every text of an agent or a person is `text`.
pub(crate) fn example(text: &str) -> RunShowReport {
    RunShowReport {
        run: "20260304-050607-abcde".to_owned(),
        state: RunStateReport::Stopped,
        feature: text.to_owned(),
        request: Some(format!("{text}\n\nin full")),
        journal: journal(),
        ending: "complete, DEGRADED (1 warning)".to_owned(),
        rules: RulesReport { rules: 7, written_under: 7 },
        degraded: vec![text.to_owned()],
        warnings: vec![text.to_owned()],
        independence: Some(text.to_owned()),
        matters: matters(text),
        results: results(text),
        evidence: evidence(text),
        artifacts: BTreeMap::new(),
        lanes: Vec::new(),
        timeline: timeline(text),
        cost: cost(),
        journal_cost: cost(),
        is_rehearsal: false,
        panel: Some(Panel::default()),
    }
}

/// Returns a run beside its single pass, in which every text is `text`. The client of the single pass
/// counted nothing.
pub(crate) fn beside_single_pass(text: &str) -> CompareReport {
    let side = |way, lanes, input_tokens: Option<u64>, micro_dollars| CompareSideReport {
        way,
        lanes,
        without_usage: u64::from(input_tokens.is_none()),
        words: 1200,
        tasks: 2,
        missing: 0,
        input_tokens,
        output_tokens: input_tokens,
        micro_dollars,
        seconds: 90,
    };
    let finding = |id: &str, verdict| ComparedFindingReport {
        id: id.to_owned(),
        title: text.to_owned(),
        verdict,
    };
    CompareReport {
        run: "20260304-050607-abcde".to_owned(),
        feature: text.to_owned(),
        is_finished: false,
        decided: vec![text.to_owned()],
        panel: side("panel", 26, Some(30_000), Some(500_000)),
        single: side("single", 1, None, None),
        panel_plan: format!("{text}, and in `b.rs`"),
        single_plan: text.to_owned(),
        made_at: "2026-03-04T05:06:07Z".to_owned(),
        agent: text.to_owned(),
        model: Some(text.to_owned()),
        findings: vec![
            finding("FINDING_1", Some(FindingVerdict::Accepted)),
            finding("FINDING_2", None),
        ],
    }
}

fn journal() -> RunJournalReport {
    RunJournalReport {
        events: 4,
        at: 4,
        hash: "0123456789abcdef".repeat(4),
        state: JournalStateReport::Sound,
        begun_ms: Some(BEGUN),
        at_ms: Some(BEGUN + 90_000),
    }
}

fn matters(text: &str) -> MattersReport {
    let matter = |id: &str, withheld| MatterReport {
        id: id.to_owned(),
        title: text.to_owned(),
        text: text.to_owned(),
        panel: "tied",
        votes: "1 for, 1 against".to_owned(),
        withheld,
        decision: None,
        is_accepted: false,
    };
    MattersReport {
        undecided: vec![matter("FINDING_2", false), matter("OOS_1", true)],
        withheld: vec![matter("OOS_1", true)],
        decided: Vec::new(),
    }
}

fn results(text: &str) -> ResultsReport {
    ResultsReport {
        decisions: vec![decision(text)],
        findings: vec![
            finding("FINDING_1", text, FindingVerdict::Accepted),
            finding("FINDING_2", text, FindingVerdict::Tied),
            PanelFindingReport {
                withheld: true,
                ..finding("OOS_1", "WITHHELD SECRET", FindingVerdict::Accepted)
            },
        ],
        tally: Some(VoteTallyReport {
            voters: vec!["Claude".to_owned(), "Codex".to_owned()],
            eligible: 2,
            accepted: 1,
            scores: vec![ReviewerScoreReport {
                reviewer: "Cursor-Arch".to_owned(),
                findings: 2,
                accepted: 1,
                neutral: 0,
                exonerated: 0,
                rejected: 0,
                out_of_scope: 1,
                out_of_scope_accepted: 1,
                points: 1,
            }],
        }),
        plan: Some(PlanSizeReport { words: 1200, tasks: 2 }),
        diagram: Some("drawn"),
        voices: vec![PanelVoiceReport {
            part: "vote",
            seat: "Codex".to_owned(),
            owner: "Codex".to_owned(),
            answered_by: "Claude".to_owned(),
            requested_model: None,
            model: Some(text.to_owned()),
        }],
    }
}

fn decision(text: &str) -> ContestedDecisionReport {
    let some = || Some(text.to_owned());
    ContestedDecisionReport {
        id: "DECISION_1".to_owned(),
        title: text.to_owned(),
        chosen: text.to_owned(),
        alternative: text.to_owned(),
        tension: text.to_owned(),
        impact: "high",
        affected: text.to_owned(),
        resolution: some(),
        disposition: Some("voted"),
        thesis: some(),
        antithesis: some(),
        votes: Some(JudgeVotesReport { winner: "thesis", thesis: 1, antithesis: 0 }),
        why: some(),
        person: some(),
    }
}

fn finding(id: &str, text: &str, verdict: FindingVerdict) -> PanelFindingReport {
    let vote = |voter: &str, vote| FindingVoteReport {
        voter: voter.to_owned(),
        vote,
        reason: vote.map(|_| text.to_owned()),
    };
    PanelFindingReport {
        id: id.to_owned(),
        title: text.to_owned(),
        in_scope: id.starts_with("FINDING"),
        focus: None,
        proposers: vec!["Cursor-Arch".to_owned()],
        concern: text.to_owned(),
        revision: Some(text.to_owned()),
        withheld: false,
        votes: vec![vote("Claude", Some("YES")), vote("Codex", None)],
        counts: None,
        verdict: Some(verdict),
        panel: Some(verdict),
        person: Some(text.to_owned()),
        note: Some(text.to_owned()),
    }
}

fn citation(part: &'static str, matter: Option<&str>, text: &str) -> CitationReport {
    CitationReport {
        part,
        seat: None,
        matter: matter.map(str::to_owned),
        place: text.to_owned(),
        words: Some(text.to_owned()),
        verdict: "fails",
        found: "exists, but the quoted words are not in the file".to_owned(),
    }
}

fn evidence(text: &str) -> RunEvidenceReport {
    let defense = |side, fault: Option<&'static str>| DefenseReport {
        side,
        written_by: "Codex".to_owned(),
        parts: vec![DefensePartReport { part: "claim", text: text.to_owned() }],
        fault,
    };
    let judge = |vote: Option<&'static str>| JudgeVoteReport {
        judge: "Codex".to_owned(),
        answered_by: "Codex".to_owned(),
        vote,
        reason: vote.map(|_| text.to_owned()),
        without_vote: vote.is_none().then_some("abstained"),
        read_first: vote.unwrap_or("antithesis"),
        same_in_both_orders: None,
    };
    let plan = |cause, matters: &[&str], end: &str| PlanVersionReport {
        cause,
        matters: matters.iter().map(|&id| id.to_owned()).collect(),
        text: format!("## Approach\n{text}\n{end}\n"),
    };
    RunEvidenceReport {
        not_asked: Vec::new(),
        positions: vec![DecisionPositionsReport {
            decision: text.to_owned(),
            chosen: text.to_owned(),
            alternative: text.to_owned(),
            agreed: true,
            sketches: vec![SketchPositionReport {
                sketch: text.to_owned(),
                position: text.to_owned(),
            }],
        }],
        citations: vec![citation("plan", None, text), citation("finding", Some("FINDING_1"), text)],
        sketches: vec![SketchReport {
            seat: "Cursor-Arch".to_owned(),
            owner: "Cursor".to_owned(),
            written_by: "Claude".to_owned(),
            text: text.to_owned(),
        }],
        synthesis: Some(text.to_owned()),
        debates: vec![DebateReport {
            decision: "DECISION_1".to_owned(),
            defenses: vec![defense("thesis", None), defense("antithesis", None)],
            judges: vec![judge(Some("thesis")), judge(None)],
        }],
        plans: vec![plan("draft", &[], "one"), plan("accepted", &["FINDING_1"], "two")],
        diagram_text: Some(format!("flowchart TD\n  A[{text}] --> B")),
        question: Some(WaitingQuestionReport {
            id: "3.5/1".to_owned(),
            title: text.to_owned(),
            text: text.to_owned(),
            options: vec![text.to_owned(), "other".to_owned()],
            recommended: "other".to_owned(),
            is_open: true,
        }),
    }
}

fn timeline(text: &str) -> RunTimelineReport {
    let event = |event, after, text: &str| RunEventReport {
        event,
        at_ms: BEGUN + after,
        text: text.to_owned(),
    };
    RunTimelineReport {
        steps: vec![StepSpanReport {
            number: "2a",
            name: "sketches",
            from_event: 2,
            from_ms: BEGUN + 10_000,
            to_ms: BEGUN + 60_000,
        }],
        lanes: vec![lane(text, "OK", 2, Some(3)), lane(text, "cut-off", 3, Some(4))],
        waits: vec![RunWaitReport {
            kind: "stopped",
            reason: text.to_owned(),
            from_event: 3,
            from_ms: BEGUN + 60_000,
            to_ms: None,
        }],
        events: vec![
            event(1, 0, "the design was requested"),
            event(2, 10_000, text),
            event(3, 60_000, text),
            event(4, 90_000, text),
        ],
    }
}

fn lane(text: &str, status: &'static str, from: u64, to: Option<u64>) -> LaneBarReport {
    LaneBarReport {
        lane: "sketch/Cursor-Arch".to_owned(),
        step: "2a",
        seat: "Cursor · Architecture".to_owned(),
        agent: "http:local".to_owned(),
        requested_model: Some(text.to_owned()),
        model: Some(text.to_owned()),
        status,
        reason: Some(text.to_owned()),
        is_second_request: false,
        is_substitute: false,
        restarts: 0,
        from_event: from,
        from_ms: BEGUN + 10_000,
        to_event: to,
        to_ms: to.map(|_| BEGUN + 60_000),
        input_tokens: Some(1000),
        output_tokens: Some(200),
        micro_dollars: None,
    }
}

fn cost() -> SpendingReport {
    let row = |name: &str| SpendingRow {
        name: name.to_owned(),
        lanes: 1,
        without_usage: 0,
        partial_usage: 0,
        input_tokens: 1000,
        output_tokens: 200,
        micro_dollars: Some(120_000),
        sum: Sum::default(),
        step: None,
    };
    SpendingReport {
        is_recorded: false,
        recorded_lanes: 0,
        steps: vec![row("2a: sketches")],
        seats: vec![row("sketch/Cursor-Arch")],
        total: row("total"),
        accepted_findings: 1,
        tokens_per_accepted_finding: Some(1200),
        micro_dollars_per_accepted_finding: Some(120_000),
    }
}
