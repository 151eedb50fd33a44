//! Runs every target over its corpus and over variations of it, the same ones in every run.

use skillcell_fuzz::{TARGETS, Target, target};
use std::path::{Path, PathBuf};

/// Inputs that are made from the corpus, for each target.
const VARIATIONS: u64 = 2_000;

/// Of one variation.
const MAX_BYTES: usize = 4096;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Prints the input of a target that panics.
struct Report<'a>(&'a str, &'a [u8]);

impl Drop for Report<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("target `{}` failed on b\"{}\"", self.0, self.1.escape_ascii());
        }
    }
}

fn run(name: &str, target: Target, input: &[u8]) {
    let _report = Report(name, input);
    target(input);
}

/// The generator SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end.max(1) as u64).unwrap()
    }

    /// A short part of something of this length.
    fn part(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        start..length.min(start + self.below(32))
    }
}

/// What may matter to whatever reads it.
const PARTS: [&[u8]; 10] = [b"\0", b"\n", b"\"", b"../", b"\xff", b"---\n", b": ", b"{", b"\xe2\x80\xae", b"%2e"];

fn insert(input: &mut Vec<u8>, at: usize, part: &[u8]) {
    input.splice(at..at, part.iter().copied());
}

/// Changes an input a little, with parts of another.
fn vary(random: &mut Random, input: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..=random.below(4) {
        let at = random.below(input.len() + 1);
        match random.below(6) {
            0 if at < input.len() => input[at] ^= 1 << random.below(8),
            1 if at < input.len() => input[at] = u8::try_from(random.below(256)).unwrap(),
            2 => drop(input.drain(random.part(input.len()))),
            3 => {
                let part = input[random.part(input.len())].to_vec();
                input.splice(at..at, part);
            }
            4 => insert(input, at, &other[random.part(other.len())]),
            _ => insert(input, at, PARTS[random.below(PARTS.len())]),
        }
    }
    input.truncate(MAX_BYTES);
}

fn check(name: &str) {
    let target = target(name).unwrap();
    let folder = corpus().join(name);
    let seeds: Vec<Vec<u8>> = names_in(&folder).iter().map(|file| std::fs::read(folder.join(file)).unwrap()).collect();
    run(name, target, b"");
    for seed in &seeds {
        run(name, target, seed);
    }
    let mut random = Random(0x5eed);
    for _ in 0..VARIATIONS {
        let (mut input, other) = (seeds[random.below(seeds.len())].clone(), random.below(seeds.len()));
        vary(&mut random, &mut input, &seeds[other]);
        run(name, target, &input);
    }
}

#[test]
fn every_target_has_a_corpus_and_a_test() {
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names_in(&corpus()), names);
    assert_eq!(TESTED, &names[..]);
}

/// One test per target, so that they run in parallel and say which one failed.
macro_rules! tests {
    ($($name:ident)*) => {
        const TESTED: &[&str] = &[$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*
    };
}

tests! { audit config front_matter graphql lines packs paths skills trees uris wasi wheels }
