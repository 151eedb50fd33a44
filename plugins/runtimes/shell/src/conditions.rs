//! Tests of links in `[[ ]]`. bashkit knows them in `[ ]` only, and takes `[[ -L file ]]` for true, whatever the file is.

use std::borrow::Cow;

/// Writes `[[ -L file ]]` as `[[ -n $(readlink file) ]]`. Scripts ask that to find the folder that they are in.
pub fn adapted(line: &str) -> Cow<'_, str> {
    if !line.contains("[[") || !(line.contains(" -L ") || line.contains(" -h ")) {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len() + 16);
    let mut rest = line;
    while let Some(at) = rest.find("[[ ") {
        let (before, condition) = rest.split_at(at);
        let end = condition.find(" ]]").unwrap_or(condition.len());
        text.push_str(before);
        push_condition(&mut text, &condition[..end]);
        rest = &condition[end..];
    }
    text.push_str(rest);
    Cow::Owned(text)
}

fn push_condition(text: &mut String, condition: &str) {
    let mut rest = condition;
    while let Some(at) = [" -L ", " -h "].iter().filter_map(|test| rest.find(test)).min() {
        let (before, file) = (&rest[..at], rest[at + 4..].trim_start());
        let Some(end) = word_end(file) else { break };
        text.push_str(before);
        text.push_str(" -n $(readlink ");
        text.push_str(&file[..end]);
        text.push(')');
        rest = &file[end..];
    }
    text.push_str(rest);
}

/// Returns where the first word ends, if its quotes and parentheses are closed.
fn word_end(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut depth = 0_u32;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            '"' | '\'' if quote == Some(letter) => quote = None,
            '"' | '\'' if quote.is_none() => quote = Some(letter),
            ' ' | '\t' | '\n' if quote.is_none() => return (at > 0).then_some(at),
            _ => {}
        }
    }
    (quote.is_none() && depth == 0 && !text.is_empty()).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::adapted;

    #[test]
    fn a_test_for_a_link_asks_where_it_leads() {
        for (written, meant) in [
            ("while [[ -L \"$SOURCE\" ]]; do", "while [[ -n $(readlink \"$SOURCE\") ]]; do"),
            ("[[ ! -h $f && -L \"a b\" ]] || x", "[[ ! -n $(readlink $f) && -n $(readlink \"a b\") ]] || x"),
            ("[[ -L \"$(dirname \"$0\")/x\" ]]", "[[ -n $(readlink \"$(dirname \"$0\")/x\") ]]"),
        ] {
            assert_eq!(adapted(written), meant);
        }
        for same in ["[ -L x ] && [[ -f y ]]", "grep -h x [[ a ]]", "[[ $x == -L ]]", "[[ -L \"x ]]", "ls -L | cat"] {
            assert_eq!(adapted(same), same);
        }
    }
}
