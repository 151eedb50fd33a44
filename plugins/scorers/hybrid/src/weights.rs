//! Every number that the ranking depends on. They are tuned with `fixtures/ranking/questions/tune-*.yaml` and nothing else.

/// What a word is worth in the name, keywords, description, path, headings and body of a skill.
pub const NAME: f64 = 2.5;
pub const KEYWORDS: f64 = 1.5;
pub const DESCRIPTION: f64 = 1.7;
pub const PATH: f64 = 2.5;
pub const HEADINGS: f64 = 1.3;
pub const BODY: f64 = 0.45;

/// The sum of these at which a word has half of its effect.
pub const HALF_EFFECT: f64 = 0.5;

/// How much less a word counts in a text that is longer than usual.
pub const LENGTH_MATTERS: f64 = 0.1;

/// How sure it is that another word is meant than the one in the task.
pub const INFLECTED: f64 = 0.95;
pub const TRANSLATED: f64 = 0.83;
pub const MISSPELT: f64 = 0.7;
pub const TWICE_MISSPELT: f64 = 0.55;
pub const SAME_BEGINNING: f64 = 0.35;
pub const SYNONYM: f64 = 0.75;
pub const RELATED: f64 = 0.3;

/// How far a rare synonym of a frequent word counts as frequent too.
pub const AS_FREQUENT: f64 = 0.3;

/// How little rare words stand out: 1 as in BM25, less for less.
pub const RARITY: f64 = 0.85;

/// What a common word is worth beside another.
pub const COMMON: f64 = 0.3;

/// What a word that no skill has asks for, beside one that a single skill has. In French it may only be missing in the
/// glossary.
pub const UNKNOWN: f64 = 1.75;
pub const UNKNOWN_FRENCH: f64 = 1.05;
pub const UNKNOWN_VAGUE: f64 = 0.5;

/// What all keywords of a skill add, beside one word that only it has.
pub const ALL_KEYWORDS: f64 = 0.1;

/// What a skill gets of the average of the others in its folder.
pub const NEIGHBOURS: f64 = 0.3;

/// What is taken off because many other skills are found by the same words.
pub const BACKGROUND: f64 = 0.2;

/// How the evidence that is asked for grows with the task: 1 in proportion, 0 not at all.
pub const TASK_LENGTH: f64 = 0.57;

/// The share of that evidence that makes a perfect score.
pub const PERFECT: f64 = 2.15;

/// How far scores are drawn apart: 1 not at all.
pub const DISTANCE: f64 = 1.5;

/// The least score of a skill that the task calls by its name.
pub const NAMED: f64 = 0.9;

/// What others get beside it of the score that they would have: so little that the named one leads clearly.
pub const BESIDE_NAMED: f64 = 0.75;
