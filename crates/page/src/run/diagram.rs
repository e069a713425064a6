//! The diagram of a run.
//!
//! The dashboard has Mermaid draw it in a frame of its own, whose document runs two scripts of ours and
//! loads nothing else: Mermaid writes styles into its drawing, which no other page allows. Its strict
//! mode refuses scripts in diagrams, and the frame drops every link. A report that travels has the
//! diagram as a picture.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use convoke_service::run::RunShowReport;
use maud::{DOCTYPE, Markup, html};

use super::run_path;
use crate::markdown::{plain, visible};

/// Mermaid's small build, minified and gzipped: serve it with `Content-Encoding: gzip`. It draws
/// every kind of diagram but mind maps and architecture diagrams.
pub const MERMAID: &[u8] = include_bytes!("../../assets/mermaid.tiny.js.gz");

/// Where the server has Mermaid.
pub const MERMAID_PATH: &str = "/assets/mermaid.js";

/// The script that has Mermaid draw.
pub const DRAW_SCRIPT: &str = include_str!("../../assets/draw.js");

/// Where the server has that script.
pub const DRAW_SCRIPT_PATH: &str = "/assets/draw.js";

/// The content security policy of the frame's document: it may load nothing but the two scripts.
pub const DIAGRAM_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// How a page shows a diagram.
#[derive(Debug, Clone, Copy)]
pub enum DiagramView<'d> {
    /// In a frame with this address.
    Frame(&'d str),
    /// As this SVG.
    Picture(&'d str),
    /// As text, for this reason.
    Text(&'d str),
}

/// Returns the path of the frame's document.
pub fn diagram_path(run: &str) -> String {
    format!("{}/diagram", run_path(run))
}

/// Shows the diagram, with its text for those who cannot see it.
pub fn diagram(report: &RunShowReport, view: &DiagramView<'_>) -> Markup {
    let text = report.evidence.diagram_text.as_deref();
    html! {
        section #diagram aria-labelledby="diagram-title" {
            h2 #diagram-title { "Diagram" }
            @if let Some(text) = text {
                @match view {
                    DiagramView::Frame(address) => {
                        iframe.diagram src=(address) title="Diagram of the plan" loading="lazy" {}
                    }
                    DiagramView::Picture(svg) => {
                        div.scroll tabindex="0" role="group" aria-label="Diagram" { img.diagram src=(picture(svg)) alt="Diagram of the plan; its text is below"; }
                    }
                    DiagramView::Text(why) => { p.notice { "The diagram is shown as text only: " (why) } }
                }
                details data-open="diagram" open[matches!(view, DiagramView::Text(_))] {
                    summary { "The diagram as text (Mermaid)" }
                    pre tabindex="0" { code { (plain(text)) } }
                }
            } @else {
                p.soft {
                    (match report.results.diagram {
                        Some("rejected") => "The only diagram breaks a rule of safety, so Convoke does not show it.",
                        Some("missing") => "No agent drew a diagram that can be used.",
                        _ => "There is no diagram yet.",
                    })
                }
            }
        }
    }
}

/// Returns an SVG as the address of a picture. A picture runs no script and loads nothing.
fn picture(svg: &str) -> String {
    format!("data:image/svg+xml;base64,{}", STANDARD.encode(svg))
}

/// Returns the document of the frame.
pub fn diagram_document(report: &RunShowReport) -> Markup {
    let text = visible(report.evidence.diagram_text.as_deref().unwrap_or_default());
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="color-scheme" content="light dark";
                title { "Diagram of " (report.run) }
                script src=(MERMAID_PATH) defer {}
                script src=(DRAW_SCRIPT_PATH) defer {}
            }
            body {
                div #drawing role="img" aria-label="Diagram of the plan" {}
                pre #source { (text) }
                noscript { p { "Drawing the diagram needs JavaScript; above is its text." } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    // The browser runs this file, so its origin is written down where a person can check it.
    #[test]
    fn mermaid_is_the_file_that_its_source_names() {
        let source = include_str!("../../assets/mermaid.source.txt");
        let value = |name: &str| {
            let lines = source.lines().filter_map(|line| line.split_once(": "));
            lines.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value).unwrap()
        };
        let digest = Sha256::digest(MERMAID);
        let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        assert_eq!(value("sha256 of mermaid.tiny.js.gz"), digest);
        assert_eq!(value("name"), "@mermaid-js/tiny");
        assert_eq!(value("version").split('.').count(), 3);
        assert_eq!(value("sha256 of the file").len(), 64);
        assert!(value("integrity of the package").starts_with("sha512-"));
    }
}
