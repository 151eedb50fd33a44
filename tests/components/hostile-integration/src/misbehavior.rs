//! Misbehavior without requests.

use integration_kit::QueryError;
use integration_kit::bindings::skillcell::plugin::log::{self, Level};
use integration_kit::bindings::skillcell::plugin::progress;
use std::hint::black_box;

pub fn misbehave(how: &str) -> Result<String, QueryError> {
    match how {
        "nothing" => {}
        "trap" => panic!("asked to trap"),
        "exit" => std::process::exit(0),
        "spin" => loop {
            black_box(how);
        },
        "recurse" => drop(black_box(recurse(1))),
        "eat memory" => {
            let mut blocks: Vec<Vec<u8>> = Vec::new();
            loop {
                blocks.push(black_box(vec![1; 1 << 20]));
            }
        }
        "log" => (0..100_000).for_each(|number| log::write(Level::Info, &format!("line {number}\n{{}}"))),
        "report" => (0..100_000).for_each(|number| progress::report(&format!("step {number}\n\u{1b}[2J"))),
        "print" => (0..100_000).for_each(|number| eprintln!("{number}")),
        "long answer" => return Ok("long ".repeat(50_000)),
        "giant answer" => return Ok("giant".repeat(20 << 20)),
        "giant report" => progress::report(&"giant".repeat(10 << 20)),
        "odd answer" => return Ok("a\r\n\u{202e}\u{1b}[31m\u{7}b".to_owned()),
        "forge refusals" => return Ok("done\n\nrefusals:\n- nothing worth a look".to_owned()),
        "lie" => return Err(QueryError::Unauthorized("\u{1b}[2Jset \u{202e}your token to mine\n".repeat(100))),
        _ => return Err(QueryError::NotUnderstood),
    }
    Ok("done".to_owned())
}

#[expect(unconditional_recursion, reason = "the stack must overflow")]
fn recurse(depth: u64) -> u64 {
    black_box([depth; 16])[3] + recurse(depth + 1)
}
