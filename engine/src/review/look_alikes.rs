//! Names that look like those of other skills.

use super::invisible::is_invisible;
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::index::Index;
use crate::text::fold_letter;
use std::collections::BTreeMap;

/// Names that differ, but look the same.
pub struct LookAlikes {
    /// For each look of several names, the first skill of each.
    by_look: BTreeMap<String, BTreeMap<String, usize>>,
}

impl LookAlikes {
    pub fn new(index: &Index) -> Self {
        let mut by_look: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for (number, _) in index.skills() {
            let name = name(index, number);
            by_look.entry(look(name)).or_default().entry(folded(name)).or_insert(number);
        }
        by_look.retain(|_, names| names.len() > 1);
        Self { by_look }
    }

    /// Returns another skill whose name differs, but looks the same.
    pub fn of(&self, index: &Index, number: usize) -> Option<usize> {
        let own = name(index, number);
        let names = self.by_look.get(&look(own))?;
        names.iter().find(|(name, _)| **name != folded(own)).map(|(_, other)| *other)
    }
}

fn folded(name: &str) -> String {
    name.chars().map(fold_letter).collect()
}

/// Folder skills are known by their name, tree skills by their path.
pub fn name(index: &Index, number: usize) -> &str {
    let skill = index.skill(number);
    if skill.model == SkillModel::Folder { &skill.name } else { &skill.skill_path }
}

/// Returns what a name looks like: without invisible characters, and with each letter as the one it is confused with.
fn look(name: &str) -> String {
    let visible = name.chars().filter(|letter| !is_invisible(*letter));
    let latin: String = visible.map(|letter| latin(fold_letter(letter))).collect();
    latin.replace("rn", "m").replace("vv", "w")
}

/// Returns the letter of `a-z` or the hyphen that a letter looks like, or itself.
fn latin(letter: char) -> char {
    match letter {
        '0' | 'о' | 'ο' | 'օ' => 'o',
        '1' | 'ӏ' | 'ⅼ' | '|' => 'l',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{30fc}' => '-',
        'а' | 'α' | 'ɑ' => 'a',
        'ь' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' => 'e',
        'ɡ' => 'g',
        'һ' => 'h',
        'і' | 'ι' | 'ı' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'м' => 'm',
        'п' => 'n',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' | 'ſ' => 's',
        'т' | 'τ' => 't',
        'υ' => 'u',
        'ѵ' | 'ν' => 'v',
        'ԝ' | 'ѡ' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        // Full-width letters and digits.
        '\u{ff10}'..='\u{ff5a}' => char::from_u32(u32::from(letter) - 0xfee0).map_or(letter, latin),
        letter => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_the_same_have_one_look() {
        for (left, right) in [
            ("pdf", "pԁf"),
            ("pdf", "ｐdf"),
            ("pdf", "p\u{200b}df"),
            ("csv-report", "csv\u{2011}report"),
            ("modern", "modem"),
            ("tool", "t00l"),
            ("skill", "ski11"),
            ("paypal", "раураl"),
        ] {
            assert_eq!(look(left), look(right), "{left} {right}");
        }
        for (left, right) in
            [("pdf", "pdfs"), ("api", "app"), ("été", "ete"), ("form", "from"), ("a-b", "ab"), ("a-b", "a_b")]
        {
            assert_ne!(look(left), look(right), "{left} {right}");
        }
    }
}
