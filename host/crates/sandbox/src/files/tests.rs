//! The rules of the tree, on disk and in memory, tested by example and with random calls.

mod frozen;
mod hidden;
mod protected;

use super::disk::{Disk, Writable};
use super::memory::{Memory, Quota};
use super::*;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use proptest::prelude::*;
use std::fs;

/// A machine with a secret, a skill and a project on it.
struct Machine {
    folder: tempfile::TempDir,
    denials: Denials,
    quota: Arc<Quota>,
}

fn writable(below: &str, named: &str) -> Writable {
    Writable { below: below.to_owned(), named: named.to_owned() }
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in ["skill/scripts", "project/src", "project/.git/hooks", "elsewhere"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        fs::write(at("secret.txt"), "secret").unwrap();
        fs::write(at("elsewhere/secret.txt"), "secret").unwrap();
        fs::write(at("skill/scripts/run.py"), "print('on disk')").unwrap();
        fs::write(at("project/src/main.rs"), "fn main() {}").unwrap();
        fs::write(at("project/.git/config"), "[core]").unwrap();
        fs::write(at("project/CLAUDE.md"), "be kind").unwrap();
        for (target, link) in [
            ("../secret.txt", "skill/out"),
            ("/etc", "skill/etc"),
            ("scripts/run.py", "skill/inside"),
            (".git", "project/innocent"),
            ("../elsewhere", "project/away"),
            ("src", "project/sources"),
        ] {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        Self { folder, denials: Denials::default(), quota: Quota::new(1_000, 10) }
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join(path)
    }

    fn open(&self, path: &str) -> Arc<Dir> {
        Arc::new(Dir::open_ambient_dir(self.path(path), ambient_authority()).unwrap())
    }

    fn files(&self, work: Vec<Writable>) -> Files {
        let mut files = Files::new(self.denials.clone());
        files.mount("skill", Disk::skill(self.open("skill")));
        files.mount("tmp", Memory::scratch(Arc::clone(&self.quota)));
        files.mount("work", Disk::writable(self.open("project"), work, Vec::new()));
        files.mount("usr/local/lib", Memory::frozen([("python.zip".to_owned(), bytes::Bytes::from_static(b"zip"))]));
        files
    }
}

const READ: OpenMode =
    OpenMode { write: false, create: false, exclusive: false, truncate: false, folder: false, follow: true };
const WRITE: OpenMode =
    OpenMode { write: true, create: true, exclusive: false, truncate: true, folder: false, follow: true };

const NEVER: IsDue<'static> = &|| false;

fn top() -> GuestPath {
    GuestPath::default()
}

fn read(files: &mut Files, path: &str) -> Result<String, FileError> {
    let file = files.open(&top(), path, READ)?.file.ok_or(FileError::IsAFolder)?;
    let mut bytes = vec![0; 100];
    let count = file.read_at(&mut bytes, 0)?;
    Ok(String::from_utf8(bytes[..count].to_vec()).unwrap())
}

fn write(files: &mut Files, path: &str, text: &str) -> Result<(), FileError> {
    let file = files.open(&top(), path, WRITE)?.file.ok_or(FileError::IsAFolder)?;
    file.write_at(text.as_bytes(), 0).map(drop)
}

fn rename(files: &mut Files, from: &str, to: &str) -> Result<(), FileError> {
    files.rename((&top(), from), (&top(), to), NEVER)
}

fn names(files: &Files, path: &str) -> Vec<String> {
    let path = if path.is_empty() { top() } else { top().join(path).unwrap().path };
    files.list(&path, NEVER).unwrap().into_iter().map(|entry| entry.name).collect()
}

#[test]
fn the_tree_contains_the_mounts_and_nothing_else() {
    let machine = Machine::new();
    let mut files = machine.files(vec![]);
    assert_eq!(names(&files, ""), ["skill", "tmp", "usr", "work"]);
    assert_eq!(names(&files, "usr/local"), ["lib"]);
    assert_eq!(read(&mut files, "usr/local/lib/python.zip").as_deref(), Ok("zip"));
    assert_eq!(read(&mut files, "skill/scripts/run.py").as_deref(), Ok("print('on disk')"));
    assert_eq!(read(&mut files, "skill/inside").as_deref(), Ok("print('on disk')"));
    assert_eq!(read(&mut files, "skill/../tmp/../skill//./scripts/run.py").as_deref(), Ok("print('on disk')"));
    assert_eq!(read(&mut files, "etc/passwd"), Err(FileError::NotFound));
    assert_eq!(write(&mut files, "new", "x"), Err(FileError::NotFound));
    assert_eq!(write(&mut files, "usr/new", "x"), Err(FileError::NotFound));
    assert_eq!(files.create_folder(&top(), "usr"), Err(FileError::Exists));
    assert_eq!(files.remove_folder(&top(), "skill"), Err(FileError::ReadOnly));
    assert_eq!(files.remove_folder(&top(), "tmp"), Err(FileError::Busy));
}

#[test]
fn no_path_or_link_leads_out() {
    let machine = Machine::new();
    let mut files = machine.files(vec![writable("", "")]);
    let paths = "../secret.txt skill/../../secret.txt /etc/passwd skill/out skill/etc/passwd work/away/secret.txt";
    for path in paths.split_whitespace() {
        assert_eq!(read(&mut files, path), Err(FileError::Escapes), "{path}");
        assert!(files.stat(&top(), path, true).is_err(), "{path}");
        assert!(write(&mut files, path, "x").is_err(), "{path}");
    }
    assert!(files.list(&top().join("work/away").unwrap().path, NEVER).is_err());
    assert_eq!(files.read_link(&top(), "skill/etc"), Err(FileError::NotPermitted), "absolute targets are not revealed");
    assert_eq!(fs::read_to_string(machine.path("secret.txt")).unwrap(), "secret");
    let denials = machine.denials.take();
    assert!(denials.iter().any(|denial| denial.to_string().contains("../secret.txt")), "{denials:?}");
}

#[test]
fn a_folder_handle_does_not_reach_its_siblings() {
    let machine = Machine::new();
    let mut files = machine.files(vec![]);
    let scripts = files.open(&top(), "skill/scripts", OpenMode { folder: true, ..READ }).unwrap().path;
    assert!(files.open(&scripts, "run.py", READ).is_ok());
    assert_eq!(files.open(&scripts, "../out", READ).err(), Some(FileError::Escapes));
    assert_eq!(files.open(&scripts, "../scripts/run.py", READ).err(), Some(FileError::Escapes));
}

#[test]
fn a_skill_is_read_only() {
    let machine = Machine::new();
    let mut files = machine.files(vec![]);
    assert_eq!(write(&mut files, "skill/scripts/run.py", "x"), Err(FileError::ReadOnly));
    assert_eq!(write(&mut files, "skill/new", "x"), Err(FileError::ReadOnly));
    assert_eq!(files.create_folder(&top(), "skill/new"), Err(FileError::ReadOnly));
    assert_eq!(files.remove_file(&top(), "skill/scripts/run.py"), Err(FileError::ReadOnly));
    assert_eq!(rename(&mut files, "skill/scripts", "skill/x"), Err(FileError::ReadOnly));
    assert_eq!(files.set_times(&top(), "skill/scripts/run.py", NewTimes::default()), Err(FileError::ReadOnly));
    assert_eq!(write(&mut files, "usr/local/lib/python.zip", "x"), Err(FileError::ReadOnly));
    assert_eq!(files.remove_file(&top(), "usr/local/lib/python.zip"), Err(FileError::ReadOnly));
    let file = files.open(&top(), "skill/scripts/run.py", READ).unwrap().file.unwrap();
    assert_eq!(file.write_at(b"x", 0), Err(FileError::ReadOnly));
    assert_eq!(file.set_size(0), Err(FileError::ReadOnly));
    assert!(!machine.denials.take().is_empty());
}

#[test]
fn a_checked_file_is_read_from_memory() {
    let machine = Machine::new();
    let mut files = Files::new(machine.denials.clone());
    let checked = bytes::Bytes::from_static(b"print('checked')");
    files.mount("skill", Disk::skill(machine.open("skill")).with_checked("scripts/run.py", checked));
    fs::write(machine.path("skill/scripts/run.py"), "print('swapped')").unwrap();
    assert_eq!(read(&mut files, "skill/scripts/run.py").as_deref(), Ok("print('checked')"));
    assert_eq!(read(&mut files, "skill/./scripts//run.py").as_deref(), Ok("print('checked')"));
    assert_eq!(files.stat(&top(), "skill/scripts/run.py", true).unwrap().size, 16);
}

#[test]
fn writes_do_not_follow_links() {
    let machine = Machine::new();
    let mut files = machine.files(vec![writable("", "")]);
    assert_eq!(read(&mut files, "work/sources/main.rs").as_deref(), Ok("fn main() {}"));
    for path in ["work/sources/main.rs", "work/sources/new.rs", "work/away/new", "work/innocent/config"] {
        assert_eq!(write(&mut files, path, "x"), Err(FileError::ThroughLink), "{path}");
    }
    assert_eq!(write(&mut files, "work/away", "x"), Err(FileError::ThroughLink));
    assert_eq!(files.refuse_link(&top(), "work/link"), FileError::NotPermitted);
    assert_eq!(files.refuse_link(&top(), "tmp/link"), FileError::NotPermitted);
    assert!(!machine.path("elsewhere/new").exists());
}

/// A folder of many links to a chain of links takes long to list, so the end of the run is asked for at every entry.
#[test]
fn a_listing_ends_with_the_run() {
    let machine = Machine::new();
    let at = |name: &str| machine.path("skill").join(name);
    std::os::unix::fs::symlink("scripts", at("chain-38")).unwrap();
    for number in 0..38 {
        std::os::unix::fs::symlink(format!("chain-{}", number + 1), at(&format!("chain-{number}"))).unwrap();
    }
    for number in 0..500 {
        std::os::unix::fs::symlink("chain-0", at(&format!("link-{number}"))).unwrap();
    }
    let root =
        library::frozen::FrozenRoot::read(&machine.open("skill"), [""], &mut library::frozen::FreezeBudget::default())
            .unwrap();
    let mut files = machine.files(vec![]);
    files.mount("frozen", super::frozen::Frozen(Arc::new(root).top()));
    for folder in ["skill", "frozen"] {
        let path = top().join(folder).unwrap().path;
        let asked = std::cell::Cell::new(0);
        let is_due = || asked.replace(asked.get() + 1) == 10;
        assert_eq!(files.list(&path, &is_due), Err(FileError::Interrupted), "{folder}");
        assert_eq!(asked.get(), 11, "{folder}");
        asked.set(11);
        assert!(files.list(&path, &is_due).unwrap().len() > 500, "{folder}");
    }
}

#[test]
fn renames_stay_within_one_volume() {
    let machine = Machine::new();
    let mut files = machine.files(vec![writable("", "")]);
    write(&mut files, "tmp/a", "a").unwrap();
    assert_eq!(rename(&mut files, "tmp/a", "work/a"), Err(FileError::OtherVolume));
    assert_eq!(rename(&mut files, "work/src/main.rs", "tmp/b"), Err(FileError::OtherVolume));
    assert_eq!(rename(&mut files, "skill/scripts/run.py", "tmp/b"), Err(FileError::OtherVolume));
    assert_eq!(rename(&mut files, "tmp", "work/tmp"), Err(FileError::OtherVolume));
    assert_eq!(rename(&mut files, "usr", "usr2"), Err(FileError::NotFound));
    assert_eq!(rename(&mut files, "work/src/main.rs/", "work/x"), Err(FileError::NotAFolder));
    assert_eq!(files.remove_file(&top(), "work/src/main.rs/"), Err(FileError::NotAFolder));
    assert_eq!(rename(&mut files, "work/src/main.rs", "work/main.rs"), Ok(()));
    assert!(machine.path("project/main.rs").exists());
}

#[test]
fn pipes_and_devices_are_refused_without_waiting() {
    let machine = Machine::new();
    let (pipe, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(rustix::fs::CWD, machine.path("skill/pipe"), pipe, mode, 0).unwrap();
    let mut files = machine.files(vec![writable("", "")]);
    assert_eq!(read(&mut files, "skill/pipe"), Err(FileError::NotPermitted));
    fs::rename(machine.path("skill/pipe"), machine.path("project/pipe")).unwrap();
    assert!(write(&mut files, "work/pipe", "x").is_err());
}

#[test]
fn scratch_space_is_counted_exactly_and_returned() {
    let machine = Machine::new();
    let mut files = machine.files(vec![]);
    write(&mut files, "tmp/a", &"x".repeat(600)).unwrap();
    assert!(!machine.quota.was_hit());
    assert_eq!(write(&mut files, "tmp/b", &"x".repeat(401)), Err(FileError::Full));
    assert!(machine.quota.was_hit());
    write(&mut files, "tmp/b", &"x".repeat(400)).unwrap();
    let file = files.open(&top(), "tmp/b", OpenMode { write: true, ..READ }).unwrap().file.unwrap();
    assert_eq!(file.set_size(u64::MAX), Err(FileError::Full));
    assert_eq!(file.write_at(b"x", u64::MAX), Err(FileError::Full));
    files.remove_file(&top(), "tmp/b").unwrap();
    assert_eq!(write(&mut files, "tmp/c", &"x".repeat(400)), Err(FileError::Full), "an open file still takes space");
    drop(file);
    write(&mut files, "tmp/c", &"x".repeat(400)).unwrap();
    for number in 0..8 {
        files.create_folder(&top(), &format!("tmp/folder-{number}")).unwrap();
    }
    assert_eq!(files.create_folder(&top(), "tmp/one-more"), Err(FileError::Full));
    assert_eq!(write(&mut files, "tmp/file", ""), Err(FileError::Full));
    files.remove_folder(&top(), "tmp/folder-0").unwrap();
    write(&mut files, "tmp/file", "").unwrap();
}

#[test]
fn a_swapped_link_never_leads_out() {
    let machine = Machine::new();
    let mut files = machine.files(vec![writable("", "")]);
    let (folder, link) = (machine.path("project/race"), machine.path("project/race"));
    let away = machine.path("elsewhere");
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let swapper = std::thread::spawn(move || {
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
            let _ = fs::create_dir(&folder);
            let _ = fs::remove_dir_all(&folder);
            let _ = std::os::unix::fs::symlink(&away, &link);
            let _ = fs::remove_file(&link);
        }
    });
    for _ in 0..5_000 {
        let _ = write(&mut files, "work/race/stolen", "x");
        assert_ne!(read(&mut files, "work/race/secret.txt").as_deref(), Ok("secret"));
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    swapper.join().unwrap();
    assert!(!machine.path("elsewhere/stolen").exists());
    assert_eq!(fs::read_to_string(machine.path("elsewhere/secret.txt")).unwrap(), "secret");
}

fn any_path() -> impl Strategy<Value = String> {
    let names = "skill tmp work usr .. . a b out etc inside .git innocent away sources CLAUDE.md config scripts \
        run.py src secret.txt local lib é bare HEAD objects refs commondir";
    let names: Vec<&str> = names.split_whitespace().chain(["", "\0"]).collect();
    prop::collection::vec(prop::sample::select(names), 1..6).prop_map(|names| names.join("/"))
}

/// A call that a guest could make. Only `rename` has a second path.
fn any_call() -> impl Strategy<Value = (&'static str, String, String)> {
    let calls = ["read", "write", "create_folder", "remove_file", "remove_folder", "rename", "list", "link"];
    (prop::sample::select(calls.to_vec()), any_path(), any_path())
}

/// Files that a guest must not be able to change, with their contents.
fn untouchable(machine: &Machine) -> Vec<(String, Option<Vec<u8>>)> {
    let files = "secret.txt elsewhere/secret.txt skill/scripts/run.py project/.git/config project/CLAUDE.md \
        project/innocent/config elsewhere/a elsewhere/b skill/a project/.git/a a b";
    files.split_whitespace().map(|path| (path.to_owned(), fs::read(machine.path(path)).ok())).collect()
}

proptest! {
    #[test]
    fn no_sequence_of_calls_reads_or_changes_files_outside_the_mounts(calls in prop::collection::vec(any_call(), 1..40)) {
        let machine = Machine::new();
        fs::create_dir(machine.path("project/bare")).unwrap();
        fs::write(machine.path("project/bare/HEAD"), "ref: refs/heads/main").unwrap();
        let before = untouchable(&machine);
        let mut files = machine.files(vec![writable("", "")]);
        for (call, path, to) in &calls {
            match *call {
                "read" => prop_assert_ne!(read(&mut files, path), Ok("secret".to_owned())),
                "write" => drop(write(&mut files, path, "written")),
                "create_folder" => drop(files.create_folder(&top(), path)),
                "remove_file" => drop(files.remove_file(&top(), path)),
                "remove_folder" => drop(files.remove_folder(&top(), path)),
                "rename" => drop(rename(&mut files, path, to)),
                "link" => prop_assert!(files.refuse_link(&top(), path) != FileError::NotFound || path.is_empty()),
                _ => {
                    let listed = top().join(path).ok().and_then(|resolved| files.list(&resolved.path, NEVER).ok());
                    let names = listed.unwrap_or_default();
                    prop_assert!(!names.iter().any(|entry| entry.name == "elsewhere"));
                }
            }
        }
        prop_assert_eq!(before, untouchable(&machine));
        prop_assert_eq!(protected::repositories(&machine.path("project")), Vec::<String>::new());
    }
}
