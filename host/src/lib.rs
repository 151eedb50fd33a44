//! The binary: commands, configuration and the page of `skillcell ui`, wired to the crates below `host/crates` ([`compose`]).
//!
//! Owns the command line ([`cli`]), what the operator's file, the environment and flags mean ([`config`]), the local page
//! ([`ui`]), and the filter that forbids starting programs ([`lockdown`]). Must not know how a question is
//! answered or a script is run: everything else is a crate of its own, and none of them knows this one.
//!
//! Start reading with [`cli`], where each command is a file.

pub mod cli;
pub mod compose;
pub mod config;
pub mod ui;
pub mod lockdown;
