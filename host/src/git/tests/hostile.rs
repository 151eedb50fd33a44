//! Repositories that mean harm.

use super::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::time::Instant;

impl Scene {
    /// A tree with names that no git would write.
    fn raw_tree(&self, entries: &[(&str, &[u8], Oid)]) -> Oid {
        let mut bytes = Vec::new();
        for (mode, name, id) in entries {
            bytes.extend([mode.as_bytes(), b" ", name, b"\0", id.as_bytes()].concat());
        }
        self.origin.odb().unwrap().write(ObjectType::Tree, &bytes).unwrap()
    }
}

#[test]
fn no_name_in_a_tree_leads_out_of_the_clone() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    scene.sync().unwrap();
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
        scene.raw_tree(&[("40000", b"a", scene.raw_tree(&[("40000", b".GIT", inner)]))]),
        scene.raw_tree(&[("40000", b".", inner)]),
    ];
    for tree in trees {
        scene.push_tree("main", tree, None);
        for _ in 0..2 {
            scene.sync().expect_err("a tree that leads elsewhere");
            scene.expect(&TWO);
            assert_eq!(fs::read_to_string(&outside).unwrap(), "a key");
            assert!(!scene.clone().join(".git/private").exists());
        }
        assert_eq!(scene.backups(), Vec::new(), "nothing from outside is kept inside");
    }
    scene.push_forced("main", &[("c/SKILL.md", "c")]);
    scene.sync().unwrap();
    scene.expect(&[("c/SKILL.md", "c")]);
}

#[test]
fn a_few_objects_that_describe_endless_files_are_refused_at_once() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    scene.sync().unwrap();
    let mut tree = scene.raw_tree(&[("100644", b"SKILL.md", scene.origin.blob(b"x").unwrap())]);
    let names: Vec<[u8; 1]> = (b'a'..b'k').map(|letter| [letter]).collect();
    for _ in 0..12 {
        let entries: Vec<(&str, &[u8], Oid)> = names.iter().map(|name| ("40000", name.as_slice(), tree)).collect();
        tree = scene.raw_tree(&entries);
    }
    scene.push_tree("main", tree, None);
    let started = Instant::now();
    let error = scene.sync().unwrap_err().to_string();
    assert!(error.contains("files"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    scene.expect(&TWO);
}

#[test]
fn whatever_byte_of_a_clone_is_broken_it_follows_its_remote() {
    let text = "some words that make a file of some length\n".repeat(20);
    let files = [("a/SKILL.md", text.as_str()), ("b/SKILL.md", "b")];
    let length = |path: &Path| fs::metadata(path).unwrap().len();
    for part in 1..12 {
        let scene = Scene::new();
        scene.push("main", &files);
        scene.sync().unwrap();
        let packs = fs::read_dir(scene.clone().join(".git/objects/pack")).unwrap().flatten().map(|entry| entry.path());
        let mut packs = packs.filter(|path| path.extension() == Some(OsStr::new("pack")));
        let pack = packs.next().expect("a pack");
        fs::set_permissions(&pack, fs::Permissions::from_mode(0o600)).unwrap();
        let mut bytes = fs::read(&pack).unwrap();
        let at = usize::try_from(length(&pack) * part / 12).unwrap();
        bytes[at] ^= 0xff;
        fs::write(&pack, bytes).unwrap();
        fs::remove_file(scene.clone().join("a/SKILL.md")).unwrap();
        scene.sync().unwrap_or_else(|error| panic!("part {part}: {error}"));
        scene.expect(&files);
        scene.push("main", &TWO);
        scene.sync().unwrap_or_else(|error| panic!("part {part}, later: {error}"));
        scene.expect(&TWO);
    }
}

#[test]
fn an_edit_in_the_last_moment_is_kept() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    scene.sync().unwrap();
    scene.push("main", &[("a/SKILL.md", "new")]);
    let clone = scene.clone();
    let edit = || -> Box<dyn std::any::Any> {
        fs::write(clone.join("a/SKILL.md"), "mine").unwrap();
        fs::write(clone.join("b/SKILL.md"), "mine too").unwrap();
        Box::new(())
    };
    // It comes when it is known what is to be changed.
    let error = sync(&scene.remote(), &Network::default(), Wanted::Now, &edit).unwrap_err().to_string();
    assert!(error.contains("edited meanwhile"), "{error}");
    scene.sync().unwrap();
    scene.expect(&[("a/SKILL.md", "new")]);
    let kept = &scene.backups()[0];
    assert_eq!((kept["a/SKILL.md"].as_str(), kept["b/SKILL.md"].as_str()), ("mine", "mine too"));
}

#[test]
fn a_branch_whose_name_is_no_text_is_passed_over() {
    let scene = Scene::new();
    let commit = scene.push("main", &TWO);
    let odd = scene.origin.path().join("refs/heads").join(OsStr::from_bytes(b"caf\xe9"));
    fs::write(odd, format!("{commit}\n")).unwrap();
    scene.sync().unwrap();
    scene.expect(&TWO);
}

#[test]
fn settings_of_a_clone_cannot_move_its_files() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    scene.sync().unwrap();
    let elsewhere = scene.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("mine.txt"), "mine").unwrap();
    let settings = scene.clone().join(".git/config");
    let more = format!("{}\n[core]\n\tworktree = {}\n", fs::read_to_string(&settings).unwrap(), elsewhere.display());
    fs::write(settings, more).unwrap();
    scene.push("main", &[("c/SKILL.md", "c")]);
    scene.sync().unwrap();
    scene.expect(&[("c/SKILL.md", "c")]);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
}
