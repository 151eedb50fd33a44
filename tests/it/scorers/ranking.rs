//! The quality of the ranking on questions that were not used for tuning. `just eval` prints all figures.

use crate::SKILLCELL;
use serde_json::json;
use skillcell_tests::Launch;
use skillcell_tests::ranking::{COMPANY, Contestant, Library, PUBLIC, Question, Tally, percent, questions};
use std::collections::BTreeSet;
use std::path::Path;

const STYLES: [&str; 7] = ["close", "exact", "french", "long", "none", "paraphrase", "typo"];
const OTHER_LANGUAGES: [&str; 4] = ["chinese", "german", "japanese", "spanish"];

/// The smallest number of skills in each library.
const SKILLS: [(&str, usize); 4] = [(COMPANY, 150), ("studio", 18), ("startup", 80), ("workshop", 240)];

fn tally(scorer: &'static str, libraries: &[&str]) -> Tally {
    let mut sum = Tally::default();
    for name in libraries {
        let (library, report) = (Library::open(name), questions("report", name));
        sum.add(&Tally::of(Path::new(SKILLCELL), Contestant { scorer, home: None }, &library, &report));
    }
    sum
}

#[test]
fn hybrid_beats_the_others_on_questions_that_were_not_used_for_tuning() {
    for (libraries, right) in [(&[COMPANY][..], MIN_COMPANY), (&PUBLIC[..], MIN_PUBLIC)] {
        let [keyword, bm25, hybrid] = ["keyword", "bm25", "hybrid"].map(|scorer| tally(scorer, libraries));
        assert!(bm25.right_at_1 > keyword.right_at_1, "{} {}", bm25.right_at_1, keyword.right_at_1);
        assert!(hybrid.right_at_1 > bm25.right_at_1, "{} {}", hybrid.right_at_1, bm25.right_at_1);
        assert!(hybrid.right_in_5 > bm25.right_in_5, "{} {}", hybrid.right_in_5, bm25.right_in_5);
        assert!(hybrid.clearly_wrong < bm25.clearly_wrong, "{} {}", hybrid.clearly_wrong, bm25.clearly_wrong);
        let share = percent(hybrid.right_at_1, hybrid.with_answer);
        assert!(share > right, "docs/scorers.md promises {right} % on {libraries:?}: {share}");
    }
}

/// In percent.
const MIN_COMPANY: f64 = 70.0;
const MIN_PUBLIC: f64 = 55.0;

#[test]
fn files_are_found_by_their_product_and_by_their_bare_name() {
    let library = Library::open("studio");
    let mut session = Launch::new(SKILLCELL).arg(&library.folder).start();
    for (task, expected) in [
        ("Fill in this PDF tax form", "pdf"),
        ("make a PowerPoint about Q3", "pptx"),
        ("pdf", "pdf"),
        ("an Excel file with our budget", "xlsx"),
        ("write it as a Word document", "docx"),
    ] {
        let answer = session.call_json("get_skill", json!({"context": task}));
        let first = answer.get("skill_path").unwrap_or(&answer["candidates"][0]["skill_path"]);
        assert_eq!(first, expected, "{task}: {answer}");
    }
}

#[test]
fn both_sets_have_questions_of_every_style_and_are_disjoint() {
    let mut all = 0;
    for (name, least) in SKILLS {
        let library = Library::open(name);
        // A typo in a name would count against every scorer.
        let mut session = Contestant { scorer: "keyword", home: None }.server(Path::new(SKILLCELL), &library);
        assert!(session.all_skills().len() >= least, "{name} has too few skills");
        let [tune, report] = ["tune", "report"].map(|part| questions(part, name));
        all += tune.len() + report.len();
        let mut styles = BTreeSet::from(STYLES);
        styles.extend(OTHER_LANGUAGES.into_iter().filter(|_| name == "workshop"));
        for part in [&tune, &report] {
            let found: BTreeSet<&str> = part.iter().map(|question| question.style.as_str()).collect();
            assert!(found.is_superset(&styles), "{name}: {found:?}");
            let is_consistent = |question: &Question| question.right.is_none() == (question.style == "none");
            assert!(part.iter().all(is_consistent), "only questions of style `none` have no right skill");
        }
        let texts = |part: &[Question]| part.iter().map(|own| own.ask.to_lowercase()).collect::<BTreeSet<_>>();
        let right = |part: &[Question]| part.iter().filter_map(|own| own.right.clone()).collect::<BTreeSet<_>>();
        assert_eq!(texts(&tune).len() + texts(&report).len(), tune.len() + report.len(), "a question is a duplicate");
        assert!(texts(&tune).is_disjoint(&texts(&report)) && right(&tune).is_disjoint(&right(&report)));
        for right in right(&tune).union(&right(&report)) {
            let answer = session.call_json("get_skill", json!({"context": "any", "skill_path": right}));
            assert_eq!(answer["skill_path"], json!(right), "a question names a missing skill");
        }
    }
    assert!(all >= 600, "{all} questions");
}
