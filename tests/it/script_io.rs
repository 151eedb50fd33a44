//! What goes into a script and what comes out: arguments, standard input, files, and scripts that no skill declares.

mod hostile;

use crate::scripts::skill;
use crate::{library, serve};
use serde_json::{Value, json};
use skillcell_tests::Session;

const FRONT_MATTER: &str = "---\nname: tool\ndescription: A skill with scripts\n---\n\nText.\n";

/// Prints its arguments and its standard input, and writes both to `out/report.txt`.
const ECHO: [(&str, &str); 4] = [
    (
        "echo.py",
        "import os, sys\ntext = '|'.join(sys.argv[1:]) + '\\n' + sys.stdin.read()\nprint(text, end='')\nos.makedirs('out', exist_ok=True)\nopen('out/report.txt', 'w').write(text)\n",
    ),
    (
        "echo.js",
        "const fs = require('fs');\nconst text = process.argv.slice(2).join('|') + '\\n' + fs.readFileSync(0, 'utf8');\nprocess.stdout.write(text);\nfs.mkdirSync('out', { recursive: true });\nfs.writeFileSync('out/report.txt', text);\n",
    ),
    (
        "echo.ts",
        "import { mkdirSync, writeFileSync } from 'node:fs';\nlet text: string = process.argv.slice(2).join('|') + '\\n';\nfor await (const chunk of process.stdin) text += chunk.toString();\nprocess.stdout.write(text);\nmkdirSync('out');\nwriteFileSync('out/report.txt', text);\n",
    ),
    ("echo.sh", "IFS='|'; mkdir -p out\n{ echo \"$*\"; cat; } > out/report.txt\ncat out/report.txt\n"),
];

/// A module of WASI 0.1 that writes its arguments as they are in memory, then its standard input.
const ECHO_WAT: &str = r#"(module
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (call $sizes (i32.const 0) (i32.const 4)))
    (drop (call $args (i32.const 1024) (i32.const 4096)))
    (i32.store (i32.const 16) (i32.const 4096))
    (i32.store (i32.const 20) (i32.load (i32.const 4)))
    (drop (call $write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 8)))
    (i32.store (i32.const 16) (i32.const 8192))
    (i32.store (i32.const 20) (i32.const 4096))
    (drop (call $read (i32.const 0) (i32.const 16) (i32.const 1) (i32.const 8)))
    (i32.store (i32.const 20) (i32.load (i32.const 8)))
    (drop (call $write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 8)))))"#;

/// A folder skill `tool` that declares nothing.
pub fn plain_skill(files: &[(&str, &str)]) -> tempfile::TempDir {
    let files: Vec<(String, &str)> = files.iter().map(|(path, text)| (format!("tool/{path}"), *text)).collect();
    let files = files.iter().map(|(path, text)| (path.as_str(), *text));
    library(&files.chain([("tool/SKILL.md", FRONT_MATTER)]).collect::<Vec<_>>())
}

pub fn run(session: &mut Session, file: &str, more: Value) -> Value {
    session.call_json("run_script", request(file, more))
}

fn request(file: &str, more: Value) -> Value {
    let Value::Object(mut request) = more else { panic!("{more} is not a map") };
    request.insert("skill_path".to_owned(), "tool".into());
    request.insert("file".to_owned(), file.into());
    request.into()
}

fn refusal(session: &mut Session, file: &str, more: Value) -> String {
    let result = session.call("run_script", request(file, more));
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

fn error(session: &mut Session, file: &str, more: Value) -> Value {
    session.request("tools/call", json!({"name": "run_script", "arguments": request(file, more)}))["error"].clone()
}

#[test]
fn arguments_and_input_reach_scripts_of_every_language() {
    let folder = plain_skill(&ECHO);
    let module = wat::parse_str(ECHO_WAT).unwrap();
    std::fs::write(folder.path().join("tool/echo.wasm"), module).unwrap();
    let mut session = serve(folder.path()).start();
    let input = json!({"argv": ["in.csv", "--out", "a b", "", "é'\"$x", 5, true], "stdin": "one\ntwo é\n"});
    for (file, _) in ECHO {
        let result = run(&mut session, file, input.clone());
        let expected = "in.csv|--out|a b||é'\"$x|5|true\none\ntwo é\n";
        assert_eq!((&result["stdout"], &result["stderr"]), (&json!(expected), &json!("")), "{file}");
        assert_eq!(result["files"][0]["text"], expected, "{file}");
        assert_eq!(result["files"][0]["path"], "out/report.txt", "{file}");
        assert_eq!(result["files_omitted"], 0);
        let silent = run(&mut session, file, json!({}));
        assert_eq!(silent["stdout"], "\n", "{file}: {}", silent["stderr"]);
    }
    let result = run(&mut session, "echo.wasm", input);
    let expected = "/skill/echo.wasm\0in.csv\0--out\0a b\0\0é'\"$x\x005\0true\0one\ntwo é\n";
    assert_eq!(result["stdout"], expected);
}

#[test]
fn too_much_input_is_an_error_that_names_the_argument() {
    let folder = plain_skill(&ECHO);
    let mut session = serve(folder.path()).start();
    let file = |size: usize| json!({"path": format!("{size}"), "text": "x".repeat(size)});
    for (input, message) in [
        (json!({"argv": vec!["x"; 257]}), "argv has 257 items, and the limit is 256"),
        (json!({"argv": vec!["x"; 100_000]}), "argv has 100000 items, and the limit is 256"),
        (json!({"argv": ["x".repeat(128 << 10)]}), "argv has 131073 bytes, and the limit is 131072"),
        (json!({"argv": [["x"]]}), "argv[0] must be a string, not an array"),
        (json!({"argv": "x"}), "argv must be an array, not a string"),
        (json!({"stdin": "x".repeat((1 << 20) + 1)}), "stdin has 1048577 bytes, and the limit is 1048576"),
        (json!({"files": vec![json!({"path": "a", "text": ""}); 17]}), "files has 17 items, and the limit is 16"),
        (json!({"files": [file((1 << 20) + 1)]}), "files[0] has 1048577 bytes, and the limit is 1048576"),
        (
            json!({"files": (0..5).map(|less| file((1 << 20) - less)).collect::<Vec<_>>()}),
            "files has 5242870 bytes, and the limit is 4194304",
        ),
        (json!({"files": [{"text": "a"}]}), "files[0].path is required"),
        (json!({"files": [{"path": "a", "mode": "x"}]}), "files[0].mode is not an argument of this tool"),
        (json!({"files": [{"path": "a"}]}), "files[0] needs one of text, base64 and uri"),
        (json!({"files": [{"path": "a", "text": "", "base64": ""}]}), "files[0] needs one of text, base64 and uri"),
        (json!({"files": [{"path": "a", "base64": "?"}]}), "files[0].base64 is not base64"),
    ] {
        let error = error(&mut session, "echo.py", input);
        assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!(message)));
    }
    let error = error(&mut session, "echo.py", json!({"outputs": ["../x"]}));
    assert!(error["message"].as_str().unwrap().starts_with("outputs: `../x` is not a pattern"), "{error}");
}

#[test]
fn files_that_climb_or_collide_are_refused() {
    let folder = plain_skill(&[("echo.py", "print('ran')"), ("data/own.csv", "own")]);
    let mut session = serve(folder.path()).start();
    for path in ["../a", "/etc/passwd", "a/../../b", "", ".", "a\0b", "a\\b", "C:/a", "a/"] {
        let text = refusal(&mut session, "echo.py", json!({"files": [{"path": path, "text": ""}]}));
        assert!(text.starts_with("files[0].path is `"), "{path}: {text}");
    }
    let text = refusal(&mut session, "echo.py", json!({"argv": ["a\0b"]}));
    assert!(text.starts_with("argv[0] contains a NUL character"), "{text}");
    for (path, other) in [("a", "./a"), ("a/b", "a"), ("a", "a/b")] {
        let files = json!({"files": [{"path": path, "text": ""}, {"path": other, "text": ""}]});
        let text = refusal(&mut session, "echo.py", files);
        assert!(text.contains("collides with another file of the call"), "{text}");
    }
    for path in ["data/own.csv", "echo.py", "data", "SKILL.md", "data/own.csv/x"] {
        let text = refusal(&mut session, "echo.py", json!({"files": [{"path": path, "text": "print('injected')"}]}));
        assert!(text.contains("which the skill already has"), "{path}: {text}");
    }
}

#[test]
fn input_files_and_files_of_the_skill_are_in_the_working_folder() {
    let script = "import os, sys\nprint(os.getcwd(), sorted(os.listdir()), open('in/a.csv').read(), open('assets/t.txt').read())\nprint(os.path.exists('/skill/in/a.csv'), len(open('b.bin', 'rb').read()))\nopen('in/a.csv', 'a').write('+')\n";
    let folder = plain_skill(&[("scripts/s.py", script), ("assets/t.txt", "template")]);
    let mut session = serve(folder.path()).start();
    let files = json!([{"path": "in/a.csv", "text": "a,b"}, {"path": "b.bin", "base64": "AAEC/w=="}]);
    let result = run(&mut session, "scripts/s.py", json!({"files": files}));
    let stdout = "/work ['SKILL.md', 'assets', 'b.bin', 'in', 'scripts'] a,b template\nFalse 4\n";
    assert_eq!((&result["stdout"], &result["stderr"]), (&json!(stdout), &json!("")));
    assert_eq!(result["files"].as_array().unwrap().len(), 1, "{result}");
    assert_eq!((&result["files"][0]["path"], &result["files"][0]["text"]), (&json!("in/a.csv"), &json!("a,b+")));
}

#[test]
fn a_script_changes_its_folders_without_touching_the_disk() {
    let script = "import os, shutil, pathlib\nhere = pathlib.Path(__file__).parent\n(here / 'cache.json').write_text('{}')\n(here / 'own.txt').write_text('changed')\nos.remove('/skill/gone.txt')\nshutil.move('/skill/sub', '/skill/moved')\nprint(sorted(p.name for p in here.iterdir()), open('own.txt').read())\nopen('/tmp/t', 'w').write('t')\n";
    let files = [("s.py", script), ("own.txt", "own"), ("gone.txt", ""), ("sub/a.txt", "a"), ("sub/deep/b.txt", "b")];
    let folder = plain_skill(&files);
    let mut session = serve(folder.path()).start();
    let result = run(&mut session, "s.py", json!({}));
    assert_eq!(
        result["stdout"], "['SKILL.md', 'cache.json', 'moved', 'own.txt', 's.py'] own\n",
        "{}",
        result["stderr"]
    );
    let paths: Vec<&str> =
        result["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    let expected = ["/skill/cache.json", "/skill/moved/a.txt", "/skill/moved/deep/b.txt", "/skill/own.txt"];
    assert_eq!(paths, expected);
    for (path, text) in files {
        assert_eq!(std::fs::read_to_string(folder.path().join("tool").join(path)).unwrap(), text);
    }
    let wanted = run(&mut session, "s.py", json!({"outputs": ["/tmp/**", "*.pdf"]}));
    assert_eq!(wanted["files"][0]["path"], "/tmp/t");
    assert_eq!(wanted["hint"], "the script wrote no file that matches `*.pdf`");
}

#[test]
fn changes_count_against_the_scratch_limits_to_the_byte() {
    let script = "import sys\nn = int(sys.argv[1])\nopen('/skill/a', 'wb').write(b'x' * n)\nopen('b', 'wb').write(b'x' * (1000 - n))\nopen('own.txt', 'a').close()\ntry:\n    open('/tmp/c', 'wb', buffering=0).write(b'x')\n    print('BROKEN')\nexcept OSError as e: print(e.strerror)\n";
    let folder = plain_skill(&[("s.py", script), ("own.txt", "12345")]);
    let mut session = serve(folder.path()).config("scripts: {scratch_bytes: 1005}").start();
    for n in ["0", "400", "1000"] {
        let result = run(&mut session, "s.py", json!({"argv": [n]}));
        assert_eq!(result["stdout"], "No space left on device\n", "{result}");
        assert_eq!(result["limit_hit"], "scratch");
    }
}

#[test]
fn large_outputs_are_kept_for_the_client_that_made_them() {
    let script = "import sys\nopen('big.bin', 'wb').write(bytes(range(256)) * 200)\nopen('long.txt', 'w').write('x' * 20000)\nopen('image.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + b'0' * 100)\nfor name in sys.argv[1:]: print(len(open(name, 'rb').read()))\n";
    let folder = plain_skill(&[("s.py", script)]);
    let mut session = serve(folder.path()).start();
    let answer = session.call("run_script", request("s.py", json!({})));
    let result: Value = serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(answer["content"][1]["mimeType"], "image/png", "{answer}");
    assert_eq!(answer["content"].as_array().unwrap().len(), 2);
    let [big, image, long] = &result["files"].as_array().unwrap()[..] else { panic!("{result}") };
    assert_eq!((&big["size"], &big["mime_type"]), (&json!(51_200), &json!("application/octet-stream")));
    assert_eq!(image["mime_type"], "image/png");
    let uri = big["uri"].as_str().unwrap().to_owned();
    assert!(uri.starts_with("skillcell://run/") && uri.ends_with("/big.bin"), "{uri}");
    let read = session.request("resources/read", json!({"uri": uri}));
    assert_eq!(read["result"]["contents"][0]["blob"].as_str().unwrap().len(), 68_268, "{read}");
    let text = session.call("skill-resource", json!({"skill": "tool", "path": long["uri"]}));
    assert_eq!(text["content"][0]["text"].as_str().unwrap().len(), 20_000);
    let again = run(&mut session, "s.py", json!({"files": [{"path": "in.bin", "uri": uri}], "argv": ["in.bin"]}));
    assert_eq!(again["stdout"], "51200\n", "{again}");

    let mut other = serve(folder.path()).start();
    let read = other.request("resources/read", json!({"uri": uri}));
    assert_eq!(read["error"]["code"], -32002, "{read}");
    let answer = other.call("skill-resource", json!({"skill": "tool", "path": uri}));
    assert!(answer["content"][0]["text"].as_str().unwrap().contains("is not kept, or is not yours"), "{answer}");
    let refused = refusal(&mut other, "s.py", json!({"files": [{"path": "in.bin", "uri": uri}]}));
    assert!(refused.contains("is not kept, or is not yours"), "{refused}");
}

#[test]
fn scripts_that_no_skill_declares_run_unless_that_is_switched_off() {
    let folder = plain_skill(&[
        ("scripts/s.py", "import os\nprint(sorted(k for k in os.environ if 'TOKEN' in k))"),
        ("scripts/.hidden.py", ""),
        ("notes.txt", ""),
    ]);
    let mut session = serve(folder.path()).env("MY_TOKEN", "x").start();
    assert_eq!(run(&mut session, "scripts/s.py", json!({}))["stdout"], "[]\n");
    for file in ["scripts/.hidden.py", "notes.txt", "scripts/none.py"] {
        assert!(refusal(&mut session, file, json!({})).contains("is not declared in `tool`"), "{file}");
    }
    let granted = format!("grants: {{{}: {{tool: {{env: [MY_TOKEN]}}}}}}", folder.path().display());
    let mut session = serve(folder.path()).env("MY_TOKEN", "x").config(&granted).start();
    assert_eq!(run(&mut session, "scripts/s.py", json!({}))["stdout"], "['MY_TOKEN']\n");

    let expected = "script `scripts/s.py` is not declared in `tool`, and only declared scripts run here\nhint: read it with get_asset";
    let mut session = serve(folder.path()).config("scripts: {undeclared: false}").start();
    let text = refusal(&mut session, "scripts/s.py", json!({}));
    assert!(text.starts_with(expected), "{text}");
    let mut session = serve(folder.path()).arg("--profile").arg("skills-mcp").start();
    assert!(refusal(&mut session, "scripts/s.py", json!({"args": {}})).starts_with(expected));
    std::fs::write(folder.path().join("config.yaml"), "scripts: {undeclared: false}\n").unwrap();
    let mut session = serve(folder.path()).start();
    assert!(refusal(&mut session, "scripts/s.py", json!({})).starts_with(expected));
}

#[test]
fn real_paths_below_the_working_folder_are_translated_and_outputs_saved() {
    let script = "import sys\nopen(sys.argv[2].removeprefix('--out='), 'w').write(open(sys.argv[1]).read().upper())\nopen('/skill/extra.txt', 'w').write('extra')\nprint(open('/tmp/files/in.txt').read())\n";
    let folder = plain_skill(&[("s.py", script)]);
    let work = tempfile::tempdir().unwrap();
    std::fs::write(work.path().join("a.txt"), "text").unwrap();
    let granted = format!("grants: {{{}: {{tool: {{write: [{}]}}}}}}", folder.path().display(), work.path().display());
    let mut session = serve(folder.path()).config(&granted).start();
    let path = |name: &str| work.path().join(name).display().to_string();
    let files = json!([{"path": "in.txt", "text": "input"}]);
    let argv = json!([path("a.txt"), format!("--out={}", path("b.txt"))]);
    let input = json!({"argv": argv, "files": files, "cwd": work.path(), "save_to": "reports"});
    let result = run(&mut session, "s.py", input.clone());
    assert_eq!((&result["stdout"], &result["stderr"]), (&json!("input\n"), &json!("")));
    assert_eq!(std::fs::read_to_string(path("b.txt")).unwrap(), "TEXT");
    assert_eq!(std::fs::read_to_string(path("reports/skill/extra.txt")).unwrap(), "extra");
    let paths: Vec<&str> =
        result["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!((paths, &result["files_saved"]), (vec!["/skill/extra.txt", "b.txt"], &json!(1)));

    let read_only = granted.replace("write", "read");
    let mut session = serve(folder.path()).config(&read_only).start();
    let text = refusal(&mut session, "s.py", input);
    assert!(text.starts_with("outputs cannot be saved to `reports`: no write grant covers that folder"), "{text}");
    let text = refusal(&mut session, "s.py", json!({"save_to": "reports"}));
    assert!(text.starts_with("outputs cannot be saved to `reports`"), "{text}");
    assert!(
        refusal(&mut session, "s.py", json!({"save_to": "../x", "cwd": work.path()}))
            .contains("not a path below `cwd`")
    );
}

#[test]
fn a_script_without_its_arguments_is_answered_with_its_usage() {
    let folder = plain_skill(&[
        ("argparse.py", "import argparse\np = argparse.ArgumentParser()\np.add_argument('file')\np.parse_args()\n"),
        (
            "plain.py",
            "\"\"\"Counts words.\n\nUsage:\n    plain.py FILE\n\"\"\"\nimport sys\nprint(open(sys.argv[1]).read())\n",
        ),
    ]);
    let mut session = serve(folder.path()).start();
    let result = run(&mut session, "argparse.py", json!({}));
    assert_eq!((&result["success"], &result["exit_code"]), (&json!(false), &json!(2)));
    assert!(result["stderr"].as_str().unwrap().contains("usage: argparse.py [-h] file"), "{result}");
    assert_eq!(result["hint"], "pass command-line arguments in `argv`, as the usage in stderr says");
    let result = run(&mut session, "plain.py", json!({}));
    let hint = "the script reads command-line arguments: pass them in `argv`; its source says:\nUsage:\nplain.py FILE";
    assert_eq!(result["hint"], hint);
}

#[test]
fn dry_run_names_what_a_call_hands_over_and_nothing_of_its_content() {
    let folder = skill(&[("a.py", "")]);
    let mut session = serve(folder.path()).start();
    let input =
        json!({"argv": ["secret"], "stdin": "abc", "files": [{"path": "in.csv", "text": "a,b"}], "dry_run": true});
    let policy = run(&mut session, "a.py", input);
    assert_eq!((&policy["argv"], &policy["stdin_bytes"]), (&json!(1), &json!(3)));
    assert_eq!((&policy["files"][0]["path"], &policy["files"][0]["size"]), (&json!("in.csv"), &json!(3)));
    assert!(!policy.to_string().contains("secret"));
}

#[test]
fn files_of_a_run_are_invisible_to_other_clients_over_http() {
    let folder = plain_skill(&[("s.py", "open('big.bin', 'wb').write(bytes(range(256)) * 100)\n")]);
    let server = serve(folder.path()).http();
    let ask = |session: &str, method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        server.message("2025-11-25", &message).header("Mcp-Session-Id", session).reply().json()
    };
    let answer = ask("first", "tools/call", json!({"name": "run_script", "arguments": request("s.py", json!({}))}));
    let result: Value = serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    let uri = json!({"uri": result["files"][0]["uri"]});
    let read = ask("first", "resources/read", uri.clone());
    assert!(read["result"]["contents"][0]["blob"].is_string(), "{read}");
    assert_eq!(ask("second", "resources/read", uri)["error"]["code"], -32002);
}

#[test]
fn packages_in_node_modules_of_the_skill_are_found() {
    let folder = plain_skill(&[
        (
            "scripts/a.js",
            "const pad = require('pad');\nconst { left } = require('@team/kit/left');\nconsole.log(pad(1), left(2), require('pad/lib/other'), require('both'));\ntry { require('@team/kit/secret'); } catch (error) { console.log(error.code); }\ntry { require('absent'); } catch (error) { console.log(error.code); }\n",
        ),
        ("scripts/a.mjs", "import pad from 'pad';\nimport both from 'both';\nconsole.log(pad(3), both);\n"),
        ("node_modules/pad/package.json", r#"{"main": "lib/index"}"#),
        ("node_modules/pad/lib/index.js", "module.exports = (n) => `p${n}`;\n"),
        ("node_modules/pad/lib/other.js", "module.exports = 'other';\n"),
        (
            "node_modules/@team/kit/package.json",
            r#"{"exports": {".": "./index.js", "./secret": null, "./*": {"types": "./x.d.ts", "default": "./src/*.js"}}}"#,
        ),
        ("node_modules/@team/kit/src/left.js", "exports.left = (n) => `l${n}`;\n"),
        ("node_modules/@team/kit/src/secret.js", ""),
        ("scripts/node_modules/both/package.json", r#"{"exports": {"import": "./i.mjs", "require": "./r.cjs"}}"#),
        ("scripts/node_modules/both/i.mjs", "export default 'imported';\n"),
        ("scripts/node_modules/both/r.cjs", "module.exports = 'required';\n"),
    ]);
    let mut session = serve(folder.path()).start();
    let result = run(&mut session, "scripts/a.js", json!({}));
    assert_eq!(result["stdout"], "p1 l2 other required\nMODULE_NOT_FOUND\nMODULE_NOT_FOUND\n", "{result}");
    let result = run(&mut session, "scripts/a.mjs", json!({}));
    assert_eq!(result["stdout"], "p3 imported\n", "{result}");
}
