//! Converts between text and bytes in Node's encodings.

use boa_engine::{Context, JsArgs, JsNativeError, JsResult, JsValue, js_string};

use super::{Functions, byte_array, bytes, text};

pub const FUNCTIONS: Functions = &[("encode", encode), ("decode", decode), ("isText", is_text), ("length", length)];

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn encode(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let content = arguments.get_or_undefined(0).to_string(context)?;
    let encoded = match text(arguments, 1, context)?.as_str() {
        "utf8" => content.to_std_string_lossy().into_bytes(),
        "utf16le" => content.iter().flat_map(u16::to_le_bytes).collect(),
        "latin1" | "ascii" => content.iter().map(|unit| unit.to_le_bytes()[0]).collect(),
        "hex" => from_hex(&content.to_std_string_lossy()),
        "base64" | "base64url" => from_base64(&content.to_std_string_lossy()),
        other => return Err(unknown(other)),
    };
    byte_array(&encoded, context)
}

fn decode(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let content = bytes(arguments, 0, context)?;
    let decoded = match text(arguments, 1, context)?.as_str() {
        "utf8" => js_string!(String::from_utf8_lossy(&content).as_ref()),
        "utf16le" => {
            let units = content.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
            js_string!(units.collect::<Vec<_>>().as_slice())
        }
        "latin1" => js_string!(content.iter().map(|byte| char::from(*byte)).collect::<String>()),
        "ascii" => js_string!(content.iter().map(|byte| char::from(*byte & 0x7f)).collect::<String>()),
        "hex" => js_string!(to_hex(&content)),
        "base64" => js_string!(to_base64(&content)),
        "base64url" => js_string!(to_base64(&content).trim_end_matches('=').replace('+', "-").replace('/', "_")),
        other => return Err(unknown(other)),
    };
    Ok(decoded.into())
}

fn is_text(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(std::str::from_utf8(&bytes(arguments, 0, context)?).is_ok().into())
}

/// Returns the length of a text in UTF-8.
fn length(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(text(arguments, 0, context)?.len().into())
}

fn unknown(encoding: &str) -> boa_engine::JsError {
    JsNativeError::typ().with_message(format!("Unknown encoding: {encoding}")).into()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decodes the valid prefix, like Node.
fn from_hex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks_exact(2);
    pairs.map_while(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

fn to_base64(bytes: &[u8]) -> String {
    let mut encoded = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = (word >> (18 - 6 * place)) & 63;
            encoded.push(if place > chunk.len() { '=' } else { char::from(DIGITS[digit as usize]) });
        }
    }
    encoded
}

/// Accepts both alphabets and skips invalid characters, like Node.
fn from_base64(text: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len() / 4 * 3);
    let (mut word, mut bits) = (0_u32, 0);
    for digit in text.bytes().take_while(|digit| *digit != b'=') {
        let digit = match digit {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        };
        let Some(value) = DIGITS.iter().position(|known| *known == digit) else { continue };
        word = word << 6 | u32::try_from(value).expect("below 64");
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            decoded.push((word >> bits).to_le_bytes()[0]);
            word &= (1 << bits) - 1;
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_goes_there_and_back() {
        for (plain, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(to_base64(plain.as_bytes()), encoded);
            assert_eq!(from_base64(encoded), plain.as_bytes());
        }
        assert_eq!(from_base64("_-8\n"), [0xff, 0xef]);
    }

    #[test]
    fn hex_stops_at_the_first_error() {
        assert_eq!(from_hex("0aFfzz00"), [10, 255]);
        assert_eq!(to_hex(&[10, 255]), "0aff");
    }
}
