//! Reads the plan out of an agent's answer.
//!
//! Agents write a good plan in ordinary Markdown: in a fence with words around it, with numbered,
//! bold, underlined or deeper headings, with labels in another form. Every program that reads a plan
//! later expects one form, so Convoke rewrites headings and labels to that form and nothing else.

use std::ops::Range;

use super::outline::{Outline, canonical_label};
use super::talk::without_talk;
use super::{check, is_begun};
use crate::design::aside::without_asides;
use crate::design::parts::{document, without_blank_lines};
use crate::design::quote;
use crate::markdown::fence::{FenceLine, Fences, opens};
use crate::markdown::{bare, lines, without_mark};

/// A plan as it was read, and what Convoke changed for that.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanReading {
    /// The plan. Whether it has all it needs is for [`check`] to say.
    pub text: String,
    /// Words around the plan, in one line each.
    talk: Vec<String>,
    /// How many headings and labels were written in another form.
    rewritten: usize,
}

impl PlanReading {
    /// Describes the changes, for a person who compares the plan with the answer; `None` without
    /// changes. The note does not name asides: Convoke leaves them out of every answer.
    pub fn note(&self) -> Option<String> {
        let said: Vec<_> = self.talk.iter().map(|words| quote::phrase(words)).collect();
        let left_out = (!said.is_empty()).then(|| format!("left out {}", said.join(", ")));
        let rewritten = (self.rewritten > 0).then(|| {
            let noun = if self.rewritten == 1 { "heading or label" } else { "headings or labels" };
            format!("rewrote {} {noun} to the usual form", self.rewritten)
        });
        let all: Vec<_> = left_out.into_iter().chain(rewritten).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// Reads an answer. Of several ways to read it, the one counts that lacks the least; of equals the
/// first: as it was written, out of a fence, out of a thought that was never ended.
pub fn read(answer: &str) -> PlanReading {
    let (spoken, asides) = without_asides(answer);
    let mut readings = vec![reading(document(&spoken))];
    for inner in fenced(&spoken) {
        let mut inside = reading(&spoken[inner.clone()]);
        inside.talk = around(&spoken, &inner);
        readings.push(inside);
    }
    if let Some(at) = asides.unended {
        readings.extend(from_first_part(&answer[at..]).map(reading));
    }
    let lacks = |reading: &PlanReading| (!is_begun(&reading.text), check(&reading.text).len());
    readings.into_iter().min_by_key(lacks).unwrap_or_default()
}

fn reading(text: &str) -> PlanReading {
    let (text, talk) = without_talk(without_mark(text));
    let mut rewritten = 0;
    let text = rewrite(text, &mut rewritten);
    PlanReading { text, talk, rewritten }
}

/// Writes headings and labels in the usual form.
fn rewrite(text: &str, rewritten: &mut usize) -> String {
    let all: Vec<_> = lines(text).collect();
    let outline = Outline::of(&all);
    let mut plan = String::with_capacity(text.len());
    let mut fences = Fences::default();
    for (number, line) in all.iter().enumerate() {
        let visible = bare(line);
        let ending = &line[visible.len()..];
        let is_code = fences.feed(visible) != FenceLine::Outside;
        if outline.is_underline(number) {
            continue;
        }
        let label = || (!is_code && outline.is_in_tasks(number)).then(|| canonical_label(visible));
        let new = outline.heading(number).or_else(|| label().flatten());
        match new.filter(|new| new != visible) {
            Some(new) => {
                *rewritten += 1;
                plan.push_str(&new);
                plan.push_str(ending);
            }
            None => plan.push_str(line),
        }
    }
    without_blank_lines(&plan).to_owned()
}

/// Returns the fenced texts that may hold the plan: each by the rules of Markdown, and all between
/// the first and the last fence line, because agents put code into a plan in a fence.
fn fenced(text: &str) -> Vec<Range<usize>> {
    let mut fences = Fences::default();
    let (mut offset, mut open) = (0, None);
    let (mut first, mut last, mut found) = (None, None, Vec::new());
    for line in lines(text) {
        let kind = fences.feed(bare(line));
        match kind {
            FenceLine::Opens => {
                open = Some(offset + line.len());
                first = first.or(open);
            }
            FenceLine::Closes => found.extend(open.take().map(|start| start..offset)),
            FenceLine::Outside | FenceLine::Body => {}
        }
        if matches!(kind, FenceLine::Opens | FenceLine::Closes) {
            last = Some(offset);
        }
        offset += line.len();
    }
    let widest = first.zip(last).filter(|(start, end)| start < end);
    found.extend(widest.map(|(start, end)| start..end));
    found
}

/// Returns the words around a part of a text, in one line each.
fn around(text: &str, inner: &Range<usize>) -> Vec<String> {
    let sides = [&text[..inner.start], &text[inner.end..]];
    let words = sides.map(|side| {
        let said = lines(side).map(bare).filter(|line| !opens(line));
        quote::line(&said.collect::<Vec<_>>().join("\n"))
    });
    words.into_iter().filter(|side| !side.is_empty()).collect()
}

/// Returns a thought that was never ended from its first part of a plan on.
fn from_first_part(thought: &str) -> Option<&str> {
    let all: Vec<_> = lines(thought).collect();
    let number = Outline::of(&all).first_part();
    let start = number.map(|number| all[..number].iter().map(|line| line.len()).sum::<usize>());
    start.map(|start| &thought[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "\
## Files to modify/create
- `src/upload.rs`: the cap

## Approach
Count in the client.

```rust
let cap = 5;
```

## Edge cases
A cap of zero means none.

## Failure modes
Counters drift.

## Testing strategy
A table of caps.

## Tasks

### Task 1: Count
**Files:** `src/upload.rs`

Count retries.

**Done when:** the cap holds
**Source:** Approach

### Task 2: Document
**Files:** `docs/upload.md`
**Done when:** the page says so
**Source:** Edge cases";

    #[track_caller]
    fn reads(answer: &str, plan: &str) -> Option<String> {
        let reading = read(answer);
        assert_eq!(reading.text, plan, "{answer}");
        reading.note()
    }

    #[test]
    fn a_plan_in_the_usual_form_is_not_changed() {
        assert_eq!(reads(PLAN, PLAN), None);
        let titled = format!("# Retry cap\n\nUploads give up.\n\n{PLAN}");
        assert_eq!(reads(&titled, &titled), None);
        let windows = PLAN.replace('\n', "\r\n");
        assert_eq!(reads(&windows, &windows), None);
    }

    #[test]
    fn headings_in_another_form_are_rewritten() {
        let deeper = PLAN.replace("## ", "### ");
        assert_eq!(
            reads(&deeper, PLAN),
            Some("rewrote 8 headings or labels to the usual form".into())
        );
        reads(&PLAN.replace("## ", "# "), PLAN);
        let mut numbered = PLAN.to_owned();
        for (number, part) in (1..).zip(super::super::PlanPart::ALL) {
            numbered = numbered.replace(&format!("## {part}\n"), &format!("## {number}. {part}\n"));
        }
        reads(&numbered, PLAN);
        let listed = numbered.replace("\n## ", "\n").replace("## 1.", "1.");
        reads(&listed, PLAN);
        let bold = |text: &str, mark: &str| {
            let line = |line: &str| match line.strip_prefix("## ").or(line.strip_prefix("### ")) {
                Some(title) => format!("{mark}{title}{mark}"),
                None => line.to_owned(),
            };
            text.lines().map(line).collect::<Vec<_>>().join("\n")
        };
        reads(&bold(PLAN, "**"), PLAN);
        reads(&bold(PLAN, "__"), PLAN);
        let line = |line: &str| match line.strip_prefix("## ") {
            Some(title) => format!("{}\n-----", title.to_uppercase()),
            None => line.to_owned(),
        };
        reads(&PLAN.lines().map(line).collect::<Vec<_>>().join("\n"), PLAN);
        reads(
            &PLAN.replace("### Task 1:", "## TASK 1 —").replace("### Task 2:", "## Task 2:"),
            PLAN,
        );
        reads(&PLAN.replace("### Task 1: ", "### 1. ").replace("### Task 2: ", "### 2. "), PLAN);
    }

    #[test]
    fn labels_in_another_form_are_rewritten() {
        for (from, to) in [
            ("**Done when:**", "**Done when**:"),
            ("**Source:**", "- Source:"),
            ("**Files:**", "- **files**:"),
            ("**Source:**", "*Source:*"),
        ] {
            reads(&PLAN.replace(from, to), PLAN);
        }
    }

    #[test]
    fn text_around_a_plan_is_left_out_and_named() {
        let fenced = format!("Here is the plan:\n\n~~~markdown\n{PLAN}\n~~~\n\nLet me know!");
        let note = reads(&fenced, PLAN);
        assert_eq!(note, Some("left out \"Here is the plan:\", \"Let me know!\"".to_owned()));
        // Three marks inside of three marks: the plan's own code closes its fence.
        reads(&format!("Here it is:\n```markdown\n{PLAN}\n```\n"), PLAN);
        reads(&format!("<think>\n{PLAN}\n</think>\n{PLAN}"), PLAN);
        reads(&format!("<think>\nLet me see.\n\n{PLAN}"), PLAN);
        reads(&format!("<!-- draft\n## Approach\n-->\nSure.\n\n{PLAN}"), PLAN);
    }

    // A task may have headings of the same words, and a draft before the plan is no plan.
    #[test]
    fn only_headings_of_one_level_begin_parts() {
        let inside = PLAN.replace("Count retries.", "#### Approach\nCount retries.");
        assert_eq!(reads(&inside, &inside), None);
        let twice = format!("{PLAN}\n\n{PLAN}");
        let defects = check(&read(&twice).text);
        assert_eq!(defects[0].to_string(), "there is more than one `## Files to modify/create`");
        let missing = inside.replace("## Approach\nCount in", "## Way\nCount in");
        let defects: Vec<_> = check(&read(&missing).text).iter().map(ToString::to_string).collect();
        assert_eq!(defects, ["the plan has no `## Approach`"]);
    }

    #[test]
    fn the_form_that_the_chair_is_shown_is_no_plan() {
        let form = include_str!("../prompt/chair/plan-form.md").replace("    ", "");
        let shown = include_str!("../prompt/chair/plan-skeleton.md").replace("    ", "");
        for echo in [form.as_str(), &shown, &format!("```\n{shown}\n```")] {
            let reading = read(echo);
            assert!(!check(&reading.text).is_empty() && !is_begun(&reading.text), "{echo}");
        }
    }
}
