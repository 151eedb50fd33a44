//! Indexes that fail or lie.

use super::{Home, greeting};
use skillcell_tests::wheels::{Format, Index, Reply, Wheel};

fn content(bytes: impl Into<Vec<u8>>) -> Reply {
    Reply::Content { kind: "text/html", bytes: bytes.into() }
}

#[test]
fn a_wheel_with_another_digest_is_refused() {
    let home = Home::new();
    let index = Index::with(Format::Json, &[greeting("1.0")]);
    index.set("/files/greeting-1.0-py3-none-any.whl", content(greeting("1.1").bytes()));
    home.add_from(&index, &["greeting"]).refused("does not have the digest that the index says");
    index.set("/simple/greeting/", content("<html><a href='../../files/greeting-1.0-py3-none-any.whl'>x</a></html>"));
    home.add_from(&index, &["greeting"]).refused("gives no sha256");
    assert!(!home.folder().join("lock.json").exists());
}

#[test]
fn redirects_of_a_page_stay_on_their_host() {
    let home = Home::new();
    let (index, other) = (Index::with(Format::Json, &[greeting("1.0")]), Index::with(Format::Json, &[greeting("6.6")]));
    index.set("/simple/moved/", Reply::Redirect("/simple/greeting/".to_owned()));
    index.set("/simple/elsewhere/", Reply::Redirect(format!("{}greeting/", other.url())));
    index.set("/simple/plain/", Reply::Redirect("http://192.0.2.1/simple/plain/".to_owned()));
    index.set("/simple/round/", Reply::Redirect("/simple/round/".to_owned()));
    home.add_from(&index, &["moved"]).refused("it is the page of `greeting`");
    home.add_from(&index, &["elsewhere"]).refused("it is another host");
    home.add_from(&index, &["plain"]).refused("it is not encrypted");
    home.add_from(&index, &["round"]).refused("there are too many");
    assert_eq!(other.requests(), Vec::<String>::new());
    // A wheel is checked by its digest, wherever it comes from.
    let file = "/files/greeting-1.0-py3-none-any.whl";
    other.set(file, Reply::Content { kind: "", bytes: greeting("1.0").bytes() });
    index.set(file, Reply::Redirect(format!("{}..{file}", other.url())));
    other.set("/simple/..", content(""));
    home.add_from(&index, &["greeting"]).done();
    assert_eq!(home.versions(), ["greeting 1.0"]);
}

#[test]
fn an_index_that_does_not_end_is_given_up() {
    let home = Home::new();
    let index = Index::start();
    index.set("/simple/flood/", Reply::Flood);
    home.add_from(&index, &["flood"]).refused("is larger than 32 MiB");
    index.set("/simple/hang/", Reply::Hang);
    let config = home.path().join("config.yaml");
    std::fs::write(&config, "packages: {timeout_seconds: 1}\n").unwrap();
    let config = config.to_str().unwrap();
    let ended = home.package(&["add", "--index", &index.url(), "hang", "--config", config]);
    ended.refused("does not answer completely within 1 seconds");
}

#[test]
fn an_index_that_lies_about_names_is_not_believed() {
    let home = Home::new();
    let index = Index::start();
    index.page(Format::Json, "greeting", &[greeting("1.0")]);
    let page = greeting("1.0");
    // Files of another package on the page of this one are not looked at.
    index.page(Format::Html, "other", std::slice::from_ref(&page));
    home.add_from(&index, &["other"]).refused("`other` is published only as source code");
    // A file with the right name that is another package inside.
    let liar = Wheel::new("liar", "1").metadata("Name: pyyaml\nVersion: 1\n").file("yaml.py", "");
    index.page(Format::Json, "liar", &[liar]);
    home.add_from(&index, &["liar"]).refused("its metadata is about `pyyaml 1`, not `liar 1`");
    home.add_from(&index, &["yaml"]).refused("the index has no package `yaml`\nhint: `import yaml` is of `PyYAML`");
    for (body, part) in
        [("hello", "it is not a page of a package index"), ("<html></html>", "the index has no package")]
    {
        index.set("/simple/page/", content(body));
        home.add_from(&index, &["page"]).refused(part);
    }
}

#[test]
fn what_cannot_run_in_the_sandbox_is_refused_with_the_reason() {
    let home = Home::new();
    let native =
        |name: &str| Wheel::new(name, "1").tag("cp314-cp314-manylinux_2_28_x86_64").file(&format!("{name}.py"), "");
    let index = Index::with(
        Format::Html,
        &[
            native("fast"),
            Wheel::new("pure", "1").requires("fast").file("pure.py", ""),
            Wheel::new("table", "1").requires("pandas>=2").file("table.py", ""),
            Wheel::new("future", "1").tag("py4-none-any").file("future.py", ""),
        ],
    );
    let sentence = "cannot run in the sandbox\nhint: declare a script that needs it with `execution: claude`";
    home.add_from(&index, &["numpy"]).refused(&format!("`numpy` needs native code, and {sentence}"));
    home.add_from(&index, &["python-docx"]).refused(sentence);
    assert_eq!(index.requests(), Vec::<String>::new(), "known before anything is asked");
    home.add_from(&index, &["fast"]).refused(sentence);
    home.add_from(&index, &["pure"]).refused("`fast` needs native code");
    home.add_from(&index, &["table"])
        .refused("`table` needs `pandas`: `pandas` needs native code, and cannot run in the sandbox");
    home.add_from(&index, &["future"]).refused("no release of `future` is for Python 3.14");
    assert!(!home.folder().join("lock.json").exists());
    let bundled = home.add_from(&index, &["requests"]).done();
    assert!(bundled.stderr.contains("`requests` is part of Python in the sandbox"), "{}", bundled.stderr);
    // The part in Python of these works alone.
    let yaml = native("PyYAML").file("yaml/__init__.py", "").file("yaml/_yaml.cpython-314-x86_64-linux-gnu.so", "ELF");
    let index = Index::with(Format::Json, &[yaml]);
    home.add_from(&index, &["PyYAML"]).done();
    assert!(!std::fs::read(home.archive()).unwrap().windows(3).any(|part| part == b".so"));
}

#[test]
fn versions_that_exclude_each_other_are_a_conflict() {
    let home = Home::new();
    let wheel = |name: &str, requires: &str| Wheel::new(name, "1").requires(requires).file(&format!("{name}.py"), "");
    let index = Index::with(
        Format::Json,
        &[
            greeting("1.0"),
            greeting("1.5"),
            greeting("2.0"),
            wheel("old", "greeting<1.5"),
            wheel("new", "greeting>=2"),
            wheel("middle", "greeting!=2.0,>=1; python_version>'3'"),
        ],
    );
    let ended = home
        .add_from(&index, &["old", "new"])
        .refused("no version of `greeting` is accepted by everything that needs it");
    for part in ["`new` needs `greeting>=2`", "`old` needs `greeting<1.5`", "`2.0`"] {
        assert!(ended.stderr.contains(part), "{}", ended.stderr);
    }
    home.add_from(&index, &["middle"]).done();
    assert_eq!(home.versions(), ["greeting 1.5", "middle 1"]);
    home.add_from(&index, &["old"]).done();
    assert_eq!(home.versions(), ["greeting 1.0", "middle 1", "old 1"]);
    home.add_from(&index, &["new"]).refused("no version of `greeting`");
    assert_eq!(home.versions(), ["greeting 1.0", "middle 1", "old 1"]);
}

#[test]
fn a_password_goes_to_the_index_alone_and_is_not_written_down() {
    let home = Home::new();
    let (index, other) = (Index::with(Format::Json, &[greeting("1.0")]), Index::start());
    let file = "/files/greeting-1.0-py3-none-any.whl";
    index.set(file, Reply::Redirect(format!("{}x.whl", other.url())));
    other.set("/simple/x.whl", Reply::Content { kind: "", bytes: greeting("1.0").bytes() });
    let url = index.url().replace("http://", "http://me:SECRET@");
    let ended = home.launch(&["add", "greeting", "-vv"]).env("PIP_INDEX_URL", &url).output();
    let texts = [&ended.stdout[..], &ended.stderr, &std::fs::read(home.folder().join("lock.json")).unwrap()].concat();
    assert!(!String::from_utf8_lossy(&texts).contains("SECRET"));
    assert!(
        index.requests().iter().all(|head| head.to_lowercase().contains("authorization: basic bwu6u0vdukvu")),
        "{:?}",
        index.requests()
    );
    assert!(
        !other.requests().is_empty()
            && other.requests().iter().all(|head| !head.to_lowercase().contains("authorization"))
    );
}
