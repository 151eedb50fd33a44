//! The MCP server: the handlers of all methods.

#![expect(deprecated, reason = "log levels exist only in older revisions")]

use crate::answer::{self, Answer, Result, invalid};
use crate::methods::{self, is_stateless, knows_structured};
use crate::notifications::{self, Hub, Subscribed, Subscription};
use crate::progress::{self, LogFilter};
use crate::requests::{Cancellations, guarded};
use crate::surface::Surface;
use crate::texts::{self, Texts};
use crate::tools::ToolName;
use crate::unlisted::Unlisted;
use crate::{completion, extension, http, paging, prompts, resources};
use analytics::Usage;
use base::printable::printable;
use call::{Call, Caller, Client, Principal, Progress};
use catalog::{Catalog, Index};
use git::Repositories;
use guests::engine::Terms;
use hyper::http::request::Parts;
use integrations::Integrations;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, ExtensionCapabilities, GetPromptRequestParams, GetPromptResponse, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::object;
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use scripts::Scripts;
use serde_json::{Value, json};
use std::ops::Deref;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;

/// How long a handshake waits for the first index. After that it answers without the catalog.
const FIRST_INDEX_TIMEOUT: Duration = Duration::from_millis(100);

type Context = RequestContext<RoleServer>;

/// The server of one client. Cloned for each request.
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
    principal: Principal,
    pub cancellations: Cancellations,
    subscribed: Arc<Subscribed>,
    log_filter: LogFilter,
    usage: Usage,
}

/// What the servers of all clients share.
pub struct Shared {
    pub catalog: Catalog,
    pub surface: Surface,
    /// Whether the skills never change after the start.
    pub frozen: bool,
    pub terms: Terms,
    pub scripts: Scripts,
    pub integrations: Integrations,
    pub repositories: Repositories,
    pub transport: Transport,
    pub state: State,
}

#[derive(Default)]
pub struct State {
    pub hub: Hub,
    pub unlisted: Unlisted,
    /// Locked while the files of many skills are read.
    pub hashing: Mutex<()>,
    /// Locked while `refresh_skills` runs.
    pub refreshing: Mutex<()>,
    texts: std::sync::Mutex<Option<Arc<Texts>>>,
}

/// How clients connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// From the same machine, where paths are of use.
    Stdio,
    /// From any machine, so answers contain `skill://` URIs instead of paths. Notifications reach a client only through
    /// `subscriptions/listen`.
    Http,
}

impl Deref for Server {
    type Target = Shared;
    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Server {
    pub fn new(shared: Shared, cancellations: Cancellations, usage: Usage) -> Self {
        let principal = match shared.transport {
            Transport::Stdio => Principal::local_user(),
            Transport::Http => Principal::Operator,
        };
        let (subscribed, log_filter) = (Arc::default(), LogFilter::default());
        Self { shared: Arc::new(shared), principal, cancellations, subscribed, log_filter, usage }
    }

    fn call(&self, context: &Context, progress: Progress) -> Call {
        let client = context.client_info().map(|client| Client { name: client.name, version: client.version });
        let session = header(context, http::SESSION);
        let usage = self.usage_of(context, client.as_ref(), session.as_ref());
        let caller = Caller { principal: self.principal.clone(), client, session };
        Call { caller, cancelled: self.cancellations.token(context), progress, usage }
    }

    /// Returns the recorder of a client. Over HTTP it is recognized by its session, else by the name it gives itself.
    fn usage_of(&self, context: &Context, client: Option<&Client>, session: Option<&String>) -> Usage {
        if self.transport == Transport::Stdio || !self.usage.is_enabled() {
            return self.usage.clone();
        }
        let name = || client.map(|client| format!("{} {}", client.name, client.version));
        let client = session.cloned().or_else(name).or_else(|| header(context, "user-agent"));
        self.usage.for_client(&client.unwrap_or_default())
    }

    async fn answer(&self, request: CallToolRequestParams, call: &Call) -> Result<Answer> {
        let offered = ToolName::find(&request.name).filter(|tool| self.surface.tools.contains(tool));
        let Some(tool) = offered else {
            return Err(invalid(format!("there is no tool `{}`: see tools/list", printable(&request.name))));
        };
        call.usage.record_call(tool.name());
        tool.call(self, request.arguments, call).await
    }
}

/// Returns a header of a request over HTTP.
fn header(context: &Context, name: &str) -> Option<String> {
    let value = context.extensions.get::<Parts>()?.headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

impl Shared {
    /// Returns the index of all skills as they are on disk now.
    pub async fn fresh_index(&self) -> Result<Arc<Index>> {
        self.catalog.fresh_index().await.map_err(answer::failed)
    }

    /// Returns the texts that depend on these skills. Those of the newest generation are cached.
    pub fn texts(&self, index: &Index) -> Arc<Texts> {
        let cached = || self.state.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(texts) = cached().as_ref().filter(|texts| texts.generation == index.generation) {
            return Arc::clone(texts);
        }
        let texts = Arc::new(Texts::new(index, &self.surface, |skill| self.shown_document(skill)));
        let mut cached = cached();
        if cached.as_ref().is_none_or(|cached| cached.generation < texts.generation) {
            *cached = Some(Arc::clone(&texts));
        }
        texts
    }

    fn implementation(&self) -> Implementation {
        Implementation::new(self.surface.server_name, env!("CARGO_PKG_VERSION"))
    }

    fn instructions(&self) -> String {
        match self.catalog.last_index() {
            Some(index) => self.texts(&index).instructions.clone(),
            None => texts::introduction(&self.surface),
        }
    }

    /// Waits briefly for the first index, so that a handshake can list the skills.
    async fn first_index(&self) {
        let _ = tokio::time::timeout(FIRST_INDEX_TIMEOUT, self.catalog.index()).await;
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut extensions = ExtensionCapabilities::new();
        extensions.insert(extension::NAME.to_owned(), object!({"directoryRead": true}));
        let mut capabilities = ServerCapabilities::builder()
            .enable_extensions_with(extensions)
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        if self.frozen {
            methods::without_notifications(&mut capabilities);
        }
        ServerConfig::new(capabilities).with_server_info(self.implementation()).with_instructions(self.instructions())
    }

    async fn initialize(&self, request: InitializeRequestParams, context: Context) -> Result<InitializeResult> {
        self.first_index().await;
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        result.capabilities.logging = Some(serde_json::Map::new());
        if self.transport == Transport::Http {
            // Nothing can be sent to such a client between its requests.
            methods::without_notifications(&mut result.capabilities);
        }
        Ok(result)
    }

    async fn discover(&self, _: Context) -> Result<DiscoverResult> {
        self.first_index().await;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.transport == Transport::Stdio {
            notifications::forward(self, context.peer, Arc::clone(&self.subscribed));
        }
    }

    async fn set_level(&self, request: SetLevelRequestParams, context: Context) -> Result<()> {
        if is_stateless(&context) {
            return Err(methods::unknown("logging/setLevel"));
        }
        self.log_filter.set(request.level);
        Ok(())
    }

    async fn list_tools(&self, request: Option<PaginatedRequestParams>, context: Context) -> Result<ListToolsResult> {
        paging::no_cursor(request.and_then(|request| request.cursor))?;
        let index = self.fresh_index().await?;
        let texts = self.texts(&index);
        let structured = knows_structured(&context);
        let tools = self.surface.listed().map(|tool| tool.describe(self, &texts, structured));
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Result<CallToolResponse> {
        let is_question = ToolName::find(&request.name) == Some(ToolName::Query);
        let (progress, sender) = progress::start(&context, is_question.then_some(&self.log_filter));
        let call = self.call(&context, progress);
        let answer = guarded(self.answer(request, &call)).await;
        drop(call);
        progress::finish(sender).await;
        let mut answer = answer?;
        answer.structured_content = answer.structured_content.filter(|_| knows_structured(&context));
        Ok(answer.into())
    }

    async fn list_prompts(&self, request: Option<PaginatedRequestParams>, _: Context) -> Result<ListPromptsResult> {
        guarded(prompts::list(self, request.and_then(|request| request.cursor).as_deref())).await
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, context: Context) -> Result<GetPromptResponse> {
        Ok(guarded(prompts::get(self, request, &self.call(&context, Progress::default()))).await?.into())
    }

    async fn complete(&self, request: CompleteRequestParams, _: Context) -> Result<CompleteResult> {
        guarded(completion::complete(self, request)).await
    }

    async fn list_resources(&self, request: Option<PaginatedRequestParams>, _: Context) -> Result<ListResourcesResult> {
        guarded(resources::list(self, request.and_then(|request| request.cursor).as_deref())).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult> {
        paging::no_cursor(request.and_then(|request| request.cursor))?;
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse> {
        let call = self.call(&context, Progress::default());
        Ok(ReadResourceResult::new(guarded(resources::serve(self, &request.uri, &call)).await?).into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: Context) -> Result<()> {
        let unavailable = match self.transport {
            _ if self.frozen => Some("the server was started with --static, and nothing in it changes"),
            Transport::Http => Some("over HTTP a client listens with subscriptions/listen of revision 2026-07-28"),
            Transport::Stdio => None,
        };
        if let Some(message) = unavailable {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
        }
        guarded(resources::read(self, &request.uri)).await?;
        let subscription = Subscription::new(self, &request.uri).await?;
        self.subscribed.subscriptions().insert(request.uri, subscription);
        Ok(())
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, _: Context) -> Result<()> {
        self.subscribed.subscriptions().remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(notifications::accept(self, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<()> {
        notifications::listen(self, context).await;
        Ok(())
    }

    async fn on_custom_request(&self, request: CustomRequest, context: Context) -> Result<CustomResult> {
        let method = request.method.as_str();
        let stateless = is_stateless(&context);
        if let Some(mut answer) = guarded(extension::answer(self, method, request.params.as_ref())).await? {
            if stateless {
                answer.insert("resultType".to_owned(), json!("complete"));
                let server = json!({"io.modelcontextprotocol/serverInfo": self.implementation()});
                answer.insert("_meta".to_owned(), server);
            }
            return Ok(CustomResult::new(Value::Object(answer)));
        }
        Err(methods::refusal(method, request.params.as_ref(), stateless))
    }
}
