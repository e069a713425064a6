//! The chair's prompts. The chair writes what a person would write in a design meeting, and never
//! counts votes.

use super::super::quote::{self, Tag};
use super::super::settled::PollRule;
use super::super::sketch::SketchPanel;
use super::data;
use super::template::fill;

/// A text from outside, with the label that the chair sees.
struct Material<'a> {
    label: &'a str,
    tag: Tag,
    text: &'a str,
}

impl Material<'_> {
    /// Returns `None` for an empty text.
    fn render(&self) -> Option<String> {
        let given = !self.text.trim().is_empty();
        given.then(|| format!("{}:\n\n{}", self.label, quote::delimited(self.tag, self.text)))
    }
}

fn chair(task: &str, values: &[(&str, &str)], material: &[Material<'_>]) -> String {
    let material: Vec<_> = material.iter().filter_map(Material::render).collect();
    fill(
        include_str!("chair/chair.md"),
        &[
            ("TASK", &fill(task, values)),
            ("MINDSET", include_str!("mindset.md")),
            ("DATA", data()),
            ("MATERIAL", &material.join("\n\n")),
        ],
    )
}

const FORM: (&str, &str) = ("FORM", include_str!("chair/question-form.md"));
const PLAN_FORM: (&str, &str) = ("PLAN_FORM", include_str!("chair/plan-form.md"));

const fn feature(text: &str) -> Material<'_> {
    Material { label: "The feature", tag: Tag::Feature, text }
}

const fn discussion(text: &str) -> Material<'_> {
    Material { label: "What was asked and answered so far", tag: Tag::Discussion, text }
}

const fn current_plan(text: &str) -> Material<'_> {
    Material { label: "The plan", tag: Tag::Plan, text }
}

/// Requests all clarifying questions about the feature in one answer.
pub fn questions(feature_text: &str) -> String {
    chair(include_str!("chair/questions.md"), &[FORM], &[feature(feature_text)])
}

/// Requests the interview about scope. `answered` holds the answers to the clarifying questions.
pub fn scope(feature_text: &str, answered: &str) -> String {
    let material = [feature(feature_text), discussion(answered)];
    chair(include_str!("chair/scope.md"), &[FORM], &material)
}

/// A sketch as the chair reads it.
#[derive(Debug, Clone, Copy)]
pub struct ShownSketch<'a> {
    /// The seat that wrote it.
    pub label: &'a str,
    /// The sketch.
    pub text: &'a str,
    /// The places that it cites and that are not as it says, on one line.
    pub failures: Option<&'a str>,
}

/// Requests the synthesis and the contested decisions. A full panel's has highlights that a quick one
/// has no seats for.
pub fn synthesis(
    feature_text: &str,
    answered: &str,
    sketches: &[ShownSketch<'_>],
    panel: SketchPanel,
    poll_rule: PollRule,
) -> String {
    let highlights = match panel {
        SketchPanel::Full => include_str!("chair/highlights.md"),
        SketchPanel::Quick => "",
    };
    let label = |sketch: &ShownSketch<'_>| {
        let label = format!("Sketch {}", quote::line(sketch.label));
        match sketch.failures {
            Some(places) => {
                let places = quote::line(places);
                format!("{label} (Convoke looked up what it cites; not as it says: {places})")
            }
            None => label,
        }
    };
    let labels: Vec<_> = sketches.iter().map(label).collect();
    let texts = sketches.iter().map(|sketch| sketch.text);
    let sketch = |(label, text)| Material { label, tag: Tag::Sketch, text };
    let sketches = labels.iter().map(String::as_str).zip(texts).map(sketch);
    let material: Vec<_> =
        [feature(feature_text), discussion(answered)].into_iter().chain(sketches).collect();
    let task = include_str!("chair/synthesis.md");
    let task = match poll_rule {
        PollRule::All => task.to_owned(),
        PollRule::UntilSettled => {
            format!("{}\n\n{}", task.trim_end(), include_str!("chair/positions.md"))
        }
    };
    chair(&task, &[("HIGHLIGHTS", highlights)], &material)
}

/// The material for a plan.
#[derive(Debug, Clone, Copy)]
pub struct PlanMaterial<'a> {
    /// The feature to build.
    pub feature: &'a str,
    /// The file of the interview about scope; may be empty.
    pub discussion: &'a str,
    /// The synthesis of the sketches.
    pub synthesis: &'a str,
    /// How contested decisions were resolved; may be empty.
    pub resolutions: &'a str,
}

/// Requests the plan.
pub fn plan(plan: &PlanMaterial<'_>) -> String {
    let material = [
        feature(plan.feature),
        discussion(plan.discussion),
        Material { label: "The synthesis", tag: Tag::Synthesis, text: plan.synthesis },
        resolutions(plan.resolutions),
    ];
    chair(include_str!("chair/plan.md"), &[PLAN_FORM], &material)
}

const fn resolutions(text: &str) -> Material<'_> {
    Material { label: "How contested decisions were resolved", tag: Tag::Resolutions, text }
}

/// Requests groups of remarks that mean the same.
pub fn merge(listing: &str) -> String {
    let remarks = Material { label: "The remarks", tag: Tag::Findings, text: listing };
    chair(include_str!("chair/merge.md"), &[], &[remarks])
}

/// The material for a revision.
#[derive(Debug, Clone, Copy)]
pub struct Revision<'a> {
    /// The feature to build.
    pub feature: &'a str,
    /// The file of the interview about scope, which still binds; may be empty.
    pub discussion: &'a str,
    /// The present plan.
    pub plan: &'a str,
    /// The findings that were accepted.
    pub findings: &'a str,
}

/// Requests the plan with the accepted findings worked in.
pub fn revision(revision: &Revision<'_>) -> String {
    let findings =
        Material { label: "The accepted findings", tag: Tag::Findings, text: revision.findings };
    let material = [
        feature(revision.feature),
        discussion(revision.discussion),
        current_plan(revision.plan),
        findings,
    ];
    chair(include_str!("chair/revision.md"), &[PLAN_FORM], &material)
}

/// Requests the plan with a person's decision worked in. The decision takes the place of findings.
pub fn ruling(revision: &Revision<'_>) -> String {
    let decision = Material { label: "The decision", tag: Tag::Findings, text: revision.findings };
    let material = [
        feature(revision.feature),
        discussion(revision.discussion),
        current_plan(revision.plan),
        decision,
    ];
    chair(include_str!("chair/ruling.md"), &[PLAN_FORM], &material)
}

/// The material for the interview about the design. All but the plan may be empty.
#[derive(Debug, Clone, Copy)]
pub struct Interview<'a> {
    /// The feature to build; the original did not show it here.
    pub feature: &'a str,
    /// The file of the interview about scope.
    pub discussion: &'a str,
    /// The findings that were accepted.
    pub accepted: &'a str,
    /// The decisions that sketches differed on.
    pub contested: &'a str,
    /// How they were resolved.
    pub resolutions: &'a str,
    /// The present plan.
    pub plan: &'a str,
}

/// Requests the interview about the design.
pub fn interview(interview: &Interview<'_>) -> String {
    let material = [
        feature(interview.feature),
        discussion(interview.discussion),
        Material { label: "The accepted findings", tag: Tag::Findings, text: interview.accepted },
        Material { label: "Contested decisions", tag: Tag::Contested, text: interview.contested },
        resolutions(interview.resolutions),
        current_plan(interview.plan),
    ];
    chair(include_str!("chair/interview.md"), &[FORM], &material)
}

/// The material for an update. Feature and earlier answers may be empty, as in the original.
#[derive(Debug, Clone, Copy)]
pub struct PlanUpdate<'a> {
    /// The feature to build.
    pub feature: &'a str,
    /// The author's answers before the plan, which still bind.
    pub settled: &'a str,
    /// The present plan.
    pub plan: &'a str,
    /// The author's answers about the plan.
    pub answers: &'a str,
}

/// Requests the plan with the author's answers worked in.
pub fn update(update: &PlanUpdate<'_>) -> String {
    let settled = Material {
        label: "What its author settled earlier, which still binds",
        tag: Tag::Discussion,
        text: update.settled,
    };
    let material =
        [feature(update.feature), settled, current_plan(update.plan), discussion(update.answers)];
    chair(include_str!("chair/update.md"), &[PLAN_FORM], &material)
}

/// Requests the diagram.
pub fn diagram(feature_text: &str, plan: &str) -> String {
    let material = [feature(feature_text), current_plan(plan)];
    chair(include_str!("chair/diagram.md"), &[], &material)
}

/// The form of the chair's answers, with placeholders only. A chair that missed the form sees it
/// once more.
pub const PLAN_SKELETON: &str = include_str!("chair/plan-skeleton.md");
/// A revision's.
pub const REVISION_SKELETON: &str = concat!(
    "    === plan.txt ===\n",
    include_str!("chair/plan-skeleton.md"),
    "\n    === resolutions ===\n    FINDING_N: …\n"
);
/// A synthesis'.
pub const SYNTHESIS_SKELETON: &str = include_str!("chair/synthesis-skeleton.md");
/// A list of questions'.
pub const QUESTIONS_SKELETON: &str = include_str!("chair/questions-skeleton.md");
/// Groups of findings'.
pub const GROUPS_SKELETON: &str = "    GROUP N: R…, R…\n";
/// A diagram's.
pub const DIAGRAM_SKELETON: &str = "    ```mermaid\n    …\n    ```\n";

/// Repeats a request, with one line for each defect of the earlier answer, and the required form.
pub fn with_complaints(prompt: &str, defects: &[String], form: &str) -> String {
    let listed: Vec<_> =
        defects.iter().map(|defect| format!("- {}", quote::line(defect))).collect();
    let listed = quote::delimited(Tag::Complaints, &listed.join("\n"));
    let values = [("COMPLAINTS", listed.as_str()), ("FORM", form.trim_end())];
    let again = fill(include_str!("chair/complaints.md"), &values);
    format!("{}\n\n{}", prompt.trim_end(), again.trim_start())
}
