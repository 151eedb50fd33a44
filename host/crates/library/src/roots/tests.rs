//! Which folders become roots, and under which labels.

use super::RootKind::{Folder, Plugin, Project, User};
use super::*;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A temporary folder with `here` as the working folder, and `home`.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        machine.folders(&["here", "home"]);
        machine
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    fn folders(&self, paths: &[&str]) {
        for path in paths {
            std::fs::create_dir_all(self.path(path)).unwrap();
        }
    }

    /// Installs plugins at `home/NAME`.
    fn plugins(&self, names: &[&str]) {
        let entry = |name: &&str| format!(r#""{name}@market": [{{"installPath": "~/{name}"}}]"#);
        let entries: Vec<String> = names.iter().map(entry).collect();
        self.folders(&["home/.claude/plugins"]);
        let record = format!(r#"{{"version": 2, "plugins": {{{}}}}}"#, entries.join(","));
        std::fs::write(self.path("home/.claude/plugins/installed_plugins.json"), record).unwrap();
    }

    fn options(&self, given: &[&str]) -> RootOptions {
        RootOptions {
            given: given.iter().map(|folder| (*folder).to_owned()).collect(),
            working_folder: self.path("here"),
            home: Some(self.path("home")),
            ..RootOptions::default()
        }
    }

    #[track_caller]
    fn expect(&self, options: &RootOptions, expected: &[(&str, &str)]) {
        let below = |root: &SkillRoot| root.path().strip_prefix(self.path("")).unwrap().display().to_string();
        let roots: Vec<(String, String)> =
            resolve(options).unwrap().iter().map(|root| (root.label.clone(), below(root))).collect();
        let roots: Vec<(&str, &str)> = roots.iter().map(|(label, path)| (label.as_str(), path.as_str())).collect();
        assert_eq!(roots, expected);
    }
}

#[test]
fn a_given_folder_adds_its_inner_roots_and_equal_labels_are_numbered() {
    let machine = Machine::new();
    let options = RootOptions { environment: Some("c".to_owned()), ..machine.options(&["a/team, b/team"]) };
    let expected = [
        ("team", "here/a/team"),
        ("skills", "here/a/team/.claude/skills"),
        ("skills-2", "here/a/team/skills"),
        ("team-2", "here/b/team"),
        ("skills-3", "here/b/team/.claude/skills"),
        ("skills-4", "here/b/team/skills"),
    ];
    machine.expect(&options, &expected);
}

#[test]
fn two_paths_to_one_folder_are_one_root() {
    let machine = Machine::new();
    machine.folders(&["here/real"]);
    symlink("real", machine.path("here/link")).unwrap();
    let roots = resolve(&machine.options(&["real", "link", "./real/"])).unwrap();
    assert_eq!(roots.iter().filter(|root| root.label.starts_with("real")).count(), 1);
    assert!(roots[0].skip.contains("skills"));
    assert_eq!(roots.len(), 3, "this also holds for inner roots that do not exist yet");
}

#[test]
fn without_configuration_every_existing_folder_is_a_root() {
    let machine = Machine::new();
    let options = machine.options(&[]);
    machine.plugins(&["pdf", "empty"]);
    assert!(resolve(&options).is_err());
    machine.folders(&["home/pdf/skills"]);
    machine.expect(&options, &[("pdf", "home/pdf/skills")]);
    machine.folders(&["here/skills", "here/.claude/skills", "here/.agents/skills"]);
    machine.folders(&["home/.claude/skills", "home/.agents/skills"]);
    let expected = [
        ("skills", "here/skills"),
        ("project", "here/.claude/skills"),
        ("project-2", "here/.agents/skills"),
        ("user", "home/.claude/skills"),
        ("user-2", "home/.agents/skills"),
        ("pdf", "home/pdf/skills"),
    ];
    machine.expect(&options, &expected);
    let kinds: Vec<RootKind> = resolve(&options).unwrap().iter().map(|root| root.kind).collect();
    assert_eq!(kinds, [Folder, Project, Project, User, User, Plugin]);
}

#[test]
fn requested_folders_come_after_configured_ones_and_need_not_exist() {
    let machine = Machine::new();
    machine.plugins(&["pdf", "user"]);
    let named = [("team", "here/team"), ("skills", "here/team/.claude/skills"), ("skills-2", "here/team/skills")];
    let own = [
        ("project", "here/.claude/skills"),
        ("project-2", "here/.agents/skills"),
        ("user", "home/.claude/skills"),
        ("user-2", "home/.agents/skills"),
    ];
    let options = machine.options(&["team"]);
    machine.expect(&options, &named);
    let options = RootOptions { user: true, ..options };
    machine.expect(&options, &[&named[..], &own].concat());
    let options = RootOptions { plugins: true, ..options };
    let plugins = [("pdf", "home/pdf/skills"), ("user-3", "home/user/skills")];
    machine.expect(&options, &[&named[..], &own, &plugins].concat());
    machine.expect(&RootOptions { user: true, ..machine.options(&[]) }, &own);
}

#[test]
fn the_root_of_a_repository_is_its_skills_folder_or_itself() {
    let machine = Machine::new();
    machine.folders(&["here/folder", "data/team", "data/more"]);
    let clone = |label: &str| ClonedRepository { label: label.to_owned(), folder: machine.path("data").join(label) };
    let options = RootOptions {
        main_clone: Some(clone("team")),
        more_clones: vec![clone("more")],
        ..machine.options(&["folder"])
    };
    let more = [("more", "data/more"), ("more-2", "data/more/.claude/skills")];
    let named =
        [("folder", "here/folder"), ("skills", "here/folder/.claude/skills"), ("skills-2", "here/folder/skills")];
    machine.expect(&options, &[&named[..], &more].concat());
    let options = RootOptions { given: Vec::new(), ..options };
    let team = [("team", "data/team"), ("team-2", "data/team/.claude/skills")];
    machine.expect(&options, &[&team[..], &more].concat());
    let roots = resolve(&options).unwrap();
    machine.folders(&["data/team/skills/inner", "outside"]);
    assert_eq!(roots[0].path(), machine.path("data/team/skills"));
    assert!(roots[0].open().unwrap().exists("inner"));
    std::fs::remove_dir_all(machine.path("data/team/skills")).unwrap();
    symlink(machine.path("outside"), machine.path("data/team/skills")).unwrap();
    assert_eq!(roots[0].path(), machine.path("data/team"), "a link out of the clone is not followed");
    assert!(roots[0].open().unwrap().symlink_metadata("skills").is_ok());
}

#[test]
fn without_a_home_only_the_project_has_roots() {
    let machine = Machine::new();
    let options = RootOptions { home: None, user: true, plugins: true, ..machine.options(&[]) };
    machine.expect(&options, &[("project", "here/.claude/skills"), ("project-2", "here/.agents/skills")]);
    assert!(resolve(&RootOptions { user: false, ..options }).is_err());
}

#[test]
fn in_the_home_folder_the_roots_are_the_users() {
    let machine = Machine::new();
    symlink("home", machine.path("link")).unwrap();
    let options = RootOptions { user: true, working_folder: machine.path("link"), ..machine.options(&[]) };
    machine.expect(&options, &[("user", "home/.claude/skills"), ("user-2", "home/.agents/skills")]);
}

#[test]
fn a_folder_shared_by_plugins_is_one_root() {
    let machine = Machine::new();
    machine.plugins(&["a", "b", "c"]);
    machine.folders(&["home/b/skills"]);
    symlink("b", machine.path("home/a")).unwrap();
    let options = RootOptions { plugins: true, ..machine.options(&[]) };
    machine.expect(&options, &[("a", "home/a/skills"), ("c", "home/c/skills")]);
}

#[test]
fn a_link_out_of_a_project_or_plugin_hides_no_root() {
    let machine = Machine::new();
    machine.plugins(&["pdf"]);
    machine.folders(&["here/.claude", "home/.claude/skills", "home/.agents", "home/pdf", "dotfiles"]);
    symlink(machine.path("home/.claude/skills"), machine.path("here/.claude/skills")).unwrap();
    symlink(machine.path("home/.claude/skills"), machine.path("home/pdf/skills")).unwrap();
    symlink("../../dotfiles", machine.path("home/.agents/skills")).unwrap();
    let options = machine.options(&[]);
    let expected = [
        ("project", "here/.claude/skills"),
        ("user", "home/.claude/skills"),
        ("user-2", "home/.agents/skills"),
        ("pdf", "home/pdf/skills"),
    ];
    machine.expect(&options, &expected);
    let opened: Vec<bool> = resolve(&options).unwrap().iter().map(|root| root.open().is_ok()).collect();
    assert_eq!(opened, [false, true, true, false]);
}
