//! Lists that come in pages.

use super::Service;
use crate::QueryError;
use crate::http::{Head, encode};
use crate::json::{Json, Value};

/// One page of a list, and what to ask for to get the next.
#[derive(Debug, Default)]
pub struct Page {
    pub items: Vec<Value>,
    pub next: Option<String>,
}

/// A list from all its pages.
#[derive(Debug, Default)]
pub struct Pages {
    pub items: Vec<Value>,
    /// Whether there is more than was read.
    pub cut: bool,
}

/// Reads at most so many pages. `page` is given what the page before called the next one.
pub fn follow(
    most: usize,
    mut page: impl FnMut(Option<&str>) -> Result<Page, QueryError>,
) -> Result<Pages, QueryError> {
    let mut pages = Pages::default();
    let mut next = None;
    for _ in 0..most {
        let read = page(next.as_deref())?;
        pages.items.extend(read.items);
        // A page that is its own next one would never end.
        if read.next.is_none() || read.next == next {
            return Ok(pages);
        }
        next = read.next;
    }
    pages.cut = true;
    Ok(pages)
}

impl Service<'_> {
    /// A list whose answers name the next page in the header `link`. `place` is where the items are in the answer, or empty.
    pub fn linked(&self, path: &str, place: &str, what: &str, most: usize) -> Result<Pages, QueryError> {
        follow(most, |next| {
            let answered = self.answered(next.unwrap_or(path), what)?;
            let next = next_link(&answered.head).map(str::to_owned);
            Ok(Page { items: items(answered.value, place, what)?, next })
        })
    }

    /// A list whose answers hold the next page's token in `next_page_token`. It is sent as the parameter of this name.
    pub fn tokened(&self, path: &str, parameter: &str, what: &str, most: usize) -> Result<Pages, QueryError> {
        follow(most, |next| {
            let join = if path.contains('?') { '&' } else { '?' };
            let value = match next {
                Some(token) => self.get(&format!("{path}{join}{parameter}={}", encode(token)), what)?,
                None => self.get(path, what)?,
            };
            let next = value.text("next_page_token").map(str::to_owned);
            Ok(Page { items: items(value, "items", what)?, next })
        })
    }
}

/// The items of an answer, or why it is no list.
pub fn items(value: Value, place: &str, what: &str) -> Result<Vec<Value>, QueryError> {
    let found = if place.is_empty() { value } else { value.at(place).cloned().unwrap_or_default() };
    match found {
        Value::Array(items) => Ok(items),
        _ => Err(QueryError::Failed(format!("asked for {what}, and the service answered something that is no list"))),
    }
}

/// The address of the next page, as in `<https://api.example.com/a?page=2>; rel="next"`.
pub fn next_link(head: &Head) -> Option<&str> {
    head.header("link")?.split('<').find_map(|link| {
        let (address, rest) = link.split_once('>')?;
        let is_next = rest.split([';', ',']).any(|part| {
            let part = part.trim();
            part.eq_ignore_ascii_case("rel=\"next\"") || part.eq_ignore_ascii_case("rel=next")
        });
        is_next.then_some(address)
    })
}
