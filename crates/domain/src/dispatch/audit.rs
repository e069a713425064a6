//! Finding prompts that paste a document instead of referring to it.

/// The form of a line that pastes a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// `{… content … .md}`.
    ContentOfFile,
    /// `{… .md … content}`.
    FileContent,
    /// Sections of a PRD by name.
    PrdSections,
    /// `{content of …}` with any continuation.
    ContentOf,
}

impl Pattern {
    /// Every pattern.
    pub const ALL: [Self; 4] =
        [Self::ContentOfFile, Self::FileContent, Self::PrdSections, Self::ContentOf];

    /// Returns the name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ContentOfFile => "P1",
            Self::FileContent => "P2",
            Self::PrdSections => "P3",
            Self::ContentOf => "P4",
        }
    }

    /// Tells whether a line has this form.
    pub fn matches(self, line: &str) -> bool {
        match self {
            Self::ContentOfFile => in_order(line, &["{", "content", ".md}"]),
            Self::FileContent => closed(line).any(|part| {
                let inside = part.split_once('{').map(|(_, inside)| inside);
                let before = inside.and_then(|inside| inside.strip_suffix("content"));
                before.is_some_and(|before| before.contains(".md"))
            }),
            Self::PrdSections => {
                let prd = |name| in_order(line, &[name, "prd"]) || in_order(line, &[name, "PRD"]);
                prd("Problem Statement")
                    || prd("Goals")
                    || in_order(line, &["prd", "Problem Statement"])
            }
            Self::ContentOf => closed(line).any(|part| part.contains("{content of ")),
        }
    }
}

/// Tells whether a line contains the words in this order.
fn in_order(line: &str, words: &[&str]) -> bool {
    let mut rest = line;
    words.iter().all(|word| match rest.find(word) {
        Some(at) => {
            rest = &rest[at + word.len()..];
            true
        }
        None => false,
    })
}

/// Returns the pieces of a line that a closing brace ends.
fn closed(line: &str) -> impl Iterator<Item = &str> {
    line.split_inclusive('}').filter_map(|part| part.strip_suffix('}'))
}

/// A line that pastes, or seems to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasteHit {
    /// Its number, from one.
    pub line: usize,
    /// The forms that the line has.
    pub patterns: Vec<Pattern>,
    /// The line without the spaces around it.
    pub text: String,
    /// Why it is allowed; `None` if it is not.
    pub allowed: Option<&'static str>,
}

/// How strict an audit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// The artifact under review may be pasted.
    Seed,
    /// Nothing may be pasted.
    AllReference,
}

/// Placeholders that may stay in a prompt that pastes what it reviews, in the section for it.
const TARGETS: [(&str, &str); 4] = [
    ("{content of spec.md}", "## Spec (what you're reviewing)"),
    ("{content of design.md}", "## Design (what we're reviewing)"),
    ("{content of plan.md}", "## Plan (what you're reviewing)"),
    ("{content of tasks.md}", "## Tasks (what you're reviewing)"),
];

/// Audits one prompt file. `name` is its path, by which what others may paste is known.
pub fn audit(name: &str, text: &str, strictness: Strictness) -> Vec<PasteHit> {
    let mut heading = "";
    let mut targets_seen: Vec<&str> = Vec::new();
    let mut hits = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let visible = line.trim();
        if visible.starts_with('#') {
            heading = visible;
        }
        let patterns: Vec<_> =
            Pattern::ALL.into_iter().filter(|pattern| pattern.matches(line)).collect();
        if patterns.is_empty() {
            continue;
        }
        let target = TARGETS.iter().find(|(placeholder, place)| {
            visible == *placeholder && heading == *place && !targets_seen.contains(placeholder)
        });
        let allowed = match target {
            Some((placeholder, _)) if strictness == Strictness::Seed => {
                targets_seen.push(placeholder);
                Some("the artifact under review")
            }
            _ => allowed_elsewhere(name, line, &patterns),
        };
        // One mention of a project's PRD is known; another is not.
        let again = |hit: &PasteHit| hit.allowed == Some(SPEAKS_OF_PRD);
        let allowed = allowed.filter(|why| *why != SPEAKS_OF_PRD || !hits.iter().any(again));
        hits.push(PasteHit { line: index + 1, patterns, text: visible.to_owned(), allowed });
    }
    hits
}

const SPEAKS_OF_PRD: &str = "it speaks of a project's PRD";

/// Returns why other files may paste a document here, if they may.
fn allowed_elsewhere(name: &str, line: &str, patterns: &[Pattern]) -> Option<&'static str> {
    let name = name.replace('\\', "/");
    let is = |folder: &str| name.split('/').rev().skip(1).any(|part| part == folder);
    if is("brainstorming") {
        return Some("it reviews what is being written");
    }
    if is("retrospecting") && line.contains("{content of references/aorta-framework.md}") {
        return Some("a framework of its own");
    }
    let only_words = patterns == [Pattern::PrdSections];
    (only_words && is("implementing")).then_some(SPEAKS_OF_PRD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(line: &str) -> String {
        let all = Pattern::ALL.into_iter().filter(|pattern| pattern.matches(line));
        all.map(Pattern::name).collect::<Vec<_>>().join(" ")
    }

    // D-70, D-72
    #[test]
    fn pasting_is_recognised() {
        for (line, expected) in [
            ("{content of spec.md}", "P1 P4"),
            ("  {full content of design.md}", "P1"),
            ("{spec.md content}", "P2"),
            ("{the text of spec.md, whole content}", "P2"),
            ("{content of prd.md, or \"None\"}", "P4"),
            ("{content of prd.md or brainstorm file}", "P4"),
            ("Problem Statement and Goals from the PRD", "P3"),
            ("{Goals of prd.md}", "P3"),
            ("prd sections: Problem Statement", "P3"),
            ("{extractSection(design.md, ref)}", ""),
            ("- Spec: {feature_path}/spec.md", ""),
            ("content of spec.md", ""),
            ("{content} of spec.md", ""),
            ("{a} content.md}", "P1"),
            ("{content of ", ""),
            ("", ""),
        ] {
            assert_eq!(patterns(line), expected, "{line}");
        }
    }

    // D-71
    #[test]
    fn only_the_artifact_under_review_may_be_pasted() {
        let prompt = "## Required Artifacts\n{content of spec.md}\n\
            ## Spec (what you're reviewing)\n{content of spec.md}\n{content of spec.md}\n\
            ## Design (what you're reviewing)\n{content of design.md}\n";
        let allowed = |strictness| -> Vec<(usize, bool)> {
            let hits = audit("commands/specify.md", prompt, strictness);
            hits.iter().map(|hit| (hit.line, hit.allowed.is_some())).collect()
        };
        assert_eq!(allowed(Strictness::Seed), [(2, false), (4, true), (5, false), (7, false)]);
        assert!(allowed(Strictness::AllReference).iter().all(|(_, allowed)| !allowed));
    }

    // D-71: what others may do.
    #[test]
    fn known_exceptions_are_allowed_where_they_are() {
        let allowed = |name: &str, text: &str| {
            audit(name, text, Strictness::Seed).iter().all(|hit| hit.allowed.is_some())
        };
        let framework = "{content of references/aorta-framework.md}";
        assert!(allowed("skills/retrospecting/SKILL.md", framework));
        assert!(!allowed("commands/design.md", framework));
        assert!(allowed("skills/brainstorming/SKILL.md", "{content of prd.md}"));
        assert!(allowed("skills/implementing/SKILL.md", "Goals of the PRD"));
        assert!(!allowed("skills/implementing/SKILL.md", "{content of spec.md}"));
        assert!(!allowed("skills/implementing/SKILL.md", "Goals of the PRD\nGoals of the PRD"));
        assert!(allowed("skills\\brainstorming\\SKILL.md", "{content of prd.md}"));
        assert!(!allowed("skills/xbrainstorming/SKILL.md", "{content of prd.md}"));
    }
}
