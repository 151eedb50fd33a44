//! A folder of a commit, as git stores it.

use git::Contents;
use git2::{Mempack, ObjectType, Odb, Repository};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use tempfile::TempDir;

/// The priority of the store in memory, above that on disk.
const FIRST: i32 = 1000;

/// A repository whose objects are in memory.
struct Store {
    _folder: TempDir,
    repository: &'static Repository,
    objects: &'static Odb<'static>,
    memory: Mempack<'static>,
}

thread_local! {
    static STORE: Store = Store::new();
}

impl Store {
    fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        // They live as long as the process.
        let repository: &Repository =
            Box::leak(Box::new(Repository::init_bare(folder.path()).expect("a new repository")));
        let objects: &Odb<'_> = Box::leak(Box::new(repository.odb().expect("a store")));
        let memory = objects.add_new_mempack_backend(FIRST).expect("a store in memory");
        Self { _folder: folder, repository, objects, memory }
    }
}

pub fn trees(bytes: &[u8]) {
    STORE.with(|Store { repository, objects, memory, .. }| {
        // A tree in a tree: the second part of the input is the inner one.
        let (outer, inner) = bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len()));
        let inner = objects.write(ObjectType::Tree, inner.strip_prefix(b"\n").unwrap_or(inner)).expect("any bytes");
        let outer = [outer, b"40000 z\0", inner.as_bytes()].concat();
        let outer = objects.write(ObjectType::Tree, &outer).expect("any bytes");
        if let Ok(tree) = repository.find_tree(outer)
            && let Ok(contents) = Contents::of(repository, &tree)
        {
            for path in contents.paths() {
                check(path);
            }
        }
        memory.reset().expect("an empty store");
    });
}

/// A path stays inside the clone, and outside of `.git`.
fn check(path: &Path) {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"));
    assert!(path.components().all(is_plain), "{}", path.display());
    // As the operating system reads it, byte for byte.
    let names = path.as_os_str().as_bytes().split(|byte| *byte == b'/');
    let again: PathBuf = names.map(OsStr::from_bytes).collect();
    assert_eq!(again.as_os_str(), path.as_os_str());
    assert!(!path.as_os_str().as_bytes().contains(&0));
}
