//! Attacks on what goes into a script and what comes out.

use super::{ECHO, error, plain_skill, refusal, request, run};
use crate::serve;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

const SECRET: &str = "TOP-SECRET";

/// Runs of each test against something that changes meanwhile. No number proves anything; what is found at all is found soon.
const ROUNDS: usize = 25;

#[test]
fn as_many_arguments_as_are_allowed_reach_every_language() {
    let folder = plain_skill(&ECHO);
    let mut session = serve(folder.path()).start();
    let long = vec!["é".repeat(255); 256];
    for (file, _) in ECHO {
        let result = run(&mut session, file, json!({"argv": long, "outputs": []}));
        assert_eq!(result["stdout"].as_str().unwrap(), format!("{}\n", long.join("|")), "{file}: {}", result["stderr"]);
    }
}

#[test]
fn files_do_not_go_through_links_of_the_skill() {
    let folder = plain_skill(&[("s.py", "import sys\nprint(open(sys.argv[1]).read())"), ("data/own.csv", "own")]);
    symlink("/etc", folder.path().join("tool/outside")).unwrap();
    symlink("data", folder.path().join("tool/inside")).unwrap();
    symlink("data/own.csv", folder.path().join("tool/link.csv")).unwrap();
    symlink("nowhere", folder.path().join("tool/dangling")).unwrap();
    let mut session = serve(folder.path()).start();
    for path in ["outside", "outside/passwd", "inside/new.csv", "inside", "link.csv", "dangling", "dangling/x"] {
        let text = refusal(&mut session, "s.py", json!({"files": [{"path": path, "text": "injected"}]}));
        assert!(text.starts_with("files[0].path is `"), "{path}: {text}");
    }
    assert_eq!(std::fs::read_dir(folder.path().join("tool/data")).unwrap().count(), 1);
}

#[test]
fn names_of_devices_are_names_of_files() {
    let folder = plain_skill(&[("s.py", "import sys\nfor name in sys.argv[1:]: print(open(name).read())")]);
    let mut session = serve(folder.path()).start();
    let names = ["dev/null", "dev/stdin", "proc/self/environ", "NUL", "CON", "aux.txt", "-", "~", "$HOME", "%2e%2e"];
    let files: Vec<Value> = names.iter().map(|name| json!({"path": name, "text": format!("in {name}")})).collect();
    let result = run(&mut session, "s.py", json!({"argv": names, "files": files}));
    let expected: String = names.iter().map(|name| format!("in {name}\n")).collect();
    assert_eq!((&result["stdout"], &result["stderr"]), (&json!(expected), &json!("")));
}

#[test]
fn kept_files_count_like_other_input() {
    let script = "for n in range(6): open(f'{n}.bin', 'wb').write(b'\\0' * (1 << 20) + b'\\0' * (n // 5))\n";
    let folder = plain_skill(&[("s.py", script), ("t.py", "print('BROKEN')")]);
    let mut session = serve(folder.path()).start();
    let result = run(&mut session, "s.py", json!({}));
    let uri = |n: usize| json!({"path": format!("{n}"), "uri": result["files"][n]["uri"]});
    for (files, message) in [
        (vec![uri(5)], "files[0] has 1048577 bytes, and the limit is 1048576"),
        ((0..5).map(uri).collect(), "files has 5242880 bytes, and the limit is 4194304"),
    ] {
        assert_eq!(error(&mut session, "t.py", json!({"files": files}))["message"], message);
    }
}

/// Does something again and again while something else runs.
fn while_disturbed(disturb: impl Fn(usize) + Sync, run: impl FnOnce()) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0.. {
                disturb(round);
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        // Also after a failure, or the other thread would never end.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        is_over.store(true, Ordering::Relaxed);
        if let Err(failure) = result {
            std::panic::resume_unwind(failure);
        }
    });
}

/// Puts something else in the place of a file.
fn swap(path: &Path, round: usize, secret: &Path, pipe: &Path) {
    let _ = std::fs::remove_file(path);
    let _ = match round % 5 {
        0 => symlink(secret, path),
        1 => std::fs::write(path, "x".repeat(round % 4096)),
        2 => std::fs::hard_link(pipe, path),
        3 => std::fs::create_dir(path).and_then(|()| std::fs::remove_dir(path)),
        _ => Ok(()),
    };
}

#[test]
fn outputs_that_change_while_they_are_collected_give_nothing_away() {
    let script = "for i in 1 2 3 4 5 6 7 8 9; do echo mine > o$i.txt; done 2> /dev/null\ncat o*.txt\n";
    let folder = plain_skill(&[("s.sh", script)]);
    let place = tempfile::tempdir().unwrap();
    let (work, secret, pipe) = (place.path().join("work"), place.path().join("secret"), place.path().join("pipe"));
    std::fs::create_dir(&work).unwrap();
    std::fs::write(&secret, SECRET).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let granted = format!("grants: {{{}: {{tool: {{write: [{}]}}}}}}", folder.path().display(), work.display());
    let mut session = serve(folder.path()).config(&granted).start();
    let disturb = |round: usize| swap(&work.join(format!("o{}.txt", round % 9 + 1)), round / 9, &secret, &pipe);
    while_disturbed(disturb, || {
        for _ in 0..ROUNDS {
            let answer = session.call("run_script", request("s.sh", json!({"cwd": work})));
            assert!(!answer.to_string().contains(SECRET), "{answer}");
            let result: Value = serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
            for file in result["files"].as_array().unwrap() {
                let text = file["text"].as_str().unwrap();
                assert_eq!(file["size"], text.len(), "{file}");
            }
        }
    });
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), SECRET);
}

#[test]
fn outputs_are_not_saved_through_a_folder_that_is_swapped() {
    let folder = plain_skill(&[("s.sh", "mkdir -p /tmp/a/b\necho mine > /tmp/a/b/o.txt\necho mine > /tmp/p.txt\n")]);
    let place = tempfile::tempdir().unwrap();
    let (work, outside, pipe) = (place.path().join("work"), place.path().join("outside"), place.path().join("pipe"));
    for folder in [&work, &outside, &outside.join("tmp/a/b")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(outside.join("tmp/p.txt"), SECRET).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let granted = format!("grants: {{{}: {{tool: {{write: [{}]}}}}}}", folder.path().display(), work.display());
    let mut session = serve(folder.path()).config(&granted).start();
    let call = request("s.sh", json!({"cwd": work, "outputs": ["/tmp/**"], "save_to": "reports"}));
    assert_eq!(session.call_json("run_script", call.clone())["files_saved"], 2);
    let disturb = |round: usize| {
        let reports = work.join("reports");
        let _ = std::fs::remove_file(&reports);
        let _ = std::fs::remove_dir_all(&reports);
        let _ = match round % 4 {
            0 => symlink(&outside, &reports),
            1 => std::fs::create_dir(&reports).and_then(|()| symlink(outside.join("tmp"), reports.join("tmp"))),
            2 => std::fs::create_dir_all(reports.join("tmp"))
                .and_then(|()| std::fs::hard_link(&pipe, reports.join("tmp/p.txt"))),
            _ => std::fs::create_dir(&reports),
        };
    };
    while_disturbed(disturb, || {
        for _ in 0..ROUNDS {
            session.call("run_script", call.clone());
        }
    });
    assert_eq!(std::fs::read_to_string(outside.join("tmp/p.txt")).unwrap(), SECRET);
    assert!(!outside.join("tmp/a/b/o.txt").exists());
}

#[test]
fn no_other_session_uses_the_file_of_a_run_over_http() {
    let folder = plain_skill(&[("s.py", "open('big.bin', 'wb').write(bytes(range(256)) * 100)\n")]);
    let server = serve(folder.path()).http();
    let call = |session: Option<&str>, tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let message = server.message("2025-11-25", &message);
        let message = if let Some(session) = session { message.header("Mcp-Session-Id", session) } else { message };
        message.reply().json()["result"].clone()
    };
    let made = call(Some("first"), "run_script", request("s.py", json!({})));
    let made: Value = serde_json::from_str(made["content"][0]["text"].as_str().unwrap()).unwrap();
    let uri = &made["files"][0]["uri"];
    let use_it = |session| {
        let read = call(session, "skill-resource", json!({"skill": "tool", "path": uri}));
        let rerun = call(session, "run_script", request("s.py", json!({"files": [{"path": "in", "uri": uri}]})));
        [read["isError"] == true, rerun["isError"] == true]
    };
    assert_eq!(use_it(Some("first")), [false, false]);
    for session in [Some("second"), Some("First"), Some(""), None] {
        assert_eq!(use_it(session), [true, true], "{session:?}");
    }
}
