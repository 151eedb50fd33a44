//! Every script in `scripts/` ends in the real bash and in this shell with the same code and the same output.
//!
//! Called with a file, this program is the shell: `cargo test -p runtime-shell --test like_bash -- FILE`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};

fn main() -> ExitCode {
    if let Some(file) = std::env::args().nth(1).filter(|argument| argument.ends_with(".sh")) {
        return ExitCode::from(runtime_shell::run(&file));
    }
    let this = std::env::current_exe().expect("a test knows its own program");
    let failed: Vec<PathBuf> = scripts().into_iter().filter(|script| !is_like_bash(&this, script)).collect();
    assert!(failed.is_empty(), "these end differently in bash: {failed:?}");
    ExitCode::SUCCESS
}

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut scripts: Vec<PathBuf> =
        fs::read_dir(folder).expect("the scripts are here").map(|entry| entry.expect("readable").path()).collect();
    scripts.sort();
    scripts
}

fn is_like_bash(this: &Path, script: &Path) -> bool {
    let expected = run(OsStr::new("bash"), script);
    let found = run(this.as_os_str(), script);
    if expected == found {
        return true;
    }
    eprintln!("{}\n--- bash\n{expected}\n--- here\n{found}", script.display());
    false
}

/// What a script leaves behind, in a folder of its own that has no name.
fn run(shell: &OsStr, script: &Path) -> String {
    let folder = std::env::temp_dir().join(format!("like-bash-{}", std::process::id()));
    fs::create_dir(&folder).expect("nobody else uses this name");
    let output = Command::new(shell)
        .arg(script)
        .current_dir(&folder)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("LC_ALL", "C.UTF-8")
        .env("PWD", &folder)
        .env("HOME", &folder)
        .env("TMPDIR", &folder)
        .stdin(Stdio::null())
        .output()
        .expect("bash is installed wherever this is tested");
    fs::remove_dir_all(&folder).expect("the folder was ours");
    described(&output).replace(folder.to_str().expect("plain letters"), "FOLDER")
}

fn described(output: &Output) -> String {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string().replace("\\n", "\n");
    format!("{}\n{}\n-\n{}", output.status, text(&output.stdout), text(&output.stderr))
}
