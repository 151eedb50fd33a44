//! Collation and formatting for English, the only locale in the sandbox.

use std::cmp::Ordering;

use boa_engine::object::FunctionObjectBuilder;
use boa_engine::object::builtins::JsFunction;
use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsString, JsValue, NativeFunction, js_string};

use crate::builtins;

pub fn install(context: &mut Context) {
    let constructors = context.intrinsics().constructors();
    let (string, number, big, date) = (
        constructors.string().prototype(),
        constructors.number().prototype(),
        constructors.bigint().prototype(),
        constructors.date().prototype(),
    );
    replace(&string, "localeCompare", NativeFunction::from_fn_ptr(locale_compare), context);
    let zoned = date.clone();
    let formats = [
        (number, "toLocaleString", "numberToLocaleString"),
        (big, "toLocaleString", "numberToLocaleString"),
        (date.clone(), "toLocaleString", "dateToLocaleString"),
        (date.clone(), "toLocaleDateString", "dateToLocaleDateString"),
        (date, "toLocaleTimeString", "dateToLocaleTimeString"),
    ];
    for name in ["toString", "toTimeString"] {
        name_the_zone(&zoned, name, context);
    }
    for (prototype, name, function) in formats {
        let format = NativeFunction::from_copy_closure(move |this, arguments, context| {
            builtins::function("internal/intl", function, context)?.call(this, arguments, context)
        });
        replace(&prototype, name, format, context);
    }
}

/// Appends the time zone like Node; it is always the same here.
fn name_the_zone(date: &JsObject, name: &'static str, context: &mut Context) {
    let original = date.get(js_string!(name), context).ok().and_then(|method| method.as_function());
    let Some(original) = original else { return };
    let named = |this: &JsValue, _: &[JsValue], original: &JsFunction, context: &mut Context| {
        let text = original.call(this, &[], context)?.to_string(context)?.to_std_string_lossy();
        let zone = if text.ends_with("+0000") { " (Coordinated Universal Time)" } else { "" };
        Ok(js_string!(format!("{text}{zone}")).into())
    };
    replace(date, name, NativeFunction::from_copy_closure_with_captures(named, original), context);
}

fn replace(prototype: &JsObject, name: &'static str, function: NativeFunction, context: &mut Context) {
    let function = FunctionObjectBuilder::new(context.realm(), function).name(js_string!(name)).length(1).build();
    let property = PropertyDescriptor::builder().value(function).writable(true).enumerable(false).configurable(true);
    prototype
        .define_property_or_throw(js_string!(name), property, context)
        .expect("built-in properties can be changed");
}

fn locale_compare(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let left = decomposed(this.to_string(context)?, context)?;
    let right = decomposed(arguments.get_or_undefined(0).to_string(context)?, context)?;
    let mut rules = Rules::default();
    if let Some(options) = arguments.get_or_undefined(2).as_object() {
        rules.numeric = options.get(js_string!("numeric"), context)?.to_boolean();
        let sensitivity = options.get(js_string!("sensitivity"), context)?;
        let sensitivity = sensitivity.as_string().map(|text| text.to_std_string_lossy()).unwrap_or_default();
        rules.ignores_accents = matches!(sensitivity.as_str(), "base" | "case");
        rules.ignores_case = matches!(sensitivity.as_str(), "base" | "accent");
    }
    Ok(JsValue::from(compare(&left, &right, rules) as i32))
}

/// Separates letters and accents.
fn decomposed(text: JsString, context: &mut Context) -> JsResult<String> {
    if text.iter().all(|unit| unit < 0x80) {
        return Ok(text.to_std_string_lossy());
    }
    let value = JsValue::from(text);
    let normalize = value.to_object(context)?.get(js_string!("normalize"), context)?;
    let Some(normalize) = normalize.as_callable() else { return Ok(value.to_string(context)?.to_std_string_lossy()) };
    let decomposed = normalize.call(&value, &[js_string!("NFD").into()], context)?;
    Ok(decomposed.to_string(context)?.to_std_string_lossy())
}

#[derive(Clone, Copy, Default)]
struct Rules {
    numeric: bool,
    ignores_accents: bool,
    ignores_case: bool,
}

/// Compares by letters, then accents, then lower before upper case, like the Unicode collation.
fn compare(left: &str, right: &str, rules: Rules) -> Ordering {
    let accents = |text: &str| text.chars().filter(|letter| is_accent(*letter)).collect::<String>();
    let capitals = |text: &str| text.chars().map(char::is_uppercase).collect::<Vec<_>>();
    let mut order = weights(left, rules).cmp(&weights(right, rules));
    if !rules.ignores_accents {
        order = order.then_with(|| accents(left).cmp(&accents(right)));
    }
    if !rules.ignores_case {
        order = order.then_with(|| capitals(left).cmp(&capitals(right)));
    }
    order
}

/// Returns the weight of each letter: its class, and its position there.
fn weights(text: &str, rules: Rules) -> Vec<(u8, u64)> {
    /// In this order, before digits and letters.
    const MARKS: &str = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";
    let mut weights = Vec::with_capacity(text.len());
    let mut number = None;
    for letter in text.chars().filter(|letter| !is_accent(*letter)) {
        if let Some(digit) = letter.to_digit(10).filter(|_| rules.numeric) {
            number = Some(number.unwrap_or(0_u64).saturating_mul(10).saturating_add(u64::from(digit)));
            continue;
        }
        weights.extend(number.take().map(|number| (3, number)));
        weights.push(if letter.is_whitespace() {
            (0, u64::from(letter))
        } else if let Some(place) = MARKS.find(letter) {
            (1, place as u64)
        } else if letter.is_ascii_digit() {
            (3, u64::from(letter) - u64::from('0'))
        } else if letter.is_alphanumeric() {
            (4, u64::from(letter.to_lowercase().next().unwrap_or(letter)))
        } else {
            (2, u64::from(letter))
        });
    }
    weights.extend(number.map(|number| (3, number)));
    weights
}

fn is_accent(letter: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(mut words: Vec<&str>, rules: Rules) -> Vec<&str> {
        words.sort_by(|left, right| compare(left, right, rules));
        words
    }

    #[test]
    fn words_are_sorted_like_in_a_dictionary() {
        assert_eq!(
            sorted(vec!["b", "A", "a", "B", "_", "1", "ab"], Rules::default()),
            ["_", "1", "a", "A", "ab", "b", "B"]
        );
        assert_eq!(sorted(vec!["e\u{301}", "f", "e"], Rules::default()), ["e", "e\u{301}", "f"]);
        let numeric = Rules { numeric: true, ..Rules::default() };
        assert_eq!(sorted(vec!["v10", "v9"], numeric), ["v9", "v10"]);
    }
}
