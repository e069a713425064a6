//! Findings of the review: each with its voters, and their reasons on demand.

use convoke_domain::design::seat::Panel;
use convoke_domain::design::seat_name::label_seat;
use convoke_domain::design::tally::FindingVerdict;
use convoke_service::run::{
    FindingVoteReport, PanelFindingReport, ReviewerScoreReport, RunShowReport,
};
use maud::{Markup, html};

use super::citations::citations;
use crate::markdown::{markdown, plain};

/// Shows the findings against the voters, and every finding in full.
pub fn findings(report: &RunShowReport) -> Markup {
    let findings = &report.results.findings;
    let panel = report.panel.as_ref();
    html! {
        section #findings aria-labelledby="findings-title" {
            h2 #findings-title { "Findings and votes" }
            @if findings.is_empty() {
                p.soft { "No reviewer has raised a finding." }
            } @else {
                (matrix(findings, &voters(findings)))
                @for finding in findings { (one(report, finding)) }
            }
            @if let Some(tally) = &report.results.tally {
                (scores(&tally.scores, panel))
            }
        }
    }
}

/// Returns the voters in the order of their columns.
fn voters(findings: &[PanelFindingReport]) -> Vec<&str> {
    let first = findings.first().map_or(&[][..], |finding| finding.votes.as_slice());
    first.iter().map(|vote| vote.voter.as_str()).collect()
}

fn matrix(findings: &[PanelFindingReport], voters: &[&str]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Table" {
            table.matrix {
                caption { "Each cell opens the voter's reason" }
                thead {
                    tr {
                        th scope="col" { "finding" }
                        @for voter in voters { th scope="col" { (voter) } }
                        th scope="col" { "verdict" }
                    }
                }
                tbody {
                    @for finding in findings {
                        tr {
                            th.title scope="row" {
                                a href={ "#" (finding.id) } { (finding.id) }
                                " " (plain(&finding.title))
                                @if finding.withheld { " " span.tag.warn { "withheld" } }
                            }
                            @for vote in &finding.votes { td { (cell(&finding.id, vote)) } }
                            td { (verdict(finding)) }
                        }
                    }
                }
            }
        }
    }
}

fn cell(finding: &str, vote: &FindingVoteReport) -> Markup {
    let (mark, tone) = match vote.vote {
        Some("YES") => ("✔ YES", "good"),
        Some("NO") => ("✘ NO", "bad"),
        Some("EXONERATE") => ("○ EXONERATE", "info"),
        Some(other) => (other, "soft"),
        None => ("– none", "soft"),
    };
    let reason = vote.reason.as_deref().filter(|reason| !reason.is_empty());
    html! {
        @if let Some(reason) = reason {
            details data-open={ "vote " (finding) " " (vote.voter) } {
                summary { span.(tone) { (mark) } } p { (plain(reason)) }
            }
        } @else {
            span.(tone) { (mark) }
        }
    }
}

fn verdict(finding: &PanelFindingReport) -> Markup {
    let Some(verdict) = finding.verdict else {
        return html! { span.soft { "not voted on yet" } };
    };
    let tone = match verdict {
        FindingVerdict::Accepted => "good",
        FindingVerdict::Rejected | FindingVerdict::Exonerated => "soft",
        FindingVerdict::Neutral | FindingVerdict::Undecided | FindingVerdict::Tied => "warn",
    };
    let other = finding.panel.filter(|panel| *panel != verdict);
    html! {
        span.tag.(tone) { (verdict.word()) }
        @if let Some(panel) = other { br; span.soft { "by a person; the panel: " (panel.word()) } }
    }
}

fn one(report: &RunShowReport, finding: &PanelFindingReport) -> Markup {
    let panel = report.panel.as_ref();
    let name = |label: &str| panel.map_or(label.to_owned(), |panel| label_seat(label, panel));
    let proposers: Vec<_> = finding.proposers.iter().map(|label| name(label)).collect();
    html! {
        article.card id=(finding.id) data-row {
            h3 { span.mono { (finding.id) } " " (plain(&finding.title)) }
            p {
                (verdict(finding))
                @if let Some(focus) = finding.focus { " " span.tag { (focus) } }
                @if !finding.in_scope { " " span.tag { "outside of the planned change" } }
                @if finding.withheld { " " span.tag.warn { "withheld from published files" } }
                " " span.soft { "raised by " (proposers.join(", ")) }
            }
            div.prose { (markdown(&finding.concern)) }
            @if let Some(revision) = &finding.revision {
                p { strong { "Proposed change" } }
                div.prose { (markdown(revision)) }
            }
            (citations(report, |citation| {
                matches!(citation.part, "finding" | "vote")
                    && citation.matter.as_deref() == Some(finding.id.as_str())
            }))
            @if let Some(note) = &finding.note {
                p { strong { "What the revision did: " } (plain(note)) }
            }
            @if let Some(person) = &finding.person {
                p { strong { "A person's reason: " } (plain(person)) }
            }
        }
    }
}

fn scores(scores: &[ReviewerScoreReport], panel: Option<&Panel>) -> Markup {
    let name = |label: &str| panel.map_or(label.to_owned(), |panel| label_seat(label, panel));
    html! {
        @if !scores.is_empty() {
            div.scroll tabindex="0" role="group" aria-label="Table" {
                table {
                    caption { "Reviewers" }
                    thead {
                        tr {
                            th scope="col" { "reviewer" }
                            @for column in ["findings", "accepted", "neutral", "rejected", "out of scope", "score"] {
                                th.number scope="col" { (column) }
                            }
                        }
                    }
                    tbody {
                        @for score in scores {
                            tr {
                                th scope="row" { (name(&score.reviewer)) }
                                td.number { (score.findings) }
                                td.number { (score.accepted) }
                                td.number { (score.neutral) }
                                td.number { (score.rejected) }
                                td.number { (score.out_of_scope) }
                                td.number { (score.points) }
                            }
                        }
                    }
                }
            }
        }
    }
}
