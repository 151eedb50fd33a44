//! The request that is sent to the service.

use integration_kit::http::Request;
use integration_kit::json::{Value, json};
use integration_kit::{Question, Repository};

/// The services that a question can be about, as named in `integration`.
const SERVICES: [&str; 3] = ["github", "circleci", "linear"];

/// Builds the request with the question and its context.
pub fn request(question: &Question) -> Request {
    Request::post(question.address.as_str(), body(question).to_string().into_bytes())
        .with("user-agent", "skillcell")
        .with("content-type", "application/json")
        .with("accept", "text/event-stream, application/json;q=0.9, text/plain;q=0.8")
}

/// `provider`, `repoUrl` and `commitSha` repeat other fields under the names that services for `sx` expect.
fn body(question: &Question) -> Value {
    let repository = &question.repository;
    let address = address(repository);
    let service = service(&question.text);
    json!({
        "query": question.text,
        "integration": service,
        "provider": service.map(str::to_uppercase),
        "context": {
            "repository": address,
            "branch": repository.branch,
            "commit": repository.commit,
            "repoUrl": address,
            "commitSha": repository.commit,
        },
    })
}

fn address(repository: &Repository) -> Option<String> {
    let remote = repository.remote.as_ref()?;
    let place = if remote.owner.is_empty() { String::new() } else { format!("{}/", remote.owner) };
    Some(format!("https://{}/{place}{}", remote.host, remote.name))
}

/// Returns the one service that the question names; none if it names none or several.
fn service(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|char: char| !char.is_alphanumeric()).collect();
    let mut named = SERVICES.into_iter().filter(|service| words.contains(service));
    let first = named.next();
    first.filter(|_| named.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_is_the_one_that_is_named() {
        assert_eq!(service("Get my issues in Linear"), Some("linear"));
        assert_eq!(service("What failed on CircleCI?"), Some("circleci"));
        assert_eq!(service("Did GitHub or CircleCI fail?"), None);
        assert_eq!(service("Make it linearly faster"), None);
    }
}
