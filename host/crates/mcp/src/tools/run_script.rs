//! `run_script`: a script of a skill, in the sandbox.

use super::{Hints, Tool, ToolName, read_only};
use crate::answer::{self, Answer, Result, failed};
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
    const HINTS: Hints = &[(ToolName::GetAsset, "read a script with `execution: claude` and run it yourself")];

    /// A script may write where the operator lets it, and reach the hosts that were granted.
    fn annotations() -> ToolAnnotations {
        read_only().read_only(false).destructive(true).idempotent(false).open_world(true)
    }

    async fn call(self, server: &Server, call: &Call) -> Result<Answer> {
        let Self { skill_path: skill, file, args: arguments, cwd: working_folder, dry_run } = self;
        let args_provided: Vec<String> = arguments.keys().cloned().collect();
        let dry_run = dry_run.unwrap_or_default();
        let request = Request { skill, file, arguments, working_folder, dry_run };
        let answer = if dry_run {
            let policy = server.scripts.dry_run(request, call).await;
            policy.map(|policy| answer::json(&policy_view(&policy, server.audience())))
        } else {
            server.scripts.run(request, call).await.map(|ran| {
                let skill_path = ran.policy.address.clone();
                let view = RunView::new(ran, server.audience());
                call.usage.record(Event::ScriptExecuted {
                    skill_path,
                    file: view.script.clone(),
                    execution_mode: "server",
                    success: view.success,
                    exit_code: view.exit_code,
                    duration_ms: view.duration_ms,
                    args_provided,
                });
                answer::json(&view)
            })
        };
        match answer {
            Err(ScriptError::Denied(denied)) => Ok(answer::refused(denied.for_audience(server.audience()))),
            Err(ScriptError::Catalog(error)) => Err(failed(error)),
            other => other.map_err(|error| answer::internal(server.audience(), |who| error.for_audience(who))),
        }
    }
}
