//! Every setting by its name, over all sections, and the source of its value.

use std::path::PathBuf;

use convoke_domain::brief::diagnostic::Diagnostic;
use convoke_domain::brief::name::DocumentPriority;
use convoke_domain::brief::settings::Layer;
use convoke_engine::brief::design_yaml::{DesignYaml, PATH as DESIGN_YAML};
use convoke_store::StoreLocation;
use serde::Serialize;
use toml::{Table, Value};

use super::files::ConfigFile;
use super::trust::{Author, Origin, Refused, local_author, sift};
use super::{Key, brief, dispatch, fleet, health, lane, mcp, number, pack};
use super::{store, task, telemetry, text, wake};
use crate::environment::setting_name;
use crate::failure::Failure;
use crate::session::Session;

/// The variable that names the store.
const STORE_VARIABLE: &str = "CONVOKE_STORE";

/// The place that a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ConfigOrigin {
    /// A variable of the environment.
    Environment,
    /// `convoke.local.toml` of the project.
    Local,
    /// `convoke.toml` of the project.
    Project,
    /// `.moai/config/sections/design.yaml` of the project, which other tools own; it sets briefs alone.
    #[serde(rename = "design.yaml")]
    DesignYaml,
    /// The user's own `config.toml`.
    User,
    /// No place sets it.
    Default,
}

/// A setting of any section.
pub(crate) struct CatalogKey {
    pub(crate) section: &'static str,
    pub(crate) name: &'static str,
    pub(crate) expected: &'static str,
    pub(crate) default: &'static str,
    pub(crate) meaning: &'static str,
    /// How a variable's text becomes a value.
    pub(crate) from_text: fn(&str) -> Option<Value>,
    accepts: Box<dyn Fn(&Value) -> bool>,
}

impl CatalogKey {
    /// Returns the name with its section.
    pub(crate) fn full_name(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }

    /// Tells whether a value is valid.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        (self.accepts)(value)
    }

    /// Returns the variable that sets it.
    pub(crate) fn variable(&self) -> String {
        match (self.section, self.name) {
            (store::SECTION, store::PATH) => STORE_VARIABLE.to_owned(),
            (section, name) => setting_name(section, name),
        }
    }
}

/// Returns every setting. A model's API is configured by a table of its own, and is not among them.
pub(crate) fn catalog() -> Vec<CatalogKey> {
    let store = CatalogKey {
        section: store::SECTION,
        name: store::PATH,
        expected: "an absolute path, or the address of a server",
        default: "below your state folder",
        meaning: "the file or server that keeps tasks, messages and runs; only your own file sets it",
        // An address may hold a password, which nothing shows.
        from_text: |text| Some(StoreLocation::parse(text).to_string().into()),
        accepts: Box::new(|value| {
            let location = value.as_str().map(StoreLocation::parse);
            location.is_some_and(|location| !location.is_relative())
        }),
    };
    let password = |name, expected, meaning| CatalogKey {
        section: store::SECTION,
        name,
        expected,
        default: "",
        meaning,
        from_text: text,
        accepts: Box::new(|value| value.as_str().is_some_and(|text| !text.is_empty())),
    };
    [
        known(brief::SECTION, &brief::KEYS),
        known(wake::SECTION, &wake::KEYS),
        known(dispatch::SECTION, &dispatch::KEYS),
        known(lane::SECTION, &lane::KEYS),
        known(health::SECTION, &health::KEYS),
        known(task::SECTION, &task::KEYS),
        known(mcp::SECTION, &mcp::KEYS),
        known(pack::SECTION, &pack::KEYS),
        known(telemetry::SECTION, &telemetry::KEYS),
        known(fleet::SECTION, &fleet::KEYS),
        vec![
            store,
            password(
                store::PASSWORD_FILE,
                "a file that only you can read",
                "the file with the password of the store's server",
            ),
            password(
                store::PASSWORD_COMMAND,
                "a command line",
                "the command that prints the password of the store's server",
            ),
            CatalogKey {
                section: store::SECTION,
                name: store::HOOK_LIMIT,
                expected: "a whole number from 1 up",
                default: "150",
                meaning: "how long a hook waits for the store's server before it answers from the \
                          copy on this machine",
                from_text: number,
                accepts: Box::new(|value| store::milliseconds(value).is_some()),
            },
        ],
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn known<L: Default>(section: &'static str, keys: &'static [Key<L>]) -> Vec<CatalogKey> {
    let entry = |key: &'static Key<L>| CatalogKey {
        section,
        name: key.name,
        expected: key.expected,
        default: key.default,
        meaning: key.meaning,
        from_text: key.from_text,
        accepts: Box::new(|value| (key.set)(&mut L::default(), value).is_some()),
    };
    keys.iter().map(entry).collect()
}

/// The values of every place, the strongest first, without those that a file may not set.
pub(crate) struct Places<'a> {
    session: &'a Session,
    files: [(ConfigOrigin, PathBuf, Table); 4],
    /// Remarks about what `design.yaml` says and Convoke does not use.
    pub(crate) remarks: Vec<String>,
}

/// Reads the file that other tools own, without what a project's file may not set.
fn design_yaml(session: &Session) -> DesignYaml {
    let mut foreign = convoke_engine::brief::design_yaml::read(&session.project);
    // The reader of the user's own file reports its mistakes.
    let user = brief::layers(Layer::default(), session).map(|layers| layers.user);
    foreign.hold_to(&user.unwrap_or_default(), &session.project);
    foreign
}

/// Returns the settings of that file as Convoke's own files write them.
fn brief_table(layer: Layer) -> Table {
    let Layer { dir, auto_load, budget, priority, .. } = layer;
    let names = |list: &DocumentPriority| {
        list.names().iter().map(|name| Value::String(name.to_string())).collect()
    };
    let budget = budget.and_then(|budget| i64::try_from(budget.get()).ok());
    let values = [
        ("dir", dir.map(|dir| Value::String(dir.as_str().to_owned()))),
        ("auto_load_on_design_command", auto_load.map(Value::Boolean)),
        ("token_budget", budget.map(Value::Integer)),
        ("priority", priority.as_ref().map(|list| Value::Array(names(list)))),
    ];
    values.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// The value of a setting, and the place that it comes from.
pub(crate) struct Found {
    pub(crate) value: Value,
    pub(crate) origin: ConfigOrigin,
    /// The file or variable.
    pub(crate) place: String,
}

impl<'a> Places<'a> {
    /// Reads all files.
    pub(crate) fn read(session: &'a Session) -> Result<Self, Failure> {
        let files = session.settings.files();
        let user_file = files.user(session);
        let user = user_file.map(ConfigFile::parsed).transpose()?.cloned().unwrap_or_default();
        let local_file = files.local(session);
        let mut local = local_file.parsed()?.clone();
        let author = files.local_author(session, &local);
        sift(&mut local, Origin { author, project: &session.project, user: &user });
        let project_file = files.project(session);
        let mut project = project_file.parsed()?.clone();
        let author = Author::Committer;
        sift(&mut project, Origin { author, project: &session.project, user: &user });
        let foreign = design_yaml(session);
        let remarks = foreign.diagnostics.iter().map(Diagnostic::message).collect();
        let brief = brief_table(foreign.layer);
        let foreign = Table::from_iter([(brief::SECTION.to_owned(), Value::Table(brief))]);
        let files = [
            (ConfigOrigin::Local, local_file.path.clone(), local),
            (ConfigOrigin::Project, project_file.path.clone(), project),
            (ConfigOrigin::DesignYaml, session.project.join(DESIGN_YAML), foreign),
            (ConfigOrigin::User, user_file.map(|file| file.path.clone()).unwrap_or_default(), user),
        ];
        Ok(Self { session, files, remarks })
    }

    /// Returns the value that holds; `None` if it is the default.
    pub(crate) fn find(&self, key: &CatalogKey) -> Option<Found> {
        let variable = key.variable();
        let environment = self.session.environment.only([variable.as_str()]).into_iter().next();
        if let Some((_, said)) = environment {
            let said = said.to_string_lossy();
            let value = (key.from_text)(&said).unwrap_or_else(|| Value::String(said.to_string()));
            return Some(Found { value, origin: ConfigOrigin::Environment, place: variable });
        }
        self.files.iter().find_map(|(origin, path, table)| {
            let value = table.get(key.section)?.get(key.name)?.clone();
            Some(Found { value, origin: *origin, place: path.display().to_string() })
        })
    }

    /// Returns why a project's file with this content may not set a key, if it may not.
    pub(crate) fn refusal(
        &self,
        origin: ConfigOrigin,
        mut table: Table,
        key: &CatalogKey,
    ) -> Option<&'static str> {
        let author = match origin {
            ConfigOrigin::Local => local_author(&self.session.project, &table),
            ConfigOrigin::Project => Author::Committer,
            ConfigOrigin::User
            | ConfigOrigin::DesignYaml
            | ConfigOrigin::Environment
            | ConfigOrigin::Default => return None,
        };
        let [_, _, _, (_, _, user)] = &self.files;
        let refused = sift(&mut table, Origin { author, project: &self.session.project, user });
        let is_meant = |refused: &Refused| {
            refused.key == key.full_name()
                || refused.key == key.section
                || refused.key.starts_with(&format!("{}.", key.full_name()))
        };
        refused.into_iter().find(is_meant).map(|refused| refused.reason)
    }
}
