//! The folders of skills: which there are, what is in them, and what changed.

pub mod reading;
pub mod roots;
pub mod scan;
pub mod snapshot;
pub mod stamp;
