//! The promises of ARCHITECTURE.md that a look at the repository can keep.

use skillcell_tests::repository;
use std::path::{Path, PathBuf};

/// Where the tests of a file begin.
const TESTS: [&str; 2] = ["#[cfg(test)]", "#[cfg(all(test"];

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut waiting = vec![repository().join(folder)];
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "{folder} has no sources");
    found
}

fn files_with(folder: &str, needle: &str) -> Vec<String> {
    // What tests of the host do is not what the host does.
    let of_the_host = |text: &str| {
        let end = TESTS.iter().filter_map(|tests| text.find(tests)).min().unwrap_or(text.len());
        text[..end].contains(needle)
    };
    let named = |path: &Path| path.strip_prefix(repository()).unwrap().display().to_string();
    let mut files: Vec<String> =
        sources(folder).iter().filter(|(_, text)| of_the_host(text)).map(|(path, _)| named(path)).collect();
    files.sort();
    files
}

#[test]
fn all_generated_code_of_the_host_comes_from_one_file() {
    assert_eq!(files_with("host/src", "bindgen!("), ["host/src/bindings.rs"]);
}

#[test]
fn only_mcp_knows_the_protocol() {
    let knows = files_with("host/src", "use rmcp");
    let outside: Vec<&String> =
        knows.iter().filter(|file| !file.starts_with("host/src/mcp") && *file != "host/src/cli/serve.rs").collect();
    assert_eq!(outside, Vec::<&String>::new());
}

#[test]
fn only_git_uses_libgit2() {
    let knows = [files_with("host/src", "git2::"), files_with("host/src", "use git2")].concat();
    assert!(!knows.is_empty());
    let outside: Vec<&String> =
        knows.iter().filter(|file| !file.starts_with("host/src/git/") && *file != "host/src/git.rs").collect();
    assert_eq!(outside, Vec::<&String>::new());
}

#[test]
fn libgit2_is_built_without_a_network_of_its_own() {
    let manifest = std::fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let git2: Vec<&str> = manifest.lines().filter(|line| line.starts_with("git2 ")).collect();
    let [git2] = git2[..] else { panic!("git2 is named once: {git2:?}") };
    assert!(git2.contains("default-features = false"), "{git2}");
    assert!(!git2.contains("https") && !git2.contains("ssh"), "{git2}");
    for member in ["host", "tests"] {
        let manifest = std::fs::read_to_string(repository().join(member).join("Cargo.toml")).unwrap();
        assert!(manifest.lines().any(|line| line == "git2.workspace = true"), "{member} adds nothing to it");
    }
}

#[test]
fn there_is_one_tls_stack() {
    let lock = std::fs::read_to_string(repository().join("Cargo.lock")).unwrap();
    let packages: Vec<&str> = lock.lines().filter_map(|line| line.strip_prefix("name = ")).collect();
    assert!(packages.contains(&"\"rustls\""));
    for other in ["openssl-sys", "native-tls", "aws-lc-sys", "aws-lc-rs", "libssh2-sys"] {
        assert!(!packages.contains(&format!("\"{other}\"").as_str()), "{other} is linked as well");
    }
}

#[test]
fn nothing_asks_which_profile_it_is() {
    for profile in ["Unified", "Sk", "Ccski", "Skilljack", "Sx", "SkillsMcp"] {
        assert_eq!(files_with("host/src", &format!("Profile::{profile}")), Vec::<String>::new());
    }
}

#[test]
fn the_host_does_not_link_the_engine() {
    let manifest = std::fs::read_to_string(repository().join("host/Cargo.toml")).unwrap();
    assert!(!manifest.contains("skillcell-engine"));
}

#[test]
fn the_server_starts_no_process() {
    assert_eq!(files_with("host/src", "Command::new("), ["host/src/cli/demo/client.rs"]);
}

#[test]
fn every_guest_of_the_tests_is_used() {
    let components = repository().join("tests/components");
    for entry in std::fs::read_dir(components).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!files_with("tests/it", &format!("\"{name}\"")).is_empty(), "no test uses {name}");
    }
}
