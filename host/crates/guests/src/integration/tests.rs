use super::*;
use crate::load::Fault;
use bindings::query::Repository;
use sandbox::denials::Denials;
use skillcell_artifacts::INTEGRATIONS;
use std::path::PathBuf;
use tempfile::TempDir;

fn world() -> IntegrationWorld {
    IntegrationWorld::new(Arc::new(Executor::for_scripts(None).unwrap())).unwrap()
}

fn file(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.wasm");
    std::fs::write(&path, wat::parse_str(text).unwrap()).unwrap();
    (folder, path)
}

/// Why a component cannot be used.
fn fault(text: &str) -> Fault {
    let (_folder, path) = file(text);
    world().from_file("mine", &path, None).err().expect("it cannot be used").fault
}

#[tokio::test(flavor = "multi_thread")]
async fn bundled_integrations_suggest_questions_that_fit_on_one_screen() {
    let world = world();
    for bundled in INTEGRATIONS {
        let integration = world.bundled(bundled).unwrap();
        let nowhere = Gate::new(&[], Denials::default());
        let end = integration.questions(nowhere, Limits::new(Duration::from_secs(20))).await.unwrap();
        let End::Returned(questions) = end else { panic!("{}: {end:?}", bundled.name) };
        assert!((1..=40).contains(&questions.len()), "{}: {questions:?}", bundled.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fuel_is_limited() {
    let limits = Limits { fuel: 1_000, ..Limits::new(Duration::from_secs(20)) };
    for bundled in INTEGRATIONS {
        let integration = world().bundled(bundled).unwrap();
        let repository = Repository { remote: None, branch: None, commit: None };
        let address = "https://localhost".to_owned();
        let question = Question { text: "Sing me a song".to_owned(), repository, address, now: 0 };
        let nowhere = Gate::new(&[], Denials::default());
        let asked = integration.ask(question, nowhere, Arc::new(|_| {}), limits, CancellationToken::new()).await;
        let asked = asked.unwrap();
        assert!(matches!(asked.end, End::OutOfFuel), "{}: {:?}", bundled.name, asked.end);
        assert_eq!(asked.fuel_used, limits.fuel, "{}", bundled.name);
    }
}

#[test]
fn an_integration_has_no_clock_no_random_numbers_no_files_and_only_the_gate() {
    for (interface, function) in [
        ("wasi:clocks/monotonic-clock@0.2.12", "now"),
        ("wasi:random/random@0.2.12", "get-random-u64"),
        ("wasi:filesystem/preopens@0.2.12", "get-directories"),
        ("wasi:sockets/instance-network@0.2.12", "instance-network"),
        ("wasi:cli/run@0.2.12", "run"),
        ("skillcell:plugin/library@0.1.0", "read"),
    ] {
        let fault = fault(&format!(
            r#"(component
                (import "{interface}" (instance (export "{function}" (func (result u64)))))
                (instance $query)
                (export "skillcell:plugin/query@0.1.0" (instance $query)))"#
        ));
        assert!(matches!(&fault, Fault::Misfit { reason, .. } if reason.contains(interface)), "{interface}: {fault}");
    }
}

#[test]
fn each_fault_of_a_component_is_recognized() {
    assert_eq!(fault("(module)"), Fault::NotAComponent);
    assert!(matches!(fault("(component)"), Fault::OtherWorld { .. }));
    let other = r#"(component (instance $query) (export "skillcell:plugin/query@9.0.0" (instance $query)))"#;
    assert!(matches!(fault(other), Fault::OtherVersion { .. }));
    let empty = r#"(component (instance $query) (export "skillcell:plugin/query@0.1.0" (instance $query)))"#;
    assert!(matches!(fault(empty), Fault::Misfit { .. }));
    let (_folder, path) = file("(component)");
    let of_file = |path, pinned| world().from_file("mine", path, pinned).err().expect("it cannot be used").fault;
    assert!(matches!(of_file(&path, Some(Sha256::of(b"other"))), Fault::OtherDigest { .. }));
    assert!(matches!(of_file(&path.with_file_name("missing.wasm"), None), Fault::Unreadable(_)));
}
