//! The bundled integrations, as their manifests describe them.

use sandbox::gate::read_only::PostPolicy;
use skillcell_artifacts::INTEGRATIONS;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bundled(usize);

/// What the host knows about a service. The component knows the rest.
#[derive(Debug)]
pub struct ServiceInfo {
    /// The public address. If there is none, the operator has to configure one.
    pub address: Option<&'static str>,
    /// What may be sent with `POST`.
    pub posts: PostPolicy,
    pub token_variable: &'static str,
    /// The header that carries the token, with its scheme if it has one.
    pub token_header: &'static str,
    pub token_required: bool,
    pub probe: Probe,
}

/// A read-only request that shows whether the token is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Relative to the address.
    pub path: &'static str,
    /// Sent with `POST`; without a body, the request is a `GET`.
    pub body: Option<&'static str>,
    /// JSON pointer to the account name in the response.
    pub account: Option<&'static str>,
}

/// Tests only whether the service responds.
pub const REACHABILITY: Probe = Probe { path: "", body: None, account: None };

impl Bundled {
    pub fn all() -> impl Iterator<Item = Self> {
        (0..INTEGRATIONS.len()).map(Self)
    }

    pub fn name(self) -> &'static str {
        INTEGRATIONS[self.0].name
    }

    pub fn info(self) -> ServiceInfo {
        let row = &INTEGRATIONS[self.0];
        ServiceInfo {
            address: row.address,
            posts: match row.posts {
                "questions" => PostPolicy::GraphqlQueries,
                "to-itself" => PostPolicy::ToBaseUrl,
                _ => PostPolicy::Nothing,
            },
            token_variable: row.token_variable,
            token_header: row.token_header,
            token_required: row.token_required,
            probe: Probe { path: row.probe_path, body: row.probe_body, account: row.probe_account },
        }
    }

    /// The component and its manifest.
    pub fn artifact(self) -> &'static skillcell_artifacts::Integration {
        &INTEGRATIONS[self.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrations_are_listed_in_the_order_of_their_manifests() {
        let names: Vec<&str> = Bundled::all().map(Bundled::name).collect();
        assert_eq!(names, ["github", "circleci", "linear", "gateway"]);
    }

    #[test]
    fn manifests_name_what_may_be_posted() {
        let known = ["nothing", "questions", "to-itself"];
        let unknown = INTEGRATIONS.iter().find(|row| !known.contains(&row.posts)).map(|row| row.posts);
        assert_eq!(unknown, None);
    }
}
