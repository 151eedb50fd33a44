//! The long format: permissions, links, owner, group, size, time, name.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use super::entry::Entry;
use super::options::{Options, TimeStyle};
use crate::dates;

/// The user that runs scripts, as reported by `id`.
const OWNER: &str = "sandbox";
const OWNER_NUMBER: &str = "1000";

/// A file occupies whole blocks, which are counted in kilobytes.
const BLOCK_BYTES: u64 = 4096;

/// Six months, in seconds. Older times show the year instead of the hour.
const RECENT: u64 = 31_556_952 / 2;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

pub fn total(entries: &[Entry], options: &Options) -> String {
    let blocks: u64 = entries.iter().map(|entry| bytes(entry).div_ceil(BLOCK_BYTES)).sum();
    if options.human { human(blocks * BLOCK_BYTES) } else { (blocks * BLOCK_BYTES / 1024).to_string() }
}

pub fn print(output: &mut String, entries: &[Entry], options: &Options) {
    let size = |entry: &Entry| if options.human { human(bytes(entry)) } else { bytes(entry).to_string() };
    let width = entries.iter().map(|entry| size(entry).len()).max().unwrap_or(0);
    let who = if options.numeric { OWNER_NUMBER } else { OWNER };
    let owner = if options.with_owner { format!(" {who}") } else { String::new() };
    let group = if options.with_group { format!(" {who}") } else { String::new() };
    let now = SystemTime::now();
    for entry in entries {
        let links = if entry.is_folder() { 2 } else { 1 };
        let time = time(entry.metadata.modified, now, &options.time_style);
        let target = entry.target.as_ref().map(|target| format!(" -> {}", target.display())).unwrap_or_default();
        let _ = writeln!(
            output,
            "{} {links}{owner}{group} {:>width$} {time} {}{target}",
            permissions(entry),
            size(entry),
            options.display_name(entry)
        );
    }
}

/// bashkit reports size 0 for folders; other systems report a block.
fn bytes(entry: &Entry) -> u64 {
    if entry.is_folder() { BLOCK_BYTES } else { entry.metadata.size }
}

fn permissions(entry: &Entry) -> String {
    let kind = entry.metadata.file_type;
    let first = match () {
        () if kind.is_dir() => 'd',
        () if kind.is_symlink() => 'l',
        () if kind.is_fifo() => 'p',
        () => '-',
    };
    let mode = if kind.is_symlink() { 0o777 } else { entry.metadata.mode };
    let letters = "rwxrwxrwx".chars().enumerate();
    let rest: String = letters.map(|(place, letter)| if mode & (0o400 >> place) != 0 { letter } else { '-' }).collect();
    format!("{first}{rest}")
}

fn time(moment: SystemTime, now: SystemTime, style: &TimeStyle) -> String {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (year, month, day, seconds) = dates::date_and_seconds(since.as_secs());
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let age = now.duration_since(moment).map_or(0, |age| age.as_secs());
    match style {
        TimeStyle::Seconds => since.as_secs().to_string(),
        TimeStyle::Iso => format!("{year:04}-{month:02}-{day:02}"),
        TimeStyle::LongIso => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}"),
        TimeStyle::Full => {
            format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:09} +0000", since.subsec_nanos())
        }
        TimeStyle::Usual => {
            let name = usize::try_from(month - 1).ok().and_then(|month| MONTHS.get(month)).unwrap_or(&"");
            if age > RECENT {
                format!("{name} {day:>2}  {year}")
            } else {
                format!("{name} {day:>2} {hour:02}:{minute:02}")
            }
        }
    }
}

/// Formats as `1.5K` or `12M`: one decimal below ten, always rounded up.
fn human(bytes: u64) -> String {
    let mut unit = 1_u64;
    for letter in ["", "K", "M", "G", "T"] {
        if bytes < unit.saturating_mul(1024) || letter == "T" {
            let tenths = (bytes * 10).div_ceil(unit);
            return match (letter, tenths < 100) {
                ("", _) => bytes.to_string(),
                (_, true) => format!("{}.{}{letter}", tenths / 10, tenths % 10),
                _ => format!("{}{letter}", bytes.div_ceil(unit)),
            };
        }
        unit *= 1024;
    }
    bytes.to_string()
}
