//! The only place that knows MCP: lines on stdio or requests over HTTP in, typed questions to the catalog, answers out.

pub mod surface;
pub mod server;
mod methods;
pub mod requests;
mod telling;
pub mod transport;
pub mod http;
pub mod tools;
pub mod answer;
pub mod arguments;
mod prompts;
mod resources;
mod completion;
mod extension;
mod left_out;
pub mod notifications;
mod texts;
mod catalog_text;
mod contents;
mod shown;
mod paging;
