//! Tests with a tiny model.

use crate::pieces::pieces;
use crate::semantic::Semantic;
use crate::table::{Damaged, Source, Table};
use crate::vectors::Vectors;
use proptest::prelude::*;
use scorer_bm25::bindings::skillcell::plugin::types::SkillText;
use scorer_bm25::component::Scorer;
use scorer_hybrid::hybrid::Hybrid;
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Clone)]
struct Memory(Rc<Vec<u8>>);

impl Source for Memory {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self, offset: u64, length: u32) -> Vec<u8> {
        let start = usize::try_from(offset).unwrap().min(self.0.len());
        self.0[start..(start + length as usize).min(self.0.len())].to_vec()
    }
}

/// A table of the described layout. Pieces have to be sorted by text.
fn table(kind: u32, pieces: &[(&str, f32, [i8; 3])]) -> Vec<u8> {
    let texts: String = pieces.iter().map(|(text, ..)| *text).collect();
    let longest = pieces.iter().map(|(text, ..)| text.len()).max().unwrap_or(0);
    let figures = [kind as usize, pieces.len(), 3, longest, texts.len(), 0];
    let mut bytes = b"SKCLVEC1".to_vec();
    bytes.extend(figures.into_iter().flat_map(|figure| u32::try_from(figure).unwrap().to_le_bytes()));
    let mut end = 0;
    for (text, ..) in pieces {
        end += u32::try_from(text.len()).unwrap();
        bytes.extend(end.to_le_bytes());
    }
    bytes.extend(pieces.iter().flat_map(|(_, rank, _)| rank.to_le_bytes()));
    bytes.extend(pieces.iter().flat_map(|_| 0.01_f32.to_le_bytes()));
    bytes.extend(texts.bytes());
    bytes.extend(pieces.iter().flat_map(|(.., vector)| vector.map(i8::cast_unsigned)));
    bytes
}

fn open(bytes: Vec<u8>) -> Result<Table<Memory>, Damaged> {
    Table::open(Memory(Rc::new(bytes)))
}

/// Words of three topics: talks, money, plants.
fn words() -> Vec<u8> {
    table(
        2,
        &[
            ("budget", 0.0, [0, 120, 5]),
            ("invoices", 0.0, [5, 110, 0]),
            ("presentation", 0.0, [120, 5, 0]),
            ("roses", 0.0, [0, 0, 110]),
            ("slides", 0.0, [110, 0, 5]),
            ("tulips", 0.0, [5, 0, 120]),
        ],
    )
}

fn skill(number: u32, name: &str, description: &str) -> SkillText {
    let [name, path, description] = [name, name, description].map(str::to_owned);
    SkillText { number, name, path, description, keywords: Vec::new(), aliases: Vec::new(), body: String::new() }
}

fn office() -> [SkillText; 3] {
    [
        skill(1, "talks", "Prepare a presentation for an audience."),
        skill(4, "money", "Plan the budget of a department."),
        skill(9, "garden", "Care for roses."),
    ]
}

fn semantic(model: Option<Vec<u8>>) -> Semantic<Memory> {
    let mut scorer = Semantic::new(model.map(|bytes| Vectors::new(open(bytes).unwrap())));
    for skill in office() {
        scorer.put(&skill);
    }
    scorer
}

#[test]
fn a_task_finds_a_skill_without_a_common_word_and_the_reason_says_why() {
    for (task, expected, close) in [
        ("slides", 0, "slides ≈ presentation"),
        ("my invoices", 1, "invoices ≈ budget"),
        ("tulips", 2, "tulips ≈ roses"),
    ] {
        let scored = semantic(Some(words())).score(task);
        let best = (0..3).max_by(|left, right| scored[*left].score.total_cmp(&scored[*right].score)).unwrap();
        assert_eq!(best, expected, "{task}: {scored:?}");
        assert!(scored[best].reason.ends_with(&format!("meaning: {close}")), "{task}: {scored:?}");
    }
}

#[test]
fn without_a_model_it_ranks_like_hybrid() {
    let mut hybrid = Hybrid::default();
    for skill in office() {
        hybrid.put(&skill);
    }
    for task in ["slides", "plan a budget", "roses and tulips", "", "🦀"] {
        assert_eq!(semantic(None).score(task), hybrid.score(task), "{task}");
    }
}

#[test]
fn damaged_tables_are_refused() {
    let good = words();
    assert!(open(good.clone()).is_ok());
    let with = |at: usize, figure: u32| {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&figure.to_le_bytes());
        bytes
    };
    for (bytes, reason) in [
        (Vec::new(), "it is not a table of vectors"),
        (vec![0; 1000], "it is not a table of vectors"),
        (good[..20].to_vec(), "it is not a table of vectors"),
        (good[..good.len() - 1].to_vec(), "it does not have the size that it says"),
        ([good.clone(), vec![0]].concat(), "it does not have the size that it says"),
        (with(8, 7), "its tokenizer is of an unknown kind"),
        (with(12, u32::MAX), "its sizes are out of range"),
        (with(12, 0), "its sizes are out of range"),
        (with(16, u32::MAX), "its sizes are out of range"),
        (with(20, 0), "its sizes are out of range"),
        (with(24, u32::MAX), "its sizes are out of range"),
        (with(12, 5), "it does not have the size that it says"),
        (with(32, u32::MAX), "its list of pieces is not in order"),
        (with(56, f32::NAN.to_bits()), "its list of pieces is not in order"),
        (table(2, &[("b", 0.0, [1; 3]), ("a", 0.0, [1; 3])]), "its list of pieces is not in order"),
        (table(2, &[("a", 0.0, [1; 3]), ("a", 0.0, [1; 3])]), "its list of pieces is not in order"),
    ] {
        assert_eq!(open(bytes).err(), Some(Damaged(reason)));
    }
}

#[test]
fn words_are_split_as_each_kind_does_it() {
    let vector = [1, 2, 3];
    let split = |kind: u32, list: &[(&str, f32)], word: &str| {
        let list: Vec<(&str, f32, [i8; 3])> = list.iter().map(|(text, rank)| (*text, *rank, vector)).collect();
        pieces(&open(table(kind, &list)).unwrap(), word)
    };
    // The lower rank is merged first, although the other would leave a longer piece.
    let merges = [("a", 0.0), ("ab", 5.0), ("b", 1.0), ("bc", 4.0), ("c", 2.0), ("▁", 3.0), ("▁a", 6.0)];
    assert_eq!(split(1, &merges, "abc"), [6, 3]);
    let word_pieces = [("##s", 0.0), ("slide", 0.0), ("sli", 0.0)];
    let mut sorted = word_pieces;
    sorted.sort_by_key(|(text, _)| *text);
    assert_eq!(split(2, &sorted, "slides"), [2, 0]);
    assert_eq!(split(2, &sorted, "slidex"), [0; 0]);
    let unigram = [("b", -3.0), ("▁a", -1.0), ("▁ab", -5.0), ("▁abc", -9.0)];
    assert_eq!(split(3, &unigram, "ab"), [1, 0]);
    assert_eq!(split(3, &unigram, "aübü"), [1, 0]);
    assert_eq!(split(3, &unigram, &"a".repeat(1000)), [0; 0]);
}

proptest! {
    #[test]
    fn any_bytes_are_opened_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = open(bytes.clone());
        let mut table = words();
        let end = table.len().min(32 + bytes.len());
        table[32..end].copy_from_slice(&bytes[..end - 32]);
        if let Ok(table) = open(table) {
            let vectors = Vectors::new(table);
            let mut scorer = Semantic::new(Some(vectors));
            for skill in office() {
                scorer.put(&skill);
            }
            prop_assert!(scorer.score("slides and a budget").iter().all(|scored| (0.0..=1.0).contains(&scored.score)));
        }
    }

    #[test]
    fn scores_depend_only_on_the_current_skills(changes in prop::collection::vec((0..6_u32, prop::option::of("(slides|budget|roses|tulips)( (presentation|invoices|a))?")), 0..20), task in "(slides|tulips|invoices)( roses)?") {
        let (mut edited, mut left) = (Semantic::new(Some(Vectors::new(open(words()).unwrap()))), BTreeMap::new());
        for (number, text) in changes {
            if let Some(text) = text {
                let skill = skill(number, &format!("s{number}"), &text);
                edited.put(&skill);
                left.insert(number, skill);
            } else {
                edited.gone(number);
                left.remove(&number);
            }
        }
        let mut fresh = Semantic::new(Some(Vectors::new(open(words()).unwrap())));
        left.values().rev().for_each(|skill| fresh.put(skill));
        prop_assert_eq!(edited.score(&task), fresh.score(&task));
    }
}
