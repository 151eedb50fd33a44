//! The guests of skillcell, compiled to WebAssembly by this crate's build script.
//!
//! Apart from `skillcell-artifacts`, so that they are compiled next to Cranelift and not after it.
