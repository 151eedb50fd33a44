//! What the operator says about analytics, made sure of.

use super::content::within;
use super::file::RawAnalytics;
use std::ops::RangeInclusive;
use std::time::Duration;
use ureq::http::Uri;

/// The settings for analytics.
#[derive(Debug, Clone)]
pub struct Analytics {
    /// Whether anything is written down.
    pub enabled: bool,
    /// Where events are sent. Without one they are only counted on this machine.
    pub endpoint: Option<Endpoint>,
    pub interval: Duration,
    /// Longest wait for an answer.
    pub timeout: Duration,
    /// Whether events carry what people and models wrote.
    pub include_text: bool,
    /// Most that waits on disk, in bytes.
    pub most_bytes: u64,
    /// Who this is, as endpoints are told.
    pub server_id: String,
}

/// A place for events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub url: String,
    /// The part of it that can be shown: paths and queries of such addresses are often secrets.
    pub shown: String,
}

/// Shortest and longest times, in seconds.
const SECONDS: RangeInclusive<f64> = 0.01..=86_400.0;

/// How often events are sent, and how long an answer may take, unless told otherwise.
const INTERVAL: Duration = Duration::from_secs(30);
const TIMEOUT: Duration = Duration::from_secs(10);

/// Most that waits on disk unless told otherwise, in bytes.
const BUFFER_BYTES: u64 = 10 << 20;

/// Less than this is no buffer, in bytes.
const FEWEST_BYTES: u64 = 64 << 10;

/// The endpoint in the environment.
pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Endpoint>, String> {
    let said = variable("ANALYTICS_ENDPOINT").map(|url| endpoint(url.trim())).transpose();
    said.map_err(|wrong| format!("ANALYTICS_ENDPOINT {wrong}"))
}

/// The environment is stronger than the file: an endpoint there also switches analytics on.
pub fn resolve(
    raw: &RawAnalytics,
    from_environment: Option<Endpoint>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Analytics, String> {
    let seconds = |name: &str, said: Option<f64>| {
        within(&format!("analytics.{name}"), said, SECONDS).map(|said| said.map(Duration::from_secs_f64))
    };
    let most_bytes = raw.buffer_max_bytes.unwrap_or(BUFFER_BYTES);
    if most_bytes < FEWEST_BYTES {
        return Err(format!("analytics.buffer_max_bytes is {most_bytes}, and must be at least {FEWEST_BYTES}"));
    }
    let in_file = raw.endpoint.as_deref().map(str::trim).filter(|url| !url.is_empty());
    let in_file = in_file.map(endpoint).transpose().map_err(|wrong| format!("analytics.endpoint {wrong}"))?;
    let user = variable("USER").or_else(|| variable("USERNAME")).unwrap_or_else(|| "unknown".to_owned());
    Ok(Analytics {
        enabled: from_environment.is_some() || raw.enabled.unwrap_or(in_file.is_some()),
        endpoint: from_environment.or(in_file),
        interval: seconds("interval_seconds", raw.interval_seconds)?.unwrap_or(INTERVAL),
        timeout: seconds("timeout_seconds", raw.timeout_seconds)?.unwrap_or(TIMEOUT),
        include_text: raw.include_text.unwrap_or(false),
        most_bytes,
        server_id: format!("dev-{user}"),
    })
}

/// What is wrong is said without the address, which may be a secret.
fn endpoint(url: &str) -> Result<Endpoint, &'static str> {
    let wrong = "is no address: write it as in `https://events.example.com/skills`";
    let parsed: Uri = url.parse().map_err(|_| wrong)?;
    let Some(scheme @ ("http" | "https")) = parsed.scheme_str() else {
        return Err("must begin with `http://` or `https://`");
    };
    let authority = parsed.authority().ok_or(wrong)?;
    if authority.as_str().contains('@') {
        return Err(
            "must not have a user name or password in it: put a token into the path, or a proxy before the endpoint",
        );
    }
    if authority.host().is_empty() {
        return Err(wrong);
    }
    Ok(Endpoint { shown: format!("{scheme}://{authority}"), url: url.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(yaml: &str, variables: &[(&str, &str)]) -> Result<Analytics, String> {
        let raw: RawAnalytics = serde_yaml::from_str(yaml).unwrap();
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        resolve(&raw, from_environment(variable)?, variable)
    }

    #[test]
    fn it_is_off_until_somebody_names_an_endpoint_or_switches_it_on() {
        const OUTSIDE: (&str, &str) = ("ANALYTICS_ENDPOINT", "https://other.example/x");
        let url = |said: &Analytics| said.endpoint.as_ref().map(|endpoint| endpoint.url.clone());
        for (yaml, variables, enabled, endpoint) in [
            ("{}", &[][..], false, None),
            ("{endpoint: ''}", &[], false, None),
            ("{enabled: true}", &[], true, None),
            ("{endpoint: https://a.example/}", &[], true, Some("https://a.example/")),
            ("{enabled: false, endpoint: https://a.example/}", &[], false, Some("https://a.example/")),
            ("{enabled: false, endpoint: https://a.example/}", &[OUTSIDE], true, Some(OUTSIDE.1)),
            ("{}", &[OUTSIDE], true, Some(OUTSIDE.1)),
        ] {
            let said = resolved(yaml, variables).unwrap();
            assert_eq!((said.enabled, url(&said).as_deref()), (enabled, endpoint), "{yaml} {variables:?}");
        }
        assert_eq!(resolved("{}", &[("USERNAME", "b")]).unwrap().server_id, "dev-b");
        assert_eq!(resolved("{}", &[("USERNAME", "b"), ("USER", "a")]).unwrap().server_id, "dev-a");
    }

    #[test]
    fn wrong_values_are_refused_and_secrets_in_them_not_repeated() {
        for (yaml, part) in [
            ("{endpoint: 'ftp://a.example/'}", "analytics.endpoint must begin with"),
            ("{endpoint: '/only/a/path'}", "must begin with"),
            ("{endpoint: 'a.example'}", "must begin with"),
            ("{endpoint: 'https://me:secret@a.example/'}", "user name"),
            ("{endpoint: 'https://a b/secret'}", "is no address"),
            ("{endpoint: 'https://:80/'}", "is no address"),
            ("{interval_seconds: 0}", "analytics.interval_seconds is 0"),
            ("{interval_seconds: .nan}", "analytics.interval_seconds is NaN"),
            ("{timeout_seconds: 100000}", "analytics.timeout_seconds"),
            ("{buffer_max_bytes: 1}", "analytics.buffer_max_bytes is 1"),
        ] {
            let error = resolved(yaml, &[]).unwrap_err();
            assert!(error.contains(part) && !error.contains("secret"), "{yaml}: {error}");
        }
        let error = resolved("{}", &[("ANALYTICS_ENDPOINT", "x")]).unwrap_err();
        assert!(error.starts_with("ANALYTICS_ENDPOINT must"), "{error}");
    }

    #[test]
    fn only_the_host_of_an_endpoint_is_shown() {
        let endpoint = endpoint("https://hooks.example:8443/T000/secret?key=secret").unwrap();
        assert_eq!(endpoint.shown, "https://hooks.example:8443");
    }
}
