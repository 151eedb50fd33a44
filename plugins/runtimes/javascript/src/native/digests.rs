//! Hash functions and random bytes.

use boa_engine::{Context, JsArgs, JsNativeError, JsResult, JsValue};
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::{Functions, byte_array, bytes, text};

pub const FUNCTIONS: Functions = &[("digest", digest), ("random", random)];

fn digest(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let content = bytes(arguments, 1, context)?;
    let digest = match text(arguments, 0, context)?.to_lowercase().replace('-', "").as_str() {
        "md5" => Md5::digest(content).to_vec(),
        "sha1" => Sha1::digest(content).to_vec(),
        "sha224" => Sha224::digest(content).to_vec(),
        "sha256" => Sha256::digest(content).to_vec(),
        "sha384" => Sha384::digest(content).to_vec(),
        "sha512" => Sha512::digest(content).to_vec(),
        _ => return Err(JsNativeError::error().with_message("Digest method not supported").into()),
    };
    byte_array(&digest, context)
}

fn random(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let length = arguments.get_or_undefined(0).to_u32(context)?;
    byte_array(&random_bytes(length), context)
}

#[cfg(target_family = "wasm")]
fn random_bytes(length: u32) -> Vec<u8> {
    crate::bindings::wasi::random::random::get_random_bytes(u64::from(length))
}

#[cfg(not(target_family = "wasm"))]
fn random_bytes(length: u32) -> Vec<u8> {
    use std::io::Read;
    let mut bytes = vec![0; length as usize];
    let mut source = std::fs::File::open("/dev/urandom").expect("tests run on Linux");
    source.read_exact(&mut bytes).expect("it never ends");
    bytes
}
