//! Ranks skills for a task by names, keywords and BM25, tolerant of spelling and language.
//!
//! [`meanings`] maps each word of the task to words of the skills, using [`lexicon`], [`stem`], [`spelling`],
//! [`thesaurus`] and, for other [`languages`], the [`glossary`]. [`evidence`] sums up the matches per skill by their
//! [`strength`], and [`folders`] adds a share from the same folder. [`confidence`] converts the sum to a score from 0 to 1, and [`names`]
//! ranks skills first that the task names.

pub mod weights;
pub mod hybrid;
pub mod meanings;
pub mod lexicon;
pub mod stem;
pub mod spelling;
pub mod thesaurus;
pub mod languages;
pub mod glossary;
pub mod common_words;
pub mod strength;
pub mod evidence;
pub mod folders;
pub mod confidence;
pub mod names;
#[cfg(test)]
mod tests;

#[cfg(all(feature = "component", target_family = "wasm"))]
mod exported {
    #![expect(unsafe_code, reason = "generated: the exports of the component")]

    struct Component;

    impl scorer_bm25::bindings::exports::skillcell::plugin::scoring::Guest for Component {
        type Prepared = scorer_bm25::component::Prepared<crate::hybrid::Hybrid>;
    }

    scorer_bm25::bindings::export!(Component with_types_in scorer_bm25::bindings);
}
