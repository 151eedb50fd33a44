//! Clones that were interrupted, locked or damaged, and malicious trees.

use super::*;

#[test]
fn a_damaged_clone_is_cloned_again() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 7] = [
        ("no objects", |git| fs::remove_dir_all(git.join("objects")).unwrap()),
        ("no head", |git| fs::remove_file(git.join("HEAD")).unwrap()),
        ("a head of nonsense", |git| fs::write(git.join("HEAD"), "nonsense").unwrap()),
        ("a head of nothing", |git| fs::write(git.join("refs/heads/main"), "").unwrap()),
        ("an index of nonsense", |git| fs::write(git.join("index"), "nonsense").unwrap()),
        ("a configuration of nonsense", |git| fs::write(git.join("config"), "[[[").unwrap()),
        ("an empty folder", |git| {
            fs::remove_dir_all(git).unwrap();
            fs::create_dir(git).unwrap();
        }),
    ];
    for (what, damage) in damages {
        let scene = Scene::new();
        scene.push("main", &TWO_SKILLS);
        scene.sync().unwrap();
        damage(&scene.clone().join(".git"));
        scene.write("mine.md", "an edit");
        let commit = scene.push("main", &[("a/SKILL.md", "a"), ("c/SKILL.md", "c")]);
        let synced = scene.sync().unwrap_or_else(|error| panic!("{what}: {error:?}"));
        assert_eq!(synced.commit, commit.to_string(), "{what}");
        scene.expect(&[("a/SKILL.md", "a"), ("c/SKILL.md", "c")]);
        assert_eq!(scene.backups()[0]["mine.md"], "an edit", "{what}");
        assert_eq!(scene.leftovers(), Vec::<String>::new(), "{what}");
    }
}

#[test]
fn a_folder_with_files_and_no_git_becomes_a_clone() {
    let scene = Scene::new();
    scene.push("main", &TWO_SKILLS);
    scene.write("a/SKILL.md", "mine");
    fs::set_permissions(scene.folder.path().join("repos"), fs::Permissions::from_mode(0o700)).unwrap();
    scene.sync().unwrap();
    scene.expect(&TWO_SKILLS);
    assert_eq!(scene.backups()[0]["a/SKILL.md"], "mine");
}

#[test]
fn a_lock_file_from_the_future_is_stale() {
    let scene = Scene::new();
    scene.push("main", &TWO_SKILLS);
    scene.sync().unwrap();
    let lock = scene.clone().join(".git/index.lock");
    File::create(&lock).unwrap().set_modified(SystemTime::now() + Duration::from_hours(1000)).unwrap();
    scene.push("main", &[("a/SKILL.md", "new")]);
    scene.sync().unwrap();
    scene.expect(&[("a/SKILL.md", "new")]);
    assert!(!lock.exists());
}

#[test]
fn stale_lock_files_are_removed_and_recent_ones_are_reported() {
    let scene = Scene::new();
    scene.push("main", &TWO_SKILLS);
    scene.sync().unwrap();
    let locks = ["index.lock", "HEAD.lock", "refs/heads/main.lock", "refs/skillcell/synced.lock", "shallow.lock"]
        .map(|lock| scene.clone().join(".git").join(lock));
    for lock in &locks {
        File::create(lock).unwrap().set_modified(SystemTime::now() - Duration::from_mins(1)).unwrap();
    }
    scene.push("main", &[("a/SKILL.md", "new")]);
    scene.sync().unwrap();
    scene.expect(&[("a/SKILL.md", "new")]);
    assert!(!locks.iter().any(|lock| lock.exists()));
    fs::write(&locks[0], "").unwrap();
    scene.push("main", &TWO_SKILLS);
    let error = scene.sync().unwrap_err().for_audience(Audience::Local);
    assert!(error.contains(&format!("remove {}", locks[0].display())), "{error}");
    scene.expect(&[("a/SKILL.md", "new")]);
    fs::remove_file(&locks[0]).unwrap();
    scene.sync().unwrap();
    scene.expect(&TWO_SKILLS);
}

#[test]
fn an_interrupted_clone_is_never_visible() {
    let scene = Scene::new();
    let error = scene.sync().unwrap_err();
    assert!(matches!(error, SyncError::Empty { .. }), "{error:?}");
    assert!(!scene.clone().exists());
    assert_eq!(scene.leftovers(), Vec::<String>::new(), "a failed clone is removed");
    let unfinished = clone_folder::create_sibling(&scene.remote(), clone_folder::NEW).unwrap().keep();
    fs::create_dir_all(unfinished.join(".git/objects")).unwrap();
    scene.push("main", &TWO_SKILLS);
    scene.sync().unwrap();
    scene.expect(&TWO_SKILLS);
    assert_eq!(scene.leftovers(), Vec::<String>::new(), "leftovers of other servers are removed");
}

#[test]
fn interrupted_checkouts_are_finished_and_are_not_edits() {
    let scene = Scene::new();
    scene.push("main", &[("a/SKILL.md", "a"), ("b/SKILL.md", "b"), ("old.md", "old")]);
    scene.sync().unwrap();
    // The state after two checkouts that were interrupted by a crash.
    for (text, file) in [("second", "a/SKILL.md"), ("third", "b/SKILL.md")] {
        let halfway = scene.push("main", &[("a/SKILL.md", text), ("b/SKILL.md", text), (&format!("{text}.md"), text)]);
        let repository = clone_folder::open(&scene.clone()).unwrap();
        let mut origin = repository.remote_anonymous(scene.remote().address.text()).unwrap();
        origin.fetch(&["+refs/heads/main:refs/remotes/origin/main"], None, None).unwrap();
        repository.reference(&format!("refs/skillcell/targets/{halfway}"), halfway, true, "").unwrap();
        scene.write(file, text);
        scene.write(&format!("{text}.md"), text);
    }
    fs::remove_file(scene.clone().join("old.md")).unwrap();
    scene.push("main", &[("a/SKILL.md", "last"), ("b/SKILL.md", "last")]);
    scene.sync().unwrap();
    scene.expect(&[("a/SKILL.md", "last"), ("b/SKILL.md", "last")]);
    assert_eq!(scene.backups(), []);
    let repository = clone_folder::open(&scene.clone()).unwrap();
    assert_eq!(repository.references_glob("refs/skillcell/targets/*").unwrap().count(), 0);
}

#[test]
fn a_failed_checkout_is_reported_and_repaired_by_the_next_one() {
    let scene = Scene::new();
    scene.push("main", &TWO_SKILLS);
    scene.sync().unwrap();
    let long = format!("c/{}.md", "x".repeat(300));
    scene.push("main", &[("a/SKILL.md", "new"), (&long, "the name is too long for a file system")]);
    let error = scene.sync().unwrap_err().for_audience(Audience::Local);
    assert!(error.contains("could not be checked out"), "{error}");
    assert!(scene.clone().join("a/SKILL.md").exists());
    scene.push("main", &[("a/SKILL.md", "newer")]);
    scene.sync().unwrap();
    scene.expect(&[("a/SKILL.md", "newer")]);
    assert_eq!(scene.backups(), []);
}

#[test]
fn nothing_in_a_tree_escapes_the_clone() {
    let scene = Scene::new();
    let outside = scene.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let to_outside = outside.display().to_string();
    scene.push("main", &[("@link", &to_outside)]);
    scene.sync().unwrap();
    // The link becomes a folder: nothing may be written through the link.
    scene.push("main", &[("link/file.md", "inside")]);
    scene.sync().unwrap();
    scene.expect(&[("link/file.md", "inside")]);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    for name in ["..", ".git", ".GIT", "git~1"] {
        let blob = scene.origin.blob(b"[core]\n").unwrap();
        let raw = |entry: &str, mode: &str, id: Oid| [format!("{mode} {entry}\0").as_bytes(), id.as_bytes()].concat();
        let odb = scene.origin.odb().unwrap();
        let inner = odb.write(ObjectType::Tree, &raw("config", "100644", blob)).unwrap();
        let tree = odb.write(ObjectType::Tree, &raw(name, "40000", inner)).unwrap();
        scene.push_tree("main", tree, None);
        assert!(scene.sync().is_err(), "{name}");
        assert!(!scene.folder.path().join("repos/config").exists());
        assert!(fs::read_to_string(scene.clone().join(".git/config")).unwrap().contains("origin"), "{name}");
    }
    scene.push_forced("main", &TWO_SKILLS);
    scene.sync().unwrap();
    scene.expect(&TWO_SKILLS);
}

#[test]
fn a_folder_that_is_not_a_repository_is_reported() {
    let scene = Scene::new();
    let (address, _) = Address::parse("team/skills", |path| scene.folder.path().join(path)).unwrap();
    let remote = Remote { address, ..scene.remote() };
    let error = sync(&remote, &Network::default(), SyncMode::Always, &|| Box::new(()))
        .unwrap_err()
        .for_audience(Audience::Local);
    assert!(error.contains("there is no repository at") && error.contains("https://"), "{error}");
}

#[test]
fn backups_survive_damage_to_the_clone() {
    let scene = Scene::new();
    scene.push("main", &TWO_SKILLS);
    scene.sync().unwrap();
    scene.write("a/SKILL.md", "mine");
    scene.sync().unwrap();
    assert_eq!(scene.backups().len(), 1);
    fs::write(scene.clone().join(".git/HEAD"), "nonsense").unwrap();
    scene.sync().unwrap();
    scene.expect(&TWO_SKILLS);
    let [kept] = &scene.leftovers()[..] else { panic!("{:?}", scene.leftovers()) };
    let kept = Path::new(kept).join("git");
    fs::write(kept.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let kept = Repository::open_bare(kept).unwrap();
    let mut backups = kept.references_glob("refs/skillcell/backup/*").unwrap();
    let tree = backups.next().unwrap().unwrap().peel_to_tree().unwrap();
    let blob = tree.get_path(Path::new("a/SKILL.md")).unwrap().to_object(&kept).unwrap().peel_to_blob().unwrap();
    assert_eq!(blob.content(), b"mine");
}
