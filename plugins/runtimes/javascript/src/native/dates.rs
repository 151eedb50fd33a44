//! Extends `Date` to parse what V8 parses: the engine supports only the formats of the standard.

use boa_engine::object::FunctionObjectBuilder;
use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsValue, NativeFunction, js_string};

pub fn install(context: &mut Context) {
    let original = context.intrinsics().constructors().date().constructor();
    let prototype = context.intrinsics().constructors().date().prototype();
    let realm = context.realm().clone();
    let build = NativeFunction::from_copy_closure_with_captures(construct, original.clone());
    let date = FunctionObjectBuilder::new(&realm, build).name(js_string!("Date")).length(7).constructor(true).build();
    let read = NativeFunction::from_copy_closure_with_captures(parse, original.clone());
    let read = FunctionObjectBuilder::new(&realm, read).name(js_string!("parse")).length(1).build();
    let now = original.get(js_string!("now"), context).unwrap_or_default();
    let utc = original.get(js_string!("UTC"), context).unwrap_or_default();
    let mut hide = |object: &JsObject, name: &str, value: JsValue| {
        let property = PropertyDescriptor::builder().value(value).writable(true).enumerable(false).configurable(true);
        object.define_property_or_throw(js_string!(name), property, context).expect("nothing is frozen yet");
    };
    hide(&date, "parse", read.into());
    hide(&date, "now", now);
    hide(&date, "UTC", utc);
    hide(&prototype, "constructor", date.clone().into());
    let fixed = PropertyDescriptor::builder().value(prototype).writable(false).enumerable(false).configurable(false);
    date.define_property_or_throw(js_string!("prototype"), fixed, context).expect("a fresh function");
    let global = context.global_object();
    let property = PropertyDescriptor::builder().value(date).writable(true).enumerable(false).configurable(true);
    global.define_property_or_throw(js_string!("Date"), property, context).expect("the global object is extensible");
}

fn construct(target: &JsValue, arguments: &[JsValue], original: &JsObject, context: &mut Context) -> JsResult<JsValue> {
    let Some(target) = target.as_object() else { return original.call(target, arguments, context) };
    if let [text] = arguments
        && text.is_string()
    {
        let time = parse(&JsValue::undefined(), arguments, original, context)?;
        return original.construct(&[time], Some(&target), context).map(JsValue::from);
    }
    original.construct(arguments, Some(&target), context).map(JsValue::from)
}

fn parse(_: &JsValue, arguments: &[JsValue], original: &JsObject, context: &mut Context) -> JsResult<JsValue> {
    let text = arguments.get_or_undefined(0).to_string(context)?;
    let strict = original.get(js_string!("parse"), context)?;
    if let Some(strict) = strict.as_callable() {
        let time = strict.call(&original.clone().into(), &[text.clone().into()], context)?;
        if time.as_number().is_some_and(|time| !time.is_nan()) {
            return Ok(time);
        }
    }
    Ok(lenient(&text.to_std_string_lossy()).unwrap_or(f64::NAN).into())
}

/// The parts found so far, in the order they are written.
#[derive(Default)]
struct Parts {
    numbers: Vec<i64>,
    month: Option<i64>,
    time: Option<[f64; 3]>,
    is_afternoon: Option<bool>,
    offset_minutes: i64,
    /// Written `2024-1-5` or `2024/1/5`.
    year_first: bool,
}

/// Returns milliseconds since 1970. Without a zone the time is UTC, the local time of the sandbox.
fn lenient(text: &str) -> Option<f64> {
    let mut parts = Parts::default();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        rest = if first == '(' {
            rest.split_once(')').map_or("", |(_, rest)| rest)
        } else if first.is_ascii_alphabetic() {
            let end = rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(rest.len());
            parts.word(&rest[..end].to_ascii_lowercase())?;
            &rest[end..]
        } else if first.is_ascii_digit() {
            parts.number(rest)?
        } else if matches!(first, '+' | '-') && parts.time.is_some() {
            parts.offset(rest)?
        } else {
            &rest[first.len_utf8()..]
        };
    }
    parts.milliseconds()
}

impl Parts {
    fn word(&mut self, word: &str) -> Option<()> {
        const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
        const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
        const ZONES: [(&str, i64); 8] =
            [("est", -5), ("edt", -4), ("cst", -6), ("cdt", -5), ("mst", -7), ("mdt", -6), ("pst", -8), ("pdt", -7)];
        if let Some((_, hours)) = ZONES.iter().find(|(name, _)| *name == word) {
            self.offset_minutes = hours * 60;
        } else if word == "am" || word == "pm" {
            self.is_afternoon = Some(word == "pm");
        } else if let Some(month) = MONTHS.iter().position(|month| word.starts_with(month)) {
            self.month = i64::try_from(month).ok();
        } else {
            let known =
                matches!(word, "z" | "utc" | "gmt" | "t" | "at") || DAYS.iter().any(|day| word.starts_with(day));
            // V8 does not accept `5th of May` either, once the date is complete.
            return known.then_some(());
        }
        Some(())
    }

    fn number<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        let rest = &text[end..];
        if rest.starts_with(':') && self.time.is_none() {
            return self.clock(text);
        }
        if self.numbers.is_empty() && end >= 3 && rest.starts_with(['-', '/']) {
            self.year_first = true;
        }
        self.numbers.push(text[..end].parse().ok()?);
        Some(rest)
    }

    fn clock<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let end =
            text.find(|letter: char| !letter.is_ascii_digit() && letter != ':' && letter != '.').unwrap_or(text.len());
        let mut time = [0.0; 3];
        for (place, piece) in text[..end].split(':').enumerate() {
            *time.get_mut(place)? = piece.parse().ok()?;
        }
        self.time = Some(time);
        Some(&text[end..])
    }

    fn offset<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let sign = if text.starts_with('-') { -1 } else { 1 };
        let end =
            1 + text[1..].find(|letter: char| !letter.is_ascii_digit() && letter != ':').unwrap_or(text.len() - 1);
        let digits = text[1..end].replace(':', "");
        let value: i64 = digits.parse().ok()?;
        self.offset_minutes = sign * if digits.len() <= 2 { value * 60 } else { value / 100 * 60 + value % 100 };
        Some(&text[end..])
    }

    fn milliseconds(&self) -> Option<f64> {
        let (year, month, day) = match (self.month, self.numbers.as_slice()) {
            (Some(month), [day, year]) if *day <= 31 => (*year, month, *day),
            (Some(month), [year, day]) => (*year, month, *day),
            (Some(month), [year]) if *year > 31 => (*year, month, 1),
            (Some(month), [day]) => (2001, month, *day),
            (None, [year, month, day]) if self.year_first => (*year, month - 1, *day),
            (None, [month, day, year]) => (*year, month - 1, *day),
            _ => return None,
        };
        let year = match year {
            0..50 => year + 2000,
            50..100 => year + 1900,
            _ => year,
        };
        let [mut hour, minute, second] = self.time.unwrap_or_default();
        match self.is_afternoon {
            Some(true) if hour < 12.0 => hour += 12.0,
            Some(false) if (hour - 12.0).abs() < f64::EPSILON => hour = 0.0,
            _ => {}
        }
        if !(0..12).contains(&month) || !(1..=31).contains(&day) || hour > 24.0 || minute > 59.0 || second >= 60.0 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "days and minutes of any date fit exactly")]
        let (days, offset) = (days_since_1970(year, month, day) as f64, self.offset_minutes as f64);
        Some((((days * 24.0 + hour) * 60.0 + minute - offset) * 60.0 + second) * 1000.0)
    }
}

/// Counts years from March, so that the leap day is the last day.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month < 2 { year - 1 } else { year };
    let months = (month + 10) % 12;
    365 * shifted + shifted.div_euclid(4) - shifted.div_euclid(100)
        + shifted.div_euclid(400)
        + (months * 153 + 2) / 5
        + day
        - 719_469
}

#[cfg(test)]
mod tests {
    use super::lenient;

    #[test]
    fn dates_are_parsed_in_many_forms() {
        let noon = Some(1_704_456_000_000.0);
        for text in [
            "Jan 5, 2024 12:00",
            "5 January 2024 12:00",
            "Fri Jan 5 12:00:00 2024 +0000",
            "2024/01/05 12:00:00",
            "1/5/2024 12:00 PM",
            "Fri, 05 Jan 2024 12:00:00 GMT",
            "Fri Jan 05 2024 13:00:00 GMT+0100 (Central European Standard Time)",
            "2024-01-05 07:00 EST",
            "2024-1-5 12:00",
        ] {
            assert_eq!(lenient(text), noon, "{text}");
        }
        assert_eq!(lenient("Mar 1, 1970"), Some(59.0 * 86_400_000.0));
        for text in ["", "garbage", "5", "hello 5, 2024", "13/45/2024"] {
            assert_eq!(lenient(text), None, "{text}");
        }
    }
}
