//! Shortening a skill without losing what an agent must do.

use std::sync::OnceLock;

use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::section::{Lead, sections};
use crate::markdown::{bare, lines};

/// Starts of level-2 headings whose sections explain rather than instruct.
const EXPLAINING: [&str; 8] = [
    "example",
    "advantages",
    "real-world",
    "why ",
    "common rationalizations",
    "when to use",
    "quick reference",
    "common mistakes",
];

/// How many bytes of headings are named.
const MOST_NAMED: usize = 200;

/// A shortened text and the headings of the omitted parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruned {
    /// The remaining text.
    pub text: String,
    /// The headings of the omitted parts.
    pub omitted: Vec<String>,
}

impl Pruned {
    /// Starts with all sections.
    pub fn whole(text: &str) -> Self {
        Self { text: text.to_owned(), omitted: Vec::new() }
    }

    /// Leaves out level-2 sections that explain, with everything below them.
    #[must_use]
    pub fn without_explanations(self) -> Self {
        let mut kept = String::new();
        let mut omitted = self.omitted;
        let mut dropping = false;
        for section in sections(&self.text) {
            if let Lead::Heading(heading) = section.lead
                && heading.level <= 2
            {
                let title = heading.title.to_lowercase();
                dropping =
                    heading.level == 2 && EXPLAINING.iter().any(|start| title.starts_with(start));
                if dropping {
                    omitted.push(heading.title.to_owned());
                }
            }
            if !dropping {
                kept.push_str(section.text);
            }
        }
        Self { text: trimmed(&kept), omitted }
    }

    /// Leaves out fenced `dot` diagrams.
    #[must_use]
    pub fn without_diagrams(self) -> Self {
        let mut fences = Fences::default();
        let mut kept = String::new();
        let mut diagram = false;
        let mut diagrams = 0;
        for line in lines(&self.text) {
            let visible = bare(line);
            let place = fences.feed(visible);
            if place == FenceLine::Opens {
                diagram = visible.trim_start().trim_start_matches(['`', '~']).trim() == "dot";
                diagrams += usize::from(diagram);
            }
            if !diagram {
                kept.push_str(line);
            }
            diagram &= place != FenceLine::Closes;
        }
        let mut omitted = self.omitted;
        if diagrams > 0 {
            omitted.push("diagrams".to_owned());
        }
        Self { text: trimmed(&kept), omitted }
    }

    /// Renders the text with a line that names the omitted parts, or counts them where the names
    /// would be too long.
    pub fn render(&self) -> String {
        if self.omitted.is_empty() {
            return self.text.clone();
        }
        let mut length = 0;
        let named = self.omitted.iter().take_while(|title| {
            length += title.len();
            length <= MOST_NAMED
        });
        let mut parts: Vec<_> = named.cloned().collect();
        let more = self.omitted.len() - parts.len();
        if more > 0 {
            parts.push(format!("{more} more"));
        }
        format!("{}\n\n> omitted sections: {}", self.text, parts.join("; "))
    }
}

/// The parts that stay in a skill's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruneLevel {
    /// Sections that explain.
    pub explanations: bool,
    /// `dot` diagrams.
    pub diagrams: bool,
}

impl PruneLevel {
    /// Everything stays.
    pub const WHOLE: Self = Self { explanations: true, diagrams: true };
}

/// A skill's text with its shorter forms; each is made once, on its first use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forms {
    text: String,
    pruned: [OnceLock<Pruned>; 4],
}

impl Forms {
    /// Takes a text; nothing is shortened yet.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), pruned: Default::default() }
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text at a level.
    pub fn at(&self, level: PruneLevel) -> &Pruned {
        let index = usize::from(level.explanations) * 2 + usize::from(level.diagrams);
        self.pruned[index].get_or_init(|| {
            let mut pruned = Pruned::whole(&self.text);
            if !level.explanations {
                pruned = pruned.without_explanations();
            }
            if !level.diagrams {
                pruned = pruned.without_diagrams();
            }
            pruned
        })
    }
}

fn trimmed(text: &str) -> String {
    text.trim_end_matches(['\r', '\n']).to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SKILL: &str = "# Skill\n\n## When to Use\nsometimes\n\n### Details\nmore\n\n\
        ## Process\n1. do\n\n```dot\ndigraph {}\n```\n\n```sh\nrun\n```\n\n\
        ## Example Workflow\nlong\n\n## Rules\nobey\n";

    // W-82c, W-82d, W-83
    #[test]
    fn explanations_and_diagrams_go_and_instructions_stay() {
        let pruned = Pruned::whole(SKILL).without_explanations();
        assert_eq!(
            pruned.text,
            "# Skill\n\n## Process\n1. do\n\n```dot\ndigraph {}\n```\n\n```sh\nrun\n```\n\n\
             ## Rules\nobey"
        );
        assert_eq!(pruned.omitted, ["When to Use", "Example Workflow"]);
        let pruned = pruned.without_diagrams();
        assert_eq!(
            pruned.render(),
            "# Skill\n\n## Process\n1. do\n\n\n```sh\nrun\n```\n\n## Rules\nobey\n\n\
             > omitted sections: When to Use; Example Workflow; diagrams"
        );
    }

    // W-83: a text without such sections loses nothing and says nothing.
    #[test]
    fn a_text_of_instructions_is_untouched() {
        let text = "# A\n\n## Whyever not\n\n### Example\nx\n\n```\n## Example\n```";
        let pruned = Pruned::whole(text).without_explanations().without_diagrams();
        assert_eq!(pruned.render(), text);
    }

    // W-84: a form that is kept is the one that would be made.
    #[test]
    fn every_form_is_the_same_on_its_second_use() {
        let forms = Forms::new(SKILL);
        for level in [
            PruneLevel::WHOLE,
            PruneLevel { explanations: false, ..PruneLevel::WHOLE },
            PruneLevel { diagrams: false, ..PruneLevel::WHOLE },
            PruneLevel { explanations: false, diagrams: false },
        ] {
            assert_eq!(forms.at(level), Forms::new(SKILL).at(level), "{level:?}");
            assert_eq!(forms.at(level), forms.at(level));
            assert_eq!(forms.at(level).text.contains("sometimes"), level.explanations);
            assert_eq!(forms.at(level).text.contains("digraph"), level.diagrams);
        }
    }

    proptest! {
        #[test]
        fn pruning_only_ever_takes_away(text in "(#{0,3} ?(Example|Why |x)?[`~]{0,3}(dot)?\n){0,12}") {
            let once = Pruned::whole(&text).without_explanations().without_diagrams();
            prop_assert!(once.text.len() <= text.len());
            let again = Pruned::whole(&once.text).without_explanations().without_diagrams();
            prop_assert_eq!(again.text, once.text);
        }
    }
}
