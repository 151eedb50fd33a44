//! Paginated lists.

use super::Service;
use crate::QueryError;
use crate::http::{Head, encode};
use crate::json::{Json, Value};

/// One page of a list, and the token of the next one.
#[derive(Debug, Default)]
pub struct Page {
    pub items: Vec<Value>,
    pub next: Option<String>,
}

/// The items of all pages read.
#[derive(Debug, Default)]
pub struct Pages {
    pub items: Vec<Value>,
    /// Whether there are more pages than were read.
    pub cut: bool,
}

/// Reads at most `max` pages. `page` gets the token of the page to read.
pub fn follow(max: usize, mut page: impl FnMut(Option<&str>) -> Result<Page, QueryError>) -> Result<Pages, QueryError> {
    let mut pages = Pages::default();
    let mut next = None;
    for _ in 0..max {
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
    /// Reads a list whose next page is in the header `link`. `place` is the path of the items in the response, or
    /// empty.
    pub fn list_by_link(&self, path: &str, place: &str, what: &str, max: usize) -> Result<Pages, QueryError> {
        follow(max, |next| {
            let fetched = self.fetch(next.unwrap_or(path), what)?;
            let next = next_link(&fetched.head).map(str::to_owned);
            Ok(Page { items: items(fetched.value, place, what)?, next })
        })
    }

    /// Reads a list whose next page is in `next_page_token`, which is sent as this parameter.
    pub fn list_by_token(&self, path: &str, parameter: &str, what: &str, max: usize) -> Result<Pages, QueryError> {
        follow(max, |next| {
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

/// Returns the items of a response, or an error if it is not a list.
pub fn items(value: Value, place: &str, what: &str) -> Result<Vec<Value>, QueryError> {
    let found = if place.is_empty() { value } else { value.at(place).cloned().unwrap_or_default() };
    match found {
        Value::Array(items) => Ok(items),
        _ => Err(QueryError::Failed(format!("asked for {what}, but the answer is not a list"))),
    }
}

/// Returns the URL of the next page, as in `<https://api.example.com/a?page=2>; rel="next"`.
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
