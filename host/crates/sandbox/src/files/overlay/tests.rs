//! The overlay compared with a plain folder in memory, under random calls.

use super::*;
use crate::files::disk::Disk;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use proptest::prelude::*;
use std::path::Path;

/// The files of the lower folder.
const LOWER: [(&str, &str); 5] =
    [("a", "on disk"), ("d/a", ""), ("d/b", "0123456789"), ("d/d/a", "deep"), ("e/d/b", "other")];

/// More than any sequence of calls needs.
const PLENTY: (u64, u64) = (1 << 30, 1 << 20);

#[derive(Debug, Clone)]
enum Operation {
    Open { path: String, mode: OpenMode, offset: u64, bytes: Vec<u8> },
    Resize { path: String, size: u64 },
    Rename { from: String, to: String },
    CreateFolder { path: String },
    RemoveFile { path: String },
    RemoveFolder { path: String },
    SetTimes { path: String },
}

fn any_path() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "d", "e"]), 1..4).prop_map(|names| names.join("/"))
}

fn any_mode() -> impl Strategy<Value = OpenMode> {
    any::<[bool; 5]>().prop_map(|[write, create, exclusive, truncate, folder]| OpenMode {
        // WASI asks for `write` whenever it truncates.
        write: write || truncate,
        create,
        exclusive,
        truncate,
        folder: folder && !write && !truncate,
        follow: true,
    })
}

fn any_operation() -> impl Strategy<Value = Operation> {
    let open = (any_path(), any_mode(), 0..20_u64, prop::collection::vec(any::<u8>(), 0..20));
    prop_oneof![
        4 => open.prop_map(|(path, mode, offset, bytes)| Operation::Open { path, mode, offset, bytes }),
        1 => (any_path(), 0..30_u64).prop_map(|(path, size)| Operation::Resize { path, size }),
        3 => (any_path(), any_path()).prop_map(|(from, to)| Operation::Rename { from, to }),
        2 => any_path().prop_map(|path| Operation::CreateFolder { path }),
        2 => any_path().prop_map(|path| Operation::RemoveFile { path }),
        2 => any_path().prop_map(|path| Operation::RemoveFolder { path }),
        1 => any_path().prop_map(|path| Operation::SetTimes { path }),
    ]
}

/// Does what the operation says, and returns what a guest would see of it.
fn apply(volume: &mut dyn Volume, operation: &Operation) -> Result<Vec<u8>, FileError> {
    let done = |()| Vec::new();
    match operation {
        Operation::Open { path, mode, offset, bytes } => {
            let Some(file) = volume.open(path, *mode)? else { return Ok(b"folder".to_vec()) };
            let before = content(&*file)?;
            if mode.write {
                file.write_at(bytes, *offset)?;
            }
            Ok([before, content(&*file)?].concat())
        }
        Operation::Resize { path, size } => {
            let mode = OpenMode { write: true, ..OpenMode::default() };
            let file = volume.open(path, mode)?.ok_or(FileError::IsAFolder)?;
            file.set_size(*size)?;
            content(&*file)
        }
        Operation::Rename { from, to } => volume.rename(from, to, NEVER).map(done),
        Operation::CreateFolder { path } => volume.create_folder(path).map(done),
        Operation::RemoveFile { path } => volume.remove_file(path).map(done),
        Operation::RemoveFolder { path } => volume.remove_folder(path).map(done),
        Operation::SetTimes { path } => volume.set_times(path, NewTimes::default()).map(done),
    }
}

fn content(file: &dyn crate::files::OpenFile) -> Result<Vec<u8>, FileError> {
    let mut bytes = vec![0; usize::try_from(file.stat()?.size).unwrap()];
    assert_eq!(file.read_at(&mut bytes, 0)?, bytes.len());
    Ok(bytes)
}

/// Returns every path with its bytes, or `None` for a folder.
fn tree(volume: &mut dyn Volume, path: &str, found: &mut BTreeMap<String, Option<Vec<u8>>>) {
    for entry in volume.list(path, NEVER).unwrap() {
        let path = join(path, &entry.name);
        let stat = volume.stat(&path, true).unwrap();
        assert_eq!((stat.kind, stat.number), (entry.kind, entry.number), "{path}");
        let file = volume.open(&path, OpenMode::default()).unwrap();
        assert_eq!(file.is_some(), entry.kind == Kind::File, "{path}");
        let bytes = file.map(|file| content(&*file).unwrap());
        assert_eq!(stat.size, bytes.as_ref().map_or(0, |bytes| bytes.len() as u64) + folder_size(stat), "{path}");
        found.insert(path.clone(), bytes);
        if entry.kind == Kind::Folder {
            tree(volume, &path, found);
        }
    }
}

/// A folder on disk has a size, one in memory has none.
fn folder_size(stat: Stat) -> u64 {
    if stat.kind == Kind::Folder { stat.size } else { 0 }
}

fn all(volume: &mut dyn Volume) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    tree(volume, "", &mut found);
    found
}

/// What the upper layer holds, in bytes and in files and folders.
fn held(overlay: &mut Overlay) -> (u64, u64) {
    let upper = all(&mut overlay.upper);
    let bytes = upper.values().flatten().map(|bytes| bytes.len() as u64).sum();
    (bytes, upper.len() as u64)
}

fn on_disk() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in LOWER {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn disk(folder: &Path) -> Disk {
    Disk::skill(Arc::new(Dir::open_ambient_dir(folder, ambient_authority()).unwrap()))
}

fn model() -> Memory {
    let mut model = Memory::scratch(Quota::new(PLENTY.0, PLENTY.1));
    for (path, text) in LOWER {
        model.add_file(path, Bytes::from_static(text.as_bytes())).unwrap();
    }
    model
}

proptest! {
    #[test]
    fn an_overlay_answers_as_a_folder_in_memory_does(operations in prop::collection::vec(any_operation(), 1..40)) {
        let folder = on_disk();
        let quota = Quota::new(PLENTY.0, PLENTY.1);
        let mut overlay = Overlay::new(disk(folder.path()), Arc::clone(&quota));
        let mut model = model();
        for operation in &operations {
            prop_assert_eq!(apply(&mut overlay, operation), apply(&mut model, operation), "{:?}", operation);
            prop_assert_eq!(all(&mut overlay), all(&mut model), "after {:?}", operation);
            let (bytes, files) = held(&mut overlay);
            prop_assert_eq!(quota.left(), (PLENTY.0 - bytes, PLENTY.1 - files), "after {:?}", operation);
        }
        prop_assert!(!quota.was_hit());
        prop_assert_eq!(all(&mut disk(folder.path())), all(&mut self::model()));
        drop(overlay);
        prop_assert_eq!(quota.left(), PLENTY);
    }

    #[test]
    fn an_overlay_without_space_changes_nothing_and_loses_no_byte(
        operations in prop::collection::vec(any_operation(), 1..40),
        bytes in 0..40_u64,
        files in 0..8_u64,
    ) {
        let folder = on_disk();
        let quota = Quota::new(bytes, files);
        let mut overlay = Overlay::new(disk(folder.path()), Arc::clone(&quota));
        for operation in &operations {
            let before = all(&mut overlay);
            let writes_in_part = matches!(operation, Operation::Open { .. });
            if apply(&mut overlay, operation) == Err(FileError::Full) && !writes_in_part {
                prop_assert_eq!(all(&mut overlay), before, "after {:?}", operation);
            }
            let (held_bytes, held_files) = held(&mut overlay);
            prop_assert_eq!(quota.left(), (bytes - held_bytes, files - held_files), "after {:?}", operation);
        }
        prop_assert_eq!(all(&mut disk(folder.path())), all(&mut model()));
    }
}

#[test]
fn an_overlay_without_space_still_removes_and_truncates() {
    let folder = on_disk();
    let quota = Quota::new(0, 2);
    let mut overlay = Overlay::new(disk(folder.path()), quota);
    overlay.add_file("in", Bytes::from_static(b"input")).unwrap();
    let truncate = OpenMode { write: true, truncate: true, ..OpenMode::default() };
    for path in ["in", "a"] {
        assert!(overlay.open(path, truncate).is_ok(), "{path}");
    }
    for path in ["d/d/a", "d/b", "d/a", "a", "in"] {
        assert_eq!(overlay.remove_file(path), Ok(()), "{path}");
    }
    for path in ["d/d", "d"] {
        assert_eq!(overlay.remove_folder(path), Ok(()), "{path}");
    }
    assert_eq!(all(&mut overlay).into_keys().collect::<Vec<_>>(), ["e", "e/d", "e/d/b"]);
}
