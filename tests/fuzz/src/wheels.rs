//! What an index and its wheels are made of. The first byte of the input chooses what the rest is.

use base::digest::Sha256;
use packages::download::is_allowed;
use packages::index;
use packages::name::Name;
use packages::requirement::Requirement;
use packages::wheel::{Wheel, WheelName};
use packages::zip::{self, Reader};
use std::collections::{BTreeMap, BTreeSet};
use url::Url;

/// Of `packages` for an archive.
const MAX_RATIO: usize = 100;

pub fn wheels(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    match kind % 6 {
        0 => archive(rest),
        1 => files(rest),
        2 => metadata(rest),
        3 => page("application/json", rest),
        4 => page("text/html", rest),
        _ => names(&String::from_utf8_lossy(rest)),
    }
}

/// What is accepted stays inside, and unpacks to what it announced.
fn archive(bytes: &[u8]) {
    let Ok(reader) = Reader::new(bytes) else { return };
    let mut total = 0;
    let mut folded = BTreeSet::new();
    for path in reader.paths() {
        assert!(!path.starts_with('/') && !path.contains('\\'), "{path:?}");
        assert!(path.split('/').all(|name| !matches!(name, "" | "." | "..")), "{path:?}");
        assert!(folded.insert(path.to_lowercase()), "{path:?} is there twice");
        total += reader.read(path).ok().flatten().map_or(0, |content| content.len());
    }
    assert!(total <= MAX_RATIO * bytes.len(), "{total} bytes from {}", bytes.len());
    let _ = Wheel::read("demo-1-py3-none-any.whl", bytes);
}

/// What was written is read again, unless its names are refused.
fn files(bytes: &[u8]) {
    let mut parts = bytes.split(|byte| *byte == 0);
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    while let (Some(path), Some(content)) = (parts.next(), parts.next()) {
        files.insert(String::from_utf8_lossy(path).into_owned(), content.to_vec());
    }
    let archive = zip::write(&files).expect("it is small");
    let Ok(reader) = Reader::new(&archive) else { return };
    for path in reader.paths() {
        assert_eq!(reader.read(path), Ok(files.get(path).cloned()), "{path:?}");
    }
}

/// A wheel that is accepted is the package that its name says.
fn metadata(bytes: &[u8]) {
    let digest = Sha256::of(bytes).hex();
    let pairs = digest.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("digits"));
    let digest: Vec<u8> = pairs.map(|pair| u8::from_str_radix(pair, 16).expect("digits")).collect();
    let record = format!("demo-1.dist-info/METADATA,sha256={},\ndemo-1.dist-info/RECORD,,\n", base64_url(&digest));
    let files = BTreeMap::from([
        ("demo-1.dist-info/METADATA".to_owned(), bytes.to_vec()),
        ("demo-1.dist-info/RECORD".to_owned(), record.into_bytes()),
    ]);
    let archive = zip::write(&files).expect("it is small");
    if let Ok(wheel) = Wheel::read("demo-1-py3-none-any.whl", &archive) {
        assert_eq!((wheel.name.as_str(), wheel.version.to_string().as_str()), ("demo", "1"));
        assert_eq!(wheel.files.get("demo-1.dist-info/METADATA").map(Vec::as_slice), Some(bytes));
    }
}

fn base64_url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let letter = |chunk: &[u8], index: usize| {
        let byte = |at: usize| usize::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        char::from(LETTERS[bits >> (18 - 6 * index) & 63])
    };
    let letters = bytes.chunks(3).flat_map(|chunk| (0..=chunk.len()).map(move |index| letter(chunk, index)));
    letters.collect()
}

/// No page leads to an address that is not encrypted.
fn page(kind: &str, body: &[u8]) {
    let (name, at): (Name, Url) =
        ("demo".parse().expect("a name"), Url::parse("https://h/simple/demo/").expect("a URL"));
    let files = index::parse(&name, &at, kind, body).unwrap_or_default();
    assert!(
        files
            .iter()
            .all(|file| is_allowed(&file.url) && file.url.scheme() == "https" || file.url.host_str() != Some("h"))
    );
}

/// What is understood means the same once it is written down.
fn names(text: &str) {
    if let Ok(requirement) = text.parse::<Requirement>() {
        let _ = requirement.applies(&BTreeSet::new());
        if !requirement.has_marker() {
            assert_eq!(requirement.to_string().parse().as_ref(), Ok(&requirement), "{text:?}");
        }
    }
    if let Ok(name) = text.parse::<Name>() {
        assert_eq!(name.as_str().parse().as_ref(), Ok(&name));
    }
    let _ = text.parse::<WheelName>();
}
