//! Percent-encoding in URLs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What is encoded in a path of a URL.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Decodes `%40` to `@`.
pub fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Encodes a path for a URL: `/` stays, and every other reserved character is encoded.
pub fn encode(path: &str) -> String {
    utf8_percent_encode(path, RESERVED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_encoding_and_decoding() {
        let path = "ui/été 1#?%:[x]/文.md";
        assert_eq!(encode(path), "ui/%C3%A9t%C3%A9%201%23%3F%25%3A%5Bx%5D/%E6%96%87.md");
        assert_eq!(decode(&encode(path)), path);
    }
}
