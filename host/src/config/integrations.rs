//! Which services can be asked, where they are and who asks them, made sure of.

mod raw;

pub use raw::{RawIntegration, RawIntegrations};

use super::content::within;
use super::scorers::digest;
use crate::grants::hosts::{HostPattern, Reach, reach};
use crate::integrations::bundled::{Bundled, Row};
use crate::printable::printable;
use crate::sandbox::gate::Target;
use crate::sandbox::gate::reading::{Credential, Posts, Service};
use crate::sha256::Sha256;
use hyper::Uri;
use hyper::header::HeaderName;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;

/// How long an answer may take, and how long it is given again, unless told otherwise; and what may be told, in seconds.
const TIMEOUT: Duration = Duration::from_mins(1);
const KEPT: Duration = Duration::from_mins(1);
const TIMEOUT_SECONDS: RangeInclusive<u64> = 1..=600;
const KEPT_SECONDS: RangeInclusive<u64> = 0..=3_600;

/// Longest name of an integration.
const LONGEST_NAME: usize = 64;

/// How a token is sent where nobody says it.
const USUAL_HEADER: &str = "Authorization: Bearer";

/// What the operator said about integrations.
#[derive(Debug)]
pub struct Integrations {
    pub all: Vec<Integration>,
    pub timeout: Duration,
    /// How long an answer is given again.
    pub kept: Duration,
}

/// A service that can be asked, and what asks it.
#[derive(Debug)]
pub struct Integration {
    pub name: String,
    pub source: Source,
    pub enabled: bool,
    /// Missing when there is no public one and nobody said another.
    pub service: Option<Service>,
    pub hosts: Vec<HostPattern>,
    /// Trusted besides the usual ones.
    pub certificates: Vec<CertificateDer<'static>>,
    pub posts: Posts,
    pub token: Option<Token>,
}

/// Where the component is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Bundled(Bundled),
    File { path: PathBuf, sha256: Option<Sha256> },
}

/// Who asks.
#[derive(Debug)]
pub struct Token {
    pub variable: String,
    pub value: TokenValue,
    /// Whether the service answers nobody without one.
    pub required: bool,
}

#[derive(Debug)]
pub enum TokenValue {
    Missing,
    /// No token looks like this.
    Unusable,
    Set(Credential),
}

impl Integration {
    /// Where the service is, as an integration is told. Without a slash at the end.
    pub fn address(&self) -> Option<String> {
        let Service { target, path } = self.service.as_ref()?;
        let (scheme, usual) = if target.secure { ("https", 443) } else { ("http", 80) };
        let host = if target.port == usual { target.host.clone() } else { target.to_string() };
        Some(format!("{scheme}://{host}{path}"))
    }
}

impl Integrations {
    pub fn named(&self, name: &str) -> Option<&Integration> {
        self.all.iter().find(|integration| integration.name == name)
    }

    /// The names of those that are switched on, those in this binary first.
    pub fn names(&self) -> Vec<String> {
        let enabled = self.all.iter().filter(|integration| integration.enabled);
        enabled.map(|integration| integration.name.clone()).collect()
    }
}

/// What it takes to understand the file.
pub struct Around<'a> {
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// A path in the operator's file.
    pub path: &'a dyn Fn(&str) -> PathBuf,
}

pub fn resolve(mut raw: RawIntegrations, around: &Around) -> Result<Integrations, String> {
    let seconds = |name: &str, said, range| {
        within(&format!("integrations.{name}"), said, range).map(|said| said.map(Duration::from_secs))
    };
    let timeout = seconds("timeout_seconds", raw.timeout_seconds, TIMEOUT_SECONDS)?.unwrap_or(TIMEOUT);
    let kept = seconds("cache_seconds", raw.cache_seconds, KEPT_SECONDS)?.unwrap_or(KEPT);
    let mut all = Vec::new();
    for bundled in Bundled::ALL {
        let said = raw.each.remove(bundled.name()).unwrap_or_default();
        let wrong = |message| format!("integrations.{}: {message}", bundled.name());
        if said.file.is_some() || said.sha256.is_some() {
            return Err(wrong(
                "`file` is for integrations of your own, and this one is part of the server\nhint: give yours another name"
                    .to_owned(),
            ));
        }
        let (row, source) = (bundled.row(), Source::Bundled(bundled));
        all.push(integration(bundled.name().to_owned(), source, said, Some(row), around).map_err(wrong)?);
    }
    for (name, mut said) in raw.each {
        let wrong = |message| format!("integrations.{}: {message}", printable(&name));
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
            return Err(wrong("a name has 1 to 64 of the letters a to z, digits and `-`".to_owned()));
        }
        let Some(file) = said.file.take().filter(|file| !file.trim().is_empty()) else {
            return Err(wrong(format!(
                "there is no such integration\nhint: choose from {}, or name the component of your own with `file`",
                Bundled::ALL.map(|bundled| format!("`{}`", bundled.name())).join(", ")
            )));
        };
        let sha256 = said.sha256.take().map(|text| digest("`sha256`", &text)).transpose().map_err(wrong)?;
        let source = Source::File { path: (around.path)(&file), sha256 };
        all.push(integration(name.clone(), source, said, None, around).map_err(wrong)?);
    }
    Ok(Integrations { all, timeout, kept })
}

fn integration(
    name: String,
    source: Source,
    said: RawIntegration,
    row: Option<&Row>,
    around: &Around,
) -> Result<Integration, String> {
    let address = said.address.as_deref().map(str::trim).filter(|address| !address.is_empty());
    let service = address.or(row.and_then(|row| row.address)).map(service).transpose()?;
    if service.is_none() && row.is_none() {
        return Err("it has no `address`\nhint: write where its service is, as in `https://api.example.com`".to_owned());
    }
    let hosts: Result<Vec<HostPattern>, _> = said.hosts.iter().map(|host| host.parse()).collect();
    let mut hosts = hosts.map_err(|invalid| format!("`hosts`: {invalid}"))?;
    if let Some(Service { target, .. }) = &service {
        hosts.push(target.to_string().parse().map_err(|_| WRONG_ADDRESS.to_owned())?);
        if !target.secure && reach(&hosts, &target.host, target.port) != Reach::Private {
            return Err(format!(
                "`address` is not encrypted\nhint: write it with `https://`, or grant `hosts: [\"private:{target}\"]` if it is a machine of your own network"
            ));
        }
    }
    let certificates = said.ca_file.map(|file| certificates(&(around.path)(&file))).transpose()?.unwrap_or_default();
    let token = token(said.token_variable, said.token_header.as_deref(), row, around)?;
    let posts = row.map_or(Posts::Questions, |row| row.posts);
    let enabled = said.enabled.unwrap_or(true);
    Ok(Integration { name, source, enabled, service, hosts, certificates, posts, token })
}

/// What is wrong is said without the address, which may hold a secret.
const WRONG_ADDRESS: &str = "`address` is no address of a service\nhint: write it as in `https://api.example.com/v1`";

fn service(address: &str) -> Result<Service, String> {
    let wrong = || WRONG_ADDRESS.to_owned();
    let uri: Uri = address.parse().map_err(|_| wrong())?;
    if !matches!(uri.scheme_str(), Some("https" | "http")) {
        return Err("`address` must begin with `https://`".to_owned());
    }
    if uri.authority().is_none_or(|authority| authority.as_str().contains('@')) {
        return Err(
            "`address` must not have a user name or password in it\nhint: put a token into the variable that `token_variable` names"
                .to_owned(),
        );
    }
    if uri.query().is_some() || address.contains('#') {
        return Err("`address` must end before `?` and `#`".to_owned());
    }
    let path = uri.path().trim_end_matches('/').to_owned();
    Ok(Service { target: Target::of(&uri).ok_or_else(wrong)?, path })
}

fn token(
    variable: Option<String>,
    header: Option<&str>,
    row: Option<&Row>,
    around: &Around,
) -> Result<Option<Token>, String> {
    let Some(name) = variable.or_else(|| row.map(|row| row.token_variable.to_owned())) else {
        return match header {
            None => Ok(None),
            Some(_) => Err("`token_header` says how a token is sent, and `token_variable` names none".to_owned()),
        };
    };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    // Somebody may have written the token itself there, so it is not repeated.
    if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) || !name.chars().all(is_name) {
        return Err(
            "`token_variable` is no name of a variable\nhint: put the token into a variable, and write its name"
                .to_owned(),
        );
    }
    let header = header.or(row.map(|row| row.token_header)).unwrap_or(USUAL_HEADER);
    let (header, scheme) = header.split_once(':').map_or((header, ""), |(header, scheme)| (header, scheme.trim()));
    let wrong = |_| "`token_header` is no header\nhint: write it as in `Authorization: Bearer` or `X-Token`".to_owned();
    let header: HeaderName = header.trim().to_ascii_lowercase().parse().map_err(wrong)?;
    let value = match (around.variable)(&name) {
        None => TokenValue::Missing,
        Some(text) => {
            let scheme = Some(scheme).filter(|scheme| !scheme.is_empty());
            Credential::new(header, scheme, text.trim()).map_or(TokenValue::Unusable, TokenValue::Set)
        }
    };
    Ok(Some(Token { variable: name, value, required: row.is_none_or(|row| row.token_required) }))
}

/// Certificates in PEM, all of which must be usable.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |reason: String| format!("`ca_file`: cannot read certificates from {}: {reason}", path.display());
    let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found: Vec<CertificateDer<'static>> = found.map_err(|error| wrong(error.to_string()))?;
    if found.is_empty() {
        return Err(wrong(
            "there is none\nhint: it must be in PEM, and begin with `-----BEGIN CERTIFICATE-----`".to_owned(),
        ));
    }
    let mut roots = RootCertStore::empty();
    for certificate in &found {
        roots.add(certificate.clone()).map_err(|error| wrong(error.to_string()))?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
