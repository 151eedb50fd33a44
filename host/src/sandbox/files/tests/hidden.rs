//! Hidden files of a skill are not there for its scripts.

use super::*;

#[test]
fn nothing_hidden_in_a_skill_is_seen() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("skill/.git/refs")).unwrap();
    fs::create_dir_all(machine.path("skill/sub")).unwrap();
    fs::write(machine.path("skill/.git/config"), "token").unwrap();
    fs::write(machine.path("skill/sub/.env"), "token").unwrap();
    for (target, link) in [(".git", "skill/leak"), ("../.git/config", "skill/sub/file"), ("leak", "skill/again")] {
        std::os::unix::fs::symlink(target, machine.path(link)).unwrap();
    }
    let mut files = machine.files(vec![]);
    for path in [
        "skill/.git",
        "skill/.git/config",
        "skill/.git/refs",
        "skill/./sub/../.git/config",
        "skill/sub/.env",
        "skill/leak",
        "skill/leak/config",
        "skill/again/config",
        "skill/sub/file",
    ] {
        assert_eq!(files.open(&top(), path, READ).err(), Some(FileError::NotFound), "{path}");
        for follow in [true, false] {
            assert_eq!(files.stat(&top(), path, follow).err(), Some(FileError::NotFound), "{path}");
        }
        assert_eq!(files.read_link(&top(), path), Err(FileError::NotFound), "{path}");
        assert_eq!(files.list(&top().join(path).unwrap().path).err(), Some(FileError::NotFound), "{path}");
    }
    assert_eq!(names(&files, "skill"), ["etc", "inside", "out", "scripts", "sub"]);
    assert!(names(&files, "skill/sub").is_empty());
    assert_eq!(read(&mut files, "work/.git/config").as_deref(), Ok("[core]"), "a project's are its user's");
}
