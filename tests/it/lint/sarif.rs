//! `lint --sarif`, the report for code scanning.

use super::{lint, run};
use crate::library;
use serde_json::{Value, json};
use skillcell_tests::Launch;
use std::collections::BTreeSet;
use std::path::Path;

fn sarif(folder: &Path, root: &str, more: &[&str]) -> Value {
    let launch = more.iter().fold(lint(root), Launch::arg);
    let outcome = run(launch.arg("--sarif").folder(folder));
    serde_json::from_str(&outcome.text).unwrap_or_else(|_| panic!("no JSON: {} {}", outcome.text, outcome.log))
}

#[test]
fn a_report_has_everything_that_code_scanning_requires() {
    let folder = library(&[
        ("été #1/SKILL.md", "no front matter\n"),
        (
            "pdf/SKILL.md",
            "---\nname: pdf\ndescription: d\n---\né [a](x.md)\n<!-- skillcell-lint allow: outside-reference -->[b](../y.md)\n",
        ),
        ("a/SKILL.md", "---\nname: b\ndescription: d\nassets: [x]\n---\n"),
    ]);
    let report = sarif(folder.path(), ".", &["--allow", "name-differs"]);
    assert_eq!(report["version"], "2.1.0");
    assert!(report["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let [run] = report["runs"].as_array().unwrap().as_slice() else { panic!("one run: {report:#}") };
    assert_eq!(
        (&run["tool"]["driver"]["name"], &run["columnKind"]),
        (&json!("skillcell"), &json!("unicodeCodePoints"))
    );

    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rules.len(), "rule ids are unique");
    for rule in rules {
        for field in ["shortDescription", "fullDescription", "help"] {
            let text = rule[field]["text"].as_str().unwrap_or_else(|| panic!("{rule:#}"));
            assert!(text.len() > 5 && text.len() < 1_024 && text.ends_with('.'), "{text}");
        }
        assert!(["error", "warning"].contains(&rule["defaultConfiguration"]["level"].as_str().unwrap()), "{rule:#}");
    }

    let results = run["results"].as_array().unwrap();
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(result["message"]["text"].as_str().unwrap().len() > 5, "{result:#}");
        assert!(["error", "warning"].contains(&result["level"].as_str().unwrap()), "{result:#}");
        let [location] = result["locations"].as_array().unwrap().as_slice() else { panic!("one location: {result:#}") };
        let physical = &location["physicalLocation"];
        let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()) && !uri.starts_with('/'), "{uri}");
        assert_eq!(physical["artifactLocation"]["uriBaseId"], "%SRCROOT%");
        assert!(physical["region"]["startLine"].as_u64().unwrap() >= 1);
        assert!(physical["region"].get("startColumn").is_none_or(|column| column.as_u64().unwrap() >= 1));
        assert_eq!(result["partialFingerprints"]["problem/v1"].as_str().unwrap().len(), 64);
    }
    let reported: Vec<Value> = results
        .iter()
        .map(|result| {
            let physical = &result["locations"][0]["physicalLocation"];
            json!([
                physical["artifactLocation"]["uri"],
                physical["region"],
                result["ruleId"],
                result["suppressions"][0]["kind"]
            ])
        })
        .collect();
    let at = |line: u32, column: u32| json!({"startLine": line, "startColumn": column});
    assert_eq!(
        reported,
        [
            json!(["a/SKILL.md", at(4, 10), "missing-file", null]),
            json!(["pdf/SKILL.md", at(5, 7), "dead-link", null]),
            json!(["%C3%A9t%C3%A9%20%231/SKILL.md", at(1, 1), "no-front-matter", null]),
            json!(["a/SKILL.md", at(2, 1), "name-differs", "external"]),
            json!(["pdf/SKILL.md", at(6, 53), "outside-reference", "inSource"]),
        ]
    );
    let base = run["originalUriBaseIds"]["%SRCROOT%"]["uri"].as_str().unwrap();
    assert!(base.starts_with("file:///") && base.ends_with('/'), "{base}");
}

#[test]
fn files_outside_the_working_folder_have_absolute_uris() {
    let folder = library(&[("here/x", ""), ("there/a b/SKILL.md", "no front matter\n")]);
    let report = sarif(&folder.path().join("here"), "../there", &[]);
    let artifact = &report["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
    let uri = artifact["uri"].as_str().unwrap();
    assert!(uri.starts_with("file:///") && uri.ends_with("there/a%20b/SKILL.md"), "{uri}");
    assert_eq!(artifact.get("uriBaseId"), None);
}

#[test]
fn the_uri_of_the_root_folder_has_one_slash() {
    let folder = library(&[("pdf/SKILL.md", "no front matter\n")]);
    let report = sarif(Path::new("/"), folder.path().to_str().unwrap(), &[]);
    assert_eq!(report["runs"][0]["originalUriBaseIds"]["%SRCROOT%"]["uri"], "file:///");
}

#[test]
fn without_problems_there_is_a_run_without_results() {
    let folder = library(&[]);
    let report = sarif(folder.path(), ".", &[]);
    assert_eq!(report["runs"][0]["results"], json!([]));
}
