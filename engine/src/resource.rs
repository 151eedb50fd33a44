//! What a `skill://` URI means.

use crate::bindings::exports::skillcell::plugin::catalog::{FoundResource, ResourcePart};
use crate::paths;
use crate::shelf::Shelf;
use crate::skill::SKILL_FILE;
use crate::uris::SCHEME;

/// Longest URI that is looked at, in bytes. No file system has a longer path.
const LONGEST_URI: usize = 4_096;

/// The skill that the URI begins with, and which part of it is meant. The longest path wins; a path in other case, and then
/// a name, only counts where no path fits at all, so that no skill can call itself by another one's file.
pub fn find(shelf: &Shelf, uri: &str) -> Option<FoundResource> {
    let path = decoded(uri)?;
    let longest = |find: &dyn Fn(&str) -> Option<usize>| {
        let ends = path.rmatch_indices('/').map(|(slash, _)| slash);
        std::iter::once(path.len()).chain(ends).find_map(|end| {
            let start = &path[..end];
            let is_name = !start.is_empty() && !start.ends_with('/');
            is_name.then(|| find(start)).flatten().map(|number| (end, number))
        })
    };
    let (end, number) = longest(&|path| shelf.uris.find_exact(path))
        .or_else(|| longest(&|path| shelf.uris.find(path)))
        .or_else(|| longest(&|name| shelf.names.by_name_or_path(shelf, name)))?;
    Some(FoundResource { part: part(&path[end..])?, skill: shelf.found(number) })
}

/// What stands behind the skill, with the slash in front of it.
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

/// The path of a URI without percent-encoding.
///
/// An encoded slash separates as well: a client that fills a template encodes the slashes in a path.
fn decoded(uri: &str) -> Option<String> {
    let (scheme, path) = uri.split_at_checked(SCHEME.len())?;
    if uri.len() > LONGEST_URI || !scheme.eq_ignore_ascii_case(SCHEME) || path.contains(['?', '#']) {
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
    fn the_longest_skill_wins_and_the_rest_is_its_part() {
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
    fn what_is_unsafe_or_unknown_means_nothing() {
        let catalog = library();
        let long = format!("skill://pdf/{}", "x".repeat(LONGEST_URI));
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
    fn many_segments_are_no_trouble() {
        let catalog = library();
        let uri = format!("skill://pdf/{}", "a/".repeat(2_000));
        assert!(found(&catalog, &uri).is_some());
        assert_eq!(found(&catalog, &"skill://a:/".repeat(300)), None);
    }

    proptest! {
        #[test]
        fn any_text_means_something_safe_or_nothing(text in "\\PC{0,40}", rest in "[a-z%./:2eF\u{0}é-]{0,20}") {
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
