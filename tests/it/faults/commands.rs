//! Commands that change files of the user.

use super::{Trial, at_every_call, error_text};
use skillcell_tests::{Launch, files_below};

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
