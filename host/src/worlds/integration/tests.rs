//! What integrations get, and what they do not.

use super::*;
use crate::bindings::query::{Question, Repository};
use crate::integrations::bundled::Bundled;
use crate::sandbox::denials::Denials;
use crate::sha256::Sha256;
use crate::worlds::plugin_file::PluginFileError;
use std::path::PathBuf;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

fn world() -> IntegrationWorld {
    IntegrationWorld::new(&Runtimes::new(None).unwrap(), None).unwrap()
}

fn file(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.wasm");
    std::fs::write(&path, wat::parse_str(text).unwrap()).unwrap();
    (folder, path)
}

/// Why a component is not used.
fn refusal(text: &str) -> PluginFileError {
    let (_folder, path) = file(text);
    match world().from_file("mine", &path, None) {
        Err(LoadError::File { reason, .. }) => reason,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it is used"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bundled_ones_know_questions_that_fit_on_one_screen() {
    let world = world();
    for bundled in Bundled::ALL {
        let integration = world.bundled(bundled).unwrap();
        let nowhere = Gate::new(&[], Denials::default());
        let questions = integration.questions(nowhere, Limits::new(Duration::from_secs(20))).await.unwrap().unwrap();
        assert!((1..=40).contains(&questions.len()), "{}: {questions:?}", bundled.name());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_an_end_to_steps() {
    let limits = Limits { fuel: 1_000, ..Limits::new(Duration::from_secs(20)) };
    for bundled in Bundled::ALL {
        let integration = world().bundled(bundled).unwrap();
        let repository = Repository { remote: None, branch: None, commit: None };
        let address = "https://localhost".to_owned();
        let question = Question { text: "Sing me a song".to_owned(), repository, address, now: 0 };
        let nowhere = Gate::new(&[], Denials::default());
        let asked = integration.ask(question, nowhere, Arc::new(|_| {}), limits, CancellationToken::new()).await;
        let asked = asked.unwrap();
        assert!(matches!(asked.end, End::OutOfFuel), "{}: {:?}", bundled.name(), asked.end);
        assert_eq!(asked.fuel_used, limits.fuel, "{}", bundled.name());
    }
}

#[test]
fn an_integration_has_no_clock_no_chance_no_files_and_no_network_but_the_gate() {
    for (interface, function) in [
        ("wasi:clocks/monotonic-clock@0.2.12", "now"),
        ("wasi:random/random@0.2.12", "get-random-u64"),
        ("wasi:filesystem/preopens@0.2.12", "get-directories"),
        ("wasi:sockets/instance-network@0.2.12", "instance-network"),
        ("wasi:cli/run@0.2.12", "run"),
        ("skillcell:plugin/library@0.1.0", "read"),
    ] {
        let reason = refusal(&format!(
            r#"(component
                (import "{interface}" (instance (export "{function}" (func (result u64)))))
                (instance $query)
                (export "skillcell:plugin/query@0.1.0" (instance $query)))"#
        ));
        let PluginFileError::Misfit(told) = reason else { panic!("{interface}: {reason}") };
        assert!(told.contains(interface), "{told}");
    }
}

#[test]
fn what_is_no_integration_is_told() {
    assert!(matches!(refusal("(module)"), PluginFileError::NotAComponent(_)));
    assert!(matches!(refusal("(component)"), PluginFileError::OtherWorld { .. }));
    let other = r#"(component (instance $query) (export "skillcell:plugin/query@9.0.0" (instance $query)))"#;
    assert!(matches!(refusal(other), PluginFileError::OtherVersion { .. }));
    let empty = r#"(component (instance $query) (export "skillcell:plugin/query@0.1.0" (instance $query)))"#;
    assert!(matches!(refusal(empty), PluginFileError::Misfit(_)));
    let (_folder, path) = file("(component)");
    let pinned = world().from_file("mine", &path, Some(Sha256::of(b"other")));
    assert!(matches!(pinned, Err(LoadError::File { reason: PluginFileError::OtherDigest { .. }, .. })));
    let missing = world().from_file("mine", &path.with_file_name("missing.wasm"), None);
    assert!(matches!(missing, Err(LoadError::File { reason: PluginFileError::Unreadable(_), .. })));
}
