//! Packages and published metadata match the program.

use crate::{SKILLCELL, SMALL, library};
use clap::Parser as _;
use serde_json::{Value, json};
use skillcell::cli::Cli;
use skillcell_tests::{Launch, repository};
use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

fn text(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn json_of(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the version of the program.
fn version() -> String {
    let output = Launch::bare(SKILLCELL).arg("-V").output();
    let stdout = String::from_utf8(output.stdout).unwrap();
    stdout.trim().strip_prefix("skillcell ").unwrap_or_else(|| panic!("no version: {stdout}")).to_owned()
}

/// Returns the arguments of every such instruction in the Containerfile, with continued lines joined.
fn instructions(name: &str) -> Vec<String> {
    let whole = text("packaging/Containerfile").replace("\\\n", " ");
    whole.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned)).collect()
}

/// Returns the paths that are copied into the image from the repository.
fn copied_paths() -> Vec<String> {
    let from_here = instructions("COPY").into_iter().filter(|arguments| !arguments.starts_with("--from="));
    from_here
        .flat_map(|arguments| {
            let words: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
            words[..words.len() - 1].to_vec()
        })
        .collect()
}

#[test]
fn every_package_has_the_version_of_the_program() {
    let version = version();
    assert_eq!(json_of("packaging/mcpb/manifest.json")["version"], json!(version));
    let server = json_of("server.json");
    assert_eq!(server["version"], json!(version));
    for package in server["packages"].as_array().unwrap() {
        match package["registryType"].as_str().unwrap() {
            "oci" => assert!(package["identifier"].as_str().unwrap().ends_with(&format!(":{version}")), "{package}"),
            _ => assert_eq!(package["version"], json!(version), "{package}"),
        }
    }
    let image = format!("image: ghcr.io/skillcell/skillcell:{version}\n");
    assert!(text("packaging/kubernetes/skillcell.yaml").contains(&image), "{image}");
}

#[test]
fn the_registry_entry_meets_the_rules_of_the_registry() {
    let server = json_of("server.json");
    let schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
    assert_eq!(server["$schema"], schema);
    let name = server["name"].as_str().unwrap();
    let (space, own) = name.split_once('/').expect("a space and a name");
    let is_valid = |text: &str| {
        !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-_".contains(letter))
    };
    assert!(is_valid(space) && is_valid(own) && name.len() <= 200, "{name}");
    let length = server["description"].as_str().unwrap().chars().count();
    assert!((1..=100).contains(&length), "the description has {length} characters");
    let packages = server["packages"].as_array().unwrap();
    assert!(!packages.is_empty());
    for package in packages {
        // A bundle is added with its digest when it is made. The version of an image is in its name.
        let is_image = package["registryType"] == "oci";
        assert!(is_image || ["npm", "pypi"].iter().any(|registry| package["registryType"] == *registry), "{package}");
        assert_eq!(package["transport"], json!({"type": "stdio"}));
        assert!(package["identifier"].is_string() && package["version"].is_string() != is_image, "{package}");
    }
    // The registry accepts only packages that name the server: npm in the manifest, which is made, and PyPI in this file.
    let marker = format!("<!-- mcp-name: {name} -->");
    assert!(text("packaging/README.md").contains(&marker), "{marker}");
    let manifest = text("Cargo.toml");
    let url = server["repository"]["url"].as_str().unwrap();
    assert!(manifest.contains(&format!("repository = \"{url}\"")), "{url}");
    // The registry accepts only an image that names the server.
    let label = format!("io.modelcontextprotocol.server.name=\"{name}\"");
    assert!(instructions("LABEL").iter().any(|arguments| arguments.contains(&label)), "{label}");
}

#[test]
fn the_bundle_lists_the_tools_that_the_server_offers() {
    let manifest = json_of("packaging/mcpb/manifest.json");
    let names = |tools: &[Value]| -> BTreeSet<String> {
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let folder = library(&SMALL);
    let mut session = crate::serve(folder.path()).env("GITHUB_TOKEN", "SECRET-TOKEN").start();
    assert_eq!(names(manifest["tools"].as_array().unwrap()), names(&session.all("tools/list", "tools")));
}

#[test]
fn the_bundle_starts_a_server_as_a_client_would() {
    let manifest = json_of("packaging/mcpb/manifest.json");
    let server = &manifest["server"];
    let entry = server["entry_point"].as_str().unwrap();
    assert_eq!(server["mcp_config"]["command"], json!(format!("${{__dirname}}/{entry}")));
    assert!(text("packaging/mcpb/bundle").contains(&format!("\"$stage/{entry}\"")), "{entry} is packed");
    assert_eq!(manifest["user_config"]["skills"]["multiple"], true);
    let chosen = [library(&SMALL[..1]), library(&SMALL[1..])];
    let arguments = server["mcp_config"]["args"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    let mut launch = Launch::bare(SKILLCELL);
    for name in arguments {
        launch = match name {
            "${user_config.skills}" => chosen.iter().fold(launch, |launch, folder| launch.arg(folder.path())),
            name => launch.arg(name),
        };
    }
    let mut session = launch.start();
    crate::still_answers(&mut session);
    assert_eq!(session.call_json("skills_list", json!({}))["skills"].as_array().unwrap().len(), 2);
}

#[test]
fn the_image_is_built_from_existing_files_and_with_the_right_compiler() {
    let copied_paths = copied_paths();
    for path in &copied_paths {
        assert!(repository().join(path).exists(), "{path} does not exist");
    }
    let toolchain = text("rust-toolchain.toml");
    let channel = toolchain.lines().find_map(|line| line.strip_prefix("channel = ")).unwrap().trim_matches('"');
    let stages = instructions("FROM");
    let [build, run] = &stages[..] else { panic!("two stages: {stages:?}") };
    assert!(
        build.starts_with(&format!("docker.io/library/rust:{channel}-")) && build.ends_with(" AS build"),
        "{build}"
    );
    // The program runs with the version of the C library that it was linked with.
    assert!(build.contains("bookworm") && run.contains("bookworm"), "{build} and {run}");
    for script in ["host/artifacts/build.rs", "host/artifacts/components/build.rs", "tests/build.rs"] {
        let all = text(script);
        let dependencies = all.split("depends_on(&[").skip(1).map(|rest| rest.split(']').next().unwrap());
        for path in dependencies.flat_map(|list| list.split(',')).map(|name| name.trim().trim_matches('"')) {
            let is_copied = copied_paths.iter().any(|folder| Path::new(path).starts_with(folder));
            assert!(path.is_empty() || is_copied, "{script} needs {path}, which is not copied");
        }
    }
}

#[test]
fn the_image_has_every_file_that_cargo_needs() {
    let folder = tempfile::tempdir().unwrap();
    for path in copied_paths() {
        symlink(repository().join(&path), folder.path().join(&path)).unwrap();
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"]);
    let output = cargo.arg(folder.path().join("Cargo.toml")).output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.iter().any(|package| package["name"] == "skillcell"), "{packages:?}");
}

#[test]
fn the_image_runs_unprivileged_and_without_secrets() {
    let user = instructions("USER");
    let [user] = &user[..] else { panic!("one user: {user:?}") };
    assert!(user.split(':').all(|number| number.parse::<u32>().is_ok_and(|number| number > 0)), "{user}");
    assert_eq!(instructions("ENTRYPOINT"), [r#"["skillcell", "serve"]"#]);
    assert_eq!(instructions("ENV"), ["HOME=/home/skillcell"]);
    assert_eq!((instructions("ADD"), instructions("ARG")), (Vec::new(), vec!["SKILLCELL_COMMIT".to_owned()]));
    assert_eq!(instructions("VOLUME"), [r#"["/home/skillcell"]"#]);
}

/// Every target in a file, once.
fn targets(path: &str) -> BTreeSet<String> {
    let all = text(path);
    let words = all.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '-');
    let is_target = |word: &&str| {
        word.ends_with("-unknown-linux-gnu") || word.ends_with("-unknown-linux-musl") || word.ends_with("-apple-darwin")
    };
    words.filter(is_target).map(str::to_owned).collect()
}

#[test]
fn the_release_builds_every_platform_that_the_launcher_of_npm_knows() {
    let npm = text("packaging/lib/npm.py");
    let list = npm.lines().find_map(|line| line.strip_prefix("PLATFORMS = ")).unwrap();
    let platforms: BTreeSet<String> = serde_json::from_str(list).unwrap();
    let platform = |target: &String| {
        let (cpu, system) = target.split_once('-').unwrap();
        let cpu = if cpu == "x86_64" { "x64" } else { "arm64" };
        match system.strip_prefix("unknown-linux-") {
            Some(libc) => format!("linux-{cpu}-{libc}"),
            None => format!("darwin-{cpu}"),
        }
    };
    let built: BTreeSet<String> = targets(".github/workflows/release.yml").iter().map(platform).collect();
    assert_eq!(built, platforms);
}

#[test]
fn the_release_uses_only_actions_that_cannot_change() {
    let workflow = text(".github/workflows/release.yml");
    let uses: Vec<&str> =
        workflow.lines().filter_map(|line| line.split_once("uses: ").map(|(_, action)| action)).collect();
    assert!(uses.len() > 5, "{uses:?}");
    for action in uses {
        let commit = action.split_once('@').and_then(|(_, rest)| rest.split_once(" # v"));
        let is_pinned =
            commit.is_some_and(|(commit, _)| commit.len() == 40 && commit.bytes().all(|it| it.is_ascii_hexdigit()));
        assert!(is_pinned, "{action} is not pinned to a commit with its version");
    }
    assert!(workflow.contains("\npermissions: {}\n"), "no job has a permission that it does not name");
}

#[test]
fn service_managers_start_a_server_with_options_that_exist() {
    let unit = text("packaging/systemd/skillcell.service");
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/")).unwrap();
    let pods = text("packaging/kubernetes/skillcell.yaml");
    let arguments = pods.lines().find_map(|line| line.trim().strip_prefix("args: ")).unwrap();
    let arguments: Vec<String> = serde_json::from_str(arguments).unwrap();
    let pod = ["skillcell", "serve"].map(str::to_owned).into_iter().chain(arguments).collect();
    for command in [start.split(' ').map(str::to_owned).collect::<Vec<_>>(), pod] {
        let parsed = Cli::try_parse_from(&command);
        assert!(parsed.is_ok_and(|parsed| parsed.serves()), "{command:?}");
    }
}
