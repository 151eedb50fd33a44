//! Which scorer is used, and the errors if it cannot be.

use super::{find, score_by_scorer, skills};
use crate::serve;
use serde_json::Value;
use skillcell_tests::{Launch, component};
use std::path::Path;
use std::process::Output;

fn with_config(folder: &Path, yaml: &str) -> Launch {
    serve(folder).config(&yaml.replace("HOSTILE", &component("hostile-scorer").display().to_string()))
}

#[test]
fn the_operator_chooses_and_the_command_line_overrides() {
    let folder = skills();
    let installed = "scorers: {mine: HOSTILE, other: {file: HOSTILE}}\n";
    for (yaml, flag, expected) in [
        ("matching: {scorer: keyword}\n", None, Value::Null),
        ("matching: {scorer: mine}\n", None, 0.9.into()),
        ("matching: {scorer: {name: other}}\n", None, 0.9.into()),
        ("matching: {scorer: HOSTILE}\n", None, 0.9.into()),
        ("matching: {scorer: {file: HOSTILE}}\n", None, 0.9.into()),
        ("matching: {scorer: mine}\n", Some("keyword"), Value::Null),
        ("matching: {scorer: keyword}\n", Some("mine"), 0.9.into()),
    ] {
        let launch = with_config(folder.path(), &format!("{yaml}{installed}"));
        let mut session = match flag {
            Some(name) => launch.arg("--scorer").arg(name).start(),
            None => launch.start(),
        };
        assert_eq!(score_by_scorer(&mut session), expected, "{yaml} {flag:?}");
    }
}

#[test]
fn hybrid_ranks_by_default_and_keywords_in_the_profile_that_has_their_formula() {
    let folder = skills();
    let misspelt = |launch: Launch| find(&mut launch.start(), "validaton")["skill_path"].clone();
    assert_eq!(misspelt(serve(folder.path())), "forms");
    assert_eq!(misspelt(serve(folder.path()).arg("--scorer").arg("keyword")), Value::Null);
    let profile = || serve(folder.path()).arg("--profile").arg("skills-mcp");
    assert_eq!(misspelt(profile()), Value::Null);
    assert_eq!(misspelt(profile().arg("--scorer").arg("hybrid")), "forms");
}

#[test]
fn bundled_scorers_are_chosen_by_name() {
    let folder = skills();
    for name in ["keyword", "bm25", "hybrid"] {
        let mut session = serve(folder.path()).arg("--scorer").arg(name).start();
        assert_eq!(find(&mut session, "form validation")["skill_path"], "forms", "{name}");
        let listed = session.call_json("skills_list", serde_json::json!({}));
        assert!(listed.get("problems").is_none(), "{name}: {listed}");
    }
}

/// Returns the message of a server that does not start.
fn refusal(launch: Launch) -> String {
    let Output { status, stdout, stderr } = launch.output();
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(2), "{stderr}");
    assert!(stdout.is_empty());
    assert_eq!(stderr.matches("hint: ").count(), 1, "{stderr}");
    stderr
}

#[test]
fn invalid_settings_are_reported_with_their_line() {
    let folder = skills();
    for (yaml, line, part) in [
        ("matching:\n  scorer: mina\nscorers: {mine: a.wasm}\n", 2, "is `mina`, and there is no such scorer"),
        (
            "matching:\n  scorer: mina\nscorers: {mine: a.wasm}\n",
            2,
            "choose from `keyword`, `bm25`, `hybrid`, `semantic`, `mine`",
        ),
        ("matching:\n  scorer: {name: mina}\n", 2, "is `mina`, and there is no such scorer"),
        ("matching:\n  scorer: {}\n", 2, "must have either `name` or `file`"),
        ("matching:\n  scorer: {name: bm25, file: a.wasm}\n", 2, "must have either `name` or `file`"),
        ("matching:\n  scorer: {name: bm25, sha256: ab}\n", 2, "pins `ab`, which is not a SHA-256 digest"),
        ("matching:\n  scorer: {nome: bm25}\n", 2, "unknown field `nome`"),
        ("matching:\n  scorer: [bm25]\n", 2, "a text or a map"),
        ("matching:\n  scorer: 3\n", 2, "a text or a map"),
        ("scorers:\n  bm25: a.wasm\n", 2, "has the name of a built-in scorer"),
        ("scorers:\n  mine: {sha256: ab}\n", 2, "missing field `file`"),
        ("scorers:\n  mine: {file: a.wasm, sha256: xyz}\n", 2, "pins `xyz`, which is not a SHA-256 digest"),
        ("scorers:\n  mine: ''\n", 2, "has no file"),
        ("scorers:\n  a/b: a.wasm\n", 2, "`a/b` is not a valid name"),
        ("scorers:\n  mine: a.wasm\n  mine: b.wasm\n", 3, "duplicate key `mine`"),
    ] {
        let stderr = refusal(serve(folder.path()).config(yaml));
        assert!(
            stderr.contains(&format!("config.yaml:{line}:")) && stderr.contains(part),
            "{yaml} was reported as {stderr}"
        );
    }
    let digest = "ab".repeat(32);
    let pinned = format!("matching:\n  scorer: {{name: hybrid, sha256: {digest}}}\n");
    assert!(refusal(serve(folder.path()).config(&pinned)).contains("pins a built-in scorer"));
    let stderr = refusal(with_config(folder.path(), "scorers: {mine: HOSTILE}\n").arg("--scorer").arg("mina"));
    assert!(stderr.contains("--scorer is `mina`") && stderr.contains("`mine`"), "{stderr}");
}

#[test]
fn a_file_that_is_not_a_scorer_is_refused_with_one_clear_message() {
    let (folder, files) = (skills(), tempfile::tempdir().unwrap());
    let exporting = |name: &str| format!("(component (instance) (export \"{name}\" (instance 0)))");
    let clock = "(component (type (instance (export \"now\" (func (result u64))))) (import \"wasi:clocks/monotonic-clock@0.2.0\" (instance (type 0))) (instance) (export \"skillcell:plugin/scoring@0.1.0\" (instance 1)))";
    for (text, part) in [
        ("hello".to_owned(), "is not a WebAssembly component"),
        ("(module)".to_owned(), "is not a WebAssembly component"),
        ("(component)".to_owned(), "exports nothing instead of `skillcell:plugin/scoring@0.1.1`"),
        (exporting("acme:thing/run@1.0.0"), "exports `acme:thing/run@1.0.0`"),
        (exporting("skillcell:plugin/scoring@0.2.0"), "is built for `skillcell:plugin/scoring@0.2.0`"),
        (exporting("skillcell:plugin/scoring@0.1.0"), "does not fit world `scorer`"),
        (clock.to_owned(), "wasi:clocks/monotonic-clock"),
    ] {
        let file = files.path().join("x.wasm");
        let bytes = if text.starts_with('(') { wat::parse_str(&text).unwrap() } else { text.clone().into_bytes() };
        std::fs::write(&file, bytes).unwrap();
        let stderr = refusal(serve(folder.path()).arg("--scorer").arg(&file));
        assert!(stderr.contains(part) && stderr.matches("ERROR").count() == 1, "{text}: {stderr}");
    }
    let large = files.path().join("large.wasm");
    std::fs::File::create(&large).unwrap().set_len((32 << 20) + 1).unwrap();
    for (file, part) in [
        (large, "has 33554433 bytes, and the limit is 33554432"),
        (component("fragile-engine"), "exports `skillcell:plugin/catalog@"),
        (files.path().join("missing.wasm"), "cannot be read"),
        (files.path().join("missing/"), "cannot be read"),
        (files.path().to_owned().join("./"), "it is not a file"),
    ] {
        let stderr = refusal(serve(folder.path()).arg("--scorer").arg(&file));
        assert!(stderr.contains(part), "{}: {stderr}", file.display());
    }
}

#[test]
fn content_cannot_choose_a_scorer() {
    let folder = skills();
    let yaml = format!("matching: {{scorer: {}}}\n", component("hostile-scorer").display());
    std::fs::write(folder.path().join("config.yaml"), yaml).unwrap();
    let mut session = serve(folder.path()).start();
    assert_eq!(score_by_scorer(&mut session), Value::Null);
    let problems = crate::problems(&mut session, "message");
    assert!(problems.len() == 1 && problems[0].0 == "config.yaml", "{problems:?}");
}
