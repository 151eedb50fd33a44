//! Maps the generated traits to a plain scorer.

use crate::bindings::exports::skillcell::plugin::scoring::GuestPrepared;
use crate::bindings::skillcell::plugin::log;
use crate::bindings::skillcell::plugin::types::{Scored, SkillText, TextChange};
use std::cell::RefCell;

/// The functions of a component of world `scorer`.
pub trait Scorer: Default + 'static {
    /// Adds or replaces a skill.
    fn put(&mut self, skill: &SkillText);
    /// Removes a skill, if there is one with this number.
    fn gone(&mut self, number: u32);
    /// Returns one entry per skill, in ascending order of their numbers.
    fn score(&self, task: &str) -> Vec<Scored>;
}

/// Implements the WIT resource with a scorer.
pub struct Prepared<S>(RefCell<S>);

impl<S: Scorer> GuestPrepared for Prepared<S> {
    fn new() -> Self {
        std::panic::set_hook(Box::new(|panic| log::write(log::Level::Warn, &panic.to_string())));
        Self(RefCell::default())
    }

    fn update(&self, changes: Vec<TextChange>) {
        let mut scorer = self.0.borrow_mut();
        for change in changes {
            match change {
                TextChange::Put(skill) => scorer.put(&skill),
                TextChange::Gone(number) => scorer.gone(number),
            }
        }
    }

    fn score(&self, task: String) -> Vec<Scored> {
        self.0.borrow().score(&task)
    }
}
