//! The trusted half of skillcell: it owns stdio, disk, network and time, and runs everything that understands skills in a
//! sandbox.
//!
//! The path of one call: a line comes in through [`mcp`], which turns it into a question; [`catalog`] picks a free engine
//! and asks it through [`worlds`], under the limits of [`runtime`]; the engine reads skills only through handles that
//! [`library`] lends it; the typed answer goes back out through [`mcp`].
//!
//! A script goes from [`mcp`] to [`scripts`], which checks it, settles its [`grants`], runs it in the [`sandbox`] and writes
//! that into the [`audit`].
//!
//! Beside the calls, [`catalog`] follows the disk, [`git`] follows remotes, and [`analytics`] writes down what is used.

pub mod cli;
pub mod config;
pub mod lockdown;
pub mod memory;
pub mod mcp;
pub mod ui;
pub mod listening;
pub mod catalog;
pub mod scorers;
pub mod scripts;
pub mod integrations;
pub mod set_aside;
pub mod library;
pub mod git;
pub mod worlds;
pub mod grants;
pub mod sandbox;
pub mod audit;
pub mod analytics;
pub mod runtime;
pub mod private;
pub mod sha256;
pub mod moment;
pub mod percent;
pub mod printable;
pub mod terminal;
pub mod bindings;
