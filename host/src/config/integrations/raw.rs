//! The integrations of the operator's file as they are written, before they are resolved.

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;

/// Settings for all integrations, and for each by name.
#[derive(Debug, Default)]
pub struct RawIntegrations {
    pub timeout_seconds: Option<u64>,
    pub cache_seconds: Option<u64>,
    pub each: BTreeMap<String, RawIntegration>,
}

/// One integration. `Debug` hides the address, which may contain a password.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of settings")]
pub struct RawIntegration {
    pub enabled: Option<bool>,
    /// A component of world `integration`, and the digest it must have.
    pub file: Option<String>,
    pub sha256: Option<String>,
    pub address: Option<String>,
    pub hosts: Vec<String>,
    pub ca_file: Option<String>,
    pub token_variable: Option<String>,
    pub token_header: Option<String>,
}

impl fmt::Debug for RawIntegration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RawIntegration(…)")
    }
}

impl<'de> Deserialize<'de> for RawIntegrations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Self::default())
    }
}

impl<'de> Visitor<'de> for RawIntegrations {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map of settings")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Self, A::Error> {
        while let Some(key) = entries.next_key::<String>()? {
            let is_duplicate = match key.as_str() {
                "timeout_seconds" => self.timeout_seconds.replace(entries.next_value()?).is_some(),
                "cache_seconds" => self.cache_seconds.replace(entries.next_value()?).is_some(),
                _ => match entries.next_value()? {
                    Entry::Settings(settings) => self.each.insert(key.clone(), settings).is_some(),
                    Entry::Other => {
                        return Err(A::Error::custom(format!(
                            "unknown field `{}`, expected one of `timeout_seconds`, `cache_seconds`, or the name of an integration with a map of its settings",
                            key.escape_debug()
                        )));
                    }
                },
            };
            if is_duplicate {
                return Err(A::Error::custom(format!("duplicate key `{}`", key.escape_debug())));
            }
        }
        Ok(self)
    }
}

/// The value of a name.
enum Entry {
    Settings(RawIntegration),
    /// Not a map.
    Other,
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = Entry;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map of settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Entry, A::Error> {
        let settings = serde::de::value::MapAccessDeserializer::new(entries);
        RawIntegration::deserialize(settings).map(Entry::Settings)
    }

    fn visit_unit<E>(self) -> Result<Entry, E> {
        Ok(Entry::Settings(RawIntegration::default()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Entry, E> {
        Ok(Entry::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Entry, E> {
        Ok(Entry::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Entry, E> {
        Ok(Entry::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Entry, E> {
        Ok(Entry::Other)
    }
}
