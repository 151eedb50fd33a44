//! Timestamps in ISO 8601 form, such as `2026-11-16T06:07:31Z`.

use jiff::Timestamp;
use std::time::{Duration, SystemTime};

/// The current time, to the second.
pub fn now() -> String {
    format!("{:.0}", Timestamp::now())
}

/// The current time, to the millisecond.
pub fn now_millis() -> String {
    format!("{:.3}", Timestamp::now())
}

/// Formats a time since the Unix epoch, to the millisecond.
pub fn format_millis(since: Duration) -> String {
    let millis = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    format!("{:.3}", Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX))
}

/// The time since the Unix epoch.
pub fn since_epoch() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_formatted_to_the_millisecond_whatever_it_is() {
        assert_eq!(format_millis(Duration::ZERO), "1970-01-01T00:00:00.000Z");
        assert_eq!(format_millis(Duration::new(1_709_251_199, 25_999_999)), "2024-02-29T23:59:59.025Z");
        assert_eq!(format_millis(Duration::MAX), "9999-12-30T22:00:00.999Z");
    }
}
