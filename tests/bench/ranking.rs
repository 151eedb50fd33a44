//! How well each scorer finds the right skill: `just eval`, or `just eval --model FILE` with a model for `semantic`.
//!
//! Sends every question of `fixtures/ranking` to the real server over stdio, once with each scorer. Only the part `report`
//! measures the quality. Fails when a scorer misses one of its promises there.

#![expect(clippy::print_stdout, reason = "a report for people")]

use skillcell_tests::Launch;
use skillcell_tests::ranking::{COMPANY, Contestant, Library, PUBLIC, Tally, percent, questions};
use std::path::Path;
use std::process::ExitCode;

const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");
const SCORERS: [&str; 3] = ["keyword", "bm25", "hybrid"];

/// What a scorer promises on the part `report`, in percent.
struct Promise {
    scorer: &'static str,
    /// On the library of one company: right at 1, right in 3, wrongly empty, answered though nothing is right.
    company: [f64; 4],
    /// On libraries that are written like public ones: right at 1, right in 5, answered though nothing is right.
    public: [f64; 3],
}

const PROMISES: [Promise; 2] = [
    Promise { scorer: "hybrid", company: [80.0, 90.0, 4.0, 15.0], public: [60.0, 80.0, 25.0] },
    Promise { scorer: "semantic", company: [85.0, 94.0, 4.0, 12.0], public: [66.0, 86.0, 25.0] },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let model = arguments.iter().position(|argument| argument == "--model");
    let files: Vec<&String> = model
        .map(|at| arguments.iter().skip(at + 1).take_while(|file| !file.starts_with("--")).collect())
        .unwrap_or_default();
    let home = (!files.is_empty()).then(|| install(&files));
    let mut contestants: Vec<Contestant> = SCORERS.map(|scorer| Contestant { scorer, home: None }).to_vec();
    if let Some(home) = &home {
        contestants.push(Contestant { scorer: "semantic", home: Some(home.path()) });
    }
    let mut all_kept = true;
    for part in ["tune", "report"] {
        let mut public: Vec<Tally> = vec![Tally::default(); contestants.len()];
        let mut company = Vec::new();
        for name in [COMPANY].into_iter().chain(PUBLIC) {
            let (library, questions) = (Library::open(name), questions(part, name));
            println!("{part}, {name}: {} questions", questions.len());
            let tallies: Vec<Tally> =
                contestants.iter().map(|own| Tally::of(Path::new(SKILLCELL), *own, &library, &questions)).collect();
            if name == COMPANY {
                company.clone_from(&tallies);
            } else {
                public.iter_mut().zip(&tallies).for_each(|(sum, tally)| sum.add(tally));
            }
            print_table(&contestants, &tallies);
        }
        println!("{part}, all of {}", PUBLIC.join(", "));
        print_table(&contestants, &public);
        if part == "report" {
            for ((own, company), public) in contestants.iter().zip(&company).zip(&public) {
                for promise in PROMISES.iter().filter(|promise| promise.scorer == own.scorer) {
                    all_kept &= promise.check(company, public);
                }
            }
        }
    }
    if all_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Installs a model in a home folder of its own.
fn install(files: &[&String]) -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    let folder = std::env::current_dir().expect("a working folder").parent().expect("the repository").to_owned();
    let files = files.iter().map(|file| folder.join(file));
    let mut command = Launch::bare(SKILLCELL).with_home(home.path());
    command.command().arg("model").arg("add").args(files);
    let output = command.output();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    home
}

impl Promise {
    fn check(&self, company: &Tally, public: &Tally) -> bool {
        let [at_1, in_3, empty, answered] = self.company;
        let [public_at_1, public_in_5, public_answered] = self.public;
        let found = |found: u32, of: &Tally| percent(found, of.with_answer);
        let nothing = |of: &Tally| percent(of.answered, of.without_answer);
        let checks = [
            ("company: right at 1", at_1, found(company.right_at_1, company), true),
            ("company: right in 3", in_3, found(company.right_in_3, company), true),
            ("company: wrongly empty", empty, found(company.wrongly_empty, company), false),
            ("company: answered though nothing is right", answered, nothing(company), false),
            ("public: right at 1", public_at_1, found(public.right_at_1, public), true),
            ("public: right in 5", public_in_5, found(public.right_in_5, public), true),
            ("public: answered though nothing is right", public_answered, nothing(public), false),
        ];
        let kept = checks.map(|(what, limit, found, at_least)| {
            let is_kept = if at_least { found >= limit } else { found <= limit };
            let bound = if at_least { "at least" } else { "at most" };
            let verdict = if is_kept { "kept" } else { "MISSED" };
            println!("{verdict}: {}, {what}, {bound} {limit} %: {found:.1}", self.scorer);
            is_kept
        });
        kept.into_iter().all(|kept| kept)
    }
}

/// Formats a figure of a tally.
type Figure = fn(&Tally) -> String;

fn print_table(contestants: &[Contestant], tallies: &[Tally]) {
    row("", contestants.iter().map(|own| own.scorer.to_owned()));
    let shares: [(&str, Figure); 7] = [
        ("right at 1", |tally| share(tally.right_at_1, tally.with_answer)),
        ("right in 3", |tally| share(tally.right_in_3, tally.with_answer)),
        ("right in 5", |tally| share(tally.right_in_5, tally.with_answer)),
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
