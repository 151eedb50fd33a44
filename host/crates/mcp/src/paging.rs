//! Pages of long lists. A cursor names the last item of the page before, so that no item is skipped or repeated when others
//! come and go meanwhile.

use crate::answer::{Result, invalid};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bindings::types::SkillModel;
use catalog::Listed;
use rmcp::ErrorData;
use rmcp::model::RequestId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

pub struct Page<'a, T> {
    pub items: &'a [T],
    pub next: Option<String>,
}

/// Returns the page of skills after this cursor.
pub fn skills<'a>(all: &'a [Arc<Listed>], cursor: Option<&str>, size: usize) -> Result<Page<'a, Arc<Listed>>> {
    page(all, cursor, size, |skill| {
        let model = u8::from(skill.model == SkillModel::Tree);
        (skill.skill_path.clone(), skill.file.root, model)
    })
}

/// Returns the page of names after this cursor. The names must be sorted.
pub fn names<'a, T: AsRef<str>>(all: &'a [T], cursor: Option<&str>, size: usize) -> Result<Page<'a, T>> {
    page(all, cursor, size, |name| name.as_ref().to_owned())
}

/// Returns the page of items, sorted by `key`, after this cursor.
fn page<'a, T, K: Ord + Serialize + DeserializeOwned>(
    all: &'a [T],
    cursor: Option<&str>,
    size: usize,
    key: impl Fn(&T) -> K,
) -> Result<Page<'a, T>> {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let after: K = decoded(cursor).ok_or_else(unknown_cursor)?;
            all.partition_point(|item| key(item) <= after)
        }
    };
    let items = &all[start..(start + size).min(all.len())];
    let last = items.last().filter(|_| start + items.len() < all.len());
    Ok(Page { items, next: last.map(|last| encoded(&key(last))) })
}

/// Reports a cursor that is not a string. rmcp would ignore it.
pub fn wrong_cursor(message: &[u8]) -> Option<(RequestId, ErrorData)> {
    const WITH_CURSOR: [&str; 4] = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
    if !message.windows(8).any(|part| part == b"\"cursor\"") {
        return None;
    }
    let message: Value = serde_json::from_slice(message).ok()?;
    let cursor = &message["params"]["cursor"];
    let wrong = WITH_CURSOR.contains(&message["method"].as_str()?) && !cursor.is_null() && !cursor.is_string();
    let id = serde_json::from_value(message["id"].clone()).ok().filter(|_| wrong)?;
    Some((id, invalid("cursor must be a string")))
}

/// Rejects a cursor for a list that has only one page.
pub fn no_cursor(cursor: Option<String>) -> Result<()> {
    cursor.map_or(Ok(()), |_| Err(unknown_cursor()))
}

fn unknown_cursor() -> ErrorData {
    invalid("cursor is not from this server: start without one")
}

fn encoded(last: &impl Serialize) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(last).expect("a cursor is plain data"))
}

fn decoded<T: DeserializeOwned>(cursor: &str) -> Option<T> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_a_list_that_changes_meanwhile() {
        let all: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        let first = names(&all, None, 2).unwrap();
        assert_eq!(first.items, ["a", "b"]);
        let fewer: Vec<String> = ["a", "c", "d", "e"].map(str::to_owned).to_vec();
        let second = names(&fewer, first.next.as_deref(), 2).unwrap();
        assert_eq!(second.items, ["c", "d"]);
        let third = names(&fewer, second.next.as_deref(), 2).unwrap();
        assert_eq!((third.items, third.next), (&["e".to_owned()][..], None));
        for cursor in ["", "!", "AAAA", "eyJ4IjoxfQ"] {
            assert!(names(&all, Some(cursor), 2).is_err(), "{cursor}");
        }
    }
}
