//! Tests through the interface that the host uses.

use crate::bindings::skillcell::plugin::types::{Scored, SkillText};
use crate::bm25::Bm25;
use crate::component::Scorer;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn skill(number: u32, name: &str, description: &str, body: &str) -> SkillText {
    SkillText {
        number,
        name: name.into(),
        path: format!("finance/{name}"),
        description: description.into(),
        keywords: Vec::new(),
        aliases: Vec::new(),
        body: body.into(),
    }
}

/// Fields from the highest to the lowest weight.
#[test]
fn a_word_counts_most_in_the_name_then_keywords_description_and_body() {
    let mut scorer = Bm25::default();
    for (number, name, keyword, description, body) in [
        (0, "kiln", "clay", "Something else here.", "And another text."),
        (1, "first", "kiln", "Something else here.", "And another text."),
        (2, "second", "clay", "Something kiln here.", "And another text."),
        (3, "third", "clay", "Something else here.", "And another kiln."),
        (4, "fourth", "clay", "Something else here.", "And another text."),
    ] {
        scorer.put(&SkillText { keywords: vec![keyword.into()], ..skill(number, name, description, body) });
    }
    let scores: Vec<f64> = scorer.score("kiln").iter().map(|scored| scored.score).collect();
    assert!(scores.is_sorted_by(|left, right| left > right), "{scores:?}");
    assert!(scorer.score("kilns").iter().all(|scored| scored.score == 0.0), "words are not stemmed");
}

fn office() -> Bm25 {
    let mut scorer = Bm25::default();
    scorer.put(&skill(7, "invoice", "Write an invoice for a customer.", "Check the bank details."));
    scorer.put(&skill(2, "bank-transfer", "Pay a supplier by bank transfer.", "Attach the invoice."));
    let mut travel = skill(5, "travel-costs", "Claim the costs of a journey.", "Keep receipts.");
    travel.keywords = vec!["expenses".into()];
    travel.aliases = vec!["reimbursement".into()];
    scorer.put(&travel);
    scorer
}

fn numbers(scored: &[Scored]) -> Vec<f64> {
    scored.iter().map(|scored| scored.score).collect()
}

#[test]
fn names_count_more_than_texts_and_reasons_say_where() {
    let scored = office().score("Invoice, and the bank");
    assert_eq!(scored.len(), 3);
    let [transfer, travel, invoice] = &scored[..] else { panic!("three skills") };
    assert_eq!(invoice.reason, "name: invoice; body: bank");
    assert_eq!(transfer.reason, "name: bank; body: invoice");
    assert_eq!((travel.score, travel.reason.as_str()), (0.0, ""));
    let only_invoice = office().score("an invoice");
    assert!(only_invoice[2].score > only_invoice[0].score + 0.1, "{only_invoice:?}");
}

#[test]
fn accents_case_keywords_and_aliases_find() {
    for task in ["EXPÊNSES", "reimbursement?", "Travel-Costs"] {
        let scored = numbers(&office().score(task));
        assert!(scored[1] > 0.5 && scored[0] < 0.1 && scored[2] < 0.1, "{task}: {scored:?}");
    }
}

#[test]
fn an_unrelated_task_scores_low() {
    let scored = numbers(&office().score("Train a neural network to play chess against the bank manager"));
    assert!(scored.iter().all(|score| *score < 0.2), "{scored:?}");
}

#[test]
fn extreme_tasks_and_texts_give_scores_within_bounds() {
    let mut scorer = office();
    scorer.put(&skill(u32::MAX, "", "", ""));
    scorer.put(&skill(9, "loud", &"bank ".repeat(100_000), &"🦀 ".repeat(1_000)));
    let megabyte = "invoice for the bank of 7 rivers ".repeat(32_000);
    let distinct: String = (0..100_000).map(|number| format!("word{number} ")).collect();
    for task in ["", "a", "x", "🦀🦀", "the of and", "\u{0}\u{feff}", "---", &megabyte, &distinct] {
        let scored = scorer.score(task);
        assert_eq!(scored.len(), 5);
        assert!(scored.iter().all(|scored| (0.0..=1.0).contains(&scored.score)), "{task:.40}");
    }
    assert!(Bm25::default().score("invoice").is_empty());
}

/// Changes to a few skills: a new text, or removal.
fn changes() -> impl Strategy<Value = Vec<(u32, Option<String>)>> {
    prop::collection::vec((0..6_u32, prop::option::weighted(0.7, "[a-d]{1,2}( [a-d]{1,2}){0,5}")), 0..30)
}

proptest! {
    #[test]
    fn scores_depend_only_on_the_current_skills(changes in changes(), task in "[a-d]{1,2}( [a-d]{1,2}){0,3}") {
        let mut edited = Bm25::default();
        let mut left = BTreeMap::new();
        for (number, text) in changes {
            if let Some(text) = text {
                let (name, body) = text.split_once(' ').unwrap_or((&text, ""));
                let skill = skill(number, name, body, &text);
                edited.put(&skill);
                left.insert(number, skill);
            } else {
                edited.gone(number);
                left.remove(&number);
            }
        }
        let mut fresh = Bm25::default();
        left.values().rev().for_each(|skill| fresh.put(skill));
        prop_assert_eq!(edited.score(&task), fresh.score(&task));
    }

    #[test]
    fn any_text_gives_one_score_from_0_to_1_for_each_skill(texts in prop::collection::vec("\\PC{0,40}", 0..5), task in "\\PC{0,60}") {
        let mut scorer = Bm25::default();
        for (number, text) in (0..).zip(&texts) {
            scorer.put(&skill(number, text, text, text));
        }
        let scored = scorer.score(&task);
        prop_assert_eq!(scored.len(), texts.len());
        prop_assert!(scored.iter().all(|scored| (0.0..=1.0).contains(&scored.score)));
        prop_assert!(scored.iter().all(|scored| !scored.reason.contains('\n')));
    }
}
