//! A crash affects only its own script.

#![expect(unsafe_code, reason = "an invalid read is one of the attempts")]

use crate::{argument, print};
use std::hint::black_box;

pub fn crash() {
    print("breaking");
    match argument("HOW").as_str() {
        "panic" => panic!("on purpose"),
        "abort" => std::process::abort(),
        "unreachable" => core::arch::wasm32::unreachable(),
        "recursion" => print(deeper(1).to_string()),
        // SAFETY: none; the sandbox must stop it.
        "outside" => {
            print(unsafe { black_box(std::ptr::without_provenance::<u8>(usize::MAX)).read_volatile() }.to_string())
        }
        other => panic!("no crash is called `{other}`"),
    }
}

#[expect(unconditional_recursion, reason = "the stack is to overflow")]
fn deeper(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    deeper(depth + 1) + frame[0]
}
