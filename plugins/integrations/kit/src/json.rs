//! Lenient access to JSON of uncertain shape.
//!
//! A path leads through objects, as in `user.login`. Missing values and those of another type are absent.

pub use serde_json::{Value, json};

pub trait Json {
    /// Returns the value at the path, unless it is `null`.
    fn at(&self, path: &str) -> Option<&Value>;

    /// Returns text that is not empty.
    fn text(&self, path: &str) -> Option<&str>;

    /// Returns an unsigned integer.
    fn number(&self, path: &str) -> Option<u64>;

    /// Whether the value is `true`.
    fn is(&self, path: &str) -> bool;

    /// Returns the entries of an array; empty if it is not an array.
    fn list(&self, path: &str) -> &[Value];
}

impl Json for Value {
    fn at(&self, path: &str) -> Option<&Value> {
        let found =
            if path.is_empty() { Some(self) } else { path.split('.').try_fold(self, |value, key| value.get(key)) };
        found.filter(|value| !value.is_null())
    }

    fn text(&self, path: &str) -> Option<&str> {
        self.at(path)?.as_str().filter(|text| !text.trim().is_empty())
    }

    fn number(&self, path: &str) -> Option<u64> {
        self.at(path)?.as_u64()
    }

    fn is(&self, path: &str) -> bool {
        self.at(path).and_then(Value::as_bool) == Some(true)
    }

    fn list(&self, path: &str) -> &[Value] {
        self.at(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_through_objects_and_absent_things_are_absent() {
        let value =
            json!({"user": {"login": "ada", "name": " ", "id": 7}, "draft": true, "labels": [1, 2], "none": null});
        assert_eq!((value.text("user.login"), value.text("user.name"), value.text("user")), (Some("ada"), None, None));
        assert_eq!((value.number("user.id"), value.number("user.login"), value.number("a.b")), (Some(7), None, None));
        assert!(value.is("draft") && !value.is("labels") && value.at("none").is_none());
        assert_eq!((value.list("labels").len(), value.list("user").len()), (2, 0));
        assert_eq!(json!([1]).list("").len(), 1);
    }
}
