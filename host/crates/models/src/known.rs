//! Models that are installed by name: which package of the index has them, and the digests of their files.

use base::digest::Sha256;
use base::printable::printable;
use packages::download::{Client, DownloadError, Redirects, shown};
use packages::index::{self, OfferedFile, PageError};
use packages::name::Name;
use packages::wheel::MAX_WHEEL_BYTES;
use packages::zip::{Reader, ZipError};

/// A model in a Python package. Nothing of the package but these two files is read.
#[derive(Debug)]
pub struct Known {
    pub name: &'static str,
    package: &'static str,
    /// The beginning of the versions that have it.
    version: &'static str,
    weights: Part,
    tokenizer: Part,
}

/// A file in a wheel, the same in the wheels for all machines.
#[derive(Debug)]
struct Part {
    path: &'static str,
    sha256: &'static str,
}

const ALL: [Known; 1] = [Known {
    name: "wordllama",
    package: "wordllama",
    version: "0.4.",
    weights: Part {
        path: "wordllama/weights/l2_supercat_256.safetensors",
        sha256: "sha256:64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    },
    tokenizer: Part {
        path: "wordllama/tokenizers/l2_supercat_tokenizer_config.json",
        sha256: "sha256:93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
    },
}];

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("{0}")]
    Download(#[from] DownloadError),
    #[error("{url} cannot be used: {error}")]
    Page { url: String, error: PageError },
    #[error("the index offers no wheel of `{package}` {version}* with a digest")]
    NotOffered { package: &'static str, version: &'static str },
    #[error(
        "`{}` does not have the digest that the index says\nhint: nothing was changed; try again, and report it to the operator of the index if it stays so",
        printable(file)
    )]
    WrongDigest { file: String },
    #[error("`{}` cannot be read: {error}", printable(file))]
    Zip { file: String, error: ZipError },
    #[error("`{}` has no file `{path}`, so it is not the model `{model}`", printable(file))]
    Missing { file: String, path: &'static str, model: &'static str },
    #[error(
        "`{path}` in `{}` is not the file that the model `{model}` is known by\nhint: to use it all the same, unpack it and run `skillcell model add` with both files",
        printable(file)
    )]
    OtherContent { file: String, path: &'static str, model: &'static str },
}

/// The two files of a model.
#[derive(Debug)]
pub struct ModelFiles {
    pub name: String,
    /// An address, or the path of a file.
    pub source: String,
    pub weights: Vec<u8>,
    pub tokenizer: Vec<u8>,
}

impl Known {
    pub fn all() -> &'static [Self] {
        &ALL
    }

    pub fn find(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|known| known.name == name)
    }

    /// Downloads the newest wheel that has the model.
    pub fn fetch(&self, client: &Client) -> Result<ModelFiles, FetchError> {
        let package: Name = self.package.parse().expect("it is the name of a package");
        let page = client.index().page(&package);
        tracing::debug!("asking {} for `{package}`", shown(&page));
        let (url, kind, body) = client.get(&page, index::ACCEPT, index::MAX_PAGE_BYTES, Redirects::SameHost)?;
        let offered = index::parse(&package, &url, &kind, &body);
        let offered = offered.map_err(|error| FetchError::Page { url: shown(&url), error })?;
        let (wheel, sha256) = self.choose(offered)?;
        let (_, _, bytes) = client.get(&wheel.url, "*/*", MAX_WHEEL_BYTES, Redirects::AnyHost)?;
        if Sha256::of(&bytes) != sha256 {
            return Err(FetchError::WrongDigest { file: wheel.name });
        }
        self.unpack(&wheel.name, shown(&wheel.url), &bytes)
    }

    /// Picks a wheel: all of a version have the same model, so the name decides.
    fn choose(&self, offered: Vec<OfferedFile>) -> Result<(OfferedFile, Sha256), FetchError> {
        let start = format!("{}-{}", self.package, self.version);
        let wheels = offered.into_iter().filter(|file| {
            file.name.starts_with(&start) && file.name.ends_with(".whl") && file.sha256.is_some() && !file.yanked
        });
        let newest = wheels.max_by(|left, right| left.name.cmp(&right.name));
        newest
            .and_then(|file| file.sha256.map(|digest| (file, digest)))
            .ok_or(FetchError::NotOffered { package: self.package, version: self.version })
    }

    /// Reads the model from a wheel, if it is the one that is known.
    pub fn unpack(&self, file: &str, source: String, wheel: &[u8]) -> Result<ModelFiles, FetchError> {
        let zip = |error| FetchError::Zip { file: file.to_owned(), error };
        let reader = Reader::new(wheel).map_err(zip)?;
        let read = |part: &Part| -> Result<Vec<u8>, FetchError> {
            let (file, path, model) = (file.to_owned(), part.path, self.name);
            let bytes = reader.read(path).map_err(zip)?;
            let bytes = bytes.ok_or(FetchError::Missing { file: file.clone(), path, model })?;
            if Sha256::of(&bytes).to_string() == part.sha256 {
                Ok(bytes)
            } else {
                Err(FetchError::OtherContent { file, path, model })
            }
        };
        Ok(ModelFiles {
            name: self.name.to_owned(),
            source,
            weights: read(&self.weights)?,
            tokenizer: read(&self.tokenizer)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_digests_are_digests() {
        for Known { weights, tokenizer, .. } in Known::all() {
            assert!([weights, tokenizer].iter().all(|part| part.sha256.parse::<Sha256>().is_ok()));
        }
    }

    #[test]
    fn a_wheel_with_another_model_is_refused() {
        let known = Known::find("wordllama").unwrap();
        let unpack = |paths: &[&str]| {
            let files: BTreeMap<String, &[u8]> = paths.iter().map(|path| ((*path).to_owned(), &b"other"[..])).collect();
            let wheel = packages::zip::write(&files).unwrap();
            known.unpack("x.whl", "file".to_owned(), &wheel).unwrap_err().to_string()
        };
        assert!(unpack(&["a.py"]).starts_with("`x.whl` has no file `wordllama/weights/"));
        let both = unpack(&[known.weights.path, known.tokenizer.path]);
        assert!(both.contains("is not the file that the model `wordllama` is known by"), "{both}");
        assert!(known.unpack("x.whl", "file".to_owned(), b"PK").is_err());
    }
}
