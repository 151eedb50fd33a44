//! The golden cases in `fixtures/cases`. `just bless` accepts the current answers of the server.

use crate::SKILLCELL;
use skillcell_tests::{Case, Outcome, all_cases};
use std::path::Path;

/// Threads that check cases. Each case starts a server, so most of the time is spent waiting.
const THREADS: usize = 4;

#[expect(clippy::disallowed_methods, reason = "the switch of `just bless`")]
#[test]
fn every_golden_case_holds() {
    let bless = std::env::var_os("BLESS").is_some();
    let cases = all_cases();
    assert!(cases.len() > 500, "only {} cases were found", cases.len());
    let failures: Vec<String> = std::thread::scope(|scope| {
        let parts = cases.chunks(cases.len().div_ceil(THREADS));
        let checks: Vec<_> = parts.map(|part| scope.spawn(move || failures(part, bless))).collect();
        checks.into_iter().flat_map(|check| check.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "{} of {} cases fail:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

#[expect(clippy::print_stdout, reason = "the report of `just bless`")]
fn failures(cases: &[Case], bless: bool) -> Vec<String> {
    let mut failures = Vec::new();
    for case in cases {
        match case.check(Path::new(SKILLCELL), bless) {
            Outcome::Holds => {}
            Outcome::Blessed => println!("blessed {}", case.name()),
            Outcome::Fails(reason) => failures.push(format!("{}: {reason}", case.name())),
        }
    }
    failures
}
