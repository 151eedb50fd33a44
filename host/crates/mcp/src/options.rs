//! The operator's options.

use crate::surface::Surface;

#[derive(Debug)]
pub struct Options {
    pub surface: Surface,
    /// Whether the skills never change after the start.
    pub frozen: bool,
}
