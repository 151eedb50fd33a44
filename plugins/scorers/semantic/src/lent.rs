//! The model that the host lends.

use crate::semantic::Semantic;
use crate::table::{Source, Table};
use crate::vectors::Vectors;
use scorer_bm25::bindings::skillcell::plugin::log::{Level, write};
use scorer_bm25::bindings::skillcell::plugin::model;
use scorer_bm25::bindings::skillcell::plugin::types::{Scored, SkillText};
use scorer_bm25::component::Scorer;

pub struct Lent {
    size: u64,
}

impl Source for Lent {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, offset: u64, length: u32) -> Vec<u8> {
        model::read(offset, length)
    }
}

impl Default for Semantic<Lent> {
    /// Without a usable model, words count as in `hybrid`.
    fn default() -> Self {
        let Some(size) = model::size() else {
            write(Level::Debug, "there is no model, so meanings do not count");
            return Self::new(None);
        };
        match Table::open(Lent { size }) {
            Ok(table) => Self::new(Some(Vectors::new(table))),
            Err(damaged) => {
                write(Level::Warn, &format!("the model cannot be used, so meanings do not count: {damaged}"));
                Self::new(None)
            }
        }
    }
}

impl Scorer for Semantic<Lent> {
    fn put(&mut self, skill: &SkillText) {
        self.put(skill);
    }

    fn gone(&mut self, number: u32) {
        self.gone(number);
    }

    fn score(&self, task: &str) -> Vec<Scored> {
        self.score(task)
    }
}
