//! The folders of skills on disk: which there are, what they contain, and what changed.
//!
//! Owns roots and their labels, snapshots of their folders and files, scanning, watching, and reading without leaving a
//! root. Must not know what a skill means: that is for the engine, which gets snapshots, and for `catalog`, which decides
//! when to scan.
//!
//! Start reading with [`roots`] and [`snapshot`]; then [`scan`], which makes one snapshot from another, and [`sync_cookie`],
//! which tells it the dirty paths that [`watch`] saw. Scripts and clients read files through [`resources`]. All of them follow
//! links with [`links`].

pub mod files;
pub mod frozen;
pub mod hidden;
pub mod links;
pub mod read_ahead;
pub mod reading;
pub mod resources;
pub mod roots;
pub mod plugins;
pub mod scan;
pub mod shared_map;
pub mod snapshot;
pub mod stamp;
pub mod watch;
pub mod sync_cookie;
