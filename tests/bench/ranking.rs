//! How well each scorer finds the right skill: `just eval`.
//!
//! Sends every question of `fixtures/ranking` to the real server over stdio, once with each scorer. Only the set `report`
//! measures the quality. Fails when `hybrid` misses one of its promises there.

#![expect(clippy::print_stdout, reason = "a report for people")]

use skillcell_tests::ranking::{Tally, percent, questions};
use std::path::Path;
use std::process::ExitCode;

const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");
const SCORERS: [&str; 3] = ["keyword", "bm25", "hybrid"];

fn main() -> ExitCode {
    let mut all_kept = true;
    for part in ["tune", "report"] {
        let questions = questions(part);
        println!("{part}: {} questions", questions.len());
        let tallies = SCORERS.map(|scorer| Tally::of(Path::new(SKILLCELL), scorer, &questions));
        print_table(&tallies);
        if part == "report" {
            for (is_kept, promise) in tallies[2].promises() {
                println!("{}: {} {promise}", if is_kept { "kept" } else { "MISSED" }, tallies[2].scorer);
                all_kept &= is_kept;
            }
        }
    }
    if all_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Formats a figure of a tally.
type Figure = fn(&Tally) -> String;

fn print_table(tallies: &[Tally]) {
    row("", tallies.iter().map(|tally| tally.scorer.to_owned()));
    let shares: [(&str, Figure); 7] = [
        ("right at 1", |tally| share(tally.right_at_1, tally.with_answer)),
        ("right in 3", |tally| share(tally.right_in_3, tally.with_answer)),
        ("mean reciprocal rank", |tally| format!("{:.3}", tally.reciprocal_ranks / f64::from(tally.with_answer))),
        ("wrongly `no_match`", |tally| share(tally.wrongly_empty, tally.with_answer)),
        ("answered though nothing is right", |tally| share(tally.answered, tally.without_answer)),
        ("right, and the only answer", |tally| share(tally.clearly_right, tally.with_answer)),
        ("wrong, and the only answer", |tally| share(tally.clearly_wrong, tally.with_answer)),
    ];
    for (name, figure) in shares {
        row(name, tallies.iter().map(figure));
    }
    for style in tallies[0].styles.keys() {
        let good = |tally: &Tally| format!("{} of {}", tally.styles[style].0, tally.styles[style].1);
        row(&format!("right on `{style}`"), tallies.iter().map(good));
    }
    println!();
}

fn row(name: &str, cells: impl Iterator<Item = String>) {
    println!("  {name:<34}{}", cells.map(|cell| format!("{cell:>12}")).collect::<String>());
}

fn share(part: u32, all: u32) -> String {
    format!("{:.1} %", percent(part, all))
}
