//! A token in the forms in which a service may send it back.

use base64::engine::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::sync::Arc;

/// Shorter ones would be found everywhere, and are no tokens.
const SHORTEST: usize = 8;

/// A token that a service may send back, for instance in what it says about a request: as it is, as in an address, as in JSON, and
/// anywhere in base64.
#[derive(Clone, Default)]
pub struct Secret {
    forms: Arc<[Vec<u8>]>,
    longest: usize,
}

impl Secret {
    pub fn new(token: &str) -> Self {
        if token.len() < SHORTEST {
            return Self::default();
        }
        let quoted = serde_json::Value::from(token).to_string();
        let in_json = quoted[1..quoted.len() - 1].to_owned();
        let mut forms = vec![
            token.to_owned(),
            in_address(token, |byte| format!("%{byte:02X}")),
            in_address(token, |byte| format!("%{byte:02x}")),
            in_json.replace('/', "\\/"),
            in_json,
        ];
        for before in 0..3 {
            forms.extend([in_base64(token, before, &STANDARD_NO_PAD), in_base64(token, before, &URL_SAFE_NO_PAD)]);
        }
        forms.sort();
        forms.dedup();
        let longest = forms.iter().map(String::len).max().unwrap_or_default();
        Self { forms: forms.into_iter().map(String::into_bytes).collect(), longest }
    }

    pub fn is_in(&self, bytes: &[u8]) -> bool {
        let is_at = |form: &[u8], part: &[u8]| part[0] == form[0] && part == form;
        self.forms.iter().any(|form| bytes.windows(form.len()).any(|part| is_at(form, part)))
    }

    /// How much of the end could be the beginning of the secret: all but a byte of its length, and nothing before the end of a
    /// line, which no secret has. What the bytes are plays no part, or an integration could learn the secret by guessing.
    pub fn may_begin_in(&self, bytes: &[u8]) -> usize {
        let line = bytes.iter().rev().take_while(|byte| **byte != b'\n').count();
        line.min(self.longest.saturating_sub(1))
    }
}

/// A token as a value in an address has it.
fn in_address(token: &str, escape: impl Fn(u8) -> String) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    token.bytes().map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { escape(byte) }).collect()
}

/// What base64 makes of a token behind so many bytes of something else, as in `user:token`: only letters that it alone decides.
fn in_base64(token: &str, before: usize, alphabet: &impl Engine) -> String {
    let bytes = [&[0; 3][..before], token.as_bytes()].concat();
    let (start, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    alphabet.encode(bytes)[start..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};

    #[test]
    fn how_a_body_is_cut_tells_nothing_of_the_token() {
        let secret = Secret::new("token-12345678");
        for text in
            ["x".repeat(20), "token-1234567".repeat(2), "\ntoken-1".repeat(3), "ab\ntok".to_owned(), "\n".to_owned()]
        {
            let other: String = text.chars().map(|letter| if letter == '\n' { letter } else { '?' }).collect();
            assert_eq!(secret.may_begin_in(text.as_bytes()), secret.may_begin_in(other.as_bytes()), "{text:?}");
        }
        assert_eq!(secret.may_begin_in(b"data: token-1\n"), 0, "a whole line is not kept waiting");
        assert_eq!(Secret::default().may_begin_in(b"data"), 0);
    }

    #[test]
    fn a_token_is_known_in_every_usual_form() {
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
            assert!(form.len() - 1 <= secret.may_begin_in(form.as_bytes()), "{form}");
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
    fn what_is_too_short_is_no_token() {
        assert!(!Secret::new("short").is_in(b"short"));
        assert!(!Secret::default().is_in(b""));
    }
}
