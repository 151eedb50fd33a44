use super::*;
use std::os::unix::fs::PermissionsExt as _;

const WASM: &[u8] = b"\0asm\x01\0\0\0";

fn cache(folder: &Path) -> Cache {
    Cache::open(&folder.join("native"), &folder.join("cache.key")).unwrap()
}

fn engine() -> Engine {
    Engine::new(&skillcell_artifacts::compiler::script_config()).unwrap()
}

/// A cache with one valid file: its name and its path.
fn filled(folder: &Path, engine: &Engine) -> (Cache, String, PathBuf) {
    let cache = cache(folder);
    let name = Cache::file_name(engine, &Sha256::of(WASM));
    cache.put(&name, &NativeCode::compiled(engine.precompile_module(WASM).unwrap()));
    let path = folder.join("native").join(&name);
    (cache, name, path)
}

#[test]
fn forged_code_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine();
    let (cache, name, path) = filled(folder.path(), &engine);
    let good = std::fs::read(&path).unwrap();
    let mut changed = good.clone();
    *changed.last_mut().unwrap() ^= 1;
    let other = tempfile::tempdir().unwrap();
    let (_, _, foreign) = filled(other.path(), &engine);
    for forged in [&changed, &good[..TAG_BYTES + 10], &good[..TAG_BYTES - 1], &[], &std::fs::read(foreign).unwrap()] {
        user_files::write(&path, forged).unwrap();
        assert!(cache.get(&name).is_none());
    }
    user_files::write(&path, &good).unwrap();
    assert!(cache.get(&name).is_some());
    let moved = Cache::file_name(&engine, &Sha256::of(b"other"));
    std::fs::copy(&path, folder.path().join("native").join(&moved)).unwrap();
    assert!(cache.get(&moved).is_none(), "code of one component must not run as another");
}

#[test]
fn code_is_loaded_only_by_the_compiler_that_wrote_it() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine();
    let (cache, name, _) = filled(folder.path(), &engine);
    cache.get(&name).unwrap().module(&engine).unwrap();
    let mut settings = skillcell_artifacts::compiler::script_config();
    settings.epoch_interruption(false);
    let newer = Engine::new(&settings).unwrap();
    assert_ne!(Cache::file_name(&newer, &Sha256::of(WASM)), name, "another compiler uses another file");
    assert!(cache.get(&name).unwrap().module(&newer).is_err(), "and does not load this one");
}

#[test]
fn code_that_others_could_have_written_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine();
    let (cache, name, path) = filled(folder.path(), &engine);
    let set = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    set(&path, 0o666);
    assert!(cache.get(&name).is_none());
    set(&path, 0o600);
    set(&folder.path().join("native"), 0o777);
    assert!(cache.get(&name).is_none());
    set(&folder.path().join("native"), 0o700);
    assert!(cache.get(&name).is_some());
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
        assert!(cache.get(&name).is_none());
        std::os::unix::fs::chown(&path, Some(0), None).unwrap();
    }
    let elsewhere = folder.path().join("elsewhere");
    std::fs::rename(&path, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    assert!(cache.get(&name).is_none(), "a link is not followed");
}

#[test]
fn the_oldest_code_is_evicted() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    for number in 0..MAX_FILES + 5 {
        cache.put(&format!("{number}.cwasm"), &NativeCode::compiled(vec![0]));
    }
    let kept = std::fs::read_dir(folder.path().join("native")).unwrap().count();
    assert_eq!(kept, MAX_FILES);
}
