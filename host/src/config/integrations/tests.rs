//! Tests of the settings of integrations.

use super::*;
use crate::config::tests::lookup;

fn resolved(yaml: &str, variables: &[(&str, &str)]) -> Result<Options, String> {
    let raw: RawIntegrations = serde_yaml::from_str(yaml).map_err(|error| error.to_string())?;
    resolve(raw, &ResolveContext { variable: &lookup(variables), path: &|text| Path::new("/etc").join(text) })
}

fn state(integration: &Integration) -> (&str, &str) {
    let token = integration.token.as_ref().unwrap();
    let value = match token.value {
        TokenValue::Missing => "missing",
        TokenValue::Unusable => "unusable",
        TokenValue::Set(_) => "set",
    };
    (&token.variable, value)
}

#[test]
fn bundled_integrations_need_no_settings() {
    let all = resolved("{}", &[("GITHUB_TOKEN", " ghp_secret\n"), ("LINEAR_API_KEY", "lin\nsecret")]).unwrap();
    let actual: Vec<(&str, Option<String>, (&str, &str))> =
        all.all.iter().map(|one| (one.name.as_str(), one.address(), state(one))).collect();
    let at = |address: &str| Some(address.to_owned());
    let expected = [
        ("github", at("https://api.github.com"), ("GITHUB_TOKEN", "set")),
        ("circleci", at("https://circleci.com"), ("CIRCLECI_TOKEN", "missing")),
        ("linear", at("https://api.linear.app"), ("LINEAR_API_KEY", "unusable")),
        ("gateway", None, ("SKILLCELL_GATEWAY_TOKEN", "missing")),
    ];
    assert_eq!(actual, expected);
    assert_eq!((all.timeout, all.cache_time), (DEFAULT_TIMEOUT, DEFAULT_CACHE_TIME));
    assert!(!format!("{all:?}").contains("secret"));
    assert_eq!(all.all[0].hosts, ["api.github.com:443".parse().unwrap()]);
}

#[test]
fn the_operator_configures_addresses_and_tokens() {
    let yaml = "\
github: {address: 'https://GHE.example.com/api/v3/', hosts: ['private:ghe.example.com'], token_variable: WORK}
circleci: {enabled: false}
linear:
gateway: {address: 'http://127.0.0.1:8080/ask'}
mine: {file: mine.wasm, address: 'https://api.mine.example:8443', token_variable: MINE, token_header: X-Token}
timeout_seconds: 5
cache_seconds: 0
";
    let all = resolved(yaml, &[("WORK", "secret-1"), ("MINE", "secret-2")]).unwrap();
    assert_eq!(all.names(), ["github", "linear", "gateway", "mine"]);
    let address = |name: &str| all.get(name).unwrap().address().unwrap();
    assert_eq!(address("github"), "https://ghe.example.com/api/v3");
    assert_eq!(address("gateway"), "http://127.0.0.1:8080/ask");
    assert_eq!(address("mine"), "https://api.mine.example:8443");
    assert_eq!(state(all.get("github").unwrap()), ("WORK", "set"));
    assert_eq!((all.timeout, all.cache_time), (Duration::from_secs(5), Duration::ZERO));
    let mine = all.get("mine").unwrap();
    assert_eq!(mine.source, Source::File { path: "/etc/mine.wasm".into(), sha256: None });
    let Some(Token { value: TokenValue::Set(credential), required: true, .. }) = &mine.token else { panic!() };
    assert_eq!(format!("{credential:?}"), "Credential(x-token: …)");
    let access = |host: &str| host_access(&all.get("github").unwrap().hosts, host, 443);
    assert_eq!((access("ghe.example.com"), access("api.github.com")), (HostAccess::Private, HostAccess::Refused));
}

#[test]
fn invalid_settings_are_refused_without_repeating_secrets() {
    for (yaml, part) in [
        ("{github: {address: 'https://me:SECRET@h/'}}", "integrations.github: `address` must not contain a user name"),
        ("{github: {address: 'http://ghe.example.com/SECRET'}}", "`address` is not encrypted"),
        ("{github: {address: 'ftp://h/SECRET'}}", "must begin with `https://`"),
        ("{github: {address: 'https://h/?SECRET'}}", "must not contain `?`"),
        ("{github: {address: 'https://h h/SECRET'}}", "`address` is not a valid URL"),
        ("{github: {address: 'https://h:99999/SECRET'}}", "`address` is not a valid URL"),
        ("{github: {address: 'SECRET'}}", "must begin with `https://`"),
        ("{github: {token_variable: 'ghp-SECRET'}}", "`token_variable` is not the name of a variable"),
        ("{github: {token_header: 'a b'}}", "`token_header` is not a valid header"),
        ("{github: {hosts: ['*']}}", "integrations.github: `hosts`: `*` is not a host"),
        ("{github: {file: a.wasm}}", "integrations.github: `file` is for integrations of your own"),
        ("{github: {ca_file: missing.pem}}", "`ca_file`: cannot read certificates from /etc/missing.pem"),
        ("{jira: {address: 'https://h'}}", "integrations.jira: there is no such integration"),
        ("{My Own: {file: a.wasm}}", "a name consists of 1 to 64"),
        ("{mine: {file: a.wasm}}", "integrations.mine: `address` is missing"),
        ("{mine: {file: a.wasm, address: 'https://h', sha256: abc}}", "which is not a SHA-256 digest"),
        ("{mine: {file: a.wasm, address: 'https://h', token_header: X}}", "is set without `token_variable`"),
        ("{timeout_seconds: 0}", "integrations.timeout_seconds is 0, and must be from 1 to 600"),
        ("{cache_seconds: 3601}", "integrations.cache_seconds is 3601"),
        ("{github: true}", "unknown field `github`, expected one of `timeout_seconds`, `cache_seconds`"),
        ("{github: {adress: SECRET}}", "unknown field `adress`"),
        ("{github: {}, github: {}}", "duplicate key `github`"),
        ("{cache_seconds: 1, cache_seconds: 1}", "duplicate key `cache_seconds`"),
    ] {
        let error = resolved(yaml, &[]).unwrap_err();
        assert!(error.contains(part) && !error.contains("SECRET"), "{yaml}: {error}");
    }
}

#[test]
fn a_certificate_file_must_contain_valid_certificates() {
    let folder = tempfile::tempdir().unwrap();
    for (text, part) in
        [("", "it contains none"), ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "")]
    {
        let path = folder.path().join("ca.pem");
        std::fs::write(&path, text).unwrap();
        let error = certificates(&path).unwrap_err();
        assert!(error.contains("cannot read certificates from") && error.contains(part), "{error}");
    }
}
