//! JSON Schemas of what commands print with `--json`, made from the report types themselves.
//!
//! Only the documentation is built with this module; the shipped program has none of it.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::config::{ConfigEntry, ConfigFile, SetConfigReport};
use crate::init::InitReport;
use crate::lane::{LaneEntryReport, LaneReport};
use crate::status::{ClientHooks, StatusReport};
use crate::upgrade::UpgradeReport;

/// The schema of one document.
#[derive(Debug, Clone)]
pub struct ReportSchema {
    /// What its file is called, without the ending.
    pub name: &'static str,
    /// The commands that print it, as Markdown.
    pub printed_by: &'static str,
    /// The schema.
    pub schema: Value,
}

/// Returns the schema of every document. A report is one line here.
pub fn reports() -> Vec<ReportSchema> {
    vec![
        report::<LaneReport>("lane-report", "`lane run`"),
        report::<LaneEntryReport>("lane-entry", "`lane show`, `lane stop`"),
        report::<Vec<LaneEntryReport>>("lane-list", "`lane list`"),
        report::<InitReport>("init", "`init`"),
        report::<StatusReport>("status", "`status`"),
        report::<Vec<ClientHooks>>("hooks-overview", "`hooks status` without a client"),
        report::<Vec<ConfigEntry>>("config-list", "`config list`"),
        report::<ConfigEntry>("config-entry", "`config get`"),
        report::<SetConfigReport>("config-set", "`config set`"),
        report::<Vec<ConfigFile>>("config-files", "`config path`"),
        report::<UpgradeReport>("upgrade", "`upgrade --check`"),
    ]
}

fn report<T: JsonSchema>(name: &'static str, printed_by: &'static str) -> ReportSchema {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    sort(&mut schema);
    ReportSchema { name, printed_by, schema }
}

/// Puts what a reader wants to know first before the rest, and definitions last.
fn sort(schema: &mut Value) {
    const FIRST: [&str; 4] = ["$schema", "title", "description", "type"];
    match schema {
        Value::Object(fields) => {
            let mut sorted: Vec<_> = std::mem::take(fields).into_iter().collect();
            let rank = |name: &str| FIRST.iter().position(|first| *first == name);
            sorted.sort_by_key(|(name, _)| (rank(name).unwrap_or(FIRST.len()), name == "$defs"));
            for (_, value) in &mut sorted {
                sort(value);
            }
            *fields = sorted.into_iter().collect();
        }
        Value::Array(items) => items.iter_mut().for_each(sort),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl ReportSchema {
    /// Returns the text of its file.
    pub fn text(&self) -> String {
        format!("{:#}\n", self.schema)
    }

    /// Says in one line what the document is, as the type's own documentation does.
    pub fn summary(&self) -> String {
        let described = |schema: &Value| schema["description"].as_str().map(str::to_owned);
        let of_items = || {
            let name = self.schema["items"]["$ref"].as_str()?.rsplit('/').next()?;
            Some(format!("A list. Each entry: {}", described(&self.schema["$defs"][name])?))
        };
        let text = described(&self.schema).or_else(of_items).unwrap_or_default();
        text.replace('\n', " ")
    }
}
