//! Resolves where Python packages come from.

use super::ConfigError;
use super::content::within;
use super::file::RawPackages;
use packages::download::{IndexAddress, InvalidIndex, Options, certificates};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Allowed timeouts, in seconds: up to an hour.
const TIMEOUT_SECONDS: RangeInclusive<u64> = 1..=3600;

pub fn resolve(raw: RawPackages, path: impl Fn(&str) -> PathBuf) -> Result<Options, String> {
    let defaults = Options::default();
    let invalid = |error: InvalidIndex| format!("packages.index: {error}");
    let index = raw.index.map(|text| text.parse::<IndexAddress>()).transpose().map_err(invalid)?;
    let timeout = within("packages.timeout_seconds", raw.timeout_seconds, TIMEOUT_SECONDS)?;
    let certificates = raw.ca_file.map(|file| read_certificates(&path(&file))).transpose();
    Ok(Options {
        index: index.unwrap_or(defaults.index),
        certificates: certificates.map_err(|reason| format!("packages.ca_file {reason}"))?.unwrap_or_default(),
        timeout: timeout.map_or(defaults.timeout, Duration::from_secs),
    })
}

/// Applies what the machine is set up with for pip. Only commands that download packages depend on it.
pub fn with_environment(
    mut options: Options,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Options, ConfigError> {
    let invalid = |name: &str, reason: String| ConfigError::Outside(format!("{name}: {reason}"));
    if let Some(text) = variable("PIP_INDEX_URL") {
        options.index = text.parse().map_err(|error: InvalidIndex| invalid("PIP_INDEX_URL", error.to_string()))?;
    }
    if let Some(file) = variable("PIP_CERT") {
        options.certificates = read_certificates(Path::new(&file)).map_err(|reason| invalid("PIP_CERT", reason))?;
    }
    Ok(options)
}

fn read_certificates(path: &Path) -> Result<Vec<u8>, String> {
    let unusable = |reason: String| format!("{} cannot be used: {reason}", path.display());
    let bytes = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
    let count = certificates(&bytes).map_err(unusable)?.len();
    if count == 0 { Err(unusable("it contains no PEM certificate".to_owned())) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(yaml: &str) -> Result<Options, String> {
        resolve(serde_yaml::from_str(yaml).unwrap(), |text| PathBuf::from("/etc").join(text))
    }

    #[test]
    fn the_environment_of_pip_overrides_the_file() {
        let options = resolved("{index: 'https://h/simple', timeout_seconds: 5}").unwrap();
        assert_eq!(
            (options.index.to_string().as_str(), options.timeout),
            ("https://h/simple/", Duration::from_secs(5))
        );
        let variable = |name: &str| (name == "PIP_INDEX_URL").then(|| "https://mirror/pypi".to_owned());
        assert_eq!(with_environment(options.clone(), variable).unwrap().index.to_string(), "https://mirror/pypi/");
        assert!(with_environment(options, |_| Some("http://mirror/secret".to_owned())).is_err());
    }

    #[test]
    fn invalid_settings_are_refused() {
        for (yaml, part) in [
            ("{index: 'http://h/simple'}", "packages.index: it is not the address"),
            ("{ca_file: missing.pem}", "packages.ca_file /etc/missing.pem cannot be used"),
            ("{timeout_seconds: 0}", "packages.timeout_seconds"),
        ] {
            let message = resolved(yaml).unwrap_err();
            assert!(message.contains(part), "{yaml}: {message}");
        }
    }
}
