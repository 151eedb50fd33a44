//! The API of the page: the same answers as other commands, always fresh.

use super::{Page, SKILLS, field_of_all, ui};
use crate::commands::large;
use crate::{SKILLCELL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, eventually, files_below, write_files};
use std::path::{Path, PathBuf};

/// A file name with markup and a character that reorders text.
const EVIL: &str = "<img src=x onerror=alert(1)>\u{202e}";

/// Returns the depth and the path of each node.
fn nodes(catalog: &Value) -> Vec<(u64, &str)> {
    let nodes = catalog["nodes"].as_array().unwrap().iter();
    nodes.map(|node| (node["depth"].as_u64().unwrap(), node["path"].as_str().unwrap())).collect()
}

#[test]
fn the_catalog_is_a_tree_with_its_roots() {
    let library = library(&SKILLS);
    let page = Page::open(ui(library.path()));
    let catalog = page.json("api/catalog");
    assert_eq!(nodes(&catalog), [(0, "_root"), (1, "tool"), (1, "ui/_index"), (2, "ui/login")]);
    assert_eq!(catalog["skills"], 4);
    assert_eq!(page.json("api/problems"), json!({"total": 0, "kinds": [], "hidden": []}));
    let path = library.path().display().to_string();
    assert_eq!(
        (field_of_all(&catalog["roots"], "path"), field_of_all(&catalog["roots"], "state")),
        (vec![path.as_str()], vec!["there"])
    );
    let login = &catalog["nodes"][3];
    assert_eq!((&login["name"], &login["keywords"]), (&json!("login"), &json!(["login", "form"])));
    assert_eq!(page.json("api/scripts"), json!({"tool": 1}));
    let kind_of = |at: usize| (&catalog["nodes"][at]["model"], &catalog["nodes"][at]["file"]);
    assert_eq!(kind_of(1), (&json!("folder"), &json!("tool/SKILL.md")));
    assert_eq!(kind_of(2), (&json!("tree"), &json!("ui/_index.md")));
}

#[test]
fn a_skill_is_shown_as_by_get_skill() {
    let library = library(&SKILLS);
    let page = Page::open(ui(library.path()));
    let mut session = serve(library.path()).start();
    let skill = page.json("api/skill?name=ui%2Flogin");
    let served = session.call_json("get_skill", json!({"context": "x", "skill_path": "ui/login"}));
    assert_eq!(skill["content"], served["content"]);
    assert_eq!(skill["text"], SKILLS[3].1);
    let chain = [("_root", "_root.md"), ("ui/_index", "ui/_index.md"), ("ui/login", "ui/login.md")];
    let chain: Vec<Value> = chain.iter().map(|(address, file)| json!({"address": address, "file": file})).collect();
    assert_eq!(skill["chain"], json!(chain));
    assert_eq!(
        skill["assets"],
        json!([{"file": "base.css", "description": "d", "type": "template", "from": "ui/_index"}])
    );
    let tool = page.json("api/skill?name=tool");
    assert_eq!(
        (&tool["model"], &tool["chain"]),
        (&json!("folder"), &json!([{"address": "tool", "file": "tool/SKILL.md"}]))
    );
    let needs = json!({"read": [], "write": [], "variables": ["TOKEN"], "hosts": ["api.example.com"]});
    assert_eq!(tool["scripts"][0]["needs"], needs);
    assert_eq!(tool["scripts"][0]["args"], json!([{"name": "n", "description": "how often", "required": true}]));
    let unknown = page.get("api/skill?name=logon");
    assert_eq!(unknown.status, 404);
    assert!(unknown.json()["hint"].as_str().unwrap().contains("ui/login"), "{unknown:?}");
}

#[test]
fn a_ranking_is_that_of_match() {
    let library = library(&SKILLS);
    for scorer in ["keyword", "hybrid"] {
        let page = Page::open(ui(library.path()).arg("--scorer").arg(scorer));
        for task in ["a login form", "screen login", "nothing of all this"] {
            let ranked = page.json(&format!("api/rank?task={}", task.replace(' ', "%20")));
            let command = Launch::bare(SKILLCELL).arg("match").arg(task).arg("--json").arg("--scorer").arg(scorer);
            let output = command.arg("--root").arg(library.path()).output();
            let printed: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
            assert_eq!(ranked, printed, "{scorer}: {task}");
            assert_eq!(ranked["explain"]["scorer"], scorer);
        }
        let again = page.json("api/rank?task=a%20login%20form");
        assert_eq!(
            field_of_all(&again["explain"]["candidates"][0]["scores"], "scorer"),
            ["keyword", "bm25", "hybrid", "semantic"]
        );
    }
}

#[test]
fn grants_are_shown_with_their_problems() {
    let library = library(&SKILLS);
    let root = library.path().display();
    let config = format!(
        "grants:\n  {root}:\n    tool: {{read: [{root}, /nowhere], env: [TOKEN, UNSET], hosts: [api.example.com]}}\n    \
         gone: {{}}\n  /elsewhere:\n    tool: {{hosts: [b.example]}}\nscripts: {{timeout_seconds: 7}}\n"
    );
    let page = Page::open(ui(library.path()).config(&config).env("TOKEN", "a secret"));
    let reply = page.get("api/grants");
    assert!(!reply.body.contains("a secret"), "{reply:?}");
    let grants = reply.json();
    let grant_of = |root: &str, skill: &str| {
        let list = grants["grants"].as_array().unwrap();
        list.iter().find(|entry| entry["root"] == root && entry["skill_path"] == skill).unwrap().clone()
    };
    let tool = grant_of(&root.to_string(), "tool");
    assert_eq!((&tool["address"], &tool["missing"]), (&json!("tool"), &Value::Null));
    assert_eq!(
        tool["read"],
        json!([{"path": root.to_string(), "exists": true}, {"path": "/nowhere", "exists": false}])
    );
    assert_eq!(tool["variables"], json!([{"name": "TOKEN", "is_set": true}, {"name": "UNSET", "is_set": false}]));
    assert_eq!(grant_of(&root.to_string(), "gone")["missing"], "there is no such skill");
    assert_eq!(grant_of("/elsewhere", "tool")["missing"], "that folder is not a root");
    assert_eq!(
        (&grants["scripts"]["limits"]["timeout_seconds"], &grants["scripts"]["enabled"]),
        (&json!(7), &json!(true))
    );
    assert!(field_of_all(&grants["integrations"], "name").contains(&"github"), "{grants}");
    assert_eq!(page.json("api/skill?name=tool")["grant"]["hosts"], json!(["api.example.com"]));
    let bare = Page::open(ui(library.path())).json("api/grants");
    assert_eq!((&bare["grants"], &bare["file_exists"]), (&json!([]), &json!(false)));
}

#[test]
fn scorers_get_the_skills_once_per_generation() {
    let library = library(&SKILLS);
    let page = Page::open(ui(library.path()).env("SKILLCELL_LOG", "debug"));
    let updates = |page: &Page| page.session.log().matches("scorers are given ").count();
    let rank = || page.json("api/rank?task=a%20login%20form");
    let first = rank();
    for _ in 0..20 {
        assert_eq!(rank(), first);
    }
    // Skills have different numbers in the two engines.
    page.session.wait_for_log("scorers are given ");
    assert!(updates(&page) <= 2, "{}", page.session.log());
    write_files(library.path(), &[("grapes.md", "---\nkeywords: [grapes]\ndescription: Fruit\n---\nPick them.\n")]);
    eventually("the new skill", || page.json("api/rank?task=grapes")["skill_path"] == "grapes");
    let ranked = page.json("api/rank?task=grapes");
    let scores = ranked["explain"]["candidates"][0]["scores"].as_array().unwrap();
    assert!(scores.len() > 1 && scores.iter().all(|given| given["score"].as_f64().unwrap() > 0.0), "{ranked}");
}

#[test]
fn usage_is_that_of_stats() {
    let library = library(&SKILLS);
    let launch = ui(library.path()).config("analytics: {enabled: true}\n");
    let home = launch.home().to_owned();
    let mut session = serve(library.path()).with_home(&home).start();
    session.call("get_skill", json!({"context": "login form"}));
    session.call("get_skill", json!({"context": "gardening"}));
    drop(session);
    let page = Page::open(launch);
    let mut usage = page.json("api/usage");
    assert_eq!((usage["enabled"].take(), usage["endpoint"].take()), (json!(true), Value::Null));
    let stats = Launch::bare(SKILLCELL).with_home(&home).arg("stats").arg("--json").output();
    let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
    for (name, value) in stats.as_object().unwrap() {
        assert_eq!(usage[name], *value, "{name}");
    }
    assert_eq!((&usage["skills"][0]["skill_path"], &usage["no_match"]), (&json!("ui/login"), &json!(1)));
}

#[test]
fn edits_are_shown_in_the_next_answer() {
    let library = library(&SKILLS);
    let page = Page::open(ui(library.path()));
    let generation = page.json("api/catalog")["generation"].as_u64().unwrap();
    write_files(library.path(), &[("ui/login.md", &SKILLS[3].1.replace("a password", "a passkey"))]);
    let skill = page.json("api/skill?name=ui/login");
    assert!(skill["content"].as_str().unwrap().contains("a passkey"), "{skill}");
    assert!(skill["text"].as_str().unwrap().contains("a passkey"), "{skill}");
    write_files(library.path(), &[("new/SKILL.md", "---\nname: new\ndescription: d\n---\nNew.\n")]);
    assert!(nodes(&page.json("api/catalog")).contains(&(1, "new")));
    assert!(page.json("api/catalog")["generation"].as_u64().unwrap() > generation);
    std::fs::remove_file(library.path().join("ui/_index.md")).unwrap();
    let skill = page.json("api/skill?name=ui/login");
    assert_eq!(field_of_all(&skill["chain"], "address"), ["_root", "ui/login"]);
    std::fs::remove_file(library.path().join("ui/login.md")).unwrap();
    assert_eq!(page.get("api/skill?name=ui/login").status, 404);
}

fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    files_below(folder).into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn the_page_changes_no_files() {
    let library = library(&SKILLS);
    let page = Page::open(ui(library.path()).config("analytics: {enabled: true}\n"));
    let [home, skills] = [page.session.home(), library.path()].map(contents);
    for route in
        ["catalog", "problems", "scripts", "skill?name=tool", "rank?task=login%20form", "grants", "audit", "usage"]
    {
        page.json(&format!("api/{route}"));
    }
    assert_eq!(contents(page.session.home()), home);
    assert_eq!(contents(library.path()), skills);
    let record = page.json("api/audit");
    assert_eq!((&record["lines"], &page.json("api/usage")["since"]), (&json!(0), &Value::Null));
}

#[test]
fn hostile_names_are_passed_on_with_visible_characters() {
    let shown = EVIL.replace('\u{202e}', "\\u{202e}");
    let text = format!("---\nkeywords: ['{EVIL}']\ndescription: '<script>alert(1)</script>'\n---\n{EVIL}</pre>\n");
    let file = format!("{}.md", EVIL.replace('/', ""));
    let library = library(&[(&file, &text)]);
    let page = Page::open(ui(library.path()));
    let reply = page.get("api/catalog");
    assert_eq!(reply.header("content-type"), Some("application/json"), "browsers do not treat it as a page");
    assert_eq!(reply.json()["nodes"][0]["path"], shown);
    assert_eq!(reply.json()["nodes"][0]["keywords"], json!([shown]));
    let name: String = EVIL.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let skill = page.json(&format!("api/skill?name={name}"));
    assert_eq!((&skill["address"], &skill["description"]), (&json!(shown), &json!("<script>alert(1)</script>")));
    let unknown = page.get("api/skill?name=%e2%80%ae%3cb%3e");
    let error = unknown.json()["error"].as_str().unwrap().to_owned();
    assert!(error.contains("\\u{202e}<b>"), "{error}");
}

#[test]
fn empty_missing_broken_and_large_libraries_are_shown() {
    let empty = library(&[]);
    let page = Page::open(ui(empty.path()));
    assert_eq!((&page.json("api/catalog")["skills"], &page.json("api/catalog")["nodes"]), (&json!(0), &json!([])));
    assert_eq!(page.json("api/rank?task=login")["no_match"], true);

    let later = empty.path().join("later");
    let page = Page::open(ui(&later));
    assert_eq!(field_of_all(&page.json("api/catalog")["roots"], "state"), ["missing"]);
    write_files(&later, &SKILLS);
    eventually("the folder that appeared", || page.json("api/catalog")["skills"] == 4);

    let broken = library(&[
        ("a.md", "---\nkeywords: [x\ndescription: {{{\n---\n"),
        ("b/SKILL.md", "---\nname: b\n---\nno description\n"),
        ("c/SKILL.md", "---\nname: c\ndescription: fine\n---\n"),
    ]);
    let catalog = Page::open(ui(broken.path())).json("api/catalog");
    assert_eq!((&catalog["skills"], nodes(&catalog)), (&json!(1), vec![(0, "c")]));

    let large = large();
    let page = Page::open(ui(large.path()).arg("--scorer").arg("keyword"));
    assert_eq!(page.json("api/catalog")["skills"], 3_025);
    let ranked = page.json(&format!("api/rank?task={}", large.task.replace(' ', "%20")));
    assert_eq!(ranked["explain"]["candidates"].as_array().unwrap().len(), 10, "{}", ranked["explain"]);
}
