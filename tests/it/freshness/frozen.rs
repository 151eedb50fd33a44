//! `--static`: everything is served as it was at the start.

use crate::{SMALL, install_server, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, write_files};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use tempfile::TempDir;

const SCRIPT: &str = "cat /skill/a.txt /skill/node_modules/lib/b.txt; ls /skill";

const TOOL: &str = "---
name: tool
description: Has files
scripts:
  - file: show.sh
    execution: server
    description: d
---

See [a](a.txt).
";

const FILES: [(&str, &str); 6] = [
    ("tool/SKILL.md", TOOL),
    ("tool/show.sh", SCRIPT),
    ("tool/a.txt", "first"),
    ("tool/node_modules/lib/b.txt", "first"),
    ("store/real/SKILL.md", "---\nname: real\ndescription: Linked\n---\nOnce.\n"),
    ("store/real/c.txt", "first"),
];

fn scene() -> TempDir {
    let folder = library(&SMALL);
    write_files(folder.path(), &FILES);
    symlink("store/real", folder.path().join("linked")).unwrap();
    symlink("/etc", folder.path().join("outside")).unwrap();
    symlink("tool/a.txt", folder.path().join("tool.txt")).unwrap();
    folder
}

fn frozen(folder: &Path) -> Launch {
    serve(folder).arg("--static").arg("--verbose")
}

/// Sends every kind of request: about all skills, about one, and about files.
fn answers_to_everything(session: &mut Session) -> Vec<Value> {
    let tools = [
        ("skills_list", json!({"includeBody": true})),
        ("list_skills", json!({})),
        ("skills_search", json!({"query": "reader"})),
        ("skill", json!({"name": "pdf"})),
        ("read_skill", json!({"name": "tool"})),
        ("get_skill", json!({"context": "form validation"})),
        ("skill-resource", json!({"skill": "tool", "path": "a.txt"})),
        ("skill-resource", json!({"skill": "tool", "path": "new.txt"})),
        ("skill-resource", json!({"skill": "tool", "path": "."})),
        ("skill-resource", json!({"skill": "real", "path": "c.txt"})),
        ("run_script", json!({"skill_path": "tool", "file": "show.sh", "args": {}})),
    ];
    let mut answers: Vec<Value> = tools.map(|(tool, arguments)| session.call(tool, arguments)).into();
    answers.extend(["tools", "prompts", "resources"].map(|list| session.result(&format!("{list}/list"), json!({}))));
    let uris = ["skill://pdf", "skill://tool/", "skill://tool/a.txt"];
    answers.extend(uris.map(|uri| session.result("resources/read", json!({"uri": uri}))));
    for answer in &mut answers {
        // The duration of a script is different each time.
        if let Some(text) = answer.pointer_mut("/content/0/text")
            && text.as_str().is_some_and(|text| text.contains("exit_code"))
        {
            let result: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
            *text = json!([result["exit_code"], result["stdout"], result["stderr"]]);
            answer.as_object_mut().unwrap().remove("structuredContent");
        }
    }
    answers
}

#[test]
fn a_static_server_serves_the_state_at_its_start() {
    let folder = scene();
    let at = |path: &str| folder.path().join(path);
    for era in ["initialize", "stateless"] {
        let launch = frozen(folder.path());
        let mut session = if era == "initialize" { launch.start() } else { launch.modern() };
        let before = answers_to_everything(&mut session);
        let ran = before.iter().find(|answer| answer.to_string().contains("node_modules")).expect("the script ran");
        assert_eq!(ran["content"][0]["text"][0], 0, "{ran}");
        assert!(ran.to_string().contains("firstfirst"), "{ran}");
        write_files(
            folder.path(),
            &[
                ("pdf/SKILL.md", "---\nname: pdf\ndescription: Other\n---\nOther.\n"),
                ("new/SKILL.md", "---\nname: new\ndescription: New\n---\n"),
                ("tool/a.txt", era),
                ("tool/new.txt", era),
                ("tool/show.sh", "echo other"),
                ("tool/node_modules/lib/b.txt", era),
            ],
        );
        fs::remove_dir_all(at("store")).unwrap();
        fs::remove_file(at("forms.md")).unwrap();
        assert_eq!(answers_to_everything(&mut session), before, "{era}");
        assert_eq!(session.call("skill", json!({"name": "new"}))["isError"], true);
        let refreshed = session.call_json("refresh_skills", json!({}));
        assert_eq!(refreshed["success"], false);
        assert!(refreshed["message"].as_str().unwrap().contains("--static"), "{refreshed}");
        fs::rename(folder.path(), folder.path().with_extension("away")).unwrap();
        assert_eq!(answers_to_everything(&mut session), before, "{era}");
        fs::rename(folder.path().with_extension("away"), folder.path()).unwrap();
        assert_eq!(session.log().matches("scanned everything").count(), 1, "{}", session.log());
        write_files(folder.path(), &SMALL);
        write_files(folder.path(), &FILES);
        fs::remove_dir_all(at("new")).unwrap();
        fs::remove_file(at("tool/new.txt")).unwrap();
    }
}

#[test]
fn a_static_server_gives_the_same_answers_as_a_live_one() {
    let folder = scene();
    File::create(folder.path().join("large.md")).unwrap().set_len(5 << 20).unwrap();
    write_files(
        folder.path(),
        &[("node_modules/x/SKILL.md", "---\nname: x\n---\n"), ("broken.md", "---\nname: [\n---\n")],
    );
    fs::write(folder.path().join("bytes.md"), [0xff, 0xfe]).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.path().join("pipe.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    symlink("nowhere.md", folder.path().join("dangling.md")).unwrap();
    symlink("../tool", folder.path().join("pdf/again")).unwrap();
    let mut live = serve(folder.path()).start();
    let mut static_session = frozen(folder.path()).start();
    assert_eq!(answers_to_everything(&mut static_session), answers_to_everything(&mut live));
}

#[test]
fn files_that_do_not_fit_into_memory_are_reported_with_a_hint() {
    let folder = scene();
    File::create(folder.path().join("tool/huge.bin")).unwrap().set_len(3 << 30).unwrap();
    let mut session = frozen(folder.path()).start();
    let error = session.error("tools/call", json!({"name": "skill", "arguments": {"name": "pdf"}}));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("more than 1024 MiB") && message.contains("hint: "), "{message}");
}

#[test]
fn a_static_server_reports_files_without_permission() {
    let folder = library(&SMALL);
    write_files(
        folder.path(),
        &[("closed/SKILL.md", "---\nname: closed\ndescription: d\n---\n"), ("shut.md", SMALL[0].1)],
    );
    let binary = install_server(folder.path());
    for path in ["closed", "shut.md"] {
        fs::set_permissions(folder.path().join(path), Permissions::from_mode(0o000)).unwrap();
    }
    let problems = |arguments: &[&str]| {
        let launch = Launch::new(&binary).unprivileged().arg(folder.path()).folder(folder.path());
        let mut session = arguments.iter().fold(launch, Launch::arg).start();
        session.call_json("skills_list", json!({}))["problems"].clone()
    };
    let reported = problems(&["--static"]);
    assert!(reported.to_string().contains("closed") && reported.to_string().contains("shut.md"), "{reported}");
    assert_eq!(reported, problems(&[]));
}

#[test]
fn a_static_server_neither_promises_nor_sends_notifications() {
    let library = library(&SMALL);
    let mut legacy = serve(library.path()).arg("--static").silent();
    let initialized = legacy.initialize("2025-11-25");
    let capabilities = &initialized["result"]["capabilities"];
    for list in ["tools", "prompts", "resources"] {
        assert!(capabilities[list].is_object() && capabilities[list]["listChanged"] != true, "{initialized}");
    }
    assert_ne!(capabilities["resources"]["subscribe"], true, "{initialized}");
    assert_eq!(legacy.error("resources/subscribe", json!({"uri": "skill://pdf"}))["code"], -32601);
    let mut modern = serve(library.path()).arg("--static").modern();
    let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": ["skill://pdf"]});
    modern.post("subscriptions/listen", json!({"notifications": wanted}));
    let first = modern.notification("notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["notifications"], json!({}), "{first}");
    #[cfg(target_os = "linux")]
    for session in [&legacy, &modern] {
        let open = std::fs::read_dir(format!("/proc/{}/fd", session.process_id())).unwrap();
        let is_inotify = |file: std::fs::DirEntry| {
            std::fs::read_link(file.path()).is_ok_and(|target| target.to_string_lossy().contains("inotify"))
        };
        assert!(!open.map(Result::unwrap).any(is_inotify), "nothing is watched");
    }
}
