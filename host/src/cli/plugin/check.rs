//! `skillcell plugin check`: identifies a component, and tests in the sandbox that it does what its world requires.

use super::contents::{Contents, World};
use super::self_test;
use base::digest::Sha256;
use base::printable::{counted, printable};
use clap::Args;
use guests::load;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use terminal::{self, progress::Progress};

#[derive(Args)]
pub struct Check {
    /// The component, a `.wasm` file
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The largest file that is checked, in bytes. Each world has a lower limit.
pub const MAX_BYTES: u64 = 256 << 20;

pub fn run(arguments: &Check) -> anyhow::Result<ExitCode> {
    let file = &arguments.file;
    let bytes = load::read(file, MAX_BYTES).map_err(|fault| anyhow::anyhow!("`{}` {fault}", file.display()))?;
    let mut report = Report::new(file.display().to_string(), &bytes);
    let progress = Progress::start_indeterminate("testing it in the sandbox");
    // A component that cannot be linked cannot be tested.
    if let (Some(world), true) = (report.world, report.problems.is_empty()) {
        let tested = match world {
            World::Scorer => self_test::scorer(file, &mut report),
            World::Engine => self_test::engine(file, &mut report),
            World::ScriptRuntime => self_test::runtime(&bytes, &mut report),
            World::Integration => self_test::integration(file, &mut report),
        };
        report.problems.extend(tested.err());
    }
    drop(progress);
    terminal::print_report(arguments.json, &report, &report.lines())?;
    Ok(ExitCode::from(u8::from(!report.problems.is_empty())))
}

#[derive(Serialize)]
pub struct Report {
    file: String,
    size: usize,
    sha256: Sha256,
    /// `None` if skillcell has no use for the file.
    world: Option<World>,
    imports: Vec<Import>,
    exports: Vec<String>,
    #[serde(rename = "tried")]
    passed: Vec<PassedTest>,
    problems: Vec<String>,
    /// Notes that are not problems.
    pub remarks: Vec<String>,
}

#[derive(Serialize)]
struct Import {
    name: String,
    /// Whether the host offers it to this world.
    offered: bool,
}

#[derive(Serialize)]
struct PassedTest {
    what: String,
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    time: Duration,
}

/// With three decimals, because a plugin often takes less than a millisecond.
fn milliseconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e3)
}

impl Report {
    fn new(file: String, bytes: &[u8]) -> Self {
        let contents = Contents::of(bytes);
        let problems = match &contents {
            Ok(contents) => contents.problems(),
            Err(error) => vec![error.to_string()],
        };
        let Contents { imports, exports } = contents.unwrap_or_default();
        let world = World::of(&exports);
        let offered = |name: &str| world.is_some_and(|world| world.offers(name));
        Self {
            file,
            size: bytes.len(),
            sha256: Sha256::of(bytes),
            world,
            imports: imports.into_iter().map(|name| Import { offered: offered(&name), name }).collect(),
            exports,
            passed: Vec::new(),
            problems,
            remarks: Vec::new(),
        }
    }

    /// Adds a test that started then and passed now. Returns how long it took.
    pub fn pass(&mut self, start: Instant, what: impl Into<String>) -> Duration {
        let time = start.elapsed();
        self.passed.push(PassedTest { what: what.into(), time });
        time
    }

    fn lines(&self) -> Vec<String> {
        let world = self.world.map_or("of no known world".to_owned(), |world| format!("of world `{}`", world.name()));
        let mut lines = vec![format!("{}: {world}, {} bytes", self.file, grouped(self.size)), self.sha256.to_string()];
        let imports = self.imports.iter().map(|import| {
            let note = if import.offered { "" } else { " (not offered)" };
            printable(&import.name) + note
        });
        lines.extend(list("imports", imports));
        lines.extend(list("exports", self.exports.iter().map(|name| printable(name))));
        lines.extend(list("passed", self.passed.iter().map(|test| format!("{} ({})", test.what, duration(test.time)))));
        lines.extend(list("remarks", self.remarks.iter().map(|remark| remark.replace('\n', "\n    "))));
        lines.extend(list("problems", self.problems.iter().map(|problem| problem.replace('\n', "\n    "))));
        lines.push(match self.problems.len() {
            0 => "no problems".to_owned(),
            number => counted(number, "problem"),
        });
        lines
    }
}

/// A heading with indented items, or nothing if there are none.
fn list(heading: &str, items: impl Iterator<Item = String>) -> Vec<String> {
    let items: Vec<String> = items.map(|item| format!("  {item}")).collect();
    let heading = (!items.is_empty()).then(|| format!("{heading}:"));
    heading.into_iter().chain(items).collect()
}

/// Formats a number with commas between groups of three digits.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or("")).collect();
    groups.join(",")
}

fn duration(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1000.0;
    if milliseconds < 10.0 { format!("{milliseconds:.1} ms") } else { format!("{milliseconds:.0} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        assert_eq!([0, 999, 1_000, 12_345_678].map(grouped), ["0", "999", "1,000", "12,345,678"]);
    }
}
