//! The fields of a skill in descending order of weight, and their texts.

use crate::bindings::skillcell::plugin::types::SkillText;

pub const FIELDS: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The name, and the last segment of the path.
    Name,
    /// Keywords and aliases.
    Keywords,
    Description,
    /// The folders above it.
    Path,
    /// Headings in the body.
    Headings,
    /// The rest of the body.
    Body,
}

impl Field {
    pub const ALL: [Self; FIELDS] =
        [Self::Name, Self::Keywords, Self::Description, Self::Path, Self::Headings, Self::Body];

    /// Returns the name shown in reasons.
    pub fn title(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Keywords => "keywords",
            Self::Description => "description",
            Self::Path => "path",
            Self::Headings => "headings",
            Self::Body => "body",
        }
    }
}

/// Visits every piece of text of a skill with its field.
pub fn each_text(skill: &SkillText, mut visit: impl FnMut(Field, &str)) {
    let (folders, last) = skill.path.rsplit_once('/').unwrap_or(("", &skill.path));
    // `_index` and `_root` are positions in a tree, not names.
    let named = [skill.name.as_str(), last].into_iter().filter(|name| !name.starts_with('_'));
    named.for_each(|name| visit(Field::Name, name));
    visit(Field::Path, folders);
    skill.keywords.iter().chain(&skill.aliases).for_each(|keyword| visit(Field::Keywords, keyword));
    visit(Field::Description, &skill.description);
    let mut in_code = false;
    for line in skill.body.lines() {
        in_code ^= is_fence(line);
        visit(if !in_code && is_heading(line) { Field::Headings } else { Field::Body }, line);
    }
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// One to six `#` and a space.
fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - text.len())) && text.starts_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_in_code_is_not_a_heading() {
        let body = "# Restore\ntext\n```sh\n# stop it\n```\n## Check\n#tag".to_owned();
        let skill = SkillText {
            number: 0,
            name: "_index".into(),
            path: "databases/_index".into(),
            description: String::new(),
            keywords: vec!["sql".into()],
            aliases: vec!["rdbms".into()],
            body,
        };
        let mut seen = Vec::new();
        each_text(&skill, |field, text| seen.push(format!("{} {text}", field.title())));
        assert_eq!(
            seen,
            [
                "path databases",
                "keywords sql",
                "keywords rdbms",
                "description ",
                "headings # Restore",
                "body text",
                "body ```sh",
                "body # stop it",
                "body ```",
                "headings ## Check",
                "body #tag"
            ]
        );
    }
}
