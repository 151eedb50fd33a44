use super::*;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use tempfile::TempDir;

/// A folder, and the path of a settings file in it.
fn settings() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    (folder, path)
}

fn of_user(path: &Path, mode: u32) -> SettingsFile<'_> {
    SettingsFile { path, links: Links::Follow, mode }
}

fn edit(path: &Path, mut new_text: impl FnMut(&str) -> String) -> Result<Option<PathBuf>, EditError> {
    edit_file(&of_user(path, 0o600), None, |text| Ok(Some(new_text(text))))
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_backup_is_kept_and_never_overwritten() {
    let (folder, path) = settings();
    std::fs::write(&path, "one").unwrap();
    let backup = |text: &str| edit(&path, |_| text.to_owned()).unwrap().unwrap();
    let first = backup("two");
    assert_eq!(first, folder.path().join("settings.json.skillcell-backup"));
    let second = backup("three");
    assert_eq!(second, folder.path().join("settings.json.skillcell-backup-2"));
    let texts = [&first, &second, &path].map(|path| std::fs::read_to_string(path).unwrap());
    assert_eq!(texts, ["one", "two", "three"]);
    std::fs::write(&path, "one").unwrap();
    assert_eq!(backup("four"), first, "one backup of the same content is enough");
    assert_eq!(mode(&first), 0o600);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "nothing else is left behind");
}

#[test]
fn permissions_and_the_byte_order_mark_are_kept() {
    let (_folder, path) = settings();
    for permissions in [0o640, 0o600, 0o664] {
        std::fs::write(&path, format!("{BOM}before")).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(permissions)).unwrap();
        edit(&path, |text| format!("{text} and after")).unwrap();
        assert_eq!(mode(&path), permissions);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{BOM}before and after"));
    }
}

#[test]
fn a_missing_file_is_created_with_its_folders() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/settings.json");
    assert!(edit_file::<EditError>(&of_user(&path, 0o600), None, |_| Ok(None)).unwrap().is_none());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no edit creates no file");
    let backup = edit(&path, |text| format!("{text}new")).unwrap();
    assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), backup), ("new", None));
    assert_eq!(mode(&path), 0o600);
    let [shared, default] = ["shared.json", "default"].map(|name| folder.path().join(name));
    edit_file::<EditError>(&of_user(&shared, 0o666), None, |_| Ok(Some("new".to_owned()))).unwrap();
    std::fs::write(&default, "").unwrap();
    assert_eq!(mode(&shared), mode(&default));
}

#[test]
fn a_link_stays_and_its_target_is_edited() {
    let (folder, link) = settings();
    let real = folder.path().join("real.json");
    std::fs::write(&real, "before").unwrap();
    symlink("real.json", &link).unwrap();
    let backup = edit(&link, |_| "after".to_owned()).unwrap().unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "after");
    assert_eq!(backup, folder.path().join("settings.json.skillcell-backup"));
    std::fs::remove_file(&real).unwrap();
    assert!(matches!(edit(&link, |_| String::new()), Err(EditError::Dangling(_))));
}

#[test]
fn binary_and_special_files_are_not_touched() {
    let (folder, path) = settings();
    std::fs::write(&path, b"\xff").unwrap();
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert!(matches!(edit(&path, |_| String::new()), Err(EditError::NotText(_))));
    for special in [folder.path(), &pipe] {
        assert!(matches!(edit(special, |_| String::new()), Err(EditError::NotAFile(_))), "{}", special.display());
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"\xff");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn concurrent_changes_are_not_lost() {
    let (_folder, path) = settings();
    std::fs::write(&path, "a").unwrap();
    let mut tries = 0;
    let edited = |text: &str| {
        tries += 1;
        if tries == 2 {
            std::fs::write(&path, "b").unwrap();
        }
        format!("{text} and ours")
    };
    edit(&path, edited).unwrap();
    assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), tries), ("b and ours", 3));
    let always = |text: &str| {
        std::fs::write(&path, format!("{text}x")).unwrap();
        "ours".to_owned()
    };
    assert!(matches!(edit(&path, always), Err(EditError::Busy(_))));
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("b and ours"));
}

#[test]
fn links_below_a_project_are_refused() {
    let project = tempfile::tempdir().unwrap();
    let (own, at) = (tempfile::tempdir().unwrap(), |path: &str| project.path().join(path));
    std::fs::write(own.path().join("settings.json"), "secret").unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    symlink(own.path().join("settings.json"), at("file.json")).unwrap();
    symlink(own.path().join("settings.json"), at("folder/file.json")).unwrap();
    symlink(own.path(), at("linked")).unwrap();
    symlink("/nowhere/at/all", at("dangling")).unwrap();
    symlink("folder", at("inner")).unwrap();
    let before = std::fs::read_dir(project.path()).unwrap().count();
    for (path, link) in [
        ("file.json", "file.json"),
        ("folder/file.json", "folder/file.json"),
        ("linked/settings.json", "linked"),
        ("linked/new.json", "linked"),
        ("linked/deep/new.json", "linked"),
        ("dangling/new.json", "dangling"),
        ("dangling", "dangling"),
        ("inner/new.json", "inner"),
    ] {
        let file = SettingsFile { path: &at(path), links: Links::RefuseBelow(project.path()), mode: 0o666 };
        let refused = edit_file(&file, None, |text| Ok::<_, EditError>(Some(format!("{text}ours"))));
        assert!(matches!(&refused, Err(EditError::Link(found)) if *found == at(link)), "{path}: {refused:?}");
    }
    assert_eq!(std::fs::read_to_string(own.path().join("settings.json")).unwrap(), "secret");
    assert_eq!(std::fs::read_dir(own.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read_dir(project.path()).unwrap().count(), before);
    let file = SettingsFile { path: &at("a/b/new.json"), links: Links::RefuseBelow(project.path()), mode: 0o666 };
    let write = || edit_file(&file, None, |text| Ok::<_, EditError>(Some(format!("{text}ours")))).unwrap();
    assert_eq!((write(), write()), (None, Some(at("a/b/new.json.skillcell-backup"))));
    assert_eq!(std::fs::read_to_string(at("a/b/new.json")).unwrap(), "oursours");
}

#[test]
fn a_link_that_appears_during_the_edit_is_not_followed() {
    let project = tempfile::tempdir().unwrap();
    let own = tempfile::tempdir().unwrap();
    let folder = project.path().join("folder");
    let file = SettingsFile { path: &folder.join("file"), links: Links::RefuseBelow(project.path()), mode: 0o666 };
    for call in [1, 2] {
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("file"), "").unwrap();
        let mut calls = 0;
        let refused = edit_file(&file, None, |_| {
            calls += 1;
            if calls == call {
                std::fs::rename(&folder, project.path().join(format!("moved-{call}"))).unwrap();
                symlink(own.path(), &folder).unwrap();
            }
            Ok::<_, EditError>(Some("ours".to_owned()))
        });
        assert!(matches!(&refused, Err(EditError::Link(_))), "{call}: {refused:?}");
        std::fs::remove_file(&folder).unwrap();
    }
    assert_eq!(std::fs::read_dir(own.path()).unwrap().count(), 0);
}

#[test]
fn a_lock_of_another_process_is_awaited_only_for_a_while() {
    let (folder, path) = settings();
    let lock = Lock { file: folder.path().join("private/client.lock"), timeout: Duration::ZERO };
    let write = || edit_file(&of_user(&path, 0o600), Some(&lock), |_| Ok::<_, EditError>(Some("new".to_owned())));
    assert!(write().is_ok());
    let held = user_files::lock(&lock.file).unwrap();
    std::fs::write(&path, "old").unwrap();
    let error = write().unwrap_err().to_string();
    assert!(error.starts_with("nothing was changed: another process has locked "), "{error}");
    assert!(error.contains(&format!("`fuser -v {}`", lock.file.display())), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    drop(held);
    assert!(write().is_ok());
    // Without a place for the lock there is none.
    let lock = Lock { file: path.join("client.lock"), timeout: Duration::ZERO };
    assert!(edit_file(&of_user(&path, 0o600), Some(&lock), |_| Ok::<_, EditError>(Some("x".to_owned()))).is_ok());
}
