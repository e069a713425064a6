//! Checks a value against a schema.

use serde_json::Value;

use super::{AnswerSchema, Fields, JsonType, Node, Rules};

/// How deep a value is checked; a schema that refers to itself ends there.
const DEEPEST: usize = 128;

/// How many faults are named: an agent that hears of ten knows what is wrong.
const MOST_FAULTS: usize = 10;

impl AnswerSchema {
    /// Returns why a value does not fit; nothing if it does.
    pub fn faults(&self, value: &Value) -> Vec<String> {
        let mut check = Check { schema: self, faults: Vec::new(), depth: 0 };
        check.node(&self.root, value, "$");
        check.faults.truncate(MOST_FAULTS);
        check.faults
    }
}

struct Check<'s> {
    schema: &'s AnswerSchema,
    faults: Vec<String>,
    depth: usize,
}

impl<'s> Check<'s> {
    fn fits(&self, node: &'s Node, value: &Value, place: &str) -> bool {
        let mut check = Check { schema: self.schema, faults: Vec::new(), depth: self.depth };
        check.node(node, value, place);
        check.faults.is_empty()
    }

    fn fault(&mut self, place: &str, why: impl AsRef<str>) {
        self.faults.push(format!("`{place}` {}", why.as_ref()));
    }

    fn node(&mut self, node: &'s Node, value: &Value, place: &str) {
        // Faults that no one reads need no search.
        if self.faults.len() >= MOST_FAULTS {
            return;
        }
        match node {
            Node::Constant(true) => {}
            Node::Constant(false) => self.fault(place, "may not be there"),
            Node::Rules(_) if self.depth >= DEEPEST => self.fault(place, "is nested too deeply"),
            Node::Rules(rules) => {
                self.depth += 1;
                self.rules(rules, value, place);
                self.depth -= 1;
            }
        }
    }

    fn rules(&mut self, rules: &'s Rules, value: &Value, place: &str) {
        if let Some(types) = &rules.types
            && !types.iter().any(|kind| is_of(*kind, value))
        {
            let names: Vec<_> = types.iter().map(|kind| kind.name()).collect();
            return self.fault(place, format!("is not of type {}", names.join(" or ")));
        }
        if let Some(constant) = &rules.constant
            && !is_same(constant, value)
        {
            self.fault(place, format!("is not {constant}"));
        }
        if let Some(values) = &rules.one_of_values
            && !values.iter().any(|one| is_same(one, value))
        {
            let values: Vec<_> = values.iter().map(Value::to_string).collect();
            self.fault(place, format!("is not one of {}", values.join(", ")));
        }
        match value {
            Value::Object(fields) => self.object(rules, fields, place),
            Value::Array(items) => self.array(rules, items, place),
            Value::String(text) => self.text(rules, text, place),
            Value::Number(number) => self.number(rules, number.as_f64(), place),
            Value::Null | Value::Bool(_) => {}
        }
        self.combined(rules, value, place);
    }

    fn object(&mut self, rules: &'s Rules, fields: &Fields, place: &str) {
        for name in &rules.required {
            if !fields.contains_key(name) {
                self.fault(place, format!("lacks `{name}`"));
            }
        }
        if let Some(fault) = rules.property_count.fault(fields.len(), "fields") {
            self.fault(place, fault);
        }
        for (name, value) in fields {
            let inside = format!("{place}.{name}");
            match rules.properties.iter().find(|(known, _)| known == name) {
                Some((_, node)) => self.node(node, value, &inside),
                None => {
                    if let Some(node) = &rules.additional_properties {
                        self.node(node, value, &inside);
                    }
                }
            }
        }
    }

    fn array(&mut self, rules: &'s Rules, items: &[Value], place: &str) {
        if let Some(fault) = rules.item_count.fault(items.len(), "items") {
            self.fault(place, fault);
        }
        for (at, value) in items.iter().enumerate() {
            let inside = format!("{place}[{at}]");
            if let Some(node) = rules.prefix_items.get(at).or(rules.items.as_ref()) {
                self.node(node, value, &inside);
            }
            let is_repeated = rules.has_unique_items
                && items.iter().take(at).any(|earlier| is_same(earlier, value));
            if is_repeated {
                self.fault(&inside, "repeats an earlier item");
            }
        }
    }

    fn text(&mut self, rules: &'s Rules, text: &str, place: &str) {
        if let Some(fault) = rules.length.fault(text.chars().count(), "characters") {
            self.fault(place, fault);
        }
        if let Some(pattern) = rules.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
            self.fault(place, format!("does not match `{pattern}`"));
        }
    }

    fn number(&mut self, rules: &'s Rules, number: Option<f64>, place: &str) {
        let Some(number) = number else { return };
        for (bound, is_kept, words) in [
            (rules.minimum, (|number, bound| number >= bound) as fn(f64, f64) -> bool, "at least"),
            (rules.maximum, |number, bound| number <= bound, "at most"),
            (rules.above, |number, bound| number > bound, "more than"),
            (rules.below, |number, bound| number < bound, "less than"),
        ] {
            if let Some(bound) = bound.filter(|bound| !is_kept(number, *bound)) {
                self.fault(place, format!("is {number}, and must be {words} {bound}"));
            }
        }
    }

    fn combined(&mut self, rules: &'s Rules, value: &Value, place: &str) {
        for node in &rules.all_of {
            self.node(node, value, place);
        }
        if let Some(nodes) = &rules.any_of
            && !nodes.iter().any(|node| self.fits(node, value, place))
        {
            self.fault(place, "fits no part of `anyOf`");
        }
        if let Some(nodes) = &rules.one_of {
            let count = nodes.iter().filter(|node| self.fits(node, value, place)).count();
            if count != 1 {
                self.fault(place, format!("fits {count} parts of `oneOf`, and must fit one"));
            }
        }
        if let Some(node) = &rules.not
            && self.fits(node, value, place)
        {
            self.fault(place, "fits what `not` excludes");
        }
        if let Some(name) = &rules.reference {
            let schema = self.schema;
            match schema.definitions.iter().find(|(defined, _)| defined == name) {
                Some((_, node)) => self.node(node, value, place),
                None => self.fault(place, "refers to a definition that is not there"),
            }
        }
    }
}

fn is_of(kind: JsonType, value: &Value) -> bool {
    match kind {
        JsonType::Null => value.is_null(),
        JsonType::Boolean => value.is_boolean(),
        JsonType::Object => value.is_object(),
        JsonType::Array => value.is_array(),
        JsonType::Number => value.is_number(),
        JsonType::String => value.is_string(),
        JsonType::Integer => {
            let is_whole = |number: f64| number.fract() == 0.0;
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(is_whole)
        }
    }
}

/// Compares as JSON Schema does: `1` and `1.0` are the same number.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_in_other =
                |(name, one)| other.get(name).is_some_and(|other| is_same(one, other));
            one.len() == other.len() && one.iter().all(is_in_other)
        }
        (one, other) => one == other,
    }
}
