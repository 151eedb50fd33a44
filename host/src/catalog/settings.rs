//! What counts for the skills of a root.

use super::{AskError, Catalog};
use crate::bindings::catalog::Settings;

impl Catalog {
    /// What the operator and the `config.yaml` of a root come to, with that file as it is on disk now.
    pub async fn settings_of(&self, root: u32) -> Result<Settings, AskError> {
        self.ask_fresh(move |engine, _| engine.settings_of(root), |settings| Some(settings.sources.clone())).await
    }
}
