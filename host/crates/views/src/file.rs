//! Assets and scripts in `get_skill`.

use bindings::catalog::{Argument, Asset, Execution, Script};
use serde::Serialize;

#[derive(Serialize)]
pub struct AssetView {
    pub file: String,
    pub description: String,
    pub r#type: String,
    /// The skill it is inherited from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

#[derive(Serialize)]
pub struct ScriptView {
    pub file: String,
    pub description: String,
    pub execution: &'static str,
    pub args: Vec<ArgumentView>,
    /// The skill it is inherited from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

#[derive(Serialize)]
pub struct ArgumentView {
    pub name: String,
    pub description: String,
    pub required: bool,
}

impl From<Asset> for AssetView {
    fn from(asset: Asset) -> Self {
        Self {
            file: asset.file,
            description: asset.description,
            r#type: asset.kind,
            from: asset.inherited_from,
            content: None,
        }
    }
}

impl From<Script> for ScriptView {
    fn from(script: Script) -> Self {
        let argument = |Argument { name, description, required }| ArgumentView { name, description, required };
        Self {
            file: script.file,
            description: script.description,
            execution: match script.execution {
                Execution::Claude => "claude",
                Execution::Server => "server",
            },
            args: script.arguments.into_iter().map(argument).collect(),
            from: script.inherited_from,
        }
    }
}
