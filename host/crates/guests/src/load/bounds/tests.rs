mod nasty;

use super::*;
use crate::executor::Executor;

/// Checks a program as one of a skill.
fn check_content(program: &[u8]) -> Result<(), Fault> {
    let features = Executor::for_scripts(None).unwrap().engine.get_wasm_features();
    check(program, features, &Bounds::CONTENT)
}

/// Each is small, and takes the compiler many seconds or gigabytes.
#[test]
fn programs_that_take_long_to_compile_are_refused() {
    let locals = "is too complex to compile: function ";
    let steps = " steps of compilation, and the limit is 8000000";
    for (program, excess) in [
        (nasty::phis(1_000, 2_000), locals),
        (nasty::nested_loops(300, 300), locals),
        (nasty::loops(4, 8_000), locals),
        (nasty::jump_tables(100, 4_000, 10), locals),
        (nasty::nested_targets(1_000, 10_000), locals),
        (nasty::deep_stack(3_000, 2_000), locals),
        (nasty::wide_branches(1_000, 3_000), locals),
        (nasty::wide_calls(1_000, 200), locals),
        (nasty::straight("(local.set 0 (memory.grow (local.get 0)))", 10_000), locals),
        (nasty::straight("(drop (i32.const 1))", 50_000), "it has a function of 150006 bytes, and the limit is 131072"),
        (nasty::functions(1_000, 1_000), steps),
        (nasty::functions(20_000, 0), "it has at least 20001 functions, and the limit is 20000"),
        (nasty::globals(50_000), "its globals and segments take at least "),
        (nasty::elements(50_000), "its globals and segments take at least "),
        (nasty::segments(50_000), "its globals and segments take at least "),
        (nasty::tables(50, 1_000_000), "it has at least 5000000 table entries, and the limit is 4194304"),
        (nasty::images(90), "it has at least 90 memories, and the limit is 4"),
        (nasty::nested_components(10), "instances of components, and the limit is 16"),
        (nasty::nested_components(20), "nested components, and the limit is 16"),
        (nasty::nested_code(), "the components nested in it have code"),
    ] {
        let fault = check_content(&program).expect_err(excess);
        assert!(fault.to_string().contains(excess), "{fault} instead of {excess}");
    }
}

/// The same in small.
#[test]
fn programs_of_the_same_kinds_compile() {
    let executor = Executor::for_scripts(None).unwrap();
    for program in [
        nasty::phis(20, 100),
        nasty::nested_loops(10, 10),
        nasty::loops(4, 50),
        nasty::jump_tables(10, 20, 2),
        nasty::nested_targets(10, 50),
        nasty::deep_stack(30, 20),
        nasty::wide_branches(10, 30),
        nasty::wide_calls(10, 20),
        nasty::live_across_calls(30, 20),
        nasty::straight("(local.set 0 (memory.grow (local.get 0)))", 10),
        nasty::straight("(local.set 1 (i8x16.shl (local.get 1) (local.get 0)))", 10),
        nasty::functions(20, 20),
        nasty::globals(50),
        nasty::elements(50),
        nasty::segments(50),
        nasty::tables(2, 1_000),
        nasty::images(2),
    ] {
        check_content(&program).unwrap();
        let code = executor.content_compiler().precompile_module(&program).unwrap();
        let code = crate::cache::NativeCode::compiled(code);
        code.module(&executor.engine).expect("the engine that runs scripts takes it");
    }
}

/// An optimized component of some hundred kilobytes takes a small part of what is allowed.
#[test]
fn real_programs_are_far_from_the_bounds() {
    let bytes = std::fs::read(skillcell_tests::component("hostile-guest")).unwrap();
    let features = Executor::for_scripts(None).unwrap().engine.get_wasm_features();
    let quarter = Bounds { function_steps: 150_000, steps: 2_000_000, ..Bounds::CONTENT };
    check(&bytes, features, &quarter).unwrap();
}

#[test]
fn invalid_programs_are_refused() {
    let module = |body: &[u8]| [b"\0asm\x01\0\0\0", body].concat();
    for (program, reason) in [
        (b"hello".to_vec(), "magic header"),
        (module(b"\x01"), "unexpected end"),
        // A function that returns nothing where an `i32` is promised.
        (module(b"\x01\x05\x01\x60\0\x01\x7f\x03\x02\x01\0\x0a\x04\x01\x02\0\x0b"), "type mismatch"),
    ] {
        let fault = check_content(&program).unwrap_err();
        assert!(matches!(&fault, Fault::Invalid(found) if found.contains(reason)), "{fault}");
    }
}
