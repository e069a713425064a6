//! A plan in which single sections are looked up. A hook shows one task of a plan that may have
//! 100,000, and must not take longer for it.

use super::list::{ListForm, ends_item};
use super::{TaskSection, has_title, number, task_title, trimmed};
use crate::markdown::search::lines_with;
use crate::markdown::without_mark;

/// A plan of which a caller needs the opening and some sections. It has the same tasks as a
/// [`ParsedPlan`](super::ParsedPlan), and looks only at lines that may belong to the wanted ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchedPlan<'a> {
    /// Everything up to the first rule or the first task, without the last line endings.
    pub opening: &'a str,
    text: &'a str,
    /// `None` without any task.
    form: Option<TaskForm>,
}

/// The lines that begin a plan's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskForm {
    Heading,
    Item(ListForm),
}

/// The stronger forms first: a plan has tasks of one form.
const FORMS: [TaskForm; 3] =
    [TaskForm::Heading, TaskForm::Item(ListForm::Boxed), TaskForm::Item(ListForm::Numbered)];

impl TaskForm {
    /// Returns a word that each line that begins a task has.
    const fn mark(self) -> Option<&'static str> {
        match self {
            Self::Heading => Some("Task"),
            Self::Item(ListForm::Boxed) => Some("["),
            Self::Item(ListForm::Numbered) => None,
        }
    }

    /// Returns the words of a line that begins a task.
    fn title(self, line: &str) -> Option<&str> {
        match self {
            Self::Heading => task_title(line),
            Self::Item(form) => form.title(line),
        }
    }

    fn number(self, title: &str) -> &str {
        match self {
            Self::Heading => number(title).unwrap_or_default(),
            Self::Item(_) => "",
        }
    }

    /// Returns the start of the first task.
    fn first(self, text: &str) -> Option<usize> {
        let mut starts = lines_with(text, self.mark());
        starts.find(|(_, line)| self.title(line).is_some()).map(|(start, _)| start)
    }

    /// Returns the end of a text's first task, which begins the text.
    fn end(self, text: &str) -> usize {
        let (word, ends): (_, fn(&str) -> bool) = match self {
            Self::Heading => (self.mark(), |line| task_title(line).is_some()),
            Self::Item(_) => (None, ends_item),
        };
        let mut ends = lines_with(text, word).filter(|(start, line)| *start > 0 && ends(line));
        ends.next().map_or(text.len(), |(start, _)| start)
    }
}

/// Returns a word that each line with a title has, if possible one with the task's number, which few
/// lines have. Of a title, only blanks may be other characters in the plan.
fn rare_word(title: &str) -> Option<&str> {
    let number = number(title).unwrap_or_default();
    title.split(' ').max_by_key(|word| (word.contains(number), word.len()))
}

impl<'a> SearchedPlan<'a> {
    /// Finds the opening, and how the tasks are written. Headings inside of code and comments do not count.
    pub fn new(text: &'a str) -> Self {
        let text = without_mark(text);
        let first = |form: TaskForm| form.first(text).map(|start| (form, start));
        let (form, start) = FORMS.into_iter().find_map(first).unzip();
        let opening = &text[..start.unwrap_or(text.len())];
        let is_rule = |(start, line): &(usize, &str)| *start > 0 && line.trim_end() == "---";
        // The first line of a plan with front matter looks like a rule, and so does the end of that.
        let has_front_matter = opening.lines().next().is_some_and(|line| line.trim_end() == "---");
        let mut rules = lines_with(opening, Some("---")).filter(is_rule);
        let rule = rules.nth(usize::from(has_front_matter)).map(|(start, _)| start);
        let opening = trimmed(&opening[..rule.unwrap_or(opening.len())]);
        Self { opening, text, form }
    }

    /// Tells whether the plan has any task.
    pub const fn has_tasks(&self) -> bool {
        self.form.is_some()
    }

    /// Finds the section of a task by its title, or, where no section has that title, by its
    /// number. `None` if several sections match: each phase of a plan may count from one.
    pub fn section_of(&self, title: &str) -> Option<TaskSection<'a>> {
        let form = self.form?;
        let titled = self.starts(form, rare_word(title), |found| has_title(found, title));
        let found = if titled.is_empty() {
            let wanted = number(title)?;
            self.starts(form, Some(wanted), |found| form.number(found) == wanted)
        } else {
            titled
        };
        match found.as_slice() {
            [(start, title)] => Some(self.section(form, *start, title)),
            _ => None,
        }
    }

    /// Returns the starts of tasks with a word, as far as their titles are the wanted ones.
    fn starts(
        &self,
        form: TaskForm,
        word: Option<&str>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<(usize, &'a str)> {
        let lines = lines_with(self.text, word.filter(|word| !word.is_empty()));
        let starts = lines.filter_map(|(start, line)| Some((start, form.title(line)?)));
        starts.filter(|(_, title)| is_wanted(title)).collect()
    }

    fn section(&self, form: TaskForm, start: usize, title: &'a str) -> TaskSection<'a> {
        let rest = &self.text[start..];
        TaskSection { title, number: form.number(title), text: trimmed(&rest[..form.end(rest)]) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{ParsedPlan, one_line};
    use super::*;
    use crate::markdown::fence::FenceLine;
    use crate::markdown::hidden::HiddenBlocks;
    use crate::markdown::{bare, lines};

    /// Finds a section among all tasks of a plan.
    fn section_by_parsing<'a>(text: &'a str, title: &str) -> Option<TaskSection<'a>> {
        let tasks = ParsedPlan::parse(text).tasks;
        let titled: Vec<_> =
            tasks.iter().filter(|section| one_line(section.title) == title).collect();
        let numbered = tasks.iter().filter(|section| Some(section.number) == number(title));
        let found = if titled.is_empty() { numbered.collect() } else { titled };
        match found.as_slice() {
            [section] => Some(**section),
            _ => None,
        }
    }

    /// Finds the opening by looking at each line before the first task.
    fn opening_by_parsing(text: &str) -> &str {
        let text = without_mark(text);
        let tasks = ParsedPlan::parse(text).tasks;
        let first =
            tasks.first().map(|section| section.text.as_ptr().addr() - text.as_ptr().addr());
        let (mut blocks, mut offset) = (HiddenBlocks::default(), 0);
        let end = first.unwrap_or(text.len());
        let is_rule = |line: &str| bare(line).trim_end() == "---";
        let mut front_matter = lines(&text[..end]).next().is_some_and(is_rule);
        for line in lines(&text[..end]) {
            let is_outside = blocks.feed(bare(line)) == FenceLine::Outside;
            if is_outside && offset > 0 && is_rule(line) && !std::mem::take(&mut front_matter) {
                break;
            }
            offset += line.len();
        }
        trimmed(&text[..offset])
    }

    #[track_caller]
    fn check(text: &str, title: &str) {
        let plan = SearchedPlan::new(text);
        assert_eq!(plan.opening, opening_by_parsing(text), "{text:?}");
        assert_eq!(
            plan.section_of(title),
            section_by_parsing(text, title),
            "{title:?} in {text:?}"
        );
    }

    // W-39: the words of a wake-up are those that the whole plan would give.
    #[test]
    fn an_odd_plan_gives_the_same_sections_as_a_parsed_one() {
        let plans = [
            "# A\n\nopening\n\n---\n\n## Task 1: a\nx\n\n## Task 2: b\ny",
            "```\n## Task 1: in a fence\n```\n## Task 1: a\n~~~\n## Task 2: b\n~~~~\n## Task 2: c\n",
            "````\n```\n## Task 1: a\n````\n## Task 1: b\n```\n## Task 2: never closed\n",
            "Task 1: a\n=======\n\nTask 2: b\n---\n\n## Task 3: c\nTask 4\n---\n",
            "<!--\n## Task 1: a\n-->\n## Task 2: b <!-- Task 1 -->\n<!-- ## Task 3 -->\n",
            "# A\r\n\r\n---\r\n## Task 1: a\r\nx\r\n```\r\n## Task 2: b\r\n```\r\n## Task 2: c\r\n",
            "## Task 1: a\n## Task 1: a\n## Task 1: b\n## Task 2: b\n",
            "    ## Task 1: code\n\t## Task 1: code\n ## Task 1: indented\n## Task 1: a\n    ```\n## Task 2\n",
            "\u{feff}## Task 1: a\n## Task 2: b\n",
            "\u{feff}- [ ] a\n- [x] b\n",
            "## Task 1: [a](x.md#Task%202)\n## Task 2: [b][1]\n[1]: http://x/2\n",
            "##\tTask\t1:\ta\n## Task  2: b\n## Task\u{3000}2: b\n##  Task 1:\u{1}a\n",
            "## Task 1.: a\n## Task 1.1 b\n## Task 11: c\n## Task 1x: d\n## Task 01: e\n",
            "# Tasks\n\n- [ ] a\n  more\n\n- plain\n- [x] b\nlazy\n## Notes\n- [ ] a\n",
            "1. a\n2. b\n---\n```\n3. c\n```\n3) c\n10. Task 1: a\n",
            "1. a\n- [ ] b\n- [ ] a\tb\n- [ ] a\u{2028}b\n- [1] source\n",
            "- [ ] Task 1: a\n- [ ] Task 2: b\n\n```\n## Task 1: a\n```\n",
            "---\nfront: matter\n---\n## Task 1: a\n",
            "## Task 1: a ##\n### Task 2: b ####  \n## Task 3: c#\n",
            "only an opening\n---\nand more",
            "## Task 1: a",
            "",
        ];
        let titles = [
            "Task 1: a",
            "Task 1",
            "Task 2: b",
            "Task 2",
            "Task 2: z",
            "Task 3: c",
            "Task 1.1 b",
            "Task 01: e",
            "Task 11",
            "task 1: a",
            "Task 1:  a",
            "Task 1: [a](x.md#Task%202)",
            "Task",
            "a",
            "b",
            "c",
            "a b",
            " ",
            "",
            "plain",
            "Task 1\u{2028}",
            "Task\u{3000}2: b",
        ];
        for plan in plans {
            for title in titles {
                check(plan, title);
                check(&plan.replace('\n', "\r\n"), title);
            }
        }
    }

    /// A line of a plan, or a part of one.
    const LINE: &str = "(\u{feff}|    ?|\t)?(#{1,3}[ \t]|[`~]{2,4}|- \\[[ x]\\] |[12]\\. |-{3}|={3}|<!-- |> |\\[)?\
         (Task[ \t\u{3000}\u{1}]{1,2})?(1|2|11|1\\.2|1\\.)?[: \t]{0,2}(a|b|a\tb|a\u{2028}b|\\]\\(1\\)|`)?( -->)?\r?\n?";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        // W-39
        #[test]
        fn any_plan_gives_the_same_sections_as_a_parsed_one(
            text in prop::collection::vec(LINE, 0..12).prop_map(|lines| lines.concat()),
            other in "(Task {1,2})?(1|2|11|1\\.2)?:? ?(a|b|a b)?",
        ) {
            let parsed = ParsedPlan::parse(&text);
            check(&text, &other);
            for section in &parsed.tasks {
                check(&text, &one_line(section.title));
            }
        }
    }
}
