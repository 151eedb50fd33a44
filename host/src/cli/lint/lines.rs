//! Formats the report of `lint` as text.

use super::fix::FixedFile;
use super::report::{Finding, MentionView, Report};
use crate::cli::mentions::MAX_MENTIONS;
use crate::cli::table::aligned;
use base::printable::{counted, printable, printable_up_to};
use terminal::{Output, Tone};

/// The longest path, in characters: as long as any that can be opened.
const MAX_PATH_LENGTH: usize = 4_096;

/// The longest message, in characters.
const MAX_MESSAGE_LENGTH: usize = 400;

/// Groups problems by file on a terminal; elsewhere uses the format of compilers, which editors understand.
pub fn lines(report: &Report, output: Output) -> Vec<String> {
    let mut parts = vec![report.fixed.iter().flat_map(fixed).collect(), problems(&report.problems, output)];
    parts.push(mentions(&report.mentions));
    parts.push(summary(report, output));
    parts.retain(|part| !part.is_empty());
    parts.join(&String::new())
}

fn problems(problems: &[Finding], output: Output) -> Vec<String> {
    let mut lines = Vec::new();
    let mut last = "";
    for finding in problems {
        let file = printable_up_to(&finding.file, MAX_PATH_LENGTH);
        let numbers = [finding.line, finding.column].into_iter().flatten().map(|number| number.to_string());
        let position: Vec<String> = numbers.collect();
        let tone = if finding.severity == "error" { Tone::Bad } else { Tone::Warning };
        let severity = output.paint(tone, finding.severity);
        let message = printable_up_to(&finding.message, MAX_MESSAGE_LENGTH);
        let code = output.paint(Tone::Faint, &format!("[{}]", finding.code));
        let advice = printable_up_to(&finding.advice, MAX_MESSAGE_LENGTH);
        if output.is_terminal() {
            if last != finding.file {
                if !lines.is_empty() {
                    lines.push(String::new());
                }
                lines.push(output.paint(Tone::Heading, &file));
            }
            let position = if position.is_empty() { String::new() } else { format!("{}: ", position.join(":")) };
            lines.extend([format!("  {position}{severity}: {message} {code}"), format!("      {advice}")]);
        } else {
            let position: String = position.iter().map(|number| format!(":{number}")).collect();
            lines.extend([format!("{file}{position}: {severity}: {message} {code}"), format!("    {advice}")]);
        }
        last = &finding.file;
    }
    lines
}

fn fixed(fixed: &FixedFile) -> Vec<String> {
    let file = printable_up_to(&fixed.file, MAX_PATH_LENGTH);
    let codes = fixed.codes.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let first = match (&fixed.refused, fixed.written) {
        (Some(reason), _) => format!("{file}: not fixed: {}", printable(reason)),
        (None, true) => format!("{file}: fixed [{codes}]"),
        (None, false) => format!("{file}: would be fixed [{codes}]"),
    };
    std::iter::once(first).chain(fixed.changes.iter().map(|line| format!("    {line}"))).collect()
}

fn mentions(mentions: &[MentionView]) -> Vec<String> {
    if mentions.is_empty() {
        return Vec::new();
    }
    let row = |view: &MentionView| vec![printable(&view.skill), view.tool.clone(), view.offer.describe()];
    let rows: Vec<Vec<String>> = mentions.iter().map(row).collect();
    let mut lines = vec!["tools that skills mention:".to_owned()];
    lines.extend(aligned(&rows).into_iter().map(|line| format!("  {line}")));
    if rows.len() == MAX_MENTIONS as usize {
        lines.push(format!("  and possibly more: only the first {MAX_MENTIONS} are listed"));
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
    let mut lines = vec![format!("{skills}: {}{silenced}", output.paint(tone, &problems))];
    let mechanical = report.problems.iter().filter(|finding| finding.mechanical).count();
    if mechanical > 0 && report.fixed.is_empty() {
        lines.push(format!("`--fix` fixes {mechanical} of them; `--fix --dry-run` shows how"));
    }
    lines
}
