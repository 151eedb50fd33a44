//! All parameters of the ranking, tuned only with `fixtures/ranking/questions/tune-*.yaml`.

/// A certainty of 0 disables what it is about, which is how tests measure what each part brings.
#[derive(Debug, Clone)]
pub struct Weights {
    /// How strongly a skill is about a word in its name, keywords, description, path, headings and body.
    pub name: f64,
    pub keywords: f64,
    pub description: f64,
    pub path: f64,
    pub headings: f64,
    pub body: f64,
    /// The number of words from which on a body counts noticeably less.
    pub body_length: f64,
    /// How much a word in the body alone counts towards the holders of a word.
    pub body_holders: f64,
    /// The certainty that a word of a skill is meant by another one in the task.
    pub inflected: f64,
    pub translated: f64,
    pub misspelt: f64,
    pub twice_misspelt: f64,
    pub same_prefix: f64,
    pub product: f64,
    pub synonym: f64,
    pub related: f64,
    /// How far a rare synonym of a frequent word counts as frequent too.
    pub as_frequent: f64,
    /// Exponent of the inverse document frequency; 1 as in BM25.
    pub idf_exponent: f64,
    /// Weight of a common word.
    pub common: f64,
    /// Evidence required by a word that no skill has, relative to a word that one skill has.
    pub unknown: f64,
    pub unknown_foreign: f64,
    pub unknown_vague: f64,
    /// Evidence added if all words of a skill's name match, relative to a word that one skill has.
    pub whole_name: f64,
    /// Share that a skill gets of the average evidence in its folder.
    pub neighbours: f64,
    /// Share of the background that is subtracted.
    pub background: f64,
    /// How the required evidence grows with the task: 1 proportionally, 0 not at all.
    pub task_length: f64,
    /// Multiple of the required evidence that gives a perfect score.
    pub perfect: f64,
    /// How far scores are spread: 1 not at all.
    pub contrast: f64,
    /// The share of the best evidence from which on a skill is offered as well.
    pub candidate_share: f64,
    /// Evidence added by the similarity of a skill to the task above the least one, relative to the required evidence.
    pub meaning: f64,
    pub unlike: f64,
    /// Minimum score of a skill that the task names, and factor for all others, so that the named one leads clearly.
    pub named: f64,
    pub not_named: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            name: 0.95,
            keywords: 0.88,
            description: 0.8,
            path: 0.6,
            headings: 0.6,
            body: 0.42,
            body_length: 1000.0,
            body_holders: 0.36,
            inflected: 0.95,
            translated: 0.72,
            misspelt: 0.75,
            twice_misspelt: 0.3,
            same_prefix: 0.25,
            product: 0.95,
            synonym: 0.65,
            related: 0.34,
            as_frequent: 1.0,
            idf_exponent: 0.71,
            common: 0.5,
            unknown: 1.65,
            unknown_foreign: 0.36,
            unknown_vague: 0.22,
            whole_name: 0.2,
            neighbours: 0.35,
            background: 0.1,
            task_length: 0.52,
            perfect: 2.75,
            contrast: 1.6,
            candidate_share: 0.6,
            meaning: 0.0,
            unlike: 0.1,
            named: 0.9,
            not_named: 0.75,
        }
    }
}

impl Weights {
    /// For the same ranking with a model, whose similarities count as well.
    pub fn with_meaning() -> Self {
        Self {
            path: 0.4,
            headings: 0.9,
            body: 0.5,
            body_length: 900.0,
            body_holders: 0.22,
            translated: 0.9,
            idf_exponent: 0.85,
            common: 0.8,
            unknown: 1.7,
            unknown_foreign: 0.45,
            unknown_vague: 0.37,
            as_frequent: 1.5,
            whole_name: 0.1,
            perfect: 3.4,
            contrast: 3.5,
            candidate_share: 0.25,
            meaning: 0.32,
            unlike: 0.1,
            ..Self::default()
        }
    }

    /// Returns the evidence that a perfect match requires.
    pub fn required(&self, ideal: f64, max_idf: f64) -> f64 {
        self.perfect * ideal.powf(self.task_length) * max_idf.powf(1.0 - self.task_length)
    }
}
