//! What the tools take and give, as JSON Schema.

use super::ToolName;
use super::skills_search::{MOST_HITS, USUAL_LIMIT};
use serde_json::{Map, Value, json};

/// `integrations` are the names of those that can be asked.
pub fn input(tool: ToolName, integrations: &[String]) -> Map<String, Value> {
    let text = |description: &str| json!({"type": "string", "description": description});
    let flag = |description: &str| json!({"type": "boolean", "description": description});
    let path = text("Path of the skill, as answers give it");
    match tool {
        ToolName::Skill => schema(&[("name", text("Name of the skill to load, as the catalog lists it"))], &["name"]),
        ToolName::SkillResource => schema(
            &[
                ("skill", text("Name of the skill")),
                ("path", text("File or folder below the skill's directory; empty for the list of files")),
            ],
            &["skill", "path"],
        ),
        ToolName::SkillsList => schema(
            &[
                ("query", text("Optional substring filter applied to install name, meta.name, or description")),
                ("includeBody", flag("Include the SKILL.md body (minus YAML front-matter) in the structured payload")),
            ],
            &[],
        ),
        ToolName::SkillsSearch => {
            let query = "Keywords to match (all whitespace-separated tokens must be present)";
            let limit = json!({"type": "integer", "description": "Maximum number of hits", "minimum": 1, "maximum": MOST_HITS, "default": USUAL_LIMIT});
            schema(
                &[("query", json!({"type": "string", "description": query, "minLength": 1})), ("limit", limit)],
                &["query"],
            )
        }
        ToolName::ReadSkill => schema(&[("name", text("Name of the skill to read"))], &["name"]),
        ToolName::Query => {
            let mut service = json!({"type": "string", "description": "Service to query"});
            if !integrations.is_empty() {
                service["enum"] = json!(integrations);
            }
            schema(
                &[("query", text("Natural language query describing what you want to know")), ("integration", service)],
                &["query", "integration"],
            )
        }
        ToolName::GetSkill => schema(
            &[
                ("context", text("The task in a sentence or two, in English or French")),
                ("skill_path", text("The candidate to take, from an ambiguous answer or a list")),
                ("include_assets", flag("Put the contents of small text assets into the answer")),
            ],
            &["context"],
        ),
        ToolName::ListSkills => schema(&[("path", text("Only this category, such as `ui` or `api/_index`"))], &[]),
        ToolName::GetAsset => schema(
            &[
                ("skill_path", path),
                ("file", text("Path of the file below the skill's resource folder, such as `assets/logo.svg`")),
            ],
            &["skill_path", "file"],
        ),
        ToolName::RunScript => {
            let names = "Named arguments, as the script declares them; an empty object if it has none";
            schema(
                &[
                    ("skill_path", path),
                    ("file", text("Path of the script below the skill's resource folder, such as `scripts/check.py`")),
                    (
                        "args",
                        json!({"type": "object", "description": names, "additionalProperties": {"type": "string"}}),
                    ),
                    ("cwd", text("Absolute path of the project, which the script sees as /work if that is granted")),
                    ("dry_run", flag("Only tell what the script would get and what is refused; run nothing")),
                ],
                &["skill_path", "file", "args"],
            )
        }
        ToolName::ReportUsage => schema(
            &[
                ("skill_path", path),
                ("useful", flag("Whether it helped")),
                ("comment", text("What was missing or wrong")),
            ],
            &["skill_path", "useful"],
        ),
        ToolName::RefreshSkills => schema(&[], &[]),
    }
}

/// What the structured answer of a tool looks like, if it has one.
pub fn output(tool: ToolName) -> Option<Map<String, Value>> {
    let text = json!({"type": "string"});
    let number = json!({"type": "integer"});
    let skill = [
        ("installName", text.clone()),
        (
            "meta",
            Value::Object(open_schema(
                &[("name", text.clone()), ("description", text.clone())],
                &["name", "description"],
            )),
        ),
        ("skillPath", text.clone()),
        ("skillFile", text.clone()),
    ];
    let list = |items: Map<String, Value>| json!({"type": "array", "items": items});
    match tool {
        ToolName::SkillsList => {
            let required = ["installName", "meta", "skillPath", "skillFile"];
            let skills = [&skill[..], &[("body", text.clone())]].concat();
            let problem = [
                ("root", text.clone()),
                ("file", text.clone()),
                ("line", number),
                ("severity", text.clone()),
                ("code", text.clone()),
                ("message", text.clone()),
                ("advice", text.clone()),
            ];
            let problem = open_schema(&problem, &["root", "file", "severity", "code", "message", "advice"]);
            let fields =
                [("skills", list(open_schema(&skills, &required))), ("note", text), ("problems", list(problem))];
            Some(open_schema(&fields, &["skills"]))
        }
        ToolName::SkillsSearch => {
            let required = ["installName", "meta", "skillPath", "skillFile", "score", "excerpt"];
            let hit = [&skill[..], &[("score", number.clone()), ("excerpt", text.clone())]].concat();
            let fields = [
                ("query", text),
                ("limit", number.clone()),
                ("total", number),
                ("results", list(open_schema(&hit, &required))),
            ];
            Some(open_schema(&fields, &["query", "limit", "total", "results"]))
        }
        _ => None,
    }
}

fn schema(fields: &[(&str, Value)], required: &[&str]) -> Map<String, Value> {
    let mut schema = open_schema(fields, required);
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    schema
}

/// A schema of what we send, to which a later version may add fields.
fn open_schema(fields: &[(&str, Value)], required: &[&str]) -> Map<String, Value> {
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}
