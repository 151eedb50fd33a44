//! Resolves the settings of integrations: where each service is, and which token it gets.

mod raw;

pub use raw::{RawIntegration, RawIntegrations};

use super::content::within;
use super::scorers::digest;
use base::printable::printable;
use hyper::Uri;
use hyper::header::HeaderName;
use integrations::options::{Bundled, Integration, Options, Source, Token, TokenValue};
use sandbox::gate::Target;
use sandbox::gate::read_only::{Credential, PostPolicy, Service};
use sandbox::hosts::{HostAccess, HostPattern, host_access};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;

const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
const DEFAULT_CACHE_TIME: Duration = Duration::from_mins(1);
const TIMEOUT_SECONDS: RangeInclusive<u64> = 1..=600;
const CACHE_SECONDS: RangeInclusive<u64> = 0..=3_600;

const MAX_NAME_LENGTH: usize = 64;

/// How a token is sent unless configured otherwise.
const DEFAULT_HEADER: &str = "Authorization: Bearer";

/// What the settings are resolved against.
pub struct ResolveContext<'a> {
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Resolves a path of the operator's file.
    pub path: &'a dyn Fn(&str) -> PathBuf,
}

pub fn resolve(mut raw: RawIntegrations, context: &ResolveContext) -> Result<Options, String> {
    let seconds = |name: &str, value, range| {
        within(&format!("integrations.{name}"), value, range).map(|value| value.map(Duration::from_secs))
    };
    let timeout = seconds("timeout_seconds", raw.timeout_seconds, TIMEOUT_SECONDS)?.unwrap_or(DEFAULT_TIMEOUT);
    let cache_time = seconds("cache_seconds", raw.cache_seconds, CACHE_SECONDS)?.unwrap_or(DEFAULT_CACHE_TIME);
    let mut all = Vec::new();
    for bundled in Bundled::all() {
        let name = bundled.artifact().name;
        let settings = raw.each.remove(name).unwrap_or_default();
        let invalid = |message| format!("integrations.{name}: {message}");
        if settings.file.is_some() || settings.sha256.is_some() {
            return Err(invalid(
                "`file` is for integrations of your own, and this one is built in\nhint: give yours another name"
                    .to_owned(),
            ));
        }
        let source = Source::Bundled(bundled);
        all.push(integration(name.to_owned(), source, settings, Some(bundled), context).map_err(invalid)?);
    }
    for (name, mut settings) in raw.each {
        let invalid = |message| format!("integrations.{}: {message}", printable(&name));
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        if name.is_empty() || name.len() > MAX_NAME_LENGTH || !name.chars().all(is_plain) {
            return Err(invalid("a name consists of 1 to 64 characters from `a-z`, `0-9` and `-`".to_owned()));
        }
        let Some(file) = settings.file.take().filter(|file| !file.trim().is_empty()) else {
            return Err(invalid(format!(
                "there is no such integration\nhint: choose from {}, or give the path of your own component with `file`",
                Bundled::all().map(|bundled| format!("`{}`", bundled.artifact().name)).collect::<Vec<_>>().join(", ")
            )));
        };
        let sha256 = settings.sha256.take().map(|text| digest("`sha256`", &text)).transpose().map_err(invalid)?;
        let source = Source::File { path: (context.path)(&file), sha256 };
        all.push(integration(name.clone(), source, settings, None, context).map_err(invalid)?);
    }
    Ok(Options { all, timeout, cache_time })
}

fn integration(
    name: String,
    source: Source,
    settings: RawIntegration,
    bundled: Option<Bundled>,
    context: &ResolveContext,
) -> Result<Integration, String> {
    let info = bundled.map(Bundled::artifact);
    let address = settings.address.as_deref().map(str::trim).filter(|address| !address.is_empty());
    let service = address.or(info.and_then(|info| info.address)).map(service).transpose()?;
    if service.is_none() && info.is_none() {
        return Err(
            "`address` is missing\nhint: write the address of its service, as in `https://api.example.com`".to_owned()
        );
    }
    let hosts: Result<Vec<HostPattern>, _> = settings.hosts.iter().map(|host| host.parse()).collect();
    let mut hosts = hosts.map_err(|invalid| format!("`hosts`: {invalid}"))?;
    if let Some(Service { target, .. }) = &service {
        hosts.push(target.to_string().parse().map_err(|_| INVALID_ADDRESS)?);
        if !target.secure && host_access(&hosts, &target.host, target.port) != HostAccess::Private {
            return Err(format!(
                "`address` is not encrypted\nhint: write it with `https://`, or grant `hosts: [\"private:{target}\"]` if it is on your own network"
            ));
        }
    }
    let certificates =
        settings.ca_file.map(|file| certificates(&(context.path)(&file))).transpose()?.unwrap_or_default();
    let token = token(settings.token_variable, settings.token_header.as_deref(), info, context)?;
    let posts = bundled.map_or(PostPolicy::GraphqlQueries, Bundled::posts);
    let enabled = settings.enabled.unwrap_or(true);
    Ok(Integration { name, source, enabled, service, hosts, certificates, posts, token })
}

/// Errors do not repeat the address, because it may contain a secret.
const INVALID_ADDRESS: &str = "`address` is not a valid URL\nhint: write it as in `https://api.example.com/v1`";

fn service(address: &str) -> Result<Service, &'static str> {
    let uri: Uri = address.parse().map_err(|_| INVALID_ADDRESS)?;
    if !matches!(uri.scheme_str(), Some("https" | "http")) {
        return Err("`address` must begin with `https://`");
    }
    if uri.authority().is_none_or(|authority| authority.as_str().contains('@')) {
        return Err(
            "`address` must not contain a user name or password\nhint: put a token into the variable named by `token_variable`",
        );
    }
    if uri.query().is_some() || address.contains('#') {
        return Err("`address` must not contain `?` or `#`");
    }
    let path = uri.path().trim_end_matches('/').to_owned();
    Ok(Service { target: Target::of(&uri).ok_or(INVALID_ADDRESS)?, path })
}

fn token(
    variable: Option<String>,
    header: Option<&str>,
    info: Option<&skillcell_artifacts::Integration>,
    context: &ResolveContext,
) -> Result<Option<Token>, &'static str> {
    let Some(name) = variable.or_else(|| info.map(|info| info.token_variable.to_owned())) else {
        return match header {
            None => Ok(None),
            Some(_) => Err("`token_header` is set without `token_variable`"),
        };
    };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    // Not repeated: the token itself may have been written there by mistake.
    if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) || !name.chars().all(is_name) {
        return Err(
            "`token_variable` is not the name of a variable\nhint: put the token into a variable, and write its name",
        );
    }
    let header = header.or(info.map(|info| info.token_header)).unwrap_or(DEFAULT_HEADER);
    let (header, scheme) = header.split_once(':').map_or((header, ""), |(header, scheme)| (header, scheme.trim()));
    let invalid = |_| "`token_header` is not a valid header\nhint: write it as in `Authorization: Bearer` or `X-Token`";
    let header: HeaderName = header.trim().to_ascii_lowercase().parse().map_err(invalid)?;
    let value = match (context.variable)(&name) {
        None => TokenValue::Missing,
        Some(text) => {
            let scheme = Some(scheme).filter(|scheme| !scheme.is_empty());
            Credential::new(header, scheme, text.trim()).map_or(TokenValue::Unusable, TokenValue::Set)
        }
    };
    Ok(Some(Token { variable: name, value, required: info.is_none_or(|info| info.token_required) }))
}

/// Reads PEM certificates, all of which must be valid.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unusable = |reason: String| format!("`ca_file`: cannot read certificates from {}: {reason}", path.display());
    let bytes = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
    let parsed: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let certificates: Vec<CertificateDer<'static>> = parsed.map_err(|error| unusable(error.to_string()))?;
    if certificates.is_empty() {
        return Err(unusable(
            "it contains none\nhint: it must be in PEM format, and begin with `-----BEGIN CERTIFICATE-----`".to_owned(),
        ));
    }
    let mut roots = RootCertStore::empty();
    for certificate in &certificates {
        roots.add(certificate.clone()).map_err(|error| unusable(error.to_string()))?;
    }
    Ok(certificates)
}

#[cfg(test)]
mod tests;
