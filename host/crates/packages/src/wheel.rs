//! Wheels: which ones Python in the sandbox can use, and what of them goes into the archive.

use crate::known;
use crate::name::Name;
use crate::requirement::{InvalidRequirement, Requirement, python_version};
use crate::zip::{Reader, ZipError};
use base::digest::{Sha256, hex};
use base::printable::printable;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pep440_rs::{Version, VersionSpecifiers};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Of a wheel, in bytes.
pub const MAX_WHEEL_BYTES: u64 = 64 << 20;

/// Of Python 3 in the sandbox.
const MINOR_VERSION: u32 = 14;

/// Endings of compiled modules and libraries.
const NATIVE: [&str; 4] = [".so", ".pyd", ".dylib", ".dll"];

/// Endings of files that nothing reads at run time.
const USELESS: [&str; 12] =
    [".c", ".cc", ".cpp", ".h", ".hpp", ".pyx", ".pxd", ".pxi", ".pyi", ".pyc", ".exe", "/py.typed"];

/// What of `.dist-info` programs read through `importlib.metadata`.
const METADATA: [&str; 3] = ["METADATA", "entry_points.txt", "top_level.txt"];

/// Modules that Python imports at its start, before a script.
const START_HOOKS: [&str; 4] = ["sitecustomize.py", "usercustomize.py", "sitecustomize/", "usercustomize/"];

/// The file name of a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelName {
    pub name: Name,
    pub version: Version,
    pub fit: Fit,
}

/// Whether Python in the sandbox can use a wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// For another version of Python.
    Other,
    /// Compiled for a machine.
    Native,
    /// Compiled for a machine, but works without the compiled part; the greater the number, the better it fits.
    WithoutNative(u32),
    Pure,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WheelError {
    #[error("`{}` is not the name of a wheel, as `NAME-VERSION-py3-none-any.whl` is", .0.escape_debug())]
    FileName(String),
    #[error("{0}")]
    Zip(#[from] ZipError),
    #[error("it has no `{0}`")]
    Missing(&'static str),
    #[error("its metadata is about `{found}`, not `{expected}`")]
    OtherPackage { found: String, expected: String },
    #[error("it has a second set of metadata, `{}`", .0.escape_debug())]
    SecondMetadata(String),
    #[error("`{}` does not have the content that `RECORD` says", .0.escape_debug())]
    Record(String),
    #[error("`{}` is not in `RECORD`", .0.escape_debug())]
    Unrecorded(String),
    #[error("it says that it is pure Python, and contains the native module `{}`", .0.escape_debug())]
    Native(String),
    #[error("its metadata has an invalid line: {0}")]
    Requirement(#[from] InvalidRequirement),
    #[error("its metadata is not UTF-8")]
    Metadata,
}

/// An accepted wheel.
#[derive(Debug, Clone)]
pub struct Wheel {
    pub name: Name,
    pub version: Version,
    pub requires: Vec<Requirement>,
    pub requires_python: Option<String>,
    /// What goes into the archive, by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// What was left out although Python would act on it.
    pub left_out: Vec<String>,
}

impl FromStr for WheelName {
    type Err = WheelError;

    fn from_str(file: &str) -> Result<Self, WheelError> {
        let invalid = || WheelError::FileName(file.chars().take(200).collect());
        let stem = file.strip_suffix(".whl").ok_or_else(invalid)?;
        let parts: Vec<&str> = stem.split('-').collect();
        let (name, version, tags) = match parts[..] {
            [name, version, python, abi, platform] | [name, version, _, python, abi, platform] => {
                (name, version, [python, abi, platform])
            }
            _ => return Err(invalid()),
        };
        let name: Name = name.parse().map_err(|_| invalid())?;
        let version: Version = version.replace('_', "-").parse().or_else(|_| version.parse()).map_err(|_| invalid())?;
        let fit = fit(&name, tags);
        Ok(Self { name, version, fit })
    }
}

fn fit(name: &Name, [python, abi, platform]: [&str; 3]) -> Fit {
    let minor = |tag: &str, prefix: &str| tag.strip_prefix(prefix)?.parse::<u32>().ok();
    let suits = |tag: &str| {
        tag == "py3"
            || minor(tag, "py3").is_some_and(|minor| minor <= MINOR_VERSION)
            || minor(tag, "cp3").is_some_and(|minor| minor <= MINOR_VERSION)
    };
    if !python.split('.').any(suits) {
        return Fit::Other;
    }
    if abi == "none" && platform == "any" {
        return Fit::Pure;
    }
    if !known::works_without_native(name) {
        return Fit::Native;
    }
    // The files in Python are the same for all machines, so any of them will do; the choice must not change from one time to the next.
    let version = python.split('.').filter_map(|tag| minor(tag, "cp3")).max().unwrap_or(0);
    let usual = u32::from(platform.contains("manylinux")) + u32::from(platform.contains("x86_64"));
    let threads = u32::from(!abi.ends_with('t'));
    Fit::WithoutNative(version * 10 + usual * 2 + threads)
}

impl Wheel {
    /// Checks a wheel, and takes from it what scripts can use.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Self, WheelError> {
        let WheelName { name, version, fit } = file.parse()?;
        let zip = Reader::new(bytes)?;
        let folder =
            zip.paths().find_map(|path| path.strip_suffix(".dist-info/METADATA").filter(|name| !name.contains('/')));
        let folder = format!("{}.dist-info", folder.ok_or(WheelError::Missing("METADATA"))?);
        let metadata = text(&zip, &format!("{folder}/METADATA"))?.ok_or(WheelError::Missing("METADATA"))?;
        let fields = fields(&metadata);
        let field = |wanted: &str| {
            fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.as_str())
        };
        let (found_name, found_version) = (field("Name").unwrap_or_default(), field("Version").unwrap_or_default());
        if found_name.parse() != Ok(name.clone()) || found_version.parse() != Ok(version.clone()) {
            let found = printable(&format!("{found_name} {found_version}"));
            return Err(WheelError::OtherPackage { found, expected: format!("{name} {version}") });
        }
        let requires = fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("Requires-Dist"));
        let requires: Result<Vec<Requirement>, _> = requires.map(|(_, value)| value.parse()).collect();
        let mut wheel = Self {
            requires: requires?,
            requires_python: field("Requires-Python").map(str::to_owned),
            files: BTreeMap::new(),
            left_out: Vec::new(),
            name,
            version,
        };
        let record = text(&zip, &format!("{folder}/RECORD"))?.ok_or(WheelError::Missing("RECORD"))?;
        wheel.take_files(&zip, &folder, &digests(&record), fit)?;
        Ok(wheel)
    }

    fn take_files(
        &mut self,
        zip: &Reader<'_>,
        metadata: &str,
        record: &BTreeMap<String, String>,
        fit: Fit,
    ) -> Result<(), WheelError> {
        if let Some(missing) = record.keys().find(|path| !zip.contains(path)) {
            return Err(WheelError::Record(missing.clone()));
        }
        let data = metadata.replace(".dist-info", ".data/");
        for path in zip.paths() {
            let content = zip.read(path)?.unwrap_or_default();
            if let Some(of_metadata) = path.strip_prefix(metadata).and_then(|rest| rest.strip_prefix('/')) {
                let is_unlisted = matches!(of_metadata, "RECORD" | "RECORD.jws" | "RECORD.p7s");
                if !is_unlisted {
                    check_record(record, path, &content)?;
                }
                if METADATA.contains(&of_metadata) {
                    self.files.insert(path.to_owned(), content);
                }
                continue;
            }
            check_record(record, path, &content)?;
            let top = path.split('/').next().unwrap_or_default();
            if top.ends_with(".dist-info") {
                return Err(WheelError::SecondMetadata(top.to_owned()));
            }
            // Metadata of an older kind, which could be about another package.
            if top.ends_with(".egg-info") {
                continue;
            }
            let inside = match path.strip_prefix(&data) {
                None => path,
                // Scripts, headers and data are for a folder of programs, which the sandbox does not have.
                Some(rest) => match rest.strip_prefix("purelib/").or_else(|| rest.strip_prefix("platlib/")) {
                    Some(inside) => inside,
                    None => continue,
                },
            };
            let is_native = NATIVE.iter().any(|ending| inside.ends_with(ending)) || inside.contains(".so.");
            if is_native && fit == Fit::Pure {
                return Err(WheelError::Native(path.to_owned()));
            }
            if is_native || USELESS.iter().any(|ending| inside.ends_with(ending)) || inside.contains("__pycache__/") {
                continue;
            }
            let is_path_file = inside.ends_with(".pth") && !inside.contains('/');
            if is_path_file || START_HOOKS.iter().any(|hook| inside.starts_with(hook)) {
                self.left_out.push(inside.to_owned());
                continue;
            }
            if self.files.insert(inside.to_owned(), content).is_some() {
                return Err(ZipError::Collision { one: inside.to_owned(), other: path.to_owned() }.into());
            }
        }
        Ok(crate::zip::check_collisions(self.files.keys().map(String::as_str))?)
    }

    /// Whether Python in the sandbox is one of the versions that the package is for.
    pub fn suits_python(&self) -> bool {
        self.requires_python.as_deref().is_none_or(suits_python)
    }
}

/// Whether a `Requires-Python` includes Python in the sandbox. One that cannot be understood does not exclude it.
pub fn suits_python(versions: &str) -> bool {
    VersionSpecifiers::from_str(versions).ok().is_none_or(|versions| versions.contains(&python_version()))
}

fn text(zip: &Reader<'_>, path: &str) -> Result<Option<String>, WheelError> {
    zip.read(path)?.map(|bytes| String::from_utf8(bytes).map_err(|_| WheelError::Metadata)).transpose()
}

/// The header lines of a metadata file, with continued lines joined.
fn fields(metadata: &str) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in metadata.trim_start_matches('\u{feff}').lines().take_while(|line| !line.trim().is_empty()) {
        match (line.starts_with([' ', '\t']), fields.last_mut(), line.split_once(':')) {
            (true, Some((_, value)), _) => value.extend([" ", line.trim()]),
            (false, _, Some((name, value))) => fields.push((name.trim().to_owned(), value.trim().to_owned())),
            _ => {}
        }
    }
    fields
}

/// The digests in `RECORD`, by path: lines of path, digest and size, separated by commas.
fn digests(record: &str) -> BTreeMap<String, String> {
    let digest = |line: &str| {
        let mut parts = line.rsplitn(3, ',');
        let (_size, digest, path) = (parts.next()?, parts.next()?, parts.next()?);
        let quoted = path.strip_prefix('"').and_then(|path| path.strip_suffix('"'));
        let path = quoted.map_or_else(|| path.to_owned(), |path| path.replace("\"\"", "\""));
        Some((path, digest.to_owned()))
    };
    record.lines().filter_map(digest).collect()
}

fn check_record(record: &BTreeMap<String, String>, path: &str, content: &[u8]) -> Result<(), WheelError> {
    let digest = record.get(path).ok_or_else(|| WheelError::Unrecorded(path.to_owned()))?;
    let digest =
        digest.strip_prefix("sha256=").and_then(|text| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok());
    let is_right = digest.is_some_and(|digest| hex(&digest) == Sha256::of(content).hex());
    if is_right { Ok(()) } else { Err(WheelError::Record(path.to_owned())) }
}
