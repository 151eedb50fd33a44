//! Clones of repositories on this machine, and everything that can happen to both.

use super::address::Address;
use super::problem::SyncError;
use super::sync::{Synced, Wanted, sync};
use super::{place, quiet};
use crate::config::git::{Network, Remote};
use git2::{Index, IndexEntry, IndexTime, ObjectType, Oid, Repository, Signature};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// A remote on this machine, and the place for its clone.
struct Scene {
    folder: TempDir,
    origin: Repository,
    branch: Option<String>,
}

impl Scene {
    fn new() -> Self {
        quiet();
        let folder = tempfile::tempdir().unwrap();
        let origin = Repository::init_bare(folder.path().join("team-skills.git")).unwrap();
        origin.set_head("refs/heads/main").unwrap();
        Self { folder, origin, branch: None }
    }

    /// A branch that has exactly these files, by a commit on top of its last one.
    fn push(&self, branch: &str, files: &[(&str, &str)]) -> Oid {
        let tree = self.tree(files);
        let parent = self.origin.refname_to_id(&format!("refs/heads/{branch}")).ok();
        self.push_tree(branch, tree, parent)
    }

    /// The same without a history.
    fn push_forced(&self, branch: &str, files: &[(&str, &str)]) -> Oid {
        self.push_tree(branch, self.tree(files), None)
    }

    fn push_tree(&self, branch: &str, tree: Oid, parent: Option<Oid>) -> Oid {
        let by = Signature::now("somebody", "somebody@example.com").unwrap();
        let tree = self.origin.find_tree(tree).unwrap();
        let parent = parent.map(|parent| self.origin.find_commit(parent).unwrap());
        let parents: Vec<_> = parent.iter().collect();
        let commit = self.origin.commit(None, &by, &by, "a change", &tree, &parents).unwrap();
        self.origin.reference(&format!("refs/heads/{branch}"), commit, true, "push").unwrap();
        commit
    }

    fn tree(&self, files: &[(&str, &str)]) -> Oid {
        let mut index = Index::new().unwrap();
        for (path, text) in files {
            // A name that begins with `@` is a link.
            let (path, mode) = path.strip_prefix('@').map_or((*path, 0o100_644), |link| (link, 0o120_000));
            let id = self.origin.blob(text.as_bytes()).unwrap();
            let never = IndexTime::new(0, 0);
            let entry = IndexEntry {
                ctime: never,
                mtime: never,
                dev: 0,
                ino: 0,
                mode,
                uid: 0,
                gid: 0,
                file_size: 0,
                id,
                flags: 0,
                flags_extended: 0,
                path: path.as_bytes().to_vec(),
            };
            index.add(&entry).unwrap();
        }
        index.write_tree_to(&self.origin).unwrap()
    }

    fn remote(&self) -> Remote {
        let (address, _) = Address::parse("team-skills.git", |path| self.folder.path().join(path)).unwrap();
        let key = address.key(self.branch.as_deref());
        let clones = self.folder.path().join("repos");
        let (folder, lock) = (clones.join(&key), clones.join(format!("{key}.lock")));
        Remote { address, branch: self.branch.clone(), credential: None, folder, lock }
    }

    fn sync(&self) -> Result<Synced, SyncError> {
        self.sync_when(Wanted::Now)
    }

    fn sync_when(&self, wanted: Wanted) -> Result<Synced, SyncError> {
        sync(&self.remote(), &Network::default(), wanted, &|| Box::new(()))
    }

    fn clone(&self) -> PathBuf {
        self.remote().folder
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.clone().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[track_caller]
    fn expect(&self, expected: &[(&str, &str)]) {
        let mut found = BTreeMap::new();
        read_all(&self.clone(), Path::new(""), &mut found);
        let found: Vec<(&str, &str)> = found.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(found, expected);
    }

    /// The files of each backup.
    fn backups(&self) -> Vec<BTreeMap<String, String>> {
        let repository = place::open(&self.clone()).unwrap();
        let references = repository.references_glob("refs/skillcell/backup/*").unwrap();
        let files = |reference: git2::Reference<'_>| {
            let tree = reference.peel_to_tree().unwrap();
            let mut files = BTreeMap::new();
            tree.walk(git2::TreeWalkMode::PreOrder, |folder, entry| {
                if entry.kind() == Some(ObjectType::Blob) {
                    let blob = entry.to_object(&repository).unwrap().peel_to_blob().unwrap();
                    let text = String::from_utf8_lossy(blob.content()).into_owned();
                    files.insert(format!("{folder}{}", entry.name().unwrap()), text);
                }
                git2::TreeWalkResult::Ok
            })
            .unwrap();
            files
        };
        references.map(|reference| files(reference.unwrap())).collect()
    }

    /// What is beside the clone and its lock.
    fn leftovers(&self) -> Vec<String> {
        let remote = self.remote();
        let entries = fs::read_dir(self.folder.path().join("repos")).into_iter().flatten().flatten();
        let others = entries.map(|entry| entry.path()).filter(|path| *path != remote.folder && *path != remote.lock);
        others.map(|path| path.display().to_string()).collect()
    }
}

fn read_all(root: &Path, below: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(root.join(below)).unwrap().flatten() {
        let path = below.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && entry.file_name() != ".git" {
            read_all(root, &path, found);
        } else if kind.is_file() {
            found.insert(path.display().to_string(), fs::read_to_string(root.join(&path)).unwrap());
        } else if kind.is_symlink() {
            let target = fs::read_link(root.join(&path)).unwrap();
            found.insert(format!("@{}", path.display()), target.display().to_string());
        }
    }
}

const TWO: [(&str, &str); 2] = [("a/SKILL.md", "a"), ("b/SKILL.md", "b")];

#[test]
fn a_clone_follows_its_remote() {
    let scene = Scene::new();
    let commit = scene.push("main", &TWO);
    assert_eq!(scene.sync().unwrap(), Synced { commit: commit.to_string(), files_changed: 2 });
    scene.expect(&TWO);
    let mode = fs::metadata(scene.clone()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let commit = scene.push("main", &[("a/SKILL.md", "new"), ("c/SKILL.md", "c")]);
    assert_eq!(scene.sync().unwrap(), Synced { commit: commit.to_string(), files_changed: 3 });
    scene.expect(&[("a/SKILL.md", "new"), ("c/SKILL.md", "c")]);
    assert_eq!(scene.sync().unwrap(), Synced { commit: commit.to_string(), files_changed: 0 });
    assert_eq!(scene.leftovers(), Vec::<String>::new());
    assert_eq!(scene.backups(), []);
}

#[test]
fn a_forced_push_ends_at_the_state_of_the_remote() {
    let scene = Scene::new();
    let first = scene.push("main", &TWO);
    scene.push("main", &[("a/SKILL.md", "second")]);
    scene.sync().unwrap();
    scene.push_forced("main", &[("z/SKILL.md", "other history")]);
    scene.sync().unwrap();
    scene.expect(&[("z/SKILL.md", "other history")]);
    scene.origin.reference("refs/heads/main", first, true, "back").unwrap();
    scene.sync().unwrap();
    scene.expect(&TWO);
    assert_eq!(scene.backups(), []);
}

#[test]
fn local_edits_are_kept_in_a_backup_and_the_remote_wins() {
    let scene = Scene::new();
    scene.push("main", &[("a/SKILL.md", "a"), ("b/SKILL.md", "b"), ("gone.md", "gone"), (".gitignore", "*.log\n")]);
    scene.sync().unwrap();
    scene.write("a/SKILL.md", "mine");
    scene.write("notes/new.md", "also mine");
    scene.write("debug.log", "ignored");
    symlink("a", scene.clone().join("link")).unwrap();
    fs::remove_file(scene.clone().join("gone.md")).unwrap();
    scene
        .push("main", &[("a/SKILL.md", "theirs"), ("b/SKILL.md", "b"), ("gone.md", "gone"), (".gitignore", "*.log\n")]);
    scene.sync().unwrap();
    let expected = [
        (".gitignore", "*.log\n"),
        ("a/SKILL.md", "theirs"),
        ("b/SKILL.md", "b"),
        ("debug.log", "ignored"),
        ("gone.md", "gone"),
    ];
    scene.expect(&expected);
    assert!(!scene.clone().join("notes").exists(), "a folder that is empty then goes");
    let backups = scene.backups();
    assert_eq!(backups.len(), 1);
    assert_eq!(backups[0]["a/SKILL.md"], "mine");
    assert_eq!(backups[0]["notes/new.md"], "also mine");
    assert_eq!(backups[0]["link"], "a");
    scene.sync().unwrap();
    assert_eq!(scene.backups().len(), 1, "nothing is kept twice");
    scene.write("a/SKILL.md", "mine again");
    scene.sync().unwrap();
    scene.expect(&expected);
    assert_eq!(scene.backups().len(), 2, "also when the remote has nothing new");
}

#[test]
fn a_file_that_git_ignores_is_kept_when_the_remote_brings_one_there() {
    let scene = Scene::new();
    scene.push("main", &[(".gitignore", "*.log\n")]);
    scene.sync().unwrap();
    scene.write("debug.log", "mine");
    scene.push("main", &[(".gitignore", "*.log\n"), ("debug.log", "theirs")]);
    scene.sync().unwrap();
    scene.expect(&[(".gitignore", "*.log\n"), ("debug.log", "theirs")]);
    assert_eq!(scene.backups()[0]["debug.log"], "mine");
}

#[test]
fn a_commit_that_is_only_here_is_kept() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    scene.sync().unwrap();
    scene.write("a/SKILL.md", "committed here");
    let repository = place::open(&scene.clone()).unwrap();
    let mut index = repository.index().unwrap();
    index.add_path(Path::new("a/SKILL.md")).unwrap();
    index.write().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let by = Signature::now("me", "me@example.com").unwrap();
    let head = repository.head().unwrap().peel_to_commit().unwrap();
    repository.commit(Some("HEAD"), &by, &by, "mine", &tree, &[&head]).unwrap();
    scene.sync().unwrap();
    scene.expect(&TWO);
    assert_eq!(scene.backups()[0]["a/SKILL.md"], "committed here");
    assert_eq!(scene.backups().len(), 1);
}

#[test]
fn a_repository_inside_the_clone_is_left_alone() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    scene.sync().unwrap();
    Repository::init(scene.clone().join("inner")).unwrap();
    scene.write("inner/work.md", "somebody's");
    scene.push("main", &[("a/SKILL.md", "new")]);
    scene.sync().unwrap();
    scene.expect(&[("a/SKILL.md", "new"), ("inner/work.md", "somebody's")]);
}

#[test]
fn a_branch_that_is_gone_leaves_what_is_there() {
    let mut scene = Scene::new();
    scene.branch = Some("dev".to_owned());
    scene.push("main", &[("x.md", "x")]);
    scene.push("dev", &TWO);
    scene.sync().unwrap();
    scene.origin.find_reference("refs/heads/dev").unwrap().delete().unwrap();
    let error = scene.sync().unwrap_err().to_string();
    assert!(error.contains("no branch `dev`; it has `main`") && error.contains("SKILLS_BRANCH"), "{error}");
    scene.expect(&TWO);
    scene.push("dev", &[("a/SKILL.md", "back")]);
    scene.sync().unwrap();
    scene.expect(&[("a/SKILL.md", "back")]);
}

#[test]
fn without_a_named_branch_it_is_main_else_the_default() {
    let scene = Scene::new();
    scene.origin.set_head("refs/heads/trunk").unwrap();
    assert!(matches!(scene.sync(), Err(SyncError::Empty { .. })));
    scene.push("aaa", &[("x.md", "x")]);
    scene.push("trunk", &[("x.md", "trunk")]);
    scene.sync().unwrap();
    scene.expect(&[("x.md", "trunk")]);
    scene.push("main", &[("x.md", "main")]);
    scene.sync().unwrap();
    scene.expect(&[("x.md", "main")]);
    assert_eq!(scene.backups(), []);
}

#[test]
fn a_damaged_clone_is_made_anew() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 7] = [
        ("no objects", |git| fs::remove_dir_all(git.join("objects")).unwrap()),
        ("no head", |git| fs::remove_file(git.join("HEAD")).unwrap()),
        ("a head of nonsense", |git| fs::write(git.join("HEAD"), "nonsense").unwrap()),
        ("a head of nothing", |git| fs::write(git.join("refs/heads/main"), "").unwrap()),
        ("an index of nonsense", |git| fs::write(git.join("index"), "nonsense").unwrap()),
        ("settings of nonsense", |git| fs::write(git.join("config"), "[[[").unwrap()),
        ("an empty folder", |git| {
            fs::remove_dir_all(git).unwrap();
            fs::create_dir(git).unwrap();
        }),
    ];
    for (what, damage) in damages {
        let scene = Scene::new();
        scene.push("main", &TWO);
        scene.sync().unwrap();
        damage(&scene.clone().join(".git"));
        scene.write("mine.md", "an edit");
        let commit = scene.push("main", &[("a/SKILL.md", "a"), ("c/SKILL.md", "c")]);
        let synced = scene.sync().unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(synced.commit, commit.to_string(), "{what}");
        scene.expect(&[("a/SKILL.md", "a"), ("c/SKILL.md", "c")]);
        assert_eq!(scene.backups()[0]["mine.md"], "an edit", "{what}");
        assert_eq!(scene.leftovers(), Vec::<String>::new(), "{what}");
    }
}

#[test]
fn a_folder_with_files_and_no_git_becomes_a_clone() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    scene.write("a/SKILL.md", "mine");
    fs::set_permissions(scene.folder.path().join("repos"), fs::Permissions::from_mode(0o700)).unwrap();
    scene.sync().unwrap();
    scene.expect(&TWO);
    assert_eq!(scene.backups()[0]["a/SKILL.md"], "mine");
}

#[test]
fn locks_that_somebody_left_are_removed_and_fresh_ones_are_told() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    scene.sync().unwrap();
    let locks = ["index.lock", "HEAD.lock", "refs/heads/main.lock", "refs/skillcell/synced.lock", "shallow.lock"]
        .map(|lock| scene.clone().join(".git").join(lock));
    for lock in &locks {
        File::create(lock).unwrap().set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    }
    scene.push("main", &[("a/SKILL.md", "new")]);
    scene.sync().unwrap();
    scene.expect(&[("a/SKILL.md", "new")]);
    assert!(!locks.iter().any(|lock| lock.exists()));
    fs::write(&locks[0], "").unwrap();
    scene.push("main", &TWO);
    let error = scene.sync().unwrap_err();
    assert!(error.to_string().contains(&format!("remove {}", locks[0].display())), "{error}");
    scene.expect(&[("a/SKILL.md", "new")]);
    fs::remove_file(&locks[0]).unwrap();
    scene.sync().unwrap();
    scene.expect(&TWO);
}

#[test]
fn a_clone_that_was_interrupted_is_never_seen() {
    let scene = Scene::new();
    let error = scene.sync().unwrap_err();
    assert!(matches!(error, SyncError::Empty { .. }), "{error}");
    assert!(!scene.clone().exists());
    assert_eq!(scene.leftovers(), Vec::<String>::new(), "what failed is removed");
    let unfinished = place::fresh(&scene.remote()).unwrap().keep();
    fs::create_dir_all(unfinished.join(".git/objects")).unwrap();
    scene.push("main", &TWO);
    scene.sync().unwrap();
    scene.expect(&TWO);
    assert_eq!(scene.leftovers(), Vec::<String>::new(), "what others left is removed");
}

#[test]
fn an_interrupted_checkout_is_finished_and_is_nobodys_edit() {
    let scene = Scene::new();
    scene.push("main", &[("a/SKILL.md", "a"), ("b/SKILL.md", "b"), ("old.md", "old")]);
    scene.sync().unwrap();
    let halfway = scene.push("main", &[("a/SKILL.md", "a2"), ("b/SKILL.md", "b2"), ("new.md", "new")]);
    // As far as a checkout of that commit came before the machine went down.
    let repository = place::open(&scene.clone()).unwrap();
    let mut origin = repository.remote_anonymous(scene.remote().address.text()).unwrap();
    origin.fetch(&["+refs/heads/main:refs/remotes/origin/main"], None, None).unwrap();
    repository.reference("refs/skillcell/target", halfway, true, "").unwrap();
    scene.write("a/SKILL.md", "a2");
    scene.write("new.md", "new");
    fs::remove_file(scene.clone().join("old.md")).unwrap();
    scene.push("main", &[("a/SKILL.md", "a3"), ("b/SKILL.md", "b3")]);
    scene.sync().unwrap();
    scene.expect(&[("a/SKILL.md", "a3"), ("b/SKILL.md", "b3")]);
    assert_eq!(scene.backups(), []);
    scene.sync().unwrap();
}

#[test]
fn a_checkout_that_fails_is_told_and_the_next_one_mends_it() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    scene.sync().unwrap();
    let long = format!("c/{}.md", "x".repeat(300));
    scene.push("main", &[("a/SKILL.md", "new"), (&long, "no disk takes this name")]);
    let error = scene.sync().unwrap_err().to_string();
    assert!(error.contains("could not be brought to disk"), "{error}");
    assert!(scene.clone().join("a/SKILL.md").exists());
    scene.push("main", &[("a/SKILL.md", "newer")]);
    scene.sync().unwrap();
    scene.expect(&[("a/SKILL.md", "newer")]);
    assert_eq!(scene.backups(), []);
}

#[test]
fn servers_that_come_together_share_one_clone() {
    let scene = Scene::new();
    let commit = scene.push("main", &TWO).to_string();
    let remote = scene.remote();
    std::thread::scope(|scope| {
        let servers: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| sync(&remote, &Network::default(), Wanted::Now, &|| Box::new(())).unwrap().commit))
            .collect();
        for server in servers {
            assert_eq!(server.join().unwrap(), commit);
        }
    });
    scene.expect(&TWO);
}

#[test]
fn what_was_synced_lately_is_not_synced_again_unless_somebody_asks() {
    let scene = Scene::new();
    let first = scene.push("main", &TWO).to_string();
    let lately = Wanted::UnlessWithin(Duration::from_secs(600));
    assert_eq!(scene.sync_when(lately).unwrap().commit, first);
    let second = scene.push("main", &[("a/SKILL.md", "new")]).to_string();
    assert_eq!(scene.sync_when(lately).unwrap().commit, first);
    assert_eq!(scene.sync_when(Wanted::UnlessWithin(Duration::ZERO)).unwrap().commit, second);
    assert!(place::last_sync(&scene.remote()).unwrap().elapsed().unwrap() < Duration::from_secs(60));
}

#[test]
fn nothing_in_a_tree_leads_out_of_the_clone() {
    let scene = Scene::new();
    let outside = scene.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let to_outside = outside.display().to_string();
    scene.push("main", &[("@link", &to_outside)]);
    scene.sync().unwrap();
    // What was a link is a folder now: nothing may be written through the link.
    scene.push("main", &[("link/file.md", "inside")]);
    scene.sync().unwrap();
    scene.expect(&[("link/file.md", "inside")]);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    for name in ["..", ".git", ".GIT", "git~1"] {
        let blob = scene.origin.blob(b"[core]\n").unwrap();
        let raw = |entry: &str, mode: &str, id: Oid| [format!("{mode} {entry}\0").as_bytes(), id.as_bytes()].concat();
        let odb = scene.origin.odb().unwrap();
        let inner = odb.write(ObjectType::Tree, &raw("config", "100644", blob)).unwrap();
        let tree = odb.write(ObjectType::Tree, &raw(name, "40000", inner)).unwrap();
        scene.push_tree("main", tree, None);
        assert!(scene.sync().is_err(), "{name}");
        assert!(!scene.folder.path().join("repos/config").exists());
        assert!(fs::read_to_string(scene.clone().join(".git/config")).unwrap().contains("origin"), "{name}");
    }
    scene.push_forced("main", &TWO);
    scene.sync().unwrap();
    scene.expect(&TWO);
}

#[test]
fn bytes_are_exact_whatever_attributes_ask_for() {
    let scene = Scene::new();
    let files = [
        (".gitattributes", "*.md text eol=crlf\n*.id ident\n*.x filter=lfs\n"),
        ("dos.md", "a\r\nb\r\n"),
        ("unix.md", "a\nb\n"),
        ("version.id", "$Id$\n"),
    ];
    scene.push("main", &files);
    scene.sync().unwrap();
    scene.expect(&files);
    scene.sync().unwrap();
    scene.push("main", &[&files[..], &[("z.md", "z\n")]].concat());
    scene.sync().unwrap();
    scene.expect(&[&files[..], &[("z.md", "z\n")]].concat());
    assert_eq!(scene.backups(), []);
}

#[test]
fn the_clone_of_the_other_server_is_used() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    let home = scene.folder.path().join("home");
    let remote = scene.remote();
    assert_eq!(place::existing(&remote.address, Some(&home)), None);
    let content = home.join(".skills-mcp/content");
    fs::create_dir_all(&content).unwrap();
    Repository::clone(remote.address.text(), &content).unwrap();
    assert_eq!(place::existing(&remote.address, Some(&home)), Some(content.clone()));
    let (other, _) = Address::parse("other", |path| home.join(path)).unwrap();
    assert_eq!(place::existing(&other, Some(&home)), None);
    scene.push("main", &[("a/SKILL.md", "new")]);
    let remote = Remote { folder: content.clone(), ..remote };
    sync(&remote, &Network::default(), Wanted::Now, &|| Box::new(())).unwrap();
    assert_eq!(fs::read_to_string(content.join("a/SKILL.md")).unwrap(), "new");
    assert!(!content.join("b").exists());
}

#[test]
fn a_folder_that_is_no_repository_is_told() {
    let scene = Scene::new();
    let (address, _) = Address::parse("team/skills", |path| scene.folder.path().join(path)).unwrap();
    let remote = Remote { address, ..scene.remote() };
    let error = sync(&remote, &Network::default(), Wanted::Now, &|| Box::new(())).unwrap_err().to_string();
    assert!(error.contains("there is no repository at") && error.contains("https://"), "{error}");
}

#[test]
fn others_wait_only_while_files_change() {
    let scene = Scene::new();
    scene.push("main", &TWO);
    let remote = scene.remote();
    let pauses = std::sync::atomic::AtomicUsize::new(0);
    let pause = || {
        pauses.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Box::new(()) as Box<dyn std::any::Any>
    };
    let mut counts = Vec::new();
    for text in ["a", "a", "b"] {
        scene.push_forced("main", &[("a/SKILL.md", text)]);
        sync(&remote, &Network::default(), Wanted::Now, &pause).unwrap();
        counts.push(pauses.load(std::sync::atomic::Ordering::SeqCst));
    }
    assert_eq!(counts[0], 0, "nobody sees a clone before it is complete");
    assert_eq!(counts[2], 1 + counts[1]);
}
