//! The tools: names, what a model reads about them, what they take.

use crate::mcp::answer::MOST_BYTES;
use crate::mcp::skills_search::MOST_HITS;
use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use rmcp::object;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A tool of this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolName {
    GetSkill,
    ListSkills,
    GetAsset,
    RunScript,
    SkillsList,
    SkillsSearch,
}

impl ToolName {
    /// In the order in which they are listed. It never changes, because clients cache the list with their prompt.
    const ALL: [Self; 6] =
        [Self::GetSkill, Self::ListSkills, Self::GetAsset, Self::RunScript, Self::SkillsList, Self::SkillsSearch];

    /// The tool that a call means. Two also answer to a dotted name, which several clients refuse in a list.
    pub fn called(name: &str) -> Option<Self> {
        match name {
            "skills.list" => Some(Self::SkillsList),
            "skills.search" => Some(Self::SkillsSearch),
            _ => Self::ALL.into_iter().find(|tool| tool.name() == name),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::GetSkill => "get_skill",
            Self::ListSkills => "list_skills",
            Self::GetAsset => "get_asset",
            Self::RunScript => "run_script",
            Self::SkillsList => "skills_list",
            Self::SkillsSearch => "skills_search",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::GetSkill => "Get the skill for a task",
            Self::ListSkills => "Browse skills as a tree",
            Self::GetAsset => "Read a file of a skill",
            Self::RunScript => "Run a script of a skill",
            Self::SkillsList => "List all skills",
            Self::SkillsSearch => "Search the text of skills",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::GetSkill => {
                "Get the team's instructions for a task. Call it before you begin work: describe the task in `context` and \
                 follow what comes back. If the answer is `ambiguous`, call again with the `skill_path` of one candidate. To \
                 look for a word use skills_search; to see what exists use list_skills."
            }
            Self::ListSkills => {
                "Browse the skills as a tree of categories, with what each is for. Use it to get an overview, or with `path` to \
                 see one category. To get instructions for a task use get_skill; for a flat list use skills_list."
            }
            Self::GetAsset => {
                "Read one file of a skill: a template, an example, a reference, or a script. Use it when a skill's \
                 instructions, or the `assets` and `scripts` of a get_skill answer, name a file."
            }
            Self::RunScript => {
                "Run a script that a skill declares with `execution: server`, in a sandbox: it sees the skill's files, an empty \
                 /tmp, and only what the operator granted. Use it when a skill's instructions or the `scripts` of a get_skill \
                 answer name it. For a script with `execution: claude` read it with get_asset and run it yourself."
            }
            Self::SkillsList => {
                "List every skill with name, description and path, optionally only those whose name or description contains \
                 `query`. Use it for complete metadata; to find text inside skills use skills_search, to get the skill for a \
                 task use get_skill."
            }
            Self::SkillsSearch => {
                "Find skills whose name, description or text contains every word of `query`, with an excerpt around the first \
                 match. Use it when you know a word that must occur; to get the skill for a task use get_skill."
            }
        }
    }

    fn input(self) -> Map<String, Value> {
        let text = |description: &str| json!({"type": "string", "description": description});
        let flag = |description: &str| json!({"type": "boolean", "description": description});
        match self {
            Self::GetSkill => schema(
                &[
                    ("context", text("The task in a sentence or two, in English or French")),
                    ("skill_path", text("The candidate to take, from an ambiguous answer or from list_skills")),
                    ("include_assets", flag("Put the contents of small text assets into the answer")),
                ],
                &["context"],
            ),
            Self::ListSkills => schema(&[("path", text("Only this category, such as `ui` or `api/_index`"))], &[]),
            Self::GetAsset => schema(
                &[
                    ("skill_path", text("The skill, as get_skill or list_skills call it")),
                    ("file", text("Path of the file below the skill's resource folder, such as `assets/logo.svg`")),
                ],
                &["skill_path", "file"],
            ),
            Self::RunScript => {
                let names = "Named arguments, as the script declares them; an empty object if it has none";
                schema(
                    &[
                        ("skill_path", text("The skill, as get_skill or list_skills call it")),
                        (
                            "file",
                            text("Path of the script below the skill's resource folder, such as `scripts/check.py`"),
                        ),
                        (
                            "args",
                            json!({"type": "object", "description": names, "additionalProperties": {"type": "string"}}),
                        ),
                        (
                            "cwd",
                            text("Absolute path of the project, which the script sees as /work if that is granted"),
                        ),
                        ("dry_run", flag("Only tell what the script would get and what is refused; run nothing")),
                    ],
                    &["skill_path", "file", "args"],
                )
            }
            Self::SkillsList => schema(
                &[
                    ("query", text("Only skills whose install name, name or description contains this, ignoring case")),
                    ("includeBody", flag("Include the text of each skill without its front matter")),
                ],
                &[],
            ),
            Self::SkillsSearch => {
                let words = "Words to match; all of them must occur";
                let limit = "Most hits";
                schema(
                    &[
                        ("query", json!({"type": "string", "description": words, "minLength": 1})),
                        (
                            "limit",
                            json!({"type": "integer", "description": limit, "minimum": 1, "maximum": MOST_HITS, "default": 10}),
                        ),
                    ],
                    &["query"],
                )
            }
        }
    }

    /// The shape of structured answers, for the tools that have them.
    fn output(self) -> Option<Map<String, Value>> {
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
        match self {
            Self::SkillsList => {
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
            Self::SkillsSearch => {
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
            Self::GetSkill | Self::ListSkills | Self::GetAsset | Self::RunScript => None,
        }
    }
}

/// What a client is told. Structured answers are left out for clients that do not know them.
pub fn list(structured: bool) -> Vec<Tool> {
    let tool = |name: ToolName| {
        // A script may write where the operator lets it, and reach the hosts that were granted.
        let acts = name == ToolName::RunScript;
        let annotations = ToolAnnotations::new().read_only(!acts).destructive(acts).idempotent(!acts).open_world(acts);
        let size = MetaObject(object!({"anthropic/maxResultSizeChars": MOST_BYTES + 100_000}));
        let tool = Tool::new(name.name(), name.description(), Arc::new(name.input()));
        let tool = tool.with_title(name.title()).with_annotations(annotations).with_meta(size);
        match name.output().filter(|_| structured) {
            Some(output) => tool.with_raw_output_schema(Arc::new(output)),
            None => tool,
        }
    };
    ToolName::ALL.into_iter().map(tool).collect()
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
