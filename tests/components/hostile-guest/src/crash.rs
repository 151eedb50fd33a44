//! A script that breaks breaks alone.

#![expect(unsafe_code, reason = "reading where nothing is belongs to the attempt")]

use crate::{argument, say};
use std::hint::black_box;

pub fn crash() {
    say("breaking");
    match argument("HOW").as_str() {
        "panic" => panic!("on purpose"),
        "abort" => std::process::abort(),
        "unreachable" => core::arch::wasm32::unreachable(),
        "recursion" => say(deeper(1).to_string()),
        // SAFETY: there is none; the sandbox has to stop it.
        "outside" => {
            say(unsafe { black_box(std::ptr::without_provenance::<u8>(usize::MAX)).read_volatile() }.to_string())
        }
        other => panic!("nothing breaks by `{other}`"),
    }
}

#[expect(unconditional_recursion, reason = "the stack is to overflow")]
fn deeper(depth: u64) -> u64 {
    let room = black_box([depth; 64]);
    deeper(depth + 1) + room[0]
}
