//! The catalog: what the host told, what the files say, and the questions that can be asked.

use crate::aggregate::aggregate;
use crate::assets;
use crate::bindings::exports::skillcell::plugin::catalog::{
    Answer, AssetError, Candidate, Change, FoundAsset, FoundScript, Hit, Location, LookupError, Match, Node, Page,
    Problem, Request, ScriptError, ScriptTerms, SearchResult,
};
use crate::bindings::skillcell::plugin::library::ReadError;
use crate::folders::{self, Folders};
use crate::paths;
use crate::problem::{Finding, quote};
use crate::score::{self, Fit, TOLERANCE};
use crate::search::Query;
use crate::settings::{self, SETTINGS_FILE};
use crate::shelf::{Shelf, Shelved};
use crate::skill::{self, Skill};
use crate::text::fold;
use crate::tokens::tokenize;
use crate::tree;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A folder of skills, as the engine sees it.
pub trait Root {
    fn label(&self) -> String;
    fn folder_name(&self) -> String;
    fn read_text(&self, path: &str) -> Result<String, ReadError>;
    fn has_file(&self, path: &str) -> bool;
}

/// All skills of all roots at one moment.
#[derive(Default)]
pub struct Catalog {
    roots: Vec<Box<dyn Root>>,
    /// What the operator lets scripts use.
    terms: ScriptTerms,
    labels: Vec<String>,
    contents: Vec<Contents>,
    /// Skills that wait for `arrange`.
    gathered: Vec<Shelved>,
    shelf: Shelf,
    problems: Vec<Problem>,
}

/// What is known of one root.
#[derive(Default)]
struct Contents {
    folder_name: String,
    folders: Folders,
    /// Every file that was read and has not changed since.
    files: BTreeMap<String, Reading>,
    settings: Option<Settings>,
}

/// What the `config.yaml` of a root comes to.
struct Settings {
    terms: ScriptTerms,
    findings: Vec<Finding>,
}

/// What a file turned out to be.
struct Reading {
    skill: Option<Rc<Skill>>,
    findings: Vec<Finding>,
    /// Whether the file is still in a place where a skill can be.
    wanted: bool,
}

impl Catalog {
    pub fn new(roots: Vec<Box<dyn Root>>, terms: ScriptTerms) -> Self {
        let contents = |root: &dyn Root| Contents { folder_name: root.folder_name(), ..Contents::default() };
        Self {
            labels: roots.iter().map(|root| root.label()).collect(),
            contents: roots.iter().map(|root| contents(root.as_ref())).collect(),
            roots,
            terms,
            gathered: Vec::new(),
            shelf: Shelf::default(),
            problems: Vec::new(),
        }
    }

    /// Takes in what changed and reads what has to be read.
    pub fn update(&mut self, changes: Vec<Change>) {
        for change in changes {
            self.take(change);
        }
        self.gathered.clear();
        for (number, (root, contents)) in (0..).zip(self.roots.iter().zip(&mut self.contents)) {
            contents.read_settings(root.as_ref(), &self.terms);
            self.gathered.extend(contents.skills(number, root.as_ref()));
        }
    }

    /// Puts all skills on a new shelf.
    pub fn arrange(&mut self) {
        self.shelf = Shelf::new(&self.labels, std::mem::take(&mut self.gathered));
        self.problems = misplaced(&self.shelf);
        for (number, contents) in (0..).zip(&self.contents) {
            contents.problems(number, &mut self.problems);
        }
        self.problems.sort_by(|left, right| {
            let (left_place, right_place) = (&left.location, &right.location);
            (left_place.root, &left_place.path, left.line).cmp(&(right_place.root, &right_place.path, right.line))
        });
    }

    fn take(&mut self, change: Change) {
        let root = match &change {
            Change::Folder(listing) => listing.folder.root,
            Change::FolderGone(location) | Change::File(location) => location.root,
        };
        let Some(contents) = self.contents.get_mut(root as usize) else { return };
        match change {
            Change::Folder(listing) => contents.folders.set(listing),
            Change::FolderGone(location) => {
                contents.folders.remove(&location.path);
                folders::remove_below(&mut contents.files, &location.path);
            }
            Change::File(location) if location.path == SETTINGS_FILE => contents.settings = None,
            Change::File(location) => {
                contents.files.remove(&location.path);
            }
        }
    }

    pub fn problems(&self, most: u32) -> &[Problem] {
        &self.problems[..self.problems.len().min(most as usize)]
    }

    pub fn skills(&self, filter: Option<&str>, start: u32, most: u32) -> Page {
        let filter = filter.map(fold).unwrap_or_default();
        let wanted = |skill: &Skill| {
            let texts = [&skill.install_name, &skill.name, &skill.description];
            filter.is_empty() || texts.into_iter().any(|text| fold(text).contains(&filter))
        };
        let found = self.shelf.skills().filter(|(_, skill)| wanted(skill)).map(|(number, _)| number);
        let found: Vec<usize> = found.collect();
        let part = found.iter().skip(start as usize).take(most as usize);
        Page { total: count(found.len()), skills: part.map(|number| self.shelf.summary(*number)).collect() }
    }

    pub fn body(&self, file: &Location) -> String {
        let contents = self.contents.get(file.root as usize);
        let reading = contents.and_then(|contents| contents.files.get(&file.path));
        if reading.is_some_and(|reading| reading.skill.is_some()) {
            self.text_of(file.root, &file.path)
        } else {
            String::new()
        }
    }

    pub fn search(&self, query: &str, limit: u32) -> SearchResult {
        let words = Query::new(query);
        let is_match = words.matcher();
        let mut found: Vec<usize> =
            self.shelf.skills().filter(|(_, skill)| is_match(skill)).map(|(number, _)| number).collect();
        let total = count(found.len());
        let mut place = vec![usize::MAX; self.shelf.count()];
        for (rank, fit) in self.shelf.keywords.rank(&tokenize(query)).iter().enumerate() {
            place[fit.skill] = rank;
        }
        found.sort_by_key(|number| (place[*number], *number));
        found.truncate(limit as usize);
        let hit = |number: usize| {
            let skill = self.shelf.skill(number);
            Hit {
                excerpt: words.excerpt(&self.text_of(skill.root, &skill.file), &skill.description),
                score: count(words.words().len()),
                skill: self.shelf.summary(number),
            }
        };
        SearchResult { total, hits: found.into_iter().map(hit).collect() }
    }

    pub fn find(&self, request: &Request) -> Result<Answer, LookupError> {
        let tokens = tokenize(&request.context);
        if let Some(name) = &request.chosen {
            let number = self.shelf.names.find(&self.shelf, name)?;
            let fit = self.shelf.keywords.fit_of(number, self.shelf.skill(number), &tokens);
            return Ok(Answer::Matched(self.matched(&fit, &tokens)));
        }
        let mut fits = self.shelf.keywords.rank(&tokens);
        fits.retain(|fit| fit.base >= request.min_score - TOLERANCE);
        Ok(match &fits[..] {
            [] => Answer::NoMatch,
            [best, second, ..] if score::is_ambiguous(best, second, request.ambiguity_threshold) => {
                // Two answers are the least that make a question ambiguous.
                fits.truncate((request.max_results as usize).max(2));
                Answer::Ambiguous(fits.iter().map(|fit| self.candidate(fit, &tokens)).collect())
            }
            [best, ..] => Answer::Matched(self.matched(best, &tokens)),
        })
    }

    pub fn tree(&self, path: Option<&str>) -> Result<Vec<Node>, LookupError> {
        tree::tree(&self.shelf, &self.labels, path)
    }

    pub fn asset_of(&self, skill: &str, file: &str) -> Result<FoundAsset, AssetError> {
        assets::find(&self.shelf, &self.roots, skill, file)
    }

    pub fn script_of(&self, skill: &str, file: &str) -> Result<FoundScript, ScriptError> {
        let mut found = assets::find_script(&self.shelf, &self.roots, skill, file)?;
        let root = found.skill_file.root;
        if self.contents[root as usize].settings.is_some() {
            found.sources.push(Location { root, path: SETTINGS_FILE.to_owned() });
        }
        Ok(found)
    }

    pub fn terms_of(&self, root: u32) -> ScriptTerms {
        let settings = self.contents.get(root as usize).and_then(|contents| contents.settings.as_ref());
        settings.map_or(&self.terms, |settings| &settings.terms).clone()
    }

    fn candidate(&self, fit: &Fit, tokens: &[String]) -> Candidate {
        let skill = self.shelf.skill(fit.skill);
        Candidate {
            address: self.shelf.address(fit.skill),
            score: fit.score,
            description: skill.description.clone(),
            matched_keywords: score::matched_keywords(skill, tokens),
        }
    }

    fn matched(&self, fit: &Fit, tokens: &[String]) -> Match {
        let (shelf, number) = (&self.shelf, fit.skill);
        let chain: Vec<&Skill> = shelf.chain(number).into_iter().rev().map(|number| shelf.skill(number)).collect();
        let bodies: Vec<String> = chain.iter().map(|skill| self.text_of(skill.root, &skill.file)).collect();
        let sections: Vec<(&Skill, &str)> = chain.iter().copied().zip(bodies.iter().map(String::as_str)).collect();
        Match {
            candidate: self.candidate(fit, tokens),
            content: aggregate(&sections),
            sources: chain.iter().map(|skill| Location { root: skill.root, path: skill.file.clone() }).collect(),
            assets: assets::own_assets(shelf, number),
            scripts: assets::own_scripts(shelf, number),
            inherited_assets: assets::inherited_assets(shelf, &self.roots, number),
            inherited_scripts: assets::inherited_scripts(shelf, &self.roots, number),
        }
    }

    /// The text of a skill after its front matter. The host hands out what this generation was made from, so a file
    /// that was read once can be read again.
    fn text_of(&self, root: u32, file: &str) -> String {
        let text = self.roots[root as usize].read_text(file).unwrap_or_default();
        skill::body_of(&text).to_owned()
    }
}

impl Contents {
    fn read_settings(&mut self, root: &dyn Root, terms: &ScriptTerms) {
        if !self.folders.has_file("", SETTINGS_FILE) {
            self.settings = None;
        } else if self.settings.is_none() {
            let (terms, findings) = match root.read_text(SETTINGS_FILE) {
                Ok(text) => settings::read(&text, terms),
                // What cannot be read may have said no.
                Err(error) => (settings::nothing(terms), vec![Finding::unreadable(&error)]),
            };
            self.settings = Some(Settings { terms, findings });
        }
    }

    /// The skills of this root. Reads only files that are new or changed.
    fn skills(&mut self, number: u32, root: &dyn Root) -> Vec<Shelved> {
        for reading in self.files.values_mut() {
            reading.wanted = false;
        }
        let files = &mut self.files;
        let folder_name = &self.folder_name;
        let candidates = self.folders.skills(|file| {
            if let Some(known) = files.get_mut(file) {
                known.wanted = true;
                return known.skill.is_some();
            }
            let reading = Reading::of(number, folder_name, file, root.read_text(file));
            let is_skill = reading.skill.is_some();
            files.insert(file.to_owned(), reading);
            is_skill
        });
        self.files.retain(|_, reading| reading.wanted);
        let shelved = candidates.into_iter().filter_map(|candidate| {
            let skill = self.files.get(&candidate.file)?.skill.clone()?;
            Some(Shelved { skill, resources: candidate.resources, hides_skills: candidate.hides_skills })
        });
        shelved.collect()
    }

    fn problems(&self, root: u32, problems: &mut Vec<Problem>) {
        let unwalked =
            self.folders.troubles().map(|(path, trouble)| Finding::unwalked(trouble.reason).in_file(root, &path));
        problems.extend(unwalked);
        for finding in self.settings.iter().flat_map(|settings| &settings.findings) {
            problems.push(finding.in_file(root, SETTINGS_FILE));
        }
        for (file, reading) in &self.files {
            problems.extend(reading.findings.iter().map(|finding| finding.in_file(root, file)));
        }
    }
}

impl Reading {
    fn of(root: u32, folder_name: &str, file: &str, text: Result<String, ReadError>) -> Self {
        let (skill, findings) = match text {
            Ok(text) => skill::read(root, folder_name, file, &text),
            Err(error) => (None, vec![Finding::unreadable(&error)]),
        };
        Self { skill: skill.map(Rc::new), findings, wanted: true }
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// What is wrong with skills only because of what is, or is not, beside them.
fn misplaced(shelf: &Shelf) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, skill) in shelf.skills() {
        if let Some(other) = shelf.names.hidden_by(shelf, number) {
            let message =
                format!("its path `{}` finds `{}` instead", quote(&skill.skill_path), quote(&shelf.skill(other).file));
            let advice = format!("rename one of them; until then `{}` finds it", quote(&shelf.address(number)));
            problems.push(Finding::warning("same-path", message, advice).in_file(skill.root, &skill.file));
        }
        if shelf.resources(number).is_none() && !(skill.assets.is_empty() && skill.scripts.is_empty()) {
            let folder = quote(paths::without_extension(&skill.file));
            let message = format!("files are declared, but there is no resource folder `{folder}`");
            let advice = "make the folder, or remove `assets` and `scripts`";
            problems.push(Finding::warning("no-resource-folder", message, advice).in_file(skill.root, &skill.file));
        }
        if let Some(folder) = shelf.resources(number).filter(|_| shelf.hides_skills(number)) {
            let message = format!("`{}` is its resource folder, so the skills in there are not served", quote(folder));
            let advice = "add an `_index.md` to the folder if it is a category, or rename one of the two";
            problems.push(Finding::warning("hidden-skills", message, advice).in_file(skill.root, &skill.file));
        }
    }
    problems
}
