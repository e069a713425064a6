//! The filter of the log: `debug`, or `info,engine::lane=debug`.

use convoke_service::failure::{ErrorClass, Failure, did_you_mean};
use tracing::level_filters::LevelFilter;

/// The filter of a log that only a file was named for.
pub(super) const USUAL: &str = "info";

/// The words for levels, the quietest first.
const LEVELS: [(&str, LevelFilter); 6] = [
    ("off", LevelFilter::OFF),
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];

/// The crates that log.
const AREAS: [&str; 2] = ["engine", "service"];

/// The prefix of all of Convoke's crates.
const PREFIX: &str = "convoke_";

/// The levels of all areas of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LogFilter {
    /// The level of everything that no area below names.
    general: LevelFilter,
    /// The levels of modules, including their submodules.
    areas: Vec<(String, LevelFilter)>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read the log filter `{filter}` of {place}: `{word}` is not {kind}")]
struct FilterError {
    filter: String,
    place: &'static str,
    word: String,
    kind: &'static str,
}

impl LogFilter {
    /// Reads a filter; `place` is where the user wrote it.
    pub(super) fn parse(place: &'static str, text: &str) -> Result<Self, Failure> {
        let wrong = |word: &str, (kind, all): (&'static str, &str), known: &[&str]| {
            let error = FilterError { filter: text.to_owned(), place, word: word.to_owned(), kind };
            Failure::new(ErrorClass::Usage, error)
                .maybe_hint(did_you_mean(word, known.iter().copied()))
                .hint(format!(
                    "{all} are {}; an example: `info,engine::lane=debug`",
                    known.join(", ")
                ))
        };
        let level = |word: &str| {
            let found = LEVELS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word.trim()));
            let known = LEVELS.map(|(name, _)| name);
            found
                .map(|(_, level)| *level)
                .ok_or_else(|| wrong(word.trim(), ("a level", "levels"), &known))
        };
        let mut filter = Self { general: LevelFilter::OFF, areas: Vec::new() };
        for part in text.split(',') {
            let Some((area, word)) = part.split_once('=') else {
                filter.general = level(part)?;
                continue;
            };
            let area = short(area.trim());
            if !AREAS.iter().any(|known| is_inside(area, known)) {
                return Err(wrong(area, ("an area", "areas"), &AREAS));
            }
            filter.areas.push((area.to_owned(), level(word)?));
        }
        Ok(filter)
    }

    /// Tells whether nothing is wanted.
    pub(super) fn is_off(&self) -> bool {
        self.most() == LevelFilter::OFF
    }

    /// Returns the most detailed level that any area has.
    pub(super) fn most(&self) -> LevelFilter {
        self.areas.iter().map(|(_, level)| *level).fold(self.general, Ord::max)
    }

    /// Returns the level of a module: that of the nearest area around it.
    pub(super) fn level_of(&self, target: &str) -> LevelFilter {
        let target = short(target);
        let around = self.areas.iter().filter(|(area, _)| is_inside(target, area));
        around.max_by_key(|(area, _)| area.len()).map_or(self.general, |(_, level)| *level)
    }
}

/// Returns a module's name without what all of them begin with.
pub(super) fn short(target: &str) -> &str {
    target.strip_prefix(PREFIX).unwrap_or(target)
}

/// Tells whether a module is an area or inside of it.
fn is_inside(module: &str, area: &str) -> bool {
    module.strip_prefix(area).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(filter: &str, target: &str) -> Option<LevelFilter> {
        LogFilter::parse("--log", filter).ok().map(|filter| filter.level_of(target))
    }

    #[test]
    fn the_nearest_area_decides() {
        let supervisor = "convoke_engine::lane::supervisor";
        for (filter, target, expected) in [
            ("debug", supervisor, LevelFilter::DEBUG),
            ("DEBUG", "other", LevelFilter::DEBUG),
            ("engine=debug", supervisor, LevelFilter::DEBUG),
            ("engine=debug", "convoke_service::lane", LevelFilter::OFF),
            ("info, engine::lane = trace", supervisor, LevelFilter::TRACE),
            ("info,engine::lane=trace", "convoke_engine::lanes", LevelFilter::INFO),
            ("trace,engine::lane=warn,engine=off", supervisor, LevelFilter::WARN),
            ("convoke_engine=error", supervisor, LevelFilter::ERROR),
        ] {
            assert_eq!(level(filter, target), Some(expected), "{filter} {target}");
        }
    }

    #[test]
    fn an_invalid_filter_is_refused() {
        for filter in [
            "",
            ",",
            "debug,",
            "debgu",
            "engine",
            "engin=debug",
            "engine=",
            "=debug",
            "engine=debug=1",
        ] {
            assert_eq!(level(filter, "convoke_engine"), None, "{filter}");
        }
    }
}
