//! JSON Schemas of the output of `--json`, generated from the report types.
//!
//! Only the documentation is built with this module; the shipped program has none of it.

mod list;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

pub use self::list::{StoreExportLine, reports};

/// The schema of one document.
#[derive(Debug, Clone)]
pub struct ReportSchema {
    /// The name of its file, without the ending.
    pub name: &'static str,
    /// The commands that print it, each with the arguments that it needs for that.
    pub printed_by: &'static [&'static str],
    /// How the commands print it.
    pub form: DocumentForm,
    /// The JSON Schema, of draft 2020-12.
    pub schema: Value,
}

/// How a document is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentForm {
    /// Once, as all of stdout.
    Whole,
    /// Several times, each on a line of its own.
    EachLine,
}

fn report<T: JsonSchema>(name: &'static str, printed_by: &'static [&'static str]) -> ReportSchema {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    sort(&mut schema);
    ReportSchema { name, printed_by, form: DocumentForm::Whole, schema }
}

fn line<T: JsonSchema>(name: &'static str, printed_by: &'static [&'static str]) -> ReportSchema {
    ReportSchema { form: DocumentForm::EachLine, ..report::<T>(name, printed_by) }
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

    /// Describes the document in one line, from the type's own documentation.
    pub fn summary(&self) -> String {
        let text = self.of_type(&self.schema).unwrap_or_default().replace('\n', " ");
        match self.form {
            DocumentForm::Whole => text,
            DocumentForm::EachLine => format!("JSON lines. Each line: {text}"),
        }
    }

    fn of_type(&self, schema: &Value) -> Option<String> {
        if let Some(text) = schema["description"].as_str() {
            return Some(text.to_owned());
        }
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            return self.of_type(&self.schema["$defs"][name]);
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            return Some(format!("{} `null` if it is missing.", self.of_type(&choices[0])?));
        }
        let items = schema.get("items")?;
        Some(
            self.of_type(items)
                .map_or("A list.".to_owned(), |item| format!("A list. Each entry: {item}")),
        )
    }
}
