//! Hash maps that need no random numbers, of which the engine has none.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;

/// A map from texts. Its order means nothing.
pub type TextMap<T> = HashMap<String, T, BuildHasherDefault<DefaultHasher>>;
