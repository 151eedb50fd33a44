//! The context of repositories of all kinds.

use super::*;
use git2::{Oid, RepositoryInitOptions, Signature, WorktreeAddOptions};
use std::fs;
use tempfile::TempDir;

/// A repository with one commit on `main`.
fn repository() -> (TempDir, Repository, String) {
    let folder = tempfile::tempdir().unwrap();
    let repository = empty(folder.path());
    let commit = commit(&repository, "the first").to_string();
    (folder, repository, commit)
}

fn empty(folder: &Path) -> Repository {
    prepare_libgit2();
    let mut options = RepositoryInitOptions::new();
    options.initial_head("main").external_template(false);
    Repository::init_opts(folder, &options).unwrap()
}

fn commit(repository: &Repository, message: &str) -> Oid {
    let by = Signature::now("author", "author@example.com").unwrap();
    let tree = repository.treebuilder(None).unwrap().write().unwrap();
    let tree = repository.find_tree(tree).unwrap();
    repository.commit(Some("HEAD"), &by, &by, message, &tree, &[]).unwrap()
}

fn of(host: &str, owner: &str, name: &str) -> Origin {
    Origin { host: host.to_owned(), owner: owner.to_owned(), name: name.to_owned() }
}

#[test]
fn addresses_are_parsed_in_every_form() {
    let hello = Some(of("github.com", "octo-org", "hello"));
    for address in [
        "https://github.com/octo-org/hello",
        "https://github.com/octo-org/hello.git",
        "https://GitHub.com:443/octo-org/hello.git/",
        "https://me:secret@github.com/octo-org/hello",
        "https://x-access-token:ghs_secret@github.com/octo-org/hello",
        "http://github.com/octo-org/hello",
        "ssh://git@github.com/octo-org/hello.git",
        "ssh://git@github.com:22/octo-org/hello.git",
        "ssh://git@ssh.github.com:443/octo-org/hello.git",
        "git+ssh://git@github.com/octo-org/hello",
        "git://github.com/octo-org/hello.git",
        "git@github.com:octo-org/hello.git",
        "github.com:octo-org/hello",
        "me:secret@github.com:octo-org/hello",
        "git@github.com:/octo-org/hello.git",
        " git@github.com:octo-org/hello.git\n",
    ] {
        assert_eq!(Origin::parse(address), hello, "{address}");
    }
    assert_eq!(Origin::parse("git@git.corp:a/b/c.git"), Some(of("git.corp", "a/b", "c")));
    assert_eq!(Origin::parse("https://git.corp/a%20b/c"), Some(of("git.corp", "a b", "c")));
    assert_eq!(Origin::parse("ssh://git@[::1]:2222/a/b"), Some(of("[::1]", "a", "b")));
    assert_eq!(Origin::parse("git@[::1]:a/b"), Some(of("[::1]", "a", "b")));
}

#[test]
fn addresses_without_a_host_and_owner_have_no_origin() {
    for address in [
        "",
        "/srv/git/hello.git",
        "../hello",
        "./a:b/c",
        "file:///srv/git/a/hello.git",
        "C:/projects/a/hello",
        "C:\\projects\\hello",
        "https://github.com",
        "https://github.com/hello",
        "https://github.com/a/../b",
        "https://github.com//hello",
        "https:///a/b",
        "git@github.com:hello",
        "git@:a/b",
        "ftp://example.com/a/b",
        "https://github.com/a/b\u{7}",
        "ext::sh -c x",
        // Unescaped passwords: no part of them may become a name.
        "https://me:pass/word@github.com/a/b",
        "https://me:12/34@github.com/a/b",
        "https://me:p@ss/wo@github.com/a/b",
    ] {
        assert_eq!(Origin::parse(address), None, "{address}");
    }
}

#[test]
fn the_context_is_found_from_any_folder_of_the_repository() {
    let (folder, repository, commit) = repository();
    repository.remote("origin", "https://me:secret@github.com/octo-org/hello.git").unwrap();
    let deep = folder.path().join("src/deep");
    fs::create_dir_all(&deep).unwrap();
    for here in [folder.path(), &deep, &folder.path().join(".git")] {
        let context = context(here).unwrap();
        let origin = Some(of("github.com", "octo-org", "hello"));
        assert!(!format!("{context:?}").contains("secret"));
        assert_eq!(context, Context { origin, branch: Some("main".to_owned()), commit: Some(commit.clone()) });
    }
}

#[test]
fn missing_parts_are_none() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(context(folder.path()), Err(ContextError::NoRepository));
    assert_eq!(context(&folder.path().join("missing")), Err(ContextError::NoRepository));
    let repository = empty(folder.path());
    repository.set_head("refs/heads/feature/first").unwrap();
    let branch = Some("feature/first".to_owned());
    assert_eq!(context(folder.path()).unwrap(), Context { branch, ..Context::default() });
    let commit = commit(&repository, "the first");
    repository.set_head_detached(commit).unwrap();
    let commit = Some(commit.to_string());
    assert_eq!(context(folder.path()).unwrap(), Context { commit, ..Context::default() });
}

#[test]
fn the_upstream_remote_comes_first_then_origin_then_the_only_one() {
    let (folder, repository, _) = repository();
    let origin = || context(folder.path()).unwrap().origin.map(|origin| origin.owner);
    assert_eq!(origin(), None);
    repository.remote("fork", "git@github.com:me/hello.git").unwrap();
    assert_eq!(origin().as_deref(), Some("me"));
    repository.remote("mirror", "git@github.com:mirror/hello.git").unwrap();
    assert_eq!(origin(), None, "with two remotes, neither is chosen");
    repository.remote("origin", "git@github.com:octo-org/hello.git").unwrap();
    assert_eq!(origin().as_deref(), Some("octo-org"));
    let follow = |value: &str| repository.config().unwrap().set_str("branch.main.remote", value).unwrap();
    follow("fork");
    assert_eq!(origin().as_deref(), Some("me"));
    follow("https://github.com/direct/hello");
    assert_eq!(origin().as_deref(), Some("direct"));
    for local in [".", "gone", "../elsewhere"] {
        follow(local);
        assert_eq!(origin().as_deref(), Some("octo-org"), "{local}");
    }
}

#[test]
fn worktrees_submodules_and_bare_repositories_have_their_own_context() {
    let (folder, repository, commit) = repository();
    repository.remote("origin", "git@github.com:octo-org/hello.git").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let worktree = elsewhere.path().join("hotfix");
    repository.worktree("hotfix", &worktree, Some(&WorktreeAddOptions::new())).unwrap();
    assert!(worktree.join(".git").is_file());
    let found = context(&worktree).unwrap();
    assert_eq!((found.branch.as_deref(), found.commit), (Some("hotfix"), Some(commit.clone())));
    assert_eq!(found.origin, Some(of("github.com", "octo-org", "hello")));

    let inner = folder.path().join("vendor/lib");
    let module = repository.submodule("https://github.com/vendor/lib", Path::new("vendor/lib"), true).unwrap();
    super::tests::commit(&module.open().unwrap(), "of the module");
    assert!(inner.join(".git").is_file());
    let found = context(&inner).unwrap();
    assert_eq!(found.origin, Some(of("github.com", "vendor", "lib")));
    assert_ne!(found.commit, Some(commit));

    let bare = elsewhere.path().join("bare.git");
    let repository = Repository::init_bare(&bare).unwrap();
    repository.set_head("refs/heads/main").unwrap();
    repository.remote("origin", "https://git.corp/team/bare").unwrap();
    let found = context(&bare).unwrap();
    assert_eq!((found.branch.as_deref(), found.origin), (Some("main"), Some(of("git.corp", "team", "bare"))));
}

#[test]
fn the_error_for_a_damaged_repository_contains_no_secrets() {
    let (folder, repository, _) = repository();
    repository.remote("origin", "https://me:SECRET@github.com/octo-org/hello").unwrap();
    drop(repository);
    let config = folder.path().join(".git/config");
    let good = fs::read_to_string(&config).unwrap();
    for broken in [
        format!("{good}[remote \"x\"\n\turl = https://me:SECRET@github.com/a/b\n"),
        format!("{good}https://me:SECRET@github.com/a/b\n"),
        format!("{good}[core]\n\trepositoryformatversion = 1\n[extensions]\n\thttps://me:SECRET = 1\n"),
        format!("{good}[core]\n\trepositoryformatversion = 99\n"),
        "\0\u{1}".to_owned(),
    ] {
        fs::write(&config, &broken).unwrap();
        let result = format!("{:?}", context(folder.path()));
        assert!(!result.contains("SECRET"), "{result}");
    }
    fs::write(&config, good).unwrap();
    fs::write(folder.path().join(".git/HEAD"), "https://me:SECRET@github.com").unwrap();
    let error = context(folder.path()).unwrap_err().for_audience(Audience::Local);
    assert!(!error.contains("SECRET"), "{error}");
    fs::write(folder.path().join(".git/HEAD"), "ref: refs/tags/odd\n").unwrap();
    assert_eq!(context(folder.path()).unwrap().branch, None);
}
