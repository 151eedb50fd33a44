//! Files that people and clients wrote, and what `--write` and `--remove` make of them.

use super::{CLIENTS, Desk, said};
use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};

/// Settings with everything in them that could be lost.
const JSON: &str = "{\r\n\t\"numStartups\": 34,\r\n\t\"big\": 12345678901234567890.10,\r\n\t\"mcpServers\": {\r\n\t\t\"github\": { \"command\": \"npx\", \"env\": {\"TOKEN\": \"s3cret\"} },\r\n\t\t\"zeta\": {}\r\n\t},\r\n\t\"été\": \"\\u202e\\\"\",\r\n\t\"last\": null\r\n}";
const COMMENTED: &str = "// mine\n{\n    // servers of the team\n    \"mcpServers\": {\n        \"github\": {\"command\": \"npx\"}, // do not touch\n        /* \"old\": {}, */\n        \"zeta\": {} // last\n        // \"skillcell\": {}\n    },\n    \"theme\": \"dark\" /* of course */\n}\n// end\n";
const LOOSE: &str = "{\n  \"inputs\": [{\"id\": \"key\",},],\n  \"servers\": {\n    \"github\": {\"type\": \"http\", \"url\": \"https://example.com\",}, // do not touch\n  },\n}\n";
const TOML: &str = "# mine\r\nmodel = \"m\" # best\r\n\r\n[mcp_servers.github]\r\ncommand = 'npx'\r\nargs = [\r\n  \"-y\", # yes\r\n]\r\n[mcp_servers.github.env]\r\nTOKEN = \"s3cret\"\r\n\r\n# profiles\r\n[profiles.a]\r\nx = 1_000";

/// What each client's file has before.
fn before(client: &str) -> String {
    match client {
        "claude" => JSON.to_owned(),
        "codex" => TOML.to_owned(),
        "vscode" => LOOSE.to_owned(),
        "cursor" => COMMENTED.replace("/* of course */", "/* of course */,"),
        _ => COMMENTED.to_owned(),
    }
}

/// The lines that one text has and the other has not, as they are.
fn lines_gone(before: &str, after: &str) -> Vec<String> {
    let mut left: Vec<&str> = after.split_inclusive('\n').collect();
    let mut gone = Vec::new();
    for line in before.split_inclusive('\n') {
        match left.iter().position(|other| *other == line) {
            Some(place) => drop(left.remove(place)),
            None => gone.push(line.to_owned()),
        }
    }
    gone
}

#[test]
fn nothing_that_was_there_is_lost() {
    let desk = Desk::new();
    for (client, file, _) in CLIENTS {
        let before = before(client);
        desk.put(file, &before);
        std::fs::set_permissions(desk.file(file), Permissions::from_mode(0o640)).unwrap();
        let said = desk.write(client, &[]);
        assert_eq!(said.code, Some(0), "{client}: {}", said.err);
        let after = desk.text(file);
        assert!(after.contains("skillcell") && after.contains("serve"), "{after}");
        let gone = lines_gone(&before, &after);
        // A comma may be new behind the last server, and an end behind the last line.
        let only_commas = gone
            .iter()
            .all(|line| after.contains(&line.replacen("{}", "{},", 1)) || after.contains(&format!("{line}\r\n")));
        assert!(gone.len() <= 1 && only_commas, "{client}: {gone:?} are gone:\n{after}");
        assert_eq!(std::fs::metadata(desk.file(file)).unwrap().permissions().mode() & 0o777, 0o640);
        let backup = format!("{file}.skillcell-backup");
        assert_eq!(desk.text(&backup), before, "{client}");
        assert!(said.out.contains(&desk.file(&backup).display().to_string()), "{}", said.out);

        let again = desk.write(client, &[]);
        assert_eq!((again.code, desk.text(file)), (Some(0), after), "{client}");
        assert!(again.out.contains("already there"), "{}", again.out);

        let removed = desk.run(&[client, "--remove"]);
        assert_eq!(removed.code, Some(0), "{client}: {}", removed.err);
        assert_eq!(desk.text(file).trim_end(), before.trim_end(), "{client}");
        let files = desk.files().len();
        let absent = desk.run(&[client, "--remove"]);
        assert_eq!((absent.code, desk.files().len()), (Some(0), files), "{client}");
        assert!(absent.out.contains("there is no `skillcell`"), "{}", absent.out);
    }
}

#[test]
fn marks_links_and_history_survive() {
    let desk = Desk::new();
    let history: Vec<String> = (0..20_000).map(|number| format!("{{\"display\": \"prompt {number}\"}}")).collect();
    let text = format!("\u{feff}{{\n  \"history\": [\n    {}\n  ]\n}}\n", history.join(",\n    "));
    desk.put("dotfiles/claude.json", &text);
    symlink("dotfiles/claude.json", desk.file(".claude.json")).unwrap();
    assert_eq!(desk.write("claude", &[]).code, Some(0));
    assert!(desk.file(".claude.json").symlink_metadata().unwrap().is_symlink());
    let after = desk.text("dotfiles/claude.json");
    assert!(after.starts_with('\u{feff}') && lines_gone(&text, &after).len() == 1, "one line got a comma");
    let settings: Value = serde_json::from_str(after.trim_start_matches('\u{feff}')).unwrap();
    assert_eq!(settings["history"].as_array().unwrap().len(), 20_000);
    assert_eq!(settings["mcpServers"]["skillcell"]["type"], "stdio");
}

#[test]
fn half_a_letter_as_javascript_writes_it_is_no_reason_to_refuse() {
    let desk = Desk::new();
    let text = "{\"projects\":{\"/x\":{\"history\":[{\"display\":\"hi \\ud83d\"}]}}}";
    desk.put(".claude.json", text);
    let said = desk.write("claude", &[]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let after = desk.text(".claude.json");
    let kept = text.strip_suffix('}').unwrap();
    assert!(after.starts_with(kept) && after[kept.len()..].starts_with(",\"mcpServers\":{\"skillcell\""), "{after}");
    assert_eq!(desk.run(&["claude", "--remove"]).code, Some(0));
}

#[test]
fn a_file_that_is_read_only_is_not_replaced() {
    let desk = Desk::new();
    desk.put(".claude.json", "{}");
    std::fs::set_permissions(desk.file(".claude.json"), Permissions::from_mode(0o444)).unwrap();
    let said = desk.write("claude", &[]);
    assert_eq!((said.code, desk.text(".claude.json").as_str()), (Some(2), "{}"), "{}", said.err);
    assert!(said.err.contains("is read-only\nhint: nothing was changed; "), "{}", said.err);
    assert_eq!(desk.files().len(), 1, "no copy is made");
}

#[test]
fn another_entry_of_the_name_is_shown_and_changed_only_on_demand() {
    let desk = Desk::new();
    let text = "{\"mcpServers\": {\"skillcell\": {\"command\": \"/old/skillcell\", \"args\": [\"serve\"], \"env\": {\"T\": \"s3cret\"}}, \"zeta\": {}}}";
    desk.put(".claude.json", text);
    let said = desk.write("claude", &[]);
    assert_eq!((said.code, desk.text(".claude.json").as_str()), (Some(1), text));
    for part in ["- command: \"/old/skillcell\"", "+ command: ", "- args: [\"serve\"]", "--force"] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    assert!(!said.out.contains("s3cret"), "{}", said.out);
    assert_eq!(desk.files().len(), 1, "no copy is made");
    let told: Value = serde_json::from_str(&desk.write("claude", &["--json"]).out).unwrap();
    assert_eq!((&told["result"], &told["backup"]), (&Value::from("differs"), &Value::Null));
    assert_eq!(desk.write("claude", &["--force"]).code, Some(0));
    let settings: Value = serde_json::from_str(&desk.text(".claude.json")).unwrap();
    let entry = &settings["mcpServers"]["skillcell"];
    assert_eq!((&entry["command"], &entry["env"]["T"]), (&Value::from(crate::SKILLCELL), &Value::from("s3cret")));
    assert_eq!(desk.write("claude", &["--name", "team"]).code, Some(0));
    let settings: Value = serde_json::from_str(&desk.text(".claude.json")).unwrap();
    let names: Vec<&String> = settings["mcpServers"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["skillcell", "team", "zeta"]);
}

#[test]
fn what_the_client_could_not_read_is_refused_and_left_alone() {
    let desk = Desk::new();
    for (client, file, text, part) in [
        ("claude", ".claude.json", "{\n  \"a\": 1,\n", "line 1: Unterminated object"),
        ("claude", ".claude.json", "{\n  // s3cret\n}", "line 2: "),
        ("claude", ".claude.json", "{\"mcpServers\": []}", "`mcpServers` is there and is no group of servers"),
        ("claude", ".claude.json", "{\"mcpServers\": {}, \"mcpServers\": {}}", "for the second time"),
        ("claude", ".claude.json", "\"s3cret\"", "it holds no group in braces"),
        ("claude", ".claude.json", "[]", "it holds no group in braces"),
        ("cursor", ".cursor/mcp.json", "null", "it holds no group in braces"),
        ("gemini", ".gemini/settings.json", "{\"a\": [1,]}", "line 1: "),
        ("vscode", super::VSCODE, "{\"servers\": 5}", "`servers` is there"),
        ("codex", ".codex/config.toml", "a = 1\ns3cret\n", "line 2: "),
        ("codex", ".codex/config.toml", "mcp_servers = 3\n", "`mcp_servers` is there"),
    ] {
        desk.put(file, text);
        let files = desk.files();
        for words in [&["--write"][..], &["--write", "--force"], &["--remove"]] {
            let said = desk.run(&[&[client], words].concat());
            // Of a key that stands there twice, nothing has to be removed.
            if part.contains("second time") && words == ["--remove"] {
                continue;
            }
            assert_eq!(said.code, Some(2), "{text}: {}{}", said.out, said.err);
            assert!(said.err.contains(part) && said.err.contains("nothing was changed"), "{text}: {}", said.err);
            assert!(!said.err.contains("s3cret"), "{text}: {}", said.err);
        }
        assert_eq!((desk.text(file).as_str(), desk.files()), (text, files));
    }
}

#[test]
fn several_at_once_lose_nothing() {
    const WRITERS: usize = 8;
    let desk = Desk::new();
    desk.put(".cursor/mcp.json", "{\"mcpServers\": {\"zeta\": {}}}");
    let writing: Vec<_> = (0..WRITERS)
        .map(|number| {
            let launch = desk.launch(&["cursor", "--write", "--name", &format!("s{number}")]);
            std::thread::spawn(move || said(launch.output()))
        })
        .collect();
    for thread in writing {
        let said = thread.join().unwrap();
        // Whoever is too late too often says so, and has changed nothing.
        assert_eq!(said.code, Some(0), "{}", said.err);
    }
    let settings: Value = serde_json::from_str(&desk.text(".cursor/mcp.json")).unwrap();
    assert_eq!(settings["mcpServers"].as_object().unwrap().len(), WRITERS + 1, "{settings:#}");
}

#[test]
fn a_file_that_cannot_be_written_is_left_as_it_is() {
    let desk = Desk::new();
    desk.put(".cursor/mcp.json", "{}");
    let folder = desk.file(".cursor");
    std::fs::set_permissions(desk.home.path(), Permissions::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&folder, Permissions::from_mode(0o555)).unwrap();
    let home = desk.home.path().display().to_string();
    let output = desk
        .launch(&["cursor", "--write"])
        .folder(std::path::Path::new("/"))
        .unprivileged()
        .env("HOME", &home)
        .output();
    std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    let said = said(output);
    assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
    assert!(said.err.contains("nothing was changed"), "{}", said.err);
    assert_eq!((desk.text(".cursor/mcp.json").as_str(), desk.files().len()), ("{}", 1));
}
