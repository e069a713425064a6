//! The part of an answer in which votes count.
//!
//! Voters and judges write their votes between two marker lines that carry a word drawn for their
//! ballot. So text before and after the block, quotations and thoughts cannot become a vote, and
//! neither can a text in the prompt: it was written before the word was drawn.

use super::disowned::{self, Extent};
use super::quote::visible;
use super::spoken::{is_indented, is_quoted, spoken};
use super::vote::after_decoration;
use crate::dispatch::ambiguity::is_bare_fence;
use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::{bare, lines};

/// The voters of a ballot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Poll {
    /// Judges, on debated decisions.
    Judges,
    /// Voters, on findings.
    Voters,
}

impl Poll {
    /// All of them, in the order in which they come.
    pub const ALL: [Self; 2] = [Self::Judges, Self::Voters];

    /// Returns the word that is written down.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Judges => "judges",
            Self::Voters => "voters",
        }
    }

    /// Returns the poll with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|poll| poll.name() == name)
    }
}

/// The word in the marker lines of one ballot: small letters and digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkerWord(String);

/// Letters that make no word of any language, so that no text holds one by chance.
const LETTERS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";

impl MarkerWord {
    /// How many letters a drawn word has: more than 40 bits of chance.
    const LENGTH: usize = 10;

    /// Returns the word for answers that were recorded before the run began. No text holds it by
    /// chance.
    pub fn for_recordings() -> Self {
        Self("recorded7q".to_owned())
    }

    /// Makes a word of a random number.
    pub fn from_random(number: u64) -> Self {
        let mut left = number;
        let letter = |_| {
            let place = usize::try_from(left % LETTERS.len() as u64).unwrap_or_default();
            left /= LETTERS.len() as u64;
            char::from(LETTERS[place])
        };
        Self((0..Self::LENGTH).map(letter).collect())
    }

    /// Reads a word that was written down.
    pub fn parse(word: &str) -> Option<Self> {
        let is_known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_word = (4..=32).contains(&word.len()) && word.chars().all(is_known);
        is_word.then(|| Self(word.to_owned()))
    }

    /// Returns the word.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether a text holds the word, in any case and however it is hidden.
    pub fn occurs_in(&self, text: &str) -> bool {
        visible(text).to_ascii_lowercase().contains(&self.0)
    }

    /// Returns the line that the votes come after.
    pub fn begin(&self) -> String {
        format!("BEGIN VOTES {self}")
    }

    /// Returns the line that the votes come before.
    pub fn end(&self) -> String {
        format!("END VOTES {self}")
    }
}

impl std::fmt::Display for MarkerWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where votes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading<'w> {
    /// Between marker lines with this word.
    Marked(&'w MarkerWord),
    /// In every line, as the original does: the prompt did not request marker lines.
    Plain,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// With a complete block of votes.
    Marked,
    /// Without a block, although the prompt requested one.
    Unmarked,
    /// Without a block; the prompt requested none.
    #[default]
    Plain,
}

/// The parsed lines of an answer that count.
pub(super) struct Counted<T> {
    pub(super) votes: Vec<T>,
    pub(super) form: Form,
    /// The words with which the answerer disowns its block, if no other block counts.
    pub(super) disowned: Option<String>,
    /// Votes that the answerer says aloud outside of the blocks that count. They count for nothing,
    /// but may contradict one that does.
    pub(super) outside: Vec<T>,
    /// The spoken text after the first block that counts.
    pub(super) after: String,
}

impl<T> Counted<T> {
    const fn without_block(votes: Vec<T>, form: Form, disowned: Option<String>) -> Self {
        Self { votes, form, disowned, outside: Vec::new(), after: String::new() }
    }
}

/// Reads the votes that count. Between marker lines these are the votes of all complete blocks that
/// the answerer does not disown; without such a block it is what the answer says aloud.
pub(super) fn counted<T>(
    answer: &str,
    reading: Reading<'_>,
    read: impl Fn(&str) -> Option<T>,
) -> Counted<T> {
    let Reading::Marked(word) = reading else {
        return Counted::without_block(plain(answer, read), Form::Plain, None);
    };
    let said = spoken(answer);
    let Blocks { owned, disowned, rest, after } = blocks(&said, word);
    let beside = Beside::read(&rest, word, &read);
    if owned.is_empty() {
        return Counted::without_block(beside.unmarked(), Form::Unmarked, disowned);
    }
    let votes = owned.into_iter().flatten().filter_map(read).collect();
    let outside = beside.meant();
    Counted { votes, form: Form::Marked, disowned: None, outside, after: after.join("\n") }
}

/// Finds lines that may be meant as votes although they do not count. This includes thoughts and
/// quotations: if the answer has no other votes, a person should know of them.
pub(super) fn without_usage(
    answer: &str,
    reading: Reading<'_>,
    is_near: impl Fn(&str) -> bool,
) -> Vec<String> {
    let near = |line: &str| is_near(line).then(|| line.to_owned());
    match reading {
        Reading::Marked(_) => visible(answer).lines().filter_map(near).collect(),
        Reading::Plain => plain(answer, near),
    }
}

/// Reads the text outside of fences: a fence beside it holds an example. Without such text, the
/// whole answer may be in a fence.
fn plain<T>(answer: &str, read: impl Fn(&str) -> Option<T>) -> Vec<T> {
    let mut fences = Fences::default();
    let is_outside = |line: &&str| fences.feed(line) == FenceLine::Outside;
    let outside: Vec<_> = lines(answer).map(bare).filter(is_outside).filter_map(&read).collect();
    if !outside.is_empty() {
        return outside;
    }
    lines(answer).map(bare).filter_map(read).collect()
}

/// A marker line, which begins or ends a block.
struct Marker {
    is_begin: bool,
    /// Whether it has the word of this ballot.
    is_ours: bool,
}

/// Reads a marker line, in any case and however it is set off. With another word it is one only in
/// capitals: "Begin votes below" is a sentence.
fn marker(line: &str, word: &MarkerWord) -> Option<Marker> {
    let line = line.trim_matches(|c: char| !c.is_alphanumeric());
    let mut words = line.split_whitespace();
    let (edge, votes) = (words.next()?, words.next()?);
    let found = words.next().filter(|_| words.next().is_none())?;
    let is_ours = found.eq_ignore_ascii_case(word.as_str());
    let is =
        |said: &str, wanted: &str| said == wanted || is_ours && said.eq_ignore_ascii_case(wanted);
    let is_begin = is(edge, "BEGIN");
    let is_marker = is(votes, "VOTES") && (is_begin || is(edge, "END"));
    is_marker.then_some(Marker { is_begin, is_ours })
}

/// The complete blocks of an answer.
struct Blocks<'s> {
    /// The lines of the blocks that count.
    owned: Vec<Vec<&'s str>>,
    /// The words that disown the last of the others.
    disowned: Option<String>,
    /// Every spoken line of the answer outside of complete blocks.
    rest: Vec<&'s str>,
    /// Those of them that come after the first block that counts.
    after: Vec<&'s str>,
}

/// Finds the complete blocks, and which of them the answerer disowns: by the line above, or by a
/// sentence before the next block. An answer that repeats the question repeats its block, too: one in
/// which no line begins with an id.
fn blocks<'s>(said: &'s str, word: &MarkerWord) -> Blocks<'s> {
    let mut found =
        Blocks { owned: Vec::new(), disowned: None, rest: Vec::new(), after: Vec::new() };
    let mut open: Option<Vec<&str>> = None;
    // The lines since the last complete block.
    let mut between = Vec::new();
    let mut introduction = None;
    for line in said.lines().filter(|line| !is_quoted(line) && !is_indented(line)) {
        match marker(line, word).filter(|marker| marker.is_ours) {
            Some(Marker { is_begin: true, .. }) => {
                let unfinished = open.replace(Vec::new()).unwrap_or_default();
                if introduction.is_none() {
                    found.left_over(&unfinished);
                }
                introduction = disowned::introduction(&between);
            }
            Some(_) => {
                let is_ours = |block: &Vec<&str>| block.iter().any(|line| names_item(line));
                let Some(block) = open.take().filter(is_ours) else { continue };
                found.withdraw(&between);
                between.clear();
                match introduction {
                    Some(words) => found.disowned = Some(words.to_owned()),
                    None => found.owned.push(block),
                }
            }
            None => {
                if let Some(block) = &mut open {
                    block.push(line);
                } else {
                    between.push(line);
                    found.left_over(&[line]);
                }
            }
        }
    }
    found.withdraw(&between);
    found.left_over(&open.unwrap_or_default());
    found
}

impl<'s> Blocks<'s> {
    /// Takes lines that are in no complete block.
    fn left_over(&mut self, lines: &[&'s str]) {
        self.rest.extend(lines);
        if !self.owned.is_empty() {
            self.after.extend(lines.iter().filter(|line| !is_bare_fence(line)));
        }
    }

    /// Takes back what the words below the blocks so far take back.
    fn withdraw(&mut self, below: &[&str]) {
        let Some((words, extent)) = disowned::withdrawal(below) else { return };
        let kept = match extent {
            Extent::Block => self.owned.len().saturating_sub(1),
            Extent::Votes => 0,
        };
        if kept < self.owned.len() {
            self.owned.truncate(kept);
            self.after.clear();
            self.disowned = Some(words);
        }
    }
}

/// Tells whether a line begins with an id and its number.
fn names_item(line: &str) -> bool {
    let words = after_decoration(line).to_ascii_uppercase();
    let rest = ["FINDING_", "OOS_", "DECISION_"].iter().find_map(|id| words.strip_prefix(id));
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The votes beside the complete blocks. Blocks with another ballot's word are left out.
struct Beside<T> {
    /// Those in no fence, and whether the line above calls them an example.
    bare: Vec<(bool, T)>,
    /// Those in each fence, and whether a line before calls it an example.
    fenced: Vec<(bool, Vec<T>)>,
}

impl<T> Beside<T> {
    fn read(said: &[&str], word: &MarkerWord, read: impl Fn(&str) -> Option<T>) -> Self {
        let mut fences = Fences::default();
        let mut found = Self { bare: Vec::new(), fenced: Vec::new() };
        let (mut is_foreign, mut is_example, mut is_introduced) = (false, false, false);
        for &line in said {
            if let Some(Marker { is_begin, is_ours }) = marker(line, word) {
                is_foreign = is_begin && !is_ours;
                continue;
            }
            let place = fences.feed(line);
            let vote = read(line);
            if place != FenceLine::Body && vote.is_none() && !line.trim().is_empty() {
                is_introduced = disowned::is_example(line);
                is_example |= is_introduced;
            }
            if place == FenceLine::Opens {
                found.fenced.push((is_example, Vec::new()));
            }
            let vote = vote.filter(|_| !is_foreign);
            match (place, found.fenced.last_mut()) {
                (FenceLine::Body, Some((_, votes))) => votes.extend(vote),
                _ => found.bare.extend(vote.map(|vote| (is_introduced, vote))),
            }
        }
        found.fenced.retain(|(_, votes)| !votes.is_empty());
        found
    }

    /// Returns the lines that count in an answer without a block. Votes in a fence count only if
    /// one fence holds all of them, and no text before it calls it an example.
    fn unmarked(mut self) -> Vec<T> {
        match self.fenced.pop() {
            Some((false, votes)) if self.bare.is_empty() && self.fenced.is_empty() => votes,
            _ => self.bare.into_iter().map(|(_, vote)| vote).collect(),
        }
    }

    /// Returns what contradicts a block: all that is not called an example.
    fn meant(self) -> Vec<T> {
        let bare = self.bare.into_iter().filter(|(is_example, _)| !is_example);
        let fenced = self.fenced.into_iter().filter(|(is_example, _)| !is_example);
        let fenced = fenced.flat_map(|(_, votes)| votes);
        bare.map(|(_, vote)| vote).chain(fenced).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::finding::FindingId;
    use super::super::finding::FindingScope::In;
    use super::super::vote::{Vote, Votes};
    use super::*;

    fn word() -> MarkerWord {
        MarkerWord::from_random(1)
    }

    /// Returns the votes on the first three findings, and the form of the answer.
    fn read(answer: &str) -> (String, Form) {
        let word = word();
        let votes = Votes::parse(answer, Reading::Marked(&word));
        let vote = |number| {
            votes.on(FindingId { scope: In, number }).map_or('-', |cast| match cast.vote {
                Vote::Yes => 'Y',
                Vote::No => 'N',
                Vote::Exonerate => 'E',
            })
        };
        ([1, 2, 3].map(vote).iter().collect(), votes.form)
    }

    fn block(lines: &str) -> String {
        format!("{}\n{lines}\n{}\n", word().begin(), word().end())
    }

    #[test]
    fn a_word_is_drawn_and_written_down() {
        let drawn = MarkerWord::from_random(u64::MAX);
        assert_eq!(drawn.as_str().len(), 10);
        assert_eq!(MarkerWord::parse(drawn.as_str()), Some(drawn.clone()));
        assert_ne!(drawn, MarkerWord::from_random(u64::MAX - 1));
        let recorded = MarkerWord::for_recordings();
        assert_eq!(MarkerWord::parse(recorded.as_str()), Some(recorded));
        for bad in ["", "abc", "a b c d", "wörter", "WORD", "line\nline", &"a".repeat(33)] {
            assert_eq!(MarkerWord::parse(bad), None, "{bad}");
        }
        let word = MarkerWord::parse("qzvkw").unwrap();
        assert!(word.occurs_in("BEGIN VOTES QZ\u{200b}VKW"));
        assert!(!word.occurs_in("qzvk w"));
    }

    // P-268
    #[test]
    fn complete_blocks_count_where_they_agree() {
        let (yes, no) = (block("FINDING_1: YES"), block("FINDING_1: NO"));
        for (answer, expected) in [
            (yes.clone(), "Y--"),
            (format!("{yes}{no}"), "---"),
            (format!("{yes}{yes}"), "Y--"),
            (format!("{yes}{}", block("FINDING_1: NO\nFINDING_2: NO")), "-N-"),
            (format!("For example:\n{no}My votes:\n{yes}"), "Y--"),
            (format!("{no}Ignore the block above.\n{yes}"), "Y--"),
            (format!("{yes}A wrong ballot, for example:\n{no}"), "Y--"),
            (format!("Here are my votes:\n\n{yes}\nI hope that helps!"), "Y--"),
            (format!("{yes}FINDING_2: NO\n"), "Y--"),
            (format!("{yes}For example:\n```\nFINDING_1: NO\n```\n"), "Y--"),
            (format!("For example:\nFINDING_1: NO\n\n{yes}"), "Y--"),
            // A contradiction beside the block removes its vote.
            (format!("{yes}{}\nFINDING_1: NO\n", word().begin()), "---"),
            (format!("{}\nFINDING_1: NO\n{yes}", word().begin()), "---"),
            (format!("{yes}Correction:\nFINDING_1: NO\n"), "---"),
            (format!("{yes}```\nFINDING_1: NO\n```\n"), "---"),
            (format!("{yes}Correction: FINDING_1 should be NO.\n"), "---"),
            (format!("FINDING_1: NO\n{yes}"), "---"),
            (format!("```\n{yes}```\n"), "Y--"),
            (yes.to_uppercase(), "Y--"),
            (yes.replace('\n', "\r\n"), "Y--"),
            // A repeated example block from the prompt removes no vote.
            (format!("{yes}{}", block("FINDING_N: YES|NO|EXONERATE \u{2014} reason")), "Y--"),
            (format!("{yes}> {}", no.trim_end().replace('\n', "\n> ")), "Y--"),
            (format!("{yes}    {}", no.trim_end().replace('\n', "\n    ")), "Y--"),
            (format!("**{}**\nFINDING_2: NO\n### {}", word().begin(), word().end()), "-N-"),
        ] {
            assert_eq!(read(&answer), (expected.to_owned(), Form::Marked), "{answer}");
        }
    }

    // P-269, P-270
    #[test]
    fn without_a_block_the_spoken_text_counts() {
        for (answer, expected) in [
            ("FINDING_1: YES\nFINDING_2: NO", "YN-"),
            ("> FINDING_1: YES\nFINDING_2: NO", "-N-"),
            ("    FINDING_1: YES\n\tFINDING_3: YES\nFINDING_2: NO", "-N-"),
            ("```\nFINDING_1: YES\n```", "Y--"),
            ("For example:\n```\nFINDING_1: YES\n```", "---"),
            ("```example\nFINDING_1: YES\n```", "---"),
            ("    For example:\n```\nFINDING_1: YES\n```", "Y--"),
            ("Zum Beispiel:\n```\nFINDING_1: YES\n```\nMehr nicht.", "---"),
            ("```\nFINDING_1: YES\n```\n```\nFINDING_2: YES\n```", "---"),
            ("```\nFINDING_1: YES\n```\nFINDING_2: NO", "-N-"),
            ("BEGIN VOTES qqqqqqqqqq\nFINDING_1: YES\nEND VOTES qqqqqqqqqq\nFINDING_2: NO", "-N-"),
            ("BEGIN VOTES qqqqqqqqqq\nFINDING_1: YES\nFINDING_2: NO", "---"),
            ("Begin votes below\nFINDING_1: YES", "Y--"),
            ("BEGIN VOTES\nFINDING_1: YES\nEND VOTES", "Y--"),
            ("END VOTES WORD\nFINDING_1: YES\nBEGIN VOTES WORD", "Y--"),
            // A block that its writer disowns.
            ("The format is:\nBEGIN VOTES WORD\nFINDING_1: YES\nEND VOTES WORD", "---"),
            ("BEGIN VOTES WORD\nFINDING_1: YES\nEND VOTES WORD\nI withdraw these votes.", "---"),
            (
                "For example:\nBEGIN VOTES WORD\nFINDING_1: YES\nEND VOTES WORD\nFINDING_2: NO",
                "-N-",
            ),
        ] {
            let answer = &answer.replace("WORD", word().as_str());
            assert_eq!(read(answer), (expected.to_owned(), Form::Unmarked), "{answer}");
        }
    }

    /// Text that is not part of the answer, with votes in it.
    fn aside() -> impl Strategy<Value = String> {
        let lines = prop::sample::select(vec![
            "FINDING_1: YES \u{2014} a draft",
            "FINDING_2: NO",
            "FINDING_3: EXONERATE",
            "BEGIN VOTES WORD",
            "END VOTES WORD",
            "",
            "Hmm, `perhaps`.",
            "For example:",
            "```",
        ]);
        let text = prop::collection::vec(lines, 0..8)
            .prop_map(|lines| lines.join("\n").replace("WORD", word().as_str()));
        let form =
            prop::sample::select(vec!["think", "Thinking", "reasoning", "<!--", ">", "    "]);
        (form, text).prop_map(|(form, text)| match form {
            "<!--" => format!("<!-- {text}\n-->"),
            ">" | "    " => format!("{form}{}", text.replace('\n', &format!("\n{form}"))),
            tag => format!("<{tag}>\n{text}\n</{tag}>"),
        })
    }

    /// An ordinary answer, with its votes between marker lines or not.
    fn answer() -> impl Strategy<Value = Vec<String>> {
        let votes = prop::sample::subsequence(
            vec!["FINDING_1: NO \u{2014} wrong", "- **FINDING_2**: YES", "FINDING_3: `EXONERATE`"],
            0..=3,
        );
        let form = prop::sample::select(vec!["marked", "plain", "fenced"]);
        (votes, form).prop_map(|(votes, form)| {
            let own =
                |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
            let votes = own(&votes);
            let (begin, end) = match form {
                "marked" => (vec![word().begin()], vec![word().end()]),
                "fenced" => (own(&["```"]), own(&["```"])),
                _ => (Vec::new(), Vec::new()),
            };
            [own(&["I read it.", ""]), begin, votes, end, own(&["", "That is all."])].concat()
        })
    }

    proptest! {
        // P-269: thinking, quotations and drafts beside an answer change none of its votes.
        #[test]
        fn an_aside_changes_no_vote(
            answer in answer(),
            asides in prop::collection::vec((aside(), any::<prop::sample::Index>()), 0..4),
        ) {
            let expected = read(&answer.join("\n"));
            let mut lines = answer;
            for (aside, place) in asides {
                lines.insert(place.index(lines.len() + 1), aside);
            }
            // One that is never closed, and one that began before the answer did.
            let whole = lines.join("\n");
            for said in [
                whole.clone(),
                format!("{whole}\n<think>\nFINDING_1: YES"),
                format!("{whole}\n<!-- FINDING_1: YES"),
                format!("FINDING_1: YES \u{2014} or so\n</think>\n{whole}"),
                format!("FINDING_1: YES \u{2014} or so.</think>\n{whole}"),
            ] {
                prop_assert_eq!(&read(&said), &expected, "{}", said);
            }
        }

        #[test]
        fn any_answer_can_be_read(answer in any::<String>(), lines in "((BEGIN|END) VOTES [a-z]{0,3}|FINDING_[0-9]: (YES|NO)|</?think>|<!--|-->|```|> |    |\n){0,20}") {
            for text in [answer, lines] {
                read(&text);
                spoken(&text);
            }
        }
    }

    #[test]
    fn a_long_answer_costs_its_length() {
        for piece in [
            "FINDING_1: <think> ",
            "FINDING_1: x <!--\n",
            "`<think>",
            "<think ",
            "</think>\n",
            "„NO ",
        ] {
            let answer = piece.repeat(500_000 / piece.len());
            read(&answer);
            read(&format!("FINDING_1: YES \u{2014} {answer}"));
        }
    }
}
