//! The `[lane]` section.

use std::ffi::OsString;

use convoke_domain::client::Client;
use convoke_domain::lane::budget::LaneBudget;
use toml::Value;

use super::files::settle_once;
use super::{Key, list, read_layers, text};
use crate::failure::Failure;
use crate::session::Session;

/// The section's name.
pub const SECTION: &str = "lane";

/// The settings of lanes.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The most that lanes may spend in a day, over all projects. Every one of them holds: the
    /// user's own, and a lower one of a project.
    pub budgets_per_day: Vec<LaneBudget>,
    /// Variables that clients may see beside those that they always see.
    pub pass_env: PassEnv,
}

/// Which variables of the user's environment which client may see in addition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PassEnv(Vec<(Option<Client>, String)>);

/// One place's opinion on these settings.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    budget_per_day: Option<LaneBudget>,
    pass_env: Option<PassEnv>,
}

/// Every setting of lanes.
pub const KEYS: [Key<Layer>; 2] = [
    Key {
        name: "budget_per_day",
        expected: "tokens such as \"200k\" or \"1.5M\", or money such as \"$2.50\"",
        default: "no limit",
        meaning: "the budget of a day for the lanes of all projects; when it is spent, Convoke starts no more lanes",
        from_text: text,
        set: |layer, value| {
            layer.budget_per_day = Some(LaneBudget::parse(value.as_str()?).ok()?);
            Some(())
        },
    },
    Key {
        name: "pass_env",
        expected: "a list of variables such as [\"OPENROUTER_API_KEY\"] (in a variable: separated \
                   by commas), or a table of such lists by client",
        default: "[]",
        meaning: "further environment variables to pass to clients, such as the key of a client's provider",
        from_text: list,
        set: |layer, value| {
            layer.pass_env = Some(PassEnv::read(value)?);
            Some(())
        },
    },
];

impl PassEnv {
    fn read(value: &Value) -> Option<Self> {
        let mut all = Vec::new();
        match value {
            Value::Array(names) => Self::extend(&mut all, None, names)?,
            Value::Table(clients) => {
                for (client, names) in clients {
                    Self::extend(&mut all, Some(Client::parse(client)?), names.as_array()?)?;
                }
            }
            Value::String(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Boolean(_)
            | Value::Datetime(_) => return None,
        }
        Some(Self(all))
    }

    fn extend(
        all: &mut Vec<(Option<Client>, String)>,
        client: Option<Client>,
        names: &[Value],
    ) -> Option<()> {
        for name in names {
            let name = name.as_str().map(str::trim).filter(|name| is_passable(name))?;
            all.push((client, name.to_owned()));
        }
        Some(())
    }

    /// Returns the variables that a client may see in addition.
    pub fn names(&self, client: Client) -> impl Iterator<Item = &str> {
        let is_meant = move |(of, _): &&(Option<Client>, String)| of.is_none_or(|of| of == client);
        self.0.iter().filter(is_meant).map(|(_, name)| name.as_str())
    }
}

/// Tells whether a variable can be passed on: it has a plain name, does not decide which code a
/// program loads, and Convoke itself does not set it for clients.
pub(super) fn is_passable(name: &str) -> bool {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_reserved = ["CONVOKE_", "LD_", "DYLD_"].iter().any(|start| name.starts_with(start));
    is_plain && !is_reserved && name != "TMPDIR" && !name.ends_with("_CONFIG_CONTENT")
}

/// Returns the settings of lanes from the environment and the files. A project's budget holds
/// beside the user's.
pub fn settings(session: &Session) -> Result<Settings, Failure> {
    settle_once(&session.settings.files().lane, || settle(session))
}

fn settle(session: &Session) -> Result<Settings, Failure> {
    let [environment, local, project, user] = read_layers(session, SECTION, &KEYS)?;
    let own = environment.budget_per_day.or(local.budget_per_day);
    let asked = [project.budget_per_day, user.budget_per_day];
    let budgets_per_day = match own {
        Some(own) => vec![own],
        None => asked.into_iter().flatten().collect(),
    };
    let pass_env = [environment, local, user].into_iter().find_map(|layer| layer.pass_env);
    Ok(Settings { budgets_per_day, pass_env: pass_env.unwrap_or_default() })
}

/// Returns the variables that the user lets a client see in addition, as far as they are set.
pub fn passed_variables(
    session: &Session,
    client: Client,
) -> Result<Vec<(OsString, OsString)>, Failure> {
    let settings = settings(session)?;
    Ok(session.environment.only(settings.pass_env.names(client)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(toml: &str, client: Client) -> Option<String> {
        let table: toml::Table = toml.parse().unwrap();
        let passed = PassEnv::read(&table["x"])?;
        Some(passed.names(client).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn variables_are_passed_to_all_clients_or_to_one() {
        let all = "x = ['OPENROUTER_API_KEY', 'ZAI_KEY']";
        assert_eq!(names(all, Client::Codex).unwrap(), "OPENROUTER_API_KEY ZAI_KEY");
        let one = "x = { opencode = ['OPENROUTER_API_KEY'] }";
        assert_eq!(names(one, Client::Opencode).unwrap(), "OPENROUTER_API_KEY");
        assert_eq!(names(one, Client::Codex).unwrap(), "");
    }

    #[test]
    fn a_variable_that_is_no_key_of_a_provider_is_refused() {
        for name in ["", "A B", "A=B", "1A", "CONVOKE_AGENT", "LD_PRELOAD", "TMPDIR", "A\\u0000"] {
            assert_eq!(names(&format!("x = [\"{name}\"]"), Client::Codex), None, "{name}");
        }
        for value in ["'OPENAI_API_KEY'", "[1]", "{ nobody = ['A'] }", "{ codex = 'A' }", "true"] {
            assert_eq!(names(&format!("x = {value}"), Client::Codex), None, "{value}");
        }
    }
}
