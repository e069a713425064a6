//! Values that are parsed into their expected type, and ignored if they have another.
//!
//! A raw value allows that too, but reading it means parsing it again; for long, deeply nested
//! lines, that would be most of the work.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The parsed value, if it had the expected type.
pub(crate) struct Lenient<T>(pub(crate) Option<T>);

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A type that can be parsed leniently. Kinds of values that it does not handle are ignored.
pub(crate) trait Readable<'de>: Sized {
    /// Takes in a string.
    fn from_text(_text: Cow<'de, str>) -> Option<Self> {
        None
    }

    /// Takes in a list.
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    /// Takes in an object.
    fn from_object<A: MapAccess<'de>>(mut object: A) -> Result<Option<Self>, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

impl<'de: 'a, 'a> Readable<'de> for Cow<'a, str> {
    fn from_text(text: Cow<'de, str>) -> Option<Self> {
        Some(text)
    }
}

impl<'de, T: Readable<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything(PhantomData)).map(Self)
    }
}

struct Anything<T>(PhantomData<T>);

impl<'de, T: Readable<'de>> Visitor<'de> for Anything<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(T::from_text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(T::from_text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        T::from_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        T::from_object(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_type_is_ignored_and_the_rest_is_parsed() {
        let odd = r#"["one", 2, -2, 2.5, true, null, ["x"], {"y": "z"}, "a\nb"]"#;
        let read: Vec<Lenient<Cow<'_, str>>> = serde_json::from_str(odd).unwrap();
        let texts: Vec<_> = read.iter().filter_map(|element| element.0.as_deref()).collect();
        assert_eq!((read.len(), texts), (9, vec!["one", "a\nb"]));
        assert!(matches!(read[0].0, Some(Cow::Borrowed(_))), "nothing is copied without need");
    }
}
