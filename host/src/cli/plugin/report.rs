//! What `plugin check` found out, for people and as JSON.

use super::contents::{Contents, World};
use crate::printable::{counted, printable};
use crate::sha256::Sha256;
use serde::Serialize;
use std::time::{Duration, Instant};

#[derive(Serialize)]
pub struct Report {
    pub file: String,
    pub size: usize,
    pub sha256: Sha256,
    /// Nothing for a file that skillcell has no use for.
    pub world: Option<World>,
    pub imports: Vec<Import>,
    pub exports: Vec<String>,
    /// What was tried and went well.
    pub tried: Vec<Tried>,
    /// What is wrong. Without any, the plugin is fine.
    pub problems: Vec<String>,
    /// What is worth knowing, and no fault.
    pub remarks: Vec<String>,
}

#[derive(Serialize)]
pub struct Import {
    pub name: String,
    /// Whether the host has it for this world.
    pub offered: bool,
}

/// Something that went well.
#[derive(Debug, Serialize)]
pub struct Tried {
    pub what: String,
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub time: Duration,
}

impl Tried {
    /// What was begun then is done now.
    pub fn since(began: Instant, what: impl Into<String>) -> Self {
        Self { what: what.into(), time: began.elapsed() }
    }
}

/// With three digits behind the point: a plugin answers in less than one.
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
            tried: Vec::new(),
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
                "it exports nothing that skillcell uses\nhint: build it against a world in `wit/`, such as `scorer`".to_owned(),
            ),
            Some(world) => self.problems.extend(contents.not_offered(world).iter().map(|import| {
                format!(
                    "it imports `{}`, which a component of world `{}` does not get\nhint: switch it off where you build it",
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

    /// The same in lines for people.
    pub fn lines(&self) -> Vec<String> {
        let world = self
            .world
            .map_or("of no world that skillcell knows".to_owned(), |world| format!("of world `{}`", world.name()));
        let mut lines = vec![format!("{}: {world}, {} bytes", self.file, grouped(self.size)), self.sha256.to_string()];
        let imports = self.imports.iter().map(|import| {
            let note = if import.offered { "" } else { " (not offered)" };
            printable(&import.name) + note
        });
        lines.extend(list("imports", imports));
        lines.extend(list("exports", self.exports.iter().map(|name| printable(name))));
        lines.extend(list("tried", self.tried.iter().map(|tried| format!("{} ({})", tried.what, shown(tried.time)))));
        lines.extend(list("worth knowing", self.remarks.iter().map(|remark| remark.replace('\n', "\n    "))));
        lines.extend(list("wrong", self.problems.iter().map(|problem| problem.replace('\n', "\n    "))));
        lines.push(match self.problems.len() {
            0 => "fine".to_owned(),
            number => counted(number, "problem"),
        });
        lines
    }
}

/// A heading and what is below it, or nothing at all.
fn list(heading: &str, items: impl Iterator<Item = String>) -> Vec<String> {
    let items: Vec<String> = items.map(|item| format!("  {item}")).collect();
    let heading = (!items.is_empty()).then(|| format!("{heading}:"));
    heading.into_iter().chain(items).collect()
}

/// With a comma after each three digits.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or("")).collect();
    groups.join(",")
}

fn shown(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1000.0;
    if milliseconds < 10.0 { format!("{milliseconds:.1} ms") } else { format!("{milliseconds:.0} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_can_be_read() {
        let shown: Vec<String> = [0, 999, 1_000, 12_345_678].map(grouped).into();
        assert_eq!(shown, ["0", "999", "1,000", "12,345,678"]);
    }
}
