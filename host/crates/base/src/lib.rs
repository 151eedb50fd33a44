//! Building blocks for every other crate of the host.
//!
//! Owns digests, timestamps, percent-encoding, escaping of untrusted text, places in messages, files that only the user
//! can access, the environment and the user's folders. Must not know skills, guests or MCP, and depends on no other crate of the host.
//!
//! Start reading with [`printable`], through which all untrusted text is shown, and [`user_files`], through which
//! everything below the home folder is written.

pub mod printable;
pub mod place;
pub mod user_files;
pub mod user_folders;
pub mod environment;
pub mod digest;
pub mod timestamp;
pub mod percent;
pub mod allocator;
