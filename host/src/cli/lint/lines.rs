//! What `lint` found, for people.

use super::fixing::Mended;
use super::report::{Mentioned, Report, Told};
use crate::cli::mentions::MOST;
use crate::cli::table::aligned;
use crate::printable::{counted, printable, printable_up_to};
use crate::terminal::{Output, Tone};

/// Longest path that is shown, in characters: as long as any that can be opened.
const LONGEST_PATH: usize = 4_096;

/// Longest message that is shown, in characters.
const LONGEST_MESSAGE: usize = 400;

/// On a terminal below the file that it is about, elsewhere as compilers tell it, so that editors find the place.
pub fn lines(report: &Report, output: Output) -> Vec<String> {
    let mut parts = vec![report.mended.iter().flat_map(mended).collect(), problems(&report.problems, output)];
    parts.push(mentions(&report.mentions));
    parts.push(summary(report, output));
    parts.retain(|part| !part.is_empty());
    parts.join(&String::new())
}

fn problems(problems: &[Told], output: Output) -> Vec<String> {
    let mut lines = Vec::new();
    let mut last = "";
    for told in problems {
        let file = printable_up_to(&told.file, LONGEST_PATH);
        let numbers = [told.line, told.column].into_iter().flatten().map(|number| number.to_string());
        let place: Vec<String> = numbers.collect();
        let tone = if told.severity == "error" { Tone::Bad } else { Tone::Warning };
        let severity = output.toned(tone, told.severity);
        let message = printable_up_to(&told.message, LONGEST_MESSAGE);
        let code = output.toned(Tone::Faint, &format!("[{}]", told.code));
        let advice = printable_up_to(&told.advice, LONGEST_MESSAGE);
        if output.is_terminal() {
            if last != told.file {
                if !lines.is_empty() {
                    lines.push(String::new());
                }
                lines.push(output.toned(Tone::Heading, &file));
            }
            let place = if place.is_empty() { String::new() } else { format!("{}: ", place.join(":")) };
            lines.extend([format!("  {place}{severity}: {message} {code}"), format!("      {advice}")]);
        } else {
            let place: String = place.iter().map(|number| format!(":{number}")).collect();
            lines.extend([format!("{file}{place}: {severity}: {message} {code}"), format!("    {advice}")]);
        }
        last = &told.file;
    }
    lines
}

fn mended(mended: &Mended) -> Vec<String> {
    let file = printable_up_to(&mended.file, LONGEST_PATH);
    let codes = mended.codes.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let first = match (&mended.refused, mended.written) {
        (Some(reason), _) => format!("{file}: not mended: {}", printable(reason)),
        (None, true) => format!("{file}: mended [{codes}]"),
        (None, false) => format!("{file}: would be mended [{codes}]"),
    };
    std::iter::once(first).chain(mended.changes.iter().map(|line| format!("    {line}"))).collect()
}

fn mentions(mentions: &[Mentioned]) -> Vec<String> {
    if mentions.is_empty() {
        return Vec::new();
    }
    let row = |used: &Mentioned| vec![printable(&used.skill), used.tool.clone(), used.offer.told()];
    let rows: Vec<Vec<String>> = mentions.iter().map(row).collect();
    let mut lines = vec!["tools that skills mention:".to_owned()];
    lines.extend(aligned(&rows).into_iter().map(|line| format!("  {line}")));
    if rows.len() == MOST as usize {
        lines.push(format!("  and perhaps more: only the first {MOST} are told"));
    }
    lines
}

fn summary(report: &Report, output: Output) -> Vec<String> {
    let skills = counted(report.skills as usize, "skill");
    let silenced = match report.silenced.len() {
        0 => String::new(),
        silenced => format!(", {silenced} silenced"),
    };
    let (problems, tone) = match (report.errors, report.warnings) {
        (0, 0) => ("no problems".to_owned(), Tone::Good),
        (errors, warnings) => {
            let tone = if errors > 0 { Tone::Bad } else { Tone::Warning };
            (format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")), tone)
        }
    };
    let mut lines = vec![format!("{skills}: {}{silenced}", output.toned(tone, &problems))];
    let mechanical = report.problems.iter().filter(|told| told.mechanical).count();
    if mechanical > 0 && report.mended.is_empty() {
        lines.push(format!("`--fix` mends {mechanical} of them; `--fix --dry-run` shows how"));
    }
    lines
}
