//! Evidence from the same folder: a task for one skill often uses the words of its siblings.

use scorer_bm25::bindings::skillcell::plugin::types::SkillText;
use scorer_bm25::weighting::count;
use std::collections::BTreeMap;

/// A number per folder, and the folder of each slot.
#[derive(Default)]
pub struct Folders {
    numbers: BTreeMap<Box<str>, usize>,
    sizes: Vec<usize>,
    of_slots: Vec<Option<usize>>,
}

impl Folders {
    pub fn put(&mut self, slot: u32, skill: &SkillText) {
        self.gone(slot);
        let (folder, _) = skill.path.rsplit_once('/').unwrap_or_default();
        let next = self.sizes.len();
        let number = *self.numbers.entry(folder.into()).or_insert(next);
        if number == next {
            self.sizes.push(0);
        }
        self.sizes[number] += 1;
        let slot = slot as usize;
        self.of_slots.resize(self.of_slots.len().max(slot + 1), None);
        self.of_slots[slot] = Some(number);
    }

    pub fn gone(&mut self, slot: u32) {
        if let Some(number) = self.of_slots.get_mut(slot as usize).and_then(Option::take) {
            self.sizes[number] -= 1;
        }
    }

    /// Adds a share of its siblings' average to every skill with any evidence. The order of the slots affects rounding,
    /// so it must not depend on the order of updates.
    pub fn share_evidence(&self, slots: &[u32], by_slot: &mut [f64], share: f64) {
        let placed = || slots.iter().map(|slot| *slot as usize).filter_map(|slot| Some((slot, self.of_slots[slot]?)));
        let mut sums = vec![0.0; self.sizes.len()];
        placed().for_each(|(slot, folder)| sums[folder] += by_slot[slot]);
        for (slot, folder) in placed() {
            let (own, neighbours) = (by_slot[slot], self.sizes[folder] - 1);
            if own > 0.0 && neighbours > 0 {
                by_slot[slot] += share * (sums[folder] - own).max(0.0) / count(neighbours);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(path: &str) -> SkillText {
        SkillText {
            number: 0,
            name: String::new(),
            path: path.into(),
            description: String::new(),
            keywords: Vec::new(),
            aliases: Vec::new(),
            body: String::new(),
        }
    }

    #[test]
    fn siblings_add_to_existing_evidence() {
        let mut folders = Folders::default();
        for (slot, path) in [(0, "a/one"), (1, "a/two"), (2, "a/three"), (3, "b/four"), (4, "a/five")] {
            folders.put(slot, &skill(path));
        }
        folders.gone(4);
        let mut evidence = [4.0, 2.0, 0.0, 2.0, 0.0];
        folders.share_evidence(&[0, 1, 2, 3], &mut evidence, 0.5);
        let expected = [4.0 + 0.5, 2.0 + 2.0 * 0.5, 0.0, 2.0, 0.0];
        assert!(evidence.iter().zip(expected).all(|(left, right)| (left - right).abs() < 1e-9), "{evidence:?}");
    }
}
