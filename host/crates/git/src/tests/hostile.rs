//! Malicious and corrupt repositories.

use super::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::time::Instant;

impl Scene {
    /// Writes a tree with names that git would refuse.
    fn raw_tree(&self, entries: &[(&str, &[u8], Oid)]) -> Oid {
        let mut bytes = Vec::new();
        for (mode, name, id) in entries {
            bytes.extend([mode.as_bytes(), b" ", name, b"\0", id.as_bytes()].concat());
        }
        self.origin.odb().unwrap().write(ObjectType::Tree, &bytes).unwrap()
    }
}

#[test]
fn no_name_in_a_tree_escapes_the_clone() {
    let scene = Scene::cloned(&TWO_SKILLS);
    let outside = scene.folder.path().join("outside/private");
    fs::create_dir_all(outside.parent().unwrap()).unwrap();
    fs::write(&outside, "a key").unwrap();
    let blob = scene.origin.blob(b"evil").unwrap();
    let inner = scene.raw_tree(&[("100644", b"private", blob)]);
    let absolute = outside.to_str().unwrap().as_bytes();
    let trees = [
        scene.raw_tree(&[("100644", absolute, blob)]),
        scene.raw_tree(&[("40000", b"..", scene.raw_tree(&[("40000", b"..", inner)]))]),
        scene.raw_tree(&[("100644", b"../../outside/private", blob)]),
        scene.raw_tree(&[("100644", b"a/../../../outside/private", blob)]),
        scene.raw_tree(&[("40000", b".git", inner)]),
        scene.raw_tree(&[("40000", b"git~1", inner)]),
        scene.raw_tree(&[("40000", b"a", scene.raw_tree(&[("40000", b".GIT", inner)]))]),
        scene.raw_tree(&[("40000", b".", inner)]),
    ];
    for tree in trees {
        scene.push_tree("main", tree, None);
        for _ in 0..2 {
            scene.sync().expect_err("a tree that escapes the clone");
            scene.expect(&TWO_SKILLS);
            assert_eq!(fs::read_to_string(&outside).unwrap(), "a key");
            assert!(!scene.clone().join(".git/private").exists());
        }
        assert_eq!(scene.backups(), Vec::new(), "nothing from outside is backed up");
    }
    scene.push_forced("main", &[("c/SKILL.md", "c")]);
    scene.sync().unwrap();
    scene.expect(&[("c/SKILL.md", "c")]);
}

#[test]
fn nothing_is_written_through_a_link_that_becomes_a_folder() {
    let scene = Scene::new();
    let outside = scene.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    scene.follow(&[("@link", outside.to_str().unwrap())]);
    scene.follow(&[("link/file.md", "inside")]);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_few_objects_that_describe_countless_files_are_refused_quickly() {
    let scene = Scene::cloned(&TWO_SKILLS);
    let mut tree = scene.raw_tree(&[("100644", b"SKILL.md", scene.origin.blob(b"x").unwrap())]);
    let names: Vec<[u8; 1]> = (b'a'..b'k').map(|letter| [letter]).collect();
    for _ in 0..12 {
        let entries: Vec<(&str, &[u8], Oid)> = names.iter().map(|name| ("40000", name.as_slice(), tree)).collect();
        tree = scene.raw_tree(&entries);
    }
    scene.push_tree("main", tree, None);
    let started = Instant::now();
    let error = scene.sync_error();
    assert!(error.contains("files"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    scene.expect(&TWO_SKILLS);
}

#[test]
fn a_clone_follows_its_remote_whichever_byte_is_corrupt() {
    let text = "text that makes a file of some length\n".repeat(20);
    let files = [("a/SKILL.md", text.as_str()), ("b/SKILL.md", "b")];
    for part in 1..12 {
        let scene = Scene::new();
        scene.push("main", &files);
        scene.sync().unwrap();
        let packs = fs::read_dir(scene.clone().join(".git/objects/pack")).unwrap().flatten().map(|entry| entry.path());
        let mut packs = packs.filter(|path| path.extension() == Some(OsStr::new("pack")));
        let pack = packs.next().expect("a pack");
        fs::set_permissions(&pack, fs::Permissions::from_mode(0o600)).unwrap();
        let mut bytes = fs::read(&pack).unwrap();
        let at = bytes.len() * part / 12;
        bytes[at] ^= 0xff;
        fs::write(&pack, bytes).unwrap();
        fs::remove_file(scene.clone().join("a/SKILL.md")).unwrap();
        scene.sync().unwrap_or_else(|error| panic!("part {part}: {error:?}"));
        scene.expect(&files);
        scene.push("main", &TWO_SKILLS);
        scene.sync().unwrap_or_else(|error| panic!("part {part}, later: {error:?}"));
        scene.expect(&TWO_SKILLS);
    }
}

#[test]
fn an_edit_at_the_last_moment_is_kept() {
    let scene = Scene::cloned(&TWO_SKILLS);
    scene.push("main", &[("a/SKILL.md", "new")]);
    let clone = scene.clone();
    let edit = || -> Box<dyn std::any::Any> {
        fs::write(clone.join("a/SKILL.md"), "mine").unwrap();
        fs::write(clone.join("b/SKILL.md"), "mine too").unwrap();
        Box::new(())
    };
    // The edit happens after the changes are planned.
    let error = sync(&scene.remote(), &Network::default(), SyncMode::Always, &edit).unwrap_err();
    let error = error.for_audience(Audience::Local);
    assert!(error.contains("edited during the sync"), "{error}");
    scene.sync().unwrap();
    scene.expect(&[("a/SKILL.md", "new")]);
    let kept = &scene.backups()[0];
    assert_eq!((kept["a/SKILL.md"].as_str(), kept["b/SKILL.md"].as_str()), ("mine", "mine too"));
}

#[test]
fn a_branch_whose_name_is_not_utf8_is_ignored() {
    let scene = Scene::new();
    let commit = scene.push("main", &TWO_SKILLS);
    let odd = scene.origin.path().join("refs/heads").join(OsStr::from_bytes(b"caf\xe9"));
    fs::write(odd, format!("{commit}\n")).unwrap();
    scene.sync().unwrap();
    scene.expect(&TWO_SKILLS);
}

#[test]
fn the_configuration_of_a_clone_cannot_move_its_files() {
    let scene = Scene::cloned(&TWO_SKILLS);
    let elsewhere = scene.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("mine.txt"), "mine").unwrap();
    let config = scene.clone().join(".git/config");
    let text = format!("{}\n[core]\n\tworktree = {}\n", fs::read_to_string(&config).unwrap(), elsewhere.display());
    fs::write(config, text).unwrap();
    scene.follow(&[("c/SKILL.md", "c")]);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
}

#[test]
fn many_files_in_a_folder_with_a_long_name_are_refused() {
    let scene = Scene::cloned(&TWO_SKILLS);
    let blob = scene.origin.blob(b"x").unwrap();
    let names: Vec<String> = (0..1_000).map(|number| format!("{number:04}")).collect();
    let entries: Vec<(&str, &[u8], Oid)> = names.iter().map(|name| ("100644", name.as_bytes(), blob)).collect();
    let mut tree = scene.raw_tree(&entries);
    for _ in 0..2 {
        tree = scene.raw_tree(&[("40000", &vec![b'a'; 60_000], tree)]);
    }
    scene.push_tree("main", tree, None);
    let error = scene.sync_error();
    assert!(error.contains("the paths of its files have more than 32 MiB together"), "{error}");
    scene.expect(&TWO_SKILLS);
}

#[test]
fn a_folder_with_a_million_entries_is_refused_before_it_is_parsed() {
    let scene = Scene::cloned(&TWO_SKILLS);
    let blob = scene.origin.blob(b"x").unwrap();
    let names: Vec<String> = (0..600_000).map(|number| format!("{number:06}")).collect();
    let entries: Vec<(&str, &[u8], Oid)> = names.iter().map(|name| ("100644", name.as_bytes(), blob)).collect();
    let folder = scene.raw_tree(&entries);
    scene.push_tree("main", scene.raw_tree(&[("40000", b"many", folder)]), None);
    let error = scene.sync_error();
    assert!(error.contains("the list of the files in its folder `many` is over 16 MiB"), "{error}");
    scene.expect(&TWO_SKILLS);
}
