//! A configuration file with every key of another server.

use super::{by_keywords, codes, dry_run, match_outcome, refusal, skills};
use crate::{SKILLCELL, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, write_files};
use std::collections::BTreeMap;
use std::path::Path;

/// The `config.yaml` of another server of skills, verbatim. Every value in it is the default.
const OTHER_CONFIG: &str = r#"matching:
  min_score: 0.2              # number (0.0-1.0)
  max_results: 3              # integer
  ambiguity_threshold: 0.1    # number (0.0-1.0)

refresh:
  enabled: true               # boolean
  interval_minutes: 15        # integer

scripts:
  enabled: true               # boolean
  timeout_seconds: 60         # integer
  max_output_bytes: 1048576   # integer (bytes)
  allowed_extensions:          # string[]
    - .sh
    - .ts
    - .js
    - .py
  runners:                     # Record<string, string>
    ".sh": "bash"
    ".ts": "npx tsx"
    ".js": "node"
    ".py": "python3"

assets:
  max_size_bytes: 1048576     # integer (bytes)
  inline_text_max_bytes: 10240 # integer (bytes)

analytics:
  enabled: false              # boolean
  endpoint: ""                # string (URL)
"#;

/// Returns the effects of the settings that clients can observe.
fn effects(folder: &Path, operator: &str) -> BTreeMap<&'static str, Value> {
    let mut session = by_keywords(serve(folder).config(operator)).start();
    assert_eq!(codes(&mut session), [""; 0]);
    let report = dry_run(&mut session, "a.sh");
    let chosen = json!({"context": "deploy", "skill_path": "tool", "include_assets": true});
    let inlined = session.call_json("get_skill", chosen)["assets"][0]["content"].clone();
    let served = session.call("get_asset", json!({"skill_path": "tool", "file": "notes.txt"}));
    let stats = Launch::bare(SKILLCELL).with_home(session.home()).arg("stats").arg("--json").output();
    let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
    BTreeMap::from([
        ("found", json!(match_outcome(&mut session))),
        ("refused", json!(report.as_str().map(|text| text.lines().next().unwrap()))),
        ("seconds", report["limits"]["timeout_seconds"].clone()),
        ("output", report["limits"]["max_output_bytes"].clone()),
        ("runtime", report["runtime"].clone()),
        ("inlined", inlined),
        ("too large", json!(served["isError"] == true)),
        ("counted", json!(stats["since"].is_string())),
    ])
}

#[test]
fn the_configuration_of_another_server_is_accepted_and_every_key_has_its_effect() {
    let folder = skills();
    write_files(folder.path(), &[("tool/notes.txt", &"note".repeat(500))]);
    for number in 0..3 {
        let text = "---\nkeywords: [deploy, release, ship, publish]\ndescription: d\n---\n";
        write_files(folder.path(), &[(&format!("z{number}.md"), text)]);
    }
    let defaults = effects(folder.path(), OTHER_CONFIG);
    assert_eq!(defaults, effects(folder.path(), ""), "all are the defaults");
    assert_eq!(defaults["found"], "3 candidates");
    assert_eq!((&defaults["runtime"], &defaults["refused"]), (&json!("shell"), &Value::Null));
    for (setting, other, changed) in [
        ("min_score: 0.2", "min_score: 0.3", vec![("found", json!("nothing"))]),
        ("max_results: 3", "max_results: 2", vec![("found", json!("2 candidates"))]),
        ("ambiguity_threshold: 0.1", "ambiguity_threshold: 0", vec![("found", json!("other"))]),
        ("timeout_seconds: 60", "timeout_seconds: 7", vec![("seconds", json!(7))]),
        ("max_output_bytes: 1048576", "max_output_bytes: 9", vec![("output", json!(9))]),
        ("\".sh\": \"bash\"", "\".sh\": \"python3\"", vec![("runtime", json!("python"))]),
        (
            "max_size_bytes: 1048576 ",
            "max_size_bytes: 1999",
            vec![("too large", json!(true)), ("inlined", Value::Null)],
        ),
        ("inline_text_max_bytes: 10240", "inline_text_max_bytes: 1999", vec![("inlined", Value::Null)]),
        ("enabled: false ", "enabled: true ", vec![("counted", json!(true))]),
    ] {
        assert_eq!(OTHER_CONFIG.matches(setting).count(), 1, "{setting}");
        let mut expected = defaults.clone();
        expected.extend(changed);
        assert_eq!(effects(folder.path(), &OTHER_CONFIG.replace(setting, other)), expected, "{other}");
    }
    let disabled = OTHER_CONFIG.replace("scripts:\n  enabled: true", "scripts:\n  enabled: false");
    assert_eq!(effects(folder.path(), &disabled)["refused"], "scripts are disabled globally");
    let fewer = effects(folder.path(), &OTHER_CONFIG.replace("    - .sh\n", ""));
    assert!(fewer["refused"].as_str().unwrap().starts_with("the extension `.sh` is not allowed"), "{fewer:?}");
    // A refresh interval shows no effect within a minute. `host/crates/git/src/schedule.rs` tests it.
    refusal(&OTHER_CONFIG.replace("interval_minutes: 15", "interval_minutes: 0"));
    refusal(&OTHER_CONFIG.replace("refresh:\n  enabled: true", "refresh:\n  enabled: often"));
}
