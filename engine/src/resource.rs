//! Resolves `skill://` URIs.

use crate::bindings::exports::skillcell::plugin::catalog::{FoundResource, ResourcePart};
use crate::index::Index;
use crate::paths;
use crate::skill::SKILL_FILE;
use crate::uris::SCHEME;

/// Maximum length of a URI. No file system has longer paths.
const MAX_URI_BYTES: usize = 4_096;

/// Finds the skill that a URI starts with, and the part it names. The longest path wins. Case-insensitive paths and
/// then names are tried only if no path matches exactly, so that a skill's name cannot shadow another skill's file.
pub fn find(index: &Index, uri: &str) -> Option<FoundResource> {
    let path = decoded(uri)?;
    let longest = |find: &dyn Fn(&str) -> Option<usize>| {
        let ends = path.rmatch_indices('/').map(|(slash, _)| slash);
        std::iter::once(path.len()).chain(ends).find_map(|end| {
            let start = &path[..end];
            let is_name = !start.is_empty() && !start.ends_with('/');
            is_name.then(|| find(start)).flatten().map(|number| (end, number))
        })
    };
    let (end, number) = longest(&|path| index.by_uri(path))
        .or_else(|| longest(&|path| index.uris.find(path)))
        .or_else(|| longest(&|name| index.names.by_name_or_path(index, name)))?;
    Some(FoundResource { part: part(&path[end..])?, skill: index.found_skill(number) })
}

/// Parses what follows the skill, including the leading slash.
fn part(rest: &str) -> Option<ResourcePart> {
    match rest {
        "" => Some(ResourcePart::Document),
        "/" => Some(ResourcePart::Collection),
        _ => {
            let file = paths::clean(rest.strip_prefix('/')?).filter(|file| !paths::is_hidden(file))?;
            Some(if file == SKILL_FILE { ResourcePart::Document } else { ResourcePart::File(file) })
        }
    }
}

/// Decodes the path of a URI.
///
/// An encoded slash also separates segments, because clients that expand templates encode slashes in paths.
fn decoded(uri: &str) -> Option<String> {
    let (scheme, path) = uri.split_at_checked(SCHEME.len())?;
    if uri.len() > MAX_URI_BYTES || !scheme.eq_ignore_ascii_case(SCHEME) || path.contains(['?', '#']) {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut encoded = path.bytes();
    while let Some(byte) = encoded.next() {
        bytes.push(if byte == b'%' { digit(encoded.next()?)? * 16 + digit(encoded.next()?)? } else { byte });
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::exports::skillcell::plugin::catalog::Duplicates;
    use crate::catalog::Catalog;
    use crate::memory::{self, MemoryRoot};
    use proptest::prelude::*;

    fn library() -> Catalog {
        let project = MemoryRoot::new("project")
            .folder_skill("pdf", "pdf-tools")
            .folder_skill("pdf/forms", "forms")
            .folder_skill("twin", "twin")
            .tree_skill("ui/_index")
            .tree_skill("ui/Auth Flow");
        let plugin = MemoryRoot::plugin("office").folder_skill("pdf", "pdf").folder_skill("other", "twin");
        memory::catalog(vec![plugin, project], Duplicates::Refuse)
    }

    /// The file of the skill, and the part.
    fn found(catalog: &Catalog, uri: &str) -> Option<(String, ResourcePart)> {
        let found = catalog.resource_of(uri)?;
        let file = found.skill.summary.file;
        Some((format!("{}:{}", file.root, file.path), found.part))
    }

    #[test]
    fn the_longest_path_wins_and_the_rest_is_the_part() {
        let catalog = library();
        let file = |path: &str| ResourcePart::File(path.to_owned());
        for (uri, skill, part) in [
            ("skill://pdf", "1:pdf/SKILL.md", ResourcePart::Document),
            ("skill://pdf/SKILL.md", "1:pdf/SKILL.md", ResourcePart::Document),
            ("SKILL://PDF/./SKILL.md", "1:pdf/SKILL.md", ResourcePart::Document),
            ("skill://pdf/", "1:pdf/SKILL.md", ResourcePart::Collection),
            ("skill://pdf/docs/a%20b.md", "1:pdf/SKILL.md", file("docs/a b.md")),
            ("skill://pdf/docs/", "1:pdf/SKILL.md", file("docs")),
            ("skill://pdf/docs%2Fa.md", "1:pdf/SKILL.md", file("docs/a.md")),
            ("skill://pdf/forms", "1:pdf/forms/SKILL.md", ResourcePart::Document),
            ("skill://pdf/forms/x", "1:pdf/forms/SKILL.md", file("x")),
            ("skill://pdf/form/x", "1:pdf/SKILL.md", file("form/x")),
            ("skill://office/pdf/x", "0:pdf/SKILL.md", file("x")),
            ("skill://office:pdf/x", "0:pdf/SKILL.md", file("x")),
            ("skill://office%3Atwin/", "0:other/SKILL.md", ResourcePart::Collection),
            ("skill://project:pdf-tools", "1:pdf/SKILL.md", ResourcePart::Document),
            ("skill://pdf-tools/x", "1:pdf/SKILL.md", file("x")),
            ("skill://ui/index/SKILL.md", "1:ui/_index.md", ResourcePart::Document),
            ("skill://ui/auth-flow/x", "1:ui/Auth Flow.md", file("x")),
            ("skill://ui/Auth%20Flow/x", "1:ui/Auth Flow.md", file("x")),
        ] {
            assert_eq!(found(&catalog, uri), Some((skill.to_owned(), part)), "{uri}");
        }
    }

    #[test]
    fn unsafe_and_unknown_uris_resolve_to_nothing() {
        let catalog = library();
        let long = format!("skill://pdf/{}", "x".repeat(MAX_URI_BYTES));
        for uri in [
            "",
            "skill:/",
            "skill://",
            "skill:///",
            "file://pdf",
            "pdf",
            "skill://nothing/SKILL.md",
            "skill://pdf/../x",
            "skill://pdf/%2e%2e/x",
            "skill://pdf/..%2Fx",
            "skill://pdf/..%5Cx",
            "skill://pdf//etc",
            "skill://pdf/%2Fetc",
            "skill://pdf//",
            "skill://pdf/.",
            "skill://pdf/.git/config",
            "skill://pdf/c:/x",
            "skill://pdf/a%00b",
            "skill://pdf/%ff",
            "skill://pdf/%",
            "skill://pdf/%2",
            "skill://pdf/%+1",
            "skill://pdf?x",
            "skill://pdf#x",
            &long,
        ] {
            assert_eq!(found(&catalog, uri), None, "{uri}");
        }
    }

    #[test]
    fn many_segments_are_handled() {
        let catalog = library();
        let uri = format!("skill://pdf/{}", "a/".repeat(2_000));
        assert!(found(&catalog, &uri).is_some());
        assert_eq!(found(&catalog, &"skill://a:/".repeat(300)), None);
    }

    proptest! {
        #[test]
        fn any_text_resolves_to_something_safe_or_nothing(text in "\\PC{0,40}", rest in "[a-z%./:2eF\u{0}é-]{0,20}") {
            let catalog = library();
            for uri in [text.clone(), format!("skill://{text}"), format!("skill://pdf/{rest}"), format!("skill://{rest}")] {
                if let Some((_, ResourcePart::File(file))) = found(&catalog, &uri) {
                    prop_assert!(!paths::is_hidden(&file));
                    prop_assert_eq!(paths::clean(&file), Some(file));
                }
            }
        }
    }
}
