//! The front matter of a skill, parsed again for the positions that the catalog does not keep.

use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::frontmatter::{self, Fields, Split};
use crate::paths;
use crate::place::Place;
use crate::yaml::{Entry, Node, Value};

/// Maximum number of entries of a list that are checked; the catalog keeps as many.
const MAX_ITEMS: usize = 1_000;

pub struct Front {
    pub fields: Fields,
    metadata: Fields,
    pub model: SkillModel,
}

/// An entry of `assets` or `scripts`.
pub struct Item<'front> {
    /// Where its path is written.
    pub place: Place,
    /// The path below the resource folder.
    pub file: String,
    pub fields: &'front [Entry],
}

impl Front {
    pub fn of(text: &str, model: SkillModel) -> Option<Self> {
        let Split::Found { yaml, .. } = frontmatter::split(text) else { return None };
        let fields = frontmatter::parse(yaml).fields;
        Some(Self { metadata: fields.metadata(), fields, model })
    }

    /// Returns a field of the tree model, which a folder skill may also have below `metadata`.
    pub fn field(&self, key: &str) -> Option<&Entry> {
        let below = || self.metadata.get(key).filter(|_| self.model == SkillModel::Folder);
        self.fields.get(key).or_else(below)
    }

    /// Returns the valid entries of `assets` or `scripts`.
    pub fn items(&self, key: &str) -> Vec<Item<'_>> {
        let Some(Value::List(items)) = self.field(key).map(|entry| &entry.node.value) else { return Vec::new() };
        items.iter().take(MAX_ITEMS).filter_map(Item::of).collect()
    }
}

impl<'front> Item<'front> {
    fn of(item: &'front Node) -> Option<Self> {
        let (node, fields): (&Node, &[Entry]) = match &item.value {
            Value::Map(fields) => (find(fields, "file")?, fields),
            _ => (item, &[]),
        };
        let file = paths::clean(node.as_text()?).filter(|file| !paths::is_hidden(file))?;
        Some(Self { place: node.place, file, fields })
    }
}

pub fn find<'entries>(entries: &'entries [Entry], key: &str) -> Option<&'entries Node> {
    entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
}
