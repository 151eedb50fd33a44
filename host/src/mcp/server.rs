//! The MCP server: which methods there are, and what happens when one is called.

#![expect(deprecated, reason = "the newest revision has no log levels, and clients of the older ones ask for them")]

use crate::analytics::Usage;
use crate::bindings::types::Summary;
use crate::catalog::{Catalog, Index};
use crate::config::Config;
use crate::git::Repositories;
use crate::integrations::Integrations;
use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::Arguments;
use crate::mcp::left_out::LeftOut;
use crate::mcp::methods::{self, is_stateless, knows_structured};
use crate::mcp::notifications::{self, Hub, Subscribed, Subscription};
use crate::mcp::requests::{Cancellations, guarded};
use crate::mcp::surface::Surface;
use crate::mcp::telling::{self, Volume};
use crate::mcp::texts::{self, Texts};
use crate::mcp::tools::ToolName;
use crate::mcp::{completion, extension, http, paging, prompts, resources};
use crate::printable::printable;
use crate::scripts::{Progress, Scripts};
use crate::worlds::engine::Terms;
use hyper::http::request::Parts;
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
use serde_json::{Value, json};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// Longest that a handshake waits for the first list of skills. After that it does without the catalog.
const FIRST_WORDS: Duration = Duration::from_millis(100);

/// The server as one client talks to it. Cloned for each request.
#[derive(Clone)]
pub struct Skillcell {
    shared: Arc<Shared>,
    pub cancellations: Cancellations,
    subscribed: Arc<Subscribed>,
    volume: Volume,
    /// Where this client's doings are written down.
    pub usage: Usage,
}

/// Everything a request may need.
pub struct Shared {
    pub catalog: Catalog,
    pub config: Arc<Config>,
    pub terms: Terms,
    pub scripts: Scripts,
    pub integrations: Integrations,
    /// How clients reach the server, and so what a path on this machine is worth to them.
    pub reach: Reach,
    pub hub: Hub,
    pub left_out: LeftOut,
    /// Held while the files of many skills are read.
    pub hashing: Mutex<()>,
    /// Held while `refresh_skills` works.
    pub refreshing: Mutex<()>,
    pub repositories: Repositories,
    texts: texts::Cache,
}

/// How clients reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// On the same machine, so paths lead somewhere.
    Stdio,
    /// From anywhere, so answers name `skill://` URIs and no path. A session has no way back for notifications but
    /// `subscriptions/listen`.
    Http,
}

impl Deref for Skillcell {
    type Target = Shared;
    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Skillcell {
    pub fn new(
        catalog: Catalog,
        config: Arc<Config>,
        terms: Terms,
        scripts: Scripts,
        integrations: Integrations,
        reach: Reach,
        cancellations: Cancellations,
    ) -> Self {
        let repositories = Repositories::new(&config.git, config.roots.names_folders());
        let shared = Shared {
            catalog,
            config,
            terms,
            scripts,
            integrations,
            reach,
            hub: Hub::default(),
            left_out: LeftOut::default(),
            hashing: Mutex::default(),
            refreshing: Mutex::default(),
            repositories,
            texts: texts::Cache::default(),
        };
        Self {
            shared: Arc::new(shared),
            cancellations,
            subscribed: Arc::default(),
            volume: Volume::default(),
            usage: Usage::off(),
        }
    }

    pub fn with_usage(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }

    /// The server as the client of this request talks to it. Over HTTP there is only what it says about itself: the session
    /// that it was given, else its name.
    fn as_for(&self, context: &RequestContext<RoleServer>) -> Self {
        if self.reach == Reach::Stdio || !self.usage.is_on() {
            return self.clone();
        }
        let header = |name: &str| {
            let value = context.extensions.get::<Parts>()?.headers.get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let named = || context.client_info().map(|client| format!("{} {}", client.name, client.version));
        let client = header(http::SESSION).or_else(named).or_else(|| header("user-agent"));
        self.clone().with_usage(self.usage.of_client(&client.unwrap_or_default()))
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        cancelled: CancellationToken,
        progress: Progress,
    ) -> Result<Answer, ErrorData> {
        let offered = ToolName::called(&request.name).filter(|tool| self.surface().tools.contains(tool));
        let Some(tool) = offered else {
            let message = format!("there is no tool `{}`: tools/list tells what there is", printable(&request.name));
            return Err(ErrorData::invalid_params(message, None));
        };
        self.usage.called(tool.name());
        let called = tool.call(self, Arguments::new(request.arguments), cancelled, progress).await;
        called.map_err(|error| {
            let mut error = ErrorData::from(error);
            error.message = self.shown_message(error.message.into_owned()).into();
            error
        })
    }
}

impl Shared {
    pub fn surface(&self) -> &Surface {
        &self.config.surface
    }

    /// All skills as they are on disk now.
    pub async fn fresh_index(&self) -> Result<Arc<Index>, ErrorData> {
        Ok(self.catalog.fresh_index().await.map_err(ToolError::from)?)
    }

    /// The texts that tell about these skills.
    pub fn texts(&self, index: &Index) -> Arc<Texts> {
        self.texts.get(index.generation).unwrap_or_else(|| {
            let location = |skill: &Summary| self.shown_document(skill);
            let texts = Arc::new(Texts::new(index, self.surface(), location));
            self.texts.keep(&texts);
            texts
        })
    }

    fn instructions(&self) -> String {
        match self.catalog.last_index() {
            Some(index) => self.texts(&index).instructions.clone(),
            None => texts::introduction(self.surface()),
        }
    }

    /// Gives the first list of skills a moment, so that the first words of the server can name them.
    async fn first_index(&self) {
        let _ = tokio::time::timeout(FIRST_WORDS, self.catalog.index()).await;
    }
}

impl ServerHandler for Skillcell {
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
        if self.config.frozen {
            methods::tells_nothing(&mut capabilities);
        }
        ServerConfig::new(capabilities).with_server_info(self.implementation()).with_instructions(self.instructions())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.first_index().await;
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        result.capabilities.logging = Some(serde_json::Map::new());
        if self.reach == Reach::Http {
            // There is no way back to such a client between its requests.
            methods::tells_nothing(&mut result.capabilities);
        }
        Ok(result)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        self.first_index().await;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.reach == Reach::Stdio {
            notifications::pass_on(self, context.peer, Arc::clone(&self.subscribed));
        }
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_stateless(&context) {
            return Err(methods::unknown("logging/setLevel"));
        }
        self.volume.set(request.level);
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        paging::no_cursor(request.and_then(|request| request.cursor))?;
        let index = self.fresh_index().await?;
        let texts = self.texts(&index);
        let (surface, structured) = (self.surface(), knows_structured(&context));
        let (integrations, catalog) = (self.config.integrations.names(), texts.tool_catalog.as_deref());
        let described = |tool: &ToolName| tool.described(surface, &integrations, catalog, structured);
        Ok(ListToolsResult::with_all_items(surface.tools.iter().map(described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let structured = knows_structured(&context);
        let cancelled = self.cancellations.token(&context);
        let is_question = ToolName::called(&request.name) == Some(ToolName::Query);
        let (progress, telling) = telling::begin(&context, is_question.then_some(&self.volume));
        let answer = guarded(self.as_for(&context).call(request, cancelled, progress)).await;
        telling.finish().await;
        Ok(answer?.into_result(structured).into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        guarded(prompts::list(self, request.and_then(|request| request.cursor).as_deref())).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(guarded(prompts::get(&self.as_for(&context), request)).await?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        guarded(completion::complete(self, request)).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        guarded(resources::list(self, request.and_then(|request| request.cursor).as_deref())).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        paging::no_cursor(request.and_then(|request| request.cursor))?;
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(ReadResourceResult::new(guarded(resources::serve(&self.as_for(&context), &request.uri)).await?).into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let unavailable = match self.reach {
            _ if self.config.frozen => Some("the server was started with --static, and nothing in it changes"),
            Reach::Http => Some("over HTTP a client listens with subscriptions/listen of revision 2026-07-28"),
            Reach::Stdio => None,
        };
        if let Some(message) = unavailable {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
        }
        guarded(resources::read(self, &request.uri)).await?;
        let subscription = Subscription::new(self, &request.uri).await;
        let subscription = subscription.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        self.subscribed.add(request.uri, subscription);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(notifications::accept(self, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        notifications::listen(self, context).await;
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.as_str();
        let stateless = is_stateless(&context);
        let answered = guarded(extension::answer(self, method, request.params.as_ref())).await?;
        if let Some(mut answer) = answered {
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

impl Shared {
    fn implementation(&self) -> Implementation {
        Implementation::new(self.surface().server_name, env!("CARGO_PKG_VERSION"))
    }
}
