//! The token: it opens what it is for, and is found nowhere else.

use super::{Scene, forms, names, refreshed, refused, text};
use crate::SMALL;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use skillcell_tests::git_server::{Authority, Fault, GitServer, On};
use skillcell_tests::{Session, Upstream};
use std::path::Path;

/// With letters that are written differently in addresses, in JSON and in shells.
const TOKEN: &str = "ghp_s3cret/Tok%en";

/// The same inside an address.
const ENCODED: &str = "ghp_s3cret%2FTok%25en";

/// Every way in which the token could be written down.
fn shapes() -> Vec<String> {
    // What base64 makes of it depends on how many letters stand before it; what does not depend on those around it is compared.
    let inside = |before: usize| {
        let text = BASE64_STANDARD.encode(format!("{}{TOKEN}", "-".repeat(before)));
        text[4 * usize::from(before > 0)..text.len() / 4 * 4 - 4].to_owned()
    };
    vec![TOKEN.to_owned(), ENCODED.to_owned(), "s3cret".to_owned(), inside(0), inside(1), inside(2)]
}

fn holds_token(text: &[u8]) -> bool {
    shapes().iter().any(|shape| text.windows(shape.len()).any(|window| window == shape.as_bytes()))
}

/// Looks at every file and every name below a folder.
fn search(folder: &Path) -> (usize, Vec<String>) {
    let (mut files, mut found, mut waiting) = (0, Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if holds_token(path.to_string_lossy().as_bytes()) {
                found.push(path.display().to_string());
            }
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                waiting.push(path);
            } else if kind.is_file() {
                files += 1;
                // A file may vanish while the server works.
                if std::fs::read(&path).is_ok_and(|bytes| holds_token(&bytes)) {
                    found.push(path.display().to_string());
                }
            }
        }
    }
    (files, found)
}

/// Asks for everything a client can see.
fn everything(session: &mut Session) -> String {
    let mut said = Vec::new();
    for list in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        said.push(session.request(list, json!({})));
    }
    for (tool, arguments) in [
        ("refresh_skills", json!({})),
        ("skills_list", json!({})),
        ("list_skills", json!({})),
        ("get_skill", json!({"context": "form validation"})),
        ("skills_search", json!({"query": "token"})),
    ] {
        said.push(session.call(tool, arguments));
    }
    Value::Array(said).to_string()
}

/// Nothing that the server wrote, said or was started with holds the token.
fn is_nowhere(scene: &Scene, session: &mut Session) {
    let said = everything(session);
    assert!(!holds_token(said.as_bytes()), "{said}");
    let log = session.log();
    assert!(!holds_token(log.as_bytes()), "{log}");
    let (files, found) = search(scene.home.path());
    assert!(files > 10, "a clone has more files");
    assert_eq!(found, Vec::<String>::new());
    if cfg!(target_os = "linux") {
        let process = format!("/proc/{}", session.process_id());
        let arguments = std::fs::read(format!("{process}/cmdline")).unwrap();
        assert!(!arguments.is_empty() && !holds_token(&arguments));
        for thread in std::fs::read_dir(format!("{process}/task")).unwrap().flatten() {
            let name = std::fs::read(thread.path().join("comm")).unwrap_or_default();
            assert!(!holds_token(&name));
        }
    }
}

#[test]
fn the_search_finds_every_shape() {
    let folder = tempfile::tempdir().unwrap();
    for (number, shape) in shapes().iter().enumerate() {
        std::fs::write(folder.path().join(number.to_string()), format!("before{shape}after")).unwrap();
    }
    let header = format!("Basic {}", BASE64_STANDARD.encode(format!("anybody:{TOKEN}:")));
    assert!(holds_token(header.as_bytes()));
    assert_eq!(search(folder.path()).1.len(), shapes().len());
    assert!(!holds_token(b"nothing of it"));
}

#[test]
fn a_private_repository_is_served_and_the_token_is_nowhere() {
    let scene = Scene::new();
    let server = scene.https();
    server.require_token(TOKEN);
    let url = server.url_at("localhost", "skills");
    let mut session = scene.launch(&url).env("GITHUB_TOKEN", TOKEN).arg("-vv").start();
    assert_eq!(names(&mut session), ["forms", "pdf"], "{}", session.log());
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    refreshed(&mut session);
    assert_eq!(text(&mut session), "Newer.");
    assert!(session.log().len() > 200, "everything is logged: {}", session.log());
    is_nowhere(&scene, &mut session);
    let expected = format!("Basic {}", BASE64_STANDARD.encode(format!("x-access-token:{TOKEN}")));
    let shown: Vec<String> =
        server.requests().iter().filter_map(|request| request.header("authorization").map(str::to_owned)).collect();
    assert!(!shown.is_empty() && shown.iter().all(|value| *value == expected));
}

#[test]
fn nothing_that_goes_wrong_shows_the_token() {
    let scene = Scene::new();
    let server = scene.https();
    server.require_token(TOKEN);
    let url = server.url_at("localhost", "skills");
    let mut session = scene.launch(&url).env("GITHUB_TOKEN", TOKEN).arg("-vv").start();
    refreshed(&mut session);
    scene.upstream.push("main", &[("forms.md", &forms("Newer."))]);
    for fault in [Fault::Status(403), Fault::Status(500), Fault::Page, Fault::DisguisedPage, Fault::Cut(30)] {
        for on in [On::Refs, On::Pack] {
            server.misbehave(on, fault.clone());
            let message = refused(&mut session);
            assert!(!holds_token(message.as_bytes()), "{message}");
        }
    }
    server.misbehave(On::Refs, Fault::Redirect(format!("https://x-access-token:{ENCODED}@localhost:1")));
    refused(&mut session);
    server.require_token("another");
    server.behave();
    let message = refused(&mut session);
    assert!(message.contains("refuses the token"), "{message}");
    is_nowhere(&scene, &mut session);
    assert_eq!(text(&mut session), "Validate on submit.");
}

#[test]
fn a_token_inside_the_address_is_taken_out_of_it() {
    let scene = Scene::new();
    let server = scene.https();
    server.require_token(TOKEN);
    for user in [format!("x-access-token:{ENCODED}@localhost"), format!("someone:{ENCODED}@localhost")] {
        let mut session = scene.launch(&server.url_at(&user, "skills")).arg("-vv").start();
        assert_eq!(names(&mut session), ["forms", "pdf"], "{}", session.log());
        is_nowhere(&scene, &mut session);
    }
    // Both are one repository, which is what the clone says too.
    scene.is_intact("main");
    let clone = git2::Repository::open(scene.clone()).unwrap();
    let origin = clone.find_remote("origin").unwrap();
    assert_eq!(origin.url().unwrap(), server.url_at("localhost", "skills"));
}

#[test]
fn no_token_follows_a_redirect() {
    let scene = Scene::new();
    let authority = Authority::default();
    authority.write(&scene.home.path().join("authority.pem"));
    scene.configure("git: {ca_file: ~/authority.pem}\n");
    let [first, second] = [(); 2].map(|()| GitServer::https(scene.repositories.path(), &authority));
    // Before and after it was shown to the host that it is for, to another host and to another name of the same.
    for (asks, to) in [(false, "localhost"), (true, "localhost"), (false, "127.0.0.1"), (true, "127.0.0.1")] {
        let [from, to] = [first.url_at("localhost", "skills"), second.base_at(to)];
        if asks {
            first.require_token(TOKEN);
        }
        second.require_token(TOKEN);
        first.misbehave(On::Everything, Fault::Redirect(to));
        let mut session = scene.launch(&from).env("GITHUB_TOKEN", TOKEN).start();
        assert_eq!(names(&mut session), Vec::<String>::new());
        session.wait_for_log("where no token is sent");
    }
    let asked = second.requests();
    assert!(!asked.is_empty(), "the redirect was followed");
    assert!(asked.iter().all(|request| request.header("authorization").is_none()), "{asked:?}");
}

#[test]
fn a_redirect_to_what_everybody_may_read_is_followed() {
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
fn the_token_of_one_host_is_not_shown_to_another() {
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
    let message = refused(&mut session);
    assert_eq!(message.matches("is private or does not exist (401)").count(), 2, "{message}");
    assert!(other.requests().iter().all(|request| request.header("authorization").is_none()));
    let by_name = main.requests();
    let mut by_name = by_name.iter().filter(|request| request.target.starts_with("/second"));
    assert!(by_name.all(|request| request.header("authorization").is_none()));
}

#[test]
fn a_repository_may_have_a_token_of_its_own() {
    let scene = Scene::new();
    Upstream::with(scene.repositories.path(), "second", &[("second.md", SMALL[0].1)]);
    let (main, other) = (scene.http(), scene.http());
    main.require_token(TOKEN);
    other.require_token("of-its-own");
    scene.configure(&format!("repos: [{{url: '{}', token_env: OTHER_TOKEN}}]\n", other.url("second")));
    let launch = scene.launch(&main.url("skills")).env("GITHUB_TOKEN", TOKEN).env("OTHER_TOKEN", "of-its-own");
    let mut session = launch.start();
    assert_eq!(names(&mut session), ["forms", "pdf", "second"], "{}", session.log());
    is_nowhere(&scene, &mut session);
    let shown = |server: &GitServer, token: &str| {
        let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("x-access-token:{token}")));
        server.requests().iter().any(|request| request.header("authorization") == Some(&basic))
    };
    assert!(shown(&main, TOKEN) && !shown(&main, "of-its-own"));
    assert!(shown(&other, "of-its-own") && !shown(&other, TOKEN));
}
