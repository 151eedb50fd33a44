//! Scripts that import packages.

use super::{Home, greeting};
use crate::{SKILLCELL, library};
use serde_json::{Value, json};
use skillcell_tests::wheels::Wheel;
use skillcell_tests::{Launch, Session};
use std::path::Path;
use tempfile::TempDir;

const SKILL: &str = "---\nname: tool\ndescription: A skill with scripts\n---\n\nText.\n";

fn skill(files: &[(&str, &str)]) -> TempDir {
    let files: Vec<(String, &str)> = files.iter().map(|(path, text)| (format!("tool/{path}"), *text)).collect();
    let files = files.iter().map(|(path, text)| (path.as_str(), *text));
    library(&files.chain([("tool/SKILL.md", SKILL)]).collect::<Vec<_>>())
}

fn serve(home: &Home, folder: &Path) -> Session {
    Launch::new(SKILLCELL).with_home(home.path()).arg(folder).start()
}

fn run(session: &mut Session, file: &str) -> Value {
    session.call_json("run_script", json!({"skill_path": "tool", "file": file}))
}

#[track_caller]
fn prints(session: &mut Session, file: &str, expected: &str) {
    let result = run(session, file);
    assert_eq!((&result["stdout"], &result["success"]), (&json!(expected), &json!(true)), "{result:#}");
}

#[test]
fn scripts_import_packages_after_their_own_files_and_the_standard_library() {
    let home = Home::new();
    let wheel = greeting("1.0")
        .file("helper.py", "whose = 'package'\n")
        .file("greeting/data/table.txt", "rows\n")
        .file("greeting/deep/__init__.py", "")
        .file("greeting/deep/module.py", "from .. import greet\n")
        .line("Summary: says hello");
    home.add(&[wheel]).done();
    let folder = skill(&[
        ("greet.py", "import greeting\nprint(greeting.greet('you'))\n"),
        (
            "own.py",
            "import helper, json, sys\nprint(helper.whose, json.__file__.startswith('/usr'), sys.path[-1], sys.argv)\n",
        ),
        ("helper.py", "whose = 'skill'\n"),
        ("deep.py", "from greeting.deep.module import greet\nprint(greet('x'))\n"),
        (
            "data.py",
            "import pkgutil, importlib.resources as r, importlib.metadata as m\nprint(pkgutil.get_data('greeting', 'data/table.txt'), r.files('greeting').joinpath('data/table.txt').read_text().strip(), m.version('greeting'), m.metadata('greeting')['Summary'])\n",
        ),
        ("error.py", "import greeting\ndef f():\n    greeting.greet()\nf()\n"),
        ("exit.py", "import sys\nsys.exit(7)\n"),
        (
            "directory.py",
            "import greeting, zipimport as z\nread = z._read_directory\nold = (read.__defaults__ or [read])[0]\npath = '/packages/site-packages.zip'\nprint(old is not read, z._zip_directory_cache[path] == old(path))\n",
        ),
    ]);
    let mut session = serve(&home, folder.path());
    prints(&mut session, "greet.py", "hello you from 1.0\n");
    prints(&mut session, "own.py", "skill True /packages/site-packages.zip ['/skill/own.py']\n");
    prints(&mut session, "deep.py", "hello x from 1.0\n");
    prints(&mut session, "data.py", "b'rows\\n' rows 1.0 says hello\n");
    assert_eq!(run(&mut session, "exit.py")["exit_code"], 7);
    prints(&mut session, "directory.py", "True True\n");
    let error = run(&mut session, "error.py");
    let stderr = error["stderr"].as_str().unwrap();
    let expected = "Traceback (most recent call last):\n  File \"/skill/error.py\", line 4, in <module>\n    f()\n    ~^^\n  File \"/skill/error.py\", line 3, in f\n";
    assert!(stderr.starts_with(expected), "{stderr}");
}

#[test]
fn the_digest_of_the_packages_is_in_the_policy_the_record_and_the_reports() {
    let home = Home::new();
    let folder = skill(&[("x.py", "print(1)\n"), ("x.sh", "echo 1\n")]);
    let mut session = serve(&home, folder.path());
    let policy = |session: &mut Session, file: &str| {
        session.call_json("run_script", json!({"skill_path": "tool", "file": file, "dry_run": true}))["digests"]["packages"].clone()
    };
    assert_eq!(policy(&mut session, "x.py"), Value::Null);
    home.add(&[greeting("1.0")]).done();
    let digest = home.list()["archive"].clone();
    assert_eq!(policy(&mut session, "x.py"), digest);
    prints(&mut session, "x.py", "1\n");
    prints(&mut session, "x.sh", "1\n");
    drop(session);
    let audit = Launch::bare(SKILLCELL).with_home(home.path()).arg("audit").arg("--json").output();
    let lines: Vec<Value> =
        audit.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let of_script =
        |name: &str| lines.iter().rev().find(|line| line["script"] == name).unwrap()["packages_digest"].clone();
    // A shell script can start Python.
    assert_eq!((of_script("x.py"), of_script("x.sh")), (digest.clone(), digest.clone()));
    let doctor = Launch::bare(SKILLCELL).with_home(home.path()).arg("doctor").arg("--root").arg(folder.path()).output();
    let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(
        text.contains(&format!("1 package for Python 3.14.8 in the sandbox, {}", digest.as_str().unwrap())),
        "{text}"
    );
}

#[test]
fn a_running_server_follows_the_lock_file_and_nothing_else() {
    let home = Home::new();
    let folder = skill(&[("greet.py", "import greeting\nprint(greeting.greet('you'))\n")]);
    let mut session = serve(&home, folder.path());
    assert_eq!(run(&mut session, "greet.py")["success"], false);
    home.add(&[greeting("1.0")]).done();
    prints(&mut session, "greet.py", "hello you from 1.0\n");
    // Another archive in the place of this one is not used, now or after a restart.
    let other = Home::new();
    other.add(&[greeting("6.6")]).done();
    let (archive, sound) = (home.archive(), std::fs::read(home.archive()).unwrap());
    for bytes in [std::fs::read(other.archive()).unwrap(), sound[..100].to_vec(), Vec::new()] {
        std::fs::write(&archive, bytes).unwrap();
        prints(&mut session, "greet.py", "hello you from 1.0\n");
        let mut restarted = serve(&home, folder.path());
        let result = run(&mut restarted, "greet.py");
        assert_eq!(result["success"], false, "{result}");
        assert!(restarted.log().contains("its content is not what the lock file says"), "{}", restarted.log());
        home.package(&["list"]).refused("its content is not what the lock file says");
        // It comes alive when the archive is repaired.
        std::fs::write(&archive, &sound).unwrap();
        prints(&mut restarted, "greet.py", "hello you from 1.0\n");
    }
    std::fs::remove_file(&archive).unwrap();
    prints(&mut session, "greet.py", "hello you from 1.0\n");
    home.add(&[greeting("2.0")]).done();
    prints(&mut session, "greet.py", "hello you from 2.0\n");
    home.package(&["remove", "greeting"]).done();
    assert_eq!(run(&mut session, "greet.py")["success"], false);
}

#[test]
fn a_package_can_do_no_more_than_a_script() {
    let home = Home::new();
    let source = "import os, sys, builtins, socket\n\
        found = []\n\
        def tries(name, action):\n    try:\n        action()\n        found.append(name)\n    except (OSError, ImportError, AttributeError, ValueError):\n        pass\n\
        tries('read', lambda: open('/etc/passwd').read())\n\
        tries('home', lambda: os.listdir('/home'))\n\
        tries('replace', lambda: open('/packages/site-packages.zip', 'wb').write(b''))\n\
        tries('remove', lambda: os.remove('/packages/site-packages.zip'))\n\
        tries('add', lambda: open('/packages/more.zip', 'wb').write(b''))\n\
        tries('library', lambda: open('/usr/local/lib/python314.zip', 'ab').write(b'x'))\n\
        tries('process', lambda: os.fork())\n\
        tries('socket', lambda: socket.create_connection(('127.0.0.1', 80)))\n\
        class Hook:\n    def find_spec(self, name, path=None, target=None):\n        return None\n\
        sys.meta_path.insert(0, Hook())\n\
        builtins.print = lambda *values: sys.stdout.write('hooked ' + ' '.join(map(str, values)) + chr(10))\n";
    home.add(&[Wheel::new("evil", "1").file("evil.py", source)]).done();
    let folder = skill(&[
        (
            "evil.py",
            "import importlib\nimport sys\nsys.path.pop(0)\nsys.modules.pop('evil', None)\nimport evil\nprint(evil.found)\n",
        ),
        ("plain.py", "print('plain')\n"),
    ]);
    std::fs::rename(folder.path().join("tool/evil.py"), folder.path().join("tool/try.py")).unwrap();
    let mut session = serve(&home, folder.path());
    prints(&mut session, "try.py", "hooked []\n");
    prints(&mut session, "plain.py", "plain\n");
    home.package(&["verify"]).done();
}

#[test]
fn a_missing_package_is_answered_with_the_command_that_adds_it() {
    let home = Home::new();
    let folder = skill(&[
        ("yaml_.py", "import yaml\n"),
        ("numpy_.py", "import numpy as np\n"),
        ("image.py", "from PIL import Image\n"),
        (
            "polite.py",
            "import sys\ntry:\n    import docx\nexcept ImportError:\n    sys.exit('Error: python-docx is missing. Run: pip install python-docx')\n",
        ),
        ("own.py", "import helpers_of_ours\n"),
    ]);
    let mut session = serve(&home, folder.path());
    let hint = |session: &mut Session, file: &str| run(session, file)["hint"].as_str().unwrap_or_default().to_owned();
    assert_eq!(
        hint(&mut session, "yaml_.py"),
        "the script needs the package `PyYAML`: the operator can add it with `skillcell package add PyYAML`"
    );
    let impossible = |package: &str| {
        format!(
            "`{package}` needs native code, and cannot run in the sandbox: declare a script that needs it with `execution: claude`, so that the agent runs it on the machine"
        )
    };
    assert_eq!(hint(&mut session, "numpy_.py"), impossible("numpy"));
    assert_eq!(hint(&mut session, "image.py"), impossible("Pillow"));
    assert_eq!(hint(&mut session, "polite.py"), impossible("python-docx"));
    assert_eq!(hint(&mut session, "own.py"), "");
}

#[test]
fn nested_runs_find_the_packages() {
    let home = Home::new();
    home.add(&[greeting("1.0")]).done();
    let import = "import greeting; print(greeting.greet(\"you\"))";
    let folder = skill(&[
        ("a.sh", &format!("python3 -c '{import}'\n")),
        (
            "a.js",
            &format!(
                "console.log(require('child_process').execFileSync('python3', ['-c', `{import}`]).toString().trim());\n"
            ),
        ),
        ("a.py", &format!("import subprocess\nsubprocess.run(['python3', '-c', '{import}'])\n")),
    ]);
    let mut session = serve(&home, folder.path());
    for file in ["a.sh", "a.js", "a.py"] {
        prints(&mut session, file, "hello you from 1.0\n");
    }
}
