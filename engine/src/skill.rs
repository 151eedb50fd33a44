//! One skill, as its file describes it.

use crate::bindings::exports::skillcell::plugin::catalog::{Argument, Execution, Location, Needs};
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::frontmatter::{self, Split};
use crate::paths;
use crate::place::Place;
use crate::problem::Finding;
use crate::reader::Reader;

/// The file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// Everything known from the file alone.
#[derive(Debug)]
pub struct Skill {
    pub root: u32,
    /// Path of the Markdown file below the root.
    pub file: String,
    pub model: SkillModel,
    pub skill_path: String,
    /// The folder's name, or a tree skill's short name.
    pub install_name: String,
    /// The name in the front matter, or a tree skill's path.
    pub name: String,
    pub description: String,
    pub keywords: Vec<String>,
    pub aliases: Vec<String>,
    pub inherit: bool,
    pub priority: f64,
    pub assets: Vec<DeclaredAsset>,
    pub scripts: Vec<DeclaredScript>,
}

#[derive(Debug)]
pub struct DeclaredAsset {
    pub file: String,
    pub description: String,
    pub kind: String,
}

#[derive(Debug)]
pub struct DeclaredScript {
    pub file: String,
    pub description: String,
    pub execution: Execution,
    pub arguments: Vec<Argument>,
    pub needs: Option<Needs>,
}

impl Skill {
    /// Returns the declared name, or the last segment of a tree skill's path. Not unique.
    pub fn short_name(&self) -> &str {
        match self.model {
            SkillModel::Folder => &self.name,
            SkillModel::Tree => &self.install_name,
        }
    }

    /// Returns what finds the skill besides its body: names, description and keywords.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = [&self.install_name, &self.name, &self.description];
        names.into_iter().chain(&self.keywords).map(String::as_str)
    }

    pub fn location(&self) -> Location {
        Location { root: self.root, path: self.file.clone() }
    }

    /// Whether nothing differs that another skill's name, path or parent could depend on.
    pub fn is_called_like(&self, other: &Self) -> bool {
        let names = |skill: &Self| (skill.root, skill.model);
        names(self) == names(other)
            && (&self.file, &self.skill_path, &self.install_name, &self.name)
                == (&other.file, &other.skill_path, &other.install_name, &other.name)
    }

    /// Returns the folder that contains its file.
    pub fn folder(&self) -> &str {
        paths::folder_of(&self.file).unwrap_or("")
    }
}

/// Returns the text after the front matter.
pub fn body_of(text: &str) -> &str {
    match frontmatter::split(text) {
        Split::Found { body, .. } => body,
        Split::Absent | Split::Unclosed => text,
    }
}

/// Reads a skill from the text of its file. Returns `None` if the file is not a skill.
pub fn read(root: u32, root_folder: &str, file: &str, text: &str) -> (Option<Skill>, Vec<Finding>) {
    let model = if paths::last_segment(file) == SKILL_FILE { SkillModel::Folder } else { SkillModel::Tree };
    let yaml = match (frontmatter::split(text), model) {
        (Split::Found { yaml, .. }, _) => yaml,
        (Split::Absent, SkillModel::Tree) => return (None, Vec::new()),
        (Split::Absent, SkillModel::Folder) => {
            let advice = "begin the file with `---`, a `name:` and a `description:` line, and `---`";
            return (
                None,
                vec![Finding::error("no-front-matter", "there is no front matter", advice).at(Place::START)],
            );
        }
        // Other Markdown may begin with a horizontal rule.
        (Split::Unclosed, SkillModel::Tree) if !text.lines().any(|line| line.starts_with("keywords:")) => {
            return (None, Vec::new());
        }
        (Split::Unclosed, _) => {
            let finding =
                Finding::error("unclosed-front-matter", "the front matter is not closed", "close it with a line `---`");
            return (None, vec![finding.at(Place::START)]);
        }
    };
    Reader::new(model, yaml).skill(root, root_folder, file)
}

/// Returns the path and install name of a folder skill.
pub fn folder_names(root_folder: &str, file: &str) -> (String, String) {
    match paths::folder_of(file) {
        Some(folder) if !folder.is_empty() => (folder.to_owned(), paths::last_segment(folder).to_owned()),
        _ => (root_folder.to_owned(), root_folder.to_owned()),
    }
}

/// Returns the path and short name of a tree skill.
pub fn tree_names(root_folder: &str, file: &str) -> (String, String) {
    let path = paths::without_extension(file);
    let short = match paths::last_segment(path) {
        "_root" => "root",
        "_index" => paths::folder_of(path).filter(|folder| !folder.is_empty()).map_or(root_folder, paths::last_segment),
        segment => segment,
    };
    (path.to_owned(), short.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(file: &str, text: &str) -> (bool, Vec<(&'static str, Option<u32>)>) {
        let (skill, findings) = read(0, "skills", file, text);
        (skill.is_some(), findings.iter().map(|finding| (finding.code, finding.line)).collect())
    }

    #[test]
    fn tree_paths_and_short_names() {
        for (file, path, short) in [
            ("_root.md", "_root", "root"),
            ("ui/_index.md", "ui/_index", "ui"),
            ("ui/react/_index.md", "ui/react/_index", "react"),
            ("ui/react/auth.md", "ui/react/auth", "auth"),
            ("no-inherit.md", "no-inherit", "no-inherit"),
            ("_index.md", "_index", "skills"),
        ] {
            assert_eq!(tree_names("skills", file), (path.to_owned(), short.to_owned()));
        }
    }

    #[test]
    fn defaults_of_a_tree_skill() {
        let text =
            "---\nkeywords: [api, 2]\ndescription: d\nassets: [x.txt]\nscripts: [{file: s.sh, args: [n]}]\n---\nbody";
        let (skill, findings) = read(0, "skills", "a.md", text);
        let skill = skill.unwrap();
        assert_eq!(findings, []);
        assert_eq!(skill.keywords, ["api", "2"]);
        assert!(skill.inherit);
        assert!(skill.priority.abs() < f64::EPSILON);
        assert_eq!(skill.assets[0].kind, "other");
        assert_eq!(skill.scripts[0].execution, Execution::Claude);
        assert!(skill.scripts[0].arguments[0].required);
        assert_eq!(skill.names().collect::<Vec<_>>(), ["a", "a", "d", "api", "2"]);
    }

    #[test]
    fn errors_skip_a_file_and_warnings_do_not() {
        assert_eq!(codes("a.md", "# no skill"), (false, vec![]));
        assert_eq!(codes("a.md", "---\nname: reviewer\ndescription: d\ntools: Read\n---\n"), (false, vec![]));
        assert_eq!(codes("a.md", "---\ndescription: 'open: [\n---\n"), (false, vec![]));
        assert_eq!(codes("a.md", "---\nA line below a rule\n"), (false, vec![]));
        assert_eq!(codes("a.md", "---\nkeywords: [api]\n"), (false, vec![("unclosed-front-matter", Some(1))]));
        assert_eq!(
            codes("a.md", "---\nkeywords: []\ndescription: d\n---\n"),
            (false, vec![("missing-keywords", Some(2))])
        );
        assert_eq!(
            codes("a.md", "---\nkeywords: a\ndescription: d\n---\n"),
            (false, vec![("missing-keywords", Some(2))])
        );
        assert_eq!(codes("a.md", "---\nkeywords: [api]\n---\n"), (false, vec![("missing-description", Some(1))]));
        assert_eq!(codes("a/SKILL.md", "text"), (false, vec![("no-front-matter", Some(1))]));
        assert_eq!(codes("a/SKILL.md", "---\nname: a\n"), (false, vec![("unclosed-front-matter", Some(1))]));
        assert_eq!(codes("a/SKILL.md", "---\ndescription: d\n---\n"), (true, vec![("missing-name", Some(1))]));
        assert_eq!(codes("a/SKILL.md", "---\nname: b\ndescription: d\n---\n"), (true, vec![("name-differs", Some(2))]));
        assert_eq!(codes("a/SKILL.md", "---\nname: A b\ndescription: d\n---\n"), (true, vec![("bad-name", Some(2))]));
    }

    #[test]
    fn fields_of_the_tree_model_work_below_metadata() {
        let text = "---\nname: a\ndescription: d\nmetadata:\n  keywords: \"xml, yaml\"\n  aliases: markup\n  inherit: \"true\"\n  priority: 3\n---\n";
        let (skill, findings) = read(0, "skills", "a/SKILL.md", text);
        let skill = skill.unwrap();
        assert_eq!(findings, []);
        assert_eq!(
            (skill.keywords, skill.inherit, skill.priority),
            (vec!["xml".to_owned(), "yaml".to_owned()], true, 3.0)
        );
        assert_eq!(skill.aliases, ["markup"]);
    }

    #[test]
    fn assets_and_scripts_below_metadata_are_maps_or_text() {
        let list = "[{file: run.py, execution: server, args: [{name: n, required: false}], needs: {env: [TOKEN]}}]";
        let as_map = format!("metadata:\n  assets: [a.csv, b.csv]\n  keywords: [xml]\n  scripts: {list}\n");
        let as_text = format!("metadata:\n  assets: a.csv, b.csv\n  keywords: xml\n  scripts: '{list}'\n");
        let as_block = "metadata:\n  assets: |\n    - a.csv\n    - file: b.csv\n  keywords: xml\n  scripts: |\n    file: run.py\n    execution: server\n    args:\n      - {name: n, required: false}\n    needs: {env: TOKEN}\n";
        for metadata in [as_map.as_str(), &as_text, as_block] {
            let text = format!("---\nname: a\ndescription: d\n{metadata}---\n");
            let (skill, findings) = read(0, "skills", "a/SKILL.md", &text);
            let skill = skill.unwrap();
            assert_eq!(findings, [], "{metadata}");
            let files: Vec<&str> = skill.assets.iter().map(|asset| asset.file.as_str()).collect();
            assert_eq!((files, skill.keywords), (vec!["a.csv", "b.csv"], vec!["xml".to_owned()]), "{metadata}");
            let [script] = &skill.scripts[..] else { panic!("{metadata}") };
            assert_eq!((script.file.as_str(), script.execution), ("run.py", Execution::Server));
            assert!(!script.arguments[0].required);
            assert_eq!(script.needs.as_ref().unwrap().variables, ["TOKEN"]);
        }
    }

    #[test]
    fn hostile_text_below_metadata_is_reported_at_its_own_line() {
        let deep = format!("'{}'", "[".repeat(5_000));
        for (scripts, code) in [
            ("'[{file: ../x}]'", "unsafe-path"),
            ("\"- file: ok.py\\n- file: /etc/passwd\"", "unsafe-path"),
            ("'[unclosed'", "wrong-type"),
            (&deep, "wrong-type"),
            ("\"a: &a [x, x]\\nb: [*a, *a]\"", "wrong-type"),
        ] {
            let text = format!("---\nname: a\ndescription: d\nmetadata:\n  scripts: {scripts}\n---\n");
            assert_eq!(codes("a/SKILL.md", &text), (true, vec![(code, Some(5))]), "{scripts}");
        }
    }

    #[test]
    fn aliases_are_a_list_of_words() {
        let (skill, findings) =
            read(0, "skills", "a.md", "---\nkeywords: [api]\ndescription: d\naliases: [http, déployer en prod]\n---\n");
        assert_eq!(
            (skill.unwrap().aliases, findings),
            (vec!["http".to_owned(), "déployer en prod".to_owned()], vec![])
        );
        let text = "---\nkeywords: [api]\ndescription: d\naliases: http\n---\n";
        assert_eq!(codes("a.md", text), (true, vec![("wrong-type", Some(4))]));
    }

    #[test]
    fn unsafe_declarations_are_dropped() {
        let text = "---\nkeywords: [api]\ndescription: d\nassets:\n  - file: ../x\n  - file: ok\n  - file: .hidden\n  - type: t\n---\n";
        let (skill, findings) = read(0, "skills", "a.md", text);
        assert_eq!(skill.unwrap().assets.len(), 1);
        let lines: Vec<_> = findings.iter().map(|finding| (finding.code, finding.line)).collect();
        assert_eq!(lines, [("unsafe-path", Some(5)), ("unsafe-path", Some(7)), ("wrong-type", Some(8))]);
    }
}
