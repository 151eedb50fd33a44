//! All parameters of the ranking, tuned only with `fixtures/ranking/questions/tune-*.yaml`.

/// Weight of a word in the name, keywords, description, path, headings and body of a skill.
pub const NAME: f64 = 2.5;
pub const KEYWORDS: f64 = 1.5;
pub const DESCRIPTION: f64 = 1.7;
pub const PATH: f64 = 2.5;
pub const HEADINGS: f64 = 1.3;
pub const BODY: f64 = 0.45;

/// The weighted sum at which a word has half of its effect (`k1` of BM25).
pub const SATURATION: f64 = 0.5;

/// How much less a word counts in a longer text (`b` of BM25).
pub const LENGTH_NORMALIZATION: f64 = 0.1;

/// The certainty that a word of a skill is meant by another one in the task.
pub const INFLECTED: f64 = 0.95;
pub const TRANSLATED: f64 = 0.83;
pub const MISSPELT: f64 = 0.7;
pub const TWICE_MISSPELT: f64 = 0.55;
pub const SAME_PREFIX: f64 = 0.35;
pub const SYNONYM: f64 = 0.75;
pub const RELATED: f64 = 0.3;

/// How far a rare synonym of a frequent word counts as frequent too.
pub const AS_FREQUENT: f64 = 0.3;

/// Exponent of the inverse document frequency; 1 as in BM25.
pub const IDF_EXPONENT: f64 = 0.85;

/// Weight of a common word.
pub const COMMON: f64 = 0.3;

/// Evidence required by a word that no skill has, relative to a word that one skill has. A French word may only be
/// missing in the glossary.
pub const UNKNOWN: f64 = 1.75;
pub const UNKNOWN_FRENCH: f64 = 1.05;
pub const UNKNOWN_VAGUE: f64 = 0.5;

/// Evidence added if all keywords of a skill match, relative to a word that one skill has.
pub const ALL_KEYWORDS: f64 = 0.1;

/// Share that a skill gets of the average evidence in its folder.
pub const NEIGHBOURS: f64 = 0.3;

/// Share of the background that is subtracted.
pub const BACKGROUND: f64 = 0.2;

/// How the required evidence grows with the task: 1 proportionally, 0 not at all.
pub const TASK_LENGTH: f64 = 0.57;

/// Multiple of the required evidence that gives a perfect score.
pub const PERFECT: f64 = 2.15;

/// How far scores are spread: 1 not at all.
pub const CONTRAST: f64 = 1.5;

/// Minimum score of a skill that the task names.
pub const NAMED: f64 = 0.9;

/// Factor for the scores of all other skills, so that the named one leads clearly.
pub const NOT_NAMED: f64 = 0.75;
