//! The pages of a package index, as JSON or as HTML ("Simple API").

use crate::download::is_allowed;
use crate::name::Name;
use base::digest::Sha256;
use serde::Deserialize;
use std::collections::BTreeMap;
use url::Url;

/// What is asked for: JSON if the index has it.
pub const ACCEPT: &str =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

/// Of a page, in bytes. Those of packages with thousands of files have a few MiB.
pub const MAX_PAGE_BYTES: u64 = 32 << 20;

/// A file that an index offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedFile {
    pub name: String,
    pub url: Url,
    pub sha256: Option<Sha256>,
    pub requires_python: Option<String>,
    /// Withdrawn by its author.
    pub yanked: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    #[error("it is not a page of a package index")]
    NotAPage,
    #[error("it is the page of `{}`", .0.escape_debug())]
    OtherPackage(String),
}

#[derive(Deserialize)]
struct JsonPage {
    name: String,
    files: Vec<JsonFile>,
}

#[derive(Deserialize)]
struct JsonFile {
    filename: String,
    url: String,
    #[serde(default)]
    hashes: BTreeMap<String, String>,
    #[serde(rename = "requires-python")]
    requires_python: Option<String>,
    #[serde(default)]
    yanked: serde_json::Value,
}

/// Reads a page. Files whose address is not allowed are left out.
pub fn parse(package: &Name, at: &Url, kind: &str, body: &[u8]) -> Result<Vec<OfferedFile>, PageError> {
    let files = if kind.contains("json") { from_json(package, at, body)? } else { from_html(at, body)? };
    Ok(files.into_iter().filter(|file| is_allowed(&file.url)).collect())
}

fn from_json(package: &Name, at: &Url, body: &[u8]) -> Result<Vec<OfferedFile>, PageError> {
    let page: JsonPage = serde_json::from_slice(body).map_err(|_| PageError::NotAPage)?;
    if page.name.parse().as_ref() != Ok(package) {
        return Err(PageError::OtherPackage(page.name.chars().take(100).collect()));
    }
    let file = |file: JsonFile| {
        let sha256 = file.hashes.get("sha256").and_then(|digits| digest(digits));
        let yanked = !matches!(file.yanked, serde_json::Value::Null | serde_json::Value::Bool(false));
        let url = without_fragment(at.join(&file.url).ok()?);
        Some(OfferedFile { name: file.filename, url, sha256, requires_python: file.requires_python, yanked })
    };
    Ok(page.files.into_iter().filter_map(file).collect())
}

/// Reads the links of a page. The digest is in the fragment of each.
fn from_html(at: &Url, body: &[u8]) -> Result<Vec<OfferedFile>, PageError> {
    let page = std::str::from_utf8(body).map_err(|_| PageError::NotAPage)?;
    if !page.get(..page.floor_char_boundary(1024)).is_some_and(|start| start.to_ascii_lowercase().contains("<html")) {
        return Err(PageError::NotAPage);
    }
    let link = |tag: &str| {
        let attributes = attributes(tag);
        let url = at.join(attributes.get("href")?).ok()?;
        let sha256 = url.fragment().and_then(|fragment| fragment.strip_prefix("sha256=")).and_then(digest);
        let name = base::percent::decode(url.path_segments()?.next_back()?);
        Some(OfferedFile {
            name,
            sha256,
            requires_python: attributes.get("data-requires-python").cloned(),
            yanked: attributes.contains_key("data-yanked"),
            url: without_fragment(url),
        })
    };
    let tags = page.split('<').filter_map(|part| part.strip_prefix("a ").or_else(|| part.strip_prefix("A ")));
    Ok(tags.filter_map(link).collect())
}

/// The attributes at the beginning of a tag.
fn attributes(mut rest: &str) -> BTreeMap<String, String> {
    let mut attributes = BTreeMap::new();
    loop {
        rest = rest.trim_start();
        let end =
            rest.find(|letter: char| letter.is_whitespace() || matches!(letter, '=' | '>' | '/')).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if name.is_empty() {
            return attributes;
        }
        let (value, after) = match after.trim_start().strip_prefix('=').map(str::trim_start) {
            None => ("", after),
            Some(value) => match value.chars().next().filter(|quote| matches!(quote, '"' | '\'')) {
                Some(quote) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
                None => value.split_at(
                    value.find(|letter: char| letter.is_whitespace() || letter == '>').unwrap_or(value.len()),
                ),
            },
        };
        attributes.insert(name.to_ascii_lowercase(), unescaped(value));
        rest = after;
    }
}

/// Replaces the character references that appear in version specifiers and addresses.
fn unescaped(text: &str) -> String {
    const REFERENCES: [(&str, &str); 7] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&#61;", "="),
        ("&amp;", "&"),
    ];
    REFERENCES.iter().fold(text.to_owned(), |text, (reference, letter)| text.replace(reference, letter))
}

fn digest(digits: &str) -> Option<Sha256> {
    format!("sha256:{digits}").parse().ok()
}

fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn page(kind: &str, body: &str) -> Result<Vec<OfferedFile>, PageError> {
        parse(&"demo".parse().unwrap(), &Url::parse("https://h/simple/demo/").unwrap(), kind, body.as_bytes())
    }

    #[test]
    fn pages_in_json_and_html_list_the_same_files() {
        let json = format!(
            r#"{{"meta": {{"api-version": "1.1"}}, "name": "Demo", "files": [
                {{"filename": "demo-1-py3-none-any.whl", "url": "../../f/demo-1-py3-none-any.whl", "hashes": {{"sha256": "{DIGITS}"}}, "requires-python": ">=3.8", "yanked": false}},
                {{"filename": "demo-2-py3-none-any.whl", "url": "http://h/demo-2-py3-none-any.whl", "hashes": {{}}}},
                {{"filename": "demo-3.tar.gz", "url": "https://f/demo-3.tar.gz", "hashes": {{"md5": "x"}}, "requires-python": null, "yanked": "broken"}}]}}"#
        );
        let html = format!(
            "<!DOCTYPE html>\n<html><body><a href=\"../../f/demo-1-py3-none-any.whl#sha256={DIGITS}\" data-requires-python=\"&gt;=3.8\">x</a><br/>\n<a href='http://h/demo-2-py3-none-any.whl'>y</a><A data-yanked href=https://f/demo-3.tar.gz>z</A></body></html>"
        );
        let files = page("application/vnd.pypi.simple.v1+json", &json).unwrap();
        assert_eq!(page("text/html; charset=utf-8", &html).unwrap(), files);
        assert_eq!(files.len(), 2, "an address that is not encrypted is left out");
        assert_eq!(files[0].url.as_str(), "https://h/f/demo-1-py3-none-any.whl");
        assert_eq!((files[0].sha256, files[0].requires_python.as_deref()), (digest(DIGITS), Some(">=3.8")));
        assert_eq!((files[1].sha256, files[1].yanked), (None, true));
    }

    #[test]
    fn what_is_not_the_page_of_the_package_is_refused() {
        let other = page("application/json", r#"{"name": "other", "files": []}"#);
        assert_eq!(other, Err(PageError::OtherPackage("other".to_owned())));
        for (kind, body) in [("application/json", "[]"), ("application/json", ""), ("text/html", "hello"), ("", "{}")] {
            assert_eq!(page(kind, body), Err(PageError::NotAPage), "{body}");
        }
        for body in
            ["<html><a ", "<html><a href", "<html><a href=", "<html><a href=\"", "<html><a href='x' y", "<html><a =>"]
        {
            assert!(page("text/html", body).is_ok(), "{body}");
        }
    }
}
