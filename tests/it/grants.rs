//! What scripts request, what the operator grants, and the audit record.

mod protected;

use crate::{SKILLCELL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::wheels::{Index, Reply};
use skillcell_tests::{Launch, Session, write_files};
use std::path::Path;
use tempfile::TempDir;

/// Creates a skill whose scripts declare these needs.
fn skill_with(needs: &str, scripts: &[(&str, &str)]) -> TempDir {
    let declared: String =
        scripts.iter().map(|(file, _)| format!("  - {{file: {file}, execution: server{needs}}}\n")).collect();
    let front_matter = format!("---\nname: tool\ndescription: d\nscripts:\n{declared}---\n");
    let mut files: Vec<(String, &str)> = vec![("tool/SKILL.md".to_owned(), &front_matter)];
    files.extend(scripts.iter().map(|(file, text)| (format!("tool/{file}"), *text)));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    library(&files)
}

fn grant(root: &Path, grants: &str) -> String {
    format!("grants:\n  {}:\n    tool: {{{grants}}}\n", root.display())
}

fn run_in(session: &mut Session, file: &str, cwd: &Path) -> Value {
    session.call_json("run_script", json!({"skill_path": "tool", "file": file, "args": {}, "cwd": cwd}))
}

fn refusals(result: &Value) -> String {
    result["refusals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|refusal| refusal.as_str().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn the_working_folder_needs_a_grant_and_the_refusal_prints_the_lines_to_add() {
    let script = "cat /work/note.txt 2>/dev/null || echo nothing; echo new > /work/new.txt || echo cannot\n";
    let folder = skill_with("", &[("a.sh", script)]);
    let project = library(&[("note.txt", "a note\n")]);
    let mut session = serve(folder.path()).start();
    let result = run_in(&mut session, "a.sh", project.path());
    assert_eq!(result["stdout"], "nothing\n", "{result}");
    let refusal = refusals(&result);
    let grants =
        format!("grants:\n  {}:\n    tool:\n      read: [{}]", folder.path().display(), project.path().display());
    assert!(refusal.contains(&grants), "{refusal}");

    // Exactly these lines grant it.
    let mut session = serve(folder.path()).config(&grants).start();
    let result = run_in(&mut session, "a.sh", project.path());
    assert_eq!(result["stdout"], "a note\ncannot\n", "{result}");
    assert!(refusals(&result).contains("write `/work/new.txt`: read-only"), "{result}");
    assert!(!project.path().join("new.txt").exists());

    let write = format!("write: [{}]", project.path().display());
    let mut session = serve(folder.path()).config(&grant(folder.path(), &write)).start();
    let result = run_in(&mut session, "a.sh", project.path());
    assert_eq!((&result["stdout"], refusals(&result).as_str()), (&json!("a note\n"), ""), "{result}");
    assert_eq!(std::fs::read_to_string(project.path().join("new.txt")).unwrap(), "new\n");
}

#[test]
fn every_runtime_can_use_the_working_folder_but_not_change_protected_files() {
    let python = "import os\nprint(os.getcwd())\nopen('out.txt', 'w').write('py')\nos.rename('out.txt', 'py.txt')\nfor p in ['.git/config', 'CLAUDE.md', '.claude/x', 'sub/.envrc']:\n    try:\n        os.makedirs(os.path.dirname(p) or '.', exist_ok=True); open(p, 'w'); print('BROKEN', p)\n    except OSError as e: print('held')\ntry:\n    os.symlink('note.txt', 'link'); print('BROKEN link')\nexcept OSError: print('held')\n";
    let javascript = "const fs = require('fs');\nconsole.log(process.cwd());\nfs.writeFileSync('out.txt', 'js'); fs.renameSync('out.txt', 'js.txt');\nfor (const p of ['.git/config', 'CLAUDE.md', '.claude/x', 'sub/.envrc']) {\n  try { if (p === 'sub/.envrc') fs.mkdirSync('sub', { recursive: true }); fs.writeFileSync(p, 'x'); console.log('BROKEN', p); } catch (e) { console.log('held'); }\n}\ntry { fs.symlinkSync('note.txt', 'link'); console.log('BROKEN link'); } catch (e) { console.log('held'); }\n";
    let shell = "pwd\necho -n sh > out.txt; mv out.txt sh.txt; mkdir -p sub\nfor p in .git/config CLAUDE.md .claude/x sub/.envrc; do if echo x 2>/dev/null > $p; then echo BROKEN $p; else echo held; fi; done 2>/dev/null\nif ln -s note.txt link 2>/dev/null; then echo BROKEN link; else echo held; fi\n";
    let folder = skill_with("", &[("a.py", python), ("a.js", javascript), ("a.sh", shell)]);
    let project = library(&[("note.txt", "x"), (".git/config", "[core]"), ("CLAUDE.md", "be kind")]);
    let write = format!("write: [{}]", project.path().display());
    let mut session = serve(folder.path()).config(&grant(folder.path(), &write)).start();
    for (file, written) in [("a.py", "py"), ("a.js", "js"), ("a.sh", "sh")] {
        let result = run_in(&mut session, file, project.path());
        assert_eq!(result["stdout"], "/work\nheld\nheld\nheld\nheld\nheld\n", "{file}: {result}");
        let text = std::fs::read_to_string(project.path().join(format!("{written}.txt"))).unwrap();
        assert_eq!(text, written);
        assert!(refusals(&result).contains("protected"), "{result}");
    }
    assert_eq!(std::fs::read_to_string(project.path().join(".git/config")).unwrap(), "[core]");
    assert_eq!(std::fs::read_to_string(project.path().join("CLAUDE.md")).unwrap(), "be kind");
}

#[test]
fn a_grant_is_for_one_skill_of_one_root() {
    let script = "cat /work/note.txt 2>/dev/null || echo nothing\n";
    let (mine, other) = (skill_with("", &[("a.sh", script)]), skill_with("", &[("a.sh", script)]));
    let project = library(&[("note.txt", "x")]);
    let read = format!("read: [{}]", project.path().display());
    let config = grant(mine.path(), &read);
    let mut session = serve(mine.path()).config(&config).start();
    assert_eq!(run_in(&mut session, "a.sh", project.path())["stdout"], "x");
    let mut session = serve(other.path()).config(&config).start();
    assert_eq!(run_in(&mut session, "a.sh", project.path())["stdout"], "nothing\n");
}

#[test]
fn variables_are_passed_only_if_requested_and_granted() {
    let folder = skill_with(", needs: {env: [TOKEN, OTHER]}", &[("a.sh", "echo \"[$TOKEN][$OTHER][$UNASKED]\"\n")]);
    let launch = || serve(folder.path()).env("TOKEN", "t").env("OTHER", "o").env("UNASKED", "u");
    let request = json!({"skill_path": "tool", "file": "a.sh", "args": {}});
    let mut session = launch().start();
    let result = session.call_json("run_script", request.clone());
    assert_eq!(result["stdout"], "[][][]\n");
    assert!(refusals(&result).contains("env: [TOKEN]"), "{result}");
    let mut session = launch().config(&grant(folder.path(), "env: [TOKEN, UNASKED]")).start();
    let result = session.call_json("run_script", request);
    assert_eq!(result["stdout"], "[t][][]\n");
    assert!(refusals(&result).contains("wants to read the variable `OTHER`"), "{result}");
}

#[test]
fn a_pinned_grant_is_void_when_any_file_of_the_skill_changed() {
    let folder = skill_with(", needs: {env: [TOKEN]}", &[("a.sh", "cat /skill/data.txt; echo \"[$TOKEN]\"\n")]);
    let data = folder.path().join("tool/data.txt");
    std::fs::write(&data, "one\n").unwrap();
    let request = |dry: bool| json!({"skill_path": "tool", "file": "a.sh", "args": {}, "dry_run": dry});
    let mut session = serve(folder.path()).start();
    let digest = session.call_json("run_script", request(true))["digests"]["skill"].as_str().unwrap().to_owned();
    let config = grant(folder.path(), &format!("env: [TOKEN], digest: '{digest}'"));
    let mut session = serve(folder.path()).env("TOKEN", "t").config(&config).start();
    assert_eq!(session.call_json("run_script", request(false))["stdout"], "one\n[t]\n");
    std::fs::write(&data, "two\n").unwrap();
    let result = session.call_json("run_script", request(false));
    assert_eq!(result["stdout"], "two\n[]\n");
    assert!(refusals(&result).contains("is void: the skill changed since it was pinned"), "{result}");
    std::fs::write(&data, "one\n").unwrap();
    assert_eq!(session.call_json("run_script", request(false))["stdout"], "one\n[t]\n");
    std::fs::write(folder.path().join("tool/added.txt"), "").unwrap();
    assert_eq!(session.call_json("run_script", request(false))["stdout"], "one\n[]\n");
}

#[test]
fn hidden_files_are_never_visible_to_scripts() {
    let script = "cat /skill/.git/config /skill/leak/config /skill/link 2>/dev/null; ls -a /skill; echo \"[$TOKEN]\"\n";
    let folder = skill_with(", needs: {env: [TOKEN]}", &[("a.sh", script)]);
    let tool = folder.path().join("tool");
    write_files(&tool, &[(".git/config", "hidden one\n")]);
    for (target, link) in [(".git", "leak"), (".git/config", "link")] {
        std::os::unix::fs::symlink(target, tool.join(link)).unwrap();
    }
    let request = |dry: bool| json!({"skill_path": "tool", "file": "a.sh", "args": {}, "dry_run": dry});
    let digest = serve(folder.path()).start().call_json("run_script", request(true))["digests"]["skill"].clone();
    for pin in [String::new(), format!(", digest: {digest}")] {
        let config = grant(folder.path(), &format!("env: [TOKEN]{pin}"));
        let mut session = serve(folder.path()).env("TOKEN", "t").config(&config).start();
        // The digest covers what scripts see, so this does not void it.
        write_files(&tool, &[(".git/config", "hidden two\n")]);
        let result = session.call_json("run_script", request(false));
        let stdout = result["stdout"].as_str().unwrap();
        assert!(stdout.contains("[t]") && stdout.contains("a.sh"), "{result}");
        assert!(!["hidden", "leak", "link", ".git"].iter().any(|part| stdout.contains(part)), "{result}");
    }
}

/// Answers this many requests with `hello`, and returns them.
fn answer_requests(count: usize) -> (u16, std::thread::JoinHandle<Vec<String>>) {
    use std::io::{Read, Write};
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let answer = move |_| {
        let (mut stream, _) = server.accept().unwrap();
        let mut request = [0; 4096];
        let length = stream.read(&mut request).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello").unwrap();
        String::from_utf8_lossy(&request[..length]).into_owned()
    };
    (port, std::thread::spawn(move || (0..count).map(answer).collect()))
}

#[test]
fn the_network_is_reachable_only_where_it_is_granted() {
    let (port, answering) = answer_requests(1);
    let script = format!(
        "fetch('http://127.0.0.1:{port}/path?x=1').then(async r => console.log(r.status, await r.text())).catch(e => console.log('failed', e.message))\n"
    );
    let needs = format!(", needs: {{hosts: ['127.0.0.1:{port}']}}");
    let folder = skill_with(&needs, &[("a.js", &script)]);
    let request = json!({"skill_path": "tool", "file": "a.js", "args": {}});
    let mut session = serve(folder.path()).start();
    let result = session.call_json("run_script", request.clone());
    assert!(result["stdout"].as_str().unwrap().starts_with("failed"), "{result}");
    assert!(refusals(&result).contains(&format!("connect to `127.0.0.1:{port}`")), "{result}");
    let mut session =
        serve(folder.path()).config(&grant(folder.path(), &format!("hosts: ['127.0.0.1:{port}']"))).start();
    let result = session.call_json("run_script", request);
    assert_eq!(result["stdout"], "200 hello\n", "{result}");
    assert!(answering.join().unwrap()[0].starts_with("GET /path?x=1 HTTP/1.1\r\n"));
}

#[test]
fn python_reaches_granted_hosts_and_no_others() {
    let (port, answering) = answer_requests(4);
    let python = "import ssl, sys, urllib.request, requests, httpx\nurl = sys.argv[1]\ncontext = ssl.create_default_context()\nfor get in (lambda: urllib.request.urlopen(url).read().decode(), lambda: urllib.request.urlopen(url, timeout=9, context=context).read().decode(), lambda: requests.get(url).text, lambda: httpx.get(url).text):\n    try: print(get())\n    except Exception as e: print(type(e).__name__, e)\n";
    let needs = format!(", needs: {{hosts: ['127.0.0.1:{port}']}}");
    let folder = skill_with(&needs, &[("a.py", python)]);
    let url = format!("http://127.0.0.1:{port}/path?x=1#y");
    let request = json!({"skill_path": "tool", "file": "a.py", "argv": [url]});
    let mut session = serve(folder.path()).start();
    let result = session.call_json("run_script", request.clone());
    assert_eq!(result["stdout"].as_str().unwrap().matches("is not granted").count(), 4, "{result}");
    assert!(refusals(&result).contains(&format!("connect to `127.0.0.1:{port}`")), "{result}");
    let hosts = format!("hosts: ['127.0.0.1:{port}']");
    let mut session = serve(folder.path()).config(&grant(folder.path(), &hosts)).start();
    let result = session.call_json("run_script", request);
    assert_eq!(result["stdout"], "hello\n".repeat(4), "{result}");
    assert!(answering.join().unwrap().iter().all(|request| request.starts_with("GET /path?x=1 HTTP/1.1\r\n")));
}

#[test]
fn every_hop_of_a_redirect_in_python_passes_the_gate() {
    let (granted, other) = (Index::start(), Index::start());
    let port = granted.address().port();
    granted.set("/here", Reply::Content { kind: "text/plain", bytes: b"arrived".to_vec() });
    other.set("/secret", Reply::Content { kind: "text/plain", bytes: b"stolen".to_vec() });
    let targets = [
        "/here".to_owned(),
        format!("http://{}/secret", other.address()),
        format!("http://localhost:{port}/here"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "file:///etc/hostname".to_owned(),
        "skillcell:programs".to_owned(),
    ];
    for (number, target) in targets.iter().enumerate() {
        granted.set(&format!("/{number}"), Reply::Redirect(target.clone()));
    }
    let script = format!(
        "import urllib.request, requests, httpx\nfor number in range({}):\n    url = f'http://127.0.0.1:{port}/{{number}}'\n    for get in (lambda: urllib.request.urlopen(url).read().decode(), lambda: requests.get(url).text, lambda: httpx.get(url, follow_redirects=True).text):\n        try: print(number, get())\n        except Exception: print(number, 'refused')\n",
        targets.len()
    );
    let needs = format!(", needs: {{hosts: ['127.0.0.1:{port}']}}");
    let folder = skill_with(&needs, &[("a.py", &script)]);
    let config = grant(folder.path(), &format!("hosts: ['127.0.0.1:{port}']"));
    let mut session = serve(folder.path()).config(&config).start();
    let result = session.call_json("run_script", json!({"skill_path": "tool", "file": "a.py", "args": {}}));
    let refused: String = (1..targets.len()).map(|number| format!("{number} refused\n").repeat(3)).collect();
    assert_eq!(result["stdout"], format!("{}{refused}", "0 arrived\n".repeat(3)), "{result}");
    assert_eq!(other.requests(), Vec::<String>::new());
    let denied = refusals(&result);
    for host in [other.address().to_string(), format!("localhost:{port}"), "169.254.169.254:80".to_owned()] {
        assert!(denied.contains(&host), "{host}: {denied}");
    }
}

#[test]
fn a_runtime_can_be_replaced_by_the_operator() {
    let folder = skill_with("", &[("a.js", "console.log('hi')")]);
    let component = skillcell_tests::component("echo-runtime");
    let config = format!("scripts: {{runners: {{.js: {}}}}}", component.display());
    let mut session = serve(folder.path()).config(&config).start();
    let request = json!({"skill_path": "tool", "file": "a.js", "args": {}});
    for _ in 0..2 {
        let result = session.call_json("run_script", request.clone());
        assert_eq!(
            (&result["stdout"], &result["exit_code"]),
            (&json!("/skill/a.js: console.log('hi')"), &json!(7)),
            "{result}"
        );
    }
    let home = session.home().to_owned();
    let native = home.join(".cache/skillcell/native");
    let cached: Vec<_> = std::fs::read_dir(&native).unwrap().flatten().map(|entry| entry.path()).collect();
    assert_eq!(cached.len(), 1, "compiled once");

    // A forged cache file is not loaded: the component is compiled again.
    let code = std::fs::read(&cached[0]).unwrap();
    std::fs::write(&cached[0], vec![0x90; code.len()]).unwrap();
    let config_file = home.join(".config/skillcell/config.yaml");
    let mut again = serve(folder.path()).with_home(&home).arg("--config").arg(&config_file).start();
    assert_eq!(again.call_json("run_script", request)["exit_code"], 7);
    again.wait_for_log("not written by this user's skillcell, or changed since");
    assert_eq!(std::fs::read(&cached[0]).unwrap(), code, "and written again");

    let config = format!("scripts: {{runners: {{.js: {}}}}}", skillcell_tests::component("fragile-engine").display());
    let mut session = serve(folder.path()).config(&config).start();
    let result = session.call("run_script", json!({"skill_path": "tool", "file": "a.js", "args": {}}));
    assert!(result["content"][0]["text"].as_str().unwrap().contains("cannot be used: it "), "{result}");
}

#[test]
fn a_dry_run_reports_everything_and_runs_nothing() {
    let folder = skill_with(", needs: {env: [TOKEN], hosts: [api.example.com]}", &[("a.sh", "echo x > /work/ran\n")]);
    let project = library(&[]);
    let config = grant(folder.path(), &format!("write: [{}], hosts: ['*.example.com']", project.path().display()));
    let mut session = serve(folder.path()).config(&config).start();
    let policy = session.call_json("run_script", json!({"skill_path": "tool", "file": "a.sh", "args": {"b": "secret-value"}, "cwd": project.path(), "dry_run": true}));
    assert_eq!((&policy["runtime"], &policy["hosts"]), (&json!("shell"), &json!(["api.example.com"])), "{policy}");
    assert_eq!(policy["arguments"], json!(["SKILL_ARG_B"]));
    assert_eq!(policy["limits"]["timeout_seconds"], 60);
    assert!(policy["digests"]["script"].as_str().unwrap().starts_with("sha256:"));
    assert!(policy["refusals"][0].as_str().unwrap().contains("TOKEN"));
    assert!(!project.path().join("ran").exists() && !policy.to_string().contains("secret-value"));
}

#[test]
fn every_run_and_refusal_is_recorded_in_a_chain_that_reveals_tampering() {
    let folder = skill_with("", &[("a.sh", "echo ran\n")]);
    let mut session = serve(folder.path()).start();
    let call = |file: &str| json!({"skill_path": "tool", "file": file, "args": {"password": "hunter2"}});
    session.call_json("run_script", call("a.sh"));
    session.call("run_script", call("../x.sh"));
    session.call_json("run_script", call("a.sh"));
    let home = session.home().to_owned();
    let audit = |arguments: &[&str]| {
        let launch = Launch::bare(SKILLCELL).with_home(&home).arg("audit");
        arguments.iter().fold(launch, Launch::arg).output()
    };
    let stdout = String::from_utf8(audit(&["--json"]).stdout).unwrap();
    let lines: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["run-begin", "run", "refusal", "run-begin", "run"]);
    assert_eq!(lines[0]["arguments"], json!(["SKILL_ARG_PASSWORD"]));
    assert!(!stdout.contains("hunter2"));
    assert_eq!(lines[1]["outcome"]["exit_code"], 0);
    let verified = audit(&["verify"]);
    assert!(verified.status.success(), "{verified:?}");
    let file = home.join(".local/share/skillcell/audit/audit.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("\"exit_code\":0", "\"exit_code\":1", 1)).unwrap();
    let verified = audit(&["verify"]);
    assert_eq!(verified.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&verified.stdout).contains("runs: line 2, number 2, was changed"), "{verified:?}");
}

#[test]
fn an_unwritable_audit_record_stops_only_scripts() {
    let folder = skill_with("", &[("a.sh", "echo ran\n")]);
    let home = library(&[(".local/share/skillcell", "a file in the way")]);
    let mut session = serve(folder.path()).with_home(home.path()).start();
    let result = session.call("run_script", json!({"skill_path": "tool", "file": "a.sh", "args": {}}));
    assert!(
        result["content"][0]["text"].as_str().unwrap().starts_with("scripts do not run while the audit record"),
        "{result}"
    );
    assert_eq!(session.call_json("skills_list", json!({}))["skills"].as_array().unwrap().len(), 1);
}

#[test]
fn four_servers_share_one_audit_record() {
    let folder = skill_with("", &[("a.sh", "echo ran\n")]);
    let home = tempfile::tempdir().unwrap();
    let mut servers: Vec<Session> = (0..4).map(|_| serve(folder.path()).with_home(home.path()).start()).collect();
    let arguments = json!({"name": "run_script", "arguments": {"skill_path": "tool", "file": "a.sh", "args": {}}});
    let mut posted: Vec<Vec<Value>> = vec![Vec::new(); 4];
    for _ in 0..5 {
        for (server, ids) in servers.iter_mut().zip(&mut posted) {
            ids.push(server.post("tools/call", arguments.clone()));
        }
    }
    for (server, ids) in servers.iter_mut().zip(&posted) {
        for id in ids {
            assert!(server.answer(id)["result"]["content"][0]["text"].as_str().unwrap().contains("ran"));
        }
    }
    let verified = Launch::bare(SKILLCELL).with_home(home.path()).arg("audit").arg("verify").output();
    assert_eq!(String::from_utf8_lossy(&verified.stdout), "40 lines: the record is intact\n");
}

#[test]
fn scripts_run_from_the_command_line() {
    let folder = skill_with(", args: [{name: who}]", &[("a.sh", "echo \"hello $SKILL_ARG_WHO\"; exit 3\n")]);
    let run = |arguments: &[&str]| {
        let launch = Launch::bare(SKILLCELL).arg("run").arg("tool").arg("a.sh").arg("--root").arg(folder.path());
        arguments.iter().fold(launch, Launch::arg).output()
    };
    let ran = run(&["--arg", "who=you"]);
    assert_eq!((String::from_utf8_lossy(&ran.stdout).as_ref(), ran.status.code()), ("hello you\n", Some(3)));
    let ran = run(&["--arg", "who=you", "--json"]);
    assert_eq!(serde_json::from_slice::<Value>(&ran.stdout).unwrap()["exit_code"], 3);
    assert_eq!(ran.status.code(), Some(3));
    let dry = run(&["--arg", "who=you", "--dry-run"]);
    assert_eq!(serde_json::from_slice::<Value>(&dry.stdout).unwrap()["runtime"], "shell");
    let refused = run(&[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("needs the arguments `who`"), "{refused:?}");
    assert_eq!(run(&["--arg", "who"]).status.code(), Some(2));
}
