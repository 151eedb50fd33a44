//! The resolved settings of integrations.

use base::digest::Sha256;
use sandbox::gate::read_only::{Credential, PostPolicy, Service};
use sandbox::hosts::HostPattern;
use skillcell_artifacts::INTEGRATIONS;
use std::path::PathBuf;
use std::time::Duration;
use tokio_rustls::rustls::pki_types::CertificateDer;

#[derive(Debug)]
pub struct Options {
    pub all: Vec<Integration>,
    pub timeout: Duration,
    /// How long an answer is cached.
    pub cache_time: Duration,
}

/// A component and the service that it queries.
#[derive(Debug)]
pub struct Integration {
    pub name: String,
    pub source: Source,
    pub enabled: bool,
    /// `None` if no address is configured and there is no public one.
    pub service: Option<Service>,
    pub hosts: Vec<HostPattern>,
    /// Trusted in addition to the public authorities.
    pub certificates: Vec<CertificateDer<'static>>,
    pub posts: PostPolicy,
    pub token: Option<Token>,
}

/// Where the component comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Bundled(Bundled),
    File { path: PathBuf, sha256: Option<Sha256> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bundled(usize);

impl Bundled {
    pub fn all() -> impl Iterator<Item = Self> {
        (0..INTEGRATIONS.len()).map(Self)
    }

    /// The component, and what its manifest says about the service.
    pub fn artifact(self) -> &'static skillcell_artifacts::Integration {
        &INTEGRATIONS[self.0]
    }

    /// What may be sent with `POST`.
    pub fn posts(self) -> PostPolicy {
        match self.artifact().posts {
            "questions" => PostPolicy::GraphqlQueries,
            "to-itself" => PostPolicy::ToBaseUrl,
            _ => PostPolicy::Nothing,
        }
    }
}

#[derive(Debug)]
pub struct Token {
    pub variable: String,
    pub value: TokenValue,
    /// Whether the service requires a token.
    pub required: bool,
}

#[derive(Debug)]
pub enum TokenValue {
    Missing,
    /// The value cannot be sent in a header.
    Unusable,
    Set(Credential),
}

impl Integration {
    /// Whether everything is configured that a question needs.
    pub fn can_be_asked(&self) -> bool {
        let has_token = |token: &Token| !token.required || matches!(token.value, TokenValue::Set(_));
        self.enabled && self.service.is_some() && self.token.as_ref().is_none_or(has_token)
    }

    /// The address that the component is given, without a trailing slash.
    pub fn address(&self) -> Option<String> {
        let Service { target, path } = self.service.as_ref()?;
        let (scheme, default_port) = if target.secure { ("https", 443) } else { ("http", 80) };
        let host = if target.port == default_port { target.host.clone() } else { target.to_string() };
        Some(format!("{scheme}://{host}{path}"))
    }
}

impl Options {
    pub fn get(&self, name: &str) -> Option<&Integration> {
        self.all.iter().find(|integration| integration.name == name)
    }

    /// The names of the integrations that can be asked, bundled ones first.
    pub fn askable_names(&self) -> Vec<String> {
        let askable = self.all.iter().filter(|integration| integration.can_be_asked());
        askable.map(|integration| integration.name.clone()).collect()
    }

    /// The names of the enabled integrations, bundled ones first.
    pub fn names(&self) -> Vec<String> {
        let enabled = self.all.iter().filter(|integration| integration.enabled);
        enabled.map(|integration| integration.name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_integrations_keep_the_order_of_their_manifests_which_name_what_may_be_posted() {
        let names: Vec<&str> = INTEGRATIONS.iter().map(|row| row.name).collect();
        assert_eq!(names, ["github", "circleci", "linear", "gateway"]);
        let known = ["nothing", "questions", "to-itself"];
        assert_eq!(INTEGRATIONS.iter().map(|row| row.posts).find(|posts| !known.contains(posts)), None);
    }
}
