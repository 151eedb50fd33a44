//! A scorer that misbehaves on request: commands are in the task or in the body of a skill.
//!
//! Otherwise a skill gets 0.9 if its body says that it is the favourite of a word of the task, and 0.1 if not. The second
//! edition gives 0.8 instead.

#![expect(unsafe_code, reason = "generated: the exports of the component")]

mod bindings {
    #![allow(unsafe_code, clippy::all, clippy::pedantic, reason = "generated")]

    wit_bindgen::generate!({ path: "../../../wit", world: "scorer", pub_export_macro: true });
}

use bindings::exports::skillcell::plugin::scoring::{Guest, GuestPrepared, Scored, TextChange};
use bindings::skillcell::plugin::log::{self, Level};
use bindings::skillcell::plugin::types::SkillText;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hint::black_box;

/// A test creates another edition by patching the last character in the file.
static EDITION: &[u8; 16] = b"hostile edition1";

struct Hostile;

impl Guest for Hostile {
    type Prepared = Skills;
}

struct Skills(RefCell<BTreeMap<u32, SkillText>>);

impl GuestPrepared for Skills {
    fn new() -> Self {
        Self(RefCell::default())
    }

    fn update(&self, changes: Vec<TextChange>) {
        let mut skills = self.0.borrow_mut();
        log::write(Level::Debug, &format!("update with {} changes", changes.len()));
        for change in changes {
            match change {
                TextChange::Put(text) => {
                    if let Some((_, how)) = text.body.split_once("hostile update: ") {
                        misbehave(how.trim());
                    }
                    skills.insert(text.number, text);
                }
                TextChange::Gone(number) => drop(skills.remove(&number).expect("only known skills are removed")),
            }
        }
    }

    fn score(&self, task: String) -> Vec<Scored> {
        let skills = self.0.borrow();
        if task.contains("log everything") {
            let mut known: Vec<String> =
                skills.values().map(|skill| format!("{}={}", skill.path, skill.body.trim())).collect();
            known.sort();
            log::write(Level::Info, &format!("knows {}", known.join(" ")));
        }
        let best = if black_box(EDITION)[15] == b'2' { 0.8 } else { 0.9 };
        let score = |skill: &SkillText| {
            let favourite = skill.body.split_once("favourite of ").and_then(|(_, rest)| rest.split_whitespace().next());
            let score = if favourite.is_some_and(|word| task.contains(word)) { best } else { 0.1 };
            Scored { score, reason: format!("{score} for\n{}", skill.path) }
        };
        let mut scores: Vec<Scored> = skills.values().map(score).collect();
        if let Some((_, how)) = task.split_once("hostile: ") {
            misbehave(how);
            spoil(&mut scores, how);
        }
        scores
    }
}

fn misbehave(how: &str) {
    match how {
        "trap" => panic!("asked to trap"),
        "exit" => std::process::exit(0),
        "spin" => loop {
            black_box(how);
        },
        "recurse" => _ = black_box(recurse(1, black_box(u64::MAX))),
        "eat memory" => {
            let mut blocks: Vec<Vec<u8>> = Vec::new();
            loop {
                blocks.push(black_box(vec![1; 1 << 20]));
            }
        }
        "log" => (0..1_000_000).for_each(|number| log::write(Level::Info, &format!("line {number}\nand more"))),
        "print" => (0..1_000_000).for_each(|number| eprintln!("{number}")),
        _ => {}
    }
}

/// Fills the stack of the host's thread, not the one in the guest's memory.
#[inline(never)]
fn recurse(depth: u64, max_depth: u64) -> u64 {
    if depth == max_depth { 0 } else { recurse(depth + 1, max_depth).wrapping_mul(31) ^ depth }
}

fn spoil(scores: &mut Vec<Scored>, how: &str) {
    let Some(first) = scores.first_mut() else { return };
    match how {
        "too few" => drop(scores.pop()),
        "too many" => scores.push(Scored { score: 0.5, reason: String::new() }),
        "nothing" => scores.clear(),
        "not a number" => first.score = f64::NAN,
        "infinity" => first.score = f64::INFINITY,
        "minus infinity" => first.score = f64::NEG_INFINITY,
        "negative" => first.score = -0.5,
        "above one" => first.score = 1.5,
        "hardly above one" => first.score = 1.0 + f64::EPSILON,
        "long reason" => first.reason = "because ".repeat(10_000),
        "giant reason" => first.reason = "because ".repeat(7_000_000),
        _ => {}
    }
}

bindings::export!(Hostile with_types_in bindings);
