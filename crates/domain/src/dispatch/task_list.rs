//! The tasks of a `tasks.md`, and what each refers to.

use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::heading::Heading;
use crate::markdown::{bare, lines};

/// One task of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedTask<'a> {
    /// Its number: `1` or `2.3`.
    pub number: &'a str,
    /// Its words.
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
pub fn tasks(document: &str) -> Result<Vec<ListedTask<'_>>, NoTasks> {
    let mut fences = Fences::default();
    let mut offset = 0;
    let mut places = Vec::new();
    for line in lines(document) {
        let visible = bare(line);
        // What stands in code is an example, and ends nothing.
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

/// Reads `### Task 2.1: Title`, at level 3 or 4.
fn numbered(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("####").or_else(|| line.strip_prefix("###"))?;
    let rest = after_blanks(rest)?.strip_prefix("Task")?;
    let rest = after_blanks(rest)?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let number = rest[..end].trim_end_matches('.');
    let whole = number.split('.').all(|part| !part.is_empty());
    let rest = &rest[number.len()..];
    let title = rest.strip_prefix(':').unwrap_or(rest).trim();
    (whole && !title.is_empty()).then_some((number, title))
}

fn after_blanks(text: &str) -> Option<&str> {
    let rest = text.trim_start();
    (rest.len() < text.len()).then_some(rest)
}

/// Says what a list without tasks probably has instead.
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
    /// In the plan.
    pub plan: Vec<String>,
    /// In the design.
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

/// Finds the first word of a kind behind a document's name, and perhaps behind one word more.
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
        let titles: Vec<_> = found.iter().map(|it| (it.number, it.title)).collect();
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
