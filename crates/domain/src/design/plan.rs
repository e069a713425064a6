//! Plans: whether the chair's plan has all that its readers need.
//!
//! A plan is read by reviewers, by its implementer, and by programs that parse its tasks. [`read`]
//! extracts it from the chair's answer and brings it into the usual form; [`check`] lists its
//! defects, in words for the chair.

mod outline;
mod reading;
mod talk;

use std::collections::BTreeSet;
use std::fmt;

use self::outline::task_name;
pub use self::reading::{PlanReading, read};

use super::quote;
use crate::dispatch::task_list::{self, ListedTask};
use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::heading::Heading;
use crate::markdown::{bare, lines, without_mark};

/// A part that a plan is made of, each under a heading of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanPart {
    /// The files, each with what happens to it.
    Files,
    /// The strategy, the decisions and what they cost.
    Approach,
    /// Unusual inputs and how the change handles them.
    EdgeCases,
    /// The most likely failures, their symptoms and remedies.
    FailureModes,
    /// The tests of the change.
    Testing,
    /// The work, task by task.
    Tasks,
}

impl PlanPart {
    /// All parts, in the order of a plan.
    pub const ALL: [Self; 6] = [
        Self::Files,
        Self::Approach,
        Self::EdgeCases,
        Self::FailureModes,
        Self::Testing,
        Self::Tasks,
    ];

    /// Returns the heading's words.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Files => "Files to modify/create",
            Self::Approach => "Approach",
            Self::EdgeCases => "Edge cases",
            Self::FailureModes => "Failure modes",
            Self::Testing => "Testing strategy",
            Self::Tasks => "Tasks",
        }
    }
}

impl fmt::Display for PlanPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// What a plan says about each of its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskPart {
    /// The files that it touches.
    Files,
    /// When it is done.
    DoneWhen,
    /// The part of the plan or the findings that it comes from.
    Source,
}

impl TaskPart {
    const ALL: [Self; 3] = [Self::Files, Self::DoneWhen, Self::Source];

    /// Returns the label before the part.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Files => "**Files:**",
            Self::DoneWhen => "**Done when:**",
            Self::Source => "**Source:**",
        }
    }

    /// Returns the label's words.
    const fn name(self) -> &'static str {
        match self {
            Self::Files => "Files",
            Self::DoneWhen => "Done when",
            Self::Source => "Source",
        }
    }
}

impl fmt::Display for TaskPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// A defect of a plan, in words for the agent that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanComplaint {
    /// A part is missing.
    #[error("the plan has no `## {0}`")]
    NoPart(PlanPart),
    /// A part is empty.
    #[error("`## {0}` is empty")]
    EmptyPart(PlanPart),
    /// A part is there more than once, so one of them may be a draft.
    #[error("there is more than one `## {0}`")]
    TwicePart(PlanPart),
    /// No task can be read.
    #[error("`## Tasks` has no heading such as `### Task 1: Title`")]
    NoTasks,
    /// A task outside of the part that holds the tasks.
    #[error("Task {0} is not under `## Tasks`")]
    Misplaced(String),
    /// Two tasks have one number.
    #[error("there is more than one Task {0}")]
    Twice(String),
    /// A task repeats the example of the form.
    #[error("Task {0} repeats the example and is not a task of this plan")]
    Example(String),
    /// A part of a task is not there or says nothing.
    #[error("Task {number} has no `{part}`")]
    NoTaskPart {
        /// The task's number.
        number: String,
        /// The task's missing part.
        part: TaskPart,
    },
}

/// Checks a plan. An empty list means that it has all it needs.
pub fn check(plan: &str) -> Vec<PlanComplaint> {
    let sections = sections(plan);
    let find = |part: PlanPart| {
        sections.iter().find(|section| section.title.eq_ignore_ascii_case(part.title()))
    };
    let only_documents = find(PlanPart::Files).is_some_and(|files| only_documents(files.body));
    let mut complaints = Vec::new();
    for part in PlanPart::ALL {
        let is_it = |section: &&Section<'_>| section.title.eq_ignore_ascii_case(part.title());
        if sections.iter().filter(is_it).count() > 1 {
            complaints.push(PlanComplaint::TwicePart(part));
        }
        match find(part) {
            // A change of documents alone has no ways to fail that are worth a chapter.
            None if part == PlanPart::FailureModes && only_documents => {}
            None => complaints.push(PlanComplaint::NoPart(part)),
            Some(section) if !says_something(section.body) => {
                complaints.push(PlanComplaint::EmptyPart(part));
            }
            Some(_) => {}
        }
    }
    let tasks = find(PlanPart::Tasks).map(|section| section.body);
    complaints.extend(tasks.map(task_complaints).unwrap_or_default());
    let elsewhere = sections.iter().filter(|section| Some(section.body) != tasks);
    complaints.extend(elsewhere.flat_map(misplaced));
    complaints
}

/// Returns where the list of tasks begins in a plan, with its heading.
pub fn task_list_start(plan: &str) -> Option<usize> {
    let sections = sections(plan);
    let tasks = sections.iter().find(|section| section.title == PlanPart::Tasks.title())?;
    Some(tasks.start)
}

/// Counts the tasks of a plan, in any of its parts.
pub fn task_count(plan: &str) -> usize {
    task_list::tasks(plan).map_or(0, |tasks| tasks.len())
}

/// Tells whether a text has at least one part of a plan. A text without any part is no plan.
pub fn is_begun(plan: &str) -> bool {
    let is_part =
        |title: &str| PlanPart::ALL.iter().any(|part| title.eq_ignore_ascii_case(part.title()));
    sections(plan).iter().any(|section| is_part(section.title) && says_something(section.body))
}

/// Tells whether a text is more than blanks, places to fill in, and the example of the form.
fn says_something(text: &str) -> bool {
    let is_empty = |line: &str| {
        let words = line.trim_start_matches(|c: char| !c.is_alphanumeric() && !is_opening(c));
        let words = quote::after_list_mark(words).unwrap_or(words);
        let words = words.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`'));
        let label = TaskPart::ALL.iter().find_map(|part| words.strip_prefix(part.name()));
        let said = label.map_or(words, |rest| rest.trim_start_matches([':', '*', ' ']));
        let said = task_name(words).map_or(said, |(_, name)| name);
        is_placeholder(said) || is_example(said)
    };
    !text.lines().all(is_empty)
}

const fn is_opening(c: char) -> bool {
    matches!(c, '<' | '[' | '{' | '(')
}

/// Tells whether words only mark a place to fill in: `TODO`, `…`, `<the approach>`.
fn is_placeholder(words: &str) -> bool {
    const WORDS: [&str; 5] = ["todo", "tbd", "tba", "fixme", "placeholder"];
    let is_bracketed = [('<', '>'), ('[', ']'), ('{', '}')].iter().any(|(opened, closed)| {
        let inner = words.strip_prefix(*opened).and_then(|rest| rest.strip_suffix(*closed));
        inner.is_some_and(|inner| !inner.contains([*opened, *closed]))
    });
    let bare = words.trim_matches(|c: char| !c.is_alphanumeric());
    is_bracketed || bare.is_empty() || WORDS.iter().any(|word| bare.eq_ignore_ascii_case(word))
}

/// The texts behind the labels of the example in the chair's prompt.
const EXAMPLE: [&str; 4] = [
    "A short title",
    "src/one.rs",
    "What can be checked when it is done",
    "Which part of the plan it comes from",
];

fn is_example(words: &str) -> bool {
    let form = include_str!("prompt/chair/plan-form.md").lines().map(str::trim);
    let words = words.trim();
    form.chain(EXAMPLE).any(|line| !line.is_empty() && line.eq_ignore_ascii_case(words))
}

struct Section<'a> {
    /// Where the line of its heading begins.
    start: usize,
    title: &'a str,
    body: &'a str,
}

/// Takes a plan apart at headings of level 1 and 2 outside of code.
fn sections<'a>(plan: &'a str) -> Vec<Section<'a>> {
    let whole = plan;
    let plan = without_mark(plan);
    let mark = whole.len() - plan.len();
    let mut fences = Fences::default();
    let mut places: Vec<(usize, usize, &str)> = Vec::new();
    let mut offset = 0;
    for line in lines(plan) {
        let visible = bare(line);
        let outside = fences.feed(visible) == FenceLine::Outside;
        let heading = Heading::parse(visible).filter(|heading| outside && heading.level <= 2);
        if let Some(heading) = heading {
            places.push((offset, offset + line.len(), heading.title));
        }
        offset += line.len();
    }
    let ends = places.iter().skip(1).map(|(start, ..)| *start).chain([plan.len()]);
    let section = |((start, body, title), end): (&(usize, usize, &'a str), usize)| Section {
        start: mark + start,
        title,
        body: &plan[*body..end],
    };
    places.iter().zip(ends).map(section).collect()
}

fn task_complaints(section: &str) -> Vec<PlanComplaint> {
    let Ok(tasks) = task_list::tasks(section) else { return vec![PlanComplaint::NoTasks] };
    let mut seen = BTreeSet::new();
    let mut complaints = Vec::new();
    for task in &tasks {
        let number = || task.number.to_owned();
        if !seen.insert(task.number) {
            complaints.push(PlanComplaint::Twice(number()));
        }
        let said = [Some(task.title), task.done_when(), task.source()];
        if said.into_iter().flatten().any(is_example) {
            complaints.push(PlanComplaint::Example(number()));
            continue;
        }
        let missing = TaskPart::ALL.into_iter().filter(|part| !has(task, *part));
        complaints.extend(missing.map(|part| PlanComplaint::NoTaskPart { number: number(), part }));
    }
    complaints
}

fn misplaced(section: &Section<'_>) -> Vec<PlanComplaint> {
    let tasks = task_list::tasks(section.body).unwrap_or_default();
    tasks.iter().map(|task| PlanComplaint::Misplaced(task.number.to_owned())).collect()
}

fn has(task: &ListedTask<'_>, part: TaskPart) -> bool {
    let said = |text: Option<&str>| text.is_some_and(says_something);
    match part {
        TaskPart::Files => said(files(task.body)),
        TaskPart::DoneWhen => said(task.done_when()),
        TaskPart::Source => said(task.source()),
    }
}

/// Returns the text behind the label of a task's files, up to the next label.
fn files(task: &str) -> Option<&str> {
    let (_, rest) = task.split_once(TaskPart::Files.label())?;
    Some(rest.split("\n**").next().unwrap_or(rest))
}

/// Tells whether all the files that a section names are documents. Naming none proves nothing.
fn only_documents(files: &str) -> bool {
    const DOCUMENTS: [&str; 5] = [".md", ".markdown", ".txt", ".rst", ".adoc"];
    let mut paths = files.split_whitespace().filter_map(path).peekable();
    let is_document = |path: &str| DOCUMENTS.iter().any(|end| path.ends_with(end));
    paths.peek().is_some() && paths.all(is_document)
}

/// Returns a word that is a path: it has a slash, or a dot with letters behind it.
fn path(word: &str) -> Option<&str> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
    let word = word.split_once(':').map_or(word, |(path, _)| path);
    let (stem, end) = word.rsplit_once('.').unwrap_or((word, ""));
    let ended = !stem.is_empty() && end.starts_with(|c: char| c.is_ascii_alphabetic());
    (ended || word.contains('/')).then_some(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::ParsedPlan;

    const PLAN: &str = "\
# Retry cap

Uploads give up after a while.

## Files to modify/create
- `src/upload/client.rs`: the cap
- `docs/upload.md`: says so

## Approach
Count in the client.

## Edge cases
A cap of zero means none.

## Failure modes
1. Counters drift; the metric shows it; one owner.

## Testing strategy
A table of caps.

## Tasks

### Task 1: Count
**Files:**
- `src/upload/client.rs`

Count retries.

**Done when:** the cap holds
**Source:** Approach

### Task 2: Document
**Files:** `docs/upload.md`
**Done when:** the page says so
**Source:** FINDING_1
";

    fn said(plan: &str) -> Vec<String> {
        check(plan).iter().map(ToString::to_string).collect()
    }

    // P-244, P-245
    #[test]
    fn a_whole_plan_has_no_complaints() {
        assert_eq!(said(PLAN), [""; 0]);
        assert_eq!(said(&PLAN.replace('\n', "\r\n")), [""; 0]);
        assert_eq!(said(&PLAN.replace("## Edge cases", "## EDGE CASES ##")), [""; 0]);
        // Later readers of a plan find the same tasks.
        let numbers = |plan: &ParsedPlan<'_>| {
            plan.tasks.iter().map(|task| task.number.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(numbers(&ParsedPlan::parse(PLAN)), ["1", "2"]);
    }

    #[test]
    fn one_part_makes_a_plan_and_words_about_it_do_not() {
        assert!(is_begun(PLAN));
        assert!(is_begun("Well:\n\n## approach\nCount."));
        for none in ["", "## Approach\n\n", "The plan has no `## Approach`", "## Plan\nCount."] {
            assert!(!is_begun(none), "{none}");
        }
    }

    // P-244, P-245: each part that is missing or says nothing is named.
    #[test]
    fn missing_parts_are_named() {
        for part in PlanPart::ALL.into_iter().take(5) {
            let heading = format!("## {part}");
            let gone = PLAN.replace(&heading, "### Something else");
            assert_eq!(said(&gone), [format!("the plan has no `## {part}`")]);
            let start = PLAN.find(&heading).unwrap() + heading.len();
            let end = start + PLAN[start..].find("\n## ").unwrap();
            let empty = format!("{}\n{}", &PLAN[..start], &PLAN[end..]);
            assert_eq!(said(&empty), [format!("`## {part}` is empty")]);
            let in_code = PLAN.replace(&heading, &format!("```\n{heading}\n```"));
            assert_eq!(said(&in_code), [format!("the plan has no `## {part}`")]);
        }
        assert_eq!(said("").len(), 6);
    }

    // P-244: the failure modes may be left out where only documents change.
    #[test]
    fn documents_alone_need_no_failure_modes() {
        let without = PLAN.replace(
            "## Failure modes\n1. Counters drift; the metric shows it; one owner.\n\n",
            "",
        );
        assert_eq!(said(&without), ["the plan has no `## Failure modes`"]);
        let documents =
            without.replace("- `src/upload/client.rs`: the cap\n", "- README.md: a word\n");
        assert_eq!(said(&documents), [""; 0]);
        let nothing = documents
            .replace("- README.md: a word\n- `docs/upload.md`: says so\n", "- some words\n");
        assert_eq!(said(&nothing), ["the plan has no `## Failure modes`"]);
    }

    #[test]
    fn a_task_says_what_it_touches_when_it_is_done_and_why() {
        for (line, complaint) in [
            ("**Files:**\n- `src/upload/client.rs`\n", "Task 1 has no `**Files:**`"),
            ("\n- `src/upload/client.rs`\n\nCount retries.\n", "Task 1 has no `**Files:**`"),
            ("**Done when:** the page says so\n", "Task 2 has no `**Done when:**`"),
            (" the page says so", "Task 2 has no `**Done when:**`"),
            ("**Source:** Approach\n", "Task 1 has no `**Source:**`"),
        ] {
            assert_eq!(said(&PLAN.replace(line, "")), [complaint], "{line}");
        }
        assert_eq!(said(&PLAN.replace("Task 2", "Task 1")), ["there is more than one Task 1"]);
        let unnumbered =
            PLAN.replace("### Task 1", "### Step 1").replace("### Task 2", "### Step 2");
        assert_eq!(said(&unnumbered), ["`## Tasks` has no heading such as `### Task 1: Title`"]);
        let early = PLAN.replace("Count in the client.", "### Task 9: Early\n**Files:** a.rs");
        assert_eq!(said(&early), ["Task 9 is not under `## Tasks`"]);
        let two = said(&PLAN.replace("**Source:**", "Source"));
        assert_eq!(two, ["Task 1 has no `**Source:**`", "Task 2 has no `**Source:**`"]);
    }

    proptest! {
        #[test]
        fn any_plan_is_checked(text in any::<String>(), known in "(## Tasks|## Approach|### Task [0-9.]{1,3}: x|\\*\\*Files:\\*\\*|\\*\\*Done when:\\*\\*|```|\n|\n|[a-z./` ]){0,20}") {
            for text in [text, known] {
                prop_assert!(said(&text).iter().all(|defect| !defect.contains('\n')));
                let once = read(&text).text;
                prop_assert_eq!(&read(&once).text, &once);
            }
        }
    }

    #[test]
    fn a_long_plan_costs_its_length() {
        let task =
            |n| format!("### Task {n}: t\n**Files:** a.rs\n**Done when:** d\n**Source:** s\n");
        let tasks = (3..5_000).map(task).collect::<Vec<_>>().concat();
        assert_eq!(said(&format!("{PLAN}{tasks}")), [""; 0]);
    }
}
