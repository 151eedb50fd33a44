use super::*;
use crate::Upstream;
use git2::build::RepoBuilder;
use git2::{Cred, ErrorClass, FetchOptions, RemoteCallbacks};
use tempfile::{TempDir, tempdir};

fn upstream() -> (TempDir, Upstream) {
    let folder = tempdir().unwrap();
    let upstream = Upstream::with(folder.path(), "skills", &[("a.md", "first"), ("b/c.md", "second")]);
    upstream.push_changes("main", &[("a.md", Some("third")), ("b/c.md", None), ("b/d.md", Some("fourth"))]);
    (folder, upstream)
}

fn clone(url: &str, into: &Path, depth: i32) -> Result<Repository, git2::Error> {
    let mut options = FetchOptions::new();
    options.depth(depth);
    RepoBuilder::new().fetch_options(options).clone(url, into)
}

fn commits(repository: &Repository) -> usize {
    let mut walk = repository.revwalk().unwrap();
    walk.push_head().unwrap();
    walk.count()
}

#[test]
fn a_clone_has_the_whole_history_or_only_the_last_commit() {
    let (folder, upstream) = upstream();
    let server = GitServer::http(folder.path());
    for (depth, expected) in [(0, 2), (1, 1)] {
        let into = tempdir().unwrap();
        let clone = clone(&server.url("skills"), into.path(), depth).unwrap();
        assert_eq!(commits(&clone), expected);
        assert_eq!(clone.head().unwrap().target().unwrap().to_string(), upstream.tip("main"));
        assert_eq!(std::fs::read_to_string(into.path().join("a.md")).unwrap(), "third");
        assert_eq!(std::fs::read_to_string(into.path().join("b/d.md")).unwrap(), "fourth");
        assert!(!into.path().join("b/c.md").exists());
    }
    let posts = server.requests().iter().filter(|request| request.method == "POST").count();
    assert!(posts >= 2, "{:?}", server.requests());
}

#[test]
fn a_fetch_brings_only_what_is_new() {
    let (folder, upstream) = upstream();
    let server = GitServer::http(folder.path());
    for depth in [0, 1] {
        let into = tempdir().unwrap();
        let clone = clone(&server.url("skills"), into.path(), depth).unwrap();
        let tip = upstream.push("main", &[("new.md", &format!("fifth {depth}"))]);
        let mut options = FetchOptions::new();
        options.depth(depth);
        let mut remote = clone.find_remote("origin").unwrap();
        remote.fetch(&["main"], Some(&mut options), None).unwrap();
        assert_eq!(clone.refname_to_id("refs/remotes/origin/main").unwrap().to_string(), tip);
        // A commit, a tree and a blob.
        assert_eq!(remote.stats().total_objects(), 3, "depth {depth}");
    }
}

#[test]
fn only_the_token_gives_access() {
    let (folder, _upstream) = upstream();
    let server = GitServer::http(folder.path());
    server.require_token("secret");
    let into = tempdir().unwrap();
    assert!(clone(&server.url("skills"), &into.path().join("without"), 1).is_err());
    for (token, opens) in [("secret", true), ("other", false)] {
        let mut callbacks = RemoteCallbacks::new();
        let mut tried = false;
        callbacks.credentials(move |_, _, _| {
            if std::mem::replace(&mut tried, true) {
                return Err(git2::Error::from_str("refused"));
            }
            Cred::userpass_plaintext("x-access-token", token)
        });
        let mut options = FetchOptions::new();
        options.remote_callbacks(callbacks).depth(1);
        let cloned = RepoBuilder::new().fetch_options(options).clone(&server.url("skills"), &into.path().join(token));
        assert_eq!(cloned.is_ok(), opens, "{token}: {:?}", cloned.err());
    }
}

#[test]
fn faults_begin_and_end_on_demand() {
    let (folder, _upstream) = upstream();
    let server = GitServer::http(folder.path());
    let into = tempdir().unwrap();
    let other = GitServer::http(folder.path());
    let faults = [
        (On::Refs, Fault::Status(500)),
        (On::Pack, Fault::Status(403)),
        (On::Refs, Fault::Page),
        (On::Pack, Fault::DisguisedPage),
        (On::Refs, Fault::DisguisedPage),
        (On::Pack, Fault::Cut(100)),
        (On::Refs, Fault::HangUp),
        (On::Everything, Fault::HangUp),
    ];
    for (place, (on, fault)) in faults.into_iter().enumerate() {
        server.misbehave(on, fault.clone());
        let cloned = clone(&server.url("skills"), &into.path().join(place.to_string()), 1);
        assert!(cloned.is_err(), "{on:?} {fault:?}");
    }
    server.misbehave(On::Everything, Fault::Redirect(other.base_at("127.0.0.1")));
    let redirected = clone(&server.url("skills"), &into.path().join("redirected"), 1);
    assert!(redirected.is_ok_and(|_| !other.requests().is_empty()));
    server.misbehave(On::Pack, Fault::Drip(50, Duration::from_millis(1)));
    clone(&server.url("skills"), &into.path().join("drips"), 1).unwrap();
    server.behave();
    clone(&server.url("skills"), &into.path().join("well"), 1).unwrap();
    let missing = clone(&server.url("missing"), &into.path().join("missing"), 1).err().unwrap();
    assert_eq!(missing.class(), ErrorClass::Http, "{missing}");
}

#[test]
fn a_held_answer_is_completed_by_behave() {
    let (folder, _upstream) = upstream();
    let server = GitServer::http(folder.path());
    for (place, fault) in [Fault::Hang, Fault::Stall(60)].into_iter().enumerate() {
        server.misbehave(On::Pack, fault);
        let (url, into) = (server.url("skills"), tempdir().unwrap());
        let waiting = std::thread::spawn(move || clone(&url, into.path(), 1).map(|clone| commits(&clone)));
        server.wait_until_held(place + 1);
        assert!(!waiting.is_finished());
        server.behave();
        assert_eq!(waiting.join().unwrap().unwrap(), 1);
    }
}

#[test]
fn the_end_of_the_server_ends_requests_that_wait() {
    let (folder, _upstream) = upstream();
    let server = GitServer::http(folder.path());
    server.misbehave(On::Refs, Fault::Hang);
    let (url, into) = (server.url("skills"), tempdir().unwrap());
    let waiting = std::thread::spawn(move || clone(&url, into.path(), 1).is_err());
    server.wait_until_held(1);
    drop(server);
    assert!(waiting.join().unwrap());
}
