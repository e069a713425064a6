//! The `[lane]` section, which only a user's own file may have: a project that comes from somewhere
//! must not choose what its user spends.

use convoke_domain::lane::cap::Cap;

use toml::Value;

use super::{Key, endpoint, read_environment, read_file, read_section, text};
use crate::app::App;
use crate::failure::Failure;

/// The section's name.
pub const SECTION: &str = "lane";

/// What is decided about lanes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// The most that lanes may spend in a day, over all projects.
    pub budget_per_day: Option<Cap>,
}

/// Every setting of lanes.
pub const KEYS: [Key<Settings>; 1] = [Key {
    name: "budget_per_day",
    expected: "tokens such as \"200k\" or \"1.5M\", or money such as \"$2.50\"",
    default: "no limit",
    meaning: "when lanes of all projects have spent this in a day, no more are started",
    from_text: text,
    set: |settings, value| {
        settings.budget_per_day = Some(Cap::parse(value.as_str()?).ok()?);
        Some(())
    },
}];

/// Returns what the environment and the user's file say about lanes.
pub fn settings(app: &App) -> Result<Settings, Failure> {
    let strong = read_environment(app.environment, SECTION, &KEYS)?;
    let user = app.environment.user_config().filter(|path| !super::is_out_of_reach(path));
    let weak = match user {
        Some(path) => {
            let mut table = read_file(&path)?;
            // The APIs below it are read by themselves.
            if let Some(Value::Table(lane)) = table.get_mut(SECTION) {
                lane.remove(endpoint::HTTP);
            }
            read_section(&table, &path, SECTION, &KEYS)?
        }
        None => Settings::default(),
    };
    Ok(Settings { budget_per_day: strong.budget_per_day.or(weak.budget_per_day) })
}
