//! The instructions of a skill together with those it inherits.

use crate::skill::Skill;

/// Joins the texts of a chain, most general first, each below a header. A skill that does not inherit gets no header.
pub fn aggregate(sections: &[(&Skill, &str)]) -> String {
    match sections {
        [(skill, body)] if !skill.inherit => trimmed(body).to_owned(),
        _ => {
            let rendered = sections.iter().map(|(skill, body)| {
                format!("=== {} (from {}) ===\n\n{}", title(skill), skill.file, trimmed(body)).trim_end().to_owned()
            });
            rendered.collect::<Vec<_>>().join("\n\n")
        }
    }
}

/// Removes the empty lines around a body.
fn trimmed(body: &str) -> &str {
    body.trim_start_matches(['\r', '\n']).trim_end()
}

fn title(skill: &Skill) -> String {
    if skill.file == "_root.md" {
        return "GLOBAL RULES".to_owned();
    }
    let words = |segment: &str| segment.split_whitespace().collect::<Vec<_>>().join(" ");
    let segments: Vec<String> = skill.skill_path.split('/').filter(|segment| *segment != "_index").map(words).collect();
    let title = if segments.is_empty() { skill.short_name().to_owned() } else { segments.join(" > ") };
    title.to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill;

    fn titled(file: &str) -> String {
        let (skill, _) = skill::read(0, "skills", file, "---\nkeywords: [a]\ndescription: d\n---\n");
        title(&skill.unwrap())
    }

    #[test]
    fn titles_show_the_path_without_index() {
        assert_eq!(titled("_root.md"), "GLOBAL RULES");
        assert_eq!(titled("ui/_index.md"), "UI");
        assert_eq!(titled("ui/react/auth.md"), "UI > REACT > AUTH");
        assert_eq!(titled("my  team/été.md"), "MY TEAM > ÉTÉ");
        assert_eq!(titled("_index.md"), "SKILLS");
    }
}
