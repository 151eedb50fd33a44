//! A sorted map from paths whose copies share nearly everything, so that a copy with a few changes costs little however
//! large it is.

use std::ops::Index;
use std::sync::Arc;

/// Entries of a leaf, which are copied if one of them changes in a map that shares it.
const MAX_LEAF: usize = 128;

type Leaf<T> = Vec<(Arc<str>, Arc<T>)>;

#[derive(Debug)]
pub struct SharedMap<T> {
    /// None is empty, and all keys of one come before those of the next.
    leaves: Vec<Arc<Leaf<T>>>,
    len: usize,
}

impl<T> Default for SharedMap<T> {
    fn default() -> Self {
        Self { leaves: Vec::new(), len: 0 }
    }
}

impl<T> Clone for SharedMap<T> {
    fn clone(&self) -> Self {
        Self { leaves: self.leaves.clone(), len: self.len }
    }
}

impl<T> SharedMap<T> {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn get(&self, path: &str) -> Option<&Arc<T>> {
        self.get_key_value(path).map(|(_, value)| value)
    }

    pub fn get_key_value(&self, path: &str) -> Option<(&Arc<str>, &Arc<T>)> {
        let leaf = self.leaves.get(self.leaf_of(path)?)?;
        let place = place_in(leaf, path).ok()?;
        leaf.get(place).map(|(path, value)| (path, value))
    }

    pub fn contains_key(&self, path: &str) -> bool {
        self.get(path).is_some()
    }

    pub fn insert(&mut self, path: Arc<str>, value: Arc<T>) -> Option<Arc<T>> {
        let Some(at) = self.leaf_of(&path) else {
            self.len += 1;
            match self.leaves.first_mut() {
                Some(first) => copied(first).insert(0, (path, value)),
                None => self.leaves.push(Arc::new(vec![(path, value)])),
            }
            self.split(0);
            return None;
        };
        let leaf = copied(&mut self.leaves[at]);
        match place_in(leaf, &path) {
            Ok(place) => Some(std::mem::replace(&mut leaf[place].1, value)),
            Err(place) => {
                leaf.insert(place, (path, value));
                self.len += 1;
                self.split(at);
                None
            }
        }
    }

    pub fn remove(&mut self, path: &str) -> Option<Arc<T>> {
        let at = self.leaf_of(path)?;
        let place = place_in(&self.leaves[at], path).ok()?;
        let leaf = copied(&mut self.leaves[at]);
        let (_, value) = leaf.remove(place);
        if leaf.is_empty() {
            self.leaves.remove(at);
        }
        self.len -= 1;
        Some(value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<T>)> {
        self.leaves.iter().flat_map(|leaf| leaf.iter()).map(|(path, value)| (path, value))
    }

    pub fn values(&self) -> impl Iterator<Item = &Arc<T>> {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the entries from a path on.
    fn from<'map>(&'map self, path: &str) -> impl Iterator<Item = (&'map Arc<str>, &'map Arc<T>)> + use<'map, T> {
        let first = self.leaf_of(path).unwrap_or(0);
        let skipped = self.leaves.get(first).map_or(0, |leaf| place_in(leaf, path).unwrap_or_else(|place| place));
        let entries = self.leaves[first.min(self.leaves.len())..].iter().flat_map(|leaf| leaf.iter());
        entries.skip(skipped).map(|(path, value)| (path, value))
    }

    /// Returns the entries below a folder.
    pub fn below<'map>(
        &'map self,
        folder: &str,
    ) -> impl Iterator<Item = (&'map Arc<str>, &'map Arc<T>)> + use<'map, T> {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let entries = self.from(&start).skip_while(|(path, _)| path.is_empty());
        entries.take_while(move |(path, _)| path.starts_with(&start))
    }

    /// The last leaf whose first path is not beyond this one.
    fn leaf_of(&self, path: &str) -> Option<usize> {
        let is_before = |leaf: &Arc<Leaf<T>>| leaf.first().is_some_and(|(first, _)| **first <= *path);
        self.leaves.partition_point(is_before).checked_sub(1)
    }

    fn split(&mut self, at: usize) {
        if self.leaves[at].len() > MAX_LEAF {
            // Most maps are filled in order, which leaves full leaves behind.
            let is_last = at + 1 == self.leaves.len();
            let leaf_end = if is_last { MAX_LEAF } else { MAX_LEAF / 2 };
            let rest = copied(&mut self.leaves[at]).split_off(leaf_end);
            self.leaves.insert(at + 1, Arc::new(rest));
        }
    }
}

impl<T> Index<&str> for SharedMap<T> {
    type Output = Arc<T>;
    fn index(&self, path: &str) -> &Arc<T> {
        self.get(path).expect("a path in the map")
    }
}

/// Returns a leaf for changing it.
fn copied<T>(leaf: &mut Arc<Leaf<T>>) -> &mut Leaf<T> {
    if Arc::get_mut(leaf).is_none() {
        *leaf = Arc::new(leaf.iter().map(|(path, value)| (Arc::clone(path), Arc::clone(value))).collect());
    }
    Arc::get_mut(leaf).expect("it was just copied")
}

fn place_in<T>(leaf: &Leaf<T>, path: &str) -> Result<usize, usize> {
    leaf.binary_search_by(|(other, _)| (**other).cmp(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn a_map_and_its_copies_are_like_ordinary_maps(
            steps in prop::collection::vec(("[ab]{0,2}(/[abc]{1,2}){0,3}", prop::option::of(0..100), prop::bool::weighted(0.05)), 0..600),
            folder in "[ab]{0,2}(/[abc])?",
        ) {
            let (mut map, mut plain) = (SharedMap::default(), BTreeMap::new());
            let mut copies = Vec::new();
            for (path, value, is_copied) in steps {
                let expected = if let Some(value) = value { plain.insert(path.clone(), value) } else { plain.remove(&path) };
                let key = path.as_str().into();
                let found = if let Some(value) = value { map.insert(key, Arc::new(value)) } else { map.remove(&path) };
                prop_assert_eq!(found.map(|value| *value), expected);
                if is_copied {
                    copies.push((map.clone(), plain.clone()));
                }
            }
            copies.push((map, plain));
            for (map, plain) in &copies {
                let all: Vec<(String, i32)> = map.iter().map(|(path, value)| (path.to_string(), **value)).collect();
                prop_assert_eq!(&all, &plain.clone().into_iter().collect::<Vec<_>>());
                prop_assert_eq!(map.len(), plain.len());
                let below: Vec<String> = map.below(&folder).map(|(path, _)| path.to_string()).collect();
                let is_below = |path: &&String| !path.is_empty() && (folder.is_empty() || path.starts_with(&format!("{folder}/")));
                prop_assert_eq!(below, plain.keys().filter(is_below).cloned().collect::<Vec<_>>());
                for (path, value) in plain {
                    prop_assert_eq!(map.get(path).map(|value| **value), Some(*value));
                }
            }
        }
    }
}
