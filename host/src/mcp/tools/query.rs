//! `query`: a question to a service outside.

use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::{Arguments, WrongArguments};
use crate::mcp::server::Skillcell;
use crate::printable::printable;
use std::path::Path;

/// A service that can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integration {
    Github,
    Circleci,
    Linear,
    Gateway,
}

impl Integration {
    pub const ALL: [Self; 4] = [Self::Github, Self::Circleci, Self::Linear, Self::Gateway];

    pub fn name(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Circleci => "circleci",
            Self::Linear => "linear",
            Self::Gateway => "gateway",
        }
    }
}

pub fn query(server: &Skillcell, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let query = arguments.required_text("query")?;
    let name = arguments.required_text("integration")?;
    arguments.finish()?;
    for (name, value) in [("query", &query), ("integration", &name)] {
        if value.trim().is_empty() {
            return Err(WrongArguments(format!("{name} is required")).into());
        }
    }
    let Some(integration) = Integration::ALL.into_iter().find(|known| known.name() == name) else {
        let names: Vec<&str> = Integration::ALL.into_iter().map(Integration::name).collect();
        let message = format!("integration is `{}`, and must be one of {}", printable(&name), names.join(", "));
        return Err(WrongArguments(message).into());
    };
    if !in_repository(&server.config.roots.working_folder) {
        return Ok(Answer::Refused(
            "not in a git repository\nhint: start the server in the folder of the project you ask about".to_owned(),
        ));
    }
    Ok(Answer::Refused(format!(
        "the integration `{}` is not installed in this server\nhint: use the service's own tools",
        integration.name()
    )))
}

fn in_repository(folder: &Path) -> bool {
    folder.ancestors().any(|folder| folder.join(".git").exists())
}
