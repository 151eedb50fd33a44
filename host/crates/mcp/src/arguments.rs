//! The arguments of a tool call: their JSON Schema, and reading them into the tool's struct.
//!
//! Every mistake is reported with the name of the argument, which serde cannot do. So values are checked against the schema
//! first; nothing here knows a particular tool.

use crate::answer::{Result, invalid};
use rmcp::ErrorData;
use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Returns the JSON Schema of a tool's arguments. The docs of its fields become descriptions.
pub fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(simplify).transform(&mut schema);
    schema.remove("title");
    schema.remove("description");
    let object = schema.ensure_object();
    object.entry("properties").or_insert_with(|| Map::new().into());
    object.insert("additionalProperties".to_owned(), false.into());
    std::mem::take(object)
}

/// Removes what costs tokens without helping a model. An optional argument may be omitted, so null need not be offered.
fn simplify(schema: &mut Schema) {
    schema.remove("format");
    if let Some(Value::Array(types)) = schema.get("type") {
        let first = types[0].clone();
        schema.insert("type".to_owned(), first);
    }
}

/// Reads arguments into the struct that `schema` was made from.
pub fn read<T: DeserializeOwned>(schema: &JsonObject, arguments: Option<JsonObject>) -> Result<T> {
    let mut arguments = arguments.unwrap_or_default();
    let properties = schema["properties"].as_object().expect("a schema of an object has properties");
    let required = serde_json::json!({"required": schema.get("required")});
    check_fields("", properties, &required, &mut arguments)?;
    serde_json::from_value(Value::Object(arguments)).map_err(|error| invalid(error.to_string()))
}

fn check(name: &str, schema: &Value, value: &mut Value) -> Result<()> {
    match (schema["type"].as_str(), &mut *value) {
        (Some("string"), Value::String(_)) | (Some("boolean"), Value::Bool(_)) => Ok(()),
        (Some("string"), other) => Err(wrong_type(name, "a string", other)),
        (Some("boolean"), other) => Err(wrong_type(name, "true or false", other)),
        (Some("integer"), _) => check_integer(name, schema, value),
        (Some("array"), Value::Array(items)) => {
            let max = schema["maxItems"].as_u64().and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
            if items.len() > max {
                return Err(invalid(format!("{name} has {} items, and the limit is {max}", items.len())));
            }
            let mut numbered = items.iter_mut().enumerate();
            numbered.try_for_each(|(index, item)| check_item(&format!("{name}[{index}]"), &schema["items"], item))
        }
        (Some("array"), other) => Err(wrong_type(name, "an array", other)),
        (Some("object"), Value::Object(fields)) => match schema["properties"].as_object() {
            Some(properties) => check_fields(&format!("{name}."), properties, schema, fields),
            None => fields.iter_mut().try_for_each(|(key, value)| {
                check_item(&format!("{name}.{}", key.escape_debug()), &schema["additionalProperties"], value)
            }),
        },
        (Some("object"), other) => Err(wrong_type(name, "an object", other)),
        _ => Ok(()),
    }
}

/// Checks a value inside an array or object. Models write numbers and booleans where a command line has text.
fn check_item(name: &str, schema: &Value, value: &mut Value) -> Result<()> {
    if schema["type"] == "string" && (value.is_number() || value.is_boolean()) {
        *value = Value::String(value.to_string());
    }
    check(name, schema, value)
}

/// Checks the fields of an object whose names start with `prefix` in messages.
fn check_fields(prefix: &str, properties: &JsonObject, schema: &Value, fields: &mut Map<String, Value>) -> Result<()> {
    // Some clients send null for an argument that the model omitted.
    fields.retain(|name, value| !value.is_null() || !properties.contains_key(name));
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        let value = fields.get_mut(name).ok_or_else(|| invalid(format!("{prefix}{name} is required")))?;
        check(&format!("{prefix}{name}"), &properties[name], value)?;
    }
    for (name, value) in fields {
        let unknown = || invalid(format!("{prefix}{} is not an argument of this tool", name.escape_debug()));
        check(&format!("{prefix}{name}"), properties.get(name).ok_or_else(unknown)?, value)?;
    }
    Ok(())
}

fn check_integer(name: &str, schema: &Value, value: &mut Value) -> Result<()> {
    let Some(given) = value.as_f64() else { return Err(wrong_type(name, "a whole number", value)) };
    if given.fract() != 0.0 {
        return Err(invalid(format!("{name} is {value}, and must be a whole number")));
    }
    let min = schema["minimum"].as_i64().unwrap_or(i64::MIN);
    let max = schema["maximum"].as_i64().unwrap_or(i64::MAX);
    // `10.0` is an integer to JSON Schema, but not to serde. It is displayed as `10`.
    match given.to_string().parse::<i64>() {
        Ok(number) if (min..=max).contains(&number) => *value = number.into(),
        _ => return Err(invalid(format!("{name} is {value}, and must be from {min} to {max}"))),
    }
    Ok(())
}

fn wrong_type(name: &str, expected: &str, value: &Value) -> ErrorData {
    let given = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    invalid(format!("{name} must be {expected}, not {given}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, serde::Deserialize, JsonSchema)]
    struct Example {
        /// Name of it
        name: String,
        args: BTreeMap<String, String>,
        flag: Option<bool>,
        #[serde(default)]
        #[schemars(range(min = 1, max = 25))]
        limit: u32,
    }

    fn message(arguments: &Value) -> String {
        read::<Example>(&schema::<Example>(), arguments.as_object().cloned()).unwrap_err().message.into_owned()
    }

    #[test]
    fn a_schema_says_no_more_than_a_model_needs() {
        let expected = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Name of it"},
                "args": {"type": "object", "additionalProperties": {"type": "string"}},
                "flag": {"type": "boolean"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 25, "default": 0},
            },
            "required": ["name", "args"],
            "additionalProperties": false,
        });
        assert_eq!(Value::Object(schema::<Example>()), expected);
    }

    #[test]
    fn every_wrong_argument_is_named() {
        assert_eq!(message(&Value::Null), "name is required");
        assert_eq!(message(&json!({"name": null})), "name is required");
        assert_eq!(message(&json!({"name": 3})), "name must be a string, not a number");
        assert_eq!(message(&json!({"name": "a"})), "args is required");
        assert_eq!(message(&json!({"name": "a", "args": ["a"]})), "args must be an object, not an array");
        assert_eq!(message(&json!({"name": "a", "args": {"n": [3]}})), "args.n must be a string, not an array");
        for (argument, value, expected) in [
            ("flag", json!("yes"), "flag must be true or false, not a string"),
            ("limit", json!(1.5), "limit is 1.5, and must be a whole number"),
            ("limit", json!("5"), "limit must be a whole number, not a string"),
            ("limit", json!(26), "limit is 26, and must be from 1 to 25"),
            ("limit", json!(-1), "limit is -1, and must be from 1 to 25"),
            ("limit", json!(1_u64 << 40), "limit is 1099511627776, and must be from 1 to 25"),
            ("other", Value::Null, "other is not an argument of this tool"),
        ] {
            assert_eq!(message(&json!({"name": "a", "args": {}, argument: value})), expected);
        }
    }

    #[test]
    fn whole_numbers_and_nulls_are_read_as_clients_mean_them() {
        let arguments = json!({"name": "a", "args": {"b": "c", "d": 1.5, "e": true}, "flag": null, "limit": 10.0});
        let read: Example = read(&schema::<Example>(), arguments.as_object().cloned()).unwrap();
        let args = [("b", "c"), ("d", "1.5"), ("e", "true")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let args = BTreeMap::from(args);
        assert_eq!(read, Example { name: "a".to_owned(), args, flag: None, limit: 10 });
    }
}
