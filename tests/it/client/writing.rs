//! Files that users and clients wrote, before and after `--write` and `--remove`.

use super::{CLIENTS, Scene, text_output};
use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};

/// Settings with everything in them that could be lost.
const JSON: &str = "{\r\n\t\"numStartups\": 34,\r\n\t\"big\": 12345678901234567890.10,\r\n\t\"mcpServers\": {\r\n\t\t\"github\": { \"command\": \"npx\", \"env\": {\"TOKEN\": \"s3cret\"} },\r\n\t\t\"zeta\": {}\r\n\t},\r\n\t\"été\": \"\\u202e\\\"\",\r\n\t\"last\": null\r\n}";
const COMMENTED: &str = "// mine\n{\n    // servers of the team\n    \"mcpServers\": {\n        \"github\": {\"command\": \"npx\"}, // do not touch\n        /* \"old\": {}, */\n        \"zeta\": {} // last\n        // \"skillcell\": {}\n    },\n    \"theme\": \"dark\" /* of course */\n}\n// end\n";
const LOOSE: &str = "{\n  \"inputs\": [{\"id\": \"key\",},],\n  \"servers\": {\n    \"github\": {\"type\": \"http\", \"url\": \"https://example.com\",}, // do not touch\n  },\n}\n";
const TOML: &str = "# mine\r\nmodel = \"m\" # best\r\n\r\n[mcp_servers.github]\r\ncommand = 'npx'\r\nargs = [\r\n  \"-y\", # yes\r\n]\r\n[mcp_servers.github.env]\r\nTOKEN = \"s3cret\"\r\n\r\n# profiles\r\n[profiles.a]\r\nx = 1_000";

/// Returns the initial content of a client's file.
fn initial(client: &str) -> String {
    match client {
        "claude" => JSON.to_owned(),
        "codex" => TOML.to_owned(),
        "vscode" => LOOSE.to_owned(),
        "cursor" => COMMENTED.replace("/* of course */", "/* of course */,"),
        _ => COMMENTED.to_owned(),
    }
}

/// Returns the lines that are missing in the second text.
fn missing_lines(initial: &str, after: &str) -> Vec<String> {
    let mut left: Vec<&str> = after.split_inclusive('\n').collect();
    let mut missing = Vec::new();
    for line in initial.split_inclusive('\n') {
        match left.iter().position(|other| *other == line) {
            Some(place) => drop(left.remove(place)),
            None => missing.push(line.to_owned()),
        }
    }
    missing
}

#[test]
fn existing_content_survives_writing_and_removing() {
    let scene = Scene::new();
    for (client, file, _) in CLIENTS {
        let initial = initial(client);
        scene.put(file, &initial);
        std::fs::set_permissions(scene.file(file), Permissions::from_mode(0o640)).unwrap();
        let output = scene.write(client, &[]);
        assert_eq!(output.code, Some(0), "{client}: {}", output.err);
        let after = scene.text(file);
        assert!(after.contains("skillcell") && after.contains("serve"), "{after}");
        let missing = missing_lines(&initial, &after);
        // The last server may get a comma, and the last line a line break.
        let only_commas = missing
            .iter()
            .all(|line| after.contains(&line.replacen("{}", "{},", 1)) || after.contains(&format!("{line}\r\n")));
        assert!(missing.len() <= 1 && only_commas, "{client}: {missing:?} are missing:\n{after}");
        assert_eq!(std::fs::metadata(scene.file(file)).unwrap().permissions().mode() & 0o777, 0o640);
        let backup = format!("{file}.skillcell-backup");
        assert_eq!(scene.text(&backup), initial, "{client}");
        assert!(output.out.contains(&scene.file(&backup).display().to_string()), "{}", output.out);

        let again = scene.write(client, &[]);
        assert_eq!((again.code, scene.text(file)), (Some(0), after), "{client}");
        assert!(again.out.contains("is already in "), "{}", again.out);

        let removed = scene.run(&[client, "--remove"]);
        assert_eq!(removed.code, Some(0), "{client}: {}", removed.err);
        assert_eq!(scene.text(file).trim_end(), initial.trim_end(), "{client}");
        let files = scene.files().len();
        let absent = scene.run(&[client, "--remove"]);
        assert_eq!((absent.code, scene.files().len()), (Some(0), files), "{client}");
        assert!(absent.out.contains("there is no `skillcell`"), "{}", absent.out);
    }
}

#[test]
fn byte_order_marks_links_and_history_survive() {
    let scene = Scene::new();
    let history: Vec<String> = (0..20_000).map(|number| format!("{{\"display\": \"prompt {number}\"}}")).collect();
    let text = format!("\u{feff}{{\n  \"history\": [\n    {}\n  ]\n}}\n", history.join(",\n    "));
    scene.put("dotfiles/claude.json", &text);
    symlink("dotfiles/claude.json", scene.file(".claude.json")).unwrap();
    assert_eq!(scene.write("claude", &[]).code, Some(0));
    assert!(scene.file(".claude.json").symlink_metadata().unwrap().is_symlink());
    let after = scene.text("dotfiles/claude.json");
    assert!(after.starts_with('\u{feff}') && missing_lines(&text, &after).len() == 1, "one line got a comma");
    let settings: Value = serde_json::from_str(after.trim_start_matches('\u{feff}')).unwrap();
    assert_eq!(settings["history"].as_array().unwrap().len(), 20_000);
    assert_eq!(settings["mcpServers"]["skillcell"]["type"], "stdio");
}

#[test]
fn a_link_planted_in_a_project_is_not_followed() {
    let scene = Scene::new();
    let own = "{\"mcpServers\": {\"github\": {\"env\": {\"TOKEN\": \"s3cret\"}}}}";
    scene.put(".claude.json", own);
    scene.put(".cursor/mcp.json", own);
    let project = scene.skills.path();
    symlink(scene.file(".claude.json"), project.join(".mcp.json")).unwrap();
    symlink(scene.file(".cursor"), project.join(".cursor")).unwrap();
    let files = skillcell_tests::files_below(project);
    for (client, link) in [("claude", ".mcp.json"), ("cursor", ".cursor")] {
        for options in [&["--write"][..], &["--write", "--force"], &["--remove", "--name", "github"]] {
            let output = scene.run(&[&[client, "--scope", "project"], options].concat());
            assert_eq!(output.code, Some(2), "{client} {options:?}: {}{}", output.out, output.err);
            let expected = format!("{link} is a link\nhint: nothing was changed; ");
            assert!(output.err.contains(&expected), "{client}: {}", output.err);
        }
    }
    assert_eq!([scene.text(".claude.json"), scene.text(".cursor/mcp.json")], [own; 2]);
    assert_eq!((skillcell_tests::files_below(project), scene.files().len()), (files, 2));
}

#[test]
fn folders_that_others_have_locked_do_not_matter() {
    let scene = Scene::new();
    scene.put(".cursor/mcp.json", "{}");
    let lock = |folder: &std::path::Path| {
        let folder = std::fs::File::open(folder).unwrap();
        folder.lock().unwrap();
        folder
    };
    let _locked = [scene.home.path(), &scene.file(".cursor"), scene.skills.path()].map(lock);
    let launches = [scene.launch(&["cursor", "--write"]), scene.launch(&["claude", "--scope", "project", "--write"])];
    for launch in launches {
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(text_output(launch.output())));
        let output = receiver.recv_timeout(skillcell_tests::PATIENCE).expect("it does not wait for the locks");
        assert_eq!(output.code, Some(0), "{}", output.err);
    }
}

#[test]
fn a_lone_surrogate_does_not_prevent_writing() {
    let scene = Scene::new();
    let text = "{\"projects\":{\"/x\":{\"history\":[{\"display\":\"hi \\ud83d\"}]}}}";
    scene.put(".claude.json", text);
    let output = scene.write("claude", &[]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    let after = scene.text(".claude.json");
    let kept = text.strip_suffix('}').unwrap();
    assert!(after.starts_with(kept) && after[kept.len()..].starts_with(",\"mcpServers\":{\"skillcell\""), "{after}");
    assert_eq!(scene.run(&["claude", "--remove"]).code, Some(0));
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let scene = Scene::new();
    scene.put(".claude.json", "{}");
    std::fs::set_permissions(scene.file(".claude.json"), Permissions::from_mode(0o444)).unwrap();
    let output = scene.write("claude", &[]);
    assert_eq!((output.code, scene.text(".claude.json").as_str()), (Some(2), "{}"), "{}", output.err);
    assert!(output.err.contains("is read-only\nhint: nothing was changed; "), "{}", output.err);
    assert_eq!(scene.files().len(), 1, "no backup is written");
}

#[test]
fn a_different_entry_of_the_same_name_is_shown_and_replaced_only_with_force() {
    let scene = Scene::new();
    let text = "{\"mcpServers\": {\"skillcell\": {\"command\": \"/old/skillcell\", \"args\": [\"serve\"], \"env\": {\"T\": \"s3cret\"}}, \"zeta\": {}}}";
    scene.put(".claude.json", text);
    let output = scene.write("claude", &[]);
    assert_eq!((output.code, scene.text(".claude.json").as_str()), (Some(1), text));
    for part in ["- command: \"/old/skillcell\"", "+ command: ", "- args: [\"serve\"]", "--force"] {
        assert!(output.out.contains(part), "{part}: {}", output.out);
    }
    assert!(!output.out.contains("s3cret"), "{}", output.out);
    assert_eq!(scene.files().len(), 1, "no backup is written");
    let json: Value = serde_json::from_str(&scene.write("claude", &["--json"]).out).unwrap();
    assert_eq!((&json["result"], &json["backup"]), (&Value::from("differs"), &Value::Null));
    assert_eq!(scene.write("claude", &["--force"]).code, Some(0));
    let settings: Value = serde_json::from_str(&scene.text(".claude.json")).unwrap();
    let entry = &settings["mcpServers"]["skillcell"];
    assert_eq!((&entry["command"], &entry["env"]["T"]), (&Value::from(crate::SKILLCELL), &Value::from("s3cret")));
    assert_eq!(scene.write("claude", &["--name", "team"]).code, Some(0));
    let settings: Value = serde_json::from_str(&scene.text(".claude.json")).unwrap();
    let names: Vec<&String> = settings["mcpServers"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["skillcell", "team", "zeta"]);
}

#[test]
fn a_file_that_the_client_could_not_parse_is_refused_and_left_unchanged() {
    let scene = Scene::new();
    for (client, file, text, part) in [
        ("claude", ".claude.json", "{\n  \"a\": 1,\n", "line 1: Unterminated object"),
        ("claude", ".claude.json", "{\n  // s3cret\n}", "line 2: "),
        ("claude", ".claude.json", "{\"mcpServers\": []}", "`mcpServers` exists but is not an object of servers"),
        ("claude", ".claude.json", "{\"mcpServers\": {}, \"mcpServers\": {}}", "duplicate key `mcpServers`"),
        ("claude", ".claude.json", "\"s3cret\"", "the top level is not an object"),
        ("claude", ".claude.json", "[]", "the top level is not an object"),
        ("cursor", ".cursor/mcp.json", "null", "the top level is not an object"),
        ("gemini", ".gemini/settings.json", "{\"a\": [1,]}", "line 1: "),
        ("vscode", super::VSCODE, "{\"servers\": 5}", "`servers` exists but is not an object of servers"),
        ("codex", ".codex/config.toml", "a = 1\ns3cret\n", "line 2: "),
        ("codex", ".codex/config.toml", "mcp_servers = 3\n", "`mcp_servers` exists but is not an object of servers"),
    ] {
        scene.put(file, text);
        let files = scene.files();
        for options in [&["--write"][..], &["--write", "--force"], &["--remove"]] {
            let output = scene.run(&[&[client], options].concat());
            // `--remove` finds nothing to remove under a duplicate key.
            if part.contains("duplicate key") && options == ["--remove"] {
                continue;
            }
            assert_eq!(output.code, Some(2), "{text}: {}{}", output.out, output.err);
            assert!(output.err.contains(part) && output.err.contains("nothing was changed"), "{text}: {}", output.err);
            assert!(!output.err.contains("s3cret"), "{text}: {}", output.err);
        }
        assert_eq!((scene.text(file).as_str(), scene.files()), (text, files));
    }
}

#[test]
fn concurrent_writers_lose_nothing() {
    const WRITERS: usize = 8;
    let scene = Scene::new();
    scene.put(".cursor/mcp.json", "{\"mcpServers\": {\"zeta\": {}}}");
    let writing: Vec<_> = (0..WRITERS)
        .map(|number| {
            let launch = scene.launch(&["cursor", "--write", "--name", &format!("s{number}")]);
            std::thread::spawn(move || text_output(launch.output()))
        })
        .collect();
    for thread in writing {
        let output = thread.join().unwrap();
        assert_eq!(output.code, Some(0), "{}", output.err);
    }
    let settings: Value = serde_json::from_str(&scene.text(".cursor/mcp.json")).unwrap();
    assert_eq!(settings["mcpServers"].as_object().unwrap().len(), WRITERS + 1, "{settings:#}");
}

#[test]
fn a_file_that_cannot_be_written_stays_unchanged() {
    let scene = Scene::new();
    scene.put(".cursor/mcp.json", "{}");
    let folder = scene.file(".cursor");
    std::fs::set_permissions(scene.home.path(), Permissions::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&folder, Permissions::from_mode(0o555)).unwrap();
    let home = scene.home.path().display().to_string();
    let output = scene
        .launch(&["cursor", "--write"])
        .folder(std::path::Path::new("/"))
        .unprivileged()
        .env("HOME", &home)
        .output();
    std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    let output = text_output(output);
    assert_eq!(output.code, Some(2), "{}{}", output.out, output.err);
    assert!(output.err.contains("nothing was changed"), "{}", output.err);
    assert_eq!((scene.text(".cursor/mcp.json").as_str(), scene.files().len()), ("{}", 1));
}
