//! What scripts with a write grant cannot do to a project, and what they cannot learn about other folders.

use super::{grant, refusals, run_in, skill_with};
use crate::{library, serve};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Whether git, called in a folder, runs the command that the folder's own `config` names.
fn is_run_by_git(folder: &Path) -> bool {
    let marker = folder.join("marker");
    let output = Command::new("git").arg("status").current_dir(folder).env("HOME", folder).output().unwrap();
    let found = marker.exists();
    let _ = std::fs::remove_file(marker);
    assert!(found || !output.status.success(), "{} is in a repository: {output:?}", folder.display());
    found
}

const CONFIG: &str =
    "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"touch marker; false\"\n";

#[test]
fn scripts_cannot_plant_a_git_repository() {
    let python = format!(
        "import os\nos.chdir('/work/docs')\nconfig = {CONFIG:?}\n\
         def attempt(call, *rest):\n    try: call(*rest)\n    except OSError as error: print(error.strerror)\n\
         def write(name, text): open(name, 'w').write(text)\n\
         for name, text in [('head', 'ref: refs/heads/main'), ('HEAD', 'ref: refs/heads/main'), ('config', config), ('commondir', '../other')]:\n\
         \x20   attempt(write, name, text)\n\
         attempt(write, 'prepared', 'ref: refs/heads/main')\nattempt(os.rename, 'prepared', 'HEAD')\n\
         for name in ['objects', 'refs', '../other/objects', '../other/refs']: attempt(os.makedirs, name)\n"
    );
    let javascript = format!(
        "const fs = require('fs');\nconst attempt = call => {{ try {{ call(); }} catch (error) {{ console.log(error.code); }} }};\n\
         for (const name of ['objects', 'refs']) attempt(() => fs.mkdirSync('/work/docs/' + name));\n\
         attempt(() => fs.writeFileSync('/work/docs/config', {CONFIG:?}));\n\
         attempt(() => fs.writeFileSync('/work/file', 'ref: refs/heads/main'));\nattempt(() => fs.renameSync('/work/file', '/work/docs/HEAD'));\n"
    );
    let shell = "cd /work; mkdir -p new/objects new/refs; cp docs/config new/config; echo 'ref: refs/heads/main' > x\n\
                 mv x new/HEAD; cp x new/HEAD; mv new docs/new; echo 'ref: refs/heads/main' > docs/HEAD; echo done\n";
    let folder = skill_with("", &[("a.py", &python), ("a.js", &javascript), ("a.sh", shell)]);
    let project =
        library(&[("docs/guide.md", "x"), ("control/HEAD", "ref: refs/heads/main"), ("control/config", CONFIG)]);
    for name in ["control/objects", "control/refs"] {
        std::fs::create_dir(project.path().join(name)).unwrap();
    }
    assert!(is_run_by_git(&project.path().join("control")), "git would run what is planted");
    let write = format!("write: [{}]", project.path().display());
    let mut session = serve(folder.path()).config(&grant(folder.path(), &write)).start();
    for file in ["a.py", "a.js", "a.sh", "a.js", "a.py"] {
        let result = run_in(&mut session, file, project.path());
        assert!(refusals(&result).contains("HEAD`: protected"), "{file}: {result}");
        for planted in ["", "docs", "docs/new", "new", "other"].map(|name| project.path().join(name)) {
            assert!(!planted.join("HEAD").exists(), "{file}: {}", planted.display());
            assert!(!planted.exists() || !is_run_by_git(&planted), "{file}: {}", planted.display());
        }
    }
    assert_eq!(std::fs::read_to_string(project.path().join("docs/config")).unwrap(), CONFIG, "it could write the rest");
}

#[test]
fn served_skills_are_written_only_if_the_grant_names_them() {
    let script =
        "echo x > /work/team/tool/extra.md; echo x > /work/team/new.md; echo x > /work/other.md; ls /work/team\n";
    let front_matter = "---\nname: tool\ndescription: d\nscripts: [{file: a.sh, execution: server}]\n---\n";
    let project = library(&[("team/tool/SKILL.md", front_matter), ("team/tool/a.sh", script)]);
    let root = project.path().join("team");
    for (named, expected) in [(false, "tool\n"), (true, "new.md\ntool\n")] {
        let named = if named { format!(", {}", root.display()) } else { String::new() };
        let write = format!("write: [{}{named}]", project.path().display());
        let mut session = serve(&root).config(&grant(&root, &write)).start();
        let result = run_in(&mut session, "a.sh", project.path());
        assert_eq!(result["stdout"], expected, "{result}");
        assert_eq!(
            refusals(&result).contains("write `/work/team/new.md`: protected"),
            expected == "tool\n",
            "{result}"
        );
        assert!(project.path().join("other.md").exists(), "{result}");
    }
}

#[test]
fn a_working_folder_without_a_grant_is_answered_alike_whether_it_exists_or_not() {
    let folder = skill_with(", needs: {read: [src], write: [out]}", &[("a.sh", "ls /work || echo none\n")]);
    let project = library(&[("granted/src/x", "x"), ("secret/src/x", "x"), ("file", "x")]);
    let config = grant(folder.path(), &format!("write: [{}]", project.path().join("granted").display()));
    let at = |name: &str| project.path().join(name).to_str().unwrap().to_owned();
    let arguments = |cwd: &str, dry_run: bool| json!({"skill_path": "tool", "file": "a.sh", "args": {}, "cwd": cwd, "dry_run": dry_run});
    let normalized = |answer: &Value, cwd: &str| {
        assert_ne!(answer["isError"], true, "{answer}");
        let text = answer["content"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap();
        let mut result: Value = serde_json::from_str(text).unwrap();
        assert!(result["refusals"].as_array().unwrap().len() >= 2, "{result}");
        for measured in ["duration_ms", "fuel_used", "peak_memory_bytes"] {
            result.as_object_mut().unwrap().remove(measured);
        }
        result.to_string().replace(cwd, "CWD")
    };
    let server = serve(folder.path()).config(&config).http();
    let home = server.session.home().to_str().unwrap().to_owned();
    let mut session = serve(folder.path()).config(&config).start();
    let folders = [at("secret"), at("missing"), at("file"), at("secret/none"), home.clone(), format!("{home}/none")];
    let folders = folders.into_iter().chain(["/usr", "/no-such-folder"].map(str::to_owned)).collect::<Vec<String>>();
    for dry_run in [true, false] {
        let mut answers = folders.iter().map(|cwd| {
            let local = normalized(&session.call("run_script", arguments(cwd, dry_run)), cwd);
            let remote = server.call(1, "run_script", arguments(cwd, dry_run));
            (local, normalized(&remote["result"], "the text of every folder is the same"))
        });
        let first = answers.next().unwrap();
        for (answer, folder) in answers.zip(&folders[1..]) {
            assert_eq!(answer.0, first.0, "{folder}");
            assert_eq!(answer.1, first.1, "{folder}");
        }
    }
    let result = session.call_json("run_script", arguments(&at("granted/none"), false));
    assert!(refusals(&result).contains("granted/none`, which is not a folder"), "{result}");
    let result = session.call_json("run_script", arguments(&at("granted"), false));
    assert_eq!((&result["stdout"], refusals(&result).as_str()), (&json!("src\n"), ""), "{result}");
}
