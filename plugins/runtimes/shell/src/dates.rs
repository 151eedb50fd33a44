//! Parses dates like GNU `date -d`; bashkit supports few of its forms.
//!
//! A supported expression is passed to bashkit as seconds, any other as written. Times without a zone are UTC, as
//! everywhere in the sandbox.

use std::time::{SystemTime, UNIX_EPOCH};

const DAY: i64 = 24 * 60 * 60;
#[rustfmt::skip]
const MONTHS: [&str; 12] = [
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
];
const WEEKDAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// Replaces the dates in the arguments of `date` or `touch` by `@seconds`.
pub fn resolve_dates(arguments: Vec<String>) -> Vec<String> {
    let mut value_follows = false;
    arguments
        .into_iter()
        .map(|argument| {
            if std::mem::take(&mut value_follows) {
                return seconds(&argument).unwrap_or(argument);
            }
            if let Some(expression) = argument.strip_prefix("--date=") {
                return seconds(expression).map_or(argument.clone(), |found| format!("--date={found}"));
            }
            value_follows = matches!(argument.as_str(), "-d" | "-ud" | "--date");
            argument
        })
        .collect()
}

fn seconds(expression: &str) -> Option<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    let found = Moment::parse(expression, i64::try_from(now).ok()?)?;
    Some(format!("@{found}"))
}

/// A date and time, assembled from parts in any order.
#[derive(Default)]
struct Moment {
    date: Option<(i64, i64, i64)>,
    time: Option<i64>,
    zone: i64,
    weekday: Option<(i64, i64)>,
    epoch: Option<i64>,
    months: i64,
    days: i64,
    seconds: i64,
}

impl Moment {
    fn parse(expression: &str, now: i64) -> Option<i64> {
        let lower = expression.to_lowercase().replace(',', " ");
        let words: Vec<&str> = lower.split_whitespace().collect();
        let mut moment = Self::default();
        let mut rest = words.as_slice();
        while !rest.is_empty() {
            let taken = moment.take(rest, now)?;
            rest = &rest[taken..];
        }
        (!words.is_empty()).then(|| moment.resolve(now))
    }

    /// Parses the words of one part and returns how many were used.
    fn take(&mut self, words: &[&str], now: i64) -> Option<usize> {
        let word = words[0];
        if let Some(epoch) = word.strip_prefix('@') {
            self.epoch = Some(epoch.parse().ok()?);
            return Some(1);
        }
        match word {
            "now" | "today" | "utc" | "gmt" | "z" => return Some(1),
            "tomorrow" => return self.shift("day", 1, 1),
            "yesterday" => return self.shift("day", -1, 1),
            "midnight" | "noon" => {
                self.time = Some(if word == "noon" { DAY / 2 } else { 0 });
                return Some(1);
            }
            "next" | "last" | "this" => {
                let direction = i64::from(word == "next") - i64::from(word == "last");
                let what = words.get(1)?;
                if let Some(weekday) = named(&WEEKDAYS, what) {
                    self.weekday = Some((weekday, direction));
                    return Some(2);
                }
                return self.shift(what, direction, 2);
            }
            _ => {}
        }
        if let Some(taken) = self.take_named_day(words, now) {
            return Some(taken);
        }
        if let Some(weekday) = named(&WEEKDAYS, word) {
            self.weekday = Some((weekday, 0));
            return Some(1);
        }
        if let Some(zone) = zone(word).filter(|_| self.time.is_some()) {
            self.zone = zone;
            return Some(1);
        }
        if let Some(taken) = self.take_shift(words) {
            return Some(taken);
        }
        let (day, clock) = match word.split_once('t') {
            Some((day, clock)) => (day, Some(clock)),
            None if word.contains(':') => ("", Some(word)),
            None => (word, None),
        };
        if !day.is_empty() {
            self.date = Some(numeric_date(day)?);
        }
        if let Some(clock) = clock {
            let (time, zone) = clock_time(clock)?;
            self.time = Some(time);
            self.zone = zone.unwrap_or(self.zone);
        }
        Some(1)
    }

    /// `10 mar 2024`, `mar 10 2024`, `mar 10`.
    fn take_named_day(&mut self, words: &[&str], now: i64) -> Option<usize> {
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<i64>().ok());
        let month = |at: usize| words.get(at).and_then(|word| named(&MONTHS, word));
        let parts = (month(0), number(1), number(0), month(1));
        let ((Some(month), Some(day), _, _) | (_, _, Some(day), Some(month))) = parts else { return None };
        let year = number(2).filter(|year| *year > 31);
        self.date = Some((year.unwrap_or_else(|| civil(now.div_euclid(DAY)).0), month + 1, day));
        Some(if year.is_some() { 3 } else { 2 })
    }

    /// `+1 day`, `- 2 weeks`, `3 hours ago`.
    fn take_shift(&mut self, words: &[&str]) -> Option<usize> {
        let (sign, words, before) = match words[0] {
            "+" => (1, &words[1..], 1),
            "-" => (-1, &words[1..], 1),
            _ => (1, words, 0),
        };
        let count = words.first()?.parse::<i64>().ok()?;
        let unit = words.get(1)?;
        let ago = words.get(2) == Some(&"ago");
        self.shift(unit, if ago { -count } else { sign * count }, before + 2 + usize::from(ago))
    }

    fn shift(&mut self, unit: &str, count: i64, taken: usize) -> Option<usize> {
        match unit.strip_suffix('s').unwrap_or(unit) {
            "year" => self.months += 12 * count,
            "month" => self.months += count,
            "fortnight" => self.days += 14 * count,
            "week" => self.days += 7 * count,
            "day" => self.days += count,
            "hour" => self.seconds += 60 * 60 * count,
            "minute" | "min" => self.seconds += 60 * count,
            "second" | "sec" => self.seconds += count,
            _ => return None,
        }
        Some(taken)
    }

    fn resolve(&self, now: i64) -> i64 {
        let base = self.epoch.unwrap_or(now);
        let (year, month, day) = self.date.unwrap_or_else(|| civil(base.div_euclid(DAY)));
        let whole_day = self.date.is_some() || self.weekday.is_some();
        let time = self.time.unwrap_or(if whole_day { 0 } else { base.rem_euclid(DAY) });
        let months = year * 12 + month - 1 + self.months;
        let mut days = day_number(months.div_euclid(12), months.rem_euclid(12) + 1) + day - 1 + self.days;
        if let Some((weekday, direction)) = self.weekday {
            // 1970-01-01 was a Thursday.
            let ahead = (weekday - (days + 4)).rem_euclid(7);
            days += match direction {
                1 if ahead == 0 => 7,
                -1 => ahead - 7,
                _ => ahead,
            };
        }
        days * DAY + time - self.zone + self.seconds
    }
}

/// Returns the position of a name, which may be abbreviated to three letters.
fn named(names: &[&str], word: &str) -> Option<i64> {
    let known = names.iter().position(|name| word.len() >= 3 && name.starts_with(word))?;
    i64::try_from(known).ok()
}

/// `2024-03-10`, `2024/03/10`, `03/10/2024` or `20240310`.
fn numeric_date(text: &str) -> Option<(i64, i64, i64)> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let (year, month, day) = if digits && text.len() == 8 {
        (&text[..4], &text[4..6], &text[6..])
    } else {
        let mut parts = text.split(['-', '/']);
        let parts = (parts.next()?, parts.next()?, parts.next()?, parts.next());
        match parts {
            (year, month, day, None) if year.len() == 4 => (year, month, day),
            (month, day, year, None) if year.len() == 4 && text.contains('/') => (year, month, day),
            _ => return None,
        }
    };
    let (year, month, day) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((year, month, day))
}

/// `10:00`, `10:00:00.5`, `10:00z` or `10:00+02:00`.
fn clock_time(text: &str) -> Option<(i64, Option<i64>)> {
    let end = text.find(['z', '+', '-']).unwrap_or(text.len());
    let (clock, suffix) = text.split_at(end);
    let offset = if suffix.is_empty() { None } else { Some(zone(suffix)?) };
    let mut parts = clock.split(':');
    let hour: i64 = parts.next()?.parse().ok()?;
    let minute: i64 = parts.next()?.parse().ok()?;
    let second: i64 = parts.next().map_or(Some(0), |second| second.split('.').next()?.parse().ok())?;
    let valid = hour < 24 && minute < 60 && second < 61 && parts.next().is_none();
    valid.then_some(((hour * 60 + minute) * 60 + second, offset))
}

/// Returns the offset from UTC in seconds.
fn zone(text: &str) -> Option<i64> {
    if text == "z" {
        return Some(0);
    }
    let sign = match text.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits = text[1..].replace(':', "");
    let number: i64 = digits.parse().ok()?;
    match digits.len() {
        2 => Some(sign * number * 60 * 60),
        4 => Some(sign * (number / 100 * 60 + number % 100) * 60),
        _ => None,
    }
}

/// Returns the days from 1970 to the first of this month. See Howard Hinnant, "chrono-compatible low-level date
/// algorithms".
fn day_number(year: i64, month: i64) -> i64 {
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Returns year, month, day, and the seconds of that day.
pub fn date_and_seconds(since_epoch: u64) -> (i64, i64, i64, i64) {
    let seconds = i64::try_from(since_epoch).unwrap_or_default();
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    (year, month, day, seconds.rem_euclid(DAY))
}

/// Returns year, month and day of a day since 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let mut year = 1970 + days.div_euclid(366);
    while day_number(year + 1, 1) <= days {
        year += 1;
    }
    let month = (1..=12).rev().find(|month| day_number(year, *month) <= days).unwrap_or(1);
    (year, month, days - day_number(year, month) + 1)
}

#[cfg(test)]
mod tests {
    use super::Moment;

    /// A Monday, 2026-11-16 06:00:00 UTC.
    const NOW: i64 = 1_794_808_800;

    #[test]
    fn forms_of_gnu_date() {
        for (expression, expected) in [
            ("2024-01-31 +1 day", 1_706_745_600),
            ("2024-01-31 + 1 day", 1_706_745_600),
            ("2024-01-31 -1 month", 1_703_980_800),
            ("2024-01-31 +1 day +2 hours", 1_706_752_800),
            ("2024-03-10T10:00:00+02:00", 1_710_057_600),
            ("Sun, 10 Mar 2024 10:00:00 +0000", 1_710_064_800),
            ("Mar 10 2024", 1_710_028_800),
            ("20240310", 1_710_028_800),
            ("03/10/2024", 1_710_028_800),
            ("2024-03-10 1 week ago", 1_709_424_000),
            ("yesterday", NOW - 86_400),
            ("@5", 5),
            ("monday", 1_794_787_200),
            ("next monday", 1_794_787_200 + 7 * 86_400),
            ("last friday", 1_794_787_200 - 3 * 86_400),
        ] {
            assert_eq!(Moment::parse(expression, NOW), Some(expected), "{expression}");
        }
    }

    #[test]
    fn unsupported_dates_are_left_to_bashkit() {
        for expression in ["", "soon", "2024-13-01", "1 banana"] {
            assert_eq!(Moment::parse(expression, NOW), None, "{expression}");
        }
    }
}
