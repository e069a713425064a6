//! What the sessions of clients used, added up from the clients' own records.
//!
//! A client repeats an answer in its records: while the answer grows, and in every session that was
//! forked from another. So each answer has a key, and counts once. A count that a record does not
//! state is unknown, never zero.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::civil::Date;
use jiff::tz::Offset;
use jiff::{Timestamp, ToSpan};

use crate::client::Client;

/// The tokens of one answer, and of the prompt before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnswerTokens {
    /// Tokens of the prompt, with those that a cache served or took in.
    pub input: u64,
    /// Of these, tokens that came from a cache; `None` if the record does not say.
    pub cached: Option<u64>,
    /// Of these, tokens that were written to a cache; `None` if the record does not say.
    pub cache_writes: Option<u64>,
    /// Tokens of the answer, with those of reasoning.
    pub output: u64,
    /// Of these, tokens of reasoning; `None` if the record does not say.
    pub reasoning: Option<u64>,
    /// Money, in millionths of a dollar; `None` if the record does not say.
    pub micro_dollars: Option<u64>,
}

impl AnswerTokens {
    /// Returns the more complete of two reports about the same answer: a client reports an answer
    /// while it grows.
    fn merged(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            cached: self.cached.max(other.cached),
            cache_writes: self.cache_writes.max(other.cache_writes),
            output: self.output.max(other.output),
            reasoning: self.reasoning.max(other.reasoning),
            micro_dollars: self.micro_dollars.max(other.micro_dollars),
        }
    }
}

/// Identifies an answer, however many records repeat it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnswerKey(pub u64);

/// Identifies a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionKey(pub u64);

/// One answer, as a client's record states it.
#[derive(Debug, Clone, Copy)]
pub struct SessionAnswer<'a> {
    /// The client that keeps the record.
    pub client: Client,
    /// Which of the client's conversations it belongs to.
    pub session: SessionKey,
    /// The model that answered.
    pub model: Option<&'a str>,
    /// The folder that the session works in.
    pub project: Option<&'a str>,
    /// When the answer was recorded.
    pub at: Option<Timestamp>,
    /// The tokens; `None` if the record does not say.
    pub tokens: Option<AnswerTokens>,
}

/// The key by which answers are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionGrouping {
    /// The day of the answer.
    Day,
    /// The model that answered.
    Model,
    /// The client that keeps the record.
    Client,
    /// The folder that the session works in.
    Project,
}

impl SessionGrouping {
    /// Every key.
    pub const ALL: [Self; 4] = [Self::Day, Self::Model, Self::Client, Self::Project];

    /// Returns the word that is typed and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Model => "model",
            Self::Client => "client",
            Self::Project => "project",
        }
    }

    /// Returns the key called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }
}

/// The first day of a sum, as the user writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageSince {
    /// From the beginning of this day on.
    Day(Date),
    /// The last so many days, today included.
    LastDays(u16),
}

impl UsageSince {
    /// Parses `2026-01-31`, `today`, or a number of days such as `7d`.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "today" {
            return Some(Self::LastDays(1));
        }
        match text.strip_suffix('d') {
            Some(days) => days.parse().ok().filter(|days| *days > 0).map(Self::LastDays),
            None => text.parse().ok().map(Self::Day),
        }
    }

    /// Returns the first day.
    pub fn day(self, today: Date) -> Date {
        match self {
            Self::Day(day) => day,
            Self::LastDays(days) => {
                today.checked_sub(i64::from(days.saturating_sub(1)).days()).unwrap_or(Date::MIN)
            }
        }
    }
}

/// A sum of a count that not every answer states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatedSum {
    /// The sum of the stated ones; `None` if no answer states it.
    pub amount: Option<u64>,
    /// How many answers do not state it.
    pub unstated: u64,
}

impl StatedSum {
    const fn of(amount: Option<u64>) -> Self {
        Self { amount, unstated: if amount.is_none() { 1 } else { 0 } }
    }

    fn plus(self, other: Self) -> Self {
        let amount = match (self.amount, other.amount) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        Self { amount, unstated: self.unstated.saturating_add(other.unstated) }
    }
}

/// What some answers used together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionSum {
    /// The sessions that they are from.
    pub sessions: BTreeSet<SessionKey>,
    /// How many answers there were.
    pub answers: u64,
    /// How many of them state no usage.
    pub without_usage: u64,
    /// Tokens of the prompts.
    pub input: u64,
    /// Of these, tokens from a cache.
    pub cached: StatedSum,
    /// Of these, tokens written to a cache.
    pub cache_writes: StatedSum,
    /// Tokens of the answers.
    pub output: u64,
    /// Of these, tokens of reasoning.
    pub reasoning: StatedSum,
    /// Money, in millionths of a dollar.
    pub micro_dollars: StatedSum,
}

impl SessionSum {
    fn add(&mut self, answer: &CountedAnswer) {
        self.sessions.insert(answer.session);
        self.answers += 1;
        let Some(tokens) = answer.tokens else {
            self.without_usage += 1;
            return;
        };
        self.input = self.input.saturating_add(tokens.input);
        self.cached = self.cached.plus(StatedSum::of(tokens.cached));
        self.cache_writes = self.cache_writes.plus(StatedSum::of(tokens.cache_writes));
        self.output = self.output.saturating_add(tokens.output);
        self.reasoning = self.reasoning.plus(StatedSum::of(tokens.reasoning));
        self.micro_dollars = self.micro_dollars.plus(StatedSum::of(tokens.micro_dollars));
    }
}

/// An answer as it is kept: names are numbers, because a history has hundreds of thousands.
#[derive(Debug, Clone, Copy)]
struct CountedAnswer {
    client: Client,
    session: SessionKey,
    model: Option<u32>,
    project: Option<u32>,
    at: Option<Timestamp>,
    tokens: Option<AnswerTokens>,
}

/// Answers of any number of records, each counted once.
#[derive(Debug, Default)]
pub struct SessionTally {
    answers: HashMap<AnswerKey, CountedAnswer>,
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

/// The answers of some days, added up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionSums {
    /// A sum for each value of the key, in the values' order; answers without a value come last.
    pub groups: Vec<(Option<String>, SessionSum)>,
    /// The sum of all of them.
    pub total: SessionSum,
    /// How many answers are left out, because their record states no time.
    pub undated: u64,
}

impl SessionTally {
    /// Counts an answer, or completes one that was counted before. It stays where it was counted
    /// first: a fork repeats it under another session and, in some clients, at another time.
    pub fn count(&mut self, key: AnswerKey, answer: &SessionAnswer<'_>) {
        let counted = CountedAnswer {
            client: answer.client,
            session: answer.session,
            model: answer.model.map(|name| self.number(name)),
            project: answer.project.map(|name| self.number(name)),
            at: answer.at,
            tokens: answer.tokens,
        };
        match self.answers.entry(key) {
            Entry::Vacant(place) => {
                place.insert(counted);
            }
            Entry::Occupied(mut place) => {
                let known = place.get_mut();
                known.tokens = match (known.tokens, counted.tokens) {
                    (Some(one), Some(other)) => Some(one.merged(other)),
                    (one, other) => one.or(other),
                };
                known.model = known.model.or(counted.model);
                known.project = known.project.or(counted.project);
                known.at = known.at.or(counted.at);
            }
        }
    }

    /// Adds up the answers of a day or later, by a clock.
    pub fn sums(&self, by: SessionGrouping, clock: Offset, since: Option<Date>) -> SessionSums {
        let mut groups: BTreeMap<(bool, Option<String>), SessionSum> = BTreeMap::new();
        let mut sums = SessionSums::default();
        for answer in self.answers.values() {
            let day = answer.at.map(|at| clock.to_datetime(at).date());
            match (since, day) {
                (Some(_), None) => {
                    sums.undated += 1;
                    continue;
                }
                (Some(since), Some(day)) if day < since => continue,
                _ => {}
            }
            let value = match by {
                SessionGrouping::Day => day.map(|day| day.to_string()),
                SessionGrouping::Model => self.name(answer.model),
                SessionGrouping::Client => Some(answer.client.to_string()),
                SessionGrouping::Project => self.name(answer.project),
            };
            groups.entry((value.is_none(), value)).or_default().add(answer);
            sums.total.add(answer);
        }
        sums.groups = groups.into_iter().map(|((_, value), sum)| (value, sum)).collect();
        sums
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn name(&self, number: Option<u32>) -> Option<String> {
        self.names.get(usize::try_from(number?).ok()?).cloned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn answer(tokens: Option<AnswerTokens>) -> SessionAnswer<'static> {
        SessionAnswer {
            client: Client::Claude,
            session: SessionKey(1),
            model: Some("m"),
            project: Some("/p"),
            at: Timestamp::from_second(90_000).ok(),
            tokens,
        }
    }

    fn tokens(output: u64) -> AnswerTokens {
        AnswerTokens { input: 10, output, ..AnswerTokens::default() }
    }

    fn total(tally: &SessionTally) -> SessionSum {
        tally.sums(SessionGrouping::Client, Offset::UTC, None).total
    }

    #[test]
    fn a_repeated_answer_counts_once_at_its_greatest() {
        let mut tally = SessionTally::default();
        for said in [None, Some(tokens(1)), Some(tokens(9)), Some(tokens(3)), None] {
            tally.count(AnswerKey(1), &answer(said));
        }
        tally.count(AnswerKey(1), &SessionAnswer { session: SessionKey(2), ..answer(None) });
        tally.count(AnswerKey(2), &answer(Some(tokens(4))));
        let total = total(&tally);
        assert_eq!((total.answers, total.input, total.output), (2, 20, 13));
        assert_eq!((total.without_usage, total.sessions.len()), (0, 1));
    }

    #[test]
    fn what_no_record_states_is_unknown() {
        let mut tally = SessionTally::default();
        tally.count(AnswerKey(1), &answer(Some(tokens(1))));
        tally.count(AnswerKey(2), &answer(None));
        assert_eq!(total(&tally).reasoning, StatedSum { amount: None, unstated: 1 });
        assert_eq!(total(&tally).without_usage, 1);
        let thinks = AnswerTokens { reasoning: Some(5), ..tokens(1) };
        tally.count(AnswerKey(3), &answer(Some(thinks)));
        assert_eq!(total(&tally).reasoning, StatedSum { amount: Some(5), unstated: 1 });
    }

    #[test]
    fn answers_are_grouped_by_any_key_and_limited_to_days() {
        let mut tally = SessionTally::default();
        tally.count(AnswerKey(1), &answer(Some(tokens(1))));
        let other = SessionAnswer {
            client: Client::Codex,
            model: None,
            project: Some("/q"),
            at: Timestamp::from_second(3).ok(),
            ..answer(Some(tokens(2)))
        };
        tally.count(AnswerKey(2), &other);
        tally.count(AnswerKey(3), &SessionAnswer { at: None, ..other });
        let names = |by, clock, since| -> (Vec<(String, u64)>, u64) {
            let sums = tally.sums(by, clock, since);
            let row = |(name, sum): (Option<String>, SessionSum)| {
                (name.unwrap_or_else(|| "-".to_owned()), sum.output)
            };
            (sums.groups.into_iter().map(row).collect(), sums.undated)
        };
        let rows = |rows: &[(&str, u64)]| -> Vec<_> {
            rows.iter().map(|(name, output)| ((*name).to_owned(), *output)).collect()
        };
        let by = |by| names(by, Offset::UTC, None).0;
        let days = [("1970-01-01", 2), ("1970-01-02", 1), ("-", 2)];
        assert_eq!(by(SessionGrouping::Day), rows(&days));
        assert_eq!(by(SessionGrouping::Model), rows(&[("m", 1), ("-", 4)]));
        assert_eq!(by(SessionGrouping::Client), rows(&[("claude", 1), ("codex", 4)]));
        assert_eq!(by(SessionGrouping::Project), rows(&[("/p", 1), ("/q", 4)]));
        let since = "1970-01-02".parse().ok();
        let late = names(SessionGrouping::Day, Offset::UTC, since);
        assert_eq!(late, (rows(&[("1970-01-02", 1)]), 1));
        let west = Offset::from_hours(-2).unwrap();
        assert_eq!(names(SessionGrouping::Day, west, since), (Vec::new(), 1));
        for key in SessionGrouping::ALL {
            assert_eq!(SessionGrouping::parse(key.name()), Some(key));
        }
    }

    #[test]
    fn the_first_day_is_a_date_or_a_number_of_days() {
        let today: Date = "2026-03-02".parse().unwrap();
        for (text, expected) in [
            ("2026-01-31", Some("2026-01-31")),
            ("today", Some("2026-03-02")),
            ("1d", Some("2026-03-02")),
            ("7d", Some("2026-02-24")),
            ("65535d", Some("1846-09-28")),
            ("0d", None),
            ("-1d", None),
            ("d", None),
            ("65536d", None),
            ("yesterday", None),
            ("2026-13-01", None),
            ("", None),
        ] {
            let day = UsageSince::parse(text).map(|since| since.day(today).to_string());
            assert_eq!(day.as_deref(), expected, "{text}");
        }
    }

    proptest! {
        // Files are read in any order, and a fork repeats any part of another session.
        #[test]
        fn order_and_repetition_change_no_sum(
            said in prop::collection::vec((0_u64..6, prop::option::of(0_u64..100)), 1..30),
        ) {
            let sum = |said: &mut dyn Iterator<Item = &(u64, Option<u64>)>| {
                let mut tally = SessionTally::default();
                for (key, output) in said {
                    tally.count(AnswerKey(*key), &answer(output.map(tokens)));
                }
                total(&tally)
            };
            let forwards = sum(&mut said.iter());
            prop_assert_eq!(&forwards, &sum(&mut said.iter().rev()));
            prop_assert_eq!(&forwards, &sum(&mut said.iter().chain(&said)));
            prop_assert!(forwards.answers <= 6);
        }
    }
}
