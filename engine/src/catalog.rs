//! The catalog: changes reported by the host, the contents of the files, and the queries over them.

mod contents;
mod rearranging;
mod review_page;
mod searching;
mod texts;

use crate::assets;
use crate::bindings::exports::skillcell::plugin::catalog::{
    Answer, AssetError, Candidate, Change, Document, Duplicates, Explained, FoundAsset, FoundResource, FoundScript,
    FoundSkill, Location, LookupError, LookupKind, Match, Matching, Mention, Node, OperatorSettings, Page, Problem,
    Reference, Request, Scored, ScriptError, Settings, SkillFiles, TextDelta,
};
use crate::bindings::skillcell::plugin::library::ReadError;
use crate::bindings::skillcell::plugin::types::{SkillModel, Summary};
use crate::cross_checks;
use crate::document;
use crate::index::{Index, IndexedSkill, as_u32};
use crate::mentions::Mentioned;
use crate::paths;
use crate::references;
use crate::resource;
use crate::score::{self, Fit, TOLERANCE};
use crate::settings::{self, FileSettings, SETTINGS_FILE};
use crate::skill::Skill;
use crate::text::fold;
use crate::tokens::tokenize;
use crate::tree;
use contents::{Contents, Dirty};
use rearranging::{MAX_CHANGES, Pending};
use searching::Indexed;
use std::collections::{BTreeMap, BTreeSet};
use texts::Texts;

/// A folder of skills, as the engine sees it.
pub trait Root {
    fn label(&self) -> String;
    fn is_plugin(&self) -> bool;
    fn folder_name(&self) -> String;
    fn inside(&self) -> Vec<u32>;
    /// Names files that will probably be read next.
    fn expect(&self, _paths: &[String]) {}
    fn read_text(&self, path: &str) -> Result<String, ReadError>;
    fn has_file(&self, path: &str) -> bool;
    fn list_files(&self, folder: &str) -> Vec<String>;
}

/// All skills of all roots in one generation.
pub struct Catalog {
    roots: Vec<Box<dyn Root>>,
    operator: OperatorSettings,
    duplicates: Duplicates,
    labels: Vec<String>,
    /// Numbers of the roots that belong to plugins.
    plugins: BTreeSet<u32>,
    contents: Vec<Contents>,
    /// The effective settings of each root.
    settings: Vec<Settings>,
    /// What `arrange` has to apply.
    pending: Pending,
    index: Index,
    /// What the scorer has been sent.
    texts: Texts,
    /// The words for searches, once one was made.
    indexed: Option<Indexed>,
    /// By root and path.
    problems: BTreeMap<(u32, String), Vec<Problem>>,
    /// With `Duplicates::First`, the case-folded names of skills that are not served.
    dropped_names: BTreeSet<String>,
    /// The files whose skills the last `arrange` added, removed or changed; `None` if it may be any.
    rearranged: Option<BTreeSet<(u32, String)>>,
}

impl Catalog {
    pub fn new(roots: Vec<Box<dyn Root>>, operator: OperatorSettings, duplicates: Duplicates) -> Self {
        let contents = |root: &dyn Root| Contents {
            folder_name: root.folder_name(),
            inside: root.inside(),
            ..Contents::default()
        };
        Self {
            labels: roots.iter().map(|root| root.label()).collect(),
            plugins: (0..).zip(&roots).filter(|(_, root)| root.is_plugin()).map(|(number, _)| number).collect(),
            contents: roots.iter().map(|root| contents(root.as_ref())).collect(),
            roots,
            operator,
            duplicates,
            settings: Vec::new(),
            pending: Pending::default(),
            index: Index::default(),
            texts: Texts::default(),
            indexed: None,
            problems: BTreeMap::new(),
            dropped_names: BTreeSet::new(),
            rearranged: None,
        }
    }

    /// Records changes and reads the files that are new or changed.
    pub fn update(&mut self, changes: Vec<Change>) {
        let mut dirty: BTreeMap<usize, Dirty> = BTreeMap::new();
        for change in changes {
            let root = match &change {
                Change::Folder(listing) => listing.folder.root,
                Change::FolderRemoved(location) | Change::File(location) => location.root,
            } as usize;
            let Some(contents) = self.contents.get_mut(root) else { continue };
            let dirty = dirty.entry(root).or_insert_with(|| Dirty::new(contents));
            contents.apply(change, dirty);
        }
        for (number, dirty) in dirty {
            let (root, contents) = (self.roots[number].as_ref(), &mut self.contents[number]);
            contents.read_settings(root, &self.operator);
            let number = as_u32(number);
            self.pending.add(number, contents.look_again(number, root, dirty));
        }
        self.settings = (0..).zip(&self.contents).map(|(number, _)| self.resolve_settings(number)).collect();
    }

    /// Applies a few changes to the index, or builds a new one.
    pub fn arrange(&mut self) {
        let pending = std::mem::replace(&mut self.pending, Pending::Some(BTreeSet::new()));
        self.rearranged = None;
        match pending {
            Pending::Some(touched) if touched.len() <= MAX_CHANGES && self.rearrange(&touched) => {}
            Pending::Some(_) | Pending::Everything => self.rebuild(),
        }
    }

    /// Returns the files whose skills the last `arrange` added, removed or changed in what lists show; `None` if it may be any.
    pub fn rearranged(&self) -> Option<Vec<Location>> {
        let file = |(root, path): &(u32, String)| Location { root: *root, path: path.clone() };
        self.rearranged.as_ref().map(|files| files.iter().map(file).collect())
    }

    fn rebuild(&mut self) {
        self.texts.invalidate();
        self.indexed = None;
        let mut skills: Vec<IndexedSkill> = self.contents.iter().flat_map(Contents::skills).collect();
        let duplicates = match self.duplicates {
            Duplicates::First => cross_checks::drop_duplicates(&self.labels, &mut skills),
            Duplicates::Refuse => Vec::new(),
        };
        self.dropped_names = duplicates.iter().map(|(name, _)| name.clone()).collect();
        self.index = Index::new(&self.labels, &self.plugins, skills);
        self.problems.clear();
        for (_, problem) in duplicates {
            let Location { root, path } = problem.location.clone();
            self.problems.entry((root, path)).or_default().push(problem);
        }
        for problem in cross_checks::problems(&self.index) {
            let Location { root, path } = problem.location.clone();
            self.problems.entry((root, path)).or_default().push(problem);
        }
        for (number, contents) in (0..).zip(&self.contents) {
            let paths: BTreeSet<String> = contents.paths_with_problems().collect();
            for path in paths {
                let problems = contents.problems_at(number, &path);
                self.problems.entry((number, path)).or_default().extend(problems);
            }
        }
        for problems in self.problems.values_mut() {
            problems.sort_by_key(|problem| problem.line);
        }
    }

    /// Returns the problems by root, path and line.
    pub fn problems(&self, max: u32) -> Vec<Problem> {
        self.problems.values().flatten().take(max as usize).cloned().collect()
    }

    pub fn skills(&self, filter: Option<&str>, model: Option<SkillModel>, start: u32, max: u32) -> Page {
        let filter = filter.map(fold).unwrap_or_default();
        let wanted = |skill: &Skill| {
            let texts = [&skill.install_name, &skill.name, &skill.description];
            model.is_none_or(|model| skill.model == model)
                && (filter.is_empty() || texts.into_iter().any(|text| fold(text).contains(&filter)))
        };
        if filter.is_empty() && model.is_none() {
            let part = self.index.skills().skip(start as usize).take(max as usize);
            let skills = part.map(|(number, _)| self.index.summary(number)).collect();
            return Page { total: count(self.index.count()), skills };
        }
        let found = self.index.skills().filter(|(_, skill)| wanted(skill)).map(|(number, _)| number);
        let found: Vec<usize> = found.collect();
        let part = found.iter().skip(start as usize).take(max as usize);
        Page { total: count(found.len()), skills: part.map(|number| self.index.summary(*number)).collect() }
    }

    pub fn body(&self, file: &Location) -> String {
        self.index
            .number_of(file)
            .map(|number| document::body(&self.roots, self.index.skill(number)))
            .unwrap_or_default()
    }

    pub fn find(&self, request: &Request, scores: Option<&[f64]>) -> Result<Answer, LookupError> {
        let tokens = tokenize(&request.context);
        if let Some(name) = &request.chosen {
            let number = self.index.names.find(&self.index, name)?;
            return Ok(Answer::Matched(self.matched(&self.fit_of(number, &tokens, scores), &tokens)));
        }
        let mut fits = self.rank(&tokens, scores);
        let min_score = |fit: &Fit| self.settings[self.root_of(fit) as usize].matching.min_score;
        fits.retain(|fit| fit.base >= min_score(fit) - TOLERANCE);
        let Some(best) = fits.first() else { return Ok(Answer::NoMatch) };
        if !self.is_ambiguous(&fits) {
            return Ok(Answer::Matched(self.matched(best, &tokens)));
        }
        let roots: BTreeSet<u32> = fits.iter().map(|fit| self.root_of(fit)).collect();
        // An ambiguous answer needs at least two candidates.
        self.keep(&mut fits, self.matching_of_all(&roots).max_results.max(2) as usize);
        Ok(Answer::Ambiguous(fits.iter().map(|fit| self.candidate(fit, &tokens)).collect()))
    }

    /// Whether another skill is too close to the best one. A root decides how close only between two skills of its own.
    fn is_ambiguous(&self, fits: &[Fit]) -> bool {
        let [best, others @ ..] = fits else { return false };
        let (best_root, mut compared) = (self.root_of(best), BTreeSet::new());
        others.iter().any(|other| {
            let root = self.root_of(other);
            // The first of each root is the closest.
            compared.insert(root) && {
                let threshold = self.matching_of_all(&BTreeSet::from([best_root, root])).ambiguity_threshold;
                score::is_ambiguous(best, other, threshold, root == best_root)
            }
        })
    }

    /// Keeps the best skills, in order. Of equally good ones for the last places, each root keeps one before any keeps a second
    /// one, so that no root takes all places.
    fn keep(&self, fits: &mut Vec<Fit>, places: usize) {
        let Some(last) = fits.get(places.saturating_sub(1)).map(|fit| fit.base).filter(|_| fits.len() > places) else {
            return;
        };
        fits.retain(|fit| fit.base.total_cmp(&last).is_ge());
        let mut kept = vec![0_usize; self.roots.len()];
        let turn = |(position, fit): (usize, &Fit)| {
            let root = &mut kept[self.root_of(fit) as usize];
            *root += 1;
            (fit.base.total_cmp(&last).is_eq().then_some(*root), position)
        };
        let mut turns: Vec<(Option<usize>, usize)> = fits.iter().enumerate().map(turn).collect();
        turns.sort_unstable();
        let positions: BTreeSet<usize> = turns.into_iter().take(places).map(|(_, position)| position).collect();
        *fits = positions.into_iter().map(|position| fits[position].clone()).collect();
    }

    fn root_of(&self, fit: &Fit) -> u32 {
        self.index.skill(fit.skill).root
    }

    /// Returns every skill with a score above 0, best first.
    fn rank(&self, tokens: &[String], scores: Option<&[f64]>) -> Vec<Fit> {
        let (keywords, place) = (&self.index.keywords, |number| self.index.place(number));
        match scores.and_then(|scores| self.texts.assign(scores)) {
            Some(scores) => keywords.rank_by(scores, place),
            None => keywords.rank(tokens, place),
        }
    }

    fn fit_of(&self, number: usize, tokens: &[String], scores: Option<&[f64]>) -> Fit {
        let keywords = &self.index.keywords;
        let given = scores.and_then(|scores| self.texts.assign(scores)?.find(|(skill, _)| *skill == number));
        match given {
            Some((_, score)) => keywords.fit(number, score),
            None => keywords.fit_of(number, self.index.skill(number), tokens),
        }
    }

    pub fn explain(&self, context: &str, scores: Option<&[f64]>, max: u32) -> Vec<Explained> {
        let tokens = tokenize(context);
        let explained = |fit: Fit| {
            let skill = self.index.skill(fit.skill);
            Explained {
                address: self.index.address(fit.skill),
                number: self.texts.number_of(skill),
                score: fit.score,
                min_score: self.settings[skill.root as usize].matching.min_score,
                keyword: Scored {
                    score: self.index.keywords.fit_of(fit.skill, skill, &tokens).base,
                    reason: score::reason(skill, &tokens),
                },
            }
        };
        self.rank(&tokens, scores).into_iter().take(max as usize).map(explained).collect()
    }

    pub fn text_changes(&mut self, resend: bool, max_bytes: u32) -> TextDelta {
        self.texts.changes(&self.index, resend, max_bytes as usize, |skill| document::body(&self.roots, skill))
    }

    pub fn tree(&self, path: Option<&str>) -> Result<Vec<Node>, LookupError> {
        tree::tree(&self.index, &self.labels, path)
    }

    pub fn asset_of(&self, skill: &str, file: &str) -> Result<FoundAsset, AssetError> {
        assets::find(&self.index, &self.roots, skill, file)
    }

    pub fn script_of(&self, skill: &str, file: &str) -> Result<FoundScript, ScriptError> {
        let limits = |root: u32| self.settings[root as usize].scripts.clone();
        assets::find_script(&self.index, &self.roots, skill, file, limits)
    }

    pub fn skill_of(&self, name: &str, kind: LookupKind) -> Result<FoundSkill, LookupError> {
        let names = &self.index.names;
        let found = match kind {
            LookupKind::Path => names.find(&self.index, name),
            LookupKind::Name => names.find_named(&self.index, name),
        };
        found.map(|number| self.index.found_skill(number))
    }

    /// Like `skill_of`, without saying why there is none.
    pub fn known_skill(&self, name: &str, kind: LookupKind) -> Option<FoundSkill> {
        let number = self.index.names.known(&self.index, name, kind == LookupKind::Name)?;
        Some(self.index.found_skill(number))
    }

    pub fn resource_of(&self, uri: &str) -> Option<FoundResource> {
        resource::find(&self.index, uri)
    }

    pub fn skill_in(&self, file: &Location) -> Option<Summary> {
        self.index.number_of(file).map(|number| self.index.summary(number))
    }

    pub fn document_of(&self, file: &Location) -> Option<Document> {
        document::document(&self.index, &self.roots, self.index.number_of(file)?)
    }

    pub fn files_of(&self, file: &Location) -> Option<SkillFiles> {
        self.index.number_of(file).map(|number| document::files(&self.index, number))
    }

    pub fn resource_folders(&self) -> Vec<Location> {
        let folder = |(number, skill): (usize, &Skill)| {
            let path = self.index.resources(number)?.to_owned();
            Some(Location { root: skill.root, path })
        };
        self.index.skills().filter_map(folder).collect()
    }

    pub fn references_of(&self, file: &Location) -> Vec<Reference> {
        let resources = self.index.number_of(file).and_then(|number| self.index.resources(number));
        let Some(resources) = resources else { return Vec::new() };
        let root = &self.roots[file.root as usize];
        let text = root.read_text(&file.path).unwrap_or_default();
        references::references(&text, |path| root.has_file(&paths::join(resources, path)))
    }

    pub fn mentions(&self, max: u32) -> Vec<Mention> {
        let of_skill = |(number, skill): (usize, &Skill)| {
            let parsed = self.contents.get(skill.root as usize)?.files.get(&skill.file)?;
            let mention = move |found: &Mentioned| Mention {
                skill: self.index.address(number),
                file: self.index.skill(number).location(),
                line: found.line,
                column: found.column,
                server: found.server.clone(),
                tool: found.tool.clone(),
            };
            Some(parsed.mentions.iter().map(mention))
        };
        self.index.skills().filter_map(of_skill).flatten().take(max as usize).collect()
    }

    pub fn settings_of(&self, root: u32) -> Settings {
        self.settings.get(root as usize).cloned().unwrap_or_else(|| self.resolve_settings(root))
    }

    fn resolve_settings(&self, root: u32) -> Settings {
        self.resolve_files(self.settings_roots(root))
    }

    /// The matching settings that apply to skills of all these roots alike: the operator's, and files that apply to each.
    fn matching_of_all(&self, roots: &BTreeSet<u32>) -> Matching {
        let of_each: Vec<Vec<u32>> = roots.iter().map(|root| self.settings_roots(*root)).collect();
        let in_all = |root: &u32| of_each.iter().all(|roots| roots.contains(root));
        self.resolve_files(of_each.first().into_iter().flatten().copied().filter(in_all).collect()).matching
    }

    /// A root, and the roots around it, innermost first: those whose `config.yaml` applies.
    fn settings_roots(&self, root: u32) -> Vec<u32> {
        let around = self.contents.get(root as usize).map_or(&[][..], |contents| &contents.inside);
        std::iter::once(root).chain(around.iter().copied()).collect()
    }

    fn resolve_files(&self, roots: Vec<u32>) -> Settings {
        let file = |root: &u32| Some(&self.contents.get(*root as usize)?.settings.as_ref()?.0);
        let files: Vec<&FileSettings> = roots.iter().filter_map(file).collect();
        settings::resolve(&self.operator, &files, roots.into_iter().map(settings_file).collect())
    }

    fn candidate(&self, fit: &Fit, tokens: &[String]) -> Candidate {
        let skill = self.index.skill(fit.skill);
        Candidate {
            address: self.index.address(fit.skill),
            score: fit.score,
            description: skill.description.clone(),
            matched_keywords: score::matched_keywords(skill, tokens),
        }
    }

    fn matched(&self, fit: &Fit, tokens: &[String]) -> Match {
        let (index, number) = (&self.index, fit.skill);
        let (content, mut sources) = document::instructions(index, &self.roots, number);
        sources.extend((0..).zip(&self.roots).map(|(root, _)| settings_file(root)));
        Match {
            candidate: self.candidate(fit, tokens),
            content,
            sources,
            assets: assets::own_assets(index, number),
            scripts: assets::own_scripts(index, number),
            inherited_assets: assets::inherited_assets(index, &self.roots, number),
            inherited_scripts: assets::inherited_scripts(index, &self.roots, number),
        }
    }
}

fn settings_file(root: u32) -> Location {
    Location { root, path: SETTINGS_FILE.to_owned() }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
