use super::*;
use crate::load::Fault;
use bindings::types::{SkillText, TextChange};
use skillcell_tests::component;

/// The imports that a scorer may have.
const ALLOWED: [&str; 5] =
    ["skillcell:plugin/types@", "skillcell:plugin/log@", "skillcell:plugin/model@", "wasi:cli/", "wasi:io/"];

#[test]
fn a_scorer_has_no_clock_no_random_no_network_and_no_folder() {
    let world = ScorerWorld::new(None).unwrap();
    for bundled in Bundled::all() {
        let scorer = world.bundled(bundled).unwrap();
        let described = scorer.ready.instance_pre().component().component_type();
        let imports: Vec<String> = described.imports(&world.executor.engine).map(|(name, _)| name.to_owned()).collect();
        let other = imports.iter().find(|name| !ALLOWED.iter().any(|start| name.starts_with(start)));
        let name = &scorer.name;
        assert_eq!(other, None, "ARCHITECTURE.md promises that {name} is offline, timeless and without folders");
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

/// A running hostile scorer with two skills and these limits.
fn hostile(limits: Limits) -> Prepared {
    let world = ScorerWorld { limits, ..ScorerWorld::new(None).unwrap() };
    let scorer = Arc::new(world.from_file(&component("hostile-scorer"), None).unwrap());
    let skill = |(number, name, body): (u32, &str, &str)| {
        let [name, path, description, body] = [name, name, "d", body].map(str::to_owned);
        TextChange::Put(SkillText { number, name, path, description, keywords: Vec::new(), aliases: Vec::new(), body })
    };
    let mut prepared = scorer.prepare_empty().unwrap();
    prepared.apply(&[(0, "a", "one"), (1, "b", "favourite of plum")].map(skill), 2).unwrap();
    prepared
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
        (Limits { fuel: 1 << 50, ..Limits::default() }, "spin", "was stopped in `score` after 80 ms"),
        (Limits { fuel: 10_000_000, ..patient }, "spin", "was stopped in `score` after 10000000 units of fuel"),
        (Limits { memory: 16 << 20, ..patient }, "eat memory", "was stopped in `score` after 16 MiB of memory"),
        (Limits { answer: 10_000, ..patient }, "long reason", "crashed in `score`: "),
    ] {
        let failure = hostile(limits).score(&format!("hostile: {deed}")).unwrap_err().to_string();
        let failure = failure.strip_prefix("the scorer ").unwrap();
        assert!(failure.starts_with(expected), "{failure}");
    }
}
