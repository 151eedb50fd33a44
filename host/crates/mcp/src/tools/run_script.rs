//! `run_script`: a script of a skill, in the sandbox.

use super::{Tool, ToolName, read_only};
use crate::answer::{Answer, ToolError};
use crate::server::Server;
use analytics::Event;
use call::Call;
use rmcp::model::ToolAnnotations;
use schemars::JsonSchema;
use scripts::{Request, ScriptError};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use views::run::{RunView, policy_view};

#[derive(Deserialize, JsonSchema)]
pub struct RunScript {
    /// Path of the skill, as answers give it
    skill_path: String,
    /// Path of the script below the skill's resource folder, such as `scripts/check.py`
    file: String,
    /// Named arguments, as the script declares them; an empty object if it has none
    args: BTreeMap<String, String>,
    /// Absolute path of the project, which the script sees as /work if that is granted
    cwd: Option<PathBuf>,
    /// Only report what the script would get and what is refused; run nothing
    dry_run: Option<bool>,
}

impl Tool for RunScript {
    const NAME: &'static str = "run_script";
    const TITLE: &'static str = "Run a script of a skill";
    const PURPOSE: &'static str = "Run a script that a skill declares with `execution: server`, in a sandbox: it sees the \
        skill's files, an empty /tmp, and only what the operator granted. Use it when a skill's instructions or its \
        `scripts` name it.";
    const HINTS: &'static [(ToolName, &'static str)] =
        &[(ToolName::GetAsset, "read a script with `execution: claude` and run it yourself")];

    /// A script may write where the operator lets it, and reach the hosts that were granted.
    fn annotations() -> ToolAnnotations {
        read_only().read_only(false).destructive(true).idempotent(false).open_world(true)
    }

    async fn call(self, server: &Server, call: &Call) -> Result<Answer, ToolError> {
        let args_provided: Vec<String> = self.args.keys().cloned().collect();
        let request = Request {
            skill: self.skill_path,
            file: self.file,
            arguments: self.args,
            working_folder: self.cwd,
            dry_run: self.dry_run.unwrap_or_default(),
        };
        let answer = if request.dry_run {
            let policy = server.scripts.dry_run(request, call).await;
            policy.map(|policy| Answer::json(&policy_view(&policy, server.audience())))
        } else {
            server.scripts.run(request, call).await.map(|ran| {
                let skill_path = ran.policy.address.clone();
                let view = RunView::new(ran, server.audience());
                call.usage.record(event(&view, skill_path, args_provided));
                Answer::json(&view)
            })
        };
        match answer {
            Err(ScriptError::Denied(denied)) => Ok(Answer::Refused(denied.for_audience(server.audience()))),
            Err(ScriptError::Catalog(error)) => Err(error.into()),
            other => other.map_err(ToolError::Script),
        }
    }
}

fn event(run: &RunView, skill_path: String, args_provided: Vec<String>) -> Event {
    Event::ScriptExecuted {
        skill_path,
        file: run.script.clone(),
        execution_mode: "server",
        success: run.success,
        exit_code: run.exit_code,
        duration_ms: run.duration_ms,
        args_provided,
    }
}
