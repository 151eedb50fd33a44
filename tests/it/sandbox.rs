//! Hostile scripts: every guarantee of the sandbox, in every language.
//!
//! A script prints `held` where the sandbox stopped it and `BROKEN` where it did not. The scripts are in `fixtures/hostile`,
//! and the equivalent guest is in `tests/components/hostile-guest`.

mod scene;

use crate::hostile::StopOnDrop;
use crate::{SKILLCELL, serve, still_answers};
use scene::{Attempt, RUNTIMES, Scene, in_every_runtime, module_names, post, run, wait};
use serde_json::json;
use skillcell_tests::{Launch, SOON, repository, write_files};
use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// The last line of a script that exceeded the time limit.
const TIMEOUT_MESSAGE: &str = "[skills-mcp] Script killed: timeout exceeded.";

#[test]
fn paths_cannot_leave_the_sandbox() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 600");
    let before = scene.tree();
    let mut attempts = in_every_runtime("climb", json!({"secret": scene.path().join("secret.txt")}));
    attempts.push(Attempt::module("climb"));
    for (attempt, outcome) in run(&mut session, attempts) {
        outcome.ended_with(0).hit_limit(None);
        if attempt.runtime != "module" {
            assert!(outcome.held_count() >= 12, "{outcome}");
        }
        let top = outcome.text("stdout").lines().find_map(|line| line.strip_prefix("top: "));
        match attempt.runtime {
            // Its own library is in `/usr`.
            "python" => assert_eq!(top, Some("skill tmp usr work"), "{outcome}"),
            "javascript" => assert_eq!(top, Some("skill tmp work"), "{outcome}"),
            // To wasi-libc `/` is the folder that a program starts in, which shows the skill.
            "guest" => assert!(top.is_some_and(|names| names.starts_with("SKILL.md ")), "{outcome}"),
            // The shell simulates `/bin`, `/dev` and `/etc`.
            "shell" => assert!(outcome.text("stdout").contains("found: /skill/race/secret.txt\n"), "{outcome}"),
            _ => {}
        }
        // The other runtimes normalize paths themselves.
        if ["python", "module"].contains(&attempt.runtime) {
            outcome.was_refused("leads out of the folder");
        }
    }
    assert_eq!(scene.tree(), before);
}

#[test]
fn links_cannot_leave_the_sandbox_and_cannot_be_created() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 600");
    let before = scene.tree();
    for (_, outcome) in run(&mut session, in_every_runtime("follow-link", json!({}))) {
        outcome.ended_with(0).was_refused("leads out of the folder");
        assert!(outcome.held_count() >= 8, "{outcome}");
    }
    for (attempt, outcome) in run(&mut session, in_every_runtime("make-link", json!({}))) {
        outcome.ended_with(0);
        assert_eq!(outcome.held_count(), 4, "{outcome}");
        // The JavaScript runtime refuses it itself.
        if attempt.runtime != "javascript" {
            outcome.was_refused("create the link `/tmp/link`: links cannot be created");
        }
    }
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_folder_swapped_for_a_link_while_scripts_read_it_leaks_nothing() {
    let scene = Scene::new();
    let skill = |runtime: &str| format!("hostile-{runtime}: {{read: [{}]}}", scene.project(runtime).display());
    let grants = RUNTIMES.map(skill).join(", ");
    let scripts = "scripts: {runs_at_once: 16, timeout_seconds: 600}";
    let config = format!("{scripts}\ngrants: {{{}: {{{grants}}}}}", scene.library().display());
    let mut session = serve(&scene.library()).config(&config).with_shared_cache().start();
    let stop = AtomicBool::new(false);
    let folders = RUNTIMES.iter().flat_map(|runtime| [scene.skill(runtime), scene.project(runtime)]);
    let folders: Vec<PathBuf> = folders.collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for folder in &folders {
                    let (real, moved) = (folder.join("race"), folder.join("parked"));
                    fs::rename(&real, &moved).unwrap();
                    symlink(scene.path().join("outside"), &real).unwrap();
                    fs::remove_file(&real).unwrap();
                    fs::rename(&moved, &real).unwrap();
                }
            }
        });
        let _stop = StopOnDrop(&stop);
        let attempts =
            RUNTIMES.map(|runtime| Attempt::new(runtime, "race-link", json!({})).in_folder(&scene.project(runtime)));
        for (attempt, outcome) in run(&mut session, attempts.into()) {
            outcome.ended_with(0);
            let folders: &[&str] = if attempt.runtime == "guest" { &["/skill", "/work"] } else { &["/skill"] };
            for folder in folders {
                let was_served = outcome.text("stdout").lines().any(|line| {
                    line.starts_with("held: honest") && line.ends_with(folder) && !line.contains("honest 0 ")
                });
                assert!(was_served, "the file was never served: {outcome}");
            }
        }
    });
}

#[test]
fn a_skill_changes_itself_only_in_memory() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 600");
    let before = scene.tree();
    for (_, outcome) in run(&mut session, in_every_runtime("write-skill", json!({}))) {
        outcome.ended_with(0);
        assert!(outcome.held_count() >= 1, "{outcome}");
        assert!(outcome.text("stdout").matches("in memory: ").count() >= 8, "{outcome}");
    }
    assert_eq!(scene.tree(), before);
}

#[test]
fn scripts_cannot_change_files_that_control_agents_in_a_writable_project() {
    let scene = Scene::new();
    let skill = |runtime: &str| format!("hostile-{runtime}: {{write: [{}]}}", scene.project(runtime).display());
    let grants = RUNTIMES.map(skill).join(", ");
    let config = format!("scripts: {{timeout_seconds: 600}}\ngrants: {{{}: {{{grants}}}}}", scene.library().display());
    let mut session = serve(&scene.library()).config(&config).with_shared_cache().start();
    let mut expected = scene.tree();
    let attempts =
        RUNTIMES.map(|runtime| Attempt::new(runtime, "write-work", json!({})).in_folder(&scene.project(runtime)));
    for (attempt, outcome) in run(&mut session, attempts.into()) {
        outcome.ended_with(0).was_refused("protected");
        assert!(outcome.text("stdout").contains("allowed: changed"), "{outcome}");
        assert!(outcome.held_count() >= 25, "{outcome}");
        for name in ["allowed.txt", "prepared", "sub"] {
            let path = scene.project(attempt.runtime).join(name);
            let content = if name == "sub" { Vec::new() } else { b"changed".to_vec() };
            expected.insert(path.strip_prefix(scene.path()).unwrap().to_owned(), content);
        }
    }
    let mut tree = scene.tree();
    // `echo` ends its line.
    for content in tree.values_mut().filter(|content| content.as_slice() == b"changed\n") {
        content.pop();
    }
    assert_eq!(tree, expected);
}

#[test]
fn scripts_have_no_network() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 600");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let datagrams = UdpSocket::bind(address).unwrap();
    let attempts = in_every_runtime("connect", json!({"port": address.port().to_string()}));
    for (attempt, outcome) in run(&mut session, attempts) {
        outcome.ended_with(0);
        assert!(outcome.held_count() >= 5, "{outcome}");
        let refused = match attempt.runtime {
            "python" | "javascript" => format!("connect to `{address}`: this host is not granted"),
            // The shell has no network functions, and sockets are refused before they have an address.
            _ => continue,
        };
        outcome.was_refused(&refused);
    }
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    datagrams.set_nonblocking(true).unwrap();
    assert_eq!(datagrams.recv(&mut [0; 16]).unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn scripts_cannot_start_processes() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 600");
    let before = scene.tree();
    let attempts = ["python", "javascript", "shell"].map(|runtime| Attempt::new(runtime, "start-process", json!({})));
    for (_, outcome) in run(&mut session, attempts.into()) {
        outcome.ended_with(0);
        assert!(outcome.held_count() >= 7, "{outcome}");
    }
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_script_sees_only_its_own_variables() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 600");
    for (attempt, outcome) in run(&mut session, in_every_runtime("environment", json!({}))) {
        outcome.ended_with(0);
        let skill_path = format!("SKILL_PATH=hostile-{}", attempt.runtime);
        let mut expected = vec!["HOME=/tmp", "PWD=/work", "SKILL_DIR=/skill", &skill_path, "TMPDIR=/tmp"];
        match attempt.runtime {
            "shell" => expected.push("SHLVL=1"),
            "guest" => expected.push("SKILL_ARG_ATTEMPT=environment"),
            _ => {}
        }
        expected.sort_unstable();
        let variables = outcome.text("stdout").lines().filter_map(|line| line.strip_prefix("variable "));
        assert_eq!(variables.collect::<Vec<_>>(), expected, "{outcome}");
        let mut arguments = outcome.text("stdout").lines().filter_map(|line| line.strip_prefix("argument "));
        assert!(arguments.next_back().is_some_and(|argument| argument.starts_with("/skill/scripts/")), "{outcome}");
    }
}

#[test]
fn output_cannot_forge_an_answer() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 600");
    for (attempt, outcome) in run(&mut session, in_every_runtime("forge", json!({}))) {
        outcome.ended_with(attempt.code(3));
        assert!(outcome.text("stdout").contains(r#"{"jsonrpc":"2.0","id":"#), "{outcome}");
    }
}

#[test]
fn every_exit_code_is_a_result() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 600");
    for code in [0_i64, 1, 42, 255, -1] {
        for (attempt, outcome) in run(&mut session, in_every_runtime("exit", json!({"code": code.to_string()}))) {
            outcome.ended_with(attempt.code(code & 0xff)).hit_limit(None);
            assert_eq!(outcome.text("stdout"), "ending\n", "{outcome}");
        }
    }
    let modules = ["exit", "exit-large"].map(Attempt::module);
    let outcome = run(&mut session, modules.into());
    outcome[0].1.ended_with(42);
    // No process has such a code, and its lowest byte is 0.
    assert_eq!(outcome[1].1.result["success"], false, "{}", outcome[1].1);
}

#[test]
fn a_crash_is_confined_to_its_script() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 600, memory_bytes: 67108864");
    let mut attempts = Vec::new();
    for how in ["exception", "recursion", "overflow", "compile", "abort", "foreign"] {
        let crash = |runtime| Attempt::new(runtime, "crash", json!({"how": how}));
        attempts.extend(["python", "javascript", "shell"].map(crash));
    }
    for (_, outcome) in run(&mut session, attempts) {
        assert_ne!(outcome.result["exit_code"], 0, "{outcome}");
        assert!(outcome.text("stdout").starts_with("breaking\n"), "{outcome}");
    }
    let guests = ["panic", "abort", "unreachable", "recursion", "outside"];
    let guests = guests.map(|how| Attempt::new("guest", "crash", json!({"how": how})));
    let modules = ["trap", "trap-at-start", "trap-outside", "trap-stack", "no-memory"].map(Attempt::module);
    for (_, outcome) in run(&mut session, guests.into_iter().chain(modules).collect()) {
        outcome.ended_with(134).hit_limit(None);
        assert!(outcome.text("stderr").contains("[skills-mcp] Script crashed: "), "{outcome}");
    }
}

#[test]
fn invalid_pointers_are_errors_of_the_guest() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 600");
    for (_, outcome) in run(&mut session, vec![Attempt::module("bad-pointers")]) {
        outcome.ended_with(0);
    }
}

#[test]
fn scripts_that_never_end_hit_the_time_limit() {
    let scene = Scene::new();
    let mut attempts = in_every_runtime("spin", json!({}));
    attempts.extend(["spin", "spin-at-start", "spin-in-bulk", "sleep"].map(Attempt::module));
    // On a busy machine a runtime may take longer to start than the limit. Such a script gets more time.
    for seconds in [1, 10, 60] {
        let mut session = scene.serve(&format!("timeout_seconds: {seconds}"));
        let outcome = run(&mut session, attempts);
        attempts = Vec::new();
        for (attempt, outcome) in outcome {
            outcome.ended_with(137).hit_limit(Some("time"));
            assert!(outcome.text("stderr").ends_with(TIMEOUT_MESSAGE), "{outcome}");
            match (attempt.runtime, outcome.text("stdout")) {
                ("module", _) | (_, "began\n") => {}
                (_, "") => attempts.push(attempt),
                _ => panic!("{outcome}"),
            }
        }
        if attempts.is_empty() {
            return;
        }
    }
    let names: Vec<&str> = attempts.iter().map(|attempt| attempt.name.as_str()).collect();
    panic!("the output before the end is lost: {names:?}");
}

#[test]
fn time_that_a_script_spends_in_the_host_counts() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 1");
    let attempts = vec![Attempt::new("guest", "spin-in-host", json!({})), Attempt::module("spin-in-host")];
    for (_, outcome) in run(&mut session, attempts) {
        outcome.ended_with(137).hit_limit(Some("time"));
        assert!(u128::from(outcome.result["duration_ms"].as_u64().unwrap()) < SOON.as_millis(), "{outcome}");
    }
}

#[test]
fn scripts_that_allocate_too_much_hit_the_memory_limit() {
    const LIMIT: u64 = 67_108_864;
    let scene = Scene::new();
    let mut session = scene.serve(&format!("timeout_seconds: 600, memory_bytes: {LIMIT}"));
    let mut attempts = in_every_runtime("eat-memory", json!({}));
    attempts.extend(["eat-memory", "grow-table", "large-from-start", "many-tables"].map(Attempt::module));
    for (_, outcome) in run(&mut session, attempts) {
        outcome.ended_with(137).hit_limit(Some("memory"));
        assert!(
            outcome.text("stderr").ends_with("[skills-mcp] Script killed: more than 64 MiB of memory."),
            "{outcome}"
        );
        assert!(outcome.result["peak_memory_bytes"].as_u64().unwrap() <= LIMIT, "{outcome}");
    }
}

#[test]
fn scripts_that_compute_too_much_hit_the_fuel_limit() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 600, fuel: 50000000");
    let mut attempts = in_every_runtime("spin", json!({}));
    attempts.push(Attempt::module("spin"));
    for (_, outcome) in run(&mut session, attempts) {
        outcome.ended_with(137).hit_limit(Some("fuel"));
        assert!(
            outcome.text("stderr").ends_with("[skills-mcp] Script killed: more than 50000000 units of fuel."),
            "{outcome}"
        );
        assert_eq!(outcome.text("stdout"), "began\n", "{outcome}");
    }
}

#[test]
fn output_is_truncated_and_the_script_continues() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 600, max_output_bytes: 1000");
    let mut attempts = in_every_runtime("flood", json!({}));
    attempts.push(Attempt::module("flood"));
    for (attempt, outcome) in run(&mut session, attempts) {
        outcome.ended_with(attempt.code(7)).hit_limit(Some("output"));
        assert_eq!(outcome.result["truncated"], true, "{outcome}");
        for stream in ["stdout", "stderr"] {
            assert!((900..=1_000).contains(&outcome.text(stream).len()), "{stream}: {outcome}");
        }
    }
}

#[test]
fn scratch_space_is_limited_and_can_be_freed() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 600, scratch_bytes: 300000, scratch_files: 20");
    for (_, outcome) in run(&mut session, in_every_runtime("fill-bytes", json!({}))) {
        outcome.ended_with(0).hit_limit(Some("scratch"));
        assert_eq!(outcome.held_count(), 1, "{outcome}");
        assert!(outcome.text("stdout").ends_with("room again: 1000\n"), "{outcome}");
    }
    for (_, outcome) in run(&mut session, in_every_runtime("fill-files", json!({}))) {
        outcome.ended_with(0).hit_limit(Some("scratch"));
        assert_eq!(outcome.held_count(), 1, "{outcome}");
        assert!(outcome.text("stdout").trim_end().ends_with("20"), "{outcome}");
    }
    // The exit code is the sum of the `ENOSPC` errors.
    let modules = ["fill-bytes", "fill-by-size"].map(Attempt::module);
    for ((_, outcome), code) in run(&mut session, modules.into()).iter().zip([51, 102]) {
        outcome.ended_with(code).hit_limit(Some("scratch"));
    }
}

/// File descriptors of scripts count against the limit of the server.
#[test]
fn open_files_of_scripts_leave_some_for_the_server() {
    let scene = Scene::new();
    // Only these scripts have a short time limit.
    write_files(&scene.library(), &[("config.yaml", "scripts: {timeout_seconds: 3}\n")]);
    let other = crate::scripts::skill(&[("exit.sh", "exit 0\n")]);
    let folders = format!("{} {}", scene.library().display(), other.path().display());
    let command = format!("ulimit -n 256; exec {SKILLCELL} serve {folders}");
    let launch = Launch::bare("/bin/sh").arg("-c").arg(command).with_shared_cache();
    let mut session = launch.config("scripts: {timeout_seconds: 600, runs_at_once: 16}").start();
    still_answers(&mut session);
    let attempts =
        vec![Attempt::new("guest", "hoard-files", json!({})), Attempt::module("hoard"), Attempt::module("hoard")];
    let posted = post(&mut session, attempts);
    // Until the first of them hits the time limit.
    while !posted.iter().any(|(_, id)| session.is_answered(id)) {
        still_answers(&mut session);
        let asset = session.call("get_asset", json!({"skill_path": "hostile-shell", "file": "scripts/exit.sh"}));
        assert_eq!(asset["isError"], false, "{asset}");
        let outcome = crate::scripts::run(&mut session, "exit.sh");
        assert_eq!(outcome["exit_code"], 0, "{outcome}");
    }
    for (_, outcome) in wait(&mut session, posted) {
        outcome.ended_with(137).hit_limit(Some("time"));
    }
}

#[test]
fn hostile_scripts_do_not_block_other_requests() {
    let scene = Scene::new();
    let limits = "timeout_seconds: 3, memory_bytes: 67108864, max_output_bytes: 1000, scratch_bytes: 100000";
    let mut session = scene.serve(limits);
    still_answers(&mut session);
    let attempts = ["spin", "eat-memory", "flood", "fill-bytes"].map(|what| in_every_runtime(what, json!({})));
    let posted = post(&mut session, attempts.into_iter().flatten().collect());
    still_answers(&mut session);
    let mut spinning = posted.iter().filter(|(attempt, _)| attempt.name.starts_with("spin"));
    assert!(spinning.all(|(_, id)| !session.is_answered(id)), "the scripts ended first");
    wait(&mut session, posted);
    still_answers(&mut session);
}

/// The memory that the host needs for a script is limited as well.
#[test]
#[cfg(target_os = "linux")]
fn open_listings_of_scripts_do_not_exhaust_the_memory_of_the_server() {
    const MAX_KIBIBYTES: u64 = 768 << 10;
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 600");
    run(&mut session, vec![Attempt::new("guest", "hoard-listings", json!({}))]);
    let status = fs::read_to_string(format!("/proc/{}/status", session.process_id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < MAX_KIBIBYTES, "the server had {peak} KiB");
}

/// Programs for which the compiler would need minutes and gigabytes: a long function, and a short one that keeps many values
/// through many branches.
#[test]
fn programs_that_take_forever_to_compile_are_refused() {
    let function = |locals: &str, body: &str| format!("(module (func (export \"_start\") {locals} {body}))");
    let long = function("", &"(drop (i32.add (i32.const 1) (i32.const 2)))".repeat(100_000));
    let branch = |local: usize| format!("(if (local.get 0) (then (local.set {local} (i32.const 1))))");
    let branches: String = (0..10_000).map(|number| branch(number % 1_000)).collect();
    let uses: String = (0..1_000).map(|local| format!("(drop (local.get {local}))")).collect();
    let branchy = function(&format!("(local {})", "i32 ".repeat(1_000)), &(branches + &uses));
    let short = function("", "");
    let assembled = [("long", long), ("branchy", branchy), ("short", short)];
    let programs = assembled.map(|(name, text)| (name.to_owned(), wat::parse_str(text).unwrap()));
    assert!(programs[1].1.len() < 200_000);
    let scene = Scene::new();
    scene.add_programs("programs", &programs);
    let mut session = scene.serve("timeout_seconds: 2");
    let request = |name: &str, dry_run: bool| json!({"skill_path": "programs", "file": format!("scripts/{name}.wasm"), "args": {}, "dry_run": dry_run});
    for (name, bound) in [
        ("long", "it is too complex to compile: it has a function of "),
        ("branchy", "it is too complex to compile: function 0 uses "),
    ] {
        for dry_run in [true, false] {
            let result = session.call("run_script", request(name, dry_run));
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(
                text.contains(bound) && text.contains(", and the limit is ") && text.contains("split large functions"),
                "{text}"
            );
        }
    }
    // Nothing of them is left behind that would be in the way of others.
    assert_eq!(session.call_json("run_script", request("short", false))["exit_code"], 0);
    still_answers(&mut session);
}

/// A report about a program that was never run must not cost what the compiler costs.
#[test]
fn a_dry_run_compiles_nothing() {
    let scene = Scene::new();
    let program = wat::parse_str("(module (func (export \"_start\")))").unwrap();
    scene.add_programs(
        "programs",
        &[("short".to_owned(), program), ("broken".to_owned(), b"\0asm\x01\0\0\0\x01".to_vec())],
    );
    let mut session = serve(&scene.library()).start();
    let compiled = session.home().join(".cache/skillcell");
    let count = || {
        let mut folders = vec![compiled.clone()];
        let mut count = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() { folders.push(entry.path()) } else { count += 1 }
            }
        }
        count
    };
    let request = |name: &str, dry_run: bool| json!({"skill_path": "programs", "file": format!("scripts/{name}.wasm"), "args": {}, "dry_run": dry_run});
    let policy = session.call_json("run_script", request("short", true));
    assert!(policy["digests"]["script"].as_str().unwrap().starts_with("sha256:"), "{policy}");
    assert_eq!(count(), 0);
    let broken = session.call("run_script", request("broken", true));
    assert!(broken["content"][0]["text"].as_str().unwrap().contains("it is not valid WebAssembly"), "{broken}");
    session.call_json("run_script", request("short", false));
    assert_eq!(count(), 1);
}

#[test]
fn every_attempt_has_a_test() {
    let tests = include_str!("sandbox.rs");
    let mut names = module_names();
    for runtime in ["python", "javascript", "shell"] {
        let scripts = fs::read_dir(repository().join(format!("fixtures/hostile/hostile-{runtime}/scripts"))).unwrap();
        names.extend(scripts.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()));
    }
    for name in names {
        assert!(tests.contains(&format!("\"{name}\"")), "no test uses {name}");
    }
}
