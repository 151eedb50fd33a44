//! What a model reads about the tools: when to use one, and which other one instead. Only tools that are offered are named.

use super::ToolName;
use crate::mcp::surface::Surface;

pub fn title(tool: ToolName) -> &'static str {
    match tool {
        ToolName::Skill => "Load a skill",
        ToolName::SkillResource => "Read files of a skill",
        ToolName::SkillsList => "List all skills",
        ToolName::SkillsSearch => "Search the text of skills",
        ToolName::ReadSkill => "Read a skill with its file references",
        ToolName::Query => "Ask GitHub, CircleCI or Linear",
        ToolName::GetSkill => "Get the skill for a task",
        ToolName::ListSkills => "Browse skills as a tree",
        ToolName::GetAsset => "Read a declared file of a skill",
        ToolName::RunScript => "Run a script of a skill",
        ToolName::ReportUsage => "Tell whether a skill helped",
        ToolName::RefreshSkills => "Look for changed skills now",
    }
}

pub fn description(tool: ToolName, surface: &Surface) -> String {
    let first = purpose(tool, surface);
    let offered = |(other, _): &&(ToolName, &str)| surface.tools.contains(other);
    let hint = |(other, task): &(ToolName, &str)| format!("{task}, use {}", other.name_in(surface));
    let hints: Vec<String> = instead(tool).iter().filter(offered).map(hint).collect();
    match &hints[..] {
        [] => first.to_owned(),
        hints => format!("{first} To {}.", hints.join("; to ")),
    }
}

fn purpose(tool: ToolName, surface: &Surface) -> &'static str {
    match tool {
        ToolName::Skill => surface.skill_words,
        ToolName::SkillResource => {
            "Read files within a skill's directory (scripts, references, assets, snippets). `path` is a file, a folder (all \
             files below it), or empty for the list of files. Use it when a skill you loaded mentions a file."
        }
        ToolName::SkillsList => {
            "List every skill with name, description and path, optionally only those whose name or description contains \
             `query`. Use it for complete metadata."
        }
        ToolName::SkillsSearch => {
            "Find skills whose name, description or text contains every word of `query`, with an excerpt around the first \
             match. Use it when you know a word that must occur."
        }
        ToolName::ReadSkill => {
            "Read a skill's full instructions and content by name, with `@file` references resolved to absolute paths (URIs over HTTP). Use it \
             when you want to open the files that a skill mentions yourself."
        }
        ToolName::Query => {
            "Query integrated services (GitHub, CircleCI, Linear) in natural language about the repository of the working \
             folder: pull requests, reviews, checks, builds, issues. Ask one thing at a time; repository, branch and commit \
             are known. A question that is not understood is answered with those that are."
        }
        ToolName::GetSkill => {
            "Get the team's instructions for a task, with everything they inherit. Call it before you begin work: describe the \
             task in `context` and follow what comes back. If the answer is `ambiguous`, call again with the `skill_path` of \
             one candidate."
        }
        ToolName::ListSkills => {
            "Browse the skills as a tree of categories, with what each is for. Use it to get an overview, or with `path` to \
             see one category."
        }
        ToolName::GetAsset => {
            "Read one file that a skill declares or inherits: a template, an example, a reference, or a script. Use it when \
             a skill's `assets` or `scripts` name a file."
        }
        ToolName::RunScript => {
            "Run a script that a skill declares with `execution: server`, in a sandbox: it sees the skill's files, an empty \
             /tmp, and only what the operator granted. Use it when a skill's instructions or its `scripts` name it."
        }
        ToolName::ReportUsage => {
            "Tell whether a skill was useful, after you worked with it. It helps the team to improve its skills, and changes \
             nothing for you."
        }
        ToolName::RefreshSkills => {
            "Bring in skills that changed on disk now, and tell how many there are. Edits on this machine are noticed without \
             it, so use it only when somebody says that a change does not show."
        }
    }
}

/// What other tools do better.
fn instead(tool: ToolName) -> &'static [(ToolName, &'static str)] {
    use ToolName as Tool;
    match tool {
        Tool::Skill => &[(Tool::GetSkill, "get the skill for a task"), (Tool::SkillsSearch, "find one by a word")],
        Tool::SkillResource => &[(Tool::Skill, "load the skill itself"), (Tool::RunScript, "run a script")],
        Tool::SkillsList => {
            &[(Tool::SkillsSearch, "find text inside skills"), (Tool::GetSkill, "get the skill for a task")]
        }
        Tool::SkillsSearch => &[(Tool::GetSkill, "get the skill for a task"), (Tool::Skill, "load one that you found")],
        Tool::ReadSkill => &[(Tool::Skill, "load a skill as it is written"), (Tool::GetSkill, "find one for a task")],
        Tool::Query => &[(Tool::SkillsSearch, "find what skills say")],
        Tool::GetSkill => &[(Tool::Skill, "load a skill whose name you know"), (Tool::SkillsSearch, "look for a word")],
        Tool::ListSkills => &[(Tool::GetSkill, "get instructions for a task"), (Tool::SkillsList, "get a flat list")],
        Tool::GetAsset => &[(Tool::SkillResource, "read any file or folder of a skill")],
        Tool::RunScript => &[(Tool::GetAsset, "read a script with `execution: claude` and run it yourself")],
        Tool::ReportUsage | Tool::RefreshSkills => &[],
    }
}
