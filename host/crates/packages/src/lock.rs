//! The lock file: which packages are installed, from where, and the digests of the wheels and of the archive.

use crate::name::Name;
use crate::requirement::Requirement;
use crate::wheel::WheelName;
use base::digest::Sha256;
use pep440_rs::Version;
use serde::{Deserialize, Serialize};

/// The version of the format.
pub const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lock {
    pub format: u32,
    /// The version of Python that compiled the archive. Another one may not be able to read it.
    pub python: String,
    /// The digest of the archive; none without packages.
    pub archive: Option<Sha256>,
    /// What the operator asked for. The other packages are needed by these.
    #[serde(serialize_with = "as_texts")]
    pub requested: Vec<Requirement>,
    pub packages: Vec<Locked>,
}

/// An installed package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Locked {
    pub name: Name,
    #[serde(serialize_with = "as_text")]
    pub version: Version,
    /// The file name of the wheel.
    pub file: String,
    pub sha256: Sha256,
    /// The address of the wheel, or [`LOCAL`].
    pub source: String,
}

/// The source of a wheel that the operator had as a file.
pub const LOCAL: &str = "file";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLock {
    format: u32,
    python: String,
    archive: Option<String>,
    requested: Vec<String>,
    packages: Vec<RawLocked>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLocked {
    name: String,
    version: String,
    file: String,
    sha256: String,
    source: String,
}

impl Default for Lock {
    fn default() -> Self {
        let python = guests::script::PYTHON_VERSION.to_owned();
        Self { format: FORMAT, python, archive: None, requested: Vec::new(), packages: Vec::new() }
    }
}

impl Lock {
    /// Reads a lock file, or says what is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let raw: RawLock = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if raw.format != FORMAT {
            return Err(format!("its format is {}, and this version of skillcell reads {FORMAT}", raw.format));
        }
        let digest = |text: &str| text.parse::<Sha256>().map_err(|error| error.to_string());
        let requested: Result<Vec<Requirement>, _> = raw.requested.iter().map(|text| text.parse()).collect();
        let package = |raw: RawLocked| {
            let name: Name = raw.name.parse().map_err(|error: crate::name::InvalidName| error.to_string())?;
            let version: Version = raw.version.parse().map_err(|_| format!("`{}` is not a version", raw.version))?;
            let file: WheelName = raw.file.parse().map_err(|error: crate::wheel::WheelError| error.to_string())?;
            if file.name != name || file.version != version {
                return Err(format!("`{}` is not a wheel of {name} {version}", raw.file));
            }
            Ok(Locked { name, version, sha256: digest(&raw.sha256)?, file: raw.file, source: raw.source })
        };
        let packages: Result<Vec<Locked>, String> = raw.packages.into_iter().map(package).collect();
        let (archive, packages) = (raw.archive.as_deref().map(digest).transpose()?, packages?);
        if archive.is_none() != packages.is_empty() {
            return Err("it has packages without an archive, or an archive without packages".to_owned());
        }
        let requested = requested.map_err(|error| error.to_string())?;
        Ok(Self { format: FORMAT, python: raw.python, archive, requested, packages })
    }

    pub fn package(&self, name: &Name) -> Option<&Locked> {
        self.packages.iter().find(|package| package.name == *name)
    }
}

fn as_text<S: serde::Serializer>(value: &impl std::fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn as_texts<S: serde::Serializer>(values: &[Requirement], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(ToString::to_string))
}
