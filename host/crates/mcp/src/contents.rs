//! Files of skills as resource contents: text if the bytes are UTF-8, else base64.

use base::percent;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use library::files::media_type;
use rmcp::model::ResourceContents;

/// Returns a file of the skill with this URI, byte for byte.
pub fn contents(skill: &str, path: &str, bytes: Vec<u8>) -> ResourceContents {
    let uri = uri_of(skill, path);
    match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri).with_mime_type(media_type(path, true)),
        Err(error) => {
            ResourceContents::blob(STANDARD.encode(error.as_bytes()), uri).with_mime_type(media_type(path, false))
        }
    }
}

/// Returns the URI of a file of a skill. The engine encodes the URI of the skill itself in the same way.
pub fn uri_of(skill: &str, path: &str) -> String {
    format!("{skill}/{}", percent::encode(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_characters_are_encoded() {
        assert_eq!(uri_of("skill://a", "docs/été #1.md"), "skill://a/docs/%C3%A9t%C3%A9%20%231.md");
    }
}
