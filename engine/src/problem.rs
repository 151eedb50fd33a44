//! Problems of one file, before they get a location.

use crate::bindings::exports::skillcell::plugin::catalog::{Location, Problem, SkipReason};
use crate::bindings::skillcell::plugin::library::{Oversize, QuarantineReason, ReadError};
use crate::bindings::skillcell::plugin::types::Severity;
use crate::place::Place;

/// Maximum number of problems per file that the catalog keeps. A review reports more.
const MAX_KEPT: usize = 20;

/// Maximum number of characters of a file that a message quotes.
const MAX_QUOTE: usize = 80;

/// Escapes and truncates a piece of a file for use in a message.
pub fn quote(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(MAX_QUOTE)
        .flat_map(|letter| {
            let plain = (!letter.is_control()).then_some(letter);
            plain.into_iter().chain(plain.is_none().then(|| letter.escape_default()).into_iter().flatten())
        })
        .collect();
    if text.chars().nth(MAX_QUOTE).is_some() {
        shown.push('…');
    }
    shown
}

/// Returns the problems of one file that the catalog keeps.
pub fn first_few(mut findings: Vec<Finding>) -> Vec<Finding> {
    let more = truncate(&mut findings, MAX_KEPT, |finding| finding.severity);
    findings.extend(more);
    findings
}

/// Keeps at most `max` problems, errors first, so that no number of warnings hides an error. Returns a problem that
/// summarizes the rest.
pub fn truncate<T>(problems: &mut Vec<T>, max: usize, severity: impl Fn(&T) -> Severity) -> Option<Finding> {
    let is_warning = |problem: &T| severity(problem) != Severity::Error;
    let more = problems.len().checked_sub(max).filter(|more| *more > 0)?;
    problems.sort_by_key(is_warning);
    let message = format!("{more} more problems in this file");
    let finding = Finding::warning("more-problems", message, "fix these first, then check again").at(Place::START);
    let severity = severity(&problems[max]);
    problems.truncate(max);
    Some(Finding { severity, ..finding })
}

/// A problem of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub severity: Severity,
    pub code: &'static str,
    pub message: String,
    pub advice: String,
}

impl Finding {
    pub fn error(code: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        let (message, advice) = (message.into(), advice.into());
        Self { line: None, column: None, severity: Severity::Error, code, message, advice }
    }

    pub fn warning(code: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message, advice) }
    }

    pub fn at(self, place: Place) -> Self {
        Self { line: Some(place.line), column: Some(place.column), ..self }
    }

    pub fn in_file(&self, root: u32, path: &str) -> Problem {
        Problem {
            location: Location { root, path: path.to_owned() },
            line: self.line,
            column: self.column,
            severity: self.severity,
            code: self.code.to_owned(),
            message: self.message.clone(),
            advice: self.advice.clone(),
        }
    }

    /// Describes why the host did not return a file.
    pub fn unreadable(error: &ReadError) -> Self {
        match error {
            ReadError::NotFound => Self::error(
                "vanished",
                "the file was removed while it was being read",
                "no action needed, unless the file should exist",
            ),
            ReadError::OutsideRoot => {
                Self::error("outside-root", "a link leads outside the root", "copy the target into the root")
            }
            ReadError::NotAFile => Self::error("not-a-file", "not a regular file", "replace it with a regular file"),
            ReadError::TooLarge(Oversize { size, limit }) => Self::error(
                "too-large",
                format!("{size} bytes, and the limit is {limit}"),
                "split the file, or raise MAX_FILE_SIZE_MB",
            ),
            ReadError::NotText(valid) => {
                Self::error("not-text", format!("not UTF-8 after the first {valid} bytes"), "save the file as UTF-8")
            }
            ReadError::NoPermission => {
                Self::error("no-permission", "the server may not read this file", "give it permission to read")
            }
            ReadError::Quarantined(reason) => Self::error(
                "quarantined",
                match reason {
                    QuarantineReason::Crashed => "the engine crashed on this file",
                    QuarantineReason::TimedOut => "the engine did not finish this file in time",
                    QuarantineReason::OutOfMemory => "this file needs more memory than the engine has for one",
                },
                "it is quarantined until its content changes; please report it with the file",
            ),
            ReadError::Failed(message) => {
                Self::error("unreadable", format!("the file could not be read: {message}"), "check the disk")
            }
        }
    }

    /// Describes why the host skipped an entry.
    pub fn skipped(reason: SkipReason) -> Self {
        match reason {
            SkipReason::TooDeep => Self::error(
                "too-deep",
                "too many levels below the root, so nothing in it is served",
                "move it up, or configure a folder further down as a root",
            ),
            SkipReason::NoPermission => {
                Self::error("no-permission", "the server may not list this folder", "give it permission to read")
            }
            SkipReason::OutsideRoot => Self::error(
                "outside-root",
                "a link leads outside the root or nowhere",
                "copy the target into the root, or configure it as a root",
            ),
            SkipReason::NotWalked => Self::error(
                "not-walked",
                "a link leads through a folder that is not walked, such as a hidden one",
                "copy the target into a folder that is walked, or configure its folder as a root",
            ),
            SkipReason::TooManyLinks => Self::error(
                "too-many-links",
                "this link is not followed: it has too long a target, leads through too many other links, or too many documents of this root are links",
                "replace it with what it leads to",
            ),
            SkipReason::NameNotText => Self::error("name-not-text", "the name is not UTF-8", "rename it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(warnings: usize, errors: usize) -> Vec<Finding> {
        let warnings = (0..warnings).map(|number| Finding::warning("dead-link", number.to_string(), ""));
        warnings.chain((0..errors).map(|number| Finding::error("unsafe-path", number.to_string(), ""))).collect()
    }

    #[test]
    fn no_number_of_warnings_hides_an_error() {
        for (warnings, errors) in [(25, 1), (1_000, 20), (0, 21), (30, 30), (21, 0), (20, 0), (19, 1), (0, 0)] {
            let few = first_few(findings(warnings, errors));
            let of = |severity: Severity, code: &str| {
                few.iter().filter(|finding| finding.severity == severity && finding.code == code).count()
            };
            assert_eq!(of(Severity::Error, "unsafe-path"), errors.min(MAX_KEPT), "{warnings} {errors}");
            assert_eq!(of(Severity::Warning, "dead-link"), warnings.min(MAX_KEPT.saturating_sub(errors)));
            assert_eq!(of(Severity::Error, "more-problems"), usize::from(errors > MAX_KEPT));
            let is_cut = warnings + errors > MAX_KEPT;
            assert_eq!(of(Severity::Warning, "more-problems"), usize::from(is_cut && errors <= MAX_KEPT));
        }
        let more = first_few(findings(25, 1)).pop().unwrap();
        assert_eq!((more.message.as_str(), more.line, more.column), ("6 more problems in this file", Some(1), Some(1)));
    }
}
