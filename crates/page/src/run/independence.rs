//! Who answered for which seat, with which model.

use convoke_service::run::RunShowReport;
use maud::{Markup, html};

use crate::markdown::plain;

/// Shows the requested and the answering model of every answer that counts.
pub fn independence(report: &RunShowReport) -> Markup {
    let voices = &report.results.voices;
    html! {
        section #independence aria-labelledby="independence-title" {
            h2 #independence-title { "Independence" }
            @if let Some(words) = &report.independence { p { (plain(words)) "." } }
            @if voices.is_empty() {
                p.soft { "No answer counts yet." }
            } @else {
                div.scroll tabindex="0" role="group" aria-label="Table" {
                    table {
                        caption { "Every answer that counts. A model that no client names is unknown." }
                        thead {
                            tr {
                                @for column in ["part", "seat", "belongs to", "answered by", "model requested", "model that answered"] {
                                    th scope="col" { (column) }
                                }
                            }
                        }
                        tbody {
                            @for voice in voices {
                                tr {
                                    td { (voice.part) }
                                    th scope="row" { (plain(&voice.seat)) }
                                    td { (voice.owner) }
                                    td {
                                        (voice.answered_by)
                                        @if voice.answered_by != voice.owner { " " span.tag.warn { "in its place" } }
                                    }
                                    td { (plain(voice.requested_model.as_deref().unwrap_or("client's choice"))) }
                                    td { (plain(voice.model.as_deref().unwrap_or("unknown"))) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
