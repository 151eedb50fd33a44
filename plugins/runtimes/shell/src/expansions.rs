//! Rewrites three kinds of parameter expansions that bashkit gets wrong.
//!
//! An array element inside another expansion, as in `${name:+${list[i]}}`, is empty unless it has its own operator. A
//! subscript that is an expansion with an operator, as in `${table[${key:-none}]}`, is not evaluated. An expansion in a pattern or
//! its replacement, as in `${text/a/${b}}`, ends the outer one unless it is quoted.
//!
//! The text is not parsed further, so expansions are also rewritten where the shell does not evaluate them; there the
//! change is harmless.

pub fn adapted(text: String) -> String {
    if text.contains(['[', '/']) && text.contains("${") { rewritten(&text, false) } else { text }
}

/// `inside`: whether the text is inside another expansion.
fn rewritten(text: &str, inside: bool) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, from) = rest.split_at(start);
        result.push_str(before);
        let (length, meant) = expansion(from, inside).unwrap_or_else(|| (2, "${".to_owned()));
        result.push_str(&meant);
        rest = &from[length..];
    }
    result + rest
}

/// Returns the length of the expansion that the text starts with, and its replacement.
fn expansion(text: &str, inside: bool) -> Option<(usize, String)> {
    let length = closing(text, 2, b'}')? + 1;
    let inner = &text[2..length - 1];
    let name = inner.trim_start_matches(['!', '#']);
    let marks = &inner[..inner.len() - name.len()];
    let end = name.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(name.len());
    let (name, after) = name.split_at(end);
    if name.is_empty() || !after.starts_with('[') {
        return Some((length, format!("${{{marks}{name}{}}}", quoted(rewritten(after, true)))));
    }
    let subscript_end = closing(after, 1, b']')?;
    let (subscript, operand) = (&after[1..subscript_end], &after[subscript_end + 1..]);
    let operand = quoted(rewritten(operand, true));
    let meant = if marks.is_empty() && is_computed(subscript) {
        let key = subscript.trim_matches('"');
        format!("$(_key=\"{}\"; printf %s \"${{{name}[$_key]{operand}}}\")", rewritten(key, false))
    } else {
        let whole = matches!(subscript, "@" | "*");
        let operator = if inside && marks.is_empty() && operand.is_empty() && !whole { ":-" } else { "" };
        // bashkit does not support quotes inside quotes, and subscripts are not split anyway.
        let subscript = if inside { subscript.trim_matches('"') } else { subscript };
        format!("${{{marks}{name}[{}]{operand}{operator}}}", rewritten(subscript, false))
    };
    Some((length, meant))
}

/// Puts the expansions of a pattern and its replacement in quotes.
fn quoted(operand: String) -> String {
    if !operand.starts_with('/') || !operand.contains("${") {
        return operand;
    }
    let mut result = String::with_capacity(operand.len() + 2);
    let mut in_quotes = false;
    let mut rest = operand.as_str();
    while let Some(at) = rest.find(['"', '\\', '$']) {
        let (before, from) = rest.split_at(at);
        result.push_str(before);
        let end = closing(from, 2, b'}').filter(|_| from.starts_with("${"));
        let length = match end {
            Some(end) if !in_quotes => {
                result.push('"');
                result.push_str(&from[..=end]);
                result.push('"');
                rest = &from[end + 1..];
                continue;
            }
            Some(end) => end + 1,
            None if from.starts_with('\\') => 1 + from[1..].chars().next().map_or(0, char::len_utf8),
            None => 1,
        };
        in_quotes ^= from.starts_with('"');
        result.push_str(&from[..length]);
        rest = &from[length..];
    }
    result + rest
}

/// Whether the subscript needs more than a variable or arithmetic.
fn is_computed(subscript: &str) -> bool {
    let operator = |inner: &str| inner.contains([':', '%', '/', '^', ',', '[', '-']);
    let with_operator = subscript.match_indices("${").any(|(start, _)| {
        closing(subscript, start + 2, b'}').is_some_and(|end| end > start + 2 && operator(&subscript[start + 2..end]))
    });
    let command = subscript.match_indices("$(").any(|(start, _)| !subscript[start..].starts_with("$(("));
    (with_operator || command) && !subscript.contains('#')
}

/// Finds the bracket that closes one opened before `from`. Brackets in between must be balanced.
fn closing(text: &str, from: usize, bracket: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        at = match byte {
            _ if byte == bracket => return Some(at),
            b'\n' => return None,
            b'\\' => at + 2,
            // Brackets in quotes close nothing, as in `${text//"{{$key}}"/x}`.
            b'"' if bracket == b'}' => closing(text, at + 1, b'"').unwrap_or(at) + 1,
            b'$' if bytes.get(at + 1) == Some(&b'{') => closing(text, at + 2, b'}')? + 1,
            b'$' if bytes.get(at + 1) == Some(&b'(') => closing(text, at + 2, b')')? + 1,
            b'(' if bracket == b')' => closing(text, at + 1, b')')? + 1,
            b'[' if bracket == b']' => closing(text, at + 1, b']')? + 1,
            _ => at + 1,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::adapted;

    #[test]
    fn elements_inside_others_get_an_operator() {
        for (written, meant) in [
            ("${x:+${a[i]}}", "${x:+${a[i]:-}}"),
            ("\"${o[\"$k\"]:+${o[\"$k\"]} < }$3\"", "\"${o[\"$k\"]:+${o[$k]:-} < }$3\""),
            ("${x:+${a[1]:-q}}", "${x:+${a[1]:-q}}"),
        ] {
            assert_eq!(adapted(written.to_owned()), meant);
        }
    }

    #[test]
    fn expansions_in_patterns_are_quoted() {
        for (written, meant) in [
            ("${t/a/${y}}", "${t/a/\"${y}\"}"),
            ("\"${t//${a:-x}/<${b}>}\"", "\"${t//\"${a:-x}\"/<\"${b}\">}\""),
            ("${t//\"{{$k}}\"/${v[$k]}}", "${t//\"{{$k}}\"/\"${v[$k]:-}\"}"),
            ("${t//\"${a}\"/\\\"${b}}", "${t//\"${a}\"/\\\"\"${b}\"}"),
            ("${l[@]/#/${p}}", "${l[@]/#/\"${p}\"}"),
        ] {
            assert_eq!(adapted(written.to_owned()), meant);
        }
    }

    #[test]
    fn computed_subscripts_are_evaluated_first() {
        assert_eq!(
            adapted("$((${o[${w:-n}]:-0} + 1))".to_owned()),
            "$(($(_key=\"${w:-n}\"; printf %s \"${o[$_key]:-0}\") + 1))"
        );
    }

    #[test]
    fn everything_else_stays() {
        for text in [
            "${a[@]} ${a[i]} ${#a[@]} ${!a[@]} ${a[${#a[@]}-1]} ${a[$((i+1))]} ${o[${key}]}",
            "${x:+${#a[@]}} ${x//[^a]/-} ${y%\\}} ${",
            "o[${w:-n}]=1 [ \"$x\" ] [[ $y ]]",
        ] {
            assert_eq!(adapted(text.to_owned()), text);
        }
    }
}
