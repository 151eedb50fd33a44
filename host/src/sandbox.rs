//! Running one script: a fresh guest that sees what it is lent, uses what it may, and is then thrown away.

pub mod denials;
pub mod files;
pub mod gate;
pub mod meter;
pub mod nature;
pub mod output;
mod p1;
pub mod p2;
pub mod state;
pub mod stop;
pub mod limits;
pub mod runtimes;
pub mod run;
