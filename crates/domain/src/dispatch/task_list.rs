//! The tasks of a `tasks.md`, and what each refers to.

use crate::markdown::fence::{self, FenceLine, Fences};
use crate::markdown::heading::Heading;
use crate::markdown::{bare, lines};

/// One task of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedTask<'a> {
    /// Its number: `1` or `2.3`.
    pub number: &'a str,
    /// The words of its heading behind the number.
    pub title: &'a str,
    /// Everything from its heading to the next of the same level or a higher one.
    pub body: &'a str,
}

/// A list without a single task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot find any task in `tasks.md`: {cause}")]
pub struct NoTasks {
    cause: &'static str,
}

/// Reads the list.
///
/// A heading in a fenced example is no task, but a fence that its author forgot to close must not
/// swallow the tasks behind it; `Chunks::example_up_to` tells the two apart.
pub fn tasks(document: &str) -> Result<Vec<ListedTask<'_>>, NoTasks> {
    let chunks = Chunks::of(document);
    let mut fences = Fences::default();
    let mut offset = 0;
    let mut places = Vec::new();
    let mut example_end = 0;
    for line in lines(document) {
        let visible = bare(line);
        if fences.inside() && offset >= example_end && numbered(visible).is_some() {
            match chunks.example_up_to(offset, fences) {
                Some(end) => example_end = end,
                None => fences = Fences::default(),
            }
        }
        // A heading in code is an example and ends no section.
        let outside = fences.feed(visible) == FenceLine::Outside;
        if let Some(heading) = Heading::parse(visible).filter(|_| outside) {
            places.push((offset, heading.level, numbered(visible)));
        }
        offset += line.len();
    }
    let mut found = Vec::new();
    for (index, (start, level, task)) in places.iter().enumerate() {
        let Some((number, title)) = task else { continue };
        let later = places[index + 1..].iter();
        let end = later.into_iter().find(|(_, other, _)| other <= level).map(|(at, ..)| *at);
        let body = &document[*start..end.unwrap_or(document.len())];
        found.push(ListedTask { number, title, body });
    }
    if found.is_empty() { Err(NoTasks { cause: cause(document) }) } else { Ok(found) }
}

/// A list cut before each line that looks like a task, whether or not that is in a fence.
struct Chunks<'a> {
    document: &'a str,
    /// The offset of each task.
    starts: Vec<usize>,
}

impl<'a> Chunks<'a> {
    fn of(document: &'a str) -> Self {
        let mut offset = 0;
        let mut starts = Vec::new();
        for line in lines(document) {
            starts.extend(numbered(bare(line)).map(|_| offset));
            offset += line.len();
        }
        Self { document, starts }
    }

    /// Returns how far the example goes that an open fence makes of the task at an offset; `None`
    /// if the fence was left open by mistake. The task is an example if the first fences behind it
    /// close the open one and, read without it, are no pairs.
    fn example_up_to(&self, offset: usize, open: Fences) -> Option<usize> {
        let first = self.starts.partition_point(|start| *start < offset);
        let ends = self.starts[first..].iter().skip(1).copied().chain([self.document.len()]);
        let mut chunks = self.starts[first..].iter().zip(ends);
        let has_fence = |chunk: &str| lines(chunk).any(|line| fence::opens(bare(line)));
        let (start, end) = chunks.find(|(start, end)| has_fence(&self.document[**start..*end]))?;
        let chunk = &self.document[*start..end];
        let closes = follow(chunk, open).any(|line| line == FenceLine::Closes);
        let last = follow(chunk, Fences::default()).last();
        let is_open = matches!(last, Some(FenceLine::Opens | FenceLine::Body));
        (closes && is_open).then_some(end)
    }
}

/// Tells what each line of a chunk is, if it begins like this.
fn follow(chunk: &str, mut fences: Fences) -> impl Iterator<Item = FenceLine> {
    lines(chunk).map(move |line| fences.feed(bare(line)))
}

/// Reads `### Task 2.1: Title`, at level 3 or 4. Letters may belong to the number: `1.1b`, `2a`,
/// `1A.1`, `1a.docs`.
fn numbered(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("####").or_else(|| line.strip_prefix("###"))?;
    let rest = after_blanks(rest)?.strip_prefix("Task")?;
    let rest = after_blanks(rest)?;
    let number = closed_by_colon(rest).or_else(|| lettered(rest)).or_else(|| digits(rest))?;
    let rest = &rest[number.len()..];
    let title = rest.strip_prefix([':', '\u{ff1a}']).unwrap_or(rest).trim();
    (!title.is_empty()).then_some((number, title))
}

/// Reads `2.1` and leaves letters behind it to the title.
fn digits(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].trim_end_matches('.');
    number.split('.').all(|part| !part.is_empty()).then_some(number)
}

/// Reads everything up to a colon, if it begins with a digit and has no blank.
fn closed_by_colon(text: &str) -> Option<&str> {
    let (number, _) = text.split_once([':', '\u{ff1a}'])?;
    let is_plain = number.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c));
    let is_whole = number.split('.').all(|part| !part.is_empty());
    (is_plain && is_whole && number.starts_with(|c: char| c.is_ascii_digit())).then_some(number)
}

/// Reads a number in which letters belong to it: at most two behind digits, or one alone behind a
/// dot. More letters are a word of the title.
fn lettered(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '.').unwrap_or(text.len());
    let number = text[..end].trim_end_matches('.');
    let is_part = |part: &str| {
        let letters = part.trim_start_matches(|c: char| c.is_ascii_digit());
        let most = if letters.len() < part.len() { 2 } else { 1 };
        !part.is_empty()
            && letters.len() <= most
            && letters.chars().all(|c| c.is_ascii_alphabetic())
    };
    let begins_with_digit = number.starts_with(|c: char| c.is_ascii_digit());
    (begins_with_digit && number.split('.').all(is_part)).then_some(number)
}

fn after_blanks(text: &str) -> Option<&str> {
    let rest = text.trim_start();
    (rest.len() < text.len()).then_some(rest)
}

/// Returns what a list without tasks probably has instead.
fn cause(document: &str) -> &'static str {
    let titles: Vec<_> = lines(document).map(bare).filter_map(Heading::parse).collect();
    let is_task = |heading: &Heading<'_>| heading.title.starts_with("Task ");
    let short = |title: &str| {
        let digits = title.strip_prefix('T').unwrap_or(title);
        digits.starts_with(|c: char| c.is_ascii_digit())
    };
    if document.trim().is_empty() {
        "it is empty"
    } else if titles.iter().any(is_task) {
        "its tasks are not headings of level 3 or 4 with a number, such as `### Task 1: Title`"
    } else if titles.iter().any(|heading| short(heading.title)) {
        "its headings are numbered but do not begin with `Task`, such as `### Task 1: Title`"
    } else {
        "it has no headings such as `### Task 1: Title`"
    }
}

impl<'a> ListedTask<'a> {
    /// Returns where the task comes from, in its author's words.
    pub fn source(&self) -> Option<&'a str> {
        let fields = ["**Why:**", "**Source:**"].iter().filter_map(|label| self.field_at(label));
        let first = fields.min_by_key(|(at, _)| *at).map(|(_, rest)| rest);
        first.map(|rest| rest.lines().next().unwrap_or_default().trim())
    }

    /// Returns when the task is done, up to the next label or heading.
    pub fn done_when(&self) -> Option<&'a str> {
        let (_, rest) = self.field_at("**Done when:**")?;
        let mut end = 0;
        let mut fences = Fences::default();
        for (index, line) in lines(rest).enumerate() {
            let outside = fences.feed(bare(line)) == FenceLine::Outside;
            let label = line.starts_with("**") && line.contains(":**");
            let heading = Heading::parse(bare(line)).is_some();
            if index > 0 && outside && (label || heading) {
                break;
            }
            end += line.len();
        }
        Some(rest[..end].trim())
    }

    fn field_at(&self, label: &str) -> Option<(usize, &'a str)> {
        let at = self.body.find(label)?;
        Some((at, &self.body[at + label.len()..]))
    }
}

/// The ids that a task refers to, in each document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct References {
    /// Ids of the plan.
    pub plan: Vec<String>,
    /// Ids of the design.
    pub design: Vec<String>,
    /// In the spec; known, and not used.
    pub spec: Vec<String>,
}

impl References {
    /// Reads a field: pieces between commas, each of which may refer to each document once.
    pub fn parse(field: &str) -> Self {
        let mut found = Self::default();
        for piece in field.split(',').map(str::trim) {
            found.plan.extend(after(piece, "plan ", "step ", dotted));
            found.design.extend(after(piece, "design ", "component ", dashed));
            found.spec.extend(after(piece, "spec ", "", dotted));
        }
        found
    }

    /// Tells whether nothing was referred to that is used.
    pub fn is_empty(&self) -> bool {
        self.plan.is_empty() && self.design.is_empty()
    }
}

/// Finds the first word of a kind behind a document's name, optionally with one word between them.
fn after(
    piece: &str,
    document: &str,
    optional: &str,
    id: fn(&str) -> Option<&str>,
) -> Option<String> {
    let lower = piece.to_ascii_lowercase();
    lower.match_indices(document).find_map(|(at, _)| {
        let start = at + document.len();
        let with = lower[start..].strip_prefix(optional).filter(|_| !optional.is_empty());
        let with = with.and_then(|_| id(&piece[start + optional.len()..]));
        with.or_else(|| id(&piece[start..])).map(str::to_owned)
    })
}

const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A word, a dot and a word: `1A.1`.
fn dotted(text: &str) -> Option<&str> {
    let first = text.find(|c| !is_word(c)).filter(|length| *length > 0)?;
    let rest = text[first..].strip_prefix('.')?;
    let second = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    (second > 0).then(|| &text[..first + 1 + second])
}

/// A word that may have dashes in it: `I7`, `role-map`.
fn dashed(text: &str) -> Option<&str> {
    let end = text.find(|c| !is_word(c) && c != '-').unwrap_or(text.len());
    (end > 0 && text.starts_with(is_word)).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TASKS: &str = "\
# Tasks

## Phase 1

### Task 1: First thing
**Why:** Plan Step 1A.1, Design I7
Do it.

#### Task 1.1: Part
inside

**Done when:** all
is well
**Files:** a.rs

### Task 2 Second
```
### Task 3: in code
```
## Phase 2
after
";

    // D-30
    #[test]
    fn tasks_run_to_the_next_heading_of_their_level() {
        let found = tasks(TASKS).unwrap();
        let titles: Vec<_> = found.iter().map(|task| (task.number, task.title)).collect();
        assert_eq!(titles, [("1", "First thing"), ("1.1", "Part"), ("2", "Second")]);
        assert!(found[0].body.contains("#### Task 1.1") && !found[0].body.contains("Task 2"));
        assert_eq!(found[2].body, "### Task 2 Second\n```\n### Task 3: in code\n```\n");
    }

    // D-30: the likely cause is named.
    #[test]
    fn a_list_without_tasks_says_why() {
        for (document, cause) in [
            ("", "it is empty"),
            ("## Task 1: x\n", "not headings of level 3 or 4"),
            ("### T1: x\n", "do not begin with `Task`"),
            ("### 1. x\n", "do not begin with `Task`"),
            ("### Task one: x\n", "not headings of level 3 or 4 with a number"),
            ("prose\n", "it has no headings"),
        ] {
            let error = tasks(document).unwrap_err().to_string();
            assert!(error.contains(cause), "{document:?}: {error}");
        }
        for line in
            ["### Task 1:", "###Task 1: x", "### Task  ", "##### Task 1: x", "### Task 1..2: x"]
        {
            assert_eq!(numbered(line), None, "{line}");
        }
        assert_eq!(numbered("###\tTask\t2.10:   x y "), Some(("2.10", "x y")));
    }

    // D-30: a fence that its author forgot to close swallows no task; an example is no task.
    #[test]
    fn an_open_fence_swallows_no_task() {
        let numbers = |document: &str| {
            let found = tasks(document)
                .map(|found| found.iter().map(|task| task.number).collect::<Vec<_>>().join(" "));
            found.unwrap_or_default()
        };
        for (document, expected) in [
            ("### Task 1: x\n```\na\n### Task 2: y\nb\n### Task 3: z\n", "1 2 3"),
            ("### Task 1: x\n```\na\n### Task 2: y\n```\nb\n```\n### Task 3: z\n", "1 2 3"),
            ("### Task 1: x\n```rust\n### Task 2: y\n```rust\n### Task 3: z\n", "1 2 3"),
            ("### Task 1: x\n~~~\n### Task 2: y\n```\nb\n```\n### Task 3: z\n", "1 2 3"),
            ("### Task 1: x\n```\n### Task 2: y\n### Task 3: z\n```\n### Task 4: w\n", "1 4"),
            ("### Task 1: x\n~~~\n### Task 2: y\n```\n~~~\n### Task 3: z\n", "1 3"),
        ] {
            assert_eq!(numbers(document), expected, "{document}");
        }
    }

    // D-30: letters belong to the number, words to the title.
    #[test]
    fn a_number_may_have_letters() {
        for (line, number, title) in [
            ("### Task 1.1b: Split", "1.1b", "Split"),
            ("#### Task 2a Second", "2a", "Second"),
            ("### Task 1A.1: Map", "1A.1", "Map"),
            ("### Task 3.b: Part", "3.b", "Part"),
            ("### Task 12ab: x", "12ab", "x"),
            ("### Task 2\u{ff1a}第二", "2", "第二"),
            ("### Task 1st: x", "1st", "x"),
            ("### Task 1a.docs: x", "1a.docs", "x"),
            ("### Task 3.1-3.4: x", "3.1-3.4", "x"),
            ("### Task 4Setup x", "4", "Setup x"),
            ("### Task 5.Setup x", "5", ".Setup x"),
            ("### Task 6第二: x", "6", "第二: x"),
        ] {
            assert_eq!(numbered(line), Some((number, title)), "{line}");
        }
        for line in ["### Task T001: x", "### Task b: x", "### Task .1: x", "### Task 1b:"] {
            assert_eq!(numbered(line), None, "{line}");
        }
    }

    // D-31
    #[test]
    fn fields_are_read() {
        let found = tasks(TASKS).unwrap();
        assert_eq!(found[0].source(), Some("Plan Step 1A.1, Design I7"));
        assert_eq!(found[1].done_when(), Some("all\nis well"));
        assert_eq!((found[2].source(), found[2].done_when()), (None, None));
        let both = tasks("### Task 1: x\r\n**Source:** a\r\n**Why:** b\r\n").unwrap();
        assert_eq!(both[0].source(), Some("a"), "the first of the two");
        let last = tasks("### Task 1: x\n**Done when:** y\n\n- z\n").unwrap();
        assert_eq!(last[0].done_when(), Some("y\n\n- z"));
        let code = "### Task 1: x\n**Done when:** y\n```\n# comment\n```\nz\n#### Notes\nn\n";
        assert_eq!(tasks(code).unwrap()[0].done_when(), Some("y\n```\n# comment\n```\nz"));
    }

    // D-32, section 11 example 3
    #[test]
    fn references_are_read_piece_by_piece() {
        let found = References::parse("Plan Step 1A.1, Design I7, I8, I9; Spec R2.3, R2.1");
        assert_eq!((found.plan, found.design), (vec!["1A.1".to_owned()], vec!["I7".to_owned()]));
        assert_eq!(found.spec, ["R2.3"]);
        for (field, plan, design) in [
            ("plan 2.1", Some("2.1"), None),
            ("PLAN STEP 2.1 and more", Some("2.1"), None),
            ("Plan Step.1", Some("Step.1"), None),
            ("Plan 2", None, None),
            ("Design Component role-map", None, Some("role-map")),
            ("Design Component", None, Some("Component")),
            ("Redesign x", None, Some("x")),
            ("Design -x", None, None),
            ("Plan 1.2 Design C3", Some("1.2"), Some("C3")),
            ("Plan x, Plan 3.4", Some("3.4"), None),
            ("none of it", None, None),
        ] {
            let found = References::parse(field);
            let first = |ids: &[String]| ids.first().cloned();
            assert_eq!(first(&found.plan).as_deref(), plan, "{field}");
            assert_eq!(first(&found.design).as_deref(), design, "{field}");
        }
    }

    proptest! {
        #[test]
        fn any_list_is_read(document in "(#{0,5} ?(Task )?[0-9.]{0,3}:?[a-z*`é ]{0,6}\r?\n){0,12}") {
            if let Ok(found) = tasks(&document) {
                prop_assert!(found.iter().all(|task| document.contains(task.body)));
            }
        }

        #[test]
        fn any_field_is_read(field in any::<String>()) {
            References::parse(&field);
        }
    }
}
