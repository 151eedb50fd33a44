//! Types and functions that read YAML more strictly, or more leniently, than serde does.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// A map without duplicate keys. serde would silently keep the last value.
#[derive(Debug)]
pub struct UniqueMap<T>(pub BTreeMap<String, T>);

impl<T> Default for UniqueMap<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for UniqueMap<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Self::default())
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for UniqueMap<T> {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Self, A::Error> {
        while let Some(key) = entries.next_key::<String>()? {
            if self.0.contains_key(&key) {
                return Err(A::Error::custom(format!("duplicate key `{}`", key.escape_debug())));
            }
            self.0.insert(key, entries.next_value()?);
        }
        Ok(self)
    }
}

/// A string, or a map with more settings.
#[derive(Debug)]
pub enum TextOr<T> {
    Text(String),
    Map(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for TextOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrVisitor(PhantomData))
    }
}

struct TextOrVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for TextOrVisitor<T> {
    type Value = TextOr<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text or a map")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(TextOr::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(entries)).map(TextOr::Map)
    }
}

/// Reads a string and checks it while its line is still known. `None` for a key without a value.
pub fn checked_text<'de, D: Deserializer<'de>>(
    deserializer: D,
    check: impl Fn(&str) -> Result<String, String>,
) -> Result<Option<String>, D::Error> {
    deserializer.deserialize_any(TextVisitor(check))
}

struct TextVisitor<F>(F);

impl<F: Fn(&str) -> Result<String, String>> Visitor<'_> for TextVisitor<F> {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        (self.0)(text).map(Some).map_err(E::custom)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}
