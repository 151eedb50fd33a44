//! `skillcell plugin`, for authors of plugins and operators.

mod project;

use crate::{SKILLCELL, library};
use serde_json::{Value, json};
use skillcell_tests::{Launch, component};
use std::path::Path;
use std::process::Output;

fn plugin(arguments: &[&str]) -> Launch {
    arguments.iter().fold(Launch::bare(SKILLCELL).arg("plugin"), Launch::arg)
}

fn output_text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// Returns the report of `plugin check --json`, and its exit code.
fn check(file: &Path) -> (Value, Option<i32>) {
    let output = plugin(&["check", "--json"]).arg(file).output();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {}", output_text(&output)));
    (report, output.status.code())
}

/// Writes a component that is given in the text format.
fn component_from_wat(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::with_suffix(".wasm").unwrap();
    std::fs::write(file.path(), wat::parse_str(text).unwrap()).unwrap();
    file
}

#[test]
fn components_of_every_world_are_recognized_and_tried() {
    let worlds = [("scorer-semantic", "scorer"), ("echo-runtime", "script-runtime"), ("fragile-engine", "engine")];
    for (name, world) in worlds {
        let file = component(name);
        let (report, code) = check(&file);
        assert_eq!(
            (&report["world"], &report["problems"], code),
            (&json!(world), &json!([]), Some(0)),
            "{name}: {report:#}"
        );
        assert_eq!(report["size"], std::fs::metadata(&file).unwrap().len());
        let imports = report["imports"].as_array().unwrap();
        assert!(!imports.is_empty() && imports.iter().all(|import| import["offered"] == true), "{report:#}");
        assert!(report["tried"].as_array().unwrap().len() > 1, "{report:#}");
    }
}

#[test]
fn the_text_report_has_the_digest_to_pin_and_what_was_tried() {
    let output = plugin(&["check"]).arg(component("scorer-semantic")).output();
    let text = output_text(&output);
    let digest = check(&component("scorer-semantic")).0["sha256"].as_str().unwrap().to_owned();
    for part in [
        "of world `scorer`",
        &digest,
        "skillcell:plugin/log@0.1.1",
        "the same answers again",
        "with 1000 skills",
        "\nno problems\n",
    ] {
        assert!(text.contains(part), "`{part}` is missing in:\n{text}");
    }
}

#[test]
fn an_import_that_is_not_offered_is_reported() {
    let file = component_from_wat(
        r#"(component (import "wasi:clocks/wall-clock@0.2.0" (instance)) (instance $scoring)
            (export "skillcell:plugin/scoring@0.1.0" (instance $scoring)))"#,
    );
    let (report, code) = check(file.path());
    assert_eq!((&report["world"], code), (&json!("scorer"), Some(1)), "{report:#}");
    assert_eq!(report["imports"], json!([{"name": "wasi:clocks/wall-clock@0.2.0", "offered": false}]));
    assert!(report["problems"][0].as_str().unwrap().contains("does not offer\nhint: "), "{report:#}");
}

#[test]
fn a_scorer_with_another_version_or_other_functions_is_refused() {
    for (version, reason) in [("2.0.0", "this server supports"), ("0.1.0", "does not fit world `scorer`")] {
        let export = format!(r#"(export "skillcell:plugin/scoring@{version}" (instance $scoring))"#);
        let file = component_from_wat(&format!("(component (instance $scoring) {export})"));
        let (report, code) = check(file.path());
        assert_eq!((&report["world"], code), (&json!("scorer"), Some(1)), "{report:#}");
        assert!(report["problems"][0].as_str().unwrap().contains(reason), "{report:#}");
    }
}

#[test]
fn files_that_are_not_plugins_are_distinguished_from_unreadable_ones() {
    let folder = library(&[("text.wasm", "# no WebAssembly\n"), ("empty.wasm", "")]);
    for (file, reason) in [("text.wasm", "it is not WebAssembly"), ("empty.wasm", "it is not WebAssembly")] {
        let (report, code) = check(&folder.path().join(file));
        assert_eq!((&report["world"], code), (&Value::Null, Some(1)), "{report:#}");
        assert!(report["problems"][0].as_str().unwrap().contains(reason), "{report:#}");
    }
    let module = component_from_wat("(module)");
    assert!(check(module.path()).0["problems"][0].as_str().unwrap().contains("wasm32-wasip2"));
    // A command has imports and exports, but none of our worlds.
    let (report, code) = check(&component("hostile-guest"));
    assert_eq!((&report["world"], code), (&Value::Null, Some(1)), "{report:#}");
    for path in [folder.path(), &folder.path().join("missing.wasm"), Path::new("/dev/null")] {
        let output = plugin(&["check"]).arg(path).output();
        assert_eq!(output.status.code(), Some(2), "{}: {}", path.display(), output_text(&output));
        assert!(output_text(&output).contains("cannot be read"), "{}", output_text(&output));
        assert!(output.stdout.is_empty(), "{}", output_text(&output));
    }
}

#[test]
fn the_list_has_bundled_and_installed_plugins() {
    let mine = component("hostile-scorer");
    let digest = check(&mine).0["sha256"].as_str().unwrap().to_owned();
    let config = format!(
        "scorers: {{mine: {{file: '{file}', sha256: '{digest}'}}, gone: /nowhere.wasm, wrong: {{file: '{file}', sha256: '{zeros}'}}}}\n\
         matching: {{scorer: mine}}\nscripts: {{runners: {{.txt: '{runner}'}}}}\n",
        file = mine.display(),
        zeros = "0".repeat(64),
        runner = component("echo-runtime").display()
    );
    let output = plugin(&["list", "--json"]).config(&config).output();
    assert_eq!(output.status.code(), Some(1), "two of them do not load: {}", output_text(&output));
    let list: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let plugin_named =
        |name: &str| list.iter().find(|plugin| plugin["name"] == name).unwrap_or_else(|| panic!("{name}: {list:#?}"));
    for (name, world) in
        [("engine", "engine"), ("python", "script-runtime"), ("javascript", "script-runtime"), ("bm25", "scorer")]
    {
        let plugin = plugin_named(name);
        assert_eq!((&plugin["world"], &plugin["from"]), (&json!(world), &json!("skillcell")), "{plugin}");
        assert!(plugin["size"].as_u64().unwrap() > 10_000 && plugin.get("problem").is_none(), "{plugin}");
    }
    let used: Vec<&str> = list
        .iter()
        .filter(|it| it["in_use"] == true && it["world"] == "scorer")
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(used, ["mine"]);
    assert_eq!((&plugin_named("mine")["pinned"], &plugin_named("mine")["sha256"]), (&json!(true), &json!(digest)));
    assert!(plugin_named("mine").get("problem").is_none(), "{}", plugin_named("mine"));
    assert!(plugin_named("gone")["problem"].as_str().unwrap().contains("cannot be read"), "{}", plugin_named("gone"));
    assert!(plugin_named("wrong")["problem"].as_str().unwrap().contains("is pinned"), "{}", plugin_named("wrong"));
    assert_eq!(plugin_named("keyword")["in_use"], false);

    let output = plugin(&["list"]).output();
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let line =
        |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}:\n{text}"));
    assert!(line("hybrid").contains("in use") && !line("keyword").contains("in use"), "{text}");
    assert!(line("javascript").contains(".cjs .js .mjs .ts"), "{text}");
}
