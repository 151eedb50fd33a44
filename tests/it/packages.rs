//! `skillcell package`, and scripts that import packages. Wheels are built here, and the index is on this machine.

mod hostile;
mod index;
mod running;

use crate::SKILLCELL;
use serde_json::Value;
use skillcell_tests::Launch;
use skillcell_tests::wheels::{Format, Index, Wheel};
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// A home folder for several commands.
struct Home(TempDir);

/// How a command ended: its exit code, standard output and standard error.
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let ended = Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) };
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        ended
    }
}

impl Ended {
    #[track_caller]
    fn done(self) -> Self {
        assert_eq!(self.code, Some(0), "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Checks that the answer is "no", for this reason.
    #[track_caller]
    fn refused(self, part: &str) -> Self {
        assert_eq!(self.code, Some(1), "{}\n{}", self.stdout, self.stderr);
        assert!(self.stderr.contains(part), "`{part}` is not in: {}", self.stderr);
        self
    }
}

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn launch(&self, arguments: &[&str]) -> Launch {
        let launch = Launch::bare(SKILLCELL).with_home(self.path()).arg("package");
        arguments.iter().fold(launch, Launch::arg)
    }

    fn package(&self, arguments: &[&str]) -> Ended {
        self.launch(arguments).output().into()
    }

    /// Adds wheels from files.
    fn add(&self, wheels: &[Wheel]) -> Ended {
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<PathBuf> = wheels.iter().map(|wheel| wheel.write(folder.path())).collect();
        let arguments = files.iter().flat_map(|file| ["--wheel", file.to_str().unwrap()]);
        self.package(&["add"].into_iter().chain(arguments).collect::<Vec<_>>())
    }

    /// Adds packages from an index.
    fn add_from(&self, index: &Index, names: &[&str]) -> Ended {
        self.package(&[&["add", "--index", &index.url()], names].concat())
    }

    fn list(&self) -> Value {
        let listed = self.package(&["list", "--json"]);
        serde_json::from_str(&listed.stdout).unwrap_or_else(|_| panic!("{}{}", listed.stdout, listed.stderr))
    }

    /// The installed packages with their versions.
    fn versions(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let packages = self.list()["packages"].as_array().unwrap().clone();
        packages.iter().map(|package| format!("{} {}", text(&package["name"]), text(&package["version"]))).collect()
    }

    fn folder(&self) -> PathBuf {
        self.path().join(".local/share/skillcell/packages")
    }

    /// The only archive in the folder.
    fn archive(&self) -> PathBuf {
        let files: Vec<PathBuf> =
            std::fs::read_dir(self.folder().join("archives")).unwrap().map(|entry| entry.unwrap().path()).collect();
        let [file] = &files[..] else { panic!("one archive: {files:?}") };
        file.clone()
    }
}

/// A package with one module that has a function.
fn greeting(version: &str) -> Wheel {
    let source = format!("def greet(name):\n    return f'hello {{name}} from {version}'\n");
    Wheel::new("greeting", version).file("greeting/__init__.py", source)
}

#[test]
fn packages_are_added_listed_updated_and_removed() {
    let home = Home::new();
    let loud =
        |version: &str| Wheel::new("loud", version).requires("greeting >=1").file("loud.py", "import greeting\n");
    for format in [Format::Json, Format::Html] {
        let index = Index::with(format, &[greeting("1.0"), greeting("1.1"), greeting("2.0rc1"), loud("3.0")]);
        let added = home.add_from(&index, &["loud", "greeting==1.0"]).done();
        assert!(added.stdout.contains("+ greeting 1.0\n+ loud 3.0\n"), "{}", added.stdout);
        assert_eq!(home.versions(), ["greeting 1.0", "loud 3.0"]);
        home.package(&["update", "--index", &index.url()]).done();
        assert_eq!(home.versions(), ["greeting 1.0", "loud 3.0"], "it was asked for in this version");
        home.add_from(&index, &["greeting"]).done();
        assert_eq!(home.versions(), ["greeting 1.0", "loud 3.0"], "what is there is kept");
        let updated = home.package(&["update", "greeting", "--index", &index.url()]).done();
        assert!(updated.stdout.contains("~ greeting 1.0 -> 1.1"), "{}", updated.stdout);
        let list = home.list();
        let greeting = &list["packages"][0];
        assert_eq!(
            (&greeting["requested"], &greeting["file"]),
            (&"greeting".into(), &"greeting-1.1-py3-none-any.whl".into())
        );
        assert!(greeting["source"].as_str().unwrap().ends_with("/files/greeting-1.1-py3-none-any.whl"));
        assert!(list["archive"].as_str().unwrap().starts_with("sha256:") && list["problem"].is_null(), "{list}");
        let kept = home.package(&["remove", "greeting"]).done();
        assert!(kept.stderr.contains("`greeting` stays: `loud` needs it"), "{}", kept.stderr);
        home.package(&["remove", "loud"]).done();
        assert_eq!(home.versions(), Vec::<String>::new());
        assert!(home.list()["archive"].is_null());
        home.package(&["verify"]).done();
        home.package(&["remove", "loud"]).refused("`loud` is not installed");
        home.package(&["update", "loud", "--index", &index.url()]).refused("`loud` is not installed");
    }
}

#[test]
fn wheels_are_added_without_an_index_and_never_replaced_from_one() {
    let home = Home::new();
    let needs = Wheel::new("needs", "1").requires("greeting").file("needs.py", "");
    home.add(std::slice::from_ref(&needs)).refused("`greeting` is needed, and no index is asked");
    assert!(!home.folder().join("lock.json").exists(), "nothing is changed");
    home.add(&[needs, greeting("1.0")]).done();
    assert_eq!(home.versions(), ["greeting 1.0", "needs 1"]);
    // A public package that has the name of a private one.
    let index = Index::with(Format::Json, &[greeting("9.0")]);
    home.package(&["update", "--index", &index.url()]).done();
    assert_eq!(home.versions(), ["greeting 1.0", "needs 1"]);
    assert_eq!(index.requests(), Vec::<String>::new());
}

#[test]
fn the_same_wheels_make_the_same_archive() {
    let wheels = [greeting("1.0"), Wheel::new("other", "1").file("other.py", "x = {'a', 'b', 'c'}\n")];
    let digests = [0, 1].map(|_| {
        let home = Home::new();
        home.add(&wheels).done();
        home.package(&["verify"]).done();
        home.list()["archive"].clone()
    });
    assert_eq!(digests[0], digests[1]);
    let home = Home::new();
    home.add(&wheels[1..]).done();
    home.add(&wheels[..1]).done();
    assert_eq!(home.list()["archive"], digests[0], "the order does not matter");
}

#[test]
fn verify_says_exactly_what_is_wrong() {
    let home = Home::new();
    home.add(&[greeting("1.0")]).done();
    let (archive, lock) = (home.archive(), home.folder().join("lock.json"));
    let wheel = std::fs::read_dir(home.folder().join("wheels")).unwrap().next().unwrap().unwrap().path();
    let harm = |path: &Path, change: &dyn Fn(&mut Vec<u8>), part: &str| {
        let before = std::fs::read(path).unwrap();
        let mut bytes = before.clone();
        change(&mut bytes);
        std::fs::write(path, bytes).unwrap();
        let verified = home.package(&["verify", "--json"]);
        let report: Value = serde_json::from_str(&verified.stdout).unwrap();
        let problems = report["problems"].to_string();
        assert!(verified.code == Some(1) && problems.contains(part), "`{part}` is not in {problems}");
        std::fs::write(path, before).unwrap();
        home.package(&["verify"]).done();
    };
    let file_name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    harm(&archive, &|bytes| bytes.truncate(50), &format!("{}: its content is not", file_name(&archive)));
    harm(&wheel, &|bytes| bytes[40] ^= 1, &format!("{}: its content is not", file_name(&wheel)));
    harm(&lock, &|bytes| bytes.truncate(50), "lock.json: EOF while parsing");
    let text = std::fs::read_to_string(&lock).unwrap();
    let replaced = |from: &str, to: &str| text.replace(from, to).into_bytes();
    harm(&lock, &|bytes| *bytes = replaced("\"3.14", "\"3.13"), "are compiled for Python 3.13");
    harm(&lock, &|bytes| *bytes = replaced("\"format\": 1", "\"format\": 2"), "its format is 2");
    harm(&lock, &|bytes| *bytes = replaced("greeting-1.0-", "greeting-2.0-"), "is not a wheel of greeting 1.0");
    // An archive that is not made from the wheels, although the lock file says so.
    let other = Home::new();
    other.add(&[greeting("6.6")]).done();
    let digest = |home: &Home| home.list()["archive"].as_str().unwrap().to_owned();
    let (ours, theirs) = (digest(&home), digest(&other));
    std::fs::copy(other.archive(), home.folder().join("archives").join(file_name(&other.archive()))).unwrap();
    harm(
        &lock,
        &|bytes| *bytes = text.replace(&ours, &theirs).into_bytes(),
        "not what the sandbox makes of the wheels",
    );
}

#[test]
fn two_commands_at_once_both_take_effect() {
    let home = Home::new();
    let module = |name: &str| Wheel::new(name, "1").file(&format!("{name}.py"), "");
    let names = ["one", "two", "three"];
    let index = Index::with(Format::Json, &names.map(module));
    std::thread::scope(|scope| {
        for name in names {
            let (home, index) = (&home, &index);
            scope.spawn(move || home.add_from(index, &[name]).done());
        }
    });
    assert_eq!(home.versions(), ["one 1", "three 1", "two 1"]);
    home.package(&["verify"]).done();
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let home = Home::new();
    for arguments in [
        &["add"][..],
        &["add", "a b"],
        &["add", "a; os_name == 'nt'"],
        &["add", "a @ https://h/a.whl"],
        &["add", "--wheel", "/nowhere/a-1-py3-none-any.whl"],
        &["add", "a", "--index", "http://192.0.2.1/simple"],
        &["add", "--preset", "games"],
        &["remove"],
    ] {
        let ended = home.package(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
    }
}
