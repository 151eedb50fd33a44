//! Formats plain data like Node: primitive values, arrays, and objects without a class.
//!
//! Most of what scripts print is plain, and `node/internal/inspect.js`, which handles the rest, takes time to load.
//! Both follow the same rules.

use std::fmt::Write as _;

use boa_engine::builtins::object::OrdinaryObject;
use boa_engine::property::{PropertyDescriptor, PropertyKey};
use boa_engine::{Context, JsError, JsObject, JsValue, js_string};

/// Node breaks lines that would be longer.
const BREAK_LENGTH: usize = 80;

/// Maximum number of nesting levels on one line.
const COMPACT: usize = 3;

/// Deeper objects are only named.
const DEPTH: usize = 2;

/// Further items of an array are only counted.
const ITEMS: usize = 100;

/// Fewer items are never printed in columns.
const UNGROUPED_ITEMS: usize = 6;

pub enum Refusal {
    /// Not plain data: `inspect.js` has to format it.
    NotPlain,
    Thrown(JsError),
}

impl From<JsError> for Refusal {
    fn from(error: JsError) -> Self {
        Self::Thrown(error)
    }
}

pub fn show(value: &JsValue, context: &mut Context) -> Result<String, Refusal> {
    Shower { context, above: Vec::new(), indentation: 0, deepest: 0 }.value(value, 0)
}

struct Shower<'a> {
    context: &'a mut Context,
    above: Vec<JsObject>,
    indentation: usize,
    /// Depth of the object that was started last.
    deepest: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    List { numbers: bool },
    Record,
}

impl Shower<'_> {
    fn value(&mut self, value: &JsValue, depth: usize) -> Result<String, Refusal> {
        if let Some(object) = value.as_object() {
            return self.object(&object, depth);
        }
        if let Some(text) = value.as_string() {
            let text = text.to_std_string().map_err(|_| Refusal::NotPlain)?;
            return quote(&text, self.indentation);
        }
        if value.is_symbol() {
            return Err(Refusal::NotPlain);
        }
        let text = value.to_string(self.context)?.to_std_string_lossy();
        Ok(if value.is_bigint() {
            text + "n"
        } else if value.as_number().is_some_and(|number| number == 0.0 && number.is_sign_negative()) {
            "-0".to_owned()
        } else {
            text
        })
    }

    fn object(&mut self, object: &JsObject, depth: usize) -> Result<String, Refusal> {
        let constructors = self.context.intrinsics().constructors();
        let prototype = object.prototype();
        let is_list = object.is_array();
        let expected = if is_list { constructors.array().prototype() } else { constructors.object().prototype() };
        let is_plain =
            (is_list || object.is::<OrdinaryObject>()) && prototype == Some(expected) && !self.above.contains(object);
        if !is_plain {
            return Err(Refusal::NotPlain);
        }
        let entries = self.entries(object, is_list)?;
        if entries.is_empty() {
            return Ok(if is_list { "[]" } else { "{}" }.to_owned());
        }
        if depth > DEPTH {
            return Ok(if is_list { "[Array]" } else { "[Object]" }.to_owned());
        }
        self.above.push(object.clone());
        self.deepest = depth;
        self.indentation += 2;
        let mut output = Vec::with_capacity(entries.len().min(ITEMS + 1));
        for (name, value) in entries.iter().take(if is_list { ITEMS } else { usize::MAX }) {
            let value = self.value(value, depth + 1)?;
            output.push(if is_list { value } else { format!("{name}: {value}") });
        }
        self.indentation -= 2;
        self.above.pop();
        let hidden = entries.len() - output.len();
        if hidden > 0 {
            output.push(format!("... {hidden} more item{}", if hidden > 1 { "s" } else { "" }));
        }
        let numbers = entries.iter().take(output.len()).all(|(_, value)| value.is_number() || value.is_bigint());
        let kind = if is_list { Kind::List { numbers } } else { Kind::Record };
        self.assemble(output, kind, hidden > 0, depth)
    }

    /// Returns the names as printed, and the values.
    fn entries(&mut self, object: &JsObject, is_list: bool) -> Result<Vec<(String, JsValue)>, Refusal> {
        let mut entries = Vec::new();
        for key in object.own_property_keys(self.context)? {
            let property = object.borrow().properties().get(&key);
            let property = property.ok_or(Refusal::NotPlain)?;
            let name = match &key {
                PropertyKey::Index(index) if is_list && index.get() as usize == entries.len() => String::new(),
                PropertyKey::Index(index) if !is_list => format!("'{}'", index.get()),
                PropertyKey::String(_) if property.enumerable() == Some(false) => continue,
                PropertyKey::String(name) if !is_list => {
                    let name = name.to_std_string().map_err(|_| Refusal::NotPlain)?;
                    if name == "constructor" || name == "__proto__" {
                        return Err(Refusal::NotPlain);
                    }
                    if is_identifier(&name) { name } else { quote(&name, 0)? }
                }
                _ => return Err(Refusal::NotPlain),
            };
            entries.push((name, plain_value(&property)?));
        }
        let length = object
            .borrow()
            .properties()
            .get(&js_string!("length").into())
            .and_then(|length| length.value()?.as_number());
        #[expect(clippy::cast_precision_loss, reason = "arrays are shorter")]
        let has_holes = is_list && length != Some(entries.len() as f64);
        if has_holes {
            return Err(Refusal::NotPlain);
        }
        Ok(entries)
    }

    fn assemble(&self, output: Vec<String>, kind: Kind, cut: bool, depth: usize) -> Result<String, Refusal> {
        let (open, close) = if kind == Kind::Record { ('{', '}') } else { ('[', ']') };
        let entries = output.len();
        let output = match kind {
            Kind::List { numbers } if entries > UNGROUPED_ITEMS => self.columns(output, numbers, cut)?,
            _ => output,
        };
        if self.deepest - depth < COMPACT && entries == output.len() {
            let start = 2 * entries + self.indentation + 1 + 10;
            let length = start + output.iter().map(|text| units(text)).sum::<usize>();
            if start + entries <= BREAK_LENGTH
                && length <= BREAK_LENGTH
                && !output.iter().any(|text| text.contains('\n'))
            {
                return Ok(format!("{open} {} {close}", output.join(", ")));
            }
        }
        let line = format!("\n{}", " ".repeat(self.indentation));
        Ok(format!("{open}{line}  {}{line}{close}", output.join(&format!(",{line}  "))))
    }

    /// Short items of long arrays are printed in columns.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "lengths of lines are small, and Node's formula needs roots"
    )]
    fn columns(&self, output: Vec<String>, numbers: bool, cut: bool) -> Result<Vec<String>, Refusal> {
        let count = output.len() - usize::from(cut);
        if !output.iter().all(|text| text.is_ascii()) {
            return Err(Refusal::NotPlain);
        }
        let total: usize = output[..count].iter().map(|text| text.len() + 2).sum();
        let longest = output[..count].iter().map(String::len).max().unwrap_or(0);
        let column = longest + 2;
        if column * 3 + self.indentation >= BREAK_LENGTH || !(total as f64 / column as f64 > 5.0 || longest <= 6) {
            return Ok(output);
        }
        let bias = (column as f64 - total as f64 / output.len() as f64).sqrt();
        let biased = (column as f64 - 3.0 - bias).max(1.0);
        let square = ((2.5 * biased * count as f64).sqrt() / biased).round() as usize;
        let columns = square.min((BREAK_LENGTH - self.indentation) / column).min(COMPACT * 4).min(15);
        if columns <= 1 {
            return Ok(output);
        }
        let width =
            |place: usize| output[..count].iter().skip(place).step_by(columns).map(String::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut lines: Vec<String> = output[..count]
            .chunks(columns)
            .map(|row| {
                let mut line = String::new();
                for (place, item) in row.iter().enumerate() {
                    let width = widths[place];
                    // Writing to a string cannot fail.
                    _ = match (numbers, place + 1 == row.len()) {
                        (true, true) => write!(line, "{item:>width$}"),
                        (true, false) => write!(line, "{:>1$}", format!("{item}, "), width + 2),
                        (false, true) => write!(line, "{item}"),
                        (false, false) => write!(line, "{:<1$}", format!("{item}, "), width + 2),
                    };
                }
                line
            })
            .collect();
        lines.extend(output.into_iter().skip(count));
        Ok(lines)
    }
}

fn plain_value(property: &PropertyDescriptor) -> Result<JsValue, Refusal> {
    property.value().cloned().ok_or(Refusal::NotPlain)
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.bytes();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
}

/// Returns the length as JavaScript counts it.
fn units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// Uses the quotes that need the fewest escapes.
fn quote(text: &str, indentation: usize) -> Result<String, Refusal> {
    // Such texts are split at line ends, or truncated.
    let is_long = units(text) > 16 && units(text) + indentation + 4 > BREAK_LENGTH && text.contains('\n');
    if is_long || text.len() > 10_000 {
        return Err(Refusal::NotPlain);
    }
    let mark = match (text.contains('\''), text.contains('"'), text.contains('`') || text.contains("${")) {
        (true, false, _) => '"',
        (true, true, false) => '`',
        _ => '\'',
    };
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push(mark);
    for letter in text.chars() {
        match letter {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\u{b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            letter if letter == mark => quoted.extend(['\\', letter]),
            letter if letter.is_control() => _ = write!(quoted, "\\x{:02X}", u32::from(letter)),
            letter => quoted.push(letter),
        }
    }
    quoted.push(mark);
    Ok(quoted)
}

#[cfg(test)]
mod tests {
    use boa_engine::Source;

    use super::*;

    #[test]
    fn plain_data_is_formatted_like_in_node() {
        let context = &mut Context::default();
        for (expression, expected) in [
            ("[1, 'two', { three: 3 }]", "[ 1, 'two', { three: 3 } ]"),
            ("{ a: 1, b: [1, 2], c: { d: { e: { f: 1 } } } }", "{ a: 1, b: [ 1, 2 ], c: { d: { e: [Object] } } }"),
            (
                "{ 'a-b': 1, 2: -0, u: undefined, n: null, big: 5n }",
                "{ '2': -0, 'a-b': 1, u: undefined, n: null, big: 5n }",
            ),
            ("[[], {}, [[[[1]]]]]", "[ [], {}, [ [ [Array] ] ] ]"),
            (
                "[1.5, 2.25, 100, -3, 4, 5, 6, 7, 8, 9, 10]",
                "[
  1.5, 2.25, 100, -3,
    4,    5,   6,  7,
    8,    9,  10
]",
            ),
            (
                "['apple', 'banana', 'cherry', 'date', 'elderberry', 'fig', 'grape', 'honeydew']",
                "[
  'apple',
  'banana',
  'cherry',
  'date',
  'elderberry',
  'fig',
  'grape',
  'honeydew'
]",
            ),
            (
                "{ name: 'a long name here', description: 'some long description text', tags: ['x', 'y'], n: 12345678 }",
                "{
  name: 'a long name here',
  description: 'some long description text',
  tags: [ 'x', 'y' ],
  n: 12345678
}",
            ),
            (r#"["it's", 'say "hi"', 'a\nb\u0001']"#, r#"[ "it's", 'say "hi"', 'a\nb\x01' ]"#),
            (
                "{ list: Array.from({ length: 104 }, (_, i) => i) }",
                "{
  list: [
     0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11,
    12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
    24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
    36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
    48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59,
    60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71,
    72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83,
    84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95,
    96, 97, 98, 99,
    ... 4 more items
  ]
}",
            ),
        ] {
            let value = context.eval(Source::from_bytes(&format!("({expression})"))).expect("each is an expression");
            let Ok(shown) = show(&value, context) else { panic!("{expression} is plain") };
            assert_eq!(shown, expected, "{expression}");
        }
    }

    #[test]
    fn everything_else_is_left_to_inspect() {
        let context = &mut Context::default();
        for expression in
            ["new Map()", "[, 1]", "class {}", "Object.create(null)", "{ get a() { return 1 } }", "[Symbol()]"]
        {
            let value = context.eval(Source::from_bytes(&format!("({expression})"))).expect("each is an expression");
            assert!(matches!(show(&value, context), Err(Refusal::NotPlain)), "{expression}");
        }
    }
}
