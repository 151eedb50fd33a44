//! A token gives access to its repository, and does not leak.

use super::{Scene, forms, names, refresh_error, refresh_ok, text};
use crate::SMALL;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use skillcell_tests::git_server::{Authority, Fault, GitServer, On};
use skillcell_tests::{Session, Upstream};
use std::path::Path;

/// Has characters that are escaped differently in addresses, in JSON and in shells.
const TOKEN: &str = "ghp_s3cret/Tok%en";

/// The token as it is written in an address.
const ENCODED: &str = "ghp_s3cret%2FTok%25en";

/// Returns every encoding in which the token could appear.
fn encodings() -> Vec<String> {
    // In base64 the token depends on the characters around it; only the part that does not is compared.
    let base64_after = |before: usize| {
        let text = BASE64_STANDARD.encode(format!("{}{TOKEN}", "-".repeat(before)));
        text[4 * usize::from(before > 0)..text.len() / 4 * 4 - 4].to_owned()
    };
    vec![TOKEN.to_owned(), ENCODED.to_owned(), "s3cret".to_owned(), base64_after(0), base64_after(1), base64_after(2)]
}

fn contains_token(text: &[u8]) -> bool {
    encodings().iter().any(|encoding| text.windows(encoding.len()).any(|window| window == encoding.as_bytes()))
}

/// Searches every file and every name below a folder for the token. Returns the number of files and the hits.
fn search(folder: &Path) -> (usize, Vec<String>) {
    let (mut files, mut found, mut unvisited) = (0, Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = unvisited.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if contains_token(path.to_string_lossy().as_bytes()) {
                found.push(path.display().to_string());
            }
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                unvisited.push(path);
            } else if kind.is_file() {
                files += 1;
                // A file may vanish while the server works.
                if std::fs::read(&path).is_ok_and(|bytes| contains_token(&bytes)) {
                    found.push(path.display().to_string());
                }
            }
        }
    }
    (files, found)
}

/// Requests everything that a client can see.
fn request_everything(session: &mut Session) -> String {
    let mut answers = Vec::new();
    for list in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        answers.push(session.request(list, json!({})));
    }
    for (tool, arguments) in [
        ("refresh_skills", json!({})),
        ("skills_list", json!({})),
        ("list_skills", json!({})),
        ("get_skill", json!({"context": "form validation"})),
        ("skills_search", json!({"query": "token"})),
    ] {
        answers.push(session.call(tool, arguments));
    }
    Value::Array(answers).to_string()
}

/// Checks that the token is not in the answers, the log, the files or the arguments of the server.
fn assert_no_leak(scene: &Scene, session: &mut Session) {
    let answers = request_everything(session);
    assert!(!contains_token(answers.as_bytes()), "{answers}");
    let log = session.log();
    assert!(!contains_token(log.as_bytes()), "{log}");
    let (files, found) = search(scene.home.path());
    assert!(files > 10, "a clone has more files");
    assert_eq!(found, Vec::<String>::new());
    if cfg!(target_os = "linux") {
        let process = format!("/proc/{}", session.process_id());
        let arguments = std::fs::read(format!("{process}/cmdline")).unwrap();
        assert!(!arguments.is_empty() && !contains_token(&arguments));
        for thread in std::fs::read_dir(format!("{process}/task")).unwrap().flatten() {
            let name = std::fs::read(thread.path().join("comm")).unwrap_or_default();
            assert!(!contains_token(&name));
        }
    }
}

#[test]
fn the_search_finds_every_encoding() {
    let folder = tempfile::tempdir().unwrap();
    for (number, encoding) in encodings().iter().enumerate() {
        std::fs::write(folder.path().join(number.to_string()), format!("before{encoding}after")).unwrap();
    }
    let header = format!("Basic {}", BASE64_STANDARD.encode(format!("anybody:{TOKEN}:")));
    assert!(contains_token(header.as_bytes()));
    assert_eq!(search(folder.path()).1.len(), encodings().len());
    assert!(!contains_token(b"nothing of it"));
}

#[test]
fn a_private_repository_is_served_and_the_token_does_not_leak() {
    let scene = Scene::new();
    let server = scene.https();
    server.require_token(TOKEN);
    let url = server.url_at("localhost", "skills");
    let mut session = scene.launch(&url).env("GITHUB_TOKEN", TOKEN).arg("-vv").start();
    assert_eq!(names(&mut session), ["forms", "pdf"], "{}", session.log());
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    refresh_ok(&mut session);
    assert_eq!(text(&mut session), "Newer.");
    assert!(session.log().len() > 200, "everything is logged: {}", session.log());
    assert_no_leak(&scene, &mut session);
    let expected = format!("Basic {}", BASE64_STANDARD.encode(format!("x-access-token:{TOKEN}")));
    let sent: Vec<String> =
        server.requests().iter().filter_map(|request| request.header("authorization").map(str::to_owned)).collect();
    assert!(!sent.is_empty() && sent.iter().all(|value| *value == expected));
}

#[test]
fn failures_do_not_leak_the_token() {
    let scene = Scene::new();
    let server = scene.https();
    server.require_token(TOKEN);
    let url = server.url_at("localhost", "skills");
    let mut session = scene.launch(&url).env("GITHUB_TOKEN", TOKEN).arg("-vv").start();
    refresh_ok(&mut session);
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    for fault in [Fault::Status(403), Fault::Status(500), Fault::Page, Fault::DisguisedPage, Fault::Cut(30)] {
        for on in [On::Refs, On::Pack] {
            server.misbehave(on, fault.clone());
            let message = refresh_error(&mut session);
            assert!(!contains_token(message.as_bytes()), "{message}");
        }
    }
    server.misbehave(On::Refs, Fault::Redirect(format!("https://x-access-token:{ENCODED}@localhost:1")));
    refresh_error(&mut session);
    server.require_token("another");
    server.behave();
    let message = refresh_error(&mut session);
    assert!(message.contains("refuses the token"), "{message}");
    assert_no_leak(&scene, &mut session);
    assert_eq!(text(&mut session), "Validate on submit.");
}

#[test]
fn a_token_in_the_address_is_removed_from_it() {
    let scene = Scene::new();
    let server = scene.https();
    server.require_token(TOKEN);
    for user in [format!("x-access-token:{ENCODED}@localhost"), format!("someone:{ENCODED}@localhost")] {
        let mut session = scene.launch(&server.url_at(&user, "skills")).arg("-vv").start();
        assert_eq!(names(&mut session), ["forms", "pdf"], "{}", session.log());
        assert_no_leak(&scene, &mut session);
    }
    // Both addresses are one repository, and its clone has no token either.
    scene.assert_intact("main");
    let clone = git2::Repository::open(scene.clone()).unwrap();
    let origin = clone.find_remote("origin").unwrap();
    assert_eq!(origin.url().unwrap(), server.url_at("localhost", "skills"));
}

#[test]
fn no_token_is_sent_after_a_redirect() {
    let scene = Scene::new();
    let authority = Authority::default();
    authority.write(&scene.home.path().join("authority.pem"));
    scene.configure("git: {ca_file: ~/authority.pem}\n");
    let [first, second] = [(); 2].map(|()| GitServer::https(scene.repositories.path(), &authority));
    // Before and after the first host asked for it, to another host and to another name of the same host.
    for (is_required, to) in [(false, "localhost"), (true, "localhost"), (false, "127.0.0.1"), (true, "127.0.0.1")] {
        let [from, to] = [first.url_at("localhost", "skills"), second.base_at(to)];
        if is_required {
            first.require_token(TOKEN);
        }
        second.require_token(TOKEN);
        first.misbehave(On::Everything, Fault::Redirect(to));
        let mut session = scene.launch(&from).env("GITHUB_TOKEN", TOKEN).start();
        assert_eq!(names(&mut session), Vec::<String>::new());
        session.wait_for_log("where no token is sent");
    }
    let requests = second.requests();
    assert!(!requests.is_empty(), "the redirect was followed");
    assert!(requests.iter().all(|request| request.header("authorization").is_none()), "{requests:?}");
}

#[test]
fn a_redirect_to_a_public_repository_is_followed() {
    let scene = Scene::new();
    let (first, second) = (scene.https(), scene.http());
    first.misbehave(On::Everything, Fault::Redirect(second.base_at("127.0.0.1")));
    let mut session = scene.launch(&first.url_at("localhost", "skills")).start();
    session.wait_for_log("not encrypted");
    assert_eq!(names(&mut session), Vec::<String>::new());
    assert_eq!(second.requests().len(), 0, "never from https to http");
    let (third, fourth) = (scene.http(), scene.http());
    third.misbehave(On::Refs, Fault::Redirect(fourth.base_at("localhost")));
    let mut session = scene.launch(&third.url("skills")).start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
}

#[test]
fn the_token_of_one_host_is_not_sent_to_another() {
    let scene = Scene::new();
    Upstream::with(scene.repositories.path(), "second", &[("second.md", SMALL[0].1)]);
    let (main, other) = (scene.http(), scene.http());
    main.require_token(TOKEN);
    other.require_token(TOKEN);
    // Another port is another host, and so is another name of this machine.
    let urls = [other.url("second"), main.url_at("localhost", "second")];
    scene.configure(&format!("repos:\n- url: {}\n- url: {}\n", urls[0], urls[1]));
    let mut session = scene.launch(&main.url("skills")).env("GITHUB_TOKEN", TOKEN).start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    let message = refresh_error(&mut session);
    assert_eq!(message.matches("is private or does not exist (401)").count(), 2, "{message}");
    assert!(other.requests().iter().all(|request| request.header("authorization").is_none()));
    let by_name = main.requests();
    let mut by_name = by_name.iter().filter(|request| request.target.starts_with("/second"));
    assert!(by_name.all(|request| request.header("authorization").is_none()));
}

#[test]
fn a_repository_can_have_its_own_token() {
    let scene = Scene::new();
    Upstream::with(scene.repositories.path(), "second", &[("second.md", SMALL[0].1)]);
    let (main, other) = (scene.http(), scene.http());
    main.require_token(TOKEN);
    other.require_token("of-its-own");
    scene.configure(&format!("repos: [{{url: '{}', token_env: OTHER_TOKEN}}]\n", other.url("second")));
    let launch = scene.launch(&main.url("skills")).env("GITHUB_TOKEN", TOKEN).env("OTHER_TOKEN", "of-its-own");
    let mut session = launch.start();
    assert_eq!(names(&mut session), ["forms", "pdf", "second"], "{}", session.log());
    assert_no_leak(&scene, &mut session);
    let was_sent = |server: &GitServer, token: &str| {
        let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("x-access-token:{token}")));
        server.requests().iter().any(|request| request.header("authorization") == Some(&basic))
    };
    assert!(was_sent(&main, TOKEN) && !was_sent(&main, "of-its-own"));
    assert!(was_sent(&other, "of-its-own") && !was_sent(&other, TOKEN));
}
