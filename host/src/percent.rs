//! Percent-encoding, as addresses have it.

/// `%40` as `@`.
pub fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let escape = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte = escape.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        plain.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// A path as it stands in an address: `/` stays, and all else that could mean something is encoded.
pub fn encoded(path: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    path.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_again() {
        let path = "ui/été 1#?%:[x]/文.md";
        assert_eq!(encoded(path), "ui/%C3%A9t%C3%A9%201%23%3F%25%3A%5Bx%5D/%E6%96%87.md");
        assert_eq!(decoded(&encoded(path)), path);
    }
}
