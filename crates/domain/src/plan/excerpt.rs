//! What some tasks need of a plan, taken in block by block: a hook needs one task of a plan that may
//! have 100,000, and to hold all of it in memory would take longer than to search it.

use super::{number, task_title};
use crate::markdown::hidden::HiddenBlocks;
use crate::markdown::search::{LinesWith, lines_with_after};
use crate::markdown::without_mark;

/// The word that each line that begins a task has.
const MARK: Option<&str> = Some("Task");

/// A shorter plan in which a [`SearchedPlan`](super::SearchedPlan) finds the same opening, and the same
/// section of each wanted task. A plan without headings of tasks stays whole.
#[derive(Debug, Clone)]
pub struct PlanExcerpt {
    /// The numbers of the wanted tasks.
    numbers: Vec<String>,
    kept: String,
    /// The hidden blocks at the end of what was taken in.
    blocks: HiddenBlocks,
    place: ExcerptPlace,
}

/// Where the end of what was taken in is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExcerptPlace {
    /// Before the first task.
    Opening,
    /// In the section of a wanted task.
    Wanted,
    /// In another section.
    Unwanted,
}

impl PlanExcerpt {
    /// Begins an excerpt for the tasks with these titles. A title without a number belongs to no heading.
    pub fn of<'t>(titles: impl IntoIterator<Item = &'t str>) -> Self {
        let mut numbers: Vec<_> =
            titles.into_iter().filter_map(number).map(str::to_owned).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let place = ExcerptPlace::Opening;
        Self { numbers, kept: String::new(), blocks: HiddenBlocks::default(), place }
    }

    /// The number of the rules that choose what an excerpt keeps. Raise it with them: excerpts are
    /// remembered, and a later program must not take one that it would not make.
    pub const FORM: u32 = 2;

    /// Returns the numbers of the wanted tasks, each once and in order.
    pub fn numbers(&self) -> &[String] {
        &self.numbers
    }

    /// Takes in a plan's next lines. Every block ends with a line's end, or with the plan.
    pub fn take_in(&mut self, lines: &str) {
        let mut rest = lines;
        if self.place == ExcerptPlace::Opening {
            rest = if self.kept.is_empty() { without_mark(rest) } else { rest };
            let Some(start) = next_task(self.blocks, rest, 0) else {
                self.kept += rest;
                self.blocks = lines_with_after(self.blocks, rest, None).blocks_at_end();
                return;
            };
            let (opening, tasks) = rest.split_at(start);
            self.kept += opening;
            // A first heading tells what tasks look like in this plan, and where the opening ends.
            let heading = tasks.lines().next().unwrap_or_default();
            if !self.is_wanted(heading) {
                self.kept += heading;
                self.kept.push('\n');
            }
            (self.blocks, self.place, rest) =
                (HiddenBlocks::default(), ExcerptPlace::Unwanted, tasks);
        }
        self.take_in_tasks(rest);
    }

    /// Returns the plan's opening, its first heading of a task and the wanted sections.
    pub fn into_text(self) -> String {
        self.kept
    }

    fn take_in_tasks(&mut self, lines: &str) {
        let (starts, blocks) = self.wanted_starts(lines);
        if self.place == ExcerptPlace::Wanted {
            self.keep(self.blocks, lines, 0);
        }
        for start in starts {
            // No task begins inside a hidden block, and each ends the one before it.
            self.keep(HiddenBlocks::default(), &lines[start..], 1);
        }
        self.blocks = blocks;
    }

    /// Returns where wanted tasks begin, in order, and the blocks at the end.
    fn wanted_starts(&self, lines: &str) -> (Vec<usize>, HiddenBlocks) {
        let Some((last, others)) = self.numbers.split_last() else {
            return (Vec::new(), self.blocks);
        };
        let mut starts = Vec::new();
        for number in others {
            self.search(lines, number, &mut starts);
        }
        // The blocks are the same after every search, and to follow them takes as long as to search.
        let blocks = self.search(lines, last, &mut starts).blocks_at_end();
        starts.sort_unstable();
        starts.dedup();
        (starts, blocks)
    }

    /// Finds where wanted tasks with a number begin.
    fn search<'l, 'n>(
        &self,
        lines: &'l str,
        number: &'n str,
        starts: &mut Vec<usize>,
    ) -> LinesWith<'l, 'n> {
        let mut found = lines_with_after(self.blocks, lines, Some(number));
        let wanted = found.by_ref().filter(|(_, line)| self.is_wanted(line));
        starts.extend(wanted.map(|(start, _)| start));
        found
    }

    /// Keeps a section up to the next task that begins at `from` or later.
    fn keep(&mut self, blocks: HiddenBlocks, section: &str, from: usize) {
        let end = next_task(blocks, section, from);
        self.kept += &section[..end.unwrap_or(section.len())];
        self.place = if end.is_some() { ExcerptPlace::Unwanted } else { ExcerptPlace::Wanted };
    }

    fn is_wanted(&self, line: &str) -> bool {
        let found = task_title(line).and_then(number);
        found.is_some_and(|found| self.numbers.iter().any(|number| number == found))
    }
}

/// Returns where the first task at `from` or later begins.
fn next_task(blocks: HiddenBlocks, text: &str, from: usize) -> Option<usize> {
    let mut tasks = lines_with_after(blocks, text, MARK)
        .filter(|(start, line)| *start >= from && task_title(line).is_some());
    tasks.next().map(|(start, _)| start)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{ParsedPlan, SearchedPlan, one_line};
    use super::*;
    use crate::markdown::lines;

    /// Takes a plan in, `block` lines at a time.
    fn excerpt(text: &str, titles: &[String], block: usize) -> String {
        let mut excerpt = PlanExcerpt::of(titles.iter().map(String::as_str));
        let all: Vec<_> = lines(text).collect();
        for block in all.chunks(block) {
            excerpt.take_in(&block.concat());
        }
        excerpt.into_text()
    }

    #[test]
    fn an_excerpt_has_the_opening_and_the_wanted_sections() {
        let text = "# Plan\n\nGoal\n\n## Task 1: a\none\n## Task 2: b\n```\n## Task 3: code\n```\ntwo\n\
            ## Task 3: c\nthree\n## Task 2: again\nfour";
        let kept = "# Plan\n\nGoal\n\n## Task 1: a\n## Task 2: b\n```\n## Task 3: code\n```\ntwo\n\
            ## Task 2: again\nfour";
        for block in 1..20 {
            assert_eq!(excerpt(text, &["Task 2: b".to_owned()], block), kept);
        }
        let list = "1. a\n2. b\n";
        assert_eq!(excerpt(list, &["b".to_owned()], 1), list);
        assert_eq!(excerpt("", &[], 1), "");
    }

    /// Lines of plans: tasks of all forms, fences, comments, rules and text.
    const LINES: [&str; 21] = [
        "\u{feff}## Task 1: marked",
        "   ## Task 2: spaced",
        "## Task 1: a",
        "## Task 1",
        "# Task 2: b",
        "### Task 2.1: b",
        "##\tTask\t3 : c",
        "## Task 12: d",
        "    ## Task 1: code",
        "```",
        "~~~~",
        "  ```rust",
        "<!--",
        "<!-- 1 -->",
        "1 -->",
        "---",
        "- [ ] Task 1: a",
        "1. b",
        "Task 1 and 2",
        "x",
        "",
    ];

    proptest! {
        // W-39: the words of a wake-up are those that the whole plan would give.
        #[test]
        fn an_excerpt_gives_the_same_sections_as_the_plan(
            text in prop::collection::vec(prop::sample::select(&LINES[..]), 0..24),
            feed in prop::sample::select(&["\n", "\r\n"][..]),
            wanted in prop::collection::vec(0..24_usize, 0..3),
            other in "Task [0-3]{1,2}: x",
            block in 1..9_usize,
        ) {
            let text = text.join(feed);
            let tasks = ParsedPlan::parse(&text).tasks;
            let known = wanted.iter().filter_map(|place| tasks.get(*place));
            let mut titles: Vec<_> = known.map(|section| one_line(section.title)).collect();
            titles.push(other);
            let kept = excerpt(&text, &titles, block);
            let (whole, short) = (SearchedPlan::new(&text), SearchedPlan::new(&kept));
            prop_assert_eq!(whole.opening, short.opening);
            for title in &titles {
                prop_assert_eq!(whole.section_of(title), short.section_of(title), "{} in {:?}", title, kept);
            }
            prop_assert!(kept.len() <= text.len() + 1);
        }
    }
}
