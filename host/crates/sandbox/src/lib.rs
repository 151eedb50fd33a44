//! Everything one guest can reach: files, the network, output, a clock and random numbers, each limited.
//!
//! Owns the file tree of a script in both versions of WASI, the gate to the network, and the limits. Must not know skills,
//! grants or how guests are compiled and called.
//!
//! Start reading with [`state`], whose fields are the complete list of what a script can reach; then:
//!
//! - [`files`]: the tree that [`p1`] and [`p2`] translate to WASI, with the quota of `/tmp`;
//! - [`gate`]: the only way to the network, to the [`hosts`] that are granted;
//! - [`limits`]: the default of each limit, where it is set and what enforces it, such as [`limits::memory`];
//! - [`denials`]: what was denied to a guest, for the result of its run.

pub mod state;
pub mod files;
pub mod p1;
pub mod p2;
pub mod gate;
pub mod hosts;
pub mod output;
pub mod clock_rng;
pub mod limits;
pub mod denials;
