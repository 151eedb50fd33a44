//! What a scorer was told of the skills, and what it has to be told next.

use crate::bindings::exports::skillcell::plugin::catalog::{TextChange, TextDelta};
use crate::bindings::skillcell::plugin::types::SkillText;
use crate::shelf::Shelf;
use crate::skill::Skill;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The skills as a scorer knows them.
#[derive(Default)]
pub struct Texts {
    /// For each file its number and the skill that was told last.
    told: BTreeMap<(u32, String), Told>,
    /// Positions on the shelf in the order of the numbers. Empty while something is left to be told.
    order: Vec<usize>,
}

struct Told {
    number: u32,
    /// Nothing when it has to be told, also if it did not change.
    skill: Option<Rc<Skill>>,
}

impl Texts {
    /// The next changes, of about this many bytes. `body` gives the text of a skill's file.
    pub fn changes(
        &mut self,
        shelf: &Shelf,
        anew: bool,
        most_bytes: usize,
        body: impl Fn(&Skill) -> String,
    ) -> TextDelta {
        if anew {
            self.told.values_mut().for_each(|told| told.skill = None);
        }
        self.order.clear();
        let mut changes = self.gone(shelf);
        let mut free = self.free_numbers();
        let mut bytes = 0;
        let mut complete = true;
        for skill in shelf.shared_skills() {
            let key = (skill.root, skill.file.clone());
            let told = self.told.get(&key);
            if told.and_then(|told| told.skill.as_ref()).is_some_and(|known| Rc::ptr_eq(known, skill)) {
                continue;
            }
            if bytes >= most_bytes {
                complete = false;
                break;
            }
            let number = told.map_or_else(|| free.next(), |told| told.number);
            let text = text_of(number, skill, body(skill));
            bytes += size(&text);
            changes.push(TextChange::Put(text));
            self.told.insert(key, Told { number, skill: Some(Rc::clone(skill)) });
        }
        if complete {
            self.order = self.in_order(shelf);
        }
        let known = self.told.values().filter(|told| told.skill.is_some()).count();
        TextDelta { changes, complete, known: u32::try_from(known).unwrap_or(u32::MAX) }
    }

    /// Something changed on the shelf, so that no scores fit it until the scorer was told.
    pub fn invalidate(&mut self) {
        self.order.clear();
    }

    /// The scores with the skills they are for. Nothing when they are not one for each.
    pub fn assign<'scores>(&'scores self, scores: &'scores [f64]) -> Option<impl Iterator<Item = (usize, f64)>> {
        let fits = !scores.is_empty() && scores.len() == self.order.len();
        fits.then(|| self.order.iter().copied().zip(scores.iter().copied()))
    }

    /// The number of a skill, if it was told.
    pub fn number_of(&self, skill: &Skill) -> Option<u32> {
        self.told.get(&(skill.root, skill.file.clone())).map(|told| told.number)
    }

    fn gone(&mut self, shelf: &Shelf) -> Vec<TextChange> {
        let present: BTreeSet<(u32, &str)> =
            shelf.skills().map(|(_, skill)| (skill.root, skill.file.as_str())).collect();
        let mut changes = Vec::new();
        self.told.retain(|(root, file), told| {
            let stays = present.contains(&(*root, file.as_str()));
            // What was not told anew yet is not known, so it cannot go.
            if !stays && told.skill.is_some() {
                changes.push(TextChange::Gone(told.number));
            }
            stays
        });
        changes
    }

    fn free_numbers(&self) -> Free {
        let taken: BTreeSet<u32> = self.told.values().map(|told| told.number).collect();
        Free { taken, next: 0 }
    }

    fn in_order(&self, shelf: &Shelf) -> Vec<usize> {
        let numbered = |(position, skill): (usize, &Skill)| Some((self.number_of(skill)?, position));
        let mut numbered: Vec<(u32, usize)> = shelf.skills().filter_map(numbered).collect();
        numbered.sort_unstable();
        numbered.into_iter().map(|(_, position)| position).collect()
    }
}

/// Numbers that nobody has, the smallest first.
struct Free {
    taken: BTreeSet<u32>,
    next: u32,
}

impl Free {
    fn next(&mut self) -> u32 {
        while self.taken.contains(&self.next) {
            self.next += 1;
        }
        self.next += 1;
        self.next - 1
    }
}

fn text_of(number: u32, skill: &Skill, body: String) -> SkillText {
    SkillText {
        number,
        name: skill.short_name().to_owned(),
        path: skill.skill_path.clone(),
        description: skill.description.clone(),
        keywords: skill.keywords.clone(),
        aliases: skill.aliases.clone(),
        body,
    }
}

fn size(text: &SkillText) -> usize {
    let words = text.keywords.iter().chain(&text.aliases).map(String::len);
    text.name.len() + text.path.len() + text.description.len() + text.body.len() + words.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::exports::skillcell::plugin::catalog::{Answer, Change, Duplicates, Location, Request};
    use crate::catalog::Catalog;
    use crate::memory::{self, MemoryRoot};
    use proptest::prelude::*;

    /// A scorer that remembers what it was told.
    #[derive(Default)]
    struct Scorer(BTreeMap<u32, SkillText>);

    impl Scorer {
        fn listen(&mut self, catalog: &mut Catalog, mut anew: bool, most_bytes: u32) {
            loop {
                let delta = catalog.text_changes(std::mem::take(&mut anew), most_bytes);
                for change in delta.changes {
                    match change {
                        TextChange::Put(text) => drop(self.0.insert(text.number, text)),
                        TextChange::Gone(number) => drop(self.0.remove(&number).expect("it was put before")),
                    }
                }
                assert_eq!(delta.known as usize, self.0.len());
                if delta.complete {
                    return;
                }
            }
        }

        /// Likes one skill and no other.
        fn like(&self, path: &str) -> Vec<f64> {
            self.0.values().map(|text| if text.path == path { 0.9 } else { 0.1 }).collect()
        }
    }

    fn skill(catalog: &Catalog, scores: Option<&[f64]>) -> Option<String> {
        let request = Request { context: "anything".to_owned(), chosen: None };
        match catalog.find(&request, scores).unwrap() {
            Answer::Matched(found) => Some(found.candidate.address),
            Answer::NoMatch | Answer::Ambiguous(_) => None,
        }
    }

    #[test]
    fn a_scorer_knows_a_skill_by_all_its_words() {
        let text = "---\nkeywords: [k]\naliases: [a]\ndescription: d\n---\nbody\n";
        let mut catalog = memory::catalog(vec![MemoryRoot::new("p").file("x/y.md", text)], Duplicates::Refuse);
        let delta = catalog.text_changes(false, 1_000);
        let own = |text: &str| text.to_owned();
        let expected = SkillText {
            number: 0,
            name: own("y"),
            path: own("x/y"),
            description: own("d"),
            keywords: vec![own("k")],
            aliases: vec![own("a")],
            body: own("body\n"),
        };
        assert_eq!(delta, TextDelta { changes: vec![TextChange::Put(expected)], complete: true, known: 1 });
        assert_eq!(catalog.text_changes(false, 1_000).changes, [], "nothing is told twice");
    }

    #[test]
    fn scores_that_do_not_fit_are_ignored() {
        let root = MemoryRoot::new("p").tree_skill("a").tree_skill("b");
        let mut catalog = memory::catalog(vec![root.clone()], Duplicates::Refuse);
        assert_eq!(skill(&catalog, Some(&[0.9, 0.1])), None, "nobody was told anything");
        catalog.text_changes(false, 1_000);
        assert_eq!(skill(&catalog, Some(&[0.9, 0.1])).as_deref(), Some("a"));
        assert_eq!(skill(&catalog, Some(&[0.9])), None);
        catalog.update(vec![Change::File(Location { root: 0, path: "a.md".to_owned() })]);
        catalog.arrange();
        assert_eq!(skill(&catalog, Some(&[0.9, 0.1])), None, "something changed since");
    }

    #[test]
    fn a_chosen_skill_has_the_score_of_the_scorer() {
        let mut catalog =
            memory::catalog(vec![MemoryRoot::new("p").tree_skill("a").tree_skill("b")], Duplicates::Refuse);
        catalog.text_changes(false, 1_000);
        let request = Request { context: "word".to_owned(), chosen: Some("b".to_owned()) };
        let Ok(Answer::Matched(found)) = catalog.find(&request, Some(&[0.9, 0.25])) else { panic!("it is there") };
        assert!((found.candidate.score - 0.25).abs() < 1e-9);
    }

    #[test]
    fn an_explanation_has_the_order_of_the_scorer_and_the_reasons_of_the_keywords() {
        let root = MemoryRoot::new("p").tree_skill("a").tree_skill("b").tree_skill("c");
        let mut catalog = memory::catalog(vec![root], Duplicates::Refuse);
        catalog.text_changes(false, 1_000);
        let explained = catalog.explain("a word", Some(&[0.1, 0.5, 0.0]), 10);
        let order: Vec<_> = explained.iter().map(|skill| (skill.address.as_str(), skill.number)).collect();
        assert_eq!(order, [("b", Some(1)), ("a", Some(0))]);
        assert_eq!(explained[0].keyword.reason, "1 of 1 keywords: word");
        assert_eq!(catalog.explain("a word", None, 2).len(), 2);
    }

    proptest! {
        /// Skills come, go and change in any order, told in parts of any size: the scorer ends with what is there, and its
        /// scores are for the skills it meant.
        #[test]
        fn a_scorer_keeps_up(
            steps in prop::collection::vec((prop::collection::vec((0..6usize, 0..3usize), 1..5), any::<bool>(), 1..400u32), 1..8)
        ) {
            let mut root = MemoryRoot::new("p");
            let mut catalog = memory::catalog(vec![root.clone()], Duplicates::Refuse);
            let mut scorer = Scorer::default();
            for (edits, anew, most_bytes) in steps {
                let mut changes = Vec::new();
                for (file, what) in edits {
                    let path = format!("s{file}.md");
                    changes.push(Change::File(Location { root: 0, path: path.clone() }));
                    root = match what {
                        0 => root.without(&path),
                        _ => root.file(&path, &format!("---\nkeywords: [k]\ndescription: d{what}\n---\nbody {what}\n")),
                    };
                }
                changes.splice(0..0, root.listings(0));
                catalog.roots[0] = Box::new(root.clone());
                catalog.update(changes);
                catalog.arrange();
                if anew {
                    scorer = Scorer::default();
                }
                scorer.listen(&mut catalog, anew, most_bytes);
                let there: Vec<String> = catalog.skills(None, None, 0, 99).skills.into_iter().map(|skill| skill.skill_path).collect();
                let mut known: Vec<String> = scorer.0.values().map(|text| text.path.clone()).collect();
                known.sort();
                prop_assert_eq!(&known, &there);
                for path in there {
                    prop_assert_eq!(skill(&catalog, Some(&scorer.like(&path))), Some(path));
                }
            }
        }
    }
}
