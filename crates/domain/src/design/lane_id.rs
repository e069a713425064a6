//! The names of a design's lanes: the kind of work, and the agent that does it.

use std::fmt;

use super::progress::Step;

/// The suffix of a second request.
const AGAIN: &str = "again";

/// The suffix of a lane in which the host answers in the place of another agent.
const SUBSTITUTE: &str = "host";

/// The kind of work that a lane of a design does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneKind {
    /// A proposal of one agent, made before it sees others.
    Sketch,
    /// One side of a debate.
    Debate,
    /// A judge's votes.
    Judge,
    /// A review of the plan.
    Review,
    /// A voter's votes.
    Vote,
    /// Something that only the chair writes.
    Chair(ChairTask),
}

/// The document that the chair writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChairTask {
    /// Clarifying questions.
    Questions,
    /// Questions about what belongs to the work.
    Scope,
    /// The synthesis of the sketches.
    Synthesis,
    /// Writing the plan.
    Plan,
    /// Which remarks of reviewers mean the same.
    Merge,
    /// The plan, revised for findings.
    Revision,
    /// Questions about the reviewed plan.
    Interview,
    /// The plan, changed for what a person answered.
    Update,
    /// Drawing the plan.
    Diagram,
    /// The plan, revised for a person's decision, by its number.
    Decided(usize),
}

impl ChairTask {
    /// All that a design has once.
    const ONCE: [Self; 9] = [
        Self::Questions,
        Self::Scope,
        Self::Synthesis,
        Self::Plan,
        Self::Merge,
        Self::Revision,
        Self::Interview,
        Self::Update,
        Self::Diagram,
    ];

    /// Reads the word in a lane's name.
    fn parse(word: &str) -> Option<Self> {
        let known = Self::ONCE.into_iter().find(|task| task.to_string() == word);
        let decided = || word.strip_prefix("decided-")?.parse().ok().map(Self::Decided);
        // The word is written in one way only.
        known.or_else(decided).filter(|task| task.to_string() == word)
    }

    /// Returns the step that needs it.
    const fn step(self) -> Step {
        match self {
            Self::Questions => Step::Questions,
            Self::Scope => Step::DiscussionOne,
            Self::Synthesis => Step::Sketches,
            Self::Plan => Step::Plan,
            Self::Merge | Self::Revision => Step::Review,
            Self::Interview | Self::Update => Step::DiscussionTwo,
            Self::Diagram => Step::Diagram,
            Self::Decided(_) => Step::Decisions,
        }
    }
}

impl fmt::Display for ChairTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Questions => "questions",
            Self::Scope => "scope",
            Self::Synthesis => "synthesis",
            Self::Plan => "plan",
            Self::Merge => "merge",
            Self::Revision => "revision",
            Self::Interview => "interview",
            Self::Update => "update",
            Self::Diagram => "diagram",
            Self::Decided(number) => return write!(f, "decided-{number}"),
        };
        f.write_str(word)
    }
}

impl LaneKind {
    /// Returns the first word of a lane's name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sketch => "sketch",
            Self::Debate => "debate",
            Self::Judge => "judge",
            Self::Review => "review",
            Self::Vote => "vote",
            Self::Chair(_) => "chair",
        }
    }

    /// Tells whether the work needs the code: all of it but merging remarks and drawing.
    pub const fn needs_code(self) -> bool {
        !matches!(self, Self::Chair(ChairTask::Merge | ChairTask::Diagram))
    }

    /// Returns the step that starts such lanes.
    pub const fn step(self) -> Step {
        match self {
            Self::Sketch => Step::Sketches,
            Self::Debate | Self::Judge => Step::Dialectic,
            Self::Review | Self::Vote => Step::Review,
            Self::Chair(task) => task.step(),
        }
    }
}

/// Names a lane of a design: `review/Cursor-Arch`, `chair/plan/claude/again`. The same lane has the
/// same name in every run of the same course.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneId {
    kind: LaneKind,
    name: String,
}

impl LaneId {
    /// Names a lane by its kind and its agent; a second request has a suffix: `claude/again`.
    pub fn new(kind: LaneKind, asked: &str) -> Self {
        let name = match kind {
            LaneKind::Chair(task) => format!("chair/{task}/{asked}"),
            LaneKind::Sketch
            | LaneKind::Debate
            | LaneKind::Judge
            | LaneKind::Review
            | LaneKind::Vote => format!("{}/{asked}", kind.word()),
        };
        Self { kind, name }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        let (word, asked) = name.split_once('/')?;
        let kind = match word {
            "sketch" => LaneKind::Sketch,
            "debate" => LaneKind::Debate,
            "judge" => LaneKind::Judge,
            "review" => LaneKind::Review,
            "vote" => LaneKind::Vote,
            "chair" => LaneKind::Chair(ChairTask::parse(asked.split_once('/')?.0)?),
            _ => return None,
        };
        (!asked.is_empty()).then(|| Self { kind, name: name.to_owned() })
    }

    /// Returns the lane's kind of work.
    pub const fn kind(&self) -> LaneKind {
        self.kind
    }

    /// Returns the step that starts it.
    pub const fn step(&self) -> Step {
        self.kind.step()
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// Tells whether it repeats a request to the same agent.
    pub fn is_second_request(&self) -> bool {
        self.suffixes().any(|suffix| suffix == AGAIN)
    }

    /// Tells whether the host answers in the place of the agent that holds the seat.
    pub fn is_substitute(&self) -> bool {
        self.suffixes().any(|suffix| suffix == SUBSTITUTE)
    }

    /// Returns the words behind the agent's.
    fn suffixes(&self) -> impl Iterator<Item = &str> {
        let before = if matches!(self.kind, LaneKind::Chair(_)) { 3 } else { 2 };
        self.name.split('/').skip(before)
    }
}

impl fmt::Display for LaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_shows_a_lanes_kind() {
        for (name, kind, step) in [
            ("sketch/Cursor-Arch/host/again", LaneKind::Sketch, "2a"),
            ("debate/1/antithesis", LaneKind::Debate, "2a.5"),
            ("judge/Claude", LaneKind::Judge, "2a.5"),
            ("review/Codex-Edge", LaneKind::Review, "3"),
            ("vote/Cursor", LaneKind::Vote, "3"),
            ("chair/plan/claude", LaneKind::Chair(ChairTask::Plan), "2b"),
            ("chair/merge/claude/again", LaneKind::Chair(ChairTask::Merge), "3"),
            ("chair/decided-12/codex", LaneKind::Chair(ChairTask::Decided(12)), "6"),
        ] {
            let id = LaneId::parse(name).unwrap();
            assert_eq!((id.kind(), id.step().number(), id.as_str()), (kind, step, name));
        }
        let asked = |name: &str| {
            let id = LaneId::parse(name).unwrap();
            (id.is_second_request(), id.is_substitute())
        };
        assert_eq!(asked("sketch/Cursor-Arch/host/again"), (true, true));
        assert_eq!(asked("debate/1/antithesis/host"), (false, true));
        assert_eq!(asked("chair/plan/claude/again"), (true, false));
        // An agent may be called like a suffix.
        assert_eq!([asked("judge/host"), asked("chair/plan/host")], [(false, false); 2]);
        for task in ChairTask::ONCE {
            let id = LaneId::new(LaneKind::Chair(task), "claude");
            assert_eq!(LaneId::parse(id.as_str()), Some(id));
        }
    }

    #[test]
    fn other_words_name_no_lane() {
        for name in [
            "",
            "sketch",
            "sketch/",
            "sketches/x",
            "chair/plan",
            "chair/plans/x",
            "chair/decided-/x",
            "chair/decided-01/x",
            "chair/decided-+1/x",
            "compare",
            "/x",
        ] {
            assert_eq!(LaneId::parse(name), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_name_is_written_as_it_was_read(name in "(sketch|debate|chair|vote|x)?/?(plan|decided-[0-9]{0,3}|\\PC*)(/\\PC*)?") {
            if let Some(id) = LaneId::parse(&name) {
                prop_assert_eq!(id.as_str(), &name);
            }
        }
    }
}
