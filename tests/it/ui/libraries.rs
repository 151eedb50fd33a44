//! Libraries as they are: files and scripts that are not declared, problems of many files, and hidden folders.

use super::{Page, field_of_all, ui};
use crate::library;
use serde_json::{Value, json};

const PDF: &str = "---\nname: pdf\ndescription: Fill in forms\n---\nRun scripts/fill.py.\n";

#[test]
fn files_and_scripts_are_shown_whether_declared_or_not() {
    let declared = "---\nname: report\ndescription: d\nscripts:\n  - {file: a.py, description: does it, execution: server}\n  \
                    - {file: gone.sh, description: is missing, execution: claude}\nassets:\n  \
                    - {file: base.css, description: c, type: template}\n---\nRun it.\n";
    let library = library(&[
        ("pdf/SKILL.md", PDF),
        ("pdf/reference/forms.md", "How forms work.\n"),
        ("pdf/scripts/fill.py", "print(1)\n"),
        ("pdf/scripts/check.SH", "true\n"),
        ("pdf/scripts/data.bin", "0"),
        ("pdf/.cache/hidden.py", "print(2)\n"),
        ("report/SKILL.md", declared),
        ("report/a.py", "print(3)\n"),
        ("report/b.js", "console.log(4)\n"),
        ("report/base.css", "body {}\n"),
    ]);
    let page = Page::open(ui(library.path()));
    let pdf = page.json("api/skill?name=pdf");
    let paths = ["SKILL.md", "reference/forms.md", "scripts/check.SH", "scripts/data.bin", "scripts/fill.py"];
    assert_eq!(field_of_all(&pdf["files"], "path"), paths);
    assert_eq!(pdf["files"][4], json!({"path": "scripts/fill.py", "size": 9}));
    assert_eq!(pdf["folder"], library.path().join("pdf").display().to_string());
    let script = |skill: &Value, at: usize| {
        let script = &skill["scripts"][at];
        [&script["file"], &script["runtime"], &script["declared"], &script["execution"]].map(Clone::clone)
    };
    assert_eq!(script(&pdf, 0), [json!("scripts/check.SH"), json!("shell"), json!(false), json!("server")]);
    assert_eq!(script(&pdf, 1), [json!("scripts/fill.py"), json!("python"), json!(false), json!("server")]);
    assert_eq!(pdf["scripts"].as_array().unwrap().len(), 2);

    let report = page.json("api/skill?name=report");
    assert_eq!(script(&report, 0), [json!("a.py"), json!("python"), json!(true), json!("server")]);
    assert_eq!(script(&report, 1), [json!("gone.sh"), Value::Null, json!(true), json!("claude")]);
    assert_eq!(script(&report, 2), [json!("b.js"), json!("javascript"), json!(false), json!("server")]);
    assert_eq!(
        field_of_all(&report["files"], "path"),
        ["SKILL.md", "a.py", "b.js", "base.css"],
        "`gone.sh` is missing"
    );
    assert_eq!(page.json("api/scripts"), json!({"pdf": 2, "report": 3}));
}

#[test]
fn what_may_not_run_is_a_file_and_not_a_script() {
    let library = library(&[("pdf/SKILL.md", PDF), ("pdf/scripts/fill.py", "print(1)\n")]);
    for config in ["scripts: {enabled: false}\n", "scripts: {undeclared: false}\n"] {
        let page = Page::open(ui(library.path()).config(config));
        assert_eq!(page.json("api/scripts"), json!({}), "{config}");
        let pdf = page.json("api/skill?name=pdf");
        assert_eq!(pdf["scripts"], json!([]), "{config}");
        assert_eq!(field_of_all(&pdf["files"], "path"), ["SKILL.md", "scripts/fill.py"], "{config}");
    }
}

#[test]
fn problems_are_grouped_by_kind_and_those_of_a_skill_are_with_it() {
    let mut files: Vec<(String, String)> = (0..1_200)
        .map(|number| {
            (format!("wrong-{number}/SKILL.md"), format!("---\nname: other-{number}\ndescription: d\n---\nDo it.\n"))
        })
        .collect();
    files.push(("b/SKILL.md".to_owned(), "---\nname: b\n---\nno description\n".to_owned()));
    files.push(("c/SKILL.md".to_owned(), "---\nname: c\ndescription: fine\n---\n".to_owned()));
    let library = library(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
    let page = Page::open(ui(library.path()));
    let found = page.json("api/problems");
    assert_eq!(found["total"], 1_201);
    let kinds: Vec<_> =
        found["kinds"].as_array().unwrap().iter().map(|kind| (&kind["severity"], &kind["count"])).collect();
    assert_eq!(kinds, [(&json!("error"), &json!(1)), (&json!("warning"), &json!(1_200))], "errors come first");
    for kind in found["kinds"].as_array().unwrap() {
        assert!(kind["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{}", kind["code"]);
        assert!(field_of_all(&kind["problems"], "code").iter().all(|code| kind["code"] == **code));
        assert!(field_of_all(&kind["problems"], "advice").iter().all(|advice| !advice.is_empty()));
    }
    assert_eq!(field_of_all(&found["kinds"][0]["problems"], "file"), ["b/SKILL.md"]);
    assert_eq!(found["kinds"][1]["problems"].as_array().unwrap().len(), 1_000, "the count tells how many there are");
    // The last by path, which is not among the first thousand.
    let skill = page.json("api/skill?name=wrong-999");
    assert_eq!(field_of_all(&skill["problems"], "code"), [found["kinds"][1]["code"].as_str().unwrap()]);
    assert_eq!(page.json("api/skill?name=c")["problems"], json!([]));
}

#[test]
fn skills_in_hidden_folders_are_counted() {
    let library = library(&[("skills/.curated/pdf/SKILL.md", PDF), ("skills/.curated/README.md", "Not a skill.\n")]);
    let page = Page::open(ui(library.path()));
    assert_eq!(page.json("api/catalog")["skills"], 0);
    let folder = library.path().join("skills/.curated").display().to_string();
    assert_eq!(page.json("api/problems")["hidden"], json!([{"folder": folder, "skills": 1}]));
}
