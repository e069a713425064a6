//! Contested decisions: both cases, the judges' votes, and which side was which.

use convoke_service::run::{
    ContestedDecisionReport, DebateReport, DecisionPositionsReport, DefenseReport, JudgeVoteReport,
    RunShowReport,
};
use maud::{Markup, html};

use super::citations::citations;
use crate::markdown::{markdown, plain};
use crate::verdict_words::{ALTERNATIVE, SYNTHESIS, judges_in_words};

/// Shows every decision that the sketches differ on.
pub fn decisions(report: &RunShowReport) -> Markup {
    let decisions = &report.results.decisions;
    html! {
        section #decisions aria-labelledby="decisions-title" {
            h2 #decisions-title { "Contested decisions" }
            @if decisions.is_empty() {
                p.soft {
                    @if report.evidence.synthesis.is_some() {
                        "The sketches agree: nothing was contested."
                    } @else {
                        "The sketches are not compared yet."
                    }
                }
            }
            @for decision in decisions {
                (one(report, decision))
            }
            @let agreed: Vec<_> =
                report.evidence.positions.iter().filter(|decision| decision.agreed).collect();
            @if !agreed.is_empty() {
                h3 { "Agreed, so not debated" }
                @for decision in agreed {
                    p { strong { (plain(&decision.decision)) } ": " (plain(&decision.chosen)) }
                    (positions(decision))
                }
            }
        }
    }
}

fn one(report: &RunShowReport, decision: &ContestedDecisionReport) -> Markup {
    let debate = report.evidence.debates.iter().find(|debate| debate.decision == decision.id);
    let cited = |part: &'static str| {
        citations(report, |citation| {
            citation.part == part && citation.matter.as_deref() == Some(decision.id.as_str())
        })
    };
    html! {
        article.card id=(decision.id) data-row {
            h3 { span.mono { (decision.id) } " " (plain(&decision.title)) }
            p {
                (outcome(decision))
                " " span.tag { "impact " (decision.impact) }
            }
            @if let Some(taken) = &decision.resolution {
                p { strong { "Decided: " } (plain(taken)) }
            }
            @if let Some(why) = &decision.why {
                p { strong { "Why: " } (plain(why)) }
            }
            @if let Some(person) = &decision.person {
                p { strong { "A person " } (plain(person)) }
            }
            p.soft { "Tension: " (plain(&decision.tension)) }
            @let stated = report.evidence.positions.iter().find(|known| known.decision == decision.title);
            @if let Some(stated) = stated { (positions(stated)) }
            @if !decision.affected.is_empty() { p.soft { "Affects: " (plain(&decision.affected)) } }
            div.sides {
                (side("thesis", "Chosen by the synthesis", &decision.chosen, decision, (debate, cited("thesis"))))
                (side("antithesis", "Alternative", &decision.alternative, decision, (debate, cited("antithesis"))))
            }
            @if let Some(debate) = debate.filter(|debate| !debate.judges.is_empty()) {
                (judges(&debate.judges))
                (cited("judge"))
            }
        }
    }
}

/// Shows the position of each sketch, in the chair's words.
fn positions(decision: &DecisionPositionsReport) -> Markup {
    html! {
        ul.soft {
            @for sketch in &decision.sketches {
                li { (plain(&sketch.sketch)) ": " (plain(&sketch.position)) }
            }
        }
    }
}

fn outcome(decision: &ContestedDecisionReport) -> Markup {
    let (tone, words) = match (&decision.votes, decision.disposition) {
        (Some(votes), _) => ("good", format!("judges: {}", judges_in_words(votes))),
        (None, Some("fallback-to-synthesis")) => {
            ("warn", "no verdict: the synthesis's choice stays".to_owned())
        }
        (None, Some("bucket-skipped")) => {
            ("warn", "not debated: its agent was unavailable".to_owned())
        }
        (None, Some("over-cap")) => ("soft", "not debated: it ranked too low".to_owned()),
        (None, Some(other)) => ("soft", other.to_owned()),
        (None, None) => ("info", "not decided yet".to_owned()),
    };
    html! { span.tag.(tone) { (words) } }
}

fn side(
    word: &str,
    role: &str,
    option: &str,
    decision: &ContestedDecisionReport,
    (debate, citations): (Option<&DebateReport>, Markup),
) -> Markup {
    let defense = debate.and_then(|debate| debate.defenses.iter().find(|case| case.side == word));
    let has_won = decision.votes.as_ref().is_some_and(|votes| votes.winner == word);
    html! {
        div.side.won[has_won] {
            h4 { (role) @if has_won { " " span.tag.good { "won" } } }
            p { strong { (plain(option)) } }
            @if let Some(defense) = defense { (case(&decision.id, defense)) (citations) }
        }
    }
}

fn case(decision: &str, defense: &DefenseReport) -> Markup {
    html! {
        p.soft { "Defended by " (defense.written_by) "; judges read it without that name." }
        @if let Some(fault) = defense.fault {
            p.warn { "This defence could not be used: " code { (fault) } }
        } @else {
            details data-open={ "defence " (decision) " " (defense.side) } {
                summary { "The defence" }
                dl.case {
                    @for part in &defense.parts {
                        dt { (part_name(part.part)) }
                        dd.prose { (markdown(&part.text)) }
                    }
                }
            }
        }
    }
}

fn part_name(part: &str) -> &str {
    match part {
        "steelman" => "The other side at its best",
        "claim" => "Claim",
        "evidence" => "Evidence",
        "concession" => "Strongest point of the other side",
        "counter" => "Answer to it",
        "risk" => "Risk if this side is wrong",
        other => other,
    }
}

fn judges(judges: &[JudgeVoteReport]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Table" {
            table.votes {
                caption { "Judges, who did not know whose case was whose" }
                thead {
                    tr {
                        th scope="col" { "judge" }
                        th scope="col" { "answered by" }
                        th scope="col" { "read first" }
                        th scope="col" { "vote" }
                        th scope="col" { "reason" }
                    }
                }
                tbody {
                    @for judge in judges {
                        tr {
                            th scope="row" { (judge.judge) }
                            td { (judge.answered_by) }
                            td { @if judge.read_first == "thesis" { (SYNTHESIS) } @else { (ALTERNATIVE) } }
                            td {
                                @match judge.vote {
                                    Some("thesis") => { "for " (SYNTHESIS) }
                                    Some(_) => { "for " (ALTERNATIVE) }
                                    None => { span.soft { "no vote: " (judge.without_vote.unwrap_or_default()) } }
                                }
                                @match judge.same_in_both_orders {
                                    Some(true) => { br; span.soft { "the same in both orders" } }
                                    Some(false) => { br; span.warn { "changed with the order" } }
                                    None => {}
                                }
                            }
                            td { (plain(judge.reason.as_deref().unwrap_or("–"))) }
                        }
                    }
                }
            }
        }
    }
}
