//! A plan file: its opening, and the sections of its tasks.

mod excerpt;
mod find;
mod list;

use std::collections::BTreeSet;

pub use self::excerpt::PlanExcerpt;
pub use self::find::SearchedPlan;
use self::list::ListItem;
use crate::markdown::fence::FenceLine;
use crate::markdown::hidden::{HiddenBlock, HiddenBlocks};
use crate::markdown::{bare, lines, unindent, without_mark};
use crate::task::Task;
use crate::text::is_disruptive;

/// One `Task N` section of a plan, from its heading to the next such heading; in a plan without such
/// headings, one item of its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskSection<'a> {
    /// The heading's or the item's words: `Task 2: Add login endpoint`.
    pub title: &'a str,
    /// The number as written: `2`, `1.3`; empty for an item of a list.
    pub number: &'a str,
    /// Heading and body, without the last line endings.
    pub text: &'a str,
}

/// A plan with all its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedPlan<'a> {
    /// The tasks, in order.
    pub tasks: Vec<TaskSection<'a>>,
    /// Headings that are no tasks although they are on a level of tasks or read like one.
    pub not_taken: Vec<&'a str>,
    /// A block that is never closed, with the line that begins it: what follows belongs to it.
    pub open_block: Option<(HiddenBlock, usize)>,
}

impl<'a> ParsedPlan<'a> {
    /// Takes a plan apart. Headings inside of code and comments do not count.
    pub fn parse(text: &'a str) -> Self {
        let text = without_mark(text);
        let mut blocks = HiddenBlocks::default();
        let mut last_opening = None;
        let mut starts: Vec<(usize, &str)> = Vec::new();
        let mut levels = BTreeSet::new();
        let mut others: Vec<(usize, &str)> = Vec::new();
        let mut offset = 0;
        for (number, line) in (1..).zip(lines(text)) {
            // Only such lines are headings or begin a block, and a plan may have many thousands.
            if blocks.open().is_none() && !line.starts_with(['#', '`', '~', '<', ' ']) {
                offset += line.len();
                continue;
            }
            let visible = bare(line);
            let kind = blocks.feed(visible);
            if kind == FenceLine::Opens {
                last_opening = Some(number);
            }
            if kind == FenceLine::Outside {
                if let Some(title) = task_title(visible) {
                    starts.push((offset, title));
                    levels.insert(level(visible));
                } else if let Some(title) = heading_words(visible) {
                    others.push((level(visible), title));
                }
            }
            offset += line.len();
        }
        let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([text.len()]);
        let section = |((start, title), end): (&(usize, &'a str), usize)| TaskSection {
            title,
            number: number(title).unwrap_or_default(),
            text: trimmed(&text[*start..end]),
        };
        let tasks: Vec<_> = starts.iter().zip(ends).map(section).collect();
        let is_missed =
            |(level, title): &(usize, &str)| levels.contains(level) || reads_like_a_task(title);
        let not_taken = others.into_iter().filter(is_missed).map(|(_, title)| title).collect();
        let items = if starts.is_empty() { list::items(text) } else { Vec::new() };
        let tasks = if items.is_empty() { tasks } else { listed(text, &items) };
        Self { tasks, not_taken, open_block: blocks.open().zip(last_opening) }
    }

    /// Returns the first title that an earlier section has, too.
    pub fn repeated_title(&self) -> Option<&'a str> {
        let mut known = BTreeSet::new();
        self.tasks.iter().map(|section| section.title).find(|title| !known.insert(one_line(title)))
    }
}

/// Returns the known task that a renamed heading belongs to: one with the same number, whose title
/// the plan no longer has.
pub fn renamed_from<'t>(title: &str, titles: &[&str], known: &'t [Task]) -> Option<&'t Task> {
    let wanted = number(title)?;
    known.iter().find(|task| {
        number(&task.content) == Some(wanted) && !titles.contains(&task.content.as_str())
    })
}

/// Tells whether a heading's words, on one line, are a title. A plan may have thousands of headings.
pub(crate) fn has_title(words: &str, title: &str) -> bool {
    let letter = |c: char| if is_disruptive(c) { ' ' } else { c };
    words.chars().map(letter).eq(title.chars())
}

/// Returns a heading's words as the title of a task, which has no line breaks.
pub fn one_line(title: &str) -> String {
    title.replace(is_disruptive, " ")
}

/// Returns the tasks of a plan that is a list.
fn listed<'a>(text: &'a str, items: &[ListItem<'a>]) -> Vec<TaskSection<'a>> {
    let section = |item: &ListItem<'a>| TaskSection {
        title: item.title,
        number: "",
        text: trimmed(&text[item.start..item.end]),
    };
    items.iter().map(section).collect()
}

impl TaskSection<'_> {
    /// Tells whether the plan marks the task as done: it has boxes, and each of them is checked.
    pub fn is_done(&self) -> bool {
        list::is_checked(self.text)
    }

    /// Returns the heading and the list under `**Files:**`, for when there is no room for more.
    pub fn heading_and_files(&self) -> String {
        let (heading, files) = self.heading_with_files();
        if files.is_empty() {
            heading.to_owned()
        } else {
            format!("{heading}\n\n{}", files.join("\n"))
        }
    }

    /// Returns the heading, and the lines of the list under `**Files:**` with the line that begins it.
    pub fn heading_with_files(&self) -> (&str, Vec<&str>) {
        let mut rest = lines(self.text).map(bare);
        let heading = rest.next().unwrap_or_default();
        let mut rest = rest.skip_while(|line| !line.starts_with("**Files:**"));
        let mut files: Vec<&str> = rest.next().into_iter().collect();
        // A blank line ends the list, but not before it has begun: the following lists are others,
        // and half of one would look like the whole.
        for line in rest {
            match line.trim().is_empty() {
                true if files.len() > 1 => break,
                true => {}
                false if is_item(line) && !is_step(line) => files.push(line),
                false => break,
            }
        }
        (heading, files)
    }
}

/// Tells whether an item is a step rather than a file: it has a box, or its words call it a step.
fn is_step(line: &str) -> bool {
    let words = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let words = words.trim_start_matches(['-', '*', '.', ' ']).to_ascii_lowercase();
    ["[ ]", "[x]"].iter().any(|check| words.starts_with(check)) || words.starts_with("step ")
}

fn is_item(line: &str) -> bool {
    let words = line.trim_start();
    let number = words.trim_start_matches(|c: char| c.is_ascii_digit());
    words.starts_with("- ")
        || words.starts_with("* ")
        || number.starts_with(". ") && number != words
}

fn trimmed(text: &str) -> &str {
    text.trim_end_matches(['\r', '\n'])
}

fn level(line: &str) -> usize {
    let line = line.trim_start_matches(' ');
    line.len() - line.trim_start_matches('#').len()
}

/// Returns the words of a heading.
fn heading_words(line: &str) -> Option<&str> {
    let line = unindent(line)?;
    let words = line.trim_start_matches('#');
    let is_heading = words.len() < line.len() && words.starts_with([' ', '\t']);
    Some(without_closing_marks(words.trim())).filter(|words| is_heading && !words.is_empty())
}

/// Returns a heading's words without the marks that may close it: `## Words ##`.
fn without_closing_marks(words: &str) -> &str {
    let open = words.trim_end_matches('#');
    if open.ends_with([' ', '\t']) { open.trim_end() } else { words }
}

/// Tells whether a heading names a piece of work in another form than `Task 1`: `1.1 Do it`,
/// `Step 2`, `[x] Task 5`, `~~Task 4~~`, `task 8`.
fn reads_like_a_task(title: &str) -> bool {
    let is_mark = |c: char| c.is_whitespace() || "[]~*_`xX".contains(c);
    let words = title.trim_start_matches(is_mark).to_ascii_lowercase();
    let first = words.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    matches!(first, "task" | "step") || first.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the words of a heading that reads `Task`, blanks, a number. As in Markdown, up to three
/// spaces may precede it.
fn task_title(line: &str) -> Option<&str> {
    let line = unindent(line)?;
    let words = line.trim_start_matches('#');
    let marks = line.len() - words.len();
    let title = without_closing_marks(words.trim());
    let after = title.strip_prefix("Task")?;
    let numbered = after.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let spaced = |text: &str| text.starts_with([' ', '\t']);
    (marks > 0 && spaced(words) && spaced(after) && numbered).then_some(title)
}

/// Returns the number in a task's words: digits and dots after `Task`; `None` for other words.
pub fn number(title: &str) -> Option<&str> {
    let (task, after) = title.split_at_checked(4)?;
    let number = after.trim_start();
    let spaced = number.len() < after.len();
    let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
    let number = number[..end].trim_end_matches('.');
    (task.eq_ignore_ascii_case("task") && spaced && !number.is_empty()).then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAN: &str = "# Authentication\n\n**Goal:** log in\n\n---\n\nnot shown\n\n\
        ### Task 1: Add user model\n\nbody 1\n\n```\n### Task 9: in a fence\n```\n\n\
        ### Task 2: Add login endpoint\n\n**Files:**\n- Create: `login.go`\n- Test: `login_test.go`\n\n\
        **Step 1:** write\n\n### Task 20: Not two\nbody 20\n";

    // W-39
    #[test]
    fn a_plan_is_its_opening_and_its_tasks() {
        let parsed = ParsedPlan::parse(PLAN);
        let plan = SearchedPlan::new(PLAN);
        assert_eq!(plan.opening, "# Authentication\n\n**Goal:** log in");
        let found: Vec<_> = parsed.tasks.iter().map(|task| (task.number, task.title)).collect();
        assert_eq!(
            found,
            [
                ("1", "Task 1: Add user model"),
                ("2", "Task 2: Add login endpoint"),
                ("20", "Task 20: Not two")
            ]
        );
        assert!(plan.section_of("Task 1").unwrap().text.ends_with("### Task 9: in a fence\n```"));
        assert!(
            plan.section_of("Task 2: Add login endpoint")
                .unwrap()
                .text
                .ends_with("**Step 1:** write")
        );
        assert_eq!(plan.section_of("Task 3"), None);
    }

    // W-39: phases that count from one each have tasks of the same number.
    #[test]
    fn a_section_is_found_by_its_title_and_never_guessed() {
        let text = "## Phase 1\n### Task 1: Add the table\na\n### Task 2: Store\n\
                    ## Phase 2\n### Task 1: Add the queue\nb\n### Task 3: Same\n### Task 3: Same\n";
        let plan = SearchedPlan::new(text);
        let found = |title| plan.section_of(title).map(|section| section.text);
        assert_eq!(found("Task 1: Add the table"), Some("### Task 1: Add the table\na"));
        assert_eq!(found("Task 1: Add the queue"), Some("### Task 1: Add the queue\nb"));
        assert_eq!(found("Task 2: Renamed").map(|text| &text[..17]), Some("### Task 2: Store"));
        assert_eq!(found("Task 1: Renamed"), None);
        assert_eq!(found("Task 3: Same"), None);
        assert_eq!(ParsedPlan::parse(text).repeated_title(), Some("Task 3: Same"));
        assert_eq!(ParsedPlan::parse(PLAN).repeated_title(), None);
    }

    // W-3: the parser reports headings that an import leaves out.
    #[test]
    fn headings_that_read_like_tasks_are_not_lost_silently() {
        let text = "# Plan 9\n## Phase 1\n### Task 1: a\n### 1.1 b\n### Step 1: c\n#### [x] Task 5\n\
                    ## task 8\n### Task A\n#### ~~Task 4~~\n## 2. d\n#### Notes\n```\n### Step 9\n```\n";
        let expected =
            ["1.1 b", "Step 1: c", "[x] Task 5", "task 8", "Task A", "~~Task 4~~", "2. d"];
        assert_eq!(ParsedPlan::parse(text).not_taken, expected);
        assert_eq!(ParsedPlan::parse(PLAN).not_taken, [""; 0]);
    }

    // W-39: without a rule the opening ends at the first task, without either at the end.
    #[test]
    fn the_opening_ends_at_the_first_of_rule_and_task() {
        assert_eq!(SearchedPlan::new("a\n## Task 1: x\n").opening, "a");
        assert_eq!(SearchedPlan::new("a\n\nb\n").opening, "a\n\nb");
        let front = "---\nfront: matter\n---\nb";
        assert_eq!(SearchedPlan::new(&format!("{front}\n---\nc\n## Task 1: x")).opening, front);
    }

    // W-3, W-39: an editor's mark, and spaces that Markdown allows, hide no task; marks that close a
    // heading are no part of its title.
    #[test]
    fn a_mark_and_up_to_three_spaces_hide_no_task() {
        let text = "\u{feff}## Task 1: a\none\n   ## Task 2: b ##\ntwo\n    ## Task 3: code\n";
        let titles: Vec<_> =
            ParsedPlan::parse(text).tasks.iter().map(|section| section.title).collect();
        assert_eq!(titles, ["Task 1: a", "Task 2: b"]);
        let plan = SearchedPlan::new(text);
        assert_eq!(plan.opening, "");
        assert_eq!(plan.section_of("Task 1: a").unwrap().text, "## Task 1: a\none");
    }

    #[test]
    fn a_block_that_is_never_closed_is_found() {
        use HiddenBlock::{Code, Comment};
        for (text, block) in [
            ("## Task 1: a\n```\nx\n```\n", None),
            ("## Task 1: a\n```\nx\n## Task 2: b\n", Some((Code, 2))),
            ("```\nx\n```\n\n   ~~~~\n~~~\n", Some((Code, 5))),
            ("<!-- a -->\n<!--\nx\n## Task 2: b\n", Some((Comment, 2))),
            ("<!--\n```\n-->\n## Task 2: b\n", None),
        ] {
            assert_eq!(ParsedPlan::parse(text).open_block, block, "{text:?}");
        }
    }

    // W-3, W-39: a template's example in a comment does not count.
    #[test]
    fn a_task_in_a_comment_does_not_count() {
        let text =
            "<!--\n## Task 9: example\n-->\n## Task 1: a\none\n<!--\n## Task 1: old\n-->\nmore\n";
        let [task] = ParsedPlan::parse(text).tasks[..] else { panic!("one task is visible") };
        assert_eq!((task.title, task.text.ends_with("more")), ("Task 1: a", true));
        assert_eq!(SearchedPlan::new(text).section_of("Task 1"), Some(task));
        let list = "<!--\n- [ ] example\n-->\n- [ ] a\n";
        let titles: Vec<_> = ParsedPlan::parse(list).tasks.iter().map(|task| task.title).collect();
        assert_eq!(titles, ["a"]);
    }

    // W-82e
    #[test]
    fn the_shortest_form_is_heading_and_files() {
        let plan = SearchedPlan::new(PLAN);
        let files = "### Task 2: Add login endpoint\n\n**Files:**\n- Create: `login.go`\n\
            - Test: `login_test.go`";
        assert_eq!(
            plan.section_of("Task 2: Add login endpoint").unwrap().heading_and_files(),
            files
        );
        assert_eq!(
            plan.section_of("Task 20: Not two").unwrap().heading_and_files(),
            "### Task 20: Not two"
        );
        let spaced =
            ParsedPlan::parse("## Task 1: a\n\n**Files:**\n\n1. a.rs\n2. b.rs\n\n**Step**\n- x\n");
        let short = "## Task 1: a\n\n**Files:**\n1. a.rs\n2. b.rs";
        assert_eq!(spaced.tasks[0].heading_and_files(), short);
        assert_eq!(ParsedPlan::parse("#Task 3: glued\n").tasks, []);
        // Steps are always left out, at any beginning of their list.
        for steps in [
            "- [ ] **Step 1: Test**\n\n```\nx\n```\n\n- [ ] **Step 2: Code**",
            "\n- [ ] **Step 1: Test**\n\n```\nx\n```",
            "\n- **Step 1:** test\n- **Step 2:** code",
            "\n1. Write the test\n2. Run it\n\nAnd then:\n3. Commit",
            "- Step 1: test\n- Step 2: code",
        ] {
            let text = format!("## Task 1: a\n\n**Files:**\n- Create: `a.rs`\n{steps}\n");
            let short = ParsedPlan::parse(&text).tasks[0].heading_and_files();
            assert_eq!(short, "## Task 1: a\n\n**Files:**\n- Create: `a.rs`", "{steps}");
        }
    }

    #[test]
    fn a_number_is_digits_and_dots() {
        for (title, expected) in [
            ("Task 2: x", "2"),
            ("Task 1.3 x", "1.3"),
            ("task 4.", "4"),
            ("Task", ""),
            ("", ""),
            ("Fix 3 bugs", ""),
            ("Step 3", ""),
            ("Task3", ""),
            ("Tasé 3", ""),
        ] {
            assert_eq!(number(title).unwrap_or_default(), expected, "{title}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_plan(text in "(#{0,4} ?(Task ?)?[0-9.]{0,3}[`~]{0,4}-{0,3}\r?\n?){0,12}") {
            let plan = ParsedPlan::parse(&text);
            for task in &plan.tasks {
                prop_assert!(text.contains(task.text));
                prop_assert!(!task.title.is_empty());
            }
        }
    }
}
