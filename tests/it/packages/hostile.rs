//! Wheels that want more than to be imported.

use super::{Home, greeting};
use crate::SKILLCELL;
use skillcell_tests::wheels::{Wheel, ZipEntry, zip};
use skillcell_tests::{Launch, files_below};

fn evil() -> Wheel {
    Wheel::new("evil", "1").file("evil.py", "x = 1\n")
}

/// Checks that bytes are refused as a wheel, and that nothing changes.
#[track_caller]
fn refused(home: &Home, name: &str, bytes: &[u8], part: &str) {
    let state = || (std::fs::read(home.folder().join("lock.json")).unwrap(), files_below(&home.folder()));
    let before = state();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, bytes).unwrap();
    home.package(&["add", "--wheel", file.to_str().unwrap()]).refused(part);
    assert_eq!(state(), before, "{part}");
}

#[test]
fn archives_that_lie_are_refused() {
    let home = Home::new();
    home.add(&[greeting("1.0")]).done();
    let name = evil().file_name();
    let refuse = |bytes: &[u8], part: &str| refused(&home, &name, bytes, part);
    for path in
        ["../evil.py", "/etc/evil.py", "a/../../evil.py", "./evil.py", "a//b.py", "..\\evil.py", "c:evil.py", "a\nb.py"]
    {
        refuse(&evil().file(path, "x").bytes(), "cannot be in a package");
    }
    refuse(&evil().file(&"a".repeat(300), "x").bytes(), "its name is too long");
    refuse(&evil().file(&"a/".repeat(40).trim_end_matches('/').replace("//", "/"), "x").bytes(), "nested too deeply");
    let link = ZipEntry { mode: 0o120_777, ..ZipEntry::new("link.py", "/etc/passwd") };
    refuse(&evil().entry(link).bytes(), "it is a link or a special file");
    let device = ZipEntry { mode: 0o020_666, ..ZipEntry::new("device.py", "") };
    refuse(&evil().entry(device).bytes(), "it is a link or a special file");
    refuse(&evil().file("evil.py", "x = 2\n").bytes(), "would be the same file");
    refuse(&evil().file("EVIL.py", "x = 2\n").bytes(), "would be the same file");
    refuse(&evil().file("evil.py/inside.py", "x = 2\n").bytes(), "would be the same file");
    refuse(&evil().file("evil-1.data/purelib/evil.py", "x = 2\n").bytes(), "would be the same file");
    let other = ZipEntry { local_path: Some("good.py".to_owned()), ..ZipEntry::new("bad2.py", "x") };
    refuse(&evil().entry(other).bytes(), "do not agree");
    let encrypted = ZipEntry { flags: 0x801, ..ZipEntry::new("secret.py", "x") };
    refuse(&evil().entry(encrypted).bytes(), "it is encrypted");
    for size in [1, 3, 1 << 20] {
        let lying = ZipEntry { claimed_size: Some(size), ..ZipEntry::new("size.py", "xx") };
        refuse(&evil().entry(lying).bytes(), if size > 1 << 10 { "times its size" } else { "is damaged" });
    }
    refuse(&evil().file("bomb.txt", vec![0; 2 << 20]).bytes(), "it would unpack to more than");
    let huge = ZipEntry { claimed_size: Some(u32::MAX), ..ZipEntry::new("huge.py", "x") };
    refuse(&evil().entry(huge).bytes(), "it would unpack to more than");
    let whole = evil().bytes();
    refuse(&whole[..whole.len() - 1], "not a zip archive, or is cut off");
    refuse(&[&b"#!/bin/sh\n"[..], &whole].concat(), "it is damaged");
    refuse(b"", "not a zip archive");
    refuse(b"PK\x05\x06", "not a zip archive");
}

#[test]
fn wheels_that_lie_are_refused() {
    let home = Home::new();
    home.add(&[greeting("1.0")]).done();
    let name = evil().file_name();
    let refuse = |bytes: &[u8], part: &str| refused(&home, &name, bytes, part);
    let changed = |change: &dyn Fn(&mut Vec<ZipEntry>)| {
        let mut entries = evil().entries();
        change(&mut entries);
        zip(&entries)
    };
    refuse(
        &changed(&|entries| entries[0].content = b"x = 2\n".to_vec()),
        "`evil.py` does not have the content that `RECORD` says",
    );
    refuse(&changed(&|entries| entries.insert(0, ZipEntry::new("more.py", "x"))), "`more.py` is not in `RECORD`");
    refuse(&changed(&|entries| drop(entries.remove(0))), "`evil.py` does not have the content");
    refuse(&changed(&|entries| drop(entries.pop())), "it has no `RECORD`");
    refuse(&changed(&|entries| entries.retain(|entry| !entry.path.ends_with("METADATA"))), "it has no `METADATA`");
    let weak = |entries: &mut Vec<ZipEntry>| {
        let record = entries.last_mut().unwrap();
        record.content = String::from_utf8(record.content.clone()).unwrap().replace("sha256=", "md5=").into_bytes();
    };
    refuse(&changed(&weak), "does not have the content that `RECORD` says");
    refuse(&evil().metadata("Name: pyyaml\nVersion: 1\n").bytes(), "its metadata is about `pyyaml 1`, not `evil 1`");
    refuse(&evil().metadata("Name: evil\nVersion: 2\n").bytes(), "its metadata is about `evil 2`");
    refuse(&evil().metadata("").bytes(), "its metadata is about");
    let other = evil().file("pyyaml-6.0.dist-info/METADATA", "Name: pyyaml\nVersion: 6.0\n");
    refuse(&other.bytes(), "it has a second set of metadata");
    refuse(&evil().requires("a @ https://h/a.whl").bytes(), "addresses are not supported");
    refuse(&evil().line("Requires-Python: <3").bytes(), "is not for Python 3.14");
    refuse(&evil().file("evil/_speed.cpython-314-x86_64-linux-gnu.so", "ELF").bytes(), "contains the native module");
    let folder = tempfile::tempdir().unwrap();
    for (tag, part) in
        [("cp314-cp314-manylinux_2_28_x86_64", "native code"), ("py2-none-any", "is not for Python 3.14")]
    {
        let file = evil().tag(tag).write(folder.path());
        home.package(&["add", "--wheel", file.to_str().unwrap()]).refused(part);
    }
    let file = folder.path().join("evil.whl");
    std::fs::write(&file, evil().bytes()).unwrap();
    home.package(&["add", "--wheel", file.to_str().unwrap()]).refused("is not the name of a wheel");
}

#[test]
fn a_package_shadows_neither_python_nor_another_package() {
    let home = Home::new();
    home.add(&[greeting("1.0")]).done();
    for path in ["json.py", "os/__init__.py", "ssl.py", "unittest/__init__.py"] {
        home.add(&[evil().file(path, "")]).refused("would shadow the standard library");
    }
    let thief = evil().file("greeting/__init__.py", "stolen = True\n");
    home.add(std::slice::from_ref(&thief)).refused("`evil` and `greeting` both have a file `greeting/__init__.py`");
    home.add(&[evil().file("Greeting/__init__.py", "")]).refused("both have a file");
    assert_eq!(home.versions(), ["greeting 1.0"]);
    // A shared namespace is fine.
    let part = |name: &str| Wheel::new(name, "1").file("shared/__init__.py", "").file(&format!("shared/{name}.py"), "");
    home.add(&[part("one"), part("two")]).done();
}

#[test]
fn hooks_that_would_run_before_scripts_are_left_out() {
    let home = Home::new();
    let loud = "print('I run before you')\n";
    let hooks = evil().file("evil.pth", "import evil\n").file("sitecustomize.py", loud);
    let wheel = hooks
        .file("usercustomize/__init__.py", loud)
        .file("evil_data/model.pth", "only data")
        .file("pyyaml.egg-info/PKG-INFO", "Name: pyyaml\n");
    let added = home.add(&[wheel]).done();
    for path in ["evil.pth", "sitecustomize.py", "usercustomize/__init__.py"] {
        assert!(added.stderr.contains(&format!("note: `{path}` of `evil` is left out")), "{}", added.stderr);
    }
    let names = String::from_utf8_lossy(&std::fs::read(home.archive()).unwrap()).into_owned();
    assert!(names.contains("evil.pyc") && names.contains("evil_data/model.pth"));
    assert!(!names.contains("customize") && !names.contains("evil.pth") && !names.contains("egg-info"));
}

#[test]
fn sources_that_break_a_compiler_do_not_break_the_host() {
    let home = Home::new();
    let odd = Wheel::new("odd", "1")
        .file("odd/__init__.py", "")
        .file("odd/old.py", "print 'Python 2'\n")
        .file("odd/nul.py", "x = 1\0\n")
        .file("odd/latin.py", b"x = '\xe9'\n".to_vec());
    let added = home.add(&[odd]).done();
    assert_eq!(added.stderr.matches("is not valid in Python").count(), 3, "{}", added.stderr);
    let before = home.list();
    let deep =
        Wheel::new("deep", "1").file("deep.py", format!("x = {}1{}\n", "(".repeat(100_000), ")".repeat(100_000)));
    let ended = home.add(&[deep]);
    // Either way is fine: the module is left out, or the package is refused.
    match ended.code {
        Some(0) => assert!(ended.stderr.contains("`deep.py` is not valid"), "{}", ended.stderr),
        code => assert_eq!((code, home.list()), (Some(1), before), "{}", ended.stderr),
    }
}

#[test]
fn a_folder_that_others_can_write_to_is_not_used() {
    let home = Home::new();
    home.add(&[greeting("1.0")]).done();
    let lock = home.folder().join("lock.json");
    std::fs::set_permissions(&lock, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    home.package(&["list"]).refused("can be changed or read by others");
    let doctor = Launch::bare(SKILLCELL).with_home(home.path()).arg("doctor").output();
    let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(text.contains("can be changed or read by others"), "{text}");
}
