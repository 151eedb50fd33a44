//! Ranks skills for a task by BM25 over weighted fields.
//!
//! Skills arrive in [`component`]. [`words`] splits their texts, [`index`] stores which skill has which word in which
//! [`field`], and [`bm25`] computes scores from it.

pub mod bindings;
pub mod component;
pub mod field;
pub mod words;
pub mod stop_words;
pub mod vocabulary;
pub mod hasher;
pub mod index;
pub mod weighting;
pub mod bm25;
pub mod reason;
#[cfg(test)]
mod tests;

#[cfg(all(feature = "component", target_family = "wasm"))]
mod exported {
    #![expect(unsafe_code, reason = "generated: the exports of the component")]

    struct Component;

    impl crate::bindings::exports::skillcell::plugin::scoring::Guest for Component {
        type Prepared = crate::component::Prepared<crate::bm25::Bm25>;
    }

    crate::bindings::export!(Component with_types_in crate::bindings);
}
