//! Discussions: the chair's questions, people's answers, and the decisions that they settle.

use std::collections::BTreeSet;

use super::block::{Block, Labels, blocks, numbered};
use super::notice::Notice;
use super::progress::Step;
use super::quote;
use super::resolution::Resolution;

/// All that the chair answers when it has no question.
pub const NO_QUESTIONS: &str = "NO_QUESTIONS";

const LABELS: &[&str] =
    &["Question", "Options", "Recommended", "Answered by code", "Resolution", "Source"];

/// The question in the chair's example.
const EXAMPLE: &str = "The question, in one or two sentences";

/// The fewest decisions of scope that justify an interview.
const FEWEST_BRANCHES: usize = 2;

/// The three rounds of questions to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Round {
    /// Clarifying questions, asked together.
    Clarifying,
    /// The scope of the work, one question at a time.
    Scope,
    /// The decisions of the plan, one question at a time.
    Design,
}

impl Round {
    /// Returns the step in which it happens.
    pub const fn step(self) -> Step {
        match self {
            Self::Clarifying => Step::Questions,
            Self::Scope => Step::DiscussionOne,
            Self::Design => Step::DiscussionTwo,
        }
    }

    /// Returns the highest number of questions in this round.
    pub const fn cap(self) -> usize {
        match self {
            Self::Clarifying => 4,
            Self::Scope | Self::Design => 7,
        }
    }

    /// Tells that there is no person to ask.
    pub fn unattended(self, seconds: u64) -> Notice {
        Notice::StepSkipped { step: self.step(), why: "skipped (auto mode)".to_owned(), seconds }
    }

    /// Tells that a round has nothing to ask.
    pub fn nothing(self, seconds: u64) -> Notice {
        let step = self.step();
        let skipped = |why: &str| Notice::StepSkipped { step, why: why.to_owned(), seconds };
        match self {
            Self::Clarifying => {
                let what = "no clarifying questions needed".to_owned();
                Notice::StepDone { step, what, seconds }
            }
            Self::Scope => skipped("no scope decisions require discussion"),
            Self::Design => skipped("no additional decisions require discussion"),
        }
    }

    /// Tells how many decisions a round settled.
    pub fn resolved(self, count: usize, seconds: u64) -> Notice {
        Notice::DecisionsResolved { step: self.step(), count, seconds }
    }

    /// Returns the line that announces that the remaining questions are left out.
    pub const fn deferral(self) -> &'static str {
        match self {
            Self::Clarifying | Self::Scope => {
                "⏩ Remaining scope questions deferred to implementation."
            }
            Self::Design => "⏩ Remaining design questions deferred to implementation.",
        }
    }
}

/// One question of the chair's. Every value is one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChairQuestion {
    /// A short title.
    pub title: String,
    /// The question's text.
    pub question: String,
    /// The answers to choose from; may be empty.
    pub options: Vec<String>,
    /// The answer that the chair would give.
    pub recommended: String,
    /// The answer, if the code has it.
    pub answered: Option<String>,
    mentions: Mentions,
}

/// A defect of a list of questions, in words for the agent that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuestionComplaint {
    /// The list holds neither a question nor the word for none.
    #[error("there is no line `### Question 1: <title>`, nor `NO_QUESTIONS` alone")]
    Nothing,
    /// A question lacks a label.
    #[error("Question {number} has no `{label}`")]
    Missing {
        /// The number that it was written with.
        number: usize,
        /// The missing label.
        label: &'static str,
    },
}

/// A list of questions as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Questions {
    /// The questions that are whole, in the order they were written.
    pub questions: Vec<ChairQuestion>,
    /// Why others were left out.
    pub complaints: Vec<QuestionComplaint>,
}

impl Questions {
    /// Reads the chair's list.
    pub fn parse(text: &str) -> Self {
        let mut found = Self::default();
        if quote::is_word(text, NO_QUESTIONS) {
            return found;
        }
        for block in blocks(text, Labels::Listed(LABELS)) {
            let Some((number, title)) = numbered(block.title, "Question ") else { continue };
            match question(&block, number, title) {
                Ok(question) => found.questions.push(question),
                Err(complaint) => found.complaints.push(complaint),
            }
        }
        if found.questions.is_empty() && found.complaints.is_empty() {
            found.complaints.push(QuestionComplaint::Nothing);
        }
        found
    }

    /// Tells whether there is enough to talk about for an interview on scope.
    pub fn is_worth_an_interview(&self) -> bool {
        self.questions.len() >= FEWEST_BRANCHES
    }

    /// Returns the decisions that the code answers; they need no question to a person.
    pub fn answered_by_code(&self) -> Vec<InterviewDecision> {
        let settled = |question: &ChairQuestion| {
            let resolution = question.answered.clone()?;
            Some(question.settled(resolution, Source::Codebase))
        };
        self.questions.iter().filter_map(settled).collect()
    }

    /// Returns the open questions beyond the round's limit.
    pub fn beyond(&self, round: Round) -> Vec<ChairQuestion> {
        let open = self.questions.iter().filter(|question| question.answered.is_none());
        open.skip(round.cap()).cloned().collect()
    }

    /// Puts questions first that an earlier round had no room for. No question appears twice.
    pub fn put_first(&mut self, earlier: Vec<ChairQuestion>) {
        let asked: BTreeSet<_> = earlier.iter().map(|question| subject(&question.title)).collect();
        self.questions.retain(|question| !asked.contains(&subject(&question.title)));
        self.questions.splice(0..0, earlier);
    }

    /// Returns the questions to ask, up to the round's limit, and how many are left to the
    /// implementer.
    pub fn to_ask(&self, round: Round) -> (Vec<&ChairQuestion>, usize) {
        let cap = round.cap();
        let mut open: Vec<_> =
            self.questions.iter().filter(|asked| asked.answered.is_none()).collect();
        let deferred = open.len().saturating_sub(cap);
        open.truncate(cap);
        (open, deferred)
    }
}

fn question(
    block: &Block<'_>,
    number: usize,
    title: &str,
) -> Result<ChairQuestion, QuestionComplaint> {
    let missing = |label| QuestionComplaint::Missing { number, label };
    let title = Some(quote::line(title)).filter(|title| !title.is_empty());
    let asked = block.get("Question").filter(|asked| asked != EXAMPLE);
    let answered = block.get("Answered by code");
    let recommended = block.get("Recommended").or_else(|| answered.clone());
    Ok(ChairQuestion {
        title: title.ok_or(missing("title"))?,
        question: asked.ok_or(missing("Question"))?,
        options: block.items("Options"),
        recommended: recommended.ok_or(missing("Recommended"))?,
        answered,
        mentions: Mentions::of(&block.words()),
    })
}

/// Answers that say no more than "go on", in lower case and without punctuation.
const TERSE: [&str; 30] = [
    "idk",
    "i don't know",
    "i dont know",
    "don't know",
    "dont know",
    "dunno",
    "not sure",
    "no idea",
    "no preference",
    "no opinion",
    "sure",
    "ok",
    "okay",
    "fine",
    "whatever",
    "up to you",
    "you decide",
    "your call",
    "your choice",
    "you choose",
    "whatever you think",
    "either",
    "any",
    "skip",
    "n/a",
    "maybe",
    "i guess",
    "sounds good",
    "default",
    "as recommended",
];

/// Tells whether an answer leaves the choice to the chair.
fn is_terse(answer: &str) -> bool {
    let words = quote::line(answer).to_lowercase().replace('’', "'");
    let words = words.trim_matches(|c: char| !c.is_alphanumeric());
    words.is_empty() || TERSE.contains(&words)
}

impl ChairQuestion {
    /// Takes a person's answer: one of the options by its number, or words. A terse answer accepts
    /// the recommendation; no question is repeated.
    pub fn resolve(&self, answer: &str) -> InterviewDecision {
        let number = answer.trim().trim_end_matches(['.', ')']).parse::<usize>().ok();
        let option = number.and_then(|number| self.options.get(number.checked_sub(1)?));
        let resolution = match option {
            Some(option) => option.clone(),
            None if is_terse(answer) => self.recommended.clone(),
            None => quote::line(answer),
        };
        self.settled(resolution, Source::User)
    }

    fn settled(&self, resolution: String, source: Source) -> InterviewDecision {
        let (title, question) = (self.title.clone(), self.question.clone());
        InterviewDecision { title, question, resolution, source }
    }
}

/// The source of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A person.
    User,
    /// The code.
    Codebase,
}

impl Source {
    /// Returns the word that the file has.
    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Codebase => "codebase",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        let is_it = |source: &Self| source.word().eq_ignore_ascii_case(word);
        [Self::User, Self::Codebase].into_iter().find(is_it)
    }
}

/// A decision that a discussion settled. Every value is one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterviewDecision {
    /// A short title.
    pub title: String,
    /// The question, in the chair's words.
    pub question: String,
    /// The answer.
    pub resolution: String,
    /// Where the answer came from: a person or the code.
    pub source: Source,
}

/// Writes the file of a round.
pub fn render(settled: &[InterviewDecision]) -> String {
    let block = |(index, decision): (usize, &InterviewDecision)| {
        format!(
            "### Decision {}: {}\n- **Question**: {}\n- **Resolution**: {}\n- **Source**: {}\n",
            index + 1,
            quote::line(&decision.title),
            quote::line(&decision.question),
            quote::line(&decision.resolution),
            decision.source.word()
        )
    };
    settled.iter().enumerate().map(block).collect::<Vec<_>>().join("\n")
}

/// Reads the file of a round. An incomplete entry settles nothing and is left out.
pub fn parse(text: &str) -> Vec<InterviewDecision> {
    let settled = |block: Block<'_>| {
        let (_, title) = numbered(block.title, "Decision ")?;
        Some(InterviewDecision {
            title: Some(quote::line(title)).filter(|title| !title.is_empty())?,
            question: block.get("Question")?,
            resolution: block.get("Resolution")?,
            source: Source::parse(&block.get("Source")?)?,
        })
    };
    blocks(text, Labels::Listed(LABELS)).into_iter().filter_map(settled).collect()
}

/// The facts that select questions for the second round.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ground {
    covered: BTreeSet<String>,
    challenges: BTreeSet<usize>,
    contested: BTreeSet<usize>,
}

impl Ground {
    /// Gathers what the first round settled, which findings were accepted (the `n` of
    /// `FINDING_n`), and how contested decisions ended.
    pub fn new(
        first: &[InterviewDecision],
        accepted: &[usize],
        resolutions: &[Resolution],
    ) -> Self {
        let contested = resolutions.iter().filter(|entry| entry.is_contested());
        let contested = contested.map(|entry| entry.number);
        Self {
            covered: first.iter().map(|settled| subject(&settled.title)).collect(),
            challenges: accepted.iter().copied().collect(),
            contested: contested.collect(),
        }
    }

    /// Tells whether a question belongs in the second round: the first round did not settle it, or
    /// it concerns an accepted finding or a decision that is still contested. A question's mention
    /// of such a finding counts only if that finding exists.
    pub fn qualifies(&self, question: &ChairQuestion) -> bool {
        let mentions = &question.mentions;
        !self.covered.contains(&subject(&question.title))
            || !self.challenges.is_disjoint(&mentions.findings)
            || !self.contested.is_disjoint(&mentions.decisions)
    }
}

/// A title as it is compared: its letters and digits, in lower case.
fn subject(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The ids that a question names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Mentions {
    findings: BTreeSet<usize>,
    decisions: BTreeSet<usize>,
}

impl Mentions {
    fn of(text: &str) -> Self {
        let upper = text.to_ascii_uppercase();
        let numbers = |prefix: &str| {
            let after = upper.match_indices(prefix).map(|(at, _)| &upper[at + prefix.len()..]);
            let digits = |rest: &str| {
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                rest[..end].parse().ok()
            };
            after.filter_map(digits).collect()
        };
        Self { findings: numbers("FINDING_"), decisions: numbers("DECISION_") }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::decision::{Decision, Impact};
    use super::super::progress::Breadcrumbs;
    use super::*;

    const LIST: &str = "\
Here is what I would ask.

### Question 1: Existing callers
- **Question**: Must callers that pass no cap keep unlimited retries?
- **Options**: Yes, unlimited stays; No, cap at five
- **Recommended**: Yes, unlimited stays

### Question 2: Metrics
- **Question**: Is there a metric already?
- **Answered by code**: Yes, `upload_retries_total` in src/metrics.rs:12

### Question 3: Scope (FINDING_2)
- **Question**: Are downloads
  part of this?
- **Options**:
  1. Yes
  2. No
- **Recommended**: No
";

    fn list() -> Vec<ChairQuestion> {
        Questions::parse(LIST).questions
    }

    // P-168, P-170, P-173: an answer from the code is reported, without a question.
    #[test]
    fn questions_are_read_and_the_codes_answers_set_apart() {
        let found = Questions::parse(LIST);
        assert_eq!(found.complaints, []);
        let (open, deferred) = found.to_ask(Round::Clarifying);
        let titles: Vec<_> = open.iter().map(|question| question.title.as_str()).collect();
        assert_eq!((titles, deferred), (vec!["Existing callers", "Scope (FINDING_2)"], 0));
        assert_eq!(open[0].options, ["Yes, unlimited stays", "No, cap at five"]);
        assert_eq!(open[1].options, ["Yes", "No"]);
        assert_eq!(open[1].question, "Are downloads part of this?");
        let answered = found.answered_by_code();
        assert_eq!(answered.len(), 1);
        assert_eq!((answered[0].title.as_str(), answered[0].source), ("Metrics", Source::Codebase));
        assert_eq!(Questions::parse("\nNO_QUESTIONS\n"), Questions::default());
    }

    #[test]
    fn what_a_question_lacks_is_named() {
        for (line, complaint) in [
            ("- **Recommended**: No\n", "Question 3 has no `Recommended`"),
            ("Existing callers", "Question 1 has no `title`"),
            ("- **Question**: Is there a metric already?\n", "Question 2 has no `Question`"),
        ] {
            let found = Questions::parse(&LIST.replace(line, ""));
            let said: Vec<_> = found.complaints.iter().map(ToString::to_string).collect();
            assert_eq!((said, found.questions.len()), (vec![complaint.to_owned()], 2));
        }
        assert_eq!(Questions::parse("Nothing to ask!").complaints, [QuestionComplaint::Nothing]);
    }

    // P-168, P-176, P-183: each round has a limit, and the implementer decides the rest.
    #[test]
    fn limits_leave_the_rest_to_the_implementer() {
        let many = Questions::parse(&LIST.repeat(6));
        for (round, asked, left) in
            [(Round::Clarifying, 4, 8), (Round::Scope, 7, 5), (Round::Design, 7, 5)]
        {
            let (open, deferred) = many.to_ask(round);
            assert_eq!((open.len(), deferred), (asked, left));
        }
        let line = |round: Round| round.deferral();
        assert_eq!(line(Round::Scope), "⏩ Remaining scope questions deferred to implementation.");
        assert_eq!(
            line(Round::Design),
            "⏩ Remaining design questions deferred to implementation."
        );
    }

    // P-167, P-170, P-171, P-175, P-179, P-184, P-185
    #[test]
    fn rounds_say_how_they_ended() {
        let crumbs = Breadcrumbs::default();
        let text = |notice: &Notice| {
            if let Notice::StepDone { step, what, seconds } = notice {
                return crumbs.done(*step, what, *seconds);
            }
            if let Notice::DecisionsResolved { step, count, seconds } = notice {
                return crumbs.resolved(*step, *count, *seconds);
            }
            let Notice::StepSkipped { step, why, seconds } = notice else { panic!("{notice:?}") };
            crumbs.skipped(*step, why, *seconds)
        };
        for (round, unattended, nothing) in [
            (
                Round::Clarifying,
                "⏩ 1c: questions — skipped (auto mode) (2s)",
                "✅ 1c: questions — no clarifying questions needed (2s)",
            ),
            (
                Round::Scope,
                "⏩ 1d: discussion r1 — skipped (auto mode) (2s)",
                "⏩ 1d: discussion r1 — no scope decisions require discussion (2s)",
            ),
            (
                Round::Design,
                "⏩ 3.5: discussion r2 — skipped (auto mode) (2s)",
                "⏩ 3.5: discussion r2 — no additional decisions require discussion (2s)",
            ),
        ] {
            assert_eq!(text(&round.unattended(2)), unattended);
            assert_eq!(text(&round.nothing(2)), nothing);
        }
        let resolved = |round: Round| text(&round.resolved(3, 60));
        assert_eq!(resolved(Round::Scope), "✅ 1d: discussion r1 — 3 decisions resolved (1m)");
        assert_eq!(resolved(Round::Design), "✅ 3.5: discussion r2 — 3 decisions resolved (1m)");
    }

    // P-175: fewer than two branches are no interview.
    #[test]
    fn one_branch_is_no_interview() {
        let with = |count| Questions { questions: list()[..count].to_vec(), complaints: vec![] };
        assert!(!with(0).is_worth_an_interview() && !with(1).is_worth_an_interview());
        assert!(with(2).is_worth_an_interview());
    }

    // P-177
    #[test]
    fn a_terse_answer_accepts_the_recommendation() {
        let question = &list()[2];
        for (answer, expected) in [
            ("I don't know", "No"),
            ("i don’t know!", "No"),
            ("sure.", "No"),
            ("", "No"),
            ("  \n", "No"),
            ("?", "No"),
            ("Up to you :)", "No"),
            ("yes", "yes"),
            ("1", "Yes"),
            ("2.", "No"),
            ("3", "3"),
            ("0", "0"),
            ("Sure, but only\nuploads", "Sure, but only uploads"),
        ] {
            let settled = question.resolve(answer);
            assert_eq!(
                (settled.resolution.as_str(), settled.source),
                (expected, Source::User),
                "{answer:?}"
            );
        }
    }

    const FILE: &str = "\
### Decision 1: Existing callers
- **Question**: Must callers that pass no cap keep unlimited retries?
- **Resolution**: Yes, unlimited stays
- **Source**: user

### Decision 2: Metrics
- **Question**: Is there a metric already?
- **Resolution**: Yes, `upload_retries_total` in src/metrics.rs:12
- **Source**: codebase
";

    // P-178, P-185: written so, and read also with two marks.
    #[test]
    fn a_rounds_file_is_a_block_for_each_decision() {
        let mut settled = vec![list()[0].resolve("ok")];
        settled.extend(Questions::parse(LIST).answered_by_code());
        assert_eq!(render(&settled), FILE);
        assert_eq!(parse(FILE), settled);
        assert_eq!(parse(&FILE.replace("###", "##")), settled);
        assert_eq!(parse(&FILE.replace(": codebase", ": somebody")).len(), 1);
        assert_eq!(render(&[]), "");
    }

    fn fallen_back(number: usize) -> Resolution {
        let decision = Decision {
            title: "t".to_owned(),
            chosen: "a".to_owned(),
            alternative: "b".to_owned(),
            tension: "t".to_owned(),
            impact: Impact::Low,
            affected: "f".to_owned(),
            positions: None,
        };
        Resolution::over_cap(number, &decision)
    }

    // P-180, P-181
    #[test]
    fn the_second_round_asks_open_and_reopened_questions() {
        let asked = |title: &str| {
            let text =
                format!("### Question 1: {title}\n- **Question**: q\n- **Recommended**: r\n");
            Questions::parse(&text).questions.remove(0)
        };
        let first = parse(FILE);
        let ground = Ground::new(&first, &[2], &[fallen_back(4)]);
        assert!(ground.qualifies(&asked("Log level")), "no round settled it");
        assert!(!ground.qualifies(&asked("existing  CALLERS")), "it is settled");
        let covered = |title: &str| {
            let first = [InterviewDecision { title: title.to_owned(), ..first[0].clone() }];
            Ground::new(&first, &[2], &[fallen_back(4)]).qualifies(&asked(title))
        };
        assert!(covered("Cap, see FINDING_2"), "an accepted finding challenges it");
        assert!(!covered("Cap, see FINDING_3"), "that finding was not accepted");
        assert!(!covered("Cap, see FINDING_22"));
        assert!(covered("Cap (decision_4)"), "it is still contested");
        assert!(!covered("Cap (DECISION_1)"));
        assert!(Ground::default().qualifies(&asked("Existing callers")), "no first round at all");
    }

    proptest! {
        #[test]
        fn reading_and_writing_agree(
            text in any::<String>(),
            values in prop::collection::vec("(\n|### Decision 1: |- \\*\\*Source\\*\\*: user|#|[a-zé`*; ]){0,5}", 4),
        ) {
            let [title, question, resolution, more] = &values[..] else { unreachable!() };
            let block = format!(
                "### Decision 9: {title}\n- **Question**: {question}\n- **Resolution**: {resolution}\n- **Source**: user\n{more}\n"
            );
            for text in [text.clone(), block] {
                let settled = parse(&text);
                prop_assert_eq!(parse(&render(&settled)), settled);
            }
            let asked = format!("### Question 1: {title}\n- **Question**: {question}\n- **Options**: {more}\n- **Recommended**: {resolution}\n");
            for text in [text, asked] {
                for question in Questions::parse(&text).questions {
                    let settled = [question.resolve(more)];
                    if !settled[0].resolution.is_empty() {
                        prop_assert_eq!(parse(&render(&settled)), settled);
                    }
                }
            }
        }
    }

    #[test]
    fn a_long_list_costs_its_length() {
        let found = Questions::parse(&LIST.repeat(4_000));
        assert_eq!(found.to_ask(Round::Scope).1, 8_000 - 7);
    }
}
