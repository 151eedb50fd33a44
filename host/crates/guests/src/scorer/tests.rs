use super::*;
use crate::engine::{EngineInstance, EngineWorld, Quarantine, Terms};
use crate::load::{Fault, World};
use bindings::catalog::{Duplicates, OperatorSettings, ScriptLimits};
use library::{roots, scan, snapshot::Snapshot};
use skillcell_tests::{component, write_files};
use tempfile::TempDir;
use wasmtime::component::Component;

/// The imports that a scorer may have.
const ALLOWED: [&str; 4] = ["skillcell:plugin/types@", "skillcell:plugin/log@", "wasi:cli/", "wasi:io/"];

#[test]
fn a_scorer_has_no_clock_no_random_no_network_and_no_folder() {
    let world = ScorerWorld::new(None).unwrap();
    for bundled in Bundled::all() {
        let scorer = world.bundled(bundled).unwrap();
        let component: &Component = scorer.ready.instance_pre().component();
        let described = component.component_type();
        let imports: Vec<String> =
            described.imports(world.executor.engine()).map(|(name, _)| name.to_owned()).collect();
        let other = imports.iter().find(|name| !ALLOWED.iter().any(|start| name.starts_with(start)));
        assert_eq!(
            other, None,
            "ARCHITECTURE.md promises that {} is offline, timeless and without folders",
            scorer.name
        );
    }
    for absent in ["wasi:clocks/monotonic-clock", "wasi:random/random", "wasi:sockets/tcp", "wasi:filesystem/types"] {
        let text = format!(
            "(component (import \"{absent}@0.2.0\" (instance (export \"f\" (func)))) (instance) (export \"{}\" (instance 1)))",
            World::SCORER.export
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.wasm");
        std::fs::write(&file, wat::parse_str(text).unwrap()).unwrap();
        let fault = world.from_file(&file, None).err().expect(absent).fault;
        assert!(matches!(&fault, Fault::Misfit { reason, .. } if reason.contains(absent)), "{absent}: {fault}");
    }
}

/// An engine over two skills, in a folder.
fn engine() -> (TempDir, EngineInstance) {
    let folder = tempfile::tempdir().unwrap();
    let skill = |body: &str| format!("---\nkeywords: [k]\ndescription: d\n---\n{body}\n");
    write_files(folder.path(), &[("a.md", &skill("one")), ("b.md", &skill("favourite of plum"))]);
    let given = vec![folder.path().display().to_string()];
    let operator = OperatorSettings {
        scripts: ScriptLimits {
            enabled: true,
            timeout_seconds: 60,
            max_output_bytes: 1 << 20,
            memory_bytes: 256 << 20,
            fuel: u64::MAX,
            scratch_bytes: 0,
            scratch_files: 0,
            allowed_extensions: Vec::new(),
        },
        max_size_bytes: 1 << 20,
        inline_text_max_bytes: None,
        min_score: None,
        ambiguity_threshold: None,
        max_results: None,
        refresh_enabled: None,
        refresh_interval_minutes: None,
    };
    let terms = Terms {
        roots: roots::resolve(&roots::RootOptions { given, ..roots::RootOptions::default() }).unwrap().into(),
        quarantine: Arc::new(Quarantine::default()),
        file_limit: 1 << 20,
        operator,
        duplicates: Duplicates::Refuse,
    };
    let mut engine =
        EngineWorld::bundled(Arc::new(Executor::for_engines(None).unwrap())).unwrap().instantiate(&terms).unwrap();
    let scan = scan::scan(&terms.roots, &Snapshot::default(), terms.file_limit).unwrap().unwrap();
    assert!(engine.update(Arc::new(scan.snapshot), &scan.changes).is_ok());
    (folder, engine)
}

/// A running hostile scorer with these limits.
fn hostile(limits: Limits) -> Prepared {
    let world = ScorerWorld { limits, ..ScorerWorld::new(None).unwrap() };
    let scorer = Arc::new(world.from_file(&component("hostile-scorer"), None).unwrap());
    let (_folder, mut engine) = engine();
    scorer.prepare(&mut engine).unwrap().unwrap()
}

#[test]
fn reasons_are_short_and_on_one_line() {
    let mut scorer = hostile(Limits::default());
    let scored = |scorer: &mut Prepared, task| -> Vec<(f64, String)> {
        scorer.score(task).unwrap().into_iter().map(|scored| (scored.score, scored.reason)).collect()
    };
    let own = str::to_owned;
    assert_eq!(scored(&mut scorer, "a plum"), [(0.1, own("0.1 for\\na")), (0.9, own("0.9 for\\nb"))]);
    let long = &scored(&mut scorer, "hostile: long reason")[0].1;
    assert_eq!(long.chars().count(), 301);
    assert!(long.starts_with("because because ") && long.ends_with('…'), "{long}");
}

#[test]
fn a_task_that_is_too_long_is_cut_between_letters() {
    let mut scorer = hostile(Limits { time: Duration::from_secs(5), ..Limits::default() });
    let task = format!("plum {}", "é".repeat(1 << 20));
    assert_eq!(scorer.scores(&task).unwrap(), [0.1, 0.9]);
}

#[test]
fn every_limit_stops_a_scorer() {
    let patient = Limits { time: Duration::from_secs(5), ..Limits::default() };
    for (limits, deed, expected) in [
        (Limits::default(), "spin", "the scorer was stopped in `score` after 80 ms"),
        (
            Limits { fuel: 10_000_000, ..patient },
            "spin",
            "the scorer was stopped in `score` after 10000000 units of fuel",
        ),
        (
            Limits { memory: 16 << 20, ..patient },
            "eat memory",
            "the scorer was stopped in `score` after 16 MiB of memory",
        ),
        (Limits { answer: 10_000, ..patient }, "long reason", "the scorer crashed in `score`: "),
    ] {
        let mut scorer = hostile(limits);
        let failure = scorer.score(&format!("hostile: {deed}")).unwrap_err().to_string();
        assert!(failure.starts_with(expected), "{failure}");
    }
}
