//! URIs: of resources, of repositories, and of hosts that a script may reach.

use base::percent;
use git::address::Address;
use hyper::Uri;
use sandbox::gate::Target;
use sandbox::hosts::{HostAccess, HostPattern, host_access};
use skillcell_engine::bindings::exports::skillcell::plugin::catalog::{Duplicates, FoundResource, ResourcePart};
use skillcell_engine::catalog::Catalog;
use skillcell_engine::memory::{self, MemoryRoot};
use skillcell_engine::paths;
use std::path::Path;

thread_local! {
    static LIBRARY: Catalog = library();
}

fn library() -> Catalog {
    let tree = "---\nkeywords: [word]\ndescription: d\n---\n";
    let project = MemoryRoot::new("project")
        .folder_skill("pdf", "pdf-tools")
        .folder_skill("pdf/forms", "forms")
        .folder_skill("Ünder the/sea", "sea")
        .folder_skill("twin", "twin")
        .file("ui/_index.md", tree)
        .file("ui/Auth Flow.md", tree);
    let office = MemoryRoot::plugin("office").folder_skill("pdf", "pdf").folder_skill("other", "twin");
    memory::catalog(vec![office, project], Duplicates::Refuse)
}

pub fn uris(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    LIBRARY.with(|library| {
        resource(library, &text);
        resource(library, &format!("skill://pdf/{text}"));
    });
    repository(&text);
    host(&text);
    assert_eq!(percent::decode(&percent::encode(&text)), text);
    if let Some(clean) = paths::clean(&text) {
        assert!(!clean.starts_with('/') && clean.split('/').all(|name| !matches!(name, "" | "." | "..")));
        assert_eq!(paths::clean(&clean).as_ref(), Some(&clean));
    }
}

/// A URI that is understood can be written in one way, which is understood in the same way.
fn resource(library: &Catalog, uri: &str) {
    let Some(FoundResource { skill, part }) = library.resource_of(uri) else { return };
    let own = &skill.summary.uri;
    let written = match &part {
        ResourcePart::Document => own.clone(),
        ResourcePart::Collection => format!("{own}/"),
        ResourcePart::File(file) => {
            assert_eq!(paths::clean(file).as_ref(), Some(file), "a file that leaves its folder");
            assert!(!paths::is_hidden(file), "a hidden file");
            format!("{own}/{}", percent::encode(file))
        }
    };
    let again =
        library.resource_of(&written).unwrap_or_else(|| panic!("{written}, written for {uri}, is not understood"));
    // A skill in a folder of another takes precedence over a file there.
    let is_nested = again.skill.summary.file.path.starts_with(skill.summary.file.path.trim_end_matches("SKILL.md"));
    assert!(again == FoundResource { skill, part } || is_nested, "{written}, written for {uri}, is another resource");
}

/// The address of a repository has no credential, and stays the same when it is parsed again.
fn repository(text: &str) {
    let folder = |path: &str| Path::new("/nowhere").join(path);
    match Address::parse(text, folder) {
        Ok((address, _)) => {
            let Some(host) = address.host() else { return };
            assert!(!host.is_empty() && !host.contains(['@', '/', ' ']), "the host `{host}`");
            let (again, credential) = Address::parse(address.text(), folder).expect("an address that was parsed");
            assert_eq!(again, address);
            assert!(credential.is_none(), "a credential in the address");
            let key = address.key(Some("main"));
            assert!(!key.contains('/') && !key.starts_with('.'), "the folder `{key}` of a clone");
        }
        Err(error) => {
            let password = text.split_once("://").and_then(|(_, rest)| rest.split_once(":hunter2@"));
            let is_only_there = text.matches("hunter2").count() == 1;
            assert!(password.is_none() || !is_only_there || !error.to_string().contains("hunter2"), "{error}");
        }
    }
}

/// A pattern is written as it was meant, and what it does not match is refused.
fn host(text: &str) {
    let pattern: Option<HostPattern> = text.parse().ok();
    if let Some(pattern) = &pattern {
        assert_eq!(pattern.to_string().parse().as_ref(), Ok(pattern), "{pattern}");
        assert!(pattern.covers(pattern));
    }
    let Some(target) = text.parse::<Uri>().ok().as_ref().and_then(Target::of) else { return };
    let scheme = if target.secure { "https" } else { "http" };
    let written: Uri = format!("{scheme}://{target}/").parse().unwrap_or_else(|error| panic!("{target}: {error}"));
    assert_eq!(Target::of(&written).as_ref(), Some(&target));
    let granted = ["api.example.com", "*.example.org", "localhost:8080"].map(|text| text.parse().expect("a pattern"));
    let is_granted = match target.port {
        80 | 443 => target.host.trim_end_matches('.') == "api.example.com" || target.host.contains(".example.org"),
        8080 => target.host.trim_end_matches('.') == "localhost",
        _ => false,
    };
    assert!(is_granted || host_access(&granted, &target.host, target.port) == HostAccess::Refused, "{target}");
}
