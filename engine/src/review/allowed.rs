//! Comments that silence codes in a file: `<!-- skillcell-lint allow: code, code -->`.

use super::Diagnostic;
use super::prose::Prose;
use crate::codes;
use crate::place::Place;
use crate::problem::{Finding, quote};
use crate::text::edit_distance;
use std::collections::BTreeSet;

const PREFIX: &str = "skillcell-lint";

/// Maximum number of invalid codes reported per file.
const MAX_REPORTED: usize = 10;

/// Returns the codes that a file allows, and the errors in its comments. `others` are codes that only the caller knows.
pub fn allowed(text: &str, prose: &Prose<'_>, others: &[String]) -> (BTreeSet<String>, Vec<Diagnostic>) {
    let (mut allowed, mut found) = (BTreeSet::new(), Vec::new());
    for (start, comment) in &prose.comments {
        let Some(directive) = comment.trim_start().strip_prefix(PREFIX) else { continue };
        let at = start + (comment.len() - directive.len());
        let list = directive.trim_start().strip_prefix("allow").filter(|list| list.starts_with([':', ' ', '\t']));
        let Some(list) = list else {
            if found.len() >= MAX_REPORTED {
                continue;
            }
            let message = format!("`{PREFIX}` must be followed by `allow:`");
            let advice = format!("write `<!-- {PREFIX} allow: CODE, CODE -->`");
            found.push(Finding::warning("unknown-code", message, advice).at(Place::of(text, at)).into());
            continue;
        };
        let list = list.trim_start_matches([':', ' ', '\t']);
        let mut at = at + (directive.len() - list.len());
        for part in list.split_inclusive([',', ' ', '\t', '\r', '\n']) {
            let code = part.trim_end_matches([',', ' ', '\t', '\r', '\n']);
            let is_other = others.iter().any(|other| other == code);
            let wrong = match codes::find(code) {
                Some(known) if known.deceptive => Some(only_by_option(code)),
                None if !is_other => Some(unknown(code)),
                _ => None,
            };
            match wrong {
                None => drop(allowed.insert(code.to_owned())),
                Some(_) if code.is_empty() || found.len() >= MAX_REPORTED => {}
                Some(wrong) => found.push(wrong.at(Place::of(text, at)).into()),
            }
            at += part.len();
        }
    }
    (allowed, found)
}

/// A file that deceives would allow that too.
fn only_by_option(code: &str) -> Finding {
    let message = format!("a file cannot allow `{code}`, because it may be the one that deceives");
    Finding::warning("unknown-code", message, format!("remove it, and run `skillcell lint --allow {code}`"))
}

fn unknown(code: &str) -> Finding {
    let distance = |name: &&codes::Code| edit_distance(&quote(code), name.name);
    let close = codes::CODES.iter().min_by_key(distance).filter(|known| distance(known) <= known.name.len() / 3);
    let advice = match close {
        Some(known) => format!("did you mean `{}`?", known.name),
        None => "`skillcell lint --codes` lists all codes".to_owned(),
    };
    Finding::warning("unknown-code", format!("unknown code `{}`", quote(code)), advice)
}

#[cfg(test)]
mod tests {
    use super::super::prose::prose;
    use super::*;

    fn read(text: &str) -> (Vec<String>, Vec<(u32, u32, String)>) {
        let (allowed, found) = allowed(text, &prose(text), &["other".to_owned()]);
        let place =
            |found: Diagnostic| (found.finding.line.unwrap(), found.finding.column.unwrap(), found.finding.advice);
        (allowed.into_iter().collect(), found.into_iter().map(place).collect())
    }

    #[test]
    fn codes_are_allowed_by_a_comment() {
        for text in [
            "<!-- skillcell-lint allow: dead-link, long-body -->",
            "text <!--skillcell-lint allow long-body dead-link--> text",
            "<!-- skillcell-lint allow: dead-link\n  long-body,\n-->\n",
            "<!-- skillcell-lint allow: dead-link -->\n\n<!-- skillcell-lint allow:long-body -->\n",
        ] {
            assert_eq!(read(text), (["dead-link", "long-body"].map(str::to_owned).to_vec(), vec![]), "{text}");
        }
        assert_eq!(read("<!-- skillcell-lint allow: other -->"), (vec!["other".to_owned()], vec![]));
    }

    #[test]
    fn other_comments_and_code_allow_nothing() {
        for text in [
            "<!-- dead-link -->",
            "`<!-- skillcell-lint allow: dead-link -->`",
            "```\n<!-- skillcell-lint allow: dead-link -->\n```\n",
            "skillcell-lint allow: dead-link",
            "---\nname: <!-- skillcell-lint allow: dead-link -->\n---\n",
        ] {
            assert_eq!(read(text), (vec![], vec![]), "{text}");
        }
    }

    #[test]
    fn an_unknown_code_is_reported_with_a_similar_one() {
        let text = "é\n<!-- skillcell-lint allow: long-body, dead-lnk -->\n";
        assert_eq!(read(text), (vec!["long-body".to_owned()], vec![(2, 39, "did you mean `dead-link`?".to_owned())]));
        assert_eq!(
            read("<!-- skillcell-lint allow: hidden-text -->"),
            (vec![], vec![(1, 28, "remove it, and run `skillcell lint --allow hidden-text`".to_owned())])
        );
        assert!(read("<!-- skillcell-lint allow: zzzzzzzzzz -->").1[0].2.contains("--codes"));
        assert!(read("<!-- skillcell-lint disable -->").1[0].2.contains("allow: CODE"));
    }
}
