//! The protocol: messages over stdio or HTTP in, typed calls to the other crates, answers out.
//!
//! Owns everything that MCP defines: transports, methods, tools, prompts, resources, completion, notifications, the skills
//! extension, and the texts that a model reads about them. No other crate knows rmcp. Must not know the configuration file, how
//! skills are found and ranked (`catalog`), or how scripts and questions run (`scripts`, `integrations`): a tool reads its
//! arguments, makes one call to them and turns the result into an answer.
//!
//! Start reading with [`server`], one handler per method. [`tools`] explains what a tool is: its file in `tools/` has its
//! arguments, its schema and its texts, so a new argument of `run_script` is a field of `RunScript` in `tools/run_script.rs`.
//! [`arguments`] reads them, [`answer`] is what a tool returns. A request comes in through [`transport`] (stdio) or [`http`], and
//! [`surface`] decides what a profile offers.

pub mod surface;
pub mod server;
mod methods;
pub mod requests;
mod progress;
pub mod transport;
pub mod http;
pub mod tools;
pub mod answer;
pub mod arguments;
mod prompts;
mod resources;
mod completion;
mod extension;
mod unlisted;
pub mod notifications;
mod texts;
mod catalog_text;
mod redact;
mod paging;
