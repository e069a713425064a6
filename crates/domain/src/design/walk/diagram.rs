//! Step 3b: a diagram that may be published, or none.

use super::chair::{Flawed, Said, Task};
use super::phases::Passage;
use super::{Walk, Walked};
use crate::design::aside::without_asides;
use crate::design::lane_id::ChairTask;
use crate::design::mermaid::{self, DiagramText, Report};
use crate::design::notice::ToldArtifact;
use crate::design::outline::{DiagramResult, PhaseResults};
use crate::design::parts;
use crate::design::progress::{Saved, Step};
use crate::design::prompt;
use crate::design::warning::DesignWarning;
use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::{bare, lines};

const DIAGRAM: Task =
    Task { word: ChairTask::Diagram, noun: "diagram", form: prompt::DIAGRAM_SKELETON };

pub(super) fn diagram(walk: &mut Walk<'_>) -> Walked<Passage> {
    walk.begin(Step::Diagram);
    let PhaseResults { scope, plan, .. } = walk.state.results.clone();
    let plan = plan.unwrap_or_default();
    let prompt = || prompt::diagram(&scope.with_answers(), &plan.text);
    match walk.chair(DIAGRAM, &prompt, &safe)? {
        Said::Well(fence) => {
            if walk.settings.nested {
                walk.saved(Saved::Diagram);
            } else {
                walk.show(ToldArtifact::Diagram(fence.clone()));
                walk.done("generated");
            }
            walk.results().diagram = Some(DiagramResult::Drawn(fence));
        }
        Said::Badly(Flawed { salvaged, .. }) => {
            let answer = salvaged.unwrap_or_default();
            no_diagram(walk, &mermaid::check(&answer, DiagramText::Markdown));
        }
        Said::Nothing => no_diagram(walk, &Report::default()),
    }
    Ok(Passage::On)
}

fn no_diagram(walk: &mut Walk<'_>, report: &Report) {
    let failed = DesignWarning::DiagramFailed { seconds: walk.state.elapsed() };
    let warning = report.rejection().unwrap_or(failed);
    walk.results().diagram = Some(DiagramResult::Missing);
    if !report.is_safe() {
        // Tokens alone: the text of a refused diagram must not reach a log.
        let tokens = report.tokens();
        let issue = format!("- **Step 3b — architecture diagram rejected:** {tokens}");
        walk.results().issues.push(issue);
        walk.results().diagram = Some(DiagramResult::Rejected);
    }
    walk.warn(warning);
}

fn document(answer: &str) -> &str {
    // A fence around the diagram alone is the diagram's own.
    if answer.trim_start().starts_with("```mermaid") {
        answer.trim()
    } else {
        parts::document(answer)
    }
}

/// Takes one diagram that breaks nothing, without its heading.
fn safe(answer: &str) -> Result<String, Flawed<String>> {
    let (spoken, _) = without_asides(answer);
    let document = document(&spoken);
    let report = mermaid::check(document, DiagramText::Markdown);
    // A refused diagram is kept to explain the refusal, and never shown.
    let flawed = |defect: String| {
        let (defects, salvaged) = (vec![defect], Some(document.to_owned()));
        Err(Flawed { defects, salvaged })
    };
    if !report.is_safe() {
        return flawed(format!("the diagram is rejected: {}", report.tokens()));
    }
    if !report.is_one_diagram() {
        return flawed("there must be exactly one fence that begins with ```mermaid".to_owned());
    }
    // Text around the diagram is not part of it.
    let mut fences = Fences::default();
    let mut is_ours = false;
    let fence = lines(document).filter(|line| match fences.feed(bare(line)) {
        FenceLine::Opens => {
            is_ours = bare(line).trim().trim_start_matches('`') == "mermaid";
            is_ours
        }
        FenceLine::Body | FenceLine::Closes => is_ours,
        FenceLine::Outside => false,
    });
    Ok(fence.collect::<String>().trim_end().to_owned())
}
