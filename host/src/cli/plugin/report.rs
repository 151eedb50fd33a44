//! The report of `plugin check`, as text and as JSON.

use super::contents::{Contents, World};
use base::digest::Sha256;
use base::printable::{counted, printable};
use serde::Serialize;
use std::time::{Duration, Instant};

#[derive(Serialize)]
pub struct Report {
    pub file: String,
    pub size: usize,
    pub sha256: Sha256,
    /// `None` if skillcell has no use for the file.
    pub world: Option<World>,
    pub imports: Vec<Import>,
    pub exports: Vec<String>,
    #[serde(rename = "tried")]
    pub passed: Vec<PassedTest>,
    pub problems: Vec<String>,
    /// Notes that are not problems.
    pub remarks: Vec<String>,
}

#[derive(Serialize)]
pub struct Import {
    pub name: String,
    /// Whether the host offers it to this world.
    pub offered: bool,
}

#[derive(Debug, Serialize)]
pub struct PassedTest {
    pub what: String,
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub time: Duration,
}

impl PassedTest {
    /// A test that started then and ended now.
    pub fn since(start: Instant, what: impl Into<String>) -> Self {
        Self { what: what.into(), time: start.elapsed() }
    }
}

/// With three decimals, because a plugin often takes less than a millisecond.
fn milliseconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e3)
}

impl Report {
    pub fn new(file: String, bytes: &[u8]) -> Self {
        let mut report = Self {
            file,
            size: bytes.len(),
            sha256: Sha256::of(bytes),
            world: None,
            imports: Vec::new(),
            exports: Vec::new(),
            passed: Vec::new(),
            problems: Vec::new(),
            remarks: Vec::new(),
        };
        match Contents::of(bytes) {
            Ok(contents) => report.describe(contents),
            Err(error) => report.problems.push(error.to_string()),
        }
        report
    }

    fn describe(&mut self, contents: Contents) {
        self.world = contents.world();
        match self.world {
            None => self.problems.push(
                "it exports nothing that skillcell uses\nhint: build it against a world in `wit/`, such as `scorer`"
                    .to_owned(),
            ),
            Some(world) => self.problems.extend(contents.not_offered(world).iter().map(|import| {
                format!(
                    "it imports `{}`, which world `{}` does not offer\nhint: disable it in the build",
                    printable(import),
                    world.name()
                )
            })),
        }
        let offered = |name: &str| self.world.is_some_and(|world| !contents.not_offered(world).contains(&name));
        self.imports =
            contents.imports.iter().map(|name| Import { name: name.clone(), offered: offered(name) }).collect();
        self.exports = contents.exports;
    }

    /// The report as text.
    pub fn lines(&self) -> Vec<String> {
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
        let numbers: Vec<String> = [0, 999, 1_000, 12_345_678].map(grouped).into();
        assert_eq!(numbers, ["0", "999", "1,000", "12,345,678"]);
    }
}
