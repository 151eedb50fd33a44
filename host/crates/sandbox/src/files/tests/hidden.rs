//! Scripts do not see the hidden files of their skill.

use super::*;

#[test]
fn hidden_files_of_a_skill_do_not_exist_for_its_scripts() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("skill/.git/refs")).unwrap();
    fs::create_dir_all(machine.path("skill/sub")).unwrap();
    fs::write(machine.path("skill/.git/config"), "token").unwrap();
    fs::write(machine.path("skill/sub/.env"), "token").unwrap();
    for (target, link) in [(".git", "skill/leak"), ("../.git/config", "skill/sub/file"), ("leak", "skill/again")] {
        std::os::unix::fs::symlink(target, machine.path(link)).unwrap();
    }
    let mut files = machine.files(vec![]);
    let hidden = "skill/.git skill/.git/config skill/.git/refs skill/./sub/../.git/config skill/sub/.env skill/leak \
                  skill/leak/config skill/again/config skill/sub/file";
    for path in hidden.split_whitespace() {
        assert_eq!(files.open(&top(), path, READ).err(), Some(FileError::NotFound), "{path}");
        for follow in [true, false] {
            assert_eq!(files.stat(&top(), path, follow).err(), Some(FileError::NotFound), "{path}");
        }
        assert_eq!(files.read_link(&top(), path), Err(FileError::NotFound), "{path}");
        assert_eq!(files.list(&top().join(path).unwrap().path, NEVER).err(), Some(FileError::NotFound), "{path}");
    }
    assert_eq!(names(&files, "skill"), ["etc", "inside", "out", "scripts", "sub"]);
    assert!(names(&files, "skill/sub").is_empty());
    assert_eq!(read(&mut files, "work/.git/config").as_deref(), Ok("[core]"), "hidden files of a project are visible");
}
