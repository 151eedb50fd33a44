//! Skills in hidden folders, which are not served.

use crate::{AskError, Catalog};
use library::hidden;
use library::roots::SkillRoot;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A hidden folder and the number of skills in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenSkills {
    pub folder: PathBuf,
    pub skills: usize,
}

impl Catalog {
    /// Looks for skills in hidden folders. Lists every folder of every root once more, after the first generation is served.
    pub async fn hidden_skills(&self, roots: Arc<[SkillRoot]>) -> Result<Vec<HiddenSkills>, AskError> {
        self.first_generation().await?;
        let look = move || -> Vec<_> {
            let files =
                roots.iter().flat_map(|root| hidden::markdown(root).into_iter().map(|file| (root.path(), file)));
            files.map(|(root, file)| (root.join(file.folder), file.path)).collect()
        };
        let files = tokio::task::spawn_blocking(look).await.unwrap_or_default();
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let count = move |engine: &mut guests::engine::EngineInstance, _: &_| {
            let mut folders: BTreeMap<PathBuf, usize> = BTreeMap::new();
            for (folder, path) in files {
                if engine.is_skill_document(&path)? {
                    *folders.entry(folder).or_default() += 1;
                }
            }
            Ok(folders.into_iter().map(|(folder, skills)| HiddenSkills { folder, skills }).collect())
        };
        self.ask(count).await
    }
}
