//! Tests through the interface that the host uses.

mod lists;

use crate::hybrid::Hybrid;
use proptest::prelude::*;
use scorer_bm25::bindings::skillcell::plugin::types::SkillText;
use scorer_bm25::component::Scorer;
use std::collections::BTreeMap;

fn skill(number: u32, path: &str, keywords: &[&str], description: &str) -> SkillText {
    SkillText {
        number,
        name: path.rsplit('/').next().unwrap_or_default().into(),
        path: path.into(),
        description: description.into(),
        keywords: keywords.iter().map(|keyword| (*keyword).to_owned()).collect(),
        aliases: Vec::new(),
        body: format!("# {description}\n"),
    }
}

/// Enough different skills for rare words to be rare.
fn office() -> Hybrid {
    let mut scorer = Hybrid::default();
    let mut reimburse =
        skill(9, "finance/expense-claim", &["expenses", "receipt"], "Claim what you paid for the company.");
    reimburse.aliases = vec!["out of pocket".into()];
    for skill in [
        skill(0, "finance/issue-invoice", &["invoice", "billing", "vat"], "Write an invoice for work that is done."),
        skill(1, "finance/quote", &["price", "offer"], "Tell a customer what a project would cost."),
        skill(2, "people/onboarding", &["new hire"], "Prepare the first weeks of a colleague."),
        skill(3, "people/payroll-check", &["salary"], "Check the monthly salaries before they are paid."),
        skill(4, "devops/rollback", &["deploy", "revert"], "Return to the version before a bad deployment."),
        skill(
            5,
            "devops/kubernetes-debug",
            &["pods", "crash loop"],
            "Find out why a pod does not start in the cluster.",
        ),
        skill(6, "databases/slow-queries", &["explain", "postgres"], "Make a slow SQL query fast."),
        skill(7, "databases/backup", &["dump", "restore"], "Back up a database and restore it."),
        skill(8, "writing/translation", &["language"], "Translate texts between English and French."),
        reimburse,
    ] {
        scorer.put(&skill);
    }
    scorer
}

/// Returns the best skill, if its score makes it a candidate.
fn best(task: &str) -> Option<usize> {
    let scored = office().score(task);
    let best = (0..scored.len()).max_by(|left, right| scored[*left].score.total_cmp(&scored[*right].score));
    best.filter(|best| scored[*best].score >= 0.2)
}

#[test]
fn tasks_find_their_skill_in_various_wordings() {
    for (task, expected) in [
        ("invoice with vat", 0),
        ("Invioce for the custmer", 0),
        ("établir une facture", 0),
        ("make a bill", 0),
        ("my pods are crashing", 5),
        ("roll back the last deployment", 4),
        ("la requête SQL est trop lente", 6),
        ("translating a text into French", 8),
        ("out of pocket", 9),
    ] {
        assert_eq!(best(task), Some(expected), "{task}");
    }
}

#[test]
fn a_named_skill_comes_first() {
    let scored = office().score("Follow people/onboarding and make an invoice with vat and billing for it");
    assert!(scored[2].score >= 0.9 && scored[2].score > scored[0].score + 0.05, "{scored:?}");
    assert!(scored[2].reason.starts_with("called by its name"), "{scored:?}");
}

#[test]
fn a_named_skill_leads_clearly_whatever_else_the_task_says() {
    let every_word = "kubernetes debug pods crash loop find out why a pod does not start in the cluster";
    let scored = office().score(&format!("devops/rollback: {every_word}, {every_word}"));
    let others = scored.iter().enumerate().filter(|(number, _)| *number != 4).map(|(_, scored)| scored.score);
    let best = others.fold(0.0, f64::max);
    assert!(best > 0.5 && scored[4].score > best + 0.1, "{scored:?}");
}

#[test]
fn with_equal_words_the_skill_whose_whole_name_is_said_is_better() {
    let mut scorer = office();
    scorer.put(&skill(20, "a/kiln", &[], "Fire clay in it."));
    scorer.put(&skill(21, "a/kiln-glaze-cones", &[], "Fire clay in it."));
    let scored = scorer.score("fire the kiln");
    assert!(scored[10].score > scored[11].score, "{:?}", &scored[10..]);
}

#[test]
fn a_word_in_a_long_body_counts_less_than_one_in_a_short_body_or_a_description() {
    let mut scorer = office();
    let mut with_body = |number, body: String| {
        let mut skill = skill(number, &format!("pottery/p{number}"), &[], "Make pots.");
        skill.body = body;
        scorer.put(&skill);
    };
    with_body(20, "kiln ".repeat(3));
    with_body(21, "kiln ".repeat(3) + &"pot ".repeat(4_000));
    scorer.put(&skill(22, "pottery/p22", &[], "Heat a kiln."));
    let scores: Vec<f64> = scorer.score("kiln")[10..].iter().map(|scored| scored.score).collect();
    assert!(scores[2] > scores[0] && scores[0] > scores[1], "{scores:?}");
}

#[test]
fn unrelated_tasks_find_nothing() {
    for task in ["how long do I cook rice", "the rules of chess for beginners", "", "the", "🦀", "quelle heure est-il"]
    {
        assert_eq!(best(task), None, "{task}: {:?}", office().score(task));
    }
}

#[test]
fn reasons_say_which_words_count() {
    let scored = office().score("billing of works");
    assert_eq!(scored[0].reason, "keywords: billing; description: work");
}

#[test]
fn extreme_tasks_and_texts_give_scores_within_bounds() {
    let mut scorer = office();
    scorer.put(&skill(u32::MAX, "", &[""], ""));
    scorer.put(&skill(20, "loud/loud", &["loud"], &"invoice ".repeat(100_000)));
    let megabyte = "invoice for the bank of 7 rivers ".repeat(32_000);
    let distinct: String = (0..100_000).map(|number| format!("word{number} ")).collect();
    for task in ["", "a", "x", "🦀🦀", "the of and", "\u{0}\u{feff}", "---", "/", "`", &megabyte, &distinct] {
        let scored = scorer.score(task);
        assert_eq!(scored.len(), 12);
        assert!(scored.iter().all(|scored| (0.0..=1.0).contains(&scored.score)), "{task:.40}");
    }
    assert!(Hybrid::default().score("invoice").is_empty());
}

/// Changes to a few skills: a new text, or removal.
fn changes() -> impl Strategy<Value = Vec<(u32, Option<String>)>> {
    let text =
        "(hotel|invoice|bill|invoices|billing|deploy|facture|travel)( (hotels|invoic|bills|deployed|[a-c]{1,2})){0,5}";
    prop::collection::vec((0..14_u32, prop::option::weighted(0.8, text)), 0..40)
}

proptest! {
    #[test]
    fn scores_depend_only_on_the_current_skills(changes in changes(), task in "(facture|hotel|invioce|bills|deploying|a-b|ab)( (hotel|bill|[a-c]{1,2})){0,3}") {
        let mut edited = Hybrid::default();
        let mut left = BTreeMap::new();
        for (number, text) in changes {
            if let Some(text) = text {
                let (name, rest) = text.split_once(' ').unwrap_or((&text, ""));
                let skill = skill(number, &format!("folder{}/{name}", number % 3), &[rest], &text);
                edited.put(&skill);
                left.insert(number, skill);
            } else {
                edited.gone(number);
                left.remove(&number);
            }
        }
        let mut fresh = Hybrid::default();
        left.values().rev().for_each(|skill| fresh.put(skill));
        prop_assert_eq!(edited.score(&task), fresh.score(&task));
    }

    #[test]
    fn any_text_gives_one_score_from_0_to_1_for_each_skill(texts in prop::collection::vec("\\PC{0,40}", 0..15), task in "\\PC{0,60}") {
        let mut scorer = Hybrid::default();
        for (number, text) in (0..).zip(&texts) {
            scorer.put(&skill(number, text, &[text], text));
        }
        for task in texts.iter().take(1).chain([&task]) {
            let scored = scorer.score(task);
            prop_assert_eq!(scored.len(), texts.len());
            prop_assert!(scored.iter().all(|scored| (0.0..=1.0).contains(&scored.score)));
            prop_assert!(scored.iter().all(|scored| !scored.reason.contains('\n')));
        }
    }
}
