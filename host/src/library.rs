//! The folders of skills: which there are, what is in them, and what changed.

pub mod files;
pub mod held;
pub mod reading;
pub mod resources;
pub mod roots;
pub mod plugins;
pub mod scan;
pub mod snapshot;
pub mod stamp;
pub mod surroundings;
pub mod watch;
pub mod witness;
