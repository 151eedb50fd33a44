use super::*;
use std::cell::Cell;
use std::convert::Infallible;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    NoChange(#[from] NoChange),
}

impl From<Infallible> for Failed {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn changed(path: &Path, edit: impl Fn(&str) -> String) -> Result<Option<Changed>, Failed> {
    change(path, Readers::Owner, |text| Ok(Some(edit(text))))
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn what_was_there_is_copied_and_no_copy_is_written_over() {
    let folder = folder();
    let path = folder.path().join("settings.json");
    std::fs::write(&path, "one").unwrap();
    let backup = |text: &str| changed(&path, |_| text.to_owned()).unwrap().unwrap().backup.unwrap();
    let first = backup("two");
    assert_eq!(first, folder.path().join("settings.json.skillcell-backup"));
    let second = backup("three");
    assert_eq!(second, folder.path().join("settings.json.skillcell-backup-2"));
    let texts = [&first, &second, &path].map(|path| std::fs::read_to_string(path).unwrap());
    assert_eq!(texts, ["one", "two", "three"]);
    std::fs::write(&path, "one").unwrap();
    assert_eq!(backup("four"), first, "a copy of the same is enough");
    assert_eq!(mode(&first), 0o600);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "nothing else is left behind");
}

#[test]
fn permissions_and_the_mark_at_the_beginning_stay() {
    let folder = folder();
    let path = folder.path().join("settings.json");
    for wanted in [0o640, 0o600, 0o664] {
        std::fs::write(&path, format!("{BOM}before")).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(wanted)).unwrap();
        changed(&path, |text| {
            assert_eq!(text, "before");
            "after".to_owned()
        })
        .unwrap();
        assert_eq!(mode(&path), wanted);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{BOM}after"));
    }
}

#[test]
fn a_file_that_is_not_there_is_made_with_its_folders() {
    let folder = folder();
    let path = folder.path().join("a/b/settings.json");
    let made = changed(&path, |text| format!("{text}new")).unwrap().unwrap();
    assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), made.backup), ("new", None));
    assert_eq!(mode(&path), 0o600);
    let shared = folder.path().join("shared.json");
    change::<NoChange>(&shared, Readers::Usual, |_| Ok(Some("new".to_owned()))).unwrap();
    let usual = folder.path().join("usual");
    std::fs::write(&usual, "").unwrap();
    assert_eq!(mode(&shared), mode(&usual));
}

#[test]
fn a_link_stays_and_the_file_it_leads_to_is_changed() {
    let folder = folder();
    let (real, link) = (folder.path().join("dotfiles/settings.json"), folder.path().join("settings.json"));
    std::fs::create_dir(folder.path().join("dotfiles")).unwrap();
    std::fs::write(&real, "before").unwrap();
    symlink("dotfiles/settings.json", &link).unwrap();
    let backup = changed(&link, |_| "after".to_owned()).unwrap().unwrap().backup.unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "after");
    assert_eq!(backup, folder.path().join("settings.json.skillcell-backup"));
    std::fs::remove_file(&real).unwrap();
    assert!(matches!(changed(&link, |_| String::new()), Err(Failed::NoChange(NoChange::Dangling(_)))));
}

#[test]
fn what_is_no_text_or_no_file_is_left_alone() {
    let folder = folder();
    let path = folder.path().join("settings.json");
    std::fs::write(&path, b"\xff").unwrap();
    assert!(matches!(changed(&path, |_| String::new()), Err(Failed::NoChange(NoChange::NotText(_)))));
    assert!(matches!(changed(folder.path(), |_| String::new()), Err(Failed::NoChange(NoChange::NoFile(_)))));
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert!(matches!(changed(&pipe, |_| String::new()), Err(Failed::NoChange(NoChange::NoFile(_)))));
    assert_eq!(std::fs::read(&path).unwrap(), b"\xff");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn what_somebody_else_writes_meanwhile_is_not_lost() {
    let folder = folder();
    let path = folder.path().join("settings.json");
    std::fs::write(&path, "a").unwrap();
    let tries = Cell::new(0);
    let edited = |text: &str| {
        tries.set(tries.get() + 1);
        if tries.get() == 1 {
            std::fs::write(&path, "b").unwrap();
        }
        format!("{text} and ours")
    };
    changed(&path, edited).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "b and ours");
    assert_eq!(tries.get(), 2);
    let always = |text: &str| {
        std::fs::write(&path, format!("{text}x")).unwrap();
        "ours".to_owned()
    };
    assert!(matches!(changed(&path, always), Err(Failed::NoChange(NoChange::Busy(_)))));
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("b and ours"));
}

#[test]
fn nothing_is_touched_when_nothing_is_to_change() {
    let folder = folder();
    let path = folder.path().join("settings.json");
    assert!(change::<NoChange>(&path, Readers::Owner, |_| Ok(None)).unwrap().is_none());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
