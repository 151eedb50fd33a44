//! What each word list brings, on the questions about the libraries of `fixtures/ranking`.

use super::skill;
use crate::hybrid::Hybrid;
use crate::weights::Weights;
use scorer_bm25::component::Scorer;
use std::path::Path;

/// A library with bodies of general prose, and its questions: the style, the right skill, and the text.
struct Exam {
    scorer: Hybrid,
    paths: Vec<String>,
    questions: Vec<(String, Option<String>, String)>,
}

impl Exam {
    fn read(library: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/ranking");
        let read = |file: String| {
            std::fs::read_to_string(folder.join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"))
        };
        let (mut scorer, mut paths) = (Hybrid::default(), Vec::new());
        let prose = read("libraries/prose.txt".to_owned());
        let prose: Vec<&str> = prose.lines().filter(|line| !line.starts_with('#')).collect();
        for line in
            read(format!("libraries/{library}.txt")).lines().filter(|line| line.contains('|') && !line.starts_with('#'))
        {
            let parts: Vec<&str> = line.split('|').map(str::trim).collect();
            let mut skill = skill(u32::try_from(paths.len()).unwrap(), parts[0], &[], parts[1]);
            let sentences = prose.iter().cycle().skip(paths.len() * 7).take(20).copied().collect::<Vec<_>>().join("\n");
            skill.body = format!("# {}\n\n{}\n\n{sentences}", parts[0], parts[2]);
            scorer.put(&skill);
            paths.push(parts[0].to_owned());
        }
        let files = ["tune", "report"].map(|part| read(format!("questions/{part}-{library}.yaml")));
        let between =
            |line: &str, start: &str, end: &str| Some(line.split_once(start)?.1.split_once(end)?.0.to_owned());
        let question = |line: &str| {
            let ask = between(line, "ask: \"", "\"}")?.replace("\\\"", "\"");
            Some((between(line, "style: ", ",")?, between(line, "right: ", ","), ask))
        };
        Self { scorer, paths, questions: files.iter().flat_map(|file| file.lines()).filter_map(question).collect() }
    }

    /// Returns how many questions of some styles have the right outcome: the right skill first, or none.
    fn right(&mut self, weights: &Weights, styles: &[&str]) -> usize {
        self.scorer.weights = weights.clone();
        let is_right = |(style, right, ask): &&(String, Option<String>, String)| {
            let scored = self.scorer.score(ask);
            let best = (0..scored.len())
                .max_by(|left, right| scored[*left].score.total_cmp(&scored[*right].score).then(right.cmp(left)));
            let found = best.filter(|best| scored[*best].score >= 0.2).map(|best| &self.paths[best]);
            styles.contains(&style.as_str()) && found == right.as_ref()
        };
        self.questions.iter().filter(is_right).count()
    }
}

#[test]
fn every_list_brings_right_answers() {
    let mut exams = ["studio", "startup", "workshop"].map(Exam::read);
    let mut right = |weights: &Weights, styles: &[&str]| -> usize {
        exams.iter_mut().map(|exam| exam.right(weights, styles)).sum()
    };
    let all = Weights::default();
    let english = &["exact", "paraphrase", "typo", "close", "long", "none"][..];
    for (name, without, styles, least) in [
        ("products.txt", Weights { product: 0.0, ..all.clone() }, &["exact", "paraphrase", "typo"][..], 1),
        ("synonyms.txt", Weights { synonym: 0.0, ..all.clone() }, &["paraphrase", "close"], 3),
        ("topics.txt", Weights { related: 0.0, ..all.clone() }, &["paraphrase", "close"], 1),
        ("french.txt", Weights { translated: 0.0, ..all.clone() }, &["french"], 4),
        ("glossary.txt", Weights { translated: 0.0, ..all.clone() }, &["german", "spanish", "japanese", "chinese"], 15),
        ("common.txt", Weights { common: 1.0, ..all.clone() }, english, 1),
        ("vague.txt", Weights { unknown_vague: all.unknown, ..all.clone() }, english, 1),
        ("spelling", Weights { misspelt: 0.0, twice_misspelt: 0.0, ..all.clone() }, &["typo"], 5),
    ] {
        let (with, without) = (right(&all, styles), right(&without, styles));
        assert!(with >= without + least, "{name} brings too little: {without} right without it, {with} with it");
    }
}
