//! The integrations in this binary: a row of data for each.

use crate::sandbox::gate::reading::Posts;

/// An integration that is in this binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bundled {
    Github,
    Circleci,
    Linear,
    Gateway,
}

/// What the host knows about a service. Everything else is the component's business.
#[derive(Debug)]
pub struct Row {
    name: &'static str,
    /// Where everybody finds it. Without one the operator has to say where it is.
    pub address: Option<&'static str>,
    /// What may be sent there besides `GET`.
    pub posts: Posts,
    /// The variable with the token, the header that carries it, and what stands there before it.
    pub token_variable: &'static str,
    pub token_header: &'static str,
    /// Whether nobody is answered without one.
    pub token_required: bool,
    pub probe: Probe,
}

/// A request that changes nothing and shows whether the token is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Below the address.
    pub path: &'static str,
    /// Sent by `POST` if there is one.
    pub question: Option<&'static str>,
    /// Where the answer says who asks, as a JSON pointer.
    pub who: Option<&'static str>,
}

/// Asks whether anybody is there.
pub const KNOCK: Probe = Probe { path: "", question: None, who: None };

impl Bundled {
    pub const ALL: [Self; 4] = [Self::Github, Self::Circleci, Self::Linear, Self::Gateway];

    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The component as native code.
    pub fn code(self) -> &'static [u8] {
        match self {
            Self::Github => skillcell_artifacts::GITHUB,
            Self::Circleci => skillcell_artifacts::CIRCLECI,
            Self::Linear => skillcell_artifacts::LINEAR,
            Self::Gateway => skillcell_artifacts::GATEWAY,
        }
    }
}

/// In the order of [`Bundled`].
static ROWS: [Row; 4] = [
    Row {
        name: "github",
        address: Some("https://api.github.com"),
        posts: Posts::Nothing,
        token_variable: "GITHUB_TOKEN",
        token_header: "Authorization: Bearer",
        token_required: true,
        probe: Probe { path: "/user", question: None, who: Some("/login") },
    },
    Row {
        name: "circleci",
        address: Some("https://circleci.com"),
        posts: Posts::Nothing,
        token_variable: "CIRCLECI_TOKEN",
        token_header: "Circle-Token",
        token_required: true,
        probe: Probe { path: "/api/v2/me", question: None, who: Some("/login") },
    },
    Row {
        name: "linear",
        address: Some("https://api.linear.app"),
        posts: Posts::Questions,
        token_variable: "LINEAR_API_KEY",
        token_header: "Authorization",
        token_required: true,
        probe: Probe {
            path: "/graphql",
            question: Some(r#"{"query":"{ viewer { name } }"}"#),
            who: Some("/data/viewer/name"),
        },
    },
    Row {
        name: "gateway",
        address: None,
        posts: Posts::ToItself,
        token_variable: "SKILLCELL_GATEWAY_TOKEN",
        token_header: "Authorization: Bearer",
        token_required: false,
        probe: KNOCK,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_row() {
        assert_eq!(Bundled::ALL.map(Bundled::name), ["github", "circleci", "linear", "gateway"]);
    }
}
