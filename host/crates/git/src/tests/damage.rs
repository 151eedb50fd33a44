//! Clones that were interrupted, locked or damaged.

use super::*;

#[test]
fn a_damaged_clone_is_cloned_again() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 8] = [
        ("no objects", |git| fs::remove_dir_all(git.join("objects")).unwrap()),
        ("no head", |git| fs::remove_file(git.join("HEAD")).unwrap()),
        ("a head of nonsense", |git| fs::write(git.join("HEAD"), "nonsense").unwrap()),
        ("a head of nothing", |git| fs::write(git.join("refs/heads/main"), "").unwrap()),
        ("an index of nonsense", |git| fs::write(git.join("index"), "nonsense").unwrap()),
        ("a configuration of nonsense", |git| fs::write(git.join("config"), "[[[").unwrap()),
        ("no git", |git| fs::remove_dir_all(git).unwrap()),
        ("an empty folder", |git| {
            fs::remove_dir_all(git).unwrap();
            fs::create_dir(git).unwrap();
        }),
    ];
    for (what, damage) in damages {
        let scene = Scene::cloned(&TWO_SKILLS);
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
fn lock_files_are_removed_if_they_are_stale_or_from_the_future() {
    let scene = Scene::cloned(&TWO_SKILLS);
    let locks = ["index.lock", "HEAD.lock", "refs/heads/main.lock", "refs/skillcell/synced.lock", "shallow.lock"]
        .map(|lock| scene.clone().join(".git").join(lock));
    let past = SystemTime::now() - Duration::from_mins(1);
    let future = SystemTime::now() + Duration::from_hours(1000);
    for (lock, time) in locks.iter().zip([past, future].into_iter().cycle()) {
        File::create(lock).unwrap().set_modified(time).unwrap();
    }
    scene.follow(&[("a/SKILL.md", "new")]);
    assert!(!locks.iter().any(|lock| lock.exists()));
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
    scene.follow(&TWO_SKILLS);
    assert_eq!(scene.leftovers(), Vec::<String>::new(), "leftovers of other servers are removed");
}

#[test]
fn interrupted_checkouts_are_finished_and_are_not_edits() {
    let scene = Scene::cloned(&[("a/SKILL.md", "a"), ("b/SKILL.md", "b"), ("old.md", "old")]);
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
    scene.follow(&[("a/SKILL.md", "last"), ("b/SKILL.md", "last")]);
    assert_eq!(scene.backups(), []);
    let repository = clone_folder::open(&scene.clone()).unwrap();
    assert_eq!(repository.references_glob("refs/skillcell/targets/*").unwrap().count(), 0);
}

#[test]
fn a_failed_checkout_is_reported_and_repaired_by_the_next_one() {
    let scene = Scene::cloned(&TWO_SKILLS);
    let long = format!("c/{}.md", "x".repeat(300));
    scene.push("main", &[("a/SKILL.md", "new"), (&long, "the name is too long for a file system")]);
    let error = scene.sync_error();
    assert!(error.contains("could not be checked out"), "{error}");
    assert!(scene.clone().join("a/SKILL.md").exists());
    scene.follow(&[("a/SKILL.md", "newer")]);
    assert_eq!(scene.backups(), []);
}

#[test]
fn backups_survive_damage_to_the_clone() {
    let scene = Scene::cloned(&TWO_SKILLS);
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
