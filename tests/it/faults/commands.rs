//! Commands that change files of the user.

use super::{FEW_TRIALS, Trial, at_every_call, error_text, try_calls};
use skillcell_tests::wheels::Wheel;
use skillcell_tests::{Launch, files_below};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

#[test]
fn the_settings_of_a_client_are_old_or_new() {
    const OLD: &str = "{\n  // mine\n  \"mcpServers\": {\"other\": {\"command\": \"x\"}}\n}\n";
    const FILE: &str = "home/.cursor/mcp.json";
    let is_new = |text: &str| ["// mine", "\"other\"", "\"skillcell\"", "]"].iter().all(|part| text.contains(part));
    at_every_call(&[(FILE, OLD), ("skills/a.md", "text")], "home", |trial| {
        let write = || trial.launch().arg("client").arg("cursor").arg("skills").arg("--write");
        let output = trial.harm(write());
        let text = trial.read(FILE);
        assert!(text == OLD || is_new(&text), "{text}");
        let error = error_text(&output);
        match output.status.code() {
            Some(0) => assert!(is_new(&text), "it was said to be written"),
            Some(_) => assert!(text == OLD && error.contains("mcp.json") && error.contains("hint: "), "{error}"),
            None => assert!(trial.is_killed(), "{error}"),
        }
        let backups = || {
            let files = files_below(&trial.path("home")).into_iter();
            files.filter(|file| file.to_string_lossy().contains("skillcell-backup")).collect::<Vec<_>>()
        };
        for backup in backups() {
            assert_eq!(std::fs::read_to_string(&backup).unwrap(), OLD, "{} is half written", backup.display());
        }
        trial.assert_tidy("home");
        let again = Trial::spare(write());
        assert!(again.status.success(), "{}", error_text(&again));
        assert!(is_new(&trial.read(FILE)) && backups().len() == 1, "{:?}", backups());
    });
}

#[test]
fn fixed_files_of_a_library_are_old_or_new() {
    const FILES: [(&str, &str, &str); 2] = [
        ("library/new/SKILL.md", "---\ndescription: d\n---\n", "---\nname: new\ndescription: d\n---\n"),
        (
            "library/a.md",
            "---\nkeywords: api, web\ndescription: d\n---\n",
            "---\nkeywords: [api, web]\ndescription: d\n---\n",
        ),
    ];
    let fix = |trial: &Trial| -> Launch { trial.launch().arg("lint").arg("library").arg("--fix") };
    at_every_call(&FILES.map(|(file, old, _)| (file, old)), "library", |trial| {
        let output = trial.harm(fix(trial));
        let report = format!("{}{}", String::from_utf8_lossy(&output.stdout), error_text(&output));
        for (file, old, new) in FILES {
            let text = trial.read(file);
            assert!(text == old || text == new, "{file}: {text}");
            let is_said = output.status.code() != Some(0) || report.contains(&format!("{file}: not fixed: "));
            assert!(text == new || is_said, "{file} is not fixed: {report}");
        }
        assert!(output.status.code().is_some() || trial.is_killed(), "{report}");
        trial.assert_tidy("library");
        let again = Trial::spare(fix(trial));
        assert!(again.status.success(), "{}", error_text(&again));
        assert!(FILES.iter().all(|(file, _, new)| trial.read(file) == *new));
    });
}

/// Copies a folder of the user, with its permissions.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(path, to).unwrap();
        }
    }
    std::fs::set_permissions(to, Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn installed_packages_are_old_or_new() {
    const FOLDER: &str = "home/.local/share/skillcell/packages";
    let wheel = |version: &str| Wheel::new("demo", version).file("demo.py", format!("version = '{version}'\n"));
    let add = |trial: &Trial, version: &str| {
        let file = wheel(version).write(trial.folder.path());
        trial.launch().arg("package").arg("add").arg("--wheel").arg(file)
    };
    let old = tempfile::tempdir().unwrap();
    let file = wheel("1").write(old.path());
    let first = Launch::bare(crate::SKILLCELL).with_home(&old.path().join("home")).arg("package").arg("add");
    assert!(first.arg("--wheel").arg(file).output().status.success());
    let begin = |folder: &Path| copy(&old.path().join(FOLDER), &folder.join(FOLDER));
    try_calls(FEW_TRIALS, begin, FOLDER, |trial| {
        let output = trial.harm(add(trial, "2"));
        let listed = Trial::spare(trial.launch().arg("package").arg("list"));
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert!(listed.status.success(), "{text}{}", error_text(&listed));
        let error = error_text(&output);
        match output.status.code() {
            Some(0) => assert!(text.contains("demo\t2"), "it was said to be added: {text}"),
            Some(_) => assert!(text.contains("demo\t1") && error.contains("packages"), "{text}{error}"),
            None => assert!(trial.is_killed(), "{error}"),
        }
        trial.assert_tidy(FOLDER);
        let again = Trial::spare(add(trial, "3"));
        assert!(again.status.success(), "{}", error_text(&again));
        let verified = Trial::spare(trial.launch().arg("package").arg("verify"));
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    });
}
