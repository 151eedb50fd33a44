//! Reads the fields of a front matter and reports their problems.

use crate::bindings::exports::skillcell::plugin::catalog::{Argument, Execution, Needs};
use crate::bindings::skillcell::plugin::types::{Severity, SkillModel};
use crate::document;
use crate::format::{self, MAX_DESCRIPTION, MAX_NAME};
use crate::frontmatter::{self, Fields, Parsed};
use crate::paths;
use crate::place::Place;
use crate::problem::{Finding, quote};
use crate::skill::{DeclaredAsset, DeclaredScript, Skill, folder_names, tree_names};
use crate::tokens;
use crate::uris;
use crate::yaml::{Entry, Node, Value};

/// 1,000 points equal a perfect match, so this limit is generous.
const MAX_PRIORITY: f64 = 1_000_000.0;

/// Limits on what the catalog keeps, so that one file cannot exhaust the shared memory.
const MAX_KEPT_NAME: usize = 256;
const MAX_KEPT_DESCRIPTION: usize = 4_096;
const MAX_KEYWORD: usize = 100;
const MAX_KEYWORDS: usize = 500;
const MAX_DECLARED: usize = 1_000;
const MAX_NEEDS: usize = 50;

/// Reads the fields of one front matter and collects its problems.
pub struct Reader {
    fields: Fields,
    metadata: Fields,
    /// Whether all of the front matter could be parsed.
    complete: bool,
    model: SkillModel,
    findings: Vec<Finding>,
}

impl Reader {
    pub fn new(model: SkillModel, yaml: &str) -> Self {
        let Parsed { fields, findings, complete } = frontmatter::parse(yaml);
        Self { metadata: fields.metadata(), fields, complete, model, findings }
    }

    /// Returns the described skill, if the required fields are valid.
    ///
    /// Markdown without `keywords`, such as an agent or a command of a plugin, is not meant to be a tree skill: it has no problems.
    pub fn skill(mut self, root: u32, root_folder: &str, file: &str) -> (Option<Skill>, Vec<Finding>) {
        if self.model == SkillModel::Tree && self.fields.get("keywords").is_none() {
            return (None, Vec::new());
        }
        let skill = self.try_skill(root, root_folder, file);
        (skill, self.findings)
    }

    fn try_skill(&mut self, root: u32, root_folder: &str, file: &str) -> Option<Skill> {
        let description = self.description();
        let keywords = self.keywords();
        if self.model == SkillModel::Tree && keywords.is_empty() {
            let place = self.fields.get("keywords").map_or(Place::START, |entry| entry.place);
            let advice = "write `keywords: [word, word]`, or remove the key if this is not a skill";
            self.missing(
                Finding::error("missing-keywords", "`keywords` is empty or not a list of words", advice).at(place),
            );
            return None;
        }
        let description = description?;
        let (skill_path, install_name) = match self.model {
            SkillModel::Folder => folder_names(root_folder, file),
            SkillModel::Tree => tree_names(root_folder, file),
        };
        let name = match self.model {
            SkillModel::Folder => self.folder_skill_name(&install_name),
            SkillModel::Tree => skill_path.clone(),
        };
        Some(Skill {
            root,
            file: file.to_owned(),
            model: self.model,
            skill_path,
            install_name,
            name,
            description,
            keywords,
            aliases: self.aliases(),
            inherit: self.inherit(),
            priority: self.priority(),
            assets: self.assets(),
            scripts: self.scripts(),
        })
    }

    fn description(&mut self) -> Option<String> {
        let entry = self.fields.get("description");
        let place = entry.map_or(Place::START, |entry| entry.place);
        let text = entry.and_then(|entry| entry.node.as_text()).map(str::trim).filter(|text| !text.is_empty());
        let Some(text) = text.map(str::to_owned) else {
            let advice = "add `description:` with one or two sentences: what it does and when to use it";
            self.missing(
                Finding::error("missing-description", "`description` is missing or not text", advice).at(place),
            );
            return None;
        };
        let letters = text.chars().count();
        if self.model == SkillModel::Folder && letters > MAX_DESCRIPTION || letters > MAX_KEPT_DESCRIPTION {
            let message = format!("`description` is longer than {MAX_DESCRIPTION} characters");
            self.findings.push(Finding::warning("long-description", message, "shorten it").at(place));
        }
        Some(text.chars().take(MAX_KEPT_DESCRIPTION).collect())
    }

    fn folder_skill_name(&mut self, folder: &str) -> String {
        let entry = self.fields.get("name");
        let place = entry.map_or(Place::START, |entry| entry.place);
        let name = entry.and_then(|entry| entry.node.as_text()).map(str::trim).filter(|name| !name.is_empty());
        let Some(name) = name.map(str::to_owned) else {
            let advice = if format::is_name(folder) {
                format!("add `name: {}`", document::name_in_yaml(folder))
            } else {
                format!("add `name: {}`, and rename the folder to match", document::name_in_yaml(&uris::slug(folder)))
            };
            self.findings.push(Finding::warning("missing-name", "`name` is missing or not text", advice).at(place));
            return folder.to_owned();
        };
        let legal = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        if name.chars().count() > MAX_NAME || !name.chars().all(legal) {
            let message = format!("the name `{}` is not made of 1 to {MAX_NAME} of `a-z`, `0-9` and `-`", quote(&name));
            self.findings
                .push(Finding::warning("bad-name", message, "use a few lower-case words joined by `-`").at(place));
            if name.chars().count() > MAX_KEPT_NAME {
                return folder.to_owned();
            }
        } else if name != folder {
            let message = format!("the name `{name}` differs from the folder `{folder}`");
            self.findings.push(Finding::warning("name-differs", message, "rename one of them").at(place));
        }
        name
    }

    /// Returns a field of the tree model, which a folder skill may also have below `metadata`.
    fn tree_field(&self, key: &str) -> Option<Entry> {
        let below = || self.metadata.get(key).filter(|_| self.model == SkillModel::Folder);
        self.fields.get(key).or_else(below).cloned()
    }

    fn keywords(&mut self) -> Vec<String> {
        let Some(entry) = self.tree_field("keywords") else { return Vec::new() };
        let keywords = match &entry.node.value {
            // Reported as `missing-keywords`.
            Value::Scalar { .. } | Value::Map(_) if self.model == SkillModel::Tree => Vec::new(),
            _ => self.words("keywords", &entry),
        };
        for (keyword, place) in keywords.iter().filter(|(keyword, _)| !tokens::can_match(keyword)) {
            let message = format!("the keyword `{}` can never match", quote(keyword));
            let advice = "use a word of three letters or more, such as `cpp` for `c++`";
            self.findings.push(Finding::warning("unreachable-keyword", message, advice).at(*place));
        }
        keywords.into_iter().map(|(keyword, _)| keyword).collect()
    }

    fn aliases(&mut self) -> Vec<String> {
        let words = self.tree_field("aliases").map(|entry| self.words("aliases", &entry)).unwrap_or_default();
        words.into_iter().map(|(alias, _)| alias).collect()
    }

    /// Returns the words of a list, each with its place.
    fn words(&mut self, field: &str, entry: &Entry) -> Vec<(String, Place)> {
        let mut words: Vec<(String, Place)> = match &entry.node.value {
            // Through a YAML alias an item may be defined above; report it at this field instead.
            Value::List(items) => {
                items.iter().filter_map(|item| Some((self.word(item, field)?, item.place.max(entry.place)))).collect()
            }
            // Values below `metadata` are strings in the Agent Skills format, so lists there are comma-separated.
            Value::Scalar { text, .. } if self.fields.get(field).is_none() => {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                words.map(|word| (word.to_owned(), entry.node.place)).collect()
            }
            _ => {
                self.wrong_type(entry, "a list of words");
                Vec::new()
            }
        };
        if words.len() > MAX_KEYWORDS {
            let message = format!("{} {field}, and only the first {MAX_KEYWORDS} count", words.len());
            self.findings
                .push(Finding::error("too-many", message, "keep those that people would type").at(entry.place));
            words.truncate(MAX_KEYWORDS);
        }
        words
    }

    fn word(&mut self, item: &Node, field: &str) -> Option<String> {
        let text = item.as_text().map(str::trim).filter(|text| !text.is_empty() && text.chars().count() <= MAX_KEYWORD);
        if text.is_none() {
            let message = format!("an entry of `{field}` is not a word, or is longer than {MAX_KEYWORD} characters");
            self.findings.push(Finding::error("wrong-type", message, "remove it, or write a word").at(item.place));
        }
        text.map(str::to_owned)
    }

    fn inherit(&mut self) -> bool {
        let default = self.model == SkillModel::Tree;
        let Some(entry) = self.tree_field("inherit") else { return default };
        as_flag(&entry.node).unwrap_or_else(|| {
            self.wrong_type(&entry, "`true` or `false`");
            default
        })
    }

    fn priority(&mut self) -> f64 {
        let Some(entry) = self.tree_field("priority") else { return 0.0 };
        // Below `metadata` the number may be a string.
        let value = entry.node.as_number().or_else(|| entry.node.as_text().and_then(|text| text.parse().ok()));
        value.filter(|priority: &f64| priority.abs() <= MAX_PRIORITY).unwrap_or_else(|| {
            self.wrong_type(&entry, &format!("a number from -{MAX_PRIORITY} to {MAX_PRIORITY}"));
            0.0
        })
    }

    fn assets(&mut self) -> Vec<DeclaredAsset> {
        self.declared("assets", |_, file, fields| DeclaredAsset {
            file,
            description: text_of(fields, "description"),
            kind: Some(text_of(fields, "type")).filter(|kind| !kind.is_empty()).unwrap_or_else(|| "other".to_owned()),
        })
    }

    fn scripts(&mut self) -> Vec<DeclaredScript> {
        self.declared("scripts", |reader, file, fields| DeclaredScript {
            file,
            description: text_of(fields, "description"),
            execution: reader.execution(fields),
            arguments: reader.arguments(fields),
            needs: reader.needs(fields),
        })
    }

    /// Returns the entries of `assets` or `scripts`: maps with a `file`, or the path alone.
    fn declared<T>(&mut self, field: &str, make: impl Fn(&mut Self, String, &[Entry]) -> T) -> Vec<T> {
        let Some(entry) = self.tree_field(field) else { return Vec::new() };
        let Value::List(items) = &entry.node.value else {
            self.wrong_type(&entry, "a list");
            return Vec::new();
        };
        if items.len() > MAX_DECLARED {
            let message = format!("{} entries of `{field}`, and only the first {MAX_DECLARED} count", items.len());
            self.findings.push(Finding::error("too-many", message, "split the skill").at(entry.place));
        }
        let mut declared = Vec::new();
        for item in items.iter().take(MAX_DECLARED) {
            let (path, fields): (Option<&str>, &[Entry]) = match &item.value {
                Value::Scalar { .. } => (item.as_text(), &[]),
                Value::Map(fields) => (find(fields, "file").and_then(Node::as_text), fields),
                Value::List(_) => (None, &[]),
            };
            let Some(path) = path else {
                let message = format!("an entry of `{field}` does not name a file");
                self.findings.push(
                    Finding::error("wrong-type", message, "add `file:` with a path below the resource folder")
                        .at(item.place),
                );
                continue;
            };
            match paths::clean(path).filter(|path| !paths::is_hidden(path)) {
                Some(file) => declared.push(make(self, file, fields)),
                None => self.findings.push(
                    Finding::error(
                        "unsafe-path",
                        format!("`{}` leaves the resource folder, or is hidden or empty", quote(path)),
                        "use a path below the resource folder",
                    )
                    .at(item.place),
                ),
            }
        }
        declared
    }

    fn execution(&mut self, fields: &[Entry]) -> Execution {
        match find(fields, "execution").map(|node| (node.as_text().unwrap_or(""), node.place)) {
            None | Some(("claude", _)) => Execution::Claude,
            Some(("server", _)) => Execution::Server,
            Some((other, place)) => {
                let message = format!("`execution: {}` is neither `claude` nor `server`", quote(other));
                self.findings
                    .push(Finding::warning("wrong-type", message, "use one of the two; `claude` is assumed").at(place));
                Execution::Claude
            }
        }
    }

    fn arguments(&mut self, fields: &[Entry]) -> Vec<Argument> {
        let items = match find(fields, "args") {
            Some(Node { value: Value::List(items), .. }) => items.as_slice(),
            None => &[],
            Some(node) if node.is_null() => &[],
            Some(node) => {
                self.findings
                    .push(Finding::warning("wrong-type", "`args` is not a list", "write a list").at(node.place));
                &[]
            }
        };
        let mut arguments = Vec::new();
        for item in items {
            let (name, fields): (Option<&str>, &[Entry]) = match &item.value {
                Value::Map(fields) => (find(fields, "name").and_then(Node::as_text), fields),
                _ => (item.as_text(), &[]),
            };
            match name {
                Some(name) => arguments.push(Argument {
                    name: name.to_owned(),
                    description: text_of(fields, "description"),
                    required: find(fields, "required").and_then(as_flag).unwrap_or(true),
                }),
                None => self.findings.push(
                    Finding::warning("wrong-type", "an entry of `args` has no name", "add `name:`").at(item.place),
                ),
            }
        }
        arguments
    }

    fn needs(&mut self, fields: &[Entry]) -> Option<Needs> {
        let node = find(fields, "needs").filter(|node| !node.is_null())?;
        let Value::Map(entries) = &node.value else {
            let message = "`needs` is not a map with `read`, `write`, `env` and `hosts`";
            self.findings.push(Finding::error("wrong-type", message, "write `needs: {env: [NAME]}`").at(node.place));
            return None;
        };
        for entry in entries.iter().filter(|entry| !matches!(entry.key.as_str(), "read" | "write" | "env" | "hosts")) {
            let message = format!("`needs` has no `{}`", quote(&entry.key));
            self.findings
                .push(Finding::error("unknown-key", message, "use `read`, `write`, `env` or `hosts`").at(entry.place));
        }
        let mut list = |key: &str| -> Vec<String> {
            match find(entries, key).map(|node| &node.value) {
                Some(Value::List(items)) => {
                    items.iter().take(MAX_NEEDS).filter_map(|item| self.word(item, "needs")).collect()
                }
                // A single word counts as a list of one.
                Some(Value::Scalar { text, .. }) if !text.is_empty() => vec![text.clone()],
                _ => Vec::new(),
            }
        };
        Some(Needs { read: list("read"), write: list("write"), variables: list("env"), hosts: list("hosts") })
    }

    /// Reports a missing required field. If the front matter could not be parsed, that is the cause and becomes the
    /// error.
    fn missing(&mut self, finding: Finding) {
        match self.findings.first_mut().filter(|_| !self.complete) {
            Some(reason) => reason.severity = Severity::Error,
            None => self.findings.push(finding),
        }
    }

    fn wrong_type(&mut self, entry: &Entry, wanted: &str) {
        let message = format!("`{}` is not {wanted}", entry.key);
        self.findings.push(Finding::warning("wrong-type", message, format!("write {wanted}")).at(entry.place));
    }
}

/// Reads a boolean, also from a string, as values below `metadata` are strings.
fn as_flag(node: &Node) -> Option<bool> {
    node.as_bool().or_else(|| node.as_text().and_then(|text| text.parse().ok()))
}

fn find<'a>(fields: &'a [Entry], key: &str) -> Option<&'a Node> {
    fields.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
}

fn text_of(fields: &[Entry], key: &str) -> String {
    find(fields, key).and_then(Node::as_text).map(|text| text.trim().to_owned()).unwrap_or_default()
}
