//! The invariants of ARCHITECTURE.md that can be checked on the source code.

use skillcell_tests::repository;
use std::path::{Path, PathBuf};

/// Markers of the beginning of tests in a file.
const TESTS: [&str; 2] = ["#[cfg(test)]", "#[cfg(all(test"];

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut unvisited = vec![repository().join(folder)];
    while let Some(next) = unvisited.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                unvisited.push(path);
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
    // Tests are not part of the host.
    let is_used = |text: &str| {
        let end = TESTS.iter().filter_map(|tests| text.find(tests)).min().unwrap_or(text.len());
        text[..end].contains(needle)
    };
    let relative = |path: &Path| path.strip_prefix(repository()).unwrap().display().to_string();
    let mut files: Vec<String> =
        sources(folder).iter().filter(|(_, text)| is_used(text)).map(|(path, _)| relative(path)).collect();
    files.sort();
    files
}

/// The crates of the host, lowest first, and the crates that each may use. A new edge is a decision; ARCHITECTURE.md has the
/// picture.
const LAYERS: [(&str, &[&str]); 18] = [
    ("base", &[]),
    ("terminal", &["base"]),
    ("bindings", &[]),
    ("library", &["base", "bindings"]),
    ("sandbox", &["base", "bindings", "library"]),
    ("guests", &["base", "bindings", "library", "sandbox"]),
    ("packages", &["base", "sandbox", "guests"]),
    ("models", &["base", "packages"]),
    ("catalog", &["base", "terminal", "bindings", "library", "guests"]),
    ("git", &["base", "terminal", "bindings", "library", "catalog"]),
    ("audit", &["base"]),
    ("analytics", &["base"]),
    ("call", &["base", "analytics"]),
    ("scripts", &["base", "bindings", "library", "sandbox", "guests", "packages", "catalog", "audit", "call"]),
    ("integrations", &["base", "bindings", "sandbox", "guests", "git", "audit", "call"]),
    ("views", &["base", "bindings", "library", "sandbox", "guests", "catalog", "scripts"]),
    ("http-server", &["base"]),
    (
        "mcp",
        &[
            "base",
            "bindings",
            "library",
            "sandbox",
            "guests",
            "catalog",
            "git",
            "analytics",
            "call",
            "scripts",
            "integrations",
            "views",
            "http-server",
        ],
    ),
];

/// The dependencies of a package, without those of its tests.
fn dependencies(manifest: &str) -> Vec<String> {
    let manifest = std::fs::read_to_string(repository().join(manifest)).unwrap();
    let section = manifest.split("[dependencies]").nth(1).unwrap();
    let section = section.split("\n[").next().unwrap();
    section.lines().filter_map(|line| line.split(['.', ' ']).next()).map(str::to_owned).collect()
}

#[test]
fn crates_of_the_host_use_only_crates_below_them() {
    let position = |name: &str| LAYERS.iter().position(|(layer, _)| *layer == name);
    for (number, (name, allowed)) in LAYERS.iter().enumerate() {
        let used = dependencies(&format!("host/crates/{name}/Cargo.toml"));
        for used in used.iter().filter(|used| position(used).is_some()) {
            assert!(allowed.contains(&used.as_str()), "`{name}` uses `{used}`, which its layer may not");
        }
        let above = allowed.iter().find(|used| position(used).is_none_or(|used| used >= number));
        assert_eq!(above, None, "`{name}` is allowed a crate above it");
    }
    let folders = std::fs::read_dir(repository().join("host/crates")).unwrap();
    let mut folders: Vec<String> = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    folders.sort();
    let mut known: Vec<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    known.sort_unstable();
    assert_eq!(folders, known, "every crate has a layer");
}

#[test]
fn generated_code_comes_from_two_files() {
    let generated = files_with("host", "bindgen!(");
    assert_eq!(generated, ["host/crates/bindings/src/lib.rs", "host/crates/sandbox/src/p2/bindings.rs"]);
}

#[test]
fn only_mcp_knows_the_protocol() {
    let users = files_with("host", "use rmcp");
    assert!(!users.is_empty());
    let outside: Vec<&String> =
        users.iter().filter(|file| !file.starts_with("host/crates/mcp/") && *file != "host/src/cli/serve.rs").collect();
    assert_eq!(outside, Vec::<&String>::new());
}

#[test]
fn only_git_uses_libgit2() {
    let users = [files_with("host", "git2::"), files_with("host", "use git2")].concat();
    assert!(!users.is_empty());
    let outside: Vec<&String> = users.iter().filter(|file| !file.starts_with("host/crates/git/")).collect();
    assert_eq!(outside, Vec::<&String>::new());
}

#[test]
fn only_one_file_reads_the_environment() {
    assert_eq!(files_with("host/crates", "std::env::var"), ["host/crates/base/src/environment.rs"]);
    assert_eq!(files_with("host/src", "std::env::var"), Vec::<String>::new());
}

#[test]
fn libgit2_is_built_without_network_support() {
    let manifest = std::fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let git2: Vec<&str> = manifest.lines().filter(|line| line.starts_with("git2 ")).collect();
    let [git2] = git2[..] else { panic!("one line for git2: {git2:?}") };
    assert!(git2.contains("default-features = false"), "{git2}");
    assert!(!git2.contains("https") && !git2.contains("ssh"), "{git2}");
    for member in ["host/crates/git", "tests"] {
        let manifest = std::fs::read_to_string(repository().join(member).join("Cargo.toml")).unwrap();
        assert!(manifest.lines().any(|line| line == "git2.workspace = true"), "{member} adds features");
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
fn no_code_depends_on_a_specific_profile() {
    for profile in ["Unified", "Sk", "Ccski", "Skilljack", "Sx", "SkillsMcp"] {
        assert_eq!(files_with("host", &format!("Profile::{profile}")), Vec::<String>::new());
    }
}

#[test]
fn the_host_does_not_link_the_engine() {
    let crates = LAYERS.iter().map(|(name, _)| format!("host/crates/{name}/Cargo.toml"));
    for manifest in crates.chain(["host/Cargo.toml".to_owned()]) {
        assert!(!dependencies(&manifest).contains(&"skillcell-engine".to_owned()), "{manifest}");
    }
}

#[test]
fn the_server_starts_no_process() {
    let starts = files_with("host", "Command::new(");
    // Only the build compiles guests with cargo, and only the demo starts itself as a server.
    assert_eq!(starts, ["host/artifacts/components/guests.rs", "host/src/cli/demo/client.rs"]);
}

#[test]
fn every_guest_of_the_tests_is_used() {
    let components = repository().join("tests/components");
    for entry in std::fs::read_dir(components).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_used =
            ["tests/it", "tests/src"].iter().any(|place| !files_with(place, &format!("\"{name}\"")).is_empty());
        assert!(is_used, "no test uses {name}");
    }
}
