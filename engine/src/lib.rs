//! Parses, indexes and matches skills. Pure: it reads files only through the root handles it is given, and the same
//! files always give the same answers.
//!
//! Changes arrive in [`catalog`], which asks [`folders`] which files may be skills, reads them with [`skill`] (on top
//! of [`reader`], [`frontmatter`] and [`yaml`]) and stores the result in an [`index`]. Queries are answered from the
//! index.

pub mod bindings;
pub mod catalog;
pub mod folders;
pub mod skill;
pub mod reader;
pub mod frontmatter;
pub mod format;
pub mod yaml;
pub mod settings;
pub mod problem;
pub mod codes;
pub mod place;
pub mod index;
pub mod names;
pub mod uris;
pub mod cross_checks;
pub mod ancestry;
pub mod aggregate;
pub mod assets;
pub mod dependencies;
pub mod document;
pub mod json;
pub mod references;
pub mod fences;
pub mod mentions;
pub mod review;
pub mod resource;
pub mod tokens;
pub mod score;
pub mod search;
pub mod tree;
pub mod paths;
pub mod text;
pub mod maps;
pub mod component;
#[cfg(any(test, feature = "memory"))]
pub mod memory;

#[cfg(all(feature = "component", target_family = "wasm"))]
mod exported {
    #![expect(unsafe_code, reason = "generated: the exports of the component")]

    use crate::bindings::skillcell::plugin::library::SkillRoot;
    use crate::catalog::Root;

    struct Component;

    impl crate::component::Engine for Component {
        fn root(handle: SkillRoot) -> Box<dyn Root> {
            Box::new(handle)
        }
    }

    crate::bindings::export!(Component with_types_in crate::bindings);
}
