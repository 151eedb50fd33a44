//! `run_script`: real scripts of skills, and the checks before a script runs.

use crate::{SKILLCELL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, SOON, Session, Surroundings, script_library, script_runs};
use std::collections::BTreeMap;
use std::time::Instant;

/// Creates a skill `tool` with these scripts.
pub fn skill(scripts: &[(&str, &str)]) -> tempfile::TempDir {
    let declared: String = scripts
        .iter()
        .map(|(file, _)| format!("  - file: {file}\n    execution: server\n    description: d\n"))
        .collect();
    let front_matter =
        format!("---\nname: tool\ndescription: A skill with scripts\nscripts:\n{declared}---\n\nText.\n");
    let mut files: Vec<(String, &str)> = vec![("tool/SKILL.md".to_owned(), &front_matter)];
    files.extend(scripts.iter().map(|(file, text)| (format!("tool/{file}"), *text)));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    library(&files)
}

pub fn run(session: &mut Session, file: &str) -> Value {
    session.call_json("run_script", json!({"skill_path": "tool", "file": file, "args": {}}))
}

/// Returns the text of a refusal.
fn refusal(session: &mut Session, arguments: Value) -> String {
    let result = session.call("run_script", arguments);
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn real_scripts_run_unmodified_with_the_recorded_output() {
    let library = script_library();
    let surroundings = Surroundings::start();
    let granted =
        format!("grants: {{{}: {{rates: {{hosts: ['{}']}}}}}}", library.path().display(), surroundings.host());
    let launch = serve(library.path()).config(&granted);
    let add = Launch::bare(SKILLCELL).with_home(launch.home()).arg("package").arg("add").arg("--wheel");
    assert!(add.arg(surroundings.wheel.to_str().unwrap()).output().status.success());
    let mut session = launch.start();
    let mut mismatches = Vec::new();
    for (skill, run) in script_runs() {
        let mut request = json!({"skill_path": skill, "file": run.script, "args": run.args, "argv": surroundings.argv(&run), "stdin": run.stdin, "files": run.files});
        if let Some(outputs) = &run.outputs {
            request["outputs"] = json!(outputs);
        }
        let result = session.call_json("run_script", request);
        let files = result["files"].as_array().cloned().unwrap_or_default();
        let written: BTreeMap<&str, &str> =
            files.iter().filter_map(|file| Some((file["path"].as_str()?, file["text"].as_str()?))).collect();
        let expected: BTreeMap<&str, &str> =
            run.written.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let as_recorded = (&result["exit_code"], &result["stdout"], &result["stderr"])
            == (&json!(run.exit_code), &json!(run.stdout), &json!(run.stderr))
            && written == expected
            && written.len() == files.len();
        if !as_recorded {
            mismatches.push(format!("{skill} {run:#?}\n{result:#}"));
        }
    }
    assert!(mismatches.is_empty(), "{} runs differ:\n{}", mismatches.len(), mismatches.join("\n"));
}

#[test]
fn the_nine_checks_run_in_order_each_with_its_message() {
    let front_matter = "---\nname: tool\ndescription: d\nscripts:\n  - {file: good.py, execution: server, args: [{name: a}, {name: b, required: false}, {name: c}]}\n  - {file: for-claude.sh, execution: claude}\n  - {file: program.rb, execution: server}\n  - {file: gone.py, execution: server}\n  - {file: page.txt, execution: server}\n---\n";
    let folder = library(&[
        ("tool/SKILL.md", front_matter),
        ("tool/good.py", "print('ran')"),
        ("tool/undeclared.rb", ""),
        ("tool/program.rb", ""),
        ("tool/page.txt", ""),
    ]);
    let mut session = serve(folder.path()).config("scripts: {allowed_extensions: [.py, .sh, .txt]}").start();
    let mut refuse = |skill: &str, file: &str, args: Value| {
        refusal(&mut session, json!({"skill_path": skill, "file": file, "args": args}))
    };
    assert!(refuse("no-such", "../x", json!({})).starts_with("no skill is called `no-such`"));
    assert!(refuse("tool", "../secret.py", json!({})).starts_with("path traversal: `../secret.py`"));
    assert!(refuse("tool", "/etc/passwd", json!({})).starts_with("path traversal"));
    let undeclared = refuse("tool", "undeclared.rb", json!({}));
    assert!(undeclared.starts_with("script `undeclared.rb` is not declared in `tool`"), "{undeclared}");
    assert!(undeclared.contains("`good.py`, `for-claude.sh`"), "{undeclared}");
    assert!(refuse("tool", "for-claude.sh", json!({})).contains("read it with get_asset and run it yourself"));
    let missing = refuse("tool", "good.py", json!({"b": "x"}));
    assert!(missing.starts_with("script `good.py` needs the arguments `a`, `c`"), "{missing}");
    assert!(refuse("tool", "program.rb", json!({})).starts_with("the extension `.rb` is not allowed"));
    assert!(refuse("tool", "gone.py", json!({})).contains("is declared but missing on disk"));
    assert!(refuse("tool", "page.txt", json!({})).starts_with("no runner is configured for `.txt`"));
    let good =
        session.call_json("run_script", json!({"skill_path": "tool", "file": "good.py", "args": {"a": "", "c": ""}}));
    assert_eq!((&good["success"], &good["stdout"]), (&json!(true), &json!("ran\n")));

    let mut session = serve(folder.path()).config("scripts: {enabled: false}").start();
    let text = refusal(&mut session, json!({"skill_path": "no-such", "file": "../x", "args": {}}));
    assert!(text.starts_with("scripts are disabled globally"), "{text}");
}

#[test]
fn wrong_arguments_are_reported_by_name() {
    let folder = skill(&[("a.py", "")]);
    let mut session = serve(folder.path()).start();
    for (arguments, message) in [
        (json!({"file": "a.py", "args": {}}), "skill_path is required"),
        (json!({"skill_path": "tool", "args": {}}), "file is required"),
        (json!({"skill_path": "tool", "file": "a.py", "args": []}), "args must be an object, not an array"),
        (json!({"skill_path": "tool", "file": "a.py", "args": {"n": [1]}}), "args.n must be a string, not an array"),
        (json!({"skill_path": "tool", "file": "a.py", "args": {}, "cwd": 1}), "cwd must be a string, not a number"),
        (
            json!({"skill_path": "tool", "file": "a.py", "args": {}, "timeout": 1}),
            "timeout is not an argument of this tool",
        ),
    ] {
        let answer = session.request("tools/call", json!({"name": "run_script", "arguments": arguments}));
        assert_eq!((&answer["error"]["code"], &answer["error"]["message"]), (&json!(-32602), &json!(message)));
    }
    let text = refusal(&mut session, json!({"skill_path": "tool", "file": "a.py", "args": {"a-b": "", "a_b": ""}}));
    assert!(text.contains("would both be `SKILL_ARG_A_B`"), "{text}");
    let long = "x".repeat(128 << 10);
    let text = refusal(&mut session, json!({"skill_path": "tool", "file": "a.py", "args": {"a": long}}));
    assert!(text.starts_with("the arguments have 131073 bytes, and the limit is 131072\nhint: "), "{text}");
    let text = refusal(&mut session, json!({"skill_path": "tool", "file": "a.py", "args": {}, "cwd": "relative"}));
    assert!(text.starts_with("`cwd` is not an absolute path"), "{text}");
}

#[test]
fn a_script_sees_its_arguments_its_folder_and_nothing_of_the_host() {
    let python = "import os, sys\nfor k in sorted(os.environ): print(k, os.environ[k])\nprint(sys.argv, os.getcwd(), sorted(os.listdir('/')))\n";
    let javascript = "for (const k of Object.keys(process.env).sort()) console.log(k, process.env[k]);\nconsole.log(process.argv.slice(1).join(), process.cwd(), require('fs').readdirSync('/').join());\n";
    let shell = "env | sort\necho \"$0 $PWD $(ls / | tr '\\n' ',')\"\n";
    let folder = skill(&[("a.py", python), ("a.js", javascript), ("a.sh", shell)]);
    let mut session = serve(folder.path()).env("SECRET", "hunter2").start();
    for (file, line) in [
        ("a.py", "['/skill/a.py'] /work ['skill', 'tmp', 'usr', 'work']"),
        ("a.js", "/skill/a.js /work skill,tmp,work"),
        ("a.sh", "/skill/a.sh /work "),
    ] {
        let request = json!({"skill_path": "tool", "file": file, "args": {"dry-run": "yes no"}});
        let result = session.call_json("run_script", request);
        let stdout = result["stdout"].as_str().unwrap();
        assert!(stdout.contains(line), "{file}: {stdout}{}", result["stderr"]);
        let separator = if file == "a.sh" { "=" } else { " " };
        for (name, value) in
            [("SKILL_ARG_DRY_RUN", "yes no"), ("SKILL_DIR", "/skill"), ("SKILL_PATH", "tool"), ("HOME", "/tmp")]
        {
            assert!(stdout.contains(&format!("{name}{separator}{value}\n")), "{file} {name}: {stdout}");
        }
        assert!(!stdout.contains("hunter2") && !stdout.contains("CARGO"), "{file}: {stdout}");
    }
}

#[test]
fn every_run_has_a_fresh_instance_and_an_empty_tmp() {
    let python = "import os\nprint(os.path.exists('/tmp/mark'))\nopen('/tmp/mark', 'w').write('x')\n";
    let folder = skill(&[("a.py", python)]);
    let mut session = serve(folder.path()).start();
    for _ in 0..3 {
        assert_eq!(run(&mut session, "a.py")["stdout"], "False\n");
    }
}

#[test]
fn deterministic_runs_see_the_same_time_and_random_numbers() {
    let python = "import random, time, os\nprint(random.random(), time.time(), os.urandom(8).hex())\n";
    let javascript =
        "setTimeout(() => console.log(Math.random(), Date.now() > 0, require('crypto').randomUUID()), 20)\n";
    let shell = "date +%Y-%m-%d; echo $RANDOM\n";
    let folder = skill(&[("a.py", python), ("a.js", javascript), ("a.sh", shell)]);
    let mut fixed = serve(folder.path()).config("scripts: {deterministic: true}").start();
    let mut free = serve(folder.path()).start();
    for file in ["a.py", "a.js"] {
        let once = run(&mut fixed, file)["stdout"].clone();
        assert_eq!(once, run(&mut fixed, file)["stdout"]);
        assert_ne!(run(&mut free, file)["stdout"], run(&mut free, file)["stdout"]);
    }
    assert!(run(&mut fixed, "a.sh")["stdout"].as_str().unwrap().starts_with("2000-01-01\n"));
}

#[test]
fn inherited_scripts_run_as_the_skill_that_owns_them() {
    let owner = "---\nkeywords: [a]\ndescription: d\nscripts:\n  - {file: who.sh, execution: server}\n---\n";
    let folder = library(&[
        ("_root.md", owner),
        ("_root/who.sh", "echo $SKILL_PATH; cat /skill/note.txt"),
        ("_root/note.txt", "the owner's\n"),
        ("leaf.md", "---\nkeywords: [b]\ndescription: d\n---\n"),
    ]);
    let mut session = serve(folder.path()).start();
    let result = session.call_json("run_script", json!({"skill_path": "leaf", "file": "who.sh", "args": {}}));
    assert_eq!(result["stdout"], "_root\nthe owner's\n", "{result}");
    assert_eq!(result["resolved_from"], "_root");
}

#[test]
fn siblings_can_be_imported_in_every_language() {
    let folder = skill(&[
        ("a.py", "import helper\nfrom lib import deep\nprint(helper.NAME, deep.NAME)\n"),
        ("helper.py", "NAME = 'helper'\n"),
        ("lib/__init__.py", ""),
        ("lib/deep.py", "NAME = 'deep'\n"),
        ("a.js", "const { name } = require('./lib/common');\nconsole.log(name);\n"),
        ("lib/common.js", "exports.name = 'common';\n"),
        ("a.mjs", "import { name } from './lib/module.mjs';\nconsole.log(name);\n"),
        ("lib/module.mjs", "export const name = 'module';\n"),
        ("a.ts", "import { name, type Kind } from './lib/typed';\nconst kind: Kind = 'x';\nconsole.log(name, kind);\n"),
        ("lib/typed.ts", "export type Kind = 'x' | 'y';\nexport const name: string = 'typed';\n"),
        ("a.sh", "source \"$(dirname \"${BASH_SOURCE[0]}\")/lib/common.sh\"\ngreet shell\n"),
        ("lib/common.sh", "greet() { echo \"hello $1\"; }\n"),
    ]);
    let mut session = serve(folder.path()).start();
    for (file, stdout) in [
        ("a.py", "helper deep\n"),
        ("a.js", "common\n"),
        ("a.mjs", "module\n"),
        ("a.ts", "typed x\n"),
        ("a.sh", "hello shell\n"),
    ] {
        let result = run(&mut session, file);
        assert_eq!(result["stdout"], stdout, "{file}: {result}");
    }
}

#[test]
fn missing_modules_and_programs_are_named() {
    let folder = skill(&[
        ("a.py", "import numpy\n"),
        ("b.py", "import subprocess\nsubprocess.run(['git', 'log'])\n"),
        ("a.js", "require('left-pad')\n"),
        ("b.js", "require('child_process').execFileSync('git')\n"),
        ("a.sh", "frobnicate --now\n"),
        ("b.sh", "curl https://example.com\n"),
        ("a.ts", "const x: = 3;\n"),
    ]);
    let mut session = serve(folder.path()).start();
    for (file, name) in [
        ("a.py", "numpy"),
        ("b.py", "FileNotFoundError: [Errno 44] No such file or directory: 'git'"),
        ("a.js", "left-pad"),
        ("b.js", "spawnSync git ENOENT"),
        ("a.sh", "frobnicate"),
        ("b.sh", "curl"),
        ("a.ts", "a.ts"),
    ] {
        let result = run(&mut session, file);
        assert_eq!(result["success"], false, "{file}: {result}");
        assert!(result["stderr"].as_str().unwrap().contains(name), "{file}: {result}");
    }
}

#[test]
fn content_can_disable_scripts_and_lower_limits_but_not_raise_them() {
    let folder = skill(&[("a.sh", "while :; do :; done\n")]);
    let config = |text: &str| std::fs::write(folder.path().join("config.yaml"), text).unwrap();
    let mut session = serve(folder.path()).config("scripts: {timeout_seconds: 2}").start();
    config("scripts: {timeout_seconds: 1, max_output_bytes: 5}\n");
    let dry = json!({"skill_path": "tool", "file": "a.sh", "args": {}, "dry_run": true});
    let policy = session.call_json("run_script", dry.clone());
    assert_eq!((&policy["limits"]["timeout_seconds"], &policy["limits"]["max_output_bytes"]), (&json!(1), &json!(5)));
    assert_eq!(run(&mut session, "a.sh")["limit_hit"], "time");
    config("scripts: {timeout_seconds: 999}\ngrants: {/: {tool: {read: [/]}}}\n");
    let policy = session.call_json("run_script", dry.clone());
    assert_eq!(policy["limits"]["timeout_seconds"], 2);
    let codes: Vec<String> = crate::problems(&mut session, "code").into_iter().map(|(_, code)| code).collect();
    assert_eq!(codes, ["raised-limit", "forbidden-setting"]);
    config("scripts: {enabled: false}\n");
    assert!(refusal(&mut session, dry).starts_with("scripts are disabled in the `config.yaml`"));
}

#[test]
fn an_invalid_configuration_is_reported_with_its_line() {
    let folder = skill(&[]);
    for (yaml, part) in [
        ("scripts:\n  enabled: true\n  timeout: 3\n", "config.yaml:3:3: "),
        ("scripts: {timeout_seconds: 0}\n", "scripts.timeout_seconds is 0"),
        ("grants:\n  /x:\n    tool:\n      hosts: ['*']\n", "`*` is not a host"),
    ] {
        let mut session = serve(folder.path()).config(yaml).silent();
        let (status, _) = session.wait();
        assert_eq!(status.code(), Some(2), "{yaml}");
        session.wait_for_log(part);
    }
}

#[test]
fn a_cancelled_script_stops_and_frees_its_slot() {
    let folder = skill(&[
        ("spin.sh", "echo started; while :; do :; done\n"),
        ("sleep.py", "import time\ntime.sleep(3600)\n"),
        ("a.sh", "echo ran\n"),
    ]);
    let mut session = serve(folder.path()).config("scripts: {runs_at_once: 1}").start();
    for file in ["spin.sh", "sleep.py"] {
        let long = json!({"name": "run_script", "arguments": {"skill_path": "tool", "file": file, "args": {}}, "_meta": {"progressToken": file}});
        let id = session.post("tools/call", long);
        let running = session.next_message();
        assert_eq!(running["method"], "notifications/progress", "{running}");
        assert!(running["params"]["message"].as_str().unwrap().starts_with("running"), "{running}");
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
        let began = Instant::now();
        assert_eq!(run(&mut session, "a.sh")["stdout"], "ran\n");
        // The time limit of the script would end it after a minute.
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    }
}

#[test]
fn runs_queue_when_all_slots_are_busy_and_report_it() {
    let folder = skill(&[("spin.sh", "while :; do :; done\n"), ("a.sh", "echo ran\n")]);
    let mut session = serve(folder.path()).config("scripts: {runs_at_once: 1, timeout_seconds: 2}").start();
    let call = |file: &str| json!({"name": "run_script", "arguments": {"skill_path": "tool", "file": file, "args": {}}, "_meta": {"progressToken": file}});
    let first = session.post("tools/call", call("spin.sh"));
    let running = session.next_message();
    assert_eq!(running["params"]["progressToken"], "spin.sh");
    let second = session.post("tools/call", call("a.sh"));
    let waiting = session.next_message();
    assert_eq!(waiting["params"]["progressToken"], "a.sh", "{waiting}");
    assert!(waiting["params"]["message"].as_str().unwrap().starts_with("waiting for a free slot"), "{waiting}");
    assert!(
        session.answer(&first)["result"]["content"][0]["text"].as_str().unwrap().contains("\"limit_hit\":\"time\"")
    );
    assert!(session.answer(&second)["result"]["content"][0]["text"].as_str().unwrap().contains("ran"));
}

#[test]
fn a_running_script_does_not_delay_the_shutdown() {
    let folder = skill(&[("spin.sh", "while :; do :; done\n")]);
    let mut session = serve(folder.path()).start();
    let long = json!({"name": "run_script", "arguments": {"skill_path": "tool", "file": "spin.sh", "args": {}}, "_meta": {"progressToken": 1}});
    session.post("tools/call", long);
    session.next_message();
    session.close_input();
    session.exits_soon();
    let home = session.home().to_owned();
    let audit = Launch::bare(SKILLCELL).with_home(&home).arg("audit").output();
    assert!(String::from_utf8_lossy(&audit.stdout).contains("tool spin.sh  exit 137"), "{audit:?}");
}

#[test]
fn two_hundred_concurrent_runs_finish_correctly_and_do_not_block_other_requests() {
    let python = "import os\nprint(sum(range(int(os.environ['SKILL_ARG_N']))))\n";
    let javascript = "let s = 0; for (let i = 0; i < +process.env.SKILL_ARG_N; i++) s += i; console.log(s);\n";
    let shell = "s=0; for ((i = 0; i < SKILL_ARG_N; i++)); do ((s += i)) || true; done; echo $s\n";
    let folder = skill(&[("a.py", python), ("a.js", javascript), ("a.sh", shell)]);
    let mut session = serve(folder.path()).start();
    let memory_mib = |session: &Session| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", session.process_id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or("VmRSS: 0 kB").to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    };
    let mut expected = Vec::new();
    for number in 0..200_u64 {
        let file = ["a.py", "a.js", "a.sh"][usize::try_from(number % 3).unwrap()];
        let n = number * 5;
        let arguments = json!({"skill_path": "tool", "file": file, "args": {"n": n.to_string()}});
        let id = session.post("tools/call", json!({"name": "run_script", "arguments": arguments}));
        expected.push((id, format!("{}\n", n * n.saturating_sub(1) / 2)));
    }
    session.call("list_skills", json!({}));
    let waiting = expected.iter().filter(|(id, _)| !session.is_answered(id)).count();
    assert!(waiting > 0, "the list was answered after all runs");
    let mut peak = 0;
    for (id, stdout) in expected {
        let answer = session.answer(&id);
        peak = peak.max(memory_mib(&session));
        let result: Value = serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(result["stdout"], stdout, "{result}");
    }
    assert!(peak < 1_000, "{peak} MiB");
}

/// Whether every thread of a process has the filter that forbids starting programs.
#[cfg(target_os = "linux")]
fn assert_cannot_start_programs(process: u32) {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let mut seen = 0;
    for thread in threads.flatten() {
        let Ok(status) = std::fs::read_to_string(thread.path().join("status")) else { continue };
        assert!(status.contains("Seccomp:\t2"), "a thread without the filter: {status}");
        assert!(status.contains("NoNewPrivs:\t1"), "{status}");
        seen += 1;
    }
    assert!(seen > 2);
}

#[test]
#[cfg(target_os = "linux")]
fn the_server_cannot_start_programs() {
    let folder = skill(&[("a.sh", "echo ran\n")]);
    let mut session = serve(folder.path()).start();
    assert_eq!(run(&mut session, "a.sh")["stdout"], "ran\n");
    assert_cannot_start_programs(session.process_id());
}

#[test]
#[cfg(target_os = "linux")]
fn other_commands_that_run_guests_cannot_start_programs() {
    let folder = skill(&[("spin.sh", "while :; do :; done\n")]);
    let launch = |command: &str| {
        let launch = Launch::bare(SKILLCELL).env("SKILLCELL_LOG", "debug");
        command.split(' ').fold(launch, Launch::arg)
    };
    let root = folder.path().to_str().unwrap();
    let running = launch("run tool spin.sh --root").arg(root).silent();
    running.wait_for_log("running `spin.sh`");
    assert_cannot_start_programs(running.process_id());
    for command in
        ["match word --root", "list --root", "search word --root", "show tool --root", "lint", "doctor --root"]
    {
        let output = launch(command).arg(root).output();
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(log.contains("no program can be started from here on"), "{command}: {log}");
    }
    let output = launch("plugin list").output();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(log.contains("no program can be started from here on"), "{log}");
}
