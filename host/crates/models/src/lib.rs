//! Word vectors that the operator installs for scorers.
//!
//! Owns the way from the files of a model to a table that a scorer is lent: where known models come from ([`known`]), what is accepted
//! of their files ([`weights`], [`tokenizer`]), the table itself ([`table`]), and the folder with the lock file ([`store`]). Must not
//! know skills, scorers or MCP: the table is bytes, and what they mean is decided in the sandbox.
//!
//! Start reading with [`store`]. Everything in a model is foreign: sizes and shapes are checked before they are used.

pub mod store;
pub mod known;
pub mod table;
pub mod weights;
pub mod tokenizer;
