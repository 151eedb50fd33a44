//! The golden cases in `fixtures/cases`. `just bless` accepts what the server says now.

use crate::SKILLCELL;
use skillcell_tests::{Outcome, all_cases};
use std::path::Path;

#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "the switch and the report of `just bless`")]
#[test]
fn every_golden_case_holds() {
    let bless = std::env::var_os("BLESS").is_some();
    let cases = all_cases();
    assert!(cases.len() > 500, "only {} cases were found", cases.len());
    let mut failures = Vec::new();
    for case in &cases {
        match case.check(Path::new(SKILLCELL), bless) {
            Outcome::Holds => {}
            Outcome::Blessed => println!("blessed {}", case.name()),
            Outcome::Fails(reason) => failures.push(format!("{}: {reason}", case.name())),
        }
    }
    assert!(failures.is_empty(), "{} of {} cases fail:\n{}", failures.len(), cases.len(), failures.join("\n"));
}
