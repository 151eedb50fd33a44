//! Ranks skills for a task by names, keywords and BM25, forgiving in spelling and language.
//!
//! [`meanings`] reads the task and says, with the help of [`lexicon`], [`stem`], [`spelling`] and [`thesaurus`], which words
//! of the skills each of its words may mean. [`evidence`] adds up what that says for each skill, [`keywords`] adds S4's score
//! and [`folders`] what the neighbours say. [`confidence`] makes a score from 0 to 1 of it, and [`names`] puts first what the
//! task calls by its name.

pub mod weights;
pub mod hybrid;
pub mod meanings;
pub mod lexicon;
pub mod stem;
pub mod spelling;
pub mod thesaurus;
pub mod common_words;
pub mod evidence;
pub mod keywords;
pub mod folders;
pub mod confidence;
pub mod names;
#[cfg(test)]
mod tests;

#[cfg(target_family = "wasm")]
mod exported {
    #![expect(unsafe_code, reason = "generated: the exports of the component")]

    struct Component;

    impl scorer_bm25::bindings::exports::skillcell::plugin::scoring::Guest for Component {
        type Prepared = scorer_bm25::component::Prepared<crate::hybrid::Hybrid>;
    }

    scorer_bm25::bindings::export!(Component with_types_in scorer_bm25::bindings);
}
