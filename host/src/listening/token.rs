//! The secret that every request over HTTP has to carry.

use crate::private::{self, Untrusted};
use crate::sha256::hex;
use hmac::{Hmac, Mac};
use std::fmt;
use std::io::Read;
use std::path::Path;

/// Fewest characters of a token that somebody thought of.
const FEWEST_CHARACTERS: usize = 16;

/// Most that is read of a token file, in bytes. No header may be longer.
const MOST_BYTES: u64 = 4096;

/// Kept as a code that only this process can make, so that no dump of it shows the secret.
#[derive(Clone)]
pub struct Token {
    key: [u8; 32],
    code: [u8; 32],
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenProblem {
    #[error(transparent)]
    File(#[from] Untrusted),
    #[error("cannot read the token in {path}: {reason}", path = path.display())]
    Unreadable { path: std::path::PathBuf, reason: std::io::Error },
    #[error(
        "the token in {place} has fewer than {FEWEST_CHARACTERS} characters\nhint: make one with `openssl rand -hex 32`"
    )]
    Short { place: String },
    #[error(
        "the token in {place} has spaces or characters that no header can carry\nhint: make one with `openssl rand -hex 32`"
    )]
    Unsendable { place: String },
    #[error("there is no randomness to make a token of: {0}")]
    NoRandomness(std::io::Error),
}

impl Token {
    /// The first line of a file that only the user can read.
    pub fn in_file(path: &Path) -> Result<Self, TokenProblem> {
        let unreadable = |reason| TokenProblem::Unreadable { path: path.to_owned(), reason };
        let mut text = String::new();
        private::open(path)?.take(MOST_BYTES).read_to_string(&mut text).map_err(unreadable)?;
        Self::given(text.lines().next().unwrap_or_default(), &path.display().to_string())
    }

    /// A token that somebody thought of, and where it was found.
    pub fn given(text: &str, place: &str) -> Result<Self, TokenProblem> {
        let (text, place) = (text.trim(), place.to_owned());
        if text.len() < FEWEST_CHARACTERS {
            return Err(TokenProblem::Short { place });
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenProblem::Unsendable { place });
        }
        Self::keep(text)
    }

    /// A new token, and its text, which has to be told to somebody.
    pub fn fresh() -> Result<(Self, String), TokenProblem> {
        let mut bytes = [0; 32];
        private::fill(&mut bytes).map_err(TokenProblem::NoRandomness)?;
        let text = hex(&bytes);
        Ok((Self::keep(&text)?, text))
    }

    /// Whether an `Authorization` header carries this token.
    pub fn is_in(&self, header: &[u8]) -> bool {
        let Some((scheme, rest)) = header.split_at_checked(b"Bearer ".len()) else { return false };
        scheme.eq_ignore_ascii_case(b"Bearer ") && self.is(rest.trim_ascii())
    }

    /// Whether this is the token. The time does not depend on where it differs.
    pub fn is(&self, text: &[u8]) -> bool {
        mac(&self.key, text).verify_slice(&self.code).is_ok()
    }

    fn keep(text: &str) -> Result<Self, TokenProblem> {
        let mut key = [0; 32];
        private::fill(&mut key).map_err(TokenProblem::NoRandomness)?;
        Ok(Self { key, code: mac(&key, text.as_bytes()).finalize().into_bytes().into() })
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(..)")
    }
}

fn mac(key: &[u8; 32], text: &[u8]) -> Hmac<sha2::Sha256> {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(key).expect("a key may have any length");
    mac.update(text);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_the_whole_token_under_the_right_scheme_is_taken() {
        let token = Token::given(" 0123456789abcdef\r", "a test").unwrap();
        for header in ["Bearer 0123456789abcdef", "bearer 0123456789abcdef", "BEARER   0123456789abcdef "] {
            assert!(token.is_in(header.as_bytes()), "{header}");
        }
        for header in [
            "",
            "Bearer",
            "Bearer ",
            "0123456789abcdef",
            "Basic 0123456789abcdef",
            "Bearer0123456789abcdef",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdeff",
            "Bearer 0123456789ABCDEF",
            "Bearer 0123456789abcdef, Bearer x",
            "Bearer x 0123456789abcdef",
        ] {
            assert!(!token.is_in(header.as_bytes()), "{header}");
        }
        assert!(!token.is_in(b"Bearer \xff\xfe"));
    }

    #[test]
    fn a_fresh_token_is_long_and_never_the_same() {
        let (token, text) = Token::fresh().unwrap();
        let (other, other_text) = Token::fresh().unwrap();
        assert_eq!((text.len(), other_text.len()), (64, 64));
        assert!(token.is_in(format!("Bearer {text}").as_bytes()));
        assert!(!other.is_in(format!("Bearer {text}").as_bytes()));
        assert!(!format!("{token:?}").contains(&text));
    }

    #[test]
    fn a_token_that_is_short_or_cannot_be_sent_is_refused() {
        assert!(matches!(Token::given("0123456789abcde", "a test"), Err(TokenProblem::Short { .. })));
        assert!(matches!(Token::given("                    ", "a test"), Err(TokenProblem::Short { .. })));
        assert!(matches!(Token::given("0123456789 abcdef", "a test"), Err(TokenProblem::Unsendable { .. })));
        assert!(matches!(Token::given("pässwörter-sind-lang", "a test"), Err(TokenProblem::Unsendable { .. })));
    }

    #[test]
    fn a_file_must_be_the_users_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, "0123456789abcdef  \nsecond line\n").unwrap();
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o600);
        assert!(Token::in_file(&path).unwrap().is_in(b"Bearer 0123456789abcdef"));
        for open in [0o640, 0o604, 0o660] {
            mode(open);
            let told = Token::in_file(&path).unwrap_err().to_string();
            assert!(told.contains("hint: run `chmod go-rwx"), "{told}");
        }
        assert!(matches!(Token::in_file(folder.path()), Err(TokenProblem::File(_))));
        assert!(matches!(Token::in_file(&folder.path().join("none")), Err(TokenProblem::File(_))));
        mode(0o600);
        std::fs::write(&path, "\n0123456789abcdef\n").unwrap();
        assert!(matches!(Token::in_file(&path), Err(TokenProblem::Short { .. })));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(Token::in_file(&link), Err(TokenProblem::File(_))));
    }
}
