//! What agents, editors and git act on stays as it is in a writable folder.

use super::*;
use crate::files::protected::{PROTECTED, ProtectedPlace};
use std::os::unix::fs::symlink;
use std::path::Path;

/// Some of the hidden names that tools act on.
const HIDDEN: &str = ".git .gitmodules .gitattributes .gitconfig .hg .jj .svn .claude .claude-plugin .mcp.json .cursor .cursorrules \
    .gemini .codex .agents .windsurf .windsurfrules .clinerules .roo .kiro .junie .zed .continue .aider.conf.yml .goosehints \
    .vscode .idea .devcontainer .devcontainer.json .editorconfig .vimrc .exrc .nvim.lua .dir-locals.el .envrc .env .mise.toml .tool-versions \
    .github .gitlab-ci.yml .circleci .travis.yml .husky .pre-commit-config.yaml .npmrc .yarnrc.yml .pypirc .cargo .bashrc .profile .ssh .config";

/// Whether git would take a folder for its own, as `is_git_directory` of git decides it.
fn is_repository(folder: &Path) -> bool {
    let has_head = fs::symlink_metadata(folder.join("HEAD")).is_ok_and(|head| !head.is_dir());
    let has_parts = folder.join("objects").is_dir() && folder.join("refs").is_dir();
    has_head && (has_parts || folder.join("commondir").exists())
}

/// Returns the folders below one that git would take for its own.
pub fn repositories(folder: &Path) -> Vec<String> {
    let mut found: Vec<String> = is_repository(folder).then(|| folder.display().to_string()).into_iter().collect();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.file_type().unwrap().is_dir()) {
        found.extend(repositories(&entry.path()));
    }
    found
}

fn all_names() -> impl Iterator<Item = String> {
    PROTECTED.iter().map(|name| name.replace('*', "any")).chain(HIDDEN.split_whitespace().map(str::to_owned))
}

#[test]
fn no_protected_name_is_written_created_moved_or_removed() {
    let machine = Machine::new();
    let mut files = machine.files(vec![writable("", "")]);
    assert_eq!(write(&mut files, "work/src/main.rs", "new"), Ok(()));
    assert_eq!(read(&mut files, "work/.git/config").as_deref(), Ok("[core]"), "reading is allowed");
    for name in all_names() {
        for path in
            [name.clone(), name.to_uppercase(), format!("src/{name}"), format!("{name}."), format!("\u{200b}{name}")]
        {
            let (guest, host) = (format!("work/{path}"), machine.path("project").join(&path));
            assert_eq!(write(&mut files, &guest, "x"), Err(FileError::Protected), "{path}");
            assert_eq!(write(&mut files, &format!("{guest}/x"), "x"), Err(FileError::Protected), "{path}");
            assert_eq!(rename(&mut files, "work/src", &guest), Err(FileError::Protected), "{path}");
            if !host.exists() {
                assert_eq!(files.create_folder(&top(), &guest), Err(FileError::Protected), "{path}");
                fs::write(&host, "old").unwrap();
            }
            assert_eq!(rename(&mut files, &guest, "work/old"), Err(FileError::Protected), "{path}");
            assert_eq!(files.remove_file(&top(), &guest), Err(FileError::Protected), "{path}");
            if host.is_file() && path != "CLAUDE.md" {
                assert_eq!(fs::read_to_string(&host).unwrap(), "old", "{path}");
                fs::remove_file(&host).unwrap();
            }
            let named = path.rsplit_once('/').map_or("", |(parents, _)| parents);
            let mut files = machine.files(vec![writable(named, named), writable(&path, &path)]);
            if !host.exists() {
                assert_eq!(write(&mut files, &guest, "x"), Ok(()), "{path} is named by the grant");
                assert_eq!(files.remove_file(&top(), &guest), Ok(()), "{path}");
            }
        }
    }
    let git = files.open(&top(), "work/.git", OpenMode { folder: true, ..READ }).unwrap().path;
    assert_eq!(files.open(&git, "config", WRITE).err(), Some(FileError::Protected), "a handle inside it");
    assert_eq!(fs::read_to_string(machine.path("project/.git/config")).unwrap(), "[core]");
    let denials = machine.denials.take();
    assert!(denials.iter().any(|denial| denial.to_string().contains("the grant does not name it")), "{denials:?}");
    let mut files = machine.files(vec![writable(".git", ".git")]);
    assert_eq!(write(&mut files, "work/.git/config", "named"), Ok(()));
    assert_eq!(write(&mut files, "work/.git/.claude", "x"), Err(FileError::Protected), "names below a named one");
    assert_eq!(write(&mut files, "work/src/main.rs", "x"), Err(FileError::ReadOnly));
}

#[test]
fn a_folder_that_is_too_large_to_check_is_not_moved() {
    let machine = Machine::new();
    let many = machine.path("project/many");
    fs::create_dir(&many).unwrap();
    for number in 0..=10_000 {
        fs::write(many.join(number.to_string()), "").unwrap();
    }
    fs::create_dir_all(machine.path("project/deep").join("a/".repeat(65))).unwrap();
    let mut files = machine.files(vec![writable("", "")]);
    for folder in ["many", "deep"] {
        let moved = rename(&mut files, &format!("work/{folder}"), &format!("work/{folder}-moved"));
        assert_eq!(moved, Err(FileError::TooLargeToMove), "{folder}");
    }
    let denials = machine.denials.take();
    assert!(denials.iter().any(|denial| denial.to_string().contains("move its parts")), "{denials:?}");
    assert_eq!(rename(&mut files, "work/many/0", "work/first"), Ok(()));
    assert_eq!(rename(&mut files, "work/many", "work/moved"), Ok(()));
    assert_eq!(rename(&mut files, "work/deep/a", "work/part"), Ok(()));
}

#[test]
fn a_moved_folder_carries_nothing_protected_elsewhere() {
    let machine = Machine::new();
    for name in all_names() {
        let inner = machine.path("project/sub/deep").join(&name);
        fs::create_dir_all(&inner).unwrap();
        // Even if the grant names it in its old place.
        let named = format!("sub/deep/{name}");
        let mut files = machine.files(vec![writable("", ""), writable(&named, &named)]);
        assert_eq!(rename(&mut files, "work/sub", "work/moved"), Err(FileError::Protected), "{name}");
        assert_eq!(rename(&mut files, "work/sub/deep", "work/moved"), Err(FileError::Protected), "{name}");
        fs::remove_dir(inner).unwrap();
    }
    let mut files = machine.files(vec![writable("", "")]);
    symlink("../../.git", machine.path("project/sub/deep/link")).unwrap();
    assert_eq!(rename(&mut files, "work/sub", "work/moved"), Err(FileError::Link), "a link would lead elsewhere");
    fs::remove_file(machine.path("project/sub/deep/link")).unwrap();
    fs::create_dir(machine.path("project/sub/deep/head")).unwrap();
    assert_eq!(rename(&mut files, "work/sub", "work/moved"), Ok(()));
    assert!(machine.path("project/moved/deep/head").exists());
    let (asked, stop) = (std::cell::Cell::new(0), 3);
    let is_due = || asked.replace(asked.get() + 1) >= stop;
    for number in 0..10 {
        fs::write(machine.path("project/moved").join(number.to_string()), "").unwrap();
    }
    let renamed = files.rename((&top(), "work/moved"), (&top(), "work/sub"), &is_due);
    assert_eq!((renamed, asked.get()), (Err(FileError::Interrupted), stop + 1));
}

#[test]
fn links_are_neither_renamed_nor_removed_nor_replaced() {
    let machine = Machine::new();
    let mut files = machine.files(vec![writable("", "")]);
    for link in ["innocent", "away", "sources"] {
        let path = format!("work/{link}");
        assert_eq!(rename(&mut files, &path, "work/other"), Err(FileError::Link), "{link}");
        assert_eq!(rename(&mut files, "work/src", &path), Err(FileError::Link), "{link}");
        assert_eq!(rename(&mut files, "work/src/main.rs", &path), Err(FileError::Link), "{link}");
        assert_eq!(files.remove_file(&top(), &path), Err(FileError::Link), "{link}");
        assert!(files.remove_folder(&top(), &path).is_err(), "{link}");
        assert!(machine.path("project").join(link).is_symlink(), "{link}");
    }
    assert_eq!(write(&mut files, "work/innocent/config", "x"), Err(FileError::ThroughLink));
    assert!(
        machine.denials.take().iter().any(|denial| denial.to_string().contains("a link, which scripts cannot change"))
    );
}

#[test]
fn a_file_with_another_name_is_not_written() {
    let machine = Machine::new();
    let mut files = machine.files(vec![writable("", "")]);
    fs::hard_link(machine.path("project/CLAUDE.md"), machine.path("project/notes.md")).unwrap();
    for truncate in [true, false] {
        let opened = files.open(&top(), "work/notes.md", OpenMode { truncate, ..WRITE });
        assert_eq!(opened.err(), Some(FileError::HardLink));
    }
    assert_eq!(fs::read_to_string(machine.path("project/CLAUDE.md")).unwrap(), "be kind");
    assert!(machine.denials.take().iter().any(|denial| denial.to_string().contains("a hard link")));
    assert_eq!(files.remove_file(&top(), "work/notes.md"), Ok(()), "a name of its own may go");
    assert_eq!(write(&mut files, "work/notes.md", "new"), Ok(()));
    assert_eq!(fs::read_to_string(machine.path("project/CLAUDE.md")).unwrap(), "be kind");
}

/// The ingredients of a git directory, and every way in which a guest could bring one about.
#[test]
fn no_order_of_steps_makes_a_git_directory() {
    const PARTS: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];
    let machine = Machine::new();
    let at = |path: &str| machine.path("project").join(path);
    // Whatever lies there already: each set of parts that is not yet a git directory.
    for set in 0..16_u32 {
        let present: Vec<&str> =
            PARTS.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1).map(|(_, part)| *part).collect();
        let prepare = || {
            let _ = fs::remove_dir_all(at("docs"));
            let _ = fs::remove_dir_all(at("stock"));
            for folder in ["docs", "stock/folder", "stock/objects", "stock/refs"] {
                fs::create_dir_all(at(folder)).unwrap();
            }
            for file in ["stock/file", "stock/commondir"] {
                fs::write(at(file), "ref: refs/heads/main").unwrap();
            }
            for part in &present {
                let made = at("docs").join(part);
                let kind = if matches!(*part, "objects" | "refs") {
                    fs::create_dir(made)
                } else {
                    fs::write(made, "ref: refs/heads/main")
                };
                kind.unwrap();
            }
        };
        prepare();
        if is_repository(&at("docs")) {
            let before = fs::read(at("docs/HEAD")).unwrap();
            let mut files = machine.files(vec![writable("", "")]);
            for path in ["config", "HEAD", "hooks", "objects/a", "refs/a", "new/config"] {
                assert_eq!(
                    write(&mut files, &format!("work/docs/{path}"), "x"),
                    Err(FileError::Protected),
                    "{path} {present:?}"
                );
            }
            assert_eq!(rename(&mut files, "work/docs", "work/moved"), Err(FileError::Protected));
            assert_eq!(fs::read(at("docs/HEAD")).unwrap(), before);
            continue;
        }
        for order in 0..24 {
            prepare();
            let mut files = machine.files(vec![writable("", "")]);
            let mut remaining = PARTS.to_vec();
            let mut rest = order;
            for count in (1..=4).rev() {
                let part = remaining.remove(rest % count);
                rest /= count;
                let to = format!("work/docs/{part}");
                let _ = write(&mut files, &to, "ref: refs/heads/main");
                let _ = files.create_folder(&top(), &to);
                for from in ["file", "folder", "objects", "refs", "commondir"] {
                    let _ = rename(&mut files, &format!("work/stock/{from}"), &to);
                }
                let _ = write(&mut files, "work/docs/config", "[core]\nfsmonitor = evil");
                assert_eq!(repositories(&machine.path("project")), Vec::<String>::new(), "{present:?} {order}");
            }
            let _ = rename(&mut files, "work/docs", "work/stock/moved");
            assert_eq!(repositories(&machine.path("project")), Vec::<String>::new(), "{present:?} {order}");
            let _ = fs::remove_dir_all(at("stock"));
        }
    }
}

#[test]
fn a_git_directory_is_written_only_if_the_grant_names_it() {
    let machine = Machine::new();
    for folder in ["project/bare.git/objects", "project/bare.git/refs/remotes/origin", "project/bare.git/hooks"] {
        fs::create_dir_all(machine.path(folder)).unwrap();
    }
    for head in ["project/bare.git/HEAD", "project/bare.git/refs/remotes/origin/HEAD"] {
        fs::write(machine.path(head), "ref: refs/heads/main").unwrap();
    }
    let paths = ["work/bare.git/config", "work/bare.git/hooks/update", "work/bare.git/refs/remotes/origin/main"];
    for path in paths {
        let mut files = machine.files(vec![writable("", "")]);
        assert_eq!(write(&mut files, path, "x"), Err(FileError::Protected), "{path}");
        assert_eq!(read(&mut files, "work/bare.git/HEAD").as_deref(), Ok("ref: refs/heads/main"));
        let mut files = machine.files(vec![writable("", ""), writable("bare.git", "bare.git")]);
        assert_eq!(write(&mut files, path, "x"), Ok(()), "{path}");
    }
}

#[test]
fn a_protected_place_is_written_only_if_the_grant_names_it() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("project/team/tool")).unwrap();
    fs::write(machine.path("project/operator.yaml"), "grants:").unwrap();
    symlink("project/team", machine.path("link")).unwrap();
    let places = ["link", "project/operator.yaml", "project/src/missing/skills"].map(|path| machine.path(path));
    let protected: Vec<ProtectedPlace> = places.iter().map(|path| ProtectedPlace::at(path).unwrap()).collect();
    let files = |work: Vec<Writable>| {
        let mut files = Files::new(machine.denials.clone());
        files.mount("work", Disk::writable(machine.open("project"), work, protected.clone()));
        files
    };
    let mut unnamed = files(vec![writable("", "")]);
    for path in
        ["team/new.md", "team/tool/run.py", "operator.yaml", "Operator.YAML", "src/missing", "src/missing/SKILL"]
    {
        assert_eq!(write(&mut unnamed, &format!("work/{path}"), "x"), Err(FileError::Protected), "{path}");
    }
    for path in ["work/team", "work/operator.yaml", "work/src"] {
        assert_eq!(rename(&mut unnamed, path, "work/moved"), Err(FileError::Protected), "{path}");
    }
    fs::remove_file(machine.path("project/src/main.rs")).unwrap();
    for (path, kept) in [("work/team", true), ("work/src", true), ("work/team/tool", true)] {
        assert_eq!(files(vec![writable("", "")]).remove_folder(&top(), path).is_err(), kept, "{path}");
    }
    assert_eq!(unnamed.create_folder(&top(), "work/src/missing"), Err(FileError::Protected));
    assert_eq!(write(&mut unnamed, "work/src/main.rs", "x"), Ok(()));
    let mut named = files(vec![writable("", ""), writable("team", "team"), writable("src/missing", "src/missing")]);
    for path in ["work/team/new.md", "work/team/tool/run.py", "work/src/missing"] {
        assert_eq!(write(&mut named, path, "x"), Ok(()), "{path}");
    }
}

#[test]
fn the_documentation_lists_what_is_protected() {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/granting-capabilities.md"));
    for name in PROTECTED {
        assert!(text.contains(&format!("`{name}`")), "{name}");
    }
}

/// Whatever is swapped meanwhile, `.git` is not written and no link gets another meaning.
#[test]
fn guests_that_rename_at_the_same_time_change_nothing_protected() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("project/bare")).unwrap();
    fs::write(machine.path("project/bare/HEAD"), "ref: refs/heads/main").unwrap();
    let before = untouchable(&machine);
    std::thread::scope(|scope| {
        for guest in 0..3_usize {
            let machine = &machine;
            scope.spawn(move || {
                let mut files = machine.files(vec![writable("", "")]);
                let names =
                    ["innocent", "sources", "src", "a", "b", "bare", "bare/objects", "bare/refs", "a/HEAD", "b/config"];
                for step in 0..3_000_usize {
                    let (one, other) =
                        (names[(step * 7 + guest) % names.len()], names[(step * 3 + guest * 2 + 1) % names.len()]);
                    let (one, other) = (format!("work/{one}"), format!("work/{other}"));
                    let _ = rename(&mut files, &one, &other);
                    let _ = files.create_folder(&top(), &one);
                    let _ = write(&mut files, &format!("{other}/config"), "stolen");
                    let _ = files.remove_folder(&top(), &other);
                }
            });
        }
    });
    assert_eq!(before, untouchable(&machine));
    assert_eq!(repositories(&machine.path("project")), Vec::<String>::new());
    for (link, target) in [("innocent", ".git"), ("away", "../elsewhere"), ("sources", "src")] {
        assert_eq!(fs::read_link(machine.path("project").join(link)).unwrap(), Path::new(target));
    }
}
