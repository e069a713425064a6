//! The section on the active plan, in every length that it may have.
//!
//! A plan comes with the project, and a stranger may have written it. Its text is quoted, each line
//! after `> `, so that no line of it can pass for a heading, a rule or an end of Convoke's own. With
//! [`WakeFit::Seed`] it is put in as it is.

use super::fit::PlanForm;
use super::frame::quote_line;
use super::{PlanText, WakeFacts, WakeFit};
use crate::markdown::{bare, lines};
use crate::plan::{SearchedPlan, TaskSection, has_title, number};
use crate::text::{CharOffset, Text, one_line, shell_word};

/// How many characters of a heading or of a file's line are shown where there is little room.
const LONG_LINE: usize = 200;

/// How many files of a task are shown where there is little room.
const MOST_FILES: usize = 20;

/// The section, made once for all the times that it is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlanSection {
    /// `None` where so much cannot fit.
    full: Option<String>,
    task: Option<String>,
    files: String,
    nothing: String,
}

impl PlanSection {
    /// Renders every form of at most `most_bytes`; `None` without a plan.
    pub(super) fn new(facts: &WakeFacts<'_>, most_bytes: usize) -> Option<Self> {
        let plan = facts.plan.as_ref()?;
        let mut file = one_line(plan.file());
        facts.fit.disarm(&mut file);
        let with_head = |excerpt: &str| {
            let body = if excerpt.is_empty() { String::new() } else { format!("\n\n{excerpt}") };
            format!("## Active Plan\n**File:** {file}{body}")
        };
        let plan = match plan {
            PlanText::Found { plan, .. } => plan,
            PlanText::Missing { .. } => {
                return Some(Self::same(with_head(&format!("(plan file not found: {file})"))));
            }
            PlanText::Unreadable { why, .. } => {
                let words = format!("(plan file cannot be read: {file}: {why})");
                return Some(Self::same(with_head(&words)));
            }
        };
        let title = facts.plan_task.as_deref();
        let section = title.and_then(|title| plan.section_of(title));
        let excerpt = Excerpt { plan, section, title, fit: facts.fit, file: &file };
        let rendered = |form| with_head(&excerpt.render(form));
        let rendered_below = |form, bytes| (bytes <= most_bytes).then(|| rendered(form));
        let task_bytes = section.map_or(0, |section| section.text.len());
        Some(Self {
            full: rendered_below(PlanForm::Full, plan.opening.len().saturating_add(task_bytes)),
            task: rendered_below(PlanForm::Task, task_bytes),
            files: rendered(PlanForm::HeadingAndFiles),
            nothing: rendered(PlanForm::Nothing),
        })
    }

    /// A section that cannot be shortened.
    fn same(text: String) -> Self {
        let whole = Some(text.clone());
        Self { full: whole.clone(), task: whole, files: text.clone(), nothing: text }
    }

    /// Returns the section in a form; `None` where that cannot fit.
    pub(super) fn at(&self, form: PlanForm) -> Option<&str> {
        match form {
            PlanForm::Nothing => Some(&self.nothing),
            PlanForm::HeadingAndFiles => Some(&self.files),
            PlanForm::Task => self.task.as_deref(),
            PlanForm::Full => self.full.as_deref(),
        }
    }
}

/// What is shown of a plan.
struct Excerpt<'a> {
    plan: &'a SearchedPlan<'a>,
    section: Option<TaskSection<'a>>,
    /// The title of the task that the section belongs to.
    title: Option<&'a str>,
    fit: WakeFit,
    file: &'a str,
}

impl Excerpt<'_> {
    fn render(&self, form: PlanForm) -> String {
        match self.fit {
            WakeFit::Seed => self.text(form),
            WakeFit::Kept => {
                let text = self.text(form);
                let quoted = if text.is_empty() { String::new() } else { quoted(&text) };
                let parts = [Some(quoted), self.doubt(form), self.left_out(form)];
                let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
                parts.collect::<Vec<_>>().join("\n\n")
            }
        }
    }

    fn text(&self, form: PlanForm) -> String {
        let opening = self.plan.opening;
        match (form, self.section) {
            (PlanForm::Full, Some(task)) if opening.is_empty() => task.text.to_owned(),
            (PlanForm::Full, Some(task)) => format!("{opening}\n\n{}", task.text),
            (PlanForm::Full, None) => opening.to_owned(),
            (PlanForm::Task, Some(task)) => task.text.to_owned(),
            (PlanForm::HeadingAndFiles, Some(task)) if self.fit == WakeFit::Seed => {
                task.heading_and_files()
            }
            (PlanForm::HeadingAndFiles, Some(task)) => short_files(&task),
            (PlanForm::Nothing, _) | (PlanForm::Task | PlanForm::HeadingAndFiles, None) => {
                String::new()
            }
        }
    }

    /// Says that the section was found by its number alone, or not at all: a plan changes, and another
    /// task may have that number now.
    fn doubt(&self, form: PlanForm) -> Option<String> {
        let title = self.title.filter(|_| form != PlanForm::Nothing)?;
        match self.section {
            Some(section) if has_title(section.title, title) => None,
            Some(_) => Some(
                "(only the number of this section is the task's; check which is meant)".to_owned(),
            ),
            // Only a numbered task comes from a section.
            None if self.expects_section() => number(title).map(|number| {
                format!(
                    "(the plan has no section of Task {number}, or several; check which is meant)"
                )
            }),
            None => None,
        }
    }

    /// Tells whether the task has a number and the plan has sections with numbers.
    fn expects_section(&self) -> bool {
        self.plan.has_tasks() && self.title.is_some_and(|title| number(title).is_some())
    }

    /// Describes the omitted parts of a plan, and where they are.
    fn left_out(&self, form: PlanForm) -> Option<String> {
        let opening =
            (form != PlanForm::Full && !self.plan.opening.is_empty()).then_some("the opening");
        let task = match (form, self.section) {
            (PlanForm::Nothing, Some(_)) => Some("the section of this task"),
            (PlanForm::Nothing, None) if self.expects_section() => Some("a section of this task"),
            (PlanForm::HeadingAndFiles, Some(task)) => {
                let is_short = short_files(&task).len() < task.text.len();
                is_short.then_some("the steps of this task")
            }
            (PlanForm::Nothing | PlanForm::HeadingAndFiles, None)
            | (PlanForm::Task | PlanForm::Full, _) => None,
        };
        let missing: Vec<_> = [opening, task].into_iter().flatten().collect();
        let (missing, file) = (missing.join(" and "), shell_word(self.file));
        (!missing.is_empty()).then(|| format!("(shortened: without {missing}; read `{file}`)"))
    }
}

/// Returns a task's heading and the first of its files, none of them longer than a line should be.
fn short_files(task: &TaskSection<'_>) -> String {
    let (heading, files) = task.heading_with_files();
    let mut shown = vec![short_line(heading)];
    if !files.is_empty() {
        shown.push(String::new());
    }
    // The first line says that files follow.
    shown.extend(files.iter().take(MOST_FILES + 1).map(|line| short_line(line)));
    let more = files.len().saturating_sub(MOST_FILES + 1);
    if more > 0 {
        shown.push(format!("- … {more} more files"));
    }
    shown.join("\n")
}

fn short_line(line: &str) -> String {
    // What is beyond a few bytes for each character cannot be shown; a line may have megabytes.
    let start = &line[..line.floor_char_boundary(LONG_LINE * 4 + 4)];
    let text = Text::new(start);
    if text.chars() <= LONG_LINE {
        return line.to_owned();
    }
    let kept = text.before(CharOffset::new(LONG_LINE)).as_str();
    format!("{kept}… [{} bytes more]", line.len() - kept.len())
}

/// Puts every line of a text after `> `, with what cannot be seen spelled out.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + text.len() / 16);
    for line in lines(text) {
        if !quoted.is_empty() {
            quoted.push('\n');
        }
        let line = bare(line);
        quoted.push_str(if line.is_empty() { ">" } else { "> " });
        quote_line(line, &mut quoted);
    }
    quoted
}
