use super::RootKind::{Folder, Plugin, Project, User};
use super::*;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A place with a folder `here`, where the server is started, and a folder `home`.
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

    fn choice(&self, given: &[&str]) -> Choice {
        Choice {
            given: given.iter().map(|folder| (*folder).to_owned()).collect(),
            working_folder: self.path("here"),
            home: Some(self.path("home")),
            ..Choice::default()
        }
    }

    #[track_caller]
    fn expect(&self, choice: &Choice, expected: &[(&str, &str)]) {
        let below = |root: &SkillRoot| root.path().strip_prefix(self.path("")).unwrap().display().to_string();
        let roots: Vec<(String, String)> =
            choose(choice).unwrap().iter().map(|root| (root.label.clone(), below(root))).collect();
        let roots: Vec<(&str, &str)> = roots.iter().map(|(label, path)| (label.as_str(), path.as_str())).collect();
        assert_eq!(roots, expected);
    }
}

#[test]
fn a_given_folder_brings_its_inner_roots_and_equal_names_are_numbered() {
    let machine = Machine::new();
    let choice = Choice { environment: Some("c".to_owned()), ..machine.choice(&["a/team, b/team"]) };
    let expected = [
        ("team", "here/a/team"),
        ("skills", "here/a/team/.claude/skills"),
        ("skills-2", "here/a/team/skills"),
        ("team-2", "here/b/team"),
        ("skills-3", "here/b/team/.claude/skills"),
        ("skills-4", "here/b/team/skills"),
    ];
    machine.expect(&choice, &expected);
}

#[test]
fn two_ways_to_one_folder_are_one_root() {
    let machine = Machine::new();
    machine.folders(&["here/real"]);
    symlink("real", machine.path("here/link")).unwrap();
    let roots = choose(&machine.choice(&["real", "link", "./real/"])).unwrap();
    assert_eq!(roots.iter().filter(|root| root.label.starts_with("real")).count(), 1);
    assert!(roots[0].skip.contains("skills"));
    assert_eq!(roots.len(), 3, "inner roots that do not exist yet are one, too");
}

#[test]
fn without_a_word_every_folder_that_exists_is_a_root() {
    let machine = Machine::new();
    let choice = machine.choice(&[]);
    machine.plugins(&["pdf", "empty"]);
    assert!(choose(&choice).is_err());
    machine.folders(&["home/pdf/skills"]);
    machine.expect(&choice, &[("pdf", "home/pdf/skills")]);
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
    machine.expect(&choice, &expected);
    let kinds: Vec<RootKind> = choose(&choice).unwrap().iter().map(|root| root.kind).collect();
    assert_eq!(kinds, [Folder, Project, Project, User, User, Plugin]);
}

#[test]
fn what_is_asked_for_comes_behind_what_is_named_and_need_not_exist() {
    let machine = Machine::new();
    machine.plugins(&["pdf", "user"]);
    let named = [("team", "here/team"), ("skills", "here/team/.claude/skills"), ("skills-2", "here/team/skills")];
    let own = [
        ("project", "here/.claude/skills"),
        ("project-2", "here/.agents/skills"),
        ("user", "home/.claude/skills"),
        ("user-2", "home/.agents/skills"),
    ];
    let choice = machine.choice(&["team"]);
    machine.expect(&choice, &named);
    let choice = Choice { user: true, ..choice };
    machine.expect(&choice, &[&named[..], &own].concat());
    let choice = Choice { plugins: true, ..choice };
    let plugins = [("pdf", "home/pdf/skills"), ("user-3", "home/user/skills")];
    machine.expect(&choice, &[&named[..], &own, &plugins].concat());
    machine.expect(&Choice { user: true, ..machine.choice(&[]) }, &own);
}

#[test]
fn a_repository_is_its_skills_or_itself() {
    let machine = Machine::new();
    machine.folders(&["here/folder", "data/team", "data/more"]);
    let clone = |label: &str| ClonedRepository { label: label.to_owned(), folder: machine.path("data").join(label) };
    let choice =
        Choice { main_clone: Some(clone("team")), more_clones: vec![clone("more")], ..machine.choice(&["folder"]) };
    let more = [("more", "data/more"), ("more-2", "data/more/.claude/skills")];
    let named =
        [("folder", "here/folder"), ("skills", "here/folder/.claude/skills"), ("skills-2", "here/folder/skills")];
    machine.expect(&choice, &[&named[..], &more].concat());
    let choice = Choice { given: Vec::new(), ..choice };
    let team = [("team", "data/team"), ("team-2", "data/team/.claude/skills")];
    machine.expect(&choice, &[&team[..], &more].concat());
    let roots = choose(&choice).unwrap();
    machine.folders(&["data/team/skills/inner", "outside"]);
    assert_eq!(roots[0].path(), machine.path("data/team/skills"));
    assert!(roots[0].open().unwrap().exists("inner"));
    std::fs::remove_dir_all(machine.path("data/team/skills")).unwrap();
    symlink(machine.path("outside"), machine.path("data/team/skills")).unwrap();
    assert_eq!(roots[0].path(), machine.path("data/team"), "a link that leads out leads nowhere");
    assert!(roots[0].open().unwrap().symlink_metadata("skills").is_ok());
}

#[test]
fn without_a_home_there_are_the_folders_of_the_project() {
    let machine = Machine::new();
    let choice = Choice { home: None, user: true, plugins: true, ..machine.choice(&[]) };
    machine.expect(&choice, &[("project", "here/.claude/skills"), ("project-2", "here/.agents/skills")]);
    assert!(choose(&Choice { user: false, ..choice }).is_err());
}

#[test]
fn at_home_the_folders_are_the_users() {
    let machine = Machine::new();
    symlink("home", machine.path("link")).unwrap();
    let choice = Choice { user: true, working_folder: machine.path("link"), ..machine.choice(&[]) };
    machine.expect(&choice, &[("user", "home/.claude/skills"), ("user-2", "home/.agents/skills")]);
}

#[test]
fn a_folder_of_several_plugins_is_one_root() {
    let machine = Machine::new();
    machine.plugins(&["a", "b", "c"]);
    machine.folders(&["home/b/skills"]);
    symlink("b", machine.path("home/a")).unwrap();
    let choice = Choice { plugins: true, ..machine.choice(&[]) };
    machine.expect(&choice, &[("a", "home/a/skills"), ("c", "home/c/skills")]);
}

#[test]
fn a_link_out_of_a_project_or_plugin_hides_no_root() {
    let machine = Machine::new();
    machine.plugins(&["pdf"]);
    machine.folders(&["here/.claude", "home/.claude/skills", "home/.agents", "home/pdf", "dotfiles"]);
    symlink(machine.path("home/.claude/skills"), machine.path("here/.claude/skills")).unwrap();
    symlink(machine.path("home/.claude/skills"), machine.path("home/pdf/skills")).unwrap();
    symlink("../../dotfiles", machine.path("home/.agents/skills")).unwrap();
    let choice = machine.choice(&[]);
    let expected = [
        ("project", "here/.claude/skills"),
        ("user", "home/.claude/skills"),
        ("user-2", "home/.agents/skills"),
        ("pdf", "home/pdf/skills"),
    ];
    machine.expect(&choice, &expected);
    let opened: Vec<bool> = choose(&choice).unwrap().iter().map(|root| root.open().is_ok()).collect();
    assert_eq!(opened, [false, true, true, false]);
}
