//! Resolves the settings of analytics.

use super::content::within;
use super::file::RawAnalytics;
use analytics::options::{Endpoint, Options};
use std::ops::RangeInclusive;
use std::time::Duration;
use ureq::http::Uri;

/// Allowed intervals and timeouts, in seconds.
const SECONDS: RangeInclusive<f64> = 0.01..=86_400.0;

const DEFAULT_INTERVAL: Duration = Duration::from_secs(30);
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of unsent events on disk, in bytes.
const DEFAULT_BUFFER_BYTES: u64 = 10 << 20;

/// The smallest useful buffer, in bytes.
const MIN_BUFFER_BYTES: u64 = 64 << 10;

/// Reads the endpoint from the environment.
pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Endpoint>, String> {
    let endpoint = variable("ANALYTICS_ENDPOINT").map(|url| endpoint(url.trim())).transpose();
    endpoint.map_err(|reason| format!("ANALYTICS_ENDPOINT {reason}"))
}

/// The environment takes precedence over the file: an endpoint there also enables analytics.
pub fn resolve(
    raw: &RawAnalytics,
    from_environment: Option<Endpoint>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Options, String> {
    let seconds = |name: &str, value: Option<f64>| {
        within(&format!("analytics.{name}"), value, SECONDS).map(|value| value.map(Duration::from_secs_f64))
    };
    let max_bytes = raw.buffer_max_bytes.unwrap_or(DEFAULT_BUFFER_BYTES);
    if max_bytes < MIN_BUFFER_BYTES {
        return Err(format!("analytics.buffer_max_bytes is {max_bytes}, and must be at least {MIN_BUFFER_BYTES}"));
    }
    let from_file = raw.endpoint.as_deref().map(str::trim).filter(|url| !url.is_empty());
    let from_file = from_file.map(endpoint).transpose().map_err(|reason| format!("analytics.endpoint {reason}"))?;
    let user = variable("USER").or_else(|| variable("USERNAME")).unwrap_or_else(|| "unknown".to_owned());
    Ok(Options {
        enabled: from_environment.is_some() || raw.enabled.unwrap_or(from_file.is_some()),
        endpoint: from_environment.or(from_file),
        interval: seconds("interval_seconds", raw.interval_seconds)?.unwrap_or(DEFAULT_INTERVAL),
        timeout: seconds("timeout_seconds", raw.timeout_seconds)?.unwrap_or(DEFAULT_TIMEOUT),
        include_text: raw.include_text.unwrap_or(false),
        max_bytes,
        server_id: format!("dev-{user}"),
    })
}

/// Checks the URL of an endpoint. Errors do not repeat it, because it may be a secret.
fn endpoint(url: &str) -> Result<Endpoint, &'static str> {
    let invalid = "is not a valid URL: write it as in `https://events.example.com/skills`";
    let parsed: Uri = url.parse().map_err(|_| invalid)?;
    let Some(scheme @ ("http" | "https")) = parsed.scheme_str() else {
        return Err("must begin with `http://` or `https://`");
    };
    let authority = parsed.authority().ok_or(invalid)?;
    if authority.as_str().contains('@') {
        return Err(
            "must not contain a user name or password: put a token in the path, or a proxy in front of the endpoint",
        );
    }
    if authority.host().is_empty() {
        return Err(invalid);
    }
    Ok(Endpoint { redacted: format!("{scheme}://{authority}"), url: url.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::lookup;

    fn resolved(yaml: &str, variables: &[(&str, &str)]) -> Result<Options, String> {
        let raw: RawAnalytics = serde_yaml::from_str(yaml).unwrap();
        resolve(&raw, from_environment(lookup(variables))?, lookup(variables))
    }

    #[test]
    fn analytics_is_disabled_until_enabled_or_given_an_endpoint() {
        const FROM_ENVIRONMENT: (&str, &str) = ("ANALYTICS_ENDPOINT", "https://other.example/x");
        let url = |options: &Options| options.endpoint.as_ref().map(|endpoint| endpoint.url.clone());
        for (yaml, variables, enabled, endpoint) in [
            ("{}", &[][..], false, None),
            ("{endpoint: ''}", &[], false, None),
            ("{enabled: true}", &[], true, None),
            ("{endpoint: https://a.example/}", &[], true, Some("https://a.example/")),
            ("{enabled: false, endpoint: https://a.example/}", &[], false, Some("https://a.example/")),
            ("{enabled: false, endpoint: https://a.example/}", &[FROM_ENVIRONMENT], true, Some(FROM_ENVIRONMENT.1)),
            ("{}", &[FROM_ENVIRONMENT], true, Some(FROM_ENVIRONMENT.1)),
        ] {
            let options = resolved(yaml, variables).unwrap();
            assert_eq!((options.enabled, url(&options).as_deref()), (enabled, endpoint), "{yaml} {variables:?}");
        }
        assert_eq!(resolved("{}", &[("USERNAME", "b")]).unwrap().server_id, "dev-b");
        assert_eq!(resolved("{}", &[("USERNAME", "b"), ("USER", "a")]).unwrap().server_id, "dev-a");
    }

    #[test]
    fn invalid_values_are_refused_without_repeating_secrets() {
        for (yaml, part) in [
            ("{endpoint: 'ftp://a.example/'}", "analytics.endpoint must begin with"),
            ("{endpoint: '/only/a/path'}", "must begin with"),
            ("{endpoint: 'a.example'}", "must begin with"),
            ("{endpoint: 'https://me:secret@a.example/'}", "user name"),
            ("{endpoint: 'https://a b/secret'}", "is not a valid URL"),
            ("{endpoint: 'https://:80/'}", "is not a valid URL"),
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
        assert_eq!(endpoint.redacted, "https://hooks.example:8443");
    }
}
