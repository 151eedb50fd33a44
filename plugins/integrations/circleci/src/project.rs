//! Maps a repository to its CircleCI project.

use integration_kit::http::encode;
use integration_kit::{Missing, QueryError, Question};

/// The public CircleCI.
const PUBLIC: &str = "https://circleci.com";

/// Its web pages.
const PUBLIC_PAGES: &str = "https://app.circleci.com";

/// A project, identified by its repository.
#[derive(Debug, PartialEq, Eq)]
pub struct Project {
    /// As in `octo-org/hello`.
    pub name: String,
    /// As in `gh/octo-org/hello`, for paths.
    pub slug: String,
    /// The web page of its pipelines.
    pub pages: String,
}

/// The service that hosts the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forge {
    GitHub,
    Bitbucket,
}

impl Project {
    pub fn of(question: &Question) -> Result<Self, QueryError> {
        let remote = question.repository.remote.as_ref().ok_or(QueryError::Missing(Missing::Remote))?;
        let is_public = question.address.eq_ignore_ascii_case(PUBLIC);
        let forge = forge(&remote.host, is_public).ok_or_else(|| {
            QueryError::Failed(format!(
                "CircleCI finds projects by their repository on github.com or bitbucket.org, and this one is on {}",
                remote.host
            ))
        })?;
        let is_segment = |name: &str| !["", ".", ".."].contains(&name);
        if !is_segment(&remote.owner) || !is_segment(&remote.name) {
            return Err(QueryError::NotFound(format!("a project for {}/{} in CircleCI", remote.owner, remote.name)));
        }
        let (short, long) = match forge {
            Forge::GitHub => ("gh", "github"),
            Forge::Bitbucket => ("bb", "bitbucket"),
        };
        let path = format!("{}/{}", encode(&remote.owner), encode(&remote.name));
        let base = if is_public { PUBLIC_PAGES } else { question.address.as_str() };
        Ok(Self {
            name: format!("{}/{}", remote.owner, remote.name),
            slug: format!("{short}/{path}"),
            pages: format!("{base}/pipelines/{long}/{path}"),
        })
    }
}

/// A self-hosted CircleCI builds code from a self-hosted GitHub, whatever its name.
fn forge(host: &str, is_public: bool) -> Option<Forge> {
    match host {
        "github.com" | "ssh.github.com" | "www.github.com" => Some(Forge::GitHub),
        "bitbucket.org" | "altssh.bitbucket.org" => Some(Forge::Bitbucket),
        _ if is_public => None,
        _ => Some(Forge::GitHub),
    }
}
