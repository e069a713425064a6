//! Times in words: of a limit's end, in a sentence of a client or an API.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use super::usable;

/// Two times that differ by no more than this are the same, told twice.
const SAME: SignedDuration = SignedDuration::from_secs(60);

/// A time of day that passed so lately is not tomorrow's: the words may be older than our clock.
const JUST_PASSED: SignedDuration = SignedDuration::from_secs(15 * 60);

/// The last second of a minute: words without seconds mean some moment of that minute.
const END_OF_MINUTE: i8 = 59;

/// The time at which words are read, and the names of time zones.
pub struct ResetClock<'a> {
    /// The present time, in the zone in which a client writes times that name no zone.
    pub now: Zoned,
    /// Finds a time zone by its name.
    pub zone: &'a dyn Fn(&str) -> Option<TimeZone>,
}

/// Returns the time that words name; nothing if they name none, or several.
pub fn reset_in_words(words: &str, clock: &ResetClock<'_>) -> Option<Timestamp> {
    let tokens = tokens(words);
    let now = clock.now.timestamp();
    let mut found: Option<Timestamp> = None;
    for start in starts(&tokens) {
        let Some(rest) = tokens.get(start..) else { continue };
        let Some(at) = Words { rest, clock }.time() else { continue };
        // One time that cannot be meant makes the others doubtful.
        let at = usable(at, now)?;
        match found {
            Some(before) if before.duration_since(at).abs() > SAME => return None,
            Some(before) => found = Some(before.max(at)),
            None => found = Some(at),
        }
    }
    found
}

/// A word, and what is before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Token<'a> {
    text: &'a str,
    /// Whether a bar is right before it, as in `limit reached|1700000000`.
    after_bar: bool,
    /// Whether it ends a sentence.
    ends: bool,
}

impl Token<'_> {
    fn is(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.text.eq_ignore_ascii_case(word))
    }
}

/// Splits words; a sign inside a word, as in `2h30m`, `1.5s` or `Europe/Berlin`, belongs to it.
fn tokens(words: &str) -> Vec<Token<'_>> {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '.' | ':' | '-' | '/' | '+' | '_');
    let mut tokens = Vec::new();
    let mut rest = words;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        let before = rest[..start].chars().next_back();
        // A sign belongs to its number, which then is no wait.
        let start = if before == Some('-') { start - 1 } else { start };
        let word = &rest[start..];
        let end = word.find(|c| !is_inside(c)).unwrap_or(word.len());
        let text = word[..end].trim_end_matches(|c: char| !c.is_alphanumeric());
        rest = &word[text.len()..];
        let ends = rest.trim_start_matches([')', ']', '"']).starts_with(['.', ';', '!', '?']);
        tokens.push(Token { text, after_bar: before == Some('|'), ends });
    }
    tokens
}

/// Returns the places after words that announce a time.
fn starts(tokens: &[Token<'_>]) -> Vec<usize> {
    const ANNOUNCING: [&str; 12] = [
        "reset",
        "resets",
        "resetting",
        "reset_at",
        "resets_at",
        "resetsAt",
        "resets_in",
        "retry",
        "retry-after",
        "retry_after",
        "retryDelay",
        "available",
    ];
    let mut starts = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let is_again = token.is(&["again"]) && place > 0 && tokens[place - 1].is(&["try"]);
        if !token.ends && (token.is(&ANNOUNCING) || is_again) {
            starts.push(place + 1);
        } else if token.after_bar && is_epoch(token.text) {
            starts.push(place);
        }
    }
    starts
}

/// Tells whether a number counts seconds or milliseconds since 1970.
pub(super) fn is_epoch(text: &str) -> bool {
    matches!(text.len(), 10 | 13) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The words after an announcement.
struct Words<'a, 'c> {
    rest: &'a [Token<'a>],
    clock: &'c ResetClock<'c>,
}

impl<'a> Words<'a, '_> {
    fn time(mut self) -> Option<Timestamp> {
        const FILLING: [&str; 13] = [
            "at", "on", "in", "after", "again", "by", "until", "time", "about", "is", "will",
            "weekly", "daily",
        ];
        while self.rest.first().is_some_and(|token| token.is(&FILLING) && !token.ends) {
            self.next();
        }
        let first = self.rest.first()?.text;
        if is_epoch(first) {
            let count: i64 = first.parse().ok()?;
            let is_seconds = first.len() == 10;
            let at = if is_seconds { Timestamp::from_second } else { Timestamp::from_millisecond };
            return at(count).ok();
        }
        if first.contains('T')
            && let Ok(at) = first.parse()
        {
            return Some(at);
        }
        match self.wait() {
            Some(_) if self.offers_another() => None,
            Some(wait) => self.clock.now.timestamp().checked_add(wait).ok(),
            None => self.wall_clock(),
        }
    }

    /// Tells whether the sentence goes on with another time, as in `20 seconds or 40 minutes`.
    fn offers_another(&self) -> bool {
        self.rest.first().is_some_and(|token| token.is(&["or", "to"]))
    }

    /// Tells whether the next words say more about a time of day: a day, an offset or another zone. Convoke
    /// reads none of these there, and does not guess.
    fn says_more(&self) -> bool {
        const NEAR: usize = 4;
        const MORE: [&str; 14] = [
            "monday",
            "tuesday",
            "wednesday",
            "thursday",
            "friday",
            "saturday",
            "sunday",
            "today",
            "tomorrow",
            "time",
            "zone",
            "timezone",
            "utc",
            "gmt",
        ];
        let end = self.rest.iter().position(|token| token.ends).map_or(NEAR, |last| last + 1);
        let near = self.rest.iter().take(end.min(NEAR));
        let is_more = |token: &Token<'_>| {
            // `/upgrade` is a command of the client.
            let is_zone = token.text.find('/').is_some_and(|place| place > 0);
            token.is(&MORE) || is_zone || token.text.bytes().any(|byte| byte.is_ascii_digit())
        };
        near.into_iter().any(is_more)
    }

    fn next(&mut self) -> Option<Token<'a>> {
        let (first, rest) = self.rest.split_first()?;
        // A time does not go on in the next sentence.
        self.rest = if first.ends { &[] } else { rest };
        Some(*first)
    }

    /// Reads `2h30m5s`, `3 days 4 hours` or `an hour`.
    fn wait(&mut self) -> Option<SignedDuration> {
        let mut sum: Option<SignedDuration> = None;
        let before = self.rest;
        while let Some(part) = self.part() {
            sum = Some(sum.unwrap_or_default().checked_add(part)?);
            while self.rest.first().is_some_and(|token| token.is(&["and"])) {
                self.next();
            }
        }
        if sum.is_none() {
            self.rest = before;
        }
        sum
    }

    fn part(&mut self) -> Option<SignedDuration> {
        let before = self.rest;
        let token = self.next()?;
        let part = if token.is(&["a", "an", "one"]) {
            self.next().and_then(|unit| of_unit(1.0, unit.text))
        } else if token.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            let unit = if token.ends { None } else { self.next() };
            unit.and_then(|unit| of_unit(token.text.parse().ok()?, unit.text))
        } else {
            compact(token.text)
        };
        if part.is_none() {
            self.rest = before;
        }
        part
    }

    /// Reads `3pm (Europe/Berlin)`, `Oct 9, 10am` or `Jan 5th, 2026 3:45 PM`.
    fn wall_clock(&mut self) -> Option<Timestamp> {
        let date = self.date();
        if self.rest.first().is_some_and(|token| token.is(&["at"])) {
            self.next();
        }
        let time = self.time_of_day()?;
        let zone = self.zone()?;
        if self.says_more() {
            return None;
        }
        let now = self.clock.now.with_time_zone(zone.clone());
        let at = |date: Date| Some(date.to_datetime(time).to_zoned(zone.clone()).ok()?.timestamp());
        match date {
            Some((month, day, Some(year))) => at(Date::new(year, month, day).ok()?),
            Some((month, day, None)) => {
                // In December, January is the next year's.
                let this_year = at(Date::new(now.year(), month, day).ok()?)?;
                let half_a_year = SignedDuration::from_hours(24 * 180);
                if now.timestamp().duration_since(this_year) < half_a_year {
                    return Some(this_year);
                }
                at(Date::new(now.year().checked_add(1)?, month, day).ok()?)
            }
            None => {
                let today = at(now.date())?;
                let passed = now.timestamp().duration_since(today);
                if passed.is_negative() || passed < JUST_PASSED {
                    return Some(today);
                }
                at(now.date().tomorrow().ok()?)
            }
        }
    }

    /// Reads a month and a day, with or without a year.
    fn date(&mut self) -> Option<(i8, i8, Option<i16>)> {
        let before = self.rest;
        let first = self.rest.first()?.text;
        let is_iso = first.len() == 10 && first.as_bytes().get(4) == Some(&b'-');
        if let (true, Ok(date)) = (is_iso, first.parse::<Date>()) {
            self.next();
            return Some((date.month(), date.day(), Some(date.year())));
        }
        let found = self.month_and_day();
        if found.is_none() {
            self.rest = before;
        }
        let (month, day) = found?;
        let year = self.rest.first().filter(|token| token.text.len() == 4);
        let year = year.and_then(|token| token.text.parse().ok());
        if year.is_some() {
            self.next();
        }
        Some((month, day, year))
    }

    fn month_and_day(&mut self) -> Option<(i8, i8)> {
        const MONTHS: [&str; 12] = [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ];
        let word = self.next()?.text.to_ascii_lowercase();
        let is_meant = |month: &&str| word.len() >= 3 && month.starts_with(&word);
        let (month, _) = (1..).zip(MONTHS).find(|(_, month)| is_meant(month))?;
        let day = self.next()?.text.to_ascii_lowercase();
        let digits = day.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let is_day = matches!(&day[digits.len()..], "" | "st" | "nd" | "rd" | "th");
        Some((month, digits.parse().ok().filter(|_| is_day)?))
    }

    /// Reads `3pm`, `3:45 PM` or `15:45`, to the end of that minute.
    fn time_of_day(&mut self) -> Option<Time> {
        let text = self.next()?.text.to_ascii_lowercase();
        let is_sign = |c: char| c.is_ascii_digit() || c == ':';
        let digits = &text[..text.find(|c| !is_sign(c)).unwrap_or(text.len())];
        let mut half = text[digits.len()..].replace('.', "");
        if half.is_empty()
            && self.rest.first().is_some_and(|token| token.is(&["am", "pm", "a.m", "p.m"]))
        {
            half = self.next()?.text.to_ascii_lowercase().replace('.', "");
        }
        let (hour, minute) = digits.split_once(':').unwrap_or((digits, ""));
        let is_short = hour.len() <= 2 && (minute.is_empty() || minute.len() == 2);
        let hour: i8 = hour.parse().ok().filter(|_| is_short)?;
        let hour = match half.as_str() {
            // A number alone can be anything.
            "" if minute.is_empty() => return None,
            "" => hour,
            "am" | "pm" if !(1..=12).contains(&hour) => return None,
            "am" => hour % 12,
            "pm" => hour % 12 + 12,
            _ => return None,
        };
        let minute = if minute.is_empty() { 0 } else { minute.parse().ok()? };
        Time::new(hour, minute, END_OF_MINUTE, 0).ok()
    }

    /// Reads a zone; without one, the client means its own. A name that no table knows means nothing.
    fn zone(&mut self) -> Option<TimeZone> {
        let own = || Some(self.clock.now.time_zone().clone());
        let Some(token) = self.rest.first() else { return own() };
        let name = token.text;
        let is_abbreviation =
            (1..=5).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_uppercase());
        let zone = match name {
            "UTC" | "GMT" | "Z" => TimeZone::UTC,
            _ if name.contains('/') => (self.clock.zone)(name)?,
            // `PST` and `IST` mean several zones each.
            _ if is_abbreviation => return None,
            _ => return own(),
        };
        self.next();
        Some(zone)
    }
}

/// Reads `2h30m5s` or `250ms`.
pub(super) fn compact(text: &str) -> Option<SignedDuration> {
    let mut rest = text;
    let mut sum = SignedDuration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        sum = sum.checked_add(of_unit(number.parse().ok()?, &after[..end])?)?;
        rest = &after[end..];
    }
    (!text.is_empty()).then_some(sum)
}

fn of_unit(count: f64, unit: &str) -> Option<SignedDuration> {
    let seconds = match unit.to_ascii_lowercase().as_str() {
        "ms" | "millisecond" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        "w" | "week" | "weeks" => 604_800.0,
        _ => return None,
    };
    SignedDuration::try_from_secs_f64(count * seconds).ok()
}
