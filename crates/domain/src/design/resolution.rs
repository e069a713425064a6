//! Resolutions: how each contested decision ended, for the plan to be written by.

use std::fmt;

use super::block::{Block, Labels, blocks, numbered};
use super::debate::Defense;
use super::decision::{CAP, Decision};
use super::judge::JudgesVerdict;
use super::matter::{Ruling, RulingChoice};
use super::quote;
use super::seat::Side;

const PREFIX: &str = "DECISION_";

/// The result of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecisionEnding {
    /// Judges decided it; only this binds.
    Voted {
        /// The side that won.
        winner: Side,
        /// The votes for the chosen option.
        thesis: usize,
        /// The votes for the alternative.
        antithesis: usize,
        /// Why that side won.
        why: String,
    },
    /// The debate or the vote failed, so the synthesis's choice remains.
    Fallback {
        /// The reason.
        why: String,
    },
    /// The decision's agent was unavailable, so the synthesis's choice remains.
    BucketSkipped {
        /// The reason.
        why: String,
    },
    /// The decision ranked too low for a debate, so the synthesis's choice remains.
    OverCap {
        /// The reason.
        why: String,
    },
}

/// The four endings by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disposition {
    /// Judges decided it.
    Voted,
    /// Its debate or vote failed.
    Fallback,
    /// The decision's agent was unavailable.
    BucketSkipped,
    /// It ranked too low.
    OverCap,
}

impl Disposition {
    /// All four, in the order they are counted.
    pub const ALL: [Self; 4] = [Self::Voted, Self::Fallback, Self::BucketSkipped, Self::OverCap];

    /// Returns the word that the file has.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Voted => "voted",
            Self::Fallback => "fallback-to-synthesis",
            Self::BucketSkipped => "bucket-skipped",
            Self::OverCap => "over-cap",
        }
    }

    /// Returns the shorter word that counts are shown with.
    const fn counted(self) -> &'static str {
        match self {
            Self::Fallback => "fallback",
            Self::Voted | Self::BucketSkipped | Self::OverCap => self.word(),
        }
    }
}

impl fmt::Display for Disposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One decision's entry. Every value is one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The decision's number.
    pub number: usize,
    /// A short title.
    pub title: String,
    /// The chosen approach.
    pub resolution: String,
    /// The case for the chosen option, in a sentence or two.
    pub thesis: String,
    /// The case for the alternative.
    pub antithesis: String,
    /// The result.
    pub ending: DecisionEnding,
    /// A person's later decision, on one line.
    pub person: Option<String>,
}

impl Resolution {
    /// Returns what the judges decided. Without a winner the plan follows the synthesis.
    pub fn from_verdict(
        number: usize,
        decision: &Decision,
        defenses: &[Defense; 2],
        verdict: &JudgesVerdict,
    ) -> Self {
        let [thesis, antithesis] = defenses;
        let ending = match verdict {
            JudgesVerdict::Won { side, thesis: for_it, antithesis: against, rationales } => {
                let loser = if *side == Side::Thesis { antithesis } else { thesis };
                DecisionEnding::Voted {
                    winner: *side,
                    thesis: *for_it,
                    antithesis: *against,
                    why: why(rationales, loser),
                }
            }
            JudgesVerdict::Tie(_) | JudgesVerdict::TooFew(_) => {
                DecisionEnding::Fallback { why: verdict.reason().unwrap_or_default() }
            }
        };
        let summaries = [summary(&thesis.claim), summary(&antithesis.claim)];
        Self::ended(number, decision, summaries, ending)
    }

    /// Records a debate that never reached a verdict, with the cases as far as there are any.
    pub fn fallback(
        number: usize,
        decision: &Decision,
        claims: [Option<&str>; 2],
        why: &str,
    ) -> Self {
        let summaries = claims.map(|claim| summary(claim.unwrap_or_default()));
        Self::ended(number, decision, summaries, DecisionEnding::Fallback { why: quote::line(why) })
    }

    /// Records a decision whose agent was not there.
    pub fn bucket_skipped(number: usize, decision: &Decision, why: &str) -> Self {
        let summary = "(no debate — bucket skipped)".to_owned();
        let ending = DecisionEnding::BucketSkipped { why: quote::line(why) };
        Self::ended(number, decision, [summary.clone(), summary], ending)
    }

    /// Records a decision that ranked too low to be debated.
    pub fn over_cap(number: usize, decision: &Decision) -> Self {
        let summary = "(no debate — ranked outside cap)".to_owned();
        let why = format!("decision ranked {number}, outside top-{CAP} dialectic selection cap");
        Self::ended(number, decision, [summary.clone(), summary], DecisionEnding::OverCap { why })
    }

    fn ended(
        number: usize,
        decision: &Decision,
        summaries: [String; 2],
        ending: DecisionEnding,
    ) -> Self {
        let alternative = matches!(ending, DecisionEnding::Voted { winner: Side::Antithesis, .. });
        let taken = if alternative { &decision.alternative } else { &decision.chosen };
        let [thesis, antithesis] = summaries;
        let (title, resolution) = (quote::line(&decision.title), quote::line(taken));
        Self { number, title, resolution, thesis, antithesis, ending, person: None }
    }

    /// Tells whether it was selected for a debate and ended without a decision.
    pub const fn is_open(&self) -> bool {
        matches!(
            self.ending,
            DecisionEnding::Fallback { .. } | DecisionEnding::BucketSkipped { .. }
        )
    }

    /// Takes in what a person decided: what the synthesis chose, or the alternative.
    pub fn rule(&mut self, decision: &Decision, ruling: &Ruling) {
        let taken = match ruling.choice {
            RulingChoice::Accept => &decision.chosen,
            RulingChoice::Reject => &decision.alternative,
        };
        self.resolution = quote::line(taken);
        let because = quote::line(&ruling.because);
        self.person = Some(format!("{}: {because}", ruling.choice.past()));
    }

    /// Returns why it ended so.
    pub const fn why(&self) -> &String {
        self.ending.why().1
    }

    /// Returns the ending's name.
    pub const fn disposition(&self) -> Disposition {
        match self.ending {
            DecisionEnding::Voted { .. } => Disposition::Voted,
            DecisionEnding::Fallback { .. } => Disposition::Fallback,
            DecisionEnding::BucketSkipped { .. } => Disposition::BucketSkipped,
            DecisionEnding::OverCap { .. } => Disposition::OverCap,
        }
    }

    /// Tells whether people should still decide: true unless the judges were unanimous.
    pub const fn is_contested(&self) -> bool {
        !matches!(
            self.ending,
            DecisionEnding::Voted { thesis: 0, .. } | DecisionEnding::Voted { antithesis: 0, .. }
        )
    }

    fn entry(&self) -> String {
        let tally = match &self.ending {
            DecisionEnding::Voted { thesis, antithesis, .. } => {
                format!("**Vote tally**: THESIS={thesis}, ANTI_THESIS={antithesis}\n")
            }
            DecisionEnding::Fallback { .. }
            | DecisionEnding::BucketSkipped { .. }
            | DecisionEnding::OverCap { .. } => String::new(),
        };
        let (label, why) = self.ending.why();
        let person = self.person.as_ref().map(|line| format!("**{PERSON}**: {line}\n"));
        let person = person.unwrap_or_default();
        let Self { number, title, resolution, thesis, antithesis, .. } = self;
        format!(
            "### {PREFIX}{number}: {title}\n**Resolution**: {resolution}\n**Disposition**: {}\n{tally}\
             **Thesis summary**: {thesis}\n**Antithesis summary**: {antithesis}\n**{label}**: {why}\n{person}",
            self.disposition()
        )
    }
}

impl DecisionEnding {
    /// Returns the label and the text of the line with the reason.
    const fn why(&self) -> (&'static str, &String) {
        match self {
            Self::Voted { winner: Side::Thesis, why, .. } => (WHY_THESIS, why),
            Self::Voted { winner: Side::Antithesis, why, .. } => (WHY_ANTITHESIS, why),
            Self::Fallback { why } => ("Why fallback", why),
            Self::BucketSkipped { why } => ("Why skipped", why),
            Self::OverCap { why } => ("Why over-cap", why),
        }
    }
}

const PERSON: &str = "Decided by a person";
const WHY_THESIS: &str = "Why thesis prevails";
const WHY_ANTITHESIS: &str = "Why antithesis prevails";

/// Returns why a side won: its judges' reasons, and the remaining strength of the other side.
fn why(rationales: &[String], loser: &Defense) -> String {
    let said = match rationales {
        [] => "The judges gave no reasons".to_owned(),
        said => said.join("; "),
    };
    let said = said.trim_end_matches('.');
    let conceded = summary(&loser.concession);
    quote::line(&format!("{said}. The losing side itself conceded: {conceded}"))
}

/// Returns the first two sentences of a text, on one line.
fn summary(text: &str) -> String {
    let line = quote::line(text);
    let ends = line.match_indices(['.', '!', '?', '。']);
    let ends = ends.map(|(at, mark)| at + mark.len());
    let mut ends = ends.filter(|end| line[*end..].is_empty() || line[*end..].starts_with(' '));
    let end = ends.nth(1).unwrap_or(line.len());
    line[..end].to_owned()
}

/// Writes the file; an empty one if nothing was contested.
pub fn render(resolutions: &[Resolution]) -> String {
    if resolutions.is_empty() {
        return String::new();
    }
    format!("## Dialectic Resolutions\n\n{}", entries(resolutions))
}

/// Writes the entries of the file, without its heading.
pub fn entries(resolutions: &[Resolution]) -> String {
    resolutions.iter().map(Resolution::entry).collect::<Vec<_>>().join("\n")
}

/// Counts endings as the step's last line has them: `2 voted, 1 fallback`.
pub fn counts(resolutions: &[Resolution]) -> String {
    let count = |wanted: Disposition| {
        resolutions.iter().filter(|entry| entry.disposition() == wanted).count()
    };
    let parts = Disposition::ALL.map(|disposition| (count(disposition), disposition.counted()));
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// A parsed file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resolutions {
    /// The entries that could be read, in order.
    pub entries: Vec<Resolution>,
    /// The numbers of those that could not.
    pub unreadable: Vec<usize>,
}

/// Reads a file, also one that was written by hand or by another program.
pub fn parse(text: &str) -> Resolutions {
    let mut found = Resolutions::default();
    for block in blocks(text, Labels::Plain) {
        let Some((number, title)) = numbered(block.title, PREFIX) else { continue };
        match entry(&block, number, title) {
            Some(entry) => found.entries.push(entry),
            None => found.unreadable.push(number),
        }
    }
    found
}

fn entry(block: &Block<'_>, number: usize, title: &str) -> Option<Resolution> {
    let word = block.get("Disposition")?;
    let is_word = |known: &Disposition| known.word().eq_ignore_ascii_case(&word);
    let why = |label| block.get(label).unwrap_or_default();
    let ending = match Disposition::ALL.into_iter().find(is_word)? {
        Disposition::Voted => voted(block)?,
        Disposition::Fallback => DecisionEnding::Fallback { why: why("Why fallback") },
        Disposition::BucketSkipped => DecisionEnding::BucketSkipped { why: why("Why skipped") },
        Disposition::OverCap => DecisionEnding::OverCap { why: why("Why over-cap") },
    };
    Some(Resolution {
        number,
        title: quote::line(title),
        resolution: taken(&block.get("Resolution")?),
        thesis: block.get("Thesis summary").unwrap_or_default(),
        antithesis: block.get("Antithesis summary").unwrap_or_default(),
        ending,
        person: block.get(PERSON),
    })
}

/// Reads an ending by vote. The tally decides which side won; the given reason must not contradict
/// it.
fn voted(block: &Block<'_>) -> Option<DecisionEnding> {
    let tally = block.get("Vote tally")?;
    let count = |token: &str| {
        let parts = tally.split(',').map(|part| part.split_once('='));
        let mut parts = parts.flatten().map(|(name, count)| (name.trim(), count.trim()));
        parts.find(|(name, _)| name.eq_ignore_ascii_case(token))?.1.parse::<usize>().ok()
    };
    let (thesis, antithesis) = (count("THESIS")?, count("ANTI_THESIS")?);
    let (winner, label) = match thesis.cmp(&antithesis) {
        std::cmp::Ordering::Greater => (Side::Thesis, WHY_THESIS),
        std::cmp::Ordering::Less => (Side::Antithesis, WHY_ANTITHESIS),
        std::cmp::Ordering::Equal => return None,
    };
    let why = block.get(label).unwrap_or_default();
    Some(DecisionEnding::Voted { winner, thesis, antithesis, why })
}

/// Takes a leading `CHOSEN —` off, as other programs write it.
fn taken(resolution: &str) -> String {
    let unmarked = |text: &'_ str| -> Option<usize> {
        let rest = text.strip_prefix("CHOSEN").or_else(|| text.strip_prefix("ALTERNATIVE"))?;
        let rest = rest.trim_start().strip_prefix('—')?.trim_start();
        Some(text.len() - rest.len()).filter(|_| !rest.is_empty())
    };
    let mut rest = resolution;
    while let Some(start) = unmarked(rest) {
        rest = &rest[start..];
    }
    rest.to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::decision::Impact;
    use super::super::progress::{Breadcrumbs, Step};
    use super::*;

    const FILE: &str = "\
## Dialectic Resolutions

### DECISION_1: Where the retry cap lives
**Resolution**: In the uploader's client settings
**Disposition**: voted
**Vote tally**: THESIS=2, ANTI_THESIS=1
**Thesis summary**: The client already owns back-off, so the cap joins it.
**Antithesis summary**: The worker could balance all clients.
**Why thesis prevails**: A second owner of back-off is the larger risk; it is out of scope. The losing side itself conceded: The client knows the cost.

### DECISION_2: Cap reached
**Resolution**: Return a typed error
**Disposition**: bucket-skipped
**Thesis summary**: (no debate — bucket skipped)
**Antithesis summary**: (no debate — bucket skipped)
**Why skipped**: Codex unavailable — bucket 2 decisions (indices: 2, 4) skipped at Step 2a.5 step 4

### DECISION_3: Metric name
**Resolution**: upload_retries_total
**Disposition**: fallback-to-synthesis
**Thesis summary**: The name matches the existing family.
**Antithesis summary**: 
**Why fallback**: debate quorum failed — missing_citation

### DECISION_6: Log level
**Resolution**: warn
**Disposition**: over-cap
**Thesis summary**: (no debate — ranked outside cap)
**Antithesis summary**: (no debate — ranked outside cap)
**Why over-cap**: decision ranked 6, outside top-5 dialectic selection cap
";

    fn decided(title: &str, chosen: &str) -> Decision {
        Decision {
            title: title.to_owned(),
            chosen: chosen.to_owned(),
            alternative: "In the queue worker".to_owned(),
            tension: "t".to_owned(),
            impact: Impact::High,
            affected: "a.rs".to_owned(),
            positions: None,
        }
    }

    fn defense(claim: &str, concession: &str) -> Defense {
        Defense {
            steelman: None,
            claim: claim.to_owned(),
            evidence: String::new(),
            concession: concession.to_owned(),
            counter: String::new(),
            risk: String::new(),
        }
    }

    fn defenses() -> [Defense; 2] {
        [
            defense("The client already owns back-off, so the cap joins it.", "Workers see more."),
            defense("The worker could balance all clients.", "The client knows the cost."),
        ]
    }

    fn won(side: Side, thesis: usize, antithesis: usize) -> JudgesVerdict {
        let rationales = vec![
            "A second owner of back-off is the larger risk".to_owned(),
            "it is out of scope.".to_owned(),
        ];
        JudgesVerdict::Won { side, thesis, antithesis, rationales }
    }

    fn all_four() -> Vec<Resolution> {
        let first = decided("Where the retry cap lives", "In the uploader's client settings");
        let reason =
            "Codex unavailable — bucket 2 decisions (indices: 2, 4) skipped at Step 2a.5 step 4";
        vec![
            Resolution::from_verdict(1, &first, &defenses(), &won(Side::Thesis, 2, 1)),
            Resolution::bucket_skipped(2, &decided("Cap reached", "Return a typed error"), reason),
            Resolution::fallback(
                3,
                &decided("Metric name", "upload_retries_total"),
                [Some("The name matches the existing family."), None],
                "debate quorum failed — missing_citation",
            ),
            Resolution::over_cap(6, &decided("Log level", "warn")),
        ]
    }

    // P-202, P-234, P-235, P-236, P-238, N-10: every ending in one file, written and read again.
    #[test]
    fn all_four_endings_are_written_and_read() {
        assert_eq!(render(&all_four()), FILE);
        assert_eq!(parse(FILE), Resolutions { entries: all_four(), unreadable: vec![] });
        assert_eq!(render(&[]), "");
    }

    // P-236: the alternative is the resolution if its side won.
    #[test]
    fn the_winner_is_the_resolution() {
        let decision = decided("t", "c");
        let lost =
            Resolution::from_verdict(1, &decision, &defenses(), &won(Side::Antithesis, 0, 3));
        assert_eq!(lost.resolution, "In the queue worker");
        let text = render(std::slice::from_ref(&lost));
        assert!(text.contains("**Vote tally**: THESIS=0, ANTI_THESIS=3\n"), "{text}");
        let why = "\n**Why antithesis prevails**: A second owner of back-off is the larger risk; \
                   it is out of scope. The losing side itself conceded: Workers see more.\n";
        assert!(text.ends_with(why), "{text}");
        for (verdict, reason) in [
            (JudgesVerdict::Tie(1), "1-1 tie with 2 voters"),
            (JudgesVerdict::TooFew(1), "1 judges eligible"),
        ] {
            let open = Resolution::from_verdict(1, &decision, &defenses(), &verdict);
            assert_eq!(
                (open.resolution.as_str(), open.disposition()),
                ("c", Disposition::Fallback)
            );
            assert_eq!(open.ending, DecisionEnding::Fallback { why: reason.to_owned() });
        }
    }

    // P-236: a summary is one or two sentences.
    #[test]
    fn a_summary_is_two_sentences_at_most() {
        for (text, expected) in [
            ("One. Two! Three.", "One. Two!"),
            ("See a.rs:1 for it\nand on. More? Yes.", "See a.rs:1 for it and on. More?"),
            ("No end", "No end"),
            ("", ""),
        ] {
            assert_eq!(summary(text), expected, "{text:?}");
        }
    }

    // P-237: what others write is read too.
    #[test]
    fn other_programs_files_are_read() {
        let theirs = "### DECISION_1: Cap\n\n- **Resolution**: CHOSEN — in the client\n\
            **Disposition:** Voted\n\n**Vote tally**: thesis=3 , ANTI_THESIS= 0\n\
            ### Decision_2: Broken\n**Disposition**: maybe\n**Resolution**: x\n\
            ### DECISION_3: Even\n**Disposition**: voted\n**Resolution**: x\n\
            **Vote tally**: THESIS=1, ANTI_THESIS=1\n";
        let found = parse(theirs);
        assert_eq!(found.entries.len(), 1);
        assert_eq!(found.entries[0].resolution, "in the client");
        assert_eq!(found.entries[0].disposition(), Disposition::Voted);
        assert_eq!(found.unreadable, [2, 3]);
    }

    // P-182
    #[test]
    fn only_one_voice_settles_a_decision() {
        let decision = decided("t", "c");
        let judged =
            |verdict| Resolution::from_verdict(1, &decision, &defenses(), &verdict).is_contested();
        assert!(!judged(won(Side::Thesis, 3, 0)) && !judged(won(Side::Antithesis, 0, 2)));
        assert!(judged(won(Side::Thesis, 2, 1)) && judged(won(Side::Antithesis, 1, 2)));
        assert!(judged(JudgesVerdict::Tie(1)) && judged(JudgesVerdict::TooFew(0)));
        assert!(all_four().iter().all(Resolution::is_contested));
    }

    // P-239
    #[test]
    fn the_last_line_counts_endings() {
        let line = |entries: &[Resolution]| {
            Breadcrumbs::default().done(Step::Dialectic, &counts(entries), 61)
        };
        assert_eq!(
            line(&all_four()),
            "✅ 2a.5: dialectic — 1 voted, 1 fallback, 1 bucket-skipped, 1 over-cap (1m1s)"
        );
        assert_eq!(line(&all_four()[2..3]), "✅ 2a.5: dialectic — 1 fallback (1m1s)");
    }

    proptest! {
        // Writing a parsed file and parsing it again gives the same entries.
        #[test]
        fn reading_and_writing_agree(
            text in any::<String>(),
            values in prop::collection::vec("(\n|### DECISION_1: |\\*\\*Disposition\\*\\*: voted|CHOSEN — |#|[a-zé`*— ]){0,5}", 6),
            disposition in prop::sample::select(vec!["voted", "fallback-to-synthesis", "bucket-skipped", "over-cap"]),
            votes in any::<[u8; 2]>(),
        ) {
            let [title, resolution, thesis, antithesis, why, more] = &values[..] else { unreachable!() };
            let [yes, no] = votes;
            let block = format!(
                "### DECISION_3: {title}\n**Resolution**: {resolution}\n**Disposition**: {disposition}\n\
                 **Vote tally**: THESIS={yes}, ANTI_THESIS={no}\n**Thesis summary**: {thesis}\n\
                 **Antithesis summary**: {antithesis}\n**Why thesis prevails**: {why}\n\
                 **Why fallback**: {why}\n**Why skipped**: {why}\n**Why over-cap**: {more}\n"
            );
            for text in [text, block] {
                let entries = parse(&text).entries;
                prop_assert_eq!(parse(&render(&entries)), Resolutions { entries, unreadable: vec![] });
            }
        }

        // Nothing that an agent says can begin a line of the file.
        #[test]
        fn a_value_cannot_forge_an_entry(text in "(\n|### DECISION_2: x|\\*\\*Disposition\\*\\*: voted|[a# ]){0,9}") {
            let decision = decided(&text, &text);
            let entry = Resolution::fallback(1, &decision, [Some(&text), Some(&text)], &text);
            let written = render(&[entry]);
            prop_assert_eq!(written.lines().count(), 8, "{}", written);
        }
    }
}
