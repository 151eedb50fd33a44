//! The MCP server: which methods there are, and what happens when one is called.

use crate::catalog::Catalog;
use crate::config::Config;
use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::Arguments;
use crate::mcp::requests::Cancellations;
use crate::mcp::tools::{self, ToolName};
use crate::mcp::{get_asset, get_skill, list_skills, run_script, skills_list, skills_search};
use crate::printable::printable;
use crate::scripts::{Progress, Scripts};
use crate::worlds::engine::Terms;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The first revision whose clients know structured answers.
const STRUCTURED_SINCE: &str = "2025-06-18";

/// Clients show this to the model before any tool, so it says when to use which.
const INSTRUCTIONS: &str = "\
This server holds the team's skills: instructions for tasks, with templates, references and scripts. Before you begin a \
task, call get_skill with a sentence about it and follow what comes back. If several skills fit, it lists them: call it again \
with the skill_path of one. skills_search finds a word in all skills, list_skills shows them as a tree, skills_list as a flat \
list. get_asset reads a file that a skill mentions. run_script runs a skill's script in a sandbox.";

/// Methods that rmcp knows. When one of them arrives as a custom request, its parameters could not be read.
const KNOWN_METHODS: [&str; 16] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
    "tasks/get",
];

/// Everything a request may need. Cloned for each.
#[derive(Clone)]
pub struct Skillcell {
    pub catalog: Catalog,
    pub config: Arc<Config>,
    pub terms: Terms,
    pub scripts: Scripts,
    pub cancellations: Cancellations,
}

impl Skillcell {
    async fn call(
        &self,
        request: CallToolRequestParams,
        cancelled: CancellationToken,
        progress: Progress,
    ) -> Result<Answer, ErrorData> {
        let Some(tool) = ToolName::called(&request.name) else {
            let message = format!("there is no tool `{}`", printable(&request.name));
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = Arguments::new(request.arguments);
        let answer: Result<Answer, ToolError> = match tool {
            ToolName::GetSkill => get_skill::get_skill(self, arguments).await,
            ToolName::ListSkills => list_skills::list_skills(self, arguments).await,
            ToolName::GetAsset => get_asset::get_asset(self, arguments).await,
            ToolName::RunScript => run_script::run_script(self, arguments, cancelled, progress).await,
            ToolName::SkillsList => skills_list::skills_list(self, arguments).await,
            ToolName::SkillsSearch => skills_search::skills_search(self, arguments).await,
        };
        Ok(answer?)
    }
}

impl ServerHandler for Skillcell {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("skillcell", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list(knows_structured(&context))))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let structured = knows_structured(&context);
        let server = self.clone();
        let cancelled = self.cancellations.token(&context.id);
        let progress = progress(&context);
        let answer = guarded(async move { server.call(request, cancelled, progress).await }).await?;
        Ok(answer.into_result(structured).into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = printable(&request.method);
        if !KNOWN_METHODS.contains(&request.method.as_str()) {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}`"), None));
        }
        let parameter = |name: &str| request.params.as_ref().and_then(|params| params.get(name));
        let message = match request.method.as_str() {
            "tools/call" if parameter("name").is_none() => "name is required".to_owned(),
            "tools/call" if !parameter("name").is_some_and(Value::is_string) => "name must be a string".to_owned(),
            "tools/call" => "arguments must be an object".to_owned(),
            _ => format!("the parameters of `{method}` are missing or wrong"),
        };
        Err(ErrorData::invalid_params(message, None))
    }
}

/// Tells a client how a request goes, if it asked to be told.
fn progress(context: &RequestContext<RoleServer>) -> Progress {
    let Some(token) = context.meta.get_progress_token() else { return Arc::new(|_, _| {}) };
    let (peer, runtime) = (context.peer.clone(), tokio::runtime::Handle::current());
    Arc::new(move |progress, message| {
        let (peer, token) = (peer.clone(), token.clone());
        runtime.spawn(async move {
            let notification = ProgressNotificationParam::new(token, progress).with_message(message);
            // A client that is gone needs no progress.
            let _ = peer.notify_progress(notification).await;
        });
    })
}

/// Runs a request in a task of its own: rmcp sends no answer at all when a handler panics.
async fn guarded<T: Send + 'static>(
    request: impl Future<Output = Result<T, ErrorData>> + Send + 'static,
) -> Result<T, ErrorData> {
    tokio::spawn(request).await.unwrap_or_else(|panic| {
        tracing::error!("a request panicked: {panic}");
        Err(ErrorData::internal_error("the request failed inside the server: its log says where", None))
    })
}

fn knows_structured(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version.as_str() >= STRUCTURED_SINCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_answered_as_an_internal_error() {
        let answer: Result<(), ErrorData> = guarded(async { panic!("boom") }).await;
        assert_eq!(answer.unwrap_err().code, ErrorCode::INTERNAL_ERROR);
    }
}
