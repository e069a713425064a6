//! What an agent lets Convoke choose for a session: its mode, its model, its effort.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::json::{owned, parse};

/// The most names of a list that a person is shown.
const MOST_SHOWN: usize = 12;

/// What can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choosable {
    Mode,
    Model,
    Effort,
}

impl Choosable {
    /// The protocol's word for it.
    const fn category(self) -> &'static str {
        match self {
            Self::Mode => "mode",
            Self::Model => "model",
            Self::Effort => "thought_level",
        }
    }

    /// The word that a person reads.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Mode => "mode",
            Self::Model => "model",
            Self::Effort => "effort",
        }
    }
}

/// A request that makes a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) what: Choosable,
    pub(super) method: &'static str,
    /// The parameters beside the session.
    pub(super) params: Value,
    /// The chosen value, in the agent's words.
    pub(super) value: String,
}

/// What one agent offers.
#[derive(Debug, Default)]
pub(super) struct Offers {
    options: Vec<ConfigOption>,
    modes: Values,
    models: Values,
}

#[derive(Debug, Default)]
struct ConfigOption {
    id: String,
    category: Option<String>,
    values: Values,
}

/// Values in the agent's words, each with its name, and which is current.
#[derive(Debug, Default)]
struct Values {
    current: Option<String>,
    known: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct RawOffers<'a> {
    #[serde(borrow, rename = "configOptions")]
    options: Option<&'a RawValue>,
    #[serde(borrow)]
    modes: Option<&'a RawValue>,
    #[serde(borrow)]
    models: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawOption<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    category: Option<&'a RawValue>,
    #[serde(borrow, rename = "currentValue")]
    current: Option<&'a RawValue>,
    #[serde(borrow)]
    options: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawModes<'a> {
    #[serde(borrow, rename = "currentModeId", alias = "currentModelId")]
    current: Option<&'a RawValue>,
    #[serde(borrow, rename = "availableModes", alias = "availableModels")]
    known: Option<&'a RawValue>,
}

/// A value, or a group of values.
#[derive(Deserialize)]
struct RawEntry<'a> {
    #[serde(borrow)]
    value: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow, rename = "modelId")]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    options: Option<&'a RawValue>,
}

impl Offers {
    /// Reads what an answer or an update offers. What cannot be read is not offered.
    pub(super) fn read(value: Option<&RawValue>) -> Self {
        let Some(raw) = parse::<RawOffers<'_>>(value) else { return Self::default() };
        let options = list(raw.options).into_iter().filter_map(ConfigOption::read).collect();
        Self { options, modes: Values::of_modes(raw.modes), models: Values::of_modes(raw.models) }
    }

    /// Returns the request that chooses a value; else the names of those that are offered.
    pub(super) fn choose(&self, what: Choosable, wanted: &str) -> Result<Choice, String> {
        let option = self.option(what);
        if let Some((option, value)) =
            option.and_then(|of| Some((of, of.values.find(what, wanted)?)))
        {
            let params = json!({ "configId": option.id, "value": value });
            return Ok(Choice { what, method: "session/set_config_option", params, value });
        }
        let (values, method, key) = match what {
            Choosable::Mode => (&self.modes, "session/set_mode", "modeId"),
            Choosable::Model => (&self.models, "session/set_model", "modelId"),
            Choosable::Effort => return Err(self.names(what)),
        };
        let value = values.find(what, wanted).ok_or_else(|| self.names(what))?;
        Ok(Choice { what, method, params: json!({ key: value }), value })
    }

    /// Returns the current value, in the agent's words.
    pub(super) fn current(&self, what: Choosable) -> Option<&str> {
        let option = self.option(what).and_then(|option| option.values.current.as_deref());
        option.or(match what {
            Choosable::Mode => self.modes.current.as_deref(),
            Choosable::Model => self.models.current.as_deref(),
            Choosable::Effort => None,
        })
    }

    fn option(&self, what: Choosable) -> Option<&ConfigOption> {
        let category = what.category();
        let has_category = |option: &&ConfigOption| option.category.as_deref() == Some(category);
        let has_id = |option: &&ConfigOption| option.category.is_none() && option.id == category;
        self.options.iter().find(has_category).or_else(|| self.options.iter().find(has_id))
    }

    fn names(&self, what: Choosable) -> String {
        let more = match what {
            Choosable::Mode => Some(&self.modes),
            Choosable::Model => Some(&self.models),
            Choosable::Effort => None,
        };
        let all = self.option(what).map(|option| &option.values).into_iter().chain(more);
        let mut names: Vec<&str> = Vec::new();
        for (value, _) in all.flat_map(|values| &values.known) {
            if !names.contains(&value.as_str()) {
                names.push(value);
            }
        }
        let more = if names.len() > MOST_SHOWN { ", …" } else { "" };
        names.truncate(MOST_SHOWN);
        names.join(", ") + more
    }
}

impl ConfigOption {
    fn read(raw: &RawValue) -> Option<Self> {
        let option: RawOption<'_> = parse(Some(raw))?;
        let mut values = Values { current: owned(option.current), known: Vec::new() };
        for entry in list(option.options) {
            values.add(entry);
        }
        Some(Self { id: option.id.into_owned(), category: owned(option.category), values })
    }
}

impl Values {
    fn of_modes(value: Option<&RawValue>) -> Self {
        let Some(raw) = parse::<RawModes<'_>>(value) else { return Self::default() };
        let mut values = Self { current: owned(raw.current), known: Vec::new() };
        for entry in list(raw.known) {
            values.add(entry);
        }
        values
    }

    fn add(&mut self, raw: &RawValue) {
        let Some(entry) = parse::<RawEntry<'_>>(Some(raw)) else { return };
        self.known.extend(entry.named());
        // A group holds values, never groups.
        let inner = list(entry.options).into_iter();
        self.known.extend(inner.filter_map(|raw| parse::<RawEntry<'_>>(Some(raw))?.named()));
    }

    /// Finds a value by itself; a model also by its name, or without the provider in front of it. A
    /// mode that is only called safe need not be safe.
    fn find(&self, what: Choosable, wanted: &str) -> Option<String> {
        let is_exact = |(value, _): &&(String, String)| value == wanted;
        let is_named = |(value, name): &&(String, String)| {
            let last = value.rsplit('/').next().unwrap_or(value);
            what != Choosable::Mode && (name.eq_ignore_ascii_case(wanted) || last == wanted)
        };
        let exact = self.known.iter().find(is_exact);
        exact.or_else(|| self.known.iter().find(is_named)).map(|(value, _)| value.clone())
    }
}

impl RawEntry<'_> {
    /// Returns the value, and its name.
    fn named(&self) -> Option<(String, String)> {
        let value = owned(self.value).or_else(|| owned(self.id)).or_else(|| owned(self.model))?;
        let name = owned(self.name).unwrap_or_else(|| value.clone());
        Some((value, name))
    }
}

fn list(value: Option<&RawValue>) -> Vec<&RawValue> {
    parse(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(text: &str) -> Offers {
        Offers::read(Some(serde_json::from_str(text).unwrap()))
    }

    const BOTH: &str = r#"{"modes":{"currentModeId":"auto","availableModes":[{"id":"auto","name":"Auto"},{"id":"plan"}]},
        "configOptions":[{"id":"m","category":"mode","type":"select","currentValue":"auto","options":[{"value":"read-only","name":"Read Only"}]},
        {"id":"model","category":"model","currentValue":"x/big","options":[{"group":"x","name":"X","options":[{"value":"x/big","name":"Big"},{"value":"x/small"}]}]},
        7, {"id":5}]}"#;

    #[test]
    fn a_choice_is_made_in_the_way_that_the_agent_offers() {
        let all = offers(BOTH);
        let chosen = |what, wanted| all.choose(what, wanted).unwrap();
        let option = chosen(Choosable::Mode, "read-only");
        assert_eq!(option.method, "session/set_config_option");
        assert_eq!(option.params, json!({ "configId": "m", "value": "read-only" }));
        let mode = chosen(Choosable::Mode, "plan");
        assert_eq!((mode.method, mode.params), ("session/set_mode", json!({ "modeId": "plan" })));
        for (word, value) in [("x/small", "x/small"), ("big", "x/big"), ("Big", "x/big")] {
            assert_eq!(chosen(Choosable::Model, word).value, value);
        }
        assert_eq!(all.choose(Choosable::Model, "opus").unwrap_err(), "x/big, x/small");
        assert_eq!(all.choose(Choosable::Mode, "safe").unwrap_err(), "read-only, auto, plan");
        assert_eq!(all.current(Choosable::Model), Some("x/big"));
        assert!(all.choose(Choosable::Mode, "Read Only").is_err(), "a name is not the mode");
    }

    #[test]
    fn what_cannot_be_read_is_not_offered() {
        for text in [
            "null",
            "7",
            "[]",
            r#"{"modes":7,"configOptions":{}}"#,
            r#"{"modes":{"availableModes":[1,{"id":2}]}}"#,
        ] {
            assert!(offers(text).choose(Choosable::Mode, "plan").is_err(), "{text}");
        }
    }
}
