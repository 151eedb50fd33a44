//! The quality of the ranking on questions that were not used for tuning. `just eval` prints all figures.

use crate::SKILLCELL;
use serde_json::json;
use skillcell_tests::files_below;
use skillcell_tests::ranking::{Question, Tally, percent, questions, server, skills};
use std::collections::BTreeSet;
use std::path::Path;

const STYLES: [&str; 7] = ["close", "exact", "french", "long", "none", "paraphrase", "typo"];

#[test]
fn hybrid_beats_the_others_on_questions_that_were_not_used_for_tuning() {
    let report = questions("report");
    let tally = |scorer| Tally::of(Path::new(SKILLCELL), scorer, &report);
    let (keyword, bm25, hybrid) = (tally("keyword"), tally("bm25"), tally("hybrid"));
    assert!(bm25.right_at_1 > keyword.right_at_1 * 3 / 2, "{} {}", bm25.right_at_1, keyword.right_at_1);
    assert!(hybrid.right_at_1 > bm25.right_at_1, "{} {}", hybrid.right_at_1, bm25.right_at_1);
    assert!(hybrid.answered < bm25.answered, "{} {}", hybrid.answered, bm25.answered);
    assert!(percent(hybrid.right_at_1, hybrid.with_answer) > 70.0, "docs/scorers.md promises this");
}

#[test]
fn both_sets_have_questions_of_every_style_and_are_disjoint() {
    let [tune, report] = ["tune", "report"].map(questions);
    let files = files_below(&skills());
    let skill_count = files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "md")).count();
    assert!(skill_count >= 150 && tune.len() + report.len() >= 300, "{skill_count} skills");
    for part in [&tune, &report] {
        let styles: BTreeSet<&str> = part.iter().map(|question| question.style.as_str()).collect();
        assert_eq!(styles, BTreeSet::from(STYLES));
        let is_consistent = |question: &Question| question.right.is_none() == (question.style == "none");
        assert!(part.iter().all(is_consistent), "only questions of style `none` have no right skill");
    }
    let texts = |part: &[Question]| part.iter().map(|question| question.ask.to_lowercase()).collect::<BTreeSet<_>>();
    let right = |part: &[Question]| part.iter().filter_map(|question| question.right.clone()).collect::<BTreeSet<_>>();
    assert_eq!(texts(&tune).len() + texts(&report).len(), tune.len() + report.len(), "a question is a duplicate");
    assert!(texts(&tune).is_disjoint(&texts(&report)) && right(&tune).is_disjoint(&right(&report)));
    // A typo in a name would count against every scorer.
    let mut session = server(Path::new(SKILLCELL), "keyword");
    for right in right(&tune).union(&right(&report)) {
        let answer = session.call_json("get_skill", json!({"context": "any", "skill_path": right}));
        assert_eq!(answer["skill_path"], json!(right), "a question names a missing skill");
    }
}
