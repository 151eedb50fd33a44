//! A skill rendered as a `SKILL.md`, its instructions, and its files.

use crate::aggregate::aggregate;
use crate::assets;
use crate::bindings::exports::skillcell::plugin::catalog::{Document, Location, SkillFiles};
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::catalog::Root;
use crate::format;
use crate::frontmatter::{self, Split};
use crate::index::Index;
use crate::json;
use crate::paths;
use crate::skill::{self, Skill};

/// Words that some YAML parsers do not read as text.
pub const NON_TEXT_WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// Returns the text of a skill after its front matter. The host serves the text that this generation was built from, so
/// reading it again succeeds.
pub fn body(roots: &[Box<dyn Root>], skill: &Skill) -> String {
    let text = roots[skill.root as usize].read_text(&skill.file).unwrap_or_default();
    skill::body_of(&text).to_owned()
}

/// Returns the instructions of a skill, preceded by those it inherits, and their files; most general first.
pub fn instructions(index: &Index, roots: &[Box<dyn Root>], number: usize) -> (String, Vec<Location>) {
    let chain: Vec<&Skill> = index.chain(number).into_iter().rev().map(|number| index.skill(number)).collect();
    let bodies: Vec<String> = chain.iter().map(|skill| body(roots, skill)).collect();
    let sections: Vec<(&Skill, &str)> = chain.iter().copied().zip(bodies.iter().map(String::as_str)).collect();
    (aggregate(&sections), chain.into_iter().map(Skill::location).collect())
}

/// Returns a folder skill's file as it is, or a tree skill's combined instructions below generated front matter.
pub fn document(index: &Index, roots: &[Box<dyn Root>], number: usize) -> Option<Document> {
    let skill = index.skill(number);
    match skill.model {
        SkillModel::Folder => {
            let text = roots[skill.root as usize].read_text(&skill.file).ok()?;
            let Split::Found { yaml, .. } = frontmatter::split(&text) else { return None };
            let fields = frontmatter::parse(yaml).fields;
            let frontmatter = json::object(fields.entries());
            let uri = index.uris.uri(number);
            let off_format = format::broken_rule(&text, &fields, paths::last_segment(&uri)).map(str::to_owned);
            Some(Document { text, frontmatter, off_format, sources: vec![skill.location()] })
        }
        SkillModel::Tree => {
            let (content, sources) = instructions(index, roots, number);
            let (slug, description) = (index.uris.slug(number), json::quoted(&skill.description));
            let frontmatter = format!("{{\"name\":{},\"description\":{description}}}", json::quoted(slug));
            let name = name_in_yaml(slug);
            let yaml = format!("name: {name}\ndescription: {description}\n");
            let off_format = format::broken_rule("---", &frontmatter::parse(&yaml).fields, slug).map(str::to_owned);
            Some(Document { text: format!("---\n{yaml}---\n\n{content}\n"), frontmatter, off_format, sources })
        }
    }
}

/// Writes a name of `a-z0-9-` as YAML, in quotes where it would not be read as text.
pub fn name_in_yaml(name: &str) -> String {
    let is_text = name.starts_with(|letter: char| letter.is_ascii_alphabetic()) && !NON_TEXT_WORDS.contains(&name);
    if is_text { name.to_owned() } else { json::quoted(name) }
}

/// Returns the whole folder of a folder skill, or what a tree skill declares.
pub fn files(index: &Index, number: usize) -> SkillFiles {
    let skill = index.skill(number);
    match (skill.model, index.resources(number)) {
        (SkillModel::Folder, Some(folder)) => {
            SkillFiles::EverythingBelow(Location { root: skill.root, path: folder.to_owned() })
        }
        _ => SkillFiles::Declared(assets::own_files(index, number)),
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
    fn the_document_of_a_folder_skill_is_its_file_byte_for_byte() {
        let text = "\u{feff}---\r\nname: pdf\r\ndescription: Use: it\r\nversion: 1.10\r\n---\r\n\r\nbody";
        let catalog = catalog(MemoryRoot::new("project").file("pdf/SKILL.md", text).tree_skill("_root"));
        let document = catalog.document_of(&at("pdf/SKILL.md")).unwrap();
        assert_eq!(document.text, text);
        assert_eq!(document.frontmatter, r#"{"name":"pdf","description":"Use: it","version":1.10}"#);
        assert_eq!(document.sources, [at("pdf/SKILL.md")]);
    }

    #[test]
    fn the_document_of_a_tree_skill_has_its_slug_description_and_inherited_text() {
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
    fn the_front_matter_of_a_generated_document_matches_its_json() {
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
        let Some(SkillFiles::Declared(files)) = catalog.files_of(&at("t.md")) else { panic!("not a tree skill") };
        let files: Vec<_> = files.iter().map(|file| (file.file.as_str(), file.kind.as_str())).collect();
        assert_eq!(files, [("b.txt", "other"), ("run.py", "other"), ("a.sh", "script")]);
    }

    #[test]
    fn references_resolve_in_the_resource_folder() {
        let text = "---\nkeywords: [a]\ndescription: d\n---\n@b.txt @t/b.txt @t.md\n";
        let catalog = catalog(MemoryRoot::new("project").file("t.md", text).file("t/b.txt", "b").tree_skill("bare"));
        let files: Vec<_> = catalog.references_of(&at("t.md")).into_iter().map(|reference| reference.file).collect();
        assert_eq!(files, ["b.txt"]);
        assert_eq!(catalog.references_of(&at("bare.md")), []);
        assert_eq!(catalog.references_of(&Location { root: 7, path: "t.md".to_owned() }), []);
    }
}
