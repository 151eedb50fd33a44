//! Tracks which skill texts a scorer has, and what to send next.

use crate::bindings::exports::skillcell::plugin::catalog::{TextChange, TextDelta};
use crate::bindings::skillcell::plugin::types::SkillText;
use crate::index::Index;
use crate::skill::Skill;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The skills as the scorer knows them.
#[derive(Default)]
pub struct Texts {
    /// For each file its number and the skill that was last sent.
    sent: BTreeMap<(u32, String), Sent>,
    /// The skills in the index by these numbers, as of when everything was sent.
    order: BTreeMap<u32, usize>,
    /// What changed since then. `None` if not everything was sent, or more has changed.
    changed: Option<Changed>,
}

#[derive(Default)]
struct Changed {
    /// Skills in the index that are new or were edited.
    edited: BTreeSet<usize>,
    /// Numbers of skills that are gone.
    gone: BTreeSet<u32>,
}

struct Sent {
    number: u32,
    /// `None` if it has to be sent again even when unchanged.
    skill: Option<Rc<Skill>>,
}

impl Texts {
    /// Returns the next changes, up to about `max_bytes`. `body` returns the text of a skill's file.
    pub fn changes(
        &mut self,
        index: &Index,
        resend: bool,
        max_bytes: usize,
        body: impl Fn(&Skill) -> String,
    ) -> TextDelta {
        if resend {
            self.sent.values_mut().for_each(|sent| sent.skill = None);
        }
        // A few changes concern few skills, however many there are.
        let few = self.changed.take().filter(|_| !resend);
        let is_few = few.is_some();
        let (mut changes, numbers): (Vec<TextChange>, Vec<usize>) = match few {
            Some(Changed { edited, gone }) => {
                for number in &gone {
                    self.order.remove(number);
                }
                (gone.into_iter().map(TextChange::Gone).collect(), edited.into_iter().collect())
            }
            None => (self.removed(index), index.skills().map(|(number, _)| number).collect()),
        };
        let mut free = None;
        let mut bytes = 0;
        let mut complete = true;
        for number_in_index in numbers {
            let skill = index.shared_skill(number_in_index);
            let key = (skill.root, skill.file.clone());
            let sent = self.sent.get(&key);
            if sent.and_then(|sent| sent.skill.as_ref()).is_some_and(|known| Rc::ptr_eq(known, skill)) {
                continue;
            }
            if bytes >= max_bytes {
                complete = false;
                break;
            }
            let number = match sent {
                Some(sent) => sent.number,
                None => free.get_or_insert_with(|| self.free_numbers()).next(),
            };
            let text = text_of(number, skill, body(skill));
            bytes += size(&text);
            changes.push(TextChange::Put(text));
            self.sent.insert(key, Sent { number, skill: Some(Rc::clone(skill)) });
            self.order.insert(number, number_in_index);
        }
        let known =
            if is_few { self.sent.len() } else { self.sent.values().filter(|sent| sent.skill.is_some()).count() };
        if complete && !is_few {
            self.order = self.in_order(index);
        }
        self.changed = complete.then(Changed::default);
        TextDelta { changes, complete, known: u32::try_from(known).unwrap_or(u32::MAX) }
    }

    /// Invalidates all scores until the scorer has received the changes.
    pub fn invalidate(&mut self) {
        self.changed = None;
    }

    /// Invalidates all scores until the scorer has received the text of this skill, which is new or was edited.
    pub fn edit(&mut self, number: usize) {
        if let Some(changed) = &mut self.changed {
            changed.edited.insert(number);
        }
    }

    /// Invalidates all scores until the scorer knows that this skill is gone.
    pub fn remove(&mut self, number: usize, skill: &Skill) {
        let Some(changed) = &mut self.changed else { return };
        changed.edited.remove(&number);
        changed.gone.extend(self.sent.remove(&(skill.root, skill.file.clone())).map(|sent| sent.number));
    }

    /// Pairs scores with the skills they belong to. `None` unless there is exactly one per skill.
    pub fn assign<'scores>(&'scores self, scores: &'scores [f64]) -> Option<impl Iterator<Item = (usize, f64)>> {
        let is_current =
            self.changed.as_ref().is_some_and(|changed| changed.edited.is_empty() && changed.gone.is_empty());
        let fits = is_current && !scores.is_empty() && scores.len() == self.order.len();
        fits.then(|| self.order.values().copied().zip(scores.iter().copied()))
    }

    /// Returns the number of a skill that has been sent.
    pub fn number_of(&self, skill: &Skill) -> Option<u32> {
        self.sent.get(&(skill.root, skill.file.clone())).map(|sent| sent.number)
    }

    fn removed(&mut self, index: &Index) -> Vec<TextChange> {
        let present: BTreeSet<(u32, &str)> =
            index.skills().map(|(_, skill)| (skill.root, skill.file.as_str())).collect();
        let mut changes = Vec::new();
        self.sent.retain(|(root, file), sent| {
            let stays = present.contains(&(*root, file.as_str()));
            // A skill that is still to be sent again is unknown to the scorer, so its removal is not sent.
            if !stays && sent.skill.is_some() {
                changes.push(TextChange::Gone(sent.number));
            }
            stays
        });
        changes
    }

    fn free_numbers(&self) -> FreeNumbers {
        let taken: BTreeSet<u32> = self.sent.values().map(|sent| sent.number).collect();
        FreeNumbers { taken, next: 0 }
    }

    fn in_order(&self, index: &Index) -> BTreeMap<u32, usize> {
        index.skills().filter_map(|(number, skill)| Some((self.number_of(skill)?, number))).collect()
    }
}

/// Unused numbers, smallest first.
struct FreeNumbers {
    taken: BTreeSet<u32>,
    next: u32,
}

impl FreeNumbers {
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

    /// A scorer that stores what it receives.
    #[derive(Default)]
    struct Scorer(BTreeMap<u32, SkillText>);

    impl Scorer {
        fn sync(&mut self, catalog: &mut Catalog, mut resend: bool, max_bytes: u32) {
            loop {
                let delta = catalog.text_changes(std::mem::take(&mut resend), max_bytes);
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

        /// Scores one skill above all others.
        fn prefer(&self, path: &str) -> Vec<f64> {
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
    fn a_scorer_receives_all_texts_of_a_skill() {
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
        assert_eq!(catalog.text_changes(false, 1_000).changes, [], "nothing is sent twice");
    }

    #[test]
    fn scores_that_do_not_fit_are_ignored() {
        let root = MemoryRoot::new("p").tree_skill("a").tree_skill("b");
        let mut catalog = memory::catalog(vec![root.clone()], Duplicates::Refuse);
        assert_eq!(skill(&catalog, Some(&[0.9, 0.1])), None, "nothing was sent yet");
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
    fn an_explanation_is_ordered_by_the_scorer_and_gives_keyword_reasons() {
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
        /// However skills are added, removed and edited, and however the changes are split or put off, the scorer ends
        /// up with the current skills, and its scores are assigned to the right ones.
        #[test]
        fn a_scorer_stays_in_sync(
            steps in prop::collection::vec(
                (prop::collection::vec((0..6usize, 0..6usize), 1..5), any::<bool>(), prop::option::of(1..400u32)),
                1..16,
            )
        ) {
            let mut root = MemoryRoot::new("p");
            let mut listed = Vec::new();
            let mut catalog = memory::catalog(vec![root.clone()], Duplicates::Refuse);
            let mut scorer = Scorer::default();
            for (edits, resend, max_bytes) in steps {
                let mut changes = Vec::new();
                for (file, what) in edits {
                    let path = format!("s{file}.md");
                    changes.push(Change::File(Location { root: 0, path: path.clone() }));
                    root = match what {
                        0 => root.without(&path),
                        _ => root.file(&path, &format!("---\nkeywords: [k]\ndescription: d{what}\n---\nbody {what}\n")),
                    };
                }
                // Without a listing, the changes are edits.
                let listings = root.listings(0);
                if listings != listed {
                    changes.splice(0..0, listings.clone());
                    listed = listings;
                }
                catalog.roots[0] = Box::new(root.clone());
                catalog.update(changes);
                catalog.arrange();
                let Some(max_bytes) = max_bytes else { continue };
                if resend {
                    scorer = Scorer::default();
                }
                scorer.sync(&mut catalog, resend, max_bytes);
                let there: Vec<String> = catalog.skills(None, None, 0, 99).skills.into_iter().map(|skill| skill.skill_path).collect();
                let mut known: Vec<String> = scorer.0.values().map(|text| text.path.clone()).collect();
                known.sort();
                prop_assert_eq!(&known, &there);
                for text in scorer.0.values() {
                    let file = Location { root: 0, path: format!("{}.md", text.path) };
                    prop_assert_eq!(&text.body, &catalog.body(&file));
                }
                for path in there {
                    prop_assert_eq!(skill(&catalog, Some(&scorer.prefer(&path))), Some(path));
                }
            }
        }
    }
}
