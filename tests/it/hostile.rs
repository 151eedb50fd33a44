//! Hostile libraries: always a clear answer, never a crash, never a byte from outside a root.

use crate::{SMALL, install_server, library, problems, serve, still_answers};
use serde_json::{Value, json};
use skillcell_tests::{Launch, eventually, write_files};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops the other thread of a race, even if the test fails.
pub struct StopOnDrop<'a>(pub &'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn refusal(answer: &Value) -> &str {
    assert_eq!(answer["isError"], true, "{answer}");
    answer["content"][0]["text"].as_str().unwrap()
}

#[test]
fn pipes_sockets_and_folders_named_like_skills_never_block() {
    let library = library(&SMALL);
    for name in ["pipe.md", "hung/SKILL.md"] {
        let path = library.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    }
    let _socket = std::os::unix::net::UnixListener::bind(library.path().join("socket.md")).unwrap();
    std::fs::create_dir(library.path().join("folder.md")).unwrap();
    symlink("/dev/zero", library.path().join("zero.md")).unwrap();
    let mut session = serve(library.path()).start();
    let expected = [
        ("hung/SKILL.md", "not-a-file"),
        ("pipe.md", "not-a-file"),
        ("socket.md", "not-a-file"),
        ("zero.md", "outside-root"),
    ];
    assert_eq!(problems(&mut session, "code"), expected.map(|(file, code)| (file.to_owned(), code.to_owned())));
    still_answers(&mut session);
}

#[test]
fn links_that_leave_the_root_are_not_followed() {
    let outside = library(&[
        ("secret.md", "---\nkeywords: [secret]\ndescription: hunter2\n---\nhunter2\n"),
        ("folder/SKILL.md", SMALL[1].1),
    ]);
    let library = library(&SMALL);
    let at = |name: &str| library.path().join(name);
    symlink(outside.path().join("secret.md"), at("stolen.md")).unwrap();
    symlink(outside.path().join("folder"), at("linked")).unwrap();
    symlink("../../../../../../etc", at("etc")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    symlink("loop-b", at("loop-a")).unwrap();
    symlink("loop-a", at("loop-b")).unwrap();
    symlink(".", at("self")).unwrap();
    symlink(outside.path().join("secret.md"), at("pdf/stolen.txt")).unwrap();
    symlink("../forms.md", at("pdf/inside.txt")).unwrap();
    let mut session = serve(library.path()).start();
    let listed = session.call("skills_list", json!({"includeBody": true})).to_string();
    assert!(!listed.contains("hunter2"), "{listed}");
    let outside_root: Vec<String> = problems(&mut session, "code")
        .into_iter()
        .filter(|(_, code)| code == "outside-root")
        .map(|(file, _)| file)
        .collect();
    assert_eq!(outside_root, ["dangling", "etc", "linked", "loop-a", "loop-b", "pdf/stolen.txt", "stolen.md"]);
    let asset = session.call("get_asset", json!({"skill_path": "pdf", "file": "stolen.txt"}));
    assert!(!refusal(&asset).contains("hunter2"));
    // Inside the root, but outside the skill.
    let asset = session.call("get_asset", json!({"skill_path": "pdf", "file": "inside.txt"}));
    assert!(refusal(&asset).contains("leaves the skill"), "{asset}");
    still_answers(&mut session);
}

#[test]
fn a_link_is_not_a_way_into_a_folder_that_is_not_walked() {
    let library = library(&SMALL);
    let skill = |name: &str| format!("---\nname: {name}\ndescription: hunter2\n---\nhunter2\n");
    for folder in [".hidden", "node_modules", "target"] {
        write_files(library.path(), &[(&format!("{folder}/deep/SKILL.md"), &skill("deep"))]);
    }
    let at = |name: &str| library.path().join(name);
    write_files(library.path(), &[("pdf/.secret/a.txt", "hunter2"), ("pdf/.env", "hunter2")]);
    for (path, target) in [
        ("folder", ".hidden/deep"),
        ("parent", ".hidden"),
        ("packages", "node_modules/deep"),
        ("built.md", "target/deep/SKILL.md"),
        ("file.md", ".hidden/deep/SKILL.md"),
        ("again", "folder"),
        ("pdf/shown", ".secret"),
        ("pdf/env.txt", ".env"),
    ] {
        symlink(target, at(path)).unwrap();
    }
    let mut session = serve(library.path()).start();
    let not_walked: Vec<(String, String)> =
        ["again", "built.md", "file.md", "folder", "packages", "parent", "pdf/env.txt", "pdf/shown"]
            .map(|path| (path.to_owned(), "not-walked".to_owned()))
            .into();
    assert_eq!(problems(&mut session, "code"), not_walked);
    for (tool, arguments) in [
        ("skills_list", json!({"includeBody": true})),
        ("list_skills", json!({})),
        ("skill-resource", json!({"skill": "pdf", "path": ""})),
        ("skill-resource", json!({"skill": "pdf", "path": "shown"})),
        ("skill-resource", json!({"skill": "pdf", "path": "shown/a.txt"})),
        ("get_asset", json!({"skill_path": "pdf", "file": "env.txt"})),
        ("skill", json!({"name": "deep"})),
    ] {
        let answer = session.call(tool, arguments).to_string();
        assert!(!answer.contains("hunter2"), "{tool}: {answer}");
    }
    let files = session.call("skill-resource", json!({"skill": "pdf", "path": ""})).to_string();
    assert!(!files.contains("env.txt") && !files.contains("shown"), "{files}");
    still_answers(&mut session);
}

/// A chain of links, each with as many names as fit, and many links into it.
#[test]
fn links_into_a_chain_of_links_cost_no_more_than_files() {
    let library = library(&SMALL);
    write_files(library.path(), &[("chain/x/end.txt", "")]);
    let detour = "x/../".repeat(700);
    for number in 0..38 {
        let next = if number == 37 { "x".to_owned() } else { format!("{}", number + 1) };
        symlink(format!("{detour}{next}"), library.path().join(format!("chain/{number}"))).unwrap();
    }
    std::fs::create_dir(library.path().join("wide")).unwrap();
    for number in 0..5_000 {
        symlink("../chain/0", library.path().join(format!("wide/{number}.md"))).unwrap();
    }
    let mut session = serve(library.path()).start();
    still_answers(&mut session);
    let codes = problems(&mut session, "code");
    assert!(codes.contains(&("wide/0.md".to_owned(), "too-many-links".to_owned())), "{codes:?}");
}

#[test]
fn a_folder_swapped_for_a_link_while_it_is_read_leaks_nothing() {
    let outside = library(&[("notes.txt", "hunter2")]);
    let library = library(&SMALL);
    write_files(library.path(), &[("pdf/data/notes.txt", "fine")]);
    let (real, moved) = (library.path().join("pdf/data"), library.path().join("pdf/parked"));
    let stop = AtomicBool::new(false);
    let mut session = serve(library.path()).start();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                std::fs::rename(&real, &moved).unwrap();
                symlink(outside.path(), &real).unwrap();
                std::fs::remove_file(&real).unwrap();
                std::fs::rename(&moved, &real).unwrap();
            }
        });
        let _stop = StopOnDrop(&stop);
        // At least a thousand times, and until the file was served once.
        let (mut requests, mut served) = (0, 0);
        eventually("an answer with the file", || {
            for _ in 0..100 {
                let arguments = json!({"skill_path": "pdf", "file": "data/notes.txt"});
                let answer = session.call("get_asset", arguments).to_string();
                assert!(!answer.contains("hunter2"), "{answer}");
                served += usize::from(answer.contains("fine"));
            }
            requests += 100;
            requests >= 1_000 && served > 0
        });
    });
    still_answers(&mut session);
}

#[test]
fn a_file_that_changes_while_it_is_read_is_fresh_afterwards() {
    let library = library(&SMALL);
    let text = |letter: &str| format!("---\nkeywords: [flip]\ndescription: d\n---\n{}\n", letter.repeat(200_000));
    write_files(library.path(), &[("flip.md", &text("a"))]);
    let stop = AtomicBool::new(false);
    let mut session = serve(library.path()).start();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                write_files(library.path(), &[("flip.md", &text("a"))]);
                write_files(library.path(), &[("flip.md", &text("b"))]);
            }
        });
        let _stop = StopOnDrop(&stop);
        for _ in 0..100 {
            session.call("get_skill", json!({"context": "x", "skill_path": "flip"}));
        }
    });
    write_files(library.path(), &[("flip.md", &text("c"))]);
    let arguments = json!({"context": "x", "skill_path": "flip"});
    let found = session.fresh(|session| session.call_json("get_skill", arguments.clone()));
    assert!(found["content"].as_str().unwrap().ends_with(&"c".repeat(200_000)));
    still_answers(&mut session);
}

/// Root reads everything, so the server runs as another user.
#[test]
fn files_and_folders_without_permission_are_problems() {
    let library = library(&SMALL);
    write_files(
        library.path(),
        &[("closed/skill.md", SMALL[0].1), ("locked.md", SMALL[0].1), ("pdf/private.txt", "x")],
    );
    let set_mode =
        |path: &Path, mode: u32| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    let binary = install_server(library.path());
    for path in ["closed", "locked.md", "pdf/private.txt"] {
        set_mode(&library.path().join(path), 0o000);
    }
    let mut session = Launch::new(&binary).unprivileged().arg(library.path()).folder(library.path()).start();
    let expected = [("closed", "no-permission"), ("locked.md", "no-permission")];
    assert_eq!(problems(&mut session, "code"), expected.map(|(file, code)| (file.to_owned(), code.to_owned())));
    let asset = session.call("get_asset", json!({"skill_path": "pdf", "file": "private.txt"}));
    assert!(refusal(&asset).contains("may not be read"), "{asset}");
    still_answers(&mut session);
    set_mode(&library.path().join("closed"), 0o755);
    set_mode(&library.path().join("locked.md"), 0o644);
    assert_eq!(problems(&mut session, "code"), []);
    set_mode(library.path(), 0o000);
    assert_eq!(problems(&mut session, "code"), [(String::new(), "no-permission".to_owned())]);
    set_mode(library.path(), 0o755);
    assert_eq!(problems(&mut session, "code"), []);
}

#[test]
fn every_tool_refuses_malicious_paths_and_names() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    let long = "a/".repeat(50_000);
    let names = [
        "../forms",
        "/etc/passwd",
        "C:\\Windows",
        "\0",
        "a\0b",
        "..",
        "\u{202e}gpj.exe",
        &long,
        "",
        " ",
        "forms/../forms",
        "skill://forms",
        "%2e%2e/forms",
    ];
    for name in names {
        for (tool, arguments) in [
            ("get_asset", json!({"skill_path": "pdf", "file": name})),
            ("get_asset", json!({"skill_path": name, "file": "x"})),
            ("get_skill", json!({"context": "x", "skill_path": name})),
            ("list_skills", json!({"path": format!("{name}x")})),
        ] {
            let answer = session.call(tool, arguments.clone());
            assert_eq!(answer["isError"], true, "{tool} {name:.40?}: {:.300}", answer.to_string());
        }
        session.call("get_skill", json!({"context": name}));
        session.call("skills_list", json!({"query": name}));
        session.call("skills_search", json!({"query": format!("{name}x")}));
    }
    still_answers(&mut session);
}

#[test]
fn texts_of_every_kind_are_served_or_reported() {
    let big = format!("---\nkeywords: [big]\ndescription: d\n---\n{}", "x".repeat(1_100_000));
    let bomb: String = (0..40)
        .map(|level| {
            format!(
                "a{level}: &a{level} [{}]\n",
                vec![if level == 0 { "x".to_owned() } else { format!("*a{}", level - 1) }; 9].join(", ")
            )
        })
        .collect();
    let files = [
        ("big.md", big),
        ("bomb.md", format!("---\nkeywords: [bomb]\ndescription: d\n{bomb}---\n")),
        ("crlf.md", "---\r\nkeywords: [crlf]\r\ndescription: d\r\n---\r\nline\r\nline\r\n".to_owned()),
        ("deep.md", format!("---\nkeywords: {}\ndescription: d\n---\n", "[".repeat(50_000))),
        ("empty.md", String::new()),
        ("mark.md", "\u{feff}---\nkeywords: [mark]\ndescription: d\n---\nbody\n".to_owned()),
        ("文件夹/スキル.md", "---\nkeywords: [スキル]\ndescription: 説明\n---\nほんぶん\n".to_owned()),
        ("only-dashes.md", "---\n---\n---\n---".to_owned()),
        (
            "wide.md",
            format!(
                "---\nkeywords: [wide]\ndescription: d\n{}---\n",
                (0..20_000).map(|key| format!("k{key}: v\n")).collect::<String>()
            ),
        ),
    ];
    let library = library(&SMALL);
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    write_files(library.path(), &files);
    std::fs::write(library.path().join("latin.md"), b"---\nkeywords: [caf\xe9]\ndescription: d\n---\n").unwrap();
    std::fs::write(library.path().join("nul.md"), b"---\nkeywords: [nul]\ndescription: a\0b\n---\n\0\n").unwrap();
    let mut session = serve(library.path()).start();
    for (file, code) in [
        ("big.md", "too-large"),
        ("bomb.md", "too-complex"),
        ("deep.md", "too-complex"),
        ("latin.md", "not-text"),
        ("wide.md", "too-complex"),
    ] {
        let found = problems(&mut session, "code");
        assert!(found.contains(&(file.to_owned(), code.to_owned())), "{file} {code}: {found:?}");
    }
    for keyword in ["crlf", "mark", "スキル"] {
        assert!(session.call_json("get_skill", json!({"context": keyword})).get("content").is_some(), "{keyword}");
    }
    still_answers(&mut session);
}

#[test]
fn names_that_are_not_utf8_are_problems() {
    use std::os::unix::ffi::OsStrExt;
    let library = library(&SMALL);
    for name in [&b"caf\xe9.md"[..], b"dir\xff/SKILL.md"] {
        let path = library.path().join(std::ffi::OsStr::from_bytes(name));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, SMALL[1].1).unwrap();
    }
    let mut session = serve(library.path()).start();
    let codes: Vec<String> = problems(&mut session, "code").into_iter().map(|(_, code)| code).collect();
    assert_eq!(codes, ["name-not-text", "name-not-text"]);
    still_answers(&mut session);
}

#[test]
fn very_long_names_are_served() {
    let library = library(&SMALL);
    let name = "n".repeat(240);
    write_files(library.path(), &[(&format!("{name}.md"), "---\nkeywords: [long]\ndescription: d\n---\nbody\n")]);
    let mut session = serve(library.path()).start();
    assert_eq!(session.call_json("get_skill", json!({"context": "long"}))["skill_path"], name.as_str());
}

#[test]
fn a_library_of_a_hundred_thousand_files_is_scanned() {
    let library = library(&SMALL);
    write_files(library.path(), &[("forms/one.txt", "x"), ("docs/page.md", "# no skill\n")]);
    for number in 0..100_000 {
        // Half in a resource folder, which is not walked for skills; half are ordinary text.
        let folder = if number % 2 == 0 { "forms" } else { "docs" };
        std::fs::write(library.path().join(format!("{folder}/{number}.md")), "# no skill\n").unwrap();
    }
    let mut session = serve(library.path()).start();
    still_answers(&mut session);
    assert_eq!(session.call_json("skills_list", json!({}))["skills"].as_array().unwrap().len(), 2);
}

#[test]
fn a_list_that_does_not_fit_reports_how_much_is_missing() {
    let library = tempfile::tempdir().unwrap();
    let description = "d".repeat(900);
    for number in 0..1_000 {
        write_files(
            library.path(),
            &[(
                &format!("c{}/s{number}.md", number % 10),
                &format!("---\nkeywords: [k]\ndescription: {description}\n---\n"),
            )],
        );
    }
    let mut session = serve(library.path()).start();
    let list = session.call("skills_list", json!({}));
    let shown = list["structuredContent"]["skills"].as_array().unwrap().len();
    let note = list["structuredContent"]["note"].as_str().unwrap();
    assert!(note.starts_with(&format!("{} more: call again with `offset` {shown}", 1_000 - shown)), "{shown} {note}");
    let paths: std::collections::BTreeSet<String> =
        session.all_skills().iter().map(|skill| skill["skillPath"].to_string()).collect();
    assert_eq!(paths.len(), 1_000, "the pages have all of them");
    let beyond = session.call_json("skills_list", json!({"offset": 2_000}));
    assert_eq!(
        (&beyond["skills"], &beyond["note"]),
        (&json!([]), &json!("there are only 1000: `offset` is too large"))
    );
    assert!(list["content"][1]["text"].as_str().unwrap().len() < 500_000);
    let tree = session.call("list_skills", json!({}));
    let nodes: Vec<Value> = serde_json::from_str(tree["content"][0]["text"].as_str().unwrap()).unwrap();
    assert!(
        tree["content"][1]["text"].as_str().unwrap().starts_with(&format!("{} more skills", 1_000 - nodes.len())),
        "{}",
        tree["content"][1]
    );
}

#[test]
fn an_inner_root_that_is_a_link_is_not_followed() {
    let outside = library(&[("secret/SKILL.md", SMALL[1].1), ("secret/id_rsa", "hunter2")]);
    let library = library(&SMALL);
    symlink(outside.path(), library.path().join("skills")).unwrap();
    let mut session = serve(library.path()).start();
    assert_eq!(session.call_json("skills_list", json!({}))["skills"].as_array().unwrap().len(), 2);
    std::fs::remove_file(library.path().join("skills")).unwrap();
    symlink(".", library.path().join("skills")).unwrap();
    assert_eq!(session.call_json("skills_list", json!({}))["skills"].as_array().unwrap().len(), 2);
}

#[test]
fn repetitive_front_matter_leaves_memory_for_the_other_skills() {
    let library = library(&SMALL);
    for number in 0..60 {
        let lists = format!("---\nkeywords: [{}]\ndescription: d\n---\n", "[],".repeat(9_900));
        let words = ["*x"; 40].join(", ");
        let text = format!("---\nx: &x \"{}\"\nkeywords: [{words}]\ndescription: d\n---\n", "t".repeat(300_000));
        write_files(library.path(), &[(&format!("lists{number}.md"), &lists), (&format!("text{number}.md"), &text)]);
    }
    let mut session = serve(library.path()).start();
    still_answers(&mut session);
    assert_eq!(problems(&mut session, "code").iter().filter(|(_, code)| code == "quarantined").count(), 0);
}

#[test]
fn bodies_that_are_too_large_together_are_cut_with_a_note() {
    let library = library(&SMALL);
    let text = format!("---\nkeywords: [large]\ndescription: d\n---\n{}", "word ".repeat(180_000));
    for number in 0..150 {
        write_files(library.path(), &[(&format!("s{number:03}.md"), &text)]);
    }
    let mut session = serve(library.path()).start();
    let list = session.call("skills_list", json!({"includeBody": true}));
    let note = list["structuredContent"]["note"].as_str().unwrap_or_default();
    assert!(note.contains("more: call again with `offset`"), "{:.300}", list.to_string());
    still_answers(&mut session);
}

#[test]
fn huge_requests_are_answered_or_refused() {
    let list = |word: &str| (0..9_000).map(|number| format!("{word}{number}")).collect::<Vec<_>>().join(", ");
    let (keywords, assets) = (list("keyword"), list("file"));
    let many = format!("---\nkeywords: [{keywords}]\ndescription: d\n---\n");
    let files = format!("---\nkeywords: [files]\ndescription: d\nassets: [{assets}]\n---\n");
    let library = library(&SMALL);
    write_files(
        library.path(),
        &[("_root.md", &files), ("files.md", &files), ("_root/x", ""), ("files/x", ""), ("many.md", &many)],
    );
    for number in 0..3_000 {
        write_files(library.path(), &[(&format!("same{number}/SKILL.md"), "---\nname: same\ndescription: d\n---\n")]);
    }
    let mut session = serve(library.path()).start();
    let words: String = (0..200_000).map(|number| format!("word{number} ")).collect();
    session.call_json("get_skill", json!({"context": words, "skill_path": "many"}));
    session.call_json("get_skill", json!({"context": words, "skill_path": "files"}));
    assert_eq!(session.call("skills_search", json!({"query": words}))["error"]["code"], -32602);
    assert!(refusal(&session.call("get_asset", json!({"skill_path": "files", "file": "nope"}))).contains("it offers"));
    assert!(refusal(&session.call("get_skill", json!({"context": "x", "skill_path": "same"}))).len() < 2_000);
    assert!(refusal(&session.call("get_skill", json!({"context": "x", "skill_path": "sane"}))).len() < 2_000);
    still_answers(&mut session);
}
