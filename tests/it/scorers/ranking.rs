//! How good the ranking is, on questions that nobody tuned on; `just eval` prints all of it.

use crate::SKILLCELL;
use serde_json::json;
use skillcell_tests::files_below;
use skillcell_tests::ranking::{Question, Tally, percent, questions, server, skills};
use std::collections::BTreeSet;
use std::path::Path;

const STYLES: [&str; 7] = ["close", "exact", "french", "long", "none", "paraphrase", "typo"];

#[test]
fn hybrid_is_better_than_the_others_on_questions_it_was_not_tuned_on() {
    let report = questions("report");
    let tally = |scorer| Tally::of(Path::new(SKILLCELL), scorer, &report);
    let (keyword, bm25, hybrid) = (tally("keyword"), tally("bm25"), tally("hybrid"));
    assert!(bm25.right_at_1 > keyword.right_at_1 * 3 / 2, "{} {}", bm25.right_at_1, keyword.right_at_1);
    assert!(hybrid.right_at_1 > bm25.right_at_1, "{} {}", hybrid.right_at_1, bm25.right_at_1);
    assert!(hybrid.answered < bm25.answered, "{} {}", hybrid.answered, bm25.answered);
    assert!(percent(hybrid.right_at_1, hybrid.with_answer) > 70.0, "what docs/scorers.md tells");
}

#[test]
fn the_questions_are_many_of_every_style_and_the_parts_share_none() {
    let [tune, report] = ["tune", "report"].map(questions);
    let files = files_below(&skills());
    let written = files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "md")).count();
    assert!(written >= 150 && tune.len() + report.len() >= 300, "{written} skills");
    for part in [&tune, &report] {
        let styles: BTreeSet<&str> = part.iter().map(|question| question.style.as_str()).collect();
        assert_eq!(styles, BTreeSet::from(STYLES));
        let is_right = |question: &Question| question.right.is_none() == (question.style == "none");
        assert!(part.iter().all(is_right), "only those of style `none` have no right skill");
    }
    let asked = |part: &[Question]| part.iter().map(|question| question.ask.to_lowercase()).collect::<BTreeSet<_>>();
    let right = |part: &[Question]| part.iter().filter_map(|question| question.right.clone()).collect::<BTreeSet<_>>();
    assert_eq!(asked(&tune).len() + asked(&report).len(), tune.len() + report.len(), "one is asked twice");
    assert!(asked(&tune).is_disjoint(&asked(&report)) && right(&tune).is_disjoint(&right(&report)));
    // A mistake in a name would count against every scorer.
    let mut session = server(Path::new(SKILLCELL), "keyword");
    for right in right(&tune).union(&right(&report)) {
        let answer = session.call_json("get_skill", json!({"context": "any", "skill_path": right}));
        assert_eq!(answer["skill_path"], json!(right), "a question names a skill that is not there");
    }
}
