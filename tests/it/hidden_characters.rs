//! Characters that hide or reorder text do not reach clients in lists, nor forge lines of the log. Files are served as they are.

use crate::{library, serve};
use serde_json::{Value, json};
use skillcell_tests::write_files;

/// Of every kind: a direction, a zero width, a tag, a joiner, selectors, a filler, an isolate, a mark, private use.
const HIDDEN: [char; 11] = [
    '\u{202e}',
    '\u{200b}',
    '\u{e0041}',
    '\u{34f}',
    '\u{fe01}',
    '\u{e0101}',
    '\u{115f}',
    '\u{2066}',
    '\u{ad}',
    '\u{e000}',
    '\u{180e}',
];

/// Returns every text of a value, and every key.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(key, value)| std::iter::once(key.as_str()).chain(texts(value))).collect()
        }
        _ => Vec::new(),
    }
}

fn assert_visible(what: &str, value: &Value) {
    for text in texts(value) {
        assert!(!text.contains(HIDDEN), "{what}: {text:?}");
    }
}

#[test]
fn no_list_carries_a_hidden_character() {
    let hidden: String = HIDDEN.iter().flat_map(|letter| ['x', *letter]).collect();
    let body = format!("Body {hidden} of the skill.");
    let folder = library(&[]);
    write_files(
        folder.path(),
        &[
            (
                &format!("evil{hidden}/SKILL.md"),
                &format!(
                    "---\nname: evil{hidden}\ndescription: Does {hidden} things\nmetadata: {{a{hidden}: b{hidden}}}\nassets: [{{file: a{hidden}.txt, description: d{hidden}}}]\n\
                     scripts: [{{file: run.sh, description: d{hidden}, execution: server, args: [{{name: n, description: d{hidden}}}]}}]\n---\n\n{body}\n"
                ),
            ),
            (&format!("evil{hidden}/a{hidden}.txt"), "text"),
            (&format!("evil{hidden}/run.sh"), "echo\n"),
            (
                &format!("tree{hidden}.md"),
                &format!("---\nkeywords: [things{hidden}]\ndescription: Does {hidden} things\n---\n\n{body}\n"),
            ),
            ("fine/SKILL.md", &format!("---\nname: fine\ndescription: Does things {hidden}\n---\n\n{body}\n")),
            (&format!("broken{hidden}/SKILL.md"), &format!("---\nnam{hidden}: x\n---\n")),
        ],
    );
    let mut session = serve(folder.path()).modern();
    for (tool, arguments) in [
        ("skills_list", json!({})),
        ("skills_search", json!({"query": "body"})),
        ("list_skills", json!({})),
        ("skill-resource", json!({"skill": format!("evil{hidden}"), "path": ""})),
    ] {
        let answer = session.call(tool, arguments);
        assert_ne!(answer["isError"], true, "{tool}: {answer}");
        assert_visible(tool, &answer);
    }
    let mut found = session.call_json("get_skill", json!({"context": "does things"}));
    // The text of a skill is exact.
    found.as_object_mut().unwrap().remove("content");
    assert_visible("get_skill", &found);
    for method in
        ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "skills/list", "server/discover"]
    {
        let answer = session.result(method, json!({}));
        assert_visible(method, &answer);
    }
    let skill = json!({"ref": {"type": "ref/prompt", "name": "skill"}, "argument": {"name": "name", "value": ""}});
    let names = session.result("completion/complete", skill);
    assert_visible("completion/complete", &names);

    // What a list shows finds the skill, whose file is exact.
    let list = session.call_json("skills_list", json!({}));
    for skill in list["skills"].as_array().unwrap() {
        let path = skill["skillPath"].as_str().unwrap();
        let found = session.call_json("get_skill", json!({"context": "", "skill_path": path}));
        assert!(found["content"].as_str().unwrap().contains(&body), "{path}: {found}");
        assert_eq!(found["skill_path"], *path);
        let found = session.call("skill", json!({"name": path}));
        assert!(found["content"][0]["text"].as_str().unwrap().contains(&body), "{path}: {found}");
    }
    assert_eq!(list["skills"].as_array().unwrap().len(), 3, "{list}");
}

#[test]
fn text_from_elsewhere_cannot_forge_a_line_of_the_log() {
    const FORGED: &str = "2026-01-01T00:00:00.000000Z ERROR forged";
    let outer = library(&[]);
    let root = format!("skills\n{FORGED}\u{202e}");
    let skill = "---\nname: pdf\ndescription: Read\n---\n";
    write_files(
        outer.path(),
        &[(&format!("{root}/pdf/SKILL.md"), skill), (&format!("{root}/a\n{FORGED}/SKILL.md"), "broken")],
    );
    let mut session = serve(&outer.path().join(&root)).arg("-vv").start();
    session.call("skill", json!({"name": format!("x\n{FORGED}")}));
    session.call(&format!("tool\n{FORGED}"), json!({}));
    let _ = session.request(&format!("method\n{FORGED}"), json!({}));
    session.close_input();
    session.exits_soon();
    let log = session.log();
    assert!(log.contains("forged"), "the root is logged: {log}");
    for line in log.lines() {
        assert!(!line.starts_with(FORGED) && !line.contains('\u{202e}'), "{line:?}");
    }
}
