//! The bearer token that every HTTP request must carry.

use base::digest::hex;
use base::user_files::{self, Untrusted};
use hmac::{Hmac, Mac};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Minimum length of a configured token.
const MIN_CHARACTERS: usize = 16;

/// Maximum number of bytes read from a token file. Headers are not longer either.
const MAX_BYTES: u64 = 4096;

/// Kept as an HMAC under a random key, so that a memory dump does not show the secret.
#[derive(Clone)]
pub struct Token {
    key: [u8; 32],
    tag: [u8; 32],
}

#[derive(Debug, thiserror::Error)]
pub enum TokenProblem {
    #[error(transparent)]
    File(#[from] Untrusted),
    #[error("cannot read the token in {path}: {reason}", path = path.display())]
    Unreadable { path: std::path::PathBuf, reason: std::io::Error },
    #[error(
        "the token in {place} has fewer than {MIN_CHARACTERS} characters\nhint: generate one with `openssl rand -hex 32`"
    )]
    Short { place: String },
    #[error(
        "the token in {place} contains spaces or characters that a header cannot carry\nhint: generate one with `openssl rand -hex 32`"
    )]
    Unsendable { place: String },
    #[error("cannot get random bytes for a token: {0}")]
    NoRandomness(std::io::Error),
}

impl Token {
    /// Reads the first line of a file that only the user can read, or that the superuser lends to the user.
    pub fn from_file(path: &Path) -> Result<Self, TokenProblem> {
        let unreadable = |reason| TokenProblem::Unreadable { path: path.to_owned(), reason };
        let mut text = String::new();
        open_private(path)?.take(MAX_BYTES).read_to_string(&mut text).map_err(unreadable)?;
        Self::from_text(text.lines().next().unwrap_or_default(), &path.display().to_string())
    }

    /// Checks a configured token. `place` tells messages where it comes from.
    pub fn from_text(text: &str, place: &str) -> Result<Self, TokenProblem> {
        let (text, place) = (text.trim(), place.to_owned());
        if text.len() < MIN_CHARACTERS {
            return Err(TokenProblem::Short { place });
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenProblem::Unsendable { place });
        }
        Self::new(text)
    }

    /// Generates a token, and returns its text for the client.
    pub fn generate() -> Result<(Self, String), TokenProblem> {
        let mut bytes = [0; 32];
        user_files::fill_random(&mut bytes).map_err(TokenProblem::NoRandomness)?;
        let text = hex(&bytes);
        Ok((Self::new(&text)?, text))
    }

    /// Whether an `Authorization` header carries this token.
    pub fn is_in_header(&self, header: &[u8]) -> bool {
        let Some((scheme, rest)) = header.split_at_checked(b"Bearer ".len()) else { return false };
        scheme.eq_ignore_ascii_case(b"Bearer ") && self.matches(rest.trim_ascii())
    }

    /// Compares in constant time.
    pub fn matches(&self, text: &[u8]) -> bool {
        mac(&self.key, text).verify_slice(&self.tag).is_ok()
    }

    fn new(text: &str) -> Result<Self, TokenProblem> {
        let mut key = [0; 32];
        user_files::fill_random(&mut key).map_err(TokenProblem::NoRandomness)?;
        Ok(Self { key, tag: mac(&key, text.as_bytes()).finalize().into_bytes().into() })
    }
}

fn open_private(path: &Path) -> Result<File, Untrusted> {
    match user_files::open(path) {
        Err(Untrusted::OtherOwner { path }) => {
            let file = user_files::open_unchangeable(&path)?;
            let is_lent = file.metadata().is_ok_and(|found| found.is_file() && is_lent(found.uid(), found.mode()));
            if is_lent { Ok(file) } else { Err(Untrusted::OtherOwner { path }) }
        }
        opened => opened,
    }
}

/// Whether a file is the superuser's, and only its group can read it: this is how service managers hand out secrets.
fn is_lent(owner: u32, mode: u32) -> bool {
    /// Writing and running for the group, and everything for others.
    const FORBIDDEN: u32 = 0o037;
    owner == 0 && mode & FORBIDDEN == 0
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(..)")
    }
}

fn mac(key: &[u8; 32], text: &[u8]) -> Hmac<sha2::Sha256> {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(text);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_the_whole_token_under_the_right_scheme_is_accepted() {
        let token = Token::from_text(" 0123456789abcdef\r", "a test").unwrap();
        for header in ["Bearer 0123456789abcdef", "bearer 0123456789abcdef", "BEARER   0123456789abcdef "] {
            assert!(token.is_in_header(header.as_bytes()), "{header}");
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
            assert!(!token.is_in_header(header.as_bytes()), "{header}");
        }
        assert!(!token.is_in_header(b"Bearer \xff\xfe"));
    }

    #[test]
    fn generated_tokens_are_long_and_distinct() {
        let (token, text) = Token::generate().unwrap();
        let (other, other_text) = Token::generate().unwrap();
        assert_eq!((text.len(), other_text.len()), (64, 64));
        assert!(token.is_in_header(format!("Bearer {text}").as_bytes()));
        assert!(!other.is_in_header(format!("Bearer {text}").as_bytes()));
        assert!(!format!("{token:?}").contains(&text));
    }

    #[test]
    fn a_short_or_unsendable_token_is_rejected() {
        assert!(matches!(Token::from_text("0123456789abcde", "a test"), Err(TokenProblem::Short { .. })));
        assert!(matches!(Token::from_text("                    ", "a test"), Err(TokenProblem::Short { .. })));
        assert!(matches!(Token::from_text("0123456789 abcdef", "a test"), Err(TokenProblem::Unsendable { .. })));
        assert!(matches!(Token::from_text("pässwörter-sind-lang", "a test"), Err(TokenProblem::Unsendable { .. })));
    }

    #[test]
    fn a_token_file_must_be_private_to_the_user() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, "0123456789abcdef  \nsecond line\n").unwrap();
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o600);
        assert!(Token::from_file(&path).unwrap().is_in_header(b"Bearer 0123456789abcdef"));
        for open in [0o640, 0o604, 0o660] {
            mode(open);
            let message = Token::from_file(&path).unwrap_err().to_string();
            assert!(message.contains("hint: run `chmod go-rwx"), "{message}");
        }
        assert!(matches!(Token::from_file(folder.path()), Err(TokenProblem::File(_))));
        assert!(matches!(Token::from_file(&folder.path().join("none")), Err(TokenProblem::File(_))));
        mode(0o600);
        std::fs::write(&path, "\n0123456789abcdef\n").unwrap();
        assert!(matches!(Token::from_file(&path), Err(TokenProblem::Short { .. })));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(Token::from_file(&link), Err(TokenProblem::File(_))));
    }

    #[test]
    fn a_token_file_of_the_superuser_may_be_lent_to_a_group_but_not_to_all() {
        for mode in [0o400, 0o440, 0o600, 0o640] {
            assert!(is_lent(0, 0o100_000 | mode), "{mode:o}");
            assert!(!is_lent(1000, 0o100_000 | mode), "{mode:o}");
        }
        for mode in [0o444, 0o404, 0o460, 0o620, 0o450] {
            assert!(!is_lent(0, 0o100_000 | mode), "{mode:o}");
        }
    }
}
