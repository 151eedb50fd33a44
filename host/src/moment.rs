//! Moments as people and machines read them, such as `2026-11-16T06:07:31Z`.

use std::time::{Duration, SystemTime};

/// This moment, to the second.
pub fn now() -> String {
    format!("{}Z", text(since_1970().as_secs()))
}

/// This moment, to the thousandth of a second.
pub fn now_exactly() -> String {
    exactly(since_1970())
}

/// A moment by its time since the first of January 1970, to the thousandth of a second.
pub fn exactly(since: Duration) -> String {
    format!("{}.{:03}Z", text(since.as_secs()), since.subsec_millis())
}

/// Time since the first of January 1970.
pub fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

fn text(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    // Days are counted from the first of March of the year 0, so that a leap day is the last of its year.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_people_read_them() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_400, "2000-02-29T00:00:00"),
            (1_709_251_199, "2024-02-29T23:59:59"),
            (1_709_251_200, "2024-03-01T00:00:00"),
            (4_102_444_799, "2099-12-31T23:59:59"),
        ] {
            assert_eq!(text(seconds), expected);
        }
    }
}
