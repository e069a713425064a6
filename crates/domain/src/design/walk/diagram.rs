//! Step 3b: a diagram that may be published, or none.

use super::chair::{Flawed, Said, Task};
use super::interview::Scope;
use super::plan::Plan;
use super::{Walk, Walked};
use crate::design::aside::without_asides;
use crate::design::mermaid::{self, Report};
use crate::design::parts;
use crate::design::progress::{Saved, Shown, Step};
use crate::design::prompt;
use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::{bare, lines};

const FILE: &str = "architecture-diagram.md";

const DIAGRAM: Task = Task { word: "diagram", noun: "diagram", form: prompt::DIAGRAM_SKELETON };

impl Walk<'_> {
    pub(super) fn diagram(&mut self, scope: &Scope, plan: &Plan) -> Walked<()> {
        self.begin(Step::Diagram);
        let prompt = || prompt::diagram(&scope.with_answers(), &plan.text);
        match self.chair(DIAGRAM, &prompt, &safe)? {
            Said::Well(diagram) => {
                self.file(FILE, format!("{}\n", diagram.trim_end()));
                let body = diagram.trim_start().trim_start_matches(Shown::Diagram.header()).trim();
                if self.settings.nested {
                    let line = self.crumbs.saved(Saved::Diagram, self.elapsed());
                    self.say(line);
                } else {
                    self.publish(Shown::Diagram, None, body);
                    self.done("generated");
                }
            }
            Said::Badly(Flawed { salvaged, .. }) => {
                let answer = salvaged.unwrap_or_default();
                self.no_diagram(&mermaid::check(&answer, true));
            }
            Said::Nothing => self.no_diagram(&Report::default()),
        }
        Ok(())
    }

    fn no_diagram(&mut self, report: &Report) {
        let text = "generation failed, proceeding without diagram";
        let failed = || self.crumbs.warning(Step::Diagram, text, self.elapsed());
        let line = report.warning(&self.crumbs).unwrap_or_else(failed);
        if !report.is_safe() {
            // Tokens alone: the text of a diagram that was refused goes nowhere.
            let tokens = report.tokens();
            self.issues.push(format!("- **Step 3b — architecture diagram rejected:** {tokens}"));
        }
        self.warn(line);
    }
}

fn document(answer: &str) -> &str {
    // A fence around the diagram alone is the diagram's own.
    if answer.trim_start().starts_with("```mermaid") {
        answer.trim()
    } else {
        parts::document(answer)
    }
}

/// Takes one diagram that breaks nothing.
fn safe(answer: &str) -> Result<String, Flawed<String>> {
    let (spoken, _) = without_asides(answer);
    let document = document(&spoken);
    let report = mermaid::check(document, true);
    // What was refused is kept to say why, and shown to no one.
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
    // Whatever is said around it is not part of the diagram.
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
    Ok(format!("{}\n\n{}", Shown::Diagram.header(), fence.collect::<String>().trim_end()))
}
