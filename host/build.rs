//! Tells the program the commit that it is built from.

mod commit;

use std::path::Path;

/// Set by packagers who build without a repository.
const VARIABLE: &str = "SKILLCELL_COMMIT";

#[expect(clippy::disallowed_methods, reason = "a setting of the build, not of the program")]
fn main() {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rerun-if-changed=commit.rs");
    let commit = match std::env::var(VARIABLE) {
        Ok(given) if commit::is_commit(&given) => given,
        Ok(given) if !given.is_empty() => panic!("{VARIABLE} is `{given}`, which is not a commit in full length"),
        _ => match commit::find(Path::new("..")) {
            Some(checkout) => {
                for file in checkout.read {
                    println!("cargo::rerun-if-changed={}", file.display());
                }
                checkout.commit
            }
            None => "unknown".to_owned(),
        },
    };
    println!("cargo::rustc-env={VARIABLE}={commit}");
}
