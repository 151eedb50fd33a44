//! Why a question has no answer.

use base::place::{Audience, LocalReason};
use git::context::ContextError;
use guests::load::LoadError;

/// Why a question has no answer, and what to do next.
#[derive(Debug)]
pub enum Refusal {
    NoContext(ContextError),
    NoRecord(LocalReason),
    NotReady(NotReady),
    Component(LoadError),
    /// Before it was asked.
    Cancelled,
    /// The component or its service failed.
    Failed(String),
}

/// What has to be configured before an integration can be queried.
#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    #[error(
        "the integration `{name}` is disabled\nhint: set `integrations.{name}.enabled: true` in the operator's file"
    )]
    Disabled { name: String },
    #[error("no address is configured for `{name}`\nhint: set `integrations.{name}.address` in the operator's file")]
    NoAddress { name: String },
    #[error(
        "`{name}` needs a token, and the variable {variable} is not set\nhint: set {variable} to a token of the service and restart the server"
    )]
    NoToken { name: String, variable: String },
    #[error(
        "`{name}` needs a token, and the value of the variable {variable} is not a token\nhint: a token is one line of letters, digits and punctuation"
    )]
    UnusableToken { name: String, variable: String },
}

impl Refusal {
    pub fn for_audience(&self, audience: Audience) -> String {
        match self {
            Self::NoContext(error) => {
                let hint = match error {
                    ContextError::NoRepository => {
                        "start the server in the folder of the project that the question is about"
                    }
                    ContextError::Unreadable(_) => "run `git status` there",
                };
                format!("{}\nhint: {hint}", error.for_audience(audience))
            }
            Self::NoRecord(reason) => {
                format!("the question is not sent, because it cannot be recorded: {}", reason.for_audience(audience))
            }
            Self::NotReady(missing) => missing.to_string(),
            Self::Component(error) => error.for_audience(audience),
            Self::Cancelled => "the call was cancelled".to_owned(),
            Self::Failed(message) => message.clone(),
        }
    }
}
