//! A clone follows its remote, and loses nothing that was only here.

use super::*;

#[test]
fn a_clone_follows_its_remote() {
    let scene = Scene::new();
    let commit = scene.push("main", &TWO);
    assert_eq!(scene.sync().unwrap(), Synced { commit: commit.to_string(), files_changed: 2 });
    scene.expect(&TWO);
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
fn a_forced_push_ends_at_the_state_of_the_remote() {
    let scene = Scene::new();
    let first = scene.push("main", &TWO);
    scene.push("main", &[("a/SKILL.md", "second")]);
    scene.sync().unwrap();
    scene.push_forced("main", &[("z/SKILL.md", "other history")]);
    scene.sync().unwrap();
    scene.expect(&[("z/SKILL.md", "other history")]);
    scene.origin.reference("refs/heads/main", first, true, "back").unwrap();
    scene.sync().unwrap();
    scene.expect(&TWO);
    assert_eq!(scene.backups(), []);
}

#[test]
fn edits_that_git_was_told_to_overlook_are_found_all_the_same() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    scene.sync().unwrap();
    let overlook = |path: &str, flags: IndexEntryFlag, more: IndexEntryExtendedFlag| {
        let repository = place::open(&scene.clone()).unwrap();
        let mut index = repository.index().unwrap();
        let mut entry = index.get_path(Path::new(path), 0).unwrap();
        entry.flags |= flags.bits();
        entry.flags_extended |= more.bits();
        index.add(&entry).unwrap();
        index.write().unwrap();
    };
    overlook("a/SKILL.md", IndexEntryFlag::VALID, IndexEntryExtendedFlag::empty());
    overlook("b/SKILL.md", IndexEntryFlag::empty(), IndexEntryExtendedFlag::SKIP_WORKTREE);
    scene.write("a/SKILL.md", "mine");
    scene.write("b/SKILL.md", "also mine");
    scene.sync().unwrap();
    scene.expect(&TWO);
    let backups = scene.backups();
    assert_eq!((&*backups[0]["a/SKILL.md"], &*backups[0]["b/SKILL.md"]), ("mine", "also mine"));
    scene.write("b/SKILL.md", "once more");
    scene.sync().unwrap();
    scene.expect(&TWO);
    assert_eq!(scene.backups().len(), 2, "nothing is overlooked any more");
}

#[test]
fn local_edits_are_kept_in_a_backup_and_the_remote_wins() {
    let scene = Scene::new();
    scene.push("main", &[("a/SKILL.md", "a"), ("b/SKILL.md", "b"), ("gone.md", "gone"), (".gitignore", "*.log\n")]);
    scene.sync().unwrap();
    scene.write("a/SKILL.md", "mine");
    scene.write("notes/new.md", "also mine");
    scene.write("debug.log", "ignored");
    symlink("a", scene.clone().join("link")).unwrap();
    fs::remove_file(scene.clone().join("gone.md")).unwrap();
    scene
        .push("main", &[("a/SKILL.md", "theirs"), ("b/SKILL.md", "b"), ("gone.md", "gone"), (".gitignore", "*.log\n")]);
    scene.sync().unwrap();
    let expected = [
        (".gitignore", "*.log\n"),
        ("a/SKILL.md", "theirs"),
        ("b/SKILL.md", "b"),
        ("debug.log", "ignored"),
        ("gone.md", "gone"),
    ];
    scene.expect(&expected);
    assert!(!scene.clone().join("notes").exists(), "a folder that is empty then goes");
    let backups = scene.backups();
    assert_eq!(backups.len(), 1);
    assert_eq!(backups[0]["a/SKILL.md"], "mine");
    assert_eq!(backups[0]["notes/new.md"], "also mine");
    assert_eq!(backups[0]["link"], "a");
    scene.sync().unwrap();
    assert_eq!(scene.backups().len(), 1, "nothing is kept twice");
    scene.write("a/SKILL.md", "mine again");
    scene.sync().unwrap();
    scene.expect(&expected);
    assert_eq!(scene.backups().len(), 2, "also when the remote has nothing new");
}

#[test]
fn a_file_that_git_ignores_is_kept_when_the_remote_brings_one_there() {
    let scene = Scene::new();
    scene.push("main", &[(".gitignore", "*.log\n")]);
    scene.sync().unwrap();
    scene.write("debug.log", "mine");
    scene.push("main", &[(".gitignore", "*.log\n"), ("debug.log", "theirs")]);
    scene.sync().unwrap();
    scene.expect(&[(".gitignore", "*.log\n"), ("debug.log", "theirs")]);
    assert_eq!(scene.backups()[0]["debug.log"], "mine");
}

#[test]
fn a_commit_that_is_only_here_is_kept() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    scene.sync().unwrap();
    scene.write("a/SKILL.md", "committed here");
    let repository = place::open(&scene.clone()).unwrap();
    let mut index = repository.index().unwrap();
    index.add_path(Path::new("a/SKILL.md")).unwrap();
    index.write().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let by = Signature::now("me", "me@example.com").unwrap();
    let head = repository.head().unwrap().peel_to_commit().unwrap();
    repository.commit(Some("HEAD"), &by, &by, "mine", &tree, &[&head]).unwrap();
    scene.sync().unwrap();
    scene.expect(&TWO);
    assert_eq!(scene.backups()[0]["a/SKILL.md"], "committed here");
    assert_eq!(scene.backups().len(), 1);
}

#[test]
fn a_repository_inside_the_clone_is_left_alone() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    scene.sync().unwrap();
    Repository::init(scene.clone().join("inner")).unwrap();
    scene.write("inner/work.md", "somebody's");
    scene.push("main", &[("a/SKILL.md", "new")]);
    scene.sync().unwrap();
    scene.expect(&[("a/SKILL.md", "new"), ("inner/work.md", "somebody's")]);
}

#[test]
fn a_branch_that_is_gone_leaves_what_is_there() {
    let mut scene = Scene::new();
    scene.branch = Some("dev".to_owned());
    scene.push("main", &[("x.md", "x")]);
    scene.push("dev", &TWO);
    scene.sync().unwrap();
    scene.origin.find_reference("refs/heads/dev").unwrap().delete().unwrap();
    let error = scene.sync().unwrap_err().to_string();
    assert!(error.contains("no branch `dev`; it has `main`") && error.contains("SKILLS_BRANCH"), "{error}");
    scene.expect(&TWO);
    scene.push("dev", &[("a/SKILL.md", "back")]);
    scene.sync().unwrap();
    scene.expect(&[("a/SKILL.md", "back")]);
}

#[test]
fn without_a_named_branch_it_is_main_else_the_default() {
    let scene = Scene::new();
    scene.origin.set_head("refs/heads/trunk").unwrap();
    assert!(matches!(scene.sync(), Err(SyncError::Empty { .. })));
    scene.push("aaa", &[("x.md", "x")]);
    scene.push("trunk", &[("x.md", "trunk")]);
    scene.sync().unwrap();
    scene.expect(&[("x.md", "trunk")]);
    scene.push("main", &[("x.md", "main")]);
    scene.sync().unwrap();
    scene.expect(&[("x.md", "main")]);
    assert_eq!(scene.backups(), []);
}

#[test]
fn servers_that_come_together_share_one_clone() {
    let scene = Scene::new();
    let commit = scene.push("main", &TWO).to_string();
    let remote = scene.remote();
    std::thread::scope(|scope| {
        let servers: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| sync(&remote, &Network::default(), Wanted::Now, &|| Box::new(())).unwrap().commit))
            .collect();
        for server in servers {
            assert_eq!(server.join().unwrap(), commit);
        }
    });
    scene.expect(&TWO);
}

#[test]
fn what_was_synced_lately_is_not_synced_again_unless_somebody_asks() {
    let scene = Scene::new();
    let first = scene.push("main", &TWO).to_string();
    let lately = Wanted::UnlessWithin(Duration::from_mins(10));
    assert_eq!(scene.sync_when(lately).unwrap().commit, first);
    let second = scene.push("main", &[("a/SKILL.md", "new")]).to_string();
    assert_eq!(scene.sync_when(lately).unwrap().commit, first);
    assert_eq!(scene.sync_when(Wanted::UnlessWithin(Duration::ZERO)).unwrap().commit, second);
    let age = moment::since_1970().checked_sub(place::last_sync(&scene.remote()).unwrap());
    assert!(age.unwrap() < Duration::from_mins(1));
}

#[test]
fn bytes_are_exact_whatever_attributes_ask_for() {
    let scene = Scene::new();
    let files = [
        (".gitattributes", "*.md text eol=crlf\n*.id ident\n*.x filter=lfs\n"),
        ("dos.md", "a\r\nb\r\n"),
        ("unix.md", "a\nb\n"),
        ("version.id", "$Id$\n"),
    ];
    scene.push("main", &files);
    scene.sync().unwrap();
    scene.expect(&files);
    scene.sync().unwrap();
    scene.push("main", &[&files[..], &[("z.md", "z\n")]].concat());
    scene.sync().unwrap();
    scene.expect(&[&files[..], &[("z.md", "z\n")]].concat());
    assert_eq!(scene.backups(), []);
}

#[test]
fn the_clone_of_the_other_server_is_used() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    let home = scene.folder.path().join("home");
    let remote = scene.remote();
    let existing = |branch| place::existing(&remote.address, branch, Some(&home));
    assert_eq!(existing(None), None);
    let content = home.join(".skills-mcp/content");
    fs::create_dir_all(&content).unwrap();
    Repository::clone(remote.address.text(), &content).unwrap();
    assert_eq!(existing(None), Some(content.clone()));
    assert_eq!(existing(Some("main")), Some(content.clone()));
    assert_eq!(existing(Some("dev")), None);
    let (other, _) = Address::parse("other", |path| home.join(path)).unwrap();
    assert_eq!(place::existing(&other, None, Some(&home)), None);
    scene.push("main", &[("a/SKILL.md", "new")]);
    let remote = Remote { folder: content.clone(), taken_over: true, ..remote };
    sync(&remote, &Network::default(), Wanted::Now, &|| Box::new(())).unwrap();
    assert_eq!(fs::read_to_string(content.join("a/SKILL.md")).unwrap(), "new");
    assert!(!content.join("b").exists());
}

#[test]
fn others_wait_only_while_files_change() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    let remote = scene.remote();
    let pauses = std::sync::atomic::AtomicUsize::new(0);
    let pause = || {
        pauses.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Box::new(()) as Box<dyn std::any::Any>
    };
    let mut counts = Vec::new();
    for text in ["a", "a", "b"] {
        scene.push_forced("main", &[("a/SKILL.md", text)]);
        sync(&remote, &Network::default(), Wanted::Now, &pause).unwrap();
        counts.push(pauses.load(std::sync::atomic::Ordering::SeqCst));
    }
    assert_eq!(counts[0], 0, "nobody sees a clone before it is complete");
    assert_eq!(counts[2], 1 + counts[1]);
}

#[test]
fn whoever_reads_a_file_gets_the_old_or_the_new() {
    let scene = Scene::new();
    let [old, new] = ["old", "new"].map(|word| word.repeat(200_000));
    scene.push("main", &[("a/SKILL.md", &old)]);
    scene.sync().unwrap();
    let file = scene.clone().join("a/SKILL.md");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::SeqCst) {
                let text = fs::read_to_string(&file).unwrap();
                assert!(text == old || text == new, "{} bytes", text.len());
            }
        });
        for number in 0..20 {
            scene.push("main", &[("a/SKILL.md", if number % 2 == 0 { &new } else { &old })]);
            scene.sync().unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::SeqCst);
        reader.join().unwrap();
    });
}

#[test]
fn files_and_folders_change_places() {
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
    // The same by hand, with a link that leads out and a folder that holds what git ignores.
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
fn programs_stay_programs() {
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
