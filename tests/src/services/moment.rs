//! Timestamps in the format of the services.

use std::time::{SystemTime, UNIX_EPOCH};

/// Days from March of the year 0 to January of 1970.
const BEFORE_1970: i64 = 719_468;

const DAYS_IN_400_YEARS: i64 = 146_097;

/// Seconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock that is right");
    i64::try_from(since.as_secs()).expect("a clock that is right")
}

/// Adds seconds to a timestamp such as `2026-01-31T09:30:00Z`. None if the text is not a timestamp.
pub fn later(text: &str, seconds: i64) -> Option<String> {
    let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
    let clock = clock.split('.').next()?;
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(clock, ':')?;
    let moment = day_number(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second + seconds;
    let (year, month, day) = date_of(moment.div_euclid(86_400));
    let clock = moment.rem_euclid(86_400);
    let (hour, minute, second) = (clock / 3_600, clock / 60 % 60, clock % 60);
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

fn numbers(text: &str, between: char) -> Option<[i64; 3]> {
    let found: Vec<i64> = text.split(between).map(str::parse).collect::<Result<_, _>>().ok()?;
    found.try_into().ok()
}

/// Days since 1970. Years begin in March here, so that leap days come last.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - BEFORE_1970
}

fn date_of(day_number: i64) -> (i64, i64, i64) {
    let days = day_number + BEFORE_1970;
    let (era, day) = (days.div_euclid(DAYS_IN_400_YEARS), days.rem_euclid(DAYS_IN_400_YEARS));
    let year = (day - day / 1_460 + day / 36_524 - day / (DAYS_IN_400_YEARS - 1)) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_move() {
        for (text, seconds, expected) in [
            ("2026-11-16T15:10:00Z", 0, "2026-11-16T15:10:00Z"),
            ("2026-11-16T15:10:00.250Z", 86_400, "2026-11-17T15:10:00Z"),
            ("2024-02-28T23:59:59Z", 1, "2024-02-29T00:00:00Z"),
            ("2000-02-29T00:00:00Z", 86_400, "2000-03-01T00:00:00Z"),
            ("1970-01-01T00:00:00Z", -1, "1969-12-31T23:59:59Z"),
            ("2026-12-31T23:59:59Z", 1, "2027-01-01T00:00:00Z"),
        ] {
            assert_eq!(later(text, seconds).as_deref(), Some(expected), "{text}");
        }
        for other in ["", "2026-11-16", "today", "T", "2026-11-16T15:10:00+01:00", "2026-11-16T15:10Z"] {
            assert_eq!(later(other, 1), None, "{other}");
        }
    }

    #[test]
    fn every_day_survives_a_round_trip() {
        for day in (-200_000..200_000).step_by(7) {
            let (year, month, date) = date_of(day);
            assert_eq!(day_number(year, month, date), day);
        }
    }
}
