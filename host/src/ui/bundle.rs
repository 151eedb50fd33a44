//! The files of the page, embedded unchanged in this binary.

use http_server::{HttpResponse, response};
use hyper::StatusCode;

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const IMAGE: &str = "image/svg+xml";

const FILES: [(&str, &str, &str); 17] = [
    ("", HTML, include_str!("../../ui/index.html")),
    ("style.css", STYLE, include_str!("../../ui/style.css")),
    ("icon.svg", IMAGE, include_str!("../../ui/icon.svg")),
    ("page.js", SCRIPT, include_str!("../../ui/page.js")),
    ("make.js", SCRIPT, include_str!("../../ui/make.js")),
    ("list.js", SCRIPT, include_str!("../../ui/list.js")),
    ("server.js", SCRIPT, include_str!("../../ui/server.js")),
    ("catalog.js", SCRIPT, include_str!("../../ui/catalog.js")),
    ("folders.js", SCRIPT, include_str!("../../ui/folders.js")),
    ("tree.js", SCRIPT, include_str!("../../ui/tree.js")),
    ("skill.js", SCRIPT, include_str!("../../ui/skill.js")),
    ("files.js", SCRIPT, include_str!("../../ui/files.js")),
    ("problems.js", SCRIPT, include_str!("../../ui/problems.js")),
    ("ask.js", SCRIPT, include_str!("../../ui/ask.js")),
    ("grants.js", SCRIPT, include_str!("../../ui/grants.js")),
    ("audit.js", SCRIPT, include_str!("../../ui/audit.js")),
    ("usage.js", SCRIPT, include_str!("../../ui/usage.js")),
];

/// Returns a file of the page by its path below the token.
pub fn file(path: &str) -> Option<HttpResponse> {
    let (_, content_type, text) = FILES.into_iter().find(|(name, ..)| *name == path)?;
    Some(response(StatusCode::OK, content_type, text))
}
