//! Ranks skills for a task like `scorer-hybrid`, and by what words mean.
//!
//! The host lends a [`table`] of word vectors. [`pieces`] splits words as the table knows them, [`vectors`] gives texts a
//! direction, and [`semantic`] adds the similarity of directions to the evidence of the other scorer. [`explain`] says which
//! words are close.

pub mod table;
pub mod pieces;
pub mod vectors;
pub mod semantic;
pub mod explain;
#[cfg(test)]
mod tests;

#[cfg(target_family = "wasm")]
mod lent;

#[cfg(target_family = "wasm")]
mod exported {
    #![expect(unsafe_code, reason = "generated: the exports of the component")]

    struct Component;

    impl scorer_bm25::bindings::exports::skillcell::plugin::scoring::Guest for Component {
        type Prepared = scorer_bm25::component::Prepared<crate::semantic::Semantic<crate::lent::Lent>>;
    }

    scorer_bm25::bindings::export!(Component with_types_in scorer_bm25::bindings);
}
