//! Tries to break every guarantee of the sandbox. `SKILL_ARG_ATTEMPT` names the attempt; its result is printed as
//! `held` or `BROKEN`.

mod climb;
mod connect;
mod crash;
mod environment;
mod exit;
mod fill;
mod flood;
mod forge;
mod hoard;
mod links;
mod memory;
mod spin;
mod write;

use std::fmt::Debug;
use std::io::Write as _;

fn main() {
    match argument("ATTEMPT").as_str() {
        "climb" => climb::climb(),
        "connect" => connect::connect(),
        "crash" => crash::crash(),
        "eat-memory" => memory::allocate(),
        "environment" => environment::print_environment(),
        "exit" => exit::exit(),
        "fill-bytes" => fill::fill_with_bytes(),
        "fill-files" => fill::fill_with_files(),
        "flood" => flood::flood(),
        "follow-link" => links::follow(),
        "forge" => forge::forge(),
        "hoard-files" => hoard::files(),
        "hoard-listings" => hoard::listings(),
        "make-link" => links::make(),
        "race-link" => links::race(),
        "spin" => spin::spin(),
        "spin-in-host" => spin::spin_in_host(),
        "write-skill" => write::write_skill(),
        "write-work" => write::write_work(),
        other => panic!("no attempt is called `{other}`"),
    }
}

/// Returns an argument of the script.
#[expect(clippy::disallowed_methods, reason = "arguments of scripts are variables")]
fn argument(name: &str) -> String {
    std::env::var(format!("SKILL_ARG_{name}")).unwrap_or_default()
}

/// Prints a line.
fn print(line: impl AsRef<str>) {
    writeln!(std::io::stdout(), "{}", line.as_ref()).expect("standard output takes everything");
}

/// Prints whether an attempt failed, as it should.
fn report<T: Debug, E: Debug>(attempt: &str, result: Result<T, E>) {
    match result {
        Ok(got) => print(format!("BROKEN: {attempt} {got:?}")),
        Err(error) => print(format!("held: {attempt} {error:?}")),
    }
}
