//! JSON as it was written: every key of an object, also one that appears twice.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A JSON value whose objects keep all their pairs.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// Returns the value of a key, in any letter case.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let found = self.pairs().iter().find(|(name, _)| folded(name) == key);
        found.map(|(_, value)| value)
    }

    /// Returns the pairs of an object; any other value has none.
    pub(super) fn pairs(&self) -> &[(String, Self)] {
        match self {
            Self::Object(pairs) => pairs,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::List(_) => &[],
        }
    }

    /// Returns the value itself and everything inside it, outermost first.
    pub(super) fn all(&self) -> Vec<&Self> {
        let mut found = vec![self];
        let mut next = 0;
        while let Some(value) = found.get(next).copied() {
            match value {
                Self::List(values) => found.extend(values),
                Self::Object(pairs) => found.extend(pairs.iter().map(|(_, value)| value)),
                Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => {}
            }
            next += 1;
        }
        found
    }

    /// Returns a word or a number as text, trimmed; `None` for any other value.
    pub(super) fn words(&self) -> Option<String> {
        let text = match self {
            Self::Text(text) => text.trim().to_owned(),
            Self::Number(number) => number.clone(),
            Self::Null | Self::Bool(_) | Self::List(_) | Self::Object(_) => return None,
        };
        Some(text).filter(|text| !text.is_empty())
    }

    fn json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(number) => number.parse().map_or(Value::Null, Value::Number),
            Self::Text(text) => Value::String(text.clone()),
            Self::List(values) => values.iter().map(Self::json).collect(),
            Self::Object(pairs) => {
                pairs.iter().map(|(key, value)| (key.clone(), value.json())).collect()
            }
        }
    }

    /// Returns the key that an object in it has twice.
    pub(super) fn repeated_key(&self) -> Option<&str> {
        self.all().into_iter().find_map(|value| {
            let mut keys: Vec<_> =
                value.pairs().iter().map(|(key, _)| (folded(key), key.as_str())).collect();
            keys.sort();
            keys.windows(2).find(|both| both[0].0 == both[1].0).map(|both| both[1].1)
        })
    }
}

/// Returns what a key is compared by: its letters and digits. Case, separators and characters that
/// no reader sees make no other key.
pub(super) fn folded(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl fmt::Display for Tree {
    /// Writes the value as JSON; a plain text is written without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Text(text) = self {
            return f.write_str(text.trim());
        }
        f.write_str(&self.json().to_string())
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Whole)
    }
}

struct Whole;

impl<'de> Visitor<'de> for Whole {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Number(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = values.next_element()? {
            list.push(value);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = entries.next_entry()? {
            pairs.push(pair);
        }
        Ok(Tree::Object(pairs))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // Every digit counts: the report shows what the agent wrote.
        #[test]
        fn a_number_is_read_as_it_was_written(number in -1e9..1e9_f64) {
            let written = format!("{number:?}");
            let read: Tree = serde_json::from_str(&written).unwrap();
            prop_assert_eq!(read, Tree::Number(number.to_string()));
        }
    }
}
