//! What an item says for each name of a template.

use convoke_domain::fan::FanSource;
use serde_json::{Map, Value};

/// The name of the whole item.
const WHOLE: &str = "item";

/// An item whose fields a template can name.
#[derive(Debug, Clone)]
pub enum ItemFields {
    /// A line of text.
    Line(String),
    /// A line that is a JSON value.
    Json {
        /// All of it, as the file has it.
        line: String,
        /// Its fields; none if it is no object.
        fields: Map<String, Value>,
    },
    /// A file of the project, which the agent reads.
    File {
        /// The path, relative to the project.
        path: String,
        /// The content.
        text: String,
    },
}

impl ItemFields {
    /// Reads a line that is a JSON value.
    pub fn of_json_line(line: &str) -> Result<Self, serde_json::Error> {
        let fields = match serde_json::from_str(line)? {
            Value::Object(fields) => fields,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        Ok(Self::Json { line: line.to_owned(), fields })
    }

    /// Returns what the item says for a name; nothing if it has no such field. A string is its text,
    /// and any other value is JSON.
    pub fn value(&self, name: &str) -> Option<String> {
        match self {
            Self::Line(line) => (name == WHOLE).then(|| line.clone()),
            Self::Json { line, fields } => match fields.get(name) {
                Some(Value::String(text)) => Some(text.clone()),
                Some(value) => Some(value.to_string()),
                None => (name == WHOLE).then(|| line.clone()),
            },
            Self::File { path, text } => match name {
                WHOLE | "path" => Some(path.clone()),
                "text" => Some(text.clone()),
                _ => None,
            },
        }
    }
}

/// Returns the names that every item of a source has; JSON lines have fields besides.
pub const fn known_names(source: FanSource) -> &'static [&'static str] {
    match source {
        FanSource::Lines | FanSource::JsonLines => &[WHOLE],
        FanSource::Files => &[WHOLE, "path", "text"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // F-3
    #[test]
    fn an_item_says_what_its_source_has() {
        let line = ItemFields::Line("a b".to_owned());
        assert_eq!((line.value("item").as_deref(), line.value("text")), (Some("a b"), None));
        let json = ItemFields::of_json_line(r#"{"name":"Ä\n","n":[1, 2.50],"none":null}"#).unwrap();
        assert_eq!(json.value("name").as_deref(), Some("Ä\n"));
        assert_eq!(json.value("n").as_deref(), Some("[1,2.5]"));
        assert_eq!(json.value("none").as_deref(), Some("null"));
        assert_eq!(json.value("nothing"), None);
        assert!(json.value("item").unwrap().starts_with("{\"name\""));
        let own = ItemFields::of_json_line(r#"{"item":"mine"}"#).unwrap();
        assert_eq!(own.value("item").as_deref(), Some("mine"), "its own field comes first");
        let number = ItemFields::of_json_line("17").unwrap();
        assert_eq!(number.value("item").as_deref(), Some("17"));
        assert!(ItemFields::of_json_line("{").is_err());
        let file = ItemFields::File { path: "a.rs".to_owned(), text: "x".to_owned() };
        let found = ["item", "path", "text", "a"].map(|name| file.value(name));
        let [item, path, text, other] = found.each_ref().map(Option::as_deref);
        assert_eq!((item, path, text, other), (Some("a.rs"), Some("a.rs"), Some("x"), None));
    }
}
