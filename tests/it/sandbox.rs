//! Scripts that nobody means well with: each promise of the sandbox, tried in every language.
//!
//! A script says `held` where it was stopped and `BROKEN` where it was not; the scripts are in `fixtures/hostile`, and the
//! guest that tries the same is in `tests/components/hostile-guest`.

mod scene;

use crate::{SKILLCELL, serve, still_answers};
use scene::{Attempt, RUNTIMES, Scene, everywhere, module_names, post, run, wait};
use serde_json::json;
use skillcell_tests::{Launch, repository};
use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The last line of a script that took too long.
const OUT_OF_TIME: &str = "[skills-mcp] Script killed: timeout exceeded.";

#[test]
fn paths_lead_nowhere_outside() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 30");
    let before = scene.tree();
    let mut attempts = everywhere("climb", json!({"secret": scene.path().join("secret.txt")}));
    attempts.push(Attempt::module("climb"));
    for (attempt, ran) in run(&mut session, attempts) {
        ran.ended_with(0).hit(None);
        if attempt.runtime != "module" {
            assert!(ran.held() >= 12, "{ran}");
        }
        let top = ran.text("stdout").lines().find_map(|line| line.strip_prefix("top: "));
        match attempt.runtime {
            // Its own library is in `/usr`.
            "python" => assert_eq!(top, Some("skill tmp usr"), "{ran}"),
            "javascript" | "guest" => assert_eq!(top, Some("skill tmp"), "{ran}"),
            // The shell makes up `/bin`, `/dev` and `/etc` by itself.
            "shell" => assert!(ran.text("stdout").contains("found: /skill/race/secret.txt\n"), "{ran}"),
            _ => {}
        }
        // The others make paths plain before they ask.
        if ["python", "module"].contains(&attempt.runtime) {
            ran.was_refused("leads out of the folder");
        }
    }
    assert_eq!(scene.tree(), before);
}

#[test]
fn links_lead_nowhere_outside_and_are_never_made() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 30");
    let before = scene.tree();
    for (_, ran) in run(&mut session, everywhere("follow-link", json!({}))) {
        ran.ended_with(0).was_refused("leads out of the folder");
        assert!(ran.held() >= 8, "{ran}");
    }
    for (attempt, ran) in run(&mut session, everywhere("make-link", json!({}))) {
        ran.ended_with(0);
        assert_eq!(ran.held(), 4, "{ran}");
        // JavaScript refuses by itself.
        if attempt.runtime != "javascript" {
            ran.was_refused("create the link `/tmp/link`: links cannot be created");
        }
    }
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_folder_swapped_for_a_link_while_scripts_read_it_gives_nothing_away() {
    let scene = Scene::new();
    let skill = |runtime: &str| format!("hostile-{runtime}: {{read: [{}]}}", scene.project(runtime).display());
    let grants = RUNTIMES.map(skill).join(", ");
    let config = format!("scripts: {{runs_at_once: 16}}\ngrants: {{{}: {{{grants}}}}}", scene.library().display());
    let mut session = serve(&scene.library()).config(&config).start();
    let stop = AtomicBool::new(false);
    let folders = RUNTIMES.iter().flat_map(|runtime| [scene.skill(runtime), scene.project(runtime)]);
    let folders: Vec<PathBuf> = folders.collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for folder in &folders {
                    let (real, parked) = (folder.join("race"), folder.join("parked"));
                    fs::rename(&real, &parked).unwrap();
                    symlink(scene.path().join("outside"), &real).unwrap();
                    fs::remove_file(&real).unwrap();
                    fs::rename(&parked, &real).unwrap();
                }
            }
        });
        let _stop = StopAtEnd(&stop);
        let attempts =
            RUNTIMES.map(|runtime| Attempt::new(runtime, "race-link", json!({})).in_folder(&scene.project(runtime)));
        for (attempt, ran) in run(&mut session, attempts.into()) {
            ran.ended_with(0);
            let places: &[&str] = if attempt.runtime == "guest" { &["/skill", "/work"] } else { &["/skill"] };
            for place in places {
                let honest = ran.text("stdout").lines().any(|line| {
                    line.starts_with("held: honest") && line.ends_with(place) && !line.contains("honest 0 ")
                });
                assert!(honest, "the race was never won by the honest side: {ran}");
            }
        }
    });
}

/// Ends the other side of a race also when a test fails in the middle of it.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_skill_cannot_change_itself() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 30");
    let before = scene.tree();
    for (_, ran) in run(&mut session, everywhere("write-skill", json!({}))) {
        ran.was_refused("write `/skill/SKILL.md`: read-only").ended_with(0);
        assert!(ran.held() >= 14, "{ran}");
    }
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_project_that_may_be_written_keeps_what_steers_agents() {
    let scene = Scene::new();
    let skill = |runtime: &str| format!("hostile-{runtime}: {{write: [{}]}}", scene.project(runtime).display());
    let grants = RUNTIMES.map(skill).join(", ");
    let mut session =
        serve(&scene.library()).config(&format!("grants: {{{}: {{{grants}}}}}", scene.library().display())).start();
    let mut expected = scene.tree();
    let attempts =
        RUNTIMES.map(|runtime| Attempt::new(runtime, "write-work", json!({})).in_folder(&scene.project(runtime)));
    for (attempt, ran) in run(&mut session, attempts.into()) {
        ran.ended_with(0).was_refused("protected");
        assert!(ran.text("stdout").contains("allowed: changed"), "{ran}");
        assert!(ran.held() >= 18, "{ran}");
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
fn nobody_is_called() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 30");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let datagrams = UdpSocket::bind(address).unwrap();
    let attempts = everywhere("connect", json!({"port": address.port().to_string()}));
    for (attempt, ran) in run(&mut session, attempts) {
        ran.ended_with(0);
        assert!(ran.held() >= 5, "{ran}");
        let refused = match attempt.runtime {
            "python" => "the python runtime has no network".to_owned(),
            "javascript" => format!("connect to `{address}`: this host is not granted"),
            // The shell knows no way out to ask for, and sockets are refused before they have an address.
            _ => continue,
        };
        ran.was_refused(&refused);
    }
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    datagrams.set_nonblocking(true).unwrap();
    assert_eq!(datagrams.recv(&mut [0; 16]).unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn nothing_is_started() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 30");
    let before = scene.tree();
    let attempts = ["python", "javascript", "shell"].map(|runtime| Attempt::new(runtime, "start-process", json!({})));
    for (_, ran) in run(&mut session, attempts.into()) {
        ran.ended_with(0);
        assert!(ran.held() >= 7, "{ran}");
    }
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_script_sees_its_own_variables_only() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 30");
    for (attempt, ran) in run(&mut session, everywhere("environment", json!({}))) {
        ran.ended_with(0);
        let skill_path = format!("SKILL_PATH=hostile-{}", attempt.runtime);
        let mut expected = vec!["HOME=/tmp", "PWD=/skill", "SKILL_DIR=/skill", &skill_path, "TMPDIR=/tmp"];
        match attempt.runtime {
            "shell" => expected.push("SHLVL=1"),
            "guest" => expected.push("SKILL_ARG_ATTEMPT=environment"),
            _ => {}
        }
        expected.sort_unstable();
        let variables = ran.text("stdout").lines().filter_map(|line| line.strip_prefix("variable "));
        assert_eq!(variables.collect::<Vec<_>>(), expected, "{ran}");
        let mut arguments = ran.text("stdout").lines().filter_map(|line| line.strip_prefix("argument "));
        assert!(arguments.next_back().is_some_and(|argument| argument.starts_with("/skill/scripts/")), "{ran}");
    }
}

#[test]
fn no_output_is_taken_for_an_answer() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 30");
    for (attempt, ran) in run(&mut session, everywhere("forge", json!({}))) {
        ran.ended_with(attempt.code(3));
        assert!(ran.text("stdout").contains(r#"{"jsonrpc":"2.0","id":"#), "{ran}");
    }
}

#[test]
fn every_way_to_end_is_a_result() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 30");
    for code in [0_i64, 1, 42, 255, -1] {
        for (attempt, ran) in run(&mut session, everywhere("exit", json!({"code": code.to_string()}))) {
            ran.ended_with(attempt.code(code & 0xff)).hit(None);
            assert_eq!(ran.text("stdout"), "ending\n", "{ran}");
        }
    }
    let modules = ["exit", "exit-large"].map(Attempt::module);
    let ran = run(&mut session, modules.into());
    ran[0].1.ended_with(42);
    // No process has such a code, and its lowest byte is 0.
    assert_eq!(ran[1].1.result["success"], false, "{}", ran[1].1);
}

#[test]
fn what_breaks_breaks_alone() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 30, memory_bytes: 67108864");
    let mut attempts = Vec::new();
    for how in ["exception", "recursion", "overflow", "compile", "abort", "foreign"] {
        let crash = |runtime| Attempt::new(runtime, "crash", json!({"how": how}));
        attempts.extend(["python", "javascript", "shell"].map(crash));
    }
    for (_, ran) in run(&mut session, attempts) {
        assert_ne!(ran.result["exit_code"], 0, "{ran}");
        assert!(ran.text("stdout").starts_with("breaking\n"), "{ran}");
    }
    let guests = ["panic", "abort", "unreachable", "recursion", "outside"];
    let guests = guests.map(|how| Attempt::new("guest", "crash", json!({"how": how})));
    let modules = ["trap", "trap-at-start", "trap-outside", "trap-stack", "no-memory"].map(Attempt::module);
    for (_, ran) in run(&mut session, guests.into_iter().chain(modules).collect()) {
        ran.ended_with(134).hit(None);
        assert!(ran.text("stderr").contains("[skills-mcp] Script crashed: "), "{ran}");
    }
}

#[test]
fn pointers_to_nowhere_are_faults_of_the_guest() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 30");
    for (_, ran) in run(&mut session, vec![Attempt::module("bad-pointers")]) {
        ran.ended_with(0);
    }
}

#[test]
fn time_ends_what_never_ends() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 1");
    let mut attempts = everywhere("spin", json!({}));
    attempts.extend(["spin", "spin-at-start", "spin-in-bulk", "sleep"].map(Attempt::module));
    for (attempt, ran) in run(&mut session, attempts) {
        ran.ended_with(137).hit(Some("time"));
        assert!(ran.text("stderr").ends_with(OUT_OF_TIME), "{ran}");
        if attempt.runtime != "module" {
            assert_eq!(ran.text("stdout"), "began\n", "what it said before is kept: {ran}");
        }
    }
}

#[test]
fn time_that_a_script_spends_in_the_host_counts() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 1");
    let attempts = vec![Attempt::new("guest", "spin-in-host", json!({})), Attempt::module("spin-in-host")];
    for (_, ran) in run(&mut session, attempts) {
        ran.ended_with(137).hit(Some("time"));
        assert!(ran.result["duration_ms"].as_u64().unwrap() < 5_000, "{ran}");
    }
}

#[test]
fn memory_ends_what_takes_too_much() {
    const LIMIT: u64 = 67_108_864;
    let scene = Scene::new();
    let mut session = scene.serve(&format!("timeout_seconds: 30, memory_bytes: {LIMIT}"));
    let mut attempts = everywhere("eat-memory", json!({}));
    attempts.extend(["eat-memory", "grow-table", "large-from-start", "many-tables"].map(Attempt::module));
    for (_, ran) in run(&mut session, attempts) {
        ran.ended_with(137).hit(Some("memory"));
        assert!(ran.text("stderr").ends_with("[skills-mcp] Script killed: more than 64 MiB of memory."), "{ran}");
        assert!(ran.result["peak_memory_bytes"].as_u64().unwrap() <= LIMIT, "{ran}");
    }
}

#[test]
fn fuel_ends_what_takes_too_many_steps() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 30, fuel: 50000000");
    let mut attempts = everywhere("spin", json!({}));
    attempts.push(Attempt::module("spin"));
    for (_, ran) in run(&mut session, attempts) {
        ran.ended_with(137).hit(Some("fuel"));
        assert!(ran.text("stderr").ends_with("[skills-mcp] Script killed: more than 50000000 steps."), "{ran}");
        assert_eq!(ran.text("stdout"), "began\n", "{ran}");
    }
}

#[test]
fn output_is_cut_and_the_script_goes_on() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 30, max_output_bytes: 1000");
    let mut attempts = everywhere("flood", json!({}));
    attempts.push(Attempt::module("flood"));
    for (attempt, ran) in run(&mut session, attempts) {
        ran.ended_with(attempt.code(7)).hit(Some("output"));
        assert_eq!(ran.result["truncated"], true, "{ran}");
        for stream in ["stdout", "stderr"] {
            assert!((900..=1_000).contains(&ran.text(stream).len()), "{stream}: {ran}");
        }
    }
}

#[test]
fn scratch_space_ends_and_can_be_freed() {
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 30, scratch_bytes: 300000, scratch_files: 20");
    for (_, ran) in run(&mut session, everywhere("fill-bytes", json!({}))) {
        ran.ended_with(0).hit(Some("scratch"));
        assert_eq!(ran.held(), 1, "{ran}");
        assert!(ran.text("stdout").ends_with("room again: 1000\n"), "{ran}");
    }
    for (_, ran) in run(&mut session, everywhere("fill-files", json!({}))) {
        ran.ended_with(0).hit(Some("scratch"));
        assert_eq!(ran.held(), 1, "{ran}");
        assert!(ran.text("stdout").trim_end().ends_with("20"), "{ran}");
    }
    // They end with the number of the error, `ENOSPC` once and twice.
    let modules = ["fill-bytes", "fill-by-size"].map(Attempt::module);
    for ((_, ran), code) in run(&mut session, modules.into()).iter().zip([51, 102]) {
        ran.ended_with(code).hit(Some("scratch"));
    }
}

/// Files that scripts hold open are files that the server cannot open.
#[test]
fn files_that_scripts_hold_leave_some_for_the_server() {
    let scene = Scene::new();
    let few = format!("ulimit -n 256; exec {SKILLCELL} serve {}", scene.library().display());
    let launch = Launch::bare("/bin/sh").arg("-c").arg(few);
    let mut session = launch.config("scripts: {timeout_seconds: 2, runs_at_once: 16}").start();
    still_answers(&mut session);
    let attempts =
        vec![Attempt::new("guest", "hoard-files", json!({})), Attempt::module("hoard"), Attempt::module("hoard")];
    let posted = post(&mut session, attempts);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(1) {
        still_answers(&mut session);
        let asset = session.call("get_asset", json!({"skill_path": "hostile-shell", "file": "scripts/exit.sh"}));
        assert_eq!(asset["isError"], false, "{asset}");
    }
    for (_, ran) in run(&mut session, vec![Attempt::new("shell", "exit", json!({"code": "0"}))]) {
        ran.ended_with(0);
    }
    for (_, ran) in wait(&mut session, posted) {
        ran.ended_with(137).hit(Some("time"));
    }
}

/// Beside a server that has nothing else to do, because the machine may be busy with other tests.
#[test]
fn others_are_answered_meanwhile() {
    let scene = Scene::new();
    let limits = "timeout_seconds: 2, memory_bytes: 67108864, max_output_bytes: 1000, scratch_bytes: 100000";
    let (mut busy, mut idle) = (scene.serve(limits), scene.serve(limits));
    let attempts = ["spin", "eat-memory", "flood", "fill-bytes"].map(|what| everywhere(what, json!({})));
    let posted = post(&mut busy, attempts.into_iter().flatten().collect());
    let (mut beside_scripts, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        for (session, times) in [(&mut busy, &mut beside_scripts), (&mut idle, &mut alone)] {
            let began = Instant::now();
            still_answers(session);
            times.push(began.elapsed());
        }
    }
    beside_scripts.sort();
    alone.sort();
    let (beside_scripts, alone) = (beside_scripts[20], alone[20]);
    assert!(beside_scripts < alone + Duration::from_millis(50), "{beside_scripts:?}, and {alone:?} without scripts");
    wait(&mut busy, posted);
}

/// What a script has the host remember counts somewhere, too.
#[test]
#[cfg(target_os = "linux")]
fn lists_that_scripts_hold_do_not_fill_the_server() {
    const MOST_KIBIBYTES: u64 = 768 << 10;
    let scene = Scene::new();
    let mut session = scene.serve("timeout_seconds: 20");
    run(&mut session, vec![Attempt::new("guest", "hoard-listings", json!({}))]);
    let status = fs::read_to_string(format!("/proc/{}/status", session.process_id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < MOST_KIBIBYTES, "the server had {peak} KiB");
}

/// A module whose one function is long: the compiler would take minutes and gigabytes.
#[test]
fn a_program_that_is_made_to_be_compiled_forever_is_refused() {
    let long = format!(
        "(module (func (export \"_start\") {}))",
        "(drop (i32.add (i32.const 1) (i32.const 2)))".repeat(100_000)
    );
    let scene = Scene::new();
    scene.add_programs("long", &[("long".to_owned(), wat::parse_str(long).unwrap())]);
    let mut session = scene.serve("timeout_seconds: 2");
    let arguments = json!({"skill_path": "long", "file": "scripts/long.wasm", "args": {}});
    let result = session.call("run_script", arguments);
    assert!(result["content"][0]["text"].as_str().unwrap().contains("it has a function of "), "{result}");
    still_answers(&mut session);
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
