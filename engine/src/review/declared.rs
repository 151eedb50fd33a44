//! Files and scripts: those that are declared and not there, and those that are there and not declared.

use super::front::{Front, find};
use super::{Draft, Found, Written};
use crate::paths;
use crate::place::Place;
use crate::problem::{Finding, quote};
use crate::skill::SKILL_FILE;
use crate::yaml::{Node, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Where scripts usually are, below the resource folder.
const SCRIPTS: &str = "scripts";

/// Most folders below it that are looked at.
const MOST_FOLDERS: usize = 100;

/// Most scripts that a message names.
const MOST_NAMED: usize = 3;

pub fn declared(draft: &Draft<'_>, written: &Written<'_>, front: &Front) -> Vec<Found> {
    let mut found = Vec::new();
    if let Some(resources) = written.resources {
        found.extend(missing(draft, resources, front));
        found.extend(undeclared(draft, written, resources, front));
    }
    for script in front.items("scripts") {
        let is_for_server = find(script.fields, "execution").and_then(Node::as_text) == Some("server");
        let wrong = is_for_server.then(|| wrong_extension(written, &script.file)).flatten();
        found.extend(wrong.map(|finding| finding.at(script.place).into()));
        found.extend(collisions(find(script.fields, "args")));
    }
    found
}

/// Each declared file that is not on disk.
fn missing(draft: &Draft<'_>, resources: &str, front: &Front) -> Vec<Found> {
    let mut seen = BTreeSet::new();
    let items = ["assets", SCRIPTS].map(|key| front.items(key)).into_iter().flatten();
    let mut found = Vec::new();
    for item in items {
        let path = paths::join(resources, &item.file);
        if !seen.insert(path.clone()) || draft.root.has_file(&path) {
            continue;
        }
        let message = format!("the declared file `{}` is not there", quote(&item.file));
        let advice = match draft.close_file(&path) {
            Some(name) => {
                format!("a close one is `{}`", quote(&paths::join(paths::folder_of(&item.file).unwrap_or(""), &name)))
            }
            None => format!("add it below `{}`, or remove the entry", quote(resources)),
        };
        found.push(Finding::error("missing-file", message, advice).at(item.place).into());
    }
    found
}

/// The scripts in their usual folder that nobody can have run by the server.
fn undeclared(draft: &Draft<'_>, written: &Written<'_>, resources: &str, front: &Front) -> Option<Found> {
    let folder = paths::join(resources, SCRIPTS);
    if !draft.folders.has_folder(&folder) {
        return None;
    }
    let known: BTreeSet<String> =
        ["assets", SCRIPTS].iter().flat_map(|key| front.items(key)).map(|item| item.file).collect();
    let scripts = scripts_below(draft, written, &folder).into_iter();
    let scripts = scripts.filter_map(|path| path.get(folder.len() - SCRIPTS.len()..).map(str::to_owned));
    let scripts: Vec<String> = scripts.filter(|file| !known.contains(file)).collect();
    let first = scripts.first()?;
    let named: Vec<String> = scripts.iter().take(MOST_NAMED).map(|file| format!("`{}`", quote(file))).collect();
    let more = match scripts.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (are, them) = if scripts.len() == 1 { ("is", "it") } else { ("are", "them") };
    let message = format!("{}{more} {are} not declared, so `run_script` does not run {them}", named.join(", "));
    let advice = format!("add `scripts: [{{file: {}, description: …, execution: server}}]`", quote(first));
    let finding = Finding::warning("undeclared-script", message, advice);
    // Best where the text tells somebody to run one.
    let mentioned = scripts.iter().filter_map(|file| draft.text.find(file.as_str())).min();
    let declared = front.field(SCRIPTS).map_or(Place::START, |entry| entry.place);
    Some(finding.at(mentioned.map_or(declared, |at| Place::of(draft.text, at))).into())
}

/// Paths of what may be run in a folder and those below it. What begins with `_`, and a package of Python, is for other
/// scripts to import.
fn scripts_below(draft: &Draft<'_>, written: &Written<'_>, folder: &str) -> Vec<String> {
    let is_private = |path: &str| path.split('/').any(|segment| segment.starts_with('_'));
    let is_own = |path: &&str| !is_private(&path[folder.len()..]) && !draft.folders.has_file(path, SKILL_FILE);
    let inner = draft.folders.folders_below(folder).filter(is_own).take(MOST_FOLDERS);
    let mut found = Vec::new();
    for path in std::iter::once(folder).chain(inner) {
        let names = draft.root.list_files(path);
        if path == folder || !names.iter().any(|name| name == "__init__.py") {
            let is_script = |name: &&String| !name.starts_with('_') && written.runnable.contains(&extension(name));
            found.extend(names.iter().filter(is_script).map(|name| paths::join(path, name)));
        }
    }
    found
}

fn wrong_extension(written: &Written<'_>, file: &str) -> Option<Finding> {
    let extension = extension(file);
    if !written.runnable.contains(&extension) {
        let message = match extension.as_str() {
            "" => format!("the script `{}` has no extension, so nothing runs it", quote(file)),
            _ => format!("nothing runs scripts that end in `{}`", quote(&extension)),
        };
        let advice = format!("use one of {}, or `execution: claude`", written.runnable.join(", "));
        return Some(Finding::error("no-runtime", message, advice));
    }
    if !written.terms.allowed_extensions.contains(&extension) {
        let message = format!("scripts that end in `{}` are not allowed here", quote(&extension));
        let advice = "allow it in `scripts.allowed_extensions`, or use another language";
        return Some(Finding::warning("extension-not-allowed", message, advice));
    }
    None
}

/// In lower case and with its dot, as settings have it.
fn extension(file: &str) -> String {
    let name = paths::last_segment(file);
    name.rfind('.').map_or(String::new(), |dot| name[dot..].to_ascii_lowercase())
}

/// Arguments of which only one can be given, because both become the same variable.
fn collisions(arguments: Option<&Node>) -> Vec<Found> {
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
