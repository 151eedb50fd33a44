//! Adds, updates and removes packages, and checks what is there.

use crate::compile::{self, CompileError};
use crate::download::{Client, DownloadError, Redirects, shown};
use crate::index::{self, PageError};
use crate::installed::check_python;
use crate::known::{self, Remedy};
use crate::lock::{LOCAL, Lock, Locked};
use crate::name::Name;
use crate::requirement::Requirement;
use crate::resolve::{Candidate, Resolution, ResolveError, Supply, resolve};
use crate::store::{Store, StoreError};
use crate::wheel::{Fit, MAX_WHEEL_BYTES, Wheel, WheelError, WheelName, suits_python};
use base::digest::Sha256;
use base::printable::printable;
use bytes::Bytes;
use guests::script::{PYTHON_VERSION, ScriptWorld};
use pep440_rs::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use url::Url;

/// Files of all packages together, in bytes.
const MAX_CONTENT_BYTES: usize = 512 << 20;

#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("{0}")]
    Resolve(#[from] ResolveError),
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("{0}")]
    Download(#[from] DownloadError),
    #[error("{0}")]
    Compile(#[from] CompileError),
    #[error("the index has no package `{name}`{}", did_you_mean(name))]
    Unknown { name: Name },
    #[error("{url} cannot be used: {error}")]
    Page { url: String, error: PageError },
    #[error("`{file}` is not accepted: {error}", file = printable(file))]
    Wheel { file: String, error: WheelError },
    #[error("`{file}` from the index does not have the digest that the index says\nhint: nothing was changed; try again, and report it to the operator of the index if it stays so", file = printable(file))]
    WrongDigest { file: String },
    #[error(
        "`{name}` is published only as source code, which is not built here\nhint: build a wheel, and add it with `--wheel FILE`"
    )]
    OnlySource { name: Name },
    #[error("no release of `{name}` is for Python {PYTHON_VERSION}")]
    OtherPython { name: Name },
    #[error("the index gives no sha256 for the wheels of `{name}`, so they cannot be checked")]
    NoDigest { name: Name },
    #[error(
        "`{name}` is needed, and no index is asked\nhint: give its wheel with `--wheel` as well, or name an index with `--index`"
    )]
    NoIndex { name: Name },
    #[error("`{file}` is not for Python {PYTHON_VERSION}, or has native code for a machine\nhint: only wheels of pure Python, as `NAME-VERSION-py3-none-any.whl`, work in the sandbox", file = printable(file))]
    Unfit { file: String },
    #[error("`{one}` and `{other}` both have a file `{path}`", path = printable(path))]
    SameFile { one: Name, other: Name, path: String },
    #[error("the files of the packages have more than {} MiB", MAX_CONTENT_BYTES >> 20)]
    TooLarge,
    #[error("`{0}` is not installed\nhint: `skillcell package list` shows what is")]
    NotInstalled(Name),
}

fn did_you_mean(name: &Name) -> String {
    match Remedy::for_module(&name.as_str().replace('-', "_")) {
        Some(Remedy::Add(package)) if package.parse().as_ref() != Ok(name) => {
            format!("\nhint: `import {name}` is of `{package}`")
        }
        _ => String::new(),
    }
}

/// What is to be changed.
#[derive(Debug, Default)]
pub struct Request {
    pub add: Vec<Requirement>,
    /// Wheels that the operator has as files: their names and bytes.
    pub wheels: Vec<(String, Vec<u8>)>,
    pub remove: Vec<Name>,
    pub update: Update,
}

/// Which installed packages may be replaced by other versions. One that came from a file never is.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Update {
    #[default]
    None,
    Only(Vec<Name>),
    All,
}

/// What was changed.
#[derive(Debug)]
pub struct Report {
    pub lock: Lock,
    /// By name: the version before and the version after.
    pub changes: BTreeMap<Name, (Option<Version>, Option<Version>)>,
    /// What the operator should know.
    pub notes: Vec<String>,
}

/// Makes a change: all of it, or nothing. `index` is asked for what is not there.
pub async fn change(
    store: &Store,
    world: &ScriptWorld,
    index: Option<&Client>,
    request: Request,
) -> Result<Report, ChangeError> {
    let writable = store.for_change()?;
    let old = store.lock()?;
    let Request { add, wheels, remove, update } = request;
    let mut supply = Wheels {
        store,
        lock: &old,
        index,
        update,
        given: BTreeMap::new(),
        pages: BTreeMap::new(),
        bytes: BTreeMap::new(),
    };
    let mut requested = old.requested.clone();
    for (file, bytes) in wheels {
        let wanted = supply.give(file, bytes)?;
        replace(&mut requested, wanted);
    }
    let mut bundled = Vec::new();
    for wanted in add {
        if known::is_bundled(&wanted.name) {
            bundled.push(format!("`{}` is part of Python in the sandbox and needs no package", wanted.name));
        } else {
            replace(&mut requested, wanted);
        }
    }
    for name in &remove {
        if old.package(name).is_none() {
            return Err(ChangeError::NotInstalled(name.clone()));
        }
        requested.retain(|wanted| wanted.name != *name);
    }
    if let Update::Only(names) = &supply.update
        && let Some(name) = names.iter().find(|name| old.package(name).is_none())
    {
        return Err(ChangeError::NotInstalled(name.clone()));
    }
    let resolution = resolve(&requested, &mut supply)?;
    let mut notes = notes(&resolution, &remove);
    notes.extend(bundled);
    let packages: Vec<Locked> = resolution.iter().map(|(name, (candidate, _))| locked(name, candidate)).collect();
    let is_same = supply.update == Update::None && packages == old.packages && check_python(&old).is_ok();
    let unchanged = old.archive.filter(|digest| is_same && store.archive(digest).is_ok());
    let compiled = match merge(&resolution)? {
        files if files.is_empty() || unchanged.is_some() => None,
        files => Some(compile::archive(world, files).await?),
    };
    let invalid = compiled.iter().flat_map(|archive| &archive.invalid);
    notes.extend(
        invalid.map(|path| format!("`{}` is not valid in Python {PYTHON_VERSION}, and is left out", printable(path))),
    );
    let archive = compiled.map(|archive| archive.bytes);
    let digest = archive.as_deref().map(Sha256::of).or(unchanged);
    let lock = Lock { archive: digest, requested, packages, ..Lock::default() };
    let kept = supply.bytes.iter().filter(|(digest, _)| lock.packages.iter().any(|package| package.sha256 == **digest));
    writable.commit(&lock, kept.map(|(digest, bytes)| (digest, &bytes[..])), archive.as_deref())?;
    Ok(Report { changes: changes(&old, &lock), lock, notes })
}

fn locked(name: &Name, candidate: &Candidate) -> Locked {
    Locked {
        name: name.clone(),
        version: candidate.version.clone(),
        file: candidate.file.clone(),
        sha256: candidate.sha256,
        source: candidate.source.clone(),
    }
}

/// Puts a requirement in the place of another one for the same package.
fn replace(requested: &mut Vec<Requirement>, wanted: Requirement) {
    requested.retain(|known| known.name != wanted.name);
    requested.push(wanted);
}

fn notes(resolution: &Resolution, removed: &[Name]) -> Vec<String> {
    let left_out = resolution.iter().flat_map(|(name, (_, wheel))| {
        wheel
            .left_out
            .iter()
            .map(move |path| format!("`{}` of `{name}` is left out: it would run before scripts do", printable(path)))
    });
    let still = removed.iter().filter(|name| resolution.contains_key(name)).map(|name| {
        let needs =
            |(_, wheel): &&(Candidate, Arc<Wheel>)| wheel.requires.iter().any(|requirement| requirement.name == *name);
        let by = resolution
            .iter()
            .find(|(_, entry)| needs(entry))
            .map_or_else(String::new, |(by, _)| format!(": `{by}` needs it"));
        format!("`{name}` stays{by}")
    });
    left_out.chain(still).collect()
}

fn changes(old: &Lock, new: &Lock) -> BTreeMap<Name, (Option<Version>, Option<Version>)> {
    let names: BTreeSet<&Name> = old.packages.iter().chain(&new.packages).map(|package| &package.name).collect();
    let version = |lock: &Lock, name: &Name| lock.package(name).map(|package| package.version.clone());
    let change = |name: &Name| (name.clone(), (version(old, name), version(new, name)));
    names.into_iter().map(change).filter(|(_, (before, after))| before != after).collect()
}

/// The files of all packages. Two packages may share a file only if its content is the same.
fn merge(resolution: &Resolution) -> Result<BTreeMap<String, Bytes>, ChangeError> {
    let mut files: BTreeMap<String, Bytes> = BTreeMap::new();
    let mut owners: BTreeMap<String, &Name> = BTreeMap::new();
    let mut total = 0;
    for (name, (_, wheel)) in resolution {
        for (path, content) in &wheel.files {
            total += content.len();
            let folded = path.to_lowercase();
            match owners.get(&folded) {
                Some(_) if files.get(path).is_some_and(|known| known == content) => {}
                Some(other) => {
                    return Err(ChangeError::SameFile {
                        one: (*other).clone(),
                        other: name.clone(),
                        path: path.clone(),
                    });
                }
                None => {
                    owners.insert(folded, name);
                    files.insert(path.clone(), Bytes::copy_from_slice(content));
                }
            }
        }
    }
    if total > MAX_CONTENT_BYTES { Err(ChangeError::TooLarge) } else { Ok(files) }
}

/// Wheels from files, from the store and from an index.
struct Wheels<'a> {
    store: &'a Store,
    lock: &'a Lock,
    index: Option<&'a Client>,
    update: Update,
    given: BTreeMap<Name, Candidate>,
    pages: BTreeMap<Name, Vec<Candidate>>,
    bytes: BTreeMap<Sha256, Vec<u8>>,
}

impl Wheels<'_> {
    /// Takes a wheel that the operator has as a file. Returns the requirement that exactly this one fulfils.
    fn give(&mut self, file: String, bytes: Vec<u8>) -> Result<Requirement, ChangeError> {
        let name: WheelName = file.parse().map_err(|error| ChangeError::Wheel { file: file.clone(), error })?;
        if matches!(name.fit, Fit::Other | Fit::Native) {
            return Err(ChangeError::Unfit { file });
        }
        let (WheelName { name, version, .. }, sha256) = (name, Sha256::of(&bytes));
        let wanted = format!("{name}=={version}").parse().expect("a name and a version");
        self.bytes.insert(sha256, bytes);
        self.given.insert(name, Candidate { version, file, sha256, source: LOCAL.to_owned(), yanked: false });
        Ok(wanted)
    }

    /// Downloads a page, and picks the best wheel of each version.
    fn ask(client: &Client, name: &Name) -> Result<Vec<Candidate>, ChangeError> {
        let url = client.index().page(name);
        tracing::debug!("asking {} for `{name}`", shown(&url));
        let page = client.get(&url, index::ACCEPT, index::MAX_PAGE_BYTES, Redirects::SameHost);
        let (url, kind, body) = page.map_err(|error| match error {
            DownloadError::Missing(_) => ChangeError::Unknown { name: name.clone() },
            error => error.into(),
        })?;
        let files =
            index::parse(name, &url, &kind, &body).map_err(|error| ChangeError::Page { url: shown(&url), error })?;
        let mut best: BTreeMap<Version, (Fit, Candidate)> = BTreeMap::new();
        let (mut is_native, mut is_other, mut is_unchecked, is_empty) = (false, false, false, files.is_empty());
        for file in files {
            let Ok(wheel) = file.name.parse::<WheelName>() else { continue };
            if wheel.name != *name {
                continue;
            }
            let suits = file.requires_python.as_deref().is_none_or(suits_python);
            match (wheel.fit, suits, file.sha256) {
                (Fit::Native, ..) => is_native = true,
                (Fit::Other, ..) | (_, false, _) => is_other = true,
                (_, _, None) => is_unchecked = true,
                (fit, true, Some(sha256)) => {
                    let source = file.url.to_string();
                    let candidate = Candidate {
                        version: wheel.version.clone(),
                        file: file.name,
                        sha256,
                        source,
                        yanked: file.yanked,
                    };
                    let known = best.get(&wheel.version);
                    // By name if nothing else decides, so that the order of the page does not matter.
                    let is_better =
                        known.is_none_or(|(known_fit, known)| (fit, &candidate.file) > (*known_fit, &known.file));
                    if is_better {
                        best.insert(wheel.version, (fit, candidate));
                    }
                }
            }
        }
        if !best.is_empty() {
            return Ok(best.into_values().map(|(_, candidate)| candidate).collect());
        }
        let name = name.clone();
        Err(if is_native {
            ResolveError::Impossible { package: name.to_string() }.into()
        } else if is_unchecked {
            ChangeError::NoDigest { name }
        } else if is_other {
            ChangeError::OtherPython { name }
        } else if is_empty {
            ChangeError::Unknown { name }
        } else {
            ChangeError::OnlySource { name }
        })
    }

    fn download(&self, candidate: &Candidate) -> Result<Vec<u8>, ChangeError> {
        let wrong = || ChangeError::WrongDigest { file: candidate.file.clone() };
        let (Some(client), Ok(url)) = (self.index, Url::parse(&candidate.source)) else { return Err(wrong()) };
        tracing::debug!("downloading {}", shown(&url));
        let (_, _, bytes) = client.get(&url, "*/*", MAX_WHEEL_BYTES, Redirects::AnyHost)?;
        if Sha256::of(&bytes) == candidate.sha256 { Ok(bytes) } else { Err(wrong()) }
    }
}

impl Supply for Wheels<'_> {
    type Error = ChangeError;

    fn kept(&mut self, name: &Name) -> Option<Candidate> {
        if let Some(given) = self.given.get(name) {
            return Some(given.clone());
        }
        let package = self.lock.package(name)?;
        let is_updated = match &self.update {
            Update::None => false,
            Update::Only(names) => names.contains(name),
            Update::All => true,
        };
        if is_updated && package.source != LOCAL {
            return None;
        }
        if !self.bytes.contains_key(&package.sha256) {
            // Without its wheel, a package is downloaded again.
            let bytes = self.store.wheel(package).inspect_err(|error| tracing::warn!("{error}")).ok()?;
            self.bytes.insert(package.sha256, bytes);
        }
        Some(Candidate {
            version: package.version.clone(),
            file: package.file.clone(),
            sha256: package.sha256,
            source: package.source.clone(),
            yanked: false,
        })
    }

    fn published(&mut self, name: &Name) -> Result<Vec<Candidate>, ChangeError> {
        if let Some(known) = self.pages.get(name) {
            return Ok(known.clone());
        }
        let client = self.index.ok_or_else(|| ChangeError::NoIndex { name: name.clone() })?;
        let candidates = Self::ask(client, name)?;
        self.pages.insert(name.clone(), candidates.clone());
        Ok(candidates)
    }

    fn wheel(&mut self, _name: &Name, candidate: &Candidate) -> Result<Arc<Wheel>, ChangeError> {
        let file = &candidate.file;
        let bytes = match self.bytes.remove(&candidate.sha256) {
            Some(bytes) => bytes,
            None => self.download(candidate)?,
        };
        let wheel = Wheel::read(file, &bytes).map_err(|error| ChangeError::Wheel { file: file.clone(), error })?;
        self.bytes.insert(candidate.sha256, bytes);
        if !wheel.suits_python() {
            return Err(ChangeError::Unfit { file: file.clone() });
        }
        Ok(Arc::new(wheel))
    }
}

/// Checks the lock file, the wheels and the archive. Returns everything that is wrong.
pub async fn verify(store: &Store, world: &ScriptWorld) -> Vec<String> {
    let lock = match store.lock() {
        Ok(lock) => lock,
        Err(error) => return vec![error.to_string()],
    };
    let mut problems: Vec<String> = check_python(&lock).err().map(|error| error.to_string()).into_iter().collect();
    let mut resolution = Resolution::new();
    for package in &lock.packages {
        let wheel = store.wheel(package).map_err(|error| error.to_string()).and_then(|bytes| {
            Wheel::read(&package.file, &bytes)
                .map_err(|error| format!("the wheel of `{}` is not accepted: {error}", package.name))
        });
        match wheel {
            Ok(wheel) => {
                let candidate = Candidate {
                    version: package.version.clone(),
                    file: package.file.clone(),
                    sha256: package.sha256,
                    source: String::new(),
                    yanked: false,
                };
                resolution.insert(package.name.clone(), (candidate, Arc::new(wheel)));
            }
            Err(problem) => problems.push(problem),
        }
    }
    let Some(digest) = lock.archive else { return problems };
    problems.extend(store.archive(&digest).err().map(|error| error.to_string()));
    if problems.is_empty() {
        problems.extend(check_compiled(world, &resolution, digest).await.err());
    }
    problems
}

/// Compiles the wheels again: the archive must be exactly what the sandbox makes of them.
async fn check_compiled(world: &ScriptWorld, resolution: &Resolution, digest: Sha256) -> Result<(), String> {
    let files = merge(resolution).map_err(|error| error.to_string())?;
    let archive = compile::archive(world, files).await.map_err(|error| error.to_string())?;
    if Sha256::of(&archive.bytes) == digest {
        return Ok(());
    }
    Err("the archive is not what the sandbox makes of the wheels\nhint: `skillcell package update` makes it again"
        .to_owned())
}
