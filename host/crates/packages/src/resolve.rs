//! Chooses versions: of each needed package the highest one that everything which needs it accepts.
//!
//! Closures of pure packages are small, so there is no search: what is needed is computed from the versions chosen so far, and
//! versions from what is needed, until nothing changes. If two packages cannot agree, the message says who wants what.

use crate::known::{self, Remedy};
use crate::name::Name;
use crate::requirement::Requirement;
use crate::wheel::Wheel;
use base::digest::Sha256;
use base::printable::quoted;
use pep440_rs::{Operator, Version, VersionSpecifier};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Rounds until nothing changes. Each package is at a depth of its own, so this is also the greatest depth.
const MAX_ROUNDS: usize = 100;

/// Packages that are installed together.
const MAX_PACKAGES: usize = 200;

/// A wheel that could be installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub version: Version,
    pub file: String,
    pub sha256: Sha256,
    pub source: String,
    /// Withdrawn by its author: used only if exactly this version is wanted.
    pub yanked: bool,
}

/// Where candidates come from.
pub trait Supply {
    type Error: From<ResolveError>;

    /// The wheel that is installed already or was given, if it is not to be replaced.
    fn kept(&mut self, name: &Name) -> Option<Candidate>;

    /// All usable wheels that are published.
    fn published(&mut self, name: &Name) -> Result<Vec<Candidate>, Self::Error>;

    fn wheel(&mut self, name: &Name, candidate: &Candidate) -> Result<Arc<Wheel>, Self::Error>;
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    #[error("{}", known::impossible(package))]
    Impossible { package: String },
    #[error("{by} needs `{package}`: {}", known::impossible(package))]
    NeedsImpossible { package: String, by: String },
    #[error("no version of `{name}` is accepted by everything that needs it:{wants}\nhint: {hint}")]
    Conflict { name: Name, wants: String, hint: String },
    #[error("more than {MAX_PACKAGES} packages are needed")]
    TooMany,
    #[error("the requirements of the packages go round in a circle\nhint: pin one of them with `==`")]
    Unsettled,
}

/// The packages to install, by name.
pub type Resolution = BTreeMap<Name, (Candidate, Arc<Wheel>)>;

/// What is needed of one package, and by what.
#[derive(Default)]
struct Need<'a> {
    extras: BTreeSet<Name>,
    by: Vec<(&'a Requirement, Option<&'a Name>)>,
}

pub fn resolve<S: Supply>(requested: &[Requirement], supply: &mut S) -> Result<Resolution, S::Error> {
    let mut chosen = Resolution::new();
    for _ in 0..MAX_ROUNDS {
        let needs = needs(requested, &chosen);
        if needs.len() > MAX_PACKAGES {
            return Err(ResolveError::TooMany.into());
        }
        let mut next = Resolution::new();
        for (name, need) in &needs {
            check_possible(name, need)?;
            let candidate = choose(name, need, supply)?;
            let wheel = match chosen.get(name).filter(|(known, _)| *known == candidate) {
                Some((_, wheel)) => Arc::clone(wheel),
                None => supply.wheel(name, &candidate)?,
            };
            next.insert(name.clone(), (candidate, wheel));
        }
        let is_settled = next.len() == chosen.len()
            && next.iter().all(|(name, (candidate, _))| chosen.get(name).is_some_and(|(known, _)| known == candidate));
        if is_settled {
            return Ok(next);
        }
        drop(needs);
        chosen = next;
    }
    Err(ResolveError::Unsettled.into())
}

/// Walks from what was requested through what is chosen so far.
fn needs<'a>(requested: &'a [Requirement], chosen: &'a Resolution) -> BTreeMap<Name, Need<'a>> {
    let mut needs: BTreeMap<Name, Need<'a>> = BTreeMap::new();
    let mut unvisited: Vec<(&Requirement, Option<&Name>)> = requested.iter().map(|wanted| (wanted, None)).collect();
    while let Some((wanted, by)) = unvisited.pop() {
        if known::is_bundled(&wanted.name) {
            continue;
        }
        let need = needs.entry(wanted.name.clone()).or_default();
        let known_extras = need.extras.len();
        need.extras.extend(wanted.extras.iter().cloned());
        let is_new = need.by.is_empty() || need.extras.len() > known_extras;
        if !need.by.contains(&(wanted, by)) {
            need.by.push((wanted, by));
        }
        let Some((name, (_, wheel))) = chosen.get_key_value(&wanted.name).filter(|_| is_new) else { continue };
        let extras = need.extras.clone();
        let needed = wheel.requires.iter().filter(|requirement| requirement.applies(&extras));
        unvisited.extend(needed.map(|requirement| (requirement, Some(name))));
    }
    needs
}

/// Refuses at once what is known not to work, before anything is asked of an index. Some of these have an old version or a wheel that
/// does, for which the operator can ask.
fn check_possible(name: &Name, need: &Need<'_>) -> Result<(), ResolveError> {
    let Some(Remedy::Impossible(package)) = Remedy::for_package(name) else { return Ok(()) };
    if need.by.iter().any(|(wanted, by)| by.is_none() && !wanted.versions.is_empty()) {
        return Ok(());
    }
    let package = package.to_owned();
    match need.by.iter().find_map(|(_, by)| *by) {
        Some(by) => Err(ResolveError::NeedsImpossible { package, by: format!("`{by}`") }),
        None => Err(ResolveError::Impossible { package }),
    }
}

fn choose<S: Supply>(name: &Name, need: &Need<'_>, supply: &mut S) -> Result<Candidate, S::Error> {
    let accepts =
        |candidate: &Candidate| need.by.iter().all(|(wanted, _)| wanted.versions.contains(&candidate.version));
    if let Some(kept) = supply.kept(name).filter(accepts) {
        return Ok(kept);
    }
    let published = supply.published(name)?;
    let is_exact = |version: &VersionSpecifier| matches!(version.operator(), Operator::Equal | Operator::ExactEqual);
    let is_exact = need.by.iter().any(|(wanted, _)| wanted.versions.iter().any(is_exact));
    let accepted = published.iter().filter(|candidate| accepts(candidate) && (!candidate.yanked || is_exact));
    // A pre-release only if it is asked for, or if there is nothing else.
    let asks_for_any =
        need.by.iter().any(|(wanted, _)| wanted.versions.iter().any(|version| version.version().any_prerelease()));
    let best = accepted
        .max_by_key(|candidate| (asks_for_any || !candidate.version.any_prerelease(), candidate.version.clone()));
    best.cloned().ok_or_else(|| conflict(name, need, &published).into())
}

fn conflict(name: &Name, need: &Need<'_>, published: &[Candidate]) -> ResolveError {
    let want = |(wanted, by): &(&Requirement, Option<&Name>)| {
        let by = by.map_or_else(|| "you asked for".to_owned(), |by| format!("`{by}` needs"));
        format!("\n  {by} `{wanted}`")
    };
    let wants = need.by.iter().map(want).collect();
    let mut versions: Vec<Version> = published.iter().map(|candidate| candidate.version.clone()).collect();
    versions.sort();
    let newest: Vec<String> = versions.iter().rev().take(5).map(ToString::to_string).collect();
    let hint = if newest.is_empty() {
        "no version has a wheel for the sandbox".to_owned()
    } else {
        format!("the newest usable versions are {}", quoted(&newest))
    };
    ResolveError::Conflict { name: name.clone(), wants, hint }
}
