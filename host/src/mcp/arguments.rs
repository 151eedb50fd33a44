//! Arguments of a tool call, taken out one by one so that what is left over is unknown.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The arguments are wrong; the message names the argument.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct WrongArguments(pub String);

pub struct Arguments {
    left: Map<String, Value>,
}

impl Arguments {
    pub fn new(arguments: Option<Map<String, Value>>) -> Self {
        Self { left: arguments.unwrap_or_default() }
    }

    pub fn required_text(&mut self, name: &str) -> Result<String, WrongArguments> {
        self.text(name)?.ok_or_else(|| WrongArguments(format!("{name} is required")))
    }

    pub fn text(&mut self, name: &str) -> Result<Option<String>, WrongArguments> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(name, "a string", &other)),
        }
    }

    pub fn boolean(&mut self, name: &str) -> Result<Option<bool>, WrongArguments> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(value)),
            Some(other) => Err(wrong_type(name, "true or false", &other)),
        }
    }

    pub fn integer(&mut self, name: &str, range: std::ops::RangeInclusive<u32>) -> Result<Option<u32>, WrongArguments> {
        let Some(value) = self.take(name) else { return Ok(None) };
        // `10.0` is an integer to JSON Schema.
        let Some(given) = value.as_f64() else { return Err(wrong_type(name, "a whole number", &value)) };
        if given.fract() != 0.0 {
            return Err(WrongArguments(format!("{name} is {value}, and must be a whole number")));
        }
        let number = range.clone().find(|number| (f64::from(*number) - given).abs() < f64::EPSILON);
        let (least, most) = (range.start(), range.end());
        number.map(Some).ok_or_else(|| WrongArguments(format!("{name} is {value}, and must be from {least} to {most}")))
    }

    /// An object whose values are strings.
    pub fn required_texts(&mut self, name: &str) -> Result<BTreeMap<String, String>, WrongArguments> {
        let given = match self.take(name) {
            None => return Err(WrongArguments(format!("{name} is required"))),
            Some(Value::Object(given)) => given,
            Some(other) => return Err(wrong_type(name, "an object of strings", &other)),
        };
        let text = |(key, value): (String, Value)| match value {
            Value::String(text) => Ok((key, text)),
            other => Err(wrong_type(&format!("{name}.{}", key.escape_debug()), "a string", &other)),
        };
        given.into_iter().map(text).collect()
    }

    /// Nothing may be left.
    pub fn finish(self) -> Result<(), WrongArguments> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => Err(WrongArguments(format!("{} is not an argument of this tool", name.escape_debug()))),
        }
    }

    /// A null is as good as nothing: some clients send it for what the model left out.
    fn take(&mut self, name: &str) -> Option<Value> {
        self.left.remove(name).filter(|value| !value.is_null())
    }
}

fn wrong_type(name: &str, wanted: &str, got: &Value) -> WrongArguments {
    let got = match got {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    WrongArguments(format!("{name} must be {wanted}, not {got}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(value: &Value) -> Arguments {
        Arguments::new(value.as_object().cloned())
    }

    #[test]
    fn every_wrong_argument_is_named() {
        let message = |result: Result<(), WrongArguments>| result.unwrap_err().0;
        assert_eq!(message(of(&json!({})).required_text("name").map(drop)), "name is required");
        assert_eq!(message(of(&json!({"name": null})).required_text("name").map(drop)), "name is required");
        assert_eq!(
            message(of(&json!({"name": 3})).required_text("name").map(drop)),
            "name must be a string, not a number"
        );
        assert_eq!(
            message(of(&json!({"flag": "yes"})).boolean("flag").map(drop)),
            "flag must be true or false, not a string"
        );
        assert_eq!(
            message(of(&json!({"limit": 1.5})).integer("limit", 1..=25).map(drop)),
            "limit is 1.5, and must be a whole number"
        );
        assert_eq!(
            message(of(&json!({"limit": 26})).integer("limit", 1..=25).map(drop)),
            "limit is 26, and must be from 1 to 25"
        );
        assert_eq!(
            message(of(&json!({"limit": -1})).integer("limit", 1..=25).map(drop)),
            "limit is -1, and must be from 1 to 25"
        );
        assert_eq!(message(of(&json!({})).required_texts("args").map(drop)), "args is required");
        assert_eq!(
            message(of(&json!({"args": ["a"]})).required_texts("args").map(drop)),
            "args must be an object of strings, not an array"
        );
        assert_eq!(
            message(of(&json!({"args": {"count": 3}})).required_texts("args").map(drop)),
            "args.count must be a string, not a number"
        );
        assert_eq!(message(of(&json!({"other": 1})).finish()), "other is not an argument of this tool");
        assert_eq!(of(&json!({"limit": 10.0})).integer("limit", 1..=25), Ok(Some(10)));
    }
}
