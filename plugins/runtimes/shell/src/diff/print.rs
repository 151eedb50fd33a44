//! Prints differences in the normal and the unified format.

use std::time::{SystemTime, UNIX_EPOCH};

use super::changes::Change;
use crate::dates;

/// Default number of context lines.
pub const CONTEXT: usize = 3;

type Lines<'content> = [Vec<&'content [u8]>; 2];

/// Splits lines, keeping their ends because the last one may have none.
pub fn lines(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').collect()
}

pub fn time(moment: SystemTime) -> String {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (year, month, day, seconds) = dates::date_and_seconds(since.as_secs());
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:09} +0000", since.subsec_nanos())
}

pub fn normal(output: &mut Vec<u8>, changes: &[Change], [old, new]: &Lines<'_>) {
    for change in changes {
        let letter = match (change.old.is_empty(), change.new.is_empty()) {
            (true, _) => 'a',
            (_, true) => 'd',
            _ => 'c',
        };
        let title = format!("{}{letter}{}\n", places(&change.old), places(&change.new));
        output.extend_from_slice(title.as_bytes());
        change.old.clone().for_each(|at| line(output, "< ", old[at]));
        if letter == 'c' {
            output.extend_from_slice(b"---\n");
        }
        change.new.clone().for_each(|at| line(output, "> ", new[at]));
    }
}

/// `3` or `3,5`; for an empty range, the line before.
fn places(range: &std::ops::Range<usize>) -> String {
    match range.len() {
        0 => range.start.to_string(),
        1 => range.end.to_string(),
        _ => format!("{},{}", range.start + 1, range.end),
    }
}

pub fn unified(output: &mut Vec<u8>, changes: &[Change], [old, new]: &Lines<'_>, context: usize) {
    let mut rest = changes;
    while let Some(first) = rest.first() {
        let together =
            rest.windows(2).take_while(|pair| pair[1].old.start - pair[0].old.end <= 2 * context).count() + 1;
        let (group, after) = rest.split_at(together);
        rest = after;
        let last = &group[group.len() - 1];
        let lead = context.min(first.old.start).min(first.new.start);
        let trail = context.min(old.len() - last.old.end).min(new.len() - last.new.end);
        let old_range = first.old.start - lead..last.old.end + trail;
        let new_range = first.new.start - lead..last.new.end + trail;
        let title = format!("@@ -{} +{} @@\n", extent(&old_range), extent(&new_range));
        output.extend_from_slice(title.as_bytes());
        let mut at = old_range.start;
        for change in group {
            (at..change.old.start).for_each(|at| line(output, " ", old[at]));
            change.old.clone().for_each(|at| line(output, "-", old[at]));
            change.new.clone().for_each(|at| line(output, "+", new[at]));
            at = change.old.end;
        }
        (at..old_range.end).for_each(|at| line(output, " ", old[at]));
    }
}

/// `start,count`; a count of one is omitted.
fn extent(range: &std::ops::Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => range.end.to_string(),
        count => format!("{},{count}", range.start + 1),
    }
}

fn line(output: &mut Vec<u8>, mark: &str, line: &[u8]) {
    output.extend_from_slice(mark.as_bytes());
    output.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        output.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}
