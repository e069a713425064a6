//! Values as they are written in a file, and as they are shown.

use toml::Value;

/// The prefixes of known providers' keys.
const SECRETS: [&str; 10] =
    ["sk-", "sk_", "ghp_", "gho_", "github_pat_", "xoxb-", "xoxp-", "AKIA", "AIza", "Bearer "];

/// A word of this many letters and digits counts as a key.
const LONG: usize = 32;

/// Writes a value as it appears in a file.
pub(super) fn literal(value: &Value) -> String {
    match value {
        // A JSON string is a TOML string, with exceptions that reading the file back refuses.
        Value::String(text) => serde_json::Value::from(text.as_str()).to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Datetime(time) => time.to_string(),
        Value::Array(values) => {
            format!("[{}]", values.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Value::Table(values) => {
            let member = |(name, value): (&String, &Value)| {
                format!("{} = {}", literal(&Value::String(name.clone())), literal(value))
            };
            format!("{{ {} }}", values.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns a value for programs, with its type.
pub(super) fn typed(value: &Value) -> serde_json::Value {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Boolean(truth) => (*truth).into(),
        Value::Datetime(time) => time.to_string().into(),
        Value::Array(values) => values.iter().map(typed).collect(),
        Value::Table(values) => {
            let members = values.iter().map(|(name, value)| (name.clone(), typed(value)));
            serde_json::Value::Object(members.collect())
        }
    }
}

/// Hides every text in a value that looks like a secret.
pub(super) fn without_secrets(value: &Value) -> Value {
    match value {
        Value::String(text) if is_secret(text) => Value::String("(hidden)".to_owned()),
        Value::Array(values) => Value::Array(values.iter().map(without_secrets).collect()),
        Value::Table(values) => {
            let member = |(name, value): (&String, &Value)| (name.clone(), without_secrets(value));
            Value::Table(values.iter().map(member).collect())
        }
        Value::String(_)
        | Value::Integer(_)
        | Value::Float(_)
        | Value::Boolean(_)
        | Value::Datetime(_) => value.clone(),
    }
}

/// A user may have pasted a key in place of a name, or a password into an address.
fn is_secret(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let is_key = text.len() >= LONG
        && text.chars().all(is_word)
        && text.contains(|c: char| c.is_ascii_digit())
        && text.contains(|c: char| c.is_ascii_lowercase());
    let has_password =
        text.split_once("://").is_some_and(|(_, rest)| rest.contains('@') && rest.contains(':'));
    is_key || has_password || SECRETS.iter().any(|start| text.contains(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_reads_back_as_its_value() {
        let table = "x = { 'a b' = [1, true, \"q\\\"\\n\"], c = 1.5 }";
        let value = table.parse::<toml::Table>().unwrap()["x"].clone();
        let again = format!("x = {}", literal(&value)).parse::<toml::Table>().unwrap();
        assert_eq!(again["x"], value);
    }

    #[test]
    fn what_looks_like_a_secret_is_hidden() {
        for text in [
            "sk-ant-api03-abc",
            "ghp_0123456789abcdef",
            "postgres://me:pass@host/db",
            "0123456789abcdef0123456789abcdef",
        ] {
            assert_eq!(without_secrets(&Value::from(text)), Value::from("(hidden)"), "{text}");
        }
        for text in ["OPENROUTER_API_KEY", "docs/design", "/home/me/.local/state/convoke/store.db"]
        {
            assert_eq!(without_secrets(&Value::from(text)), Value::from(text));
        }
    }
}
