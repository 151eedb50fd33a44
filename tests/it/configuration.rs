//! How the operator's file, the environment and the `config.yaml` of content combine.

mod whole_file;

use crate::{SKILLCELL, library, problems, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, repository};
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tempfile::TempDir;

/// Two skills that fit the same tasks, with a file and scripts.
fn skills() -> TempDir {
    let front_matter = "---\nname: tool\ndescription: d\nkeywords: [deploy, release, ship, publish]\nassets: [notes.txt]\nscripts:\n  - {file: a.sh, execution: server}\n  - {file: b.py, execution: server}\n  - {file: c.txt, execution: server}\n---\n";
    library(&[
        ("tool/SKILL.md", front_matter),
        ("tool/notes.txt", "twenty bytes of text"),
        ("tool/a.sh", "echo ran by shell\n"),
        ("tool/b.py", "print('ran by python')\n"),
        ("tool/c.txt", "echo ran by shell\n"),
        ("other.md", "---\nkeywords: [deploy, release, ship, publish]\ndescription: d\n---\n"),
    ])
}

fn write_settings(folder: &Path, settings: &str) {
    std::fs::write(folder.join("config.yaml"), settings).expect("a writable folder");
}

fn codes(session: &mut Session) -> Vec<String> {
    problems(session, "code").into_iter().map(|(_, code)| code).collect()
}

/// Ranks by keywords, whose scores the tests know.
fn by_keywords(launch: Launch) -> Launch {
    launch.arg("--scorer").arg("keyword")
}

fn match_outcome(session: &mut Session) -> String {
    let answer = session.call_json("get_skill", json!({"context": "deploy"}));
    match (&answer["skill_path"], &answer["candidates"]) {
        (Value::String(path), _) => path.clone(),
        (_, Value::Array(candidates)) => format!("{} candidates", candidates.len()),
        _ => "nothing".to_owned(),
    }
}

#[test]
fn an_operator_file_that_others_can_change_is_refused() {
    let folder = skills();
    let skills = folder.path().to_str().unwrap();
    let launch = |file: &Path| Launch::bare(SKILLCELL).env("SKILLS_DIR", skills).arg("list").arg("--config").arg(file);
    let own = library(&[("config.yaml", "scripts: {enabled: true}\n")]);
    let file = own.path().join("config.yaml");
    let run = |mode: u32, of_folder: u32| {
        std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        std::fs::set_permissions(own.path(), Permissions::from_mode(of_folder)).unwrap();
        let output = launch(&file).output();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (mode, of_folder) in [(0o644, 0o755), (0o600, 0o700), (0o444, 0o775), (0o644, 0o1777)] {
        let (code, error) = run(mode, of_folder);
        assert_eq!(code, Some(0), "{mode:o} {of_folder:o}: {error}");
    }
    let shown = file.display();
    for (mode, of_folder, hint) in [
        (0o666, 0o755, format!("run `chmod 644 {shown}`, or `chmod 600 {shown}` if")),
        (0o664, 0o755, format!("run `chmod 644 {shown}`, or `chmod 600 {shown}` if")),
        (0o644, 0o777, format!("run `chmod o-w {}`", own.path().display())),
    ] {
        let (code, error) = run(mode, of_folder);
        assert_eq!(code, Some(2), "{mode:o} {of_folder:o}: {error}");
        let message = error.starts_with(&format!("error: the configuration {shown} can be "));
        assert!(message && error.contains(&hint), "{mode:o} {of_folder:o}: {error}");
    }
}

#[test]
fn changed_settings_apply_to_the_next_call() {
    let folder = skills();
    let mut session = by_keywords(serve(folder.path())).start();
    let inlined = |session: &mut Session| {
        let arguments = json!({"context": "deploy", "skill_path": "tool", "include_assets": true});
        session.call_json("get_skill", arguments)["assets"][0]["content"].as_str().map(str::to_owned)
    };
    let served = |session: &mut Session| {
        let asset = session.call("get_asset", json!({"skill_path": "tool", "file": "notes.txt"}));
        let resource = session.call("skill-resource", json!({"skill": "tool", "path": "notes.txt"}));
        let read = session.request("resources/read", json!({"uri": "skill://tool/notes.txt"}));
        let of_uri = session.request("skills/get", json!({"uri": "skill://tool/SKILL.md"}));
        let refused = [asset["isError"] == json!(true), resource["isError"] == json!(true)];
        [refused[0], refused[1], read.get("error").is_some(), of_uri.get("error").is_some()].map(|refused| !refused)
    };
    let text = Some("twenty bytes of text".to_owned());
    for _ in 0..3 {
        assert_eq!(match_outcome(&mut session), "2 candidates");
        assert_eq!((inlined(&mut session), served(&mut session)), (text.clone(), [true; 4]));
        write_settings(folder.path(), "matching: {ambiguity_threshold: 0}\n");
        assert_eq!(match_outcome(&mut session), "other");
        write_settings(folder.path(), "matching: {min_score: 0.3, ambiguity_threshold: 0}\n");
        assert_eq!(match_outcome(&mut session), "nothing");
        write_settings(folder.path(), "assets: {inline_text_max_bytes: 19}\n");
        assert_eq!((inlined(&mut session), served(&mut session)), (None, [true; 4]));
        write_settings(folder.path(), "assets: {max_size_bytes: 19}\n");
        assert_eq!((inlined(&mut session), served(&mut session)), (None, [false; 4]));
        std::fs::remove_file(folder.path().join("config.yaml")).unwrap();
    }
}

#[test]
fn a_change_of_the_settings_of_any_root_invalidates_an_earlier_match() {
    let skill = |keywords: &str| format!("---\nkeywords: [{keywords}]\ndescription: d\n---\n");
    let folders = [skills(), library(&[("last.md", &skill("deploy")), ("next.md", &skill("deploy, ship"))])];
    let mut session = by_keywords(serve(folders[0].path()).arg(folders[1].path())).start();
    assert_eq!(match_outcome(&mut session), "last");
    write_settings(folders[1].path(), "matching: {ambiguity_threshold: 1}\n");
    assert_eq!(match_outcome(&mut session), "3 candidates");
    write_settings(folders[1].path(), "matching: {min_score: 1}\n");
    assert_eq!(match_outcome(&mut session), "last");
    // A root without settings gets its first.
    write_settings(folders[0].path(), "matching: {min_score: 0.9, max_results: 7}\n");
    write_settings(folders[1].path(), "matching: {ambiguity_threshold: 1}\n");
    assert_eq!(match_outcome(&mut session), "2 candidates");
}

#[test]
fn a_root_has_no_say_over_the_skills_of_another() {
    let skill = |priority: u32| format!("---\nkeywords: [deploy]\ndescription: d\npriority: {priority}\n---\n");
    let trusted = library(&[("ours.md", &skill(0))]);
    let hostile = library(&[("a.md", &skill(0)), ("z.md", &skill(1_000_000))]);
    write_settings(hostile.path(), "matching: {ambiguity_threshold: 0, max_results: 2, min_score: 0}\n");
    for (first, second) in [(&trusted, &hostile), (&hostile, &trusted)] {
        let mut session = by_keywords(serve(first.path()).arg(second.path())).start();
        assert_eq!(match_outcome(&mut session), "3 candidates");
    }
    let mut session = by_keywords(serve(trusted.path()).arg(hostile.path())).start();
    let answer = session.call_json("get_skill", json!({"context": "deploy"}));
    let paths: Vec<&str> =
        answer["candidates"].as_array().unwrap().iter().map(|one| one["skill_path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["z", "ours", "a"]);
    write_settings(hostile.path(), "matching: {ambiguity_threshold: 1}\n");
    std::fs::write(hostile.path().join("a.md"), "---\nkeywords: [deploy, ship]\ndescription: d\n---\n").unwrap();
    std::fs::remove_file(hostile.path().join("z.md")).unwrap();
    assert_eq!(match_outcome(&mut session), "ours");
}

#[test]
fn the_settings_of_a_folder_that_appears_later_apply() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("skills");
    let mut session = by_keywords(serve(folder.path())).start();
    assert_eq!(match_outcome(&mut session), "nothing");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(inner.join("a.md"), "---\nkeywords: [deploy, ship]\ndescription: d\n---\n").unwrap();
    assert_eq!(match_outcome(&mut session), "a");
    write_settings(folder.path(), "matching: {min_score: 0.6}\n");
    assert_eq!(match_outcome(&mut session), "nothing");
    write_settings(&inner, "matching: {min_score: 0.5}\n");
    assert_eq!(match_outcome(&mut session), "a");
    std::fs::remove_file(inner.join("config.yaml")).unwrap();
    assert_eq!(match_outcome(&mut session), "nothing");
}

/// Returns the report of a dry run, or the refusal.
fn dry_run(session: &mut Session, file: &str) -> Value {
    let result = session.call("run_script", json!({"skill_path": "tool", "file": file, "args": {}, "dry_run": true}));
    let text = result["content"][0]["text"].as_str().unwrap();
    if result["isError"] == json!(true) { json!(text) } else { serde_json::from_str(text).unwrap() }
}

#[test]
fn the_operator_sets_the_limits_of_scripts_and_content_only_lowers_them() {
    let folder = skills();
    for key in ["timeout_seconds", "max_output_bytes", "memory_bytes", "fuel", "scratch_bytes", "scratch_files"] {
        let limit = |operator: &str, content: &str| {
            write_settings(folder.path(), content);
            let mut session = serve(folder.path()).config(operator).start();
            let limit = dry_run(&mut session, "a.sh")["limits"][key].clone();
            (limit.as_u64().unwrap_or_else(|| panic!("{key} is {limit}")), codes(&mut session))
        };
        let setting = |number: u64| format!("scripts:\n  {key}: {number}\n");
        let (default, _) = limit("", "");
        assert_eq!(limit("", &setting(7)), (7, vec![]), "{key}: content lowers the default");
        assert_eq!(limit(&setting(9), ""), (9, vec![]), "{key}: the operator decides");
        assert_eq!(limit(&setting(9), &setting(7)), (7, vec![]), "{key}: content lowers the operator's limit");
        assert_eq!(limit(&setting(7), &setting(9)), (7, vec!["raised-limit".to_owned()]), "{key}: and never raises it");
        assert_eq!(
            limit("", &setting(default + 1)),
            (default, vec!["raised-limit".to_owned()]),
            "{key}: nor the default"
        );
    }
}

#[test]
fn the_operator_enables_scripts_and_content_only_restricts_them() {
    let folder = skills();
    let refusal = |operator: &str, content: &str, file: &str| {
        write_settings(folder.path(), content);
        let mut session = serve(folder.path()).config(operator).start();
        let refusal = dry_run(&mut session, file).as_str().map(|text| text.lines().next().unwrap().to_owned());
        (refusal.unwrap_or_default(), codes(&mut session))
    };
    let none: Vec<String> = Vec::new();
    let (off, on) = ("scripts: {enabled: false}\n", "scripts: {enabled: true}\n");
    assert_eq!(refusal("", "", "a.sh"), (String::new(), none.clone()));
    assert_eq!(refusal(off, "", "a.sh").0, "scripts are disabled globally");
    let (message, problems) = refusal(off, on, "a.sh");
    assert_eq!((message.as_str(), problems), ("scripts are disabled globally", vec!["forbidden-setting".to_owned()]));
    assert!(refusal(on, off, "a.sh").0.starts_with("scripts are disabled in the `config.yaml`"));

    let only = |extension: &str| format!("scripts: {{allowed_extensions: [{extension}]}}\n");
    for (operator, content, allowed) in [
        (only(".sh"), String::new(), [true, false]),
        (String::new(), only(".py"), [false, true]),
        (only(".sh, .py"), only(".py"), [false, true]),
        (only(".sh"), only(".py"), [false, false]),
    ] {
        for (file, allowed) in ["a.sh", "b.py"].into_iter().zip(allowed) {
            let (message, _) = refusal(&operator, &content, file);
            assert_eq!(message.is_empty(), allowed, "{operator} {content} {file}: {message}");
        }
    }
}

#[test]
fn the_operator_sets_runners_and_content_only_repeats_the_bundled_ones() {
    let folder = skills();
    let run = |operator: &str, content: &str, file: &str| {
        write_settings(folder.path(), content);
        let mut session = serve(folder.path()).config(operator).start();
        let result = session.call("run_script", json!({"skill_path": "tool", "file": file, "args": {}}));
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        let stdout = serde_json::from_str::<Value>(&text).ok().map(|ran| ran["stdout"].as_str().unwrap().to_owned());
        (stdout.unwrap_or(text), codes(&mut session))
    };
    let operator = "scripts: {allowed_extensions: [.txt, .sh], runners: {.txt: bash}}\n";
    assert_eq!(run(operator, "", "c.txt"), ("ran by shell\n".to_owned(), vec![]));
    let bundled = "scripts: {runners: {.sh: bash, .ts: npx tsx, .js: node, .py: python3}}\n";
    assert_eq!(run("", bundled, "a.sh"), ("ran by shell\n".to_owned(), vec![]));
    let (output, problems) = run("", "scripts: {runners: {.txt: bash, .sh: python3}}\n", "a.sh");
    assert_eq!(output, "ran by shell\n");
    assert_eq!(problems, ["forbidden-setting", "forbidden-setting"]);
    let (output, _) = run("", "scripts: {runners: {.txt: bash}}\n", "c.txt");
    assert!(output.starts_with("the extension `.txt` is not allowed"), "{output}");
}

#[test]
fn content_cannot_enable_analytics() {
    let folder = skills();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let settings = format!("analytics:\n  enabled: true\n  endpoint: http://{address}/\n  interval_seconds: 0.01\n");
    write_settings(folder.path(), &settings);
    let mut session = serve(folder.path()).start();
    match_outcome(&mut session);
    assert_eq!(codes(&mut session), ["forbidden-setting"; 3]);
    session.close_input();
    assert!(session.wait().0.success());
    assert!(listener.accept().is_err(), "a connection was made");
}

/// Returns the server's message about a configuration that it refuses.
fn refusal(yaml: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = Launch::bare(SKILLCELL).arg("serve").arg(folder.path()).config(yaml).output();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{yaml}: {stderr}");
    assert!(output.stdout.is_empty());
    stderr
}

#[test]
fn an_invalid_operators_file_is_reported_with_file_and_line() {
    for (yaml, line, part) in [
        ("matching:\n  min_score: 1.5\n", 2, "matching.min_score is 1.5, and must be from 0 to 1"),
        ("matching:\n  min_score: .nan\n", 2, "matching.min_score is NaN"),
        ("matching:\n  min_score: -.inf\n", 2, "matching.min_score is -inf"),
        ("matching:\n  ambiguity_threshold: -0.1\n", 2, "matching.ambiguity_threshold is -0.1"),
        ("matching:\n  max_results: 0\n", 2, "matching.max_results is 0, and must be from 1 to 100"),
        ("matching:\n  max_results: 101\n", 2, "matching.max_results is 101"),
        ("refresh:\n  interval_minutes: 0\n", 2, "refresh.interval_minutes is 0"),
        ("assets:\n  max_size_bytes: 0\n", 2, "assets.max_size_bytes is 0"),
        ("assets:\n  max_size_bytes: 18446744073709551615\n", 2, "assets.max_size_bytes is 18446744073709551615"),
        ("assets:\n  max_size_bytes: -1\n", 2, "integer `-1`"),
        (
            "assets: {inline_text_max_bytes: 1MB}\n",
            1,
            "assets.inline_text_max_bytes: invalid type: string, expected u64",
        ),
        ("git:\n  timeout_seconds: 5\nscripts:\n  timeout_seconds: 0\n", 4, "scripts.timeout_seconds is 0"),
        ("scripts:\n  timeout_seconds: soon\n", 2, "timeout_seconds: invalid type: string"),
        ("scripts:\n  runners: {.py: perl}\n", 2, "`perl` is not a runtime"),
        ("scripts:\n  max_output_bytes: [1]\n", 2, "sequence"),
        ("scripts:\n  enabled: yes please\n", 2, "enabled: invalid type: string"),
        ("refresh:\n  enabled: 1\n", 2, "integer `1`"),
        ("analytics:\n  enabled: on\n", 2, "enabled: invalid type: string"),
        ("analytics:\n  endpoint: {}\n", 2, "map"),
        ("- matching\n", 1, "a map of settings"),
        ("matching:\n  min_score: 0.1\n  min_score: 0.2\n", 3, "duplicate field"),
        ("\"scripts\":\n  \"timeout_seconds\": 0\n", 2, "scripts.timeout_seconds is 0"),
        ("{\"matching\":\n{\"min_score\": 5}}", 2, "matching.min_score is 5"),
        ("---\nmatching: {}\n---\nscripts: {}\n", 3, "more than one document"),
        ("scripts:\n  allowed_extensions: [a/b]\n", 2, "scripts.allowed_extensions: `a/b` is not a file extension"),
        ("grants:\n  /a:\n    s:\n      read: [rel]\n", 4, "`rel` must begin with"),
        ("tools:\n- skill\n- nope\n", 3, "there is no tool `nope`"),
        ("integrations:\n  github:\n    address: ftp://h\n", 3, "`address` must begin with"),
    ] {
        let message = refusal(yaml);
        let location = format!("config.yaml:{line}:");
        assert!(message.contains(&location) && message.contains(part), "{yaml} was reported as {message}");
    }
    refusal("matching: {}\n---\nmatching: {}\n");
    refusal("matching:\n\tmin_score: 0.1\n");
    for (name, value) in [("MAX_FILE_SIZE_MB", "a lot"), ("REFRESH_INTERVAL_MINUTES", "0"), ("ANALYTICS_ENDPOINT", "x")]
    {
        let folder = tempfile::tempdir().unwrap();
        let output = Launch::bare(SKILLCELL).arg("serve").arg(folder.path()).env(name, value).output();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains(name), "{stderr}");
    }
}

#[test]
fn an_operators_file_that_is_not_utf8_is_reported_with_its_line() {
    let home = library(&[]);
    let file = home.path().join("config.yaml");
    std::fs::write(&file, b"matching:\n  min_score: \xff\n").unwrap();
    let output = Launch::bare(SKILLCELL).arg("list").arg("--root").arg(home.path()).arg("--config").arg(&file).output();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("config.yaml:2: not valid UTF-8"), "{stderr}");
}

#[test]
fn an_unreadable_operators_file_is_never_treated_as_missing() {
    let folder = skills();
    for (link, target, reason) in [
        (".config/skillcell/config.yaml", "/nowhere/config.yaml", "the path goes through a broken link"),
        (".config/skillcell", "/nowhere", "the path goes through a broken link"),
        (".config/skillcell/config.yaml", "config.yaml", "symbolic links"),
        (".config/skillcell", "skillcell", "symbolic links"),
        (".config/skillcell/config.yaml", ".", "directory"),
    ] {
        let home = library(&[]);
        let path = home.path().join(link);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, &path).unwrap();
        let list = Launch::bare(SKILLCELL).with_home(home.path()).arg("list").arg("--root").arg(folder.path());
        let output = list.output();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{link} to {target}: {stderr}");
        assert!(stderr.contains("cannot read the configuration") && stderr.contains("config.yaml"), "{stderr}");
        assert!(stderr.contains(reason) && stderr.contains("hint: make it readable or remove it"), "{stderr}");
    }
    let home = library(&[]);
    let list = Launch::bare(SKILLCELL).with_home(home.path()).arg("list").arg("--root").arg(folder.path());
    assert!(list.output().status.success(), "a missing file is fine");
}

#[test]
fn an_operators_file_may_have_a_byte_order_mark_and_empty_sections() {
    let folder = skills();
    let yaml = "\u{feff}scripts:\n# enabled: false\nmatching:\r\n  ambiguity_threshold: 0\r\n";
    assert_eq!(match_outcome(&mut serve(folder.path()).config(yaml).start()), "other");
}

/// Returns the keys that are accepted at `HERE` in this YAML, or nothing if a map is not accepted there.
fn keys_at(yaml: &str) -> Option<BTreeSet<String>> {
    let message = refusal(&yaml.replace("HERE", "{no-such-key: 1}"));
    let (_, expected) = message.split_once("unknown field `no-such-key`, expected ")?;
    let line = expected.lines().next()?;
    Some(line.split('`').skip(1).step_by(2).map(str::to_owned).collect())
}

/// Returns every key that the operator's file accepts, as in the documentation.
fn accepted_keys() -> BTreeSet<String> {
    let sections = keys_at("HERE").expect("the file is a map");
    assert!(sections.len() > 10 && sections.contains("scripts"), "{sections:?}");
    let mut accepted = BTreeSet::new();
    for section in sections {
        let positions =
            ["HERE", "[HERE]", "{a: HERE}", "{a: {a: HERE}}"].map(|position| format!("{section}: {position}"));
        let keys: BTreeSet<String> = positions.iter().filter_map(|position| keys_at(position)).flatten().collect();
        if keys.is_empty() {
            accepted.insert(section);
        } else {
            accepted.extend(keys.into_iter().map(|key| format!("{section}.{key}")));
        }
    }
    accepted
}

/// Returns the keys in the first column of the table in the documentation.
fn documented_keys() -> Vec<String> {
    let document = std::fs::read_to_string(repository().join("docs/configuration.md")).unwrap();
    let (_, table) = document.split_once("\n## Every key\n").expect("a table of keys");
    let rows = table.lines().take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with("| `"));
    let keys = rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2));
    keys.map(str::to_owned).collect()
}

#[test]
fn the_documentation_lists_every_key_exactly_once() {
    let (accepted, documented) = (accepted_keys(), documented_keys());
    assert!(accepted.len() > 40, "only {} keys were found", accepted.len());
    for key in &documented {
        assert!(accepted.contains(key), "docs/configuration.md has `{key}`, which the operator's file does not accept");
    }
    for key in &accepted {
        let times = documented.iter().filter(|documented| *documented == key).count();
        assert_eq!(times, 1, "docs/configuration.md has a row for `{key}`");
    }
}
