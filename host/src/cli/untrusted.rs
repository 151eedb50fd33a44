//! Text of skills and scripts, on its way to an output.

use base::printable::printable_text;
use std::borrow::Cow;
use terminal::Output;

/// Escapes control characters for a terminal, which would obey them. A program gets the text unchanged.
pub fn text_for(output: Output, text: &str) -> Cow<'_, str> {
    if output.is_terminal() { printable_text(text) } else { text.into() }
}
