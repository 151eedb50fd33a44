//! Scripts that run other scripts: on the same files, out of the same limits, with the same grants.

use crate::script_io::{plain_skill, run};
use crate::serve;
use serde_json::{Value, json};

const CHILD: (&str, &str) = (
    "child.py",
    "import os, sys\nprint(sys.argv[1:], sys.stdin.read(), os.getcwd(), os.environ.get('X'))\nprint('oh', file=sys.stderr)\nopen('/tmp/made', 'w').write('made')\nsys.exit(7)\n",
);

/// What the child prints for the arguments `a` and `b c`.
const PRINTED: &str = "['a', 'b c'] in /skill 1\n";

fn ran(files: &[(&str, &str)], file: &str, more: Value) -> Value {
    run(&mut serve(plain_skill(files).path()).start(), file, more)
}

/// Runs a script with a configuration.
fn limited(config: &str, script: (&str, &str)) -> Value {
    run(&mut serve(plain_skill(&[script, CHILD]).path()).config(config).start(), script.0, json!({}))
}

#[test]
fn every_language_runs_a_script_of_another_on_the_same_files() {
    let callers = [
        (
            "a.py",
            "import subprocess, sys\nr = subprocess.run([sys.executable, '/skill/child.py', 'a', 'b c'], input='in', text=True, capture_output=True, cwd='/skill', env={'X': '1'})\nprint(r.stdout, r.stderr, r.returncode, open('/tmp/made').read(), sep='', end='')\n",
        ),
        (
            "a.sh",
            "cd /skill\nout=$(printf in | X=1 python3 child.py a 'b c' 2>/tmp/errors)\ncode=$?\necho \"$out\"; cat /tmp/errors; printf %s \"$code$(cat /tmp/made)\"\n",
        ),
        (
            "a.js",
            "const { spawnSync } = require('child_process');\nconst r = spawnSync('python3', ['child.py', 'a', 'b c'], { input: 'in', encoding: 'utf8', cwd: '/skill', env: { X: '1' } });\nprocess.stdout.write(r.stdout + r.stderr + r.status + require('fs').readFileSync('/tmp/made', 'utf8'));\n",
        ),
        (
            "a.ts",
            "import { execFile } from 'node:child_process';\nconst child = execFile('/usr/bin/env', ['python3', './child.py', 'a', 'b c'], { cwd: '/skill', env: { X: '1' } }, (error: any, out: string, err: string) => {\n  process.stdout.write(out + err + error.code + require('fs').readFileSync('/tmp/made', 'utf8'));\n});\nchild.stdin.end('in');\n",
        ),
    ];
    let folder = plain_skill(&[callers.as_slice(), &[CHILD]].concat());
    let mut session = serve(folder.path()).start();
    for (file, _) in callers {
        let result = run(&mut session, file, json!({}));
        assert_eq!(result["stdout"], format!("{PRINTED}oh\n7made"), "{file}: {result}");
    }
}

#[test]
fn python_starts_programs_in_all_the_usual_ways() {
    let script = r#"
import os, subprocess, sys
print(subprocess.check_output("echo hi | tr a-z A-Z; python3 -c 'print(1 + 1)'", shell=True, text=True), end="")
print(subprocess.call(["bash", "-euo", "pipefail", "steps.sh", "x"]), os.system("exit 3"), os.popen("echo popen").read(), end="")
with subprocess.Popen(["node", "-p", "1 + 2"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
    print([line for line in process.stdout], process.wait())
process = subprocess.Popen(["python3", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
process.stdin.write("import sys\nprint(sys.argv)\n")
print(process.communicate()[0], end="")
print(subprocess.run(["./tool.py", "1"], capture_output=True, text=True).stdout, end="")
with open("log.txt", "w") as log:
    subprocess.run(["sh", "-c", "echo $0 $1", "name", "first"], stdout=log, check=True)
print(open("log.txt").read(), end="")
for command in (["git", "status"], "git status", ["/skill/none.py"], ["/bin/ls"], [""], ["python3 -c 1"]):
    try:
        print(subprocess.run(command))
    except FileNotFoundError as error:
        print("missing", error.filename)
try:
    subprocess.run([sys.executable, "-c", "while True: pass"], timeout=0.5, capture_output=True)
except subprocess.TimeoutExpired as error:
    print(error.timeout)
try:
    subprocess.run(["python3", "-c", "raise SystemExit(5)"], check=True)
except subprocess.CalledProcessError as error:
    print(error.returncode)
for bad, kind in ((["python3", "a\0b"], ValueError), ([], ValueError)):
    try:
        subprocess.run(bad)
    except kind as error:
        print(kind.__name__)
try:
    subprocess.run(["python3", "-V"], cwd="/nowhere")
except FileNotFoundError as error:
    print("cwd", error.filename)
"#;
    let steps = "echo \"$0 $1\"\nfalse | true\necho unreachable\n";
    let tool = "#!/usr/bin/env python3\nimport sys\nprint('tool', sys.argv[1])\n";
    let result = ran(&[("a.py", script), ("steps.sh", steps), ("tool.py", tool)], "a.py", json!({}));
    let expected = "steps.sh x\nHI\n2\n1 768 popen\n[b'3\\n'] 0\n['-']\ntool 1\nname first\nmissing git\nmissing git status\nmissing /skill/none.py\nmissing /bin/ls\nmissing \nmissing python3 -c 1\n0.5\n5\nValueError\nValueError\ncwd /nowhere\n";
    assert_eq!((&result["stdout"], &result["stderr"]), (&json!(expected), &json!("")), "{result}");
}

#[test]
fn the_shell_and_javascript_start_programs_in_all_the_usual_ways() {
    let shell = "python3 - <<'END'\nprint('here')\nEND\n./tool.py 1 | cat\nnode -e 'console.log(\"node\")'\nnpx tsx t.ts\nif command -v python3 >/dev/null; then echo found; fi\ngit status; echo $?\n";
    let script = r"
const { exec, execFileSync, execSync, fork, spawn } = require('child_process');
console.log(execSync('echo one; python3 -c \'print(2)\'').toString());
try { execFileSync('git', ['status']); } catch (error) { console.log(error.code, error.path); }
try { execSync('echo bad >&2; exit 4', { stdio: 'pipe' }); } catch (error) { console.log(error.status, error.stderr.toString()); }
try { fork('x.js'); } catch (error) { console.log(error.code); }
execSync('echo inherited', { stdio: 'inherit' });
const child = spawn('bash', ['-c', 'cat; exit 2']);
child.stdout.on('data', (data) => console.log('data', `${data}`));
child.on('close', (code) => console.log('close', code));
child.stdin.write('typed');
child.stdin.end();
spawn('nothing').on('error', (error) => console.log(error.message));
require('util').promisify(exec)('echo promised').then(({ stdout }) => console.log(stdout));
";
    let files = [
        ("a.sh", shell),
        ("a.js", script),
        ("t.ts", "const x: number = 3;\nconsole.log('ts', x);\n"),
        ("tool.py", "#!/usr/bin/env python3\nimport sys\nprint('tool', sys.argv[1])\n"),
    ];
    let folder = plain_skill(&files);
    let mut session = serve(folder.path()).start();
    let result = run(&mut session, "a.sh", json!({}));
    assert_eq!(result["stdout"], "here\ntool 1\nnode\nts 3\nfound\n127\n", "{result}");
    let result = run(&mut session, "a.js", json!({}));
    let mut lines: Vec<&str> = result["stdout"].as_str().unwrap().lines().filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    let mut expected = [
        "one",
        "2",
        "ENOENT git",
        "4 bad",
        "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
        "inherited",
        "data typed",
        "close 2",
        "spawn nothing ENOENT",
        "promised",
    ];
    expected.sort_unstable();
    assert_eq!(lines, expected, "{result}");
}

#[test]
fn a_nested_run_counts_against_the_limits_of_its_run() {
    let spins = "import subprocess, sys\nopen('kept.txt', 'w').write('kept')\nsubprocess.run([sys.executable, '-c', 'print(1, flush=True)\\nwhile True: pass'])\nprint('unreachable')\n";
    let result = limited("scripts: {timeout_seconds: 1}", ("a.py", spins));
    assert_eq!((&result["limit_hit"], &result["exit_code"]), (&json!("time"), &json!(137)), "{result}");
    let result = limited("scripts: {fuel: 300000000, timeout_seconds: 600}", ("a.py", spins));
    assert_eq!((&result["limit_hit"], &result["exit_code"]), (&json!("fuel"), &json!(137)), "{result}");
    assert_eq!((&result["stdout"], &result["files"][0]["text"]), (&json!("1\n"), &json!("kept")), "{result}");
    // Each needs less than the limit, both together more.
    let hungry = "import subprocess, sys\nx = bytearray(120 << 20)\nprint(subprocess.run([sys.executable, '-c', 'x = bytearray(120 << 20)']))\n";
    let result = limited("", ("a.py", hungry));
    assert_eq!((&result["limit_hit"], &result["stdout"]), (&json!("memory"), &json!("")), "{result}");
    let alone = hungry.replace("x = bytearray(120 << 20)\nprint", "print");
    let result = limited("", ("a.py", &alone));
    assert_eq!(result["limit_hit"], Value::Null, "{result}");
    assert!(result["peak_memory_bytes"].as_u64().unwrap() > 120 << 20, "{result}");

    let loud = "import subprocess, sys\nr = subprocess.run([sys.executable, '-c', 'print(\"x\" * 3000)'], capture_output=CAPTURED)\nprint(len(r.stdout or b''))\n";
    let result = limited("scripts: {max_output_bytes: 1000}", ("a.py", &loud.replace("CAPTURED", "True")));
    assert_eq!((&result["stdout"], &result["limit_hit"]), (&json!("1000\n"), &json!("output")), "{result}");
    let result = limited("scripts: {max_output_bytes: 1000}", ("a.py", &loud.replace("CAPTURED", "False")));
    assert_eq!((&result["stdout"], &result["limit_hit"]), (&json!("x".repeat(1000)), &json!("output")), "{result}");

    let full = "python3 -c \"open('/tmp/a', 'w').write('x' * 600)\"\npython3 -c \"with open('/tmp/b', 'w') as file: file.write('x' * 600)\" 2>/dev/null || echo full\n";
    let result = limited("scripts: {scratch_bytes: 1000}", ("a.sh", full));
    assert_eq!((&result["stdout"], &result["limit_hit"]), (&json!("full\n"), &json!("scratch")), "{result}");
}

#[test]
fn nested_runs_are_at_most_four_deep() {
    let script = "import subprocess, sys\ndepth = int(sys.argv[1])\nprint(depth, flush=True)\ntry:\n    subprocess.run([sys.executable, '/skill/a.py', str(depth + 1)])\n    subprocess.run([sys.executable, '/skill/a.py', str(depth + 1)])\nexcept BlockingIOError:\n    print('end', flush=True)\n";
    let result = ran(&[("a.py", script)], "a.py", json!({"argv": ["0"]}));
    let lines: Vec<&str> = result["stdout"].as_str().unwrap().lines().collect();
    assert_eq!((lines.iter().filter(|line| **line == "4").count(), lines.contains(&"5")), (16, false), "{result}");
    assert_eq!(lines.iter().filter(|line| **line == "end").count(), 16, "{result}");
    let shell = "echo $1; [ $1 -lt 9 ] && python3 -c \"import subprocess; subprocess.run(['bash', '/skill/a.sh', '$(($1 + 1))'])\"\n";
    let result = ran(&[("a.sh", shell)], "a.sh", json!({"argv": ["0"]}));
    assert_eq!(result["stdout"], "0\n1\n2\n", "{result}");
}

#[test]
fn a_nested_run_has_no_more_rights_than_its_run() {
    let reach = "import os, sys, urllib.request\nfor path in ('/etc/passwd', '/skill/../etc/passwd', '/proc/self/environ'):\n    print(os.path.exists(path))\nopen('/skill/new.txt', 'w').write('x')\nprint(sorted(os.environ))\ntry:\n    urllib.request.urlopen('http://127.0.0.1:1/')\nexcept OSError as error:\n    print('refused')\n";
    let caller = "import subprocess, sys\nsubprocess.run([sys.executable, '/skill/reach.py'], env={'A': '1'})\nprint(open('/skill/new.txt').read())\n";
    let folder = plain_skill(&[("a.py", caller), ("reach.py", reach)]);
    let mut session = serve(folder.path()).start();
    let result = run(&mut session, "a.py", json!({}));
    assert_eq!(result["stdout"], "False\nFalse\nFalse\n['A', 'PWD']\nrefused\nx\n", "{result}");
    assert!(result["refusals"].to_string().contains("127.0.0.1:1"), "{result}");
    assert!(!folder.path().join("tool/new.txt").exists());

    // An extension that the operator does not allow is not run by another script either.
    let both = "import subprocess\nfor name in ('bash', 'node'):\n    try:\n        print(subprocess.run([name, '-e', '1'], capture_output=True).returncode)\n    except FileNotFoundError:\n        print('missing')\n";
    let result = limited("scripts: {allowed_extensions: [.py, .js]}", ("a.py", both));
    assert_eq!(result["stdout"], "missing\n0\n", "{result}");
}

#[test]
fn malformed_requests_for_a_nested_run_are_refused() {
    let script = r"
import _bashkit
def ask(fields, body=b''):
    try:
        status, answer, body = _bashkit.http('RUN', 'skillcell:programs', fields, body, None)
        print(status, answer[0])
    except (ValueError, ConnectionError, OSError) as error:
        print(type(error).__name__, error)
ask([])
ask([('arg', '')])
ask([('bogus', 'x')])
ask([('arg', 'python3'), ('stdout', 'elsewhere')])
ask([('arg', 'python3'), ('variable', 'without')])
ask([('arg', 'env')] * 100)
ask([('arg', '/tmp/a.sh'), ('folder', '../../..')])
ask([('arg', './../../../etc/hosts'), ('folder', '/tmp')])
ask([('arg', 'bash'), ('arg', '-o'), ('arg', 'pipefail; echo no')])
ask([('arg', 'bash'), ('arg', 'none.sh'), ('folder', 'relative')])
ask([('arg', 'python3'), ('arg', '-c'), ('arg', 'print(1)')] + [('variable', f'A{n}=1') for n in range(5000)])
ask([('arg', 'python3')], b'x' * (17 << 20))
try:
    _bashkit.http('RUN', 'skillcell:other', [], b'', None)
except ValueError as error:
    print(error)
";
    let result = ran(&[("a.py", script)], "a.py", json!({}));
    let lines: Vec<&str> = result["stdout"].as_str().unwrap().lines().collect();
    let missing = "0 ('failure', 'not-found')";
    let malformed = "ValueError malformed request";
    let expected = [
        "1",
        missing,
        missing,
        malformed,
        malformed,
        malformed,
        missing,
        missing,
        missing,
        missing,
        "127 ('ended', 'exited')",
        "0 ('ended', 'exited')",
        "ValueError the request is larger than 16 MiB",
        "only http and https are supported, not `skillcell:other`",
    ];
    assert_eq!(lines, expected, "{result}");
}

#[test]
fn modules_that_need_processes_or_sockets_fail_only_when_used() {
    let script = r#"
import asyncio, concurrent.futures, http.server, multiprocessing, ssl, unittest, webbrowser
from unittest import mock
with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
    print(list(pool.map(abs, [-1, -2])), pool.submit(int, "x").exception())
    done = [future.result() for future in concurrent.futures.as_completed([pool.submit(pow, 2, 3)])]
with concurrent.futures.ProcessPoolExecutor() as pool:
    print(done, pool.submit(sum, [1, 2]).result())
with multiprocessing.Pool(4) as pool:
    print(pool.map(abs, [-3]), pool.starmap(pow, [(2, 5)]), pool.apply_async(max, (1, 2)).get(), multiprocessing.cpu_count())
print(webbrowser.open("https://example.com"))
for use in (lambda: multiprocessing.Process(target=print).start(), lambda: http.server.HTTPServer(("", 0), None), lambda: ssl.create_default_context().wrap_socket(None), mock.Mock):
    try:
        use()
    except (OSError, NotImplementedError) as error:
        print(error)

class Tests(unittest.TestCase):
    def test_good(self):
        self.assertEqual(1, 1)
        with self.assertRaises(ZeroDivisionError):
            1 / 0
    @unittest.skip("later")
    def test_skipped(self):
        self.fail()
    def test_wrong(self):
        self.assertIn(1, [2])

unittest.main()
"#;
    let result = ran(&[("a.py", script)], "a.py", json!({}));
    let expected = "[1, 2] invalid literal for int() with base 10: 'x'\n[8] 3\n[3] [32] 2 1\nFalse\nscripts run in a sandbox that has no processes; use a Pool, or subprocess for another script\n[Errno 58] scripts run in a sandbox that cannot listen on a port\nscripts in the sandbox have no sockets: use urllib, requests or httpx\nunittest.mock is not available in the sandbox; run tests that need it outside\n";
    assert_eq!((&result["stdout"], &result["exit_code"]), (&json!(expected), &json!(1)), "{result}");
    let errors = result["stderr"].as_str().unwrap();
    assert!(errors.starts_with(".sF\n"), "{errors}");
    assert!(errors.contains("AssertionError: 1 not found in [2]") && errors.contains("Ran 3 tests in"), "{errors}");
    assert!(errors.ends_with("FAILED (failures=1, skipped=1)\n"), "{errors}");
}

#[test]
fn a_cancelled_run_ends_with_its_nested_run() {
    let spins = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'while True: pass'])\n";
    let folder = plain_skill(&[("spin.py", spins), ("b.py", "print('ran')")]);
    let mut session = serve(folder.path()).config("scripts: {runs_at_once: 1, timeout_seconds: 86400}").start();
    let arguments = json!({"skill_path": "tool", "file": "spin.py"});
    let id = session
        .post("tools/call", json!({"name": "run_script", "arguments": arguments, "_meta": {"progressToken": "spin"}}));
    assert_eq!(session.next_message()["method"], "notifications/progress");
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    // It gets the only slot.
    assert_eq!(run(&mut session, "b.py", json!({}))["stdout"], "ran\n");
}
