//! A clone follows its remote, and loses no local edits.

use super::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[test]
fn a_clone_follows_its_remote() {
    let scene = Scene::new();
    let commit = scene.push("main", &TWO_SKILLS);
    assert_eq!(scene.sync().unwrap(), Synced { commit: commit.to_string(), files_changed: 2 });
    scene.expect(&TWO_SKILLS);
    let mode = fs::metadata(scene.clone()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let commit = scene.push("main", &[("a/SKILL.md", "new"), ("c/SKILL.md", "c")]);
    assert_eq!(scene.sync().unwrap(), Synced { commit: commit.to_string(), files_changed: 3 });
    scene.expect(&[("a/SKILL.md", "new"), ("c/SKILL.md", "c")]);
    assert_eq!(scene.sync().unwrap(), Synced { commit: commit.to_string(), files_changed: 0 });
    assert_eq!(scene.leftovers(), Vec::<String>::new());
    assert_eq!(scene.backups(), []);
}

#[test]
fn edits_of_files_that_git_assumes_unchanged_are_found() {
    let scene = Scene::cloned(&TWO_SKILLS);
    let flag = |path: &str, flags: IndexEntryFlag, extended: IndexEntryExtendedFlag| {
        let repository = clone_folder::open(&scene.clone()).unwrap();
        let mut index = repository.index().unwrap();
        let mut entry = index.get_path(Path::new(path), 0).unwrap();
        entry.flags |= flags.bits();
        entry.flags_extended |= extended.bits();
        index.add(&entry).unwrap();
        index.write().unwrap();
    };
    flag("a/SKILL.md", IndexEntryFlag::VALID, IndexEntryExtendedFlag::empty());
    flag("b/SKILL.md", IndexEntryFlag::empty(), IndexEntryExtendedFlag::SKIP_WORKTREE);
    scene.write("a/SKILL.md", "mine");
    scene.write("b/SKILL.md", "also mine");
    scene.sync().unwrap();
    scene.expect(&TWO_SKILLS);
    let backups = scene.backups();
    assert_eq!((&*backups[0]["a/SKILL.md"], &*backups[0]["b/SKILL.md"]), ("mine", "also mine"));
    scene.write("b/SKILL.md", "once more");
    scene.sync().unwrap();
    scene.expect(&TWO_SKILLS);
    assert_eq!(scene.backups().len(), 2, "the flags are gone");
}

#[test]
fn local_edits_are_kept_in_a_backup_and_the_remote_wins() {
    let ignore = (".gitignore", "*.log\n");
    let scene = Scene::cloned(&[ignore, ("a/SKILL.md", "a")]);
    scene.write("a/SKILL.md", "mine");
    scene.write("notes/new.md", "also mine");
    scene.write("debug.log", "ignored");
    symlink("a", scene.clone().join("link")).unwrap();
    scene.push("main", &[ignore, ("a/SKILL.md", "theirs")]);
    for _ in 0..2 {
        scene.sync().unwrap();
        scene.expect(&[ignore, ("a/SKILL.md", "theirs"), ("debug.log", "ignored")]);
        assert!(!scene.clone().join("notes").exists(), "an empty folder is removed");
        let backups = scene.backups();
        assert_eq!(backups.len(), 1, "nothing is backed up twice");
        assert_eq!(["a/SKILL.md", "notes/new.md", "link"].map(|path| &*backups[0][path]), ["mine", "also mine", "a"]);
    }
    scene.follow(&[ignore, ("debug.log", "theirs")]);
    let is_kept = |files: &BTreeMap<String, String>| files.get("debug.log").is_some_and(|text| text == "ignored");
    assert!(scene.backups().iter().any(is_kept), "an ignored file at the path of a new one");
}

#[test]
fn a_repository_inside_the_clone_is_left_alone() {
    let scene = Scene::cloned(&TWO_SKILLS);
    Repository::init(scene.clone().join("inner")).unwrap();
    scene.write("inner/work.md", "local work");
    scene.push("main", &[("a/SKILL.md", "new")]);
    scene.sync().unwrap();
    scene.expect(&[("a/SKILL.md", "new"), ("inner/work.md", "local work")]);
}

#[test]
fn without_a_configured_branch_main_or_the_default_is_used() {
    let scene = Scene::new();
    scene.origin.set_head("refs/heads/trunk").unwrap();
    assert!(matches!(scene.sync(), Err(SyncError::Empty { .. })));
    scene.push("aaa", &[("x.md", "x")]);
    scene.push("trunk", &[("x.md", "trunk")]);
    scene.sync().unwrap();
    scene.expect(&[("x.md", "trunk")]);
    scene.follow(&[("x.md", "main")]);
    assert_eq!(scene.backups(), []);
}

#[test]
fn a_recent_sync_is_not_repeated_unless_requested() {
    let scene = Scene::new();
    let first = scene.push("main", &TWO_SKILLS).to_string();
    let if_old = SyncMode::IfOlderThan(Duration::from_mins(10));
    assert_eq!(scene.sync_with(if_old).unwrap().commit, first);
    let second = scene.push("main", &[("a/SKILL.md", "new")]).to_string();
    assert_eq!(scene.sync_with(if_old).unwrap().commit, first);
    assert_eq!(scene.sync_with(SyncMode::IfOlderThan(Duration::ZERO)).unwrap().commit, second);
    let age = timestamp::since_epoch().checked_sub(clone_folder::last_sync(&scene.remote()).unwrap());
    assert!(age.unwrap() < Duration::from_mins(1));
}

#[test]
fn bytes_are_exact_whatever_gitattributes_say() {
    let scene = Scene::new();
    let files = [
        (".gitattributes", "*.md text eol=crlf\n*.id ident\n*.x filter=lfs\n"),
        ("dos.md", "a\r\nb\r\n"),
        ("unix.md", "a\nb\n"),
        ("version.id", "$Id$\n"),
    ];
    scene.follow(&files);
    scene.sync().unwrap();
    scene.follow(&[&files[..], &[("z.md", "z\n")]].concat());
    assert_eq!(scene.backups(), []);
}

#[test]
fn scans_are_paused_only_while_files_change() {
    let scene = Scene::new();
    scene.push("main", &TWO_SKILLS);
    let remote = scene.remote();
    let pauses = AtomicUsize::new(0);
    let pause = || {
        pauses.fetch_add(1, Ordering::SeqCst);
        Box::new(()) as Box<dyn std::any::Any>
    };
    let mut counts = Vec::new();
    for text in ["a", "a", "b"] {
        scene.push_forced("main", &[("a/SKILL.md", text)]);
        sync(&remote, &Network::default(), SyncMode::Always, &pause).unwrap();
        counts.push(pauses.load(Ordering::SeqCst));
    }
    assert_eq!(counts[0], 0, "a first clone is not visible before it is complete");
    assert_eq!(counts[2], 1 + counts[1]);
}

#[test]
fn a_reader_gets_the_old_or_the_new_file() {
    let scene = Scene::new();
    let [old, new] = ["old", "new"].map(|text| text.repeat(200_000));
    scene.push("main", &[("a/SKILL.md", &old)]);
    scene.sync().unwrap();
    let file = scene.clone().join("a/SKILL.md");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                let text = fs::read_to_string(&file).unwrap();
                assert!(text == old || text == new, "{} bytes", text.len());
            }
        });
        for number in 0..20 {
            scene.push("main", &[("a/SKILL.md", if number % 2 == 0 { &new } else { &old })]);
            scene.sync().unwrap();
        }
        done.store(true, Ordering::SeqCst);
        reader.join().unwrap();
    });
}

#[test]
fn files_become_folders_and_folders_become_files() {
    let scene = Scene::new();
    let outside = scene.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("inner.md"), "not ours").unwrap();
    let first = [("file.md", "file"), ("folder/inner.md", "inner"), (".gitignore", "ignored\n")];
    let second = [("file.md/inner.md", "inner"), ("folder", "file"), (".gitignore", "ignored\n")];
    scene.push("main", &first);
    scene.sync().unwrap();
    scene.push("main", &second);
    scene.sync().unwrap();
    scene.expect(&[(".gitignore", "ignored\n"), ("file.md/inner.md", "inner"), ("folder", "file")]);
    assert_eq!(scene.backups(), []);
    // Changed locally, into a link out of the clone and a folder with an ignored file.
    fs::remove_dir_all(scene.clone().join("file.md")).unwrap();
    symlink(&outside, scene.clone().join("file.md")).unwrap();
    fs::remove_file(scene.clone().join("folder")).unwrap();
    scene.write("folder/ignored", "kept aside");
    scene.sync().unwrap();
    scene.expect(&[(".gitignore", "ignored\n"), ("file.md/inner.md", "inner"), ("folder", "file")]);
    assert_eq!(fs::read_to_string(outside.join("inner.md")).unwrap(), "not ours");
    assert_eq!(scene.backups()[0]["file.md"], outside.display().to_string());
    let is_aside = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("skillcell-aside-");
    let mut entries = fs::read_dir(scene.clone().join(".git")).unwrap().flatten();
    let aside = entries.find(|entry| is_aside(&entry.file_name())).unwrap().path();
    assert_eq!(fs::read_to_string(aside.join("folder/ignored")).unwrap(), "kept aside");
}

#[test]
fn executable_files_stay_executable() {
    let scene = Scene::new();
    let tree = scene.tree(&[("run.sh", "echo")]);
    let mut builder = git2::build::TreeUpdateBuilder::new();
    let blob = scene.origin.blob(b"echo").unwrap();
    builder.upsert("run.sh", blob, git2::FileMode::BlobExecutable);
    let executable = builder.create_updated(&scene.origin, &scene.origin.find_tree(tree).unwrap()).unwrap();
    for (tree, expected) in [(tree, 0), (executable, 0o100), (tree, 0)] {
        scene.push_tree("main", tree, None);
        scene.sync().unwrap();
        let mode = fs::metadata(scene.clone().join("run.sh")).unwrap().permissions().mode();
        assert_eq!(mode & 0o100, expected);
    }
    assert_eq!(scene.backups(), []);
}
