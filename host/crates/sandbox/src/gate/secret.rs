//! Detects a token in data that a service sends back.

use base64::engine::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::sync::Arc;

/// Shorter texts are not tokens, and would be found everywhere.
const MIN_LENGTH: usize = 8;

/// A token in the forms in which a service may repeat it, for instance in an error message: verbatim, percent-encoded,
/// JSON-escaped, and within base64.
#[derive(Clone, Default)]
pub struct Secret {
    forms: Arc<[Vec<u8>]>,
    max_length: usize,
}

impl Secret {
    pub fn new(token: &str) -> Self {
        if token.len() < MIN_LENGTH {
            return Self::default();
        }
        let quoted = serde_json::Value::from(token).to_string();
        let in_json = quoted[1..quoted.len() - 1].to_owned();
        let mut forms = vec![
            token.to_owned(),
            percent_encoded(token, |byte| format!("%{byte:02X}")),
            percent_encoded(token, |byte| format!("%{byte:02x}")),
            in_json.replace('/', "\\/"),
            in_json,
        ];
        for offset in 0..3 {
            forms.push(within_base64(token, offset, &STANDARD_NO_PAD));
            forms.push(within_base64(token, offset, &URL_SAFE_NO_PAD));
        }
        forms.sort();
        forms.dedup();
        let max_length = forms.iter().map(String::len).max().unwrap_or_default();
        Self { forms: forms.into_iter().map(String::into_bytes).collect(), max_length }
    }

    pub fn is_in(&self, bytes: &[u8]) -> bool {
        let is_at = |form: &[u8], part: &[u8]| part[0] == form[0] && part == form;
        self.forms.iter().any(|form| bytes.windows(form.len()).any(|part| is_at(form, part)))
    }

    /// The number of bytes at the end that could be the start of the secret: at most its length minus one, and only those
    /// after the last line break, which no secret contains. The bytes themselves are not compared, or an integration could
    /// learn the secret by guessing.
    pub fn max_prefix_at_end(&self, bytes: &[u8]) -> usize {
        let line = bytes.iter().rev().take_while(|byte| **byte != b'\n').count();
        line.min(self.max_length.saturating_sub(1))
    }
}

fn percent_encoded(token: &str, escape: impl Fn(u8) -> String) -> String {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    token.bytes().map(|byte| if is_unreserved(byte) { char::from(byte).to_string() } else { escape(byte) }).collect()
}

/// Encodes a token that follows `offset` other bytes, as in `user:token`. Returns only the characters that depend on
/// nothing but the token.
fn within_base64(token: &str, offset: usize, alphabet: &impl Engine) -> String {
    let bytes = [&[0; 3][..offset], token.as_bytes()].concat();
    let (start, end) = ((offset * 8).div_ceil(6), bytes.len() * 8 / 6);
    alphabet.encode(bytes)[start..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};

    #[test]
    fn how_a_body_is_split_reveals_nothing_about_the_token() {
        let secret = Secret::new("token-12345678");
        let prefix = |text: &str| secret.max_prefix_at_end(text.as_bytes());
        for text in
            ["x".repeat(20), "token-1234567".repeat(2), "\ntoken-1".repeat(3), "ab\ntok".to_owned(), "\n".to_owned()]
        {
            let other: String = text.chars().map(|character| if character == '\n' { character } else { '?' }).collect();
            assert_eq!(prefix(&text), prefix(&other), "{text:?}");
        }
        assert_eq!(prefix("data: token-1\n"), 0, "a complete line is not delayed");
        assert_eq!(Secret::default().max_prefix_at_end(b"data"), 0);
    }

    #[test]
    fn a_token_is_detected_in_every_common_form() {
        let token = "a/b+c\"d\\e~f?g>12";
        let secret = Secret::new(token);
        for form in [
            token,
            "a%2Fb%2Bc%22d%5Ce~f%3Fg%3E12",
            "a%2fb%2bc%22d%5ce~f%3fg%3e12",
            r#"a/b+c\"d\\e~f?g>12"#,
            r#"a\/b+c\"d\\e~f?g>12"#,
        ] {
            assert!(secret.is_in(format!("it is <{form}>").as_bytes()), "{form}");
            assert!(form.len() - 1 <= secret.max_prefix_at_end(form.as_bytes()), "{form}");
        }
        for before in ["", "u:", "me:", "you:", "Bearer ", "user: me\n"] {
            for after in ["", "\n", ":x", "and more"] {
                let text = format!("{before}{token}{after}");
                for encoded in [STANDARD.encode(&text), URL_SAFE.encode(&text), STANDARD_NO_PAD.encode(&text)] {
                    assert!(secret.is_in(encoded.as_bytes()), "{encoded}, which is {text:?}");
                }
            }
        }
        for other in ["", "a/b", &token[1..], &token.to_uppercase(), &STANDARD.encode("something else altogether")] {
            assert!(!secret.is_in(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn short_tokens_are_ignored() {
        assert!(!Secret::new("short").is_in(b"short"));
        assert!(!Secret::default().is_in(b""));
    }
}
