//! The only place that knows MCP: lines on stdio in, typed questions to the catalog, answers out.

pub mod answer;
pub mod arguments;
pub mod requests;
pub mod server;
pub mod tools;
pub mod transport;
mod wire;

mod get_asset;
mod get_skill;
mod list_skills;
pub mod run_script;
mod skills_list;
mod skills_search;
