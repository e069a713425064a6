//! Reading forms and questions: names and values, each bounded.

use std::collections::BTreeMap;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use convoke_service::failure::{ErrorClass, Failure};

use crate::answer::refusal;

/// The most fields of a form.
const MOST_FIELDS: usize = 64;

#[derive(Debug, thiserror::Error)]
#[error("the field `{0}` is missing or not what the form sends")]
struct BadField(&'static str);

/// The fields of a form, or of the question in an address. Of a repeated field, the first counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields {
    values: BTreeMap<String, String>,
}

impl Fields {
    /// Reads `name=value&name=value`.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let pairs: Vec<(String, String)> = serde_urlencoded::from_bytes(text).ok()?;
        if pairs.len() > MOST_FIELDS {
            return None;
        }
        let mut values = BTreeMap::new();
        for (name, value) in pairs {
            values.entry(name).or_insert(value);
        }
        Some(Self { values })
    }

    /// Returns the fields with long texts of a person: name and text.
    pub(crate) fn long_texts(&self, least: usize) -> impl Iterator<Item = (&str, &str)> {
        let texts = self.values.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        texts.filter(move |(name, text)| *name != "csrf" && text.len() >= least)
    }

    /// Returns a field that was filled in.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// Returns a text of several lines that was filled in. Browsers send two characters for an end of
    /// line, and count one.
    pub(crate) fn lines(&self, name: &str) -> Option<String> {
        self.get(name).map(|text| text.replace("\r\n", "\n"))
    }

    /// Returns a field, also an empty one.
    pub(crate) fn text(&self, name: &'static str) -> Result<&str, Failure> {
        let value = self.values.get(name).map(String::as_str);
        value.ok_or_else(|| bad_field(name))
    }

    /// Returns a field that must be readable as something.
    pub(crate) fn parsed<T>(
        &self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Failure> {
        self.get(name).and_then(|value| parse(value.trim())).ok_or_else(|| bad_field(name))
    }

    /// Returns a field that may be empty, but must otherwise be readable as something.
    pub(crate) fn maybe<T>(
        &self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => parse(value.trim()).map(Some).ok_or_else(|| bad_field(name)),
        }
    }
}

pub(crate) fn bad_field(name: &'static str) -> Failure {
    Failure::new(ErrorClass::Usage, BadField(name))
}

/// The question of an address: what follows `?`.
pub(crate) struct Asked(pub(crate) Fields);

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Response> {
        let question = parts.uri.query().unwrap_or_default();
        let fields = Fields::parse(question.as_bytes());
        let refused = || refusal(StatusCode::BAD_REQUEST, "cannot read this address\n");
        fields.map(Self).ok_or_else(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded_and_bounded() {
        let fields = Fields::parse(b"a=1&b=x+%3Cy%3E&c=&a=2").unwrap();
        assert_eq!(fields.get("a"), Some("1"));
        assert_eq!(fields.get("b"), Some("x <y>"));
        assert_eq!(fields.get("c"), None);
        assert_eq!(fields.text("c").unwrap(), "");
        assert!(fields.text("d").is_err());
        assert!(fields.parsed("b", |text| text.parse::<u8>().ok()).is_err());
        let many = (0..=MOST_FIELDS).map(|count| format!("f{count}=1")).collect::<Vec<_>>();
        assert!(Fields::parse(many.join("&").as_bytes()).is_none());
    }
}
