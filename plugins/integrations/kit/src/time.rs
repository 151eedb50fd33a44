//! Parses timestamps, and formats how long ago they were.

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Parses a timestamp such as `2026-01-31T09:30:00Z` or `2026-01-31T09:30:00.5+02:00` to seconds since 1970.
pub fn from_rfc3339(text: &str) -> Option<u64> {
    let (date, rest) = text.trim().split_once(['T', 't', ' '])?;
    let zone_at = rest.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = rest.split_at(zone_at);
    let mut date = date.splitn(3, '-');
    let day = days(number(date.next()?)?, number(date.next()?)?, number(date.next()?)?)?;
    let seconds = seconds_of_day(clock)?;
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let (hours, minutes) = zone[1..].split_once(':')?;
            let offset = i64::try_from(number(hours)? * HOUR + number(minutes)? * MINUTE).ok()?;
            if zone.starts_with('-') { -offset } else { offset }
        }
    };
    u64::try_from(day * 86_400 + seconds - offset).ok()
}

/// Parses a timestamp such as `Wed, 21 Oct 2026 07:28:00 GMT` to seconds since 1970.
pub fn from_http(text: &str) -> Option<u64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let mut words = text.split_once(',')?.1.split_whitespace();
    let (day, month, year) = (number(words.next()?)?, words.next()?, number(words.next()?)?);
    let at = MONTHS.find(month).filter(|at| month.len() == 3 && at % 3 == 0)?;
    let seconds = seconds_of_day(words.next()?)?;
    u64::try_from(days(year, at as u64 / 3 + 1, day)? * 86_400 + seconds).ok()
}

fn seconds_of_day(clock: &str) -> Option<i64> {
    let mut parts = clock.split('.').next()?.splitn(3, ':');
    let (hour, minute, second) = (number(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?);
    let legal = hour < 24 && minute < 60 && second <= 60;
    legal.then(|| i64::try_from(hour * HOUR + minute * MINUTE + second).ok()).flatten()
}

/// Parses a number of at most four digits.
fn number(text: &str) -> Option<u64> {
    let legal = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    legal.then(|| text.parse().ok()).flatten()
}

/// Returns the days since 1970, counting years from March so that leap days come last.
fn days(year: u64, month: u64, day: u64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { i64::try_from(year).ok()? - 1 } else { i64::try_from(year).ok()? };
    let month_from_march = i64::try_from((month + 9) % 12).ok()?;
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::try_from(day).ok()? - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(year * 365 + leap_days + day_of_year - 719_468)
}

/// Formats how long before `now` a timestamp was, as in `2 hours ago`. Other text is returned unchanged.
pub fn ago(moment: &str, now: u64) -> String {
    let Some(then) = from_rfc3339(moment) else { return crate::text::line(moment) };
    if then > now.saturating_add(MINUTE) {
        return format!("in {}", span(then - now));
    }
    let seconds = now.saturating_sub(then);
    if seconds < MINUTE { "just now".to_owned() } else { format!("{} ago", span(seconds)) }
}

/// Formats seconds in their largest unit, as in `3 days`.
pub fn span(seconds: u64) -> String {
    let (count, unit) = match seconds {
        _ if seconds < MINUTE => (seconds, "second"),
        _ if seconds < HOUR => (seconds / MINUTE, "minute"),
        _ if seconds < DAY => (seconds / HOUR, "hour"),
        _ if seconds < 14 * DAY => (seconds / DAY, "day"),
        _ if seconds < 60 * DAY => (seconds / (7 * DAY), "week"),
        _ if seconds < 730 * DAY => (seconds / (30 * DAY), "month"),
        _ => (seconds / (365 * DAY), "year"),
    };
    crate::text::count(count, unit)
}

/// Formats a duration, as in `4 m 12 s`; none if a timestamp is missing or they are in the wrong order.
pub fn between(start: Option<&str>, end: Option<&str>) -> Option<String> {
    let seconds = from_rfc3339(end?)?.checked_sub(from_rfc3339(start?)?)?;
    Some(match seconds {
        _ if seconds < MINUTE => format!("{seconds} s"),
        _ if seconds < HOUR => format!("{} m {} s", seconds / MINUTE, seconds % MINUTE),
        _ => format!("{} h {} m", seconds / HOUR, seconds % HOUR / MINUTE),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn timestamps_are_counted_from_1970() {
        assert_eq!(from_rfc3339("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(from_rfc3339("2000-02-29T12:00:00Z"), Some(951_825_600));
        assert_eq!(from_rfc3339("2026-11-16T18:43:00.123Z"), Some(1_794_854_580));
        assert_eq!(from_rfc3339("2026-11-16T20:43:00+02:00"), Some(1_794_854_580));
        assert_eq!(from_rfc3339("2026-11-16 13:13:00-05:30"), Some(1_794_854_580));
        for wrong in
            ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01", "1969-12-31T23:59:59Z"]
        {
            assert_eq!(from_rfc3339(wrong), None, "{wrong}");
        }
        assert_eq!(from_http("Wed, 21 Oct 2015 07:28:00 GMT"), Some(1_445_412_480));
        assert_eq!(from_http("Wed, 21 Oct"), None);
    }

    #[test]
    fn ages_are_shown_in_their_largest_unit() {
        let now = 1_794_854_580;
        for (moment, expected) in [
            ("2026-11-16T18:42:58Z", "just now"),
            ("2026-11-16T18:43:20Z", "just now"),
            ("2026-11-16T18:42:00Z", "1 minute ago"),
            ("2026-11-16T16:40:00Z", "2 hours ago"),
            ("2026-11-10T18:43:00Z", "6 days ago"),
            ("2026-10-16T18:43:00Z", "4 weeks ago"),
            ("2026-05-16T18:43:00Z", "6 months ago"),
            ("2020-11-16T18:43:00Z", "6 years ago"),
            ("2026-11-19T18:43:00Z", "in 3 days"),
            ("some day", "some day"),
        ] {
            assert_eq!(ago(moment, now), expected, "{moment}");
        }
        let took = |end| between(Some("2026-11-16T18:00:00Z"), Some(end));
        assert_eq!(took("2026-11-16T18:04:12Z").as_deref(), Some("4 m 12 s"));
        assert_eq!(took("2026-11-16T20:04:12Z").as_deref(), Some("2 h 4 m"));
        assert_eq!(took("2026-11-16T17:00:00Z"), None);
    }

    proptest! {
        #[test]
        fn any_text_and_any_time_are_handled(text in "\\PC{0,40}", now in any::<u64>()) {
            ago(&text, now);
            from_http(&text);
        }

        #[test]
        fn later_days_are_larger(year in 1970..2400_u64, month in 1..=12_u64, day in 1..=27_u64) {
            prop_assert_eq!(days(year, month, day + 1), days(year, month, day).map(|days| days + 1));
            let next = if month == 12 { days(year + 1, 1, 1) } else { days(year, month + 1, 1) };
            prop_assert!((28..=31).contains(&(next.unwrap() - days(year, month, 1).unwrap())));
        }
    }
}
