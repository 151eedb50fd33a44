//! Which addresses are accepted, and that no secret is ever shown.

use super::*;

fn parse(text: &str) -> Result<(Address, Option<Credential>), AddressError> {
    Address::parse(text, |path| Path::new("/here").join(path))
}

#[test]
fn a_credential_is_separated_from_the_address() {
    let (address, credential) = parse("https://x-access-token:s3cr%40t@GitHub.com:443/team/skills.git/").unwrap();
    assert_eq!(address.text(), "https://github.com/team/skills.git");
    assert_eq!(address.host(), Some("github.com"));
    assert_eq!(address.name(), "skills");
    let credential = credential.unwrap();
    assert_eq!(credential.basic(), Credential::new("x-access-token", "s3cr@t").basic());
    assert!(!format!("{address:?}{credential:?}").contains("s3cr"), "{credential:?}");
    assert!(parse("https://github.com/team/skills").unwrap().1.is_none());
}

#[test]
fn an_unsupported_address_is_rejected_with_an_alternative() {
    for (text, part) in [
        ("git@github.com:team/skills.git", "`https://github.com/team/skills.git`"),
        ("ssh://git@github.com:22/team/skills", "`https://github.com/team/skills`"),
        ("git://example.com/skills", "https://"),
        ("ftp://example.com/skills", "is not the address"),
        ("https://", "is not the address"),
        ("https://github.com", "is not the address"),
        ("https://github.com/a?b", "is not the address"),
        ("https://git hub.com/a", "is not the address"),
        ("http://[::1]example.com:80/a", "is not the address"),
        ("http://[localhost]/a", "is not the address"),
        ("https://a:b:443/c", "is not the address"),
        ("file://skills", "is not the address"),
        ("", "is not the address"),
        ("--upload-pack=x", "is not the address"),
        ("a\nb", "is not the address"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn a_rejected_address_shows_no_password() {
    for text in ["ftp://me:secret@example.com/x", "ssh://me:secret@example.com/x", "me:secret@example.com:x"] {
        let error = parse(text).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{text}: {error}");
    }
}

#[test]
fn nothing_before_an_at_sign_is_shown_however_the_address_is_misspelt() {
    let bare = ["x-access-token:SECRET", "SECRET", ":SECRET", "u:SEC/SECRET", "u:p@SECRET", "u:SECRET:", "u%3ASECRET"];
    let schemes = [
        "", "//", "/", "./", "https://", "https", "https:", "https/", "https//", "https:/", "HTTPS:", "HTTPS:/",
        "http:", "http:/", "htps//", "https;//", "ftp://", "git://", "ssh://", "file://", "file:/", "git@", "url:",
        "-", "a\nb",
    ];
    let odd = [
        "https:///",
        "https:\\\\",
        "https ://",
        "https: //",
        "git+ssh://",
        "\u{feff}https:/",
        "https\u{ff1a}//",
        "\"https:/",
    ];
    let signs = ["@", " @", "@@", "%40", "%2540", "\u{ff20}", "@\u{202e}", "\t@"];
    let targets =
        ["github.com/org/repo", "github.com", "github.com:org/repo", "h/x?y#z", "h/x y", "h\\x", "", "[::1/x"];
    let mut rejected = 0;
    for (scheme, bare) in schemes.iter().chain(&odd).flat_map(|scheme| bare.map(|bare| (scheme, bare))) {
        for (sign, target) in signs.iter().flat_map(|sign| targets.map(|target| (sign, target))) {
            let text = format!("{scheme}{bare}{sign}{target}");
            let shown = match parse(&text) {
                Err(error) => {
                    rejected += 1;
                    error.to_string()
                }
                Ok((address, credential)) => format!("{} {address:?} {credential:?}", address.text()),
            };
            // A plain path of a folder.
            let is_path = ["/", "./"].contains(scheme) && bare == "SECRET";
            assert!(is_path || !shown.to_lowercase().contains("secret"), "{text:?}: {shown}");
        }
    }
    assert!(rejected > 10_000, "{rejected}");
}

#[test]
fn a_password_without_its_at_sign_is_not_shown_either() {
    for text in ["https://u:SECRETgithub.com/x", "x-access-token:SECRET", "https://u:SECRET", "u:SECRET://h/x"] {
        let error = parse(text).unwrap_err().to_string();
        assert!(!error.contains("SECRET"), "{text}: {error}");
    }
}

#[test]
fn an_address_without_a_scheme_is_rejected_with_an_alternative() {
    for text in
        ["me:s3cret@github.com/org/repo", "https:/me:s3cret@github.com/org/repo", "https//t@github.com/org/repo"]
    {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.starts_with("`github.com/org/repo` seems to contain a user name"), "{error}");
        assert!(error.contains("write it as `https://github.com/org/repo`, and put the token into"), "{error}");
    }
    let error = parse("me:s3cret@git hub/x").unwrap_err().to_string();
    assert!(error.contains("write it as `https://HOST/PATH`"), "{error}");
}

#[test]
fn an_existing_folder_may_have_any_name() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a:b@c/d", "team@v2", "%40"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
        for text in [format!("./{name}"), folder.path().join(name).display().to_string()] {
            let (address, _) = Address::parse(&text, |path| folder.path().join(path)).unwrap();
            assert!(address.folder().unwrap().ends_with(name), "{address:?}");
        }
    }
    assert_eq!(parse("/srv/team@v2").unwrap().0.text(), "/srv/team@v2", "an absolute path without a colon is a folder");
}

#[test]
fn the_key_ignores_endings_and_includes_the_branch() {
    let address = |text: &str| parse(text).unwrap().0;
    let (a, b) = (address("https://github.com/team/skills"), address("https://u:p@github.com/team/skills.git/"));
    assert!(a.is_same(&b));
    assert_eq!(a.key(None), b.key(None));
    assert_ne!(a.key(None), a.key(Some("dev")));
    assert!(!a.is_same(&address("https://github.com/team/skills2")));
    assert!(a.key(None).starts_with("skills-"), "{}", a.key(None));
    assert_eq!(a.key(None).len(), "skills-".len() + 12);
    assert_eq!(address("https://h/..").name(), "repository");
}

#[test]
fn folders_are_absolute() {
    assert_eq!(parse("team/skills").unwrap().0.text(), "/here/team/skills");
    assert_eq!(parse("./a:b").unwrap().0.text(), "/here/a:b");
    assert_eq!(parse("file:///srv/my%20skills").unwrap().0.folder(), Some(Path::new("/srv/my skills")));
}

#[test]
fn only_https_and_loopback_addresses_are_confidential() {
    let is_confidential = |text: &str| parse(text).unwrap().0.is_confidential();
    for text in ["https://example.com/x", "http://127.0.0.1:8080/x", "http://[::1]:8080/x", "http://localhost/x"] {
        assert!(is_confidential(text), "{text}");
    }
    for text in ["http://example.com/x", "http://127.0.0.1.example.com/x", "http://10.0.0.1/x", "/srv/x"] {
        assert!(!is_confidential(text), "{text}");
    }
}
