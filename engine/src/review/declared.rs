//! Declared files and scripts: missing ones, and undeclared scripts.

use super::front::{Front, find};
use super::{Diagnostic, Draft, SkillContext};
use crate::paths;
use crate::place::Place;
use crate::problem::{Finding, quote};
use crate::skill::SKILL_FILE;
use crate::yaml::{Node, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The usual folder of scripts, below the resource folder.
const SCRIPTS: &str = "scripts";

/// Maximum number of folders searched below it.
const MAX_FOLDERS: usize = 100;

/// Maximum number of scripts that a message names.
const MAX_NAMED: usize = 3;

pub fn declared(draft: &Draft<'_>, context: &SkillContext<'_>, front: &Front) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if let Some(resources) = context.resources {
        found.extend(missing(draft, resources, front));
        found.extend(undeclared(draft, context, resources, front));
    }
    for script in front.items("scripts") {
        let is_for_server = find(script.fields, "execution").and_then(Node::as_text) == Some("server");
        let wrong = is_for_server.then(|| wrong_extension(context, &script.file)).flatten();
        found.extend(wrong.map(|finding| finding.at(script.place).into()));
        found.extend(collisions(find(script.fields, "args")));
    }
    found
}

/// Reports each declared file that does not exist.
fn missing(draft: &Draft<'_>, resources: &str, front: &Front) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let items = ["assets", SCRIPTS].map(|key| front.items(key)).into_iter().flatten();
    let mut found = Vec::new();
    for item in items {
        let path = paths::join(resources, &item.file);
        if !seen.insert(path.clone()) || draft.root.has_file(&path) {
            continue;
        }
        let message = format!("the declared file `{}` does not exist", quote(&item.file));
        let advice = match draft.similar_file(&path) {
            Some(name) => {
                format!("did you mean `{}`?", quote(&paths::join(paths::folder_of(&item.file).unwrap_or(""), &name)))
            }
            None => format!("add it below `{}`, or remove the entry", quote(resources)),
        };
        found.push(Finding::error("missing-file", message, advice).at(item.place).into());
    }
    found
}

/// Reports scripts in their usual folder that the server cannot run because they are not declared.
fn undeclared(draft: &Draft<'_>, context: &SkillContext<'_>, resources: &str, front: &Front) -> Option<Diagnostic> {
    let folder = paths::join(resources, SCRIPTS);
    let is_folder_skill = paths::last_segment(draft.path) == SKILL_FILE;
    if context.terms.undeclared && is_folder_skill || !draft.folders.has_folder(&folder) {
        return None;
    }
    let known: BTreeSet<String> =
        ["assets", SCRIPTS].iter().flat_map(|key| front.items(key)).map(|item| item.file).collect();
    let scripts = scripts_below(draft, context, &folder).into_iter();
    let scripts = scripts.filter_map(|path| path.get(folder.len() - SCRIPTS.len()..).map(str::to_owned));
    let scripts: Vec<String> = scripts.filter(|file| !known.contains(file)).collect();
    let first = scripts.first()?;
    let named: Vec<String> = scripts.iter().take(MAX_NAMED).map(|file| format!("`{}`", quote(file))).collect();
    let more = match scripts.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (are, them) = if scripts.len() == 1 { ("is", "it") } else { ("are", "them") };
    let message = format!("{}{more} {are} not declared, so `run_script` does not run {them}", named.join(", "));
    let advice = format!("add `scripts: [{{file: {}, description: …, execution: server}}]`", quote(first));
    let finding = Finding::warning("undeclared-script", message, advice);
    // Reported where the text mentions the script, if it does.
    let mentioned = scripts.iter().filter_map(|file| draft.text.find(file.as_str())).min();
    let declared = front.field(SCRIPTS).map_or(Place::START, |entry| entry.place);
    Some(finding.at(mentioned.map_or(declared, |at| Place::of(draft.text, at))).into())
}

/// Returns the paths of scripts in a folder and below it. Names that start with `_` and Python packages are for other
/// scripts to import.
fn scripts_below(draft: &Draft<'_>, context: &SkillContext<'_>, folder: &str) -> Vec<String> {
    let is_private = |path: &str| path.split('/').any(|segment| segment.starts_with('_'));
    let is_own = |path: &&str| !is_private(&path[folder.len()..]) && !draft.folders.has_file(path, SKILL_FILE);
    let inner = draft.folders.folders_below(folder).filter(is_own).take(MAX_FOLDERS);
    let mut found = Vec::new();
    for path in std::iter::once(folder).chain(inner) {
        let names = draft.root.list_files(path);
        if path == folder || !names.iter().any(|name| name == "__init__.py") {
            let is_script = |name: &&String| !name.starts_with('_') && context.runnable.contains(&extension(name));
            found.extend(names.iter().filter(is_script).map(|name| paths::join(path, name)));
        }
    }
    found
}

fn wrong_extension(context: &SkillContext<'_>, file: &str) -> Option<Finding> {
    let extension = extension(file);
    if !context.runnable.contains(&extension) {
        let message = match extension.as_str() {
            "" => format!("the script `{}` has no extension, so no runtime supports it", quote(file)),
            _ => format!("no runtime supports scripts that end in `{}`", quote(&extension)),
        };
        let advice = format!("use one of {}, or `execution: claude`", context.runnable.join(", "));
        return Some(Finding::error("no-runtime", message, advice));
    }
    if !context.terms.allowed_extensions.contains(&extension) {
        let message = format!("scripts that end in `{}` are not allowed here", quote(&extension));
        let advice = "allow it in `scripts.allowed_extensions`, or use another language";
        return Some(Finding::warning("extension-not-allowed", message, advice));
    }
    None
}

/// Returns the extension as settings write it: in lower case, with the dot.
fn extension(file: &str) -> String {
    let name = paths::last_segment(file);
    name.rfind('.').map_or(String::new(), |dot| name[dot..].to_ascii_lowercase())
}

/// Reports arguments that become the same variable, so that only one of them can be passed.
fn collisions(arguments: Option<&Node>) -> Vec<Diagnostic> {
    let Some(Value::List(items)) = arguments.map(|node| &node.value) else { return Vec::new() };
    let mut variables: BTreeMap<String, &str> = BTreeMap::new();
    let mut found = Vec::new();
    for item in items {
        let node = match &item.value {
            Value::Map(fields) => find(fields, "name"),
            _ => Some(item),
        };
        let Some((node, name)) = node.and_then(|node| Some((node, node.as_text()?))) else { continue };
        let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
        let variable: String = name.chars().map(letter).collect();
        let message = format!("would both be `SKILL_ARG_{}`", quote(&variable));
        if let Some(other) = variables.insert(variable, name) {
            let message = format!("the arguments `{}` and `{}` {message}", quote(other), quote(name));
            found.push(Finding::error("argument-collision", message, "rename one of them").at(node.place).into());
        }
    }
    found
}
