//! A skill as a `SKILL.md`, its instructions, and the files that belong to it.

use crate::aggregate::aggregate;
use crate::assets;
use crate::bindings::exports::skillcell::plugin::catalog::{Document, Location, SkillFiles};
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::catalog::Root;
use crate::format;
use crate::frontmatter::{self, Split};
use crate::json;
use crate::paths;
use crate::shelf::Shelf;
use crate::skill::{self, Skill};

/// Words that some reader of YAML takes for something else than text.
pub const NO_TEXT: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// The text of a skill after its front matter. The host hands out what this generation was made from, so a file that was
/// read once can be read again.
pub fn body(roots: &[Box<dyn Root>], skill: &Skill) -> String {
    let text = roots[skill.root as usize].read_text(&skill.file).unwrap_or_default();
    skill::body_of(&text).to_owned()
}

/// The instructions of a skill after those it inherits, and the files they are from, the most general first.
pub fn instructions(shelf: &Shelf, roots: &[Box<dyn Root>], number: usize) -> (String, Vec<Location>) {
    let chain: Vec<&Skill> = shelf.chain(number).into_iter().rev().map(|number| shelf.skill(number)).collect();
    let bodies: Vec<String> = chain.iter().map(|skill| body(roots, skill)).collect();
    let sections: Vec<(&Skill, &str)> = chain.iter().copied().zip(bodies.iter().map(String::as_str)).collect();
    (aggregate(&sections), chain.into_iter().map(Skill::location).collect())
}

/// The file of a folder skill as it is; what a tree skill comes to, below a front matter of its own.
pub fn document(shelf: &Shelf, roots: &[Box<dyn Root>], number: usize) -> Option<Document> {
    let skill = shelf.skill(number);
    match skill.model {
        SkillModel::Folder => {
            let text = roots[skill.root as usize].read_text(&skill.file).ok()?;
            let Split::Found { yaml, .. } = frontmatter::split(&text) else { return None };
            let fields = frontmatter::parse(yaml).fields;
            let frontmatter = json::object(fields.entries());
            let uri = shelf.uris.uri(number);
            let off_format = format::broken_rule(&text, &fields, paths::last_segment(&uri)).map(str::to_owned);
            Some(Document { text, frontmatter, off_format, sources: vec![skill.location()] })
        }
        SkillModel::Tree => {
            let (content, sources) = instructions(shelf, roots, number);
            let (slug, description) = (shelf.uris.slug(number), json::quoted(&skill.description));
            let frontmatter = format!("{{\"name\":{},\"description\":{description}}}", json::quoted(slug));
            let name = name_in_yaml(slug);
            let yaml = format!("name: {name}\ndescription: {description}\n");
            let off_format = format::broken_rule("---", &frontmatter::parse(&yaml).fields, slug).map(str::to_owned);
            Some(Document { text: format!("---\n{yaml}---\n\n{content}\n"), frontmatter, off_format, sources })
        }
    }
}

/// A name of `a-z0-9-` as YAML has it: in quotes where it would be something else than text.
pub fn name_in_yaml(name: &str) -> String {
    let is_text = name.starts_with(|letter: char| letter.is_ascii_alphabetic()) && !NO_TEXT.contains(&name);
    if is_text { name.to_owned() } else { json::quoted(name) }
}

/// The whole folder of a folder skill; what a tree skill declares.
pub fn files(shelf: &Shelf, number: usize) -> SkillFiles {
    let skill = shelf.skill(number);
    match (skill.model, shelf.resources(number)) {
        (SkillModel::Folder, Some(folder)) => {
            SkillFiles::EverythingBelow(Location { root: skill.root, path: folder.to_owned() })
        }
        _ => SkillFiles::Declared(assets::own_files(shelf, number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::exports::skillcell::plugin::catalog::Duplicates;
    use crate::catalog::Catalog;
    use crate::memory::{self, MemoryRoot};

    fn catalog(root: MemoryRoot) -> Catalog {
        memory::catalog(vec![root], Duplicates::Refuse)
    }

    fn at(path: &str) -> Location {
        Location { root: 0, path: path.to_owned() }
    }

    #[test]
    fn a_folder_skill_is_its_file_byte_for_byte() {
        let text = "\u{feff}---\r\nname: pdf\r\ndescription: Use: it\r\nversion: 1.10\r\n---\r\n\r\nbody";
        let catalog = catalog(MemoryRoot::new("project").file("pdf/SKILL.md", text).tree_skill("_root"));
        let document = catalog.document_of(&at("pdf/SKILL.md")).unwrap();
        assert_eq!(document.text, text);
        assert_eq!(document.frontmatter, r#"{"name":"pdf","description":"Use: it","version":1.10}"#);
        assert_eq!(document.sources, [at("pdf/SKILL.md")]);
    }

    #[test]
    fn a_tree_skill_is_its_slug_its_description_and_all_it_inherits() {
        let leaf = "---\nkeywords: [a]\ndescription: 'Say \"hi\": now'\n---\n\nLeaf\n\n";
        let catalog = catalog(MemoryRoot::new("project").tree_skill("_root").file("ui/Log In.md", leaf));
        let document = catalog.document_of(&at("ui/Log In.md")).unwrap();
        let content =
            "=== GLOBAL RULES (from _root.md) ===\n\n# _root\n\n=== UI > LOG IN (from ui/Log In.md) ===\n\nLeaf";
        let front = "---\nname: log-in\ndescription: \"Say \\\"hi\\\": now\"\n---\n\n";
        assert_eq!(document.text, format!("{front}{content}\n"));
        assert_eq!(document.frontmatter, r#"{"name":"log-in","description":"Say \"hi\": now"}"#);
        assert_eq!(document.sources, [at("_root.md"), at("ui/Log In.md")]);
    }

    #[test]
    fn a_document_that_was_made_says_the_same_in_its_front_matter() {
        for path in ["404", "true", "No", "1e3", "2024-01-02", "null", "0x1f", "yes-man", "a"] {
            let catalog = catalog(MemoryRoot::new("project").tree_skill(path));
            let document = catalog.document_of(&at(&format!("{path}.md"))).unwrap();
            let Split::Found { yaml, .. } = frontmatter::split(&document.text) else { panic!("{path}") };
            assert_eq!(json::object(frontmatter::parse(yaml).fields.entries()), document.frontmatter);
        }
    }

    #[test]
    fn the_files_of_a_skill() {
        let tree =
            "---\nkeywords: [a]\ndescription: d\nassets: [b.txt, run.py, ./b.txt]\nscripts: [run.py, a.sh]\n---\n";
        let root = MemoryRoot::new("project").folder_skill("pdf", "pdf").file("t.md", tree).file("t/b.txt", "b");
        let catalog = catalog(root.tree_skill("bare"));
        assert_eq!(catalog.files_of(&at("pdf/SKILL.md")), Some(SkillFiles::EverythingBelow(at("pdf"))));
        assert_eq!(catalog.files_of(&at("bare.md")), Some(SkillFiles::Declared(Vec::new())));
        assert_eq!(catalog.files_of(&at("missing.md")), None);
        let Some(SkillFiles::Declared(files)) = catalog.files_of(&at("t.md")) else { panic!("no tree skill") };
        let files: Vec<_> = files.iter().map(|file| (file.file.as_str(), file.kind.as_str())).collect();
        assert_eq!(files, [("b.txt", "other"), ("run.py", "other"), ("a.sh", "script")]);
    }

    #[test]
    fn mentions_are_looked_for_in_the_resource_folder() {
        let text = "---\nkeywords: [a]\ndescription: d\n---\n@b.txt @t/b.txt @t.md\n";
        let catalog = catalog(MemoryRoot::new("project").file("t.md", text).file("t/b.txt", "b").tree_skill("bare"));
        let files: Vec<_> = catalog.references_of(&at("t.md")).into_iter().map(|reference| reference.file).collect();
        assert_eq!(files, ["b.txt"]);
        assert_eq!(catalog.references_of(&at("bare.md")), []);
        assert_eq!(catalog.references_of(&Location { root: 7, path: "t.md".to_owned() }), []);
    }
}
