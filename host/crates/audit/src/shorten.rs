//! Bounds the size of an entry, whatever a caller puts into it.

use crate::Entry;
use crate::chain::text_of;
use serde_json::Value;

/// Lengths of texts and lists, each tried until the entry is short enough.
const STEPS: [(usize, usize); 4] = [(300, 50), (100, 10), (50, 3), (32, 1)];

/// Cuts long texts and lists until the entry has at most this many bytes.
pub fn shorten(entry: &mut Entry, max_bytes: usize) {
    for (text, items) in STEPS {
        if text_of(entry).len() <= max_bytes {
            return;
        }
        entry.values_mut().for_each(|value| cut(value, text, items));
    }
}

fn cut(value: &mut Value, max_text: usize, max_items: usize) {
    match value {
        Value::String(text) if text.len() > max_text => {
            text.truncate(text.floor_char_boundary(max_text - '…'.len_utf8()));
            text.push('…');
        }
        Value::Array(items) => {
            items.truncate(max_items);
            for item in items {
                cut(item, max_text, max_items);
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(|field| cut(field, max_text, max_items)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_entry_is_cut_only_as_far_as_it_must() {
        let long = "\u{1}".repeat(5_000);
        let entry = json!({"kind": "refusal", "time": "2026-11-16T06:07:31Z", "skill": long, "script": long, "reason": long,
            "arguments": vec![&long; 500], "grants": {"hosts": vec![&long; 500]}});
        let Value::Object(entry) = entry else { panic!() };
        let size = |max_bytes: usize| {
            let mut entry = entry.clone();
            shorten(&mut entry, max_bytes);
            assert_eq!((&entry["kind"], &entry["time"]), (&json!("refusal"), &json!("2026-11-16T06:07:31Z")));
            json!(entry).to_string().len()
        };
        assert!(size(2 << 10) <= 2 << 10);
        assert!((8 << 10..=32 << 10).contains(&size(32 << 10)), "{}", size(32 << 10));
        assert!(size(usize::MAX) > 15_000_000);
    }
}
