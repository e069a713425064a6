//! What a run waits for a person with: a question, and matters that the panel left open.

use convoke_service::run::{MatterReport, RunStateReport, WaitingQuestionReport};
use maud::{Markup, html};

use super::{RunPage, run_path};
use crate::layout::Access;
use crate::limits::LONGEST_REASON;
use crate::markdown::{markdown, plain};

/// Shows the question and the matters, with forms where a person may answer.
pub(super) fn forms(page: &RunPage<'_>) -> Markup {
    let report = page.report;
    let is_now = report.journal.at == report.journal.events;
    // A running process asks at its own front end; a rehearsal takes no decision.
    let is_free = is_now && report.state != RunStateReport::Running && !report.is_rehearsal;
    let access = if is_free { page.access } else { Access::ReadOnly };
    html! {
        @if let Some(asked) = report.evidence.question.as_ref().filter(|_| is_now) {
            section.waiting #question aria-labelledby="question-title" {
                h2 #question-title { "The run waits for your answer" }
                (question(page, asked, access))
            }
        }
        @if !report.matters.undecided.is_empty() {
            section.waiting #undecided aria-labelledby="undecided-title" {
                h2 #undecided-title { "The panel left this to you" }
                @for matter in &report.matters.undecided { (undecided(page, matter, access)) }
            }
        }
        @if !report.matters.decided.is_empty() {
            section #decided aria-labelledby="decided-title" {
                h2 #decided-title { "People decided" }
                ul {
                    @for matter in &report.matters.decided {
                        @if let Some(decision) = &matter.decision {
                            li {
                                a href={ "#" (matter.id) } { (matter.id) } " " (plain(&matter.title)) ": "
                                strong { (decision.choice) } ", because " (plain(&decision.because))
                                @if decision.pending { " " span.tag.warn { "the plan is not revised yet" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn question(page: &RunPage<'_>, asked: &WaitingQuestionReport, access: Access) -> Markup {
    let run = &page.report.run;
    html! {
        p { strong { (plain(&asked.title)) } }
        div.prose { (markdown(&asked.text)) }
        @if access == Access::Full {
            form.stack method="post" action={ (run_path(run)) "/answer" } {
                input type="hidden" name="csrf" value=(page.csrf);
                input type="hidden" name="question" value=(asked.id);
                @if !asked.options.is_empty() {
                    fieldset {
                        legend { "Options" }
                        @for (place, option) in asked.options.iter().enumerate() {
                            label.option {
                                input type="radio" name="answer" value=(place + 1)
                                    checked[*option == asked.recommended]
                                    required[!asked.is_open];
                                " " (plain(option))
                                @if *option == asked.recommended { " " span.tag.info { "recommended" } }
                            }
                        }
                    }
                }
                @if asked.is_open {
                    label for="words" {
                        @if asked.options.is_empty() { "Your answer" } @else { "Or in your own words" }
                    }
                    textarea #words name="words" maxlength=(LONGEST_REASON) {}
                    p.soft { "Without an answer, the recommendation counts: " (plain(&asked.recommended)) }
                }
                div { button.primary type="submit" { "Answer, and resume the run" } }
            }
        } @else {
            ol { @for option in &asked.options { li { (plain(option)) } } }
            p.soft { "Recommended: " (plain(&asked.recommended)) }
            p { "Answer in a terminal: " code { "convoke resume " (run) } }
        }
    }
}

fn undecided(page: &RunPage<'_>, matter: &MatterReport, access: Access) -> Markup {
    let run = &page.report.run;
    let field = format!("because-{}", matter.id);
    html! {
        article.card {
            h3 { a href={ "#" (matter.id) } { (matter.id) } " " (plain(&matter.title)) }
            p.soft { "The panel: " (matter.panel) "; " (plain(&matter.votes)) }
            div.prose { (markdown(&matter.text)) }
            @if access == Access::Full {
                form.stack method="post" action={ (run_path(run)) "/decide" } {
                    input type="hidden" name="csrf" value=(page.csrf);
                    input type="hidden" name="matter" value=(matter.id);
                    label for=(field) { "Your reason (written to the journal)" }
                    textarea id=(field) name="because" required maxlength=(LONGEST_REASON) {}
                    div.buttons {
                        button.primary name="choice" value="accept" type="submit" { "Accept" }
                        button name="choice" value="reject" type="submit" { "Reject" }
                    }
                }
            } @else {
                p { "Decide in a terminal: " code { "convoke decide " (run) " " (matter.id) " accept --because \"REASON\"" } }
            }
        }
    }
}
